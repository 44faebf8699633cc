/* SPDX-License-Identifier: MIT */

/* A trainer: it saves the state of its pipeline with its own, dies, and goes on from there. */

#include <string.h>

#include "app-rig.h"

static const char *const graph =
    "check-source name=s records=1000 ! shuffle size=30 ! tee name=t ! app-sink name=out  "
    "t. ! null-sink name=n";

static void
rig_from_state (AppRig *rig, DlpCheckpoint *state, DlpRunnerKind runner)
{
  g_autoptr (GError) error = NULL;

  *rig = (AppRig){ NULL };
  rig->pipeline = dlp_pipeline_new_from_checkpoint (state, &error);
  g_assert_no_error (error);
  g_object_set (rig->pipeline, "runner", runner, NULL);
  dlp_pipeline_prepare (rig->pipeline, NULL, &error);
  g_assert_no_error (error);
  rig->in = (DlpAppSource *) dlp_pipeline_get_element (rig->pipeline, "in");
  rig->out = (DlpAppSink *) dlp_pipeline_get_element (rig->pipeline, "out");
}

/* Through each of the forms in which a program may keep it, in turn. */
static DlpCheckpoint *
save (AppRig *rig)
{
  static guint n;
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpCheckpoint) state = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GVariant) value = NULL;
  g_autofree char *json = NULL;
  DlpCheckpoint *again;

  state = dlp_pipeline_get_state (rig->pipeline, DLP_APP_SINK_STATE_EXACT, NULL, &error);
  g_assert_no_error (error);
  bytes = dlp_checkpoint_to_bytes (state);
  value = dlp_checkpoint_to_variant (state);
  json = dlp_checkpoint_to_json (state);
  again = n % 3 == 0 ? dlp_checkpoint_new_from_bytes (bytes, &error) :
          n % 3 == 1 ? dlp_checkpoint_new_from_variant (value, &error) :
                       dlp_checkpoint_new_from_json (json, &error);
  n++;
  g_assert_no_error (error);
  return again;
}

/* Pulls @n records behind what is there. */
static void
train (AppRig *rig, guint n, GPtrArray *lines)
{
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (DlpRecordBatch) batch = dlp_app_sink_pull (rig->out, 1, NULL, NULL);

      if (batch == NULL)
        break;
      g_assert_cmpuint (dlp_record_batch_get_position (batch), ==, lines->len);
      app_add_lines (lines, batch);
    }
}

/* Everything that was done since the state was saved is done again, and comes to the same. */
static void
test_trainer (void)
{
  g_autoptr (GPtrArray) expected = app_expect (graph);
  g_autoptr (GPtrArray) lines = app_lines_new ();
  g_autoptr (DlpCheckpoint) state = NULL;
  DlpDigest digest, whole;
  AppRig rig;

  app_rig_init (&rig, graph, DLP_RUNNER_AUTO, NULL);
  app_rig_start (&rig);
  app_pull_all (rig.out, 0, lines);
  app_rig_join (&rig);
  dlp_sink_get_digest (DLP_SINK (rig.out), &whole);
  app_rig_clear (&rig);

  g_ptr_array_set_size (lines, 0);
  app_rig_init (&rig, graph, DLP_RUNNER_AUTO, NULL);
  app_rig_start (&rig);
  for (guint i = 0; lines->len < 900; i++)
    {
      guint saved;

      train (&rig, 1 + i * 7 % 50, lines);
      g_clear_pointer (&state, dlp_checkpoint_unref);
      state = save (&rig);
      saved = lines->len;
      train (&rig, i % 20, lines);
      dlp_pipeline_abort (rig.pipeline);
      app_rig_clear (&rig);
      g_ptr_array_set_size (lines, (int) saved);
      rig_from_state (&rig, state, DLP_RUNNER_THREADS + i % 3);
      app_rig_start (&rig);
    }
  app_pull_all (rig.out, 0, lines);
  app_assert_equal (lines, expected);
  app_rig_join (&rig);
  dlp_sink_get_digest (DLP_SINK (rig.out), &digest);
  g_assert_cmpmem (&digest, sizeof digest, &whole, sizeof whole);
  dlp_sink_get_digest (DLP_SINK (dlp_pipeline_get_element (rig.pipeline, "n")), &digest);
  g_assert_cmpmem (&digest, sizeof digest, &whole, sizeof whole);
  app_rig_finish (&rig);
}

