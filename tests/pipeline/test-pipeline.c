/* SPDX-License-Identifier: MIT */

/* The pipeline as programs use it: its ends, its life, what it tells. */

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dlp-harness.h>
#include <dlpipe/dlp-plugin.h>

#include "toys.h"

static const char *const small =
    "check-source name=s records=100 ! shuffle size=9 ! check-sink name=k";
/* Long enough to be met on its way. */
static const char *const endless =
    "check-source name=s records=1000M ! toy-filter ! tee name=t ! null-sink name=a digest=false  "
    "t. ! toy-parallel ! null-sink name=b digest=false";

static DlpPipeline *
make (const char *graph)
{
  g_autoptr (GError) error = NULL;
  DlpPipeline *pipeline = dlp_pipeline_new_from_string (graph, &error);

  g_assert_no_error (error);
  dlp_check_sink_clear ();
  dlp_check_sink_set_pipeline (pipeline);
  toys_set_pipeline (pipeline);
  return pipeline;
}

static void
assert_runs (DlpPipeline *pipeline)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (dlp_pipeline_run (pipeline, NULL, &error) == (error == NULL));
  g_assert_no_error (error);
  g_assert_cmpint (dlp_pipeline_get_status (pipeline), ==, DLP_PIPELINE_FINISHED);
}

static void
assert_fails (DlpPipeline *pipeline, GQuark domain, int code, const char *part)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (dlp_pipeline_run (pipeline, NULL, &error));
  g_assert_error (error, domain, code);
  if (part != NULL && strstr (error->message, part) == NULL)
    g_error ("“%s” is not in: %s", part, error->message);
}

static char *
make_folder (void)
{
  char *folder = g_build_filename (g_get_tmp_dir (), "dlpipe-pipeline-XXXXXX", NULL);

  g_assert_nonnull (g_mkdtemp (folder));
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

/* ---- life ---- */

static void
test_run (void)
{
  g_autoptr (DlpPipeline) pipeline = make (small);

  g_assert_cmpint (dlp_pipeline_get_status (pipeline), ==, DLP_PIPELINE_NEW);
  g_assert_true (dlp_pipeline_prepare (pipeline, NULL, NULL));
  g_assert_cmpint (dlp_pipeline_get_status (pipeline), ==, DLP_PIPELINE_READY);
  assert_runs (pipeline);
  g_assert_cmpuint (dlp_check_sink_get_lines ("k")->len, ==, 100);
  assert_fails (pipeline, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE, "runs once");
}

static void
test_settings_in_time (void)
{
  g_autoptr (DlpPipeline) pipeline = make (small);
  g_autoptr (GError) error = NULL;
  guint64 seed;

  g_object_set (pipeline, "seed", G_GUINT64_CONSTANT (7), NULL);
  g_assert_true (dlp_pipeline_prepare (pipeline, NULL, NULL));
  g_object_get (pipeline, "seed", &seed, NULL);
  g_assert_cmpuint (seed, ==, 7);
  g_assert_false (dlp_pipeline_add (pipeline, dlp_pipeline_get_element (pipeline, "s"), &error));
  g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE);
}

static void
test_check (void)
{
  g_autoptr (DlpPipeline) pipeline = make (small);

  g_assert_true (dlp_pipeline_check (pipeline, NULL, NULL));
  assert_fails (pipeline, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE, NULL);
}

static void
note_gone (gpointer data, GObject *object)
{
  (*(guint *) data)++;
}

static void
test_freed (void)
{
  DlpPipeline *pipeline = make (small);
  guint n_gone = 0;

  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (pipeline)); i++)
    {
      g_autoptr (GObject) element = g_list_model_get_item (G_LIST_MODEL (pipeline), i);

      g_object_weak_ref (element, note_gone, &n_gone);
    }
  g_object_weak_ref (G_OBJECT (pipeline), note_gone, &n_gone);
  assert_runs (pipeline);
  g_object_unref (pipeline);
  g_assert_cmpuint (n_gone, ==, 4);

  /* Also one that was only made, or prepared. */
  g_object_unref (make (small));
  pipeline = make (small);
  g_assert_true (dlp_pipeline_prepare (pipeline, NULL, NULL));
  g_object_unref (pipeline);
}

