/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-decoder.h>

G_BEGIN_DECLS

/**
 * DlpBzip2Decoder:
 *
 * All streams of a bzip2 file, one after another. Used by one thread at a time.
 */
#define DLP_TYPE_BZIP2_DECODER (dlp_bzip2_decoder_get_type ())
G_DECLARE_FINAL_TYPE (DlpBzip2Decoder, dlp_bzip2_decoder, DLP, BZIP2_DECODER, DlpDecoder)

/* A DlpCodecMatch. */
gboolean dlp_bzip2_decoder_match (const guint8 *head, gsize size);

G_END_DECLS
