/* SPDX-License-Identifier: MIT */

/* Where and how often a program hears of a pipeline: in the main context that made it, whatever
 * thread asked, and whatever was done there meanwhile. */

#include <string.h>

#include <dlpipe/dlp-pipeline.h>
#include <glib/gstdio.h>

#include "app-rig.h"

static const char *const graph =
    "check-source name=s records=1000M ! shuffle name=f size=50 ! tee name=t ! app-sink name=out  "
    "t. ! null-sink name=n digest=false";
static const char *const names[] = { "records-in", "records-out", "bytes", "input-level",
                                     "status" };

typedef struct
{
  GThread *thread;
  GMainContext *context;
  DlpPipeline *pipeline;
  GCancellable *cancellable;
  gboolean (*finish) (DlpPipeline *, GAsyncResult *, GError **);
  guint counts[G_N_ELEMENTS (names)]; /* of all elements */
  guint of_one;                       /* records-out of the source */
  guint of_pipeline;                  /* records */
  guint64 last;
  bool returned;
  bool ok;
  GError *error;
} Watch;

static void
note_element (GObject *object, GParamSpec *pspec, gpointer data)
{
  Watch *self = data;

  g_assert_true (g_thread_self () == self->thread);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    self->counts[i] += strcmp (names[i], pspec->name) == 0;
  if (strcmp (pspec->name, "records-out") == 0 &&
      strcmp (dlp_element_get_name (DLP_ELEMENT (object)), "s") == 0)
    {
      self->of_one++;
      g_object_get (object, "records-out", &self->last, NULL);
    }
}

static void
note_pipeline (GObject *object, GParamSpec *pspec, gpointer data)
{
  Watch *self = data;

  g_assert_true (g_thread_self () == self->thread);
  self->of_pipeline++;
}

static void
returned (GObject *source, GAsyncResult *result, gpointer data)
{
  Watch *self = data;

  g_assert_true (g_thread_self () == self->thread);
  g_assert_true (source == G_OBJECT (self->pipeline));
  self->ok = self->finish (self->pipeline, result, &self->error);
  self->returned = true;
}

static void
watch_init (Watch *self, const char *text)
{
  g_autoptr (GError) error = NULL;

  *self = (Watch){ .thread = g_thread_self (), .context = g_main_context_new () };
  g_main_context_push_thread_default (self->context);
  self->pipeline = dlp_pipeline_new_from_string (text, &error);
  g_main_context_pop_thread_default (self->context);
  g_assert_no_error (error);
  self->cancellable = g_cancellable_new ();
  self->finish = dlp_pipeline_run_finish;
}

static void
watch_clear (Watch *self)
{
  g_object_unref (self->cancellable);
  g_object_unref (self->pipeline);
  while (g_main_context_iteration (self->context, FALSE))
    ;
  g_main_context_unref (self->context);
  g_clear_error (&self->error);
}

static void
wait_for_return (Watch *self)
{
  while (!self->returned)
    g_main_context_iteration (self->context, TRUE);
}

/* From a thread with a context of its own, while the pipeline's is another thread's. */
static gpointer
run_from_elsewhere (gpointer data)
{
  Watch *self = data;
  g_autoptr (GMainContext) own = g_main_context_new ();

  g_main_context_push_thread_default (own);
  dlp_pipeline_run_async (self->pipeline, self->cancellable, returned, self);
  g_main_context_pop_thread_default (own);
  g_assert_false (g_main_context_pending (own));
  return NULL;
}

static gboolean
set_true (gpointer data)
{
  *(bool *) data = true;
  return G_SOURCE_REMOVE;
}

static void
iterate (Watch *self, guint ms)
{
  g_autoptr (GSource) timeout = g_timeout_source_new (ms);
  bool over = false;

  g_source_set_callback (timeout, set_true, &over, NULL);
  g_source_attach (timeout, self->context);
  while (!over)
    g_main_context_iteration (self->context, TRUE);
}

static void
pull_some (Watch *self)
{
  DlpAppSink *out = DLP_APP_SINK (dlp_pipeline_get_element (self->pipeline, "out"));

  for (guint i = 0; i < 50; i++)
    {
      g_autoptr (DlpRecordBatch) batch = dlp_app_sink_pull (out, 0, NULL, NULL);

      g_assert_nonnull (batch);
    }
}

static void
assert_rate (Watch *self, gint64 begin)
{
  guint most = (guint) ((g_get_monotonic_time () - begin) * 10 / G_USEC_PER_SEC) + 2;

  g_assert_cmpuint (self->of_pipeline, <=, most);
  g_assert_cmpuint (self->of_one, <=, most);
}

