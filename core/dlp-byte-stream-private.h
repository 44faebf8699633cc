/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-decoder.h>
#include <dlpipe/dlp-element.h>

G_BEGIN_DECLS

/* As dlp_byte_stream_open(), but takes @opened (nullable), the file from its start; and what lies
 * before @border is neither read nor decoded; all zero: from the start. It is one that
 * dlp_byte_stream_find_border() gave, not behind @offset. */
DlpByteStream *dlp_byte_stream_open_at (DlpFile *file,
                                        GInputStream *opened,
                                        guint64 offset,
                                        const DlpDecoderBorder *border,
                                        guint window_log_max,
                                        gsize read_size,
                                        GCancellable *cancellable,
                                        GError **error);
/* Before the first read, behind dlp_byte_stream_limit_memory(): where the file has parts that can
 * be decoded apart from each other, up to @max_parts of them are decoded on the pool of @element
 * in advance. What comes out does not depend on it. */
void dlp_byte_stream_decode_ahead (DlpByteStream *self, DlpElement *element, guint max_parts);
/* How many there were so far. */
guint dlp_byte_stream_get_n_parts (DlpByteStream *self);
/* The last place at or before the decoded byte @offset from which the file can be decoded, as far
 * as places are kept; all zero: the start. @offset never goes back from call to call. */
void dlp_byte_stream_find_border (DlpByteStream *self, guint64 offset, DlpDecoderBorder *border);

G_END_DECLS
