/* SPDX-License-Identifier: MIT */

#include "state.h"

#define FOLDER_SUFFIX ".dlpipe"

char *
state_find_folder (const char *text)
{
  g_autofree char *beside = g_strconcat (text, FOLDER_SUFFIX, NULL);

  if (!g_file_test (text, G_FILE_TEST_IS_DIR) && g_file_test (beside, G_FILE_TEST_IS_DIR))
    return g_steal_pointer (&beside);
  return g_strdup (text);
}

DlpCheckpoint *
state_open (const char *text, GError **error)
{
  g_autofree char *folder = state_find_folder (text);
  g_autofree char *fell_back = NULL;
  DlpCheckpoint *checkpoint;

  if (!g_file_test (folder, G_FILE_TEST_IS_DIR))
    return dlp_checkpoint_new_from_file (folder, error);
  checkpoint = dlp_checkpoint_new_from_folder (folder, &fell_back, error);
  if (fell_back != NULL)
    g_printerr ("dlpipe-state: %s\n", fell_back);
  return checkpoint;
}
