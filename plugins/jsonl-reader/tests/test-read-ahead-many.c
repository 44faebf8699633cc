/* SPDX-License-Identifier: MIT */

/* A mix of 1,000 sources, all of which read ahead under one budget. */

#include <sys/resource.h>

#include <glib/gstdio.h>

#include <dlp-harness.h>

#include "far-scheme.h"

#define N_SOURCES 1000
#define N_FILES 3
#define ROWS 20

static char *
write_files (char *const *paths)
{
  g_autofree char *filler = g_strnfill (400, 'x');
  g_autoptr (GString) location = g_string_new (NULL);

  for (guint i = 0; i < N_FILES; i++)
    {
      g_autoptr (GString) text = g_string_new (NULL);

      for (guint row = 0; row < ROWS; row++)
        g_string_append_printf (text, "{\"text\": \"%u %u %s\"}\n", i, row, filler);
      g_assert_true (g_file_set_contents (paths[i], text->str, -1, NULL));
      g_string_append_printf (location, "location=far://%s ", paths[i]);
    }
  return g_string_free (g_steal_pointer (&location), FALSE);
}

static void
raise_limit (void)
{
  struct rlimit limit;

  g_assert_cmpint (getrlimit (RLIMIT_NOFILE, &limit), ==, 0);
  limit.rlim_cur = limit.rlim_max;
  g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &limit), ==, 0);
}

/* Every file is opened once in an epoch, and the first of each before the run, to look into it; and
 * no more are open than the mix reads and read ahead of.
 */
static void
run_many (const char *location, const char *settings)
{
  g_autoptr (GString) graph = g_string_new ("mix name=m ! null-sink name=out ");
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPipeline) pipeline = NULL;
  guint64 records;

  for (guint i = 0; i < N_SOURCES; i++)
    g_string_append_printf (graph, "file-source %s %s ! jsonl-reader ! m. ", location, settings);

  far_scheme_begin (FAR_NOTHING);
  pipeline = dlp_pipeline_new_from_string (graph->str, &error);
  g_assert_no_error (error);
  g_object_set (pipeline, "memory", (guint64) 64 * 1024 * 1024, NULL);
  dlp_pipeline_run (pipeline, NULL, &error);
  g_assert_no_error (error);
  g_object_get (pipeline, "records", &records, NULL);
  g_assert_cmpuint (records, ==, N_SOURCES * N_FILES * ROWS);
  g_assert_cmpuint (far_scheme_count_all_opens (), ==, N_SOURCES * (N_FILES + 1));
  g_assert_cmpuint (far_scheme_get_most_open (), <=, N_SOURCES + 32);
}

static void
test_many (void)
{
  g_autofree char *folder = g_dir_make_tmp ("dlpipe-many-XXXXXX", NULL);
  char *paths[N_FILES];
  g_autofree char *location = NULL;

  for (guint i = 0; i < N_FILES; i++)
    {
      g_autofree char *name = g_strdup_printf ("%u.jsonl", i);

      paths[i] = g_build_filename (folder, name, NULL);
    }
  location = write_files (paths);
  raise_limit ();

  run_many (location, "prefetch-bytes=64M");
  g_assert_cmpuint (far_scheme_get_ahead_bytes (), >, 0);
  /* Nothing at all can be read ahead of a thousand sources with these. */
  run_many (location, "prefetch-bytes=1M");
  g_assert_cmpuint (far_scheme_get_ahead_bytes (), ==, 0);

  for (guint i = 0; i < N_FILES; i++)
    {
      g_assert_cmpint (g_remove (paths[i]), ==, 0);
      g_free (paths[i]);
    }
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  far_scheme_register ();
  g_test_add_func ("/read-ahead/many-sources", test_many);
  return g_test_run ();
}
