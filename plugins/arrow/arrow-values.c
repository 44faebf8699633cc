/* SPDX-License-Identifier: MIT */

/* Values of Arrow arrays as values of fields. Nothing that the file wrote is believed but the sizes
 * of buffers, which Arrow has checked against lengths. */

#include "arrow-values.h"

#include <math.h>
#include <string.h>

#include <dlpipe/dlp-json.h>
#include <dlpipe/dlp-utf8.h>

#include "reader-fields.h"

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

typedef ReaderNumber Number;

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
  Number number = { READER_NUMBER_SIGNED };

  if (type->kind == ARROW_VALUE_REAL)
    {
      number.form = READER_NUMBER_REAL;
      number.d = get_real (p, type->width);
    }
  else if (type->is_signed)
    number.i = get_signed (p, type->width);
  else
    {
      number.form = READER_NUMBER_UNSIGNED;
      number.u = get_unsigned (p, type->width);
    }
  return number;
}

static gboolean
get_index (const ArrowColumn *self, const Place *place, gint64 *index)
{
  Number number = get_number (&self->index, place->array, place->at);

  *index = number.form == READER_NUMBER_UNSIGNED ? (gint64) MIN (number.u, G_MAXINT64) : number.i;
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

static ArrowRowResult
fail_number (const ArrowColumn *self, ArrowRow *row, const Number *number, NumberResult result)
{
  const ReaderField *field = self->wish->field;
  g_autoptr (GString) shown = g_string_new (NULL);
  gboolean is_range = result == NUMBER_RANGE;

  reader_number_show (shown, number);
  return fail (row, is_range ? "range" : "type",
               g_strdup_printf ("the column \"%s\" has %s, expected %s, as it is %s",
                                self->wish->name, shown->str,
                                is_range ? reader_range_get_limits (field->range) :
                                           reader_range_get_wanted (field->range),
                                reader_field_get_type_name (field)));
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
                                wish->name, wish->path, reader_field_get_type_name (wish->field)));
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

static ArrowRowResult
fail_item (const ArrowColumn *self, ArrowRow *row, const Number *number, NumberResult result)
{
  g_autoptr (GString) shown = g_string_new (NULL);
  ReaderFault fault;

  if (number != NULL)
    reader_number_show (shown, number);
  reader_list_refuse (row->list, "the column", self->wish->name, number != NULL ? shown->str : NULL,
                      result, &fault);
  return fail (row, fault.kind, fault.message);
}

/* Whether the items lie in the file as they will in a column: no more than a copy is due. */
static gboolean
is_same_layout (const ArrowColumn *self)
{
  ReaderRange range = self->wish->field->range;
  const ArrowValueType *item = &self->item;

  if (item->kind == ARROW_VALUE_REAL)
    return (range == READER_RANGE_F32 && item->width == 4) ||
           (range == READER_RANGE_F64 && item->width == 8);
  if (item->kind != ARROW_VALUE_INTEGER)
    return FALSE;
  if (item->is_signed)
    return (range == READER_RANGE_I32 && item->width == 4) ||
           (range == READER_RANGE_I64 && item->width == 8);
  return (range == READER_RANGE_U16 && item->width == 2) ||
         (range == READER_RANGE_U32 && item->width == 4);
}

static ArrowRowResult
read_items (const ArrowColumn *self,
            ArrowRow *row,
            const struct ArrowArray *items,
            gint64 start,
            gint64 end)
{
  for (gint64 i = start; i < end && !reader_list_is_full (row->list); i++)
    {
      gint64 at = items->offset + i;
      NumberResult result;
      Number number;

      if (self->item.kind == ARROW_VALUE_NULL || is_null (items, at))
        return fail_item (self, row, NULL, NUMBER_OK);
      number = get_number (&self->item, items, at);
      result = reader_list_add (row->list, &number);
      if (result != NUMBER_OK)
        return fail_item (self, row, &number, result);
    }
  return ARROW_ROW_GOOD;
}

static ArrowRowResult
append_list (const ArrowColumn *self, ArrowRow *row, const Place *place, guint index)
{
  const struct ArrowArray *items = place->array->children[0];
  const ReaderField *field = self->wish->field;
  ReaderFault fault;
  gint64 start, end;
  guint64 n;

  if (!get_items (self, place, &start, &end))
    return fail_broken (self, row);
  n = (guint64) (end - start);
  if (is_too_long (row, n * MAX (self->item.width, sizeof (guint32))))
    return fail_too_long (row);
  reader_list_begin (row->list, field);
  if (n > 0 && (field->length == 0 || n <= field->length) && is_same_layout (self) &&
      (items->null_count == 0 || items->buffers[0] == NULL))
    reader_list_add_run (
        row->list,
        (const guint8 *) items->buffers[1] + (gsize) (items->offset + start) * self->item.width, n);
  else if (read_items (self, row, items, start, end) != ARROW_ROW_GOOD)
    return ARROW_ROW_BAD;
  reader_list_count (row->list, n - row->list->n);
  if (!reader_list_end (row->list, "the column", self->wish->name, row->builder, index, &fault))
    return fail (row, fault.kind, fault.message);
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

      reader_number_show (text, &number);
    }
  if (is_too_long (row, text->len))
    return fail_too_long (row);
  dlp_record_batch_builder_append_value (row->builder, index, text->str, text->len);
  return ARROW_ROW_GOOD;
}

static ArrowRowResult
append_typed (const ArrowColumn *self, ArrowRow *row, const Place *place, guint index)
{
  Number number, fitting;
  NumberResult result;

  if (is_too_long (row, sizeof (gint64)))
    return fail_too_long (row);
  if (self->wish->type == DLP_FIELD_BOOLEAN)
    {
      dlp_record_batch_builder_append_boolean (row->builder, index, get_boolean (place));
      return ARROW_ROW_GOOD;
    }
  number = fitting = get_number (&self->value, place->array, place->at);
  result = reader_number_fit (&fitting, self->wish->field->range);
  if (result != NUMBER_OK)
    return fail_number (self, row, &number, result);
  reader_number_append (&fitting, self->wish->field, row->builder, index);
  return ARROW_ROW_GOOD;
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
  if (self->wish->type >= DLP_FIELD_LIST_UINT16)
    return append_list (self, row, &place, index);
  switch ((guint) self->wish->type)
    {
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
      if (column->item.kind == ARROW_VALUE_NULL || is_null (items, at))
        g_string_append (to, "null");
      else
        {
          Number number = get_number (&column->item, items, at);

          reader_number_show (to, &number);
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
      reader_number_show (to, &number);
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
