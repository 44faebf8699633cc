/* SPDX-License-Identifier: MIT */

/* In a pipeline with a state folder, stopped and continued: the same records and rejects. */

#include <dlp-harness.h>
#include <glib/gstdio.h>

static char *
make_folder (void)
{
  g_autoptr (GError) error = NULL;
  char *folder = g_dir_make_tmp ("dlpipe-csv-XXXXXX", &error);

  g_assert_no_error (error);
  for (guint file = 0; file < 4; file++)
    {
      g_autofree char *path = g_strdup_printf ("%s/%u.csv", folder, file);
      g_autoptr (GString) text = g_string_new (NULL);

      g_string_append (text, file % 2 == 0 ? "id,body\n" : "\"body\",id,\"more\nyet\"\r\n");
      for (guint i = 0; i < 25; i++)
        if (i % 9 == 8)
          g_string_append (text, "\"one\"\n");
        else if (file % 2 == 0)
          g_string_append_printf (text, "%u,\"row %u\n\nof \"\"%u\"\"\"\n", i, i, file);
        else
          g_string_append_printf (text, "row %u of %u,%u,\r\n", i, file, i);
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
      g_autofree char *path = g_strdup_printf ("%s/%u.csv", folder, file);

      g_assert_cmpint (g_remove (path), ==, 0);
    }
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

static void
test_resume (gconstpointer data)
{
  g_autofree char *folder = make_folder ();
  g_autofree char *graph = g_strdup_printf (
      "file-source location=%s/* epochs=2 ! csv-reader name=r field=body fields=id:int64 "
      "max-bad-ratio=1 %s ! check-sink name=k   r.rejected ! check-sink name=j",
      folder, (const char *) data);

  dlp_harness_check_resume (graph, 1);
  for (guint n = 0; n < dlp_harness_scale (8); n++)
    dlp_harness_check_resume (graph, 0);
  remove_folder (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  g_test_add_data_func ("/csv-pipeline/1", "interleave=1", test_resume);
  g_test_add_data_func ("/csv-pipeline/3", "interleave=3", test_resume);
  g_test_add_data_func ("/csv-pipeline/small-chunks", "chunk-bytes=40", test_resume);
  return g_test_run ();
}
