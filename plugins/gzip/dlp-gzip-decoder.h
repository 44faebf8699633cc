/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-decoder.h>

G_BEGIN_DECLS

/**
 * DlpGzipDecoder:
 *
 * All members of a gzip file, one after another. Used by one thread at a time.
 */
#define DLP_TYPE_GZIP_DECODER (dlp_gzip_decoder_get_type ())
G_DECLARE_FINAL_TYPE (DlpGzipDecoder, dlp_gzip_decoder, DLP, GZIP_DECODER, DlpDecoder)

/* A DlpCodecMatch. */
gboolean dlp_gzip_decoder_match (const guint8 *head, gsize size);

G_END_DECLS
