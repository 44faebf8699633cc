/* SPDX-License-Identifier: MIT */

/* A value of a line as a value of a typed field, or what is wrong with it. */

#include <dlpipe/dlp-json.h>

#include "json-number.h"
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
  const char *expected = range != NULL ? range : reader_field_type_get_wanted (field->type);
  const char *type = dlp_field_type_to_string (field->type);

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
append_number (const JsonlField *field,
               DlpRecordBatchBuilder *builder,
               guint index,
               const JsonValue *value,
               NumberResult *result)
{
  gint64 i = 0;
  guint64 u = 0;
  double d = 0;

  if (field->type == DLP_FIELD_DOUBLE)
    {
      *result = json_value_get_double (value, &d);
      if (*result == NUMBER_OK)
        dlp_record_batch_builder_append_double (builder, index, d);
    }
  else if (field->type == DLP_FIELD_INT64)
    {
      *result = json_value_get_int64 (value, &i);
      if (*result == NUMBER_OK)
        dlp_record_batch_builder_append_int64 (builder, index, i);
    }
  else
    {
      *result = json_value_get_uint64 (value, &u);
      if (*result == NUMBER_OK)
        dlp_record_batch_builder_append_uint64 (builder, index, u);
    }
  return *result == NUMBER_OK;
}

gboolean
jsonl_field_append (const JsonlField *field,
                    DlpRecordBatchBuilder *builder,
                    guint index,
                    const JsonValue *value,
                    const guint8 *line,
                    JsonlFault *fault)
{
  NumberResult result = NUMBER_OK;

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

  if (value->kind == JSON_VALUE_NUMBER && append_number (field, builder, index, value, &result))
    return TRUE;
  return fail (field, value, line,
               result == NUMBER_RANGE ? reader_field_type_get_range (field->type) : NULL, fault);
}
