/* SPDX-License-Identifier: MIT */

#include "dlp-record-batch-private.h"

#include <string.h>

#include <dlpipe/dlp-error.h>

/* Smaller values are written in place. */
#define MIN_ASIDE 4096
/* Kept for the next record batch. */
#define MAX_KEPT_ASIDE (256 * 1024)
/* Added to n_open by a fault: no number of values makes a whole record of it. */
#define FAULTY (1u << 31)

/* A buffer that starts as large as its predecessor became. */
typedef struct
{
  DlpBuffer buffer;
  gsize hint;
} Growing;

typedef struct
{
  Growing data;
  Growing offsets;
  Growing validity; /* in use from the first null on */
  DlpBuffer aside;  /* see reserve_aside() */
  gsize used;       /* bytes of data, where there are offsets */
  gsize reserved;   /* bytes behind used that the caller writes to */
  guint n_values;   /* the builder's length, or one more */
  guint n_nulls;
  guint width;
  DlpFieldType type;
  gboolean has_validity;
  gboolean is_reserved;
  gboolean is_aside;
} Field;

struct _DlpRecordBatchBuilder
{
  gint ref_count;
  guint length;
  guint n_open; /* values of the record being built; FAULTY */
  gsize open_bytes;
  gsize value_bytes;  /* of values found by offsets, of whole records */
  gsize record_bytes; /* of what every record has */
  DlpSchema *schema;
  Growing coordinates;
  DlpRecordFault fault;
  gboolean fault_is_final; /* its record was ended: no more records come in */
  gpointer waste;          /* what a refused value is written to */
  Field fields[];
};

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
      Field *field = &self->fields[i];

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
ensure (Growing *growing, gsize used, gsize need)
{
  if (G_UNLIKELY (need > growing->buffer.capacity))
    dlp_buffer_grow (&growing->buffer, used, used == 0 ? MAX (need, growing->hint) : need);
  return growing->buffer.data;
}

/* ---- faults of whoever builds ---- */

/* Takes @message. The first counts, and its record does not come in. */
static void
set_fault (DlpRecordBatchBuilder *self, char *message)
{
  if (self->fault.message != NULL)
    {
      g_free (message);
      return;
    }
  self->fault.message = message;
  self->fault.record = self->length;
  self->n_open |= FAULTY;
}

static void drop_values (DlpRecordBatchBuilder *self);

static gboolean
end_faulty_record (DlpRecordBatchBuilder *self, const DlpCoordinate *coordinate)
{
  drop_values (self);
  self->n_open = FAULTY;
  if (!self->fault_is_final && coordinate != NULL)
    {
      self->fault.has_coordinate = TRUE;
      self->fault.coordinate = *coordinate;
    }
  self->fault_is_final = TRUE;
  return FALSE;
}

static const char *
field_name (const DlpRecordBatchBuilder *self, guint field)
{
  return self->schema->fields[field].name;
}

static const char *
field_type_name (const DlpRecordBatchBuilder *self, guint field)
{
  return dlp_field_type_to_string (self->fields[field].type);
}

/* Why is_wanted() is FALSE. @given: "an integer". */
static void
refuse_value (DlpRecordBatchBuilder *self, guint field, guint type_mask, const char *given)
{
  char *message;

  g_return_if_fail (self != NULL);

  if (field >= self->schema->n_fields)
    message = g_strdup_printf ("it was given %s for field %u, but has %u fields, counted from 0",
                               given, field, self->schema->n_fields);
  else if (!((type_mask >> self->fields[field].type) & 1))
    message = g_strdup_printf ("field “%s” is of type %s and was given %s",
                               field_name (self, field), field_type_name (self, field), given);
  else if (self->fields[field].is_reserved)
    message = g_strdup_printf ("field “%s” was given %s before what was reserved for it was "
                               "committed",
                               field_name (self, field), given);
  else
    message = g_strdup_printf ("field “%s” was given a second value; each field of a record gets "
                               "one, then the record is ended",
                               field_name (self, field));
  set_fault (self, message);
}

static void
refuse_overflow (DlpRecordBatchBuilder *self, const Field *field, gsize n)
{
  set_fault (self, g_strdup_printf ("field “%s”: %" G_GSIZE_FORMAT " values of %u bytes do not fit "
                                    "behind %" G_GSIZE_FORMAT " bytes, a column of a record batch "
                                    "holds at most %d bytes; end the record batch before",
                                    field_name (self, (guint) (field - self->fields)), n,
                                    field->width, field->used, DLP_COLUMN_MAX_BYTES));
}

