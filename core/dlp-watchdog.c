/* SPDX-License-Identifier: MIT */

#include "dlp-watchdog-private.h"

#include <time.h>

#include "dlp-element-private.h"
#include "dlp-quantity-private.h"

struct _DlpWatchdog
{
  GPtrArray *elements;
  gint64 limit; /* us */
  bool fails;
  bool running;
  pthread_t thread;

  /* The thread's own: */
  guint64 seen;  /* what was measured last */
  gint64 since;  /* when that moved: real time, us */
  gint64 still;  /* for how long it has not, us */
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

static guint64
sum_pads (GPtrArray *pads)
{
  guint64 sum = 0;

  for (guint i = 0; i < pads->len; i++)
    {
      DlpPad *pad = g_ptr_array_index (pads, i);

      /* While records are made again only the latter moves. Not batches: of those that only carry
       * marks each checkpoint makes one. */
      sum += dlp_stat_get (&pad->known) + dlp_stat_get (&pad->emitted);
    }
  return sum;
}

/* Anything that moves changes it. */
static guint64
measure (DlpWatchdog *self)
{
  guint64 sum = 0;

  for (guint i = 0; i < self->elements->len; i++)
    {
      DlpElementPrivate *priv = dlp_element_get_private (g_ptr_array_index (self->elements, i));

      sum += (guint64) __atomic_load_n (&priv->moved_at, __ATOMIC_RELAXED);
      sum += dlp_stat_get (&priv->progress[0]) + dlp_flag_get (priv->ended);
      sum += sum_pads (priv->inputs) + sum_pads (priv->outputs);
    }
  pthread_mutex_lock (&self->lock);
  sum += self->n_entered;
  pthread_mutex_unlock (&self->lock);
  return sum;
}

static bool
is_declared (DlpWatchdog *self)
{
  bool declared = false;

  for (guint i = 0; i < self->elements->len && !declared; i++)
    {
      DlpElementPrivate *priv = dlp_element_get_private (g_ptr_array_index (self->elements, i));

      declared = dlp_flag_get (priv->context->paused);
      pthread_mutex_lock (&priv->status_lock);
      declared |= priv->status != NULL;
      pthread_mutex_unlock (&priv->status_lock);
    }
  return declared;
}

/* ---- what is said ---- */

static void
say_output (DlpElementPrivate *priv, GString *text)
{
  for (guint i = 0; i < priv->outputs->len; i++)
    {
      DlpPad *pad = g_ptr_array_index (priv->outputs, i);

      if (pad->link == NULL || !dlp_queue_is_full (pad->link))
        continue;
      g_string_append_printf (text, " waits for room behind its pad “%s”, before %s", pad->name,
                              dlp_element_get_name (pad->peer->element));
      return;
    }
  g_string_append (text, " waits for room behind it");
}

static void
say_wait (DlpElementPrivate *priv, DlpTurn turn, GString *text)
{
  guint input = __atomic_load_n (&priv->wanted_input, __ATOMIC_RELAXED);
  DlpPad *pad;

  switch (turn)
    {
    case DLP_TURN_WAIT_INPUT:
      pad = g_ptr_array_index (priv->inputs, MIN (input, priv->inputs->len - 1));
      g_string_append_printf (text, " waits for input on its pad “%s”, from %s", pad->name,
                              dlp_element_get_name (pad->peer->element));
      break;
    case DLP_TURN_WAIT_OUTPUT:
      say_output (priv, text);
      break;
    case DLP_TURN_WAIT_WORK:
    case DLP_TURN_MORE:
    case DLP_TURN_END:
    case DLP_TURN_ERROR:
      g_string_append (text, " waits for its own input/output or for work it gave to the workers");
      break;
    }
}

/* Elements that wait for a neighbour are named only where none hangs by itself. @first: (nullable):
 * set to the first one that is named, if it is NULL. */
static bool
say_elements (DlpWatchdog *self, bool neighbours, GString *text, DlpElement **first)
{
  gsize before = text->len;

  for (guint i = 0; i < self->elements->len && text->len < 1000; i++)
    {
      DlpElement *element = g_ptr_array_index (self->elements, i);
      DlpElementPrivate *priv = dlp_element_get_private (element);
      bool waits = __atomic_load_n (&priv->waits_since, __ATOMIC_ACQUIRE) != 0;
      DlpTurn turn = __atomic_load_n (&priv->waits_for, __ATOMIC_RELAXED);
      bool by_itself = !waits || (turn != DLP_TURN_WAIT_INPUT && turn != DLP_TURN_WAIT_OUTPUT);

      if (dlp_flag_get (priv->ended) || dlp_flag_get (priv->has_left) || by_itself == neighbours ||
          __atomic_load_n (&priv->moved_at, __ATOMIC_RELAXED) == 0)
        continue;
      g_string_append_printf (text, "; %s", dlp_element_get_name (element));
      if (waits)
        say_wait (priv, turn, text);
      else
        g_string_append (text, " is in a step that does not return");
      if (by_itself && *first == NULL)
        *first = element;
    }
  return text->len > before;
}

/* (transfer full). *@element: (nullable) (transfer none): the one that hangs by itself. */
static char *
describe (DlpWatchdog *self, DlpElement **element)
{
  GString *text = g_string_new (NULL);
  g_autoptr (GDateTime) since = g_date_time_new_from_unix_local (self->since / G_USEC_PER_SEC);
  g_autofree char *when = since != NULL ? g_date_time_format (since, "%F %T") : g_strdup ("?");
  double seconds = (double) self->still / G_USEC_PER_SEC;
  const char *what;

  pthread_mutex_lock (&self->lock);
  /* What began later waits for no more than a moment. */
  what = self->entered_at <= self->moved ? self->what : NULL;
  *element = what != NULL ? self->element : NULL;
  pthread_mutex_unlock (&self->lock);

  g_string_append_printf (text, "nothing has moved for %.*f s, since %s", seconds < 10 ? 1 : 0,
                          seconds, when);
  if (what != NULL)
    g_string_append_printf (text, "; %s%s%s",
                            *element != NULL ? dlp_element_get_name (*element) : "",
                            *element != NULL ? " " : "", what);
  else if (!say_elements (self, false, text, element))
    say_elements (self, true, text, element);
  return g_string_free (text, FALSE);
}

static void
fail (DlpWatchdog *self, DlpElement *element, const char *text)
{
  DlpContext *context = dlp_element_get_context (g_ptr_array_index (self->elements, 0));
  g_autofree char *limit = dlp_quantity_format (DLP_QUANTITY_DURATION, false, self->limit);

  context->fail (context, element,
                 g_error_new (DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STALLED,
                              "%s; where that may take so long, set a longer stall-timeout (now "
                              "%s; 0: no limit), or stall-action=report",
                              text, limit));
}

/* Also where the run fails: it may not come to its end, where its error would be told. */
static void
say_stall (DlpWatchdog *self)
{
  DlpElement *element;
  g_autofree char *text = describe (self, &element);
  DlpElement *first = g_ptr_array_index (self->elements, 0);

  dlp_context_warn (dlp_element_get_context (first), text);
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
  self->said = false;
}

static void
look (DlpWatchdog *self)
{
  guint64 measured = measure (self);
  gint64 passed = g_get_monotonic_time () - self->looked;

  self->looked += passed;
  if (measured != self->seen || is_declared (self))
    {
      note_movement (self, measured);
      return;
    }
  /* A process that was stopped, as by a batch system, did not hang meanwhile. */
  self->still += MIN (passed, 2 * get_tick (self));
  if (self->said || self->still < self->limit)
    return;
  self->said = true;
  say_stall (self);
}

static gpointer
watch (gpointer data)
{
  DlpWatchdog *self = data;

  pthread_setname_np (pthread_self (), "dlp-watchdog");
  self->looked = g_get_monotonic_time ();
  note_movement (self, measure (self));
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
dlp_watchdog_new (GPtrArray *elements, gint64 limit, bool fails)
{
  DlpWatchdog *self = g_new0 (DlpWatchdog, 1);
  pthread_condattr_t attributes;

  self->elements = elements;
  self->limit = limit;
  self->fails = fails;
  pthread_mutex_init (&self->lock, NULL);
  pthread_condattr_init (&attributes);
  pthread_condattr_setclock (&attributes, CLOCK_MONOTONIC);
  pthread_cond_init (&self->cond, &attributes);
  pthread_condattr_destroy (&attributes);
  /* A run without one is better than none. */
  self->running = self->limit > 0 && elements->len > 0 &&
                  pthread_create (&self->thread, NULL, watch, self) == 0;
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
  pthread_cond_destroy (&self->cond);
  pthread_mutex_destroy (&self->lock);
  g_free (self);
}

static void
enter (DlpWatchdog *self, DlpElement *element, const char *what, bool aside)
{
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
  pthread_mutex_lock (&self->lock);
  self->element = NULL;
  self->what = NULL;
  self->n_entered += !self->aside;
  pthread_mutex_unlock (&self->lock);
}
