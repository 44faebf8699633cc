/* SPDX-License-Identifier: MIT */

/* Lists of numbers, of any length or of one: token ids, labels, scores. */

#include "reader-list.h"

#include <string.h>

/* What is kept for the next list. */
#define MAX_KEPT (1024 * 1024)
/* So many digits fit gint64, whatever they are. */
#define SAFE_DIGITS 18

/* A text that is being read. */
typedef struct
{
  ReaderList *list;
  gboolean non_finite;
  const char *noun;
  const char *name;
  const guint8 *p, *end;
  ReaderFault *fault;
} Text;

void
reader_list_init (ReaderList *self)
{
  *self = (ReaderList){ .values = g_byte_array_new () };
}

void
reader_list_clear (ReaderList *self)
{
  g_clear_pointer (&self->values, g_byte_array_unref);
}

void
reader_list_begin (ReaderList *self, const ReaderField *field)
{
  self->field = field;
  self->n = 0;
  if (self->values->len > MAX_KEPT)
    {
      g_byte_array_unref (self->values);
      self->values = g_byte_array_new ();
    }
  g_byte_array_set_size (self->values, 0);
}

static gsize
get_width (DlpFieldType type)
{
  if (type == DLP_FIELD_LIST_UINT16)
    return sizeof (guint16);
  return type == DLP_FIELD_LIST_INT64 || type == DLP_FIELD_LIST_DOUBLE ? sizeof (guint64) :
                                                                         sizeof (guint32);
}

/* A number that fits. */
static void
append (ReaderList *self, const ReaderNumber *number)
{
  union
  {
    guint16 u16;
    guint32 u32;
    gint32 i32;
    gint64 i64;
    float f32;
    double f64;
  } value;

  switch ((guint) self->field->type)
    {
    case DLP_FIELD_LIST_UINT16:
      value.u16 = (guint16) number->u;
      break;
    case DLP_FIELD_LIST_UINT32:
      value.u32 = (guint32) number->u;
      break;
    case DLP_FIELD_LIST_INT32:
      value.i32 = (gint32) number->i;
      break;
    case DLP_FIELD_LIST_INT64:
      value.i64 = number->i;
      break;
    case DLP_FIELD_LIST_FLOAT:
      value.f32 = (float) number->d;
      break;
    default:
      value.f64 = number->d;
      break;
    }
  if (self->values->len <= DLP_COLUMN_MAX_BYTES - sizeof value)
    g_byte_array_append (self->values, (const guint8 *) &value,
                         (guint) get_width (self->field->type));
}

NumberResult
reader_list_add (ReaderList *self, const ReaderNumber *number)
{
  ReaderNumber fitting = *number;
  NumberResult result = reader_number_fit (&fitting, self->field->range);

  if (result != NUMBER_OK)
    return result;
  append (self, &fitting);
  self->n++;
  return NUMBER_OK;
}

void
reader_list_add_run (ReaderList *self, gconstpointer values, gsize n)
{
  g_byte_array_append (self->values, values, (guint) (n * get_width (self->field->type)));
  self->n += n;
}

static gboolean
refuse_length (const ReaderList *self, const char *noun, const char *name, ReaderFault *fault)
{
  const ReaderField *field = self->field;

  fault->kind = "length";
  fault->message = g_strdup_printf (
      "%s \"%s\" has %" G_GUINT64_FORMAT " values, expected %u, as it is %s (%s)", noun, name,
      self->n, field->length, reader_field_get_type_name (field),
      self->n > field->length ? "cut=true would cut it off" : "pad=0 would fill it up");
  return FALSE;
}

static gboolean
refuse_size (const ReaderList *self, const char *noun, const char *name, ReaderFault *fault)
{
  fault->kind = "length";
  fault->message = g_strdup_printf ("%s \"%s\" has %" G_GUINT64_FORMAT
                                    " values, more than fit into the 2 GiB of a column as %s",
                                    noun, name, self->n, reader_field_get_type_name (self->field));
  return FALSE;
}

gboolean
reader_list_end (ReaderList *self,
                 const char *noun,
                 const char *name,
                 DlpRecordBatchBuilder *builder,
                 guint index,
                 ReaderFault *fault)
{
  const ReaderField *field = self->field;

  if (field->length > 0 &&
      ((self->n > field->length && !field->cut) || (self->n < field->length && !field->has_pad)))
    return refuse_length (self, noun, name, fault);
  if (self->n > DLP_COLUMN_MAX_BYTES / get_width (field->type) && field->length == 0)
    return refuse_size (self, noun, name, fault);
  for (; self->n < field->length; self->n++)
    append (self, &field->pad);
  dlp_record_batch_builder_append_list (builder, index, self->values->data,
                                        self->values->len / get_width (field->type));
  return TRUE;
}

void
reader_list_refuse (const ReaderList *self,
                    const char *noun,
                    const char *name,
                    const char *shown,
                    NumberResult result,
                    ReaderFault *fault)
{
  ReaderRange range = self->field->range;
  gboolean is_range = result == NUMBER_RANGE;

  fault->kind = shown == NULL ? "null" : is_range ? "range" : "type";
  fault->message = g_strdup_printf (
      "%s \"%s\": item %" G_GUINT64_FORMAT " of the list is %s, expected %s, as it is %s", noun,
      name, self->n, shown != NULL ? shown : "null",
      is_range ? reader_range_get_limits (range) : reader_range_get_wanted (range),
      reader_field_get_type_name (self->field));
}

