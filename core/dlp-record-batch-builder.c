/* SPDX-License-Identifier: MIT */

#include "dlp-record-batch-builder-private.h"

#include <string.h>

#include <dlpipe/dlp-error.h>

/* Smaller values are written in place. */
#define MIN_ASIDE 4096
/* Kept for the next record batch. */
#define MAX_KEPT_ASIDE (256 * 1024)

G_DEFINE_BOXED_TYPE (DlpRecordBatchBuilder,
                     dlp_record_batch_builder,
                     dlp_record_batch_builder_ref,
                     dlp_record_batch_builder_unref)

DlpRecordBatchBuilder *
dlp_record_batch_builder_new (DlpSchema *schema)
{
  DlpRecordBatchBuilder *self;

  g_return_val_if_fail (schema != NULL, NULL);

  self = g_malloc0 (sizeof *self + schema->n_fields * sizeof self->fields[0]);
  self->ref_count = 1;
  self->schema = dlp_schema_ref (schema);
  self->record_bytes = sizeof (DlpCoordinate);
  for (guint i = 0; i < schema->n_fields; i++)
    {
      DlpBuilderField *field = &self->fields[i];

      field->type = schema->fields[i].type;
      field->width = dlp_field_type_width (field->type);
      self->record_bytes +=
          dlp_field_type_has_offsets (field->type) ? sizeof (gint32) : field->width;
    }
  return self;
}

DlpRecordBatchBuilder *
dlp_record_batch_builder_ref (DlpRecordBatchBuilder *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_int_inc (&self->ref_count);
  return self;
}

void
dlp_record_batch_builder_unref (DlpRecordBatchBuilder *self)
{
  g_return_if_fail (self != NULL);

  if (!g_atomic_int_dec_and_test (&self->ref_count))
    return;

  for (guint i = 0; i < self->schema->n_fields; i++)
    {
      dlp_buffer_clear (&self->fields[i].data.buffer);
      dlp_buffer_clear (&self->fields[i].offsets.buffer);
      dlp_buffer_clear (&self->fields[i].validity.buffer);
      dlp_buffer_clear (&self->fields[i].aside);
    }
  dlp_buffer_clear (&self->coordinates.buffer);
  dlp_schema_unref (self->schema);
  g_free (self->fault.message);
  g_free (self->waste);
  g_free (self);
}

DlpSchema *
dlp_record_batch_builder_get_schema (const DlpRecordBatchBuilder *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->schema;
}

guint
dlp_record_batch_builder_get_length (const DlpRecordBatchBuilder *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->length;
}

gsize
dlp_record_batch_builder_get_bytes (const DlpRecordBatchBuilder *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->value_bytes + self->length * self->record_bytes;
}

gboolean
dlp_record_batch_builder_is_full (const DlpRecordBatchBuilder *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->length >= DLP_RECORD_BATCH_MAX_RECORDS ||
         dlp_record_batch_builder_get_bytes (self) >= DLP_RECORD_BATCH_MAX_BYTES;
}

static inline guint8 *
ensure (DlpBuilderBuffer *growing, gsize used, gsize need)
{
  if (G_UNLIKELY (need > growing->buffer.capacity))
    dlp_buffer_grow (&growing->buffer, used, used == 0 ? MAX (need, growing->hint) : need);
  return growing->buffer.data;
}

/* ---- room ---- */

static inline gboolean
fits (const DlpBuilderField *field, gsize n)
{
  return G_LIKELY (n <= (DLP_COLUMN_MAX_BYTES - field->used) / field->width);
}

/* Room for n list values or bytes, which fit, behind those in use; never NULL, also if n is 0. */
static inline guint8 *
ensure_values (DlpBuilderField *field, gsize n)
{
  ensure (&field->data, field->used + field->reserved, MAX (field->used + n * field->width, 1));
  return field->data.buffer.data + field->used;
}

