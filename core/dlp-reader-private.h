/* SPDX-License-Identifier: MIT */
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include <dlpipe/dlp-decoder.h>
#include <dlpipe/dlp-reader.h>
#include <dlpipe/dlp-source.h>

G_BEGIN_DECLS

/* How the parts of the reader fit together is said in docs/internals/reader.md. */

#define DLP_READER_MAX_INTERLEAVE 64
#define DLP_READER_MAX_COUNTERS 16
#define DLP_READER_MAX_KINDS 32
/* Files that the report names; there may be more. */
#define DLP_READER_MAX_NAMED 32
#define DLP_READER_PADDING 64
/* Of a bad record's bytes, kept for the pad `rejected`. */
#define DLP_READER_MAX_REJECTED (64 * 1024)
/* What may be held behind a record to tell where it ends. */
#define DLP_READER_LOOK_AHEAD (64 * 1024)

typedef struct _DlpAhead DlpAhead;
typedef struct _DlpReaderLane DlpReaderLane;
typedef struct _DlpReaderCopy DlpReaderCopy;
typedef struct _DlpReaderPrivate DlpReaderPrivate;

/* ---- state (dlp-reader-state.c) ---- */

#define DLP_READER_NO_FILE G_MAXUINT64

/* One of the K places in the rotation. */
typedef struct
{
  guint64 file;    /* its position on the link of files; DLP_READER_NO_FILE: takes the next one */
  guint64 offset;  /* of the chunk being released, in the decoded file */
  guint64 row;     /* at its start */
  guint64 line;    /* lines before it */
  guint64 reached; /* row to be released next */
  DlpDecoderBorder border; /* at or before offset: from where a compressed file is decoded */
} DlpReaderPlace;

typedef struct
{
  const char *name; /* interned */
  guint64 n;
} DlpReaderTally;

/* Flat; changes only when something is released. */
typedef struct
{
  guint64 next; /* position on the link of the file to be activated next */
  guint32 stage, source, epoch;
  bool in_rotation; /* stage, source and epoch are those of the files in the places */
  guint n_places;
  guint turn;

  guint64 good, bad, in_a_row;
  guint64 damaged;
  guint64 files, bytes; /* finished ones */
  guint64 counters[DLP_READER_MAX_COUNTERS];
  guint n_kinds, n_bad_files, n_damaged_files;
  DlpReaderTally kinds[DLP_READER_MAX_KINDS];
  DlpReaderTally bad_files[DLP_READER_MAX_NAMED];
  const char *damaged_files[DLP_READER_MAX_NAMED]; /* interned */

  DlpReaderPlace places[];
} DlpReaderState;

DlpReaderState *dlp_reader_state_new (guint interleave);
gsize dlp_reader_state_size (guint interleave);
/* Begins a new rotation: every place takes the next file. */
void dlp_reader_state_begin_rotation (DlpReaderState *self, guint interleave);
/* Counts a bad record; returns how many of its kind there are now. */
guint64 dlp_reader_state_add_bad (DlpReaderState *self, const char *kind, const char *uri);
void dlp_reader_state_add_damaged (DlpReaderState *self, const char *uri);
GVariant *dlp_reader_state_describe (const DlpReaderState *self, const char *const *counters);
GVariant *dlp_reader_state_report (GVariant *described);
bool dlp_reader_state_load (DlpReaderState *self,
                            GVariant *described,
                            guint interleave,
                            const char *const *counters,
                            GError **error);

/* ---- bad records (dlp-reader-rejects.c) ---- */

typedef struct
{
  guint64 row; /* within the chunk */
  guint64 line;
  const char *kind;
  const char *message;
  gsize offset; /* of the fault, within the chunk */
  const guint8 *data;
  gsize size;
} DlpReaderReject;

/* Those of a chunk, in order; first all are added, then they are read. */
typedef struct
{
  guint8 *bytes;
  gsize size, capacity;
  gsize copied; /* of the chunk's bytes */
  bool refers;  /* to the chunk's bytes, which must stay */
  gsize message_at, message_length;
  gsize data_at;        /* of the last one, in the chunk */
  DlpReaderReject last; /* that was added, or read */
  gsize at;
  bool has_next;
} DlpReaderRejects;

/* @chunk: (nullable): the bytes that those of the record are in; where they are not, or NULL, the
 * record's are copied. */
void dlp_reader_rejects_add (DlpReaderRejects *self,
                             const DlpReaderReject *reject,
                             const guint8 *chunk,
                             gsize chunk_size);
/* All are added. */
void dlp_reader_rejects_finish (DlpReaderRejects *self);
/* (nullable): the next one; valid until another is looked at. */
const DlpReaderReject *dlp_reader_rejects_peek (DlpReaderRejects *self, const guint8 *chunk);
void dlp_reader_rejects_pass (DlpReaderRejects *self);
void dlp_reader_rejects_clear (DlpReaderRejects *self);

