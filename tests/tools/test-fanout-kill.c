/* SPDX-License-Identifier: MIT */

/* Workers that die, hang or are forgotten: what is said of it, how soon, and that what comes out is
 * what an undisturbed job writes. Arguments and environment as test-fanout.c. */

#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fanout-rig.h"

#define GRAPH "file-source location=in-*.jsonl ! jsonl-reader ! die ! jsonl-sink location=out"
#define RECORDS 400
#define FULL_TIME (60 * G_USEC_PER_SEC)
/* By which a death is noticed, and by which all have gone. */
#define SOON (2 * G_USEC_PER_SEC)
#define TICK_US 2000

static const char *plugins;
static char *wanted; /* what an undisturbed job writes */

static LaunchRig *
new_rig (void)
{
  LaunchRig *rig = launch_rig_new ();

  fanout_rig_write_files (rig, RECORDS);
  return rig;
}

/* @extra: (nullable): one more argument. */
static void
start (LaunchRig *rig, const char *workers, const char *extra)
{
  const char *const arguments[] = { "--plugin-path",
                                    plugins,
                                    "--tasks",
                                    FANOUT_TASKS,
                                    "--workers",
                                    workers,
                                    "--checkpoint-every",
                                    "10ms",
                                    "--summary",
                                    "sum.json",
                                    GRAPH,
                                    extra,
                                    NULL };

  launch_rig_start (rig, arguments, NULL);
}

static void
end (LaunchRig *rig, int code)
{
  if (!launch_rig_wait (rig, FULL_TIME))
    g_error ("the job hangs");
  if (rig->exit_code != code)
    g_error ("exit code %d, not %d, signal %d:\n%s", rig->exit_code, code, rig->killed_by,
             rig->err);
}

static void
check_output (LaunchRig *rig)
{
  g_autofree char *found = fanout_rig_hash (rig);

  g_assert_cmpstr (found, ==, wanted);
}

static void
run_undisturbed (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  start (rig, "4", NULL);
  end (rig, 0);
  wanted = fanout_rig_hash (rig);
}

static void
set_nap (gboolean nap)
{
  if (nap)
    g_setenv ("DLPIPE_TEST_NAP", "10000", TRUE);
  else
    g_unsetenv ("DLPIPE_TEST_NAP");
}

/* ---- at a known place ---- */

static void
set_death (const char *how, const char *times)
{
  if (how != NULL)
    {
      g_setenv ("DLPIPE_TEST_DIE", how, TRUE);
      g_setenv ("DLPIPE_TEST_DEATHS", times, TRUE);
      return;
    }
  g_unsetenv ("DLPIPE_TEST_DIE");
  g_unsetenv ("DLPIPE_TEST_DEATHS");
}

static void
check_death (const char *how, const char *says)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autofree char *log = NULL;

  set_death (how, "2");
  start (rig, "2", NULL);
  end (rig, 0);
  set_death (NULL, NULL);
  launch_rig_assert_has (rig->err, says);
  launch_rig_assert_has (rig->err, "retry 1 of 2");
  launch_rig_assert_has (rig->err, "retry 2 of 2");
  launch_rig_assert_has (rig->err, "4 of 4 tasks done; 8 files, 8 done");
  g_assert_cmpuint (fanout_rig_get_number (rig, "retries"), ==, 2);
  check_output (rig);
  /* What is printed in a worker is in the log of its task. */
  log = fanout_rig_read (rig, "out.fanout/tasks/00000/log");
  launch_rig_assert_has (log, "die is there");
  launch_rig_assert_has_not (rig->err, "die is there");
}

static void
test_verdict_of_signal (void)
{
  check_death ("kill", "was killed by SIGKILL; it goes on from its checkpoint");
}

static void
test_verdict_of_exit (void)
{
  check_death ("exit", "exited with code 3; it goes on from its checkpoint");
}