/* n offsets behind the last, which is returned. */
static inline gint32 *
ensure_offsets (DlpBuilderField *field, gsize n)
{
  gsize used = field->n_values == 0 ? 0 : (gsize) field->n_values + 1;
  gint32 *offsets;

  offsets = (gint32 *) ensure (&field->offsets, used * sizeof (gint32),
                               ((gsize) field->n_values + 1 + n) * sizeof (gint32));
  offsets[0] = 0;
  return offsets + field->n_values;
}

static inline guint8 *
ensure_validity (DlpBuilderField *field, gsize n)
{
  return ensure (&field->validity, dlp_bits_size (field->n_values),
                 dlp_bits_size ((gsize) field->n_values + n));
}

static void
start_validity (DlpBuilderField *field, gsize n)
{
  dlp_bits_set (ensure_validity (field, n), 0, field->n_values);
  field->has_validity = TRUE;
}

static inline void
end_value (DlpRecordBatchBuilder *self, DlpBuilderField *field)
{
  if (G_UNLIKELY (field->has_validity))
    dlp_bits_put (ensure_validity (field, 1), field->n_values, TRUE);
  field->n_values++;
  self->n_open++;
}

static inline void
end_offset_value (DlpRecordBatchBuilder *self, DlpBuilderField *field, gsize bytes)
{
  gint32 *last = ensure_offsets (field, 1);

  field->used += bytes;
  self->open_bytes += bytes;
  last[1] = (gint32) (field->used / field->width);
  end_value (self, field);
}

static inline void
append_fixed (DlpRecordBatchBuilder *self, DlpBuilderField *field, guint64 bits)
{
  gsize used = field->n_values * sizeof bits;

  ensure (&field->data, used, used + sizeof bits);
  ((guint64 *) field->data.buffer.data)[field->n_values] = bits;
}

/* Whether the open record may get a value of one of these types in this field. */
static inline gboolean
is_wanted (const DlpRecordBatchBuilder *self, guint field, guint type_mask)
{
  return self != NULL && field < self->schema->n_fields &&
         self->fields[field].n_values == self->length && !self->fields[field].is_reserved &&
         (type_mask >> self->fields[field].type) & 1;
}

#define VALUE_TYPES (1 << DLP_FIELD_STRING | 1 << DLP_FIELD_BINARY)

static inline void
append_run (DlpRecordBatchBuilder *self, DlpBuilderField *field, gconstpointer values, gsize n)
{
  guint8 *end;

  if (!fits (field, n))
    {
      dlp_builder_refuse_overflow (self, field, n);
      return;
    }
  end = ensure_values (field, n);
  if (n > 0)
    memcpy (end, values, n * field->width);
  end_offset_value (self, field, n * field->width);
}

void
dlp_record_batch_builder_append_value (DlpRecordBatchBuilder *self,
                                       guint field,
                                       gconstpointer data,
                                       gsize size)
{
  if (G_UNLIKELY (!is_wanted (self, field, VALUE_TYPES)))
    {
      dlp_builder_refuse_value (self, field, VALUE_TYPES, "bytes");
      return;
    }
  g_return_if_fail (data != NULL || size == 0);

  append_run (self, &self->fields[field], data, size);
}

void
dlp_record_batch_builder_append_list (DlpRecordBatchBuilder *self,
                                      guint field,
                                      gconstpointer values,
                                      gsize n)
{
  if (G_UNLIKELY (!is_wanted (self, field, DLP_FIELD_LISTS)))
    {
      dlp_builder_refuse_value (self, field, DLP_FIELD_LISTS, "a list");
      return;
    }
  g_return_if_fail (values != NULL || n == 0);

  append_run (self, &self->fields[field], values, n);
}

static gboolean
are_within (const DlpRecordBatchBuilder *self,
            guint field,
            const guint32 *values,
            gsize n,
            GError **error)
{
  gboolean is_narrow = self->fields[field].type == DLP_FIELD_LIST_UINT16;
  guint32 max = is_narrow ? G_MAXUINT16 : G_MAXINT32;

  for (gsize i = 0; i < n; i++)
    if (values[i] > max)
      {
        g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_RANGE,
                     "field “%s”: value %u, number %" G_GSIZE_FORMAT
                     " of its list, does not fit: it is a list of %s, at most %u each",
                     self->schema->fields[field].name, values[i], i,
                     is_narrow ? "16 bits" : "int32", max);
        return FALSE;
      }
  return TRUE;
}

