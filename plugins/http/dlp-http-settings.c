/* SPDX-License-Identifier: MIT */

#include "dlp-http-settings.h"

#include <dlpipe/dlp-element.h>

#define FREE (DLP_PARAM_READWRITE | DLP_PARAM_FREE)

#define DEFAULT_TIMEOUT (30 * G_USEC_PER_SEC)
#define DEFAULT_RETRY_TIME (10 * 60 * G_USEC_PER_SEC)
#define DEFAULT_FIRST_WAIT G_USEC_PER_SEC
#define DEFAULT_CACHE_BYTES (G_GINT64_CONSTANT (50) * 1024 * 1024 * 1024)

void
http_settings_init (HttpSettings *self)
{
  *self = (HttpSettings){
    .first_wait = DEFAULT_FIRST_WAIT,
    .budget = DEFAULT_RETRY_TIME,
    .timeout = DEFAULT_TIMEOUT / G_USEC_PER_SEC,
    .cache_bytes = DEFAULT_CACHE_BYTES,
  };
}

void
http_settings_clear (HttpSettings *self)
{
  g_clear_pointer (&self->ca_file, g_free);
  g_clear_pointer (&self->cache_folder, g_free);
  g_clear_pointer (&self->cache, http_cache_unref);
}

void
http_settings_copy (HttpSettings *self, const HttpSettings *from)
{
  *self = *from;
  self->ca_file = g_strdup (from->ca_file);
  self->cache_folder = g_strdup (from->cache_folder);
  self->cache = from->cache != NULL ? http_cache_ref (from->cache) : NULL;
}

/* ---- properties ---- */

static void
install_cache (GObjectClass *klass)
{
  g_object_class_install_property (
      klass, HTTP_PROP_CACHE,
      g_param_spec_string (
          "cache", NULL, "A folder that keeps whole files, for later runs and other processes too",
          NULL, FREE));
  g_object_class_install_property (
      klass, HTTP_PROP_CACHE_BYTES,
      g_param_spec_int64 ("cache-bytes", NULL,
                          "What that folder may take; what was not used for longest goes first", 1,
                          G_MAXINT64, DEFAULT_CACHE_BYTES, FREE | DLP_PARAM_BYTES));
}

void
http_settings_install_properties (GObjectClass *klass)
{
  g_object_class_install_property (
      klass, HTTP_PROP_TIMEOUT,
      g_param_spec_int64 ("timeout", NULL, "How long a server may say nothing; whole seconds",
                          G_USEC_PER_SEC, G_GINT64_CONSTANT (3600) * G_USEC_PER_SEC,
                          DEFAULT_TIMEOUT, FREE | DLP_PARAM_DURATION));
  g_object_class_install_property (
      klass, HTTP_PROP_RETRIES,
      g_param_spec_int ("retries", NULL,
                        "Further attempts without a byte of progress until a file is given up; "
                        "-1: as many as fit into retry-time",
                        -1, 1000000, -1, FREE));
  g_object_class_install_property (
      klass, HTTP_PROP_RETRY_TIME,
      g_param_spec_int64 ("retry-time", NULL, "Without progress until a file is given up", 0,
                          G_MAXINT64, DEFAULT_RETRY_TIME, FREE | DLP_PARAM_DURATION));
  g_object_class_install_property (
      klass, HTTP_PROP_FIRST_WAIT,
      g_param_spec_int64 ("first-wait", NULL,
                          "Behind a first fault; doubled by each further one, up to 60 s", 1000,
                          60 * G_USEC_PER_SEC, DEFAULT_FIRST_WAIT, FREE | DLP_PARAM_DURATION));
  g_object_class_install_property (
      klass, HTTP_PROP_CA_FILE,
      g_param_spec_string ("ca-file", NULL,
                           "Certificates (PEM) of the authorities to trust, in place of the "
                           "system's; unset: $SSL_CERT_FILE, if that is set",
                           NULL, FREE));
  install_cache (klass);
}

gboolean
http_settings_get_property (const HttpSettings *self, guint id, GValue *value)
{
  switch (id)
    {
    case HTTP_PROP_TIMEOUT:
      g_value_set_int64 (value, (gint64) self->timeout * G_USEC_PER_SEC);
      return TRUE;
    case HTTP_PROP_RETRIES:
      g_value_set_int (value, (int) self->attempts - 1);
      return TRUE;
    case HTTP_PROP_RETRY_TIME:
      g_value_set_int64 (value, self->budget);
      return TRUE;
    case HTTP_PROP_FIRST_WAIT:
      g_value_set_int64 (value, self->first_wait);
      return TRUE;
    case HTTP_PROP_CA_FILE:
      g_value_set_string (value, self->ca_file);
      return TRUE;
    case HTTP_PROP_CACHE:
      g_value_set_string (value, self->cache_folder);
      return TRUE;
    case HTTP_PROP_CACHE_BYTES:
      g_value_set_int64 (value, self->cache_bytes);
      return TRUE;
    default:
      return FALSE;
    }
}

static void
set_cache (HttpSettings *self)
{
  g_clear_pointer (&self->cache, http_cache_unref);
  if (self->cache_folder != NULL && *self->cache_folder != '\0')
    self->cache = http_cache_new (self->cache_folder, self->cache_bytes);
}

gboolean
http_settings_set_property (HttpSettings *self, guint id, const GValue *value)
{
  switch (id)
    {
    case HTTP_PROP_TIMEOUT:
      self->timeout = (guint) (g_value_get_int64 (value) / G_USEC_PER_SEC);
      return TRUE;
    case HTTP_PROP_RETRIES:
      self->attempts = (guint) (g_value_get_int (value) + 1);
      return TRUE;
    case HTTP_PROP_RETRY_TIME:
      self->budget = g_value_get_int64 (value);
      return TRUE;
    case HTTP_PROP_FIRST_WAIT:
      self->first_wait = g_value_get_int64 (value);
      return TRUE;
    case HTTP_PROP_CA_FILE:
      g_free (self->ca_file);
      self->ca_file = g_value_dup_string (value);
      return TRUE;
    case HTTP_PROP_CACHE:
      g_free (self->cache_folder);
      self->cache_folder = g_value_dup_string (value);
      set_cache (self);
      return TRUE;
    case HTTP_PROP_CACHE_BYTES:
      self->cache_bytes = g_value_get_int64 (value);
      set_cache (self);
      return TRUE;
    default:
      return FALSE;
    }
}
