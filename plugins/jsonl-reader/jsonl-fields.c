/* SPDX-License-Identifier: MIT */

/* The property fields: what is wanted besides the text, and of what types. */

#include "jsonl-fields.h"

#include <string.h>

#include <dlpipe/dlp-error.h>

static void
field_free (gpointer data)
{
  JsonlField *field = data;

  g_free (field->path);
  g_free (field);
}

/* The first of @marks at or behind @p that no backslash stands before; or the end. */
static const char *
find_mark (const char *p, const char *marks)
{
  for (; *p != '\0' && strchr (marks, *p) == NULL; p++)
    if (*p == '\\' && p[1] != '\0')
      p++;
  return p;
}

/* The last colon of @entry that no backslash stands before, or NULL. */
static const char *
find_type (const char *entry)
{
  const char *last = NULL;

  for (const char *p = find_mark (entry, ":"); *p != '\0'; p = find_mark (p + 1, ":"))
    last = p;
  return last;
}

static gboolean
fail (const char *entry, const char *why, GError **error)
{
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE, "fields: “%s”: %s", entry, why);
  return FALSE;
}

static gboolean
read_type (JsonlField *field, const char *entry, const char *text, GError **error)
{
  g_autoptr (GError) local_error = NULL;
  g_autofree char *why = NULL;

  if (!dlp_field_type_from_string (text, &field->type, &field->optional, &local_error))
    why = g_strconcat (local_error->message, "; a colon in a key is written \\:", NULL);
  else if (field->type == DLP_FIELD_BINARY || field->type == DLP_FIELD_LIST_UINT16 ||
           field->type == DLP_FIELD_LIST_UINT32)
    why = g_strdup_printf ("JSON is read as string, int64, uint64, double or boolean, not as %s",
                           dlp_field_type_to_string (field->type));
  return why == NULL || fail (entry, why, error);
}

/* (transfer full): of "PATH" or "PATH:TYPE". */
static JsonlField *
parse_entry (const char *entry, GError **error)
{
  JsonlField *field = g_new0 (JsonlField, 1);
  const char *colon = find_type (entry);

  field->type = DLP_FIELD_STRING;
  field->optional = TRUE;
  if (colon == NULL)
    {
      field->path = g_strdup (entry);
      return field;
    }

  field->path = g_strchomp (g_strndup (entry, colon - entry));
  for (colon++; *colon == ' ';)
    colon++;
  if (!read_type (field, entry, colon, error))
    g_clear_pointer (&field, field_free);
  return field;
}

/* Blanks beside a comma do not count; others did before there were commas. */
static gboolean
add_entries (GPtrArray *fields, const char *text, GError **error)
{
  for (const char *p = text;;)
    {
      const char *end = find_mark (p, ",");
      g_autofree char *entry = g_strndup (p, end - p);
      JsonlField *field;

      if (p != text)
        g_strchug (entry);
      if (*end != '\0')
        g_strchomp (entry);
      field = parse_entry (entry, error);
      if (field == NULL)
        return FALSE;
      g_ptr_array_add (fields, field);
      if (*field->path == '\0')
        return fail (text, "a field has no name", error);
      if (*end == '\0')
        return TRUE;
      p = end + 1;
    }
}

GPtrArray *
jsonl_fields_parse (const char *const *texts, GError **error)
{
  g_autoptr (GPtrArray) fields = g_ptr_array_new_with_free_func (field_free);

  for (guint i = 0; texts != NULL && texts[i] != NULL; i++)
    if (!add_entries (fields, texts[i], error))
      return NULL;
  return g_steal_pointer (&fields);
}
