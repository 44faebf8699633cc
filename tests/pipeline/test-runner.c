/* SPDX-License-Identifier: MIT */

/* The runner alone, on elements whose steps are functions of the test. A wake that is lost hangs,
 * and meson's timeout ends it. */

#include <semaphore.h>
#include <unistd.h>

#include "dlp-pipeline-private.h"
#include "script-element.h"

static const DlpRunnerKind kinds[] = { DLP_RUNNER_THREADS, DLP_RUNNER_POOL, DLP_RUNNER_SEQUENTIAL };

typedef struct
{
  DlpPipeline *pipeline;
  DlpRunner *runner;
  sem_t done;
  guint n_done;
} Rig;

static void
note_done (gpointer runner, gpointer data)
{
  Rig *self = data;

  self->n_done++;
  sem_post (&self->done);
}

static void
rig_init (Rig *self)
{
  self->pipeline = dlp_pipeline_new ();
  self->runner = NULL;
  self->n_done = 0;
  sem_init (&self->done, 0, 0);
  /* There is no checkpointer to tell. */
  self->pipeline->run->snapshot_taken = NULL;
}

static void
rig_start (Rig *self, DlpRunnerKind kind)
{
  g_autoptr (GError) error = NULL;

  g_object_set (self->pipeline, "workers", 1, "random-yields", TRUE, NULL);
  dlp_pipeline_prepare (self->pipeline, NULL, &error);
  g_assert_no_error (error);
  self->runner =
      dlp_runner_new (kind, self->pipeline->order, self->pipeline->run, 1, note_done, self);
  dlp_runner_start (self->runner);
}

static void
rig_wait (Rig *self)
{
  sem_wait (&self->done);
}

static void
rig_clear (Rig *self)
{
  dlp_runner_free (self->runner);
  g_assert_cmpuint (self->n_done, ==, 1);
  sem_destroy (&self->done);
  g_object_unref (self->pipeline);
}

/* ---- steps ---- */

typedef struct
{
  guint n;    /* to emit */
  guint done; /* emitted, or taken */
  GHashTable *threads;
} Count;

static GMutex threads_lock;

static void
note_thread (Count *self)
{
  if (self->threads == NULL)
    return;
  g_mutex_lock (&threads_lock);
  g_hash_table_add (self->threads, (gpointer) pthread_self ());
  g_mutex_unlock (&threads_lock);
}

static DlpStep
emit_count (DlpElement *self, gpointer data, GError **error)
{
  Count *count = data;

  note_thread (count);
  if (count->done == count->n)
    return DLP_STEP_END;
  script_emit (self, "x");
  count->done++;
  return DLP_STEP_MORE;
}

static DlpStep
pass_on (DlpElement *self, gpointer data, GError **error)
{
  DlpPad *in = dlp_element_get_input (self, 0);
  g_autoptr (DlpRecordBatch) batch = dlp_pad_take (in);

  if (batch == NULL)
    return dlp_pad_is_over (in) ? DLP_STEP_END : dlp_element_want_input (self, 0);
  if (data != NULL)
    note_thread (data);
  dlp_pad_push (dlp_element_get_output (self, 0), g_steal_pointer (&batch));
  return DLP_STEP_MORE;
}

static DlpStep
take_all (DlpElement *self, gpointer data, GError **error)
{
  Count *count = data;

  note_thread (count);
  if (script_take (self))
    count->done++;
  else
    return dlp_pad_is_over (dlp_element_get_input (self, 0)) ? DLP_STEP_END :
                                                               dlp_element_want_input (self, 0);
  return DLP_STEP_MORE;
}

static DlpStep
want_work (DlpElement *self, gpointer data, GError **error)
{
  return DLP_STEP_WANT_WORK;
}

/* ---- tests ---- */

