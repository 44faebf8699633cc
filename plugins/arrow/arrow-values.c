/* SPDX-License-Identifier: MIT */

/* Values of Arrow arrays as values of fields. Nothing that the file wrote is believed but the sizes
 * of buffers, which Arrow has checked against lengths. */

#include "arrow-values.h"

#include <math.h>
#include <string.h>

#include <dlpipe/dlp-json.h>
#include <dlpipe/dlp-utf8.h>

#include "reader-fields.h"

#define TWO_TO_63 9223372036854775808.0
#define TWO_TO_64 18446744073709551616.0

/* Where a value is: in @array, at @at, which counts from the start of its buffers. */
typedef struct
{
  const struct ArrowArray *array;
  gint64 at;
} Place;

typedef enum
{
  FOUND,
  IS_NULL,
  IS_BROKEN,
} Found;

typedef struct
{
  enum
  {
    SIGNED,
    UNSIGNED,
    REAL
  } form;
  gint64 i;
  guint64 u;
  double d;
} Number;

/* ---- reading ---- */

static gboolean
is_set (const guint8 *bits, gint64 at)
{
  return bits[at / 8] >> (at % 8) & 1;
}

static gboolean
is_null (const struct ArrowArray *array, gint64 at)
{
  return array->n_buffers > 0 && array->null_count != 0 && array->buffers[0] != NULL &&
         !is_set (array->buffers[0], at);
}

static double
get_half (guint16 half)
{
  int exponent = half >> 10 & 0x1f;
  double fraction = half & 0x3ff;
  double value = exponent == 0    ? ldexp (fraction, -24) :
                 exponent == 0x1f ? (fraction == 0 ? (double) INFINITY : (double) NAN) :
                                    ldexp (1024 + fraction, exponent - 25);

  return half >> 15 ? -value : value;
}

static gint64
get_signed (const guint8 *p, guint width)
{
  gint16 s;
  gint32 i;
  gint64 l;

  switch (width)
    {
    case 1:
      return *(const gint8 *) p;
    case 2:
      memcpy (&s, p, sizeof s);
      return s;
    case 4:
      memcpy (&i, p, sizeof i);
      return i;
    default:
      memcpy (&l, p, sizeof l);
      return l;
    }
}

static guint64
get_unsigned (const guint8 *p, guint width)
{
  guint64 value = (guint64) get_signed (p, width);

  return width < 8 ? value & ((G_GUINT64_CONSTANT (1) << 8 * width) - 1) : value;
}

static double
get_real (const guint8 *p, guint width)
{
  guint16 half;
  float f;
  double d;

  switch (width)
    {
    case 2:
      memcpy (&half, p, sizeof half);
      return get_half (half);
    case 4:
      memcpy (&f, p, sizeof f);
      return f;
    default:
      memcpy (&d, p, sizeof d);
      return d;
    }
}

static Number
get_number (const ArrowValueType *type, const struct ArrowArray *array, gint64 at)
{
  const guint8 *p = (const guint8 *) array->buffers[1] + at * type->width;
  Number number = { SIGNED };

  if (type->kind == ARROW_VALUE_REAL)
    {
      number.form = REAL;
      number.d = get_real (p, type->width);
    }
  else if (type->is_signed)
    number.i = get_signed (p, type->width);
  else
    {
      number.form = UNSIGNED;
      number.u = get_unsigned (p, type->width);
    }
  return number;
}

static gboolean
get_index (const ArrowColumn *self, const Place *place, gint64 *index)
{
  Number number = get_number (&self->index, place->array, place->at);

  *index = number.form == UNSIGNED ? (gint64) MIN (number.u, G_MAXINT64) : number.i;
  return place->array->dictionary != NULL && *index >= 0 &&
         *index < place->array->dictionary->length;
}

