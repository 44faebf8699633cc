/* SPDX-License-Identifier: MIT */

#include <sched.h>

#include "dlp-queue-private.h"
#include "dlp-record-batch-private.h"

static DlpRecordBatchBuilder *builder;
static guint n_freed; /* atomic */

static void
count_free (gpointer mark)
{
  __atomic_fetch_add (&n_freed, 1, __ATOMIC_RELAXED);
}

/* Its mark tells when it is gone. */
static DlpRecordBatch *
make_batch (guint64 position, gsize size)
{
  g_autofree char *data = g_malloc0 (size + 1);
  const DlpCoordinate at = { .row = position };
  g_autoptr (DlpRecordBatch) batch = NULL;

  dlp_record_batch_builder_append_value (builder, 0, data, size);
  dlp_record_batch_builder_end_record (builder, &at);
  batch = dlp_record_batch_builder_finish (builder, NULL);
  return dlp_record_batch_new_at (batch, 0, 1, position, &n_freed, count_free);
}

/* Shares the columns of one batch, so that a thread can make many. */
static DlpRecordBatch *
make_view (DlpRecordBatch *batch, guint64 position)
{
  return dlp_record_batch_new_at (batch, 0, 1, position, &n_freed, count_free);
}

typedef struct
{
  DlpQueue queue;
  DlpWaker consumer;
  DlpWaker producer;
} Link;

static void
count_wake (gpointer data)
{
  (*(guint *) data)++;
}

static void
link_init (Link *self, guint max_batches, gsize max_bytes)
{
  n_freed = 0;
  dlp_queue_init (&self->queue, max_batches, max_bytes);
  dlp_waker_init (&self->consumer);
  dlp_waker_init (&self->producer);
  self->queue.consumer = &self->consumer;
  self->queue.producer = &self->producer;
}

static void
link_clear (Link *self)
{
  dlp_queue_destroy (&self->queue);
  dlp_waker_destroy (&self->consumer);
  dlp_waker_destroy (&self->producer);
}

static void
assert_pops (Link *self, guint64 position)
{
  bool ended;
  g_autoptr (DlpRecordBatch) batch = dlp_queue_pop (&self->queue, &ended);

  g_assert_nonnull (batch);
  g_assert_false (ended);
  g_assert_cmpuint (dlp_record_batch_get_position (batch), ==, position);
}

static void
assert_pops_nothing (Link *self, bool expect_end)
{
  bool ended = !expect_end;

  g_assert_null (dlp_queue_pop (&self->queue, &ended));
  g_assert_true (ended == expect_end);
}

static void
test_order (void)
{
  Link link;
  guint64 in = 0, out = 0;
  guint batches;
  gsize bytes;

  link_init (&link, 10000, G_MAXSIZE);
  for (guint round = 0; round < 200; round++)
    {
      for (guint i = 0; i < round % 17 + 3; i++)
        dlp_queue_push (&link.queue, make_batch (in++, 1));
      for (guint i = 0; i < round % 13; i++)
        if (out < in)
          assert_pops (&link, out++);
    }
  dlp_queue_get_level (&link.queue, &batches, &bytes);
  g_assert_cmpuint (batches, ==, in - out);
  g_assert_cmpuint (bytes, >=, in - out);
  while (out < in)
    assert_pops (&link, out++);
  dlp_queue_get_level (&link.queue, &batches, &bytes);
  g_assert_cmpuint (batches, ==, 0);
  g_assert_cmpuint (bytes, ==, 0);
  g_assert_cmpuint (n_freed, ==, in);
  dlp_queue_push (&link.queue, make_batch (in++, 1));
  link_clear (&link);
  g_assert_cmpuint (n_freed, ==, in);
}

static void
test_limits (void)
{
  Link link;
  guint64 in = 0;

  link_init (&link, 3, G_MAXSIZE);
  for (guint i = 0; i < 3; i++)
    {
      g_assert_false (dlp_queue_is_full (&link.queue));
      g_assert_false (dlp_queue_arm_producer (&link.queue));
      dlp_queue_push (&link.queue, make_batch (in++, 1));
    }
  g_assert_true (dlp_queue_is_full (&link.queue));
  /* What a step emits beyond it is not refused. */
  dlp_queue_push (&link.queue, make_batch (in++, 1));
  assert_pops (&link, 0);
  g_assert_true (dlp_queue_is_full (&link.queue));
  assert_pops (&link, 1);
  g_assert_false (dlp_queue_is_full (&link.queue));
  link_clear (&link);

  link_init (&link, 100, 5000);
  dlp_queue_push (&link.queue, make_batch (0, 4000));
  g_assert_false (dlp_queue_is_full (&link.queue));
  dlp_queue_push (&link.queue, make_batch (1, 4000));
  g_assert_true (dlp_queue_is_full (&link.queue));
  assert_pops (&link, 0);
  g_assert_false (dlp_queue_is_full (&link.queue));
  link_clear (&link);
}

