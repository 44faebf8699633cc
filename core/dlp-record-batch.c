/* SPDX-License-Identifier: MIT */

#include "dlp-record-batch-private.h"

static gpointer
dlp_coordinate_copy (gpointer self)
{
  return g_memdup2 (self, sizeof (DlpCoordinate));
}

G_DEFINE_BOXED_TYPE (DlpCoordinate, dlp_coordinate, dlp_coordinate_copy, g_free)
G_DEFINE_BOXED_TYPE (DlpRecordBatch, dlp_record_batch, dlp_record_batch_ref, dlp_record_batch_unref)

static DlpRecordBatch *
new_view (DlpColumns *columns, guint offset, guint length, guint64 position)
{
  DlpRecordBatch *self = g_new (DlpRecordBatch, 1);

  *self = (DlpRecordBatch){
    .ref_count = 1,
    .offset = offset,
    .length = length,
    .position = position,
    .columns = columns,
  };
  return self;
}

/* Shared by the record batches of a training batch. Not one of GLib's boxes: sanitizers do not see
 * the atomics of a library. */
typedef struct
{
  DlpBatchInfo info;
  int ref_count; /* atomic */
} Training;

/* What it is as a training batch goes with its rows. */
static void
copy_training (DlpRecordBatch *self, const DlpRecordBatch *from)
{
  if (from->training == NULL)
    return;
  g_atomic_int_inc (&((Training *) from->training)->ref_count);
  self->training = from->training;
}

void
dlp_record_batch_drop_training (DlpRecordBatch *self)
{
  Training *training = (Training *) self->training;

  if (training != NULL && g_atomic_int_dec_and_test (&training->ref_count))
    g_free (training);
  self->training = NULL;
}

void
dlp_record_batch_set_training (DlpRecordBatch *self, const DlpBatchInfo *info)
{
  Training *training = g_new (Training, 1);

  *training = (Training){ .info = *info, .ref_count = 1 };
  dlp_record_batch_drop_training (self);
  self->training = &training->info;
}

static gsize
column_bytes (const DlpColumn *column, gsize offset, gsize length)
{
  gsize bytes = column->validity != NULL ? dlp_bits_size (length) : 0;

  if (column->offsets != NULL)
    return bytes + length * sizeof (gint32) +
           (gsize) (column->offsets[offset + length] - column->offsets[offset]) * column->width;
  return bytes + (column->width == 0 ? dlp_bits_size (length) : length * column->width);
}

/* Fields that were left out by a selection are memory that it holds all the same. */
static gsize
count_bytes (const DlpRecordBatch *self)
{
  const DlpColumns *columns = self->columns->base != NULL ? self->columns->base : self->columns;
  gsize bytes = self->length * sizeof (DlpCoordinate);

  for (guint i = 0; i < columns->schema->n_fields; i++)
    bytes += column_bytes (&columns->columns[i], self->offset, self->length);
  return bytes;
}

DlpRecordBatch *
dlp_record_batch_new_take (DlpColumns *columns)
{
  return new_view (columns, 0, columns->length, 0);
}

DlpRecordBatch *
dlp_record_batch_new_empty (DlpSchema *schema)
{
  return dlp_record_batch_new_take (dlp_columns_new (schema, 0));
}

DlpRecordBatch *
dlp_record_batch_new_at (DlpRecordBatch *batch,
                         guint row,
                         guint n,
                         guint64 position,
                         gpointer mark,
                         void (*mark_unref) (gpointer))
{
  DlpRecordBatch *self;

  g_assert (row <= batch->length && n <= batch->length - row);

  self = new_view (dlp_columns_ref (batch->columns), batch->offset + row, n, position);
  copy_training (self, batch);
  self->bytes = count_bytes (self);
  self->mark = mark;
  self->mark_owner = mark;
  self->mark_owner_unref = mark_unref;
  return self;
}

DlpRecordBatch *
dlp_record_batch_place (DlpRecordBatch *batch,
                        guint64 position,
                        gpointer mark,
                        void (*mark_unref) (gpointer))
{
  DlpRecordBatch *self;

  if (batch->mark == NULL && g_atomic_int_get (&batch->ref_count) == 1)
    {
      batch->position = position;
      batch->bytes = count_bytes (batch);
      batch->mark = batch->mark_owner = mark;
      batch->mark_owner_unref = mark_unref;
      return batch;
    }
  self = dlp_record_batch_new_at (batch, 0, batch->length, position, mark, mark_unref);
  dlp_record_batch_unref (batch);
  return self;
}

