/* SPDX-License-Identifier: MIT */

/* The state folder as programs meet it: continued from itself alone, locked, refused, fallen back.
 */

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include <dlp-harness.h>
#include <dlpipe/dlp-plugin.h>

/* ---- a source that gives less when it is asked again ---- */

static guint64 n_given = 100;

typedef struct
{
  DlpSource parent_instance;

  guint64 next;
} FickleSource;

typedef DlpSourceClass FickleSourceClass;

GType fickle_source_get_type (void);

G_DEFINE_TYPE (FickleSource, fickle_source, DLP_TYPE_SOURCE)

static gboolean
fickle_source_negotiate (DlpElement *element, GError **error)
{
  const char *names[] = { "number" };
  const DlpFieldType types[] = { DLP_FIELD_UINT64 };
  g_autoptr (DlpSchema) schema = dlp_schema_new (DLP_SCHEMA_RECORDS, 1, names, types, NULL);

  dlp_pad_set_schema (dlp_element_get_output (element, 0), schema);
  return TRUE;
}

static DlpStep
fickle_source_produce (DlpSource *source, DlpPad *out, GCancellable *cancellable, GError **error)
{
  FickleSource *self = (FickleSource *) source;
  const DlpCoordinate at = { .row = self->next };

  if (self->next >= n_given)
    return DLP_STEP_END;
  dlp_record_batch_builder_append_uint64 (dlp_pad_get_builder (out), 0, self->next++);
  dlp_pad_end_record (out, &at);
  return DLP_STEP_MORE;
}

static DlpState *
fickle_source_save (DlpElement *element)
{
  return dlp_state_new (&((FickleSource *) element)->next, sizeof (guint64));
}

static GVariant *
fickle_source_describe (DlpElement *element, const DlpState *state)
{
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "next", "t", *(const guint64 *) dlp_state_get_data (state));
  return g_variant_dict_end (&dict);
}

static gboolean
fickle_source_load (DlpElement *element, GVariant *described, guint version, GError **error)
{
  return dlp_state_get_uint64 (described, "next", G_MAXUINT64, &((FickleSource *) element)->next,
                               error);
}

static void
fickle_source_class_init (FickleSourceClass *klass)
{
  DLP_ELEMENT_CLASS (klass)->negotiate = fickle_source_negotiate;
  DLP_ELEMENT_CLASS (klass)->save = fickle_source_save;
  DLP_ELEMENT_CLASS (klass)->describe = fickle_source_describe;
  DLP_ELEMENT_CLASS (klass)->load = fickle_source_load;
  klass->produce = fickle_source_produce;
}

static void
fickle_source_init (FickleSource *self)
{
}

static const char *const graph =
    "check-source name=s records=300 ! shuffle name=h size=20 ! check-sink name=k";

static DlpPipeline *
make (const char *text, const char *folder)
{
  g_autoptr (GError) error = NULL;
  DlpPipeline *pipeline = dlp_pipeline_new_from_string (text, &error);

  g_assert_no_error (error);
  g_object_set (pipeline, "state-dir", folder, "batch-records", 7, "link-batches", 1, NULL);
  return pipeline;
}

static char *
make_folder (void)
{
  char *folder = g_build_filename (g_get_tmp_dir (), "dlpipe-state-XXXXXX", NULL);

  g_assert_nonnull (g_mkdtemp (folder));
  dlp_check_sink_clear ();
  return folder;
}

static void
remove_folder (const char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *file = g_build_filename (path, name, NULL);

      unlink (file);
    }
  rmdir (path);
}

static void
stop_after (DlpPipeline *pipeline, const char *n)
{
  g_autoptr (GError) error = NULL;

  dlp_check_sink_set_pipeline (pipeline);
  dlp_pipeline_set_property_text (pipeline, "k", "stop-after", n, &error);
  g_assert_no_error (error);
  g_assert_false (dlp_pipeline_run (pipeline, NULL, &error));
  g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED);
}

static void
assert_runs (DlpPipeline *pipeline)
{
  g_autoptr (GError) error = NULL;

  dlp_pipeline_run (pipeline, NULL, &error);
  g_assert_no_error (error);
}

