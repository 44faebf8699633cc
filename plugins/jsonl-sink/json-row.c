/* SPDX-License-Identifier: MIT */

#include "json-row.h"

#include <string.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-json.h>

typedef struct
{
  guint field;
  DlpFieldType type;
  char *before; /* what stands before the value: brace or comma, key, colon */
  gsize before_size;
  char *before_base64; /* the same, of bytes that are no text; NULL: it cannot have them */
  gsize before_base64_size;
} Member;

struct _JsonRow
{
  GArray *members; /* of Member */
  char *head;      /* nullable: stands before the first member, without its brace */
  gboolean coordinates;
};

/* Bytes that are no text are written as base64, under the name of the field with this behind it. */
#define BASE64_SUFFIX "_base64"

static const char *const coordinate_names[] = { "stage", "source", "file", "row", "epoch", "part" };

static void
clear_member (gpointer data)
{
  Member *member = data;

  g_free (member->before);
  g_free (member->before_base64);
}

void
json_row_free (JsonRow *self)
{
  if (self == NULL)
    return;

  g_array_unref (self->members);
  g_free (self->head);
  g_free (self);
}

static gboolean
fail_missing (DlpSchema *schema, const char *name, GError **error)
{
  g_autofree char *shown = dlp_schema_to_string (schema);

  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
               "fields=%s: there is no such field in %s%s", name, shown,
               strcmp (name, "text") == 0 ? "; a tokenizer before it keeps the text with "
                                            "keep-text=true" :
                                            "");
  return FALSE;
}

/* (transfer full) */
static char *
make_before (JsonRow *self, const char *name, gsize *size)
{
  GString *before = g_string_new (self->members->len > 0 || self->head != NULL ? "," : "{");

  dlp_json_append_string (before, name, strlen (name));
  g_string_append_c (before, ':');
  *size = before->len;
  return g_string_free (before, FALSE);
}

static gboolean
add_member (JsonRow *self, DlpSchema *schema, const char *name, GError **error)
{
  int field = dlp_schema_find (schema, name);
  Member member = { 0 };

  if (field < 0)
    return fail_missing (schema, name, error);
  for (guint i = 0; i < self->members->len; i++)
    if (g_array_index (self->members, Member, i).field == (guint) field)
      {
        g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                     "fields=%s: the field is named twice", name);
        return FALSE;
      }

  member.field = (guint) field;
  member.type = dlp_schema_get_field_type (schema, (guint) field);
  member.before = make_before (self, name, &member.before_size);
  if (member.type == DLP_FIELD_BINARY)
    {
      g_autofree char *coded = g_strconcat (name, BASE64_SUFFIX, NULL);

      member.before_base64 = make_before (self, coded, &member.before_base64_size);
    }
  g_array_append_val (self->members, member);
  return TRUE;
}

/* A field must not have the name that another one has in base64. */
static gboolean
check_base64_names (JsonRow *self, DlpSchema *schema, GError **error)
{
  for (guint i = 0; i < self->members->len; i++)
    {
      const Member *member = &g_array_index (self->members, Member, i);
      const char *name = dlp_schema_get_field_name (schema, member->field);
      g_autofree char *coded = g_strconcat (name, BASE64_SUFFIX, NULL);

      for (guint k = 0; member->before_base64 != NULL && k < self->members->len; k++)
        if (g_str_equal (
                dlp_schema_get_field_name (schema, g_array_index (self->members, Member, k).field),
                coded))
          {
            g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                         "a field is called “%s”, and so is what the bytes of “%s” become where "
                         "they are no text: name the fields that are wanted (fields=...)",
                         coded, name);
            return FALSE;
          }
    }
  return TRUE;
}

/* The members that are not fields must not have the name of one. */
static gboolean
check_names (JsonRow *self, DlpSchema *schema, GError **error)
{
  const char *taken = NULL;

  for (guint i = 0; i < self->members->len; i++)
    {
      const char *name =
          dlp_schema_get_field_name (schema, g_array_index (self->members, Member, i).field);

      if (self->head != NULL && strcmp (name, "element") == 0)
        taken = name;
      for (guint k = 0; k < G_N_ELEMENTS (coordinate_names) && self->coordinates; k++)
        if (strcmp (name, coordinate_names[k]) == 0)
          taken = name;
    }
  if (taken == NULL)
    return check_base64_names (self, schema, error);

  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
               "a field is called “%s”, and so is what %s adds: name the fields that are wanted "
               "(fields=...), or leave the coordinates out",
               taken, self->coordinates ? "coordinates=true" : "this sink");
  return FALSE;
}

JsonRow *
json_row_new (DlpSchema *schema,
              const char *const *fields,
              const char *element,
              gboolean coordinates,
              GError **error)
{
  g_autoptr (JsonRow) self = g_new0 (JsonRow, 1);
  guint n = fields != NULL ? g_strv_length ((char **) fields) : 0;

  self->members = g_array_new (FALSE, FALSE, sizeof (Member));
  g_array_set_clear_func (self->members, clear_member);
  self->coordinates = coordinates;
  if (element != NULL)
    {
      GString *head = g_string_new ("{\"element\":");

      dlp_json_append_string (head, element, strlen (element));
      self->head = g_string_free (head, FALSE);
    }

  if (n == 0)
    for (guint i = 0; i < dlp_schema_get_n_fields (schema); i++)
      if (!add_member (self, schema, dlp_schema_get_field_name (schema, i), error))
        return NULL;
  for (guint i = 0; i < n; i++)
    if (!add_member (self, schema, fields[i], error))
      return NULL;
  return check_names (self, schema, error) ? g_steal_pointer (&self) : NULL;
}

