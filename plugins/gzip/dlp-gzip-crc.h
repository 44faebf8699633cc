/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The CRC-32 of gzip, as zlib's crc32() counts it: 0 of nothing, and on from that of what is
 * before. */
guint32 gzip_crc (guint32 crc, const guint8 *data, gsize size);

G_END_DECLS
