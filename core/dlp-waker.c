/* SPDX-License-Identifier: MIT */

#include "dlp-waker-private.h"

void
dlp_waker_init (DlpWaker *self)
{
  pthread_mutex_init (&self->lock, NULL);
  pthread_cond_init (&self->cond, NULL);
  self->notified = self->waiting = false;
  self->n_calls = 0;
  self->notify = NULL;
  self->data = NULL;
}

void
dlp_waker_destroy (DlpWaker *self)
{
  pthread_cond_destroy (&self->cond);
  pthread_mutex_destroy (&self->lock);
}

void
dlp_waker_notify (DlpWaker *self)
{
  void (*notify) (gpointer data);
  gpointer data;
  bool wake;

  pthread_mutex_lock (&self->lock);
  notify = self->notify;
  data = self->data;
  wake = self->waiting && !self->notified;
  self->notified = true;
  self->n_calls += notify != NULL;
  pthread_mutex_unlock (&self->lock);

  if (notify != NULL)
    {
      notify (data);
      pthread_mutex_lock (&self->lock);
      if (--self->n_calls == 0)
        pthread_cond_broadcast (&self->cond);
      pthread_mutex_unlock (&self->lock);
    }
  else if (wake)
    pthread_cond_signal (&self->cond);
}

void
dlp_waker_set_notify (DlpWaker *self, void (*notify) (gpointer data), gpointer data)
{
  pthread_mutex_lock (&self->lock);
  while (self->n_calls > 0)
    pthread_cond_wait (&self->cond, &self->lock);
  self->notify = notify;
  self->data = data;
  pthread_mutex_unlock (&self->lock);
}

void
dlp_waker_wait (DlpWaker *self)
{
  pthread_mutex_lock (&self->lock);
  self->waiting = true;
  while (!self->notified)
    pthread_cond_wait (&self->cond, &self->lock);
  self->waiting = self->notified = false;
  pthread_mutex_unlock (&self->lock);
}