static void
test_end (void)
{
  Link link;

  link_init (&link, 4, G_MAXSIZE);
  assert_pops_nothing (&link, false);
  dlp_queue_push (&link.queue, make_batch (0, 1));
  dlp_queue_end (&link.queue);
  g_assert_false (dlp_queue_arm_consumer (&link.queue));
  assert_pops (&link, 0);
  assert_pops_nothing (&link, true);
  g_assert_false (dlp_queue_arm_consumer (&link.queue));
  g_assert_false (dlp_queue_is_closed (&link.queue));
  link_clear (&link);
}

static void
test_close (void)
{
  Link link;
  guint wakes = 0;

  link_init (&link, 2, G_MAXSIZE);
  dlp_waker_set_notify (&link.producer, count_wake, &wakes);
  dlp_queue_push (&link.queue, make_batch (0, 1));
  dlp_queue_push (&link.queue, make_batch (1, 1));
  g_assert_true (dlp_queue_arm_producer (&link.queue));
  dlp_queue_close (&link.queue);
  g_assert_cmpuint (wakes, ==, 1);
  g_assert_cmpuint (n_freed, ==, 2);
  g_assert_true (dlp_queue_is_closed (&link.queue));
  g_assert_false (dlp_queue_is_full (&link.queue));
  g_assert_false (dlp_queue_arm_producer (&link.queue));
  g_assert_false (dlp_queue_arm_consumer (&link.queue));
  dlp_queue_push (&link.queue, make_batch (2, 1));
  g_assert_cmpuint (n_freed, ==, 3);
  assert_pops_nothing (&link, true);
  link_clear (&link);

  /* A producer that waits for something else may be needed no more. */
  link_init (&link, 2, G_MAXSIZE);
  wakes = 0;
  dlp_waker_set_notify (&link.producer, count_wake, &wakes);
  dlp_queue_close (&link.queue);
  g_assert_cmpuint (wakes, ==, 1);
  link_clear (&link);
}

static void
test_wakes (void)
{
  Link link;
  guint consumer = 0, producer = 0;

  link_init (&link, 4, G_MAXSIZE);
  dlp_waker_set_notify (&link.consumer, count_wake, &consumer);
  dlp_waker_set_notify (&link.producer, count_wake, &producer);

  /* Only who is armed, and once. */
  dlp_queue_push (&link.queue, make_batch (0, 1));
  g_assert_cmpuint (consumer, ==, 0);
  g_assert_false (dlp_queue_arm_consumer (&link.queue));
  assert_pops (&link, 0);
  g_assert_true (dlp_queue_arm_consumer (&link.queue));
  dlp_queue_push (&link.queue, make_batch (1, 1));
  dlp_queue_push (&link.queue, make_batch (2, 1));
  g_assert_cmpuint (consumer, ==, 1);

  /* The producer when three quarters are free. */
  dlp_queue_push (&link.queue, make_batch (3, 1));
  dlp_queue_push (&link.queue, make_batch (4, 1));
  g_assert_true (dlp_queue_arm_producer (&link.queue));
  assert_pops (&link, 1);
  g_assert_cmpuint (producer, ==, 0);
  assert_pops (&link, 2);
  g_assert_cmpuint (producer, ==, 0);
  assert_pops (&link, 3);
  g_assert_cmpuint (producer, ==, 1);
  assert_pops (&link, 4);
  g_assert_cmpuint (producer, ==, 1);

  g_assert_true (dlp_queue_arm_consumer (&link.queue));
  dlp_queue_end (&link.queue);
  g_assert_cmpuint (consumer, ==, 2);
  link_clear (&link);
}

/* A producer with something in hand learns when its consumer goes to sleep. */
static void
test_idle (void)
{
  Link link;
  guint producer = 0;

  link_init (&link, 4, G_MAXSIZE);
  dlp_waker_set_notify (&link.producer, count_wake, &producer);
  g_assert_false (dlp_queue_ask_idle (&link.queue));
  g_assert_true (dlp_queue_arm_consumer (&link.queue));
  g_assert_cmpuint (producer, ==, 1);
  g_assert_true (dlp_queue_ask_idle (&link.queue));
  g_assert_true (dlp_queue_arm_consumer (&link.queue));
  g_assert_cmpuint (producer, ==, 1);

  dlp_queue_push (&link.queue, make_batch (0, 1));
  g_assert_false (dlp_queue_ask_idle (&link.queue));
  g_assert_false (dlp_queue_arm_consumer (&link.queue));
  g_assert_cmpuint (producer, ==, 1);
  assert_pops (&link, 0);
  g_assert_true (dlp_queue_arm_consumer (&link.queue));
  g_assert_cmpuint (producer, ==, 2);
  link_clear (&link);
}

