/* SPDX-License-Identifier: MIT */

/* The main job, killed at any instant and started again, writes what an undisturbed run does. */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch-rig.h"

#define CHECKPOINT_EVERY "20ms"
#define MIN_CHECKPOINTS 10
#define GRACE (20 * G_USEC_PER_SEC)
#define MANY_RUNS 200 /* to the end of one, after kills; more is no progress */

typedef struct
{
  char *graph;
  gint64 duration; /* us */
  char *bin;
  char *idx;
  char *list;
  char *digests;
} Undisturbed;

static Undisturbed whole;

static char *
make_graph (guint epochs)
{
  const char *data = launch_rig_get_data ();

  return g_strdup_printf (
      "mix name=m weights=\"3,1\" ! tokenizer model=gpt2 ! shuffle size=500 "
      "! megatron-sink location=out "
      "file-source location=\"%s/sample/*.jsonl.zst\" epochs=%u ! jsonl-reader field=text ! m. "
      "file-source location=\"%s/sample/*.jsonl.gz\" epochs=%u ! jsonl-reader field=text ! m.",
      data, epochs, data, epochs);
}

static void
start (LaunchRig *rig, const char *graph)
{
  const char *arguments[] = { "--checkpoint-every", CHECKPOINT_EVERY, "--progress", "none",
                              "--summary",          "summary.json",   graph,        NULL };

  launch_rig_start (rig, arguments, NULL);
}

static void
check_finished (LaunchRig *rig)
{
  if (rig->exit_code != 0)
    g_error ("exit code %d, signal %d:\n%s", rig->exit_code, rig->killed_by, rig->err);
}

/* Of the newest checkpoint. */
static guint
count_checkpoints (LaunchRig *rig)
{
  g_autofree char *list = launch_rig_list (rig, "out.dlpipe");
  g_auto (GStrv) names = g_strsplit (list, " ", -1);
  guint newest = 0;

  for (guint i = 0; names[i] != NULL; i++)
    if (g_str_has_prefix (names[i], "checkpoint-"))
      newest = MAX (newest, (guint) strtoul (names[i] + strlen ("checkpoint-"), NULL, 10));
  return newest;
}

/* The digests of the records, the counts and the bad ones: all that must not depend on kills. */
static char *
read_digests (LaunchRig *rig)
{
  static const char *const keys[] = { "\"digest\"", "\"records\"", "\"tokens\"", "\"bad-records\"",
                                      "\"fraction\"" };
  g_autofree char *path = launch_rig_path (rig, "summary.json");
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  g_autoptr (GError) error = NULL;
  GString *found = g_string_new (NULL);

  g_file_get_contents (path, &text, NULL, &error);
  g_assert_no_error (error);
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    for (guint k = 0; k < G_N_ELEMENTS (keys); k++)
      if (strstr (lines[i], keys[k]) != NULL)
        g_string_append_printf (found, "%s\n", lines[i]);
  return g_string_free (found, FALSE);
}

/* With so many epochs that there are enough checkpoints. */
static void
run_undisturbed (void)
{
  g_autoptr (LaunchRig) rig = launch_rig_new ();

  for (guint epochs = 4; whole.bin == NULL; epochs += epochs / 2)
    {
      g_autofree char *graph = make_graph (epochs);
      gint64 begin = g_get_monotonic_time ();

      g_assert_cmpuint (epochs, <=, 256);
      launch_rig_clear (rig);
      start (rig, graph);
      g_assert_true (launch_rig_wait (rig, G_MAXINT64 / 2));
      check_finished (rig);
      if (count_checkpoints (rig) < MIN_CHECKPOINTS)
        continue;
      whole.duration = g_get_monotonic_time () - begin;
      whole.graph = g_steal_pointer (&graph);
      whole.bin = launch_rig_hash (rig, "out.bin");
      whole.idx = launch_rig_hash (rig, "out.idx");
      whole.list = launch_rig_list (rig, NULL);
      whole.digests = read_digests (rig);
      g_test_message ("%u epochs, %.2f s, %u checkpoints", epochs, whole.duration / 1e6,
                      count_checkpoints (rig));
    }
}

static void
check_output (LaunchRig *rig)
{
  g_autofree char *bin = launch_rig_hash (rig, "out.bin");
  g_autofree char *idx = launch_rig_hash (rig, "out.idx");
  g_autofree char *list = launch_rig_list (rig, NULL);
  g_autofree char *state = launch_rig_list (rig, "out.dlpipe");
  g_autofree char *digests = read_digests (rig);

  g_assert_cmpstr (bin, ==, whole.bin);
  g_assert_cmpstr (idx, ==, whole.idx);
  g_assert_cmpstr (list, ==, whole.list);
  g_assert_cmpstr (digests, ==, whole.digests);
  /* Whatever is half written has a name that begins with a dot. */
  g_assert_false (state[0] == '.' || strstr (state, " .") != NULL);
}

/* One run with a signal at a random time. TRUE: it came to its end before. */
static gboolean
run_with_signal (LaunchRig *rig, int number)
{
  gint64 at = (gint64) (g_test_rand_double () * 2 * (double) whole.duration);
  gboolean ended;

  start (rig, whole.graph);
  ended = launch_rig_wait (rig, at);
  if (!ended)
    {
      kill (rig->pid, number);
      if (!launch_rig_wait (rig, GRACE))
        g_error ("the run goes on after a signal:\n%s", rig->err);
    }
  if (rig->exit_code == 0)
    return TRUE;

  if (ended)
    g_error ("ended by itself, exit code %d, signal %d:\n%s", rig->exit_code, rig->killed_by,
             rig->err);
  if (number == SIGKILL || rig->exit_code != 75)
    g_assert_cmpint (rig->killed_by, ==, number);
  /* Killed by what it should have caught: only before the program itself began. */
  if (number == SIGTERM && rig->killed_by == number)
    g_assert_cmpstr (rig->err, ==, "");
  return FALSE;
}

static guint
count_signals (void)
{
  const char *kills = g_getenv ("DLPIPE_KILLS");

  return kills != NULL ? (guint) strtoul (kills, NULL, 10) : launch_rig_scale (50);
}

static void
test_signals (gconstpointer data)
{
  int number = GPOINTER_TO_INT (data);
  guint n = count_signals ();
  guint runs = 0, finished = 0;
  g_autoptr (LaunchRig) rig = launch_rig_new ();

  for (guint i = 0; i < n;)
    {
      gboolean end = run_with_signal (rig, number);

      g_assert_cmpuint (++runs, <, MANY_RUNS + 4 * n);
      i += !end;
      if (!end && i < n)
        continue;
      if (!end)
        {
          start (rig, whole.graph);
          g_assert_true (launch_rig_wait (rig, G_MAXINT64 / 2));
          check_finished (rig);
        }
      check_output (rig);
      finished++;
      launch_rig_clear (rig);
    }
  g_test_message ("%u signals in %u runs, %u outputs compared", n, runs, finished);
}

int
main (int argc, char **argv)
{
  int code;

  g_test_init (&argc, &argv, NULL);
  launch_rig_init (argc, argv);
  run_undisturbed ();
  g_test_add_data_func ("/kill/sigkill", GINT_TO_POINTER (SIGKILL), test_signals);
  g_test_add_data_func ("/kill/sigterm", GINT_TO_POINTER (SIGTERM), test_signals);
  code = g_test_run ();

  g_free (whole.graph);
  g_free (whole.bin);
  g_free (whole.idx);
  g_free (whole.list);
  g_free (whole.digests);
  return code;
}
