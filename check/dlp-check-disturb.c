/* SPDX-License-Identifier: MIT */

/* The ways in which a run is disturbed, none of which may change what comes of it. */

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "dlp-check-private.h"
#include "dlp-check-sink.h"

static void
fail_with_error (const CheckCase *self, const char *when, const GError *error)
{
  g_autofree char *lines = g_strdup_printf ("  got:      %s\n", error->message);

  dlp_check_fail (self, when, lines);
}

/* Where DLPIPE_TEST_SCALE is below 0.1, as under memcheck, not all of the places to stop at and of
 * the settings are tried. */
static gboolean
tries_all (void)
{
  return dlp_check_scale (100) >= 10;
}

/* ---- in pieces ---- */

/* (transfer full): of the last attempt. */
static CheckResult *
run_in_pieces (const CheckCase *self, guint stride, guint *n_attempts)
{
  g_autoptr (CheckFolder) folder = dlp_check_folder_new ();
  g_autoptr (GRand) rand = dlp_check_rand_new (self->graph);
  g_autofree char *when = NULL;
  CheckResult *result = NULL;
  guint n = 0;

  dlp_check_sink_clear ();
  while (result == NULL)
    {
      CheckAttempt attempt = {
        .settings = { .workers = 2,
                      .batch_records = stride > 0 ? 1 : (guint) g_rand_int_range (rand, 1, 9) },
        .stop_after = stride > 0 ? stride : (guint) g_rand_int_range (rand, 1, 6)
      };
      g_autoptr (GError) error = NULL;

      if (!tries_all () && n >= 3)
        attempt.stop_after <<= MIN (n - 2, 20);
      g_free (when);
      when = g_strdup_printf (
          "stopped and continued for the %uth time, now after %" G_GUINT64_FORMAT " more records",
          ++n, attempt.stop_after);
      result = dlp_check_attempt (self, folder, &attempt, when, NULL, &error);
      if (error != NULL)
        fail_with_error (self, when, error);
      g_assert_cmpuint (n, <, CHECK_ATTEMPTS_MAX);
    }
  *n_attempts = n;
  return result;
}

guint
dlp_check_run_in_pieces (const char *graph, guint stride)
{
  const CheckCase check = { "resume", graph };
  guint n;

  dlp_check_result_free (run_in_pieces (&check, stride, &n));
  return n;
}

guint
dlp_check_resume (const char *graph, guint stride)
{
  const CheckCase check = { "resume", graph };
  g_autoptr (CheckResult) expected = dlp_check_undisturbed (&check);
  g_autoptr (CheckResult) got = NULL;
  g_autofree char *when = NULL;
  guint n;

  got = run_in_pieces (&check, stride, &n);
  when = stride > 0 ?
             g_strdup_printf ("stopped behind every %u records of sink %s, and continued", stride,
                              expected->sink) :
             g_strdup_printf ("stopped behind every 1 to 5 records of sink %s, and continued",
                              expected->sink);
  dlp_check_compare (&check, expected, got, when);
  return n;
}

/* ---- from every mark ---- */

static void
stop_at (const CheckCase *self, const CheckResult *expected, guint64 n)
{
  g_autoptr (CheckFolder) folder = dlp_check_folder_new ();
  g_autofree char *when =
      g_strdup_printf ("stopped behind record %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                       " of sink %s, restored from the mark that it carried",
                       n - 1, expected->n_records, expected->sink);
  const CheckAttempt attempt = { .settings = { .workers = 2, .batch_records = 1 },
                                 .stop_after = n };
  g_autoptr (GError) error = NULL;
  g_autoptr (CheckResult) got = NULL;

  dlp_check_sink_clear ();
  got = dlp_check_attempt (self, folder, &attempt, when, NULL, &error);
  if (error != NULL)
    fail_with_error (self, when, error);
  if (got == NULL)
    got = dlp_check_go_on (self, folder, when);
  dlp_check_compare (self, expected, got, when);
}