DlpRecordBatch *
dlp_record_batch_slice (DlpRecordBatch *self, guint row, guint n)
{
  DlpRecordBatch *slice;

  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (row <= self->length && n <= self->length - row, NULL);

  if (row == 0 && n == self->length)
    return dlp_record_batch_ref (self);

  slice = new_view (dlp_columns_ref (self->columns), self->offset + row, n, self->position + row);
  copy_training (slice, self);
  if (self->mark != NULL)
    {
      gboolean is_slice = self->mark_owner != self->mark;

      slice->mark = self->mark;
      slice->mark_owner = dlp_record_batch_ref (is_slice ? self->mark_owner : self);
      slice->mark_owner_unref = (void (*) (gpointer)) dlp_record_batch_unref;
    }
  return slice;
}

static gboolean
fits (const DlpSchema *from, guint field, const DlpSchema *to, guint as)
{
  return field < from->n_fields && from->fields[field].type == to->fields[as].type &&
         (to->fields[as].optional || !from->fields[field].optional);
}

DlpRecordBatch *
dlp_record_batch_select (DlpRecordBatch *self,
                         DlpSchema *schema,
                         const guint *fields,
                         guint n_fields)
{
  DlpRecordBatch *selected;

  g_return_val_if_fail (self != NULL && schema != NULL, NULL);
  g_return_val_if_fail (n_fields == schema->n_fields && (n_fields == 0 || fields != NULL), NULL);
  for (guint i = 0; i < n_fields; i++)
    g_return_val_if_fail (fits (self->columns->schema, fields[i], schema, i), NULL);

  selected = new_view (dlp_columns_select (self->columns, schema, fields), self->offset,
                       self->length, self->position);
  copy_training (selected, self);
  return selected;
}

DlpRecordBatch *
dlp_record_batch_ref (DlpRecordBatch *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_int_inc (&self->ref_count);
  return self;
}

void
dlp_record_batch_unref (DlpRecordBatch *self)
{
  g_return_if_fail (self != NULL);

  if (!g_atomic_int_dec_and_test (&self->ref_count))
    return;

  if (self->mark_owner != NULL && self->mark_owner_unref != NULL)
    self->mark_owner_unref (self->mark_owner);
  dlp_record_batch_drop_training (self);
  dlp_columns_unref (self->columns);
  g_free (self);
}

DlpSchema *
dlp_record_batch_get_schema (const DlpRecordBatch *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->columns->schema;
}

guint
dlp_record_batch_get_length (const DlpRecordBatch *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->length;
}

gsize
dlp_record_batch_get_bytes (const DlpRecordBatch *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->bytes != 0 ? self->bytes : count_bytes (self);
}

guint64
dlp_record_batch_get_position (const DlpRecordBatch *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->position;
}

const DlpCoordinate *
dlp_record_batch_get_coordinate (const DlpRecordBatch *self, guint row)
{
  g_return_val_if_fail (self != NULL && row < self->length, NULL);

  return dlp_record_batch_coordinate (self, row);
}

gint64
dlp_record_batch_get_index (const DlpRecordBatch *self)
{
  g_return_val_if_fail (self != NULL, -1);

  return self->training != NULL ? (gint64) self->training->index : -1;
}

guint
dlp_record_batch_get_stage (const DlpRecordBatch *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->length > 0 ? dlp_record_batch_coordinate (self, 0)->stage : 0;
}

guint
dlp_record_batch_get_epoch (const DlpRecordBatch *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->length > 0 ? dlp_record_batch_coordinate (self, 0)->epoch : 0;
}

/* Whether there is such a value; the mask has a bit for each type wanted. */
static inline gboolean
is_valid (const DlpRecordBatch *self, guint field, guint row, guint type_mask)
{
  return self != NULL && field < self->columns->schema->n_fields && row < self->length &&
         (type_mask >> self->columns->columns[field].type) & 1;
}

gboolean
dlp_record_batch_is_null (const DlpRecordBatch *self, guint field, guint row)
{
  g_return_val_if_fail (is_valid (self, field, row, G_MAXUINT), TRUE);

  return dlp_column_is_null (dlp_record_batch_column (self, field), (gsize) self->offset + row);
}

#define VALUE_TYPES (1 << DLP_FIELD_STRING | 1 << DLP_FIELD_BINARY)

const guint8 *
dlp_record_batch_get_value (const DlpRecordBatch *self, guint field, guint row, gsize *size)
{
  g_return_val_if_fail (size != NULL, NULL);
  *size = 0;
  g_return_val_if_fail (is_valid (self, field, row, VALUE_TYPES), NULL);

  return dlp_record_batch_value (self, field, row, size);
}

gconstpointer
dlp_record_batch_get_list (const DlpRecordBatch *self, guint field, guint row, gsize *n)
{
  g_return_val_if_fail (n != NULL, NULL);
  *n = 0;
  g_return_val_if_fail (is_valid (self, field, row, DLP_FIELD_LISTS), NULL);

  return dlp_record_batch_value (self, field, row, n);
}

gint64
dlp_record_batch_get_int64 (const DlpRecordBatch *self, guint field, guint row)
{
  g_return_val_if_fail (is_valid (self, field, row, 1 << DLP_FIELD_INT64), 0);

  return ((const gint64 *) dlp_record_batch_column (self, field)->data)[(gsize) self->offset + row];
}