static void
keep_result (GObject *source, GAsyncResult *result, gpointer data)
{
  *(GAsyncResult **) data = g_object_ref (result);
}

static void
test_async (void)
{
  g_autoptr (GPtrArray) lines = app_lines_new ();
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (DlpCheckpoint) state = NULL;
  g_autoptr (GError) error = NULL;
  AppRig rig;

  app_rig_init (&rig, graph, DLP_RUNNER_AUTO, NULL);
  app_rig_start (&rig);
  train (&rig, 10, lines);
  dlp_pipeline_get_state_async (rig.pipeline, DLP_APP_SINK_STATE_EXACT, NULL, keep_result, &result);
  while (result == NULL)
    g_main_context_iteration (NULL, TRUE);
  state = dlp_pipeline_get_state_finish (rig.pipeline, result, &error);
  g_assert_no_error (error);
  app_rig_stop (&rig);
  app_rig_clear (&rig);
  rig_from_state (&rig, state, DLP_RUNNER_AUTO);
  app_rig_start (&rig);
  train (&rig, 1, lines);
  app_rig_stop (&rig);
  app_rig_clear (&rig);
}

/* What is on its way to the program, whose callback was not called yet, was not given. */
static void
test_on_its_way (void)
{
  static const char *const text = "check-source records=3000 ! app-sink name=out max-batches=2";

  for (guint i = 0; i < 8; i++)
    {
      g_autoptr (GPtrArray) lines = app_lines_new ();
      g_autoptr (GAsyncResult) result = NULL;
      g_autoptr (DlpRecordBatch) batch = NULL;
      g_autoptr (DlpCheckpoint) state = NULL;
      AppRig rig;

      app_rig_init (&rig, text, DLP_RUNNER_THREADS + i % 3, NULL);
      app_rig_start (&rig);
      train (&rig, 5, lines);
      dlp_app_sink_pull_async (rig.out, i % 2 == 0 ? 0 : 2, NULL, keep_result, &result);
      g_usleep (3000);
      state = save (&rig);
      while (result == NULL)
        g_main_context_iteration (NULL, TRUE);
      batch = dlp_app_sink_pull_finish (rig.out, result, NULL);
      g_assert_cmpuint (dlp_record_batch_get_position (batch), ==, 5);
      app_rig_stop (&rig);
      app_rig_clear (&rig);

      rig_from_state (&rig, state, DLP_RUNNER_THREADS + i % 3);
      app_rig_start (&rig);
      train (&rig, 1, lines);
      app_rig_stop (&rig);
      app_rig_clear (&rig);
    }
}

/* The end of a run does not wait for long, and a state that is asked for then is that of the end.
 */
static gpointer
save_often (gpointer data)
{
  g_autoptr (GError) error = NULL;

  while (dlp_pipeline_get_status (data) <= DLP_PIPELINE_RUNNING)
    {
      g_autoptr (DlpCheckpoint) state =
          dlp_pipeline_get_state (data, DLP_APP_SINK_STATE_EXACT, NULL, &error);

      /* A little before its run begins it has none. */
      if (g_error_matches (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE) &&
          dlp_pipeline_get_status (data) < DLP_PIPELINE_RUNNING)
        g_clear_error (&error);
      g_assert_no_error (error);
    }
  return NULL;
}

static void
test_ends (void)
{
  for (guint i = 0; i < dlp_harness_scale (60); i++)
    {
      g_autoptr (GPtrArray) lines = app_lines_new ();
      GThread *thread;
      AppRig rig;

      app_rig_init (&rig, graph, DLP_RUNNER_THREADS + i % 3, NULL);
      app_rig_start (&rig);
      thread = g_thread_new ("save", save_often, rig.pipeline);
      train (&rig, (guint) g_random_int_range (0, 1000), lines);
      if (i % 4 == 0)
        dlp_pipeline_stop (rig.pipeline);
      else if (i % 4 == 1)
        dlp_pipeline_abort (rig.pipeline);
      else if (i % 4 == 2)
        dlp_app_sink_close (rig.out);
      else
        app_pull_all (rig.out, 0, lines);
      app_rig_join (&rig);
      g_thread_join (thread);
      app_rig_clear (&rig);
    }
}

