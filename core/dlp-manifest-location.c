/* SPDX-License-Identifier: MIT */

/* Whose output is at a location, by its manifest. */

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-manifest.h>

#include "dlp-durable-private.h"
#include "dlp-partial-private.h"

typedef struct
{
  const char *path; /* of the manifest */
  const DlpOutputClaim *claim;
  gboolean is_there;
  GVariant *manifest; /* NULL: none, or one that cannot be read */
  GError *fault;
  gboolean may_delete; /* by @claim: the manifest, and what it lists */
} Location;

static gboolean
is_there (const char *path)
{
  struct stat st;

  return lstat (path, &st) == 0;
}

static void
location_init (Location *self, const char *path, const DlpOutputClaim *claim)
{
  self->path = path;
  self->claim = claim;
  self->is_there = is_there (path);
  self->manifest = dlp_manifest_load (path, &self->fault);
  self->may_delete =
      self->manifest != NULL &&
      (claim->overwrite ||
       (claim->discarded_run_id != NULL &&
        strcmp (dlp_manifest_get_string (self->manifest, "run-id"), claim->discarded_run_id) == 0));
}

static void
location_clear (Location *self)
{
  g_clear_pointer (&self->manifest, g_variant_unref);
  g_clear_error (&self->fault);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Location, location_clear)

static gboolean
is_listed (GVariant *manifest, const char *path)
{
  g_autofree char *wanted = g_path_get_basename (path);
  guint n = dlp_manifest_get_n_files (manifest);

  for (guint i = 0; i < n; i++)
    {
      const char *name;
      guint64 bytes, hash;

      dlp_manifest_get_file (manifest, i, &name, &bytes, &hash);
      if (strcmp (name, wanted) == 0)
        return TRUE;
    }
  return FALSE;
}

/* A complete run without a manifest died when it had given names, and before it wrote that. */
static gboolean
may_delete (Location *self, const char *file)
{
  const DlpOutputClaim *claim = self->claim;

  if (self->is_there)
    return self->may_delete && is_listed (self->manifest, file);
  return claim->discarded_complete && claim->discarded_run_id != NULL &&
         !dlp_partial_exists (file, claim->discarded_run_id);
}

static gboolean
is_listed_or_manifest (Location *self, const char *found)
{
  return strcmp (found, self->path) == 0 || is_listed (self->manifest, found);
}

static void
set_foreign (Location *self, const char *found, GError **error)
{
  if (!self->claim->overwrite && (self->manifest == NULL || !is_listed_or_manifest (self, found)))
    g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_FOREIGN_OUTPUT,
                 "%s is there already, and is not of this run: choose another location, or delete "
                 "it yourself",
                 found);
  else if (!self->claim->overwrite)
    g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_FOREIGN_OUTPUT,
                 "%s is there already, and is not of this run: choose another location; or "
                 "add --overwrite, which deletes what %s lists",
                 found, self->path);
  else if (found == self->path)
    g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_FOREIGN_OUTPUT,
                 "%s; delete the file yourself, or choose another location", self->fault->message);
  else
    g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_FOREIGN_OUTPUT,
                 "%s is there already, and %s%s; --overwrite deletes only what the manifest of "
                 "an output lists: delete the file yourself, or choose another location",
                 found, self->manifest != NULL ? "is not listed in " : "",
                 self->manifest != NULL ? self->path : self->fault->message);
}

static void
add_left (char **all, const char *text)
{
  char *joined;

  if (text == NULL)
    return;
  joined = *all != NULL ? g_strdup_printf ("%s; %s", *all, text) : g_strdup (text);
  g_free (*all);
  *all = joined;
}

static gboolean
check_others (const char *const *files, const DlpOutputClaim *claim, char **left, GError **error)
{
  g_autofree char *all = NULL;

  for (guint i = 0; files[i] != NULL; i++)
    {
      g_autofree char *of_file = NULL;

      if (!dlp_output_file_check_others (files[i], claim, &of_file, error))
        return FALSE;
      add_left (&all, of_file);
    }
  *left = g_steal_pointer (&all);
  return TRUE;
}