static Found
find_place (const ArrowColumn *self, const struct ArrowArray *batch, gint64 row, Place *place)
{
  *place = (Place){ batch, batch->offset + row };
  for (guint i = 0; i < self->n_steps; i++)
    {
      place->array = place->array->children[self->steps[i]];
      place->at += place->array->offset;
      if (is_null (place->array, place->at))
        return IS_NULL;
    }
  if (self->has_dictionary)
    {
      gint64 index;

      if (!get_index (self, place, &index))
        return IS_BROKEN;
      place->array = place->array->dictionary;
      place->at = place->array->offset + index;
      if (is_null (place->array, place->at))
        return IS_NULL;
    }
  return self->value.kind == ARROW_VALUE_NULL ? IS_NULL : FOUND;
}

/* Two offsets beside each other, within those of the array's first and last value. */
static gboolean
get_offsets (const Place *place, gboolean is_64, gint64 *start, gint64 *end)
{
  const struct ArrowArray *array = place->array;
  guint width = is_64 ? 8 : 4;
  const guint8 *offsets = array->buffers[1];
  gint64 first = get_signed (offsets + array->offset * width, width);
  gint64 last = get_signed (offsets + (array->offset + array->length) * width, width);

  *start = get_signed (offsets + place->at * width, width);
  *end = get_signed (offsets + (place->at + 1) * width, width);
  return first >= 0 && *start >= first && *start <= *end && *end <= last;
}

/* Of 16 bytes: the size, then either the bytes or 4 of them, a buffer's number and an offset. The
 * sizes of the buffers are in the last one. */
static gboolean
get_view (const Place *place, const guint8 **data, gsize *size)
{
  const struct ArrowArray *array = place->array;
  const guint8 *view = (const guint8 *) array->buffers[1] + place->at * 16;
  gint64 n_data = array->n_buffers - 3;
  const gint64 *sizes = array->buffers[array->n_buffers - 1];
  gint64 length = get_signed (view, 4);
  gint64 buffer = get_signed (view + 8, 4);
  gint64 offset = get_signed (view + 12, 4);

  *size = (gsize) length;
  if (length >= 0 && length <= 12)
    {
      *data = view + 4;
      return TRUE;
    }
  if (length < 0 || buffer < 0 || buffer >= n_data || offset < 0 || length > sizes[buffer] - offset)
    return FALSE;
  *data = (const guint8 *) array->buffers[2 + buffer] + offset;
  return TRUE;
}

static gboolean
get_bytes (const ArrowColumn *self, const Place *place, const guint8 **data, gsize *size)
{
  gboolean is_64 = self->value.kind == ARROW_VALUE_BYTES_64;
  gint64 start, end;

  if (self->value.kind == ARROW_VALUE_BYTES_VIEW)
    return get_view (place, data, size);
  if (self->value.kind == ARROW_VALUE_BYTES_FIXED)
    {
      *size = self->value.width;
      *data = (const guint8 *) place->array->buffers[1] + place->at * self->value.width;
      return TRUE;
    }
  if (!get_offsets (place, is_64, &start, &end))
    return FALSE;
  *size = (gsize) (end - start);
  *data = *size > 0 ? (const guint8 *) place->array->buffers[2] + start : (const guint8 *) "";
  return TRUE;
}

static gboolean
get_items (const ArrowColumn *self, const Place *place, gint64 *start, gint64 *end)
{
  const struct ArrowArray *items = place->array->children[0];

  if (self->value.kind == ARROW_VALUE_LIST_FIXED)
    {
      *start = place->at * self->value.width;
      *end = *start + self->value.width;
    }
  else if (!get_offsets (place, self->value.kind == ARROW_VALUE_LIST_64, start, end))
    return FALSE;
  return *end <= items->length;
}

/* ---- faults ---- */

static ArrowRowResult
fail (ArrowRow *row, const char *kind, char *message)
{
  row->kind = kind;
  row->message = message;
  return ARROW_ROW_BAD;
}

static ArrowRowResult
fail_broken (const ArrowColumn *self, ArrowRow *row)
{
  row->message = g_strdup_printf ("the column \"%s\" has a value that lies outside of its data",
                                  self->wish->name);
  return ARROW_ROW_DAMAGED;
}

/* Before it is taken. */
static gboolean
is_too_long (ArrowRow *row, gsize bytes)
{
  row->bytes += bytes;
  return row->bytes > row->max_bytes;
}

