/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-http-header.h"
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
  gint64 retry_after; /* seconds; -1: not said */
  GInputStream *body;
} HttpResponse;

/* Sends a GET, follows redirects. @range: (nullable). The errors of faults that another attempt may
 * not have are of other domains than DLP_DATA_ERROR. */
HttpResponse *http_request_send (HttpSession *session,
                                 const char *uri,
                                 const char *range,
                                 const char *if_range,
                                 GCancellable *cancellable,
                                 GError **error);
/* Within the session. */
void http_response_free (HttpResponse *self);
/* Another attempt may go better. */
gboolean http_response_is_transient (const HttpResponse *self);
/* (transfer full): "503 Slow Down" as an error. */
GError *http_response_make_error (const HttpResponse *self, const char *name);

/* (nullable): the URI with what may not be in one escaped, once. */
GUri *http_parse_uri (const char *text, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (HttpResponse, http_response_free)

G_END_DECLS
