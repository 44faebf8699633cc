/* SPDX-License-Identifier: MIT */

#include "source-manifest.h"

#include <string.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-file.h>
#include <dlpipe/dlp-json.h>

static const char *const known_keys[] = { "uri", "size", "rows", "etag", "sha256", "weight", NULL };

void
manifest_entry_free (ManifestEntry *self)
{
  g_free (self->uri);
  g_free (self->etag);
  g_free (self->sha256);
  g_free (self);
}

static gboolean fail (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

static gboolean
fail (GError **error, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error_literal (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT, message);
  return FALSE;
}

/* ---- one entry ---- */

static gboolean
fail_value (GError **error, const char *key, GVariant *value, const char *allowed)
{
  g_autofree char *json = dlp_json_print (value, FALSE);
  g_autofree char *shown = dlp_uri_escape_for_display (json);

  return fail (error, "“%s” is %s; it has to be %s", key, shown, allowed);
}

static gboolean
get_text (GVariant *value, char **text)
{
  if (!g_variant_is_of_type (value, G_VARIANT_TYPE_STRING) ||
      g_variant_get_string (value, NULL)[0] == '\0')
    return FALSE;
  *text = g_variant_dup_string (value, NULL);
  return TRUE;
}

static gboolean
get_count (GVariant *value, gint64 *count)
{
  if (!g_variant_is_of_type (value, G_VARIANT_TYPE_INT64))
    return FALSE;
  *count = g_variant_get_int64 (value);
  return *count >= 0;
}

static gboolean
get_sha256 (GVariant *value, char **sha256)
{
  g_autofree char *text = NULL;

  if (!get_text (value, &text) || strlen (text) != 64 ||
      strspn (text, "0123456789abcdefABCDEF") != 64)
    return FALSE;
  *sha256 = g_ascii_strdown (text, -1);
  return TRUE;
}

static gboolean
is_one (GVariant *value)
{
  return (g_variant_is_of_type (value, G_VARIANT_TYPE_INT64) && g_variant_get_int64 (value) == 1) ||
         (g_variant_is_of_type (value, G_VARIANT_TYPE_DOUBLE) && g_variant_get_double (value) == 1);
}

static gboolean
take_member (ManifestEntry *self, const char *key, GVariant *value, GError **error)
{
  static const char whole[] = "a whole number from 0 to 9223372036854775807";

  if (strcmp (key, "uri") == 0)
    return get_text (value, &self->uri) || fail_value (error, key, value, "a text");
  if (strcmp (key, "size") == 0)
    return get_count (value, &self->size) || fail_value (error, key, value, whole);
  if (strcmp (key, "rows") == 0)
    return get_count (value, &self->rows) || fail_value (error, key, value, whole);
  if (strcmp (key, "etag") == 0)
    return get_text (value, &self->etag) || fail_value (error, key, value, "a text");
  if (strcmp (key, "sha256") == 0)
    return get_sha256 (value, &self->sha256) ||
           fail_value (error, key, value, "64 hexadecimal digits");
  return is_one (value) ||
         fail_value (error, key, value,
                     "1: files of one source have no weights; give those of another weight a "
                     "source of their own, and their weight to mix");
}

static gboolean
check_key (const char *key, guint *seen, GError **error)
{
  g_autofree char *shown = dlp_uri_escape_for_display (key);
  g_autofree char *all = g_strjoinv (", ", (char **) known_keys);

  for (guint i = 0; known_keys[i] != NULL; i++)
    {
      if (strcmp (key, known_keys[i]) != 0)
        continue;
      if (*seen & 1u << i)
        return fail (error, "the key “%s” is there twice", shown);
      *seen |= 1u << i;
      return TRUE;
    }
  return fail (error, "unknown key “%s”; known: %s", shown, all);
}

static ManifestEntry *
make_entry (GVariant *value, GError **error)
{
  g_autoptr (ManifestEntry) self = g_new0 (ManifestEntry, 1);
  GVariantIter iter;
  const char *key;
  GVariant *member;
  guint seen = 0;

  self->size = self->rows = -1;
  if (!g_variant_is_of_type (value, G_VARIANT_TYPE_VARDICT))
    {
      fail (error, "it is no object, such as {\"uri\": \"part-0.jsonl\"}");
      return NULL;
    }
  g_variant_iter_init (&iter, value);
  while (g_variant_iter_next (&iter, "{&sv}", &key, &member))
    {
      g_autoptr (GVariant) owned = member;

      if (!check_key (key, &seen, error) || !take_member (self, key, owned, error))
        return NULL;
    }
  if (self->uri != NULL)
    return g_steal_pointer (&self);
  fail (error, "the key “uri” is missing");
  return NULL;
}

/* ---- all of them ---- */

static gboolean
add_entry (GPtrArray *entries, GVariant *value, const char *what, guint64 number, GError **error)
{
  ManifestEntry *entry = make_entry (value, error);

  if (entry == NULL)
    {
      g_prefix_error (error, "%s %" G_GUINT64_FORMAT ": ", what, number);
      return FALSE;
    }
  g_ptr_array_add (entries, entry);
  return TRUE;
}

static gboolean
add_array (GPtrArray *entries, GVariant *array, GError **error)
{
  GVariantIter iter;
  GVariant *child;
  gboolean ok = TRUE;

  if (!g_variant_is_of_type (array, G_VARIANT_TYPE ("av")))
    return fail (error, "“files” is no array of objects");
  g_variant_iter_init (&iter, array);
  for (guint64 i = 0; ok && g_variant_iter_next (&iter, "v", &child); i++)
    {
      ok = add_entry (entries, child, "entry (from 0)", i, error);
      g_variant_unref (child);
    }
  return ok;
}

/* {"files": [...]} */
static gboolean
is_wrapped (GVariant *document)
{
  g_autoptr (GVariant) files = NULL;

  if (!g_variant_is_of_type (document, G_VARIANT_TYPE_VARDICT) ||
      g_variant_n_children (document) != 1)
    return FALSE;
  files = g_variant_lookup_value (document, "files", NULL);
  return files != NULL;
}

static gboolean
add_document (GPtrArray *entries, GVariant *document, GError **error)
{
  g_autoptr (GVariant) files = NULL;

  if (g_variant_is_of_type (document, G_VARIANT_TYPE ("av")))
    return add_array (entries, document, error);
  if (!is_wrapped (document))
    return add_entry (entries, document, "line", 1, error);
  files = g_variant_lookup_value (document, "files", NULL);
  return add_array (entries, files, error);
}

static gboolean
is_blank (const char *text, gsize size)
{
  for (gsize i = 0; i < size; i++)
    if (strchr (" \t\r", text[i]) == NULL || text[i] == '\0')
      return FALSE;
  return TRUE;
}

static gboolean
add_line (GPtrArray *entries, const char *text, gsize size, guint64 number, GError **error)
{
  g_autoptr (GVariant) value = NULL;
  g_autoptr (GError) failure = NULL;

  if (is_blank (text, size))
    return TRUE;
  value = dlp_json_parse (text, size, &failure);
  if (value == NULL)
    return fail (error, "line %" G_GUINT64_FORMAT ": %s", number, failure->message);
  return add_entry (entries, value, "line", number, error);
}

static gboolean
add_lines (GPtrArray *entries, const char *text, gsize size, GError **error)
{
  guint64 number = 0;

  for (gsize at = 0; at < size;)
    {
      const char *end = memchr (text + at, '\n', size - at);
      gsize length = end != NULL ? (gsize) (end - (text + at)) : size - at;

      if (!add_line (entries, text + at, length, ++number, error))
        return FALSE;
      at += length + 1;
    }
  return TRUE;
}

static gboolean
is_array (const char *text, gsize size)
{
  gsize i = 0;

  while (i < size && text[i] != '\0' && strchr (" \t\r\n", text[i]) != NULL)
    i++;
  return i < size && text[i] == '[';
}

/* What is no JSON as a whole may be JSON lines, but not what begins as an array. */
GPtrArray *
source_manifest_parse (const char *text, gsize size, GError **error)
{
  g_autoptr (GPtrArray) entries =
      g_ptr_array_new_with_free_func ((GDestroyNotify) manifest_entry_free);
  g_autoptr (GError) failure = NULL;
  g_autoptr (GVariant) document = dlp_json_parse (text, size, &failure);
  gboolean ok;

  if (document != NULL)
    ok = add_document (entries, document, error);
  else if (is_array (text, size))
    ok = fail (error, "%s", failure->message);
  else
    ok = add_lines (entries, text, size, error);
  if (ok && entries->len == 0)
    ok = fail (error, "the manifest names no file");
  return ok ? g_steal_pointer (&entries) : NULL;
}

/* ---- printing ---- */

static void
append_text (GString *out, const char *key, const char *value)
{
  if (value == NULL)
    return;
  g_string_append_printf (out, ", \"%s\": ", key);
  dlp_json_append_string (out, value, strlen (value));
}

static void
append_count (GString *out, const char *key, gint64 value)
{
  if (value >= 0)
    g_string_append_printf (out, ", \"%s\": %" G_GINT64_FORMAT, key, value);
}

char *
source_manifest_print (GPtrArray *entries)
{
  g_autoptr (GString) out = g_string_new (NULL);

  for (guint i = 0; i < entries->len; i++)
    {
      const ManifestEntry *entry = g_ptr_array_index (entries, i);
      g_autofree char *uri = dlp_uri_redact (entry->uri);

      g_string_append (out, "{\"uri\": ");
      dlp_json_append_string (out, uri, strlen (uri));
      append_count (out, "size", entry->size);
      append_count (out, "rows", entry->rows);
      append_text (out, "etag", entry->etag);
      append_text (out, "sha256", entry->sha256);
      g_string_append (out, "}\n");
    }
  return g_string_free (g_steal_pointer (&out), FALSE);
}

/* ---- relative names ---- */

/* Of a manifest that is a local file names are paths, as they are; of another one URI references.
 */
static char *
resolve (const char *uri, const char *location, GError **error)
{
  g_autofree char *folder = NULL;

  if (strstr (uri, "://") != NULL)
    return g_strdup (uri);
  if (strstr (location, "://") != NULL)
    return g_uri_resolve_relative (location, uri, G_URI_FLAGS_ENCODED | G_URI_FLAGS_PARSE_RELAXED,
                                   error);
  folder = g_path_get_dirname (location);
  return g_path_is_absolute (uri) || strchr (location, '/') == NULL ?
             g_strdup (uri) :
             g_build_filename (folder, uri, NULL);
}

gboolean
source_manifest_resolve (GPtrArray *entries, const char *location, GError **error)
{
  for (guint i = 0; i < entries->len; i++)
    {
      ManifestEntry *entry = g_ptr_array_index (entries, i);
      g_autoptr (GError) failure = NULL;
      char *uri = resolve (entry->uri, location, &failure);

      if (uri == NULL)
        {
          g_autofree char *shown = dlp_uri_escape_for_display (entry->uri);

          return fail (error, "“%s” is no URI that can be relative to the manifest: %s", shown,
                       failure->message);
        }
      g_free (entry->uri);
      entry->uri = uri;
    }
  return TRUE;
}