/* ---- chunks (dlp-reader-chunk.c) ---- */

typedef struct
{
  guint64 row; /* within the chunk */
  guint counter;
  guint64 n;
} DlpReaderCount;

struct _DlpReaderChunk
{
  DlpReader *reader;
  DlpReaderLane *lane;
  GList link; /* in the lane's queue */

  guint8 *data; /* once it is parsed: NULL, or what bad records refer to */
  gsize size;
  gsize capacity;
  guint64 offset;
  guint64 raw_position;    /* of the stream, behind it */
  DlpDecoderBorder border; /* the last one at or before its end */
  bool is_last;
  GBytes *header;       /* (nullable): the lane's */
  DlpReaderPiece piece; /* instead of data, where the class opens files; size and offset are rows */

  /* What parse() made of it. */
  DlpRecordBatchBuilder *builder;
  GPtrArray
      *batches; /* of DlpRecordBatch; rows in coordinates are within the chunk until adopted */
  DlpReaderRejects rejects;
  GArray *counts; /* (nullable) of DlpReaderCount */
  guint64 rows;
  guint64 lines;
  char *damage;
  gsize damage_offset;
  bool is_faulty; /* damage is what parse() did wrong with a record */

  bool done;  /* lock */
  gsize held; /* lock: bytes of memory it stands for */

  /* Release; the element's thread. */
  bool adopted;
  guint batch, row_in_batch, count;
};

/* Takes @data. */
DlpReaderChunk *dlp_reader_chunk_new (DlpReaderLane *lane,
                                      guint8 *data,
                                      gsize size,
                                      gsize capacity,
                                      guint64 offset,
                                      bool is_last);
void dlp_reader_chunk_free (DlpReaderChunk *self);
/* A record of which only the first bytes were kept; there is nothing to be parsed. */
void dlp_reader_chunk_set_too_long (DlpReaderChunk *self,
                                    guint64 record_size,
                                    guint64 lines,
                                    guint64 max_record_bytes);
void dlp_reader_chunk_parse (DlpReaderChunk *self, gpointer worker, DlpRecordBatchBuilder *builder);
gsize dlp_reader_chunk_get_bytes (DlpReaderChunk *self);
/* Whether there is anything to be parsed, or was not yet. */
bool dlp_reader_chunk_has_work (const DlpReaderChunk *self);
/* Makes the rows of its coordinates those of the file, and passes over those below @reached. */
void dlp_reader_chunk_adopt (DlpReaderChunk *self, guint64 base_row, guint64 reached);

/* ---- lanes (dlp-reader-lane.c) ---- */

/* An open file, or one that will be opened. */
struct _DlpReaderLane
{
  DlpReader *reader;
  guint64 position; /* on the link of files */
  DlpCursor hold;   /* before its file record */
  DlpFile *file;
  char *name; /* fit to print */
  char *uri;  /* as it may be stored */
  DlpCoordinate coordinate;
  bool is_held;              /* in memory, where it is read ahead */
  GCancellable *cancellable; /* of the reading threads, once nobody wants the lane any more */

  /* Who fills it; busy says that somebody does. */
  DlpByteStream *stream;
  gpointer opened_file;  /* (nullable): instead of it, where the class opens files */
  guint64 raw_read;      /* of that, up to where it was read */
  DlpReaderCopy *copy;   /* instead of it */
  gsize copied_to;       /* how much of it was given */
  DlpReaderCopy *making; /* of what the stream gives */
  bool is_open;
  bool is_slow; /* a pipe, say: what is there is handed on at once */
  guint8 *data; /* what was read and is not yet in a chunk */
  gsize size, capacity;
  gsize cut; /* how much of it is whole records, as far as looked at */
  gsize looked_at;
  guint64 scan;   /* the state of find_border() there */
  GBytes *header; /* (nullable): the first record, where it is needed */
  gsize header_looked_at;
  guint64 header_scan;
  guint64 offset;          /* of data, in the decoded file */
  DlpDecoderBorder border; /* from where the stream is opened */
  bool ended;              /* outcome of the last fill */
  bool paused;
  GError *failed;
  bool is_head;  /* its end was not read */
  bool is_probe; /* it is looked at before the run: nothing is recorded of the file */