/* The next record of a pipeline made from @state. */
static guint64
find_next (DlpCheckpoint *state, DlpRunnerKind runner)
{
  g_autoptr (DlpRecordBatch) batch = NULL;
  guint64 position;
  AppRig rig;

  rig_from_state (&rig, state, runner);
  app_rig_start (&rig);
  batch = dlp_app_sink_pull (rig.out, 1, NULL, NULL);
  position = batch != NULL ? dlp_record_batch_get_position (batch) : G_MAXUINT64;
  dlp_pipeline_abort (rig.pipeline);
  app_rig_clear (&rig);
  return position;
}

/* Whose run has begun: a thread of its own does that. */
static DlpCheckpoint *
get (AppRig *rig, DlpAppSinkState kind)
{
  g_autoptr (GError) error = NULL;
  DlpCheckpoint *state = dlp_pipeline_get_state (rig->pipeline, kind, NULL, &error);

  g_assert_no_error (error);
  return state;
}

static void
wait_until_running (AppRig *rig)
{
  while (dlp_pipeline_get_status (rig->pipeline) < DLP_PIPELINE_RUNNING)
    g_usleep (100);
}

/* However it ended: behind the last record that was pulled, also of one that went on itself. */
static void
test_after_end (void)
{
  for (guint i = 0; i < dlp_harness_scale (40); i++)
    {
      g_autoptr (GPtrArray) lines = app_lines_new ();
      g_autoptr (DlpCheckpoint) state = NULL;
      g_autoptr (DlpCheckpoint) again = NULL;
      guint n = (guint) g_random_int_range (0, 500);
      AppRig rig;

      app_rig_init (&rig, graph, DLP_RUNNER_THREADS + i % 3, NULL);
      app_rig_start (&rig);
      wait_until_running (&rig);
      train (&rig, n, lines);
      if (i % 2 == 0)
        dlp_pipeline_stop (rig.pipeline);
      else
        dlp_pipeline_abort (rig.pipeline);
      if (i % 4 < 2)
        app_rig_join (&rig);
      state = get (&rig, DLP_APP_SINK_STATE_EXACT);
      app_rig_clear (&rig);
      g_assert_cmpuint (find_next (state, DLP_RUNNER_THREADS + i % 3), ==, n);
      rig_from_state (&rig, state, DLP_RUNNER_AUTO);
      /* Nothing was done yet: it is what it was made from. */
      again = get (&rig, DLP_APP_SINK_STATE_EXACT);
      g_assert_cmpuint (find_next (again, DLP_RUNNER_AUTO), ==, n);
      app_rig_start (&rig);
      train (&rig, 7, lines);
      dlp_pipeline_abort (rig.pipeline);
      g_clear_pointer (&state, dlp_checkpoint_unref);
      state = get (&rig, DLP_APP_SINK_STATE_EXACT);
      app_rig_clear (&rig);
      g_assert_cmpuint (find_next (state, DLP_RUNNER_THREADS + i % 3), ==, n + 7);
    }
}

/* A reader that fails: what came before it was pulled, and is the state. */
static void
test_after_error (void)
{
  char *folder = app_make_folder ();
  g_autofree char *path = g_build_filename (folder, "a.jsonl", NULL);
  g_autofree char *text = g_strdup_printf (
      "file-source location=%s ! jsonl-reader on-bad-record=fail ! app-sink name=out", path);
  g_autoptr (GString) content = g_string_new (NULL);
  g_autoptr (GPtrArray) lines = app_lines_new ();
  g_autoptr (DlpCheckpoint) state = NULL;
  AppRig rig;

  for (guint i = 0; i < 100; i++)
    g_string_append_printf (content, i == 70 ? "{\"text\": \n" : "{\"text\": \"%u\"}\n", i);
  g_assert_true (g_file_set_contents (path, content->str, -1, NULL));
  app_rig_init (&rig, text, DLP_RUNNER_AUTO, NULL);
  app_rig_start (&rig);
  train (&rig, 100, lines);
  g_assert_cmpuint (lines->len, ==, 70);
  app_rig_join (&rig);
  g_assert_error (rig.error, DLP_DATA_ERROR, DLP_DATA_ERROR_BAD_RECORD);
  state = get (&rig, DLP_APP_SINK_STATE_EXACT);
  app_rig_clear (&rig);

  /* It fails again, at the same place, with nothing before it. */
  g_assert_cmpuint (find_next (state, DLP_RUNNER_AUTO), ==, G_MAXUINT64);
  app_remove_folder (folder);
}

