/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-unicode.h"

#include <string.h>

#ifdef DLP_NO_SIMD
#elif defined(__AVX512BW__) || defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__) && !defined(DLP_NO_SIMD)
#include <emmintrin.h>
#elif defined(__ARM_NEON) && defined(__aarch64__) && !defined(DLP_NO_SIMD)
#include <arm_neon.h>
#endif

#define DLP_BLOCK_LEN 64
/* so many bytes must be readable where a block begins */
#define DLP_BLOCK_ROOM (DLP_BLOCK_LEN + 3)

/* What 64 bytes of text are: bit i is about byte i. All bytes of a character have its class. A
 * character that is cut off by the end of the block and what follows it has none. */
typedef struct
{
  guint64 upper;    /* Lu Lt */
  guint64 lower;    /* Ll */
  guint64 caseless; /* Lm Lo */
  guint64 mark;     /* M */
  guint64 number;   /* N */
  guint64 space;    /* White_Space */
  guint64 other;

  guint64 newline; /* \r \n */
  guint64 blank;   /* U+0020 */
  guint64 apostrophe;
  guint64 slash;

  guint64 lead[5]; /* by length: the first byte of each character; [0] is not used */
  gboolean is_ascii;
} DlpBlock;

/* ---- 64 bytes compared with one, or with a range ---- */

#if defined(__AVX512BW__) && !defined(DLP_NO_SIMD)

typedef __m512i DlpBytes;

static DLP_INLINE DlpBytes
dlp_bytes_load (const guint8 *p)
{
  return _mm512_loadu_si512 (p);
}

static DLP_INLINE guint64
dlp_bytes_equal (DlpBytes v, guint8 c)
{
  return _mm512_cmpeq_epi8_mask (v, _mm512_set1_epi8 (c));
}

static DLP_INLINE guint64
dlp_bytes_between (DlpBytes v, guint8 first, guint8 last)
{
  return _mm512_cmple_epu8_mask (_mm512_sub_epi8 (v, _mm512_set1_epi8 (first)),
                                 _mm512_set1_epi8 (last - first));
}

static DLP_INLINE guint64
dlp_bytes_high (DlpBytes v)
{
  return _mm512_movepi8_mask (v);
}

#elif defined(__AVX2__) && !defined(DLP_NO_SIMD)

typedef struct
{
  __m256i v[2];
} DlpBytes;

static DLP_INLINE DlpBytes
dlp_bytes_load (const guint8 *p)
{
  return (DlpBytes){ { _mm256_loadu_si256 ((const __m256i *) p),
                       _mm256_loadu_si256 ((const __m256i *) (p + 32)) } };
}

static DLP_INLINE guint64
dlp_bytes_join (__m256i a, __m256i b)
{
  return (guint32) _mm256_movemask_epi8 (a) | (guint64) (guint32) _mm256_movemask_epi8 (b) << 32;
}

static DLP_INLINE guint64
dlp_bytes_equal (DlpBytes v, guint8 c)
{
  __m256i to = _mm256_set1_epi8 (c);

  return dlp_bytes_join (_mm256_cmpeq_epi8 (v.v[0], to), _mm256_cmpeq_epi8 (v.v[1], to));
}

static DLP_INLINE guint64
dlp_bytes_between (DlpBytes v, guint8 first, guint8 last)
{
  __m256i from = _mm256_set1_epi8 (first), width = _mm256_set1_epi8 (last - first);
  __m256i a = _mm256_sub_epi8 (v.v[0], from), b = _mm256_sub_epi8 (v.v[1], from);

  return dlp_bytes_join (_mm256_cmpeq_epi8 (_mm256_min_epu8 (a, width), a),
                         _mm256_cmpeq_epi8 (_mm256_min_epu8 (b, width), b));
}

static DLP_INLINE guint64
dlp_bytes_high (DlpBytes v)
{
  return dlp_bytes_join (v.v[0], v.v[1]);
}

#elif defined(__SSE2__) && !defined(DLP_NO_SIMD)

typedef struct
{
  __m128i v[4];
} DlpBytes;

