/* SPDX-License-Identifier: MIT */

#include "s3-access.h"

#include <string.h>

#include <dlpipe/dlp-error.h>

#include "s3-sign.h"
#include "s3-xml.h"

#define MAX_ERROR_SIZE (64 * 1024)

/* What judge() puts right. */
enum
{
  OTHER_REGION = 1 << 0,
  OTHER_CREDENTIALS = 1 << 1,
  OTHER_TIME = 1 << 2,
};

/* (transfer full) */
static char *
get_region (S3Access *self)
{
  char *said = s3_service_get_region (self->service, self->bucket);

  return said != NULL ? said : g_strdup (self->setup.region);
}

char *
s3_access_make_uri (S3Access *self)
{
  g_autofree char *region = get_region (self);

  return s3_place_make_uri (self->setup.endpoint, self->setup.path_style, region, self->bucket,
                            self->key, self->query);
}

static gboolean
prepare (HttpAccess *access,
         SoupMessage *message,
         gboolean is_foreign,
         GCancellable *cancellable,
         GError **error)
{
  S3Access *self = (S3Access *) access;
  g_autofree char *text = s3_access_make_uri (self);
  g_autoptr (GUri) uri = http_parse_uri (text, error);

  if (uri == NULL)
    return FALSE;
  soup_message_set_uri (message, uri);
  g_free (self->region);
  self->region = get_region (self);
  if (self->setup.anonymous)
    return TRUE;
  if (!s3_service_get_credentials (self->service, &self->setup, &self->used, cancellable, error))
    return FALSE;
  s3_sign_message (message, &self->used, self->region, "s3", S3_EMPTY_HASH,
                   self->setup.requester_pays, s3_service_get_time (self->service));
  return TRUE;
}

/* ---- answers ---- */

static gboolean
is_one_of (const char *code, const char *const *codes)
{
  return code != NULL && g_strv_contains (codes, code);
}

/* Where a bucket is the answer says by a header, or by <Region>. */
static gboolean
take_region (S3Access *self, HttpResponse *response, const char *text, gsize size)
{
  static const char *const codes[] = { "PermanentRedirect",
                                       "TemporaryRedirect",
                                       "Redirect",
                                       "AuthorizationHeaderMalformed",
                                       "IllegalLocationConstraintException",
                                       NULL };
  g_autofree char *region = NULL;

  if (!is_one_of (self->code, codes) && response->status / 100 != 3)
    return FALSE;
  region = g_strdup (soup_message_headers_get_one (response->headers, "x-amz-bucket-region"));
  if (region == NULL)
    region = s3_xml_find (text, size, "Region");
  if (region == NULL || strcmp (region, self->region) == 0 || *region == '\0' ||
      strspn (region, G_CSET_a_2_z G_CSET_DIGITS "-") != strlen (region))
    return FALSE;
  s3_service_set_region (self->service, self->bucket, region);
  return TRUE;
}

/* What another login may mend. */
static gboolean
take_credentials (S3Access *self, GCancellable *cancellable)
{
  static const char *const codes[] = { "ExpiredToken",
                                       "ExpiredTokenException",
                                       "TokenRefreshRequired",
                                       "RequestExpired",
                                       "InvalidAccessKeyId",
                                       "InvalidToken",
                                       "InvalidClientTokenId",
                                       "SignatureDoesNotMatch",
                                       "UnrecognizedClientException",
                                       NULL };

  return !self->setup.anonymous && is_one_of (self->code, codes) &&
         s3_service_renew_credentials (self->service, &self->setup, &self->used, cancellable);
}

/* The server's clock counts. */
static gboolean
take_time (S3Access *self, HttpResponse *response)
{
  const char *text = soup_message_headers_get_one (response->headers, "Date");
  g_autoptr (GDateTime) date = NULL;

  if (g_strcmp0 (self->code, "RequestTimeTooSkewed") != 0 || text == NULL ||
      !g_utf8_validate (text, -1, NULL))
    return FALSE;
  date = soup_date_time_new_from_http_string (text);
  if (date == NULL)
    return FALSE;
  s3_service_set_time (self->service, g_date_time_to_unix (date));
  return TRUE;
}

static const char *
get_hint (const S3Access *self, guint status)
{
  if (g_strcmp0 (self->code, "AccessDenied") == 0 && self->setup.anonymous)
    return " (it was asked for without credentials: anonymous=true)";
  if (g_strcmp0 (self->code, "AccessDenied") == 0 && !self->setup.requester_pays)
    return " (a bucket whose readers pay needs requester-pays=true; without the right to list it, "
           "a "
           "missing object is said to be denied)";
  if (g_strcmp0 (self->code, "InvalidObjectState") == 0)
    return " (it is archived, and has to be restored first)";
  if (status / 100 == 3)
    return " (the bucket is in another region, which the server does not say: region=)";
  return "";
}

static guint
judge (HttpAccess *access, HttpResponse *response, guint done, GCancellable *cancellable)
{
  static const char *const transient[] = { "SlowDown",
                                           "RequestTimeout",
                                           "InternalError",
                                           "ServiceUnavailable",
                                           "OperationAborted",
                                           "ThrottlingException",
                                           NULL };
  S3Access *self = (S3Access *) access;
  g_autoptr (GBytes) body = http_response_read (response, MAX_ERROR_SIZE, cancellable, NULL);
  const char *text = body != NULL ? g_bytes_get_data (body, NULL) : "";
  gsize size = body != NULL ? g_bytes_get_size (body) : 0;
  g_autofree char *said = NULL;

  g_clear_pointer (&self->code, g_free);
  said = s3_describe_error (text, size, &self->code);
  response->detail =
      g_strdup_printf ("bucket %s: %s%s", self->bucket, said != NULL ? said : "no reason given",
                       get_hint (self, response->status));
  if (is_one_of (self->code, transient))
    response->is_transient = TRUE;
  if (!(done & OTHER_REGION) && take_region (self, response, text, size))
    return OTHER_REGION;
  if (!(done & OTHER_CREDENTIALS) && take_credentials (self, cancellable))
    return OTHER_CREDENTIALS;
  return !(done & OTHER_TIME) && take_time (self, response) ? OTHER_TIME : 0;
}

/* ---- making ---- */

static void
free_access (HttpAccess *access)
{
  s3_access_free ((S3Access *) access);
}

S3Access *
s3_access_new (GObject *owner,
               S3Service *service,
               const S3Options *options,
               const char *bucket,
               const char *key,
               GError **error)
{
  g_autoptr (S3Access) self = g_new0 (S3Access, 1);

  self->parent.prepare = prepare;
  self->parent.judge = judge;
  self->parent.free = free_access;
  self->parent.judges_redirects = TRUE;
  self->owner = g_object_ref (owner);
  self->service = service;
  self->bucket = g_strdup (bucket);
  self->key = g_strdup (key);
  self->query = g_strdup ("");
  if (!s3_setup_load (&self->setup, options, error))
    return NULL;
  return g_steal_pointer (&self);
}

void
s3_access_free (S3Access *self)
{
  s3_setup_clear (&self->setup);
  s3_credentials_clear (&self->used);
  g_free (self->bucket);
  g_free (self->key);
  g_free (self->query);
  g_free (self->region);
  g_free (self->code);
  g_object_unref (self->owner);
  g_free (self);
}

void
s3_access_set_query (S3Access *self, const char *const *pairs)
{
  g_free (self->query);
  self->query = s3_make_query (pairs);
}
