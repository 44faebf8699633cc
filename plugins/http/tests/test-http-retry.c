/* SPDX-License-Identifier: MIT */

/* How long is waited for whom, and when a file is given up. */

#include <string.h>

#include "dlp-http-settings.h"

#define MS 1000

static HttpSettings
make_settings (gint64 first_wait, gint64 budget)
{
  HttpSettings settings;

  http_settings_init (&settings);
  settings.first_wait = first_wait;
  settings.budget = budget;
  return settings;
}

static gboolean
fault (HttpRetry *retry, gint64 retry_after, GError **error)
{
  return http_retry_note_fault (retry, retry_after,
                                g_error_new (G_IO_ERROR, G_IO_ERROR_FAILED, "it broke"), error);
}

static void
assert_goes_on (HttpRetry *retry)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (fault (retry, -1, &error));
  g_assert_no_error (error);
}

static void
assert_given_up (HttpRetry *retry, const char *said)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (fault (retry, -1, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_FAILED);
  g_assert_true (g_str_has_prefix (error->message, said));
  g_assert_true (g_str_has_suffix (error->message, "it broke"));
}

/* Microseconds. */
static gint64
wait_for (HttpRetry *retry)
{
  gint64 began = g_get_monotonic_time ();
  g_autoptr (GError) error = NULL;

  g_assert_true (http_retry_wait (retry, NULL, &error));
  g_assert_no_error (error);
  return g_get_monotonic_time () - began;
}

/* Time without a byte, not time since the first fault. */
static void
test_budget (void)
{
  const HttpSettings settings = make_settings (1 * MS, 400 * MS);
  HttpRetry retry;

  http_retry_init (&retry, &settings, "http://budget.example/a");
  for (guint i = 0; i < 3; i++)
    {
      assert_goes_on (&retry);
      g_usleep (250 * MS);
      assert_goes_on (&retry);
      http_retry_note_progress (&retry);
    }
  assert_goes_on (&retry);
  g_usleep (450 * MS);
  assert_given_up (&retry, "given up after 0.");
  http_retry_clear (&retry);
}

static void
test_attempts (void)
{
  HttpSettings settings = make_settings (1 * MS, 3600 * (gint64) G_USEC_PER_SEC);
  HttpRetry retry;

  settings.attempts = 3;
  http_retry_init (&retry, &settings, "http://attempts.example/a");
  assert_goes_on (&retry);
  assert_goes_on (&retry);
  http_retry_note_progress (&retry);
  assert_goes_on (&retry);
  assert_goes_on (&retry);
  assert_given_up (&retry, "given up after 3 attempts without progress: ");
  http_retry_clear (&retry);

  settings.attempts = 1;
  http_retry_init (&retry, &settings, "http://attempts.example/a");
  assert_given_up (&retry, "given up after 1 attempt without progress: ");
  http_retry_clear (&retry);
}

/* Whoever reads from the same host waits too; from another host or port, nobody. */
static void
test_shared (void)
{
  const HttpSettings settings = make_settings (400 * MS, 3600 * (gint64) G_USEC_PER_SEC);
  HttpRetry one, same, port, host;

  http_retry_init (&one, &settings, "http://shared.example/a");
  http_retry_init (&same, &settings, "http://user:secret@SHARED.example/b?c#d");
  http_retry_init (&port, &settings, "http://shared.example:81/a");
  http_retry_init (&host, &settings, "http://other.example/a");
  g_assert_null (strstr (same.name, "secret"));
  assert_goes_on (&one);
  g_assert_cmpint (wait_for (&port), <, 100 * MS);
  g_assert_cmpint (wait_for (&host), <, 100 * MS);
  g_assert_cmpint (wait_for (&same), >=, 200 * MS);
  g_assert_cmpint (wait_for (&one), <, 100 * MS);
  http_retry_clear (&one);
  http_retry_clear (&same);
  http_retry_clear (&port);
  http_retry_clear (&host);
}

/* Eight that break at once wait as one does; a second time in a row, for twice as long; behind
 * somebody's progress, as for the first time. */
static void
test_backoff (void)
{
  const HttpSettings settings = make_settings (100 * MS, 3600 * (gint64) G_USEC_PER_SEC);
  HttpRetry retries[8], other;
  gint64 first, second, again;

  for (guint i = 0; i < G_N_ELEMENTS (retries); i++)
    {
      http_retry_init (&retries[i], &settings, "http://backoff.example/a");
      assert_goes_on (&retries[i]);
    }
  first = http_retry_get_wait (&retries[0]);
  g_assert_cmpint (first, <=, 100 * MS);
  g_assert_cmpint (first, >, 40 * MS);
  g_usleep ((gulong) first + 1 * MS);
  assert_goes_on (&retries[1]);
  second = http_retry_get_wait (&retries[0]);
  g_assert_cmpint (second, <=, 200 * MS);
  g_assert_cmpint (second, >, 100 * MS);
  g_usleep ((gulong) second + 1 * MS);
  http_retry_note_progress (&retries[2]);
  assert_goes_on (&retries[3]);
  again = http_retry_get_wait (&retries[0]);
  g_assert_cmpint (again, <=, 100 * MS);

  /* Also of one that never had a fault. */
  g_usleep ((gulong) again + 1 * MS);
  assert_goes_on (&retries[1]);
  g_usleep ((gulong) http_retry_get_wait (&retries[0]) + 1 * MS);
  http_retry_init (&other, &settings, "http://backoff.example/b");
  http_retry_note_progress (&other);
  assert_goes_on (&retries[1]);
  g_assert_cmpint (http_retry_get_wait (&retries[0]), <=, 100 * MS);
  http_retry_clear (&other);
  for (guint i = 0; i < G_N_ELEMENTS (retries); i++)
    http_retry_clear (&retries[i]);
}

/* What the server asks for, but no more than two minutes; a progress of somebody does not end it.
 */
static void
test_retry_after (void)
{
  const HttpSettings settings = make_settings (1 * MS, 3600 * (gint64) G_USEC_PER_SEC);
  g_autoptr (GError) error = NULL;
  HttpRetry retry;

  http_retry_init (&retry, &settings, "http://after.example/a");
  g_assert_true (fault (&retry, 30, &error));
  g_assert_cmpint (http_retry_get_wait (&retry), >, 29 * G_USEC_PER_SEC);
  g_assert_cmpint (http_retry_get_wait (&retry), <=, 30 * G_USEC_PER_SEC);
  http_retry_note_progress (&retry);
  g_assert_cmpint (http_retry_get_wait (&retry), >, 29 * G_USEC_PER_SEC);
  g_assert_true (fault (&retry, 1000000, &error));
  g_assert_cmpint (http_retry_get_wait (&retry), >, 119 * G_USEC_PER_SEC);
  g_assert_cmpint (http_retry_get_wait (&retry), <=, 120 * G_USEC_PER_SEC);
  g_assert_no_error (error);
  http_retry_clear (&retry);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/http-retry/budget", test_budget);
  g_test_add_func ("/http-retry/attempts", test_attempts);
  g_test_add_func ("/http-retry/shared", test_shared);
  g_test_add_func ("/http-retry/backoff", test_backoff);
  g_test_add_func ("/http-retry/retry-after", test_retry_after);
  return g_test_run ();
}
