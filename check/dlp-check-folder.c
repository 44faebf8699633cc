/* SPDX-License-Identifier: MIT */

#include <string.h>

#include <glib/gstdio.h>

#include "dlp-check-private.h"

static GPtrArray *folders; /* the main thread: those that are there */

/* Where an fsync costs nothing, if there is such a place: hundreds of runs wait for thousands
 * otherwise. */
CheckFolder *
dlp_check_folder_new (void)
{
  CheckFolder *self = g_new0 (CheckFolder, 1);

  self->path = g_build_filename (g_file_test ("/dev/shm", G_FILE_TEST_IS_DIR) ? "/dev/shm" :
                                                                                g_get_tmp_dir (),
                                 "dlpipe-check-XXXXXX", NULL);
  g_assert_nonnull (g_mkdtemp (self->path));
  self->out = g_build_filename (self->path, "out", NULL);
  self->state = g_build_filename (self->path, "state", NULL);
  g_assert_no_errno (g_mkdir (self->out, 0700));
  if (folders == NULL)
    folders = g_ptr_array_new ();
  g_ptr_array_add (folders, self);
  return self;
}

/* A loop with a list of what is still to be looked at: no recursion over what others made. */
static GPtrArray *
list_all (const char *path)
{
  GPtrArray *all = g_ptr_array_new_with_free_func (g_free);

  g_ptr_array_add (all, g_strdup (path));
  for (guint i = 0; i < all->len; i++)
    {
      const char *folder = g_ptr_array_index (all, i);
      g_autoptr (GDir) dir = NULL;
      const char *name;

      if (g_file_test (folder, G_FILE_TEST_IS_SYMLINK) ||
          !g_file_test (folder, G_FILE_TEST_IS_DIR) || (dir = g_dir_open (folder, 0, NULL)) == NULL)
        continue;
      while ((name = g_dir_read_name (dir)) != NULL)
        g_ptr_array_add (all, g_build_filename (folder, name, NULL));
    }
  return all;
}

static void
remove_folder (const char *path)
{
  g_autoptr (GPtrArray) all = list_all (path);

  for (guint i = all->len; i > 0; i--)
    g_remove (g_ptr_array_index (all, i - 1));
}

void
dlp_check_folders_remove (void)
{
  for (guint i = 0; folders != NULL && i < folders->len; i++)
    remove_folder (((CheckFolder *) g_ptr_array_index (folders, i))->path);
}

void
dlp_check_folder_free (CheckFolder *self)
{
  g_ptr_array_remove_fast (folders, self);
  if (folders->len == 0)
    g_clear_pointer (&folders, g_ptr_array_unref);
  remove_folder (self->path);
  g_free (self->state);
  g_free (self->out);
  g_free (self->path);
  g_free (self);
}

char *
dlp_check_folder_expand (CheckFolder *self, const char *graph)
{
  g_auto (GStrv) parts = g_strsplit (graph, "{dir}", -1);

  return g_strjoinv (self->out, parts);
}

/* What a manifest says of itself, its run's name included. */
static void
mask_manifest_hash (char *data, gsize size)
{
  static const char key[] = "\"xxh3-manifest\": \"";
  char *at = memmem (data, size, key, strlen (key));
  gsize left;

  if (at == NULL)
    return;
  at += strlen (key);
  left = size - (gsize) (at - data);
  memset (at, '*', MIN (left, 16));
}

static GBytes *
read_normalized (const char *path, const char *run_id)
{
  g_autofree char *data = NULL;
  g_autoptr (GError) error = NULL;
  gsize size, length = run_id != NULL ? strlen (run_id) : 0;

  g_file_get_contents (path, &data, &size, &error);
  g_assert_no_error (error);
  if (length > 0)
    for (char *at = data; (at = memmem (at, size - (at - data), run_id, length)) != NULL;)
      memset (at, '*', length);
  mask_manifest_hash (data, size);
  return g_bytes_new_take (g_steal_pointer (&data), size);
}

GHashTable *
dlp_check_folder_read (CheckFolder *self, const char *run_id)
{
  GHashTable *files =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_bytes_unref);
  g_autoptr (GPtrArray) all = list_all (self->out);

  for (guint i = 1; i < all->len; i++)
    {
      const char *path = g_ptr_array_index (all, i);
      const char *name = path + strlen (self->out) + 1;

      if (strrchr (path, '/')[1] != '.' && g_file_test (path, G_FILE_TEST_IS_REGULAR))
        g_hash_table_insert (files, g_strdup (name), read_normalized (path, run_id));
    }
  return files;
}

char *
dlp_check_folder_find_partial (CheckFolder *self)
{
  g_autoptr (GPtrArray) all = list_all (self->out);

  for (guint i = 1; i < all->len; i++)
    {
      const char *path = g_ptr_array_index (all, i);

      if (strrchr (path, '/')[1] == '.' && g_str_has_suffix (path, ".partial"))
        return g_path_get_basename (path);
    }
  return NULL;
}

guint
dlp_check_count_descriptors (void)
{
  g_autoptr (GDir) dir = g_dir_open ("/proc/self/fd", 0, NULL);
  guint n = 0;

  while (dir != NULL && g_dir_read_name (dir) != NULL)
    n++;
  return n;
}
