/* SPDX-License-Identifier: MIT */

#include "dlp-http-session.h"

#include <pthread.h>

#include <dlpipe/dlp-error.h>

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

/* A message of GnuTLS alone would not say what is wrong with which file. */
static void
set_trust (HttpSession *self)
{
  g_autoptr (GTlsDatabase) database = NULL;
  g_autoptr (GError) error = NULL;

  if (self->ca_file == NULL)
    return;
  database = g_tls_file_database_new (self->ca_file, &error);
  if (database != NULL)
    soup_session_set_tls_database (self->soup, database);
  else
    self->broken = g_error_new (DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
                                "certificates to trust (ca-file or $SSL_CERT_FILE): %s: %s",
                                self->ca_file, error->message);
}

static HttpSession *
session_new (guint timeout, const char *ca_file)
{
  HttpSession *self = g_new0 (HttpSession, 1);

  self->context = g_main_context_new ();
  self->ca_file = g_strdup (ca_file);
  http_session_enter (self);
  self->soup = soup_session_new ();
  soup_session_set_timeout (self->soup, timeout);
  soup_session_set_user_agent (self->soup, "dlpipe/" PLUGIN_VERSION);
  /* It takes half a gzip body for a whole one; codecs are the reader's. */
  soup_session_remove_feature_by_type (self->soup, SOUP_TYPE_CONTENT_DECODER);
  set_trust (self);
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
  g_free (self->ca_file);
  g_clear_error (&self->broken);
  g_free (self);
}

static int
compare_trust (gconstpointer session, gconstpointer ca_file)
{
  return g_strcmp0 (((const HttpSession *) session)->ca_file, ca_file);
}

static const char *
get_trusted (const char *ca_file)
{
  return ca_file != NULL && *ca_file != '\0' ? ca_file : g_getenv ("SSL_CERT_FILE");
}

HttpSession *
http_session_new_direct (guint timeout, const char *ca_file)
{
  HttpSession *self = session_new (timeout, get_trusted (ca_file));

  http_session_enter (self);
  soup_session_set_proxy_resolver (self->soup, NULL);
  http_session_leave (self);
  return self;
}

HttpSession *
http_session_take (guint timeout)
{
  return http_session_take_trusting (timeout, NULL);
}

HttpSession *
http_session_take_trusting (guint timeout, const char *ca_file)
{
  const char *trusted = get_trusted (ca_file);
  HttpSession *self = NULL;
  GList *found;

  pthread_mutex_lock (&idle_lock);
  found = g_queue_find_custom (&idle, trusted, compare_trust);
  if (found != NULL)
    {
      self = found->data;
      g_queue_delete_link (&idle, found);
    }
  pthread_mutex_unlock (&idle_lock);
  if (self == NULL)
    return session_new (timeout, trusted);

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
