/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-http-request.h"

G_BEGIN_DECLS

/* The whole of an answer that is small: a page of a listing, a token. */

typedef struct
{
  const char *uri;
  const char *name;   /* of what is asked for, in messages; (nullable): the URI */
  const char *ending; /* (nullable): of a whole answer; NULL: the caller sees whether it is */
  HttpAccess *access; /* (nullable) */
} HttpQuery;

typedef struct
{
  guint status; /* also where it failed; 0: no answer */
  GBytes *body;
  SoupMessageHeaders *headers;
} HttpDocument;

/* Attempts and waits as for files. @document is to be cleared in any case. */
gboolean http_fetch (const HttpQuery *query,
                     const HttpSettings *settings,
                     HttpDocument *document,
                     GCancellable *cancellable,
                     GError **error);
void http_document_clear (HttpDocument *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (HttpDocument, http_document_clear)

G_END_DECLS