/* What comes of it must not depend on what an element knows that says it knows nothing. */
static void
forget_at (const CheckCase *self, const CheckResult *expected, guint64 n)
{
  g_autoptr (CheckFolder) folder = dlp_check_folder_new ();
  g_autofree char *when = g_strdup_printf (
      "stopped behind record %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
      " of sink %s, and continued without the state of what has DLP_ELEMENT_STATELESS in the flags "
      "of its class: %s. If it needs it, the flag is to be removed",
      n - 1, expected->n_records, expected->sink, expected->stateless);
  const CheckAttempt first = { .settings = { .workers = 2, .batch_records = 1 }, .stop_after = n };
  const CheckAttempt second = { .settings = { .workers = 2 }, .forget = TRUE };
  g_autoptr (GError) error = NULL;
  g_autoptr (CheckResult) got = NULL;

  dlp_check_sink_clear ();
  got = dlp_check_attempt (self, folder, &first, when, NULL, &error);
  if (error == NULL && got == NULL)
    got = dlp_check_attempt (self, folder, &second, when, NULL, &error);
  if (error != NULL)
    fail_with_error (self, when, error);
  dlp_check_compare_output (self, expected, got, when);
}

static void
check_stateless (const CheckCase *self, const CheckResult *expected)
{
  const guint64 n_stops = MIN (dlp_check_scale (8), expected->n_records);

  for (guint64 i = 0; i < n_stops && expected->stateless != NULL; i++)
    forget_at (self, expected, 1 + (i + 1) * expected->n_records / (n_stops + 1));
}

void
dlp_check_marks (const char *graph)
{
  const CheckCase check = { "marks", graph };
  g_autoptr (CheckResult) expected = dlp_check_undisturbed (&check);
  g_autoptr (GRand) rand = dlp_check_rand_new (graph);
  const guint64 most = dlp_check_scale (64);

  for (guint64 i = 0; i < MIN (most, expected->n_records); i++)
    {
      guint64 n = i;

      if (expected->n_records > most && i > 0)
        n = (guint64) g_rand_double_range (rand, 0, (double) expected->n_records);
      stop_at (&check, expected, n + 1);
    }
  check_stateless (&check, expected);
}

/* ---- other orders of work ---- */

static void
run_with (const CheckCase *self, const CheckResult *expected, const DlpCheckSettings *settings)
{
  static const char *const runners[] = { "auto", "threads", "pool", "sequential" };
  g_autoptr (CheckFolder) folder = dlp_check_folder_new ();
  g_autofree char *when = g_strdup_printf (
      "runner %s, %u workers, links of %u, record batches of %u, %s", runners[settings->runner],
      settings->workers, settings->link_batches, settings->batch_records,
      settings->random_yields ? "threads give way at random" : "undisturbed");
  const CheckAttempt attempt = { .settings = *settings };
  g_autoptr (GError) error = NULL;
  g_autoptr (CheckResult) got = NULL;

  dlp_check_sink_clear ();
  got = dlp_check_attempt (self, folder, &attempt, when, NULL, &error);
  if (error != NULL)
    fail_with_error (self, when, error);
  dlp_check_compare (self, expected, got, when);
}

void
dlp_check_stress (const char *graph)
{
  static const DlpRunnerKind runners[] = { DLP_RUNNER_SEQUENTIAL, DLP_RUNNER_THREADS,
                                           DLP_RUNNER_POOL };
  static const guint workers[] = { 1, 2, 7 };
  static const guint links[] = { 1, 64 };
  static const guint records[] = { 1, 1024 };
  const CheckCase check = { "stress", graph };
  g_autoptr (CheckResult) expected = dlp_check_undisturbed (&check);

  /* Of 72, six have each value of each setting. */
  for (guint i = 0; i < 3 * 3 * 2 * 2 * 2; i += tries_all () ? 1 : 13)
    {
      const DlpCheckSettings settings = { .runner = runners[i / 24],
                                          .workers = workers[i / 8 % 3],
                                          .link_batches = links[i / 4 % 2],
                                          .batch_records = records[i / 2 % 2],
                                          .random_yields = i % 2 == 1 };

      run_with (&check, expected, &settings);
    }
}

