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
  g_autoptr (GError) error = NULL;
  Run run;

  run_start (&run, want_work_and_say_so, NULL, take, NULL);
  usleep (1300000);
  g_assert_false (was_said ("nothing has moved"));
  error = dlp_pipeline_get_error (run.pipeline);
  g_assert_no_error (error);
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

/* ---- one that declared a wait, and others ---- */

#define NOTHING_IS_SAID 1300000

static DlpStep
emit_and_wait_declared (DlpElement *self, gpointer data, GError **error)
{
  guint *n = data;

  if (++*n == 1)
    {
      script_emit (self, "x");
      return DLP_STEP_MORE;
    }
  return want_work_and_say_so (self, data, error);
}

/* Declares a wait within its step, as one that waits for a network does. */
static DlpStep
hang_declared (DlpElement *self, gpointer data, GError **error)
{
  dlp_element_set_status (self, "retry in 42 s");
  hang ();
  dlp_element_set_status (self, NULL);
  return DLP_STEP_END;
}

static DlpStep
want_work_or_input (DlpElement *self, gpointer data, GError **error)
{
  if (script_take (self))
    return DLP_STEP_MORE;
  return dlp_pad_is_over (dlp_element_get_input (self, 0)) ?
             DLP_STEP_END :
             dlp_element_want_input_or_work (self, 0);
}

static DlpStep
pass_on (DlpElement *self, gpointer data, GError **error)
{
  if (!script_take (self))
    return dlp_pad_is_over (dlp_element_get_input (self, 0)) ? DLP_STEP_END :
                                                               dlp_element_want_input (self, 0);
  script_emit (self, "x");
  return DLP_STEP_MORE;
}

static DlpElement *
add (Run *self, const char *factory, const char *name, ScriptStep step, gpointer data)
{
  return script_add (self->pipeline, factory, name, step, data);
}

static void
add_chain (Run *self,
           const char *source,
           ScriptStep first,
           gpointer data,
           const char *end,
           ScriptStep last)
{
  script_link (self->pipeline, add (self, "script-source", source, first, data),
               add (self, "script-end", end, last, NULL));
}

static void
start (Run *self)
{
  self->thread = g_thread_new ("run", run_in_thread, self);
}

/* It names the one and nobody else, and the run goes on or fails. */
static void
expect_hang (Run *self, const char *text, const char *const *others)
{
  wait_for (text);
  for (guint i = 0; others[i] != NULL; i++)
    g_assert_false (was_said (others[i]));
  if (action != DLP_STALL_ACTION_FAIL)
    {
      run_end (self);
      return;
    }
  g_atomic_int_set (&hold, FALSE);
  run_expect_stalled (self, text);
}

static void
expect_nothing (Run *self)
{
  g_autoptr (GError) error = NULL;

  usleep (NOTHING_IS_SAID);
  g_assert_false (was_said ("nothing has moved"));
  error = dlp_pipeline_get_error (self->pipeline);
  g_assert_no_error (error);
  run_end (self);
}

/* In a branch of its own. */
static void
test_beside_declared (void)
{
  static const char *const others[] = { "first", "last", "other ", NULL };
  Run run;

  run_init (&run);
  add_chain (&run, "first", want_work_and_say_so, NULL, "last", take);
  add_chain (&run, "second", hang_in_step, NULL, "other", take);
  start (&run);
  expect_hang (&run, "; second is in a step that does not return", others);
}

static void
test_work_beside_declared (void)
{
  static const char *const others[] = { "first", "last", "other ", NULL };
  Run run;

  run_init (&run);
  add_chain (&run, "first", want_work_and_say_so, NULL, "last", take);
  add_chain (&run, "second", want_work, NULL, "other", take);
  start (&run);
  expect_hang (&run, "; second waits for its own input/output or for work it gave", others);
}