/* A run that came to its end has nothing more. */
static void
test_complete (void)
{
  g_autoptr (GPtrArray) lines = app_lines_new ();
  g_autoptr (DlpCheckpoint) state = NULL;
  AppRig rig;

  app_rig_init (&rig, graph, DLP_RUNNER_AUTO, NULL);
  app_rig_start (&rig);
  app_pull_all (rig.out, 0, lines);
  app_rig_join (&rig);
  state = get (&rig, DLP_APP_SINK_STATE_EXACT);
  app_rig_clear (&rig);
  g_assert_cmpuint (find_next (state, DLP_RUNNER_AUTO), ==, G_MAXUINT64);
}

/* What is queued is skipped, and counted; all else is as it would have been. */
static void
test_approximate (void)
{
  static const char *const long_graph =
      "check-source records=20000 ! shuffle size=30 ! app-sink name=out max-batches=2";
  g_autoptr (GPtrArray) expected = app_expect (long_graph);
  bool any = false;

  for (guint i = 0; i < dlp_harness_scale (20); i++)
    {
      g_autoptr (GPtrArray) lines = app_lines_new ();
      g_autoptr (DlpCheckpoint) exact = NULL;
      g_autoptr (DlpCheckpoint) state = NULL;
      g_autoptr (DlpRecordBatch) batch = NULL;
      guint64 skipped;
      AppRig rig;

      app_rig_init (&rig, long_graph, DLP_RUNNER_THREADS + i % 3, NULL);
      app_rig_start (&rig);
      train (&rig, 1 + i * 7, lines);
      if (i % 2 == 0)
        g_usleep (1000);
      if (i % 5 == 4)
        dlp_pipeline_stop (rig.pipeline);
      state = get (&rig, DLP_APP_SINK_STATE_APPROXIMATE);
      exact = get (&rig, DLP_APP_SINK_STATE_EXACT);
      dlp_pipeline_abort (rig.pipeline);
      app_rig_clear (&rig);
      g_assert_cmpuint (dlp_checkpoint_get_n_skipped (exact), ==, 0);
      g_assert_cmpuint (find_next (exact, DLP_RUNNER_AUTO), ==, lines->len);
      skipped = dlp_checkpoint_get_n_skipped (state);
      any |= skipped > 0;
      rig_from_state (&rig, state, DLP_RUNNER_AUTO);
      app_rig_start (&rig);
      g_ptr_array_set_size (lines, 0);
      batch = dlp_app_sink_pull (rig.out, 1, NULL, NULL);
      g_assert_cmpuint (dlp_record_batch_get_position (batch), ==, 1 + i * 7 + skipped);
      app_add_lines (lines, batch);
      g_assert_cmpstr (lines->pdata[0], ==, expected->pdata[1 + i * 7 + skipped]);
      dlp_pipeline_abort (rig.pipeline);
      app_rig_clear (&rig);
    }
  g_assert_true (any);
}

/* ---- counts that contradict one another ---- */

/* (transfer full): the element, with one more of @key. */
static GVariant *
add_one (GVariant *element, const char *key)
{
  g_auto (GVariantDict) dict = G_VARIANT_DICT_INIT (element);
  g_auto (GVariantDict) inner = { 0 };
  g_autoptr (GVariant) said = g_variant_dict_lookup_value (&dict, "state", G_VARIANT_TYPE_VARDICT);
  g_autoptr (GVariant) value = g_variant_lookup_value (said, key, NULL);

  g_variant_dict_init (&inner, said);
  if (g_variant_is_of_type (value, G_VARIANT_TYPE_UINT64))
    g_variant_dict_insert (&inner, key, "t", g_variant_get_uint64 (value) + 1);
  else
    {
      gsize n;
      const guint64 *values = g_variant_get_fixed_array (value, &n, sizeof *values);
      g_autofree guint64 *changed = g_memdup2 (values, n * sizeof *values);

      changed[0]++;
      g_variant_dict_insert_value (
          &inner, key,
          g_variant_new_fixed_array (G_VARIANT_TYPE_UINT64, changed, n, sizeof *changed));
    }
  g_variant_dict_insert_value (&dict, "state", g_variant_dict_end (&inner));
  return g_variant_ref_sink (g_variant_dict_end (&dict));
}