/* A notify before the wait is not lost; two of them are one. */
static void
test_waker (void)
{
  DlpWaker waker;

  dlp_waker_init (&waker);
  dlp_waker_notify (&waker);
  dlp_waker_notify (&waker);
  dlp_waker_wait (&waker);
  g_assert_false (waker.notified);
  dlp_waker_destroy (&waker);
}

/* ---- two threads ---- */

typedef struct
{
  Link link;
  guint n;
  guint close_after; /* 0: not */
  guint64 sent;
  DlpRecordBatch *batch;
  GRand *rand; /* of the producer */
} Stress;

static void
give_way (GRand *rand)
{
  switch (g_rand_int_range (rand, 0, 40))
    {
    case 0:
      g_usleep (20);
      break;
    case 1:
    case 2:
    case 3:
    case 4:
      sched_yield ();
      break;
    default:
      break;
    }
}

static gpointer
produce (gpointer data)
{
  Stress *self = data;
  DlpQueue *queue = &self->link.queue;

  while (self->sent < self->n && !dlp_queue_is_closed (queue))
    {
      give_way (self->rand);
      if (dlp_queue_is_full (queue))
        {
          if (dlp_queue_arm_producer (queue))
            dlp_waker_wait (&self->link.producer);
          continue;
        }
      dlp_queue_push (queue, make_view (self->batch, self->sent++));
    }
  dlp_queue_end (queue);
  return NULL;
}

static guint64
consume (Stress *self)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32) g_test_rand_int ());
  guint64 got = 0;

  for (;;)
    {
      bool ended;
      g_autoptr (DlpRecordBatch) batch = NULL;

      give_way (rand);
      batch = dlp_queue_pop (&self->link.queue, &ended);
      if (ended)
        return got;
      if (batch == NULL)
        {
          if (dlp_queue_arm_consumer (&self->link.queue))
            dlp_waker_wait (&self->link.consumer);
          continue;
        }
      g_assert_cmpuint (dlp_record_batch_get_position (batch), ==, got);
      if (++got == self->close_after)
        {
          dlp_queue_close (&self->link.queue);
          return got;
        }
    }
}

/* A wake that is lost hangs, and meson's timeout ends it. */
static void
test_stress (void)
{
  const char *scale = g_getenv ("DLPIPE_TEST_SCALE");
  guint rounds = (guint) MAX (60 * (scale != NULL ? g_ascii_strtod (scale, NULL) : 1.0), 6);

  for (guint i = 0; i < rounds; i++)
    {
      Stress self = { .n = 3000, .rand = g_rand_new_with_seed ((guint32) g_test_rand_int ()) };
      guint64 got;
      pthread_t thread;

      link_init (&self.link, (guint) g_test_rand_int_range (1, 5), G_MAXSIZE);
      if (i % 3 == 0)
        self.close_after = (guint) g_test_rand_int_range (1, 3000);
      self.batch = make_batch (0, 1);
      g_assert_cmpint (pthread_create (&thread, NULL, produce, &self), ==, 0);
      got = consume (&self);
      pthread_join (thread, NULL);
      g_assert_cmpuint (got, ==, self.close_after > 0 ? self.close_after : self.n);
      dlp_record_batch_unref (self.batch);
      link_clear (&self.link);
      g_assert_cmpuint (n_freed, ==, self.sent + 1);
      g_rand_free (self.rand);
    }
}

int
main (int argc, char **argv)
{
  const char *names[] = { "data" };
  const DlpFieldType types[] = { DLP_FIELD_BINARY };
  g_autoptr (DlpSchema) schema = dlp_schema_new (DLP_SCHEMA_RECORDS, 1, names, types, NULL);
  int code;

  g_test_init (&argc, &argv, NULL);
  builder = dlp_record_batch_builder_new (schema);
  g_test_add_func ("/queue/order", test_order);
  g_test_add_func ("/queue/limits", test_limits);
  g_test_add_func ("/queue/end", test_end);
  g_test_add_func ("/queue/close", test_close);
  g_test_add_func ("/queue/wakes", test_wakes);
  g_test_add_func ("/queue/idle", test_idle);
  g_test_add_func ("/queue/waker", test_waker);
  g_test_add_func ("/queue/stress", test_stress);
  code = g_test_run ();
  dlp_record_batch_builder_unref (builder);
  return code;
}
