/* SPDX-License-Identifier: MIT */

/* Signals at random times: the exit code that is promised, and the same command then ends in the
 * same output. */

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "fault-rig.h"

#define SIGNALS 10
#define AT_ONCE 25 /* runs that wait more than they work */
#define LONGEST (60 * G_USEC_PER_SEC)
/* One that comes within a second of the first counts as the same. */
#define AGAIN (1100 * 1000)

typedef struct
{
  const char *name;
  int number;    /* 0: one of three */
  guint slow_us; /* each sync takes so long, */
  gint64 within; /* and in that time the signal comes */
  gboolean twice;
  gboolean deaf; /* nobody reads what the run says */
} Kind;

static const Kind kinds[] = {
  { "term", SIGTERM, 1000, 300000, FALSE, FALSE },
  { "int", SIGINT, 1000, 300000, FALSE, FALSE },
  { "hup", SIGHUP, 1000, 300000, FALSE, FALSE },
  { "twice", 0, 300000, 6000000, TRUE, FALSE },
  { "pipe", SIGPIPE, 1000, 300000, FALSE, FALSE },
  { "nobody-reads", SIGTERM, 1000, 300000, FALSE, TRUE },
};

typedef struct
{
  FaultRig *rig;
  const Kind *kind;
  int number;
  gint64 first_at, second_at; /* 0: it was sent */
  gboolean is_over;
} Run;

static char *expected;

/* Its standard error is a pipe with nobody at the other end. */
static void
lose_reader (gpointer unused)
{
  int fds[2];

  if (pipe (fds) != 0 || close (fds[0]) != 0 || dup2 (fds[1], STDERR_FILENO) < 0)
    _exit (127);
}

static void
run_start (Run *self, const Kind *kind)
{
  static const int stopping[] = { SIGTERM, SIGINT, SIGHUP };
  gint64 now = g_get_monotonic_time ();

  self->rig = fault_rig_new (NULL);
  self->rig->slow_us = kind->slow_us;
  self->rig->setup = kind->deaf ? lose_reader : NULL;
  self->kind = kind;
  self->number = kind->number != 0 ? kind->number : stopping[g_test_rand_int_range (0, 3)];
  self->first_at = now + g_test_rand_int_range (0, (gint32) kind->within);
  self->second_at = kind->twice ? self->first_at + AGAIN : 0;
  self->is_over = FALSE;
  fault_rig_start (self->rig, NULL, FAULT_RIG_GATES);
}

static void
send_if_due (Run *self, gint64 *at)
{
  if (*at == 0 || g_get_monotonic_time () < *at)
    return;
  *at = 0;
  kill (self->rig->run->pid, self->number);
}

/* Killed by what it should have caught: only before the program itself began. */
static gboolean
is_too_early (const Run *self)
{
  const LaunchRig *run = self->rig->run;

  return run->killed_by == self->number && run->err[0] == '\0';
}

static void
check_code (const Run *self)
{
  const LaunchRig *run = self->rig->run;
  int code = run->exit_code;
  gboolean ok = code == 0 || is_too_early (self);

  if (self->number != SIGPIPE)
    ok |= code == 75;
  if (self->kind->twice)
    ok |= code == 128 + self->number;
  if (!ok)
    g_error ("%s, signal %d: exit code %d, killed by %d:\n%s", self->kind->name, self->number, code,
             run->killed_by, run->err);
  if (code == 75 && !self->kind->deaf && strstr (run->err, "stopped") == NULL)
    g_error ("it does not say that it stopped:\n%s", run->err);
  if (code > 128 && strstr (run->err, "aborted") == NULL)
    g_error ("it does not say that it was aborted:\n%s", run->err);
}

static void
run_end (Run *self, guint codes[256])
{
  g_autofree char *what = g_strdup_printf ("%s, signal %d", self->kind->name, self->number);

  check_code (self);
  codes[self->rig->run->exit_code & 255]++;
  self->rig->slow_us = 0;
  self->rig->setup = NULL;
  fault_rig_run (self->rig, NULL, 0);
  if (self->rig->run->exit_code != 0)
    g_error ("%s: and then exit code %d:\n%s", what, self->rig->run->exit_code,
             self->rig->run->err);
  fault_rig_check_output (self->rig, expected, what);
  fault_rig_free (self->rig);
}

static void
wait_for_all (Run *runs, guint n)
{
  gint64 until = g_get_monotonic_time () + LONGEST;
  guint left = n;

  while (left > 0)
    {
      for (guint i = 0; i < n; i++)
        {
          if (runs[i].is_over)
            continue;
          send_if_due (&runs[i], &runs[i].first_at);
          send_if_due (&runs[i], &runs[i].second_at);
          runs[i].is_over = launch_rig_wait (runs[i].rig->run, 0);
          left -= runs[i].is_over;
        }
      if (g_get_monotonic_time () > until)
        g_error ("%u runs go on after a signal", left);
      g_usleep (500);
    }
}

static void
test_kind (gconstpointer data)
{
  const Kind *kind = data;
  guint n = launch_rig_scale (SIGNALS);
  guint codes[256] = { 0 };

  for (guint done = 0; done < n;)
    {
      Run runs[AT_ONCE];
      guint m = MIN (n - done, AT_ONCE);

      for (guint i = 0; i < m; i++)
        run_start (&runs[i], kind);
      wait_for_all (runs, m);
      for (guint i = 0; i < m; i++)
        run_end (&runs[i], codes);
      done += m;
    }
  for (guint i = 0; i < G_N_ELEMENTS (codes); i++)
    if (codes[i] > 0)
      g_test_message ("%u times exit code %u%s", codes[i], i, i == 255 ? " (none)" : "");
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
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autofree char *path = g_strconcat ("/signals/", kinds[i].name, NULL);

      g_test_add_data_func (path, &kinds[i], test_kind);
    }
  code = g_test_run ();

  g_free (expected);
  return code;
}