static void
refuse_missing (DlpRecordBatchBuilder *self)
{
  for (guint i = 0; i < self->schema->n_fields; i++)
    if (self->fields[i].n_values == self->length)
      {
        set_fault (self, g_strdup_printf ("field “%s” was given no value; each field of a record "
                                          "gets one%s, then the record is ended",
                                          field_name (self, i),
                                          self->schema->fields[i].optional ? ", or null" : ""));
        return;
      }
}

static void
refuse_too_many (DlpRecordBatchBuilder *self)
{
  set_fault (self, g_strdup_printf ("a record batch holds at most %" G_GSIZE_FORMAT " records",
                                    (gsize) DLP_COLUMNS_MAX_RECORDS));
}

gboolean
dlp_record_batch_builder_check_ended (DlpRecordBatchBuilder *self)
{
  if (G_LIKELY (self->n_open == 0))
    return TRUE;
  set_fault (self, g_strdup ("it was begun and never ended"));
  return end_faulty_record (self, NULL);
}

const DlpRecordFault *
dlp_record_batch_builder_get_fault (const DlpRecordBatchBuilder *self)
{
  return self->fault_is_final ? &self->fault : NULL;
}

static void
clear_fault (DlpRecordBatchBuilder *self)
{
  g_clear_pointer (&self->fault.message, g_free);
  g_clear_pointer (&self->waste, g_free);
  self->fault = (DlpRecordFault){ 0 };
  self->fault_is_final = FALSE;
  self->n_open = 0;
}

void
dlp_record_batch_builder_take_fault (DlpRecordBatchBuilder *self, DlpRecordFault *fault)
{
  *fault = self->fault;
  self->fault.message = NULL;
  clear_fault (self);
}

/* ---- room ---- */

static inline gboolean
fits (const Field *field, gsize n)
{
  return G_LIKELY (n <= (DLP_COLUMN_MAX_BYTES - field->used) / field->width);
}

/* Room for n list values or bytes, which fit, behind those in use; never NULL, also if n is 0. */
static inline guint8 *
ensure_values (Field *field, gsize n)
{
  ensure (&field->data, field->used + field->reserved, MAX (field->used + n * field->width, 1));
  return field->data.buffer.data + field->used;
}

/* n offsets behind the last, which is returned. */
static inline gint32 *
ensure_offsets (Field *field, gsize n)
{
  gsize used = field->n_values == 0 ? 0 : (gsize) field->n_values + 1;
  gint32 *offsets;

  offsets = (gint32 *) ensure (&field->offsets, used * sizeof (gint32),
                               ((gsize) field->n_values + 1 + n) * sizeof (gint32));
  offsets[0] = 0;
  return offsets + field->n_values;
}

static inline guint8 *
ensure_validity (Field *field, gsize n)
{
  return ensure (&field->validity, dlp_bits_size (field->n_values),
                 dlp_bits_size ((gsize) field->n_values + n));
}

static void
start_validity (Field *field, gsize n)
{
  dlp_bits_set (ensure_validity (field, n), 0, field->n_values);
  field->has_validity = TRUE;
}

static inline void
end_value (DlpRecordBatchBuilder *self, Field *field)
{
  if (G_UNLIKELY (field->has_validity))
    dlp_bits_put (ensure_validity (field, 1), field->n_values, TRUE);
  field->n_values++;
  self->n_open++;
}

static inline void
end_offset_value (DlpRecordBatchBuilder *self, Field *field, gsize bytes)
{
  gint32 *last = ensure_offsets (field, 1);

  field->used += bytes;
  self->open_bytes += bytes;
  last[1] = (gint32) (field->used / field->width);
  end_value (self, field);
}

static inline void
append_fixed (DlpRecordBatchBuilder *self, Field *field, guint64 bits)
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
#define LIST_TYPES (1 << DLP_FIELD_LIST_UINT16 | 1 << DLP_FIELD_LIST_UINT32)

static inline void
append_run (DlpRecordBatchBuilder *self, Field *field, gconstpointer values, gsize n)
{
  guint8 *end;

  if (!fits (field, n))
    {
      refuse_overflow (self, field, n);
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
      refuse_value (self, field, VALUE_TYPES, "bytes");
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
  if (G_UNLIKELY (!is_wanted (self, field, LIST_TYPES)))
    {
      refuse_value (self, field, LIST_TYPES, "a list");
      return;
    }
  g_return_if_fail (values != NULL || n == 0);

  append_run (self, &self->fields[field], values, n);
}

static gboolean
are_narrow (const DlpRecordBatchBuilder *self,
            guint field,
            const guint32 *values,
            gsize n,
            GError **error)
{
  for (gsize i = 0; i < n; i++)
    if (values[i] > G_MAXUINT16)
      {
        g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_RANGE,
                     "field “%s”: value %u, number %" G_GSIZE_FORMAT
                     " of its list, does not fit: it is a list of 16 bits, at most 65535 each",
                     field_name (self, field), values[i], i);
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
  Field *f;

  g_return_val_if_fail (self != NULL, FALSE);
  g_return_val_if_fail (values != NULL || n == 0, FALSE);

  if (!is_wanted (self, field, LIST_TYPES))
    {
      refuse_value (self, field, LIST_TYPES, "a list");
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
  if (!are_narrow (self, field, values, n, error))
    return FALSE;
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
      refuse_value (self, field, 1 << DLP_FIELD_INT64, "an int64");
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
      refuse_value (self, field, 1 << DLP_FIELD_UINT64, "a uint64");
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
      refuse_value (self, field, 1 << DLP_FIELD_DOUBLE, "a double");
      return;
    }

  memcpy (&bits, &v, sizeof bits);
  append_fixed (self, &self->fields[field], bits);
  end_value (self, &self->fields[field]);
}

static void
append_bit (Field *field, gboolean v)
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
      refuse_value (self, field, 1 << DLP_FIELD_BOOLEAN, "a boolean");
      return;
    }

  append_bit (&self->fields[field], v);
  end_value (self, &self->fields[field]);
}