static DlpCheckpoint *
change (DlpCheckpoint *state, const char *name, const char *key)
{
  g_autoptr (GVariant) value = dlp_checkpoint_to_variant (state);
  g_auto (GVariantDict) dict = G_VARIANT_DICT_INIT (value);
  g_autoptr (GVariant) elements =
      g_variant_dict_lookup_value (&dict, "elements", G_VARIANT_TYPE ("aa{sv}"));
  g_autoptr (GVariant) changed = NULL;
  g_autoptr (GError) error = NULL;
  DlpCheckpoint *made;
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("aa{sv}"));
  for (gsize i = 0; i < g_variant_n_children (elements); i++)
    {
      g_autoptr (GVariant) element = g_variant_get_child_value (elements, i);
      g_autoptr (GVariant) with = NULL;
      const char *known;

      g_assert_true (g_variant_lookup (element, "name", "&s", &known));
      if (strcmp (known, name) == 0)
        with = add_one (element, key);
      g_variant_builder_add_value (&builder, with != NULL ? with : element);
    }
  g_variant_dict_insert_value (&dict, "elements", g_variant_builder_end (&builder));
  changed = g_variant_ref_sink (g_variant_dict_end (&dict));
  made = dlp_checkpoint_new_from_variant (changed, &error);
  g_assert_no_error (error);
  return made;
}

static void
assert_contradicts (const char *text, const char *key, const char *part)
{
  g_autoptr (GPtrArray) lines = app_lines_new ();
  g_autoptr (DlpCheckpoint) state = NULL;
  g_autoptr (DlpCheckpoint) changed = NULL;
  g_autoptr (DlpPipeline) pipeline = NULL;
  g_autoptr (GError) error = NULL;
  AppRig rig;

  /* A mark for each step, so that the state is not that of before the first record. */
  rig = (AppRig){ .pipeline = dlp_pipeline_new_from_string (text, &error) };
  g_assert_no_error (error);
  g_object_set (rig.pipeline, "batch-records", 1, "link-batches", 1, NULL);
  dlp_pipeline_prepare (rig.pipeline, NULL, &error);
  g_assert_no_error (error);
  rig.out = DLP_APP_SINK (dlp_pipeline_get_element (rig.pipeline, "out"));
  app_rig_start (&rig);
  for (guint i = 0; i < 250; i++)
    {
      g_autoptr (DlpRecordBatch) batch = dlp_app_sink_pull (rig.out, 1, NULL, NULL);

      g_assert_nonnull (batch);
    }
  state = get (&rig, DLP_APP_SINK_STATE_EXACT);
  dlp_pipeline_abort (rig.pipeline);
  app_rig_clear (&rig);

  changed = change (state, "x", key);
  pipeline = dlp_pipeline_new_from_checkpoint (changed, &error);
  if (pipeline != NULL)
    dlp_pipeline_prepare (pipeline, NULL, &error);
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT);
  if (strstr (error->message, part) == NULL || strstr (error->message, ": x: ") == NULL)
    g_error ("“%s” is not in: %s", part, error->message);
}

static void
test_contradictions (void)
{
#define TWO "check-source records=900 ! x.  check-source records=800 variant=1 ! x.  "

  assert_contradicts ("check-source records=1000 ! shuffle name=x size=10 ! app-sink name=out",
                      "drawn", "key “drawn” is ");
  assert_contradicts (TWO "mix name=x weights=2,1 ! app-sink name=out", "draws", "key “draws” is ");
  assert_contradicts (TWO "mix name=x weights=2,1 ! app-sink name=out", "records",
                      "but key “records” is ");
  assert_contradicts ("check-source records=1000 ! limit name=x records=999 ! app-sink name=out",
                      "records", "key “records” is ");
  assert_contradicts (
      "check-source records=1000 ! batch name=b size=2 ! limit name=x batches=400 ! "
      "app-sink name=out",
      "batches", "key “batches” is ");
  assert_contradicts ("check-source records=1000 ! batch name=x size=2 ! app-sink name=out",
                      "batches", "key “batches” less “skipped-batches” is ");
  assert_contradicts (TWO "stages name=x ! app-sink name=out", "records", "key “records” is ");
}

