/* SPDX-License-Identifier: MIT */

#include "dlp-http-request.h"

#include <string.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-file.h>

#include "dlp-http-netrc.h"

#define MAX_REDIRECTS 10
#define READ_SIZE (16 * 1024)
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

typedef struct
{
  GUri *first; /* where the first request goes */
  HttpAccess *access;
  char *authorization; /* (nullable): for that origin */
  const char *range, *if_range;
} Request;

static SoupMessage *
make_message (const Request *self, GUri *uri, GCancellable *cancellable, GError **error)
{
  g_autoptr (GUri) bare =
      soup_uri_copy (uri, SOUP_URI_USER, NULL, SOUP_URI_PASSWORD, NULL, SOUP_URI_NONE);
  g_autoptr (SoupMessage) message = soup_message_new_from_uri (SOUP_METHOD_GET, bare);
  SoupMessageHeaders *headers = soup_message_get_request_headers (message);
  gboolean is_foreign = !has_same_origin (uri, self->first);

  soup_message_add_flags (message, SOUP_MESSAGE_NO_REDIRECT | SOUP_MESSAGE_DO_NOT_USE_AUTH_CACHE);
  soup_message_headers_replace (headers, "Accept-Encoding", "identity");
  if (self->range != NULL)
    soup_message_headers_replace (headers, "Range", self->range);
  if (self->range != NULL && self->if_range != NULL)
    soup_message_headers_replace (headers, "If-Range", self->if_range);
  if (self->authorization != NULL && !is_foreign)
    soup_message_headers_replace (headers, "Authorization", self->authorization);
  if (self->access != NULL &&
      !self->access->prepare (self->access, message, is_foreign, cancellable, error))
    return NULL;
  return g_steal_pointer (&message);
}

static gboolean
is_transient (guint status)
{
  return status == 408 || status == 425 || status == 429 ||
         (status >= 500 && status != 501 && status != 505);
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
  self->is_transient = is_transient (self->status);
  self->headers = soup_message_headers_ref (headers);
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
                const Request *request,
                GCancellable *cancellable,
                GError **error)
{
  g_autoptr (GUri) uri = g_uri_ref (request->first);
  gboolean follows = request->access == NULL || !request->access->judges_redirects;

  for (guint n = 0; n <= MAX_REDIRECTS; n++)
    {
      g_autoptr (SoupMessage) message = make_message (request, uri, cancellable, error);
      g_autoptr (GInputStream) body =
          message != NULL ? soup_session_send (session->soup, message, cancellable, error) : NULL;
      GUri *next;

      if (body == NULL)
        {
          if (message != NULL)
            explain_certificate (message, error);
          return NULL;
        }
      if (!follows || !is_redirect (soup_message_get_status (message)))
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

static gboolean
has_data (const HttpResponse *response)
{
  return response->status == 200 || response->status == 206 || response->status == 416;
}

static HttpResponse *
send_judged (HttpSession *session,
             const Request *request,
             GCancellable *cancellable,
             GError **error)
{
  guint done = 0;

  for (;;)
    {
      HttpResponse *response = send_following (session, request, cancellable, error);
      guint cause;

      if (response == NULL || request->access == NULL || has_data (response))
        return response;
      cause = request->access->judge (request->access, response, done, cancellable);
      if ((cause & ~done) == 0)
        return response;
      done |= cause;
      http_response_free (response);
    }
}

/* A wrong name or certificate is not better a second later; a connection that breaks within the
 * handshake, which is an error of TLS too, may be. */
static gboolean
is_final (const GError *error)
{
  return g_error_matches (error, G_TLS_ERROR, G_TLS_ERROR_BAD_CERTIFICATE) ||
         g_error_matches (error, G_TLS_ERROR, G_TLS_ERROR_CERTIFICATE_REQUIRED) ||
         g_error_matches (error, G_TLS_ERROR, G_TLS_ERROR_UNAVAILABLE) ||
         g_error_matches (error, G_RESOLVER_ERROR, G_RESOLVER_ERROR_NOT_FOUND) ||
         error->domain == DLP_DATA_ERROR;
}

HttpResponse *
http_request_send (HttpSession *session,
                   const char *uri,
                   HttpAccess *access,
                   const char *range,
                   const char *if_range,
                   GCancellable *cancellable,
                   GError **error)
{
  g_autoptr (GUri) parsed = http_parse_uri (uri, error);
  g_autofree char *authorization =
      parsed != NULL && access == NULL ? find_authorization (parsed) : NULL;
  const Request request = { parsed, access, authorization, range, if_range };
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
  response = send_judged (session, &request, cancellable, &cause);
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
  g_clear_pointer (&self->headers, soup_message_headers_unref);
  g_free (self->reason);
  g_free (self->detail);
  g_free (self->identity);
  g_free (self);
}

GBytes *
http_response_read (HttpResponse *self, gsize max, GCancellable *cancellable, GError **error)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autofree guint8 *buffer = g_malloc (READ_SIZE);
  gssize n;

  while ((n = g_input_stream_read (self->body, buffer, READ_SIZE, cancellable, error)) > 0)
    {
      if (bytes->len + (gsize) n > max)
        {
          g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
                       "the server's answer has more than %" G_GSIZE_FORMAT " bytes", max);
          return NULL;
        }
      g_byte_array_append (bytes, buffer, (guint) n);
    }
  if (n == 0 && self->length >= 0 && (gint64) bytes->len != self->length)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_PARTIAL_INPUT,
                 "the server's answer breaks off behind %u of %" G_GINT64_FORMAT " bytes",
                 bytes->len, self->length);
  else if (n == 0 && bytes->len == 0)
    return g_bytes_new_static ("", 0);
  else if (n == 0)
    return g_byte_array_free_to_bytes (g_steal_pointer (&bytes));
  return NULL;
}

