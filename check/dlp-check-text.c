/* SPDX-License-Identifier: MIT */

#include <string.h>

#include "dlp-check-private.h"

static void
append_list (GString *text, const DlpRecordBatch *batch, guint field, guint row, DlpFieldType type)
{
  gsize n;
  gconstpointer values = dlp_record_batch_get_list (batch, field, row, &n);

  for (gsize i = 0; i < n; i++)
    {
      g_string_append_c (text, ' ');
      if (type == DLP_FIELD_LIST_UINT16)
        g_string_append_printf (text, "%u", ((const guint16 *) values)[i]);
      else if (type == DLP_FIELD_LIST_UINT32)
        g_string_append_printf (text, "%u", ((const guint32 *) values)[i]);
      else if (type == DLP_FIELD_LIST_INT32)
        g_string_append_printf (text, "%d", ((const gint32 *) values)[i]);
      else if (type == DLP_FIELD_LIST_INT64)
        g_string_append_printf (text, "%" G_GINT64_FORMAT, ((const gint64 *) values)[i]);
      else if (type == DLP_FIELD_LIST_FLOAT)
        g_string_append_printf (text, "%.9g", (double) ((const float *) values)[i]);
      else
        g_string_append_printf (text, "%.17g", ((const double *) values)[i]);
    }
}

static void
append_readable (GString *text, const guint8 *data, gsize size)
{
  gboolean valid = g_utf8_validate ((const char *) data, (gssize) size, NULL);

  g_string_append_c (text, '"');
  for (gsize i = 0; i < size; i++)
    if (data[i] == '"' || data[i] == '\\')
      g_string_append_printf (text, "\\%c", data[i]);
    else if (data[i] == '\n')
      g_string_append (text, "\\n");
    else if (data[i] < ' ' || data[i] == 0x7f || (data[i] >= 0x80 && !valid))
      g_string_append_printf (text, "\\x%02x", data[i]);
    else
      g_string_append_c (text, (char) data[i]);
  g_string_append_c (text, '"');
}

static void
append_bytes (GString *text, const DlpRecordBatch *batch, guint field, guint row, gboolean readable)
{
  gsize size;
  const guint8 *data = dlp_record_batch_get_value (batch, field, row, &size);
  g_autofree char *escaped = NULL;

  if (readable)
    {
      append_readable (text, data, size);
      return;
    }
  escaped = g_base64_encode (data, size);
  g_string_append (text, escaped);
}

static void
append_value (GString *text, const DlpRecordBatch *batch, guint field, guint row, gboolean readable)
{
  DlpFieldType type = dlp_schema_get_field_type (dlp_record_batch_get_schema (batch), field);

  g_string_append_printf (
      text, " %s=", dlp_schema_get_field_name (dlp_record_batch_get_schema (batch), field));
  if (dlp_record_batch_is_null (batch, field, row))
    {
      g_string_append (text, "null");
      return;
    }
  switch (type)
    {
    case DLP_FIELD_STRING:
    case DLP_FIELD_BINARY:
      append_bytes (text, batch, field, row, readable);
      break;
    case DLP_FIELD_LIST_UINT16:
    case DLP_FIELD_LIST_UINT32:
    case DLP_FIELD_LIST_INT32:
    case DLP_FIELD_LIST_INT64:
    case DLP_FIELD_LIST_FLOAT:
    case DLP_FIELD_LIST_DOUBLE:
      append_list (text, batch, field, row, type);
      break;
    case DLP_FIELD_BOOLEAN:
      g_string_append_printf (text, "%d", dlp_record_batch_get_boolean (batch, field, row));
      break;
    case DLP_FIELD_INT64:
      g_string_append_printf (text, "%" G_GINT64_FORMAT,
                              dlp_record_batch_get_int64 (batch, field, row));
      break;
    case DLP_FIELD_UINT64:
      g_string_append_printf (text, "%" G_GUINT64_FORMAT,
                              dlp_record_batch_get_uint64 (batch, field, row));
      break;
    case DLP_FIELD_DOUBLE:
      g_string_append_printf (text, "%.17g", dlp_record_batch_get_double (batch, field, row));
      break;
    }
}

static char *
to_text (const DlpRecordBatch *batch, guint row, gboolean readable)
{
  const DlpCoordinate *at = dlp_record_batch_get_coordinate (batch, row);
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "[%u %u %u %" G_GUINT64_FORMAT " %u]", at->stage, at->source,
                          at->file, at->row, at->epoch);
  for (guint i = 0; i < dlp_schema_get_n_fields (dlp_record_batch_get_schema (batch)); i++)
    append_value (text, batch, i, row, readable);
  return g_string_free (text, FALSE);
}

char *
dlp_check_record_to_text (const DlpRecordBatch *batch, guint row)
{
  return to_text (batch, row, FALSE);
}

char *
dlp_check_record_to_string (const DlpRecordBatch *batch, guint row)
{
  return to_text (batch, row, TRUE);
}

/* The value of a field of text in a line: base64 has no blank in it. */
static gboolean
is_text_field (const DlpSchema *schema, const char *word, const char **value)
{
  const char *equals = strchr (word, '=');
  g_autofree char *name = equals != NULL ? g_strndup (word, equals - word) : NULL;
  int field = name != NULL ? dlp_schema_find (schema, name) : -1;
  DlpFieldType type;

  if (field < 0)
    return FALSE;
  type = dlp_schema_get_field_type (schema, (guint) field);
  *value = equals + 1;
  return (type == DLP_FIELD_STRING || type == DLP_FIELD_BINARY) && strcmp (*value, "null") != 0;
}

char *
dlp_check_line_to_string (const char *line, const DlpSchema *schema)
{
  g_auto (GStrv) words = g_strsplit (line, " ", -1);
  GString *text = g_string_new (NULL);

  for (guint i = 0; words[i] != NULL; i++)
    {
      const char *value;

      if (i > 0)
        g_string_append_c (text, ' ');
      if (schema != NULL && is_text_field (schema, words[i], &value))
        {
          gsize size;
          g_autofree guint8 *data = g_base64_decode (value, &size);

          g_string_append_len (text, words[i], value - words[i]);
          append_readable (text, data, size);
        }
      else
        g_string_append (text, words[i]);
    }
  return g_string_free (text, FALSE);
}