typedef struct
{
  guint position, removed, added, n;
} Changes;

static void
note_change (GListModel *model, guint position, guint removed, guint added, gpointer data)
{
  Changes *changes = data;

  changes->position = position;
  changes->removed = removed;
  changes->added += added;
  changes->n++;
}

static void
test_list_model (void)
{
  g_autoptr (DlpPipeline) pipeline = make (small);
  g_autoptr (DlpElement) first = g_list_model_get_item (G_LIST_MODEL (pipeline), 0);
  g_autoptr (DlpElement) sink = dlp_element_make ("null-sink", NULL, NULL);
  g_autoptr (GError) error = NULL;
  Changes changes = { 0 };

  g_assert_true (g_list_model_get_item_type (G_LIST_MODEL (pipeline)) == DLP_TYPE_ELEMENT);
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (pipeline)), ==, 3);
  g_assert_cmpstr (dlp_element_get_name (first), ==, "s");
  g_assert_null (g_list_model_get_item (G_LIST_MODEL (pipeline), 3));

  g_signal_connect (pipeline, "items-changed", G_CALLBACK (note_change), &changes);
  g_assert_true (dlp_pipeline_add (pipeline, sink, &error));
  g_assert_cmpuint (changes.n, ==, 1);
  g_assert_cmpuint (changes.position, ==, 3);
  g_assert_cmpuint (changes.removed, ==, 0);
  g_assert_cmpuint (changes.added, ==, 1);
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (pipeline)), ==, 4);
  /* Not linked. */
  assert_fails (pipeline, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_LINK, "not linked");
}

/* ---- ends ---- */

typedef struct
{
  DlpPipeline *pipeline;
  void (*end) (DlpPipeline *pipeline);
  useconds_t after;
  gint over; /* atomic */
} End;

static gpointer
end_later (gpointer data)
{
  End *self = data;

  usleep (self->after);
  /* Before the call of run() it does nothing. */
  while (!g_atomic_int_get (&self->over))
    {
      self->end (self->pipeline);
      usleep (1000);
    }
  return NULL;
}

static void
check_end (void (*end) (DlpPipeline *), DlpPipelineStatus status, int code)
{
  for (guint i = 0; i < dlp_harness_scale (12); i++)
    {
      g_autoptr (DlpPipeline) pipeline = make (endless);
      g_autoptr (GError) error = NULL;
      End what = { pipeline, end, (useconds_t) g_test_rand_int_range (0, 6000), FALSE };
      GThread *thread;

      g_object_set (pipeline, "runner", DLP_RUNNER_THREADS + i % 3, NULL);
      thread = g_thread_new ("end", end_later, &what);
      g_assert_true (dlp_pipeline_run (pipeline, NULL, &error) == (code < 0));
      if (code >= 0)
        g_assert_error (error, DLP_PIPELINE_ERROR, code);
      g_assert_cmpint (dlp_pipeline_get_status (pipeline), ==, status);
      g_atomic_int_set (&what.over, TRUE);
      g_thread_join (thread);
    }
}

static void
test_stop (void)
{
  check_end (dlp_pipeline_stop, DLP_PIPELINE_STOPPED, DLP_PIPELINE_ERROR_STOPPED);
}

static void
test_abort (void)
{
  check_end (dlp_pipeline_abort, DLP_PIPELINE_ABORTED, DLP_PIPELINE_ERROR_ABORTED);
}

static void
test_finish (void)
{
  check_end (dlp_pipeline_finish, DLP_PIPELINE_FINISHED, -1);
}

/* ---- a source that asks to finish ---- */

#define LAST 10

static guint64 finish_at;

typedef struct
{
  DlpSource parent_instance;

  guint64 next;
} AskingSource;

typedef DlpSourceClass AskingSourceClass;

static GType asking_source_get_type (void);

G_DEFINE_TYPE (AskingSource, asking_source, DLP_TYPE_SOURCE)

static gboolean
asking_source_negotiate (DlpElement *element, GError **error)
{
  const char *names[] = { "number" };
  const DlpFieldType types[] = { DLP_FIELD_UINT64 };
  g_autoptr (DlpSchema) schema = dlp_schema_new (DLP_SCHEMA_RECORDS, 1, names, types, NULL);

  dlp_pad_set_schema (dlp_element_get_output (element, 0), schema);
  return TRUE;
}

