/* SPDX-License-Identifier: MIT */

#include "dlp-harness.h"

#include <dlpipe/dlp-plugin.h>
#include <glib/gstdio.h>

/* Replays and stops are announced a thousand times; what is worse than a message is shown. */
static GLogWriterOutput
write_log (GLogLevelFlags level, const GLogField *fields, gsize n_fields, gpointer data)
{
  if (level & (G_LOG_LEVEL_MESSAGE | G_LOG_LEVEL_INFO | G_LOG_LEVEL_DEBUG))
    return G_LOG_WRITER_HANDLED;
  return g_log_writer_default (level, fields, n_fields, data);
}

void
dlp_harness_init (void)
{
  g_autoptr (GError) error = NULL;

  g_log_set_writer_func (write_log, NULL, NULL);
  dlp_registry_add_element ("check-source", DLP_TYPE_CHECK_SOURCE, &error);
  g_assert_no_error (error);
  dlp_registry_add_element ("check-sink", DLP_TYPE_CHECK_SINK, &error);
  g_assert_no_error (error);
}

guint
dlp_harness_scale (guint n)
{
  const char *text = g_getenv ("DLPIPE_TEST_SCALE");
  double scale = text != NULL ? g_ascii_strtod (text, NULL) : 1.0;

  return MAX ((guint) (n * scale), 1);
}

static DlpPipeline *
make (const char *graph, const DlpHarnessSettings *settings, GError **error)
{
  DlpPipeline *pipeline = dlp_pipeline_new_from_string (graph, error);

  if (pipeline == NULL)
    return NULL;
  if (settings != NULL)
    g_object_set (pipeline, "runner", settings->runner, "workers", settings->workers,
                  "batch-records", settings->batch_records, "random-yields",
                  settings->random_yields, "seed", settings->seed, NULL);
  if (settings != NULL && settings->link_batches > 0)
    g_object_set (pipeline, "link-batches", settings->link_batches, NULL);
  dlp_check_sink_set_pipeline (pipeline);
  return pipeline;
}

gboolean
dlp_harness_run (const char *graph, const DlpHarnessSettings *settings, GError **error)
{
  g_autoptr (DlpPipeline) pipeline = NULL;

  dlp_check_sink_clear ();
  pipeline = make (graph, settings, error);
  return pipeline != NULL && dlp_pipeline_run (pipeline, NULL, error);
}

static void
copy_sinks (DlpPipeline *pipeline, GHashTable *to)
{
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (pipeline)); i++)
    {
      g_autoptr (DlpElement) element = g_list_model_get_item (G_LIST_MODEL (pipeline), i);
      GPtrArray *lines;
      GPtrArray *copy;

      if (!DLP_IS_CHECK_SINK (element))
        continue;
      lines = dlp_check_sink_get_lines (dlp_element_get_name (element));
      copy = g_ptr_array_new_with_free_func (g_free);
      for (guint k = 0; k < lines->len; k++)
        g_ptr_array_add (copy, g_strdup (g_ptr_array_index (lines, k)));
      g_hash_table_insert (to, g_strdup (dlp_element_get_name (element)), copy);
    }
}

static DlpElement *
get_element (DlpPipeline *pipeline, guint i)
{
  g_autoptr (DlpElement) element = g_list_model_get_item (G_LIST_MODEL (pipeline), i);

  /* The pipeline keeps it. */
  return element;
}

static DlpElement *
find_consumer (DlpPipeline *pipeline, DlpPad *output)
{
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (pipeline)); i++)
    for (guint k = 0; k < dlp_element_get_n_inputs (get_element (pipeline, i)); k++)
      if (dlp_element_get_input (get_element (pipeline, i), k) == dlp_pad_get_peer (output))
        return get_element (pipeline, i);
  return NULL;
}

static gboolean
is_ahead (DlpPipeline *pipeline, DlpElement *element, GHashTable *ahead)
{
  for (guint i = 0; i < dlp_element_get_n_outputs (element); i++)
    {
      DlpPad *pad = dlp_element_get_output (element, i);

      if (dlp_pad_is_linked (pad) && (dlp_pad_is_unwanted (pad) ||
                                      g_hash_table_contains (ahead, find_consumer (pipeline, pad))))
        return TRUE;
    }
  return FALSE;
}

/* (transfer full): set of the elements before one that closed its input early. How far they ran
 * ahead of it by then is a matter of time. */
