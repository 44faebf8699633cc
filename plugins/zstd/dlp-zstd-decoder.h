/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-decoder.h>

G_BEGIN_DECLS

/**
 * DlpZstdDecoder:
 *
 * All frames of a zstd file, one after another; skippable ones are skipped. Used by one thread at a
 * time.
 */
#define DLP_TYPE_ZSTD_DECODER (dlp_zstd_decoder_get_type ())
G_DECLARE_FINAL_TYPE (DlpZstdDecoder, dlp_zstd_decoder, DLP, ZSTD_DECODER, DlpDecoder)

/* A DlpCodecMatch. */
gboolean dlp_zstd_decoder_match (const guint8 *head, gsize size);

G_END_DECLS
