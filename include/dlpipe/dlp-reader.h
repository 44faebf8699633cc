/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-element.h"
#include "dlp-file.h"

G_BEGIN_DECLS

#define DLP_TYPE_READER_CHUNK (dlp_reader_chunk_get_type ())
/**
 * DlpReaderChunk:
 *
 * A run of whole records of one file, as decoded bytes, and what parse() makes of it. Only to be
 * used within parse().
 *
 * Since: 0.1
 */
typedef struct _DlpReaderChunk DlpReaderChunk;

/**
 * DlpBadRecordAction:
 * @DLP_BAD_RECORD_SKIP: counted, warned of, handed to the pad `rejected`
 * @DLP_BAD_RECORD_FAIL: the first one ends the run
 *
 * What a bad record does.
 *
 * Since: 0.2
 */
typedef enum
{
  DLP_BAD_RECORD_SKIP,
  DLP_BAD_RECORD_FAIL,
} DlpBadRecordAction;

/**
 * DlpDamagedFileAction:
 * @DLP_DAMAGED_FILE_FAIL: it ends the run
 * @DLP_DAMAGED_FILE_KEEP: the records before the damage are kept, and it goes on
 *
 * What a file does that is cut or corrupt.
 *
 * Since: 0.2
 */
typedef enum
{
  DLP_DAMAGED_FILE_FAIL,
  DLP_DAMAGED_FILE_KEEP,
} DlpDamagedFileAction;

#define DLP_TYPE_BAD_RECORD_ACTION (dlp_bad_record_action_get_type ())
#define DLP_TYPE_DAMAGED_FILE_ACTION (dlp_damaged_file_action_get_type ())
DLP_AVAILABLE_IN_0_2
GType dlp_bad_record_action_get_type (void) G_GNUC_CONST;
DLP_AVAILABLE_IN_0_2
GType dlp_damaged_file_action_get_type (void) G_GNUC_CONST;

/**
 * DlpReaderPiece:
 * @n_rows: how many rows, good and bad, it has
 * @bytes: of memory, about as many as it and its records take
 * @position: so many bytes of the file are read with it, of those that will be
 * @data: what parse() gets by dlp_reader_chunk_get_piece()
 * @free_func: (nullable): frees that, on any thread
 *
 * A run of rows of a file that the class opens itself; see open_file().
 *
 * Since: 0.2
 */
typedef struct
{
  guint64 n_rows;
  gsize bytes;
  guint64 position;
  gpointer data;
  GDestroyNotify free_func;
} DlpReaderPiece;

#define DLP_TYPE_READER (dlp_reader_get_type ())
/**
 * DlpReader:
 *
 * Base of elements that turn files into records: input `in` (files), output `out`, and `rejected`,
 * where bad records leave. Opens and decodes the files on threads of its own, cuts the bytes at
 * record borders, has the chunks parsed on the pipeline's pool, and emits them in order; with
 * interleave=K, of K files in fixed rotation.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
G_DECLARE_DERIVABLE_TYPE (DlpReader, dlp_reader, DLP, READER, DlpElement)

/**
 * DlpReader:interleave:
 *
 * Files read at once, one record of each in rotation.
 *
 * Since: 0.1
 */

/**
 * DlpReader:on-bad-record:
 *
 * What a bad record does.
 *
 * Since: 0.1
 */

/**
 * DlpReader:max-bad-ratio:
 *
 * The share of bad records above which the run fails, judged from record 1,000 on; below 1, 100 bad
 * records in a row fail too.
 *
 * Since: 0.1
 */

/**
 * DlpReader:max-record-bytes:
 *
 * The longest record, its line end included; a longer one is bad and passed over.
 *
 * Since: 0.1
 */

/**
 * DlpReader:on-damaged-file:
 *
 * What a file does that is cut or corrupt.
 *
 * Since: 0.1
 */

/**
 * DlpReader:window-log-max:
 *
 * The largest window of a compressed file that is accepted, as a power of two (27: 128 MiB).
 *
 * Since: 0.1
 */

/**
 * DlpReader:read-size:
 *
 * Bytes asked of a file at once.
 *
 * Since: 0.1
 */

/**
 * DlpReader:cache-bytes:
 *
 * Of a source that is read more than once: if its files have at most so many bytes, decoded, they
 * are read once. In bytes; less where memory is short.
 *
 * Since: 0.2
 */

/**
 * DlpReader:chunk-bytes:
 *
 * Decoded bytes parsed as one piece of work; less where memory is short.
 *
 * Since: 0.1
 */

