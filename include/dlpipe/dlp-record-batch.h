/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-schema.h"

G_BEGIN_DECLS

#define DLP_TYPE_COORDINATE (dlp_coordinate_get_type ())
/**
 * DlpCoordinate:
 * @stage: stage of the curriculum
 * @source: ordinal of the source within its stage, in graph order
 * @file: index of the file in the source's whole sorted list
 * @epoch: epoch of the source
 * @part: number of the piece, where one record became several
 * @reserved: 0
 * @row: row within the file, good and bad ones counted
 *
 * Where a record came from. All are counted from 0. A plain value.
 *
 * Since: 0.1
 */
typedef struct
{
  guint32 stage;
  guint32 source;
  guint32 file;
  guint32 epoch;
  guint32 part;
  guint32 reserved;
  guint64 row;
} DlpCoordinate;

DLP_AVAILABLE_IN_0_2
GType dlp_coordinate_get_type (void) G_GNUC_CONST;

/**
 * DLP_RECORD_BATCH_MAX_BYTES:
 *
 * At most so many bytes are put into one record batch, one larger record excepted.
 *
 * Since: 0.1
 */
#define DLP_RECORD_BATCH_MAX_BYTES (1024 * 1024)

/**
 * DLP_RECORD_BATCH_MAX_RECORDS:
 *
 * At most so many records are put into one record batch.
 *
 * Since: 0.1
 */
#define DLP_RECORD_BATCH_MAX_RECORDS 1024

/**
 * DLP_COLUMN_MAX_BYTES:
 *
 * Bytes of one column; a value that would not fit is an error of its maker.
 *
 * Since: 0.1
 */
#define DLP_COLUMN_MAX_BYTES G_MAXINT32

#define DLP_TYPE_RECORD_BATCH (dlp_record_batch_get_type ())
/**
 * DlpRecordBatch:
 *
 * A run of records in columns. Reference counted (atomically), immutable: any thread may read it.
 * Pointers into it live as long as the batch. Rows are counted within the batch, from 0. Values may
 * be read only by the accessor of the field's type, and only of rows and fields that there are.
 *
 * Since: 0.1
 */
typedef struct _DlpRecordBatch DlpRecordBatch;

DLP_AVAILABLE_IN_0_1
GType dlp_record_batch_get_type (void) G_GNUC_CONST;

