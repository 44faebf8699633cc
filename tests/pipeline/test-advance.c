/* SPDX-License-Identifier: MIT */

/* A program that leaves a stage while the pipeline runs, and goes on from states of it. */

#include <string.h>

#include <dlpipe/dlp-stages.h>

#include "app-rig.h"

#define FIRST 500
#define SECOND 60

static const char *const graph =
    "check-source records=500 ! s.  check-source records=40 ! m.  check-source records=20 ! m. "
    "mix name=m ! shuffle size=7 ! s.  stages name=s ! app-sink name=out max-batches=1";
static const char *const batch_graph =
    "check-source records=500 ! s.  check-source records=40 ! m.  check-source records=20 ! m. "
    "mix name=m ! shuffle size=7 ! s.  stages name=s ! batch size=8,5 ! app-sink name=out "
    "max-batches=1";

static DlpStages *
get_stages (AppRig *rig)
{
  return DLP_STAGES (dlp_pipeline_get_element (rig->pipeline, "s"));
}

static void
add_coordinates (GPtrArray *lines, DlpRecordBatch *batch)
{
  for (guint i = 0; i < dlp_record_batch_get_length (batch); i++)
    {
      const DlpCoordinate *at = dlp_record_batch_get_coordinate (batch, i);

      g_ptr_array_add (lines, g_strdup_printf ("%u %u %" G_GUINT64_FORMAT, at->stage, at->source,
                                               (guint64) at->row));
    }
}

/* At least @n records; G_MAXUINT: all. Of batches, whole ones. */
static void
pull (AppRig *rig, guint n, GPtrArray *lines)
{
  guint begin = lines->len;

  while (lines->len - begin < n)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (DlpRecordBatch) batch = dlp_app_sink_pull (rig->out, 1, NULL, &error);

      g_assert_no_error (error);
      if (batch == NULL)
        return;
      add_coordinates (lines, batch);
    }
}

/* Little is queued, so that the stages are not far ahead of the program. */
static void
prepare (AppRig *rig, DlpPipeline *pipeline, guint number)
{
  g_autoptr (GError) error = NULL;

  *rig = (AppRig){ .pipeline = pipeline };
  g_object_set (pipeline, "runner", (DlpRunnerKind) (number % 3), "link-batches", 1,
                "batch-records", 1 + number % 5, NULL);
  dlp_pipeline_prepare (pipeline, NULL, &error);
  g_assert_no_error (error);
  rig->in = (DlpAppSource *) dlp_pipeline_get_element (pipeline, "in");
  rig->out = (DlpAppSink *) dlp_pipeline_get_element (pipeline, "out");
}

static void
begin (AppRig *rig, const char *text, guint number)
{
  g_autoptr (GError) error = NULL;
  DlpPipeline *pipeline = dlp_pipeline_new_from_string (text, &error);

  g_assert_no_error (error);
  prepare (rig, pipeline, number);
  app_rig_start (rig);
}

static guint64
advance (AppRig *rig)
{
  g_autoptr (GError) error = NULL;
  guint64 at = 0;

  dlp_stages_advance (get_stages (rig), &at, &error);
  g_assert_no_error (error);
  return at;
}

/* How many records of the first stage there are; all of the second must be behind them. */
static guint
check_lines (GPtrArray *lines)
{
  guint n = 0;

  while (n < lines->len && g_str_has_prefix (g_ptr_array_index (lines, n), "0 "))
    {
      g_autofree char *line = g_strdup_printf ("0 0 %u", n);

      g_assert_cmpstr (g_ptr_array_index (lines, n), ==, line);
      n++;
    }
  g_assert_cmpuint (lines->len, ==, n + SECOND);
  for (guint i = n; i < lines->len; i++)
    g_assert_true (g_str_has_prefix (g_ptr_array_index (lines, i), "1 "));
  return n;
}