gboolean
dlp_record_batch_builder_append_list_checked (DlpRecordBatchBuilder *self,
                                              guint field,
                                              const guint32 *values,
                                              gsize n,
                                              GError **error)
{
  DlpBuilderField *f;

  g_return_val_if_fail (self != NULL, FALSE);
  g_return_val_if_fail (values != NULL || n == 0, FALSE);

  if (!is_wanted (self, field, DLP_FIELD_LISTS_OF_IDS))
    {
      dlp_builder_refuse_value (self, field, DLP_FIELD_LISTS_OF_IDS, "a list of ids");
      g_set_error_literal (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_INTERNAL,
                           self->fault.message);
      return FALSE;
    }
  f = &self->fields[field];
  if (f->type == DLP_FIELD_LIST_UINT32 || !fits (f, n))
    {
      dlp_record_batch_builder_append_list (self, field, values, n);
      return TRUE;
    }
  if (!are_within (self, field, values, n, error))
    return FALSE;
  if (f->type == DLP_FIELD_LIST_INT32)
    {
      dlp_record_batch_builder_append_list (self, field, values, n);
      return TRUE;
    }
  ensure_values (f, n);
  for (gsize i = 0; i < n; i++)
    ((guint16 *) (f->data.buffer.data + f->used))[i] = (guint16) values[i];
  end_offset_value (self, f, n * sizeof (guint16));
  return TRUE;
}

void
dlp_record_batch_builder_append_int64 (DlpRecordBatchBuilder *self, guint field, gint64 v)
{
  if (G_UNLIKELY (!is_wanted (self, field, 1 << DLP_FIELD_INT64)))
    {
      dlp_builder_refuse_value (self, field, 1 << DLP_FIELD_INT64, "an int64");
      return;
    }

  append_fixed (self, &self->fields[field], (guint64) v);
  end_value (self, &self->fields[field]);
}

void
dlp_record_batch_builder_append_uint64 (DlpRecordBatchBuilder *self, guint field, guint64 v)
{
  if (G_UNLIKELY (!is_wanted (self, field, 1 << DLP_FIELD_UINT64)))
    {
      dlp_builder_refuse_value (self, field, 1 << DLP_FIELD_UINT64, "a uint64");
      return;
    }

  append_fixed (self, &self->fields[field], v);
  end_value (self, &self->fields[field]);
}

void
dlp_record_batch_builder_append_double (DlpRecordBatchBuilder *self, guint field, double v)
{
  guint64 bits;

  if (G_UNLIKELY (!is_wanted (self, field, 1 << DLP_FIELD_DOUBLE)))
    {
      dlp_builder_refuse_value (self, field, 1 << DLP_FIELD_DOUBLE, "a double");
      return;
    }

  memcpy (&bits, &v, sizeof bits);
  append_fixed (self, &self->fields[field], bits);
  end_value (self, &self->fields[field]);
}

static void
append_bit (DlpBuilderField *field, gboolean v)
{
  gsize used = dlp_bits_size (field->n_values);

  dlp_bits_put (ensure (&field->data, used, dlp_bits_size (field->n_values + 1)), field->n_values,
                v);
}

void
dlp_record_batch_builder_append_boolean (DlpRecordBatchBuilder *self, guint field, gboolean v)
{
  if (G_UNLIKELY (!is_wanted (self, field, 1 << DLP_FIELD_BOOLEAN)))
    {
      dlp_builder_refuse_value (self, field, 1 << DLP_FIELD_BOOLEAN, "a boolean");
      return;
    }

  append_bit (&self->fields[field], v);
  end_value (self, &self->fields[field]);
}

