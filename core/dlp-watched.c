/* SPDX-License-Identifier: MIT */

/* Whether the elements of a run move, which of them hang by themselves, and which only wait because
 * another one declared that it does. */

#include "dlp-watched-private.h"

#include "dlp-element-private.h"

typedef enum
{
  STAND_OUT,       /* not yet, or not any more */
  STAND_QUEUED,    /* it could go on, and has no thread */
  STAND_AT_INPUT,  /* it waits for a neighbour */
  STAND_AT_OUTPUT, /* the same */
  STAND_OWN_WORK,  /* in a step, its own input/output, or work it gave to the workers */
} Stand;

typedef struct
{
  DlpElement *element;
  DlpElementPrivate *priv;
  Stand stand;
  bool excused;
  gint64 still; /* for how long nothing moved and it was not excused, us */
} Watched;

struct _DlpWatched
{
  guint n;
  Watched *elements;
  GHashTable *index; /* of the elements: their number */
  bool declared;     /* one of them declared a wait at the last look */
};

DlpWatched *
dlp_watched_new (GPtrArray *elements)
{
  DlpWatched *self = g_new0 (DlpWatched, 1);

  self->n = elements->len;
  self->elements = g_new0 (Watched, self->n);
  self->index = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < self->n; i++)
    {
      self->elements[i].element = g_ptr_array_index (elements, i);
      self->elements[i].priv = dlp_element_get_private (self->elements[i].element);
      g_hash_table_insert (self->index, self->elements[i].element, GUINT_TO_POINTER (i));
    }
  return self;
}

void
dlp_watched_free (DlpWatched *self)
{
  g_hash_table_unref (self->index);
  g_free (self->elements);
  g_free (self);
}

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

guint64
dlp_watched_measure (DlpWatched *self)
{
  guint64 sum = 0;

  for (guint i = 0; i < self->n; i++)
    {
      DlpElementPrivate *priv = self->elements[i].priv;

      sum += (guint64) __atomic_load_n (&priv->moved_at, __ATOMIC_RELAXED);
      sum += dlp_stat_get (&priv->progress[0]) + dlp_stat_get (&priv->blocks);
      sum += dlp_flag_get (priv->ended);
      sum += sum_pads (priv->inputs) + sum_pads (priv->outputs);
    }
  return sum;
}

void
dlp_watched_note_movement (DlpWatched *self)
{
  for (guint i = 0; i < self->n; i++)
    self->elements[i].still = 0;
}

/* ---- where each of them stands ---- */

static bool
waits_for_work (DlpElementPrivate *priv, DlpTurn turn)
{
  if (turn == DLP_TURN_WAIT_INPUT)
    /* Of one that is the program's the work is the program's too. */
    return priv->app == NULL && __atomic_load_n (&priv->wants_work, __ATOMIC_RELAXED);
  return turn != DLP_TURN_WAIT_OUTPUT;
}

static Stand
find_stand (DlpElementPrivate *priv)
{
  bool waits = __atomic_load_n (&priv->waits_since, __ATOMIC_ACQUIRE) != 0;
  DlpTurn turn = __atomic_load_n (&priv->waits_for, __ATOMIC_RELAXED);

  if (dlp_flag_get (priv->ended) || dlp_flag_get (priv->has_left) ||
      __atomic_load_n (&priv->moved_at, __ATOMIC_RELAXED) == 0)
    return STAND_OUT;
  if (__atomic_load_n (&priv->place, __ATOMIC_RELAXED) != DLP_PLACE_THREAD)
    return STAND_QUEUED;
  if (!waits || waits_for_work (priv, turn))
    return STAND_OWN_WORK;
  return turn == DLP_TURN_WAIT_INPUT ? STAND_AT_INPUT : STAND_AT_OUTPUT;
}

bool
dlp_watched_is_declared (DlpElement *element)
{
  DlpElementPrivate *priv = dlp_element_get_private (element);
  bool declared;

  pthread_mutex_lock (&priv->status_lock);
  declared = priv->status != NULL;
  pthread_mutex_unlock (&priv->status_lock);
  return declared;
}

static DlpPad *
get_wanted_input (DlpElementPrivate *priv)
{
  guint input = __atomic_load_n (&priv->wanted_input, __ATOMIC_RELAXED);

  return g_ptr_array_index (priv->inputs, MIN (input, priv->inputs->len - 1));
}

static bool
is_excused (DlpWatched *self, DlpPad *peer)
{
  gpointer number;

  return peer != NULL && g_hash_table_lookup_extended (self->index, peer->element, NULL, &number) &&
         self->elements[GPOINTER_TO_UINT (number)].excused;
}

/* Of the links that are full one at least, or, where none is, as behind an element that broke off
 * and waits until all it made was taken, of all. */