static void
test_end (void)
{
  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
    {
      g_autoptr (GHashTable) threads = g_hash_table_new (NULL, NULL);
      Count in = { .n = 5000, .threads = threads }, out = { .threads = threads };
      Count middle = { .threads = threads };
      Rig rig;
      DlpElement *source, *a, *b, *end;

      rig_init (&rig);
      g_object_set (rig.pipeline, "batch-records", 3, "link-batches", k + 1, NULL);
      source = script_add (rig.pipeline, "script-source", "s", emit_count, &in);
      a = script_add (rig.pipeline, "script-pipe", "a", pass_on, &middle);
      b = script_add (rig.pipeline, "script-pipe", "b", pass_on, &middle);
      end = script_add (rig.pipeline, "script-end", "e", take_all, &out);
      script_link (rig.pipeline, source, a);
      script_link (rig.pipeline, a, b);
      script_link (rig.pipeline, b, end);
      rig_start (&rig, kinds[k]);
      rig_wait (&rig);
      rig_clear (&rig);
      g_assert_cmpuint (out.done, ==, 5000);
      g_assert_false (g_hash_table_contains (threads, (gpointer) pthread_self ()));
      switch (kinds[k])
        {
        case DLP_RUNNER_THREADS:
          g_assert_cmpuint (g_hash_table_size (threads), ==, 4);
          break;
        case DLP_RUNNER_POOL:
          g_assert_cmpuint (g_hash_table_size (threads), <=, 3);
          break;
        case DLP_RUNNER_SEQUENTIAL:
        case DLP_RUNNER_AUTO:
          g_assert_cmpuint (g_hash_table_size (threads), ==, 1);
          break;
        }
    }
}

/* Whoever sleeps leaves when it is told, whatever it waits for. */
static void
test_leave (void)
{
  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
    for (guint i = 0; i < 20; i++)
      {
        Count out = { 0 };
        Rig rig;
        DlpElement *source, *a, *end;

        rig_init (&rig);
        source = script_add (rig.pipeline, "script-source", "s", want_work, NULL);
        a = script_add (rig.pipeline, "script-pipe", "a", pass_on, NULL);
        end = script_add (rig.pipeline, "script-end", "e", take_all, &out);
        script_link (rig.pipeline, source, a);
        script_link (rig.pipeline, a, end);
        rig_start (&rig, kinds[k]);
        if (i > 0)
          usleep ((useconds_t) g_test_rand_int_range (0, 500));
        if (i % 2 == 0)
          dlp_flag_set (rig.pipeline->run->stopping);
        else
          dlp_flag_set (rig.pipeline->run->cancelled);
        dlp_runner_kick (rig.runner);
        rig_wait (&rig);
        rig_clear (&rig);
      }
}

typedef struct
{
  DlpElement *element;
  guint available; /* atomic */
  guint taken;
  guint n;
} Work;

static DlpStep
emit_work (DlpElement *self, gpointer data, GError **error)
{
  Work *work = data;

  if (work->taken == work->n)
    return DLP_STEP_END;
  if (work->taken == __atomic_load_n (&work->available, __ATOMIC_ACQUIRE))
    return DLP_STEP_WANT_WORK;
  work->taken++;
  script_emit (self, "x");
  return DLP_STEP_MORE;
}

static gpointer
give_work (gpointer data)
{
  Work *work = data;

  for (guint i = 0; i < work->n; i++)
    {
      if (g_random_int_range (0, 50) == 0)
        usleep (30);
      __atomic_fetch_add (&work->available, 1, __ATOMIC_RELEASE);
      dlp_element_wake (work->element);
    }
  return NULL;
}

static void
test_wake (void)
{
  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
    {
      Work work = { .n = 5000 };
      Count out = { 0 };
      Rig rig;
      DlpElement *end;
      pthread_t thread;

      rig_init (&rig);
      work.element = script_add (rig.pipeline, "script-source", "s", emit_work, &work);
      end = script_add (rig.pipeline, "script-end", "e", take_all, &out);
      script_link (rig.pipeline, work.element, end);
      /* Before the runner is there, too. */
      g_assert_cmpint (pthread_create (&thread, NULL, give_work, &work), ==, 0);
      rig_start (&rig, kinds[k]);
      rig_wait (&rig);
      pthread_join (thread, NULL);
      rig_clear (&rig);
      g_assert_cmpuint (out.done, ==, 5000);
    }
}

/* A step that was begun before the pause may take as long as a busy machine makes it. */
static guint64
wait_until_still (DlpPad *pad)
{
  guint64 before, position = dlp_pad_get_position (pad);

  do
    {
      before = position;
      usleep (100000);
      position = dlp_pad_get_position (pad);
    }
  while (position != before);
  return position;
}

