/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-element.h"

G_BEGIN_DECLS

/**
 * DlpReaderChunk:
 *
 * A run of whole records of one file, as decoded bytes, and what parse() makes of it.
 */
typedef struct _DlpReaderChunk DlpReaderChunk;

/**
 * DlpReader:
 *
 * Base of elements that turn files into records: input `in` (files), output `out`, and `rejected`,
 * where bad records leave. Opens and decodes the files on threads of its own, cuts the bytes at
 * record borders, has the chunks parsed on the pipeline's pool, and emits them in order; with
 * interleave=K, of K files in fixed rotation. Properties: interleave, on-bad-record (skip, fail),
 * max-bad-ratio, max-record-bytes, on-damaged-file (fail, keep), window-log-max, read-size,
 * chunk-bytes.
 */
#define DLP_TYPE_READER (dlp_reader_get_type ())
DLP_API
G_DECLARE_DERIVABLE_TYPE (DlpReader, dlp_reader, DLP, READER, DlpElement)

struct _DlpReaderClass
{
  DlpElementClass parent_class;

  /* (transfer full): of the records on `out`. */
  DlpSchema *(*get_schema) (DlpReader *self, GError **error);
  /* How many of the bytes are whole records; 0: not even one. Never called with the end of the file
   * in sight: there the rest is one chunk. Default: up to and with the last LF. */
  gsize (*cut) (DlpReader *self, const guint8 *data, gsize size);
  /* The end of the first record in @data, or 0 if it does not end there; used to skip a record that
   * is too long. Default: behind the first LF. */
  gsize (*find_end) (DlpReader *self, const guint8 *data, gsize size);
  /* (nullable): see DlpTransformClass. */
  gpointer (*worker_new) (DlpReader *self);
  void (*worker_free) (DlpReader *self, gpointer worker);
  /* On a worker: every record of the chunk gives, in order, one dlp_reader_chunk_end_record() or
   * one dlp_reader_chunk_reject(). */
  void (*parse) (DlpReader *self, gpointer worker, DlpReaderChunk *chunk);

  gpointer reserved[8];
};

/* For samples, before the run, on the thread that builds the pipeline, and before any other asks
 * for a report: of each file only the beginning is read, so much of its stored
 * bytes, but at least @min_bytes, up to the end of a record. The report says in `read-by-codec` how
 * many bytes that were. */
DLP_API void dlp_reader_set_head (DlpReader *self, double share, guint64 min_bytes);
/* The bytes, of which at least 64 behind the end may be read. */
DLP_API const guint8 *dlp_reader_chunk_get_data (DlpReaderChunk *self, gsize *size);
/* Where in the decoded file they begin. */
DLP_API guint64 dlp_reader_chunk_get_offset (DlpReaderChunk *self);
/* Whether the file ends here. */
DLP_API gboolean dlp_reader_chunk_is_last (DlpReaderChunk *self);
DLP_API const char *dlp_reader_chunk_get_uri (DlpReaderChunk *self);
DLP_API DlpRecordBatchBuilder *dlp_reader_chunk_get_builder (DlpReaderChunk *self);
/* The record that was appended to the builder is good. @lines: lines of the file passed since the
 * last record, this one's included. */
DLP_API void dlp_reader_chunk_end_record (DlpReaderChunk *self, guint lines);
/* A bad record: what was appended to the builder for it is dropped. @kind: static string, such as
 * "utf-8". @offset: within the chunk, of the fault. @data, @size: the record's bytes. @message:
 * (transfer full). */
DLP_API void dlp_reader_chunk_reject (DlpReaderChunk *self,
                                      guint lines,
                                      const char *kind,
                                      gsize offset,
                                      const guint8 *data,
                                      gsize size,
                                      char *message);
/* Lines behind the chunk's last record that belong to none, such as blank ones. */
DLP_API void dlp_reader_chunk_pass_lines (DlpReaderChunk *self, guint lines);
/* The file is not what it should be (a UTF-16 file, say): nothing of the chunk behind this counts,
 * the file ends here as damaged. @message: (transfer full). */
DLP_API void dlp_reader_chunk_damage (DlpReaderChunk *self, gsize offset, char *message);
/* Counters of the class, at most 16, part of the state, named in NULL-terminated
 * dlp_reader_class_set_counters(). Counted for the record that is being parsed: before its
 * dlp_reader_chunk_end_record() or dlp_reader_chunk_reject(). */
DLP_API void dlp_reader_chunk_count (DlpReaderChunk *self, guint counter, guint64 n);
DLP_API void dlp_reader_class_set_counters (DlpReaderClass *klass, const char *const *names);

G_END_DECLS
