/* SPDX-License-Identifier: MIT */

/* The rule of cursors in the real program: random graphs are killed, stopped and spoilt at random,
 * with other threads and intervals each time, and in the end every sink has what an undisturbed run
 * gives it. DLPIPE_TEST_CASE=N runs one graph again. */

#include <errno.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "fault-rig.h"
#include "random-graph.h"

#define ENDS 100
#define ENDS_A_GRAPH 8
#define RUNS_A_GRAPH 16
#define LONGEST (60 * G_USEC_PER_SEC)

typedef struct
{
  FaultRig *rig;
  guint32 seed;
  gint64 duration;
  guint n_calls;
  guint kills, stops, errors, outputs;
} Case;

static char *inputs;

static void
draw_options (FaultRig *rig)
{
  static const char *const intervals[] = { "1ms", "3ms", "10ms", "30ms" };
  static const char *const workers[] = { "1", "2", "4" };
  const char *options[] = { "--state",
                            rig->state,
                            "--checkpoint-every",
                            intervals[g_test_rand_int_range (0, 4)],
                            "--workers",
                            workers[g_test_rand_int_range (0, 3)],
                            g_test_rand_int_range (0, 5) == 0 ? "--sequential" : "--quiet",
                            NULL };

  memcpy (rig->options, options, sizeof options);
}

static void
fail (Case *self, const char *what)
{
  g_error ("case %u: %s: exit code %d, signal %d:\n%s\n%s\nin %s", self->seed, what,
           self->rig->run->exit_code, self->rig->run->killed_by, self->rig->run->err,
           self->rig->graph, self->rig->dir);
}

static char *
run_undisturbed (Case *self)
{
  g_autoptr (GPtrArray) calls = NULL;
  gint64 begin = g_get_monotonic_time ();
  char *output;

  draw_options (self->rig);
  fault_rig_run (self->rig, NULL, 0);
  self->duration = g_get_monotonic_time () - begin;
  if (self->rig->run->exit_code != 0)
    fail (self, "undisturbed");
  calls = fault_rig_load_log (self->rig);
  self->n_calls = calls->len;
  output = fault_rig_read_output (self->rig);
  launch_rig_clear (self->rig->run);
  return output;
}

static void
run_with_signal (Case *self, int number)
{
  LaunchRig *run = self->rig->run;

  fault_rig_start (self->rig, NULL, 0);
  if (launch_rig_wait (
          run, g_test_rand_int_range (0, (gint32) MIN (self->duration, 1000000) * 3 / 4 + 1)))
    return;
  kill (run->pid, number);
  if (!launch_rig_wait (run, LONGEST))
    fail (self, "it goes on after a signal");
}

/* TRUE: it is complete. */
static gboolean
disturb (Case *self)
{
  LaunchRig *run = self->rig->run;
  gint32 nth = g_test_rand_int_range (0, (gint32) self->n_calls * 2 / 3 + 1);
  g_autofree char *plan = NULL;
  gint kind = g_test_rand_int_range (0, 10);

  draw_options (self->rig);
  if (kind < 4)
    run_with_signal (self, SIGKILL);
  else if (kind < 6)
    run_with_signal (self, SIGTERM);
  else
    {
      plan = kind < 9 ? g_strdup_printf ("kill-before=%d", nth) :
                        g_strdup_printf ("fail=%d,%d", EIO, nth);
      fault_rig_run (self->rig, plan, 0);
    }
  if (run->killed_by == SIGKILL)
    self->kills++;
  else if (run->exit_code == 75 || (run->killed_by == SIGTERM && run->err[0] == '\0'))
    self->stops++;
  else if (kind == 9 && (run->exit_code == 1 || run->exit_code == 2))
    self->errors++;
  else if (run->exit_code != 0)
    fail (self, plan != NULL ? plan : "after a signal");
  return run->exit_code == 0;
}

static guint
count_ends (const Case *self)
{
  return self->kills + self->stops + self->errors;
}

static void
check_end (Case *self, const char *expected)
{
  g_autofree char *what = g_strdup_printf ("case %u: %s", self->seed, self->rig->graph);

  fault_rig_check_output (self->rig, expected, what);
  self->outputs++;
  launch_rig_clear (self->rig->run);
}

/* As often as a graph is worth; what comes to its end nevertheless begins again. */
static void
check_case (Case *self)
{
  RandomGraph *graph = random_graph_new (self->seed, inputs);
  g_autofree char *expected = NULL;

  self->rig = fault_rig_new (graph->text);
  self->rig->state = "state.dlpipe";
  self->rig->is_cut = graph->is_cut;
  launch_rig_clear (self->rig->run);
  expected = run_undisturbed (self);
  for (guint i = 0; i < RUNS_A_GRAPH && count_ends (self) < ENDS_A_GRAPH; i++)
    if (disturb (self))
      check_end (self, expected);
  draw_options (self->rig);
  fault_rig_run (self->rig, NULL, 0);
  if (self->rig->run->exit_code != 0)
    fail (self, "and then");
  check_end (self, expected);
  fault_rig_free (self->rig);
  random_graph_free (graph);
}

static void
test_kills (void)
{
  const char *only = g_getenv ("DLPIPE_TEST_CASE");
  guint n = launch_rig_scale (ENDS);
  guint kills = 0, stops = 0, errors = 0, outputs = 0, graphs = 0;

  for (; kills + stops + errors < n; graphs++)
    {
      Case self = { NULL, (guint32) g_test_rand_int_range (0, 1000000000) };

      if (only != NULL)
        self.seed = (guint32) strtoul (only, NULL, 10);
      check_case (&self);
      kills += self.kills;
      stops += self.stops;
      errors += self.errors;
      outputs += self.outputs;
    }
  g_test_message ("%u kills, %u stops and %u errors in %u graphs, %u outputs compared", kills,
                  stops, errors, graphs, outputs);
}

static void
make_inputs (void)
{
  FaultRig *rig = fault_rig_new (NULL);
  g_autofree char *from = launch_rig_path (rig->run, "tiny.tiktoken");
  g_autofree char *to = NULL;

  inputs = g_dir_make_tmp ("dlpipe-inputs-XXXXXX", NULL);
  g_assert_nonnull (inputs);
  to = g_build_filename (inputs, "tiny.tiktoken", NULL);
  g_assert_cmpint (g_rename (from, to), ==, 0);
  random_graph_write_inputs (inputs);
  fault_rig_free (rig);
}

static void
remove_inputs (void)
{
  g_autoptr (GDir) dir = g_dir_open (inputs, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (inputs, name, NULL);

      g_unlink (path);
    }
  g_rmdir (inputs);
  g_free (inputs);
}

int
main (int argc, char **argv)
{
  int code;

  g_test_init (&argc, &argv, NULL);
  fault_rig_init (argc, argv);
  make_inputs ();
  g_test_add_func ("/graphs/kills", test_kills);
  code = g_test_run ();
  remove_inputs ();
  return code;
}