static void
test_pause (void)
{
  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
    {
      Count in = { .n = G_MAXUINT }, out = { 0 };
      Rig rig;
      DlpElement *source, *end;
      guint64 before;

      rig_init (&rig);
      source = script_add (rig.pipeline, "script-source", "s", emit_count, &in);
      end = script_add (rig.pipeline, "script-end", "e", take_all, &out);
      script_link (rig.pipeline, source, end);
      rig_start (&rig, kinds[k]);
      for (guint i = 0; i < 3; i++)
        {
          before = dlp_pad_get_position (dlp_element_get_input (end, 0));
          while (dlp_pad_get_position (dlp_element_get_input (end, 0)) == before)
            usleep (100);
          dlp_flag_set (rig.pipeline->run->paused);
          before = wait_until_still (dlp_element_get_input (end, 0));
          dlp_runner_kick (rig.runner);
          usleep (20000);
          g_assert_cmpuint (dlp_pad_get_position (dlp_element_get_input (end, 0)), ==, before);
          __atomic_store_n (&rig.pipeline->run->paused, false, __ATOMIC_RELEASE);
          dlp_runner_kick (rig.runner);
        }
      dlp_flag_set (rig.pipeline->run->stopping);
      dlp_runner_kick (rig.runner);
      rig_wait (&rig);
      rig_clear (&rig);
    }
}

static DlpStep
fail_silently (DlpElement *self, gpointer data, GError **error)
{
  return DLP_STEP_ERROR;
}

static void
take_error (DlpContext *context, DlpElement *element, GError *error)
{
  g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_INTERNAL);
  g_assert_nonnull (strstr (error->message, "bad"));
  g_error_free (error);
  dlp_flag_set (context->cancelled);
  dlp_runner_kick (((DlpPipeline *) context->owner)->runner);
}

static void
test_error (void)
{
  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
    {
      Count out = { 0 };
      Rig rig;
      DlpElement *source, *end;

      rig_init (&rig);
      source = script_add (rig.pipeline, "script-source", "bad", fail_silently, NULL);
      end = script_add (rig.pipeline, "script-end", "e", take_all, &out);
      script_link (rig.pipeline, source, end);
      rig.pipeline->run->fail = take_error;
      g_assert_true (dlp_pipeline_prepare (rig.pipeline, NULL, NULL));
      rig.runner =
          dlp_runner_new (kinds[k], rig.pipeline->order, rig.pipeline->run, 1, note_done, &rig);
      rig.pipeline->runner = rig.runner;
      dlp_runner_start (rig.runner);
      rig_wait (&rig);
      rig.pipeline->runner = NULL;
      rig_clear (&rig);
      g_assert_cmpuint (out.done, ==, 0);
    }
}

/* ---- wakes that were lost once ---- */

typedef struct
{
  DlpElement *element;
  sem_t go;
  sem_t arrived;
  bool ready; /* atomic */
  guint taken;
} Gate;

static DlpStep
close_on_wake (DlpElement *self, gpointer data, GError **error)
{
  Gate *gate = data;

  if (!__atomic_load_n (&gate->ready, __ATOMIC_ACQUIRE))
    return DLP_STEP_WANT_WORK;
  dlp_pad_close (dlp_element_get_input (self, 0));
  return DLP_STEP_END;
}

/* A pad that is closed wakes its producer, which waits for input that never comes. */
static void
test_close_wakes (void)
{
  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
    {
      Gate gate = { NULL };
      Rig rig;
      DlpElement *source, *a;

      rig_init (&rig);
      source = script_add (rig.pipeline, "script-source", "s", want_work, NULL);
      a = script_add (rig.pipeline, "script-pipe", "a", pass_on, NULL);
      gate.element = script_add (rig.pipeline, "script-end", "e", close_on_wake, &gate);
      script_link (rig.pipeline, source, a);
      script_link (rig.pipeline, a, gate.element);
      rig_start (&rig, kinds[k]);
      usleep (5000);
      __atomic_store_n (&gate.ready, true, __ATOMIC_RELEASE);
      dlp_element_wake (gate.element);
      rig_wait (&rig);
      rig_clear (&rig);
    }
}

/* Emits one when it is woken, and never ends. */
static DlpStep
emit_once (DlpElement *self, gpointer data, GError **error)
{
  Gate *gate = data;

  if (__atomic_load_n (&gate->ready, __ATOMIC_ACQUIRE) && gate->taken == 0)
    {
      gate->taken++;
      script_emit (self, "x");
      dlp_pad_flush (dlp_element_get_output (self, 0));
      sem_post (&gate->arrived);
    }
  return DLP_STEP_WANT_WORK;
}

/* The record arrives between its two looks. */
static DlpStep
look_twice (DlpElement *self, gpointer data, GError **error)
{
  Gate *gate = data;
  DlpPad *in = dlp_element_get_input (self, 0);
  guint row;

  if (dlp_pad_peek (in, &row) != NULL)
    {
      dlp_pad_consume (in, 1);
      return DLP_STEP_END;
    }
  __atomic_store_n (&gate->ready, true, __ATOMIC_RELEASE);
  dlp_element_wake (gate->element);
  sem_wait (&gate->arrived);
  g_assert_false (dlp_pad_is_over (in));
  return dlp_element_want_input (self, 0);
}

