/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include <dlpipe/dlp-decoder.h>
#include <dlpipe/dlp-element.h>

G_BEGIN_DECLS

/* Parts of a compressed file that can be decoded apart from each other: decoded on the pool of a
 * pipeline, read in their order. One thread at a time, which is none of the pool. */
typedef struct _DlpDecodeAhead DlpDecodeAhead;

/* At most @max_parts at a time, of each of which at most @part_bytes are decoded in advance. */
DlpDecodeAhead *dlp_decode_ahead_new (DlpElement *element, guint max_parts, gsize part_bytes);
/* Waits for what is being decoded. */
void dlp_decode_ahead_free (DlpDecodeAhead *self);
bool dlp_decode_ahead_has_room (DlpDecodeAhead *self);
/* Takes @decoder, which stands at the border before @raw; @end is the border behind it. */
void dlp_decode_ahead_add (DlpDecodeAhead *self,
                           DlpDecoder *decoder,
                           const guint8 *raw,
                           gsize size,
                           const DlpDecoderBorder *end);
bool dlp_decode_ahead_is_empty (DlpDecodeAhead *self);
/* Of the first part, which there is: some decoded bytes; none at its end, or with an error. */
gsize dlp_decode_ahead_read (DlpDecodeAhead *self, guint8 *out, gsize size, GError **error);
/* (transfer full): takes the first part away, which came to its end, or to an error. */
DlpDecoder *dlp_decode_ahead_end_part (DlpDecodeAhead *self, DlpDecoderBorder *end);
/* (transfer full): takes all parts away: the bytes of the file that they were. */
GByteArray *dlp_decode_ahead_give_up (DlpDecodeAhead *self);

G_END_DECLS