void
dlp_record_batch_builder_append_null (DlpRecordBatchBuilder *self, guint field)
{
  DlpBuilderField *f;

  if (G_UNLIKELY (!is_wanted (self, field, G_MAXUINT)))
    {
      dlp_builder_refuse_value (self, field, G_MAXUINT, "null");
      return;
    }
  if (G_UNLIKELY (!self->schema->fields[field].optional))
    {
      dlp_builder_refuse_null (self, field);
      return;
    }

  f = &self->fields[field];
  if (!f->has_validity)
    start_validity (f, 1);
  if (f->type == DLP_FIELD_BOOLEAN)
    append_bit (f, FALSE);
  else if (!dlp_field_type_has_offsets (f->type))
    append_fixed (self, f, 0);

  if (dlp_field_type_has_offsets (f->type))
    end_offset_value (self, f, 0);
  else
    end_value (self, f);
  dlp_bits_put (f->validity.buffer.data, f->n_values - 1, FALSE);
  f->n_nulls++;
}

void
dlp_record_batch_builder_append_string (DlpRecordBatchBuilder *self, guint field, const char *text)
{
  if (G_UNLIKELY (!is_wanted (self, field, 1 << DLP_FIELD_STRING)))
    {
      dlp_builder_refuse_value (self, field, 1 << DLP_FIELD_STRING, "a text");
      return;
    }

  if (text != NULL)
    append_run (self, &self->fields[field], text, strlen (text));
  else
    dlp_record_batch_builder_append_null (self, field);
}

/* More is asked for than will be used, several times as much where text becomes tokens. A large
 * value that the buffer has no room for as it is is written elsewhere, and copied when its size is
 * known: the buffer grows by no more than that. */
static inline gboolean
is_for_aside (const DlpBuilderField *field, gsize size)
{
  if (field->is_reserved)
    return field->is_aside;
  return size >= MIN_ASIDE && size <= DLP_BUFFER_MAX_CLASS &&
         field->used + size > field->data.buffer.capacity;
}

static guint8 *
reserve_aside (DlpBuilderField *field, gsize n)
{
  dlp_buffer_ensure (&field->aside, field->reserved, n * field->width);
  return field->aside.data;
}

/* What is written to at the end of a record: to fill what is reserved takes long enough for it to
 * come into the processor's cache, which with buffers of megabytes it is not in. */
static inline void
prefetch_end (const DlpRecordBatchBuilder *self, const DlpBuilderField *field)
{
  if (self->length > 0)
    __builtin_prefetch (self->coordinates.buffer.data + self->length * sizeof (DlpCoordinate), 1);
  if (field->is_aside && field->used > 0)
    __builtin_prefetch (field->data.buffer.data + field->used, 1);
}

/* Somewhere to write to all the same. */
static gpointer
refuse_reserve (DlpRecordBatchBuilder *self, guint field, gsize n)
{
  const DlpBuilderField *f = field < self->schema->n_fields ? &self->fields[field] : NULL;

  if (f != NULL && f->n_values == self->length && (VALUE_TYPES | DLP_FIELD_LISTS) >> f->type & 1)
    dlp_builder_refuse_overflow (self, f, n);
  else
    dlp_builder_refuse_value (self, field, VALUE_TYPES | DLP_FIELD_LISTS, "room for a value");
  g_free (self->waste);
  self->waste = g_malloc_n (MAX (n, 1), f != NULL && f->width > 0 ? f->width : sizeof (guint64));
  return self->waste;
}

gpointer
dlp_record_batch_builder_reserve (DlpRecordBatchBuilder *self, guint field, gsize n)
{
  DlpBuilderField *f;
  guint8 *data;

  g_return_val_if_fail (self != NULL, NULL);
  if (G_UNLIKELY (field >= self->schema->n_fields))
    return refuse_reserve (self, field, n);
  f = &self->fields[field];
  if (G_UNLIKELY (f->n_values != self->length ||
                  !((VALUE_TYPES | DLP_FIELD_LISTS) >> f->type & 1) || !fits (f, n)))
    return refuse_reserve (self, field, n);

  if (f->data.buffer.data == NULL && f->data.hint > 0)
    ensure (&f->data, 0, 1);
  f->is_aside = is_for_aside (f, n * f->width);
  data = f->is_aside ? reserve_aside (f, n) : ensure_values (f, n);
  f->reserved = n * f->width;
  f->is_reserved = TRUE;
  prefetch_end (self, f);
  return data;
}