static void
test_two_looks (void)
{
  /* Both are on the way at once. */
  for (guint k = 0; k < 2; k++)
    for (guint i = 0; i < 20; i++)
      {
        Gate gate = { NULL };
        Rig rig;
        DlpElement *end;

        sem_init (&gate.arrived, 0, 0);
        rig_init (&rig);
        gate.element = script_add (rig.pipeline, "script-source", "s", emit_once, &gate);
        end = script_add (rig.pipeline, "script-end", "e", look_twice, &gate);
        script_link (rig.pipeline, gate.element, end);
        rig_start (&rig, kinds[k]);
        rig_wait (&rig);
        rig_clear (&rig);
        sem_destroy (&gate.arrived);
      }
}

/* Fills the open record batch while its consumer is busy, and then waits. */
static DlpStep
emit_two (DlpElement *self, gpointer data, GError **error)
{
  Gate *gate = data;

  if (gate->taken == 0)
    {
      gate->taken++;
      script_emit (self, "first");
      dlp_pad_flush (dlp_element_get_output (self, 0));
      sem_wait (&gate->arrived);
      script_emit (self, "second");
    }
  else if (!__atomic_exchange_n (&gate->ready, true, __ATOMIC_ACQ_REL))
    sem_post (&gate->go);
  return DLP_STEP_WANT_WORK;
}

static DlpStep
take_two (DlpElement *self, gpointer data, GError **error)
{
  Gate *gate = data;
  guint64 position = dlp_pad_get_position (dlp_element_get_input (self, 0));

  if (!script_take (self))
    return position == 2 ? DLP_STEP_END : dlp_element_want_input (self, 0);
  if (position == 0)
    {
      sem_post (&gate->arrived);
      dlp_element_wake (gate->element);
      sem_wait (&gate->go);
      /* By now the producer sleeps. */
      usleep (2000);
    }
  return position == 1 ? DLP_STEP_END : DLP_STEP_MORE;
}

static void
test_idle_consumer (void)
{
  for (guint k = 0; k < 2; k++)
    for (guint i = 0; i < 10; i++)
      {
        Gate gate = { NULL };
        Rig rig;
        DlpElement *end;

        sem_init (&gate.arrived, 0, 0);
        sem_init (&gate.go, 0, 0);
        rig_init (&rig);
        gate.element = script_add (rig.pipeline, "script-source", "s", emit_two, &gate);
        end = script_add (rig.pipeline, "script-end", "e", take_two, &gate);
        script_link (rig.pipeline, gate.element, end);
        rig_start (&rig, kinds[k]);
        rig_wait (&rig);
        rig_clear (&rig);
        sem_destroy (&gate.arrived);
        sem_destroy (&gate.go);
      }
}

/* An element in the midst of many, each of which moves one at a time. */
static void
test_many (void)
{
  Count in = { .n = 300 }, out = { 0 };
  Rig rig;
  DlpElement *last;

  rig_init (&rig);
  g_object_set (rig.pipeline, "batch-records", 1, "link-batches", 1, NULL);
  last = script_add (rig.pipeline, "script-source", "s", emit_count, &in);
  for (guint i = 0; i < 80; i++)
    {
      g_autofree char *name = g_strdup_printf ("p%u", i);
      DlpElement *next = script_add (rig.pipeline, "script-pipe", name, pass_on, NULL);

      script_link (rig.pipeline, last, next);
      last = next;
    }
  script_link (rig.pipeline, last, script_add (rig.pipeline, "script-end", "e", take_all, &out));
  rig_start (&rig, DLP_RUNNER_AUTO);
  rig_wait (&rig);
  rig_clear (&rig);
  g_assert_cmpuint (out.done, ==, 300);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  script_register ();
  g_test_add_func ("/runner/end", test_end);
  g_test_add_func ("/runner/leave", test_leave);
  g_test_add_func ("/runner/wake", test_wake);
  g_test_add_func ("/runner/pause", test_pause);
  g_test_add_func ("/runner/error", test_error);
  g_test_add_func ("/runner/close-wakes", test_close_wakes);
  g_test_add_func ("/runner/two-looks", test_two_looks);
  g_test_add_func ("/runner/idle-consumer", test_idle_consumer);
  g_test_add_func ("/runner/many", test_many);
  return g_test_run ();
}
