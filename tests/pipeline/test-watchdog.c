/* SPDX-License-Identifier: MIT */

/* A run that does not move is reported with the element that hangs, or fails with it. */

#include <semaphore.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include <dlpipe/dlp-app-sink.h>
#include <dlpipe/dlp-plugin.h>
#include <dlpipe/dlp-sink.h>

#include "dlp-element-private.h"
#include "script-element.h"

#define STALL "0.5"

static GMutex lock;
static GString *said;         /* lock */
static gboolean hold;         /* atomic: what hangs goes on hanging */
static DlpStallAction action; /* of the next run */

static GLogWriterOutput
write_log (GLogLevelFlags level, const GLogField *fields, gsize n_fields, gpointer data)
{
  if (!(level & G_LOG_LEVEL_WARNING))
    return g_log_writer_default (level, fields, n_fields, data);
  for (gsize i = 0; i < n_fields; i++)
    if (strcmp (fields[i].key, "MESSAGE") == 0)
      {
        g_mutex_lock (&lock);
        g_string_append_printf (said, "%s\n", (const char *) fields[i].value);
        g_mutex_unlock (&lock);
      }
  return G_LOG_WRITER_HANDLED;
}

static bool
was_said (const char *text)
{
  bool found;

  g_mutex_lock (&lock);
  found = strstr (said->str, text) != NULL;
  g_mutex_unlock (&lock);
  return found;
}

/* ---- steps ---- */

static void
hang (void)
{
  for (guint i = 0; i < 2000 && g_atomic_int_get (&hold); i++)
    usleep (5000);
}

static DlpStep
emit_and_end (DlpElement *self, gpointer data, GError **error)
{
  script_emit (self, "x");
  return DLP_STEP_END;
}

static DlpStep
hang_in_step (DlpElement *self, gpointer data, GError **error)
{
  hang ();
  return DLP_STEP_END;
}

static DlpStep
want_work (DlpElement *self, gpointer data, GError **error)
{
  if (!g_atomic_int_get (&hold))
    return DLP_STEP_END;
  return DLP_STEP_WANT_WORK;
}

static DlpStep
want_work_and_say_so (DlpElement *self, gpointer data, GError **error)
{
  dlp_element_set_status (self, "retry in 42 s");
  return want_work (self, data, error);
}

static DlpStep
take (DlpElement *self, gpointer data, GError **error)
{
  if (script_take (self))
    return DLP_STEP_MORE;
  return dlp_pad_is_over (dlp_element_get_input (self, 0)) ? DLP_STEP_END :
                                                             dlp_element_want_input (self, 0);
}

/* As if it waited for its neighbour. Graphs that come to that by themselves are refused. */
static DlpStep
pretend_to_wait (DlpElement *self, gpointer data, GError **error)
{
  DlpElementPrivate *priv = dlp_element_get_private (self);

  __atomic_store_n (&priv->waits_for, DLP_TURN_WAIT_INPUT, __ATOMIC_RELAXED);
  __atomic_store_n (&priv->waits_since, 1, __ATOMIC_RELEASE);
  hang ();
  __atomic_store_n (&priv->waits_since, 0, __ATOMIC_RELEASE);
  return DLP_STEP_END;
}

static DlpStep
emit_on (DlpElement *self, gpointer data, GError **error)
{
  script_emit (self, "x");
  return DLP_STEP_MORE;
}

/* Moves, slowly. */
static DlpStep
emit_slowly (DlpElement *self, gpointer data, GError **error)
{
  guint *n = data;

  usleep (50000);
  if (++*n == 22)
    return DLP_STEP_END;
  script_emit (self, "x");
  return DLP_STEP_MORE;
}

static gboolean
start_slowly (DlpElement *self, gpointer data, GError **error)
{
  hang ();
  return TRUE;
}

/* ---- runs ---- */

typedef struct
{
  DlpPipeline *pipeline;
  GThread *thread;
  GError *error;
} Run;

static gpointer
run_in_thread (gpointer data)
{
  Run *self = data;

  dlp_pipeline_run (self->pipeline, NULL, &self->error);
  return NULL;
}

static void
run_init (Run *self)
{
  g_mutex_lock (&lock);
  g_string_truncate (said, 0);
  g_mutex_unlock (&lock);
  g_atomic_int_set (&hold, TRUE);
  self->error = NULL;
  self->pipeline = dlp_pipeline_new ();
  g_object_set (self->pipeline, "stall-action", action, NULL);
}