/**
 * DlpReaderClass:
 * @parent_class: the parent class
 * @get_schema: of the records
 * @cut: where whole records end
 * @find_end: where the first record ends
 * @worker_new: what a worker keeps
 * @worker_free: frees that
 * @parse: makes records of a chunk
 * @find_border: where records end, piece by piece
 * @skip: passes over a record that is too long
 * @open_file: opens a file that is no stream of records
 * @read_piece: its next rows
 * @close_file: closes it
 *
 * The class of readers, with room for three further virtual functions.
 *
 * Since: 0.1
 */
struct _DlpReaderClass
{
  DlpElementClass parent_class;

  /**
   * DlpReaderClass::get_schema:
   * @self: a reader
   * @error: return location for an error
   *
   * Gets the schema of the records on `out`.
   *
   * Threads: the one that builds the pipeline.
   *
   * Returns: (transfer full): a schema, or %NULL with an error
   *
   * Since: 0.1
   */
  DlpSchema *(*get_schema) (DlpReader *self, GError **error);
  /**
   * DlpReaderClass::cut:
   * @self: a reader
   * @data: (array length=size): bytes of the file
   * @size: how many
   *
   * Says how many of the bytes are whole records. Never called with the end of the file in sight:
   * there the rest is one chunk. Default: up to and with the last LF.
   *
   * Threads: those of the reader, several at once.
   *
   * Returns: bytes; 0: not even one record
   *
   * Since: 0.1
   */
  gsize (*cut) (DlpReader *self, const guint8 *data, gsize size);
  /**
   * DlpReaderClass::find_end:
   * @self: a reader
   * @data: (array length=size): bytes of the file
   * @size: how many
   *
   * Finds the end of the first record; used to skip a record that is too long. Default: behind the
   * first LF.
   *
   * Threads: those of the reader, several at once.
   *
   * Returns: bytes; 0: it does not end there
   *
   * Since: 0.1
   */
  gsize (*find_end) (DlpReader *self, const guint8 *data, gsize size);
  /**
   * DlpReaderClass::worker_new:
   * @self: a reader
   *
   * Optional: makes what a worker keeps; called once a worker, before its first parse().
   *
   * Threads: a worker.
   *
   * Returns: (nullable): something, freed by worker_free()
   *
   * Since: 0.1
   */
  gpointer (*worker_new) (DlpReader *self);
  /**
   * DlpReaderClass::worker_free:
   * @self: a reader
   * @worker: (nullable): it
   *
   * Optional: frees what worker_new() gave.
   *
   * Threads: any.
   *
   * Since: 0.1
   */
  void (*worker_free) (DlpReader *self, gpointer worker);
  /**
   * DlpReaderClass::parse:
   * @self: a reader
   * @worker: (nullable): what worker_new() gave
   * @chunk: a chunk
   *
   * Makes records of a chunk: every record of it gives, in order, one dlp_reader_chunk_end_record()
   * or one dlp_reader_chunk_reject().
   *
   * Threads: a worker.
   *
   * Since: 0.1
   */
  void (*parse) (DlpReader *self, gpointer worker, DlpReaderChunk *chunk);
  /**
   * DlpReaderClass::find_border:
   * @self: a reader
   * @uri: (type filename): the file
   * @state: (inout): 0 at the start of a record, else what the call before left
   * @data: (array length=size): the bytes behind those of the call before
   * @size: how many
   * @first: whether the end of the first record is wanted, else that of the last one
   *
   * Optional, instead of cut() and find_end(): for records whose end depends on what is before it
   * in the record, such as an open quote. Each byte is given once. Where @first, @state does not
   * matter once an end was found. Lines that belong to no record may end one, but the first.
   *
   * Threads: those of the reader, several at once.
   *
   * Returns: bytes, up to and with that end; 0: none is there
   *
   * Since: 0.2
   */
  gsize (*find_border) (DlpReader *self,
                        const char *uri,
                        guint64 *state,
                        const guint8 *data,
                        gsize size,
                        gboolean first);
  /**
   * DlpReaderClass::skip:
   * @self: a reader
   * @state: (inout) (array fixed-size=4): zeros at the start of a record, else what the call before
   *   left
   * @data: (array length=size): the bytes behind those that the calls before took
   * @size: how many
   * @ended: (out): whether the record ends behind the bytes taken
   *
   * Optional, with cut() and instead of find_end(): passes over a record that is too long, where
   * its end cannot be told from its last bytes alone, or only from what follows. The first call
   * gets the start of the record. What is not taken is given again, with more behind it; of 2 MiB
   * something has to be taken. Up to 64 KiB behind a record are held to tell its end, so parse()
   * is given records that are longer than max-record-bytes by so much, and rejects them itself.
   * Files of such readers have no lines: those that parse() counts are 0, and messages name the
   * byte alone.
   *
   * Threads: those of the reader, several at once.
   *
   * Returns: how many bytes are taken
   *
   * Since: 0.2
   */
  gsize (*skip) (DlpReader *self, guint64 *state, const guint8 *data, gsize size, gboolean *ended);

