/* SPDX-License-Identifier: MIT */

#include "dlp-watchdog-private.h"

#include <time.h>

#include "dlp-element-private.h"

#define DEFAULT_LIMIT (60 * G_USEC_PER_SEC)

struct _DlpWatchdog
{
  GPtrArray *elements;
  gint64 limit; /* us */
  bool running;
  pthread_t thread;

  pthread_mutex_t lock;
  pthread_cond_t cond; /* monotonic */
  bool stopping;       /* lock */
  DlpElement *element; /* lock */
  const char *what;    /* lock */
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

      sum += dlp_stat_get (&pad->known) + dlp_stat_get (&pad->n_batches);
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

/* Elements that wait for a neighbour are named only where none hangs by itself. */
static bool
say_elements (DlpWatchdog *self, bool neighbours, GString *text)
{
  gsize before = text->len;

  for (guint i = 0; i < self->elements->len && text->len < 1000; i++)
    {
      DlpElement *element = g_ptr_array_index (self->elements, i);
      DlpElementPrivate *priv = dlp_element_get_private (element);
      bool waits = __atomic_load_n (&priv->waits_since, __ATOMIC_ACQUIRE) != 0;
      DlpTurn turn = __atomic_load_n (&priv->waits_for, __ATOMIC_RELAXED);
      bool by_itself = !waits || (turn != DLP_TURN_WAIT_INPUT && turn != DLP_TURN_WAIT_OUTPUT);

      if (dlp_flag_get (priv->ended) || by_itself == neighbours ||
          __atomic_load_n (&priv->moved_at, __ATOMIC_RELAXED) == 0)
        continue;
      g_string_append_printf (text, "; %s", dlp_element_get_name (element));
      if (waits)
        say_wait (priv, turn, text);
      else
        g_string_append (text, " is in a step that does not return");
    }
  return text->len > before;
}

static void
say_stall (DlpWatchdog *self, gint64 since)
{
  DlpElement *first = g_ptr_array_index (self->elements, 0);
  g_autoptr (GString) text = g_string_new (NULL);
  DlpElement *element;
  const char *what;

  pthread_mutex_lock (&self->lock);
  element = self->element;
  what = self->what;
  pthread_mutex_unlock (&self->lock);

  g_string_append_printf (text, "nothing has moved for %.0f s",
                          (double) (g_get_monotonic_time () - since) / G_USEC_PER_SEC);
  if (what != NULL)
    g_string_append_printf (text, "; %s%s%s", element != NULL ? dlp_element_get_name (element) : "",
                            element != NULL ? " " : "", what);
  else if (!say_elements (self, false, text))
    say_elements (self, true, text);
  dlp_context_warn (dlp_element_get_context (first), text->str);
  g_log_structured (G_LOG_DOMAIN, G_LOG_LEVEL_WARNING, "DLP_ELEMENT",
                    element != NULL ? dlp_element_get_name (element) : "", "MESSAGE", "%s",
                    text->str);
}

/* ---- the thread ---- */

/* lock is held. */
static void
wait_tick (DlpWatchdog *self)
{
  gint64 tick = CLAMP (self->limit / 4, G_USEC_PER_SEC / 100, G_USEC_PER_SEC);
  gint64 until = g_get_monotonic_time () + tick;
  struct timespec at = { until / G_USEC_PER_SEC, (until % G_USEC_PER_SEC) * 1000 };

  pthread_cond_timedwait (&self->cond, &self->lock, &at);
}

static gpointer
watch (gpointer data)
{
  DlpWatchdog *self = data;
  guint64 seen = measure (self);
  gint64 since = g_get_monotonic_time ();
  bool said = false;

  pthread_setname_np (pthread_self (), "dlp-watchdog");
  pthread_mutex_lock (&self->lock);
  while (!self->stopping)
    {
      guint64 now;

      wait_tick (self);
      if (self->stopping)
        break;
      pthread_mutex_unlock (&self->lock);
      now = measure (self);
      if (now != seen || is_declared (self))
        {
          seen = now;
          since = g_get_monotonic_time ();
          said = false;
        }
      else if (!said && g_get_monotonic_time () - since >= self->limit)
        {
          say_stall (self, since);
          said = true;
        }
      pthread_mutex_lock (&self->lock);
    }
  pthread_mutex_unlock (&self->lock);
  return NULL;
}

DlpWatchdog *
dlp_watchdog_new (GPtrArray *elements)
{
  DlpWatchdog *self = g_new0 (DlpWatchdog, 1);
  const char *seconds = g_getenv ("DLPIPE_STALL_SECONDS");
  pthread_condattr_t attributes;

  self->elements = elements;
  self->limit =
      seconds != NULL ? (gint64) (g_ascii_strtod (seconds, NULL) * G_USEC_PER_SEC) : DEFAULT_LIMIT;
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

void
dlp_watchdog_enter (DlpWatchdog *self, DlpElement *element, const char *what)
{
  pthread_mutex_lock (&self->lock);
  self->element = element;
  self->what = what;
  self->n_entered++;
  pthread_mutex_unlock (&self->lock);
}

void
dlp_watchdog_leave (DlpWatchdog *self)
{
  dlp_watchdog_enter (self, NULL, NULL);
}
