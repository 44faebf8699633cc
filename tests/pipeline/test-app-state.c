/* SPDX-License-Identifier: MIT */

/* A trainer: it saves the state of its pipeline with its own, dies, and goes on from there. */

#include <string.h>

#include "app-rig.h"

static const char *const graph =
    "check-source name=s records=1000 ! shuffle size=30 ! tee name=t ! app-sink name=out  "
    "t. ! null-sink name=n";

static void
rig_from_bytes (AppRig *rig, GBytes *state, DlpRunnerKind runner)
{
  g_autoptr (GError) error = NULL;

  *rig = (AppRig){ NULL };
  rig->pipeline = dlp_pipeline_new_from_state_bytes (state, &error);
  g_assert_no_error (error);
  g_object_set (rig->pipeline, "runner", runner, NULL);
  dlp_pipeline_prepare (rig->pipeline, NULL, &error);
  g_assert_no_error (error);
  rig->in = (DlpAppSource *) dlp_pipeline_get_element (rig->pipeline, "in");
  rig->out = (DlpAppSink *) dlp_pipeline_get_element (rig->pipeline, "out");
}

static GBytes *
save (AppRig *rig)
{
  g_autoptr (GError) error = NULL;
  GBytes *state;

  dlp_app_sink_commit (rig->out);
  state = dlp_pipeline_save_state (rig->pipeline, NULL, &error);
  g_assert_no_error (error);
  return state;
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
  g_autoptr (GBytes) state = NULL;
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
      g_clear_pointer (&state, g_bytes_unref);
      state = save (&rig);
      saved = lines->len;
      train (&rig, i % 20, lines);
      dlp_pipeline_abort (rig.pipeline);
      app_rig_clear (&rig);
      g_ptr_array_set_size (lines, (int) saved);
      rig_from_bytes (&rig, state, DLP_RUNNER_THREADS + i % 3);
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
  g_autoptr (GBytes) state = NULL;
  g_autoptr (GError) error = NULL;
  AppRig rig;

  app_rig_init (&rig, graph, DLP_RUNNER_AUTO, NULL);
  app_rig_start (&rig);
  train (&rig, 10, lines);
  dlp_app_sink_commit (rig.out);
  dlp_pipeline_save_state_async (rig.pipeline, NULL, keep_result, &result);
  while (result == NULL)
    g_main_context_iteration (NULL, TRUE);
  state = dlp_pipeline_save_state_finish (rig.pipeline, result, &error);
  g_assert_no_error (error);
  app_rig_stop (&rig);
  app_rig_clear (&rig);
  rig_from_bytes (&rig, state, DLP_RUNNER_AUTO);
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
      g_autoptr (GBytes) state = NULL;
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

      rig_from_bytes (&rig, state, DLP_RUNNER_THREADS + i % 3);
      app_rig_start (&rig);
      train (&rig, 1, lines);
      app_rig_stop (&rig);
      app_rig_clear (&rig);
    }
}

/* The end of a run does not wait for a save, nor a save for it. */
static gpointer
save_often (gpointer data)
{
  g_autoptr (GError) error = NULL;

  while (error == NULL)
    {
      g_autoptr (GBytes) state = dlp_pipeline_save_state (data, NULL, &error);

      g_assert_true ((state == NULL) == (error != NULL));
    }
  g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE);
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

/* ---- what is refused ---- */

static void
assert_not_saved (const char *text, const char *state_dir, const char *part)
{
  g_autoptr (GError) error = NULL;
  AppRig rig;

  app_rig_init (&rig, text, DLP_RUNNER_AUTO, state_dir);
  g_assert_null (dlp_pipeline_save_state (rig.pipeline, NULL, &error));
  g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE);
  g_clear_error (&error);
  app_rig_start (&rig);
  g_assert_null (dlp_pipeline_save_state (rig.pipeline, NULL, &error));
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
  g_autoptr (GBytes) state = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree guint8 *data = NULL;
  gsize size;
  AppRig rig;

  app_rig_init (&rig, graph, DLP_RUNNER_AUTO, NULL);
  app_rig_start (&rig);
  state = save (&rig);
  app_rig_stop (&rig);
  app_rig_clear (&rig);

  size = g_bytes_get_size (state);
  data = g_memdup2 (g_bytes_get_data (state, NULL), size);
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
  g_autoptr (GBytes) state = NULL;
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

  rig_from_bytes (&rig, state, DLP_RUNNER_AUTO);
  app_rig_start (&rig);
  g_clear_pointer (&batch, dlp_record_batch_unref);
  batch = dlp_app_sink_pull (rig.out, 10, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (dlp_record_batch_get_position (batch), ==, 10);
  app_rig_stop (&rig);
  app_rig_clear (&rig);

  g_string_append (content, "{\"text\": \"one more\"}\n");
  g_assert_true (g_file_set_contents (path, content->str, -1, NULL));
  rig_from_bytes (&rig, state, DLP_RUNNER_AUTO);
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
  g_test_add_func ("/app-save/trainer", test_trainer);
  g_test_add_func ("/app-save/async", test_async);
  g_test_add_func ("/app-save/on-its-way", test_on_its_way);
  g_test_add_func ("/app-save/ends", test_ends);
  g_test_add_func ("/app-save/refused", test_refused);
  g_test_add_func ("/app-save/damaged", test_damaged);
  g_test_add_func ("/app-save/changed", test_changed);
  return g_test_run ();
}