/* ---- cancelled ---- */

static void
check_descriptors (const CheckCase *self, guint before, const char *when)
{
  guint after = dlp_check_count_descriptors ();
  g_autofree char *lines = NULL;

  if (after <= before)
    return;
  lines = g_strdup_printf ("  expected: no file is left open\n"
                           "  got:      %u more than before\n",
                           after - before);
  dlp_check_fail (self, when, lines);
}

/* What comes of an attempt that ends early, and of going on after it. @n_calls: (out). */
static void
end_early (const CheckCase *self,
           const CheckResult *expected,
           const CheckAttempt *attempt,
           const char *when,
           guint64 *n_calls)
{
  g_autoptr (CheckFolder) folder = dlp_check_folder_new ();
  guint descriptors = dlp_check_count_descriptors ();
  g_autoptr (GError) error = NULL;
  g_autoptr (CheckResult) got = NULL;

  dlp_check_sink_clear ();
  got = dlp_check_attempt (self, folder, attempt, when, n_calls, &error);
  if (error != NULL)
    fail_with_error (self, when, error);
  check_descriptors (self, descriptors, when);
  if (got == NULL)
    got = dlp_check_go_on (self, folder, when);
  dlp_check_compare (self, expected, got, when);
}

/* FALSE: it was complete before so many calls. */
static gboolean
end_at (const CheckCase *self, const CheckResult *expected, guint64 n, gboolean stop)
{
  g_autofree char *when =
      g_strdup_printf ("%s at call %" G_GUINT64_FORMAT " of an element, and continued",
                       stop ? "stopped" : "cancelled", n);
  const CheckAttempt attempt = { .settings = { .workers = 2, .batch_records = 1 + n % 3 },
                                 .checkpoint_interval = 1000,
                                 .stop_at = stop ? n : 0,
                                 .cancel_at = stop ? 0 : n };
  guint64 n_calls = 0;

  end_early (self, expected, &attempt, when, &n_calls);
  return n_calls >= n;
}

/* The call after @n to end at. */
static guint64
get_next_call (guint64 n)
{
  return n + 1 + (tries_all () ? n / 16 : n);
}

/* At any time: also while an element waits in its own I/O. */
static void
cancel_at_random (const CheckCase *self, const CheckResult *expected, gint64 duration)
{
  g_autoptr (GRand) rand = dlp_check_rand_new (self->graph);

  for (guint i = 0; i < dlp_check_scale (20); i++)
    {
      gint64 after = g_rand_int_range (rand, 1, (gint32) CLAMP (duration, 2, G_USEC_PER_SEC));
      g_autofree char *when = g_strdup_printf (
          "cancelled after %" G_GINT64_FORMAT " microseconds, and continued", after);
      const CheckAttempt attempt = { .settings = { .workers = 2 },
                                     .checkpoint_interval = 1000,
                                     .cancel_after = after };

      end_early (self, expected, &attempt, when, NULL);
    }
}

void
dlp_check_cancel (const char *graph)
{
  const CheckCase check = { "cancel", graph };
  gint64 begin = g_get_monotonic_time ();
  g_autoptr (CheckResult) expected = dlp_check_undisturbed (&check);
  gint64 duration = g_get_monotonic_time () - begin;

  for (guint64 n = 1; end_at (&check, expected, n, FALSE);)
    n = get_next_call (n);
  cancel_at_random (&check, expected, duration);
}

void
dlp_check_stop (const char *graph)
{
  const CheckCase check = { "stop", graph };
  g_autoptr (CheckResult) expected = dlp_check_undisturbed (&check);

  for (guint64 n = 1; end_at (&check, expected, n, TRUE);)
    n = get_next_call (n);
}

/* ---- killed ---- */

/* A child of a process that has threads cannot have any of its own there. */
#ifdef __SANITIZE_THREAD__
#define CAN_FORK 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CAN_FORK 0
#endif
#endif
#ifndef CAN_FORK
#define CAN_FORK 1
#endif