/**
 * dlp_record_batch_ref:
 * @self: a record batch
 *
 * Adds a reference.
 *
 * Threads: any.
 *
 * Returns: (transfer full): @self
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpRecordBatch *dlp_record_batch_ref (DlpRecordBatch *self);

/**
 * dlp_record_batch_unref:
 * @self: (transfer full): a record batch
 *
 * Drops a reference.
 *
 * Threads: any.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_record_batch_unref (DlpRecordBatch *self);

/**
 * dlp_record_batch_get_schema:
 * @self: a record batch
 *
 * Gets the schema of the records.
 *
 * Threads: any.
 *
 * Returns: (transfer none): a schema
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpSchema *dlp_record_batch_get_schema (const DlpRecordBatch *self);

/**
 * dlp_record_batch_get_length:
 * @self: a record batch
 *
 * Gets the number of records.
 *
 * Threads: any.
 *
 * Returns: how many
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
guint dlp_record_batch_get_length (const DlpRecordBatch *self);

/**
 * dlp_record_batch_get_bytes:
 * @self: a record batch
 *
 * Gets how much memory its columns hold for its rows, about.
 *
 * Threads: any.
 *
 * Returns: bytes
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gsize dlp_record_batch_get_bytes (const DlpRecordBatch *self);

/**
 * dlp_record_batch_get_position:
 * @self: a record batch
 *
 * Gets the absolute number, on its link, of its first record. Links of training batches are counted
 * in batches of all ranks: there it is the index of the first one of its step.
 *
 * Threads: any.
 *
 * Returns: a position
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
guint64 dlp_record_batch_get_position (const DlpRecordBatch *self);

/**
 * dlp_record_batch_get_coordinate:
 * @self: a record batch
 * @row: a row
 *
 * Gets where a record came from.
 *
 * Threads: any.
 *
 * Returns: (transfer none): a coordinate
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
const DlpCoordinate *dlp_record_batch_get_coordinate (const DlpRecordBatch *self, guint row);

/**
 * dlp_record_batch_get_index:
 * @self: a record batch
 *
 * Gets the global index of a training batch, from 0: where it stands in the sequence of the batches
 * of all ranks.
 *
 * Threads: any.
 *
 * Returns: an index; -1: it is no training batch
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gint64 dlp_record_batch_get_index (const DlpRecordBatch *self);

/**
 * dlp_record_batch_get_stage:
 * @self: a record batch
 *
 * Gets the stage of the curriculum that it is of: that of its first record.
 *
 * Threads: any.
 *
 * Returns: a stage, from 0
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
guint dlp_record_batch_get_stage (const DlpRecordBatch *self);

/**
 * dlp_record_batch_get_epoch:
 * @self: a record batch
 *
 * Gets the epoch that it is of: that of its first record. A batch of several sources, or of a
 * shuffle, may have records of others.
 *
 * Threads: any.
 *
 * Returns: an epoch, from 0
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
guint dlp_record_batch_get_epoch (const DlpRecordBatch *self);

/**
 * dlp_record_batch_slice:
 * @self: a record batch
 * @row: the first row
 * @n: how many
 *
 * Gets rows [row, row + n), sharing the columns.
 *
 * Threads: any.
 *
 * Returns: (transfer full): a record batch
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpRecordBatch *dlp_record_batch_slice (DlpRecordBatch *self, guint row, guint n);

/**
 * dlp_record_batch_select:
 * @self: a record batch
 * @schema: the fields of the result
 * @fields: (array length=n_fields): for each field of @schema, which field of @self it is; the
 *   types are the same, and where one of @self may be null, that of @schema may too
 * @n_fields: as many as @schema has
 *
 * The same records with fewer fields, in another order, or under other names. Nothing is copied:
 * all memory of @self is held, and counted by dlp_record_batch_get_bytes().
 *
 * Threads: any.
 *
 * Returns: (transfer full): the record batch
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
DlpRecordBatch *dlp_record_batch_select (DlpRecordBatch *self,
                                         DlpSchema *schema,
                                         const guint *fields,
                                         guint n_fields);

/**
 * dlp_record_batch_is_null:
 * @self: a record batch
 * @field: the index of a field
 * @row: a row
 *
 * Gets whether a value is null.
 *
 * Threads: any.
 *
 * Returns: whether it is
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_record_batch_is_null (const DlpRecordBatch *self, guint field, guint row);

/**
 * dlp_record_batch_get_value:
 * @self: a record batch
 * @field: the index of a field
 * @row: a row
 * @size: (out): its size in bytes
 *
 * Gets a value of a string or binary field; never NUL-terminated.
 *
 * Threads: any.
 *
 * Returns: (transfer none) (nullable) (array length=size): bytes; %NULL if, and only if, it is null
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
const guint8 *
dlp_record_batch_get_value (const DlpRecordBatch *self, guint field, guint row, gsize *size);

/**
 * dlp_record_batch_get_list: (skip)
 * @self: a record batch
 * @field: the index of a field
 * @row: a row
 * @n: (out): how many
 *
 * Gets a value of a list field.
 *
 * Threads: any.
 *
 * Returns: (transfer none) (nullable): @n values of 2 or 4 bytes, as the field's type says; %NULL
 *   if, and only if, it is null
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gconstpointer
dlp_record_batch_get_list (const DlpRecordBatch *self, guint field, guint row, gsize *n);

/**
 * dlp_record_batch_get_int64:
 * @self: a record batch
 * @field: the index of a field
 * @row: a row
 *
 * Gets a value of an integer field.
 *
 * Threads: any.
 *
 * Returns: the value; 0 if it is null
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gint64 dlp_record_batch_get_int64 (const DlpRecordBatch *self, guint field, guint row);

/**
 * dlp_record_batch_get_uint64:
 * @self: a record batch
 * @field: the index of a field
 * @row: a row
 *
 * Gets a value of an unsigned integer field.
 *
 * Threads: any.
 *
 * Returns: the value; 0 if it is null
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
guint64 dlp_record_batch_get_uint64 (const DlpRecordBatch *self, guint field, guint row);

/**
 * dlp_record_batch_get_double:
 * @self: a record batch
 * @field: the index of a field
 * @row: a row
 *
 * Gets a value of a double field.
 *
 * Threads: any.
 *
 * Returns: the value; 0 if it is null
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
double dlp_record_batch_get_double (const DlpRecordBatch *self, guint field, guint row);

/**
 * dlp_record_batch_get_boolean:
 * @self: a record batch
 * @field: the index of a field
 * @row: a row
 *
 * Gets a value of a boolean field.
 *
 * Threads: any.
 *
 * Returns: the value; %FALSE if it is null
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_record_batch_get_boolean (const DlpRecordBatch *self, guint field, guint row);

/* ---- for bindings: these check the field and the row ---- */