static DlpStep
asking_source_produce (DlpSource *source, DlpPad *out, GCancellable *cancellable, GError **error)
{
  AskingSource *self = (AskingSource *) source;
  const DlpCoordinate at = { .row = self->next };

  if (self->next == LAST)
    return DLP_STEP_END;
  dlp_record_batch_builder_append_uint64 (dlp_pad_get_builder (out), 0, self->next++);
  dlp_pad_end_record (out, &at);
  if (self->next == finish_at)
    dlp_pipeline_finish (g_object_get_data (G_OBJECT (self), "pipeline"));
  return DLP_STEP_MORE;
}

static void
asking_source_class_init (AskingSourceClass *klass)
{
  DLP_ELEMENT_CLASS (klass)->negotiate = asking_source_negotiate;
  klass->produce = asking_source_produce;
}

static void
asking_source_init (AskingSource *self)
{
}

/* Where only the end was left nothing was cut short. */
static void
test_finish_at_end (void)
{
  for (finish_at = 1; finish_at <= LAST; finish_at++)
    {
      g_autoptr (DlpPipeline) pipeline = make ("asking-source name=s ! check-sink name=k");
      g_autoptr (GVariant) report = NULL;
      gboolean early = -1;

      /* One step more tells that there was something, which is not lost. */
      if (finish_at == LAST - 1)
        continue;
      g_object_set_data (G_OBJECT (dlp_pipeline_get_element (pipeline, "s")), "pipeline", pipeline);
      assert_runs (pipeline);
      report = dlp_pipeline_get_report (pipeline);
      g_assert_true (g_variant_lookup (report, "finished-early", "b", &early));
      g_assert_cmpint (early, ==, finish_at < LAST);
      g_assert_cmpuint (dlp_check_sink_get_lines ("k")->len, ==, MIN (finish_at + 1, LAST));
    }
}

/* None of these does anything before or after. */
static void
test_end_at_rest (void)
{
  g_autoptr (DlpPipeline) pipeline = make (small);

  for (guint i = 0; i < 2; i++)
    {
      dlp_pipeline_stop (pipeline);
      dlp_pipeline_abort (pipeline);
      dlp_pipeline_finish (pipeline);
      dlp_pipeline_pause (pipeline);
      dlp_pipeline_resume (pipeline);
      dlp_pipeline_checkpoint (pipeline);
      if (i == 0)
        assert_runs (pipeline);
    }
  g_assert_cmpint (dlp_pipeline_get_status (pipeline), ==, DLP_PIPELINE_FINISHED);
  g_assert_cmpuint (dlp_check_sink_get_lines ("k")->len, ==, 100);
}

static gpointer
cancel_later (gpointer data)
{
  usleep ((useconds_t) g_random_int_range (0, 6000));
  g_cancellable_cancel (data);
  return NULL;
}

static void
test_cancel (void)
{
  for (guint i = 0; i < dlp_harness_scale (12); i++)
    {
      g_autoptr (DlpPipeline) pipeline = make (endless);
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      g_autoptr (GError) error = NULL;
      GThread *thread = g_thread_new ("cancel", cancel_later, cancellable);

      g_assert_false (dlp_pipeline_run (pipeline, cancellable, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_assert_cmpint (dlp_pipeline_get_status (pipeline), ==, DLP_PIPELINE_ABORTED);
      g_thread_join (thread);
    }
}

static gpointer
run_endless (gpointer data)
{
  g_autoptr (GError) error = NULL;

  dlp_pipeline_run (data, NULL, &error);
  g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED);
  return NULL;
}

static void
wait_for_status (DlpPipeline *pipeline, DlpPipelineStatus status)
{
  while (dlp_pipeline_get_status (pipeline) != status)
    usleep (500);
}

static guint64
get_records (DlpPipeline *pipeline)
{
  guint64 records;

  g_object_get (pipeline, "records", &records, NULL);
  return records;
}

static void
test_pause (void)
{
  for (guint i = 0; i < 3; i++)
    {
      g_autoptr (DlpPipeline) pipeline = make (endless);
      g_autoptr (GError) error = NULL;
      GThread *thread;
      guint64 before;

      g_object_set (pipeline, "runner", DLP_RUNNER_THREADS + i, NULL);
      thread = g_thread_new ("run", run_endless, pipeline);
      wait_for_status (pipeline, DLP_PIPELINE_RUNNING);
      /* Only one run at a time. */
      g_assert_false (dlp_pipeline_run (pipeline, NULL, &error));
      g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE);

      for (guint k = 0; k < 3; k++)
        {
          before = get_records (pipeline);
          while (get_records (pipeline) == before)
            usleep (500);
          dlp_pipeline_pause (pipeline);
          g_assert_cmpint (dlp_pipeline_get_status (pipeline), ==, DLP_PIPELINE_PAUSED);
          usleep (30000);
          before = get_records (pipeline);
          usleep (30000);
          g_assert_cmpuint (get_records (pipeline), ==, before);
          dlp_pipeline_resume (pipeline);
          g_assert_cmpint (dlp_pipeline_get_status (pipeline), ==, DLP_PIPELINE_RUNNING);
        }
      dlp_pipeline_pause (pipeline);
      dlp_pipeline_stop (pipeline);
      g_thread_join (thread);
      g_assert_cmpint (dlp_pipeline_get_status (pipeline), ==, DLP_PIPELINE_STOPPED);
    }
}

