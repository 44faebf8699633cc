/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-manifest.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-file.h>
#include <dlpipe/dlp-json.h>
#include <dlpipe/dlp-output-file.h>

#include "dlp-durable-private.h"
#include "dlp-partial-private.h"

static gpointer
dlp_manifest_file_copy (gpointer from)
{
  DlpManifestFile *copy = g_memdup2 (from, sizeof *copy);

  copy->path = g_strdup (copy->path);
  return copy;
}

static void
dlp_manifest_file_free (gpointer self)
{
  g_free ((char *) ((DlpManifestFile *) self)->path);
  g_free (self);
}

G_DEFINE_BOXED_TYPE (DlpManifestFile,
                     dlp_manifest_file,
                     dlp_manifest_file_copy,
                     dlp_manifest_file_free)

#define VERSION 1
#define VERSION_KEY "dlpipe-manifest"
#define HASH_KEY "xxh3-blocks"
#define OWN_HASH_KEY "xxh3-manifest"
#define OWN_HASH_FORMAT ",\n  \"" OWN_HASH_KEY "\": \"%016" G_GINT64_MODIFIER "x\"\n}\n"
#define MAX_BYTES (16 * 1024 * 1024)

/* ---- making ---- */

gboolean
dlp_manifest_check_name (const char *location, GError **error)
{
  g_autofree char *name = NULL;
  g_autofree char *shown = NULL;
  const char *bad;

  g_return_val_if_fail (location != NULL, FALSE);

  name = g_path_get_basename (location);
  if (g_utf8_validate (name, -1, &bad))
    return TRUE;

  shown = dlp_uri_escape_for_display (location);
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
               "location=%s: byte \\x%02x, the %d. of the name, is not UTF-8, and the manifest of "
               "an output lists names in UTF-8; choose another name (that of its folder is free)",
               shown, (guint8) *bad, (int) (bad - name) + 1);
  return FALSE;
}

static GVariant *
make_file (const DlpManifestFile *file)
{
  g_autofree char *name = g_path_get_basename (file->path);
  g_autofree char *hash = g_strdup_printf ("%016" G_GINT64_MODIFIER "x", file->hash);
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE_VARDICT);
  g_variant_builder_add (&builder, "{sv}", "name", g_variant_new_string (name));
  g_variant_builder_add (&builder, "{sv}", "bytes", g_variant_new_uint64 (file->bytes));
  g_variant_builder_add (&builder, "{sv}", HASH_KEY, g_variant_new_string (hash));
  return g_variant_builder_end (&builder);
}

static void
add_members (GVariantBuilder *builder, GVariant *members)
{
  GVariantIter iter;
  GVariant *member;

  g_variant_ref_sink (members);
  g_variant_iter_init (&iter, members);
  while ((member = g_variant_iter_next_value (&iter)) != NULL)
    {
      g_variant_builder_add_value (builder, member);
      g_variant_unref (member);
    }
  g_variant_unref (members);
}

GVariant *
dlp_manifest_new (const char *format,
                  const char *run_id,
                  const DlpManifestFile *files,
                  guint n_files,
                  GVariant *members)
{
  GVariantBuilder builder;
  GVariantBuilder list;

  g_return_val_if_fail (format != NULL && run_id != NULL, NULL);
  g_return_val_if_fail (files != NULL || n_files == 0, NULL);

  g_variant_builder_init (&builder, G_VARIANT_TYPE_VARDICT);
  g_variant_builder_add (&builder, "{sv}", VERSION_KEY, g_variant_new_int64 (VERSION));
  g_variant_builder_add (&builder, "{sv}", "format", g_variant_new_string (format));
  g_variant_builder_add (&builder, "{sv}", "run-id", g_variant_new_string (run_id));
  g_variant_builder_init (&list, G_VARIANT_TYPE ("av"));
  for (guint i = 0; i < n_files; i++)
    g_variant_builder_add (&list, "v", make_file (&files[i]));
  g_variant_builder_add (&builder, "{sv}", "files", g_variant_builder_end (&list));

  if (members != NULL)
    add_members (&builder, members);
  return g_variant_ref_sink (g_variant_builder_end (&builder));
}

/* Under a temporary name that tells whose it is, so that what is left of a run that died is known
 * by the one that goes on. */