/* What lies behind the wait is not starved: it has a record, and does not come back from it. */
static void
test_behind_declared (void)
{
  static const char *const others[] = { "first", NULL };
  guint n = 0;
  Run run;

  run_init (&run);
  add_chain (&run, "first", emit_and_wait_declared, &n, "last", hang_in_step);
  start (&run);
  expect_hang (&run, "; last is in a step that does not return", others);
}

/* It would take more input, but has work that does not end. */
static void
test_work_behind_declared (void)
{
  static const char *const others[] = { "first", NULL };
  guint n = 0;
  Run run;

  run_init (&run);
  add_chain (&run, "first", emit_and_wait_declared, &n, "last", want_work_or_input);
  start (&run);
  expect_hang (&run, "; last waits for its own input/output or for work it gave", others);
}

/* A ring of waits has nothing to do with what is declared elsewhere. */
static void
test_ring_beside_declared (void)
{
  static const char *const others[] = { "; first", "; last", NULL };
  Run run;

  run_init (&run);
  g_object_set (run.pipeline, "batch-records", 1, NULL);
  add_chain (&run, "first", want_work_and_say_so, NULL, "last", take);
  add_chain (&run, "second", emit_on, NULL, "other", pretend_to_wait);
  start (&run);
  expect_hang (&run,
               "; second waits for room behind its pad “out”, before other; other waits for "
               "input on its pad “in”, from second",
               others);
}

/* Those that wait for the one that declared it, a few elements away, in either direction. */
static void
test_starved_by_declared (void)
{
  DlpElement *first, *middle, *next, *last;
  Run run;

  run_init (&run);
  first = add (&run, "script-source", "first", want_work_and_say_so, NULL);
  middle = add (&run, "script-pipe", "middle", pass_on, NULL);
  next = add (&run, "script-pipe", "next", pass_on, NULL);
  last = add (&run, "script-end", "last", take, NULL);
  script_link (run.pipeline, first, middle);
  script_link (run.pipeline, middle, next);
  script_link (run.pipeline, next, last);
  start (&run);
  expect_nothing (&run);
}

static void
test_blocked_by_declared (void)
{
  DlpElement *first, *middle, *last;
  Run run;

  run_init (&run);
  g_object_set (run.pipeline, "batch-records", 1, NULL);
  first = add (&run, "script-source", "first", emit_on, NULL);
  middle = add (&run, "script-pipe", "middle", pass_on, NULL);
  last = add (&run, "script-end", "last", hang_declared, NULL);
  script_link (run.pipeline, first, middle);
  script_link (run.pipeline, middle, last);
  start (&run);
  expect_nothing (&run);
}

/* With one thread all wait for the one that has it. */
static void
test_sequential_declared (void)
{
  Run run;

  run_init (&run);
  g_object_set (run.pipeline, "runner", DLP_RUNNER_SEQUENTIAL, "batch-records", 1, NULL);
  add_chain (&run, "first", emit_on, NULL, "last", take);
  add_chain (&run, "second", hang_declared, NULL, "other", take);
  start (&run);
  expect_nothing (&run);
}

/* Behind a long wait it begins to count anew. */
static DlpStep
wait_declared_then_work (DlpElement *self, gpointer data, GError **error)
{
  guint *n = data;

  if (++*n == 3)
    return DLP_STEP_END;
  dlp_element_set_status (self, "retry in 42 s");
  usleep (700000);
  dlp_element_set_status (self, NULL);
  usleep (250000);
  script_emit (self, "x");
  return DLP_STEP_MORE;
}

static void
test_declared_again (void)
{
  guint n = 0, m = 0;
  Run run;

  run_init (&run);
  add_chain (&run, "first", wait_declared_then_work, &n, "last", take);
  add_chain (&run, "second", wait_declared_then_work, &m, "other", take);
  start (&run);
  while (dlp_pipeline_get_status (run.pipeline) != DLP_PIPELINE_FINISHED)
    usleep (1000);
  g_assert_false (was_said ("nothing has moved"));
  run_end (&run);
}

static gboolean
start_declared (DlpElement *self, gpointer data, GError **error)
{
  dlp_element_set_status (self, "retry in 42 s");
  hang ();
  dlp_element_set_status (self, NULL);
  return TRUE;
}

