/* SPDX-License-Identifier: MIT */

#include "warc-fields.h"

#include <string.h>

#include <dlpipe/dlp-error.h>

#include "reader-fields.h"
#include "warc-header.h"

static const struct
{
  const char *name;
  WarcFieldSource source;
  const char *from;
} known[] = {
  { "url", WARC_FIELD_URL, "WARC-Target-URI" },
  { "date", WARC_FIELD_WARC, "WARC-Date" },
  { "type", WARC_FIELD_WARC, "WARC-Type" },
  { "id", WARC_FIELD_WARC, "WARC-Record-ID" },
  { "content-type", WARC_FIELD_CONTENT_TYPE, "Content-Type" },
  { "http-status", WARC_FIELD_HTTP_STATUS, NULL },
};

static void
field_free (gpointer data)
{
  WarcField *field = data;

  g_free (field->name);
  g_free (field);
}

static gboolean
find_source (WarcField *field)
{
  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (strcmp (field->name, known[i].name) == 0)
      {
        field->source = known[i].source;
        field->from = known[i].from;
        return TRUE;
      }
  if (g_str_has_prefix (field->name, "header:"))
    {
      field->source = WARC_FIELD_HTTP;
      field->from = field->name + strlen ("header:");
    }
  else if (g_str_has_prefix (field->name, "warc:"))
    {
      field->source = WARC_FIELD_WARC;
      field->from = field->name + strlen ("warc:");
    }
  return field->from != NULL && *field->from != '\0';
}

static gboolean
add_field (GPtrArray *fields, const char *name, const char *taken, GError **error)
{
  WarcField *field = g_new0 (WarcField, 1);

  field->name = g_strdup (name);
  g_ptr_array_add (fields, field);
  if (!find_source (field))
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                   "fields: \"%s\", but there are url, date, type, id, content-type, http-status, "
                   "header:NAME (of HTTP) and warc:NAME",
                   name);
      return FALSE;
    }
  for (guint i = 0; i + 1 < fields->len; i++)
    if (strcmp (((WarcField *) fields->pdata[i])->name, name) == 0)
      {
        g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE, "fields: \"%s\" is given twice",
                     name);
        return FALSE;
      }
  if (strcmp (name, taken) != 0)
    return TRUE;
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
               "fields: \"%s\" is the name that the body gets", name);
  return FALSE;
}

GPtrArray *
warc_fields_parse (const char *const *texts, const char *taken, GError **error)
{
  g_autoptr (GPtrArray) fields = g_ptr_array_new_with_free_func (field_free);
  g_autoptr (GPtrArray) names = reader_fields_split_names (texts);

  for (guint i = 0; i < names->len; i++)
    if (!add_field (fields, names->pdata[i], taken, error))
      return NULL;
  return g_steal_pointer (&fields);
}

DlpFieldType
warc_field_get_type (const WarcField *field)
{
  return field->source == WARC_FIELD_HTTP_STATUS ? DLP_FIELD_INT64 : DLP_FIELD_STRING;
}

static const guint8 *
find_in_http (const WarcHeaders *self, const char *name, gsize *size)
{
  *size = 0;
  return self->http != NULL ?
             warc_header_find (self->http->header, self->http->header_size, name, size) :
             NULL;
}

const guint8 *
warc_headers_get_content_type (const WarcHeaders *self, gsize *size)
{
  return self->http != NULL ?
             find_in_http (self, "Content-Type", size) :
             warc_header_find (self->header, self->header_size, "Content-Type", size);
}

static const guint8 *
find_value (const WarcField *field, const WarcHeaders *headers, gsize *size)
{
  const guint8 *value;

  switch (field->source)
    {
    case WARC_FIELD_HTTP:
      return find_in_http (headers, field->from, size);
    case WARC_FIELD_CONTENT_TYPE:
      return warc_headers_get_content_type (headers, size);
    default:
      value = warc_header_find (headers->header, headers->header_size, field->from, size);
    }
  if (field->source == WARC_FIELD_URL && value != NULL && *size >= 2 && value[0] == '<' &&
      value[*size - 1] == '>')
    {
      value++;
      *size -= 2;
    }
  return value;
}

void
warc_field_append (const WarcField *field,
                   const WarcHeaders *headers,
                   DlpRecordBatchBuilder *builder,
                   guint index)
{
  g_autofree char *text = NULL;
  const guint8 *value;
  gsize size;

  if (field->source == WARC_FIELD_HTTP_STATUS)
    {
      if (headers->http != NULL && headers->http->status >= 0)
        dlp_record_batch_builder_append_int64 (builder, index, headers->http->status);
      else
        dlp_record_batch_builder_append_null (builder, index);
      return;
    }
  value = find_value (field, headers, &size);
  if (value == NULL)
    {
      dlp_record_batch_builder_append_null (builder, index);
      return;
    }
  text = warc_header_dup (value, size, &size);
  dlp_record_batch_builder_append_value (builder, index, text, size);
}
