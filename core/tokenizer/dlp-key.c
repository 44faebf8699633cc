/* SPDX-License-Identifier: MIT */
#include "dlp-key.h"

#define ALL G_MAXUINT64
#define LOW(n) (((guint64) 1 << (8 * (n))) - 1)

const guint64 dlp_key_masks[16][2] = {
  { LOW (0), 0 },   { LOW (1), 0 },   { LOW (2), 0 },   { LOW (3), 0 },
  { LOW (4), 0 },   { LOW (5), 0 },   { LOW (6), 0 },   { LOW (7), 0 },
  { ALL, LOW (0) }, { ALL, LOW (1) }, { ALL, LOW (2) }, { ALL, LOW (3) },
  { ALL, LOW (4) }, { ALL, LOW (5) }, { ALL, LOW (6) }, { ALL, LOW (7) },
};

guint64
dlp_hash_bytes (const guint8 *p, gsize len)
{
  guint64 h = len ^ 0x9e3779b97f4a7c15u;
  guint8 tail[16] = { 0 };

  for (; len > 16; p += 16, len -= 16)
    h = dlp_mix64 (dlp_load64 (p) ^ h, dlp_load64 (p + 8) ^ 0xd1b54a32d192ed03u);

  memcpy (tail, p, len);
  return dlp_mix64 (dlp_load64 (tail) ^ h, dlp_load64 (tail + 8) ^ 0xa0761d6478bd642fu);
}
