/* SPDX-License-Identifier: MIT */

#include "bench-source.h"

#include "bench-sink.h"

#include <dlpipe/dlp-pipeline.h>
#include <dlpipe/dlp-plugin.h>

struct _DlpBenchSource
{
  DlpSource parent_instance;

  guint64 next; /* the state */
};

G_DEFINE_FINAL_TYPE (DlpBenchSource, dlp_bench_source, DLP_TYPE_SOURCE)

static GPtrArray *all_batches;
static guint n_rounds;
static guint max_records;

void
dlp_bench_source_set_batches (GPtrArray *batches, guint rounds, guint records)
{
  all_batches = batches;
  n_rounds = rounds;
  max_records = records;
}

static gboolean
dlp_bench_source_negotiate (DlpElement *element, GError **error)
{
  dlp_pad_set_schema (dlp_element_get_output (element, 0),
                      dlp_record_batch_get_schema (g_ptr_array_index (all_batches, 0)));
  return TRUE;
}

static DlpStep
dlp_bench_source_produce (DlpSource *source, DlpPad *out, GCancellable *cancellable, GError **error)
{
  DlpBenchSource *self = DLP_BENCH_SOURCE (source);
  DlpRecordBatch *batch;

  if (self->next == (guint64) all_batches->len * n_rounds)
    return DLP_STEP_END;
  batch = g_ptr_array_index (all_batches, self->next++ % all_batches->len);
  dlp_pad_push (out, dlp_record_batch_slice (
                         batch, 0, MIN (dlp_record_batch_get_length (batch), max_records)));
  return DLP_STEP_MORE;
}

static DlpState *
dlp_bench_source_save (DlpElement *element)
{
  return dlp_state_new (&DLP_BENCH_SOURCE (element)->next, sizeof (guint64));
}

static GVariant *
dlp_bench_source_describe (DlpElement *element, const DlpState *state)
{
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "next", "t", *(const guint64 *) dlp_state_get_data (state));
  return g_variant_dict_end (&dict);
}

static void
dlp_bench_source_class_init (DlpBenchSourceClass *klass)
{
  DlpElementClass *element_class = DLP_ELEMENT_CLASS (klass);

  element_class->negotiate = dlp_bench_source_negotiate;
  element_class->save = dlp_bench_source_save;
  element_class->describe = dlp_bench_source_describe;
  DLP_SOURCE_CLASS (klass)->produce = dlp_bench_source_produce;
}

static void
dlp_bench_source_init (DlpBenchSource *self)
{
}

DlpPipeline *
bench_new_pipeline (const char *graph)
{
  static gsize registered;
  g_autoptr (GError) error = NULL;
  DlpPipeline *pipeline;

  if (g_once_init_enter (&registered))
    {
      dlp_registry_add_element ("bench-source", DLP_TYPE_BENCH_SOURCE, &error);
      g_assert_no_error (error);
      dlp_registry_add_element ("bench-sink", DLP_TYPE_BENCH_SINK, &error);
      g_assert_no_error (error);
      g_once_init_leave (&registered, 1);
    }
  pipeline = dlp_pipeline_new_from_string (graph, &error);
  g_assert_no_error (error);
  g_object_set (pipeline, "workers", 1, NULL);
  return pipeline;
}

void
bench_run_graph (const char *graph)
{
  g_autoptr (DlpPipeline) pipeline = bench_new_pipeline (graph);
  g_autoptr (GError) error = NULL;

  dlp_pipeline_run (pipeline, NULL, &error);
  g_assert_no_error (error);
}