  /**
   * DlpReaderClass::open_file: (skip)
   * @self: a reader
   * @file: a file
   * @row: the first row wanted, from 0
   * @cancellable: (nullable): a cancellable
   * @error: return location for an error, with the file's name in it
   *
   * Optional, with read_piece() and close_file(), instead of cut(), find_end() and find_border():
   * for formats that are no stream of records, such as those with an index at their end. The class
   * reads the file itself, by dlp_file_open(), and parse() gets pieces instead of bytes: see
   * dlp_reader_chunk_get_piece(). Offsets of chunks are rows then, and lines are not counted.
   *
   * Threads: those of the reader, several files at once.
   *
   * Returns: (nullable): something; %NULL with an error, %DLP_DATA_ERROR_DAMAGED for what
   *   `on-damaged-file` decides on
   *
   * Since: 0.2
   */
  gpointer (*open_file) (DlpReader *self,
                         DlpFile *file,
                         guint64 row,
                         GCancellable *cancellable,
                         GError **error);
  /**
   * DlpReaderClass::read_piece: (skip)
   * @self: a reader
   * @opened: what open_file() gave
   * @max_bytes: what the piece and its records should take at most; one row may be larger
   * @piece: (out caller-allocates): the next rows; none at the end
   * @cancellable: (nullable): a cancellable
   * @error: return location for an error, with the file's name in it
   *
   * Reads the next rows, as much of them as needs this thread: parse() decodes.
   *
   * Threads: one of those of the reader at a time.
   *
   * Returns: whether it could be read
   *
   * Since: 0.2
   */
  gboolean (*read_piece) (DlpReader *self,
                          gpointer opened,
                          gsize max_bytes,
                          DlpReaderPiece *piece,
                          GCancellable *cancellable,
                          GError **error);
  /**
   * DlpReaderClass::close_file: (skip)
   * @self: a reader
   * @opened: what open_file() gave
   *
   * Frees what open_file() gave; pieces of it may still be there.
   *
   * Threads: any.
   *
   * Since: 0.2
   */
  void (*close_file) (DlpReader *self, gpointer opened);

  /*< private >*/
  gpointer reserved[3];
};

