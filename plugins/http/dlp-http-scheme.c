/* SPDX-License-Identifier: MIT */

#include "dlp-http-scheme.h"

#include "dlp-http-settings.h"
#include "dlp-http-stream.h"

struct _DlpHttpScheme
{
  DlpScheme parent_instance;

  HttpSettings settings;
};

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
  if (!http_settings_get_property (&DLP_HTTP_SCHEME (object)->settings, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
dlp_http_scheme_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  if (!http_settings_set_property (&DLP_HTTP_SCHEME (object)->settings, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
dlp_http_scheme_finalize (GObject *object)
{
  http_settings_clear (&DLP_HTTP_SCHEME (object)->settings);

  G_OBJECT_CLASS (dlp_http_scheme_parent_class)->finalize (object);
}

static void
dlp_http_scheme_class_init (DlpHttpSchemeClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  DlpSchemeClass *scheme_class = DLP_SCHEME_CLASS (klass);

  object_class->get_property = dlp_http_scheme_get_property;
  object_class->set_property = dlp_http_scheme_set_property;
  object_class->finalize = dlp_http_scheme_finalize;
  scheme_class->list = dlp_http_scheme_list;
  scheme_class->identify = dlp_http_scheme_identify;
  scheme_class->open = dlp_http_scheme_open;
  http_settings_install_properties (object_class);
}

static void
dlp_http_scheme_init (DlpHttpScheme *self)
{
  http_settings_init (&self->settings);
}
