/* SPDX-License-Identifier: MIT */

/* The main job on the sample corpus: its output must have the digests that
 * tests/peers/megatron_oracle.py made with the real tiktoken, and be the same whatever runs it. */

#include <string.h>

#include <dlpipe/dlpipe.h>
#include <glib/gstdio.h>

#include "test-step.h"

static char *folder;

static char *
hash_file (const char *path)
{
  g_autofree char *data = NULL;
  g_autoptr (GError) error = NULL;
  gsize size;

  g_file_get_contents (path, &data, &size, &error);
  g_assert_no_error (error);
  return g_compute_checksum_for_data (G_CHECKSUM_SHA256, (const guchar *) data, size);
}

static void
assert_output (const char *location, const char *bin, const char *idx)
{
  static const char *const suffixes[] = { ".bin", ".idx" };
  const char *want[] = { bin, idx };

  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *path = g_strconcat (location, suffixes[i], NULL);
      g_autofree char *got = hash_file (path);

      g_assert_cmpstr (got, ==, want[i]);
    }
}

static void
remove_output (const char *location)
{
  static const char *const suffixes[] = { ".bin", ".idx", ".manifest.json" };

  for (guint i = 0; i < G_N_ELEMENTS (suffixes); i++)
    {
      g_autofree char *path = g_strconcat (location, suffixes[i], NULL);

      g_unlink (path);
    }
}

static void
run (const char *graph,
     DlpRunnerKind runner,
     guint workers,
     guint links,
     guint records,
     gboolean yields)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_string (graph, &error);

  g_assert_no_error (error);
  g_object_set (pipeline, "runner", runner, "workers", workers, "link-batches", links,
                "batch-records", records, "random-yields", yields, NULL);
  dlp_pipeline_run (pipeline, NULL, &error);
  g_assert_no_error (error);
}

static void
test_oracle (gconstpointer data)
{
  const char *model = data;
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "data", "sample", "expected.tsv", NULL);
  g_autofree char *sample = g_test_build_filename (G_TEST_DIST, "data", "sample", NULL);
  g_autofree char *location = g_build_filename (folder, model, NULL);
  g_autofree char *text = NULL;
  g_autofree char *graph = NULL;
  g_auto (GStrv) lines = NULL;
  gboolean found = FALSE;

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  graph = g_strdup_printf (
      "file-source location=%s/*.jsonl.* ! jsonl-reader field=text ! tokenizer model=%s "
      "! megatron-sink location=%s",
      sample, model, location);
  run (graph, DLP_RUNNER_AUTO, 0, 16, 0, FALSE);
  lines = g_strsplit (g_strstrip (text), "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      g_auto (GStrv) columns = g_strsplit (lines[i], "\t", -1);

      if (strcmp (columns[0], model) != 0)
        continue;
      found = TRUE;
      assert_output (location, columns[4], columns[5]);
    }
  g_assert_true (found);
  remove_output (location);
}

/* Under each runner, for 1, 2 and 7 workers, links of 1 and 64 record batches, record batches of 1
 * and 1,024 records, with threads that give way at random. */
static void
test_settings (void)
{
  static const DlpRunnerKind runners[] = { DLP_RUNNER_SEQUENTIAL, DLP_RUNNER_THREADS,
                                           DLP_RUNNER_POOL };
  static const guint workers[] = { 1, 2, 7 };
  static const guint links[] = { 1, 64 };
  static const guint records[] = { 1, 1024 };
  g_autofree char *sample = g_test_build_filename (G_TEST_DIST, "data", "sample", NULL);
  g_autofree char *location = g_build_filename (folder, "settings", NULL);
  g_autofree char *graph = g_strdup_printf (
      "file-source location=%s/*.zst shuffle=true ! jsonl-reader field=text ! m.web  "
      "file-source location=%s/*.gz ! jsonl-reader field=text interleave=3 ! m.code  "
      "mix name=m weights=web:2,code:1 ! tokenizer cache-bytes=1M ! shuffle size=500 ! "
      "megatron-sink location=%s",
      sample, sample, location);
  g_autofree char *bin = NULL;
  g_autofree char *idx = NULL;
  const guint n_settings = G_N_ELEMENTS (runners) * G_N_ELEMENTS (workers) * 4;
  /* Under memcheck each runner, number of workers, of links and of records once. */
  const guint step = test_get_step () > 1 ? 13 : 1;

  for (guint i = 0; i < n_settings; i += step)
    {
      DlpRunnerKind runner = runners[i % 3];
      guint n = workers[i / 3 % 3];
      g_autofree char *path = g_strconcat (location, ".bin", NULL);

      run (graph, runner, n, links[i / 9 % 2], records[i / 18 % 2], i % 5 == 0);
      if (bin == NULL)
        {
          g_autofree char *index = g_strconcat (location, ".idx", NULL);

          bin = hash_file (path);
          idx = hash_file (index);
        }
      g_test_message ("runner %u, %u workers, links of %u, record batches of %u", runner, n,
                      links[i / 9 % 2], records[i / 18 % 2]);
      assert_output (location, bin, idx);
      remove_output (location);
    }
}

static GLogWriterOutput
write_log (GLogLevelFlags level, const GLogField *fields, gsize n_fields, gpointer data)
{
  if (level & (G_LOG_LEVEL_MESSAGE | G_LOG_LEVEL_INFO | G_LOG_LEVEL_DEBUG | G_LOG_LEVEL_WARNING))
    return G_LOG_WRITER_HANDLED;
  return g_log_writer_default (level, fields, n_fields, data);
}

int
main (int argc, char **argv)
{
  int status;

  g_test_init (&argc, &argv, NULL);
  g_log_set_writer_func (write_log, NULL, NULL);
  folder = g_dir_make_tmp ("dlpipe-sample-XXXXXX", NULL);
  g_test_add_data_func ("/sample/oracle/gpt2", "gpt2", test_oracle);
  g_test_add_data_func ("/sample/oracle/cl100k_base", "cl100k_base", test_oracle);
  g_test_add_data_func ("/sample/oracle/o200k_base", "o200k_base", test_oracle);
  g_test_add_func ("/sample/settings", test_settings);
  status = g_test_run ();
  g_rmdir (folder);
  g_free (folder);
  return status;
}
