/* SPDX-License-Identifier: MIT */

/* What a shuffle buffer of a million records of about 300 bytes costs: a batch, where its records
 * are also tokenized and batched, and a record, where nothing else is in the graph, each against a
 * buffer of a thousand; and what taking the state of such a pipeline costs its stream. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <dlpipe/dlpipe.h>

#include "bench-source.h"
#include "bench.h"

#define N_BATCHES 64
#define RECORDS 1024
#define TEXT 300
#define SMALL "1000"
#define LARGE "1000000"
#define MEMORY (G_GUINT64_CONSTANT (4) << 30)

#define PAIRS 7
#define BATCH 256
#define TIMED_BATCHES 2000
#define N_STATES 500
#define BATCHES_PER_STATE 20
#define MAX_STATE_NS 1000000
#define MAX_STATE_BYTES (64 * 1024)

static GPtrArray *
make_batches (void)
{
  const char *name = "text";
  DlpFieldType type = DLP_FIELD_STRING;
  g_autoptr (DlpSchema) schema = dlp_schema_new (DLP_SCHEMA_RECORDS, 1, &name, &type, NULL);
  g_autoptr (DlpRecordBatchBuilder) builder = dlp_record_batch_builder_new (schema);
  GPtrArray *batches = g_ptr_array_new_with_free_func ((GDestroyNotify) dlp_record_batch_unref);
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < TEXT; i++)
    g_string_append_printf (text, " word %u of", i * 7919 % 1000);
  for (guint i = 0; i < N_BATCHES; i++)
    {
      for (guint k = 0; k < RECORDS; k++)
        {
          DlpCoordinate at = { .row = (guint64) i * RECORDS + k };

          dlp_record_batch_builder_append_value (builder, 0, text->str + k % 1000,
                                                 TEXT / 2 + k % TEXT);
          dlp_record_batch_builder_end_record (builder, &at);
        }
      g_ptr_array_add (batches, dlp_record_batch_builder_finish (builder, NULL));
    }
  return batches;
}

static DlpPipeline *
new_pipeline (const char *size, const char *behind)
{
  g_autofree char *graph = g_strdup_printf ("bench-source ! shuffle size=%s ! %s", size, behind);
  DlpPipeline *pipeline = bench_new_pipeline (graph);

  g_object_set (pipeline, "memory", MEMORY, NULL);
  return pipeline;
}

static void
run (const char *size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPipeline) pipeline = new_pipeline (size, "null-sink digest=false");

  dlp_pipeline_run (pipeline, NULL, &error);
  g_assert_no_error (error);
}

static void
run_small (gpointer data)
{
  run (SMALL);
}

static void
run_large (gpointer data)
{
  run (LARGE);
}

static gint64
now_ns (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return now.tv_sec * G_GINT64_CONSTANT (1000000000) + now.tv_nsec;
}

static int
compare (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

static void
pull (DlpAppSink *out)
{
  g_autoptr (GError) error = NULL;
  DlpRecordBatch *batch = dlp_app_sink_pull (out, 0, NULL, &error);

  g_assert_no_error (error);
  g_assert_nonnull (batch);
  dlp_record_batch_unref (batch);
}

static void
on_end (GObject *pipeline, GAsyncResult *result, gpointer data)
{
  gboolean *ended = data;

  dlp_pipeline_run_finish (DLP_PIPELINE (pipeline), result, NULL);
  *ended = TRUE;
}

/* The stream is ended before its source is. */
static void
abandon (DlpPipeline *pipeline, const gboolean *ended)
{
  dlp_pipeline_abort (pipeline);
  while (!*ended)
    g_main_context_iteration (NULL, TRUE);
}

