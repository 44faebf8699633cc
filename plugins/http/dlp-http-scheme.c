/* SPDX-License-Identifier: MIT */

#include "dlp-http-scheme.h"

#include <dlpipe/dlp-element.h>

#include "dlp-http-stream.h"

struct _DlpHttpScheme
{
  DlpScheme parent_instance;

  HttpSettings settings;
};

enum
{
  PROP_0,
  PROP_TIMEOUT,
  PROP_RETRY_TIME,
  PROP_FIRST_WAIT,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

G_DEFINE_FINAL_TYPE (DlpHttpScheme, dlp_http_scheme, DLP_TYPE_SCHEME)

static DlpFile *
dlp_http_scheme_identify (DlpScheme *scheme,
                          const char *uri,
                          GCancellable *cancellable,
                          GError **error)
{
  return dlp_http_identify (uri, &DLP_HTTP_SCHEME (scheme)->settings, cancellable, error);
}

/* HTTP has no folders and no patterns: a URI is one file. */
static GPtrArray *
dlp_http_scheme_list (DlpScheme *scheme,
                      const char *pattern,
                      GCancellable *cancellable,
                      GError **error)
{
  DlpFile *file = dlp_http_scheme_identify (scheme, pattern, cancellable, error);
  GPtrArray *files;

  if (file == NULL)
    return NULL;
  files = g_ptr_array_new_with_free_func (g_object_unref);
  g_ptr_array_add (files, file);
  return files;
}

static GInputStream *
dlp_http_scheme_open (DlpScheme *scheme,
                      DlpFile *file,
                      gint64 offset,
                      GCancellable *cancellable,
                      GError **error)
{
  return dlp_http_stream_open (file, &DLP_HTTP_SCHEME (scheme)->settings, offset, cancellable,
                               error);
}

static void
dlp_http_scheme_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  HttpSettings *settings = &DLP_HTTP_SCHEME (object)->settings;

  switch (id)
    {
    case PROP_TIMEOUT:
      g_value_set_uint (value, settings->timeout);
      break;
    case PROP_RETRY_TIME:
      g_value_set_int64 (value, settings->budget / 1000);
      break;
    case PROP_FIRST_WAIT:
      g_value_set_int64 (value, settings->first_wait / 1000);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_http_scheme_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  HttpSettings *settings = &DLP_HTTP_SCHEME (object)->settings;

  switch (id)
    {
    case PROP_TIMEOUT:
      settings->timeout = g_value_get_uint (value);
      break;
    case PROP_RETRY_TIME:
      settings->budget = g_value_get_int64 (value) * 1000;
      break;
    case PROP_FIRST_WAIT:
      settings->first_wait = g_value_get_int64 (value) * 1000;
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_http_scheme_class_init (DlpHttpSchemeClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  DlpSchemeClass *scheme_class = DLP_SCHEME_CLASS (klass);

  object_class->get_property = dlp_http_scheme_get_property;
  object_class->set_property = dlp_http_scheme_set_property;
  scheme_class->list = dlp_http_scheme_list;
  scheme_class->identify = dlp_http_scheme_identify;
  scheme_class->open = dlp_http_scheme_open;
  properties[PROP_TIMEOUT] =
      g_param_spec_uint ("timeout", NULL, "Seconds that a server may say nothing", 1, 3600, 30,
                         DLP_PARAM_READWRITE | DLP_PARAM_FREE);
  properties[PROP_RETRY_TIME] = g_param_spec_int64 (
      "retry-time", NULL, "Milliseconds without progress until a file is given up", 0,
      G_MAXINT64 / 1000, 10 * 60 * 1000, DLP_PARAM_READWRITE | DLP_PARAM_FREE);
  properties[PROP_FIRST_WAIT] = g_param_spec_int64 (
      "first-wait", NULL, "Milliseconds behind a first fault; doubled by each further one", 1,
      60 * 1000, 1000, DLP_PARAM_READWRITE | DLP_PARAM_FREE);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
dlp_http_scheme_init (DlpHttpScheme *self)
{
  self->settings.timeout = 30;
  self->settings.budget = 10 * 60 * G_USEC_PER_SEC;
  self->settings.first_wait = G_USEC_PER_SEC;
}
