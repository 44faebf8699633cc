/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-decoder.h>

G_BEGIN_DECLS

/**
 * DlpXzDecoder:
 *
 * All streams of an xz file, one after another. Used by one thread at a time.
 */
#define DLP_TYPE_XZ_DECODER (dlp_xz_decoder_get_type ())
G_DECLARE_FINAL_TYPE (DlpXzDecoder, dlp_xz_decoder, DLP, XZ_DECODER, DlpDecoder)

/* A DlpCodecMatch. */
gboolean dlp_xz_decoder_match (const guint8 *head, gsize size);

G_END_DECLS
