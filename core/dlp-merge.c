/* SPDX-License-Identifier: MIT */

/* Writing the whole of parts. What comes before and after that is in dlp-merge-publish.c. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-sink.h>

#include "dlp-durable-private.h"
#include "dlp-merge-private.h"

#define COPY_SIZE ((gsize) 1024 * 1024)

G_DEFINE_FINAL_TYPE (DlpMerge, dlp_merge, G_TYPE_OBJECT)

DlpMerge *
dlp_merge_new (const char *location, const char *run_id, const char *const *parts)
{
  DlpMerge *self;

  g_return_val_if_fail (location != NULL && run_id != NULL && parts != NULL, NULL);

  self = g_object_new (DLP_TYPE_MERGE, NULL);
  self->location = g_strdup (location);
  self->run_id = g_strdup (run_id);
  self->manifest_path = g_strconcat (location, ".manifest.json", NULL);
  self->parts = g_strdupv ((char **) parts);
  return self;
}

/* ---- the parts ---- */

const char *
dlp_merge_get_location (DlpMerge *self)
{
  g_return_val_if_fail (DLP_IS_MERGE (self), NULL);

  return self->location;
}

guint
dlp_merge_get_n_parts (DlpMerge *self)
{
  g_return_val_if_fail (DLP_IS_MERGE (self), 0);

  return g_strv_length (self->parts);
}

GVariant *
dlp_merge_get_manifest (DlpMerge *self, guint part)
{
  g_return_val_if_fail (DLP_IS_MERGE (self) && part < self->manifests->len, NULL);

  return g_ptr_array_index (self->manifests, part);
}

static char *
find_file (DlpMerge *self, guint part, guint file, guint64 *bytes, guint64 *hash)
{
  GVariant *manifest = dlp_merge_get_manifest (self, part);
  g_autofree char *folder = g_path_get_dirname (self->parts[part]);
  const char *name;

  dlp_manifest_get_file (manifest, file, &name, bytes, hash);
  return g_build_filename (folder, name, NULL);
}

char *
dlp_merge_get_path (DlpMerge *self, guint part, guint file)
{
  guint64 bytes, hash;

  g_return_val_if_fail (DLP_IS_MERGE (self) && part < self->manifests->len, NULL);
  g_return_val_if_fail (file < dlp_manifest_get_n_files (self->manifests->pdata[part]), NULL);

  return find_file (self, part, file, &bytes, &hash);
}

static bool
compare_hash (const char *path, guint64 found, guint64 wanted, GError **error)
{
  if (found == wanted)
    return true;
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
               "%s: its content has the hash %016" G_GINT64_MODIFIER
               "x, and its manifest says %016" G_GINT64_MODIFIER
               "x; it was damaged or changed since it was written",
               path, found, wanted);
  return false;
}

gboolean
dlp_merge_check_file (DlpMerge *self, guint part, guint file, GError **error)
{
  g_autofree char *path = NULL;
  guint64 bytes, wanted, found;

  g_return_val_if_fail (DLP_IS_MERGE (self) && part < self->manifests->len, FALSE);
  g_return_val_if_fail (file < dlp_manifest_get_n_files (self->manifests->pdata[part]), FALSE);

  path = find_file (self, part, file, &bytes, &wanted);
  return dlp_file_hash_read (path, bytes, self->cancellable, &found, error) &&
         compare_hash (path, found, wanted, error);
}

/* ---- the whole ---- */

gboolean
dlp_merge_begin_file (DlpMerge *self, const char *path, GError **error)
{
  g_return_val_if_fail (DLP_IS_MERGE (self) && path != NULL, FALSE);
  g_return_val_if_fail (self->file == NULL && self->files != NULL, FALSE);

  self->file = dlp_output_file_create (path, self->run_id, DLP_MERGE_ATTEMPT, error);
  if (self->file == NULL)
    return FALSE;
  self->hash = dlp_file_hash_new ();
  return TRUE;
}

