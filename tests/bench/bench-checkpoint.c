/* SPDX-License-Identifier: MIT */

/* The main job with a checkpoint each second and with no state at all, in pairs of runs. */

#include <stdio.h>

#include <glib/gstdio.h>

#include "bench-source.h"
#include "bench.h"

#define EPOCHS 4

typedef struct
{
  char *input;
  char *folder;
} Job;

static void
run (Job *job, gboolean saves)
{
  g_autofree char *output = g_build_filename (job->folder, "corpus", NULL);
  g_autofree char *state = g_build_filename (job->folder, "state", NULL);
  g_autofree char *graph = g_strdup_printf (
      "file-source location=\"%s\" epochs=%u ! jsonl-reader ! tokenizer model=gpt2 "
      "! megatron-sink location=\"%s\"",
      job->input, EPOCHS, output);
  g_autoptr (DlpPipeline) pipeline = bench_new_pipeline (graph);
  g_autoptr (GError) error = NULL;

  g_object_set (pipeline, "workers", 2, "overwrite", TRUE, NULL);
  if (saves)
    g_object_set (pipeline, "state-dir", state, "restart", TRUE, "checkpoint-interval",
                  (gint64) G_USEC_PER_SEC, NULL);
  dlp_pipeline_run (pipeline, NULL, &error);
  g_assert_no_error (error);
}

static void
run_with (gpointer job)
{
  run (job, TRUE);
}

static void
run_without (gpointer job)
{
  run (job, FALSE);
}

int
main (void)
{
  Job job = { bench_make_file (), g_dir_make_tmp ("dlpipe-bench-XXXXXX", NULL) };
  Bench bench = { .name = "main job with a checkpoint a second",
                  .ours = run_with,
                  .reference = run_without,
                  .data = &job,
                  .unit = "MB",
                  .bar = 1.02 };
  GStatBuf status;
  gboolean passed;

  g_assert_nonnull (job.folder);
  g_assert_cmpint (g_stat (job.input, &status), ==, 0);
  bench.amount = (double) status.st_size * EPOCHS * 1e-6;
  passed = bench_run (&bench);
  bench_remove_file (job.input);
  bench_remove_folder (job.folder);
  g_free (job.input);
  g_free (job.folder);
  return passed ? 0 : 1;
}
