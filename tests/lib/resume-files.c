/* SPDX-License-Identifier: MIT */

#include "resume-files.h"

#include <dlp-harness.h>
#include <glib/gstdio.h>

#define N_FILES 4

static char *
get_path (const char *folder, guint file, const char *ending)
{
  return g_strdup_printf ("%s/%u%s", folder, file, ending);
}

static char *
make_folder (const char *ending, ResumeWrite write)
{
  g_autoptr (GError) error = NULL;
  char *folder = g_dir_make_tmp ("dlpipe-resume-XXXXXX", &error);

  g_assert_no_error (error);
  for (guint file = 0; file < N_FILES; file++)
    {
      g_autofree char *path = get_path (folder, file, ending);
      g_autoptr (GString) bytes = g_string_new (NULL);

      write (file, bytes);
      g_file_set_contents (path, bytes->str, (gssize) bytes->len, &error);
      g_assert_no_error (error);
    }
  return folder;
}

static void
remove_folder (const char *folder, const char *ending)
{
  for (guint file = 0; file < N_FILES; file++)
    {
      g_autofree char *path = get_path (folder, file, ending);

      g_assert_cmpint (g_remove (path), ==, 0);
    }
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

void
resume_files_check (const char *ending, ResumeWrite write, const char *reader, guint n)
{
  g_autofree char *folder = make_folder (ending, write);
  g_autofree char *graph =
      g_strdup_printf ("file-source location=%s/* epochs=2 ! %s name=r max-bad-ratio=1 "
                       "! check-sink name=k   r.rejected ! check-sink name=j",
                       folder, reader);

  dlp_harness_check_resume (graph, 1);
  for (guint i = 0; i < dlp_harness_scale (n); i++)
    dlp_harness_check_resume (graph, 0);
  remove_folder (folder, ending);
}
