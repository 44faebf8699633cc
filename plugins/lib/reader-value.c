/* SPDX-License-Identifier: MIT */

/* A text as a value of a typed field, or what is wrong with it. */

#include "reader-value.h"

#include <string.h>

#include <dlpipe/dlp-json.h>
#include <dlpipe/dlp-utf8.h>

#include "number.h"

/* Of a value, in a message. */
#define MAX_SHOWN 48

char *
reader_value_show_bare (const guint8 *text, gsize size)
{
  gsize n = dlp_utf8_measure_valid (text, MIN (size, MAX_SHOWN));

  return g_strdup_printf ("%.*s%s", (int) n, (const char *) text, n < size ? "..." : "");
}

char *
reader_value_show (const guint8 *text, gsize size)
{
  GString *shown = g_string_new (NULL);
  gsize n = dlp_utf8_measure_valid (text, MIN (size, MAX_SHOWN));

  dlp_json_append_string (shown, (const char *) text, n);
  if (n < size)
    g_string_append (shown, "...");
  return g_string_free (shown, FALSE);
}

static gboolean
fail (const ReaderField *field,
      const char *noun,
      const char *name,
      const guint8 *text,
      gsize size,
      const char *range,
      ReaderFault *fault)
{
  g_autofree char *shown = reader_value_show (text, size);
  const char *expected = range != NULL ? range : reader_field_get_wanted (field);
  const char *type = reader_field_get_type_name (field);

  fault->at = text;
  fault->kind = size == 0 ? "null" : range != NULL ? "range" : "type";
  if (size == 0)
    fault->message =
        g_strdup_printf ("%s \"%s\" is empty, expected %s (fields=%s:%s? would take it)", noun,
                         name, expected, field->path, type);
  else
    fault->message = g_strdup_printf (
        "%s \"%s\" is %s, expected %s, as it is %s (fields=%s would take its text)", noun, name,
        shown, expected, type, field->path);
  return FALSE;
}

static gboolean
is_word (const guint8 *text, gsize size, const char *word)
{
  return size == strlen (word) && g_ascii_strncasecmp ((const char *) text, word, size) == 0;
}

void
reader_number_append (const ReaderNumber *number,
                      const ReaderField *field,
                      DlpRecordBatchBuilder *builder,
                      guint index)
{
  if (field->type == DLP_FIELD_DOUBLE)
    dlp_record_batch_builder_append_double (builder, index, number->d);
  else if (field->type == DLP_FIELD_INT64)
    dlp_record_batch_builder_append_int64 (builder, index, number->i);
  else
    dlp_record_batch_builder_append_uint64 (builder, index, number->u);
}

gboolean
reader_value_append (const ReaderField *field,
                     const char *noun,
                     const char *name,
                     const guint8 *text,
                     gsize size,
                     DlpRecordBatchBuilder *builder,
                     guint index,
                     ReaderFault *fault)
{
  NumberResult result;
  ReaderNumber number;
  gboolean plus;

  for (; size > 0 && (*text == ' ' || *text == '\t'); size--)
    text++;
  while (size > 0 && (text[size - 1] == ' ' || text[size - 1] == '\t'))
    size--;

  if (size == 0 && field->optional)
    {
      dlp_record_batch_builder_append_null (builder, index);
      return TRUE;
    }
  if (field->type == DLP_FIELD_BOOLEAN)
    {
      gboolean is_true = is_word (text, size, "true");

      if (!is_true && !is_word (text, size, "false"))
        return fail (field, noun, name, text, size, NULL, fault);
      dlp_record_batch_builder_append_boolean (builder, index, is_true);
      return TRUE;
    }

  plus = size > 1 && text[0] == '+' && text[1] != '-';
  if (!number_is_well_formed (text + plus, size - plus))
    return fail (field, noun, name, text, size, NULL, fault);
  result = reader_number_read (&number, field->range, text + plus, size - plus);
  if (result != NUMBER_OK)
    return fail (field, noun, name, text, size,
                 result == NUMBER_RANGE ? reader_range_get_limits (field->range) : NULL, fault);
  reader_number_append (&number, field, builder, index);
  return TRUE;
}
