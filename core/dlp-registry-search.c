/* SPDX-License-Identifier: MIT */

/* Where plugins, the scanner and the cache are. A program that has more rights than its user takes
 * neither from that user: no variable, no folder. */

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include "dlp-place-private.h"
#include "dlp-registry-private.h"

#ifndef DLP_PLUGIN_DIR
#define DLP_PLUGIN_DIR "/usr/lib/dlpipe-1.0"
#endif
#ifndef DLP_SCANNER_DIR
#define DLP_SCANNER_DIR "/usr/libexec/dlpipe-1.0"
#endif
/* Relative to the folder of the library. */
#ifndef DLP_SCANNER_SUBDIR
#define DLP_SCANNER_SUBDIR "../libexec/dlpipe-1.0"
#endif
#define DLP_SUBDIR "dlpipe-1.0"
#define SCANNER "dlpipe-plugin-scanner"

/* ---- folders ---- */

static void
add_folder (GPtrArray *folders, const char *folder)
{
  if (folder != NULL && folder[0] != '\0')
    g_ptr_array_add (folders, g_canonicalize_filename (folder, NULL));
}

/* Whether the variable is set. */
static bool
add_variable (GPtrArray *folders, const char *variable)
{
  const char *text = secure_getenv (variable);
  g_auto (GStrv) parts = NULL;

  if (text == NULL)
    return false;
  parts = g_strsplit (text, ":", -1);
  for (guint i = 0; parts[i] != NULL; i++)
    add_folder (folders, parts[i]);
  return true;
}

/* Those of the build folder where the library was not installed; else those beside the library,
 * wherever the whole was moved to; else those where it was meant to be installed. */
static char *
get_library_folder (void)
{
  char *folder = dlp_place_get_uninstalled ();

  if (folder == NULL)
    folder = dlp_place_find_folder (DLP_SUBDIR);
  return folder != NULL ? folder : g_strdup (DLP_PLUGIN_DIR);
}

char **
dlp_plugin_list_folders (GPtrArray *first)
{
  GPtrArray *folders = g_ptr_array_new ();

  for (guint i = 0; first != NULL && i < first->len; i++)
    add_folder (folders, g_ptr_array_index (first, i));
  add_variable (folders, "DLPIPE_PLUGIN_PATH");
  if (!add_variable (folders, "DLPIPE_SYSTEM_PLUGIN_PATH"))
    {
      g_autofree char *user =
          getauxval (AT_SECURE) == 0 ?
              g_build_filename (g_get_user_data_dir (), DLP_SUBDIR, "plugins", NULL) :
              NULL;
      g_autofree char *own = get_library_folder ();

      add_folder (folders, user);
      add_folder (folders, own);
    }
  g_ptr_array_add (folders, NULL);
  return (char **) g_ptr_array_free (folders, FALSE);
}

/* ---- files ---- */

static void
file_free (gpointer data)
{
  DlpPluginFile *self = data;

  g_free (self->path);
  g_free (self);
}

bool
dlp_plugin_file_stat (DlpPluginFile *self)
{
  struct stat st;

  if (stat (self->path, &st) != 0 || !S_ISREG (st.st_mode))
    return false;
  self->device = st.st_dev;
  self->inode = st.st_ino;
  self->size = (guint64) st.st_size;
  self->seconds = st.st_mtim.tv_sec;
  self->nanoseconds = (guint64) st.st_mtim.tv_nsec;
  return true;
}

/* By another name, or by a folder that is searched twice. */
static bool
is_known (GPtrArray *files, const DlpPluginFile *file)
{
  for (guint i = 0; i < files->len; i++)
    {
      DlpPluginFile *other = g_ptr_array_index (files, i);

      if (other->inode == file->inode && other->device == file->device)
        return true;
    }
  return false;
}

static void
add_file (GPtrArray *files, const char *path)
{
  DlpPluginFile *file = g_new0 (DlpPluginFile, 1);

  file->path = g_strdup (path);
  if (dlp_plugin_file_stat (file) && !is_known (files, file))
    g_ptr_array_add (files, file);
  else
    file_free (file);
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* (nullable): NULL: there is no such folder. */
static GPtrArray *
list_names (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  GPtrArray *names;
  const char *name;

  if (dir == NULL)
    return NULL;
  names = g_ptr_array_new_with_free_func (g_free);
  while ((name = g_dir_read_name (dir)) != NULL)
    g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_sort (names, compare_names);
  return names;
}

/* In byte-wise order; @descend: also those of the folders in it, as in a build tree. */
static void
find_in_folder (GPtrArray *files, const char *folder, bool descend)
{
  g_autoptr (GPtrArray) names = list_names (folder);

  for (guint i = 0; names != NULL && i < names->len; i++)
    {
      const char *name = g_ptr_array_index (names, i);
      g_autofree char *path = g_build_filename (folder, name, NULL);

      if (g_str_has_suffix (name, ".so") && g_str_has_prefix (name, "dlp-"))
        add_file (files, path);
      else if (descend && g_file_test (path, G_FILE_TEST_IS_DIR))
        find_in_folder (files, path, false);
    }
}

GPtrArray *
dlp_plugin_find_files (const char *const *folders)
{
  GPtrArray *files = g_ptr_array_new_with_free_func (file_free);

  for (guint i = 0; folders[i] != NULL; i++)
    find_in_folder (files, folders[i], true);
  return files;
}

/* ---- what belongs to the library ---- */

char *
dlp_plugin_find_scanner (void)
{
  const char *named = secure_getenv ("DLPIPE_PLUGIN_SCANNER");
  g_autofree char *build = NULL;
  g_autofree char *beside = NULL;

  if (named != NULL)
    return *named != '\0' ? g_strdup (named) : NULL;
  build = dlp_place_get_uninstalled ();
  if (build != NULL)
    return g_build_filename (build, "..", "tools", SCANNER, NULL);
  beside = dlp_place_find_folder (DLP_SCANNER_SUBDIR);
  return g_build_filename (beside != NULL ? beside : DLP_SCANNER_DIR, SCANNER, NULL);
}

char *
dlp_plugin_get_cache_path (void)
{
  const char *named = secure_getenv ("DLPIPE_REGISTRY");
  g_autofree char *build = NULL;

  if (named != NULL)
    return *named != '\0' ? g_strdup (named) : NULL;
  if (getauxval (AT_SECURE) != 0)
    return NULL;
  /* A build folder has one of its own: two builds would throw away each other's all the time. */
  build = dlp_place_get_uninstalled ();
  if (build != NULL)
    return g_build_filename (build, "registry.cache", NULL);
  return g_build_filename (g_get_user_cache_dir (), DLP_SUBDIR, "registry.cache", NULL);
}
