/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-schema.h"

G_BEGIN_DECLS

/**
 * DlpCoordinate:
 * @stage: stage of the curriculum
 * @source: ordinal of the source within its stage, in graph order
 * @file: index of the file in the source's whole sorted list
 * @epoch: epoch of the source
 * @part: number of the piece, where one record became several
 * @row: row within the file, good and bad ones counted
 *
 * Where a record came from. All are counted from 0.
 */
typedef struct
{
  guint32 stage;
  guint32 source;
  guint32 file;
  guint32 epoch;
  guint32 part;
  guint32 reserved; /* 0 */
  guint64 row;
} DlpCoordinate;

/* At most this much is put into one record batch, one larger record excepted. */
#define DLP_RECORD_BATCH_MAX_BYTES (1024 * 1024)
#define DLP_RECORD_BATCH_MAX_RECORDS 1024
/* Bytes of one column; a value that would not fit is an error of its maker. */
#define DLP_COLUMN_MAX_BYTES G_MAXINT32

#define DLP_TYPE_RECORD_BATCH (dlp_record_batch_get_type ())
typedef struct _DlpRecordBatch DlpRecordBatch;

/* A run of records in columns. Reference counted (atomically), immutable: any thread may read it.
 * Pointers into it live as long as the batch. Rows are counted within the batch, from 0. */
DLP_API GType dlp_record_batch_get_type (void);
DLP_API DlpRecordBatch *dlp_record_batch_ref (DlpRecordBatch *self);
DLP_API void dlp_record_batch_unref (DlpRecordBatch *self);
DLP_API DlpSchema *dlp_record_batch_get_schema (const DlpRecordBatch *self);
DLP_API guint dlp_record_batch_get_length (const DlpRecordBatch *self);
/* Bytes of memory that its columns hold for its rows, about. */
DLP_API gsize dlp_record_batch_get_bytes (const DlpRecordBatch *self);
/* Absolute number, on its link, of its first record. */
DLP_API guint64 dlp_record_batch_get_position (const DlpRecordBatch *self);
DLP_API const DlpCoordinate *
dlp_record_batch_get_coordinate (const DlpRecordBatch *self, guint row);
/* (transfer full): rows [row, row + n), sharing the columns. */
DLP_API DlpRecordBatch *dlp_record_batch_slice (DlpRecordBatch *self, guint row, guint n);
/**
 * dlp_record_batch_select:
 * @self: a record batch
 * @schema: the fields of the result
 * @fields: (array length=n_fields): for each field of @schema, which field of @self it is; the
 *   types are the same, and where one of @self may be null, that of @schema may too
 * @n_fields: as many as @schema has
 *
 * The same records with fewer fields, in another order, or under other names. Nothing is copied:
 * all memory of @self is held, and counted by dlp_record_batch_get_bytes(). Any thread.
 *
 * Returns: (transfer full): the record batch
 *
 * Since: 0.2
 */
DLP_API DlpRecordBatch *dlp_record_batch_select (DlpRecordBatch *self,
                                                 DlpSchema *schema,
                                                 const guint *fields,
                                                 guint n_fields);

DLP_API gboolean dlp_record_batch_is_null (const DlpRecordBatch *self, guint field, guint row);
/* String and binary fields; size in bytes, never NUL-terminated. NULL and 0 if it is null
 * (never NULL otherwise). */
DLP_API const guint8 *
dlp_record_batch_get_value (const DlpRecordBatch *self, guint field, guint row, gsize *size);
/* List fields: n values of 2 or 4 bytes as the field's type says. NULL only if null. */
DLP_API gconstpointer dlp_record_batch_get_list (const DlpRecordBatch *self,
                                                 guint field,
                                                 guint row,
                                                 gsize *n);
