/* SPDX-License-Identifier: MIT */

#include "dlp-gzip-crc.h"

#include <zlib.h>

static guint32
crc_by_zlib (guint32 crc, const guint8 *data, gsize size)
{
  while (size > 0)
    {
      uInt n = (uInt) MIN (size, G_MAXINT);

      crc = (guint32) crc32 (crc, data, n);
      data += n;
      size -= n;
    }
  return crc;
}

#ifdef __x86_64__
#include <immintrin.h>

/* Below this it is not worth it; four blocks are needed. */
#define FOLD_SIZE_MIN 128

#define TARGET __attribute__ ((target ("pclmul,sse2")))

TARGET static __m128i
load (const guint8 *data)
{
  return _mm_loadu_si128 ((const __m128i *) (const void *) data);
}

TARGET static __m128i
fold (__m128i x, __m128i factors, __m128i next)
{
  return _mm_xor_si128 (_mm_xor_si128 (_mm_clmulepi64_si128 (x, factors, 0x00),
                                       _mm_clmulepi64_si128 (x, factors, 0x11)),
                        next);
}

/* Four blocks of 16 bytes are folded over the next four by carry-less multiplication, then into
 * one, whose CRC is that of all (V. Gopal and others, "Fast CRC Computation for Generic Polynomials
 * Using PCLMULQDQ Instruction", Intel 2009, from where the factors are: powers of x modulo the
 * polynomial).
 */
TARGET static guint32
crc_by_folding (guint32 crc, const guint8 *data, gsize size)
{
  const __m128i by_64 = _mm_set_epi64x (0x1c6e41596, 0x154442bd4);
  const __m128i by_16 = _mm_set_epi64x (0x0ccaa009e, 0x1751997d0);
  __m128i x[4] = { load (data), load (data + 16), load (data + 32), load (data + 48) };
  guint8 last[16];

  x[0] = _mm_xor_si128 (x[0], _mm_cvtsi32_si128 ((int) ~crc));
  for (data += 64, size -= 64; size >= 64; data += 64, size -= 64)
    for (guint i = 0; i < 4; i++)
      x[i] = fold (x[i], by_64, load (data + 16 * i));
  for (guint i = 1; i < 4; i++)
    x[0] = fold (x[0], by_16, x[i]);

  _mm_storeu_si128 ((__m128i *) (void *) last, x[0]);
  return crc_by_zlib (crc_by_zlib (G_MAXUINT32, last, sizeof last), data, size);
}

guint32
gzip_crc (guint32 crc, const guint8 *data, gsize size)
{
  if (size >= FOLD_SIZE_MIN && __builtin_cpu_supports ("pclmul"))
    return crc_by_folding (crc, data, size);
  return crc_by_zlib (crc, data, size);
}
#else
guint32
gzip_crc (guint32 crc, const guint8 *data, gsize size)
{
  return crc_by_zlib (crc, data, size);
}
#endif