void
dlp_record_batch_builder_append_null (DlpRecordBatchBuilder *self, guint field)
{
  Field *f;

  if (G_UNLIKELY (!is_wanted (self, field, G_MAXUINT)))
    {
      refuse_value (self, field, G_MAXUINT, "null");
      return;
    }
  if (G_UNLIKELY (!self->schema->fields[field].optional))
    {
      set_fault (self, g_strdup_printf ("field “%s” is not optional and was given null",
                                        field_name (self, field)));
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
      refuse_value (self, field, 1 << DLP_FIELD_STRING, "a text");
      return;
    }

  if (text != NULL)
    append_run (self, &self->fields[field], text, strlen (text));
  else
    dlp_record_batch_builder_append_null (self, field);
}

/* More is asked for than will be used, several times as much where text becomes tokens. A large
 * value is written elsewhere, where the processor's cache has room for it at once, and copied when
 * its size is known: the buffer grows by no more than that. */
static inline gboolean
is_for_aside (const Field *field, gsize size)
{
  if (field->is_reserved)
    return field->is_aside;
  return size >= MIN_ASIDE && size <= DLP_BUFFER_MAX_CLASS;
}

static guint8 *
reserve_aside (Field *field, gsize n)
{
  dlp_buffer_ensure (&field->aside, field->reserved, n * field->width);
  return field->aside.data;
}

/* What is written to at the end of a record: to fill what is reserved takes long enough for it to
 * come into the processor's cache, which with buffers of megabytes it is not in. */
static inline void
prefetch_end (const DlpRecordBatchBuilder *self, const Field *field)
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
  const Field *f = field < self->schema->n_fields ? &self->fields[field] : NULL;

  if (f != NULL && f->n_values == self->length && (VALUE_TYPES | LIST_TYPES) >> f->type & 1)
    refuse_overflow (self, f, n);
  else
    refuse_value (self, field, VALUE_TYPES | LIST_TYPES, "room for a value");
  g_free (self->waste);
  self->waste = g_malloc_n (MAX (n, 1), f != NULL && f->width > 0 ? f->width : sizeof (guint64));
  return self->waste;
}