/* The state of before the first record is as none; one state does for many; it is small. */
static void
test_fresh (void)
{
  g_autoptr (GPtrArray) expected = app_expect (graph);
  g_autoptr (DlpCheckpoint) state = NULL;
  g_autoptr (GBytes) bytes = NULL;
  AppRig rig;

  app_rig_init (&rig, graph, DLP_RUNNER_AUTO, NULL);
  app_rig_start (&rig);
  wait_until_running (&rig);
  state = get (&rig, DLP_APP_SINK_STATE_EXACT);
  dlp_pipeline_abort (rig.pipeline);
  app_rig_clear (&rig);
  bytes = dlp_checkpoint_to_bytes (state);
  g_assert_cmpuint (g_bytes_get_size (bytes), <, 64 * 1024);
  for (guint i = 0; i < 3; i++)
    {
      g_autoptr (GPtrArray) lines = app_lines_new ();

      rig_from_state (&rig, state, DLP_RUNNER_AUTO);
      app_rig_start (&rig);
      app_pull_all (rig.out, 0, lines);
      app_assert_equal (lines, expected);
      app_rig_finish (&rig);
    }
}

/* With confirm=commit the program says which record was the last. */
static void
test_commit (void)
{
  g_autoptr (GPtrArray) lines = app_lines_new ();
  g_autoptr (DlpCheckpoint) state = NULL;
  AppRig rig;

  app_rig_init (&rig, graph, DLP_RUNNER_AUTO, NULL);
  g_object_set (rig.out, "confirm", DLP_APP_SINK_CONFIRM_COMMIT, NULL);
  app_rig_start (&rig);
  train (&rig, 10, lines);
  dlp_app_sink_commit (rig.out);
  train (&rig, 5, lines);
  state = get (&rig, DLP_APP_SINK_STATE_EXACT);
  dlp_pipeline_abort (rig.pipeline);
  app_rig_clear (&rig);
  g_assert_cmpuint (find_next (state, DLP_RUNNER_AUTO), ==, 10);
}

/* The state in a folder is read from there, and goes on only there. */
static void
test_folder (void)
{
  char *folder = app_make_folder ();
  g_autofree char *path = g_build_filename (folder, "state", NULL);
  g_autoptr (GPtrArray) lines = app_lines_new ();
  g_autoptr (DlpCheckpoint) state = NULL;
  g_autoptr (GError) error = NULL;
  AppRig rig;

  app_rig_init (&rig, graph, DLP_RUNNER_AUTO, path);
  app_rig_start (&rig);
  train (&rig, 10, lines);
  app_rig_stop (&rig);
  app_rig_clear (&rig);
  state = dlp_checkpoint_new_from_folder (path, NULL, &error);
  g_assert_no_error (error);
  g_assert_null (dlp_pipeline_new_from_checkpoint (state, &error));
  g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE);
  g_assert_nonnull (strstr (error->message, "dlp_pipeline_new_from_state()"));
  app_remove_folder (folder);
}

/* ---- what is refused ---- */

static void
assert_not_saved (const char *text, const char *state_dir, const char *part)
{
  g_autoptr (GError) error = NULL;
  AppRig rig;

  app_rig_init (&rig, text, DLP_RUNNER_AUTO, state_dir);
  g_assert_null (dlp_pipeline_get_state (rig.pipeline, DLP_APP_SINK_STATE_EXACT, NULL, &error));
  g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE);
  g_clear_error (&error);
  app_rig_start (&rig);
  g_assert_null (dlp_pipeline_get_state (rig.pipeline, DLP_APP_SINK_STATE_EXACT, NULL, &error));
  g_assert_nonnull (error);
  if (strstr (error->message, part) == NULL)
    g_error ("“%s” is not in %s", part, error->message);
  app_rig_stop (&rig);
  app_rig_clear (&rig);
}