/**
 * dlp_record_batch_dup_string:
 * @self: a record batch
 * @field: the index of a field
 * @row: a row
 *
 * Copies a value of a string field.
 *
 * Threads: any.
 *
 * Returns: (transfer full) (nullable): a text, which ends at its first NUL, if it has one; %NULL:
 *   it is null
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
char *dlp_record_batch_dup_string (const DlpRecordBatch *self, guint field, guint row);

/**
 * dlp_record_batch_dup_bytes:
 * @self: a record batch
 * @field: the index of a field
 * @row: a row
 *
 * Gets a value of a string, binary or list field without copying it: the bytes hold a reference to
 * the record batch. Those of a list are in the byte order of the machine.
 *
 * Threads: any.
 *
 * Returns: (transfer full) (nullable): bytes; %NULL: it is null
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
GBytes *dlp_record_batch_dup_bytes (DlpRecordBatch *self, guint field, guint row);

/**
 * dlp_record_batch_dup_list: (rename-to dlp_record_batch_get_list)
 * @self: a record batch
 * @field: the index of a field
 * @row: a row
 * @n: (out): how many
 *
 * Copies a value of a list of integers of 16 or 32 bits; negative ones as their two's complement.
 * Of other lists dlp_record_batch_dup_bytes() gives the bytes.
 *
 * Threads: any.
 *
 * Returns: (transfer full) (nullable) (array length=n): values; %NULL: it is null
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
guint32 *dlp_record_batch_dup_list (const DlpRecordBatch *self, guint field, guint row, gsize *n);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpRecordBatch, dlp_record_batch_unref)

#define DLP_TYPE_RECORD_BATCH_BUILDER (dlp_record_batch_builder_get_type ())
/**
 * DlpRecordBatchBuilder:
 *
 * Makes record batches. Used by one thread at a time. For each record every field gets exactly one
 * value, in any order, then dlp_record_batch_builder_end_record().
 *
 * A value too many, none, or one of another type is remembered: the record does not come in, nor do
 * those after it, and dlp_record_batch_builder_finish() says what was wrong. Where the builder is
 * that of a pad, a transform or a reader, the records before it are delivered and the run fails
 * with that error.
 *
 * Since: 0.1
 */
typedef struct _DlpRecordBatchBuilder DlpRecordBatchBuilder;

DLP_AVAILABLE_IN_0_1
GType dlp_record_batch_builder_get_type (void) G_GNUC_CONST;