static void
write_list (JsonWriter *writer, DlpRecordBatch *batch, const Member *member, guint row)
{
  gsize n;
  gconstpointer values = dlp_record_batch_get_list (batch, member->field, row, &n);

  switch ((guint) member->type)
    {
    case DLP_FIELD_LIST_UINT16:
      json_writer_add_list16 (writer, values, n);
      break;
    case DLP_FIELD_LIST_UINT32:
      json_writer_add_list32 (writer, values, n);
      break;
    case DLP_FIELD_LIST_INT32:
      json_writer_add_list_int32 (writer, values, n);
      break;
    case DLP_FIELD_LIST_INT64:
      json_writer_add_list_int64 (writer, values, n);
      break;
    case DLP_FIELD_LIST_FLOAT:
      json_writer_add_list_float (writer, values, n);
      break;
    default:
      json_writer_add_list_double (writer, values, n);
      break;
    }
}

static gboolean
is_text (const guint8 *data, gsize size)
{
  /* GLib takes a U+0000 for the end. */
  return size == 0 ||
         (memchr (data, 0, size) == NULL && g_utf8_validate_len ((const char *) data, size, NULL));
}

static void
write_value (JsonWriter *writer, DlpRecordBatch *batch, const Member *member, guint row)
{
  const guint8 *value;
  gsize size;

  if (dlp_record_batch_is_null (batch, member->field, row))
    {
      json_writer_add_null (writer);
      return;
    }

  switch (member->type)
    {
    case DLP_FIELD_STRING:
    case DLP_FIELD_BINARY:
      value = dlp_record_batch_get_value (batch, member->field, row, &size);
      json_writer_add_string (writer, value, size);
      break;
    case DLP_FIELD_BOOLEAN:
      json_writer_add_boolean (writer, dlp_record_batch_get_boolean (batch, member->field, row));
      break;
    case DLP_FIELD_INT64:
      json_writer_add_int64 (writer, dlp_record_batch_get_int64 (batch, member->field, row));
      break;
    case DLP_FIELD_UINT64:
      json_writer_add_uint64 (writer, dlp_record_batch_get_uint64 (batch, member->field, row));
      break;
    case DLP_FIELD_DOUBLE:
      json_writer_add_double (writer, dlp_record_batch_get_double (batch, member->field, row));
      break;
    case DLP_FIELD_LIST_UINT16:
    case DLP_FIELD_LIST_UINT32:
    case DLP_FIELD_LIST_INT32:
    case DLP_FIELD_LIST_INT64:
    case DLP_FIELD_LIST_FLOAT:
    case DLP_FIELD_LIST_DOUBLE:
      write_list (writer, batch, member, row);
      break;
    }
}

static void
write_coordinates (JsonWriter *writer, const DlpCoordinate *at, gboolean first)
{
  const guint64 values[] = { at->stage, at->source, at->file, at->row, at->epoch, at->part };

  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    {
      json_writer_add_raw (writer, first && i == 0 ? "{\"" : ",\"", 2);
      json_writer_add_raw (writer, coordinate_names[i], strlen (coordinate_names[i]));
      json_writer_add_raw (writer, "\":", 2);
      json_writer_add_uint64 (writer, values[i]);
    }
}

static void
write_member (JsonWriter *writer, DlpRecordBatch *batch, const Member *member, guint row)
{
  gsize size = 0;
  const guint8 *bytes = member->before_base64 != NULL ?
                            dlp_record_batch_get_value (batch, member->field, row, &size) :
                            NULL;

  if (bytes == NULL || is_text (bytes, size))
    {
      json_writer_add_raw (writer, member->before, member->before_size);
      write_value (writer, batch, member, row);
      return;
    }
  json_writer_add_raw (writer, member->before_base64, member->before_base64_size);
  json_writer_add_base64 (writer, bytes, size);
}

void
json_row_write (JsonRow *self, JsonWriter *writer, DlpRecordBatch *batch, guint row)
{
  gboolean any = self->head != NULL || self->members->len > 0 || self->coordinates;

  if (self->head != NULL)
    json_writer_add_raw (writer, self->head, strlen (self->head));
  for (guint i = 0; i < self->members->len; i++)
    write_member (writer, batch, &g_array_index (self->members, Member, i), row);
  if (self->coordinates)
    write_coordinates (writer, dlp_record_batch_get_coordinate (batch, row),
                       self->head == NULL && self->members->len == 0);
  json_writer_add_raw (writer, any ? "}\n" : "{}\n", any ? 2 : 3);
}

static gboolean
is_list (const Member *member)
{
  return member->type >= DLP_FIELD_LIST_UINT16;
}

gboolean
json_row_has_lists (JsonRow *self)
{
  for (guint i = 0; i < self->members->len; i++)
    if (is_list (&g_array_index (self->members, Member, i)))
      return TRUE;
  return FALSE;
}

guint64
json_row_count_values (JsonRow *self, DlpRecordBatch *batch, guint row, guint n)
{
  guint64 values = 0;

  for (guint i = 0; i < self->members->len; i++)
    {
      const Member *member = &g_array_index (self->members, Member, i);
      gsize length;

      for (guint k = 0; k < n && is_list (member); k++)
        {
          dlp_record_batch_get_list (batch, member->field, row + k, &length);
          values += length;
        }
    }
  return values;
}
