/* SPDX-License-Identifier: MIT */

#include <dlfcn.h>
#include <stdlib.h>

#include "dlp-place-private.h"

#define MARKER "dlpipe-uninstalled"

/* (transfer full) (nullable) */
static char *
get_own_folder (void)
{
  Dl_info info;
  char *path;
  char *folder;

  if (dladdr ((gpointer) dlp_place_find_folder, &info) == 0 || info.dli_fname == NULL)
    return NULL;
  path = realpath (info.dli_fname, NULL);
  if (path == NULL)
    return NULL;
  folder = g_path_get_dirname (path);
  free (path);
  return folder;
}

char *
dlp_place_get_uninstalled (void)
{
  g_autofree char *own = get_own_folder ();
  g_autofree char *marker = NULL;
  g_autofree char *text = NULL;

  if (own == NULL)
    return NULL;
  marker = g_build_filename (own, MARKER, NULL);
  if (!g_file_get_contents (marker, &text, NULL, NULL))
    return NULL;
  g_strchomp (text);
  return g_canonicalize_filename (text, own);
}

char *
dlp_place_find_folder (const char *relative)
{
  g_autofree char *own = get_own_folder ();
  g_autofree char *folder = NULL;

  if (own == NULL)
    return NULL;
  folder = g_canonicalize_filename (relative, own);
  return g_file_test (folder, G_FILE_TEST_IS_DIR) ? g_steal_pointer (&folder) : NULL;
}
