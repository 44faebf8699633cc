/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The values of header fields, as far as they decide anything. Pure functions. */

typedef struct
{
  gint64 start, end; /* the last byte, inclusive; -1: none */
  gint64 total;      /* -1: not said */
} HttpRange;

/* @text: (nullable) */
gboolean http_parse_content_range (const char *text, HttpRange *range);
/* Seconds from @now (Unix time), 0 or more; -1: neither of the two forms. */
gint64 http_parse_retry_after (const char *text, gint64 now);
/* (transfer full) (nullable): what a file's identity is by these. */
char *http_make_identity (const char *etag, const char *last_modified);
/* (transfer none) (nullable): what If-Range may carry: a strong ETag. */
const char *http_identity_get_strong_etag (const char *identity);
/* Whether no two contents of a file have it: a strong ETag, or a hash that another scheme has. */
gboolean http_identity_is_strong (const char *identity);
/* (transfer full): all but letters, digits and -._~ as %HH; '/' too, but where @keeps_slashes. */
char *http_encode (const char *text, gboolean keeps_slashes);
/* One of the compressed formats that say themselves whether they are whole. */
gboolean http_is_self_delimiting (const guint8 *head, gsize size);

G_END_DECLS