  bool busy;        /* lock */
  bool active;      /* lock: in a place */
  bool opened;      /* lock: counted in n_open */
  bool asked;       /* lock: to be brought near */
  DlpAhead *ahead;  /* lock */
  bool at_end;      /* lock: no chunk will follow */
  bool removed;     /* lock: nobody wants it any more */
  bool is_big;      /* lock: waits for its chunks to be released before its buffer grows */
  GQueue chunks;    /* lock */
  GError *failure;  /* lock: damage or another error, at the end */
  char *warning;    /* lock: of the stream, at the end */
  guint64 raw_size; /* lock: at the end */

  /* The element's thread. */
  DlpReaderChunk *head; /* being released; the first of chunks */
  GError *damage;       /* found by parse() in what was released */
  guint64 raw_released;
};

DlpReaderLane *dlp_reader_lane_new (DlpReader *reader,
                                    guint64 position,
                                    DlpFile *file,
                                    const DlpCoordinate *coordinate);
void dlp_reader_lane_free (DlpReaderLane *self);
/* (transfer full) (nullable): the next chunk; NULL: see ended, paused, failed. @may_grow: whether a
 * record may make the buffer much larger than a chunk now. */
DlpReaderChunk *
dlp_reader_lane_fill (DlpReaderLane *self, bool may_grow, GCancellable *cancellable);

/* With the lane's error where the file may not be read. */
bool dlp_reader_check_file (DlpReaderLane *self, GError **error);

/* ---- files that the class opens (dlp-reader-piece.c) ---- */

bool dlp_reader_opens_files (DlpReader *self);
/* As dlp_reader_lane_fill(). */
DlpReaderChunk *dlp_reader_fill_from_file (DlpReaderLane *lane, GCancellable *cancellable);
void dlp_reader_close_file (DlpReaderLane *lane);
void dlp_reader_clear_piece (DlpReaderPiece *piece);

/* ---- before the run (dlp-reader-probe.c) ---- */

/* Whether its source can say which files it has, and @source then. */
bool dlp_reader_can_probe (DlpReader *self, DlpSource **source);
/* FALSE with an error: what is wanted is in none of the first records of the source. Any thread. */
bool
dlp_reader_probe (DlpReader *self, DlpSource *source, GCancellable *cancellable, GError **error);

/* ---- headers (dlp-reader-header.c) ---- */

/* Whether there is one, or none is needed; looks for it in the lane's bytes. */
bool dlp_reader_find_header (DlpReaderLane *lane);
/* The whole file is one, if there is none. */
void dlp_reader_end_header (DlpReaderLane *lane);
/* Of a lane that begins in the middle of its file: reads the header from its start. */
bool dlp_reader_load_header (DlpReaderLane *lane, GCancellable *cancellable, GError **error);
void dlp_reader_set_header_error (DlpReaderLane *lane, GError **error);

/* ---- the reader ---- */

typedef struct
{
  bool ready;
  gpointer user;
  DlpRecordBatchBuilder *builder;
} DlpReaderWorker;

/* What was brought near, or is held, of files that are not open yet. */
typedef struct
{
  guint64 limit;
  gsize used; /* atomic */
} DlpReaderAhead;

struct _DlpReaderPrivate
{
  /* Properties. */
  guint interleave;
  DlpBadRecordAction on_bad_record;
  double max_bad_ratio;
  guint64 max_record_bytes;
  DlpDamagedFileAction on_damaged_file;
  guint window_log_max;
  guint64 read_size;
  guint64 chunk_bytes;
  guint64 cache_bytes;

  /* Before the run. */
  bool has_header;
  double head_share; /* of each file; 1: all of it */
  guint64 head_bytes;
  GHashTable *read_by_codec; /* (nullable): where heads are read; lock: of guint64 *: stored bytes,
                                by codec; also read by reports */

  DlpPad *in, *out, *rejected;
  DlpSchema *schema;
  const char *const *counters;

  /* Between start() and stop(). */
  gsize chunk_size;
  gsize piece_size; /* where the class opens files */
  gsize effective_read_size;
  guint window;                          /* chunks of a lane in its turn */
  guint look_ahead;                      /* files taken beyond those in the rotation */
  guint max_open;                        /* lock, once there are threads */
  gsize share;                           /* for chunks */
  guint ahead_files;                     /* beyond those in the rotation */
  DlpReaderAhead ahead_near, ahead_held; /* not in memory, and in memory */
  gsize stream_memory;                   /* for each stream */
  guint max_parts;                       /* of a file that are decoded at a time */
  bool threaded;
  pthread_t *threads;
  guint n_threads;
  DlpReaderWorker *workers;
  guint n_workers;

  /* The element's thread. */
  DlpReaderState *state;
  DlpReaderLane **in_place; /* by place; NULL: the file was not met yet again after a restore */
  bool ended;

