/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Decodes a stream of deflate, at most @in_chunk bytes a call, and by zlib: the same bytes come
 * out, with the same error if any, and as much of the input is consumed. Returns the error's
 * message. */
const char *inflate_compare (const guint8 *data, gsize size, gsize in_chunk);
/* The same for a file of gzip. */
void inflate_compare_gzip (const guint8 *data, gsize size, gsize in_chunk, gsize out_chunk);

G_END_DECLS
