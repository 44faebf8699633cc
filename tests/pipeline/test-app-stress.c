/* SPDX-License-Identifier: MIT */

/* Two sources and two sinks, each with a thread of the program, and an end at any time: nobody goes
 * on waiting, and what came is the beginning of what had to come. */

#include <string.h>

#include <dlpipe/dlp-plugin.h>

#include "app-rig.h"

#define RECORDS 3000

static const char *const graph =
    "app-source name=a schema=text:string ! m.  app-source name=b schema=text:string ! m.  "
    "mix name=m weights=2,1 ! shuffle size=50 ! tee name=t ! app-sink name=x max-batches=1  "
    "t. ! app-sink name=y";

typedef enum
{
  END_NONE,
  END_STOP,
  END_ABORT,
  END_CANCEL,
  END_FINISH,
  END_CLOSE,
  END_FAIL,
  END_DROP,
  N_ENDS
} End;

typedef struct
{
  DlpElement *element;
  GCancellable *cancellable;
  GPtrArray *lines;
  GError *error;
  bool over;
  GThread *thread;
} Worker;

static bool
toss (guint n)
{
  return g_random_int_range (0, (gint32) n) == 0;
}

static gpointer
push_all (gpointer data)
{
  Worker *self = data;

  for (guint i = 0; i < RECORDS && self->error == NULL;)
    {
      guint n = (guint) g_random_int_range (1, 200);
      g_autoptr (DlpRecordBatch) batch = app_make_batch (i, MIN (n, RECORDS - i));

      /* A push that was cancelled was not taken. */
      if (toss (8))
        g_cancellable_cancel (self->cancellable);
      if (dlp_app_source_push (DLP_APP_SOURCE (self->element), batch, NULL, self->cancellable,
                               &self->error))
        i += dlp_record_batch_get_length (batch);
      else if (g_error_matches (self->error, G_IO_ERROR, G_IO_ERROR_CANCELLED) &&
               g_cancellable_is_cancelled (self->cancellable))
        g_clear_error (&self->error);
      g_cancellable_reset (self->cancellable);
    }
  if (self->error == NULL)
    dlp_app_source_end (DLP_APP_SOURCE (self->element));
  return NULL;
}

static gpointer
pull_all (gpointer data)
{
  Worker *self = data;

  while (self->error == NULL && !self->over)
    {
      g_autoptr (DlpRecordBatch) batch = NULL;

      if (toss (8))
        g_cancellable_cancel (self->cancellable);
      batch = dlp_app_sink_pull (DLP_APP_SINK (self->element), (guint) g_random_int_range (1, 300),
                                 self->cancellable, &self->error);
      if (batch != NULL)
        app_add_lines (self->lines, batch);
      else if (g_error_matches (self->error, G_IO_ERROR, G_IO_ERROR_CANCELLED) &&
               g_cancellable_is_cancelled (self->cancellable))
        g_clear_error (&self->error);
      else
        self->over = self->error == NULL;
      g_cancellable_reset (self->cancellable);
      if (toss (50))
        g_usleep (300);
    }
  return NULL;
}

static void
worker_start (Worker *self, DlpPipeline *pipeline, const char *name)
{
  bool pushes = name[0] < 'm';

  *self = (Worker){ g_object_ref (dlp_pipeline_get_element (pipeline, name)), g_cancellable_new (),
                    app_lines_new () };
  self->thread = g_thread_new (name, pushes ? push_all : pull_all, self);
}

static void
worker_join (Worker *self)
{
  g_thread_join (self->thread);
}

static void
worker_clear (Worker *self)
{
  g_object_unref (self->element);
  g_object_unref (self->cancellable);
  g_ptr_array_unref (self->lines);
  g_clear_error (&self->error);
}

static void
note_end (GObject *source, GAsyncResult *result, gpointer data)
{
  DlpPipeline *pipeline = DLP_PIPELINE (source);
  g_autoptr (GError) error = NULL;

  *(DlpPipelineStatus *) data = dlp_pipeline_run_finish (pipeline, result, &error) ?
                                    DLP_PIPELINE_FINISHED :
                                    dlp_pipeline_get_status (pipeline);
}