static bool
is_blocked_by_excused (DlpWatched *self, GPtrArray *outputs)
{
  bool any_full = false, full_excused = false, any_excused = false;

  for (guint i = 0; i < outputs->len; i++)
    {
      DlpPad *pad = g_ptr_array_index (outputs, i);
      bool full = pad->link != NULL && dlp_queue_is_full (pad->link);
      bool excused = is_excused (self, pad->peer);

      any_full |= full;
      full_excused |= full && excused;
      any_excused |= excused;
    }
  return any_full ? full_excused : any_excused;
}

/* Whether what it waits for waits because of a declared wait. */
static bool
waits_for_excused (DlpWatched *self, const Watched *watched)
{
  if (watched->stand == STAND_AT_INPUT)
    return is_excused (self, get_wanted_input (watched->priv)->peer);
  return watched->stand == STAND_AT_OUTPUT && is_blocked_by_excused (self, watched->priv->outputs);
}

/* Work that lies behind the work of one that declared a wait, which may hold all workers. */
static bool
lacks_workers (DlpWatched *self)
{
  bool gives_work = false;
  DlpWorkPool *pool = NULL;

  for (guint i = 0; i < self->n && !gives_work; i++)
    {
      pool = self->elements[i].priv->context->pool;
      gives_work = self->elements[i].excused &&
                   __atomic_load_n (&self->elements[i].priv->work, __ATOMIC_ACQUIRE) != NULL;
    }
  return gives_work && pool != NULL && dlp_work_pool_is_short (pool);
}

/* Those that declared a wait; those that lack the thread or the workers that such a one may hold.
 */
static void
excuse_first (DlpWatched *self)
{
  bool short_of_workers;

  self->declared = false;
  for (guint i = 0; i < self->n; i++)
    {
      Watched *watched = &self->elements[i];

      watched->stand = find_stand (watched->priv);
      watched->excused = watched->stand != STAND_OUT && dlp_watched_is_declared (watched->element);
      self->declared |= watched->excused;
    }
  if (!self->declared)
    return;
  short_of_workers = lacks_workers (self);
  for (guint i = 0; i < self->n; i++)
    {
      Watched *watched = &self->elements[i];
      bool in_step = __atomic_load_n (&watched->priv->waits_since, __ATOMIC_ACQUIRE) == 0;

      watched->excused |= watched->stand == STAND_QUEUED ||
                          (watched->stand == STAND_OWN_WORK && !in_step && short_of_workers);
    }
}

/* A wait spreads from neighbour to neighbour, until it comes to no more of them. */
static void
spread (DlpWatched *self)
{
  bool more = self->declared;

  while (more)
    {
      more = false;
      for (guint i = 0; i < self->n; i++)
        if (!self->elements[i].excused && waits_for_excused (self, &self->elements[i]))
          self->elements[i].excused = more = true;
    }
}

gint64
dlp_watched_look (DlpWatched *self, gint64 passed, bool *declared)
{
  gint64 longest = 0;

  excuse_first (self);
  spread (self);
  for (guint i = 0; i < self->n; i++)
    {
      Watched *watched = &self->elements[i];

      watched->still =
          watched->excused || watched->stand == STAND_OUT ? 0 : watched->still + passed;
      longest = MAX (longest, watched->still);
    }
  *declared = self->declared;
  return longest;
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
say_stand (const Watched *watched, GString *text)
{
  DlpElementPrivate *priv = watched->priv;
  DlpPad *pad;

  switch (watched->stand)
    {
    case STAND_AT_INPUT:
      pad = get_wanted_input (priv);
      g_string_append_printf (text, " waits for input on its pad “%s”, from %s", pad->name,
                              dlp_element_get_name (pad->peer->element));
      break;
    case STAND_AT_OUTPUT:
      say_output (priv, text);
      break;
    case STAND_QUEUED:
      g_string_append (text, " waits for a thread");
      break;
    case STAND_OWN_WORK:
    case STAND_OUT:
      if (__atomic_load_n (&priv->waits_since, __ATOMIC_ACQUIRE) == 0)
        g_string_append (text, " is in a step that does not return");
      else
        g_string_append (text,
                         " waits for its own input/output or for work it gave to the workers");
      break;
    }
}

static bool
say_some (DlpWatched *self, gint64 limit, bool own_work, GString *text, DlpElement **first)
{
  gsize before = text->len;

  for (guint i = 0; i < self->n && text->len < 1000; i++)
    {
      Watched *watched = &self->elements[i];

      if (watched->stand == STAND_OUT || (watched->stand == STAND_OWN_WORK) != own_work ||
          watched->still < limit)
        continue;
      g_string_append_printf (text, "; %s", dlp_element_get_name (watched->element));
      say_stand (watched, text);
      if (own_work && *first == NULL)
        *first = watched->element;
    }
  return text->len > before;
}

void
dlp_watched_say (DlpWatched *self, gint64 limit, GString *text, DlpElement **first)
{
  if (!say_some (self, limit, true, text, first))
    say_some (self, limit, false, text, first);
}
