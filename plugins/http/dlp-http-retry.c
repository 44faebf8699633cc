/* SPDX-License-Identifier: MIT */

#include "dlp-http-retry.h"

#include <poll.h>
#include <pthread.h>
#include <string.h>

#define MAX_WAIT (60 * G_USEC_PER_SEC)
/* A server may ask for days: it is asked again before the budget is spent. */
#define MAX_RETRY_AFTER (2 * 60 * G_USEC_PER_SEC)

struct _HttpHost
{
  guint faults;      /* atomic, changed under the lock: since the last progress of anybody */
  gint64 not_before; /* monotonic */
  char *why;
};

/* Guards the table and what is in it. Hosts stay: there are few. */
static pthread_mutex_t hosts_lock = PTHREAD_MUTEX_INITIALIZER;
static GHashTable *hosts;

static void
host_free (gpointer data)
{
  HttpHost *host = data;

  g_free (host->why);
  g_free (host);
}

static HttpHost *
get_host (const char *name)
{
  HttpHost *host;

  pthread_mutex_lock (&hosts_lock);
  if (hosts == NULL)
    hosts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, host_free);
  host = g_hash_table_lookup (hosts, name);
  if (host == NULL)
    {
      host = g_new0 (HttpHost, 1);
      g_hash_table_insert (hosts, g_strdup (name), host);
    }
  pthread_mutex_unlock (&hosts_lock);
  return host;
}

void
http_retry_init (HttpRetry *self, const HttpSettings *settings, const char *uri)
{
  const char *start = strstr (uri, "://");
  const char *authority = start != NULL ? start + 3 : uri;
  gsize length = strcspn (authority, "/?#");
  const char *at = memrchr (authority, '@', length);
  const char *begin = at != NULL ? at + 1 : authority;
  g_autofree char *host = g_ascii_strdown (begin, (gssize) (length - (gsize) (begin - authority)));

  self->settings = settings;
  self->host = get_host (host);
  self->name = dlp_uri_escape_for_display (uri);
  self->first_fault = 0;
  self->faults = 0;
}

void
http_retry_set_name (HttpRetry *self, const char *name)
{
  g_free (self->name);
  self->name = dlp_uri_escape_for_display (name);
}

void
http_retry_clear (HttpRetry *self)
{
  g_clear_pointer (&self->name, g_free);
}

/* How long, and, if wanted, (transfer full) why. */
static gint64
get_wait (HttpRetry *self, char **why)
{
  gint64 left;

  pthread_mutex_lock (&hosts_lock);
  left = self->host->not_before - g_get_monotonic_time ();
  if (left > 0 && why != NULL)
    *why = g_strdup (self->host->why);
  pthread_mutex_unlock (&hosts_lock);
  return MAX (left, 0);
}

gint64
http_retry_get_wait (HttpRetry *self)
{
  return get_wait (self, NULL);
}

static void
sleep_for (gint64 time, GCancellable *cancellable)
{
  GPollFD fd;
  struct timespec ts = { time / G_USEC_PER_SEC, time % G_USEC_PER_SEC * 1000 };

  if (g_cancellable_make_pollfd (cancellable, &fd))
    {
      struct pollfd poll_fd = { fd.fd, POLLIN, 0 };

      (void) ppoll (&poll_fd, 1, &ts, NULL);
      g_cancellable_release_fd (cancellable);
    }
  else
    (void) ppoll (NULL, 0, &ts, NULL);
}

gboolean
http_retry_wait (HttpRetry *self, GCancellable *cancellable, GError **error)
{
  g_autofree char *why = NULL;
  gint64 left = get_wait (self, &why);
  /* So that not all ask at the same instant. */
  gint64 end =
      g_get_monotonic_time () + left + (gint64) (g_random_double () * 0.25 * (double) left);
  gboolean waited = left > 0;

  while (left > 0 && !g_cancellable_is_cancelled (cancellable))
    {
      g_autofree char *status =
          g_strdup_printf ("%s: retry in %" G_GINT64_FORMAT " s (%s)", self->name,
                           (left + G_USEC_PER_SEC - 1) / G_USEC_PER_SEC, why);

      dlp_scheme_set_status (status);
      sleep_for (MIN (left, G_USEC_PER_SEC), cancellable);
      left = end - g_get_monotonic_time ();
    }
  if (waited)
    dlp_scheme_set_status (NULL);
  return !g_cancellable_set_error_if_cancelled (cancellable, error);
}

/* Faults that come while all wait anyway are of the same cause. */
static void
add_fault_locked (HttpRetry *self, gint64 now, gint64 retry_after, const char *why)
{
  HttpHost *host = self->host;
  gint64 wait;

  if (now >= host->not_before)
    __atomic_store_n (&host->faults, host->faults + 1, __ATOMIC_RELAXED);
  wait = self->settings->first_wait << MIN (host->faults == 0 ? 0 : host->faults - 1, 16);
  wait = MIN (wait, MAX_WAIT);
  wait = (gint64) ((double) wait * (0.75 + 0.25 * g_random_double ()));
  if (retry_after >= 0)
    wait = MAX (wait, MIN (retry_after, MAX_RETRY_AFTER / G_USEC_PER_SEC) * G_USEC_PER_SEC);
  if (now + wait > host->not_before)
    {
      host->not_before = now + wait;
      g_free (host->why);
      host->why = g_strdup (why);
    }
}

gboolean
http_retry_note_fault (HttpRetry *self, gint64 retry_after, GError *cause, GError **error)
{
  gint64 now = g_get_monotonic_time ();

  if (self->first_fault == 0)
    self->first_fault = now;
  if (++self->faults == self->settings->attempts)
    {
      g_propagate_prefixed_error (error, cause,
                                  "given up after %u attempt%s without progress: ", self->faults,
                                  self->faults == 1 ? "" : "s");
      return FALSE;
    }
  if (now - self->first_fault >= self->settings->budget)
    {
      g_propagate_prefixed_error (error, cause, "given up after %.1f s without progress: ",
                                  (double) (now - self->first_fault) / G_USEC_PER_SEC);
      return FALSE;
    }

  g_debug ("%s: %s; another attempt follows", self->name, cause->message);
  pthread_mutex_lock (&hosts_lock);
  add_fault_locked (self, now, retry_after, cause->message);
  pthread_mutex_unlock (&hosts_lock);
  g_error_free (cause);
  return TRUE;
}

void
http_retry_note_progress (HttpRetry *self)
{
  self->first_fault = 0;
  self->faults = 0;
  /* Behind each read: mostly there is nothing to forget. */
  if (__atomic_load_n (&self->host->faults, __ATOMIC_RELAXED) == 0)
    return;
  pthread_mutex_lock (&hosts_lock);
  /* What a server asked for is still to be waited for. */
  __atomic_store_n (&self->host->faults, 0, __ATOMIC_RELAXED);
  pthread_mutex_unlock (&hosts_lock);
}
