/* SPDX-License-Identifier: MIT */

/* What a shuffle buffer costs a record, whatever its size, and what taking the state of a pipeline
 * with one costs its stream. Records of about 300 bytes, all in memory. */

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

static GPtrArray *
make_batches (void)
{
  const char *name = "text";
  DlpFieldType type = DLP_FIELD_STRING;
  g_autoptr (DlpSchema) schema = dlp_schema_new (DLP_SCHEMA_RECORDS, 1, &name, &type, NULL);
  g_autoptr (DlpRecordBatchBuilder) builder = dlp_record_batch_builder_new (schema);
  GPtrArray *batches = g_ptr_array_new_with_free_func ((GDestroyNotify) dlp_record_batch_unref);
  char text[2 * TEXT];

  memset (text, 'x', sizeof text);
  for (guint i = 0; i < N_BATCHES; i++)
    {
      for (guint k = 0; k < RECORDS; k++)
        {
          DlpCoordinate at = { .row = (guint64) i * RECORDS + k };

          dlp_record_batch_builder_append_value (builder, 0, text, TEXT / 2 + k % TEXT);
          dlp_record_batch_builder_end_record (builder, &at);
        }
      g_ptr_array_add (batches, dlp_record_batch_builder_finish (builder, NULL));
    }
  return batches;
}

static void
run (const char *size)
{
  g_autofree char *graph =
      g_strdup_printf ("bench-source ! shuffle size=%s ! null-sink digest=false", size);
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPipeline) pipeline = bench_new_pipeline (graph);

  g_object_set (pipeline, "memory", MEMORY, NULL);
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

  dlp_bench_source_set_batches (batches, rounds, RECORDS);
  return bench_run (&bench) ? 0 : 1;
}