static void
run_start (Run *self, ScriptStep source, gpointer data, ScriptStep end, ScriptStart start)
{
  DlpElement *a, *b;

  run_init (self);
  a = script_add (self->pipeline, "script-source", "first", source, data);
  b = script_add (self->pipeline, "script-end", "last", end, NULL);
  script_set_start (a, start);
  script_link (self->pipeline, a, b);
  self->thread = g_thread_new ("run", run_in_thread, self);
}

static void
run_end (Run *self)
{
  g_atomic_int_set (&hold, FALSE);
  dlp_pipeline_stop (self->pipeline);
  g_thread_join (self->thread);
  g_clear_error (&self->error);
  g_object_unref (self->pipeline);
}

/* The run ends by itself, with the error of a stall. */
static void
run_expect_stalled (Run *self, const char *text)
{
  g_autoptr (GError) error = NULL;

  g_thread_join (self->thread);
  g_assert_error (self->error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STALLED);
  g_assert_nonnull (strstr (self->error->message, "nothing has moved for 0."));
  g_assert_nonnull (strstr (self->error->message, ", since 2"));
  g_assert_nonnull (strstr (self->error->message, text));
  g_assert_nonnull (strstr (self->error->message, "set a longer stall-timeout (now 500ms; "));
  g_assert_cmpint (dlp_pipeline_get_status (self->pipeline), ==, DLP_PIPELINE_FAILED);
  error = dlp_pipeline_get_error (self->pipeline);
  g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STALLED);
  g_clear_error (&self->error);
  g_object_unref (self->pipeline);
}

/* Until the error is there, while the run goes on. */
static void
wait_for_error (DlpPipeline *pipeline)
{
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 1000 && error == NULL; i++)
    {
      usleep (10000);
      error = dlp_pipeline_get_error (pipeline);
    }
  g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STALLED);
  g_assert_cmpint (dlp_pipeline_get_status (pipeline), ==, DLP_PIPELINE_RUNNING);
}

static void
wait_for (const char *text)
{
  for (guint i = 0; i < 1000 && !was_said (text); i++)
    usleep (10000);
  if (!was_said (text))
    g_error ("“%s” was not said, but: %s", text, said->str);
}

static void
test_step (void)
{
  Run run;

  run_start (&run, emit_and_end, NULL, hang_in_step, NULL);
  wait_for ("; last is in a step that does not return");
  run_end (&run);
}

static void
test_work (void)
{
  Run run;
  g_autoptr (GVariant) report = NULL;
  g_autoptr (GVariant) warnings = NULL;

  run_start (&run, want_work, NULL, take, NULL);
  wait_for ("first waits for its own input/output or for work");
  g_assert_false (was_said ("last waits"));
  report = dlp_pipeline_get_report (run.pipeline);
  warnings = g_variant_lookup_value (report, "warnings", G_VARIANT_TYPE_STRING_ARRAY);
  g_assert_cmpuint (g_variant_n_children (warnings), ==, 1);
  run_end (&run);
}

static void
test_start (void)
{
  Run run;

  run_start (&run, emit_and_end, NULL, take, start_slowly);
  wait_for ("; first is starting");
  run_end (&run);
}

static void
test_once (void)
{
  Run run;

  run_start (&run, want_work, NULL, take, NULL);
  wait_for ("nothing has moved");
  usleep (1300000);
  g_mutex_lock (&lock);
  g_assert_null (strstr (strstr (said->str, "nothing") + 1, "nothing"));
  g_mutex_unlock (&lock);
  run_end (&run);
}

static void
test_declared (void)
{
  Run run;

  run_start (&run, want_work_and_say_so, NULL, take, NULL);
  usleep (1300000);
  g_assert_false (was_said ("nothing has moved"));
  run_end (&run);
}

static void
test_moving (void)
{
  Run run;
  guint n = 0;

  run_start (&run, emit_slowly, &n, take, NULL);
  while (dlp_pipeline_get_status (run.pipeline) != DLP_PIPELINE_FINISHED)
    usleep (1000);
  g_assert_false (was_said ("nothing has moved"));
  g_assert_null (dlp_pipeline_get_error (run.pipeline));
  run_end (&run);
}

static void
test_paused (void)
{
  Run run;

  run_start (&run, want_work, NULL, take, NULL);
  dlp_pipeline_pause (run.pipeline);
  while (dlp_pipeline_get_status (run.pipeline) != DLP_PIPELINE_PAUSED)
    {
      usleep (1000);
      dlp_pipeline_pause (run.pipeline);
    }
  g_mutex_lock (&lock);
  g_string_truncate (said, 0);
  g_mutex_unlock (&lock);
  usleep (1300000);
  g_assert_false (was_said ("nothing has moved"));
  dlp_pipeline_resume (run.pipeline);
  wait_for ("nothing has moved");
  run_end (&run);
}

