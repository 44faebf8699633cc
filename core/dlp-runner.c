/* SPDX-License-Identifier: MIT */

/* How elements get their turns: a thread each, or a few threads for all of them (one for
 * sequential). What comes out does not depend on it. See docs/internals/runner.md. */

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "dlp-runner-private.h"
#include "dlp-thread-private.h"

/* In a pool an element gives its thread back after so many turns. */
#define TURNS_A_VISIT 16
/* The same after so many ns: on one thread the others wait. */
#define VISIT_TIME 5000000
/* ns */
#define CPU_TIME_INTERVAL 1000000

typedef enum
{
  TASK_SLEEPING,
  TASK_QUEUED,
  TASK_RUNNING,
  TASK_RUNNING_NOTIFIED,
  TASK_OUT,
} DlpTaskState;

typedef struct
{
  DlpRunner *runner;
  DlpElement *element;
  DlpElementPrivate *priv;
  pthread_t thread;    /* a thread an element */
  guint64 cpu_counted; /* the same: monotonic, ns */
  DlpTaskState state;  /* pool: runner lock */
} DlpTask;

struct _DlpRunner
{
  DlpRunnerKind kind;
  DlpContext *context;
  GFunc done;
  gpointer data;
  guint n_tasks;
  DlpTask *tasks;
  guint n_threads; /* of a pool; 0: a thread an element */
  pthread_t *threads;
  guint n_created;

  pthread_mutex_t lock;
  pthread_cond_t cond;
  GQueue ready;   /* lock: of DlpTask */
  guint n_active; /* lock: tasks that are not out */
};

static guint64
now_ns (clockid_t clock)
{
  struct timespec now;

  clock_gettime (clock, &now);
  return now.tv_sec * G_GUINT64_CONSTANT (1000000000) + now.tv_nsec;
}

static void
set_place (DlpTask *task, DlpPlace place)
{
  __atomic_store_n (&task->priv->place, place, __ATOMIC_RELAXED);
}

static bool
must_leave (DlpContext *context)
{
  return dlp_flag_get (context->cancelled) || dlp_flag_get (context->stopping);
}

/* What it waits for can be asked while it waits. */
static void
begin_wait (DlpTask *task, DlpTurn turn)
{
  DlpElementPrivate *priv = task->priv;
  guint64 now =
      priv->clock != 0 && priv->n_steps == 0 ? priv->clock : dlp_element_read_clock (priv);

  __atomic_store_n (&task->priv->waits_for, turn, __ATOMIC_RELAXED);
  __atomic_store_n (&task->priv->waits_since, now, __ATOMIC_RELEASE);
}

static void
end_wait (DlpTask *task)
{
  guint64 begin = dlp_stat_get (&task->priv->waits_since);
  DlpElementStats *stats = &task->priv->stats;
  guint64 ns;

  task->priv->clock = 0;
  task->priv->n_steps = 0;
  if (begin == 0)
    return;
  ns = dlp_element_read_clock (task->priv) - begin;
  __atomic_store_n (&task->priv->waits_since, 0, __ATOMIC_RELEASE);
  switch ((DlpTurn) __atomic_load_n (&task->priv->waits_for, __ATOMIC_RELAXED))
    {
    case DLP_TURN_WAIT_INPUT:
      dlp_stat_add (&stats->wait_in, ns);
      break;
    case DLP_TURN_WAIT_OUTPUT:
      dlp_stat_add (&stats->wait_out, ns);
      break;
    case DLP_TURN_WAIT_WORK:
      dlp_stat_add (&stats->wait_work, ns);
      break;
    case DLP_TURN_MORE:
    case DLP_TURN_END:
    case DLP_TURN_ERROR:
      break;
    }
}

static void
fail (DlpTask *task, GError *error)
{
  DlpContext *context = task->runner->context;

  context->fail (context, task->priv->failed_by, error);
}

/* TRUE: the task has left for good. */
static bool
take_turn (DlpTask *task, DlpTurn *turn)
{
  GError *error = NULL;

  dlp_element_serve (task->element);
  if (must_leave (task->runner->context))
    return true;
  if (dlp_flag_get (task->runner->context->paused))
    {
      *turn = DLP_TURN_WAIT_WORK;
      return false;
    }

  *turn = dlp_element_turn (task->element, &error);
  if (*turn == DLP_TURN_ERROR)
    fail (task, error);
  return *turn == DLP_TURN_ERROR || *turn == DLP_TURN_END;
}

