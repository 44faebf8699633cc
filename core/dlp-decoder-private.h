/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-decoder.h>

G_BEGIN_DECLS

/* The name of the codec that a stream with this head belongs to, or NULL. Static. */
const char *dlp_codec_find (const guint8 *head, gsize size);

G_END_DECLS