static void
assert_refused (DlpPipeline *pipeline, int code, const char *const *parts)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (dlp_pipeline_run (pipeline, NULL, &error));
  g_assert_error (error, DLP_STATE_ERROR, code);
  for (; *parts != NULL; parts++)
    if (strstr (error->message, *parts) == NULL)
      g_error ("“%s” is not in: %s", *parts, error->message);
}

static void
assert_lines (GHashTable *expected)
{
  GPtrArray *want = g_hash_table_lookup (expected, "k");
  GPtrArray *got = dlp_check_sink_get_lines ("k");

  g_assert_cmpuint (got->len, ==, want->len);
  for (guint i = 0; i < want->len; i++)
    g_assert_cmpstr (g_ptr_array_index (got, i), ==, g_ptr_array_index (want, i));
}

/* The graph, the seed and all that was set come from the folder. */
static void
test_from_state (void)
{
  g_autoptr (GHashTable) expected = dlp_harness_expect (
      "check-source name=s records=300 variant=3 ! shuffle name=h size=20 ! check-sink name=k");
  g_autofree char *folder = make_folder ();
  g_autoptr (DlpPipeline) first = make (graph, folder);
  g_autoptr (DlpPipeline) second = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) report = NULL;
  guint64 seed;
  guint attempt;

  g_assert_true (dlp_pipeline_set_property_text (first, "s", "variant", "3", NULL));
  stop_after (first, "100");

  second = dlp_pipeline_new_from_state (folder, &error);
  g_assert_no_error (error);
  g_assert_true (dlp_pipeline_set_property_text (second, "k", "stop-after", "0", NULL));
  assert_runs (second);
  assert_lines (expected);
  report = dlp_pipeline_get_report (second);
  g_assert_true (g_variant_lookup (report, "attempt", "u", &attempt));
  g_assert_cmpuint (attempt, ==, 2);
  g_object_get (second, "seed", &seed, NULL);
  g_assert_cmpuint (seed, ==, 0);
  remove_folder (folder);

  g_assert_null (dlp_pipeline_new_from_state (folder, &error));
  g_assert_nonnull (error);
}

/* Totals are those of all attempts. */
static void
test_totals (void)
{
  g_autofree char *folder = make_folder ();
  g_autoptr (DlpPipeline) first = make (graph, folder);
  g_autoptr (DlpPipeline) second = make (graph, folder);
  g_autoptr (GVariant) report = NULL;
  double elapsed, attempt;
  guint64 records;

  stop_after (first, "100");
  assert_runs (second);
  report = dlp_pipeline_get_report (second);
  g_assert_true (g_variant_lookup (report, "records", "t", &records));
  g_assert_true (g_variant_lookup (report, "elapsed", "d", &elapsed));
  g_assert_true (g_variant_lookup (report, "attempt-elapsed", "d", &attempt));
  g_assert_cmpuint (records, ==, 300);
  /* The time of the first attempt, up to its last checkpoint, is in it. */
  g_assert_cmpfloat (elapsed, >, attempt);
  remove_folder (folder);
}

static void
test_complete (void)
{
  g_autofree char *folder = make_folder ();

  for (guint i = 0; i < 3; i++)
    {
      g_autoptr (DlpPipeline) pipeline = make (graph, folder);
      double fraction;
      guint64 records;

      assert_runs (pipeline);
      g_assert_true (dlp_pipeline_is_complete (pipeline));
      g_object_get (pipeline, "fraction", &fraction, "records", &records, NULL);
      g_assert_cmpfloat (fraction, ==, 1.0);
      g_assert_cmpuint (records, ==, 300);
      g_assert_cmpuint (dlp_check_sink_get_lines ("k")->len, ==, 300);
      /* What is behind is not written again. */
      g_ptr_array_add (dlp_check_sink_get_lines ("k"), g_strdup ("mine"));
      g_ptr_array_set_size (dlp_check_sink_get_lines ("k"), 300);
    }
  remove_folder (folder);
}

