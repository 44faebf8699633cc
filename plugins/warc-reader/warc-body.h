/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What an HTTP message carries: RFC 9112 (chunks), RFC 9110 (content codings). */

typedef struct
{
  const guint8 *header;
  gsize header_size;
  const guint8 *body;
  gsize body_size;
  gint64 status; /* -1: none, as in a request */
} HttpMessage;

/* FALSE: it is none. */
gboolean http_message_read (HttpMessage *self, const guint8 *data, gsize size);

typedef struct
{
  const char *kind; /* NULL: no fault */
  char *message;    /* (transfer full) */
} WarcBodyFault;

/*
 * The body without transfer and content codings: *body and *size, as they are or in one of the
 * @rooms. One that does not look as its header says, since whoever archived it has decoded it
 * already, is taken as it is. @may_end_early: what is there of a coding is taken. More than
 * @max_bytes are a fault.
 */
gboolean http_message_decode (const HttpMessage *self,
                              gboolean may_end_early,
                              gsize max_bytes,
                              GByteArray *rooms[2],
                              const guint8 **body,
                              gsize *size,
                              WarcBodyFault *fault);

G_END_DECLS