static void
leave (DlpRunner *self)
{
  bool last;

  pthread_mutex_lock (&self->lock);
  last = --self->n_active == 0;
  pthread_mutex_unlock (&self->lock);
  if (last)
    {
      pthread_cond_broadcast (&self->cond);
      self->done (self, self->data);
    }
}

/* ---- a thread an element ---- */

/* A system call: not at each of many short waits. */
static void
count_cpu_time (DlpTask *task, bool now)
{
  DlpElementPrivate *priv = task->priv;

  if (!now && priv->clock - task->cpu_counted < CPU_TIME_INTERVAL)
    return;
  task->cpu_counted = priv->clock;
  __atomic_store_n (&priv->stats.cpu, now_ns (CLOCK_THREAD_CPUTIME_ID), __ATOMIC_RELAXED);
}

static gpointer
run_thread (gpointer data)
{
  DlpTask *task = data;
  DlpTurn turn = DLP_TURN_MORE;

  dlp_thread_begin (dlp_element_get_name (task->element));
  set_place (task, DLP_PLACE_THREAD);
  while (!take_turn (task, &turn))
    {
      if (turn == DLP_TURN_MORE)
        continue;
      count_cpu_time (task, false);
      begin_wait (task, turn);
      if (dlp_element_arm (task->element, turn))
        dlp_waker_wait (&task->priv->waker);
      end_wait (task);
    }
  count_cpu_time (task, true);
  dlp_flag_set (task->priv->has_left);
  leave (task->runner);
  return NULL;
}

/* ---- a pool ---- */

static void
notify_task (gpointer data)
{
  DlpTask *task = data;
  DlpRunner *self = task->runner;
  bool wake = false;

  pthread_mutex_lock (&self->lock);
  if (task->state == TASK_SLEEPING)
    {
      task->state = TASK_QUEUED;
      set_place (task, DLP_PLACE_QUEUE);
      g_queue_push_tail (&self->ready, task);
      wake = true;
    }
  else if (task->state == TASK_RUNNING)
    task->state = TASK_RUNNING_NOTIFIED;
  pthread_mutex_unlock (&self->lock);
  if (wake)
    pthread_cond_signal (&self->cond);
}

static DlpTask *
next_task (DlpRunner *self)
{
  DlpTask *task;

  pthread_mutex_lock (&self->lock);
  while ((task = g_queue_pop_head (&self->ready)) == NULL && self->n_active > 0)
    pthread_cond_wait (&self->cond, &self->lock);
  if (task != NULL)
    {
      task->state = TASK_RUNNING;
      set_place (task, DLP_PLACE_THREAD);
    }
  pthread_mutex_unlock (&self->lock);
  return task;
}

static void
put_back (DlpTask *task, bool runnable)
{
  DlpRunner *self = task->runner;
  bool wake = false;

  pthread_mutex_lock (&self->lock);
  if (runnable || task->state == TASK_RUNNING_NOTIFIED)
    {
      task->state = TASK_QUEUED;
      set_place (task, DLP_PLACE_QUEUE);
      g_queue_push_tail (&self->ready, task);
      wake = true;
    }
  else
    task->state = TASK_SLEEPING;
  pthread_mutex_unlock (&self->lock);
  if (wake)
    pthread_cond_signal (&self->cond);
}

static void
visit (DlpTask *task)
{
  guint64 cpu = now_ns (CLOCK_THREAD_CPUTIME_ID);
  DlpTurn turn = DLP_TURN_MORE;
  guint64 begin;
  bool out = false;

  end_wait (task);
  begin = task->priv->clock != 0 ? task->priv->clock : dlp_element_read_clock (task->priv);
  for (guint i = 0; i < TURNS_A_VISIT && turn == DLP_TURN_MORE && !out; i++)
    {
      out = take_turn (task, &turn);
      if (task->priv->clock - begin >= VISIT_TIME)
        break;
    }
  dlp_element_read_clock (task->priv);
  dlp_stat_add (&task->priv->stats.cpu, now_ns (CLOCK_THREAD_CPUTIME_ID) - cpu);

  if (out)
    {
      pthread_mutex_lock (&task->runner->lock);
      task->state = TASK_OUT;
      pthread_mutex_unlock (&task->runner->lock);
      dlp_flag_set (task->priv->has_left);
      leave (task->runner);
      return;
    }
  if (turn != DLP_TURN_MORE)
    begin_wait (task, turn);
  put_back (task, turn == DLP_TURN_MORE || !dlp_element_arm (task->element, turn));
}

