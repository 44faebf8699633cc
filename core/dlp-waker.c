/* SPDX-License-Identifier: MIT */

#include "dlp-waker-private.h"

void
dlp_waker_init (DlpWaker *self)
{
  pthread_mutex_init (&self->lock, NULL);
  pthread_cond_init (&self->cond, NULL);
  self->notified = self->waiting = false;
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
  bool wake;

  if (self->notify != NULL)
    {
      self->notify (self->data);
      return;
    }

  pthread_mutex_lock (&self->lock);
  wake = self->waiting && !self->notified;
  self->notified = true;
  pthread_mutex_unlock (&self->lock);
  if (wake)
    pthread_cond_signal (&self->cond);
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