static void
end_it (End end, DlpPipeline **pipeline, GCancellable *cancellable, Worker *workers)
{
  g_autoptr (GError) error = g_error_new (G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED, "cold");

  switch (end)
    {
    case END_STOP:
      dlp_pipeline_stop (*pipeline);
      break;
    case END_ABORT:
      dlp_pipeline_abort (*pipeline);
      break;
    case END_CANCEL:
      g_cancellable_cancel (cancellable);
      break;
    case END_FINISH:
      dlp_pipeline_finish (*pipeline);
      break;
    case END_CLOSE:
      dlp_app_sink_close (DLP_APP_SINK (workers[2].element));
      break;
    case END_FAIL:
      dlp_app_source_fail (DLP_APP_SOURCE (workers[0].element), error);
      break;
    case END_DROP:
      g_clear_object (pipeline);
      break;
    case END_NONE:
    case N_ENDS:
      break;
    }
}

/* Ends that come too late find the run finished. */
static void
check_status (End end, DlpPipelineStatus status)
{
  static const DlpPipelineStatus allowed[N_ENDS] = {
    [END_NONE] = DLP_PIPELINE_FINISHED,   [END_STOP] = DLP_PIPELINE_STOPPED,
    [END_ABORT] = DLP_PIPELINE_ABORTED,   [END_CANCEL] = DLP_PIPELINE_ABORTED,
    [END_FINISH] = DLP_PIPELINE_FINISHED, [END_CLOSE] = DLP_PIPELINE_FINISHED,
    [END_FAIL] = DLP_PIPELINE_FAILED,     [END_DROP] = DLP_PIPELINE_ABORTED,
  };

  if (status != DLP_PIPELINE_FINISHED)
    g_assert_cmpint (status, ==, allowed[end]);
}

static void
check_lines (GPtrArray *lines, GPtrArray *expected, bool whole)
{
  g_assert_cmpuint (lines->len, <=, expected->len);
  for (guint i = 0; i < lines->len; i++)
    g_assert_cmpstr (g_ptr_array_index (lines, i), ==, g_ptr_array_index (expected, i));
  if (whole)
    g_assert_cmpuint (lines->len, ==, expected->len);
}

static void
run (End end, DlpRunnerKind runner, GPtrArray *expected)
{
  static const char *const names[] = { "a", "b", "x", "y" };
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  DlpPipelineStatus status = DLP_PIPELINE_NEW;
  g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_string (graph, NULL);
  Worker workers[4];
  bool whole;

  g_object_set (pipeline, "runner", runner, NULL);
  dlp_pipeline_run_async (pipeline, cancellable, note_end, &status);
  for (guint i = 0; i < 4; i++)
    worker_start (&workers[i], pipeline, names[i]);
  g_usleep ((gulong) g_random_int_range (0, toss (2) ? 2000 : 20000));
  end_it (end, &pipeline, cancellable, workers);
  for (guint i = 0; i < 4; i++)
    worker_join (&workers[i]);
  while (status == DLP_PIPELINE_NEW)
    g_main_context_iteration (NULL, TRUE);

  check_status (end, status);
  /* An input that was ended early changes what the mix draws from then on. */
  whole = status == DLP_PIPELINE_FINISHED && end != END_FINISH && end != END_CLOSE;
  if (expected->len == 0)
    for (guint i = 0; i < workers[3].lines->len; i++)
      g_ptr_array_add (expected, g_strdup (g_ptr_array_index (workers[3].lines, i)));
  for (guint i = 2; i < 4 && end != END_FINISH; i++)
    check_lines (workers[i].lines, expected, whole);
  for (guint i = 0; i < 4; i++)
    worker_clear (&workers[i]);
}

static void
test_any_end (void)
{
  g_autoptr (GPtrArray) expected = app_lines_new ();
  guint n = dlp_harness_scale (90);

  for (guint i = 0; i < n; i++)
    run ((End) (i % N_ENDS), DLP_RUNNER_THREADS + i / N_ENDS % 3, expected);
  g_assert_cmpuint (expected->len, ==, 2 * RECORDS);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  g_test_add_func ("/app/any-end", test_any_end);
  return g_test_run ();
}