/* It is given up, and the others are done; then nothing kills it any more, and only it is run. */
static void
test_given_up (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  set_death ("kill", "3");
  start (rig, "2", NULL);
  end (rig, 1);
  set_death (NULL, NULL);
  launch_rig_assert_has (rig->err, "it is given up, the other tasks go on");
  launch_rig_assert_has (rig->err, "3 of 4 tasks done");
  g_assert_cmpuint (fanout_rig_get_number (rig, "files-failed") +
                        fanout_rig_get_number (rig, "files-done"),
                    ==, 8);
  start (rig, "2", NULL);
  end (rig, 0);
  launch_rig_assert_has (rig->err, "3 of them done before");
  check_output (rig);
}

static void
test_no_retries (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  set_death ("kill", "1");
  start (rig, "2", "--retries=0");
  end (rig, 1);
  set_death (NULL, NULL);
  launch_rig_assert_has_not (rig->err, "retry");
}

/* One that is stopped says nothing any more. */
static void
test_deaf (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  set_death ("stop", "1");
  start (rig, "2", "--answer-timeout=1s");
  end (rig, 0);
  set_death (NULL, NULL);
  launch_rig_assert_has (rig->err, "was killed, since it said nothing for 1 s");
  check_output (rig);
}

/* (transfer full) (nullable): a cgroup of our own with little memory; NULL: none can be made. */
static char *
make_cgroup (void)
{
  static const char *const limits[][2] = {
    { "/sys/fs/cgroup/memory/dlpipe-test-%d", "memory.limit_in_bytes" },
    { "/sys/fs/cgroup/dlpipe-test-%d", "memory.max" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (limits); i++)
    {
      char *folder = g_strdup_printf (limits[i][0], (int) getpid ());
      g_autofree char *limit = g_build_filename (folder, limits[i][1], NULL);
      int fd = g_mkdir (folder, 0755) == 0 ? open (limit, O_WRONLY | O_CLOEXEC) : -1;
      gboolean ok = fd >= 0 && write (fd, "200M", 4) == 4;

      if (fd >= 0)
        close (fd);
      if (ok)
        return folder;
      rmdir (folder);
      g_free (folder);
    }
  return NULL;
}

/* A worker goes there by itself, before it is one. */
static void
test_out_of_memory (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autofree char *cgroup = make_cgroup ();
  g_autofree char *worker = launch_rig_path (rig, "worker");
  g_autofree char *script = NULL;
  gint64 until = g_get_monotonic_time () + SOON;

  if (cgroup == NULL)
    {
      g_test_skip ("no cgroup can be made");
      return;
    }
  script = g_strdup_printf ("#!/bin/sh\necho $$ >%s/cgroup.procs && exec %s-worker\n", cgroup,
                            launch_rig_get_program ());
  launch_rig_write (rig, "worker", script, -1);
  g_assert_cmpint (chmod (worker, 0755), ==, 0);
  g_setenv ("DLPIPE_FANOUT_WORKER", worker, TRUE);
  set_death ("eat", "1");
  start (rig, "2", NULL);
  end (rig, 0);
  set_death (NULL, NULL);
  g_unsetenv ("DLPIPE_FANOUT_WORKER");
  while (rmdir (cgroup) != 0 && g_get_monotonic_time () < until)
    g_usleep (TICK_US);
  launch_rig_assert_has (rig->err, "was killed by SIGKILL, probably for lack of memory");
  check_output (rig);
}

/* ---- at any time ---- */

/* SIGKILL to one of four; whoever is killed between two tasks, or before the first, is nobody's
 * loss. Noticed where another process is there, or the job has ended. */
static void
kill_one (LaunchRig *rig, guint *n_noticed)
{
  g_autoptr (GArray) before = fanout_rig_wait_for_workers (rig, 1);
  gint64 until;
  int victim;

  g_usleep ((gulong) g_test_rand_int_range (0, 150 * 1000));
  if (before->len == 0)
    return;
  victim = g_array_index (before, int, g_test_rand_int_range (0, (int) before->len));
  if (kill (victim, SIGKILL) != 0)
    return;
  /* Reaped: its verdict was asked for. */
  for (until = g_get_monotonic_time () + SOON; g_get_monotonic_time () < until;)
    {
      g_autofree char *path = g_strdup_printf ("/proc/%d", victim);

      if (!g_file_test (path, G_FILE_TEST_EXISTS))
        {
          (*n_noticed)++;
          return;
        }
      g_usleep (TICK_US);
    }
  g_error ("worker %d was killed, and nobody has noticed it for 2 s", victim);
}

static void
test_kills (void)
{
  guint n = launch_rig_scale (20);
  guint n_noticed = 0, runs = 0;

  set_nap (TRUE);
  while (n_noticed < n)
    {
      g_autoptr (LaunchRig) rig = new_rig ();

      g_assert_cmpuint (++runs, <, 20 + 4 * n);
      start (rig, "4", "--retries=100");
      for (guint i = 0; i < 4 && n_noticed < n; i++)
        kill_one (rig, &n_noticed);
      end (rig, 0);
      check_output (rig);
      if (fanout_rig_get_number (rig, "retries") > 0)
        launch_rig_assert_has (rig->err, "was killed by SIGKILL; it goes on from its checkpoint");
    }
  set_nap (FALSE);
  g_test_message ("%u kills in %u jobs", n_noticed, runs);
}

/* ---- the fan-out itself ---- */

static guint
count_alive (GArray *pids)
{
  guint n = 0;

  for (guint i = 0; i < pids->len; i++)
    n += fanout_rig_is_alive (g_array_index (pids, int, i));
  return n;
}

static void
test_parent_killed (void)
{
  guint n = launch_rig_scale (8);

  set_nap (TRUE);
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (LaunchRig) rig = new_rig ();
      g_autoptr (GArray) workers = NULL;
      gint64 until;

      start (rig, "4", NULL);
      workers = fanout_rig_wait_for_workers (rig, 4);
      g_assert_cmpuint (workers->len, ==, 4);
      g_usleep ((gulong) g_test_rand_int_range (0, 50 * 1000));
      kill (rig->pid, SIGKILL);
      until = g_get_monotonic_time () + SOON;
      while (count_alive (workers) > 0 && g_get_monotonic_time () < until)
        g_usleep (TICK_US);
      g_assert_cmpuint (count_alive (workers), ==, 0);
      g_assert_true (launch_rig_wait (rig, FULL_TIME));
    }
  set_nap (FALSE);
}

