/* SPDX-License-Identifier: MIT */

/* Killed before and after each call that changes a file, and once more while it recovers: the same
 * command then ends in the same output. */

#include <glib/gstdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "fault-rig.h"

#define MANY_CALLS 2000
/* Without such a call: a run has not always as many. */
#define MISSES_TO_BE_SURE 5

typedef struct
{
  const char *name;
  const char *how;
  FaultRigFlags flags;
} Kind;

static const Kind kinds[] = {
  { "kill-before", "kill-before", 0 },
  { "kill-after", "kill-after", 0 },
  { "kill-before-elsewhere", "kill-before", FAULT_RIG_REMOTE },
};

static char *expected;

/* FALSE: the run has fewer calls, and ended. */
static gboolean
kill_at (FaultRig *rig, const char *how, guint nth, FaultRigFlags flags)
{
  g_autofree char *plan = g_strdup_printf ("%s=%u", how, nth);

  fault_rig_run (rig, plan, flags);
  if (rig->run->killed_by == SIGKILL)
    return TRUE;
  if (rig->run->exit_code != 0)
    g_error ("%s: exit code %d:\n%s", plan, rig->run->exit_code, rig->run->err);
  return FALSE;
}

static void
recover (FaultRig *rig, FaultRigFlags flags, const char *what)
{
  fault_rig_run (rig, NULL, flags);
  if (rig->run->exit_code != 0)
    g_error ("%s: exit code %d:\n%s\nin %s", what, rig->run->exit_code, rig->run->err,
             rig->run->dir);
  fault_rig_check_output (rig, expected, what);
}

/* Killed there, and @again times once more while it recovers. FALSE: there is no such call. */
static gboolean
check_call (FaultRig *rig, const Kind *kind, guint nth, guint again)
{
  const char *how = kind->how;

  for (guint i = 0; i <= again; i++)
    {
      guint second = (guint) g_test_rand_int_range (0, 120);
      g_autofree char *what = g_strdup_printf ("%s=%u, then %u", how, nth, i > 0 ? second : 0);

      fault_rig_clear (rig);
      if (!kill_at (rig, how, nth, FAULT_RIG_GATES | kind->flags))
        return i > 0;
      if (i > 0)
        kill_at (rig, g_test_rand_bit () ? "kill-before" : "kill-after", second, kind->flags);
      recover (rig, kind->flags, what);
    }
  return TRUE;
}

/* Every @step-th call. */
static void
kill_at_each (const Kind *kind, guint step, guint again)
{
  FaultRig *rig = fault_rig_new (NULL);
  guint n = (guint) g_test_rand_int_range (0, (gint) step);
  guint calls = 0;

  for (guint misses = 0; misses < MISSES_TO_BE_SURE; n += step)
    {
      g_assert_cmpuint (n, <, MANY_CALLS);
      if (check_call (rig, kind, n, again))
        calls++;
      else
        misses++;
    }
  g_test_message ("%s: %u calls, in steps of %u, each also with %u kills while it recovers",
                  kind->name, calls, step, again);
  g_assert_cmpuint (calls * step, >, 100);
  fault_rig_free (rig);
}

static void
test_each (gconstpointer kind)
{
  guint step = MAX (1, 8 / launch_rig_scale (1));

  kill_at_each (kind, step, step == 1 ? 8 : 1);
}

/* After a kill somebody deletes what looks like a stale lock; then more kills. */
static void
test_lock_deleted (void)
{
  FaultRig *rig = fault_rig_new (NULL);
  g_autofree char *lock = g_build_filename (rig->run->dir, rig->state, "lock", NULL);

  for (guint i = 0; i < launch_rig_scale (6); i++)
    {
      guint second = (guint) g_test_rand_int_range (0, 40);
      guint third = (guint) g_test_rand_int_range (10, 40);
      g_autofree char *what =
          g_strdup_printf ("the lock deleted, killed at %u, then %u", second, third);

      fault_rig_clear (rig);
      kill_at (rig, "kill-before", 80, FAULT_RIG_GATES);
      kill_at (rig, "kill-before", 50, 0);
      kill_at (rig, "kill-before", 50, 0);
      g_unlink (lock);
      kill_at (rig, "kill-before", second, 0);
      kill_at (rig, "kill-before", third, 0);
      recover (rig, 0, what);
    }
  fault_rig_free (rig);
}

/* That the rig sees what it is to see: three checkpoints, each of new bytes. */
static void
test_checkpoints (void)
{
  FaultRig *rig = fault_rig_new (NULL);
  g_autoptr (GPtrArray) calls = NULL;
  guint checkpoints = 0, seen[INJECT_N_CALLS] = { 0 };
  gboolean has_new = FALSE;

  fault_rig_run (rig, NULL, FAULT_RIG_GATES);
  calls = fault_rig_load_log (rig);
  for (guint i = 0; i < calls->len; i++)
    {
      const FaultCall *call = g_ptr_array_index (calls, i);

      seen[call->entry.call]++;
      has_new |= call->entry.call == INJECT_WRITE && strstr (call->path, ".partial") != NULL;
      if (call->entry.call == INJECT_RENAME && strstr (call->other, "/checkpoint-") != NULL)
        {
          checkpoints += has_new;
          has_new = FALSE;
        }
    }
  g_test_message ("%u calls, %u checkpoints of new bytes", calls->len, checkpoints);
  g_assert_cmpuint (checkpoints, >=, 3);
  for (guint i = 0; i < INJECT_N_CALLS; i++)
    if (i != INJECT_COPY && i != INJECT_LINK)
      g_assert_cmpuint (seen[i], >, 0);
  fault_rig_free (rig);
}

int
main (int argc, char **argv)
{
  FaultRig *rig;
  int code;

  g_test_init (&argc, &argv, NULL);
  fault_rig_init (argc, argv);
  rig = fault_rig_new (NULL);
  expected = fault_rig_run_undisturbed (rig);
  fault_rig_free (rig);
  g_test_add_func ("/calls/checkpoints", test_checkpoints);
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autofree char *path = g_strconcat ("/calls/", kinds[i].name, NULL);

      g_test_add_data_func (path, &kinds[i], test_each);
    }
  g_test_add_func ("/calls/lock-deleted", test_lock_deleted);
  code = g_test_run ();

  g_free (expected);
  return code;
}