static void
test_locked (void)
{
  static const char *const parts[] = { "in use by another run", NULL };
  g_autofree char *folder = make_folder ();
  g_autoptr (DlpPipeline) first = make (graph, folder);
  g_autoptr (DlpPipeline) second = make (graph, folder);
  g_autoptr (DlpPipeline) third = make (graph, folder);

  g_assert_true (dlp_pipeline_prepare (first, NULL, NULL));
  assert_refused (second, DLP_STATE_ERROR_LOCKED, parts);
  assert_runs (first);
  /* Its run is over, the object is still there. */
  assert_runs (third);
  remove_folder (folder);
}

static void
test_changed (void)
{
  static const struct
  {
    const char *graph;
    const char *parts[4];
  } cases[] = {
    { "check-source name=s records=301 ! shuffle name=h size=20 ! check-sink name=k",
      { "s: property “records”", "“300”", "“301”", NULL } },
    { "check-source name=s records=300 ! shuffle name=h size=21 ! check-sink name=k",
      { "h: property “size”", "“20”", "“21”", NULL } },
    { "check-source name=s records=300 ! shuffle name=g size=20 ! check-sink name=k",
      { "“g”", "none of that name", NULL } },
    { "check-source name=s records=300 ! limit name=h records=20 ! check-sink name=k",
      { "“h” of kind limit", "kind shuffle", NULL } },
    { "check-source name=s records=300 ! check-sink name=k", { "k: its inputs came from", NULL } },
    { "check-source name=s records=300 ! tee name=t ! shuffle name=h size=20 ! check-sink name=k  "
      "t. ! null-sink",
      { "“t” of kind tee", "none of that name", NULL } },
  };
  g_autofree char *folder = make_folder ();
  g_autoptr (DlpPipeline) first = make (graph, folder);

  stop_after (first, "100");
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (DlpPipeline) pipeline = make (cases[i].graph, folder);

      assert_refused (pipeline, DLP_STATE_ERROR_CHANGED, cases[i].parts);
    }
  {
    static const char *const parts[] = { "seed was 0", "is 5", NULL };
    g_autoptr (DlpPipeline) pipeline = make (graph, folder);

    g_object_set (pipeline, "seed", G_GUINT64_CONSTANT (5), NULL);
    assert_refused (pipeline, DLP_STATE_ERROR_CHANGED, parts);
  }
  {
    /* What is free may change. */
    g_autoptr (DlpPipeline) pipeline = make (graph, folder);

    g_object_set (pipeline, "workers", 3, "runner", DLP_RUNNER_SEQUENTIAL, NULL);
    assert_runs (pipeline);
  }
  remove_folder (folder);
}

/* (element-type utf8): checkpoints, the newest first. */
static GPtrArray *
list_checkpoints (const char *folder)
{
  GPtrArray *files = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 1000; i > 0; i--)
    {
      char *file = g_strdup_printf ("%s/checkpoint-%u", folder, i);

      if (access (file, F_OK) == 0)
        g_ptr_array_add (files, file);
      else
        g_free (file);
    }
  return files;
}

static void
damage (const char *path)
{
  g_autofree char *data = NULL;
  gsize size;

  g_assert_true (g_file_get_contents (path, &data, &size, NULL));
  data[g_test_rand_int_range (0, (gint32) size)] ^= (char) (1 << g_test_rand_int_range (0, 8));
  g_assert_true (g_file_set_contents (path, data, (gssize) size, NULL));
}