static ArrowRowResult
fail_too_long (ArrowRow *row)
{
  return fail (row, "too-long",
               g_strdup_printf ("a record of at least %zu bytes, above the max-record-bytes=%zu "
                                "allowed",
                                row->bytes, row->max_bytes));
}

/* With as few digits as say which one it is. */
static void
append_real (GString *to, double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (text, sizeof text, "%.15g", value);
  if (g_ascii_strtod (text, NULL) != value)
    g_ascii_formatd (text, sizeof text, "%.17g", value);
  g_string_append (to, text);
}

static void
append_number (GString *to, const Number *number)
{
  if (number->form == REAL)
    append_real (to, number->d);
  else if (number->form == SIGNED)
    g_string_append_printf (to, "%" G_GINT64_FORMAT, number->i);
  else
    g_string_append_printf (to, "%" G_GUINT64_FORMAT, number->u);
}

static const char *
get_wanted (DlpFieldType type, gboolean out_of_range)
{
  if (type == DLP_FIELD_LIST_UINT16)
    return "0 to 65535";
  if (type == DLP_FIELD_LIST_UINT32)
    return "0 to 4294967295";
  return out_of_range ? reader_field_type_get_range (type) : reader_field_type_get_wanted (type);
}

static ArrowRowResult
fail_number (const ArrowColumn *self, ArrowRow *row, const Number *number, gboolean out_of_range)
{
  const ArrowWish *wish = self->wish;
  g_autoptr (GString) shown = g_string_new (NULL);

  append_number (shown, number);
  return fail (row, out_of_range ? "range" : "type",
               g_strdup_printf ("the column \"%s\" has %s, expected %s, as it is %s", wish->name,
                                shown->str, get_wanted (wish->type, out_of_range),
                                dlp_field_type_to_string (wish->type)));
}

/* ---- writing ---- */

static ArrowRowResult
append_null (const ArrowColumn *self, ArrowRow *row, guint index)
{
  const ArrowWish *wish = self->wish;

  if (wish->optional)
    {
      dlp_record_batch_builder_append_null (row->builder, index);
      return ARROW_ROW_GOOD;
    }
  if (wish->is_text)
    return fail (row, "null", g_strdup_printf ("the column \"%s\" is null", wish->name));
  return fail (row, "null",
               g_strdup_printf ("the column \"%s\" is null (fields=%s:%s? would take it)",
                                wish->name, wish->path, dlp_field_type_to_string (wish->type)));
}

static ArrowRowResult
append_bytes (const ArrowColumn *self, ArrowRow *row, const Place *place, guint index)
{
  const guint8 *data;
  gsize size, valid;

  if (!get_bytes (self, place, &data, &size))
    return fail_broken (self, row);
  if (is_too_long (row, size))
    return fail_too_long (row);
  valid = self->wish->type == DLP_FIELD_BINARY ? size : dlp_utf8_measure_valid (data, size);
  if (valid < size)
    return fail (row, "utf-8",
                 g_strdup_printf ("the column \"%s\": byte %zu of the text, 0x%02x, is not UTF-8",
                                  self->wish->name, valid, data[valid]));
  dlp_record_batch_builder_append_value (row->builder, index, data, size);
  return ARROW_ROW_GOOD;
}

static gboolean
is_fraction (const Number *number)
{
  return number->form == REAL && !(isfinite (number->d) && trunc (number->d) == number->d);
}

static ArrowRowResult
append_int64 (const ArrowColumn *self, ArrowRow *row, const Number *number, guint index)
{
  gint64 value = number->i;

  if (is_fraction (number))
    return fail_number (self, row, number, FALSE);
  if ((number->form == REAL && !(number->d >= -TWO_TO_63 && number->d < TWO_TO_63)) ||
      (number->form == UNSIGNED && number->u > G_MAXINT64))
    return fail_number (self, row, number, TRUE);
  if (number->form == REAL)
    value = (gint64) number->d;
  else if (number->form == UNSIGNED)
    value = (gint64) number->u;
  dlp_record_batch_builder_append_int64 (row->builder, index, value);
  return ARROW_ROW_GOOD;
}

