/* SPDX-License-Identifier: MIT */

#include "dlp-s3-scheme.h"

#include <string.h>

#include <dlpipe/dlp-element.h>
#include <dlpipe/dlp-error.h>

#include "dlp-http-settings.h"
#include "dlp-http-stream.h"
#include "s3-list.h"

struct _DlpS3Scheme
{
  DlpScheme parent_instance;

  HttpSettings settings;
  S3Options options;
  S3Service *service;
};

enum
{
  PROP_REGION = HTTP_N_PROPS,
  PROP_ENDPOINT,
  PROP_PATH_STYLE,
  PROP_ANONYMOUS,
  PROP_REQUESTER_PAYS,
  PROP_PROFILE,
};

static GType dlp_s3_path_style_get_type (void);

G_DEFINE_ENUM_TYPE (S3PathStyle,
                    dlp_s3_path_style,
                    G_DEFINE_ENUM_VALUE (S3_PATH_STYLE_AUTO, "auto"),
                    G_DEFINE_ENUM_VALUE (S3_PATH_STYLE_TRUE, "true"),
                    G_DEFINE_ENUM_VALUE (S3_PATH_STYLE_FALSE, "false"))

G_DEFINE_FINAL_TYPE (DlpS3Scheme, dlp_s3_scheme, DLP_TYPE_SCHEME)

/* (nullable). @key: (out) (transfer full). */
static S3Access *
make_access (DlpS3Scheme *self, const char *uri, char **key, GError **error)
{
  g_autofree char *bucket = NULL;

  if (!s3_place_parse (uri, &bucket, key, error))
    return NULL;
  return s3_access_new (G_OBJECT (self), self->service, &self->options, bucket, *key, error);
}

/* For the requests to the bucket itself. */
static S3Access *
make_bucket_access (DlpS3Scheme *self, const char *uri, char **key, GError **error)
{
  g_autofree char *bucket = NULL;

  if (!s3_place_parse (uri, &bucket, key, error))
    return NULL;
  return s3_access_new (G_OBJECT (self), self->service, &self->options, bucket, NULL, error);
}

/* @is_missing: (nullable): there is no such object. */
static DlpFile *
identify (DlpS3Scheme *self,
          const char *uri,
          gboolean *is_missing,
          GCancellable *cancellable,
          GError **error)
{
  g_autofree char *key = NULL;
  g_autoptr (S3Access) access = make_access (self, uri, &key, error);
  g_autofree char *shown = dlp_uri_escape_for_display (uri);
  g_autofree char *place = NULL;
  HttpObject object = { 0 };
  DlpFile *file;

  if (access == NULL)
    return NULL;
  if (*key == '\0')
    {
      g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
                   "%s: expected s3://BUCKET/KEY; this names no object", shown);
      return NULL;
    }
  place = s3_access_make_uri (access);
  object.uri = place;
  object.access = &access->parent;
  file = http_object_identify (&object, uri, &self->settings, cancellable, error);
  if (file == NULL && is_missing != NULL)
    *is_missing = g_strcmp0 (access->code, "NoSuchKey") == 0;
  return file;
}

static DlpFile *
dlp_s3_scheme_identify (DlpScheme *scheme,
                        const char *uri,
                        GCancellable *cancellable,
                        GError **error)
{
  return identify (DLP_S3_SCHEME (scheme), uri, NULL, cancellable, error);
}

static GPtrArray *
list_folder (DlpS3Scheme *self,
             const char *pattern,
             S3Access *access,
             const char *key,
             GCancellable *cancellable,
             GError **error)
{
  gboolean is_open = *key == '\0' || g_str_has_suffix (key, "/");
  g_autofree char *prefix = g_strconcat (key, is_open ? "" : "/", NULL);
  g_autoptr (GPtrArray) files =
      s3_list_folder (access, prefix, &self->settings, cancellable, error);
  g_autofree char *shown = dlp_uri_escape_for_display (pattern);

  if (files == NULL || files->len > 0)
    return g_steal_pointer (&files);
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
               is_open ? "%s: there is no object directly in it" :
                         "%s: there is no object of that name (NoSuchKey), nor one below it",
               shown);
  return NULL;
}

/* A name that exists is that object, one that does not the objects directly below it. */
static GPtrArray *
dlp_s3_scheme_list (DlpScheme *scheme,
                    const char *pattern,
                    GCancellable *cancellable,
                    GError **error)
{
  DlpS3Scheme *self = DLP_S3_SCHEME (scheme);
  g_autofree char *key = NULL;
  g_autoptr (S3Access) access = make_bucket_access (self, pattern, &key, error);
  g_autoptr (GPtrArray) files = NULL;
  g_autoptr (GError) cause = NULL;
  gboolean is_missing = FALSE;
  DlpFile *file;

  if (access == NULL)
    return NULL;
  if (s3_list_is_pattern (key))
    return s3_list_glob (access, key, &self->settings, cancellable, error);
  if (*key == '\0' || g_str_has_suffix (key, "/"))
    return list_folder (self, pattern, access, key, cancellable, error);

  file = identify (self, pattern, &is_missing, cancellable, &cause);
  if (file == NULL && is_missing)
    return list_folder (self, pattern, access, key, cancellable, error);
  if (file == NULL)
    {
      g_propagate_error (error, g_steal_pointer (&cause));
      return NULL;
    }
  files = g_ptr_array_new_with_free_func (g_object_unref);
  g_ptr_array_add (files, file);
  return g_steal_pointer (&files);
}

