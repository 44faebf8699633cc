/* SPDX-License-Identifier: MIT */

/* The reader's own threads, which fill its lanes, and what becomes of the chunks on the pool. */

#include "dlp-element-private.h"
#include "dlp-reader-private.h"

/* Buffers kept for later use; what the look-ahead needs more than that is asked of the system. */
#define MAX_SPARE 4

guint8 *
dlp_reader_take_buffer (DlpReader *self, gsize *capacity)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);
  guint8 *data = NULL;

  *capacity = priv->chunk_size;
  pthread_mutex_lock (&priv->lock);
  if (priv->spare->len > 0)
    data = g_ptr_array_steal_index_fast (priv->spare, priv->spare->len - 1);
  pthread_mutex_unlock (&priv->lock);
  return data != NULL ? data : g_malloc (*capacity + DLP_READER_PADDING);
}

void
dlp_reader_give_buffer (DlpReader *self, guint8 *data, gsize capacity)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);
  bool keep = false;

  if (data == NULL)
    return;

  pthread_mutex_lock (&priv->lock);
  keep = capacity == priv->chunk_size && priv->spare->len < MAX_SPARE && !priv->stopping;
  if (keep)
    g_ptr_array_add (priv->spare, data);
  pthread_mutex_unlock (&priv->lock);
  if (!keep)
    g_free (data);
}

/* ---- parsing, on a worker ---- */

static DlpReaderWorker *
get_worker (DlpReader *self, guint index)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);
  DlpReaderClass *klass = DLP_READER_GET_CLASS (self);
  DlpReaderWorker *worker = &priv->workers[index];

  if (!worker->ready)
    {
      worker->builder = dlp_record_batch_builder_new (priv->schema);
      worker->user = klass->worker_new != NULL ? klass->worker_new (self) : NULL;
      worker->ready = true;
    }
  return worker;
}

static bool
is_stopping (DlpReaderPrivate *priv)
{
  return __atomic_load_n (&priv->stopping, __ATOMIC_RELAXED);
}

static void
parse_chunk (DlpElement *element, guint index, gpointer data)
{
  DlpReader *self = DLP_READER (element);
  DlpReaderPrivate *priv = dlp_reader_get_private (self);
  DlpReaderChunk *chunk = data;
  gsize bytes;

  if (!is_stopping (priv))
    {
      DlpReaderWorker *worker = get_worker (self, index);

      dlp_reader_chunk_parse (chunk, worker->user, worker->builder);
      if (!chunk->rejects.refers)
        dlp_reader_give_buffer (self, g_steal_pointer (&chunk->data), chunk->capacity);
    }
  bytes = dlp_reader_chunk_get_bytes (chunk);

  /* stop() frees everything once nothing is being parsed: the wake comes first. */
  pthread_mutex_lock (&priv->lock);
  chunk->done = true;
  priv->held += bytes - chunk->held;
  chunk->held = bytes;
  pthread_mutex_unlock (&priv->lock);
  dlp_element_wake (element);

  pthread_mutex_lock (&priv->lock);
  if (--priv->n_parsing == 0)
    pthread_cond_signal (&priv->idle_cond);
  pthread_mutex_unlock (&priv->lock);
}

/* ---- filling ---- */

/* What @lane->ended, paused and failed say becomes known to all. */
static void
settle_locked (DlpReaderPrivate *priv, DlpReaderLane *lane, DlpReaderChunk *chunk)
{
  lane->is_big = lane->paused;
  if (lane->ended)
    {
      const char *warning =
          lane->stream != NULL ? dlp_byte_stream_get_warning (lane->stream) : NULL;

      lane->at_end = true;
      lane->failure = g_steal_pointer (&lane->failed);
      lane->warning = g_strdup (warning);
      if (lane->copy != NULL)
        lane->raw_size = dlp_reader_get_copy_position (lane);
      else if (lane->stream != NULL)
        lane->raw_size = dlp_byte_stream_get_raw_position (lane->stream);
      else
        lane->raw_size = lane->raw_read;
      if (lane->opened)
        priv->n_open--;
      lane->opened = false;
    }
  if (chunk == NULL)
    return;

  /* Until it is parsed a chunk is there twice: as bytes and as records. */
  chunk->held = chunk->data != NULL ? 2 * chunk->size : dlp_reader_chunk_get_bytes (chunk);
  chunk->done = !dlp_reader_chunk_has_work (chunk);
  priv->held += chunk->held;
  priv->n_parsing += !chunk->done;
  g_queue_push_tail_link (&lane->chunks, &chunk->link);
}

/* With the lock held by the caller, which it gives away meanwhile. */
static void
fill_lane (DlpReader *self, DlpReaderLane *lane, GCancellable *cancellable)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);
  bool may_grow = lane->active && lane->chunks.length == 0;
  DlpReaderChunk *chunk;
  bool to_parse;

  lane->busy = true;
  if (!lane->opened)
    priv->n_open++;
  lane->opened = true;
  priv->n_busy++;
  pthread_mutex_unlock (&priv->lock);

  chunk = dlp_reader_lane_fill (lane, may_grow, cancellable);

  pthread_mutex_lock (&priv->lock);
  settle_locked (priv, lane, chunk);
  /* One that needs no parsing may be gone as soon as the lock is given away. */
  to_parse = chunk != NULL && !chunk->done;
  if (lane->ended)
    {
      DlpByteStream *stream = g_steal_pointer (&lane->stream);
      guint8 *data = g_steal_pointer (&lane->data);

      pthread_cond_broadcast (&priv->io_cond);
      pthread_mutex_unlock (&priv->lock);
      dlp_byte_stream_free (stream);
      dlp_reader_close_file (lane);
      dlp_reader_give_buffer (self, data, lane->capacity);
      pthread_mutex_lock (&priv->lock);
    }
  priv->n_busy--;
  lane->busy = false;
  pthread_mutex_unlock (&priv->lock);

  if (to_parse)
    dlp_element_submit_work (DLP_ELEMENT (self), parse_chunk, chunk);
  else
    dlp_element_wake (DLP_ELEMENT (self));
  pthread_mutex_lock (&priv->lock);
}