void
dlp_record_batch_builder_commit (DlpRecordBatchBuilder *self, guint field, gsize used)
{
  DlpBuilderField *f;

  g_return_if_fail (self != NULL);
  f = &self->fields[field];
  if (G_UNLIKELY (field >= self->schema->n_fields || !f->is_reserved ||
                  used > f->reserved / f->width))
    {
      dlp_builder_refuse_commit (self, field, used);
      return;
    }

  f->is_reserved = FALSE;
  f->reserved = 0;
  if (f->is_aside)
    append_run (self, f, f->aside.data, used);
  else
    end_offset_value (self, f, used * f->width);
}

gboolean
dlp_record_batch_builder_end_record (DlpRecordBatchBuilder *self, const DlpCoordinate *coordinate)
{
  gsize used;

  g_return_val_if_fail (self != NULL && coordinate != NULL, FALSE);

  if (G_UNLIKELY (self->n_open != self->schema->n_fields))
    {
      dlp_builder_refuse_missing (self);
      return dlp_builder_end_faulty_record (self, coordinate);
    }
  if (G_UNLIKELY (self->length == DLP_COLUMNS_MAX_RECORDS))
    {
      dlp_builder_refuse_too_many (self);
      return dlp_builder_end_faulty_record (self, coordinate);
    }

  used = self->length * sizeof *coordinate;
  ensure (&self->coordinates, used, used + sizeof *coordinate);
  ((DlpCoordinate *) self->coordinates.buffer.data)[self->length] = *coordinate;
  self->value_bytes += self->open_bytes;
  self->open_bytes = 0;
  self->n_open = 0;
  self->length++;
  return TRUE;
}

static void
drop_value (DlpBuilderField *field)
{
  field->n_values--;
  if (field->has_validity && !dlp_bits_get (field->validity.buffer.data, field->n_values))
    field->n_nulls--;
  if (dlp_field_type_has_offsets (field->type))
    field->used = (gsize) ((gint32 *) field->offsets.buffer.data)[field->n_values] * field->width;
}

void
dlp_builder_drop_values (DlpRecordBatchBuilder *self)
{
  for (guint i = 0; i < self->schema->n_fields; i++)
    {
      DlpBuilderField *field = &self->fields[i];

      field->is_reserved = FALSE;
      field->reserved = 0;
      if (field->n_values > self->length)
        drop_value (field);
    }
  self->open_bytes = 0;
}

void
dlp_record_batch_builder_drop_record (DlpRecordBatchBuilder *self)
{
  g_return_if_fail (self != NULL);

  dlp_builder_drop_values (self);
  if (self->fault_is_final)
    self->n_open = DLP_BUILDER_FAULTY;
  else if (G_UNLIKELY (self->n_open & DLP_BUILDER_FAULTY))
    dlp_builder_clear_fault (self);
  else
    self->n_open = 0;
}

/* FALSE: they do not fit. */
static inline gboolean
append_offset_rows (DlpBuilderField *field,
                    const DlpColumn *source,
                    gsize first,
                    gsize n,
                    gsize *bytes)
{
  const gint32 *from = source->offsets + first;
  gsize values = (gsize) (from[n] - from[0]);
  guint8 *data;
  gint32 *to;
  gint32 base;

  if (!fits (field, values))
    return FALSE;
  data = ensure_values (field, values);
  to = ensure_offsets (field, n);
  base = to[0];
  if (values > 0)
    memcpy (data, source->data + (gsize) from[0] * field->width, values * field->width);
  for (gsize i = 1; i <= n; i++)
    to[i] = base + (from[i] - from[0]);
  field->used += values * field->width;
  *bytes += values * field->width;
  return TRUE;
}

