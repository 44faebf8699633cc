/* SPDX-License-Identifier: MIT */

#include "s3-ask.h"

#include <string.h>

#include "s3-sign.h"
#include "s3-xml.h"

#define MAX_ERROR_SIZE (64 * 1024)

void
s3_credentials_clear (S3Credentials *self)
{
  g_clear_pointer (&self->access_key, g_free);
  g_clear_pointer (&self->secret_key, g_free);
  g_clear_pointer (&self->token, g_free);
  self->expires = 0;
}

void
s3_credentials_copy (S3Credentials *self, const S3Credentials *from)
{
  s3_credentials_clear (self);
  self->access_key = g_strdup (from->access_key);
  self->secret_key = g_strdup (from->secret_key);
  self->token = g_strdup (from->token);
  self->expires = from->expires;
}

gboolean
s3_credentials_equal (const S3Credentials *a, const S3Credentials *b)
{
  return g_strcmp0 (a->access_key, b->access_key) == 0 &&
         g_strcmp0 (a->secret_key, b->secret_key) == 0 && g_strcmp0 (a->token, b->token) == 0;
}

/* ---- signing ---- */

/* (transfer full): as libsoup writes the header Host. */
static char *
make_host (GUri *uri)
{
  const char *host = g_uri_get_host (uri);
  int port = g_uri_get_port (uri);
  int usual = strcmp (g_uri_get_scheme (uri), "https") == 0 ? 443 : 80;
  g_autofree char *name =
      strchr (host, ':') != NULL ? g_strdup_printf ("[%s]", host) : g_strdup (host);

  return port > 0 && port != usual ? g_strdup_printf ("%s:%d", name, port) :
                                     g_steal_pointer (&name);
}

void
s3_sign_message (SoupMessage *message,
                 const S3Credentials *credentials,
                 const char *region,
                 const char *service,
                 const char *payload_hash,
                 gboolean requester_pays,
                 gint64 time)
{
  GUri *uri = soup_message_get_uri (message);
  SoupMessageHeaders *headers = soup_message_get_request_headers (message);
  const char *path = g_uri_get_path (uri);
  const char *query = g_uri_get_query (uri);
  g_autofree char *host = make_host (uri);
  g_autofree char *date = s3_format_time (time);
  const char *signed_headers[11] = { "host",       host,         "x-amz-content-sha256",
                                     payload_hash, "x-amz-date", date };
  S3Request request = { soup_message_get_method (message),
                        *path != '\0' ? path : "/",
                        query != NULL ? query : "",
                        signed_headers,
                        payload_hash,
                        region,
                        service,
                        time };
  g_autofree char *authorization = NULL;
  guint n = 6;

  if (requester_pays)
    {
      signed_headers[n++] = "x-amz-request-payer";
      signed_headers[n++] = "requester";
    }
  if (credentials->token != NULL)
    {
      signed_headers[n++] = "x-amz-security-token";
      signed_headers[n++] = credentials->token;
    }
  /* libsoup writes Host itself. */
  for (guint i = 2; i < n; i += 2)
    soup_message_headers_replace (headers, signed_headers[i], signed_headers[i + 1]);
  authorization = s3_sign (&request, credentials->access_key, credentials->secret_key);
  soup_message_headers_replace (headers, "Authorization", authorization);
}

/* ---- asking ---- */

typedef struct
{
  HttpAccess parent;
  const S3Ask *ask;
} AskAccess;

static gboolean
prepare (HttpAccess *access,
         SoupMessage *message,
         gboolean is_foreign,
         GCancellable *cancellable,
         GError **error)
{
  const S3Ask *ask = ((AskAccess *) access)->ask;
  SoupMessageHeaders *headers = soup_message_get_request_headers (message);

  if (ask->method != NULL)
    soup_message_set_method (message, ask->method);
  for (guint i = 0; ask->headers != NULL && ask->headers[i] != NULL; i += 2)
    soup_message_headers_replace (headers, ask->headers[i], ask->headers[i + 1]);
  if (ask->form != NULL)
    {
      g_autoptr (GBytes) body = g_bytes_new (ask->form, strlen (ask->form));

      soup_message_set_request_body_from_bytes (message, "application/x-www-form-urlencoded", body);
    }
  if (ask->signed_by != NULL)
    {
      g_autofree char *hash =
          g_compute_checksum_for_string (G_CHECKSUM_SHA256, ask->form != NULL ? ask->form : "", -1);

      s3_sign_message (message, ask->signed_by, ask->region, "sts", hash, FALSE,
                       g_get_real_time () / G_USEC_PER_SEC);
    }
  return TRUE;
}

char *
s3_describe_error (const char *text, gsize size, char **code)
{
  g_autofree char *message = s3_xml_find (text, size, "Message");

  *code = s3_xml_find (text, size, "Code");
  if (*code == NULL || **code == '\0')
    return NULL;
  return g_strdup_printf ("%.200s%s%.500s", *code, message != NULL ? ": " : "",
                          message != NULL ? message : "");
}

static guint
judge (HttpAccess *access, HttpResponse *response, guint done, GCancellable *cancellable)
{
  g_autoptr (GBytes) body = http_response_read (response, MAX_ERROR_SIZE, cancellable, NULL);
  g_autofree char *code = NULL;

  if (body != NULL)
    response->detail =
        s3_describe_error (g_bytes_get_data (body, NULL), g_bytes_get_size (body), &code);
  return 0;
}

gboolean
s3_ask (const S3Ask *self, HttpDocument *document, GCancellable *cancellable, GError **error)
{
  AskAccess access = {
    { .prepare = prepare, .judge = judge, .judges_redirects = TRUE, .is_direct = self->is_direct },
    self
  };
  const HttpSettings settings = { .first_wait = G_USEC_PER_SEC / 5,
                                  .budget = self->budget,
                                  .timeout = self->timeout };
  const HttpQuery query = { self->uri, self->name, self->ending, &access.parent };

  return http_fetch (&query, &settings, document, cancellable, error);
}
