/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-decoder.h>

G_BEGIN_DECLS

/* As dlp_byte_stream_open(), but what lies before @border is neither read nor decoded; all zero:
 * from the start. It is one that dlp_byte_stream_find_border() gave, not behind @offset. */
DlpByteStream *dlp_byte_stream_open_at (DlpFile *file,
                                        guint64 offset,
                                        const DlpDecoderBorder *border,
                                        guint window_log_max,
                                        gsize read_size,
                                        GCancellable *cancellable,
                                        GError **error);
/* The last place at or before the decoded byte @offset from which the file can be decoded, as far
 * as places are kept; all zero: the start. @offset never goes back from call to call. */
void dlp_byte_stream_find_border (DlpByteStream *self, guint64 offset, DlpDecoderBorder *border);

G_END_DECLS