static DLP_INLINE DlpBytes
dlp_bytes_load (const guint8 *p)
{
  DlpBytes v;

  for (guint i = 0; i < 4; i++)
    v.v[i] = _mm_loadu_si128 ((const __m128i *) (p + 16 * i));
  return v;
}

static DLP_INLINE guint64
dlp_bytes_equal (DlpBytes v, guint8 c)
{
  guint64 mask = 0;

  for (guint i = 0; i < 4; i++)
    mask |= (guint64) (guint) _mm_movemask_epi8 (_mm_cmpeq_epi8 (v.v[i], _mm_set1_epi8 (c)))
            << (16 * i);
  return mask;
}

static DLP_INLINE guint64
dlp_bytes_between (DlpBytes v, guint8 first, guint8 last)
{
  __m128i width = _mm_set1_epi8 (last - first);
  guint64 mask = 0;

  for (guint i = 0; i < 4; i++)
    {
      __m128i a = _mm_sub_epi8 (v.v[i], _mm_set1_epi8 (first));

      mask |= (guint64) (guint) _mm_movemask_epi8 (_mm_cmpeq_epi8 (_mm_min_epu8 (a, width), a))
              << (16 * i);
    }
  return mask;
}

static DLP_INLINE guint64
dlp_bytes_high (DlpBytes v)
{
  guint64 mask = 0;

  for (guint i = 0; i < 4; i++)
    mask |= (guint64) (guint) _mm_movemask_epi8 (v.v[i]) << (16 * i);
  return mask;
}

#elif defined(__ARM_NEON) && defined(__aarch64__) && !defined(DLP_NO_SIMD)

typedef struct
{
  uint8x16_t v[4];
} DlpBytes;

static DLP_INLINE DlpBytes
dlp_bytes_load (const guint8 *p)
{
  DlpBytes v;

  for (guint i = 0; i < 4; i++)
    v.v[i] = vld1q_u8 (p + 16 * i);
  return v;
}

/* Bytes of all ones or zeros to bits: a bit of each is kept, then neighbours are added three times.
 */
static DLP_INLINE guint64
dlp_bytes_join (const uint8x16_t *v)
{
  static const guint8 bits[16] = { 1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128 };
  uint8x16_t bit = vld1q_u8 (bits);
  uint8x16_t a = vpaddq_u8 (vandq_u8 (v[0], bit), vandq_u8 (v[1], bit));
  uint8x16_t b = vpaddq_u8 (vandq_u8 (v[2], bit), vandq_u8 (v[3], bit));

  a = vpaddq_u8 (a, b);
  a = vpaddq_u8 (a, a);
  return vgetq_lane_u64 (vreinterpretq_u64_u8 (a), 0);
}

static DLP_INLINE guint64
dlp_bytes_equal (DlpBytes v, guint8 c)
{
  uint8x16_t equal[4];

  for (guint i = 0; i < 4; i++)
    equal[i] = vceqq_u8 (v.v[i], vdupq_n_u8 (c));
  return dlp_bytes_join (equal);
}

static DLP_INLINE guint64
dlp_bytes_between (DlpBytes v, guint8 first, guint8 last)
{
  uint8x16_t in[4];

  for (guint i = 0; i < 4; i++)
    in[i] = vcleq_u8 (vsubq_u8 (v.v[i], vdupq_n_u8 (first)), vdupq_n_u8 (last - first));
  return dlp_bytes_join (in);
}

static DLP_INLINE guint64
dlp_bytes_high (DlpBytes v)
{
  return dlp_bytes_between (v, 0x80, 0xff);
}

#else

/* Eight bytes at a time in a register. */
typedef struct
{
  guint64 v[8];
} DlpBytes;

static DLP_INLINE DlpBytes
dlp_bytes_load (const guint8 *p)
{
  DlpBytes v;

  for (guint i = 0; i < 8; i++)
    {
      memcpy (&v.v[i], p + 8 * i, 8);
      v.v[i] = GUINT64_FROM_LE (v.v[i]);
    }
  return v;
}

/* The top bits of eight bytes, gathered. */
static DLP_INLINE guint64
dlp_bytes_gather (guint64 v)
{
  return ((v >> 7 & 0x0101010101010101u) * 0x0102040810204080u) >> 56;
}

