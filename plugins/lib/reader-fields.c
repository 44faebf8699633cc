/* SPDX-License-Identifier: MIT */

/* The property fields: what is wanted besides the text, and of what types. */

#include "reader-fields.h"

#include <string.h>

#include <dlpipe/dlp-error.h>

/* Names of columns that a message lists. */
#define MAX_NAMES 20

static void
field_free (gpointer data)
{
  ReaderField *field = data;

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
read_type (ReaderField *field,
           const char *entry,
           const char *text,
           const char *format,
           gboolean has_binary,
           GError **error)
{
  g_autoptr (GError) local_error = NULL;
  g_autofree char *why = NULL;

  if (!dlp_field_type_from_string (text, &field->type, &field->optional, &local_error))
    why = g_strconcat (local_error->message, "; a colon in a name is written \\:", NULL);
  else if (format == NULL)
    return TRUE;
  else if ((field->type == DLP_FIELD_BINARY && !has_binary) ||
           field->type == DLP_FIELD_LIST_UINT16 || field->type == DLP_FIELD_LIST_UINT32)
    why = g_strdup_printf ("%s is read as string, %sint64, uint64, double or boolean, not as %s",
                           format, has_binary ? "binary, " : "",
                           dlp_field_type_to_string (field->type));
  return why == NULL || fail (entry, why, error);
}

/* (transfer full): of "PATH" or "PATH:TYPE". */
static ReaderField *
parse_entry (const char *entry, const char *format, gboolean has_binary, GError **error)
{
  ReaderField *field = g_new0 (ReaderField, 1);
  const char *colon = find_type (entry);

  field->type = DLP_FIELD_STRING;
  field->optional = TRUE;
  if (colon == NULL)
    {
      field->path = g_strdup (entry);
      return field;
    }

  field->path = g_strchomp (g_strndup (entry, colon - entry));
  field->has_type = TRUE;
  for (colon++; *colon == ' ';)
    colon++;
  if (!read_type (field, entry, colon, format, has_binary, error))
    g_clear_pointer (&field, field_free);
  return field;
}

/* Blanks beside a comma do not count; others did before there were commas. */
static gboolean
add_entries (GPtrArray *fields,
             const char *text,
             const char *format,
             gboolean has_binary,
             GError **error)
{
  for (const char *p = text;;)
    {
      const char *end = find_mark (p, ",");
      g_autofree char *entry = g_strndup (p, end - p);
      ReaderField *field;

      if (p != text)
        g_strchug (entry);
      if (*end != '\0')
        g_strchomp (entry);
      field = parse_entry (entry, format, has_binary, error);
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

static const ReaderField *
get_field (GPtrArray *fields, guint i)
{
  return g_ptr_array_index (fields, i);
}

static gboolean
check_names (GPtrArray *fields, const char *text_field, GError **error)
{
  for (guint i = 0; i < fields->len; i++)
    {
      const char *path = get_field (fields, i)->path;

      if (text_field != NULL && strcmp (path, "text") == 0)
        {
          g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                       "fields: \"text\" is the name of the field that field=%s becomes",
                       text_field);
          return FALSE;
        }
      for (guint k = 0; k < i; k++)
        if (strcmp (path, get_field (fields, k)->path) == 0)
          {
            g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                         "fields: \"%s\" is given twice", path);
            return FALSE;
          }
    }
  return TRUE;
}

GPtrArray *
reader_fields_parse (const char *const *texts,
                     const char *field,
                     const char *format,
                     gboolean has_binary,
                     GError **error)
{
  g_autoptr (GPtrArray) fields = g_ptr_array_new_with_free_func (field_free);

  for (guint i = 0; texts != NULL && texts[i] != NULL; i++)
    if (!add_entries (fields, texts[i], format, has_binary, error))
      return NULL;
  return check_names (fields, field, error) ? g_steal_pointer (&fields) : NULL;
}

char *
reader_field_unescape (const char *path)
{
  GString *name = g_string_new (NULL);

  for (; *path != '\0'; path++)
    {
      if (*path == '\\' && path[1] != '\0')
        path++;
      g_string_append_c (name, *path);
    }
  return g_string_free (name, FALSE);
}

GPtrArray *
reader_fields_split_names (const char *const *texts)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; texts != NULL && texts[i] != NULL; i++)
    for (const char *p = texts[i];; p++)
      {
        const char *end = find_mark (p, ",");
        g_autofree char *name = g_strndup (p, end - p);

        g_ptr_array_add (names, reader_field_unescape (g_strstrip (name)));
        p = end;
        if (*end == '\0')
          break;
      }
  return names;
}

char *
reader_fields_list_names (const char *const *names, guint n_names, const char *wanted)
{
  g_autoptr (GString) text = g_string_new (NULL);
  const char *near = dlp_suggest (wanted, names);

  for (guint i = 0; i < MIN (n_names, MAX_NAMES); i++)
    g_string_append_printf (text, "%s\"%s\"", i > 0 ? ", " : "", names[i]);
  if (n_names > MAX_NAMES)
    g_string_append (text, ", ...");
  if (near != NULL)
    g_string_append_printf (text, "; did you mean \"%s\"?", near);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

const char *
reader_field_type_get_wanted (DlpFieldType type)
{
  static const char *const wanted[] = {
    [DLP_FIELD_STRING] = "a string",      [DLP_FIELD_BOOLEAN] = "true or false",
    [DLP_FIELD_INT64] = "a whole number", [DLP_FIELD_UINT64] = "a whole number",
    [DLP_FIELD_DOUBLE] = "a number",
  };

  return wanted[type];
}

const char *
reader_field_type_get_range (DlpFieldType type)
{
  static const char *const ranges[] = {
    [DLP_FIELD_INT64] = "-9223372036854775808 to 9223372036854775807",
    [DLP_FIELD_UINT64] = "0 to 18446744073709551615",
    [DLP_FIELD_DOUBLE] = "-1.7976931348623157e308 to 1.7976931348623157e308",
  };

  return ranges[type];
}
