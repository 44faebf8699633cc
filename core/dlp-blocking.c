/* SPDX-License-Identifier: MIT */

#include "dlp-blocking-private.h"

#include <pthread.h>

#include "dlp-async-private.h"

typedef struct
{
  gint ref_count; /* atomic */
  DlpBlocking what;
  GCancellable *cancellable; /* nullable */
  gulong cancel_id;          /* set before the thread is made */

  pthread_mutex_t lock;
  DlpAsyncCall *call; /* lock; NULL: it has its result */
} Blocking;

static void
blocking_unref (gpointer data)
{
  Blocking *self = data;

  if (__atomic_sub_fetch (&self->ref_count, 1, __ATOMIC_ACQ_REL) > 0)
    return;
  if (self->what.free_data != NULL)
    self->what.free_data (self->what.data);
  g_clear_object (&self->cancellable);
  pthread_mutex_destroy (&self->lock);
  g_free (self);
}

/* NULL: somebody else returns. */
static DlpAsyncCall *
take_call (Blocking *self)
{
  DlpAsyncCall *call;

  pthread_mutex_lock (&self->lock);
  call = g_steal_pointer (&self->call);
  pthread_mutex_unlock (&self->lock);
  return call;
}

static void
give_back (Blocking *self, gpointer value, GError *error)
{
  DlpAsyncCall *call = take_call (self);

  if (call != NULL)
    {
      dlp_async_call_return_pointer (call, value, self->what.free_value, error);
      return;
    }
  if (value != NULL)
    self->what.free_value (value);
  g_clear_error (&error);
}

/* The reference of the handler is given back behind the disconnect, which waits for this; one of
 * its own lets sanitizers see so, which do not know the lock of a cancellable. */
static void
cancelled (GCancellable *cancellable, gpointer data)
{
  Blocking *self = data;
  GError *error = NULL;

  __atomic_add_fetch (&self->ref_count, 1, __ATOMIC_RELAXED);
  g_cancellable_set_error_if_cancelled (cancellable, &error);
  give_back (self, NULL, error);
  blocking_unref (self);
}

static gpointer
run (gpointer data)
{
  Blocking *self = data;
  GError *error = NULL;
  gpointer value = NULL;

  if (!g_cancellable_set_error_if_cancelled (self->cancellable, &error))
    value = self->what.func (self->what.data, self->cancellable, &error);
  give_back (self, value, error);
  if (self->cancel_id != 0)
    g_cancellable_disconnect (self->cancellable, self->cancel_id);
  blocking_unref (self);
  return NULL;
}

void
dlp_blocking_begin (DlpBlocking what,
                    GCancellable *cancellable,
                    GAsyncReadyCallback callback,
                    gpointer user_data)
{
  g_autoptr (GMainContext) context = g_main_context_ref_thread_default ();
  Blocking *self = g_new0 (Blocking, 1);

  self->ref_count = 1;
  self->what = what;
  self->cancellable = cancellable != NULL ? g_object_ref (cancellable) : NULL;
  pthread_mutex_init (&self->lock, NULL);
  self->call = dlp_async_call_new (NULL, context, cancellable, what.tag, callback, user_data);
  if (cancellable != NULL && !what.is_whole)
    {
      __atomic_add_fetch (&self->ref_count, 1, __ATOMIC_RELAXED);
      /* 0, and the other reference gone, where it is cancelled already. */
      self->cancel_id =
          g_cancellable_connect (cancellable, G_CALLBACK (cancelled), self, blocking_unref);
    }
  g_thread_unref (g_thread_new ("dlp-blocking", run, self));
}

gpointer
dlp_blocking_finish (GAsyncResult *result, gpointer tag, GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, NULL), NULL);
  g_return_val_if_fail (g_task_get_source_tag (G_TASK (result)) == tag, NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}