/* ---- as text ---- */

static gboolean
is_blank (guint8 c)
{
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void
skip_blanks (Text *self)
{
  while (self->p < self->end && is_blank (*self->p))
    self->p++;
}

/* What is not a list of numbers at all. */
static gboolean
refuse_text (Text *self, const char *what)
{
  self->fault->kind = "type";
  self->fault->at = self->p;
  self->fault->message = g_strdup_printf ("%s \"%s\" is no list of numbers such as [1, 2]: %s",
                                          self->noun, self->name, what);
  return FALSE;
}

static gboolean
refuse_item (Text *self, const guint8 *stop, NumberResult result)
{
  gsize size = (gsize) (stop - self->p);
  gboolean is_null = size == 4 && memcmp (self->p, "null", 4) == 0;
  gboolean is_word = *self->p == '"' || *self->p == '{' || *self->p == '[';
  g_autofree char *shown = is_null ? NULL :
                           is_word ? g_strdup (*self->p == '"' ? "a string" :
                                               *self->p == '{' ? "an object" :
                                                                 "a list") :
                                     reader_value_show_bare (self->p, size);

  self->fault->at = self->p;
  reader_list_refuse (self->list, self->noun, self->name, shown, result, self->fault);
  return FALSE;
}

static gboolean
is_number (const Text *self, const guint8 *text, gsize size)
{
  if (number_is_well_formed (text, size))
    return TRUE;
  return self->non_finite && ((size == 3 && memcmp (text, "NaN", 3) == 0) ||
                              (size == 8 && memcmp (text, "Infinity", 8) == 0) ||
                              (size == 9 && memcmp (text, "-Infinity", 9) == 0));
}

/* Any number, up to a blank, a comma or a bracket. */
static gboolean
read_any_item (Text *self)
{
  const guint8 *stop = self->p;
  NumberResult result;
  ReaderNumber number;

  while (stop < self->end && !is_blank (*stop) && *stop != ',' && *stop != ']')
    stop++;
  if (stop == self->p)
    return refuse_text (self, "an item is missing");
  if (!is_number (self, self->p, (gsize) (stop - self->p)))
    return refuse_item (self, stop, NUMBER_FRACTION);
  if (reader_list_is_full (self->list))
    reader_list_count (self->list, 1);
  else
    {
      result =
          reader_number_read (&number, self->list->field->range, self->p, (gsize) (stop - self->p));
      if (result == NUMBER_OK)
        result = reader_list_add (self->list, &number);
      if (result != NUMBER_OK)
        return refuse_item (self, stop, result);
    }
  self->p = stop;
  return TRUE;
}

/* Nearly all are whole, with a few digits. */
static gboolean
read_item (Text *self)
{
  const guint8 *digits = self->p + (*self->p == '-');
  const guint8 *q = digits;
  ReaderNumber number = { READER_NUMBER_SIGNED };
  NumberResult result;

  for (; q < self->end && (guint8) (*q - '0') < 10 && q - digits < SAFE_DIGITS; q++)
    number.i = number.i * 10 + (*q - '0');
  if (q == digits || (*digits == '0' && q > digits + 1) || q == self->end ||
      (*q != ',' && *q != ']' && !is_blank (*q)) || reader_list_is_full (self->list) ||
      (number.i == 0 && digits > self->p))
    return read_any_item (self);
  if (digits > self->p)
    number.i = -number.i;
  result = reader_list_add (self->list, &number);
  if (result != NUMBER_OK)
    return refuse_item (self, q, result);
  self->p = q;
  return TRUE;
}

static gboolean
read_items (Text *self)
{
  skip_blanks (self);
  if (self->p == self->end || *self->p != '[')
    return refuse_text (self, "it does not begin with a bracket");
  self->p++;
  skip_blanks (self);
  if (self->p < self->end && *self->p == ']')
    self->p++;
  else
    for (guint8 mark = ','; mark == ','; self->p++)
      {
        skip_blanks (self);
        if (self->p == self->end)
          return refuse_text (self, "it does not end with a bracket");
        if (!read_item (self))
          return FALSE;
        skip_blanks (self);
        mark = self->p < self->end ? *self->p : '\0';
        if (mark != ',' && mark != ']')
          return refuse_text (self, mark == '\0' ? "it does not end with a bracket" :
                                                   "a comma or a bracket is missing");
      }
  skip_blanks (self);
  return self->p == self->end || refuse_text (self, "something follows it");
}

gboolean
reader_list_append_json (ReaderList *self,
                         const ReaderField *field,
                         gboolean non_finite,
                         const char *noun,
                         const char *name,
                         const guint8 *text,
                         gsize size,
                         DlpRecordBatchBuilder *builder,
                         guint index,
                         ReaderFault *fault)
{
  Text reading = { self, non_finite, noun, name, text, text + size, fault };

  reader_list_begin (self, field);
  if (!read_items (&reading))
    return FALSE;
  fault->at = text;
  return reader_list_end (self, noun, name, builder, index, fault);
}