static void
test_stop (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autoptr (GArray) workers = NULL;

  set_nap (TRUE);
  start (rig, "2", NULL);
  workers = fanout_rig_wait_for_workers (rig, 2);
  g_usleep (100 * 1000);
  kill (rig->pid, SIGTERM);
  end (rig, 75);
  set_nap (FALSE);
  launch_rig_assert_has (rig->err, "SIGTERM: stopping all tasks");
  launch_rig_assert_has (rig->err, "the same command goes on");
  launch_rig_assert_has_not (rig->err, "warning");
  g_assert_cmpuint (count_alive (workers), ==, 0);
  start (rig, "2", NULL);
  end (rig, 0);
  check_output (rig);
}

static void
test_stop_in_process (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  gint64 until = g_get_monotonic_time () + FULL_TIME;
  g_autofree char *state = launch_rig_path (rig, "out.fanout/tasks/00000/state/lock");

  set_nap (TRUE);
  start (rig, "1", NULL);
  while (!g_file_test (state, G_FILE_TEST_EXISTS) && g_get_monotonic_time () < until)
    g_usleep (TICK_US);
  g_usleep (50 * 1000);
  kill (rig->pid, SIGINT);
  end (rig, 75);
  set_nap (FALSE);
  start (rig, "1", NULL);
  end (rig, 0);
  check_output (rig);
}