static void
append_fixed_rows (DlpBuilderField *field, const DlpColumn *source, gsize first, gsize n)
{
  gsize used = (gsize) field->n_values * field->width;

  if (field->type == DLP_FIELD_BOOLEAN)
    dlp_bits_copy (
        ensure (&field->data, dlp_bits_size (field->n_values), dlp_bits_size (field->n_values + n)),
        field->n_values, source->data, first, n);
  else
    memcpy (ensure (&field->data, used, used + n * field->width) + used,
            source->data + first * field->width, n * field->width);
}

static void
append_validity_rows (DlpBuilderField *field, const DlpColumn *source, gsize first, gsize n)
{
  gsize n_nulls = source->validity == NULL ? 0 : n - dlp_bits_count (source->validity, first, n);

  if (n_nulls > 0 && !field->has_validity)
    start_validity (field, n);
  if (!field->has_validity)
    return;

  if (n_nulls > 0)
    dlp_bits_copy (ensure_validity (field, n), field->n_values, source->validity, first, n);
  else
    dlp_bits_set (ensure_validity (field, n), field->n_values, n);
  field->n_nulls += n_nulls;
}

/* The values that do not fit are those of field number @at: the fields before it got theirs. */
static gboolean
refuse_large_rows (DlpRecordBatchBuilder *self,
                   const DlpColumns *columns,
                   guint at,
                   gsize first,
                   gsize n)
{
  const gint32 *offsets = columns->columns[at].offsets + first;

  for (guint i = 0; i < at; i++)
    while (self->fields[i].n_values > self->length)
      drop_value (&self->fields[i]);
  dlp_builder_refuse_overflow (self, &self->fields[at], (gsize) (offsets[n] - offsets[0]));
  return dlp_builder_end_faulty_record (self, &columns->coordinates[first]);
}

gboolean
dlp_record_batch_builder_append_rows (DlpRecordBatchBuilder *self,
                                      const DlpRecordBatch *batch,
                                      guint row,
                                      guint n)
{
  gsize bytes = 0;
  gsize used;
  gsize first;

  g_return_val_if_fail (self != NULL && batch != NULL, FALSE);
  g_return_val_if_fail (row <= batch->length && n <= batch->length - row, FALSE);

  if (n == 0)
    return TRUE;

  first = (gsize) batch->offset + row;
  if (G_UNLIKELY (self->n_open > 0 || n > DLP_COLUMNS_MAX_RECORDS - self->length ||
                  !dlp_schema_equal (self->schema, batch->columns->schema)))
    return dlp_builder_refuse_rows (self, batch->columns, first);
  for (guint i = 0; i < self->schema->n_fields; i++)
    {
      DlpBuilderField *field = &self->fields[i];
      const DlpColumn *source = &batch->columns->columns[i];

      if (source->offsets == NULL)
        append_fixed_rows (field, source, first, n);
      else if (G_UNLIKELY (!append_offset_rows (field, source, first, n, &bytes)))
        return refuse_large_rows (self, batch->columns, i, first, n);
      append_validity_rows (field, source, first, n);
      field->n_values += n;
    }

  self->value_bytes += bytes;
  used = self->length * sizeof (DlpCoordinate);
  memcpy (ensure (&self->coordinates, used, used + n * sizeof (DlpCoordinate)) + used,
          batch->columns->coordinates + first, n * sizeof (DlpCoordinate));
  self->length += n;
  return TRUE;
}