/* Microseconds, in the mean of those behind the first, which waits until the buffer is full. */
static double
time_of_batch (const char *size)
{
  g_autoptr (DlpPipeline) pipeline = new_pipeline (
      size, "tokenizer model=gpt2 ! batch size=" G_STRINGIFY (BATCH) " ! app-sink name=out");
  DlpAppSink *out = DLP_APP_SINK (dlp_pipeline_get_element (pipeline, "out"));
  gboolean ended = FALSE;
  gint64 start;
  double us;

  dlp_pipeline_run_async (pipeline, NULL, on_end, &ended);
  pull (out);
  start = now_ns ();
  for (guint i = 0; i < TIMED_BATCHES; i++)
    pull (out);
  us = (double) (now_ns () - start) * 1e-3 / TIMED_BATCHES;
  abandon (pipeline, &ended);
  return us;
}

static gboolean
measure_batches (double bar)
{
  double large[PAIRS], small[PAIRS], ratios[PAIRS];

  for (guint i = 0; i < PAIRS; i++)
    {
      if (i % 2 == 0)
        large[i] = time_of_batch (LARGE);
      small[i] = time_of_batch (SMALL);
      if (i % 2 != 0)
        large[i] = time_of_batch (LARGE);
      ratios[i] = large[i] / small[i];
    }
  qsort (large, PAIRS, sizeof *large, compare);
  qsort (small, PAIRS, sizeof *small, compare);
  qsort (ratios, PAIRS, sizeof *ratios, compare);
  printf (
      "a batch of %d tokenized records: %.1f us with a buffer of %s, %.1f us with %s; %s, ratio "
      "%.3f (%.3f to %.3f), at most %.3f\n",
      BATCH, large[PAIRS / 2], LARGE, small[PAIRS / 2], SMALL,
      ratios[PAIRS / 2] <= bar ? "PASS" : "FAIL", ratios[PAIRS / 2], ratios[0], ratios[PAIRS - 1],
      bar);
  fflush (stdout);
  return ratios[PAIRS / 2] <= bar;
}

/* The program that asks is the one that pulls: the stream waits for the whole of it. */
static gboolean
measure_states (void)
{
  g_autoptr (DlpPipeline) pipeline =
      new_pipeline (LARGE, "batch size=" G_STRINGIFY (BATCH) " ! app-sink name=out");
  DlpAppSink *out = DLP_APP_SINK (dlp_pipeline_get_element (pipeline, "out"));
  gboolean ended = FALSE;
  double times[N_STATES];
  gsize bytes = 0;
  gboolean passed;

  dlp_pipeline_run_async (pipeline, NULL, on_end, &ended);
  pull (out);
  for (guint i = 0; i < N_STATES; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GBytes) state = NULL;
      gint64 start;

      for (guint k = 0; k < BATCHES_PER_STATE; k++)
        pull (out);
      start = now_ns ();
      state = dlp_pipeline_save_state (pipeline, NULL, &error);
      times[i] = (double) (now_ns () - start);
      g_assert_no_error (error);
      bytes = MAX (bytes, g_bytes_get_size (state));
    }
  abandon (pipeline, &ended);
  qsort (times, N_STATES, sizeof *times, compare);
  passed = times[N_STATES * 99 / 100] < MAX_STATE_NS && bytes <= MAX_STATE_BYTES;
  printf (
      "a state with a buffer of %s: median %.1f us, p99 %.1f us, max %.1f us, at most %zu bytes; "
      "%s, p99 below %.0f us, at most %d bytes\n",
      LARGE, times[N_STATES / 2] * 1e-3, times[N_STATES * 99 / 100] * 1e-3,
      times[N_STATES - 1] * 1e-3, bytes, passed ? "PASS" : "FAIL", MAX_STATE_NS * 1e-3,
      MAX_STATE_BYTES);
  fflush (stdout);
  return passed;
}

int
main (void)
{
  guint rounds = 64;
  g_autoptr (GPtrArray) batches = make_batches ();
  Bench bench = { .name = "shuffle of 1,000,000 and of 1,000",
                  .ours = run_large,
                  .reference = run_small,
                  .amount = (double) rounds * N_BATCHES * RECORDS * 1e-6,
                  .unit = "million records",
                  .bar = 1.5 };

  gboolean passed;

  dlp_bench_source_set_batches (batches, rounds, RECORDS);
  passed = measure_states ();
  passed = measure_batches (1.05) && passed;
  return bench_run (&bench) && passed ? 0 : 1;
}