static gboolean
replace (const char *path, const char *run_id, const char *text, GError **error)
{
  g_auto (DlpPartialPlace) place = DLP_PARTIAL_PLACE_INIT;
  g_autofree char *stem = NULL;

  if (!dlp_partial_place_open (&place, path, error))
    return FALSE;
  stem = dlp_partial_stem (place.name, run_id);
  return dlp_durable_replace_as (place.fd, place.path, stem, place.name, text, strlen (text),
                                 DLP_DURABLE_FULL, NULL, error);
}

/* Its last member is the hash of all bytes before the comma that separates it from the others. */
static char *
make_text (GVariant *manifest)
{
  g_autofree char *text = dlp_json_print (manifest, TRUE);
  gsize size = strlen (text) - strlen ("\n}\n");

  g_assert (g_str_has_suffix (text, "\n}\n"));
  return g_strdup_printf ("%.*s" OWN_HASH_FORMAT, (int) size, text,
                          (guint64) XXH3_64bits (text, size));
}

gboolean
dlp_manifest_write (const char *path, GVariant *manifest, GError **error)
{
  g_autofree char *text = NULL;
  g_autofree char *old = NULL;
  const char *run_id;
  gsize size = 0;

  g_return_val_if_fail (path != NULL && manifest != NULL, FALSE);

  run_id = dlp_manifest_get_string (manifest, "run-id");
  g_return_val_if_fail (dlp_partial_is_run_id (run_id), FALSE);

  if (!dlp_manifest_check_run (path, run_id, error) ||
      !dlp_output_file_clean (path, run_id, 0, error))
    return FALSE;
  text = make_text (manifest);
  if (g_file_get_contents (path, &old, &size, NULL) && size == strlen (text) &&
      memcmp (old, text, size) == 0)
    return TRUE;
  return replace (path, run_id, text, error);
}

/* ---- reading ---- */

static gboolean
is_plain_name (const char *name)
{
  return name[0] != '\0' && strchr (name, '/') == NULL && strcmp (name, ".") != 0 &&
         strcmp (name, "..") != 0;
}

static gboolean
get_number (GVariant *dict, const char *key, guint64 *value)
{
  g_autoptr (GVariant) found = g_variant_lookup_value (dict, key, NULL);

  if (found != NULL && g_variant_is_of_type (found, G_VARIANT_TYPE_UINT64))
    *value = g_variant_get_uint64 (found);
  else if (found != NULL && g_variant_is_of_type (found, G_VARIANT_TYPE_INT64) &&
           g_variant_get_int64 (found) >= 0)
    *value = (guint64) g_variant_get_int64 (found);
  else
    return FALSE;
  return TRUE;
}

static gboolean
get_file (GVariant *dict, const char **name, guint64 *bytes, guint64 *hash)
{
  const char *text;

  return g_variant_is_of_type (dict, G_VARIANT_TYPE_VARDICT) &&
         g_variant_lookup (dict, "name", "&s", name) && is_plain_name (*name) &&
         get_number (dict, "bytes", bytes) && g_variant_lookup (dict, HASH_KEY, "&s", &text) &&
         strlen (text) == 16 && g_ascii_string_to_unsigned (text, 16, 0, G_MAXUINT64, hash, NULL);
}

/* (nullable): what is wrong with it. */
static const char *
find_fault (GVariant *manifest)
{
  g_autoptr (GVariant) files = NULL;
  guint64 version;

  if (!g_variant_is_of_type (manifest, G_VARIANT_TYPE_VARDICT))
    return "it is no object";
  if (!get_number (manifest, VERSION_KEY, &version))
    return "it has no “" VERSION_KEY "”";
  if (version != VERSION)
    return "its version is not " G_STRINGIFY (VERSION);
  if (dlp_manifest_get_string (manifest, "format") == NULL)
    return "it has no “format”";
  if (dlp_manifest_get_string (manifest, "run-id") == NULL)
    return "it has no “run-id”";

  files = g_variant_lookup_value (manifest, "files", G_VARIANT_TYPE ("av"));
  if (files == NULL)
    return "it has no “files”";
  for (gsize i = 0; i < g_variant_n_children (files); i++)
    {
      g_autoptr (GVariant) boxed = g_variant_get_child_value (files, i);
      g_autoptr (GVariant) file = g_variant_get_variant (boxed);
      const char *name;
      guint64 bytes, hash;

      if (!get_file (file, &name, &bytes, &hash))
        return "one of its files has no name, bytes and " HASH_KEY " that can be";
    }
  return NULL;
}

