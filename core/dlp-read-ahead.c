/* SPDX-License-Identifier: MIT */

#include "dlp-read-ahead-private.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "dlp-file-private.h"

/* Bytes asked of a file at once: whoever wants it now has to wait for no more. */
#define READ_BYTES (64 * 1024)
/* Files that stay open behind what was read of them; others are opened again, where they are. */
#define MAX_OPEN 16
/* How long a thread may take to come back from a read before the read is cancelled. */
#define PATIENCE_MS 1000
#define LOOK_EVERY_MS 20

typedef enum
{
  AHEAD_WAITING,
  AHEAD_BUSY,
  AHEAD_DONE,
} DlpAheadState;

struct _DlpAhead
{
  gint ref_count; /* atomic: of who asked, and of the pool until it is done */
  DlpReadAhead *pool;
  DlpFile *file;
  gsize bytes;
  guint rank;
  GCancellable *cancellable;

  DlpAheadState state; /* lock */
  bool is_unwanted;    /* lock: as far as it is there is far enough */
  bool is_dropped;     /* lock: nobody takes it */
  bool counts_open;    /* lock: in n_open */

  gsize *used; /* of who asked */
  /* Of the thread that is busy with it, then of who asked. */
  GInputStream *stream; /* NULL: it is not open */
  guint8 *data;
  gsize size;
  bool is_whole; /* the file ended there */
};

struct _DlpReadAhead
{
  guint max_threads;

  pthread_mutex_t lock;
  pthread_cond_t work_cond; /* there is something in the queue, or an end */
  pthread_cond_t done_cond; /* something is done */
  GQueue waiting;           /* lock: of DlpAhead, by rank */
  GPtrArray *busy;          /* lock: of DlpAhead */
  pthread_t *threads;       /* changed by who asks and who frees, one at a time: ask_lock */
  pthread_mutex_t ask_lock;
  guint n_threads;
  guint n_idle;  /* lock */
  guint n_open;  /* lock */
  bool stopping; /* lock */
};

/* ---- one file ---- */

static void
ahead_unref (DlpAhead *self)
{
  if (!g_atomic_int_dec_and_test (&self->ref_count))
    return;
  g_clear_object (&self->stream);
  g_clear_object (&self->file);
  g_clear_object (&self->cancellable);
  g_free (self->data);
  g_free (self);
}

static void
count_back (DlpAhead *self)
{
  if (self->used != NULL)
    __atomic_sub_fetch (self->used, self->bytes, __ATOMIC_RELAXED);
  self->used = NULL;
}

static void
give_back (DlpAhead *self)
{
  count_back (self);
  g_clear_pointer (&self->data, g_free);
}

bool
dlp_read_ahead_is_held (DlpFile *file)
{
  DlpScheme *scheme = dlp_file_find_scheme (file, NULL);

  return scheme != NULL && DLP_SCHEME_GET_CLASS (scheme)->prefetch == NULL;
}

static bool
is_unwanted (DlpAhead *self)
{
  bool unwanted;

  pthread_mutex_lock (&self->pool->lock);
  unwanted = self->is_unwanted || self->pool->stopping;
  pthread_mutex_unlock (&self->pool->lock);
  return unwanted;
}

/* A fault is not told: whoever reads the file meets it too, if it is still there. */
static void
read_file (DlpAhead *self)
{
  /* Where it should end, one byte more would say that it does not. */
  gsize wanted = self->bytes + ((gint64) self->bytes == dlp_file_get_size (self->file));
  gssize n = 1;

  self->stream = dlp_file_open (self->file, 0, self->cancellable, NULL);
  if (self->stream == NULL)
    return;

  self->data = g_malloc (wanted);
  while (self->size < wanted && n > 0 && !is_unwanted (self))
    {
      n = g_input_stream_read (self->stream, self->data + self->size,
                               MIN (READ_BYTES, wanted - self->size), self->cancellable, NULL);
      self->size += (gsize) MAX (n, 0);
    }
  if (!dlp_file_check_stream (self->file, self->stream, NULL))
    {
      self->size = 0;
      n = -1;
    }
  self->is_whole = n == 0;
  if (n <= 0)
    g_clear_object (&self->stream);
}

static void
bring_near (DlpAhead *self)
{
  DlpScheme *scheme = dlp_file_find_scheme (self->file, NULL);

  if (scheme == NULL)
    return;
  if (DLP_SCHEME_GET_CLASS (scheme)->prefetch != NULL)
    dlp_scheme_prefetch (scheme, self->file, (gint64) self->bytes);
  else
    read_file (self);
}

/* ---- the threads ---- */