gpointer
dlp_record_batch_builder_reserve (DlpRecordBatchBuilder *self, guint field, gsize n)
{
  Field *f;
  guint8 *data;

  g_return_val_if_fail (self != NULL, NULL);
  if (G_UNLIKELY (field >= self->schema->n_fields))
    return refuse_reserve (self, field, n);
  f = &self->fields[field];
  if (G_UNLIKELY (f->n_values != self->length || !((VALUE_TYPES | LIST_TYPES) >> f->type & 1) ||
                  !fits (f, n)))
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

static void
refuse_commit (DlpRecordBatchBuilder *self, guint field, gsize used)
{
  gboolean reserved = field < self->schema->n_fields && self->fields[field].is_reserved;

  set_fault (self, reserved ?
                       g_strdup_printf ("field “%s”: %" G_GSIZE_FORMAT
                                        " were committed of %" G_GSIZE_FORMAT " reserved",
                                        field_name (self, field), used,
                                        self->fields[field].reserved / self->fields[field].width) :
                       g_strdup_printf ("field %u: a value was committed for which nothing "
                                        "was reserved",
                                        field));
}

void
dlp_record_batch_builder_commit (DlpRecordBatchBuilder *self, guint field, gsize used)
{
  Field *f;

  g_return_if_fail (self != NULL);
  f = &self->fields[field];
  if (G_UNLIKELY (field >= self->schema->n_fields || !f->is_reserved ||
                  used > f->reserved / f->width))
    {
      refuse_commit (self, field, used);
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
      refuse_missing (self);
      return end_faulty_record (self, coordinate);
    }
  if (G_UNLIKELY (self->length == DLP_COLUMNS_MAX_RECORDS))
    {
      refuse_too_many (self);
      return end_faulty_record (self, coordinate);
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
drop_value (Field *field)
{
  field->n_values--;
  if (field->has_validity && !dlp_bits_get (field->validity.buffer.data, field->n_values))
    field->n_nulls--;
  if (dlp_field_type_has_offsets (field->type))
    field->used = (gsize) ((gint32 *) field->offsets.buffer.data)[field->n_values] * field->width;
}

static void
drop_values (DlpRecordBatchBuilder *self)
{
  for (guint i = 0; i < self->schema->n_fields; i++)
    {
      Field *field = &self->fields[i];

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

  drop_values (self);
  if (self->fault_is_final)
    self->n_open = FAULTY;
  else if (G_UNLIKELY (self->n_open & FAULTY))
    clear_fault (self);
  else
    self->n_open = 0;
}

static gsize
append_offset_rows (Field *field, const DlpColumn *source, gsize first, gsize n)
{
  const gint32 *from = source->offsets + first;
  gsize values = (gsize) (from[n] - from[0]);
  guint8 *data = ensure_values (field, values);
  gint32 *to = ensure_offsets (field, n);
  gint32 base = to[0];

  if (values > 0)
    memcpy (data, source->data + (gsize) from[0] * field->width, values * field->width);
  for (gsize i = 1; i <= n; i++)
    to[i] = base + (from[i] - from[0]);
  field->used += values * field->width;
  return values * field->width;
}

static void
append_fixed_rows (Field *field, const DlpColumn *source, gsize first, gsize n)
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
append_validity_rows (Field *field, const DlpColumn *source, gsize first, gsize n)
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

/* Whether rows [first, first + n) of the columns can be appended. */
static gboolean
check_rows (DlpRecordBatchBuilder *self, const DlpColumns *columns, gsize first, gsize n)
{
  if (self->n_open > 0)
    set_fault (self, g_strdup ("whole records were appended within it, before it was ended"));
  else if (!dlp_schema_equal (self->schema, columns->schema))
    {
      g_autofree char *has = dlp_schema_to_string (columns->schema);
      g_autofree char *wanted = dlp_schema_to_string (self->schema);

      set_fault (self, g_strdup_printf ("it was to be one of %s and is one of %s", wanted, has));
    }
  else if (n > DLP_COLUMNS_MAX_RECORDS - self->length)
    refuse_too_many (self);
  for (guint i = 0; i < self->schema->n_fields && self->fault.message == NULL; i++)
    {
      const gint32 *offsets = columns->columns[i].offsets;

      if (offsets != NULL &&
          !fits (&self->fields[i], (gsize) (offsets[first + n] - offsets[first])))
        refuse_overflow (self, &self->fields[i], (gsize) (offsets[first + n] - offsets[first]));
    }
  return self->fault.message == NULL;
}

gboolean
dlp_record_batch_builder_append_rows (DlpRecordBatchBuilder *self,
                                      const DlpRecordBatch *batch,
                                      guint row,
                                      guint n)
{
  gsize used;
  gsize first;

  g_return_val_if_fail (self != NULL && batch != NULL, FALSE);
  g_return_val_if_fail (row <= batch->length && n <= batch->length - row, FALSE);

  if (n == 0)
    return TRUE;

  first = (gsize) batch->offset + row;
  if (G_UNLIKELY (!check_rows (self, batch->columns, first, n)))
    return end_faulty_record (self, &batch->columns->coordinates[first]);
  for (guint i = 0; i < self->schema->n_fields; i++)
    {
      Field *field = &self->fields[i];
      const DlpColumn *source = &batch->columns->columns[i];

      if (source->offsets != NULL)
        self->value_bytes += append_offset_rows (field, source, first, n);
      else
        append_fixed_rows (field, source, first, n);
      append_validity_rows (field, source, first, n);
      field->n_values += n;
    }

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
take (DlpColumns *columns, Growing *growing, gsize used)
{
  /* Large and small record batches may alternate. */
  growing->hint = MAX (used + used / 8, growing->hint - growing->hint / 4);
  if (growing->hint > DLP_BUFFER_MAX_CLASS)
    growing->hint = 0;
  return dlp_columns_take_buffer (columns, &growing->buffer, used);
}

static gsize
field_data_bytes (const Field *field)
{
  if (field->type == DLP_FIELD_BOOLEAN)
    return dlp_bits_size (field->n_values);
  if (dlp_field_type_has_offsets (field->type))
    return field->used;
  return (gsize) field->n_values * field->width;
}

static void
take_field (DlpColumns *columns, DlpColumn *column, Field *field)
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
  clear_fault (self);
  return NULL;
}
