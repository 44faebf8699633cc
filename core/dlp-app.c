/* SPDX-License-Identifier: MIT */

#include "dlp-app-private.h"

void
dlp_app_init (DlpApp *self, DlpElement *element, const DlpAppHooks *hooks)
{
  self->element = element;
  self->main_context = g_main_context_ref_thread_default ();
  pthread_mutex_init (&self->lock, NULL);
  pthread_cond_init (&self->cond, NULL);
  dlp_element_get_private (element)->app = hooks;
}

void
dlp_app_clear (DlpApp *self)
{
  g_clear_error (&self->failure);
  g_main_context_unref (self->main_context);
  pthread_cond_destroy (&self->cond);
  pthread_mutex_destroy (&self->lock);
}

void
dlp_app_set_main_context (DlpApp *self, GMainContext *context)
{
  GMainContext *old;

  pthread_mutex_lock (&self->lock);
  old = self->main_context;
  self->main_context = g_main_context_ref (context);
  pthread_mutex_unlock (&self->lock);
  g_main_context_unref (old);
}

bool
dlp_app_begin (DlpApp *self, const char *what, GError **error)
{
  bool mine;

  pthread_mutex_lock (&self->lock);
  mine = !self->busy;
  self->busy = true;
  pthread_mutex_unlock (&self->lock);
  if (!mine)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_PENDING,
                 "%s: another %s goes on: one at a time, whatever the thread",
                 dlp_element_get_name (self->element), what);
  return mine;
}

void
dlp_app_end (DlpApp *self)
{
  pthread_mutex_lock (&self->lock);
  self->busy = false;
  pthread_mutex_unlock (&self->lock);
}

static void
wake_waiter (GCancellable *cancellable, gpointer data)
{
  DlpApp *self = data;

  pthread_mutex_lock (&self->lock);
  pthread_cond_broadcast (&self->cond);
  pthread_mutex_unlock (&self->lock);
}

gulong
dlp_app_watch (DlpApp *self, GCancellable *cancellable)
{
  return cancellable != NULL ?
             g_cancellable_connect (cancellable, G_CALLBACK (wake_waiter), self, NULL) :
             0;
}

DlpAsyncCall *
dlp_app_make_call (DlpApp *self,
                   GCancellable *cancellable,
                   gpointer tag,
                   GAsyncReadyCallback callback,
                   gpointer user_data)
{
  g_autoptr (GMainContext) context = NULL;

  pthread_mutex_lock (&self->lock);
  context = g_main_context_ref (self->main_context);
  pthread_mutex_unlock (&self->lock);
  return dlp_async_call_new (g_object_ref (self->element), context, cancellable, tag, callback,
                             user_data);
}

void
dlp_app_take_failure (DlpApp *self, const GError *error)
{
  if (self->failure != NULL &&
      !g_error_matches (self->failure, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED))
    return;
  g_clear_error (&self->failure);
  self->failure = g_error_copy (error);
}

bool
dlp_app_set_failed (DlpApp *self, GError **error)
{
  if (self->failure == NULL)
    return false;
  g_propagate_error (error, g_error_copy (self->failure));
  return true;
}

bool
dlp_app_was_ended (DlpApp *self)
{
  return g_error_matches (self->failure, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED) ||
         g_error_matches (self->failure, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_ABORTED) ||
         g_error_matches (self->failure, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

void
dlp_app_declare (DlpApp *self, const char *status)
{
  if (self->declared == (status != NULL))
    return;
  self->declared = status != NULL;
  dlp_element_set_status (self->element, status);
}
