/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/*
 * The name of the encoding of a body: by its byte order mark, the parameter charset of
 * @content_type (nullable), or, where that says HTML, a <meta> in its first 1,024 bytes. NULL: none
 * is said. *mark: how many bytes the mark takes. *unknown: a label, behind which nothing is, that
 * is none of the WHATWG's encodings; freed by the caller.
 */
const char *warc_charset_find (const guint8 *body,
                               gsize size,
                               const char *content_type,
                               gsize content_type_size,
                               gsize *mark,
                               char **unknown);

/*
 * Appends @data, in that encoding, as UTF-8. What does not fit: @replaced NULL: FALSE, with its
 * place in *fault; else U+FFFD, counted there.
 */
gboolean warc_charset_convert (GString *to,
                               const char *encoding,
                               const guint8 *data,
                               gsize size,
                               guint64 *replaced,
                               gsize *fault);

G_END_DECLS