static void
finish_locked (DlpReadAhead *self, DlpAhead *ahead)
{
  bool too_many = !ahead->is_unwanted && self->n_open >= MAX_OPEN;
  GInputStream *stream = too_many || ahead->is_dropped ? g_steal_pointer (&ahead->stream) : NULL;

  ahead->counts_open = ahead->stream != NULL;
  self->n_open += ahead->counts_open;
  ahead->state = AHEAD_DONE;
  g_ptr_array_remove_fast (self->busy, ahead);
  pthread_cond_broadcast (&self->done_cond);
  pthread_mutex_unlock (&self->lock);

  g_clear_object (&stream);
  ahead_unref (ahead);
  pthread_mutex_lock (&self->lock);
}

static gpointer
run (gpointer data)
{
  DlpReadAhead *self = data;

  pthread_setname_np (pthread_self (), "dlp-read-ahead");
  pthread_mutex_lock (&self->lock);
  while (!self->stopping)
    {
      DlpAhead *ahead = g_queue_pop_head (&self->waiting);

      if (ahead == NULL)
        {
          self->n_idle++;
          pthread_cond_wait (&self->work_cond, &self->lock);
          self->n_idle--;
          continue;
        }
      ahead->state = AHEAD_BUSY;
      g_ptr_array_add (self->busy, ahead);
      pthread_mutex_unlock (&self->lock);
      bring_near (ahead);
      pthread_mutex_lock (&self->lock);
      finish_locked (self, ahead);
    }
  pthread_mutex_unlock (&self->lock);
  return NULL;
}

DlpReadAhead *
dlp_read_ahead_new (guint max_threads)
{
  DlpReadAhead *self = g_new0 (DlpReadAhead, 1);

  self->max_threads = max_threads;
  self->threads = g_new (pthread_t, max_threads);
  self->busy = g_ptr_array_new ();
  g_queue_init (&self->waiting);
  pthread_mutex_init (&self->lock, NULL);
  pthread_mutex_init (&self->ask_lock, NULL);
  pthread_cond_init (&self->work_cond, NULL);
  pthread_cond_init (&self->done_cond, NULL);
  return self;
}

void
dlp_read_ahead_free (DlpReadAhead *self)
{
  DlpAhead *ahead;

  pthread_mutex_lock (&self->lock);
  self->stopping = true;
  for (guint i = 0; i < self->busy->len; i++)
    g_cancellable_cancel (((DlpAhead *) g_ptr_array_index (self->busy, i))->cancellable);
  pthread_cond_broadcast (&self->work_cond);
  pthread_mutex_unlock (&self->lock);

  for (guint i = 0; i < self->n_threads; i++)
    pthread_join (self->threads[i], NULL);
  while ((ahead = g_queue_pop_head (&self->waiting)) != NULL)
    ahead_unref (ahead);

  g_ptr_array_unref (self->busy);
  pthread_mutex_destroy (&self->lock);
  pthread_mutex_destroy (&self->ask_lock);
  pthread_cond_destroy (&self->work_cond);
  pthread_cond_destroy (&self->done_cond);
  g_free (self->threads);
  g_free (self);
}

/* A thread more where all are busy; without one, the others come to it later. */
static void
add_thread (DlpReadAhead *self)
{
  pthread_mutex_lock (&self->ask_lock);
  if (self->n_threads < self->max_threads)
    self->n_threads += pthread_create (&self->threads[self->n_threads], NULL, run, self) == 0;
  pthread_mutex_unlock (&self->ask_lock);
}

static int
compare_ranks (gconstpointer a, gconstpointer b, gpointer data)
{
  guint x = ((const DlpAhead *) a)->rank;
  guint y = ((const DlpAhead *) b)->rank;

  return x < y ? -1 : x > y;
}

DlpAhead *
dlp_read_ahead_ask (DlpReadAhead *self, DlpFile *file, gsize bytes, guint rank, gsize *used)
{
  DlpAhead *ahead = g_new0 (DlpAhead, 1);
  bool is_short;

  ahead->ref_count = 2;
  ahead->pool = self;
  ahead->file = g_object_ref (file);
  ahead->bytes = bytes;
  ahead->rank = rank;
  ahead->used = used;
  ahead->cancellable = g_cancellable_new ();
  __atomic_add_fetch (used, bytes, __ATOMIC_RELAXED);

  pthread_mutex_lock (&self->lock);
  g_queue_insert_sorted (&self->waiting, ahead, compare_ranks, NULL);
  is_short = self->waiting.length > self->n_idle;
  pthread_cond_signal (&self->work_cond);
  pthread_mutex_unlock (&self->lock);
  if (is_short)
    add_thread (self);
  return ahead;
}

/* ---- who asked ---- */

/* With the lock. Whether it is done; no thread comes to it any more where it waited. */
static bool
end_waiting_locked (DlpAhead *ahead)
{
  if (ahead->state == AHEAD_WAITING && g_queue_remove (&ahead->pool->waiting, ahead))
    {
      ahead->state = AHEAD_DONE;
      g_atomic_int_add (&ahead->ref_count, -1);
    }
  return ahead->state == AHEAD_DONE;
}