static ArrowRowResult
append_uint64 (const ArrowColumn *self, ArrowRow *row, const Number *number, guint index)
{
  guint64 value = number->u;

  if (is_fraction (number))
    return fail_number (self, row, number, FALSE);
  if ((number->form == REAL && !(number->d >= 0 && number->d < TWO_TO_64)) ||
      (number->form == SIGNED && number->i < 0))
    return fail_number (self, row, number, TRUE);
  if (number->form == REAL)
    value = (guint64) number->d;
  else if (number->form == SIGNED)
    value = (guint64) number->i;
  dlp_record_batch_builder_append_uint64 (row->builder, index, value);
  return ARROW_ROW_GOOD;
}

static ArrowRowResult
append_double (ArrowRow *row, const Number *number, guint index)
{
  double value = number->form == REAL     ? number->d :
                 number->form == UNSIGNED ? (double) number->u :
                                            (double) number->i;

  dlp_record_batch_builder_append_double (row->builder, index, value);
  return ARROW_ROW_GOOD;
}

static ArrowRowResult
fail_null_item (const ArrowColumn *self, ArrowRow *row, gint64 item)
{
  return fail (row, "null",
               g_strdup_printf ("the column \"%s\": item %" G_GINT64_FORMAT " of the list is null",
                                self->wish->name, item));
}

static ArrowRowResult
append_list (const ArrowColumn *self, ArrowRow *row, const Place *place, guint index)
{
  const struct ArrowArray *items = place->array->children[0];
  guint64 max = self->wish->type == DLP_FIELD_LIST_UINT16 ? G_MAXUINT16 : G_MAXUINT32;
  gint64 start, end;

  if (!get_items (self, place, &start, &end))
    return fail_broken (self, row);
  if (is_too_long (row, (gsize) (end - start) * sizeof (guint32)))
    return fail_too_long (row);
  g_array_set_size (row->scratch, 0);
  for (gint64 i = start; i < end; i++)
    {
      gint64 at = items->offset + i;
      Number number;
      guint32 value;

      if (self->item.kind == ARROW_VALUE_NULL || is_null (items, at))
        return fail_null_item (self, row, i - start);
      number = get_number (&self->item, items, at);
      if (number.form == SIGNED ? number.i < 0 || (guint64) number.i > max : number.u > max)
        return fail_number (self, row, &number, TRUE);
      value = (guint32) (number.form == SIGNED ? (guint64) number.i : number.u);
      g_array_append_val (row->scratch, value);
    }
  dlp_record_batch_builder_append_list_checked (
      row->builder, index, (const guint32 *) row->scratch->data, row->scratch->len, NULL);
  return ARROW_ROW_GOOD;
}

static gboolean
get_boolean (const Place *place)
{
  return is_set (place->array->buffers[1], place->at);
}

/* A number or boolean, where nothing was said of its type. */
static ArrowRowResult
append_as_text (const ArrowColumn *self, ArrowRow *row, const Place *place, guint index)
{
  g_autoptr (GString) text = g_string_new (NULL);

  if (self->value.kind == ARROW_VALUE_BOOLEAN)
    g_string_append (text, get_boolean (place) ? "true" : "false");
  else
    {
      Number number = get_number (&self->value, place->array, place->at);

      append_number (text, &number);
    }
  if (is_too_long (row, text->len))
    return fail_too_long (row);
  dlp_record_batch_builder_append_value (row->builder, index, text->str, text->len);
  return ARROW_ROW_GOOD;
}

static ArrowRowResult
append_typed (const ArrowColumn *self, ArrowRow *row, const Place *place, guint index)
{
  Number number;

  if (is_too_long (row, sizeof (gint64)))
    return fail_too_long (row);
  if (self->wish->type == DLP_FIELD_BOOLEAN)
    {
      dlp_record_batch_builder_append_boolean (row->builder, index, get_boolean (place));
      return ARROW_ROW_GOOD;
    }
  number = get_number (&self->value, place->array, place->at);
  if (self->wish->type == DLP_FIELD_INT64)
    return append_int64 (self, row, &number, index);
  if (self->wish->type == DLP_FIELD_UINT64)
    return append_uint64 (self, row, &number, index);
  return append_double (row, &number, index);
}