static void
test_corrupt (void)
{
  static const char *const parts[] = { "checkpoint-", NULL };
  g_autoptr (GHashTable) expected = dlp_harness_expect (graph);

  for (guint i = 0; i < dlp_harness_scale (20); i++)
    {
      g_autofree char *folder = make_folder ();
      g_autoptr (DlpPipeline) first = make (graph, folder);
      g_autoptr (DlpPipeline) middle = make (graph, folder);
      g_autoptr (DlpPipeline) second = make (graph, folder);
      g_autoptr (GPtrArray) files = NULL;
      g_autofree char *json = NULL;

      /* A short run may stop before its first checkpoint, and write only its last. */
      stop_after (first, "60");
      stop_after (middle, "60");
      files = list_checkpoints (folder);
      g_assert_cmpuint (files->len, ==, 2);
      damage (g_ptr_array_index (files, 0));
      if (i % 4 == 3)
        {
          damage (g_ptr_array_index (files, 1));
          assert_refused (second, DLP_STATE_ERROR_CORRUPT, parts);
        }
      else
        {
          assert_runs (second);
          assert_lines (expected);
          json = dlp_pipeline_get_report_json (second);
          g_assert_nonnull (strstr (json, "going on from checkpoint-"));
        }
      remove_folder (folder);
    }
}

static void
test_restart (void)
{
  g_autoptr (GHashTable) expected = dlp_harness_expect (graph);
  g_autofree char *folder = make_folder ();
  g_autoptr (DlpPipeline) first = make (graph, folder);
  g_autoptr (DlpPipeline) second = make (graph, folder);

  g_object_set (first, "seed", G_GUINT64_CONSTANT (9), NULL);
  stop_after (first, "100");
  dlp_check_sink_clear ();
  g_object_set (second, "restart", TRUE, "seed", G_GUINT64_CONSTANT (0), NULL);
  assert_runs (second);
  assert_lines (expected);
  remove_folder (folder);
}

/* A source that does not make again what was consumed, or held, is no end. */
static void
test_shrunk (void)
{
  static const char *const graphs[] = {
    "fickle-source name=s ! check-sink name=k",
    "fickle-source name=s ! shuffle size=20 ! check-sink name=k",
  };

  for (guint i = 0; i < G_N_ELEMENTS (graphs); i++)
    for (guint64 n = 1; n < 30; n += 7)
      {
        g_autofree char *folder = make_folder ();
        g_autoptr (DlpPipeline) first = make (graphs[i], folder);
        g_autoptr (DlpPipeline) second = make (graphs[i], folder);
        g_autoptr (GError) error = NULL;

        n_given = 100;
        stop_after (first, "30");
        n_given = n;
        g_assert_false (dlp_pipeline_run (second, NULL, &error));
        g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_CHANGED);
        g_assert_nonnull (strstr (error->message, "not what it was"));
        remove_folder (folder);
      }
}

/* How it ended is what the folder says of it. */
static void
test_status_json (void)
{
  g_autofree char *folder = make_folder ();
  g_autofree char *path = g_build_filename (folder, "status.json", NULL);
  g_autofree char *stopped = NULL;
  g_autofree char *finished = NULL;
  g_autoptr (DlpPipeline) first = make (graph, folder);
  g_autoptr (DlpPipeline) second = make (graph, folder);

  stop_after (first, "100");
  g_assert_true (g_file_get_contents (path, &stopped, NULL, NULL));
  g_assert_nonnull (strstr (stopped, "\"status\": \"stopped\""));
  assert_runs (second);
  g_assert_true (g_file_get_contents (path, &finished, NULL, NULL));
  g_assert_nonnull (strstr (finished, "\"status\": \"finished\""));
  remove_folder (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  g_assert_true (dlp_registry_add_element ("fickle-source", fickle_source_get_type (), NULL));
  /* That a checkpoint was passed over is a warning. */
  g_log_set_always_fatal ((GLogLevelFlags) (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL));
  g_test_add_func ("/pipeline-state/from-state", test_from_state);
  g_test_add_func ("/pipeline-state/totals", test_totals);
  g_test_add_func ("/pipeline-state/complete", test_complete);
  g_test_add_func ("/pipeline-state/locked", test_locked);
  g_test_add_func ("/pipeline-state/changed", test_changed);
  g_test_add_func ("/pipeline-state/corrupt", test_corrupt);
  g_test_add_func ("/pipeline-state/restart", test_restart);
  g_test_add_func ("/pipeline-state/shrunk", test_shrunk);
  g_test_add_func ("/pipeline-state/status-json", test_status_json);
  return g_test_run ();
}
