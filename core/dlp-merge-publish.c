/* SPDX-License-Identifier: MIT */

/* How a merge becomes visible. Its manifest, under an unfinished name, says that all files are
 * durable: with it the rest is renames, which are done again wherever they were ended. */

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include <dlpipe/dlp-digest.h>
#include <dlpipe/dlp-error.h>

#include "dlp-durable-private.h"
#include "dlp-merge-private.h"
#include "dlp-partial-private.h"

/* ---- the manifest ---- */

static const char *const sums[] = { "documents", "sequences", "records", "tokens", "bytes", NULL };
/* Made anew, or of one part alone. */
static const char *const own[] = { "dlpipe-manifest", "format",        "run-id",         "files",
                                   "digest",          "xxh3-manifest", "finished-early", NULL };

static void
add_sums (DlpMerge *self, GVariantDict *dict)
{
  for (guint k = 0; sums[k] != NULL; k++)
    {
      guint64 sum = 0, n;
      bool found = false;

      for (guint i = 0; i < self->manifests->len; i++)
        if (dlp_manifest_get_uint64 (self->manifests->pdata[i], sums[k], &n))
          {
            sum += n;
            found = true;
          }
      if (found)
        g_variant_dict_insert (dict, sums[k], "t", sum);
    }
}

static bool
is_of_all (DlpMerge *self, const char *key, GVariant *value)
{
  for (guint i = 1; i < self->manifests->len; i++)
    {
      g_autoptr (GVariant) other = g_variant_lookup_value (self->manifests->pdata[i], key, NULL);

      if (other == NULL || !g_variant_equal (other, value))
        return false;
    }
  return true;
}

/* Such as the vocabulary: what all parts say alike. */
static void
add_common (DlpMerge *self, GVariantDict *dict)
{
  GVariantIter iter;
  const char *key;
  GVariant *value;

  g_variant_iter_init (&iter, self->manifests->pdata[0]);
  while (g_variant_iter_next (&iter, "{&sv}", &key, &value))
    {
      if (!g_strv_contains (own, key) && !g_strv_contains (sums, key) &&
          is_of_all (self, key, value))
        g_variant_dict_insert_value (dict, key, value);
      g_variant_unref (value);
    }
}

static void
add_finished_early (DlpMerge *self, GVariantDict *dict)
{
  gboolean early = FALSE;

  for (guint i = 0; i < self->manifests->len && !early; i++)
    g_variant_lookup (self->manifests->pdata[i], "finished-early", "b", &early);
  if (early)
    g_variant_dict_insert (dict, "finished-early", "b", TRUE);
}

bool
dlp_merge_add_digest (guint64 sum[2], const char *text)
{
  const char *unordered = text != NULL ? strchr (text, '-') : NULL;
  g_autofree char *high = unordered != NULL ? g_strndup (unordered + 1, 16) : NULL;
  DlpDigest one = { { 0 }, { 0 } };
  DlpDigest all = { { 0 }, { sum[0], sum[1] } };

  if (unordered == NULL || strlen (unordered) != 33)
    return false;
  one.unordered[1] = g_ascii_strtoull (high, NULL, 16);
  one.unordered[0] = g_ascii_strtoull (unordered + 17, NULL, 16);
  dlp_digest_combine (&all, &one);
  sum[0] = all.unordered[0];
  sum[1] = all.unordered[1];
  return true;
}

static void
add_digests (DlpMerge *self, GVariantDict *dict)
{
  guint64 sum[2] = { 0, 0 };
  g_autofree char *text = NULL;

  for (guint i = 0; i < self->manifests->len; i++)
    if (!dlp_merge_add_digest (sum, dlp_manifest_get_string (self->manifests->pdata[i], "digest")))
      return;
  text = g_strdup_printf ("%016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER "x", sum[1], sum[0]);
  g_variant_dict_insert (dict, "digest-unordered", "s", text);
}

static GVariant *
make_manifest (DlpMerge *self)
{
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "parts", "t", (guint64) self->manifests->len);
  if (self->manifests->len > 0)
    {
      add_sums (self, &dict);
      add_common (self, &dict);
      add_finished_early (self, &dict);
      add_digests (self, &dict);
    }
  return dlp_manifest_new (dlp_manifest_get_string (self->manifests->pdata[0], "format"),
                           self->run_id, (const DlpManifestFile *) self->files->data,
                           self->files->len, g_variant_dict_end (&dict));
}

static char *
get_unfinished (DlpMerge *self)
{
  return dlp_partial_path (self->manifest_path, self->run_id, DLP_MERGE_ATTEMPT);
}

bool
dlp_merge_commit (DlpMerge *self, GError **error)
{
  g_autofree char *path = get_unfinished (self);
  g_autoptr (GVariant) manifest = make_manifest (self);

  return !g_cancellable_set_error_if_cancelled (self->cancellable, error) &&
         dlp_manifest_write (path, manifest, error);
}

/* ---- names ---- */