static gboolean
read_small_file (const char *path, char **text, gsize *size, GError **error)
{
  g_autoptr (GError) failure = NULL;
  struct stat st;

  if (stat (path, &st) != 0)
    {
      dlp_durable_set_error (error, errno, "%s: cannot read", path);
      return FALSE;
    }
  if (!S_ISREG (st.st_mode) || st.st_size > MAX_BYTES)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                   "%s: is no manifest of dlpipe: not a regular file of at most %d bytes", path,
                   MAX_BYTES);
      return FALSE;
    }
  do
    g_clear_error (&failure);
  while (!g_file_get_contents (path, text, size, &failure) &&
         g_error_matches (failure, G_FILE_ERROR, G_FILE_ERROR_INTR));
  if (failure == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&failure));
  return FALSE;
}

GVariant *
dlp_manifest_load (const char *path, GError **error)
{
  g_autoptr (GVariant) manifest = NULL;
  g_autoptr (GError) local = NULL;
  g_autofree char *text = NULL;
  const char *fault;
  gsize size;

  g_return_val_if_fail (path != NULL, NULL);

  if (!read_small_file (path, &text, &size, error))
    return NULL;

  manifest = dlp_json_parse (text, size, &local);
  fault = manifest != NULL ? find_fault (manifest) : local->message;
  if (fault == NULL)
    {
      /* In one piece, so that its strings stay where they are. */
      g_variant_get_data (manifest);
      return g_steal_pointer (&manifest);
    }

  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s: is no manifest of dlpipe: %s", path,
               fault);
  return NULL;
}

static gboolean
fail_hash (const char *path, guint64 hash, GError **error)
{
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
               "%s: is damaged, or was changed: its content has the hash %016" G_GINT64_MODIFIER
               "x, and its member “" OWN_HASH_KEY "” says another, or is damaged itself",
               path, hash);
  return FALSE;
}

gboolean
dlp_manifest_check_hash (const char *path, gboolean *has_hash, GError **error)
{
  g_autofree char *text = NULL;
  g_autofree char *tail = g_strdup_printf (OWN_HASH_FORMAT, G_GUINT64_CONSTANT (0));
  const gsize tail_size = strlen (tail);
  const gsize digits_at = tail_size - strlen ("\"\n}\n") - 16;
  guint64 hash = 0;
  gsize size;

  g_return_val_if_fail (path != NULL && has_hash != NULL, FALSE);

  *has_hash = FALSE;
  if (!read_small_file (path, &text, &size, error))
    return FALSE;

  if (size >= tail_size)
    {
      const char *end = text + size - tail_size;

      hash = XXH3_64bits (text, size - tail_size);
      g_snprintf (tail, tail_size + 1, OWN_HASH_FORMAT, hash);
      *has_hash = memcmp (end, tail, tail_size) == 0;
      /* The key may be what is damaged. */
      if (!*has_hash && memcmp (end + digits_at, tail + digits_at, 16) == 0)
        return fail_hash (path, hash, error);
    }
  if (!*has_hash && memmem (text, size, OWN_HASH_KEY, strlen (OWN_HASH_KEY)) != NULL)
    return fail_hash (path, hash, error);
  return TRUE;
}

const char *
dlp_manifest_get_string (GVariant *manifest, const char *key)
{
  const char *text = NULL;

  g_return_val_if_fail (manifest != NULL && key != NULL, NULL);

  return g_variant_lookup (manifest, key, "&s", &text) ? text : NULL;
}

gboolean
dlp_manifest_get_uint64 (GVariant *manifest, const char *key, guint64 *value)
{
  g_return_val_if_fail (manifest != NULL && key != NULL && value != NULL, FALSE);

  return get_number (manifest, key, value);
}

guint
dlp_manifest_get_n_files (GVariant *manifest)
{
  g_autoptr (GVariant) files = NULL;

  g_return_val_if_fail (manifest != NULL, 0);

  files = g_variant_lookup_value (manifest, "files", G_VARIANT_TYPE ("av"));
  return files != NULL ? (guint) g_variant_n_children (files) : 0;
}

void
dlp_manifest_get_file (GVariant *manifest,
                       guint index,
                       const char **name,
                       guint64 *bytes,
                       guint64 *hash)
{
  g_autoptr (GVariant) files = NULL;
  g_autoptr (GVariant) boxed = NULL;
  g_autoptr (GVariant) file = NULL;

  g_return_if_fail (index < dlp_manifest_get_n_files (manifest));

  files = g_variant_lookup_value (manifest, "files", G_VARIANT_TYPE ("av"));
  boxed = g_variant_get_child_value (files, index);
  file = g_variant_get_variant (boxed);
  if (!get_file (file, name, bytes, hash))
    g_return_if_reached ();
}