/* Anything, from three threads at once. */
static gpointer
meddle (gpointer data)
{
  gint64 until = g_get_monotonic_time () + 60000;

  while (g_get_monotonic_time () < until)
    {
      g_autofree char *json = NULL;

      switch (g_random_int_range (0, 5))
        {
        case 0:
          dlp_pipeline_pause (data);
          break;
        case 1:
          dlp_pipeline_resume (data);
          break;
        case 2:
          dlp_pipeline_checkpoint (data);
          break;
        case 3:
          json = dlp_pipeline_get_report_json (data);
          break;
        default:
          get_records (data);
        }
      usleep ((useconds_t) g_random_int_range (0, 300));
    }
  dlp_pipeline_resume (data);
  (g_random_boolean () ? dlp_pipeline_stop : dlp_pipeline_abort) (data);
  return NULL;
}

static void
test_meddling (void)
{
  for (guint i = 0; i < dlp_harness_scale (6); i++)
    {
      g_autofree char *folder = make_folder ();
      g_autoptr (DlpPipeline) pipeline = make (endless);
      g_autoptr (GError) error = NULL;
      GThread *threads[3];

      g_object_set (pipeline, "runner", DLP_RUNNER_THREADS + i % 3, "state-dir", folder,
                    "checkpoint-interval", G_GINT64_CONSTANT (2000), NULL);
      /* What prepare() sets is not read meanwhile but by notifies and properties. */
      g_assert_true (dlp_pipeline_prepare (pipeline, NULL, NULL));
      for (guint k = 0; k < G_N_ELEMENTS (threads); k++)
        threads[k] = g_thread_new ("meddle", meddle, pipeline);
      g_assert_false (dlp_pipeline_run (pipeline, NULL, &error));
      g_assert_true (error->domain == DLP_PIPELINE_ERROR);
      for (guint k = 0; k < G_N_ELEMENTS (threads); k++)
        g_thread_join (threads[k]);
      remove_folder (folder);
    }
}

