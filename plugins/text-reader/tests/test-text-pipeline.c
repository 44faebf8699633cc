/* SPDX-License-Identifier: MIT */

/* In a pipeline with a state folder, stopped and continued: the same records and rejects. */

#include <dlp-harness.h>
#include <glib/gstdio.h>

static char *
make_folder (void)
{
  g_autoptr (GError) error = NULL;
  char *folder = g_dir_make_tmp ("dlpipe-text-XXXXXX", &error);

  g_assert_no_error (error);
  for (guint file = 0; file < 4; file++)
    {
      g_autofree char *path = g_strdup_printf ("%s/%u.txt", folder, file);
      g_autoptr (GString) text = g_string_new (NULL);

      for (guint i = 0; i < 25; i++)
        g_string_append_printf (text, "line %u of %u%s\n%s", i, file, i % 9 == 8 ? "\xff" : "",
                                i % 4 == 3 ? "\r\n" : "");
      g_file_set_contents (path, text->str, (gssize) text->len, &error);
      g_assert_no_error (error);
    }
  return folder;
}

static void
remove_folder (const char *folder)
{
  for (guint file = 0; file < 4; file++)
    {
      g_autofree char *path = g_strdup_printf ("%s/%u.txt", folder, file);

      g_assert_cmpint (g_remove (path), ==, 0);
    }
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

static void
test_resume (gconstpointer data)
{
  const char *settings = data;

  for (guint interleave = 1; interleave < 4; interleave += 2)
    {
      g_autofree char *folder = make_folder ();
      g_autofree char *graph =
          g_strdup_printf ("file-source location=%s/* ! text-reader name=r max-bad-ratio=1 %s "
                           "interleave=%u ! check-sink name=k   r.rejected ! check-sink name=j",
                           folder, settings, interleave);

      dlp_harness_check_resume (graph, 1);
      for (guint n = 0; n < dlp_harness_scale (6); n++)
        dlp_harness_check_resume (graph, 0);
      remove_folder (folder);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  g_test_add_data_func ("/text-pipeline/line", "unit=line", test_resume);
  g_test_add_data_func ("/text-pipeline/paragraph", "unit=paragraph", test_resume);
  g_test_add_data_func ("/text-pipeline/file", "unit=file invalid-utf8=replace", test_resume);
  return g_test_run ();
}
