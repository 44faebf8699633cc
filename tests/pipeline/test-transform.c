/* SPDX-License-Identifier: MIT */

/* The base class of stateless elements: order within the window, workers, and what is not passed
 * over in silence. */

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include <dlp-harness.h>
#include <dlpipe/dlp-plugin.h>
#include <dlpipe/dlp-random.h>
#include <dlpipe/dlp-transform.h>

/* What the element under test does with the batch that holds record 500. */
typedef enum
{
  TEST_WELL,
  TEST_ERROR,
  TEST_LOSE, /* fails without an error */
  TEST_DROP, /* one record of it */
  TEST_SLOW, /* each batch takes long */
} TestHow;

static TestHow how;
static gint n_made, n_freed, n_processed; /* atomic */

typedef DlpTransform TestTransform;
typedef DlpTransformClass TestTransformClass;

GType test_transform_get_type (void);

G_DEFINE_TYPE (TestTransform, test_transform, DLP_TYPE_TRANSFORM)

static gpointer
test_worker_new (DlpTransform *self)
{
  g_atomic_int_inc (&n_made);
  return g_new0 (guint64, 1);
}

static void
test_worker_free (DlpTransform *self, gpointer worker)
{
  g_atomic_int_inc (&n_freed);
  g_free (worker);
}

static gboolean
test_transform_process (DlpTransform *self,
                        gpointer worker,
                        DlpRecordBatch *batch,
                        guint64 first,
                        DlpTransformOutput *output,
                        GError **error)
{
  guint length = dlp_record_batch_get_length (batch);
  bool special = first <= 500 && 500 < first + length;

  /* A worker is used by one thread at a time. */
  (*(guint64 *) worker)++;
  g_atomic_int_inc (&n_processed);
  if (how == TEST_SLOW)
    usleep (3000);
  else if (dlp_random_draw (dlp_random_init (0, 0, "slow", 0), first) % 4 == 0)
    usleep (100);
  g_assert_cmpuint (length, >, 0);
  g_assert_cmpuint (dlp_record_batch_get_coordinate (batch, 0)->row, ==, first);

  if (special && how == TEST_ERROR)
    {
      g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_BAD_RECORD, "record 500 is bad");
      return FALSE;
    }
  if (special && how == TEST_LOSE)
    return FALSE;
  if (special && how == TEST_DROP)
    length--;
  dlp_record_batch_builder_append_rows (dlp_transform_output_get_builder (output, 0), batch, 0,
                                        length);
  dlp_transform_output_count (output, 0, length);
  return TRUE;
}

static void
test_transform_class_init (TestTransformClass *klass)
{
  static const char *const counters[] = { "records", NULL };

  DLP_ELEMENT_CLASS (klass)->flags |= DLP_ELEMENT_ONE_TO_ONE;
  klass->counters = counters;
  klass->worker_new = test_worker_new;
  klass->worker_free = test_worker_free;
  klass->process = test_transform_process;
}

static void
test_transform_init (TestTransform *self)
{
}

static void
reset (TestHow to)
{
  how = to;
  g_atomic_int_set (&n_made, 0);
  g_atomic_int_set (&n_freed, 0);
  g_atomic_int_set (&n_processed, 0);
}

static void
assert_workers_freed (void)
{
  g_assert_cmpint (g_atomic_int_get (&n_made), ==, g_atomic_int_get (&n_freed));
}

static const char *const graph =
    "check-source records=1000 ! test-transform name=t ! check-sink name=k";

static void
test_order (void)
{
  g_autoptr (GHashTable) expected =
      dlp_harness_expect ("check-source records=1000 ! check-sink name=k");
  GPtrArray *want = g_hash_table_lookup (expected, "k");

  for (guint workers = 1; workers <= 7; workers += 2)
    for (guint runner = 0; runner < 3; runner++)
      {
        DlpHarnessSettings settings = { DLP_RUNNER_THREADS + runner, workers, 0, 7, TRUE, 0 };
        g_autoptr (GError) error = NULL;
        GPtrArray *got;

        reset (TEST_WELL);
        dlp_harness_run (graph, &settings, &error);
        g_assert_no_error (error);
        got = dlp_check_sink_get_lines ("k");
        g_assert_cmpuint (got->len, ==, want->len);
        for (guint i = 0; i < want->len; i++)
          g_assert_cmpstr (g_ptr_array_index (got, i), ==, g_ptr_array_index (want, i));
        g_assert_cmpint (g_atomic_int_get (&n_made), >=, 1);
        g_assert_cmpint (g_atomic_int_get (&n_made), <=, (gint) workers);
        assert_workers_freed ();
      }
}

