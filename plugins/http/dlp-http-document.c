/* SPDX-License-Identifier: MIT */

#include "dlp-http-document.h"

#include <string.h>

#include <dlpipe/dlp-error.h>

/* A thousand names of the longest there may be are a quarter of it. */
#define MAX_SIZE (32 * 1024 * 1024)

typedef struct
{
  const HttpQuery *query;
  HttpDocument *document;
} Fetch;

/* White space may follow it. */
static gboolean
ends_with (GBytes *body, const char *ending)
{
  gsize size;
  const char *data = g_bytes_get_data (body, &size);
  gsize length = strlen (ending);

  while (size > 0 && g_ascii_isspace (data[size - 1]))
    size--;
  return size >= length && memcmp (data + size - length, ending, length) == 0;
}

/* A body in chunks that is cut between two of them ends without an error. */
static gboolean
take (gpointer data, HttpResponse *response, GCancellable *cancellable, GError **error)
{
  Fetch *self = data;
  const char *ending = self->query->ending;
  g_autoptr (GBytes) body = NULL;

  if (response->status != 200)
    {
      g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
                   "the server answers %u where 200 was expected", response->status);
      return FALSE;
    }
  body = http_response_read (response, MAX_SIZE, cancellable, error);
  if (body == NULL)
    return FALSE;
  if (ending != NULL && !ends_with (body, ending))
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_PARTIAL_INPUT,
                   "the server's answer breaks off behind %" G_GSIZE_FORMAT " bytes",
                   g_bytes_get_size (body));
      return FALSE;
    }
  self->document->body = g_steal_pointer (&body);
  self->document->headers = soup_message_headers_ref (response->headers);
  return TRUE;
}

gboolean
http_fetch (const HttpQuery *query,
            const HttpSettings *settings,
            HttpDocument *document,
            GCancellable *cancellable,
            GError **error)
{
  HttpExchange exchange = { .uri = query->uri, .access = query->access, .reads_all = TRUE };
  Fetch fetch = { query, document };
  HttpRetry retry;
  gboolean ok;

  http_retry_init (&retry, settings, query->uri);
  if (query->name != NULL)
    http_retry_set_name (&retry, query->name);
  ok = http_exchange (&exchange, &retry, take, &fetch, cancellable, error);
  document->status = exchange.status;
  if (!ok && !g_cancellable_is_cancelled (cancellable))
    g_prefix_error (error, "%s: ", retry.name);
  http_retry_clear (&retry);
  return ok;
}

void
http_document_clear (HttpDocument *self)
{
  g_clear_pointer (&self->body, g_bytes_unref);
  g_clear_pointer (&self->headers, soup_message_headers_unref);
}