static void
test_prepare_cancelled (void)
{
  g_autoptr (DlpPipeline) pipeline = make (endless);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;

  g_cancellable_cancel (cancellable);
  g_assert_false (dlp_pipeline_prepare (pipeline, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  g_assert_true (dlp_pipeline_prepare (pipeline, NULL, &error));
  g_assert_no_error (error);
  g_assert_false (dlp_pipeline_run (pipeline, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_cmpint (dlp_pipeline_get_status (pipeline), ==, DLP_PIPELINE_ABORTED);
}

static void
test_check_state (void)
{
  g_autoptr (DlpPipeline) pipeline = make (endless);
  g_autoptr (GError) error = NULL;

  g_assert_false (dlp_pipeline_check_state (pipeline, NULL, &error));
  g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE);
  g_clear_error (&error);
  g_assert_true (dlp_pipeline_check (pipeline, NULL, &error));
  g_assert_true (dlp_pipeline_check_state (pipeline, NULL, &error));
  g_assert_no_error (error);
  g_assert_false (dlp_pipeline_check_state (pipeline, NULL, &error));
  g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE);
}

/* ---- errors ---- */

typedef DlpSink FailingSink;
typedef DlpSinkClass FailingSinkClass;

GType failing_sink_get_type (void);

G_DEFINE_TYPE (FailingSink, failing_sink, DLP_TYPE_SINK)

static gint n_failures; /* atomic */

static gboolean
failing_sink_consume (DlpSink *sink,
                      DlpRecordBatch *batch,
                      guint row,
                      guint n,
                      GCancellable *cancellable,
                      GError **error)
{
  if (dlp_sink_get_n_records (sink) < 50)
    return TRUE;
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_RANGE, "failure %d",
               g_atomic_int_add (&n_failures, 1));
  return FALSE;
}

static void
failing_sink_class_init (FailingSinkClass *klass)
{
  klass->consume = failing_sink_consume;
}

static void
failing_sink_init (FailingSink *self)
{
}

/* The first error ends the run, and comes out of it with the name of its element. */
static void
test_error (void)
{
  for (guint i = 0; i < 6; i++)
    {
      g_autoptr (DlpPipeline) pipeline =
          make ("check-source records=1000M ! tee name=t ! failing-sink name=one  "
                "t. ! failing-sink name=two");
      g_autoptr (GError) error = NULL;

      g_object_set (pipeline, "runner", DLP_RUNNER_THREADS + i % 3, NULL);
      g_atomic_int_set (&n_failures, 0);
      g_assert_false (dlp_pipeline_run (pipeline, NULL, &error));
      g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_RANGE);
      g_assert_true (g_str_has_prefix (error->message, "one: failure ") ||
                     g_str_has_prefix (error->message, "two: failure "));
      g_assert_cmpint (dlp_pipeline_get_status (pipeline), ==, DLP_PIPELINE_FAILED);
    }
}

static void
test_fork (void)
{
  g_autoptr (DlpPipeline) pipeline = make (endless);
  GThread *thread;
  pid_t pid;
  int status;

  thread = g_thread_new ("run", run_endless, pipeline);
  wait_for_status (pipeline, DLP_PIPELINE_RUNNING);
  pid = fork ();
  g_assert_cmpint (pid, >=, 0);
  if (pid == 0)
    {
      GError *error = NULL;

      /* No lock, no thread, no hang. */
      alarm (20);
      if (dlp_pipeline_run (pipeline, NULL, &error) ||
          !g_error_matches (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_FORKED))
        _exit (2);
      g_clear_error (&error);
      if (dlp_pipeline_prepare (pipeline, NULL, &error) ||
          !g_error_matches (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_FORKED))
        _exit (3);
      dlp_pipeline_stop (pipeline);
      dlp_pipeline_pause (pipeline);
      g_object_unref (pipeline);
      kill (getpid (), SIGKILL);
    }
  while (waitpid (pid, &status, 0) < 0)
    g_assert_cmpint (errno, ==, EINTR);
  g_assert_true (WIFSIGNALED (status));
  g_assert_cmpint (WTERMSIG (status), ==, SIGKILL);

  dlp_pipeline_stop (pipeline);
  g_thread_join (thread);
}

/* ---- async ---- */

typedef struct
{
  GMainLoop *loop;
  GThread *thread;
  guint n_notifies[4]; /* records, status, elapsed, of an element */
  guint64 last;
  bool returned;
  bool ok;
  GError *error;
} Watch;

static void
note_records (GObject *object, GParamSpec *pspec, gpointer data)
{
  Watch *self = data;
  guint64 records;

  g_assert_true (g_thread_self () == self->thread);
  g_object_get (object, "records", &records, NULL);
  g_assert_cmpuint (records, >=, self->last);
  self->last = records;
  self->n_notifies[0]++;
}

static void
note_other (GObject *object, GParamSpec *pspec, gpointer data)
{
  Watch *self = data;

  g_assert_true (g_thread_self () == self->thread);
  if (strcmp (pspec->name, "status") == 0)
    self->n_notifies[1]++;
  else if (strcmp (pspec->name, "elapsed") == 0)
    self->n_notifies[2]++;
  else
    self->n_notifies[3]++;
}

