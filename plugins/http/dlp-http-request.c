/* SPDX-License-Identifier: MIT */

#include "dlp-http-request.h"

#include <string.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-file.h>

#include "dlp-http-netrc.h"

#define MAX_REDIRECTS 10
#define URI_FLAGS (G_URI_FLAGS_ENCODED | G_URI_FLAGS_HAS_PASSWORD | G_URI_FLAGS_SCHEME_NORMALIZE)

/* Bytes that may not stand in a URI as they are: escaped once; a % is an escape already. */
static char *
escape_stray_bytes (const char *text)
{
  GString *out = g_string_sized_new (strlen (text));

  for (const char *p = text; *p != '\0'; p++)
    if ((guint8) *p <= 0x20 || (guint8) *p >= 0x7f || strchr ("\"<>\\^`{|}", *p) != NULL)
      g_string_append_printf (out, "%%%02X", (guint8) *p);
    else
      g_string_append_c (out, *p);
  return g_string_free (out, FALSE);
}

GUri *
http_parse_uri (const char *text, GError **error)
{
  g_autofree char *escaped = escape_stray_bytes (text);
  g_autoptr (GError) cause = NULL;
  g_autoptr (GUri) uri = g_uri_parse (escaped, URI_FLAGS, &cause);

  if (uri == NULL || g_uri_get_host (uri) == NULL || *g_uri_get_host (uri) == '\0')
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
                 "not a URI (http://HOST[:PORT]/PATH, percent-encoded): %s",
                 cause != NULL ? cause->message : "it has no host");
  else if (g_uri_get_fragment (uri) != NULL)
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
                 "what follows a # is never sent to a server; a # in a name is written %%23");
  else
    return g_steal_pointer (&uri);
  return NULL;
}

static gboolean
has_same_origin (GUri *a, GUri *b)
{
  return g_strcmp0 (g_uri_get_scheme (a), g_uri_get_scheme (b)) == 0 &&
         g_ascii_strcasecmp (g_uri_get_host (a), g_uri_get_host (b)) == 0 &&
         g_uri_get_port (a) == g_uri_get_port (b);
}

static char *
make_basic (const char *user, const char *password)
{
  g_autofree char *pair = g_strconcat (user, ":", password, NULL);
  g_autofree char *encoded = g_base64_encode ((const guchar *) pair, strlen (pair));

  return g_strconcat ("Basic ", encoded, NULL);
}

/* (nullable): of the URI itself, else of the netrc file. */
static char *
find_authorization (GUri *uri)
{
  g_autofree char *login = NULL;
  g_autofree char *password = NULL;

  if (g_uri_get_user (uri) != NULL)
    {
      login = g_uri_unescape_string (g_uri_get_user (uri), NULL);
      if (g_uri_get_password (uri) != NULL)
        password = g_uri_unescape_string (g_uri_get_password (uri), NULL);
      return make_basic (login != NULL ? login : "", password != NULL ? password : "");
    }
  return http_netrc_find (g_uri_get_host (uri), &login, &password) ? make_basic (login, password) :
                                                                     NULL;
}

static SoupMessage *
make_message (GUri *uri, const char *authorization, const char *range, const char *if_range)
{
  g_autoptr (GUri) bare =
      soup_uri_copy (uri, SOUP_URI_USER, NULL, SOUP_URI_PASSWORD, NULL, SOUP_URI_NONE);
  SoupMessage *message = soup_message_new_from_uri (SOUP_METHOD_GET, bare);
  SoupMessageHeaders *headers = soup_message_get_request_headers (message);

  soup_message_add_flags (message, SOUP_MESSAGE_NO_REDIRECT | SOUP_MESSAGE_DO_NOT_USE_AUTH_CACHE);
  soup_message_headers_replace (headers, "Accept-Encoding", "identity");
  if (range != NULL)
    soup_message_headers_replace (headers, "Range", range);
  if (range != NULL && if_range != NULL)
    soup_message_headers_replace (headers, "If-Range", if_range);
  if (authorization != NULL)
    soup_message_headers_replace (headers, "Authorization", authorization);
  return message;
}

static HttpResponse *
make_response (SoupMessage *message, GInputStream *body)
{
  HttpResponse *self = g_new0 (HttpResponse, 1);
  SoupMessageHeaders *headers = soup_message_get_response_headers (message);
  const char *type = soup_message_headers_get_content_type (headers, NULL);

  self->status = soup_message_get_status (message);
  self->reason = g_strdup (soup_message_get_reason_phrase (message));
  http_parse_content_range (soup_message_headers_get_one (headers, "Content-Range"), &self->range);
  self->length = soup_message_headers_get_encoding (headers) == SOUP_ENCODING_CONTENT_LENGTH ?
                     (gint64) soup_message_headers_get_content_length (headers) :
                     -1;
  self->identity = http_make_identity (soup_message_headers_get_one (headers, "ETag"),
                                       soup_message_headers_get_one (headers, "Last-Modified"));
  self->is_html = g_strcmp0 (type, "text/html") == 0;
  self->retry_after = http_parse_retry_after (soup_message_headers_get_one (headers, "Retry-After"),
                                              g_get_real_time () / G_USEC_PER_SEC);
  self->body = g_object_ref (body);
  return self;
}

