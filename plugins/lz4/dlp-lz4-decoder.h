/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-decoder.h>

G_BEGIN_DECLS

/**
 * DlpLz4Decoder:
 *
 * All frames of an lz4 file, one after another; skippable ones are skipped. Used by one thread at a
 * time.
 */
#define DLP_TYPE_LZ4_DECODER (dlp_lz4_decoder_get_type ())
G_DECLARE_FINAL_TYPE (DlpLz4Decoder, dlp_lz4_decoder, DLP, LZ4_DECODER, DlpDecoder)

/* A DlpCodecMatch. */
gboolean dlp_lz4_decoder_match (const guint8 *head, gsize size);

G_END_DECLS