/* Workers that do not hear: they are killed when the grace is over, and go on from a checkpoint. */
static void
test_grace (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autoptr (GArray) workers = NULL;
  gint64 began;

  set_nap (TRUE);
  start (rig, "2", "--grace=1s");
  workers = fanout_rig_wait_for_workers (rig, 2);
  g_usleep (100 * 1000);
  for (guint i = 0; i < workers->len; i++)
    kill (g_array_index (workers, int, i), SIGSTOP);
  began = g_get_monotonic_time ();
  kill (rig->pid, SIGTERM);
  end (rig, 75);
  set_nap (FALSE);
  g_assert_cmpint (g_get_monotonic_time () - began, <, 5 * G_USEC_PER_SEC);
  launch_rig_assert_has (rig->err, "made no checkpoint within 1 s");
  start (rig, "2", NULL);
  end (rig, 0);
  check_output (rig);
}

static void
test_abort (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autoptr (GArray) workers = NULL;

  set_nap (TRUE);
  start (rig, "2", "--grace=50s");
  workers = fanout_rig_wait_for_workers (rig, 2);
  g_usleep (100 * 1000);
  for (guint i = 0; i < workers->len; i++)
    kill (g_array_index (workers, int, i), SIGSTOP);
  kill (rig->pid, SIGTERM);
  g_usleep (1200 * 1000);
  kill (rig->pid, SIGTERM);
  end (rig, 128 + SIGTERM);
  set_nap (FALSE);
  g_assert_cmpuint (count_alive (workers), ==, 0);
  start (rig, "2", NULL);
  end (rig, 0);
  check_output (rig);
}

/* A job that lives is not begun a second time. */
static void
test_locked (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();
  g_autoptr (LaunchRig) other = launch_rig_new ();
  g_autofree char *own_dir = other->dir;

  set_nap (TRUE);
  start (rig, "2", NULL);
  g_array_unref (fanout_rig_wait_for_workers (rig, 2));
  other->dir = g_strdup (rig->dir);
  start (other, "2", NULL);
  end (other, 2);
  launch_rig_assert_has (other->err, "out.fanout");
  g_free (other->dir);
  other->dir = g_steal_pointer (&own_dir);
  set_nap (FALSE);
  end (rig, 0);
  check_output (rig);
}

/* A worker that cannot even begin. */
static void
test_no_worker (void)
{
  g_autoptr (LaunchRig) rig = new_rig ();

  g_setenv ("DLPIPE_FANOUT_WORKER", "/bin/false", TRUE);
  start (rig, "2", NULL);
  end (rig, 1);
  launch_rig_assert_has (rig->err, "before it could be given a task");
  launch_rig_assert_has (rig->err, "workers.log");
  g_setenv ("DLPIPE_FANOUT_WORKER", "/nowhere/at/all", TRUE);
  start (rig, "2", NULL);
  end (rig, 1);
  launch_rig_assert_has (rig->err, "/nowhere/at/all");
  g_unsetenv ("DLPIPE_FANOUT_WORKER");
  start (rig, "2", NULL);
  end (rig, 0);
  check_output (rig);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  launch_rig_init (argc, argv);
  plugins = g_getenv ("DLPIPE_TEST_PLUGINS");
  run_undisturbed ();

  g_test_add_func ("/fanout-kill/verdict-of-signal", test_verdict_of_signal);
  g_test_add_func ("/fanout-kill/verdict-of-exit", test_verdict_of_exit);
  g_test_add_func ("/fanout-kill/given-up", test_given_up);
  g_test_add_func ("/fanout-kill/no-retries", test_no_retries);
  g_test_add_func ("/fanout-kill/deaf", test_deaf);
  g_test_add_func ("/fanout-kill/out-of-memory", test_out_of_memory);
  g_test_add_func ("/fanout-kill/kills", test_kills);
  g_test_add_func ("/fanout-kill/parent-killed", test_parent_killed);
  g_test_add_func ("/fanout-kill/stop", test_stop);
  g_test_add_func ("/fanout-kill/stop-in-process", test_stop_in_process);
  g_test_add_func ("/fanout-kill/grace", test_grace);
  g_test_add_func ("/fanout-kill/abort", test_abort);
  g_test_add_func ("/fanout-kill/locked", test_locked);
  g_test_add_func ("/fanout-kill/no-worker", test_no_worker);
  return g_test_run ();
}