static gboolean
is_redirect (guint status)
{
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/* Where @message leads to: NULL and @error where that is nowhere. */
static GUri *
follow (SoupMessage *message, GUri *from, GError **error)
{
  const char *location =
      soup_message_headers_get_one (soup_message_get_response_headers (message), "Location");
  g_autofree char *escaped = location != NULL ? escape_stray_bytes (location) : NULL;
  g_autofree char *shown = location != NULL ? dlp_uri_escape_for_display (location) : NULL;
  g_autoptr (GUri) to =
      escaped != NULL ? g_uri_parse_relative (from, escaped, URI_FLAGS, NULL) : NULL;

  if (to != NULL && g_uri_get_host (to) != NULL &&
      (strcmp (g_uri_get_scheme (to), "http") == 0 || strcmp (g_uri_get_scheme (to), "https") == 0))
    return g_steal_pointer (&to);
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
               "the server redirects (%u) to %s, which cannot be read",
               soup_message_get_status (message), shown != NULL ? shown : "nowhere");
  return NULL;
}

/* "Unacceptable TLS certificate" alone helps nobody. */
static void
explain_certificate (SoupMessage *message, GError **error)
{
  static const struct
  {
    GTlsCertificateFlags flag;
    const char *what;
  } faults[] = {
    { G_TLS_CERTIFICATE_UNKNOWN_CA,
      "is signed by nobody who is trusted (ca-file, $SSL_CERT_FILE)" },
    { G_TLS_CERTIFICATE_BAD_IDENTITY, "is that of another host" },
    { G_TLS_CERTIFICATE_NOT_ACTIVATED, "is not valid yet" },
    { G_TLS_CERTIFICATE_EXPIRED, "has expired" },
    { G_TLS_CERTIFICATE_REVOKED, "was revoked" },
    { G_TLS_CERTIFICATE_INSECURE, "is made by an insecure method" },
  };
  GTlsCertificateFlags flags = soup_message_get_tls_peer_certificate_errors (message);

  for (guint i = 0; i < G_N_ELEMENTS (faults); i++)
    if (flags & faults[i].flag)
      {
        g_prefix_error (error, "the server's certificate %s: ", faults[i].what);
        return;
      }
}

static HttpResponse *
send_following (HttpSession *session,
                GUri *first,
                const char *range,
                const char *if_range,
                GCancellable *cancellable,
                GError **error)
{
  g_autoptr (GUri) uri = g_uri_ref (first);
  g_autofree char *authorization = find_authorization (first);

  for (guint n = 0; n <= MAX_REDIRECTS; n++)
    {
      g_autoptr (SoupMessage) message =
          make_message (uri, has_same_origin (uri, first) ? authorization : NULL, range, if_range);
      g_autoptr (GInputStream) body =
          soup_session_send (session->soup, message, cancellable, error);
      GUri *next;

      if (body == NULL)
        {
          explain_certificate (message, error);
          return NULL;
        }
      if (!is_redirect (soup_message_get_status (message)))
        return make_response (message, body);
      next = follow (message, uri, error);
      g_input_stream_close (body, NULL, NULL);
      if (next == NULL)
        return NULL;
      g_uri_unref (uri);
      uri = next;
    }
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
               "the server redirects more than %d times; a loop?", MAX_REDIRECTS);
  return NULL;
}

/* A wrong name or certificate is not better a second later. */
static gboolean
is_final (const GError *error)
{
  return error->domain == G_TLS_ERROR || error->domain == DLP_DATA_ERROR ||
         g_error_matches (error, G_RESOLVER_ERROR, G_RESOLVER_ERROR_NOT_FOUND);
}

HttpResponse *
http_request_send (HttpSession *session,
                   const char *uri,
                   const char *range,
                   const char *if_range,
                   GCancellable *cancellable,
                   GError **error)
{
  g_autoptr (GUri) parsed = http_parse_uri (uri, error);
  g_autoptr (GError) cause = NULL;
  HttpResponse *response;

  if (parsed == NULL)
    return NULL;
  if (session->broken != NULL)
    {
      g_propagate_error (error, g_error_copy (session->broken));
      return NULL;
    }
  http_session_enter (session);
  response = send_following (session, parsed, range, if_range, cancellable, &cause);
  http_session_leave (session);
  if (response != NULL)
    return response;

  if (is_final (cause) && cause->domain != DLP_DATA_ERROR)
    g_set_error_literal (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT, cause->message);
  else
    g_propagate_error (error, g_steal_pointer (&cause));
  return NULL;
}

void
http_response_free (HttpResponse *self)
{
  if (self->body != NULL)
    g_input_stream_close (self->body, NULL, NULL);
  g_clear_object (&self->body);
  g_free (self->reason);
  g_free (self->identity);
  g_free (self);
}

gboolean
http_response_is_transient (const HttpResponse *self)
{
  return self->status == 408 || self->status == 425 || self->status == 429 ||
         (self->status >= 500 && self->status != 501 && self->status != 505);
}

GError *
http_response_make_error (const HttpResponse *self, const char *name)
{
  const char *why = "";
  g_autofree char *reason = dlp_uri_escape_for_display (self->reason != NULL ? self->reason : "");

  if (http_response_is_transient (self))
    return g_error_new (G_IO_ERROR, G_IO_ERROR_FAILED, "the server answers %u %s", self->status,
                        reason);
  if (self->status == 401 || self->status == 403)
    why = "; is a login needed (~/.netrc), or has a signed address run out?";
  else if ((self->status == 404 || self->status == 410) && strpbrk (name, "*[") != NULL)
    why = "; http has no patterns: list=FILE takes names";
  return g_error_new (DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT, "the server answers %u %s%s",
                      self->status, reason, why);
}