static bool
has_memory (DlpReaderPrivate *priv)
{
  gsize next = MAX (2 * priv->chunk_size, priv->piece_size);

  return priv->held + next * (priv->n_busy + 1) <= priv->share;
}

static bool
needs_filling (DlpReaderPrivate *priv, DlpReaderLane *lane, guint index)
{
  bool prime = lane->active || index < priv->interleave;

  if (lane->busy || lane->at_end || lane->removed ||
      (lane->is_big && (!lane->active || lane->chunks.length > 0)))
    return false;
  if (lane->active && lane->chunks.length == 0)
    return true;
  if (!has_memory (priv) || dlp_reader_waits_for_copy (priv, lane))
    return false;
  if (!lane->opened && !prime && priv->n_open >= priv->max_open)
    return false;
  return lane->chunks.length < (prime || priv->interleave == 1 ? priv->window : 1);
}

/* What has fewest chunks comes first, but what is in its turn before what will be. */
static DlpReaderLane *
pick_lane (DlpReaderPrivate *priv)
{
  DlpReaderLane *best = NULL;

  for (guint i = 0; i < priv->lanes->len; i++)
    {
      DlpReaderLane *lane = g_ptr_array_index (priv->lanes, i);

      if (!needs_filling (priv, lane, i))
        continue;
      if (best == NULL ||
          (lane->active == best->active && priv->interleave > 1 &&
           lane->chunks.length < best->chunks.length) ||
          (lane->active && !best->active))
        best = lane;
    }
  return best;
}

static gpointer
run_io (gpointer data)
{
  DlpReader *self = data;
  DlpReaderPrivate *priv = dlp_reader_get_private (self);

  pthread_setname_np (pthread_self (), "dlp-reader");
  pthread_mutex_lock (&priv->lock);
  while (!priv->stopping)
    {
      DlpReaderLane *lane = pick_lane (priv);

      if (lane != NULL)
        fill_lane (self, lane, lane->cancellable);
      else
        pthread_cond_wait (&priv->io_cond, &priv->lock);
    }
  pthread_mutex_unlock (&priv->lock);
  return NULL;
}

void
dlp_reader_wake_io (DlpReader *self)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);

  if (priv->threaded)
    pthread_cond_broadcast (&priv->io_cond);
}

void
dlp_reader_fill_now (DlpReader *self, DlpReaderLane *lane, GCancellable *cancellable)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);

  pthread_mutex_lock (&priv->lock);
  fill_lane (self, lane, cancellable);
  pthread_mutex_unlock (&priv->lock);
}

/* Of this attempt, so that it is said in a replay too. */
static void
warn_of_few_threads (DlpReader *self, guint n, guint wanted, int code)
{
  g_autofree char *message =
      g_strdup_printf ("%s: threads that read: %u instead of %u; no more can be made: %s",
                       dlp_element_get_name (DLP_ELEMENT (self)), n, wanted, g_strerror (code));

  dlp_context_warn (dlp_element_get_context (DLP_ELEMENT (self)), message);
  g_warning ("%s", message);
}

bool
dlp_reader_start_io (DlpReader *self, GError **error)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);
  /* One for each stream that may be open: a pipe without data must keep nobody from the others. */
  guint wanted = priv->threaded ? priv->max_open : 0;
  int code = 0;

  __atomic_store_n (&dlp_element_get_private (DLP_ELEMENT (self))->io_lanes,
                    priv->threaded ? priv->interleave : 0, __ATOMIC_RELAXED);
  priv->threads = g_new (pthread_t, wanted);
  while (priv->n_threads < wanted && code == 0)
    {
      code = pthread_create (&priv->threads[priv->n_threads], NULL, run_io, self);
      priv->n_threads += code == 0;
    }
  if (code == 0)
    return true;

  if (priv->n_threads == 0)
    {
      g_set_error (error, G_IO_ERROR, g_io_error_from_errno (code),
                   "%s: cannot make a thread to read files with: %s",
                   dlp_element_get_name (DLP_ELEMENT (self)), g_strerror (code));
      return false;
    }
  pthread_mutex_lock (&priv->lock);
  priv->max_open = priv->n_threads;
  pthread_mutex_unlock (&priv->lock);
  warn_of_few_threads (self, priv->n_threads, wanted, code);
  return true;
}

static void
cancel_lanes (GPtrArray *lanes)
{
  for (guint i = 0; i < lanes->len; i++)
    g_cancellable_cancel (((DlpReaderLane *) g_ptr_array_index (lanes, i))->cancellable);
}

void
dlp_reader_stop_io (DlpReader *self)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (self);

  cancel_lanes (priv->lanes);
  cancel_lanes (priv->removed);
  pthread_mutex_lock (&priv->lock);
  __atomic_store_n (&priv->stopping, true, __ATOMIC_RELAXED);
  pthread_cond_broadcast (&priv->io_cond);
  pthread_mutex_unlock (&priv->lock);
  for (guint i = 0; i < priv->n_threads; i++)
    pthread_join (priv->threads[i], NULL);
  g_clear_pointer (&priv->threads, g_free);
  priv->n_threads = 0;

  pthread_mutex_lock (&priv->lock);
  while (priv->n_parsing > 0)
    pthread_cond_wait (&priv->idle_cond, &priv->lock);
  pthread_mutex_unlock (&priv->lock);
}