/* Those that have started before it do nothing yet. */
static void
test_start_declared (void)
{
  DlpElement *second;
  Run run;

  run_init (&run);
  add_chain (&run, "first", emit_and_end, NULL, "last", take);
  second = add (&run, "script-source", "second", emit_and_end, NULL);
  script_set_start (second, start_declared);
  script_link (run.pipeline, second, add (&run, "script-end", "other", take, NULL));
  start (&run);
  expect_nothing (&run);
}

/* ---- before the run ---- */

static void
add_slow_to_prepare (Run *self, ScriptStart negotiate)
{
  DlpElement *slow = add (self, "script-source", "slow", emit_and_end, NULL);

  script_set_negotiate (slow, negotiate);
  script_link (self->pipeline, slow, add (self, "script-end", "last", take, NULL));
}

static void
test_negotiate (void)
{
  static const char *const others[] = { "last", NULL };
  Run run;

  run_init (&run);
  add_slow_to_prepare (&run, start_slowly);
  start (&run);
  expect_hang (&run, "; slow is negotiating", others);
}

static void
test_negotiate_declared (void)
{
  Run run;

  run_init (&run);
  add_slow_to_prepare (&run, start_declared);
  start (&run);
  expect_nothing (&run);
}

static gpointer
let_go (gpointer data)
{
  wait_for ("; slow is negotiating");
  g_atomic_int_set (&hold, FALSE);
  return NULL;
}

/* prepare() and check() by themselves. What hung for long comes to its end all the same: then they
 * fail only where they are to. */
static void
test_prepare (void)
{
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GError) kept = NULL;
      GThread *thread;
      gboolean ok;
      Run run;

      run_init (&run);
      add_slow_to_prepare (&run, start_slowly);
      thread = g_thread_new ("let-go", let_go, NULL);
      ok = i == 0 ? dlp_pipeline_prepare (run.pipeline, NULL, &error) :
                    dlp_pipeline_check (run.pipeline, NULL, &error);
      g_thread_join (thread);
      kept = dlp_pipeline_get_error (run.pipeline);
      if (action == DLP_STALL_ACTION_FAIL)
        {
          g_assert_false (ok);
          g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STALLED);
          g_assert_error (kept, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STALLED);
          g_assert_nonnull (strstr (error->message, "; slow is negotiating"));
          if (i == 0)
            g_assert_cmpint (dlp_pipeline_get_status (run.pipeline), ==, DLP_PIPELINE_FAILED);
        }
      else
        {
          g_assert_no_error (error);
          g_assert_true (ok);
          g_assert_no_error (kept);
        }
      g_object_unref (run.pipeline);
    }
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

static void
add_both (const char *name, void (*func) (void))
{
  g_autofree char *report = g_strconcat ("/watchdog/", name, NULL);
  g_autofree char *fail = g_strconcat ("/watchdog/fail/", name, NULL);

  g_test_add_func (report, func);
  add_with_fail (fail, func);
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
  add_both ("beside-declared", test_beside_declared);
  add_both ("work-beside-declared", test_work_beside_declared);
  add_both ("behind-declared", test_behind_declared);
  add_both ("work-behind-declared", test_work_behind_declared);
  add_both ("ring-beside-declared", test_ring_beside_declared);
  add_with_fail ("/watchdog/fail/starved-by-declared", test_starved_by_declared);
  add_with_fail ("/watchdog/fail/blocked-by-declared", test_blocked_by_declared);
  add_with_fail ("/watchdog/fail/sequential-declared", test_sequential_declared);
  add_with_fail ("/watchdog/fail/declared-again", test_declared_again);
  add_with_fail ("/watchdog/fail/start-declared", test_start_declared);
  add_both ("negotiate", test_negotiate);
  add_with_fail ("/watchdog/fail/negotiate-declared", test_negotiate_declared);
  add_both ("prepare", test_prepare);
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
