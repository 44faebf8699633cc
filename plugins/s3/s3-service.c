/* SPDX-License-Identifier: MIT */

#include "s3-service.h"

#include <pthread.h>
#include <string.h>

#include "s3-chain.h"

/* They are read anew this long before they run out, */
#define EARLY 120
/* but not more often than that, where there are no newer ones. */
#define PAUSE 30

struct _S3Service
{
  /* Guards the credentials; held while they are read, so that one asks for all. */
  pthread_mutex_t keys_lock;
  S3Credentials credentials;
  char *profile; /* (nullable): that they are of; NULL: there are none yet */
  gint64 read_at;

  /* Guards the rest. */
  pthread_mutex_t lock;
  GHashTable *regions; /* by bucket */
  gint64 clock_error;
};

S3Service *
s3_service_new (void)
{
  S3Service *self = g_new0 (S3Service, 1);

  pthread_mutex_init (&self->keys_lock, NULL);
  pthread_mutex_init (&self->lock, NULL);
  self->regions = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  return self;
}

void
s3_service_free (S3Service *self)
{
  s3_credentials_clear (&self->credentials);
  g_free (self->profile);
  g_hash_table_unref (self->regions);
  pthread_mutex_destroy (&self->keys_lock);
  pthread_mutex_destroy (&self->lock);
  g_free (self);
}

/* ---- credentials ---- */

static gint64
get_seconds (void)
{
  return g_get_real_time () / G_USEC_PER_SEC;
}

static gboolean
are_due_locked (S3Service *self, const S3Setup *setup)
{
  gint64 now = get_seconds ();

  if (self->profile == NULL || strcmp (self->profile, setup->profile) != 0)
    return TRUE;
  return self->credentials.expires != 0 && now >= self->credentials.expires - EARLY &&
         (now >= self->read_at + PAUSE || now < self->read_at);
}

static gboolean
read_locked (S3Service *self, const S3Setup *setup, GCancellable *cancellable, GError **error)
{
  const S3Chain chain = { setup, cancellable, 0 };
  g_auto (S3Credentials) found = { NULL };

  if (!s3_chain_find (&chain, &found, error))
    return FALSE;
  s3_credentials_copy (&self->credentials, &found);
  g_free (self->profile);
  self->profile = g_strdup (setup->profile);
  self->read_at = get_seconds ();
  return TRUE;
}

/* Whoever gives them may be out of reach for a moment: those that still hold do until the next try.
 */
static gboolean
refresh_locked (S3Service *self, const S3Setup *setup, GCancellable *cancellable, GError **error)
{
  g_autoptr (GError) cause = NULL;

  if (read_locked (self, setup, cancellable, &cause))
    return TRUE;
  if (self->profile != NULL && strcmp (self->profile, setup->profile) == 0 &&
      get_seconds () < self->credentials.expires && !g_cancellable_is_cancelled (cancellable))
    {
      g_debug ("credentials for S3 cannot be read anew yet: %s", cause->message);
      self->read_at = get_seconds ();
      return TRUE;
    }
  g_propagate_error (error, g_steal_pointer (&cause));
  return FALSE;
}

gboolean
s3_service_get_credentials (S3Service *self,
                            const S3Setup *setup,
                            S3Credentials *credentials,
                            GCancellable *cancellable,
                            GError **error)
{
  gboolean ok;

  pthread_mutex_lock (&self->keys_lock);
  ok = !are_due_locked (self, setup) || refresh_locked (self, setup, cancellable, error);
  if (ok)
    s3_credentials_copy (credentials, &self->credentials);
  pthread_mutex_unlock (&self->keys_lock);
  return ok;
}

gboolean
s3_service_renew_credentials (S3Service *self,
                              const S3Setup *setup,
                              const S3Credentials *used,
                              GCancellable *cancellable)
{
  gboolean ok = TRUE;

  pthread_mutex_lock (&self->keys_lock);
  /* Somebody else may have read them meanwhile. */
  if (self->profile != NULL && s3_credentials_equal (&self->credentials, used))
    ok = read_locked (self, setup, cancellable, NULL) &&
         !s3_credentials_equal (&self->credentials, used);
  pthread_mutex_unlock (&self->keys_lock);
  return ok;
}

/* ---- what servers say ---- */

char *
s3_service_get_region (S3Service *self, const char *bucket)
{
  char *region;

  pthread_mutex_lock (&self->lock);
  region = g_strdup (g_hash_table_lookup (self->regions, bucket));
  pthread_mutex_unlock (&self->lock);
  return region;
}

void
s3_service_set_region (S3Service *self, const char *bucket, const char *region)
{
  pthread_mutex_lock (&self->lock);
  g_hash_table_insert (self->regions, g_strdup (bucket), g_strdup (region));
  pthread_mutex_unlock (&self->lock);
}

gint64
s3_service_get_time (S3Service *self)
{
  gint64 error;

  pthread_mutex_lock (&self->lock);
  error = self->clock_error;
  pthread_mutex_unlock (&self->lock);
  return get_seconds () + error;
}

void
s3_service_set_time (S3Service *self, gint64 time)
{
  pthread_mutex_lock (&self->lock);
  self->clock_error = time - get_seconds ();
  pthread_mutex_unlock (&self->lock);
}