static GHashTable *
find_ahead (DlpPipeline *pipeline)
{
  GHashTable *ahead = g_hash_table_new (NULL, NULL);
  guint n;

  do
    {
      n = g_hash_table_size (ahead);
      for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (pipeline)); i++)
        if (is_ahead (pipeline, get_element (pipeline, i), ahead))
          g_hash_table_add (ahead, get_element (pipeline, i));
    }
  while (g_hash_table_size (ahead) > n);
  return ahead;
}

/* (transfer full): a{sv}, by name, what each element says of itself in a report. @but: (nullable):
 * set of those left out. */
static GVariant *
get_states (DlpPipeline *pipeline, GHashTable *but)
{
  g_autoptr (GVariant) report = dlp_pipeline_get_report (pipeline);
  g_autoptr (GVariant) elements =
      g_variant_lookup_value (report, "elements", G_VARIANT_TYPE ("aa{sv}"));
  g_auto (GVariantDict) states = G_VARIANT_DICT_INIT (NULL);
  GVariantIter iter;
  GVariant *element;
  guint n = 0;

  g_assert_nonnull (elements);
  g_variant_iter_init (&iter, elements);
  while ((element = g_variant_iter_next_value (&iter)) != NULL)
    {
      g_autoptr (GVariant) state = g_variant_lookup_value (element, "state", NULL);
      const char *name;

      g_assert_true (g_variant_lookup (element, "name", "&s", &name));
      if (state != NULL && (but == NULL || !g_hash_table_contains (but, get_element (pipeline, n))))
        g_variant_dict_insert_value (&states, name, state);
      g_variant_unref (element);
      n++;
    }
  return g_variant_ref_sink (g_variant_dict_end (&states));
}

/* What is counted is part of the result: that of a run in pieces is that of an undisturbed one. */
static void
compare_states (GVariant *expected, GVariant *got)
{
  GVariantIter iter;
  const char *name;
  GVariant *want;

  g_assert_cmpuint (g_variant_n_children (expected), >, 0);
  g_variant_iter_init (&iter, expected);
  while (g_variant_iter_next (&iter, "{&sv}", &name, &want))
    {
      g_autoptr (GVariant) have = g_variant_lookup_value (got, name, NULL);

      if (have == NULL || !g_variant_equal (want, have))
        {
          g_autofree char *before = g_variant_print (want, FALSE);
          g_autofree char *after = have != NULL ? g_variant_print (have, FALSE) : g_strdup ("none");

          g_error ("resumed: the state of %s is at the end\n%s, undisturbed\n%s", name, after,
                   before);
        }
      g_variant_unref (want);
    }
}

static GHashTable *
expect (const char *graph, GVariant **states)
{
  GHashTable *expected =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_ptr_array_unref);
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPipeline) pipeline = NULL;

  dlp_check_sink_clear ();
  pipeline = make (graph, NULL, &error);
  g_assert_no_error (error);
  dlp_pipeline_run (pipeline, NULL, &error);
  g_assert_no_error (error);
  copy_sinks (pipeline, expected);
  g_assert_cmpuint (g_hash_table_size (expected), >, 0);
  if (states != NULL)
    {
      g_autoptr (GHashTable) ahead = find_ahead (pipeline);

      *states = get_states (pipeline, ahead);
    }
  return expected;
}

GHashTable *
dlp_harness_expect (const char *graph)
{
  return expect (graph, NULL);
}

static void
compare (GHashTable *expected, const char *what)
{
  GHashTableIter iter;
  gpointer name, value;

  g_hash_table_iter_init (&iter, expected);
  while (g_hash_table_iter_next (&iter, &name, &value))
    {
      GPtrArray *want = value;
      GPtrArray *got = dlp_check_sink_get_lines (name);

      for (guint i = 0; i < MIN (want->len, got->len); i++)
        if (g_strcmp0 (g_ptr_array_index (want, i), g_ptr_array_index (got, i)) != 0)
          g_error ("%s: sink %s, record %u:\nexpected %s\ngot      %s", what, (char *) name, i,
                   (char *) g_ptr_array_index (want, i), (char *) g_ptr_array_index (got, i));
      if (want->len != got->len)
        g_error ("%s: sink %s got %u records, not %u", what, (char *) name, got->len, want->len);
    }
}

static void
remove_folder (const char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *file = g_build_filename (path, name, NULL);

      g_unlink (file);
    }
  g_rmdir (path);
}