static void
test_records (void)
{
  for (guint i = 0; i < dlp_harness_scale (30); i++)
    {
      g_autoptr (GPtrArray) lines = app_lines_new ();
      guint64 at;
      AppRig rig;

      begin (&rig, graph, i);
      pull (&rig, i, lines);
      at = advance (&rig);
      pull (&rig, G_MAXUINT, lines);
      g_assert_cmpuint (at, >=, MIN (i, FIRST));
      g_assert_cmpuint (check_lines (lines), ==, at);
      app_rig_finish (&rig);
    }
}

static void
test_batches (void)
{
  for (guint i = 0; i < dlp_harness_scale (30); i++)
    {
      g_autoptr (GPtrArray) lines = app_lines_new ();
      guint64 at;
      guint n;
      AppRig rig;

      begin (&rig, batch_graph, i);
      pull (&rig, i, lines);
      at = advance (&rig);
      pull (&rig, G_MAXUINT, lines);
      n = check_lines (lines);
      g_assert_cmpuint (n, >=, at);
      g_assert_cmpuint (n, <, at + 8);
      g_assert_true (n % 8 == 0 || n == FIRST);
      app_rig_finish (&rig);
    }
}

static GBytes *
save (AppRig *rig)
{
  g_autoptr (GError) error = NULL;
  GBytes *state;

  dlp_app_sink_commit (rig->out);
  state = dlp_pipeline_save_state (rig->pipeline, NULL, &error);
  g_assert_no_error (error);
  return state;
}

static void
prepare_from (AppRig *rig, GBytes *state, guint number)
{
  g_autoptr (GError) error = NULL;

  DlpPipeline *pipeline = dlp_pipeline_new_from_state_bytes (state, &error);

  g_assert_no_error (error);
  prepare (rig, pipeline, number);
}

/* Whatever was delivered when the state was saved: before the stage is left, or behind. */
static void
check_recorded (const char *text, guint number)
{
  g_autoptr (GPtrArray) all = app_lines_new ();
  g_autoptr (GPtrArray) rest = app_lines_new ();
  g_autoptr (GBytes) state = NULL;
  guint delivered;
  AppRig rig, next;

  begin (&rig, text, number);
  pull (&rig, number * 7 % 50, all);
  advance (&rig);
  pull (&rig, number * 13 % 40, all);
  delivered = all->len;
  state = save (&rig);
  pull (&rig, G_MAXUINT, all);
  app_rig_finish (&rig);
  check_lines (all);

  prepare_from (&next, state, number / 3);
  app_rig_start (&next);
  pull (&next, G_MAXUINT, rest);
  app_rig_finish (&next);
  g_assert_cmpuint (rest->len, ==, all->len - delivered);
  for (guint i = 0; i < rest->len; i++)
    g_assert_cmpstr (g_ptr_array_index (rest, i), ==, g_ptr_array_index (all, delivered + i));
}

static void
test_recorded (void)
{
  for (guint i = 1; i <= dlp_harness_scale (40); i++)
    {
      check_recorded (graph, i);
      check_recorded (batch_graph, i);
    }
}

/* It was delivered already what is made again: the stage is left behind that. */
static void
check_replaying (const char *text, guint number)
{
  g_autoptr (GPtrArray) lines = app_lines_new ();
  g_autoptr (GPtrArray) rest = app_lines_new ();
  g_autoptr (GBytes) state = NULL;
  g_autoptr (GBytes) later = NULL;
  guint64 at;
  guint n;
  AppRig rig;

  begin (&rig, text, number);
  pull (&rig, 20 + number, lines);
  state = save (&rig);
  dlp_pipeline_abort (rig.pipeline);
  app_rig_clear (&rig);

  prepare_from (&rig, state, number);
  at = advance (&rig);
  app_rig_start (&rig);
  pull (&rig, 1, lines);
  n = lines->len;
  later = save (&rig);
  pull (&rig, G_MAXUINT, lines);
  app_rig_finish (&rig);
  g_assert_cmpuint (at, >=, 20 + number);
  g_assert_cmpuint (check_lines (lines), >=, 20 + number);

  prepare_from (&rig, later, number + 1);
  app_rig_start (&rig);
  pull (&rig, G_MAXUINT, rest);
  app_rig_finish (&rig);
  g_assert_cmpuint (rest->len, ==, lines->len - n);
  for (guint i = 0; i < rest->len; i++)
    g_assert_cmpstr (g_ptr_array_index (rest, i), ==, g_ptr_array_index (lines, n + i));
}

