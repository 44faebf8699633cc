/* SPDX-License-Identifier: MIT */

#include "dlp-async-private.h"

#include <pthread.h>

struct _DlpAsyncCall
{
  GObject *source;
  GMainContext *context;
  GCancellable *cancellable;
  gulong cancel_id;
  gpointer tag;
  GAsyncReadyCallback callback;
  gpointer user_data;
  void (*before) (gpointer source);
  bool (*func) (gpointer source, GCancellable *cancellable, GError **error);

  /* What the returning thread did is before what the main context's does, also for sanitizers,
   * which do not see the locks of GLib's sources. */
  pthread_mutex_t lock;
  bool is_pointer;           /* lock */
  gpointer value;            /* lock */
  GDestroyNotify free_value; /* lock */
  GError *error;             /* lock */
};

DlpAsyncCall *
dlp_async_call_new (gpointer source,
                    GMainContext *context,
                    GCancellable *cancellable,
                    gpointer tag,
                    GAsyncReadyCallback callback,
                    gpointer user_data)
{
  DlpAsyncCall *self = g_new0 (DlpAsyncCall, 1);

  self->source = source;
  self->context = g_main_context_ref (context);
  self->cancellable = cancellable != NULL ? g_object_ref (cancellable) : NULL;
  self->tag = tag;
  self->callback = callback;
  self->user_data = user_data;
  pthread_mutex_init (&self->lock, NULL);
  return self;
}

void
dlp_async_call_set_source (DlpAsyncCall *self, gpointer source)
{
  self->source = source;
}

void
dlp_async_call_set_before (DlpAsyncCall *self, void (*before) (gpointer source))
{
  self->before = before;
}

gpointer
dlp_async_call_get_source (DlpAsyncCall *self)
{
  return self->source;
}

GCancellable *
dlp_async_call_get_cancellable (DlpAsyncCall *self)
{
  return self->cancellable;
}

void
dlp_async_call_watch (DlpAsyncCall *self, GCallback cancelled)
{
  if (self->cancellable != NULL)
    self->cancel_id = g_cancellable_connect (self->cancellable, cancelled, self->source, NULL);
}

static void
async_call_free (DlpAsyncCall *self)
{
  g_clear_object (&self->source);
  g_clear_object (&self->cancellable);
  g_main_context_unref (self->context);
  pthread_mutex_destroy (&self->lock);
  g_free (self);
}

/* Nothing comes between the two: a task may call its callback later than it returns. */
static void
returned (GObject *source, GAsyncResult *result, gpointer data)
{
  DlpAsyncCall *self = data;

  if (self->before != NULL)
    self->before (source);
  if (self->callback != NULL)
    self->callback (source, result, self->user_data);
  async_call_free (self);
}

static GTask *
make_task (DlpAsyncCall *self)
{
  GTask *task;

  g_main_context_push_thread_default (self->context);
  task = g_task_new (self->source, self->cancellable, returned, self);
  g_main_context_pop_thread_default (self->context);
  g_task_set_source_tag (task, self->tag);
  /* What it came to is told, whatever was cancelled since. */
  g_task_set_check_cancellable (task, FALSE);
  return task;
}

/* In the context, which so gives back the last reference. */
static gboolean
deliver (gpointer data)
{
  DlpAsyncCall *self = data;
  g_autoptr (GTask) task = NULL;

  pthread_mutex_lock (&self->lock);
  pthread_mutex_unlock (&self->lock);
  if (self->cancel_id != 0)
    g_cancellable_disconnect (self->cancellable, self->cancel_id);
  task = make_task (self);
  if (self->error != NULL)
    g_task_return_error (task, self->error);
  else if (self->is_pointer)
    g_task_return_pointer (task, self->value, self->free_value);
  else
    g_task_return_boolean (task, TRUE);
  return G_SOURCE_REMOVE;
}

/* Nothing of the call is touched behind the unlock: from then on it is the main context's. */
static void
send (DlpAsyncCall *self, bool is_pointer, gpointer value, GDestroyNotify free_value, GError *error)
{
  g_autoptr (GMainContext) context = NULL;
  g_autoptr (GSource) source = g_idle_source_new ();

  pthread_mutex_lock (&self->lock);
  self->is_pointer = is_pointer;
  self->value = value;
  self->free_value = free_value;
  self->error = error;
  context = g_main_context_ref (self->context);
  pthread_mutex_unlock (&self->lock);
  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  g_source_set_callback (source, deliver, self, NULL);
  g_source_attach (source, context);
}

void
dlp_async_call_return_boolean (DlpAsyncCall *self, GError *error)
{
  send (self, false, NULL, NULL, error);
}

void
dlp_async_call_return_pointer (DlpAsyncCall *self,
                               gpointer value,
                               GDestroyNotify free_value,
                               GError *error)
{
  send (self, true, value, free_value, error);
}

static gpointer
run (gpointer data)
{
  DlpAsyncCall *self = data;
  GError *error = NULL;

  self->func (self->source, self->cancellable, &error);
  dlp_async_call_return_boolean (self, error);
  return NULL;
}

void
dlp_async_call_run (DlpAsyncCall *self,
                    const char *name,
                    bool (*func) (gpointer source, GCancellable *cancellable, GError **error))
{
  self->func = func;
  g_thread_unref (g_thread_new (name, run, self));
}
