/* SPDX-License-Identifier: MIT */
#pragma once

#include <libsoup/soup.h>

G_BEGIN_DECLS

/* A SoupSession with a main context of its own, used by one thread at a time, whichever that is;
 * see docs/internals/http.md. */
typedef struct
{
  SoupSession *soup;
  GMainContext *context;
  char *ca_file;  /* (nullable) */
  GError *broken; /* (nullable): why nothing can be sent by it */
} HttpSession;

/* One that nobody uses, with the connections that it has open; else a new one. */
HttpSession *http_session_take (guint timeout);
/* One that trusts the certificates of that file; NULL: those of $SSL_CERT_FILE, else the system's.
 */
HttpSession *http_session_take_trusting (guint timeout, const char *ca_file);
/* The same, and it uses no proxy; it is not to be kept. */
HttpSession *http_session_new_direct (guint timeout, const char *ca_file);
/* @clean: the last answer was read to its end. */
void http_session_give (HttpSession *self, gboolean clean);

/* Around every call of libsoup, and of the streams that it gives. */
void http_session_enter (HttpSession *self);
void http_session_leave (HttpSession *self);

G_END_DECLS