/**
 * dlp_reader_set_head:
 * @self: a reader
 * @share: so much of the stored bytes of a file
 * @min_bytes: but at least so many
 *
 * For samples, before the run and before any other asks for a report: of each file only the
 * beginning is read, up to the end of a record. The report says in `read-by-codec` how many bytes
 * that were.
 *
 * Threads: the one that builds the pipeline.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_reader_set_head (DlpReader *self, double share, guint64 min_bytes);

/**
 * dlp_reader_set_has_header:
 * @self: a reader with find_border()
 * @has_header: whether the first record of a file is needed for each chunk of it
 *
 * For tables, whose first row names the columns: the first record of a file, as find_border() finds
 * it, is handed out with each chunk of it, also where the run goes on in the middle of the file.
 * The chunk at offset 0 still begins with it. One that is too long is damage of the file.
 *
 * Threads: the one that builds the pipeline, as in get_schema().
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_reader_set_has_header (DlpReader *self, gboolean has_header);

DLP_AVAILABLE_IN_0_2
GType dlp_reader_chunk_get_type (void) G_GNUC_CONST;

/**
 * dlp_reader_chunk_get_data:
 * @self: a chunk
 * @size: (out): how many
 *
 * Gets the bytes, of which at least 64 behind the end may be read.
 *
 * Threads: a worker, in parse().
 *
 * Returns: (transfer none) (array length=size): bytes
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
const guint8 *dlp_reader_chunk_get_data (DlpReaderChunk *self, gsize *size);

/**
 * dlp_reader_chunk_get_offset:
 * @self: a chunk
 *
 * Gets where in the decoded file the bytes begin.
 *
 * Threads: a worker, in parse().
 *
 * Returns: an offset
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
guint64 dlp_reader_chunk_get_offset (DlpReaderChunk *self);

/**
 * dlp_reader_chunk_is_last:
 * @self: a chunk
 *
 * Gets whether the file ends here.
 *
 * Threads: a worker, in parse().
 *
 * Returns: whether it does
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_reader_chunk_is_last (DlpReaderChunk *self);

/**
 * dlp_reader_chunk_get_header:
 * @self: a chunk
 * @size: (out): how many
 *
 * Gets the first record of the file, with what is before it; see dlp_reader_set_has_header().
 *
 * Threads: a worker, in parse().
 *
 * Returns: (transfer none) (nullable) (array length=size): bytes
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
const guint8 *dlp_reader_chunk_get_header (DlpReaderChunk *self, gsize *size);

/**
 * dlp_reader_chunk_get_piece: (skip)
 * @self: a chunk
 *
 * Gets what read_piece() gave, of which dlp_reader_chunk_get_offset() says the first row; see
 * open_file().
 *
 * Threads: a worker, in parse().
 *
 * Returns: (transfer none): the piece's data
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gpointer dlp_reader_chunk_get_piece (DlpReaderChunk *self);

/**
 * dlp_reader_chunk_get_uri:
 * @self: a chunk
 *
 * Gets the file of the chunk.
 *
 * Threads: a worker, in parse().
 *
 * Returns: (transfer none) (type filename): a URI or path
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
const char *dlp_reader_chunk_get_uri (DlpReaderChunk *self);

/**
 * dlp_reader_chunk_get_builder:
 * @self: a chunk
 *
 * Gets the builder to which the fields of a record are appended.
 *
 * Threads: a worker, in parse().
 *
 * Returns: (transfer none): a builder
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpRecordBatchBuilder *dlp_reader_chunk_get_builder (DlpReaderChunk *self);

/**
 * dlp_reader_chunk_end_record:
 * @self: a chunk
 * @lines: lines of the file passed since the last record, this one's included
 *
 * Says that the record that was appended to the builder is good.
 *
 * Threads: a worker, in parse().
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_reader_chunk_end_record (DlpReaderChunk *self, guint lines);

/**
 * dlp_reader_chunk_reject:
 * @self: a chunk
 * @lines: lines of the file passed since the last record, this one's included
 * @kind: the kind of fault, a short word such as "utf-8"; few different ones, as they are interned
 * @offset: of the fault, within the chunk
 * @data: (array length=size): the record's bytes
 * @size: how many
 * @message: (transfer full): what is wrong
 *
 * Says that a record is bad: what was appended to the builder for it is dropped.
 *
 * Threads: a worker, in parse().
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_reader_chunk_reject (DlpReaderChunk *self,
                              guint lines,
                              const char *kind,
                              gsize offset,
                              const guint8 *data,
                              gsize size,
                              char *message);

/**
 * dlp_reader_chunk_pass_lines:
 * @self: a chunk
 * @lines: how many
 *
 * Says that lines behind the chunk's last record belong to none, such as blank ones.
 *
 * Threads: a worker, in parse().
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_reader_chunk_pass_lines (DlpReaderChunk *self, guint lines);

/**
 * dlp_reader_chunk_damage:
 * @self: a chunk
 * @offset: of the fault, within the chunk
 * @message: (transfer full): what is wrong
 *
 * Says that the file is not what it should be (a UTF-16 file, say): nothing of the chunk behind
 * this counts, the file ends here as damaged.
 *
 * Threads: a worker, in parse().
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_reader_chunk_damage (DlpReaderChunk *self, gsize offset, char *message);

/**
 * dlp_reader_chunk_count:
 * @self: a chunk
 * @counter: the number of a counter; see dlp_reader_class_set_counters()
 * @n: how much
 *
 * Adds to a counter of the class, for the record that is being parsed: before its
 * dlp_reader_chunk_end_record() or dlp_reader_chunk_reject().
 *
 * Threads: a worker, in parse().
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_reader_chunk_count (DlpReaderChunk *self, guint counter, guint64 n);

/**
 * dlp_reader_class_add_file_name:
 * @klass: a class
 * @ending: what names of its files end with, such as ".jsonl", without that of a codec
 *
 * Says by what `auto-reader` knows that a file is for this reader; several times where there are
 * several. Small and capital letters are the same.
 *
 * Threads: the one of the class init.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_reader_class_add_file_name (DlpReaderClass *klass, const char *ending);

/**
 * dlp_reader_class_add_magic:
 * @klass: a class
 * @offset: where in the decoded file; together with @size at most 512
 * @magic: (array length=size): what is there in its files
 * @size: at most 16
 *
 * The same by the first bytes of a file: of several readers the one with most bytes that are as it
 * said is chosen. An ending of the name counts as much as three bytes.
 *
 * Threads: the one of the class init.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void
dlp_reader_class_add_magic (DlpReaderClass *klass, gsize offset, const guint8 *magic, gsize size);

/**
 * dlp_reader_class_set_counters:
 * @klass: a class
 * @names: (array zero-terminated=1): names of the counters
 *
 * Names the counters of the class, at most 16, which are part of the state.
 *
 * Threads: the one of the class init.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_reader_class_set_counters (DlpReaderClass *klass, const char *const *names);

G_END_DECLS
