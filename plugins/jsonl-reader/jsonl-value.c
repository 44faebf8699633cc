/* SPDX-License-Identifier: MIT */

/* A value of a line as a value of a typed field, or what is wrong with it. */

#include <dlpipe/dlp-json.h>

#include "jsonl-fields.h"

/* Of a value, in a message. */
#define MAX_SHOWN 48

gsize
jsonl_value_get_offset (const JsonValue *value, const guint8 *line)
{
  if (value->data == NULL)
    return 0;
  if (value->kind != JSON_VALUE_STRING)
    return (gsize) (value->data - line);
  return (value->start > 0 ? value->start : (gsize) (value->data - line)) - 1;
}

/* (transfer full): “the number 1.5”, with its first bytes. */
static char *
show_value (const JsonValue *value)
{
  GString *text = g_string_new (NULL);
  gsize n = MIN (value->len, MAX_SHOWN);

  while (n > 0 && n < value->len && (value->data[n] & 0xc0) == 0x80)
    n--;
  if (value->kind >= JSON_VALUE_NUMBER)
    g_string_append_printf (text, "the %s ", json_value_kind_get_name (value->kind));
  if (value->kind == JSON_VALUE_STRING)
    dlp_json_append_string (text, (const char *) value->data, n);
  else
    g_string_append_len (text, (const char *) value->data, (gssize) n);
  if (n < value->len)
    g_string_append (text, "...");
  return g_string_free (text, FALSE);
}

/* @range: (nullable): the one that the value is out of. */
static gboolean
fail (const JsonlField *field,
      const JsonValue *value,
      const guint8 *line,
      const char *range,
      JsonlFault *fault)
{
  g_autofree char *shown = show_value (value);
  const char *expected = range != NULL ? range : reader_field_get_wanted (field);
  const char *type = reader_field_get_type_name (field);

  fault->offset = jsonl_value_get_offset (value, line);
  if (value->kind == JSON_VALUE_NULL)
    {
      fault->kind = "null";
      fault->message =
          g_strdup_printf ("the field \"%s\" is null, expected %s (fields=%s:%s? would take it)",
                           field->path, expected, field->path, type);
      return FALSE;
    }
  fault->kind = range != NULL ? "range" : "type";
  fault->message =
      g_strdup_printf ("the field \"%s\" is %s, expected %s, as it is %s (fields=%s would take its "
                       "text)",
                       field->path, shown, expected, type, field->path);
  return FALSE;
}

static gboolean
append_list (const JsonlField *field,
             ReaderList *list,
             DlpRecordBatchBuilder *builder,
             guint index,
             const JsonValue *value,
             const guint8 *line,
             JsonlFault *fault)
{
  ReaderFault why = { NULL };

  if (value->kind != JSON_VALUE_ARRAY)
    return fail (field, value, line, NULL, fault);
  if (reader_list_append_json (list, field, TRUE, "the field", field->path, value->data, value->len,
                               builder, index, &why))
    return TRUE;
  *fault = (JsonlFault){ why.kind, (gsize) (why.at - line), why.message };
  return FALSE;
}

gboolean
jsonl_field_append (const JsonlField *field,
                    ReaderList *list,
                    DlpRecordBatchBuilder *builder,
                    guint index,
                    const JsonValue *value,
                    const guint8 *line,
                    JsonlFault *fault)
{
  NumberResult result = NUMBER_OK;
  ReaderNumber number;

  if (value->kind == JSON_VALUE_NULL)
    {
      if (!field->optional)
        return fail (field, value, line, NULL, fault);
      dlp_record_batch_builder_append_null (builder, index);
      return TRUE;
    }

  if (field->type == DLP_FIELD_BOOLEAN)
    {
      if (value->kind != JSON_VALUE_TRUE && value->kind != JSON_VALUE_FALSE)
        return fail (field, value, line, NULL, fault);
      dlp_record_batch_builder_append_boolean (builder, index, value->kind == JSON_VALUE_TRUE);
      return TRUE;
    }

  if (reader_field_is_list (field))
    return append_list (field, list, builder, index, value, line, fault);

  if (value->kind == JSON_VALUE_NUMBER)
    {
      result = reader_number_read (&number, field->range, value->data, value->len);
      if (result == NUMBER_OK)
        {
          reader_number_append (&number, field, builder, index);
          return TRUE;
        }
    }
  return fail (field, value, line,
               result == NUMBER_RANGE ? reader_range_get_limits (field->range) : NULL, fault);
}
