/* SPDX-License-Identifier: MIT */

#include "dlp-watchdog-private.h"

#include <time.h>

#include "dlp-quantity-private.h"
#include "dlp-watched-private.h"

struct _DlpWatchdog
{
  DlpContext *context;
  DlpWatched *watched;
  gint64 limit; /* us */
  bool fails;
  bool running;
  pthread_t thread;

  /* The thread's own: */
  guint64 seen;  /* what was measured last */
  gint64 since;  /* when that moved: real time, us */
  gint64 still;  /* for how long it has not, and none declared a wait, us */
  gint64 phase;  /* for how long it has not in the phase that goes on, us */
  gint64 last;   /* when that was entered */
  gint64 looked; /* monotonic, us */
  gint64 moved;  /* the same, when movement was seen last */
  bool said;

  pthread_mutex_t lock;
  pthread_cond_t cond; /* monotonic */
  bool stopping;       /* lock */
  DlpElement *element; /* lock */
  const char *what;    /* lock */
  bool aside;          /* lock */
  gint64 entered_at;   /* lock: monotonic, us */
  guint n_entered;     /* lock */
};

/* ---- whether it moves ---- */

/* Anything that moves changes it. */
static guint64
measure (DlpWatchdog *self)
{
  guint64 sum = dlp_watched_measure (self->watched);

  pthread_mutex_lock (&self->lock);
  sum += self->n_entered;
  pthread_mutex_unlock (&self->lock);
  return sum;
}

/* ---- what is said ---- */

/* (transfer full). @declared: what none excused has hung for the limit. *@element: (nullable)
 * (transfer none): the one that hangs by itself. */
static char *
describe (DlpWatchdog *self, gint64 still, bool declared, DlpElement **element)
{
  GString *text = g_string_new (NULL);
  g_autoptr (GDateTime) since = g_date_time_new_from_unix_local (self->since / G_USEC_PER_SEC);
  g_autofree char *when = since != NULL ? g_date_time_format (since, "%F %T") : g_strdup ("?");
  double seconds = (double) still / G_USEC_PER_SEC;
  const char *what;

  pthread_mutex_lock (&self->lock);
  /* What began later waits for no more than a moment. */
  what = declared                        ? self->phase >= self->limit ? self->what : NULL :
         self->entered_at <= self->moved ? self->what :
                                           NULL;
  *element = what != NULL ? self->element : NULL;
  pthread_mutex_unlock (&self->lock);

  g_string_append_printf (text, "nothing has moved for %.*f s, since %s", seconds < 10 ? 1 : 0,
                          seconds, when);
  if (what != NULL)
    g_string_append_printf (text, "; %s%s%s",
                            *element != NULL ? dlp_element_get_name (*element) : "",
                            *element != NULL ? " " : "", what);
  else
    dlp_watched_say (self->watched, declared ? self->limit : 0, text, element);
  return g_string_free (text, FALSE);
}

static void
fail (DlpWatchdog *self, DlpElement *element, const char *text)
{
  g_autofree char *limit = dlp_quantity_format (DLP_QUANTITY_DURATION, false, self->limit);

  self->context->fail (
      self->context, element,
      g_error_new (DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STALLED,
                   "%s; where that may take so long, set a longer stall-timeout (now %s; 0: no "
                   "limit), or stall-action=report",
                   text, limit));
}

/* Also where the run fails: it may not come to its end, where its error would be told. */
static void
say_stall (DlpWatchdog *self, gint64 still, bool declared)
{
  DlpElement *element;
  g_autofree char *text = describe (self, still, declared, &element);

  dlp_context_warn (self->context, text);
  g_log_structured (G_LOG_DOMAIN, G_LOG_LEVEL_WARNING, "DLP_ELEMENT",
                    element != NULL ? dlp_element_get_name (element) : "", "MESSAGE", "%s%s", text,
                    self->fails ? "; the run fails" : "");
  if (self->fails)
    fail (self, element, text);
}

/* ---- the thread ---- */

static gint64
get_tick (DlpWatchdog *self)
{
  return CLAMP (self->limit / 4, G_USEC_PER_SEC / 100, G_USEC_PER_SEC);
}

/* lock is held. */
static void
wait_tick (DlpWatchdog *self)
{
  gint64 until = g_get_monotonic_time () + get_tick (self);
  struct timespec at = { until / G_USEC_PER_SEC, (until % G_USEC_PER_SEC) * 1000 };

  pthread_cond_timedwait (&self->cond, &self->lock, &at);
}

static void
note_movement (DlpWatchdog *self, guint64 measured)
{
  self->seen = measured;
  self->since = g_get_real_time ();
  self->moved = self->looked;
  self->still = 0;
  self->phase = 0;
  self->said = false;
  dlp_watched_note_movement (self->watched);
}

/* For how long what is done outside of steps has gone on. *@declared: its element declared a wait.
 */
