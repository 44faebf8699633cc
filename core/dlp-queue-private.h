/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-waker-private.h"

#include <dlpipe/dlp-record-batch.h>

G_BEGIN_DECLS

/* A link: a ring of record batches under a mutex, bounded in record batches and in bytes. A push
 * never waits: the producer asks before a step whether there is room, so a link may exceed its
 * limit by what one step emits. Whoever finds nothing to do arms his side and sleeps on his waker;
 * he is woken after the unlock, and only if he is armed. See docs/internals/queue.md. */
typedef struct
{
  pthread_mutex_t lock;
  DlpRecordBatch **ring; /* lock; capacity is a power of two */
  guint capacity;        /* lock */
  guint head;            /* lock */
  guint count;           /* lock */
  gsize bytes;           /* lock */
  guint max_batches;
  gsize max_bytes;
  bool ended; /* lock: the producer will push no more */
  GError
      *failure; /* lock: instead of an end: what happened to the producer behind what is queued */
  gpointer failed_by;   /* lock: who */
  bool closed;          /* atomic, written under lock: the consumer wants no more */
  bool has_room;        /* the producer's: there was room, and only he takes it */
  bool consumer_sleeps; /* lock */
  bool producer_sleeps; /* lock */
  bool wants_idle;      /* lock: the producer has something for a consumer that sleeps */
  DlpWaker *consumer;
  DlpWaker *producer;
} DlpQueue;

void dlp_queue_init (DlpQueue *self, guint max_batches, gsize max_bytes);
void dlp_queue_destroy (DlpQueue *self);

/* (transfer full) @batch; dropped if the consumer has closed. */
void dlp_queue_push (DlpQueue *self, DlpRecordBatch *batch);
void dlp_queue_end (DlpQueue *self);
/* The stream does not end, it breaks off: the consumer learns of it behind all that is queued, and
 * one that has closed never does. */
void dlp_queue_fail (DlpQueue *self, const GError *error, gpointer failed_by);
/* (transfer full) (nullable): nothing is queued any more, and the stream broke off. */
GError *dlp_queue_get_failure (DlpQueue *self, gpointer *failed_by);
/* (transfer full) (nullable). *ended: nothing is there and nothing will come. */
DlpRecordBatch *dlp_queue_pop (DlpQueue *self, bool *ended);
/* By the consumer: what is queued is dropped, and so is all that will be pushed. Wakes the producer
 * whatever it waits for: perhaps nobody needs it any more. */
void dlp_queue_close (DlpQueue *self);

bool dlp_queue_is_full (DlpQueue *self);
/* The same, the other way round, by the producer: most often without the lock. */
bool dlp_queue_has_room (DlpQueue *self);
bool dlp_queue_is_closed (DlpQueue *self);
/* By the producer, about to sleep: TRUE: the consumer sleeps, and nothing is queued for it. FALSE:
 * the producer is woken when that is so. */
bool dlp_queue_ask_idle (DlpQueue *self);
void dlp_queue_get_level (DlpQueue *self, guint *batches, gsize *bytes);

/* FALSE: there is something to do already. TRUE: a wake will come when there is. */
bool dlp_queue_arm_consumer (DlpQueue *self);
bool dlp_queue_arm_producer (DlpQueue *self);

G_END_DECLS