gboolean
dlp_merge_write (DlpMerge *self, gconstpointer data, gsize size, GError **error)
{
  g_return_val_if_fail (DLP_IS_MERGE (self) && self->file != NULL, FALSE);
  g_return_val_if_fail (data != NULL || size == 0, FALSE);

  if (g_cancellable_set_error_if_cancelled (self->cancellable, error))
    return FALSE;
  dlp_file_hash_update (self->hash, data, size);
  return dlp_output_file_write (self->file, data, size, error);
}

/* @hash: (nullable): of what is copied. */
static bool
copy_bytes (DlpMerge *self,
            int fd,
            const char *path,
            guint64 offset,
            guint64 size,
            DlpFileHash *hash,
            GError **error)
{
  g_autofree guint8 *buffer = g_malloc (COPY_SIZE);

  posix_fadvise (fd, (off_t) offset, (off_t) size, POSIX_FADV_SEQUENTIAL);
  while (size > 0)
    {
      gssize n = dlp_durable_read (fd, path, buffer, (gsize) MIN (size, COPY_SIZE), offset, error);

      if (n < 0)
        return false;
      if (n == 0)
        {
          g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
                       "%s: it ends at byte %" G_GUINT64_FORMAT ", and %" G_GUINT64_FORMAT
                       " more are wanted; it was damaged or changed since it was written",
                       path, offset, size);
          return false;
        }
      if (hash != NULL)
        dlp_file_hash_update (hash, buffer, (gsize) n);
      if (!dlp_merge_write (self, buffer, (gsize) n, error))
        return false;
      offset += (guint64) n;
      size -= (guint64) n;
    }
  return true;
}

static bool
copy_file (DlpMerge *self,
           const char *path,
           guint64 offset,
           guint64 size,
           DlpFileHash *hash,
           GError **error)
{
  int fd = TEMP_FAILURE_RETRY (open (path, O_RDONLY | O_CLOEXEC));
  bool ok;

  if (fd < 0)
    {
      dlp_durable_set_error (error, errno, "%s: cannot open", path);
      return false;
    }
  ok = copy_bytes (self, fd, path, offset, size, hash, error);
  close (fd);
  return ok;
}

gboolean
dlp_merge_append_range (DlpMerge *self,
                        guint part,
                        guint file,
                        guint64 offset,
                        guint64 size,
                        GError **error)
{
  g_autofree char *path = NULL;
  guint64 bytes, hash;

  g_return_val_if_fail (DLP_IS_MERGE (self) && part < self->manifests->len, FALSE);
  g_return_val_if_fail (file < dlp_manifest_get_n_files (self->manifests->pdata[part]), FALSE);

  path = find_file (self, part, file, &bytes, &hash);
  return copy_file (self, path, offset, size, NULL, error);
}

gboolean
dlp_merge_append_file (DlpMerge *self, guint part, guint file, GError **error)
{
  g_autoptr (DlpFileHash) found = dlp_file_hash_new ();
  g_autofree char *path = NULL;
  guint64 bytes, wanted;

  g_return_val_if_fail (DLP_IS_MERGE (self) && part < self->manifests->len, FALSE);
  g_return_val_if_fail (file < dlp_manifest_get_n_files (self->manifests->pdata[part]), FALSE);

  path = find_file (self, part, file, &bytes, &wanted);
  return copy_file (self, path, 0, bytes, found, error) &&
         compare_hash (path, dlp_file_hash_get (found), wanted, error);
}

gboolean
dlp_merge_end_file (DlpMerge *self, GError **error)
{
  DlpManifestFile file;

  g_return_val_if_fail (DLP_IS_MERGE (self) && self->file != NULL, FALSE);

  if (!dlp_output_file_flush (self->file, error) || !dlp_output_file_sync (self->file, error))
    return FALSE;
  file.path = g_strdup (dlp_output_file_get_path (self->file));
  file.bytes = dlp_output_file_get_length (self->file);
  file.hash = dlp_file_hash_get (self->hash);
  g_ptr_array_add (self->paths, (char *) file.path);
  g_array_append_val (self->files, file);
  g_ptr_array_add (self->outputs, g_steal_pointer (&self->file));
  g_clear_pointer (&self->hash, dlp_file_hash_free);
  return TRUE;
}