/**
 * dlp_record_batch_builder_new:
 * @schema: the schema of the record batches
 *
 * Makes a builder.
 *
 * Threads: one at a time.
 *
 * Returns: (transfer full): a builder
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpRecordBatchBuilder *dlp_record_batch_builder_new (DlpSchema *schema);

/**
 * dlp_record_batch_builder_ref:
 * @self: a builder
 *
 * Adds a reference.
 *
 * Threads: any.
 *
 * Returns: (transfer full): @self
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpRecordBatchBuilder *dlp_record_batch_builder_ref (DlpRecordBatchBuilder *self);

/**
 * dlp_record_batch_builder_unref:
 * @self: (transfer full): a builder
 *
 * Drops a reference.
 *
 * Threads: any.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_record_batch_builder_unref (DlpRecordBatchBuilder *self);

/**
 * dlp_record_batch_builder_get_schema:
 * @self: a builder
 *
 * Gets the schema of the record batches.
 *
 * Threads: one at a time.
 *
 * Returns: (transfer none): a schema
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpSchema *dlp_record_batch_builder_get_schema (const DlpRecordBatchBuilder *self);

/**
 * dlp_record_batch_builder_get_length:
 * @self: a builder
 *
 * Gets the number of whole records so far.
 *
 * Threads: one at a time.
 *
 * Returns: how many
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
guint dlp_record_batch_builder_get_length (const DlpRecordBatchBuilder *self);

/**
 * dlp_record_batch_builder_get_bytes:
 * @self: a builder
 *
 * Gets how much the records so far hold, about.
 *
 * Threads: one at a time.
 *
 * Returns: bytes
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gsize dlp_record_batch_builder_get_bytes (const DlpRecordBatchBuilder *self);

/**
 * dlp_record_batch_builder_is_full:
 * @self: a builder
 *
 * Gets whether the batch should be pushed now: %DLP_RECORD_BATCH_MAX_BYTES or
 * %DLP_RECORD_BATCH_MAX_RECORDS is reached.
 *
 * Threads: one at a time.
 *
 * Returns: whether it is full
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_record_batch_builder_is_full (const DlpRecordBatchBuilder *self);

/**
 * dlp_record_batch_builder_append_value:
 * @self: a builder
 * @field: the index of a field
 * @data: (array length=size) (element-type guint8) (nullable): bytes
 * @size: how many
 *
 * Appends a value of a string field, which must be UTF-8, or of a binary field.
 *
 * Threads: one at a time.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_record_batch_builder_append_value (DlpRecordBatchBuilder *self,
                                            guint field,
                                            gconstpointer data,
                                            gsize size);

/**
 * dlp_record_batch_builder_append_list: (skip)
 * @self: a builder
 * @field: the index of a field
 * @values: values of 2, 4 or 8 bytes, as the field's type says
 * @n: how many
 *
 * Appends a value of a list field.
 *
 * Threads: one at a time.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_record_batch_builder_append_list (DlpRecordBatchBuilder *self,
                                           guint field,
                                           gconstpointer values,
                                           gsize n);

/**
 * dlp_record_batch_builder_append_int64:
 * @self: a builder
 * @field: the index of a field
 * @v: the value
 *
 * Appends a value of an integer field.
 *
 * Threads: one at a time.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_record_batch_builder_append_int64 (DlpRecordBatchBuilder *self, guint field, gint64 v);

/**
 * dlp_record_batch_builder_append_uint64:
 * @self: a builder
 * @field: the index of a field
 * @v: the value
 *
 * Appends a value of an unsigned integer field.
 *
 * Threads: one at a time.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_record_batch_builder_append_uint64 (DlpRecordBatchBuilder *self, guint field, guint64 v);

/**
 * dlp_record_batch_builder_append_double:
 * @self: a builder
 * @field: the index of a field
 * @v: the value
 *
 * Appends a value of a double field.
 *
 * Threads: one at a time.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_record_batch_builder_append_double (DlpRecordBatchBuilder *self, guint field, double v);

/**
 * dlp_record_batch_builder_append_boolean:
 * @self: a builder
 * @field: the index of a field
 * @v: the value
 *
 * Appends a value of a boolean field.
 *
 * Threads: one at a time.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_record_batch_builder_append_boolean (DlpRecordBatchBuilder *self, guint field, gboolean v);

/**
 * dlp_record_batch_builder_append_null:
 * @self: a builder
 * @field: the index of a field
 *
 * Appends null to an optional field.
 *
 * Threads: one at a time.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_record_batch_builder_append_null (DlpRecordBatchBuilder *self, guint field);

/**
 * dlp_record_batch_builder_append_string:
 * @self: a builder
 * @field: the index of a field
 * @text: (nullable): a text; %NULL: null
 *
 * Appends a value of a string field.
 *
 * Threads: one at a time.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void
dlp_record_batch_builder_append_string (DlpRecordBatchBuilder *self, guint field, const char *text);

/**
 * dlp_record_batch_builder_append_list_checked: (rename-to dlp_record_batch_builder_append_list)
 * @self: a builder
 * @field: the index of a field
 * @values: (array length=n) (nullable): values
 * @n: how many
 * @error: return location for an error
 *
 * Appends a value of a list of integers of 16 or 32 bits. A value that does not fit is
 * %DLP_DATA_ERROR_RANGE, and nothing is appended; a field that is no such list, or has its value,
 * is %DLP_PIPELINE_ERROR_INTERNAL, which is also remembered.
 *
 * Threads: one at a time.
 *
 * Returns: %FALSE with an error
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean dlp_record_batch_builder_append_list_checked (DlpRecordBatchBuilder *self,
                                                       guint field,
                                                       const guint32 *values,
                                                       gsize n,
                                                       GError **error);

/**
 * dlp_record_batch_builder_reserve: (skip)
 * @self: a builder
 * @field: the index of a field
 * @n: how many bytes, or values of a list
 *
 * Makes room for a value to be written in place; never %NULL.
 *
 * Threads: one at a time.
 *
 * Returns: (transfer none): where to write
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gpointer dlp_record_batch_builder_reserve (DlpRecordBatchBuilder *self, guint field, gsize n);

/**
 * dlp_record_batch_builder_commit: (skip)
 * @self: a builder
 * @field: the index of a field
 * @used: how many bytes, or values, of those reserved
 *
 * Makes what was written in place the record's value.
 *
 * Threads: one at a time.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_record_batch_builder_commit (DlpRecordBatchBuilder *self, guint field, gsize used);

/**
 * dlp_record_batch_builder_end_record:
 * @self: a builder
 * @coordinate: where the record comes from
 *
 * Ends the record whose fields were appended.
 *
 * Threads: one at a time.
 *
 * Returns: whether the record came in; if not, dlp_record_batch_builder_finish() says why
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean
dlp_record_batch_builder_end_record (DlpRecordBatchBuilder *self, const DlpCoordinate *coordinate);

/**
 * dlp_record_batch_builder_drop_record:
 * @self: a builder
 *
 * Takes back what was appended since the last record was ended.
 *
 * Threads: one at a time.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_record_batch_builder_drop_record (DlpRecordBatchBuilder *self);

/**
 * dlp_record_batch_builder_append_rows:
 * @self: a builder
 * @batch: a record batch
 * @row: the first row
 * @n: how many
 *
 * Copies rows [row, row + n) of a batch of an equal schema, coordinates included. They are whole
 * records: dlp_record_batch_builder_end_record() is not called for them.
 *
 * Threads: one at a time.
 *
 * Returns: whether the records came in; if not, dlp_record_batch_builder_finish() says why
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_record_batch_builder_append_rows (DlpRecordBatchBuilder *self,
                                               const DlpRecordBatch *batch,
                                               guint row,
                                               guint n);

/**
 * dlp_record_batch_builder_append_field:
 * @self: a builder
 * @field: a field of its schema
 * @batch: a record batch
 * @source: a field of @batch, of the same type
 * @row: a row of @batch
 *
 * Copies one value, or null.
 *
 * Threads: one at a time.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_record_batch_builder_append_field (DlpRecordBatchBuilder *self,
                                            guint field,
                                            const DlpRecordBatch *batch,
                                            guint source,
                                            guint row);

/**
 * dlp_record_batch_builder_finish:
 * @self: a builder
 * @error: return location for an error
 *
 * Gets what was built, which may be of length 0; the builder is empty afterwards, also on error.
 * %DLP_PIPELINE_ERROR_INTERNAL: a record was given a value too many, none, or one of another type,
 * or was not ended; what was built is dropped.
 *
 * Threads: one at a time.
 *
 * Returns: (transfer full): a record batch; %NULL with an error
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpRecordBatch *dlp_record_batch_builder_finish (DlpRecordBatchBuilder *self, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpRecordBatchBuilder, dlp_record_batch_builder_unref)

G_END_DECLS
