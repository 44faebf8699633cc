/* SPDX-License-Identifier: MIT */

#include <stdio.h>
#include <string.h>

#include <dlp-harness.h>
#include <dlpipe/dlp-app-sink.h>
#include <dlpipe/dlp-app-source.h>
#include <dlpipe/dlp-batcher.h>

static void
assert_refused (const char *graph, GQuark domain, int code, const char *part)
{
  g_autoptr (GError) error = NULL;

  if (dlp_harness_run (graph, NULL, &error))
    g_error ("not refused: %s", graph);
  g_assert_error (error, domain, code);
  if (strstr (error->message, part) == NULL)
    g_error ("“%s” is not in: %s", part, error->message);
}

static void
test_settings (void)
{
  static const struct
  {
    const char *graph;
    DlpGraphError code;
    const char *part;
  } bad[] = {
    { "check-source ! batch ! null-sink", DLP_GRAPH_ERROR_VALUE, "set size=N" },
    { "check-source ! batch size=0 ! null-sink", DLP_GRAPH_ERROR_VALUE, "size" },
    { "check-source ! batch size=4,x ! null-sink", DLP_GRAPH_ERROR_VALUE, "x" },
    { "check-source ! batch size=4,8 ! null-sink", DLP_GRAPH_ERROR_VALUE,
      "2 sizes for 1 stage; give one" },
    { "check-source ! batch size=4 rank=2 world-size=2 ! null-sink", DLP_GRAPH_ERROR_VALUE,
      "rank=2, but world-size=2 allows 0 to 1" },
    { "check-source ! batch size=4 ! batch size=4 ! null-sink", DLP_GRAPH_ERROR_VALUE,
      "has batches already" },
    { "check-source ! batch size=4 world-size=2 ! batch ! null-sink", DLP_GRAPH_ERROR_VALUE,
      "to 2 ranks there already" },
    { "file-source location=. ! batch size=4 ! null-sink", DLP_GRAPH_ERROR_TYPE,
      "put a reader before it" },
    { "check-source ! batch size=4 ! shuffle ! null-sink", DLP_GRAPH_ERROR_TYPE,
      "takes records, not the batches that batch0 gives" },
    { "check-source ! batch size=4 ! mix ! null-sink", DLP_GRAPH_ERROR_TYPE,
      "takes records, not the batches" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    assert_refused (bad[i].graph, DLP_GRAPH_ERROR, (int) bad[i].code, bad[i].part);
}

static guint64
get_counter (DlpPipeline *pipeline, const char *name, const char *key)
{
  g_autoptr (GVariant) report = dlp_pipeline_get_report (pipeline);
  g_autoptr (GVariant) elements =
      g_variant_lookup_value (report, "elements", G_VARIANT_TYPE ("aa{sv}"));
  guint64 value = G_MAXUINT64;

  for (gsize i = 0; i < g_variant_n_children (elements); i++)
    {
      g_autoptr (GVariant) element = g_variant_get_child_value (elements, i);
      g_autoptr (GVariant) state = NULL;
      const char *found;

      g_variant_lookup (element, "name", "&s", &found);
      state = g_variant_lookup_value (element, "state", G_VARIANT_TYPE_VARDICT);
      if (strcmp (found, name) == 0 && state != NULL)
        g_variant_lookup (state, key, "t", &value);
    }
  return value;
}

typedef struct
{
  const char *settings;
  guint n_batches;
  guint last; /* records of the last one */
  guint64 short_records;
  guint64 step_batches;
  guint64 step_records;
} Count;

static void
check_count (const Count *self)
{
  g_autofree char *graph = g_strdup_printf (
      "check-source records=23 ! batch name=b %s ! app-sink name=out max-batches=1000",
      self->settings);
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_string (graph, &error);
  DlpAppSink *out;
  DlpRecordBatch *batch;
  guint n = 0, length = 0;

  g_assert_no_error (error);
  out = DLP_APP_SINK (dlp_pipeline_get_element (pipeline, "out"));
  dlp_pipeline_prepare (pipeline, NULL, &error);
  g_assert_no_error (error);
  dlp_pipeline_run_async (pipeline, NULL, NULL, NULL);
  for (; (batch = dlp_app_sink_pull (out, 1, NULL, &error)) != NULL; n++)
    {
      length = dlp_record_batch_get_length (batch);
      dlp_record_batch_unref (batch);
    }
  g_assert_no_error (error);
  while (dlp_pipeline_get_status (pipeline) != DLP_PIPELINE_FINISHED)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpuint (n, ==, self->n_batches);
  g_assert_cmpuint (length, ==, self->last);
  g_assert_cmpuint (get_counter (pipeline, "b", "dropped-short-records"), ==, self->short_records);
  g_assert_cmpuint (get_counter (pipeline, "b", "dropped-step-batches"), ==, self->step_batches);
  g_assert_cmpuint (get_counter (pipeline, "b", "dropped-step-records"), ==, self->step_records);
}

static void
test_dropped (void)
{
  static const Count counts[] = {
    { "size=5", 5, 3, 0, 0, 0 },
    { "size=5 drop-last=true", 4, 5, 3, 0, 0 },
    { "size=5 world-size=2", 2, 5, 0, 1, 3 },
    { "size=5 world-size=2 rank=1", 2, 5, 0, 1, 3 },
    { "size=5 world-size=4 drop-last=true", 1, 5, 3, 0, 0 },
    { "size=5 world-size=3 rank=2 drop-last=true", 1, 5, 3, 1, 5 },
    { "size=100 world-size=2", 0, 0, 0, 1, 23 },
    { "size=100 drop-last=true", 0, 0, 23, 0, 0 },
    { "size=23", 1, 23, 0, 0, 0 },
    { "size=1", 23, 1, 0, 0, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (counts); i++)
    check_count (&counts[i]);
}

static gpointer
run_thread (gpointer pipeline)
{
  dlp_pipeline_run (pipeline, NULL, NULL);
  return NULL;
}

/* Lengths of the batches, and their epochs. */
static char *
run_files (const char *settings, const char *rows, GError **error)
{
  g_autofree char *dir = g_dir_make_tmp ("dlpipe-batch-XXXXXX", NULL);
  g_auto (GStrv) counts = g_strsplit (rows, ",", -1);
  g_autoptr (GString) got = g_string_new (NULL);
  g_autofree char *graph = NULL;
  g_autoptr (DlpPipeline) pipeline = NULL;
  DlpRecordBatch *batch;
  DlpAppSink *out;
  GThread *thread;

  for (guint i = 0; counts[i] != NULL; i++)
    {
      g_autofree char *path = g_strdup_printf ("%s/%u.jsonl", dir, i);
      g_autoptr (GString) text = g_string_new (NULL);

      for (int row = 0; row < atoi (counts[i]); row++)
        g_string_append (text, "{\"text\": \"x\"}\n");
      g_assert_true (g_file_set_contents (path, text->str, -1, NULL));
    }
  graph = g_strdup_printf ("file-source location=%s/*.jsonl %s ! app-sink name=out", dir, settings);
  pipeline = dlp_pipeline_new_from_string (graph, error);
  if (pipeline == NULL || !dlp_pipeline_prepare (pipeline, NULL, error))
    return NULL;
  thread = g_thread_new ("run", run_thread, pipeline);
  out = DLP_APP_SINK (dlp_pipeline_get_element (pipeline, "out"));
  while ((batch = dlp_app_sink_pull (out, 0, NULL, error)) != NULL)
    {
      const DlpBatchInfo *info = dlp_record_batch_get_batch_info (batch);

      g_assert_cmpuint (info->records, >=, dlp_record_batch_get_length (batch));
      g_string_append_printf (got, "%u/%u ", dlp_record_batch_get_length (batch),
                              dlp_record_batch_get_epoch (batch));
      dlp_record_batch_unref (batch);
    }
  g_thread_join (thread);
  return g_string_free (g_steal_pointer (&got), FALSE);
}

static void
test_epochs (void)
{
  static const struct
  {
    const char *rows;
    const char *settings;
    const char *expected; /* NULL: an error */
  } cases[] = {
    { "3,3", "epochs=2 ! jsonl-reader ! batch size=4", "4/0 2/0 4/1 2/1 " },
    { "3,0,3", "epochs=2 ! jsonl-reader ! batch size=3", "3/0 3/0 3/1 3/1 " },
    { "3,3", "epochs=3 ! jsonl-reader ! batch size=4 drop-last=true", "4/0 4/1 4/2 " },
    { "3,3", "epochs=5 ! jsonl-reader ! batch size=4 drop-last=true world-size=2", "4/0 4/2 " },
    { "3,3", "epochs=5 ! jsonl-reader ! batch size=4 drop-last=true world-size=2 rank=1",
      "4/1 4/3 " },
    { "3,3", "epochs=2 ! jsonl-reader ! batch size=4 cut-at-epoch=false", "4/0 4/0 4/1 " },
    { "3,3", "epochs=2 ! jsonl-reader ! shuffle size=1 ! batch size=4", "4/0 4/0 4/1 " },
    { "3", "epochs=2 ! jsonl-reader ! shuffle size=1 ! batch size=4 cut-at-epoch=true",
      "3/0 3/1 " },
    { "3", "epochs=1 ! jsonl-reader ! batch size=4 drop-last=true", "" },
    { "3", "epochs=2 ! jsonl-reader ! batch size=4 drop-last=true", "" },
    { "3", "epochs=3 ! jsonl-reader ! batch size=4 drop-last=true", NULL },
    { "3", "epochs=0 ! jsonl-reader ! batch size=4 drop-last=true", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *got = run_files (cases[i].settings, cases[i].rows, &error);

      if (cases[i].expected != NULL)
        {
          g_assert_no_error (error);
          g_assert_cmpstr (got, ==, cases[i].expected);
          continue;
        }
      g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT);
      g_assert_nonnull (strstr (error->message, "drop-last discards every batch: epoch 1"));
    }
}

/* Whoever asks for the rule of one that is ready changes nothing. */
static void
test_rule (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_string (
      "check-source records=10 ! s.  check-source records=9 ! s.  stages name=s ! "
      "batch name=b size=4,3 drop-last=true ! null-sink",
      &error);
  DlpBatcher *batcher;
  DlpBatchRule rule;
  guint8 zeros[sizeof rule.reserved] = { 0 };

  memset (&rule, 0xff, sizeof rule);
  g_assert_no_error (error);
  dlp_pipeline_prepare (pipeline, NULL, &error);
  g_assert_no_error (error);
  batcher = DLP_BATCHER (dlp_pipeline_get_element (pipeline, "b"));
  g_assert_true (dlp_batcher_get_rule (batcher, 1, &rule, &error));
  g_assert_cmpuint (rule.size, ==, 3);
  g_assert_true (rule.drop_last);
  g_assert_true (rule.cut_at_epoch);
  g_assert_false (rule.across_stages);
  g_assert_cmpmem (rule.reserved, sizeof rule.reserved, zeros, sizeof zeros);
  dlp_pipeline_run (pipeline, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (get_counter (pipeline, "b", "batches"), ==, 5);
  g_assert_cmpuint (get_counter (pipeline, "b", "dropped-short-records"), ==, 2);
}

/* A record that says that it is of a stage that there is none of. */
static void
test_stage_of_record (void)
{
  const char *name = "text";
  DlpFieldType type = DLP_FIELD_STRING;
  g_autoptr (DlpSchema) schema = dlp_schema_new (DLP_SCHEMA_RECORDS, 1, &name, &type, NULL);
  g_autoptr (DlpRecordBatchBuilder) builder = dlp_record_batch_builder_new (schema);
  DlpCoordinate at = { .stage = 9, .file = 1, .row = 3 };
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpRecordBatch) batch = NULL;
  g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_string (
      "app-source name=in keep-coordinates=true schema=text:string ! s.  app-source name=more "
      "schema=text:string ! s.  stages name=s ! batch size=2,3 ! null-sink",
      &error);
  DlpAppSource *in;

  g_assert_no_error (error);
  dlp_pipeline_prepare (pipeline, NULL, &error);
  g_assert_no_error (error);
  in = DLP_APP_SOURCE (dlp_pipeline_get_element (pipeline, "in"));
  dlp_record_batch_builder_append_value (builder, 0, "x", 1);
  dlp_record_batch_builder_end_record (builder, &at);
  batch = dlp_record_batch_builder_finish (builder, &error);
  g_assert_true (dlp_app_source_push (in, batch, NULL, NULL, &error));
  dlp_app_source_end (in);
  dlp_app_source_end (DLP_APP_SOURCE (dlp_pipeline_get_element (pipeline, "more")));
  dlp_pipeline_run (pipeline, NULL, &error);
  g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_RANGE);
  g_assert_nonnull (strstr (error->message, "file 1 row 3 says that it is of stage 9"));
}

static const char *const graphs[] = {
  "check-source records=31 ! batch size=4 ! check-sink name=k",
  "check-source records=40 tokens=true ! batch size=3 rank=1 world-size=3 ! check-sink name=k",
  "check-source records=20 ! m.  check-source records=15 ! m.  mix name=m ! shuffle size=7 "
  "! batch size=5 drop-last=true rank=0 world-size=2 ! tee name=t ! check-sink name=k  "
  "t. ! check-sink name=other",
  "check-source records=24 ! batch size=4 ! batch rank=1 world-size=2 ! check-sink name=k",
};

static void
test_resume (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (graphs); i++)
    {
      dlp_harness_check_resume (graphs[i], 1);
      for (guint n = 0; n < dlp_harness_scale (6); n++)
        dlp_harness_check_resume (graphs[i], 0);
    }
}

static void
test_marks (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (graphs); i++)
    dlp_check_marks (graphs[i]);
}

static void
test_stress (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (graphs); i++)
    dlp_harness_check_settings (graphs[i]);
}

static void
test_kill (void)
{
  dlp_check_kill (graphs[2], dlp_harness_scale (4));
}

static void
test_golden (void)
{
  dlp_harness_check_golden (
      "check-source records=21 ! batch size=3 rank=1 world-size=2 ! check-sink name=k", GOLDEN);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  g_test_add_func ("/batch/golden", test_golden);
  g_test_add_func ("/batch/settings", test_settings);
  g_test_add_func ("/batch/dropped", test_dropped);
  g_test_add_func ("/batch/epochs", test_epochs);
  g_test_add_func ("/batch/rule", test_rule);
  g_test_add_func ("/batch/stage-of-record", test_stage_of_record);
  g_test_add_func ("/batch/resume", test_resume);
  g_test_add_func ("/batch/marks", test_marks);
  g_test_add_func ("/batch/stress", test_stress);
  g_test_add_func ("/batch/kill", test_kill);
  return g_test_run ();
}