static void
returned (GObject *source, GAsyncResult *result, gpointer data)
{
  Watch *self = data;

  g_assert_true (g_thread_self () == self->thread);
  self->ok = dlp_pipeline_run_finish (DLP_PIPELINE (source), result, &self->error);
  self->returned = true;
  g_main_loop_quit (self->loop);
}

static gboolean
stop_it (gpointer pipeline)
{
  dlp_pipeline_stop (pipeline);
  return G_SOURCE_REMOVE;
}

/* Notifies come in the context that was the thread's at construction, ten a second at most. */
static void
test_async (void)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (DlpPipeline) pipeline = NULL;
  g_autoptr (GSource) timeout = g_timeout_source_new (450);
  Watch watch = { .thread = g_thread_self (), .loop = g_main_loop_new (context, FALSE) };
  gint64 begin = g_get_monotonic_time ();
  double seconds;

  g_main_context_push_thread_default (context);
  pipeline = make (endless);
  g_main_context_pop_thread_default (context);
  g_signal_connect (pipeline, "notify::records", G_CALLBACK (note_records), &watch);
  g_signal_connect (pipeline, "notify::status", G_CALLBACK (note_other), &watch);
  g_signal_connect (pipeline, "notify::elapsed", G_CALLBACK (note_other), &watch);
  g_signal_connect (dlp_pipeline_get_element (pipeline, "a"), "notify::records-in",
                    G_CALLBACK (note_other), &watch);
  dlp_pipeline_run_async (pipeline, NULL, returned, &watch);
  g_source_set_callback (timeout, stop_it, pipeline, NULL);
  g_source_attach (timeout, context);
  g_main_loop_run (watch.loop);
  seconds = (g_get_monotonic_time () - begin) / 1e6;

  g_assert_true (watch.returned && !watch.ok);
  g_assert_error (watch.error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED);
  for (guint i = 0; i < G_N_ELEMENTS (watch.n_notifies); i++)
    {
      g_assert_cmpuint (watch.n_notifies[i], >=, 1);
      g_assert_cmpuint (watch.n_notifies[i], <=, (guint) (seconds * 10) + 1);
    }
  /* What was told last is how it ended. */
  g_assert_cmpuint (watch.last, ==, get_records (pipeline));
  while (g_main_context_iteration (context, FALSE))
    ;
  g_clear_error (&watch.error);
  g_main_loop_unref (watch.loop);
}

static void
test_async_errors (void)
{
  Watch watch = { .thread = g_thread_self (), .loop = g_main_loop_new (NULL, FALSE) };
  g_autoptr (DlpPipeline) pipeline = make ("check-source");
  g_autoptr (DlpPipeline) done = make (small);

  dlp_pipeline_run_async (pipeline, NULL, returned, &watch);
  g_main_loop_run (watch.loop);
  g_assert_error (watch.error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_LINK);
  g_clear_error (&watch.error);

  assert_runs (done);
  dlp_pipeline_run_async (done, NULL, returned, &watch);
  g_main_loop_run (watch.loop);
  g_assert_error (watch.error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE);
  g_clear_error (&watch.error);
  g_main_loop_unref (watch.loop);
}

/* A stop right behind the call is not lost, nor one while it prepares. */
static void
test_async_stop (void)
{
  for (guint i = 0; i < dlp_harness_scale (20); i++)
    {
      Watch watch = { .thread = g_thread_self (), .loop = g_main_loop_new (NULL, FALSE) };
      g_autoptr (DlpPipeline) pipeline = make (endless);

      dlp_pipeline_run_async (pipeline, NULL, returned, &watch);
      if (i % 2 == 1)
        usleep ((useconds_t) g_test_rand_int_range (0, 1000));
      dlp_pipeline_stop (pipeline);
      g_main_loop_run (watch.loop);
      g_assert_error (watch.error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED);
      g_assert_cmpint (dlp_pipeline_get_status (pipeline), ==, DLP_PIPELINE_STOPPED);
      g_clear_error (&watch.error);
      g_main_loop_unref (watch.loop);
    }
}

static void
note_pipeline_gone (gpointer data, GObject *object)
{
  *(bool *) data = true;
}