static void
wait_locked (DlpReadAhead *self, guint ms)
{
  struct timespec until;

  clock_gettime (CLOCK_REALTIME, &until);
  until.tv_nsec += ms * 1000000L;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  pthread_cond_timedwait (&self->done_cond, &self->lock, &until);
}

static void
wait_until_done (DlpAhead *ahead, GCancellable *cancellable)
{
  DlpReadAhead *pool = ahead->pool;
  guint waited = 0;
  bool impatient = false;

  pthread_mutex_lock (&pool->lock);
  ahead->is_unwanted = true;
  while (!end_waiting_locked (ahead))
    {
      if (!impatient && (waited >= PATIENCE_MS || g_cancellable_is_cancelled (cancellable)))
        {
          impatient = true;
          pthread_mutex_unlock (&pool->lock);
          g_cancellable_cancel (ahead->cancellable);
          pthread_mutex_lock (&pool->lock);
          continue;
        }
      wait_locked (pool, LOOK_EVERY_MS);
      waited += LOOK_EVERY_MS;
    }
  pool->n_open -= ahead->counts_open;
  ahead->counts_open = false;
  pthread_mutex_unlock (&pool->lock);
}

void
dlp_ahead_drop (DlpAhead *ahead)
{
  DlpReadAhead *pool = ahead->pool;

  pthread_mutex_lock (&pool->lock);
  ahead->is_unwanted = ahead->is_dropped = true;
  if (end_waiting_locked (ahead))
    {
      pool->n_open -= ahead->counts_open;
      ahead->counts_open = false;
    }
  pthread_mutex_unlock (&pool->lock);
  /* Its bytes go with the last reference: a thread may still be writing them. */
  count_back (ahead);
  g_cancellable_cancel (ahead->cancellable);
  ahead_unref (ahead);
}

/* ---- the stream ---- */

#define DLP_TYPE_AHEAD_STREAM (dlp_ahead_stream_get_type ())
G_DECLARE_FINAL_TYPE (DlpAheadStream, dlp_ahead_stream, DLP, AHEAD_STREAM, GInputStream)

struct _DlpAheadStream
{
  GInputStream parent_instance;

  DlpAhead *ahead;
  guint64 position;
};

G_DEFINE_FINAL_TYPE (DlpAheadStream, dlp_ahead_stream, G_TYPE_INPUT_STREAM)

static gssize
dlp_ahead_stream_read (GInputStream *stream,
                       void *buffer,
                       gsize count,
                       GCancellable *cancellable,
                       GError **error)
{
  DlpAheadStream *self = DLP_AHEAD_STREAM (stream);
  DlpAhead *ahead = self->ahead;
  gssize n;

  if (self->position < ahead->size)
    {
      n = (gssize) MIN (count, ahead->size - self->position);
      memcpy (buffer, ahead->data + self->position, (gsize) n);
      self->position += (guint64) n;
      if (self->position == ahead->size)
        give_back (ahead);
      return n;
    }
  if (ahead->is_whole)
    return 0;

  if (ahead->stream == NULL)
    ahead->stream = dlp_file_open (ahead->file, (gint64) self->position, cancellable, error);
  if (ahead->stream == NULL)
    return -1;
  n = g_input_stream_read (ahead->stream, buffer, count, cancellable, error);
  self->position += (guint64) MAX (n, 0);
  return n;
}

static void
dlp_ahead_stream_finalize (GObject *object)
{
  DlpAheadStream *self = DLP_AHEAD_STREAM (object);

  give_back (self->ahead);
  ahead_unref (self->ahead);

  G_OBJECT_CLASS (dlp_ahead_stream_parent_class)->finalize (object);
}

static void
dlp_ahead_stream_class_init (DlpAheadStreamClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = dlp_ahead_stream_finalize;
  G_INPUT_STREAM_CLASS (klass)->read_fn = dlp_ahead_stream_read;
}

static void
dlp_ahead_stream_init (DlpAheadStream *self)
{
}

GInputStream *
dlp_ahead_take (DlpAhead *ahead, GCancellable *cancellable)
{
  DlpAheadStream *stream;

  wait_until_done (ahead, cancellable);
  if (ahead->size == 0 && !ahead->is_whole && ahead->stream == NULL)
    {
      give_back (ahead);
      ahead_unref (ahead);
      return NULL;
    }

  if (ahead->size == 0)
    give_back (ahead);
  stream = g_object_new (DLP_TYPE_AHEAD_STREAM, NULL);
  stream->ahead = ahead;
  return G_INPUT_STREAM (stream);
}

GInputStream *
dlp_ahead_get_inner (GInputStream *stream)
{
  return DLP_IS_AHEAD_STREAM (stream) ? DLP_AHEAD_STREAM (stream)->ahead->stream : stream;
}
