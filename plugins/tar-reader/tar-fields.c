/* SPDX-License-Identifier: MIT */

#include "tar-fields.h"

#include <string.h>

#include <dlpipe/dlp-error.h>

#define KEY_NAME "key"
#define KEY_MEMBER "__key__"

static void
field_free (gpointer data)
{
  TarField *field = data;

  g_free (field->name);
  g_free (field);
}

static void
wanted_free (gpointer data)
{
  TarWanted *wanted = data;

  g_free (wanted->extension);
  g_clear_pointer (&wanted->plan, json_plan_unref);
  g_ptr_array_unref (wanted->paths);
  g_free (wanted);
}

void
tar_fields_free (TarFields *self)
{
  g_clear_pointer (&self->parsed, g_ptr_array_unref);
  g_ptr_array_unref (self->fields);
  g_ptr_array_unref (self->members);
  g_free (self);
}

static gboolean
fail (const char *entry, const char *why, GError **error)
{
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE, "fields: \"%s\": %s", entry, why);
  return FALSE;
}

/* The path within JSON: behind the first part "json" that is not the last one; NULL: none. */
static const char *
find_path (const char *member)
{
  for (const char *part = member; *part != '\0';)
    {
      const char *end = part;

      while (*end != '\0' && *end != '.')
        end += *end == '\\' && end[1] != '\0' ? 2 : 1;
      if (*end == '\0')
        return NULL;
      if (end - part == 4 && g_ascii_strncasecmp (part, "json", 4) == 0)
        return end + 1;
      part = end + 1;
    }
  return NULL;
}

gint
tar_fields_find_member (const TarFields *self, const char *extension)
{
  for (guint i = 0; i < self->members->len; i++)
    if (strcmp (((TarWanted *) self->members->pdata[i])->extension, extension) == 0)
      return (gint) i;
  return -1;
}

static gint
add_member (TarFields *self, const char *text, gsize size)
{
  g_autofree char *written = g_strndup (text, size);
  g_autofree char *plain = reader_field_unescape (written);
  g_autofree char *extension = g_ascii_strdown (plain, -1);
  gint found = tar_fields_find_member (self, extension);
  TarWanted *wanted;

  if (found >= 0)
    return found;
  wanted = g_new0 (TarWanted, 1);
  wanted->extension = g_steal_pointer (&extension);
  wanted->paths = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (self->members, wanted);
  return (gint) self->members->len - 1;
}

static void
find_source (TarFields *self, TarField *field, const char *member)
{
  const char *path = find_path (member);
  gsize size = path != NULL ? (gsize) (path - member) - 1 : strlen (member);

  field->member = field->value = -1;
  if (strcmp (member, KEY_MEMBER) == 0)
    return;
  field->member = add_member (self, member, size);
  if (path != NULL)
    {
      TarWanted *wanted = self->members->pdata[field->member];

      field->value = (gint) wanted->paths->len;
      g_ptr_array_add (wanted->paths, g_strdup (path));
    }
}

static gboolean
check_field (const TarFields *self, const TarField *field, const char *member, GError **error)
{
  const char *entry = field->field.path;

  if (*field->name == '\0' || *member == '\0')
    return fail (entry, "a name and an extension are wanted, such as text=txt", error);
  if (field->member < 0 && field->field.has_type && field->field.type != DLP_FIELD_STRING)
    return fail (entry, "the key is a string", error);
  if (field->value >= 0 && field->field.type == DLP_FIELD_BINARY)
    return fail (entry, "what is in JSON is no binary", error);
  for (guint i = 0; i + 1 < self->fields->len; i++)
    if (strcmp (((TarField *) self->fields->pdata[i])->name, field->name) == 0)
      return fail (field->name, "given twice", error);
  return TRUE;
}

/* What is not said to be optional has to be there: so parts of a sample that are not where they
 * belong are seen. */
static gboolean
add_field (TarFields *self, const ReaderField *parsed, GError **error)
{
  TarField *field = g_new0 (TarField, 1);
  gboolean is_key = !parsed->has_name && strcmp (parsed->path, KEY_NAME) == 0;
  const char *member = is_key ? KEY_MEMBER : parsed->path;

  field->field = *parsed;
  field->field.path = parsed->entry;
  field->name = parsed->has_name ? g_strdup (parsed->name) : reader_field_unescape (parsed->path);
  g_ptr_array_add (self->fields, field);
  find_source (self, field, member);
  field->field.optional = parsed->has_type && parsed->optional;
  return check_field (self, field, member, error);
}

static gboolean
make_plan (TarWanted *wanted, GError **error)
{
  g_autoptr (GError) local = NULL;

  if (wanted->paths->len == 0)
    return TRUE;
  wanted->plan = json_plan_new ((const char *const *) wanted->paths->pdata, wanted->paths->len,
                                JSON_FLAGS_NONE, &local);
  return wanted->plan != NULL || fail (wanted->extension, local->message, error);
}

TarFields *
tar_fields_new (const char *const *texts, GError **error)
{
  g_autoptr (TarFields) self = g_new0 (TarFields, 1);

  self->fields = g_ptr_array_new_with_free_func (field_free);
  self->members = g_ptr_array_new_with_free_func (wanted_free);
  self->parsed = reader_fields_parse (texts, NULL, "a member", READER_FIELDS_BINARY, error);
  if (self->parsed == NULL)
    return NULL;
  for (guint i = 0; i < self->parsed->len; i++)
    if (!add_field (self, self->parsed->pdata[i], error))
      return NULL;
  for (guint i = 0; i < self->members->len; i++)
    if (!make_plan (self->members->pdata[i], error))
      return NULL;
  return g_steal_pointer (&self);
}

DlpSchema *
tar_fields_make_schema (const TarFields *self)
{
  guint n = self->fields->len;
  g_autofree const char **names = g_new (const char *, n);
  g_autofree DlpFieldType *types = g_new (DlpFieldType, n);
  g_autofree gboolean *optional = g_new (gboolean, n);

  for (guint i = 0; i < n; i++)
    {
      const TarField *field = self->fields->pdata[i];

      names[i] = field->name;
      types[i] = field->field.type;
      optional[i] = field->field.optional;
    }
  return dlp_schema_new (DLP_SCHEMA_RECORDS, n, names, types, optional);
}