static void
run_child (const CheckCase *self,
           CheckFolder *folder,
           const CheckAttempt *attempt,
           const char *when,
           const char *done)
{
  g_autoptr (GError) error = NULL;
  CheckResult *result = dlp_check_attempt (self, folder, attempt, when, NULL, &error);

  if (result == NULL)
    {
      dlp_check_print (error->message);
      _exit (1);
    }
  g_file_set_contents (done, "", 0, NULL);
  _exit (0);
}

/* TRUE: it died as it was meant to. */
static gboolean
run_to_death (const CheckCase *self,
              CheckFolder *folder,
              const CheckAttempt *attempt,
              gint64 live_for,
              const char *when)
{
  g_autofree char *done = g_build_filename (folder->path, "done", NULL);
  int status;
  pid_t pid;

  fflush (NULL);
  pid = fork ();
  g_assert_cmpint (pid, >=, 0);
  if (pid == 0)
    run_child (self, folder, attempt, when, done);
  if (attempt->kill_after == 0)
    {
      g_usleep ((gulong) live_for);
      kill (pid, SIGKILL);
    }
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  if (WIFSIGNALED (status) && WTERMSIG (status) == SIGKILL)
    return TRUE;
  if (!WIFEXITED (status) || WEXITSTATUS (status) != 0)
    dlp_check_fail (self, when, "  got:      the child failed; what it said is above\n");
  return FALSE;
}

static guint
kill_often (const CheckCase *self, const CheckResult *expected, gint64 duration, GRand *rand)
{
  g_autoptr (CheckFolder) folder = dlp_check_folder_new ();
  g_autofree char *lines = g_build_filename (folder->path, "lines", NULL);
  g_autofree char *when = NULL;
  g_autoptr (CheckResult) got = NULL;
  guint n = 0;
  gboolean died;

  g_assert_no_errno (g_mkdir (lines, 0700));
  dlp_check_sink_clear ();
  dlp_check_sink_set_folder (lines);
  do
    {
      CheckAttempt attempt = {
        .settings = { .workers = 2, .batch_records = (guint) g_rand_int_range (rand, 1, 9) },
        .checkpoint_interval = 1000
      };

      if (expected->n_records > 0 && g_rand_boolean (rand))
        attempt.kill_after =
            (guint64) g_rand_int_range (rand, 1, (gint32) MIN (expected->n_records, 1000000) + 1);
      g_free (when);
      when = g_strdup_printf ("killed %u times, and continued", n);
      died =
          run_to_death (self, folder, &attempt,
                        g_rand_int_range (rand, 0, (gint32) MIN (2 * duration, 1000000) + 1), when);
      n += died;
    }
  while (died && n < 5);
  g_free (when);
  when = g_strdup_printf ("killed %u times, and continued", n);
  /* A check-sink that has nothing to do any more is not started: then its lines are read here. */
  dlp_check_sink_read_folder ();
  got = dlp_check_go_on (self, folder, when);
  dlp_check_sink_set_folder (NULL);
  dlp_check_compare (self, expected, got, when);
  return n;
}

guint
dlp_check_kill (const char *graph, guint n_kills)
{
  const CheckCase check = { "kill", graph };
  gint64 begin = g_get_monotonic_time ();
  g_autoptr (CheckResult) expected = dlp_check_undisturbed (&check);
  gint64 duration = g_get_monotonic_time () - begin;
  g_autoptr (GRand) rand = dlp_check_rand_new (graph);
  guint died = 0;

  if (!CAN_FORK)
    {
      g_test_message ("nothing is killed under ThreadSanitizer");
      return 0;
    }
  for (guint i = 0; i < n_kills && died < n_kills; i++)
    died += kill_often (&check, expected, duration, rand);
  return died;
}

void
dlp_check_all (const char *graph)
{
  dlp_check_marks (graph);
  dlp_check_resume (graph, 1);
  dlp_check_resume (graph, 0);
  dlp_check_stress (graph);
  dlp_check_stop (graph);
  dlp_check_cancel (graph);
  dlp_check_kill (graph, dlp_check_scale (10));
}
