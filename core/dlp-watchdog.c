/* SPDX-License-Identifier: MIT */

#include "dlp-watchdog-private.h"

#include <time.h>

#include "dlp-quantity-private.h"
#include "dlp-watched-private.h"

#define PHASE_IS_NEWS (G_USEC_PER_SEC / 10)

/* What is done outside of steps. */
typedef struct
{
  DlpElement *element; /* (nullable) */
  const char *what;    /* NULL: nothing */
  gint64 entered_at;   /* monotonic, us */
} Phase;

struct _DlpWatchdog
{
  DlpContext *context;
  DlpWatched *watched;
  gint64 limit; /* us */
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
  pthread_cond_t cond;   /* monotonic */
  bool stopping;         /* lock */
  bool fails;            /* lock: a stall ends the run */
  bool failing;          /* lock: the thread makes it fail */
  Phase phases[2];       /* lock: of the run's thread, one within the other */
  guint n_phases;        /* lock */
  Phase aside;           /* lock: of another thread */
  pthread_t aside_owner; /* lock */
  guint n_entered;       /* lock */
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

/* ---- phases ---- */

/* lock is held. The innermost one; (nullable). */
static const Phase *
get_phase (DlpWatchdog *self)
{
  if (self->aside.what != NULL)
    return &self->aside;
  return self->n_phases > 0 ? &self->phases[self->n_phases - 1] : NULL;
}

/* lock is held. The one that hangs: what began later than the last movement waits for no more than
 * a moment. */
static const Phase *
find_hanging (DlpWatchdog *self)
{
  if (self->aside.what != NULL && self->aside.entered_at <= self->moved)
    return &self->aside;
  for (guint i = self->n_phases; i > 0; i--)
    if (self->phases[i - 1].entered_at <= self->moved)
      return &self->phases[i - 1];
  return NULL;
}

static void
say_phase (const Phase *phase, GString *text)
{
  if (phase->element != NULL)
    g_string_append_printf (text, "%s ", dlp_element_get_name (phase->element));
  g_string_append (text, phase->what);
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
  const Phase *found;
  Phase phase = { NULL };

  pthread_mutex_lock (&self->lock);
  if (!declared)
    found = find_hanging (self);
  else
    found = self->phase >= self->limit ? get_phase (self) : NULL;
  if (found != NULL)
    phase = *found;
  pthread_mutex_unlock (&self->lock);

  g_string_append_printf (text, "nothing has moved for %.*f s, since %s", seconds < 10 ? 1 : 0,
                          seconds, when);
  *element = phase.element;
  if (phase.what != NULL)
    {
      g_string_append (text, "; ");
      say_phase (&phase, text);
    }
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

/* Whether the run is to fail. From then until end_failing() report_only() waits. */
static bool
begin_failing (DlpWatchdog *self)
{
  bool fails;

  pthread_mutex_lock (&self->lock);
  fails = self->failing = self->fails;
  pthread_mutex_unlock (&self->lock);
  return fails;
}

static void
end_failing (DlpWatchdog *self)
{
  pthread_mutex_lock (&self->lock);
  self->failing = false;
  pthread_cond_broadcast (&self->cond);
  pthread_mutex_unlock (&self->lock);
}

/* Also where the run fails: it may not come to its end, where its error would be told. */
static void
say_stall (DlpWatchdog *self, gint64 still, bool declared)
{
  DlpElement *element;
  g_autofree char *text = describe (self, still, declared, &element);
  bool fails = begin_failing (self);

  dlp_context_warn (self->context, text);
  g_log_structured (G_LOG_DOMAIN, G_LOG_LEVEL_WARNING, "DLP_ELEMENT",
                    element != NULL ? dlp_element_get_name (element) : "", "MESSAGE", "%s%s", text,
                    fails ? "; the run fails" : "");
  if (fails)
    fail (self, element, text);
  end_failing (self);
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
  const Phase *phase;
  DlpElement *element;
  bool goes_on, same;
  gint64 entered_at;

  pthread_mutex_lock (&self->lock);
  phase = get_phase (self);
  goes_on = phase != NULL;
  element = goes_on ? phase->element : NULL;
  entered_at = goes_on ? phase->entered_at : 0;
  pthread_mutex_unlock (&self->lock);
  same = entered_at == self->last;
  self->last = entered_at;
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
  pthread_cond_broadcast (&self->cond);
  pthread_mutex_unlock (&self->lock);
  if (self->running)
    pthread_join (self->thread, NULL);
  dlp_watched_free (self->watched);
  pthread_cond_destroy (&self->cond);
  pthread_mutex_destroy (&self->lock);
  g_free (self);
}

static Phase
make_phase (DlpElement *element, const char *what)
{
  return (Phase){ element, what, g_get_monotonic_time () };
}

void
dlp_watchdog_enter (DlpWatchdog *self, DlpElement *element, const char *what)
{
  if (self == NULL)
    return;
  pthread_mutex_lock (&self->lock);
  g_assert (self->n_phases < G_N_ELEMENTS (self->phases));
  self->phases[self->n_phases++] = make_phase (element, what);
  self->n_entered++;
  pthread_mutex_unlock (&self->lock);
}

void
dlp_watchdog_enter_aside (DlpWatchdog *self, DlpElement *element, const char *what)
{
  if (self == NULL)
    return;
  pthread_mutex_lock (&self->lock);
  self->aside = make_phase (element, what);
  self->aside_owner = pthread_self ();
  pthread_mutex_unlock (&self->lock);
}

void
dlp_watchdog_leave (DlpWatchdog *self)
{
  if (self == NULL)
    return;
  pthread_mutex_lock (&self->lock);
  if (self->aside.what != NULL && pthread_equal (self->aside_owner, pthread_self ()))
    self->aside.what = NULL;
  else
    {
      self->n_phases--;
      self->n_entered++;
    }
  pthread_mutex_unlock (&self->lock);
}

/* Where the run's thread is in none, that of another one is beside what the elements do. */
char *
dlp_watchdog_describe_phase (DlpWatchdog *self)
{
  gint64 before = g_get_monotonic_time () - PHASE_IS_NEWS;
  GString *text = NULL;
  const Phase *phase;

  pthread_mutex_lock (&self->lock);
  phase = self->n_phases > 0 ? get_phase (self) : NULL;
  if (phase != NULL && self->phases[self->n_phases - 1].entered_at <= before)
    {
      text = g_string_new (NULL);
      say_phase (phase, text);
    }
  pthread_mutex_unlock (&self->lock);
  return text != NULL ? g_string_free (text, FALSE) : NULL;
}

void
dlp_watchdog_report_only (DlpWatchdog *self)
{
  if (self == NULL)
    return;
  pthread_mutex_lock (&self->lock);
  self->fails = false;
  while (self->failing)
    pthread_cond_wait (&self->cond, &self->lock);
  pthread_mutex_unlock (&self->lock);
}