guint64
dlp_record_batch_get_uint64 (const DlpRecordBatch *self, guint field, guint row)
{
  g_return_val_if_fail (is_valid (self, field, row, 1 << DLP_FIELD_UINT64), 0);

  return (
      (const guint64 *) dlp_record_batch_column (self, field)->data)[(gsize) self->offset + row];
}

double
dlp_record_batch_get_double (const DlpRecordBatch *self, guint field, guint row)
{
  g_return_val_if_fail (is_valid (self, field, row, 1 << DLP_FIELD_DOUBLE), 0.0);

  return ((const double *) dlp_record_batch_column (self, field)->data)[(gsize) self->offset + row];
}

gboolean
dlp_record_batch_get_boolean (const DlpRecordBatch *self, guint field, guint row)
{
  g_return_val_if_fail (is_valid (self, field, row, 1 << DLP_FIELD_BOOLEAN), FALSE);

  return dlp_bits_get (dlp_record_batch_column (self, field)->data, (gsize) self->offset + row);
}

char *
dlp_record_batch_dup_string (const DlpRecordBatch *self, guint field, guint row)
{
  const char *text;
  gsize size;

  g_return_val_if_fail (is_valid (self, field, row, 1 << DLP_FIELD_STRING), NULL);

  text = dlp_record_batch_value (self, field, row, &size);
  return text != NULL ? g_strndup (text, size) : NULL;
}

GBytes *
dlp_record_batch_dup_bytes (DlpRecordBatch *self, guint field, guint row)
{
  gconstpointer data;
  gsize n;

  g_return_val_if_fail (is_valid (self, field, row, VALUE_TYPES | DLP_FIELD_LISTS), NULL);

  data = dlp_record_batch_value (self, field, row, &n);
  if (data == NULL)
    return NULL;
  return g_bytes_new_with_free_func (data, n * dlp_record_batch_column (self, field)->width,
                                     (GDestroyNotify) dlp_record_batch_unref,
                                     dlp_record_batch_ref (self));
}

guint32 *
dlp_record_batch_dup_list (const DlpRecordBatch *self, guint field, guint row, gsize *n)
{
  gconstpointer values;
  guint32 *copy;

  g_return_val_if_fail (n != NULL, NULL);
  *n = 0;
  g_return_val_if_fail (is_valid (self, field, row, DLP_FIELD_LISTS_OF_IDS), NULL);

  values = dlp_record_batch_value (self, field, row, n);
  if (values == NULL)
    return NULL;
  copy = g_new (guint32, MAX (*n, 1));
  for (gsize i = 0; i < *n; i++)
    copy[i] = dlp_record_batch_column (self, field)->width == sizeof (guint16) ?
                  ((const guint16 *) values)[i] :
                  ((const guint32 *) values)[i];
  return copy;
}

/* ---- coordinates ---- */

/* Rows before a slice need memory too: of a small one of a large batch the values are copied. */
static DlpRecordBatch *
copy_rows (const DlpRecordBatch *self)
{
  g_autoptr (DlpRecordBatchBuilder) builder = dlp_record_batch_builder_new (self->columns->schema);

  dlp_record_batch_builder_append_rows (builder, self, 0, self->length);
  return dlp_record_batch_builder_take (builder);
}

DlpRecordBatch *
dlp_record_batch_relabel (DlpRecordBatch *self, const DlpCoordinate *first, gboolean count_files)
{
  g_autoptr (DlpRecordBatch) copy = self->offset > self->length ? copy_rows (self) : NULL;
  const DlpRecordBatch *from = copy != NULL ? copy : self;
  DlpColumns *base = from->columns->base != NULL ? from->columns->base : from->columns;
  gsize n = (gsize) from->offset + from->length;
  DlpColumns *columns = dlp_columns_new (from->columns->schema, 1);
  DlpBuffer buffer = { 0 };
  DlpCoordinate *coordinates;

  dlp_buffer_ensure (&buffer, 0, n * sizeof *coordinates);
  coordinates = (DlpCoordinate *) buffer.data;
  for (gsize i = 0; i < n; i++)
    {
      gsize row = i > from->offset ? i - from->offset : 0;

      coordinates[i] = *first;
      coordinates[i].file += count_files ? (guint32) row : 0;
      coordinates[i].row += count_files ? 0 : row;
    }
  columns->length = (guint) n;
  columns->coordinates =
      (const DlpCoordinate *) dlp_columns_take_buffer (columns, &buffer, n * sizeof *coordinates);
  for (guint i = 0; i < columns->schema->n_fields; i++)
    columns->columns[i] = from->columns->columns[i];
  columns->base = dlp_columns_ref (base);
  return new_view (columns, from->offset, from->length, 0);
}