static void
test_refused (void)
{
  char *folder = app_make_folder ();
  g_autofree char *sink = g_strdup_printf (
      "check-source records=1000M ! jsonl-sink name=j location=%s/out.jsonl", folder);
  g_autofree char *state = g_build_filename (folder, "state", NULL);

  assert_not_saved (sink, NULL, "j keeps files");
  assert_not_saved (graph, state, "is in its folder");
  assert_not_saved ("app-source name=in schema=text:string ! app-sink name=out", NULL,
                    "set tokens=true");
  app_remove_folder (folder);
}

static void
test_damaged (void)
{
  g_autoptr (DlpCheckpoint) state = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autofree guint8 *data = NULL;
  gsize size;
  AppRig rig;

  app_rig_init (&rig, graph, DLP_RUNNER_AUTO, NULL);
  app_rig_start (&rig);
  state = save (&rig);
  app_rig_stop (&rig);
  app_rig_clear (&rig);

  bytes = dlp_checkpoint_to_bytes (state);
  size = g_bytes_get_size (bytes);
  data = g_memdup2 (g_bytes_get_data (bytes, NULL), size);
  for (gsize i = 0; i < size; i += 7)
    {
      g_autoptr (GBytes) bad = NULL;

      data[i] ^= 4;
      bad = g_bytes_new (data, size);
      data[i] ^= 4;
      g_assert_null (dlp_pipeline_new_from_state_bytes (bad, &error));
      g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT);
      g_assert_true (g_str_has_prefix (error->message, "the saved state: "));
      g_clear_error (&error);
    }
}

/* A file that is not what it was. */
static void
test_changed (void)
{
  char *folder = app_make_folder ();
  g_autofree char *path = g_build_filename (folder, "a.jsonl", NULL);
  g_autofree char *text = g_strdup_printf (
      "file-source location=%s ! jsonl-reader ! app-sink name=out max-batches=1", path);
  g_autoptr (GString) content = g_string_new (NULL);
  g_autoptr (DlpCheckpoint) state = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpRecordBatch) batch = NULL;
  AppRig rig;

  for (guint i = 0; i < 100; i++)
    g_string_append_printf (content, "{\"text\": \"%u\"}\n", i);
  g_assert_true (g_file_set_contents (path, content->str, -1, NULL));
  app_rig_init (&rig, text, DLP_RUNNER_AUTO, NULL);
  app_rig_start (&rig);
  batch = dlp_app_sink_pull (rig.out, 10, NULL, &error);
  g_assert_no_error (error);
  state = save (&rig);
  app_rig_stop (&rig);
  app_rig_clear (&rig);

  rig_from_state (&rig, state, DLP_RUNNER_AUTO);
  app_rig_start (&rig);
  g_clear_pointer (&batch, dlp_record_batch_unref);
  batch = dlp_app_sink_pull (rig.out, 10, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (dlp_record_batch_get_position (batch), ==, 10);
  app_rig_stop (&rig);
  app_rig_clear (&rig);

  g_string_append (content, "{\"text\": \"one more\"}\n");
  g_assert_true (g_file_set_contents (path, content->str, -1, NULL));
  rig_from_state (&rig, state, DLP_RUNNER_AUTO);
  app_rig_start (&rig);
  g_assert_null (dlp_app_sink_pull (rig.out, 10, NULL, &error));
  g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_CHANGED);
  app_rig_clear (&rig);
  app_remove_folder (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  g_test_add_func ("/app-state/trainer", test_trainer);
  g_test_add_func ("/app-state/async", test_async);
  g_test_add_func ("/app-state/on-its-way", test_on_its_way);
  g_test_add_func ("/app-state/ends", test_ends);
  g_test_add_func ("/app-state/after-end", test_after_end);
  g_test_add_func ("/app-state/after-error", test_after_error);
  g_test_add_func ("/app-state/complete", test_complete);
  g_test_add_func ("/app-state/approximate", test_approximate);
  g_test_add_func ("/app-state/contradictions", test_contradictions);
  g_test_add_func ("/app-state/fresh", test_fresh);
  g_test_add_func ("/app-state/commit", test_commit);
  g_test_add_func ("/app-state/folder", test_folder);
  g_test_add_func ("/app-state/refused", test_refused);
  g_test_add_func ("/app-state/damaged", test_damaged);
  g_test_add_func ("/app-state/changed", test_changed);
  return g_test_run ();
}