static GInputStream *
dlp_s3_scheme_open (DlpScheme *scheme,
                    DlpFile *file,
                    gint64 offset,
                    GCancellable *cancellable,
                    GError **error)
{
  DlpS3Scheme *self = DLP_S3_SCHEME (scheme);
  g_autofree char *key = NULL;
  S3Access *access = make_access (self, dlp_file_get_uri (file), &key, error);
  g_autofree char *place = NULL;
  HttpObject object = { .identity = dlp_file_get_identity (file) };

  if (access == NULL)
    return NULL;
  place = s3_access_make_uri (access);
  object.uri = place;
  object.access = &access->parent;
  return http_object_open (&object, file, &self->settings, offset, cancellable, error);
}

/* ---- object ---- */

static void
dlp_s3_scheme_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  DlpS3Scheme *self = DLP_S3_SCHEME (object);

  switch (id)
    {
    case PROP_REGION:
      g_value_set_string (value, self->options.region);
      break;
    case PROP_ENDPOINT:
      g_value_set_string (value, self->options.endpoint);
      break;
    case PROP_PATH_STYLE:
      g_value_set_enum (value, self->options.path_style);
      break;
    case PROP_ANONYMOUS:
      g_value_set_boolean (value, self->options.anonymous);
      break;
    case PROP_REQUESTER_PAYS:
      g_value_set_boolean (value, self->options.requester_pays);
      break;
    case PROP_PROFILE:
      g_value_set_string (value, self->options.profile);
      break;
    default:
      if (!http_settings_get_property (&self->settings, id, value))
        G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
set_text (char **place, const GValue *value)
{
  g_free (*place);
  *place = g_value_dup_string (value);
}

static void
dlp_s3_scheme_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  DlpS3Scheme *self = DLP_S3_SCHEME (object);

  switch (id)
    {
    case PROP_REGION:
      set_text (&self->options.region, value);
      break;
    case PROP_ENDPOINT:
      set_text (&self->options.endpoint, value);
      break;
    case PROP_PATH_STYLE:
      self->options.path_style = g_value_get_enum (value);
      break;
    case PROP_ANONYMOUS:
      self->options.anonymous = g_value_get_boolean (value);
      break;
    case PROP_REQUESTER_PAYS:
      self->options.requester_pays = g_value_get_boolean (value);
      break;
    case PROP_PROFILE:
      set_text (&self->options.profile, value);
      break;
    default:
      if (!http_settings_set_property (&self->settings, id, value))
        G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_s3_scheme_finalize (GObject *object)
{
  DlpS3Scheme *self = DLP_S3_SCHEME (object);

  http_settings_clear (&self->settings);
  s3_service_free (self->service);
  g_free (self->options.region);
  g_free (self->options.endpoint);
  g_free (self->options.profile);

  G_OBJECT_CLASS (dlp_s3_scheme_parent_class)->finalize (object);
}

/* Where an object is, and who reads it, does not change its bytes. */
static void
install_properties (GObjectClass *klass)
{
  GParamFlags flags = DLP_PARAM_READWRITE | DLP_PARAM_FREE;

  http_settings_install_properties (klass);
  g_object_class_install_property (
      klass, PROP_REGION,
      g_param_spec_string ("region", NULL,
                           "The buckets' region; default: AWS_REGION, AWS_DEFAULT_REGION, that of "
                           "the profile, us-east-1; another one is found by the server's answer",
                           NULL, flags));
  g_object_class_install_property (
      klass, PROP_ENDPOINT,
      g_param_spec_string ("endpoint", NULL,
                           "The server, http(s)://HOST[:PORT]; default: AWS_ENDPOINT_URL_S3, "
                           "AWS_ENDPOINT_URL, endpoint_url of the profile, that of AWS",
                           NULL, flags));
  g_object_class_install_property (
      klass, PROP_PATH_STYLE,
      g_param_spec_enum ("path-style", NULL,
                         "Whether a bucket's name stands in the path instead of the host's name; "
                         "auto: with an endpoint, and where it cannot be part of a host's name",
                         dlp_s3_path_style_get_type (), S3_PATH_STYLE_AUTO, flags));
  g_object_class_install_property (
      klass, PROP_ANONYMOUS,
      g_param_spec_boolean ("anonymous", NULL, "Ask without credentials, for what is public", FALSE,
                            flags));
  g_object_class_install_property (
      klass, PROP_REQUESTER_PAYS,
      g_param_spec_boolean ("requester-pays", NULL,
                            "Agree to pay for what is read from buckets whose readers pay", FALSE,
                            flags));
  g_object_class_install_property (
      klass, PROP_PROFILE,
      g_param_spec_string ("profile", NULL,
                           "The profile of ~/.aws/config and ~/.aws/credentials; default: "
                           "AWS_PROFILE, else the one called default",
                           NULL, flags));
}

static void
dlp_s3_scheme_class_init (DlpS3SchemeClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  DlpSchemeClass *scheme_class = DLP_SCHEME_CLASS (klass);

  object_class->get_property = dlp_s3_scheme_get_property;
  object_class->set_property = dlp_s3_scheme_set_property;
  object_class->finalize = dlp_s3_scheme_finalize;
  scheme_class->list = dlp_s3_scheme_list;
  scheme_class->identify = dlp_s3_scheme_identify;
  scheme_class->open = dlp_s3_scheme_open;
  install_properties (object_class);
}

static void
dlp_s3_scheme_init (DlpS3Scheme *self)
{
  http_settings_init (&self->settings);
  self->service = s3_service_new ();
}
