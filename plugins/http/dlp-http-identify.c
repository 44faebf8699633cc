/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-error.h>

#include "dlp-http-request.h"
#include "dlp-http-stream.h"

/* A GET of one byte, not a HEAD: signed addresses are signed for one method, and some servers have
 * no HEAD or answer it otherwise. NULL: @file is set, or @error, or neither: again. */
static gboolean
judge (const HttpResponse *response,
       const char *uri,
       HttpRetry *retry,
       DlpFile **file,
       GError **error)
{
  gint64 size = response->status == 200 && response->range.total < 0 ? response->length :
                                                                       response->range.total;

  if (response->status == 200 || response->status == 206 || response->status == 416)
    {
      *file = dlp_file_new (uri, size, response->identity);
      return TRUE;
    }
  if (http_response_is_transient (response))
    return http_retry_note_fault (retry, response->retry_after,
                                  http_response_make_error (response, retry->name), error);
  g_propagate_error (error, http_response_make_error (response, retry->name));
  return FALSE;
}

/* One attempt; the connection is given up where the server sends more than was asked for. */
static gboolean
ask (const char *uri, HttpRetry *retry, DlpFile **file, GCancellable *cancellable, GError **error)
{
  HttpSession *session =
      http_session_take_trusting (retry->settings->timeout, retry->settings->ca_file);
  g_autoptr (GError) cause = NULL;
  HttpResponse *response = http_request_send (session, uri, "bytes=0-0", NULL, cancellable, &cause);
  gboolean ok = TRUE;

  if (response != NULL)
    ok = judge (response, uri, retry, file, error);
  else if (cause->domain == DLP_DATA_ERROR || g_cancellable_is_cancelled (cancellable))
    {
      g_propagate_error (error, g_steal_pointer (&cause));
      ok = FALSE;
    }
  else
    ok = http_retry_note_fault (retry, -1, g_steal_pointer (&cause), error);

  http_session_enter (session);
  if (response != NULL)
    http_response_free (response);
  http_session_leave (session);
  http_session_give (session, FALSE);
  return ok;
}

DlpFile *
dlp_http_identify (const char *uri,
                   const HttpSettings *settings,
                   GCancellable *cancellable,
                   GError **error)
{
  DlpFile *file = NULL;
  HttpRetry retry;
  gboolean ok = TRUE;

  http_retry_init (&retry, settings, uri);
  while (ok && file == NULL)
    ok = http_retry_wait (&retry, cancellable, error) &&
         ask (uri, &retry, &file, cancellable, error);
  if (ok)
    http_retry_note_progress (&retry);
  else if (!g_cancellable_is_cancelled (cancellable))
    g_prefix_error (error, "%s: ", retry.name);
  http_retry_clear (&retry);
  return file;
}
