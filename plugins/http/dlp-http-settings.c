/* SPDX-License-Identifier: MIT */

#include "dlp-http-settings.h"

#include <dlpipe/dlp-element.h>

void
http_settings_init (HttpSettings *self)
{
  self->timeout = 30;
  self->budget = 10 * 60 * G_USEC_PER_SEC;
  self->first_wait = G_USEC_PER_SEC;
}

void
http_settings_install_properties (GObjectClass *klass)
{
  g_object_class_install_property (
      klass, HTTP_PROP_TIMEOUT,
      g_param_spec_uint ("timeout", NULL, "Seconds that a server may say nothing", 1, 3600, 30,
                         DLP_PARAM_READWRITE | DLP_PARAM_FREE));
  g_object_class_install_property (
      klass, HTTP_PROP_RETRY_TIME,
      g_param_spec_int64 ("retry-time", NULL,
                          "Milliseconds without progress until a file is given up", 0,
                          G_MAXINT64 / 1000, 10 * 60 * 1000, DLP_PARAM_READWRITE | DLP_PARAM_FREE));
  g_object_class_install_property (
      klass, HTTP_PROP_FIRST_WAIT,
      g_param_spec_int64 ("first-wait", NULL,
                          "Milliseconds behind a first fault; doubled by each further one", 1,
                          60 * 1000, 1000, DLP_PARAM_READWRITE | DLP_PARAM_FREE));
}

gboolean
http_settings_get_property (const HttpSettings *self, guint id, GValue *value)
{
  switch (id)
    {
    case HTTP_PROP_TIMEOUT:
      g_value_set_uint (value, self->timeout);
      return TRUE;
    case HTTP_PROP_RETRY_TIME:
      g_value_set_int64 (value, self->budget / 1000);
      return TRUE;
    case HTTP_PROP_FIRST_WAIT:
      g_value_set_int64 (value, self->first_wait / 1000);
      return TRUE;
    default:
      return FALSE;
    }
}

gboolean
http_settings_set_property (HttpSettings *self, guint id, const GValue *value)
{
  switch (id)
    {
    case HTTP_PROP_TIMEOUT:
      self->timeout = g_value_get_uint (value);
      return TRUE;
    case HTTP_PROP_RETRY_TIME:
      self->budget = g_value_get_int64 (value) * 1000;
      return TRUE;
    case HTTP_PROP_FIRST_WAIT:
      self->first_wait = g_value_get_int64 (value) * 1000;
      return TRUE;
    default:
      return FALSE;
    }
}