DLP_API gint64 dlp_record_batch_get_int64 (const DlpRecordBatch *self, guint field, guint row);
DLP_API guint64 dlp_record_batch_get_uint64 (const DlpRecordBatch *self, guint field, guint row);
DLP_API double dlp_record_batch_get_double (const DlpRecordBatch *self, guint field, guint row);
DLP_API gboolean dlp_record_batch_get_boolean (const DlpRecordBatch *self, guint field, guint row);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpRecordBatch, dlp_record_batch_unref)

/* Makes record batches. Used by one thread at a time. For each record every field gets exactly one
 * value, in any order, then dlp_record_batch_builder_end_record(). */
#define DLP_TYPE_RECORD_BATCH_BUILDER (dlp_record_batch_builder_get_type ())
typedef struct _DlpRecordBatchBuilder DlpRecordBatchBuilder;

DLP_API GType dlp_record_batch_builder_get_type (void);
DLP_API DlpRecordBatchBuilder *dlp_record_batch_builder_new (DlpSchema *schema);
DLP_API DlpRecordBatchBuilder *dlp_record_batch_builder_ref (DlpRecordBatchBuilder *self);
DLP_API void dlp_record_batch_builder_unref (DlpRecordBatchBuilder *self);
DLP_API DlpSchema *dlp_record_batch_builder_get_schema (const DlpRecordBatchBuilder *self);
/* Whole records so far, and about how many bytes they hold. */
DLP_API guint dlp_record_batch_builder_get_length (const DlpRecordBatchBuilder *self);
DLP_API gsize dlp_record_batch_builder_get_bytes (const DlpRecordBatchBuilder *self);
/* Whether the batch should be pushed now: DLP_RECORD_BATCH_MAX_BYTES or _MAX_RECORDS reached. */
DLP_API gboolean dlp_record_batch_builder_is_full (const DlpRecordBatchBuilder *self);
DLP_API void dlp_record_batch_builder_append_value (DlpRecordBatchBuilder *self,
                                                    guint field,
                                                    gconstpointer data,
                                                    gsize size);
DLP_API void dlp_record_batch_builder_append_list (DlpRecordBatchBuilder *self,
                                                   guint field,
                                                   gconstpointer values,
                                                   gsize n);
DLP_API void
dlp_record_batch_builder_append_int64 (DlpRecordBatchBuilder *self, guint field, gint64 v);
DLP_API void
dlp_record_batch_builder_append_uint64 (DlpRecordBatchBuilder *self, guint field, guint64 v);
DLP_API void
dlp_record_batch_builder_append_double (DlpRecordBatchBuilder *self, guint field, double v);
DLP_API void
dlp_record_batch_builder_append_boolean (DlpRecordBatchBuilder *self, guint field, gboolean v);
DLP_API void dlp_record_batch_builder_append_null (DlpRecordBatchBuilder *self, guint field);
/* Room for n bytes (value fields) or n list values, to be written in place; then commit with how
 * many were used (<= n) makes them the record's value. */
DLP_API gpointer dlp_record_batch_builder_reserve (DlpRecordBatchBuilder *self,
                                                   guint field,
                                                   gsize n);
DLP_API void dlp_record_batch_builder_commit (DlpRecordBatchBuilder *self, guint field, gsize used);
DLP_API void
dlp_record_batch_builder_end_record (DlpRecordBatchBuilder *self, const DlpCoordinate *coordinate);
/* Takes back what was appended since the last end_record. */
DLP_API void dlp_record_batch_builder_drop_record (DlpRecordBatchBuilder *self);
/* Copies rows [row, row + n) of a batch of an equal schema, coordinates included. */
DLP_API void dlp_record_batch_builder_append_rows (DlpRecordBatchBuilder *self,
                                                   const DlpRecordBatch *batch,
                                                   guint row,
                                                   guint n);
/* (transfer full): what was built, which may be of length 0; the builder is empty afterwards. */
DLP_API DlpRecordBatch *dlp_record_batch_builder_finish (DlpRecordBatchBuilder *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpRecordBatchBuilder, dlp_record_batch_builder_unref)

G_END_DECLS