ArrowRowResult
arrow_column_append (const ArrowColumn *self, ArrowRow *row, guint index)
{
  Place place;
  Found found = self->is_absent ? IS_NULL : find_place (self, row->batch, row->row, &place);

  if (found == IS_NULL)
    return append_null (self, row, index);
  if (found == IS_BROKEN)
    return fail_broken (self, row);
  switch (self->wish->type)
    {
    case DLP_FIELD_LIST_UINT16:
    case DLP_FIELD_LIST_UINT32:
      return append_list (self, row, &place, index);
    case DLP_FIELD_STRING:
    case DLP_FIELD_BINARY:
      return self->value.kind >= ARROW_VALUE_BYTES_32 ? append_bytes (self, row, &place, index) :
                                                        append_as_text (self, row, &place, index);
    default:
      return append_typed (self, row, &place, index);
    }
}

/* ---- a bad row, to be looked at ---- */

static void
show_bytes (GString *to, const ArrowColumn *column, const Place *place, gsize max_bytes)
{
  g_autoptr (GString) repaired = g_string_new (NULL);
  const guint8 *data;
  gsize size;

  if (!get_bytes (column, place, &data, &size))
    return;
  dlp_utf8_append_repaired (repaired, data, MIN (size, max_bytes));
  dlp_json_append_string (to, repaired->str, repaired->len);
}

static void
show_list (GString *to, const ArrowColumn *column, const Place *place, gsize max_bytes)
{
  const struct ArrowArray *items = place->array->children[0];
  gint64 start, end;

  if (!get_items (column, place, &start, &end))
    return;
  g_string_append_c (to, '[');
  for (gint64 i = start; i < end && to->len < max_bytes; i++)
    {
      gint64 at = items->offset + i;

      g_string_append (to, i > start ? "," : "");
      if (column->item.kind != ARROW_VALUE_INTEGER || is_null (items, at))
        g_string_append (to, "null");
      else
        {
          Number number = get_number (&column->item, items, at);

          append_number (to, &number);
        }
    }
  g_string_append_c (to, ']');
}

static void
show_value (GString *to,
            const ArrowColumn *column,
            const struct ArrowArray *batch,
            gint64 row,
            gsize max_bytes)
{
  ArrowValueKind kind = column->value.kind;
  Place place;
  Number number;

  if (column->is_absent || find_place (column, batch, row, &place) != FOUND)
    g_string_append (to, "null");
  else if (kind == ARROW_VALUE_BOOLEAN)
    g_string_append (to, get_boolean (&place) ? "true" : "false");
  else if (kind >= ARROW_VALUE_BYTES_32 && kind <= ARROW_VALUE_BYTES_FIXED)
    show_bytes (to, column, &place, max_bytes);
  else if (kind >= ARROW_VALUE_LIST_32 && kind <= ARROW_VALUE_LIST_FIXED)
    show_list (to, column, &place, max_bytes);
  else
    {
      number = get_number (&column->value, place.array, place.at);
      append_number (to, &number);
    }
}

GString *
arrow_plan_show_row (const ArrowPlan *plan,
                     const struct ArrowArray *batch,
                     gint64 row,
                     gsize max_bytes)
{
  GString *shown = g_string_new ("{");

  for (guint i = 0; i < plan->n_columns && shown->len < max_bytes; i++)
    {
      const char *name = plan->columns[i].wish->name;

      g_string_append (shown, i > 0 ? "," : "");
      dlp_json_append_string (shown, name, strlen (name));
      g_string_append_c (shown, ':');
      show_value (shown, &plan->columns[i], batch, row, max_bytes);
    }
  g_string_append_c (shown, '}');
  return g_string_truncate (shown, MIN (shown->len, max_bytes));
}