/* 0 is never. */
static void
test_never (void)
{
  gint64 timeout;
  Run run;

  run_init (&run);
  g_object_get (run.pipeline, "stall-timeout", &timeout, NULL);
  g_assert_cmpint (timeout, ==, G_USEC_PER_SEC / 2);
  g_object_set (run.pipeline, "stall-timeout", G_GINT64_CONSTANT (0), NULL);
  script_link (run.pipeline, script_add (run.pipeline, "script-source", "first", want_work, NULL),
               script_add (run.pipeline, "script-end", "last", take, NULL));
  run.thread = g_thread_new ("run", run_in_thread, &run);
  usleep (1300000);
  g_assert_false (was_said ("nothing has moved"));
  run_end (&run);
}

/* ---- with checkpoints ---- */

static gboolean
sync_at_once (DlpSink *sink, const DlpState *state, GCancellable *cancellable, GError **error)
{
  return TRUE;
}

static gboolean
sync_slowly (DlpSink *sink, const DlpState *state, GCancellable *cancellable, GError **error)
{
  hang ();
  return TRUE;
}

static gboolean
fail_to_publish (DlpSink *sink,
                 const DlpState *state,
                 gboolean complete,
                 GCancellable *cancellable,
                 GError **error)
{
  g_test_fail_printf ("a run that has failed publishes");
  return FALSE;
}

static void
remove_state (const char *dir)
{
  g_autoptr (GDir) list = g_dir_open (dir, 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (list)) != NULL)
    {
      g_autofree char *path = g_build_filename (dir, name, NULL);

      g_assert_cmpint (g_unlink (path), ==, 0);
    }
  g_assert_cmpint (g_rmdir (dir), ==, 0);
}

/* That checkpoints are written while an element hangs is no movement. */
static void
test_checkpoints (void)
{
  g_autofree char *dir = g_dir_make_tmp ("dlp-watchdog-XXXXXX", NULL);
  DlpSinkClass *klass = g_type_class_ref (g_type_from_name ("ScriptEnd"));
  Run run;

  run_init (&run);
  g_object_set (run.pipeline, "state-dir", dir, "checkpoint-interval", G_GINT64_CONSTANT (50000),
                NULL);
  script_link (run.pipeline, script_add (run.pipeline, "script-source", "first", want_work, NULL),
               script_add (run.pipeline, "script-end", "last", take, NULL));
  klass->sync = sync_at_once;
  run.thread = g_thread_new ("run", run_in_thread, &run);
  wait_for ("; first waits for its own input/output or for work");
  if (action == DLP_STALL_ACTION_FAIL)
    run_expect_stalled (&run, "; first waits for its own input/output");
  else
    run_end (&run);
  klass->sync = NULL;
  g_type_class_unref (klass);
  remove_state (dir);
}

/* The last sync hangs: nothing is published, also where it ends after all. */
static void
test_last_sync (void)
{
  DlpSinkClass *klass = g_type_class_ref (g_type_from_name ("ScriptEnd"));
  Run run;

  klass->sync = sync_slowly;
  klass->publish = fail_to_publish;
  run_start (&run, emit_and_end, NULL, take, NULL);
  wait_for_error (run.pipeline);
  g_atomic_int_set (&hold, FALSE);
  run_expect_stalled (&run, "; last is syncing");
  klass->sync = NULL;
  klass->publish = NULL;
  g_type_class_unref (klass);
}

/* ---- the run fails ---- */

static void
test_fail_step (void)
{
  Run run;

  run_start (&run, emit_and_end, NULL, hang_in_step, NULL);
  wait_for_error (run.pipeline);
  g_assert_true (was_said ("; last is in a step that does not return; the run fails"));
  /* It has not ended, because the element has not left. */
  usleep (100000);
  g_assert_cmpint (dlp_pipeline_get_status (run.pipeline), ==, DLP_PIPELINE_RUNNING);
  g_atomic_int_set (&hold, FALSE);
  run_expect_stalled (&run, "; last is in a step that does not return");
}

static void
test_fail_work (void)
{
  Run run;

  run_start (&run, want_work, NULL, take, NULL);
  run_expect_stalled (&run, "; first waits for its own input/output or for work it gave");
}

static void
test_fail_start (void)
{
  Run run;

  run_start (&run, emit_and_end, NULL, take, start_slowly);
  wait_for ("; first is starting; the run fails");
  g_atomic_int_set (&hold, FALSE);
  run_expect_stalled (&run, "; first is starting");
}