/* Where an fsync costs nothing, if there is such a place. */
static char *
make_folder (void)
{
  g_autofree char *template = g_build_filename (
      g_file_test ("/dev/shm", G_FILE_TEST_IS_DIR) ? "/dev/shm" : g_get_tmp_dir (),
      "dlpipe-test-XXXXXX", NULL);

  g_assert_nonnull (g_mkdtemp (template));
  return g_steal_pointer (&template);
}

/* (transfer full) (nullable): one attempt; the states at the end of the run, if it is complete. */
static GVariant *
attempt (const char *graph, const char *folder, guint stop_after, guint batch_records)
{
  DlpHarnessSettings settings = { .batch_records = batch_records, .workers = 2 };
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPipeline) pipeline = make (graph, &settings, &error);
  g_autofree char *after = g_strdup_printf ("%u", stop_after);

  g_assert_no_error (error);
  g_object_set (pipeline, "state-dir", folder, NULL);
  dlp_pipeline_set_property_text (pipeline, "k", "stop-after", after, &error);
  g_assert_no_error (error);
  if (dlp_pipeline_run (pipeline, NULL, &error))
    return get_states (pipeline, NULL);
  g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED);
  return NULL;
}

/* (transfer full): the states at the end. */
static GVariant *
run_in_pieces (const char *graph, guint stride, guint *n_attempts)
{
  g_autofree char *folder = make_folder ();
  GVariant *states;
  guint n = 1;

  dlp_check_sink_clear ();
  while (
      (states = attempt (graph, folder, stride > 0 ? stride : (guint) g_test_rand_int_range (1, 6),
                         stride > 0 ? 1 : (guint) g_test_rand_int_range (1, 9))) == NULL)
    {
      n++;
      g_assert_cmpuint (n, <, 10 * dlp_check_sink_get_lines ("k")->len + 100);
    }
  remove_folder (folder);
  *n_attempts = n;
  return states;
}

guint
dlp_harness_run_in_pieces (const char *graph, guint stride)
{
  guint n;

  g_variant_unref (run_in_pieces (graph, stride, &n));
  return n;
}

guint
dlp_harness_check_resume (const char *graph, guint stride)
{
  g_autoptr (GVariant) expected_states = NULL;
  g_autoptr (GHashTable) expected = expect (graph, &expected_states);
  g_autoptr (GVariant) states = NULL;
  guint n;

  states = run_in_pieces (graph, stride, &n);
  compare (expected, "resumed");
  compare_states (expected_states, states);
  return n;
}

void
dlp_harness_check_settings (const char *graph)
{
  static const DlpRunnerKind runners[] = { DLP_RUNNER_SEQUENTIAL, DLP_RUNNER_THREADS,
                                           DLP_RUNNER_POOL };
  static const guint workers[] = { 1, 2, 7 };
  static const guint links[] = { 1, 64 };
  static const guint records[] = { 1, 1024 };
  g_autoptr (GHashTable) expected = dlp_harness_expect (graph);

  for (guint r = 0; r < G_N_ELEMENTS (runners); r++)
    for (guint w = 0; w < G_N_ELEMENTS (workers); w++)
      for (guint l = 0; l < G_N_ELEMENTS (links); l++)
        for (guint b = 0; b < G_N_ELEMENTS (records); b++)
          for (guint y = 0; y < 2; y++)
            {
              DlpHarnessSettings settings = { runners[r], workers[w], links[l],
                                              records[b], y == 1,     0 };
              g_autofree char *what = g_strdup_printf (
                  "runner %u, %u workers, links of %u, record batches of %u, yields %u", runners[r],
                  workers[w], links[l], records[b], y);
              g_autoptr (GError) error = NULL;

              dlp_harness_run (graph, &settings, &error);
              g_assert_no_error (error);
              compare (expected, what);
            }
}

void
dlp_harness_check_golden (const char *graph, const char *path)
{
  g_autoptr (GHashTable) got = dlp_harness_expect (graph);
  GPtrArray *lines = g_hash_table_lookup (got, "k");
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *want = NULL;
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < lines->len; i++)
    g_string_append_printf (text, "%s\n", (char *) g_ptr_array_index (lines, i));
  if (g_getenv ("DLPIPE_UPDATE_GOLDEN") != NULL)
    {
      g_file_set_contents (path, text->str, text->len, &error);
      g_assert_no_error (error);
      return;
    }
  g_file_get_contents (path, &want, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (text->str, ==, want);
}