bool
dlp_merge_is_written (DlpMerge *self)
{
  g_autofree char *path = get_unfinished (self);
  g_autoptr (GVariant) manifest = dlp_manifest_load (path, NULL);
  gboolean has_hash = FALSE;

  return manifest != NULL && dlp_manifest_check_hash (path, &has_hash, NULL) && has_hash;
}

static char *
get_path (DlpMerge *self, const char *name)
{
  g_autofree char *folder = g_path_get_dirname (self->location);

  return g_build_filename (folder, name, NULL);
}

static bool
check_there (const char *path, guint64 bytes, GError **error)
{
  struct stat st;

  if (stat (path, &st) != 0)
    dlp_durable_set_error (error, errno, "%s: its manifest lists it, but", path);
  else if ((guint64) st.st_size != bytes)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                 "%s: it has %" G_GINT64_FORMAT " bytes, and by its manifest %" G_GUINT64_FORMAT,
                 path, (gint64) st.st_size, bytes);
  else
    return true;
  return false;
}

bool
dlp_merge_is_done (DlpMerge *self, bool *done, GError **error)
{
  g_autoptr (GVariant) manifest = NULL;

  *done = g_file_test (self->manifest_path, G_FILE_TEST_EXISTS);
  if (!*done)
    return true;
  if (!dlp_manifest_check_run (self->manifest_path, self->run_id, error))
    return false;
  manifest = dlp_manifest_load (self->manifest_path, error);
  if (manifest == NULL)
    return false;
  for (guint i = 0; i < dlp_manifest_get_n_files (manifest); i++)
    {
      g_autofree char *path = NULL;
      const char *name;
      guint64 bytes, hash;

      dlp_manifest_get_file (manifest, i, &name, &bytes, &hash);
      path = get_path (self, name);
      if (!check_there (path, bytes, error))
        return false;
    }
  return true;
}

static bool
publish_files (DlpMerge *self, GVariant *manifest, GError **error)
{
  for (guint i = 0; i < dlp_manifest_get_n_files (manifest); i++)
    {
      g_autofree char *path = NULL;
      const char *name;
      guint64 bytes, hash;

      dlp_manifest_get_file (manifest, i, &name, &bytes, &hash);
      path = get_path (self, name);
      if (!dlp_output_file_publish (path, self->run_id, DLP_MERGE_ATTEMPT, bytes, error))
        return false;
    }
  return true;
}

bool
dlp_merge_publish (DlpMerge *self, GError **error)
{
  g_autofree char *path = get_unfinished (self);
  g_autoptr (GVariant) manifest = dlp_manifest_load (path, error);
  struct stat st;

  if (manifest == NULL || !publish_files (self, manifest, error))
    return false;
  if (stat (path, &st) != 0)
    {
      dlp_durable_set_error (error, errno, "%s: cannot read", path);
      return false;
    }
  return dlp_output_file_publish (self->manifest_path, self->run_id, DLP_MERGE_ATTEMPT,
                                  (guint64) st.st_size, error);
}

/* ---- discarding ---- */

static bool
remove_unfinished (DlpMerge *self, GError **error)
{
  g_auto (DlpPartialPlace) place = DLP_PARTIAL_PLACE_INIT;
  g_autofree char *ending = g_strdup_printf (".%s.%d.partial", self->run_id, DLP_MERGE_ATTEMPT);
  g_autofree char *mark = g_strdup_printf (".%s.", self->run_id);
  g_autofree char *beginning = NULL;
  g_autoptr (GPtrArray) names = NULL;

  if (!dlp_partial_place_open (&place, self->location, error))
    return false;
  beginning = g_strconcat (".", place.name, NULL);
  names = dlp_durable_list (place.fd, place.path, error);
  for (guint i = 0; names != NULL && i < names->len; i++)
    {
      const char *name = names->pdata[i];
      bool is_own = g_str_has_suffix (name, ending) && g_str_has_prefix (name, beginning);

      is_own |= dlp_durable_is_temporary (name, NULL) && strstr (name, mark) != NULL &&
                strstr (name, place.name) != NULL;
      if (is_own && !dlp_durable_remove (place.fd, place.path, name, error))
        return false;
    }
  return names != NULL && dlp_durable_sync_folder (place.fd, place.path, error);
}

bool
dlp_merge_discard (DlpMerge *self, GError **error)
{
  const char *const none[] = { NULL };
  const DlpOutputClaim claim = { .run_id = self->run_id, .discarded_run_id = self->run_id };
  g_autofree char *folder = NULL;

  g_return_val_if_fail (DLP_IS_MERGE (self), FALSE);

  folder = g_path_get_dirname (self->location);
  if (!g_file_test (folder, G_FILE_TEST_IS_DIR))
    return TRUE;
  /* Then its manifest tells which files are its own, whether they have their names or not. */
  if (dlp_merge_is_written (self) && !dlp_merge_publish (self, error))
    return FALSE;
  return dlp_manifest_discard (self->manifest_path, none, &claim, error) &&
         remove_unfinished (self, error);
}
