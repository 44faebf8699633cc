/* SPDX-License-Identifier: MIT */
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include <glib.h>

G_BEGIN_DECLS

/* What an element sleeps on, whatever it waits for: a flag under a mutex with a condition (a thread
 * an element), or a function that queues it again (a pool). pthread's own, because ThreadSanitizer
 * does not see GLib's. */
typedef struct
{
  pthread_mutex_t lock;
  pthread_cond_t cond;
  bool notified;                  /* lock */
  bool waiting;                   /* lock */
  guint n_calls;                  /* lock: of notify, that go on */
  void (*notify) (gpointer data); /* lock */
  gpointer data;                  /* lock */
} DlpWaker;

void dlp_waker_init (DlpWaker *self);
void dlp_waker_destroy (DlpWaker *self);
/* Any thread. A notify without a waiter is kept for the next wait. */
void dlp_waker_notify (DlpWaker *self);
void dlp_waker_wait (DlpWaker *self);
/* Later notifies call @notify instead; NULL: not any more. Waits for calls of the former function
 * that go on on other threads. */
void dlp_waker_set_notify (DlpWaker *self, void (*notify) (gpointer data), gpointer data);

G_END_DECLS