static gpointer
run_pool_thread (gpointer data)
{
  DlpRunner *self = data;
  DlpTask *task;

  dlp_thread_begin ("dlp-runner");
  while ((task = next_task (self)) != NULL)
    visit (task);
  return NULL;
}

/* ---- */

static guint
count_threads (DlpRunner *self, guint n_threads)
{
  switch (self->kind)
    {
    case DLP_RUNNER_SEQUENTIAL:
      return 1;
    case DLP_RUNNER_POOL:
      return MIN (MAX (n_threads, 1) + 2, self->n_tasks);
    case DLP_RUNNER_AUTO:
    case DLP_RUNNER_THREADS:
      break;
    }
  return 0;
}

DlpRunner *
dlp_runner_new (DlpRunnerKind kind,
                GPtrArray *elements,
                DlpContext *context,
                guint n_threads,
                GFunc done,
                gpointer data)
{
  DlpRunner *self = g_new0 (DlpRunner, 1);

  if (kind == DLP_RUNNER_AUTO)
    kind = elements->len > DLP_RUNNER_MAX_THREADS ? DLP_RUNNER_POOL : DLP_RUNNER_THREADS;
  self->kind = kind;
  self->context = context;
  self->done = done;
  self->data = data;
  self->n_tasks = self->n_active = elements->len;
  self->tasks = g_new0 (DlpTask, self->n_tasks);
  self->n_threads = count_threads (self, n_threads);
  self->threads = g_new0 (pthread_t, self->n_threads);
  pthread_mutex_init (&self->lock, NULL);
  pthread_cond_init (&self->cond, NULL);
  g_queue_init (&self->ready);
  for (guint i = 0; i < self->n_tasks; i++)
    {
      DlpTask *task = &self->tasks[i];

      task->runner = self;
      task->element = g_ptr_array_index (elements, i);
      task->priv = dlp_element_get_private (task->element);
      if (self->n_threads > 0)
        {
          task->state = TASK_QUEUED;
          set_place (task, DLP_PLACE_QUEUE);
          g_queue_push_tail (&self->ready, task);
          dlp_waker_set_notify (&task->priv->waker, notify_task, task);
        }
    }
  return self;
}

static int
create_threads (DlpRunner *self)
{
  guint n = self->n_threads > 0 ? self->n_threads : self->n_tasks;
  int code = 0;

  while (self->n_created < n && code == 0)
    {
      guint i = self->n_created;

      code = self->n_threads > 0 ?
                 pthread_create (&self->threads[i], NULL, run_pool_thread, self) :
                 pthread_create (&self->tasks[i].thread, NULL, run_thread, &self->tasks[i]);
      if (code == 0)
        self->n_created++;
    }
  return code;
}

void
dlp_runner_start (DlpRunner *self)
{
  int code = create_threads (self);
  guint n_left;

  /* A pool does with fewer. */
  if (code == 0 || (self->n_threads > 0 && self->n_created > 0))
    return;

  self->context->fail (self->context, NULL,
                       g_error_new (G_IO_ERROR, g_io_error_from_errno (code),
                                    "thread %u of %u cannot be made: %s; --sequential needs one",
                                    self->n_created, MAX (self->n_threads, self->n_tasks),
                                    g_strerror (code)));
  n_left = self->n_tasks - self->n_created;
  for (guint i = 0; i < n_left; i++)
    leave (self);
}

void
dlp_runner_free (DlpRunner *self)
{
  for (guint i = 0; i < self->n_created; i++)
    pthread_join (self->n_threads > 0 ? self->threads[i] : self->tasks[i].thread, NULL);

  for (guint i = 0; i < self->n_tasks; i++)
    dlp_waker_set_notify (&self->tasks[i].priv->waker, NULL, NULL);
  g_queue_clear (&self->ready);
  pthread_cond_destroy (&self->cond);
  pthread_mutex_destroy (&self->lock);
  g_free (self->threads);
  g_free (self->tasks);
  g_free (self);
}

void
dlp_runner_kick (DlpRunner *self)
{
  for (guint i = 0; i < self->n_tasks; i++)
    dlp_waker_notify (&self->tasks[i].priv->waker);
}
