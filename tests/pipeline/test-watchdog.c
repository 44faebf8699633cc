/* SPDX-License-Identifier: MIT */

/* A run that does not move is reported with the element that hangs. */

#include <semaphore.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "script-element.h"

#define STALL "0.5"

static GMutex lock;
static GString *said; /* lock */
static gboolean hold; /* atomic: what hangs goes on hanging */

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
run_start (Run *self, ScriptStep source, gpointer data, ScriptStep end, ScriptStart start)
{
  DlpElement *a, *b;

  g_mutex_lock (&lock);
  g_string_truncate (said, 0);
  g_mutex_unlock (&lock);
  g_atomic_int_set (&hold, TRUE);
  self->error = NULL;
  self->pipeline = dlp_pipeline_new ();
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
  code = g_test_run ();
  g_string_free (said, TRUE);
  return code;
}