static void
assert_fails (TestHow with, GQuark domain, int code, const char *part)
{
  for (guint i = 0; i < 6; i++)
    {
      DlpHarnessSettings settings = {
        i % 2 == 0 ? DLP_RUNNER_THREADS : DLP_RUNNER_SEQUENTIAL, 1 + i, 0, 5, TRUE, 0
      };
      g_autoptr (GError) error = NULL;
      GPtrArray *got;

      reset (with);
      g_assert_false (dlp_harness_run (graph, &settings, &error));
      g_assert_error (error, domain, code);
      if (strstr (error->message, part) == NULL || strstr (error->message, "t: ") == NULL)
        g_error ("“%s” is not in: %s", part, error->message);
      /* Nothing behind it came out. */
      got = dlp_check_sink_get_lines ("k");
      g_assert_cmpuint (got->len, <=, 500);
      assert_workers_freed ();
    }
}

static void
test_error (void)
{
  assert_fails (TEST_ERROR, DLP_DATA_ERROR, DLP_DATA_ERROR_BAD_RECORD, "record 500 is bad");
}

static void
test_lose (void)
{
  assert_fails (TEST_LOSE, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_INTERNAL,
                "failed without an error");
}

static void
test_drop (void)
{
  assert_fails (TEST_DROP, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_INTERNAL, "one for each");
}

/* What is out at a stop is waited for, what is still queued is left; the state speaks of what was
 * released. */
static void
test_stop (void)
{
  reset (TEST_SLOW);
  dlp_harness_check_resume ("check-source records=60 ! test-transform ! check-sink name=k", 7);
  assert_workers_freed ();
  reset (TEST_WELL);
  dlp_harness_check_resume ("check-source records=200 ! test-transform ! check-sink name=k", 0);
  assert_workers_freed ();
}

/* The window is bounded: a sink that does not take holds the workers up. */
static void
test_window (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_string (
      "check-source records=100k ! test-transform ! check-sink name=k stop-after=1", &error);

  g_assert_no_error (error);
  dlp_check_sink_clear ();
  dlp_check_sink_set_pipeline (pipeline);
  g_object_set (pipeline, "workers", 2, "batch-records", 1, "link-batches", 1, NULL);
  reset (TEST_WELL);
  g_assert_false (dlp_pipeline_run (pipeline, NULL, &error));
  g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED);
  /* Six in the window, one in the link, and what the sink took before it heard of its stop. */
  g_assert_cmpint (g_atomic_int_get (&n_processed), <, 40);
}

/* A report may be asked for while workers run. */
static void
test_counters (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_string (graph, &error);
  g_autofree char *json = NULL;

  g_assert_no_error (error);
  dlp_check_sink_clear ();
  reset (TEST_WELL);
  dlp_pipeline_run (pipeline, NULL, &error);
  g_assert_no_error (error);
  json = dlp_pipeline_get_report_json (pipeline);
  g_assert_nonnull (strstr (json, "\"records\": 1000"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  g_assert_true (dlp_registry_add_element ("test-transform", test_transform_get_type (), NULL));
  g_test_add_func ("/transform/order", test_order);
  g_test_add_func ("/transform/error", test_error);
  g_test_add_func ("/transform/lose", test_lose);
  g_test_add_func ("/transform/drop", test_drop);
  g_test_add_func ("/transform/stop", test_stop);
  g_test_add_func ("/transform/window", test_window);
  g_test_add_func ("/transform/counters", test_counters);
  return g_test_run ();
}
