/* SPDX-License-Identifier: MIT */

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#include "dlp-thread-private.h"
#include "dlp-work-pool-private.h"

typedef struct
{
  DlpPoolFunc func;
  gpointer user;
  gpointer data;
  guint64 *spent;
} DlpWork;

typedef struct
{
  DlpWorkPool *pool;
  guint index;
  pthread_t thread;
  guint64 cpu_time; /* atomic */
} DlpWorker;

struct _DlpWorkPool
{
  pthread_mutex_t lock;
  pthread_cond_t cond;
  DlpWork *ring; /* lock; capacity is a power of two */
  guint capacity;
  guint head;
  guint count;
  guint idle;
  bool stopping;
  GPtrArray *accounts; /* lock: of guint64 */
  guint n_workers;
  DlpWorker *workers;
};

static bool
next_work (DlpWorkPool *self, DlpWork *work)
{
  pthread_mutex_lock (&self->lock);
  while (self->count == 0 && !self->stopping)
    {
      self->idle++;
      pthread_cond_wait (&self->cond, &self->lock);
      self->idle--;
    }
  if (self->count == 0)
    {
      pthread_mutex_unlock (&self->lock);
      return false;
    }
  *work = self->ring[self->head++ & (self->capacity - 1)];
  self->count--;
  pthread_mutex_unlock (&self->lock);
  return true;
}

static gpointer
run_worker (gpointer data)
{
  DlpWorker *worker = data;
  DlpWork work;
  guint64 before = 0;

  dlp_thread_begin ("dlp-worker");
  while (next_work (worker->pool, &work))
    {
      struct timespec now;
      guint64 after;

      work.func (work.user, worker->index, work.data);
      clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
      after = now.tv_sec * G_GUINT64_CONSTANT (1000000000) + now.tv_nsec;
      __atomic_store_n (&worker->cpu_time, after, __ATOMIC_RELAXED);
      if (work.spent != NULL)
        __atomic_fetch_add (work.spent, after - before, __ATOMIC_RELAXED);
      before = after;
    }
  return NULL;
}

DlpWorkPool *
dlp_work_pool_new (guint n_threads)
{
  DlpWorkPool *self = g_new0 (DlpWorkPool, 1);

  pthread_mutex_init (&self->lock, NULL);
  pthread_cond_init (&self->cond, NULL);
  self->accounts = g_ptr_array_new_with_free_func (g_free);
  self->capacity = 64;
  self->ring = g_new (DlpWork, self->capacity);
  self->workers = g_new0 (DlpWorker, n_threads);
  for (guint i = 0; i < n_threads; i++)
    {
      self->workers[i].pool = self;
      self->workers[i].index = i;
      if (pthread_create (&self->workers[i].thread, NULL, run_worker, &self->workers[i]) != 0)
        break;
      self->n_workers++;
    }
  if (self->n_workers < n_threads)
    g_warning ("only %u of %u worker threads can be made", self->n_workers, n_threads);
  return self;
}

void
dlp_work_pool_free (DlpWorkPool *self)
{
  pthread_mutex_lock (&self->lock);
  self->stopping = true;
  pthread_mutex_unlock (&self->lock);
  pthread_cond_broadcast (&self->cond);
  for (guint i = 0; i < self->n_workers; i++)
    pthread_join (self->workers[i].thread, NULL);
  pthread_cond_destroy (&self->cond);
  pthread_mutex_destroy (&self->lock);
  g_ptr_array_unref (self->accounts);
  g_free (self->workers);
  g_free (self->ring);
  g_free (self);
}

guint
dlp_work_pool_get_n_threads (DlpWorkPool *self)
{
  return self->n_workers;
}

bool
dlp_work_pool_is_short (DlpWorkPool *self)
{
  bool is_short;

  pthread_mutex_lock (&self->lock);
  is_short = self->count > 0 && self->idle == 0;
  pthread_mutex_unlock (&self->lock);
  return is_short;
}

guint64 *
dlp_work_pool_add_account (DlpWorkPool *self)
{
  guint64 *account = g_new0 (guint64, 1);

  pthread_mutex_lock (&self->lock);
  g_ptr_array_add (self->accounts, account);
  pthread_mutex_unlock (&self->lock);
  return account;
}

static void
grow (DlpWorkPool *self)
{
  DlpWork *ring = g_new (DlpWork, self->capacity * 2);

  for (guint i = 0; i < self->count; i++)
    ring[i] = self->ring[(self->head + i) & (self->capacity - 1)];
  g_free (self->ring);
  self->ring = ring;
  self->head = 0;
  self->capacity *= 2;
}

void
dlp_work_pool_submit (DlpWorkPool *self,
                      DlpPoolFunc func,
                      gpointer user,
                      gpointer data,
                      guint64 *spent)
{
  bool wake;

  if (self->n_workers == 0)
    {
      func (user, 0, data);
      return;
    }

  pthread_mutex_lock (&self->lock);
  if (self->count == self->capacity)
    grow (self);
  self->ring[(self->head + self->count++) & (self->capacity - 1)] =
      (DlpWork){ func, user, data, spent };
  wake = self->idle > 0;
  pthread_mutex_unlock (&self->lock);

  if (wake)
    pthread_cond_signal (&self->cond);
}

guint64
dlp_work_pool_get_cpu_time (DlpWorkPool *self)
{
  guint64 sum = 0;

  for (guint i = 0; i < self->n_workers; i++)
    sum += __atomic_load_n (&self->workers[i].cpu_time, __ATOMIC_RELAXED);
  return sum;
}