/* None hangs by itself: one waits for what never comes, the other for room. */
static void
test_fail_input (void)
{
  Run run;

  run_init (&run);
  g_object_set (run.pipeline, "batch-records", 1, NULL);
  script_link (run.pipeline, script_add (run.pipeline, "script-source", "first", emit_on, NULL),
               script_add (run.pipeline, "script-end", "last", pretend_to_wait, NULL));
  run.thread = g_thread_new ("run", run_in_thread, &run);
  wait_for_error (run.pipeline);
  g_atomic_int_set (&hold, FALSE);
  run_expect_stalled (&run, "; first waits for room behind its pad “out”, before last; "
                            "last waits for input on its pad “in”, from first; ");
}

/* Who pulls is told while the run cannot end. */
static void
test_fail_pull (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpElement) out = dlp_element_make ("app-sink", "out", NULL);
  DlpRecordBatch *batch;
  Run run;

  run_init (&run);
  dlp_pipeline_add (run.pipeline, out, NULL);
  script_link (run.pipeline,
               script_add (run.pipeline, "script-source", "first", hang_in_step, NULL), out);
  run.thread = g_thread_new ("run", run_in_thread, &run);
  batch = dlp_app_sink_pull (DLP_APP_SINK (out), 0, NULL, &error);
  g_assert_null (batch);
  g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STALLED);
  g_assert_cmpint (dlp_pipeline_get_status (run.pipeline), ==, DLP_PIPELINE_RUNNING);
  g_atomic_int_set (&hold, FALSE);
  run_expect_stalled (&run, "; first is in a step");
}

/* A program that takes nothing holds all up: no stall. */
static void
test_slow_consumer (void)
{
  g_autoptr (DlpElement) out = dlp_element_make ("app-sink", "out", NULL);
  g_autoptr (GError) error = NULL;
  Run run;

  run_init (&run);
  g_object_set (run.pipeline, "batch-records", 1, NULL);
  dlp_pipeline_add (run.pipeline, out, NULL);
  script_link (run.pipeline, script_add (run.pipeline, "script-source", "first", emit_on, NULL),
               out);
  run.thread = g_thread_new ("run", run_in_thread, &run);
  usleep (1300000);
  g_assert_false (was_said ("nothing has moved"));
  error = dlp_pipeline_get_error (run.pipeline);
  g_assert_no_error (error);
  dlp_pipeline_stop (run.pipeline);
  g_thread_join (run.thread);
  g_assert_error (run.error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED);
  error = dlp_pipeline_get_error (run.pipeline);
  g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED);
  g_clear_error (&run.error);
  g_object_unref (run.pipeline);
}

/* The tests above, where the run is to fail. */
static void
with_fail (gconstpointer func)
{
  action = DLP_STALL_ACTION_FAIL;
  ((void (*) (void)) func) ();
  action = DLP_STALL_ACTION_REPORT;
}

static void
add_with_fail (const char *path, void (*func) (void))
{
  g_test_add_data_func (path, (gconstpointer) func, with_fail);
}

int
main (int argc, char **argv)
{
  int code;

  g_test_init (&argc, &argv, NULL);
  g_setenv ("DLPIPE_STALL_SECONDS", STALL, TRUE);
  g_log_set_writer_func (write_log, NULL, NULL);
  said = g_string_new (NULL);
  script_register ();
  g_test_add_func ("/watchdog/step", test_step);
  g_test_add_func ("/watchdog/work", test_work);
  g_test_add_func ("/watchdog/start", test_start);
  g_test_add_func ("/watchdog/once", test_once);
  g_test_add_func ("/watchdog/declared", test_declared);
  g_test_add_func ("/watchdog/moving", test_moving);
  g_test_add_func ("/watchdog/paused", test_paused);
  g_test_add_func ("/watchdog/never", test_never);
  g_test_add_func ("/watchdog/checkpoints", test_checkpoints);
  g_test_add_func ("/watchdog/slow-consumer", test_slow_consumer);
  add_with_fail ("/watchdog/fail/step", test_fail_step);
  add_with_fail ("/watchdog/fail/work", test_fail_work);
  add_with_fail ("/watchdog/fail/start", test_fail_start);
  add_with_fail ("/watchdog/fail/input", test_fail_input);
  add_with_fail ("/watchdog/fail/pull", test_fail_pull);
  add_with_fail ("/watchdog/fail/last-sync", test_last_sync);
  add_with_fail ("/watchdog/fail/checkpoints", test_checkpoints);
  add_with_fail ("/watchdog/fail/declared", test_declared);
  add_with_fail ("/watchdog/fail/moving", test_moving);
  add_with_fail ("/watchdog/fail/slow-consumer", test_slow_consumer);
  code = g_test_run ();
  g_string_free (said, TRUE);
  return code;
}