static DLP_INLINE guint64
dlp_bytes_between (DlpBytes v, guint8 first, guint8 last)
{
  const guint64 ones = 0x0101010101010101u, low = 0x7f * ones;
  guint64 mask = 0;

  /* Of the low seven bits only; bytes with the top bit are taken apart. */
  for (guint i = 0; i < 8; i++)
    {
      guint64 seven = v.v[i] & low;
      guint64 above = seven + (0x80 - (first & 0x7f)) * ones;
      guint64 beyond = seven + (0x7f - (last & 0x7f)) * ones;
      guint64 top = first & 0x80 ? v.v[i] : ~v.v[i];

      mask |= dlp_bytes_gather (above & ~beyond & top) << (8 * i);
    }
  return mask;
}

static DLP_INLINE guint64
dlp_bytes_equal (DlpBytes v, guint8 c)
{
  return dlp_bytes_between (v, c, c);
}

static DLP_INLINE guint64
dlp_bytes_high (DlpBytes v)
{
  guint64 mask = 0;

  for (guint i = 0; i < 8; i++)
    mask |= dlp_bytes_gather (v.v[i]) << (8 * i);
  return mask;
}

#endif

/* ---- classes ---- */

/* What is not UTF-8 is of class OTHER byte by byte; the caller has let it pass. */
static inline void
dlp_block_add_characters (DlpBlock *self, const guint8 *p, guint64 high, guint64 starts)
{
  guint64 classes[DLP_CLASS_NON_ASCII] = { 0 };
  guint64 seen = 0;

  for (; starts; starts &= starts - 1)
    {
      guint i = __builtin_ctzll (starts), len;
      DlpUnicodeClass kind = dlp_unicode_next (p + i, p + DLP_BLOCK_ROOM, &len);
      guint64 bits = (((guint64) 1 << len) - 1) << i;

      if (i + len > DLP_BLOCK_LEN)
        {
          guint64 known = ((guint64) 1 << i) - 1;

          self->upper &= known;
          self->lower &= known;
          self->number &= known;
          self->space &= known;
          self->other &= known;
          self->newline &= known;
          self->blank &= known;
          self->apostrophe &= known;
          self->slash &= known;
          self->lead[1] &= known;
          high &= known;
          break;
        }
      classes[kind] |= bits;
      self->lead[len] |= (guint64) 1 << i;
      seen |= bits;
    }

  self->upper |= classes[DLP_CLASS_UPPER];
  self->lower |= classes[DLP_CLASS_LOWER];
  self->caseless = classes[DLP_CLASS_CASELESS];
  self->mark = classes[DLP_CLASS_MARK];
  self->number |= classes[DLP_CLASS_NUMBER];
  self->space |= classes[DLP_CLASS_SPACE];
  self->other |= classes[DLP_CLASS_OTHER] | (high & ~seen);
  self->lead[1] |= high & ~seen;
}

/* DLP_BLOCK_ROOM bytes at @p can be read. */
static DLP_INLINE DlpBlock
dlp_block_load (const guint8 *p)
{
  DlpBytes v = dlp_bytes_load (p);
  guint64 high = dlp_bytes_high (v);
  guint64 known;
  DlpBlock self = {
    .upper = dlp_bytes_between (v, 'A', 'Z'),
    .lower = dlp_bytes_between (v, 'a', 'z'),
    .number = dlp_bytes_between (v, '0', '9'),
    .blank = dlp_bytes_equal (v, ' '),
    .newline = dlp_bytes_equal (v, '\n') | dlp_bytes_equal (v, '\r'),
    .apostrophe = dlp_bytes_equal (v, '\''),
    .slash = dlp_bytes_equal (v, '/'),
    .is_ascii = high == 0,
  };

  self.space = self.blank | dlp_bytes_between (v, '\t', '\r');
  known = self.upper | self.lower | self.number | self.space | high;
  self.other = ~known;
  self.lead[1] = ~high;
  if (G_UNLIKELY (high))
    {
      DlpBlock full = self; /* so that the compiler may keep the other one in registers */

      dlp_block_add_characters (&full, p, high, dlp_bytes_between (v, 0xc0, 0xff));
      return full;
    }
  return self;
}