static gint64
look_at_phase (DlpWatchdog *self, gint64 passed, bool *declared)
{
  DlpElement *element;
  bool goes_on, same;

  pthread_mutex_lock (&self->lock);
  element = self->what != NULL ? self->element : NULL;
  goes_on = self->what != NULL;
  same = self->entered_at == self->last;
  self->last = self->entered_at;
  pthread_mutex_unlock (&self->lock);
  *declared = element != NULL && dlp_watched_is_declared (element);
  self->phase = goes_on && same && !*declared ? self->phase + passed : 0;
  return self->phase;
}

/* Where none declared a wait, all that is there has hung since the last movement; else only those
 * that wait for nothing of it. */
static void
look (DlpWatchdog *self)
{
  guint64 measured = measure (self);
  gint64 passed = g_get_monotonic_time () - self->looked;
  bool phase_declared, declared;
  gint64 own, phase;

  self->looked += passed;
  if (measured != self->seen || dlp_flag_get (self->context->paused))
    {
      note_movement (self, measured);
      return;
    }
  /* A process that was stopped, as by a batch system, did not hang meanwhile. */
  passed = MIN (passed, 2 * get_tick (self));
  phase = look_at_phase (self, passed, &phase_declared);
  own = dlp_watched_look (self->watched, passed, &declared);
  own = MAX (own, phase);
  if (declared || phase_declared)
    {
      self->moved = self->looked;
      self->since = g_get_real_time () - own;
      self->still = -passed;
    }
  self->still += passed;
  if (self->said || MAX (own, self->still) < self->limit)
    return;
  self->said = true;
  say_stall (self, MAX (own, self->still), self->still < self->limit);
}

static gpointer
watch (gpointer data)
{
  DlpWatchdog *self = data;

  guint64 measured;

  pthread_setname_np (pthread_self (), "dlp-watchdog");
  /* What it counts was entered before the time that is read then. */
  measured = measure (self);
  self->looked = g_get_monotonic_time ();
  note_movement (self, measured);
  pthread_mutex_lock (&self->lock);
  while (!self->stopping)
    {
      wait_tick (self);
      if (self->stopping)
        break;
      pthread_mutex_unlock (&self->lock);
      look (self);
      pthread_mutex_lock (&self->lock);
    }
  pthread_mutex_unlock (&self->lock);
  return NULL;
}

/* ---- */

gint64
dlp_watchdog_get_default_limit (void)
{
  const char *text = g_getenv ("DLPIPE_STALL_SECONDS");
  double seconds = text != NULL ? g_ascii_strtod (text, NULL) : -1.0;

  return seconds >= 0.0 && seconds < 1e9 ? (gint64) (seconds * G_USEC_PER_SEC) : DLP_WATCHDOG_LIMIT;
}

DlpWatchdog *
dlp_watchdog_new (DlpContext *context, GPtrArray *elements, gint64 limit, bool fails)
{
  DlpWatchdog *self = g_new0 (DlpWatchdog, 1);
  pthread_condattr_t attributes;

  self->context = context;
  self->watched = dlp_watched_new (elements);
  self->limit = limit;
  self->fails = fails;
  pthread_mutex_init (&self->lock, NULL);
  pthread_condattr_init (&attributes);
  pthread_condattr_setclock (&attributes, CLOCK_MONOTONIC);
  pthread_cond_init (&self->cond, &attributes);
  pthread_condattr_destroy (&attributes);
  /* A run without one is better than none. */
  self->running = self->limit > 0 && pthread_create (&self->thread, NULL, watch, self) == 0;
  return self;
}

void
dlp_watchdog_free (DlpWatchdog *self)
{
  pthread_mutex_lock (&self->lock);
  self->stopping = true;
  pthread_cond_signal (&self->cond);
  pthread_mutex_unlock (&self->lock);
  if (self->running)
    pthread_join (self->thread, NULL);
  dlp_watched_free (self->watched);
  pthread_cond_destroy (&self->cond);
  pthread_mutex_destroy (&self->lock);
  g_free (self);
}

static void
enter (DlpWatchdog *self, DlpElement *element, const char *what, bool aside)
{
  if (self == NULL)
    return;
  pthread_mutex_lock (&self->lock);
  self->element = element;
  self->what = what;
  self->aside = aside;
  self->entered_at = g_get_monotonic_time ();
  self->n_entered += !aside;
  pthread_mutex_unlock (&self->lock);
}

void
dlp_watchdog_enter (DlpWatchdog *self, DlpElement *element, const char *what)
{
  enter (self, element, what, false);
}

void
dlp_watchdog_enter_aside (DlpWatchdog *self, DlpElement *element, const char *what)
{
  enter (self, element, what, true);
}

void
dlp_watchdog_leave (DlpWatchdog *self)
{
  if (self == NULL)
    return;
  pthread_mutex_lock (&self->lock);
  self->element = NULL;
  self->what = NULL;
  self->n_entered += !self->aside;
  pthread_mutex_unlock (&self->lock);
}