static void
drop_in_notify (GObject *object, GParamSpec *pspec, gpointer data)
{
  DlpPipeline **pipeline = data;

  g_clear_object (pipeline);
}

static void
drop_in_callback (GObject *source, GAsyncResult *result, gpointer data)
{
  DlpPipeline **pipeline = data;

  g_assert_true (dlp_pipeline_run_finish (DLP_PIPELINE (source), result, NULL));
  g_clear_object (pipeline);
}

static void
note_aborted (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (dlp_pipeline_run_finish (DLP_PIPELINE (source), result, &error));
  g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_ABORTED);
  ++*(guint *) data;
}

static gpointer
drop_in_thread (gpointer data)
{
  usleep (1000);
  g_object_unref (data);
  return NULL;
}

/* A run does not hold its pipeline: whoever gives back the last reference aborts it, wherever that
 * happens. It is freed in its main context, and the callback still comes. */
static void
test_dropped (void)
{
  for (guint i = 0; i < dlp_harness_scale (40); i++)
    {
      DlpPipeline *pipeline = make (i % 4 == 3 ? small : endless);
      bool gone = false;
      guint n_aborted = 0;

      g_object_set (pipeline, "runner", DLP_RUNNER_THREADS + i % 3, NULL);
      g_object_weak_ref (G_OBJECT (pipeline), note_pipeline_gone, &gone);
      if (i % 4 == 1)
        g_signal_connect (pipeline, "notify::elapsed", G_CALLBACK (drop_in_notify), &pipeline);
      if (i % 4 == 3)
        dlp_pipeline_run_async (pipeline, NULL, drop_in_callback, &pipeline);
      else
        dlp_pipeline_run_async (pipeline, NULL, note_aborted, &n_aborted);
      if (i % 8 == 0)
        usleep ((useconds_t) g_test_rand_int_range (0, 3000));
      if (i % 4 == 0)
        g_object_unref (pipeline);
      else if (i % 4 == 2)
        g_thread_unref (g_thread_new ("drop", drop_in_thread, pipeline));
      while (!gone)
        g_main_context_iteration (NULL, TRUE);
      g_assert_cmpuint (n_aborted, ==, i % 4 == 3 ? 0 : 1);
    }
}

/* What the run came to is told, whatever was cancelled afterwards. */
static void
test_async_cancelled_late (void)
{
  Watch watch = { .thread = g_thread_self (), .loop = g_main_loop_new (NULL, FALSE) };
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (DlpPipeline) pipeline = make (small);

  dlp_pipeline_run_async (pipeline, cancellable, returned, &watch);
  wait_for_status (pipeline, DLP_PIPELINE_FINISHED);
  usleep (20000);
  g_cancellable_cancel (cancellable);
  g_main_loop_run (watch.loop);
  g_assert_no_error (watch.error);
  g_assert_true (watch.ok);
  g_main_loop_unref (watch.loop);
}

/* ---- what it tells ---- */

static void
test_progress (void)
{
  g_autoptr (DlpPipeline) pipeline =
      make ("check-source name=s records=64 tokens=true ! check-sink name=k");
  g_autoptr (GVariant) report = NULL;
  g_autoptr (GVariant) elements = NULL;
  g_autofree char *json = NULL;
  DlpPipelineStatus status;
  guint64 records, in, out;
  double fraction, elapsed, eta;
  const char *text;

  g_object_get (pipeline, "fraction", &fraction, "eta", &eta, NULL);
  g_assert_cmpfloat (fraction, ==, -1.0);
  g_assert_cmpfloat (eta, ==, -1.0);
  assert_runs (pipeline);
  g_object_get (pipeline, "status", &status, "records", &records, "fraction", &fraction, "elapsed",
                &elapsed, "eta", &eta, NULL);
  g_assert_cmpint (status, ==, DLP_PIPELINE_FINISHED);
  g_assert_cmpuint (records, ==, 64);
  g_assert_cmpfloat (fraction, ==, 1.0);
  g_assert_cmpfloat (elapsed, >, 0.0);
  g_assert_cmpfloat (eta, ==, 0.0);
  g_object_get (dlp_pipeline_get_element (pipeline, "s"), "records-out", &out, NULL);
  g_object_get (dlp_pipeline_get_element (pipeline, "k"), "records-in", &in, NULL);
  g_assert_cmpuint (out, ==, 64);
  g_assert_cmpuint (in, ==, 64);

  report = dlp_pipeline_get_report (pipeline);
  g_assert_true (g_variant_lookup (report, "status", "&s", &text));
  g_assert_cmpstr (text, ==, "finished");
  g_assert_true (g_variant_lookup (report, "records", "t", &records));
  g_assert_cmpuint (records, ==, 64);
  elements = g_variant_lookup_value (report, "elements", G_VARIANT_TYPE ("aa{sv}"));
  g_assert_cmpuint (g_variant_n_children (elements), ==, 2);
  json = dlp_pipeline_get_report_json (pipeline);
  g_assert_nonnull (strstr (json, "\"records-out\": 64"));
  g_assert_nonnull (strstr (json, "\"digest\": \""));
}

