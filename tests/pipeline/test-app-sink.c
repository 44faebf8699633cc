/* SPDX-License-Identifier: MIT */

#include <string.h>

#include "app-rig.h"

static const DlpRunnerKind runners[] = { DLP_RUNNER_THREADS, DLP_RUNNER_POOL,
                                         DLP_RUNNER_SEQUENTIAL };
static const char *const small =
    "check-source name=s records=100 ! shuffle size=9 ! app-sink name=out";
static const char *const endless = "check-source name=s records=1000M ! app-sink name=out";

/* What null-sink and the like get. */
static void
test_pull (void)
{
  g_autoptr (GHashTable) sinks =
      dlp_harness_expect ("check-source name=s records=3000 ! shuffle size=9 ! check-sink name=k");

  for (guint i = 0; i < G_N_ELEMENTS (runners) * 2; i++)
    {
      g_autoptr (GPtrArray) lines = app_lines_new ();
      g_autoptr (GError) error = NULL;
      AppRig rig;

      app_rig_init (&rig,
                    "check-source name=s records=3000 ! shuffle size=9 ! app-sink name=out "
                    "max-batches=2",
                    runners[i / 2], NULL);
      app_rig_start (&rig);
      app_pull_all (rig.out, i % 2 == 0 ? 7 : 0, lines);
      app_assert_equal (lines, g_hash_table_lookup (sinks, "k"));
      /* The end stays the end. */
      g_assert_null (dlp_app_sink_pull (rig.out, 0, NULL, &error));
      g_assert_no_error (error);
      app_rig_join (&rig);
      g_assert_null (dlp_app_sink_try_pull (rig.out, 0, &error));
      g_assert_no_error (error);
      app_rig_finish (&rig);
    }
}

static void
test_no_records (void)
{
  AppRig rig;

  app_rig_init (&rig, "check-source records=0 ! app-sink name=out", DLP_RUNNER_AUTO, NULL);
  app_rig_start (&rig);
  app_rig_finish (&rig);
}

/* ---- asynchronous ---- */

typedef struct
{
  GThread *thread;
  GPtrArray *lines;
  guint n;
  bool over;
  GError *error;
} Watch;

static void
pulled (GObject *source, GAsyncResult *result, gpointer data)
{
  Watch *watch = data;
  g_autoptr (DlpRecordBatch) batch =
      dlp_app_sink_pull_finish (DLP_APP_SINK (source), result, &watch->error);

  g_assert_true (g_thread_self () == watch->thread);
  watch->n++;
  watch->over = batch == NULL;
  if (batch == NULL)
    return;
  app_add_lines (watch->lines, batch);
  dlp_app_sink_pull_async (DLP_APP_SINK (source), 5, NULL, pulled, data);
}

static gpointer
pull_async_elsewhere (gpointer data)
{
  Watch *watch = ((gpointer *) data)[1];
  g_autoptr (GMainContext) own = g_main_context_new ();

  g_main_context_push_thread_default (own);
  dlp_app_sink_pull_async (((gpointer *) data)[0], 5, NULL, pulled, watch);
  g_main_context_pop_thread_default (own);
  return NULL;
}

/* Results come in the context that made the pipeline, also of a call from another thread that has
 * its own, and also where that context is busy meanwhile. */
static void
test_async (void)
{
  g_autoptr (GPtrArray) expected = app_expect (small);

  for (guint i = 0; i < G_N_ELEMENTS (runners); i++)
    {
      g_autoptr (GPtrArray) lines = app_lines_new ();
      g_autoptr (GMainContext) context = g_main_context_new ();
      Watch watch = { .thread = g_thread_self (), .lines = lines };
      gpointer data[2];
      AppRig rig;

      g_main_context_push_thread_default (context);
      app_rig_init (&rig, small, runners[i], NULL);
      g_main_context_pop_thread_default (context);
      app_rig_start (&rig);
      data[0] = rig.out;
      data[1] = &watch;
      g_thread_join (g_thread_new ("pull", pull_async_elsewhere, data));
      g_usleep (20000);
      g_assert_cmpuint (watch.n, ==, 0);
      while (!watch.over)
        g_main_context_iteration (context, TRUE);
      g_assert_no_error (watch.error);
      app_assert_equal (lines, expected);
      app_rig_finish (&rig);
    }
}

static void
keep_result (GObject *source, GAsyncResult *result, gpointer data)
{
  *(GAsyncResult **) data = g_object_ref (result);
}

