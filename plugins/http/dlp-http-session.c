/* SPDX-License-Identifier: MIT */

#include "dlp-http-session.h"

#include <pthread.h>

#define MAX_IDLE 16

/* Guards the queue. */
static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;
static GQueue idle = G_QUEUE_INIT;

void
http_session_enter (HttpSession *self)
{
  g_main_context_push_thread_default (self->context);
}

void
http_session_leave (HttpSession *self)
{
  g_main_context_pop_thread_default (self->context);
}

static HttpSession *
session_new (guint timeout)
{
  HttpSession *self = g_new0 (HttpSession, 1);

  self->context = g_main_context_new ();
  http_session_enter (self);
  self->soup = soup_session_new ();
  soup_session_set_timeout (self->soup, timeout);
  soup_session_set_user_agent (self->soup, "dlpipe/" PLUGIN_VERSION);
  /* It takes half a gzip body for a whole one; codecs are the reader's. */
  soup_session_remove_feature_by_type (self->soup, SOUP_TYPE_CONTENT_DECODER);
  http_session_leave (self);
  return self;
}

static void
session_free (HttpSession *self)
{
  http_session_enter (self);
  soup_session_abort (self->soup);
  g_object_unref (self->soup);
  while (g_main_context_iteration (self->context, FALSE))
    ;
  http_session_leave (self);
  g_main_context_unref (self->context);
  g_free (self);
}

HttpSession *
http_session_new_direct (guint timeout)
{
  HttpSession *self = session_new (timeout);

  http_session_enter (self);
  soup_session_set_proxy_resolver (self->soup, NULL);
  http_session_leave (self);
  return self;
}

HttpSession *
http_session_take (guint timeout)
{
  HttpSession *self;

  pthread_mutex_lock (&idle_lock);
  self = g_queue_pop_head (&idle);
  pthread_mutex_unlock (&idle_lock);
  if (self == NULL)
    return session_new (timeout);

  http_session_enter (self);
  soup_session_set_timeout (self->soup, timeout);
  /* Connections that were idle for too long are closed here: nothing else runs the context. */
  while (g_main_context_iteration (self->context, FALSE))
    ;
  http_session_leave (self);
  return self;
}

void
http_session_give (HttpSession *self, gboolean clean)
{
  if (clean)
    {
      pthread_mutex_lock (&idle_lock);
      clean = idle.length < MAX_IDLE;
      if (clean)
        g_queue_push_head (&idle, self);
      pthread_mutex_unlock (&idle_lock);
    }
  if (!clean)
    session_free (self);
}