gboolean
dlp_manifest_check_location (const char *path,
                             const char *const *files,
                             const DlpOutputClaim *claim,
                             char **left,
                             GError **error)
{
  g_auto (Location) location = { NULL };
  const char *found = NULL;

  g_return_val_if_fail (path != NULL && files != NULL && claim != NULL && left != NULL, FALSE);

  *left = NULL;
  location_init (&location, path, claim);
  /* To overwrite, the file that is not listed says more than the manifest that cannot be read. */
  if (!claim->overwrite && location.is_there && !location.may_delete)
    found = path;
  for (guint i = 0; files[i] != NULL && found == NULL; i++)
    if (is_there (files[i]) && !may_delete (&location, files[i]))
      found = files[i];
  if (found == NULL && location.is_there && !location.may_delete)
    found = path;
  if (found == NULL)
    return check_others (files, claim, left, error);

  set_foreign (&location, found, error);
  return FALSE;
}

/* ---- deleting ---- */

static gboolean delete (const char *path, GError **error)
{
  if (g_unlink (path) == 0 || errno == ENOENT)
    return TRUE;

  dlp_durable_set_error (error, errno, "%s: cannot delete", path);
  return FALSE;
}

/* The manifest last, when the rest is gone for good: whoever is interrupted before can do it again.
 */
static gboolean
delete_listed (Location *self, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (self->path);
  guint n = dlp_manifest_get_n_files (self->manifest);

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *full = NULL;
      const char *name;
      guint64 bytes, hash;

      dlp_manifest_get_file (self->manifest, i, &name, &bytes, &hash);
      full = g_build_filename (folder, name, NULL);
      if (!delete (full, error))
        return FALSE;
    }
  return dlp_partial_sync_folder (self->path, error) && delete (self->path, error);
}

static gboolean
clean (const char *path, const char *const *files, const char *run_id, GError **error)
{
  for (guint i = 0; files[i] != NULL; i++)
    if (!dlp_output_file_clean (files[i], run_id, 0, error))
      return FALSE;
  return dlp_output_file_clean (path, run_id, 0, error);
}

/* Before the state goes, which alone tells whose they were: what a power cut brings back would be
 * nobody's. No folder: there was nothing. */
static gboolean
sync_deleted (const char *path, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (path);

  return !is_there (folder) || dlp_partial_sync_folder (path, error);
}

gboolean
dlp_manifest_discard (const char *path,
                      const char *const *files,
                      const DlpOutputClaim *claim,
                      GError **error)
{
  g_auto (Location) location = { NULL };

  g_return_val_if_fail (path != NULL && files != NULL && claim != NULL, FALSE);

  location_init (&location, path, claim);
  for (guint i = 0; files[i] != NULL && !location.is_there; i++)
    if (is_there (files[i]) && may_delete (&location, files[i]) && !delete (files[i], error))
      return FALSE;
  if (location.may_delete && !delete_listed (&location, error))
    return FALSE;
  if (claim->discarded_run_id != NULL && !clean (path, files, claim->discarded_run_id, error))
    return FALSE;
  return (!location.may_delete && claim->discarded_run_id == NULL) || sync_deleted (path, error);
}

gboolean
dlp_manifest_check_run (const char *path, const char *run_id, GError **error)
{
  g_autoptr (GVariant) manifest = NULL;
  g_autoptr (GError) fault = NULL;

  g_return_val_if_fail (path != NULL && run_id != NULL, FALSE);

  if (!is_there (path))
    return TRUE;
  manifest = dlp_manifest_load (path, &fault);
  if (manifest != NULL && strcmp (dlp_manifest_get_string (manifest, "run-id"), run_id) == 0)
    return TRUE;

  /* What cannot be read may be this run's all the same. */
  if (manifest == NULL && !g_error_matches (fault, G_IO_ERROR, G_IO_ERROR_INVALID_DATA))
    g_propagate_error (error, g_steal_pointer (&fault));
  else
    dlp_partial_set_taken (error, path);
  return FALSE;
}
