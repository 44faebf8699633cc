/* SPDX-License-Identifier: MIT */

/* The hand-off of record batches from a thread to another: through the link between two elements,
 * with all that core does around their steps, and through a bare ring under a mutex with two
 * conditions. The records are made beforehand; each record batch is a header of its own over them,
 * made by the one thread and freed by the other, in both cases alike. */

#include <pthread.h>
#include <string.h>

#include "bench-source.h"
#include "bench.h"

#define RECORDS 256
#define N_BATCHES 64
#define ROUNDS 4000
#define CAPACITY 16 /* as of a link */

typedef struct
{
  pthread_mutex_t lock;
  pthread_cond_t not_empty;
  pthread_cond_t not_full;
  DlpRecordBatch *ring[CAPACITY];
  guint head, count;
  GPtrArray *batches;
} Ring;

static void
push (Ring *self, DlpRecordBatch *batch)
{
  pthread_mutex_lock (&self->lock);
  while (self->count == CAPACITY)
    pthread_cond_wait (&self->not_full, &self->lock);
  self->ring[(self->head + self->count++) % CAPACITY] = batch;
  pthread_mutex_unlock (&self->lock);
  pthread_cond_signal (&self->not_empty);
}

static DlpRecordBatch *
pop (Ring *self)
{
  DlpRecordBatch *batch;

  pthread_mutex_lock (&self->lock);
  while (self->count == 0)
    pthread_cond_wait (&self->not_empty, &self->lock);
  batch = self->ring[self->head++ % CAPACITY];
  self->count--;
  pthread_mutex_unlock (&self->lock);
  pthread_cond_signal (&self->not_full);
  return batch;
}

static gpointer
produce (gpointer data)
{
  Ring *self = data;

  for (guint i = 0; i < ROUNDS * N_BATCHES; i++)
    push (self,
          dlp_record_batch_slice (g_ptr_array_index (self->batches, i % N_BATCHES), 0, RECORDS));
  push (self, NULL);
  return NULL;
}

static gpointer
consume (gpointer data)
{
  Ring *self = data;
  DlpRecordBatch *batch;
  guint64 records = 0;

  while ((batch = pop (self)) != NULL)
    {
      records += dlp_record_batch_get_length (batch);
      dlp_record_batch_unref (batch);
    }
  g_assert_cmpuint (records, ==, (guint64) ROUNDS * N_BATCHES * RECORDS);
  return NULL;
}

static void
hand_off_bare (gpointer data)
{
  Ring ring = { .lock = PTHREAD_MUTEX_INITIALIZER,
                .not_empty = PTHREAD_COND_INITIALIZER,
                .not_full = PTHREAD_COND_INITIALIZER,
                .batches = data };
  pthread_t producer, consumer;

  g_assert_cmpint (pthread_create (&producer, NULL, produce, &ring), ==, 0);
  g_assert_cmpint (pthread_create (&consumer, NULL, consume, &ring), ==, 0);
  pthread_join (producer, NULL);
  pthread_join (consumer, NULL);
}

static void
hand_off_link (gpointer data)
{
  dlp_bench_source_set_batches (data, ROUNDS, RECORDS);
  bench_run_graph ("bench-source ! null-sink digest=false");
}

static GPtrArray *
make_batches (void)
{
  const char *name = "text";
  DlpFieldType type = DLP_FIELD_STRING;
  gboolean optional = FALSE;
  g_autoptr (DlpSchema) schema = dlp_schema_new (DLP_SCHEMA_RECORDS, 1, &name, &type, &optional);
  g_autoptr (DlpRecordBatchBuilder) builder = dlp_record_batch_builder_new (schema);
  GPtrArray *batches = g_ptr_array_new_with_free_func ((GDestroyNotify) dlp_record_batch_unref);

  for (guint i = 0; i < N_BATCHES; i++)
    {
      for (guint k = 0; k <= RECORDS; k++)
        {
          DlpCoordinate at = { .row = (guint64) i * RECORDS + k };
          char text[32];

          g_snprintf (text, sizeof text, "record %08u", i * RECORDS + k);
          dlp_record_batch_builder_append_value (builder, 0, text, strlen (text));
          dlp_record_batch_builder_end_record (builder, &at);
        }
      g_ptr_array_add (batches, dlp_record_batch_builder_finish (builder, NULL));
    }
  return batches;
}

int
main (void)
{
  g_autoptr (GPtrArray) batches = make_batches ();
  const Bench bench = { .name = "link",
                        .ours = hand_off_link,
                        .reference = hand_off_bare,
                        .data = batches,
                        .amount = (double) ROUNDS * N_BATCHES * RECORDS,
                        .unit = "records",
                        .bar = 1.5 };

  return bench_run (&bench) ? 0 : 1;
}