static void
test_replaying (void)
{
  for (guint i = 0; i < dlp_harness_scale (20); i++)
    {
      check_replaying (graph, i);
      check_replaying (batch_graph, i);
    }
}

/* Ranks that are not equally far leave the stage at the same place. */
static void
test_at (void)
{
  for (guint i = 0; i < 9; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GPtrArray) lines = app_lines_new ();
      AppRig rig;

      begin (&rig, batch_graph, i);
      if (i == 8)
        dlp_stages_advance_at (get_stages (&rig), 403, &error);
      g_assert_no_error (error);
      pull (&rig, 10 * i, lines);
      dlp_stages_advance_at (get_stages (&rig), 403, &error);
      g_assert_no_error (error);
      pull (&rig, G_MAXUINT, lines);
      g_assert_cmpuint (check_lines (lines), ==, 408);
      app_rig_finish (&rig);
    }
}

static void
assert_refused (DlpStages *stages, guint64 at, const char *part)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (at == G_MAXUINT64 ? dlp_stages_advance (stages, NULL, &error) :
                                      dlp_stages_advance_at (stages, at, &error));
  g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE);
  if (strstr (error->message, part) == NULL)
    g_error ("“%s” is not in: %s", part, error->message);
}

static void
test_refused (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPipeline) unprepared = dlp_pipeline_new_from_string (graph, &error);
  g_autoptr (GPtrArray) lines = app_lines_new ();
  AppRig rig;

  g_assert_no_error (error);
  assert_refused (DLP_STAGES (dlp_pipeline_get_element (unprepared, "s")), G_MAXUINT64,
                  "before the pipeline is prepared");

  begin (&rig, graph, 0);
  pull (&rig, 30, lines);
  assert_refused (get_stages (&rig), 29, "were passed on already");
  g_assert_true (dlp_stages_advance_at (get_stages (&rig), 10000, &error));
  pull (&rig, G_MAXUINT, lines);
  assert_refused (get_stages (&rig), G_MAXUINT64, "the last stage, which is over");
  g_assert_cmpuint (dlp_stages_get_stage (get_stages (&rig)), ==, 2);
  g_assert_cmpuint (check_lines (lines), ==, FIRST);
  app_rig_finish (&rig);
}

/* Of the last stage it is the end; also of a source that gives nothing more for a long time. */
static void
test_last (void)
{
  for (guint i = 0; i < 3; i++)
    {
      g_autoptr (GPtrArray) lines = app_lines_new ();
      g_autoptr (GError) error = NULL;
      g_autoptr (DlpRecordBatch) batch = app_make_batch (0, 3);
      AppRig rig;

      begin (&rig, "app-source name=in schema=text:string ! stages name=s ! app-sink name=out", i);
      dlp_app_source_push (rig.in, batch, NULL, NULL, &error);
      g_assert_no_error (error);
      pull (&rig, 3, lines);
      g_assert_cmpuint (advance (&rig), ==, 3);
      pull (&rig, G_MAXUINT, lines);
      g_assert_cmpuint (lines->len, ==, 3);
      app_rig_finish (&rig);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  g_test_add_func ("/advance/records", test_records);
  g_test_add_func ("/advance/batches", test_batches);
  g_test_add_func ("/advance/recorded", test_recorded);
  g_test_add_func ("/advance/replaying", test_replaying);
  g_test_add_func ("/advance/at", test_at);
  g_test_add_func ("/advance/refused", test_refused);
  g_test_add_func ("/advance/last", test_last);
  return g_test_run ();
}