/* Copies of copies too. */
static void
test_copies (void)
{
  static const struct
  {
    const char *graph;
    guint64 records;
  } cases[] = {
    { "check-source records=200 ! tee name=x ! tee name=y ! check-sink name=k  "
      "y. ! check-sink name=l  x. ! check-sink name=m",
      200 },
    { "check-source records=200 ! tee name=x ! check-sink name=m  "
      "x. ! tee name=y ! check-sink name=k  y. ! tee name=z ! check-sink name=l  "
      "z. ! check-sink name=n",
      200 },
    { "check-source records=200 ! tee name=x ! tee name=y ! limit records=30 ! check-sink name=k  "
      "y. ! limit records=70 ! check-sink name=l  x. ! limit records=50 ! check-sink name=m  "
      "check-source records=7 ! check-sink name=n",
      77 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (DlpPipeline) pipeline = make (cases[i].graph);
      guint64 records;

      assert_runs (pipeline);
      g_object_get (pipeline, "records", &records, NULL);
      g_assert_cmpuint (records, ==, cases[i].records);
    }
}

/* Of an element that no run has. */
static void
test_no_input_name (void)
{
  g_autoptr (DlpElement) element = dlp_element_make ("check-sink", "alone", NULL);
  const DlpCoordinate at = { 0 };

  g_assert_null (dlp_element_dup_input_name (element, &at));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  toys_register ();
  g_assert_true (dlp_registry_add_element ("failing-sink", failing_sink_get_type (), NULL));
  g_assert_true (dlp_registry_add_element ("asking-source", asking_source_get_type (), NULL));
  g_test_add_func ("/pipeline/run", test_run);
  g_test_add_func ("/pipeline/settings-in-time", test_settings_in_time);
  g_test_add_func ("/pipeline/check", test_check);
  g_test_add_func ("/pipeline/freed", test_freed);
  g_test_add_func ("/pipeline/list-model", test_list_model);
  g_test_add_func ("/pipeline/stop", test_stop);
  g_test_add_func ("/pipeline/abort", test_abort);
  g_test_add_func ("/pipeline/finish", test_finish);
  g_test_add_func ("/pipeline/finish-at-end", test_finish_at_end);
  g_test_add_func ("/pipeline/end-at-rest", test_end_at_rest);
  g_test_add_func ("/pipeline/cancel", test_cancel);
  g_test_add_func ("/pipeline/pause", test_pause);
  g_test_add_func ("/pipeline/meddling", test_meddling);
  g_test_add_func ("/pipeline/prepare-cancelled", test_prepare_cancelled);
  g_test_add_func ("/pipeline/check-state", test_check_state);
  g_test_add_func ("/pipeline/error", test_error);
  g_test_add_func ("/pipeline/fork", test_fork);
  g_test_add_func ("/pipeline/async", test_async);
  g_test_add_func ("/pipeline/async-errors", test_async_errors);
  g_test_add_func ("/pipeline/async-stop", test_async_stop);
  g_test_add_func ("/pipeline/dropped", test_dropped);
  g_test_add_func ("/pipeline/async-cancelled-late", test_async_cancelled_late);
  g_test_add_func ("/pipeline/progress", test_progress);
  g_test_add_func ("/pipeline/copies", test_copies);
  g_test_add_func ("/pipeline/no-input-name", test_no_input_name);
  return g_test_run ();
}