gboolean
dlp_merge_concatenate (DlpMerge *self, GError **error)
{
  g_return_val_if_fail (DLP_IS_MERGE (self), FALSE);

  if (!dlp_merge_begin_file (self, self->location, error))
    return FALSE;
  for (guint i = 0; i < dlp_merge_get_n_parts (self); i++)
    if (dlp_manifest_get_n_files (dlp_merge_get_manifest (self, i)) > 0 &&
        !dlp_merge_append_file (self, i, 0, error))
      return FALSE;
  return dlp_merge_end_file (self, error);
}

/* ---- the run ---- */

static void
end (DlpMerge *self)
{
  g_clear_pointer (&self->manifests, g_ptr_array_unref);
  g_clear_pointer (&self->outputs, g_ptr_array_unref);
  g_clear_pointer (&self->files, g_array_unref);
  g_clear_pointer (&self->paths, g_ptr_array_unref);
  g_clear_pointer (&self->file, dlp_output_file_free);
  g_clear_pointer (&self->hash, dlp_file_hash_free);
  g_clear_object (&self->cancellable);
}

static bool
load_part (DlpMerge *self, const char *path, GError **error)
{
  GVariant *manifest = dlp_manifest_load (path, error);
  const char *first, *format;

  if (manifest == NULL)
    return false;
  g_ptr_array_add (self->manifests, manifest);
  first = dlp_manifest_get_string (self->manifests->pdata[0], "format");
  format = dlp_manifest_get_string (manifest, "format");
  if (strcmp (first, format) == 0)
    return true;
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
               "%s: this part has the format %s, and the first one %s; they cannot be one dataset",
               path, format, first);
  return false;
}

static bool
begin (DlpMerge *self, GCancellable *cancellable, GError **error)
{
  self->manifests = g_ptr_array_new_with_free_func ((GDestroyNotify) g_variant_unref);
  self->outputs = g_ptr_array_new_with_free_func ((GDestroyNotify) dlp_output_file_free);
  self->paths = g_ptr_array_new_with_free_func (g_free);
  self->files = g_array_new (FALSE, FALSE, sizeof (DlpManifestFile));
  self->cancellable = cancellable != NULL ? g_object_ref (cancellable) : NULL;
  for (char **part = self->parts; *part != NULL; part++)
    if (!load_part (self, *part, error))
      return false;
  return true;
}

bool
dlp_merge_check_sink (DlpSink *sink, GError **error)
{
  DlpSinkClass *klass = DLP_SINK_GET_CLASS (sink);

  if (klass->merge != NULL)
    return klass->check_merge == NULL || klass->check_merge (sink, error);
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
               "%s: %s cannot merge parts to one output; leave them as they are (without --merge)",
               dlp_element_get_name (DLP_ELEMENT (sink)),
               dlp_element_get_factory (DLP_ELEMENT (sink)));
  return false;
}

bool
dlp_merge_run (DlpMerge *self, DlpSink *sink, GCancellable *cancellable, GError **error)
{
  bool done, ok;

  if (!dlp_merge_check_sink (sink, error) || !dlp_merge_is_done (self, &done, error))
    return false;
  if (done)
    return true;
  if (dlp_merge_is_written (self))
    return dlp_merge_publish (self, error);
  ok = begin (self, cancellable, error) && DLP_SINK_GET_CLASS (sink)->merge (sink, self, error) &&
       dlp_merge_commit (self, error);
  end (self);
  return ok && dlp_merge_publish (self, error);
}

/* ---- */

static void
dlp_merge_finalize (GObject *object)
{
  DlpMerge *self = DLP_MERGE (object);

  end (self);
  g_free (self->location);
  g_free (self->run_id);
  g_free (self->manifest_path);
  g_strfreev (self->parts);

  G_OBJECT_CLASS (dlp_merge_parent_class)->finalize (object);
}

static void
dlp_merge_class_init (DlpMergeClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = dlp_merge_finalize;
}

static void
dlp_merge_init (DlpMerge *self)
{
}