static GAsyncResult *
wait_for_result (GAsyncResult **result)
{
  while (*result == NULL)
    g_main_context_iteration (NULL, TRUE);
  return *result;
}

/* One at a time, also where the callback of the last one was not called yet. */
static void
test_one_consumer (void)
{
  g_autoptr (GAsyncResult) first = NULL;
  g_autoptr (GAsyncResult) second = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  AppRig rig;

  app_rig_init (&rig, "app-source name=in schema=text:string ! app-sink name=out", DLP_RUNNER_AUTO,
                NULL);
  app_rig_start (&rig);
  dlp_app_sink_pull_async (rig.out, 0, cancellable, keep_result, &first);
  g_assert_null (dlp_app_sink_pull (rig.out, 0, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PENDING);
  g_clear_error (&error);
  dlp_app_sink_pull_async (rig.out, 0, NULL, keep_result, &second);
  g_assert_null (dlp_app_sink_pull_finish (rig.out, wait_for_result (&second), &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PENDING);
  g_clear_error (&error);
  g_assert_null (first);

  g_cancellable_cancel (cancellable);
  g_assert_null (dlp_app_sink_try_pull (rig.out, 0, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PENDING);
  g_clear_error (&error);
  g_assert_null (dlp_app_sink_pull_finish (rig.out, wait_for_result (&first), &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);

  g_assert_null (dlp_app_sink_pull (rig.out, 0, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  g_assert_null (dlp_app_sink_try_pull (rig.out, 0, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK);
  dlp_app_source_end (rig.in);
  app_rig_finish (&rig);
}

/* ---- ends ---- */

static void
test_error (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (runners); i++)
    {
      g_autoptr (GPtrArray) lines = app_lines_new ();
      g_autoptr (GError) own =
          g_error_new (G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED, "the oven is cold");
      DlpRecordBatch *batch;
      AppRig rig;

      app_rig_init (&rig, "app-source name=in schema=text:string ! app-sink name=out max-batches=1",
                    runners[i], NULL);
      app_rig_start (&rig);
      for (guint k = 0; k < 3; k++)
        {
          batch = app_make_batch (k * 10, 10);
          g_assert_true (dlp_app_source_push (rig.in, batch, NULL, NULL, NULL));
          dlp_record_batch_unref (batch);
        }
      dlp_app_source_fail (rig.in, own);
      /* The run fails when the program has what was before. */
      g_usleep (10000);
      g_assert_cmpint (dlp_pipeline_get_status (rig.pipeline), ==, DLP_PIPELINE_RUNNING);
      for (guint k = 0; k < 3; k++)
        {
          g_autoptr (GError) error = NULL;

          while ((batch = dlp_app_sink_pull (rig.out, 7, NULL, &error)) != NULL)
            {
              app_add_lines (lines, batch);
              dlp_record_batch_unref (batch);
            }
          g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED);
          g_assert_nonnull (strstr (error->message, "the oven is cold"));
          g_assert_cmpuint (lines->len, ==, 30);
        }
      app_rig_join (&rig);
      g_assert_error (rig.error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED);
      app_rig_clear (&rig);
    }
}

typedef struct
{
  DlpAppSink *sink;
  gint64 returned;
  GError *error;
} Waiter;

static gpointer
wait_for_record (gpointer data)
{
  Waiter *self = data;

  g_assert_null (dlp_app_sink_pull (self->sink, 0, NULL, &self->error));
  self->returned = g_get_monotonic_time ();
  return NULL;
}

/* Whoever waits is woken at once, also by the end of a pipeline that never ran. */
static void
test_woken (void)
{
  static const struct
  {
    void (*end) (DlpPipeline *);
    int code;
  } ends[] = {
    { dlp_pipeline_stop, DLP_PIPELINE_ERROR_STOPPED },
    { dlp_pipeline_abort, DLP_PIPELINE_ERROR_ABORTED },
    { NULL, DLP_PIPELINE_ERROR_STATE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (runners) * G_N_ELEMENTS (ends); i++)
    {
      guint k = i % G_N_ELEMENTS (ends);
      g_autoptr (DlpAppSink) sink = NULL;
      Waiter waiter = { NULL };
      gint64 ended;
      GThread *thread;
      AppRig rig;

      app_rig_init (&rig, "app-source name=in schema=text:string ! app-sink name=out",
                    runners[i / G_N_ELEMENTS (ends)], NULL);
      waiter.sink = sink = g_object_ref (rig.out);
      thread = g_thread_new ("pull", wait_for_record, &waiter);
      if (ends[k].end != NULL)
        app_rig_start (&rig);
      g_usleep (3000);
      ended = g_get_monotonic_time ();
      if (ends[k].end != NULL)
        ends[k].end (rig.pipeline);
      else
        g_clear_object (&rig.pipeline);
      g_thread_join (thread);
      g_assert_cmpint (waiter.returned - ended, <, G_USEC_PER_SEC);
      g_assert_error (waiter.error, DLP_PIPELINE_ERROR, ends[k].code);
      g_clear_error (&waiter.error);
      app_rig_clear (&rig);
    }
}

/* After a stop nothing is given any more, whatever was ready. */
static void
test_stopped (void)
{
  g_autoptr (GError) error = NULL;
  DlpRecordBatch *batch;
  AppRig rig;

  app_rig_init (&rig, endless, DLP_RUNNER_AUTO, NULL);
  app_rig_start (&rig);
  batch = dlp_app_sink_pull (rig.out, 1, NULL, &error);
  g_assert_no_error (error);
  dlp_record_batch_unref (batch);
  g_usleep (5000);
  dlp_pipeline_stop (rig.pipeline);
  g_assert_null (dlp_app_sink_pull (rig.out, 1, NULL, &error));
  g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED);
  app_rig_stop (&rig);
  app_rig_clear (&rig);
}

/* Nor what the element had in its hand just then. */
static void
test_stopped_in_flow (void)
{
  for (guint i = 0; i < dlp_harness_scale (300); i++)
    {
      g_autoptr (GError) error = NULL;
      AppRig rig = { dlp_pipeline_new_from_string (
          "check-source records=1000M ! app-sink name=out max-batches=65536", NULL) };

      g_object_set (rig.pipeline, "runner", runners[i % 3], "batch-records", 1, "random-yields",
                    TRUE, NULL);
      g_assert_true (dlp_pipeline_prepare (rig.pipeline, NULL, NULL));
      rig.out = DLP_APP_SINK (dlp_pipeline_get_element (rig.pipeline, "out"));
      app_rig_start (&rig);
      dlp_record_batch_unref (dlp_app_sink_pull (rig.out, 0, NULL, NULL));
      g_usleep (i % 7 * 100);
      dlp_pipeline_stop (rig.pipeline);
      for (guint k = 0; k < 100; k++)
        {
          g_clear_error (&error);
          g_assert_null (dlp_app_sink_try_pull (rig.out, 0, &error));
          g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED);
        }
      app_rig_stop (&rig);
      app_rig_clear (&rig);
    }
}

static void
test_close (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (runners); i++)
    {
      g_autoptr (GPtrArray) expected = app_expect (small);
      g_autoptr (GPtrArray) lines = app_lines_new ();
      g_autoptr (GError) error = NULL;
      DlpRecordBatch *batch;
      DlpAppSink *other;
      guint64 in;
      AppRig rig;

      app_rig_init (&rig,
                    "check-source name=s records=100 ! shuffle size=9 ! tee name=t ! app-sink "
                    "name=out  t. ! app-sink name=other max-batches=1",
                    runners[i], NULL);
      other = DLP_APP_SINK (dlp_pipeline_get_element (rig.pipeline, "other"));
      app_rig_start (&rig);
      batch = dlp_app_sink_pull (other, 3, NULL, &error);
      g_assert_no_error (error);
      dlp_record_batch_unref (batch);
      dlp_app_sink_close (other);
      g_assert_null (dlp_app_sink_pull (other, 3, NULL, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CLOSED);
      g_clear_error (&error);
      app_pull_all (rig.out, 0, lines);
      app_assert_equal (lines, expected);
      app_rig_join (&rig);
      g_object_get (other, "records-in", &in, NULL);
      g_assert_cmpuint (in, ==, 3);
      g_assert_null (dlp_app_sink_try_pull (other, 3, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CLOSED);
      app_rig_finish (&rig);
    }
}

/* A consumer that waits holds up the source; the wait is said, and no stall. */
static void
test_backpressure (void)
{
  g_autofree char *status = NULL;
  guint64 emitted, again;
  DlpElement *source;
  AppRig rig;

  app_rig_init (&rig, "check-source name=s records=1000M ! app-sink name=out max-bytes=64k",
                DLP_RUNNER_AUTO, NULL);
  source = dlp_pipeline_get_element (rig.pipeline, "s");
  app_rig_start (&rig);
  do
    {
      g_object_get (source, "records-out", &emitted, NULL);
      g_usleep (20000);
      g_object_get (source, "records-out", &again, NULL);
    }
  while (again != emitted || again == 0);
  g_assert_cmpuint (again, <, 1000000);
  g_object_get (rig.out, "status", &status, NULL);
  g_assert_cmpstr (status, ==, "waits for the program to take records");
  app_rig_stop (&rig);
  app_rig_clear (&rig);
}

/* ---- the state ---- */

static guint64
pull_some (AppRig *rig, guint n, GPtrArray *lines)
{
  guint64 first = 0;

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (DlpRecordBatch) batch = dlp_app_sink_pull (rig->out, 1, NULL, &error);

      g_assert_no_error (error);
      if (batch == NULL)
        break;
      if (i == 0)
        first = dlp_record_batch_get_position (batch);
      g_assert_cmpuint (dlp_record_batch_get_position (batch), <=, lines->len);
      g_ptr_array_set_size (lines, (int) dlp_record_batch_get_position (batch));
      app_add_lines (lines, batch);
    }
  return first;
}

/* Stopped behind each record: what was confirmed is not given again, what was not is. */
static void
test_resume (void)
{
  g_autoptr (GPtrArray) expected = app_expect (small);

  for (guint stop_at = 0; stop_at < 100; stop_at += stop_at < 20 ? 1 : 7)
    {
      char *folder = app_make_folder ();
      g_autoptr (GPtrArray) lines = app_lines_new ();
      bool confirm = stop_at % 2 == 0;
      guint64 first;
      AppRig rig;

      app_rig_init (&rig, small, runners[stop_at % 3], folder);
      app_rig_start (&rig);
      pull_some (&rig, stop_at, lines);
      if (confirm)
        dlp_app_sink_commit (rig.out);
      if (stop_at % 5 == 0)
        g_usleep (5000);
      app_rig_stop (&rig);
      app_rig_clear (&rig);

      app_rig_init (&rig, small, runners[stop_at / 3 % 3], folder);
      app_rig_start (&rig);
      first = pull_some (&rig, 1, lines);
      g_assert_cmpuint (first, ==, confirm || stop_at == 0 ? stop_at : stop_at - 1);
      app_pull_all (rig.out, 3, lines);
      app_assert_equal (lines, expected);
      app_rig_finish (&rig);
      app_remove_folder (folder);
    }
}

/* Many attempts of a few records each; digest and counts are those of one. */
static void
test_resume_often (void)
{
  static const char *const graph = "check-source name=s records=300 tokens=true ! shuffle size=40 "
                                   "! limit records=250 ! app-sink "
                                   "name=out";
  g_autoptr (GPtrArray) expected = app_expect (graph);
  DlpDigest digests[2];
  guint64 tokens[2];

  for (guint i = 0; i < 2; i++)
    {
      char *folder = app_make_folder ();
      g_autoptr (GPtrArray) lines = app_lines_new ();
      bool over = false;
      AppRig rig;

      while (!over)
        {
          app_rig_init (&rig, graph, runners[lines->len % 3], folder);
          app_rig_start (&rig);
          pull_some (&rig, i == 0 ? 1000 : 1 + lines->len % 9, lines);
          over = lines->len == expected->len;
          dlp_app_sink_commit (rig.out);
          if (!over)
            app_rig_stop (&rig);
          app_rig_join (&rig);
          dlp_sink_get_digest (DLP_SINK (rig.out), &digests[i]);
          tokens[i] = dlp_sink_get_n_tokens (DLP_SINK (rig.out));
          app_rig_clear (&rig);
        }
      app_assert_equal (lines, expected);
      app_remove_folder (folder);
    }
  g_assert_cmpmem (&digests[0], sizeof digests[0], &digests[1], sizeof digests[1]);
  g_assert_cmpuint (tokens[0], ==, tokens[1]);
  g_assert_cmpuint (tokens[0], >, 0);
}

static void
test_confirm_commit (void)
{
  static const char *const graph =
      "check-source name=s records=100 ! shuffle size=9 ! app-sink name=out confirm=commit";
  g_autoptr (GPtrArray) expected = app_expect (small);
  char *folder = app_make_folder ();
  g_autoptr (GPtrArray) lines = app_lines_new ();
  g_autoptr (GError) error = NULL;
  AppRig rig;

  app_rig_init (&rig, graph, DLP_RUNNER_AUTO, folder);
  app_rig_start (&rig);
  pull_some (&rig, 30, lines);
  dlp_app_sink_commit (rig.out);
  pull_some (&rig, 30, lines);
  app_rig_stop (&rig);
  app_rig_clear (&rig);

  app_rig_init (&rig, graph, DLP_RUNNER_AUTO, folder);
  app_rig_start (&rig);
  g_assert_cmpuint (pull_some (&rig, 70, lines), ==, 30);
  g_assert_null (dlp_app_sink_pull (rig.out, 0, NULL, &error));
  g_assert_no_error (error);
  app_assert_equal (lines, expected);
  g_usleep (10000);
  g_assert_cmpint (dlp_pipeline_get_status (rig.pipeline), ==, DLP_PIPELINE_RUNNING);
  dlp_app_sink_commit (rig.out);
  app_rig_finish (&rig);

  /* The run is complete, and says so again. */
  app_rig_init (&rig, graph, DLP_RUNNER_AUTO, folder);
  g_assert_true (dlp_pipeline_is_complete (rig.pipeline));
  rig.thread = NULL;
  g_assert_true (dlp_pipeline_run (rig.pipeline, NULL, NULL));
  g_assert_null (dlp_app_sink_pull (rig.out, 0, NULL, &error));
  g_assert_no_error (error);
  app_rig_clear (&rig);
  app_remove_folder (folder);
}

/* What was queued is skipped, and its number is said. */
static void
check_approximate (bool async)
{
  static const char *const graph =
      "check-source name=s records=3000 ! app-sink name=out state=approximate max-batches=2";
  char *folder = app_make_folder ();
  g_autoptr (GPtrArray) lines = app_lines_new ();
  g_autoptr (GVariant) report = NULL;
  g_autoptr (DlpRecordBatch) batch = NULL;
  g_autofree char *json = NULL;
  g_autofree char *said = NULL;
  guint64 records_in;
  AppRig rig;

  /* The warning is meant. */
  g_log_set_always_fatal ((GLogLevelFlags) (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL));
  app_rig_init (&rig, graph, DLP_RUNNER_AUTO, folder);
  app_rig_start (&rig);
  pull_some (&rig, 10, lines);
  if (async)
    dlp_app_sink_pull_async (rig.out, 5, NULL, NULL, NULL);
  g_usleep (20000);
  app_rig_stop (&rig);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_object_get (rig.out, "records-in", &records_in, NULL);
  g_assert_cmpuint (records_in, >, 10);
  app_rig_clear (&rig);

  app_rig_init (&rig, graph, DLP_RUNNER_AUTO, folder);
  json = dlp_pipeline_get_report_json (rig.pipeline);
  said = g_strdup_printf ("%" G_GUINT64_FORMAT " records that were queued", records_in - 10);
  g_assert_nonnull (strstr (json, said));
  app_rig_start (&rig);
  batch = dlp_app_sink_pull (rig.out, 0, NULL, NULL);
  g_assert_cmpuint (dlp_record_batch_get_position (batch), ==, records_in);
  app_rig_stop (&rig);
  app_rig_clear (&rig);
  app_remove_folder (folder);
}

static void
test_approximate (void)
{
  check_approximate (false);
}

/* What an asynchronous pull has taken, and its program not got, was queued too. */
static void
test_approximate_async (void)
{
  check_approximate (true);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  g_test_add_func ("/app-sink/pull", test_pull);
  g_test_add_func ("/app-sink/no-records", test_no_records);
  g_test_add_func ("/app-sink/async", test_async);
  g_test_add_func ("/app-sink/one-consumer", test_one_consumer);
  g_test_add_func ("/app-sink/error", test_error);
  g_test_add_func ("/app-sink/woken", test_woken);
  g_test_add_func ("/app-sink/stopped", test_stopped);
  g_test_add_func ("/app-sink/stopped-in-flow", test_stopped_in_flow);
  g_test_add_func ("/app-sink/close", test_close);
  g_test_add_func ("/app-sink/backpressure", test_backpressure);
  g_test_add_func ("/app-sink/resume", test_resume);
  g_test_add_func ("/app-sink/resume-often", test_resume_often);
  g_test_add_func ("/app-sink/confirm-commit", test_confirm_commit);
  g_test_add_func ("/app-sink/approximate", test_approximate);
  g_test_add_func ("/app-sink/approximate-async", test_approximate_async);
  return g_test_run ();
}