void
dlp_record_batch_builder_append_field (DlpRecordBatchBuilder *self,
                                       guint field,
                                       const DlpRecordBatch *batch,
                                       guint source,
                                       guint row)
{
  DlpFieldType type = dlp_schema_get_field_type (dlp_record_batch_get_schema (batch), source);
  gconstpointer data;
  gsize size;

  if (dlp_record_batch_is_null (batch, source, row))
    {
      dlp_record_batch_builder_append_null (self, field);
      return;
    }
  switch (type)
    {
    case DLP_FIELD_STRING:
    case DLP_FIELD_BINARY:
      data = dlp_record_batch_get_value (batch, source, row, &size);
      dlp_record_batch_builder_append_value (self, field, data, size);
      break;
    case DLP_FIELD_LIST_UINT16:
    case DLP_FIELD_LIST_UINT32:
    case DLP_FIELD_LIST_INT32:
    case DLP_FIELD_LIST_INT64:
    case DLP_FIELD_LIST_FLOAT:
    case DLP_FIELD_LIST_DOUBLE:
      data = dlp_record_batch_get_list (batch, source, row, &size);
      dlp_record_batch_builder_append_list (self, field, data, size);
      break;
    case DLP_FIELD_BOOLEAN:
      dlp_record_batch_builder_append_boolean (self, field,
                                               dlp_record_batch_get_boolean (batch, source, row));
      break;
    case DLP_FIELD_INT64:
      dlp_record_batch_builder_append_int64 (self, field,
                                             dlp_record_batch_get_int64 (batch, source, row));
      break;
    case DLP_FIELD_UINT64:
      dlp_record_batch_builder_append_uint64 (self, field,
                                              dlp_record_batch_get_uint64 (batch, source, row));
      break;
    case DLP_FIELD_DOUBLE:
      dlp_record_batch_builder_append_double (self, field,
                                              dlp_record_batch_get_double (batch, source, row));
      break;
    }
}

static const guint8 *
take (DlpColumns *columns, DlpBuilderBuffer *growing, gsize used)
{
  /* Large and small record batches may alternate. */
  growing->hint = MAX (used + used / 8, growing->hint - growing->hint / 4);
  if (growing->hint > DLP_BUFFER_MAX_CLASS)
    growing->hint = 0;
  return dlp_columns_take_buffer (columns, &growing->buffer, used);
}

static gsize
field_data_bytes (const DlpBuilderField *field)
{
  if (field->type == DLP_FIELD_BOOLEAN)
    return dlp_bits_size (field->n_values);
  if (dlp_field_type_has_offsets (field->type))
    return field->used;
  return (gsize) field->n_values * field->width;
}

static void
take_field (DlpColumns *columns, DlpColumn *column, DlpBuilderField *field)
{
  const guint8 *data = take (columns, &field->data, field_data_bytes (field));

  if (data != NULL)
    column->data = data;
  if (column->offsets != NULL)
    column->offsets = (const gint32 *) take (columns, &field->offsets,
                                             ((gsize) field->n_values + 1) * sizeof (gint32));
  if (field->n_nulls > 0)
    column->validity = take (columns, &field->validity, dlp_bits_size (field->n_values));

  if (field->aside.capacity > MAX_KEPT_ASIDE)
    dlp_buffer_clear (&field->aside);
  field->used = 0;
  field->n_values = 0;
  field->n_nulls = 0;
  field->has_validity = FALSE;
}

DlpRecordBatch *
dlp_record_batch_builder_take (DlpRecordBatchBuilder *self)
{
  DlpColumns *columns;

  dlp_record_batch_builder_drop_record (self);
  if (self->length == 0)
    return dlp_record_batch_new_empty (self->schema);

  columns = dlp_columns_new (self->schema, 3 * self->schema->n_fields + 1);
  columns->length = self->length;
  for (guint i = 0; i < self->schema->n_fields; i++)
    take_field (columns, &columns->columns[i], &self->fields[i]);
  columns->coordinates = (const DlpCoordinate *) take (columns, &self->coordinates,
                                                       self->length * sizeof (DlpCoordinate));
  self->length = 0;
  self->value_bytes = 0;
  return dlp_record_batch_new_take (columns);
}

DlpRecordBatch *
dlp_record_batch_builder_finish (DlpRecordBatchBuilder *self, GError **error)
{
  g_return_val_if_fail (self != NULL, NULL);

  if (G_LIKELY (dlp_record_batch_builder_check_ended (self)))
    return dlp_record_batch_builder_take (self);

  g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_INTERNAL,
               "record %u of the record batch, counted from 0: %s", self->fault.record,
               self->fault.message);
  dlp_record_batch_unref (dlp_record_batch_builder_take (self));
  dlp_builder_clear_fault (self);
  return NULL;
}
