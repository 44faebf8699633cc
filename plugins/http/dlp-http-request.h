/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-http-header.h"
#include "dlp-http-retry.h"
#include "dlp-http-session.h"

G_BEGIN_DECLS

typedef struct
{
  guint status;
  char *reason;
  HttpRange range;
  gint64 length;  /* of the body; -1: not said */
  char *identity; /* (nullable) */
  gboolean is_html;
  gint64 retry_after;    /* seconds; -1: not said */
  gboolean is_transient; /* another attempt may go better */
  char *detail;          /* (nullable): what the body says of an error */
  SoupMessageHeaders *headers;
  GInputStream *body;
} HttpResponse;

typedef struct _HttpAccess HttpAccess;

/* What a server wants beyond a plain GET, and what its answers mean: the signature of S3, a token.
 * Begins the struct of whoever has such. One request uses it at a time. Without one, a request
 * carries what the URI and the netrc file have. */
struct _HttpAccess
{
  /* Before each thing that is sent, also for another attempt and behind a redirect. May change the
   * URI, the method, the headers. @is_foreign: redirected to another origin, which must get nothing
   * that gives access. Errors of DLP_DATA_ERROR are final. */
  gboolean (*prepare) (HttpAccess *self,
                       SoupMessage *message,
                       gboolean is_foreign,
                       GCancellable *cancellable,
                       GError **error);
  /* Behind an answer that has no data: may set is_transient and detail. Not 0: a cause, one bit,
   * that has been put right, so that it is asked again at once; each cause once a request. @done:
   * those that have been already. */
  guint (*judge) (HttpAccess *self, HttpResponse *response, guint done, GCancellable *cancellable);
  void (*free) (HttpAccess *self);
  gboolean judges_redirects; /* they are answers like others */
  gboolean is_direct;        /* never by a proxy */
};

/* Sends a GET, follows redirects. @access and @range: (nullable). The errors of faults that another
 * attempt may not have are of other domains than DLP_DATA_ERROR. */
HttpResponse *http_request_send (HttpSession *session,
                                 const char *uri,
                                 HttpAccess *access,
                                 const char *range,
                                 const char *if_range,
                                 GCancellable *cancellable,
                                 GError **error);
/* Within the session. */
void http_response_free (HttpResponse *self);
/* Within the session: all of the body; no bytes are a text too, never NULL. More than @max bytes
 * are an error DLP_DATA_ERROR; fewer than promised, another one. */
GBytes *
http_response_read (HttpResponse *self, gsize max, GCancellable *cancellable, GError **error);
/* Another attempt may go better. */
gboolean http_response_is_transient (const HttpResponse *self);
/* (transfer full): "503 Slow Down" as an error. */
GError *http_response_make_error (const HttpResponse *self, const char *name);

/* One thing to be asked for, over as many attempts as that takes. */
typedef struct
{
  const char *uri;
  const char *range;  /* (nullable) */
  HttpAccess *access; /* (nullable) */
  guint status;       /* of the last answer; 0: none */
  gboolean reads_all; /* what is taken is read to its end */
} HttpExchange;

/* Within the session: an answer 200, 206 or 416. An error that is not of DLP_DATA_ERROR is a fault.
 */
typedef gboolean (*HttpTake) (gpointer data,
                              HttpResponse *response,
                              GCancellable *cancellable,
                              GError **error);

/* Asks until @take has taken an answer; FALSE: the error is final, and names nothing. */
gboolean http_exchange (HttpExchange *self,
                        HttpRetry *retry,
                        HttpTake take,
                        gpointer data,
                        GCancellable *cancellable,
                        GError **error);

/* (nullable): the URI with what may not be in one escaped, once. */
GUri *http_parse_uri (const char *text, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (HttpResponse, http_response_free)

G_END_DECLS
