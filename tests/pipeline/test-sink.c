/* SPDX-License-Identifier: MIT */

/* A stop that comes while a sink waits: in consume, in drain, for a checkpoint. */

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include <dlp-harness.h>
#include <dlpipe/dlp-plugin.h>

#define RECORDS 100

typedef enum
{
  WAIT_NEVER,
  WAIT_CONSUME,
  WAIT_DRAIN,
  WAIT_FLUSH,
  WAIT_SYNC,
  WAIT_PUBLISH,
} Wait;

static struct
{
  Wait wait; /* atomic: in the next call of it */
  DlpPipeline *pipeline;
  guint n_waits;
  guint n_drains; /* to their end */
  gboolean was_given_none;
} test;

typedef DlpSink WaitingSink;
typedef DlpSinkClass WaitingSinkClass;

GType waiting_sink_get_type (void);

G_DEFINE_TYPE (WaitingSink, waiting_sink, DLP_TYPE_SINK)

/* Stops the run, then waits until that is heard of. */
static gboolean
wait_in (Wait where, GCancellable *cancellable, GError **error)
{
  GPollFD fd;

  if (__atomic_load_n (&test.wait, __ATOMIC_ACQUIRE) != where)
    return TRUE;
  if (cancellable == NULL)
    {
      test.was_given_none = TRUE;
      return TRUE;
    }
  __atomic_store_n (&test.wait, WAIT_NEVER, __ATOMIC_RELEASE);
  test.n_waits++;
  dlp_pipeline_stop (test.pipeline);
  g_assert_true (g_cancellable_make_pollfd (cancellable, &fd));
  g_assert_cmpint (g_poll (&fd, 1, 20000), ==, 1);
  g_cancellable_release_fd (cancellable);
  return !g_cancellable_set_error_if_cancelled (cancellable, error);
}

static gboolean
waiting_sink_consume (DlpSink *sink,
                      DlpRecordBatch *batch,
                      guint row,
                      guint n,
                      GCancellable *cancellable,
                      GError **error)
{
  return wait_in (WAIT_CONSUME, cancellable, error);
}

static gboolean
waiting_sink_drain (DlpSink *sink, GCancellable *cancellable, GError **error)
{
  if (!wait_in (WAIT_DRAIN, cancellable, error))
    return FALSE;
  test.n_drains++;
  return TRUE;
}

static gboolean
waiting_sink_flush (DlpSink *sink, GCancellable *cancellable, GError **error)
{
  return wait_in (WAIT_FLUSH, cancellable, error);
}

static gboolean
waiting_sink_sync (DlpSink *sink, const DlpState *state, GCancellable *cancellable, GError **error)
{
  return wait_in (WAIT_SYNC, cancellable, error);
}

static gboolean
waiting_sink_publish (DlpSink *sink,
                      const DlpState *state,
                      gboolean complete,
                      GCancellable *cancellable,
                      GError **error)
{
  return wait_in (WAIT_PUBLISH, cancellable, error);
}

static void
waiting_sink_class_init (WaitingSinkClass *klass)
{
  klass->consume = waiting_sink_consume;
  klass->drain = waiting_sink_drain;
  klass->flush = waiting_sink_flush;
  klass->sync = waiting_sink_sync;
  klass->publish = waiting_sink_publish;
}

static void
waiting_sink_init (WaitingSink *self)
{
}

/* ---- runs ---- */

typedef struct
{
  char *state;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->state = g_dir_make_tmp ("dlpipe-sink-XXXXXX", NULL);
  g_assert_nonnull (fixture->state);
  memset (&test, 0, sizeof test);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GDir) dir = g_dir_open (fixture->state, 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (fixture->state, name, NULL);

      g_assert_no_errno (g_unlink (path));
    }
  g_assert_no_errno (g_rmdir (fixture->state));
  g_free (fixture->state);
}

/* The records that the sink has consumed, of all attempts. */
static guint64
run (const char *state, const char *records, GError **error)
{
  g_autofree char *graph =
      g_strdup_printf ("check-source name=s records=%s ! waiting-sink name=k", records);
  g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_string (graph, error);

  g_assert_nonnull (pipeline);
  test.pipeline = pipeline;
  g_object_set (pipeline, "state-dir", state, "checkpoint-interval", G_GINT64_CONSTANT (1000),
                NULL);
  dlp_pipeline_run (pipeline, NULL, error);
  test.pipeline = NULL;
  return dlp_sink_get_n_records (DLP_SINK (dlp_pipeline_get_element (pipeline, "k")));
}

static void
assert_finishes (Fixture *fixture)
{
  g_autoptr (GError) error = NULL;
  guint64 n = run (fixture->state, G_STRINGIFY (RECORDS), &error);

  g_assert_no_error (error);
  g_assert_cmpuint (n, ==, RECORDS);
  g_assert_cmpuint (test.n_drains, ==, 1);
}

static void
test_drain (Fixture *fixture, gconstpointer has_state)
{
  g_autoptr (GError) error = NULL;

  test.wait = WAIT_DRAIN;
  g_assert_cmpuint (run (has_state ? fixture->state : NULL, G_STRINGIFY (RECORDS), &error), ==,
                    RECORDS);
  g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED);
  g_assert_cmpuint (test.n_waits, ==, 1);
  g_assert_cmpuint (test.n_drains, ==, 0);
  if (has_state)
    assert_finishes (fixture);
}

/* In the midst of a record batch a sink has no state to go on from, where there is one. */
static void
test_consume (Fixture *fixture, gconstpointer has_state)
{
  g_autoptr (GError) error = NULL;

  test.wait = WAIT_CONSUME;
  run (has_state ? fixture->state : NULL, G_STRINGIFY (RECORDS), &error);
  g_assert_cmpuint (test.n_waits, ==, 1);
  if (!has_state)
    {
      g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED);
      return;
    }
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  assert_finishes (fixture);
}

/* A checkpoint that a stop interrupts is made again for the stop. */
static void
test_checkpoint (Fixture *fixture, gconstpointer wait)
{
  g_autoptr (GError) error = NULL;
  guint64 before;

  test.wait = GPOINTER_TO_UINT (wait);
  before = run (fixture->state, "1000M", &error);
  g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED);
  g_assert_cmpuint (test.n_waits, ==, 1);
  g_clear_error (&error);

  /* It goes on where it was. */
  test.wait = GPOINTER_TO_UINT (wait);
  g_assert_cmpuint (run (fixture->state, "1000M", &error), >=, before);
  g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED);
}

/* What a complete run does in its end is not to be interrupted. */
static void
test_publish (Fixture *fixture, gconstpointer data)
{
  test.wait = WAIT_PUBLISH;
  assert_finishes (fixture);
  g_assert_true (test.was_given_none);
}

#define ADD(name, func, data) g_test_add ("/sink/" name, Fixture, data, set_up, func, tear_down)

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;

  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  dlp_registry_add_element ("waiting-sink", waiting_sink_get_type (), &error);
  g_assert_no_error (error);
  ADD ("consume", test_consume, GINT_TO_POINTER (TRUE));
  ADD ("consume-without-state", test_consume, NULL);
  ADD ("drain", test_drain, GINT_TO_POINTER (TRUE));
  ADD ("drain-without-state", test_drain, NULL);
  ADD ("flush", test_checkpoint, GUINT_TO_POINTER (WAIT_FLUSH));
  ADD ("sync", test_checkpoint, GUINT_TO_POINTER (WAIT_SYNC));
  ADD ("publish", test_publish, NULL);
  return g_test_run ();
}
