/* SPDX-License-Identifier: MIT */

/* Random tables, and what Python's csv module reads from them: random/, by make-random.py. */

#include <string.h>

#include "dlp-csv-reader.h"
#include "reader-fixture.h"

#define N_TABLES 28

static RigOutput *
run (const char *path, char **settings, guint read_size, guint workers)
{
  g_autoptr (Fixture) fixture = fixture_new_at (path);

  fixture->config.reader_type = DLP_TYPE_CSV_READER;
  fixture->config.workers = workers;
  for (guint i = 0; settings[i] != NULL; i++)
    fixture_set_reader (fixture, "%s", settings[i]);
  fixture_set_reader (fixture, "field=c0");
  fixture_set_reader (fixture, "fields=c1,c2,c3");
  fixture_set_reader (fixture, "read-size=%u", read_size);
  fixture_set_reader (fixture, "chunk-bytes=%u", read_size);
  return rig_run (fixture_config (fixture));
}

static void
test_table (gconstpointer data)
{
  static const guint read_sizes[] = { 1, 7, 100, 4096, 65536 };
  g_autofree char *name = g_strdup_printf ("%02u", GPOINTER_TO_UINT (data));
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "random", name, NULL);
  g_autofree char *table = g_strconcat (path, ".csv", NULL);
  g_autofree char *list = g_strconcat (path, ".txt", NULL);
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  g_auto (GStrv) settings = NULL;
  GError *error = NULL;

  g_file_get_contents (list, &text, NULL, &error);
  g_assert_no_error (error);
  text[strlen (text) - 1] = '\0';
  lines = g_strsplit (text, "\n", -1);
  settings = g_strsplit (lines[0], "\t", -1);

  for (guint i = 0; i < G_N_ELEMENTS (read_sizes); i++)
    {
      g_autoptr (RigOutput) output = run (table, settings, read_sizes[i], i % 3);

      g_assert_no_error (output->error);
      g_assert_cmpuint (output->rejected->len, ==, 0);
      for (guint k = 0; k < output->good->len && lines[k + 1] != NULL; k++)
        g_assert_cmpstr (strchr (output->good->pdata[k], '\t') + 1, ==, lines[k + 1]);
      g_assert_cmpuint (output->good->len, ==, g_strv_length (lines) - 1);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  fixture_init ();
  for (guint i = 0; i < N_TABLES; i++)
    {
      g_autofree char *path = g_strdup_printf ("/csv-python/%02u", i);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_table);
    }
  return g_test_run ();
}