gboolean
http_response_is_transient (const HttpResponse *self)
{
  return self->is_transient;
}

GError *
http_response_make_error (const HttpResponse *self, const char *name)
{
  const char *why = "";
  g_autofree char *reason = dlp_uri_escape_for_display (self->reason != NULL ? self->reason : "");
  g_autofree char *detail = self->detail != NULL ? dlp_uri_escape_for_display (self->detail) : NULL;

  if (http_response_is_transient (self))
    return g_error_new (G_IO_ERROR, G_IO_ERROR_FAILED, "the server answers %u %s%s%s", self->status,
                        reason, detail != NULL ? ": " : "", detail != NULL ? detail : "");
  if (detail != NULL)
    return g_error_new (DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT, "the server answers %u %s: %s",
                        self->status, reason, detail);
  if (self->status == 401 || self->status == 403)
    why = "; is a login needed (~/.netrc), or has a signed address run out?";
  else if ((self->status == 404 || self->status == 410) && strpbrk (name, "*[") != NULL)
    why = "; http has no patterns: list=FILE takes names";
  return g_error_new (DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT, "the server answers %u %s%s",
                      self->status, reason, why);
}

/* One attempt: TRUE also where another one has to follow. */
static gboolean
attempt (HttpExchange *self,
         HttpRetry *retry,
         HttpTake take,
         gpointer data,
         gboolean *done,
         GCancellable *cancellable,
         GError **error)
{
  gboolean is_direct = self->access != NULL && self->access->is_direct;
  const HttpSettings *settings = retry->settings;
  HttpSession *session = is_direct ?
                             http_session_new_direct (settings->timeout, settings->ca_file) :
                             http_session_take_trusting (settings->timeout, settings->ca_file);
  g_autoptr (GError) cause = NULL;
  HttpResponse *response =
      http_request_send (session, self->uri, self->access, self->range, NULL, cancellable, &cause);
  gint64 retry_after = response != NULL ? response->retry_after : -1;

  http_session_enter (session);
  self->status = response != NULL ? response->status : 0;
  if (response != NULL && has_data (response))
    *done = take (data, response, cancellable, &cause);
  else if (response != NULL)
    cause = http_response_make_error (response, retry->name);
  if (response != NULL)
    http_response_free (response);
  http_session_leave (session);
  /* Of the others the server may have sent more than was asked for. */
  http_session_give (session, *done && self->reads_all && !is_direct);

  if (cause == NULL)
    return TRUE;
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;
  if (cause->domain != DLP_DATA_ERROR)
    return http_retry_note_fault (retry, retry_after, g_steal_pointer (&cause), error);
  g_propagate_error (error, g_steal_pointer (&cause));
  return FALSE;
}

gboolean
http_exchange (HttpExchange *self,
               HttpRetry *retry,
               HttpTake take,
               gpointer data,
               GCancellable *cancellable,
               GError **error)
{
  gboolean done = FALSE;

  while (!done)
    if (!http_retry_wait (retry, cancellable, error) ||
        !attempt (self, retry, take, data, &done, cancellable, error))
      return FALSE;
  http_retry_note_progress (retry);
  return TRUE;
}
