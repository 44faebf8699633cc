/* SPDX-License-Identifier: MIT */
#include "dlp-normalizer-unicode.h"

/* NFC is what most models want of texts that nearly always are in it already. Blocks of 32 bytes
 * are looked through at once: each of 16 boxes is a set of first, second and third bytes, and a
 * byte that is in one of them together with the two behind it may begin a character that changes.
 */

#define BLOCK 32
#define BEHIND 2 /* bytes that are looked at behind a block */

#if defined(__x86_64__)

#include <immintrin.h>

typedef struct
{
  __m256i low;
  __m256i high;
} Halves;

static inline __attribute__ ((target ("avx2"))) Halves
cut (const guint8 *p)
{
  const __m256i mask = _mm256_set1_epi8 (15);
  __m256i bytes = _mm256_loadu_si256 ((const __m256i *) p);

  return (Halves){ _mm256_and_si256 (bytes, mask),
                   _mm256_and_si256 (_mm256_srli_epi16 (bytes, 4), mask) };
}

static inline __attribute__ ((target ("avx2"))) __m256i
get_boxes (const __m256i *tables, Halves halves)
{
  return _mm256_and_si256 (_mm256_shuffle_epi8 (tables[0], halves.high),
                           _mm256_shuffle_epi8 (tables[1], halves.low));
}

static __attribute__ ((target ("avx2"))) const guint8 *
skip_blocks (const guint8 *p, const guint8 *end)
{
  __m256i tables[10];

  for (guint i = 0; i < 10; i++)
    tables[i] = _mm256_broadcastsi128_si256 (_mm_loadu_si128 ((const __m128i *) dlp_nfc_boxes[i]));
  for (; end - p >= BLOCK + BEHIND; p += BLOCK)
    {
      Halves first, second;
      __m256i boxes, more;

      if (_mm256_movemask_epi8 (_mm256_loadu_si256 ((const __m256i *) p)) == 0)
        continue;
      first = cut (p);
      second = cut (p + 1);
      boxes = _mm256_and_si256 (get_boxes (tables, first), get_boxes (tables + 2, second));
      more = _mm256_and_si256 (
          _mm256_and_si256 (get_boxes (tables + 4, first), get_boxes (tables + 6, second)),
          get_boxes (tables + 8, cut (p + 2)));
      boxes = _mm256_or_si256 (boxes, more);
      if (!_mm256_testz_si256 (boxes, boxes))
        break;
    }
  return p;
}

const guint8 *
dlp_nfc_skip (const guint8 *p, const guint8 *end)
{
  if (end - p < BLOCK + BEHIND || !__builtin_cpu_supports ("avx2"))
    return dlp_skip_ascii (p, end, FALSE);
  p = skip_blocks (p, end);
  /* The last block may have ended inside a character. */
  while (p < end && (*p & 0xc0) == 0x80)
    p--;
  return p;
}

#else

const guint8 *
dlp_nfc_skip (const guint8 *p, const guint8 *end)
{
  return dlp_skip_ascii (p, end, FALSE);
}

#endif