  pthread_mutex_t lock;
  pthread_cond_t io_cond;   /* a lane may need filling */
  pthread_cond_t idle_cond; /* n_parsing became 0 */
  GPtrArray *lanes;         /* lock: in order of position; changed by the element's thread only */
  GPtrArray *removed;       /* the element's thread: of lanes that were still busy */
  guint n_busy;             /* lock */
  guint n_open;             /* lock */
  guint n_parsing;          /* lock */
  gsize held;               /* lock: memory of all chunks */
  GPtrArray *spare;         /* lock: buffers of chunk_size */
  GHashTable *copies;       /* lock: of DlpReaderCopy, by file; NULL: none are kept */
  gsize copied;             /* lock: bytes of them */
  gsize max_copied;
  bool stopping; /* lock; also read without it to hurry up */
};

DlpReaderPrivate *dlp_reader_get_private (DlpReader *self);
/* Whether a file more may be taken from the input. */
bool dlp_reader_has_room (DlpReaderPrivate *priv);
/* The lane is needed no more. It may still be busy. */
void dlp_reader_remove_lane (DlpReader *self, DlpReaderLane *lane);

/* dlp-reader-io.c */
guint8 *dlp_reader_take_buffer (DlpReader *self, gsize *capacity);
void dlp_reader_give_buffer (DlpReader *self, guint8 *data, gsize capacity);
/* Goes on with fewer threads than it should have, but not with none. */
bool dlp_reader_start_io (DlpReader *self, GError **error);
void dlp_reader_stop_io (DlpReader *self);
/* Without threads: one fill of a lane that has no chunk. */
void dlp_reader_fill_now (DlpReader *self, DlpReaderLane *lane, GCancellable *cancellable);
/* A lane may need filling. */
void dlp_reader_wake_io (DlpReader *self);

/* dlp-reader-copy.c; all but start and stop by who fills the lane */
/* Bytes that copies of what is read again could make use of. */
gsize dlp_reader_want_copies (DlpReader *self);
void dlp_reader_start_copies (DlpReader *self, gsize limit);
void dlp_reader_stop_copies (DlpReader *self);
/* With the lock: an earlier lane reads the same file, of which this one will get the copy. */
bool dlp_reader_waits_for_copy (DlpReaderPrivate *priv, const DlpReaderLane *lane);
/* With the lock: what the lane's file holds is there, or will be. */
bool dlp_reader_has_copy_locked (DlpReaderPrivate *priv, const DlpReaderLane *lane);
/* Whether there is one to read from; else one is made, if it may. */
bool dlp_reader_open_copy (DlpReaderLane *lane);
void dlp_reader_add_to_copy (DlpReaderLane *lane, const guint8 *data, gsize n);
gsize dlp_reader_read_copy (DlpReaderLane *lane, guint8 *buffer, gsize size);
/* As that of the stream it is a copy of. */
guint64 dlp_reader_get_copy_position (const DlpReaderLane *lane);
void dlp_reader_end_copy (DlpReaderLane *lane, bool is_whole, guint64 raw_size);
void dlp_reader_close_copy (DlpReaderLane *lane);

/* dlp-reader-ahead.c */
/* Bytes that files which are read ahead could make use of. */
gsize dlp_reader_want_ahead (DlpReader *self);
void dlp_reader_start_ahead (DlpReader *self, gsize memory);
/* The element's thread, whenever the lanes have changed. */
void dlp_reader_ask_ahead (DlpReader *self);
/* (transfer full) (nullable): who fills the lane, before it opens the file: what is there of it. */
GInputStream *dlp_reader_take_ahead (DlpReaderLane *lane, GCancellable *cancellable);
/* The lane is freed. */
void dlp_reader_drop_ahead (DlpReaderLane *lane);

/* dlp-reader-release.c */
DlpStep dlp_reader_release (DlpReader *self, GCancellable *cancellable, GError **error);
/* Instead of it, where the pipeline is to finish: nothing more comes out. */
DlpStep dlp_reader_finish (DlpReader *self, GCancellable *cancellable, GError **error);
/* dlp-reader-judge.c: emits and counts a bad record, or says that it ends the run. */
bool dlp_reader_admit_reject (DlpReader *self,
                              DlpReaderChunk *chunk,
                              const DlpReaderPlace *place,
                              const DlpReaderReject *reject,
                              GError **error);
/* Before an epoch: one that comes for ever, and has nothing, would never end. */
bool dlp_reader_judge_epoch (DlpReader *self, const DlpCoordinate *next, GError **error);
/* At the end of the input. */
bool dlp_reader_judge_end (DlpReader *self, GError **error);
/* Damage at the end of a lane. */
bool dlp_reader_admit_damage (DlpReader *self,
                              DlpReaderLane *lane,
                              const GError *damage,
                              GError **error);
DlpSchema *dlp_reader_rejected_schema (void);

G_END_DECLS
