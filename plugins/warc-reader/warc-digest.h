/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  WARC_DIGEST_RIGHT,
  WARC_DIGEST_WRONG,
  WARC_DIGEST_UNKNOWN, /* another algorithm, or written in another way */
} WarcDigest;

/* Whether the bytes have the digest of a WARC-Block-Digest, "sha1:" and Base32 or hexadecimal. */
WarcDigest
warc_digest_check (const char *digest, gsize digest_size, const guint8 *data, gsize size);

G_END_DECLS
