/* SPDX-License-Identifier: MIT */

/* Records of a source that makes one now and then do not wait for their record batch to be full. */

#include <dlp-harness.h>
#include <dlpipe/dlp-plugin.h>
#include <dlpipe/dlp-transform.h>

#define N_RECORDS 40
#define PERIOD 20000
#define MAX_DELAY 100000

static guint fast; /* so many records come at once before */

typedef struct
{
  DlpSource parent_instance;

  guint64 next;
} Ticks;

typedef DlpSourceClass TicksClass;

static GType ticks_get_type (void);

G_DEFINE_TYPE (Ticks, ticks, DLP_TYPE_SOURCE)

static gboolean
ticks_negotiate (DlpElement *element, GError **error)
{
  g_autoptr (DlpSchema) schema =
      dlp_schema_new (DLP_SCHEMA_RECORDS, 1, (const char *const[]){ "made" },
                      (const DlpFieldType[]){ DLP_FIELD_INT64 }, NULL);

  dlp_pad_set_schema (dlp_element_get_output (element, 0), schema);
  return TRUE;
}

static DlpStep
ticks_produce (DlpSource *source, DlpPad *out, GCancellable *cancellable, GError **error)
{
  Ticks *self = (Ticks *) source;

  if (self->next >= fast)
    g_usleep (PERIOD);
  dlp_record_batch_builder_append_int64 (dlp_pad_get_builder (out), 0, g_get_monotonic_time ());
  dlp_pad_end_record (out, &(DlpCoordinate){ .row = self->next });
  return ++self->next < fast + N_RECORDS ? DLP_STEP_MORE : DLP_STEP_END;
}

static void
ticks_class_init (TicksClass *klass)
{
  DLP_ELEMENT_CLASS (klass)->negotiate = ticks_negotiate;
  klass->produce = ticks_produce;
}

static void
ticks_init (Ticks *self)
{
}

static gint64 delays[N_RECORDS];
static guint64 n_seen;

typedef DlpSink Watch;
typedef DlpSinkClass WatchClass;

static GType watch_get_type (void);

G_DEFINE_TYPE (Watch, watch, DLP_TYPE_SINK)

static gboolean
watch_consume (DlpSink *sink,
               DlpRecordBatch *batch,
               guint row,
               guint n,
               GCancellable *cancellable,
               GError **error)
{
  gint64 now = g_get_monotonic_time ();

  for (guint i = 0; i < n; i++, n_seen++)
    if (n_seen >= fast)
      delays[n_seen - fast] = now - dlp_record_batch_get_int64 (batch, 0, row + i);
  return TRUE;
}

static void
watch_class_init (WatchClass *klass)
{
  klass->consume = watch_consume;
}

static void
watch_init (Watch *self)
{
}

/* @first: how many may come later, where nobody knows yet that the source has become slow. */
static void
check_delays (const char *graph, DlpRunnerKind runner, guint first)
{
  const DlpCheckSettings settings = { .runner = runner, .workers = 1 };
  g_autoptr (GError) error = NULL;
  guint n_late = 0;

  n_seen = 0;
  dlp_check_run (graph, &settings, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (n_seen, ==, fast + N_RECORDS);
  for (guint i = first; i < N_RECORDS; i++)
    n_late += delays[i] > MAX_DELAY;
  g_test_message ("of %u records %u came late; the last took %" G_GINT64_FORMAT " us",
                  N_RECORDS - first, n_late, delays[N_RECORDS - 1]);
  /* The machine may be busy; where they wait for their record batch all do but the last few. */
  g_assert_cmpuint (n_late, <=, N_RECORDS / 2);
}

static void
test_slow (void)
{
  fast = 0;
  check_delays ("ticks ! watch", DLP_RUNNER_THREADS, 0);
  check_delays ("ticks ! watch", DLP_RUNNER_POOL, 0);
  check_delays ("ticks ! watch", DLP_RUNNER_SEQUENTIAL, 0);
}

static void
test_slow_after_fast (void)
{
  fast = 100000;
  check_delays ("ticks ! watch", DLP_RUNNER_THREADS, 8);
}

static void
add_element (const char *name, GType type)
{
  g_autoptr (GError) error = NULL;

  dlp_registry_add_element (name, type, &error);
  g_assert_no_error (error);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  add_element ("ticks", ticks_get_type ());
  add_element ("watch", watch_get_type ());
  g_test_add_func ("/slow-source/slow", test_slow);
  g_test_add_func ("/slow-source/slow-after-fast", test_slow_after_fast);
  return g_test_run ();
}