static void
test_notifies (void)
{
  gint64 begin = g_get_monotonic_time ();
  guint64 emitted;
  guint before;
  Watch watch;

  watch_init (&watch, graph);
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (watch.pipeline)); i++)
    {
      g_autoptr (DlpElement) element = g_list_model_get_item (G_LIST_MODEL (watch.pipeline), i);

      g_signal_connect (element, "notify", G_CALLBACK (note_element), &watch);
    }
  g_signal_connect (watch.pipeline, "notify::records", G_CALLBACK (note_pipeline), &watch);
  g_main_context_acquire (watch.context);
  g_thread_join (g_thread_new ("elsewhere", run_from_elsewhere, &watch));
  g_main_context_release (watch.context);

  for (guint i = 0; i < 5; i++)
    {
      pull_some (&watch);
      iterate (&watch, 110);
    }
  g_assert_cmpuint (watch.of_one, >=, 3);
  assert_rate (&watch, begin);

  /* Nothing piles up where nobody listens for long, and what is told then is of that moment. */
  before = watch.of_one;
  for (guint i = 0; i < 5; i++)
    {
      g_usleep (80000);
      pull_some (&watch);
    }
  g_usleep (20000);
  g_assert_cmpuint (watch.of_one, ==, before);
  g_object_get (dlp_pipeline_get_element (watch.pipeline, "s"), "records-out", &emitted, NULL);
  while (g_main_context_iteration (watch.context, FALSE))
    ;
  g_assert_cmpuint (watch.of_one, ==, before + 1);
  g_assert_cmpuint (watch.last, >=, emitted);

  g_cancellable_cancel (watch.cancellable);
  wait_for_return (&watch);
  g_assert_error (watch.error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  assert_rate (&watch, begin);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_assert_cmpuint (watch.counts[i], >=, 1);
  watch_clear (&watch);
}

/* ---- asynchronous calls ---- */

static gpointer
prepare_from_elsewhere (gpointer data)
{
  Watch *self = data;

  dlp_pipeline_prepare_async (self->pipeline, self->cancellable, returned, self);
  return NULL;
}

static void
test_prepare (void)
{
  Watch watch;

  watch_init (&watch, graph);
  watch.finish = dlp_pipeline_prepare_finish;
  g_main_context_acquire (watch.context);
  g_thread_join (g_thread_new ("elsewhere", prepare_from_elsewhere, &watch));
  g_main_context_release (watch.context);
  wait_for_return (&watch);
  g_assert_no_error (watch.error);
  g_assert_true (watch.ok);
  g_assert_cmpint (dlp_pipeline_get_status (watch.pipeline), ==, DLP_PIPELINE_READY);
  watch_clear (&watch);

  watch_init (&watch, graph);
  watch.finish = dlp_pipeline_prepare_finish;
  g_cancellable_cancel (watch.cancellable);
  dlp_pipeline_prepare_async (watch.pipeline, watch.cancellable, returned, &watch);
  wait_for_return (&watch);
  g_assert_error (watch.error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  watch_clear (&watch);

  watch_init (&watch, "check-source");
  watch.finish = dlp_pipeline_prepare_finish;
  dlp_pipeline_prepare_async (watch.pipeline, NULL, returned, &watch);
  wait_for_return (&watch);
  g_assert_error (watch.error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_LINK);
  watch_clear (&watch);
}

/* A run that is asked for while it is being prepared is refused, and is none: it may come later. */
static void
test_run_too_early (void)
{
  char *folder = app_make_folder ();

  for (guint i = 0; i < dlp_harness_scale (15); i++)
    {
      g_autofree char *state = g_strdup_printf ("%s/%u", folder, i);
      gint64 late = g_get_monotonic_time () + 20 * G_USEC_PER_SEC;
      Watch watch, run;

      watch_init (&watch, "check-source records=10 ! null-sink");
      watch.finish = dlp_pipeline_prepare_finish;
      g_object_set (watch.pipeline, "state-dir", state, NULL);
      run = watch;
      run.finish = dlp_pipeline_run_finish;
      dlp_pipeline_prepare_async (watch.pipeline, NULL, returned, &watch);
      if (i % 2 == 0)
        g_usleep (i * 10);
      while (!run.ok)
        {
          g_clear_error (&run.error);
          run.returned = false;
          dlp_pipeline_run_async (watch.pipeline, NULL, returned, &run);
          wait_for_return (&run);
          g_assert_cmpint (g_get_monotonic_time (), <, late);
          if (!run.ok)
            g_assert_error (run.error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE);
        }
      wait_for_return (&watch);
      watch_clear (&watch);
    }
  app_remove_folder (folder);
}

static void
test_check (void)
{
  Watch watch;

  watch_init (&watch, graph);
  watch.finish = dlp_pipeline_check_finish;
  dlp_pipeline_check_async (watch.pipeline, watch.cancellable, returned, &watch);
  wait_for_return (&watch);
  g_assert_true (watch.ok);

  watch.returned = watch.ok = false;
  watch.finish = dlp_pipeline_check_state_finish;
  dlp_pipeline_check_state_async (watch.pipeline, watch.cancellable, returned, &watch);
  wait_for_return (&watch);
  g_assert_true (watch.ok);

  watch.returned = false;
  g_cancellable_cancel (watch.cancellable);
  dlp_pipeline_check_state_async (watch.pipeline, watch.cancellable, returned, &watch);
  wait_for_return (&watch);
  g_assert_error (watch.error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  watch_clear (&watch);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  g_test_add_func ("/notify/notifies", test_notifies);
  g_test_add_func ("/notify/prepare", test_prepare);
  g_test_add_func ("/notify/run-too-early", test_run_too_early);
  g_test_add_func ("/notify/check", test_check);
  return g_test_run ();
}
