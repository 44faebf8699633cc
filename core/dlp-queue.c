/* SPDX-License-Identifier: MIT */

#include "dlp-queue-private.h"

void
dlp_queue_init (DlpQueue *self, guint max_batches, gsize max_bytes)
{
  pthread_mutex_init (&self->lock, NULL);
  self->max_batches = MAX (max_batches, 1);
  self->max_bytes = MAX (max_bytes, 1);
  self->capacity = 4;
  self->ring = g_new0 (DlpRecordBatch *, self->capacity);
  self->head = self->count = 0;
  self->bytes = 0;
  self->ended = self->closed = false;
  self->has_room = true;
  self->failure = NULL;
  self->failed_by = NULL;
  self->consumer_sleeps = self->producer_sleeps = self->wants_idle = false;
  self->consumer = self->producer = NULL;
}

static void
drop_all (DlpQueue *self)
{
  for (; self->count > 0; self->count--)
    dlp_record_batch_unref (self->ring[self->head++ & (self->capacity - 1)]);
  self->bytes = 0;
}

void
dlp_queue_destroy (DlpQueue *self)
{
  drop_all (self);
  g_clear_error (&self->failure);
  g_free (self->ring);
  pthread_mutex_destroy (&self->lock);
}

static void
grow (DlpQueue *self)
{
  DlpRecordBatch **ring = g_new0 (DlpRecordBatch *, self->capacity * 2);

  for (guint i = 0; i < self->count; i++)
    ring[i] = self->ring[(self->head + i) & (self->capacity - 1)];
  g_free (self->ring);
  self->ring = ring;
  self->head = 0;
  self->capacity *= 2;
}

static inline bool
full (const DlpQueue *self)
{
  return !self->closed && (self->count >= self->max_batches || self->bytes >= self->max_bytes);
}

void
dlp_queue_push (DlpQueue *self, DlpRecordBatch *batch)
{
  gsize bytes = dlp_record_batch_get_bytes (batch);
  bool wake;

  pthread_mutex_lock (&self->lock);
  if (self->closed)
    {
      pthread_mutex_unlock (&self->lock);
      dlp_record_batch_unref (batch);
      return;
    }
  if (self->count == self->capacity)
    grow (self);
  self->ring[(self->head + self->count++) & (self->capacity - 1)] = batch;
  self->bytes += bytes;
  self->has_room = !full (self);
  wake = self->consumer_sleeps;
  self->consumer_sleeps = false;
  pthread_mutex_unlock (&self->lock);

  if (wake)
    dlp_waker_notify (self->consumer);
}

void
dlp_queue_end (DlpQueue *self)
{
  bool wake;

  pthread_mutex_lock (&self->lock);
  self->ended = true;
  wake = self->consumer_sleeps;
  self->consumer_sleeps = false;
  pthread_mutex_unlock (&self->lock);

  if (wake)
    dlp_waker_notify (self->consumer);
}

void
dlp_queue_fail (DlpQueue *self, const GError *error, gpointer failed_by)
{
  bool wake;

  pthread_mutex_lock (&self->lock);
  if (self->failure == NULL)
    self->failure = g_error_copy (error);
  self->failed_by = failed_by;
  wake = self->consumer_sleeps;
  self->consumer_sleeps = false;
  pthread_mutex_unlock (&self->lock);

  if (wake)
    dlp_waker_notify (self->consumer);
}

GError *
dlp_queue_get_failure (DlpQueue *self, gpointer *failed_by)
{
  GError *failure = NULL;

  pthread_mutex_lock (&self->lock);
  if (self->count == 0 && !self->closed && self->failure != NULL)
    {
      failure = g_error_copy (self->failure);
      *failed_by = self->failed_by;
    }
  pthread_mutex_unlock (&self->lock);
  return failure;
}

DlpRecordBatch *
dlp_queue_pop (DlpQueue *self, bool *ended)
{
  DlpRecordBatch *batch = NULL;
  bool wake = false;

  pthread_mutex_lock (&self->lock);
  if (self->count > 0)
    {
      batch = self->ring[self->head & (self->capacity - 1)];
      self->head++;
      self->count--;
      self->bytes -= dlp_record_batch_get_bytes (batch);
      /* Woken when most is free, so that the two sides do not hand over one by one. */
      if (self->producer_sleeps && self->count <= self->max_batches / 4 &&
          self->bytes <= self->max_bytes / 4)
        {
          self->producer_sleeps = false;
          wake = true;
        }
    }
  *ended = batch == NULL && (self->ended || self->closed);
  pthread_mutex_unlock (&self->lock);

  if (wake)
    dlp_waker_notify (self->producer);
  return batch;
}

void
dlp_queue_close (DlpQueue *self)
{
  pthread_mutex_lock (&self->lock);
  __atomic_store_n (&self->closed, true, __ATOMIC_RELEASE);
  drop_all (self);
  self->producer_sleeps = self->wants_idle = false;
  pthread_mutex_unlock (&self->lock);

  if (self->producer != NULL)
    dlp_waker_notify (self->producer);
}

bool
dlp_queue_is_full (DlpQueue *self)
{
  bool is_full;

  pthread_mutex_lock (&self->lock);
  is_full = full (self);
  pthread_mutex_unlock (&self->lock);
  return is_full;
}

bool
dlp_queue_has_room (DlpQueue *self)
{
  if (!self->has_room)
    self->has_room = !dlp_queue_is_full (self);
  return self->has_room;
}

bool
dlp_queue_is_closed (DlpQueue *self)
{
  return __atomic_load_n (&self->closed, __ATOMIC_ACQUIRE);
}

bool
dlp_queue_ask_idle (DlpQueue *self)
{
  bool idle;

  pthread_mutex_lock (&self->lock);
  idle = self->consumer_sleeps && self->count == 0;
  self->wants_idle = !idle && !self->closed;
  pthread_mutex_unlock (&self->lock);
  return idle;
}

void
dlp_queue_get_level (DlpQueue *self, guint *batches, gsize *bytes)
{
  pthread_mutex_lock (&self->lock);
  *batches = self->count;
  *bytes = self->bytes;
  pthread_mutex_unlock (&self->lock);
}

bool
dlp_queue_arm_consumer (DlpQueue *self)
{
  bool sleeps, wake;

  pthread_mutex_lock (&self->lock);
  sleeps = self->count == 0 && !self->ended && !self->closed && self->failure == NULL;
  self->consumer_sleeps = sleeps;
  wake = sleeps && self->wants_idle;
  if (wake)
    self->wants_idle = false;
  pthread_mutex_unlock (&self->lock);

  if (wake)
    dlp_waker_notify (self->producer);
  return sleeps;
}

bool
dlp_queue_arm_producer (DlpQueue *self)
{
  bool sleeps;

  pthread_mutex_lock (&self->lock);
  sleeps = full (self);
  self->producer_sleeps = sleeps;
  pthread_mutex_unlock (&self->lock);
  return sleeps;
}
