/* SPDX-License-Identifier: MIT */

#include "json-string.h"

#if defined(__x86_64__)

#include <immintrin.h>

/* Ice Lake, Zen 4 and later. What came before has AVX-512 without VBMI, and is better off with
 * AVX2. */
#define JSON_TARGET                                                                                \
  __attribute__ ((                                                                                 \
      target ("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,avx2,bmi,bmi2,popcnt,lzcnt")))
#define JSON_PARSE json_parse_avx512
#define BLOCK 64
#define MASK_SHIFT 0
#define JSON_OWN_READ_ESCAPED

typedef __m512i Vector;

JSON_INLINE JSON_TARGET Vector
vector_load (const guint8 *p)
{
  return _mm512_loadu_si512 (p);
}

JSON_INLINE JSON_TARGET guint64
stop_mask (Vector v)
{
  return _mm512_cmpeq_epi8_mask (v, _mm512_set1_epi8 ('"')) |
         _mm512_cmpeq_epi8_mask (v, _mm512_set1_epi8 ('\\')) |
         _mm512_cmplt_epu8_mask (v, _mm512_set1_epi8 (0x20));
}

JSON_INLINE JSON_TARGET guint64
high_mask (Vector v)
{
  return _mm512_movepi8_mask (v);
}

/* Signed: below 0x20 is a control character or not ASCII. */
JSON_INLINE JSON_TARGET guint64
event_mask (Vector v)
{
  return _mm512_cmpeq_epi8_mask (v, _mm512_set1_epi8 ('"')) |
         _mm512_cmpeq_epi8_mask (v, _mm512_set1_epi8 ('\\')) |
         _mm512_cmplt_epi8_mask (v, _mm512_set1_epi8 (0x20));
}

JSON_INLINE JSON_TARGET Vector
load_table (guint i)
{
  return _mm512_broadcast_i32x4 (_mm_loadu_si128 ((const __m128i *) json_utf8_tables[i]));
}

JSON_INLINE JSON_TARGET Vector
high_halves (Vector v)
{
  return _mm512_and_si512 (_mm512_srli_epi16 (v, 4), _mm512_set1_epi8 (0x0f));
}

JSON_INLINE JSON_TARGET guint64
utf8_errors (const guint8 *p, Vector v)
{
  const Vector a_high = load_table (0);
  const Vector a_low = load_table (1);
  const Vector b_high = load_table (2);
  Vector one = vector_load (p - 1);
  Vector classes = _mm512_and_si512 (
      _mm512_and_si512 (_mm512_shuffle_epi8 (a_high, high_halves (one)),
                        _mm512_shuffle_epi8 (a_low, _mm512_and_si512 (one, _mm512_set1_epi8 (15)))),
      _mm512_shuffle_epi8 (b_high, high_halves (v)));
  Vector third = _mm512_subs_epu8 (vector_load (p - 2), _mm512_set1_epi8 (0xe0 - 0x80));
  Vector fourth = _mm512_subs_epu8 (vector_load (p - 3), _mm512_set1_epi8 (0xf0 - 0x80));
  Vector due = _mm512_and_si512 (_mm512_or_si512 (third, fourth), _mm512_set1_epi8 ((char) 0x80));
  Vector errors = _mm512_xor_si512 (classes, due);

  return _mm512_test_epi8_mask (errors, errors);
}

#include "json-vector-template.h"

/* The backslashes that begin an escape, where the vector begins outside of one. */
JSON_INLINE JSON_TARGET guint64
escaping_backslashes (guint64 backslashes)
{
  guint64 escaping = 0;

  if (G_LIKELY ((backslashes & backslashes << 1) == 0))
    return backslashes;

  while (backslashes != 0)
    {
      guint64 first = backslashes & -backslashes;

      escaping |= first;
      backslashes &= ~(first | first << 1);
    }

  return escaping;
}

/* What the bytes stand for behind a backslash; 0: nothing, or a \u. */
JSON_INLINE JSON_TARGET Vector
unescape (Vector v)
{
  Vector low = vector_load (json_escapes);
  Vector high = vector_load (json_escapes + 64);

  return _mm512_mask_mov_epi8 (_mm512_permutex2var_epi8 (low, v, high), _mm512_movepi8_mask (v),
                               _mm512_setzero_si512 ());
}

/* 1 to 3 bytes of UTF-8 in each lane, from its first byte on. */
JSON_INLINE JSON_TARGET __m256i
encode_units (__m256i units, __mmask8 two_or_more, __mmask8 three)
{
  const __m256i six = _mm256_set1_epi32 (0x3f);
  __m256i last = _mm256_and_si256 (units, six);
  __m256i middle = _mm256_and_si256 (_mm256_srli_epi32 (units, 6), six);
  __m256i of_two = _mm256_or_si256 (_mm256_srli_epi32 (units, 6), _mm256_slli_epi32 (last, 8));
  __m256i of_three = _mm256_or_si256 (
      _mm256_srli_epi32 (units, 12),
      _mm256_or_si256 (_mm256_slli_epi32 (middle, 8), _mm256_slli_epi32 (last, 16)));

  of_two = _mm256_or_si256 (of_two, _mm256_set1_epi32 (0x80c0));
  of_three = _mm256_or_si256 (of_three, _mm256_set1_epi32 (0x8080e0));
  units = _mm256_mask_mov_epi32 (units, two_or_more, of_two);
  return _mm256_mask_mov_epi32 (units, three, of_three);
}

/*
 * Up to 8 escapes \uXXXX in a row; ends before one that is malformed or half of a pair. Returns how
 * many there were.
 */
JSON_INLINE JSON_TARGET guint
read_code_units (const guint8 *p, guint8 **dst, gboolean store)
{
  /* The digits of escape i lie at 6 i + 2. */
  const __m256i digit_at =
      _mm256_setr_epi8 (2, 3, 4, 5, 8, 9, 10, 11, 14, 15, 16, 17, 20, 21, 22, 23, 26, 27, 28, 29,
                        32, 33, 34, 35, 38, 39, 40, 41, 44, 45, 46, 47);
  Vector v = vector_load (p);
  __m256i digits =
      _mm512_castsi512_si256 (_mm512_permutexvar_epi8 (_mm512_castsi256_si512 (digit_at), v));
  __m256i values = _mm512_castsi512_si256 (_mm512_permutex2var_epi8 (
      vector_load ((const guint8 *) json_hex), _mm512_castsi256_si512 (digits),
      vector_load ((const guint8 *) json_hex + 64)));
  __m256i units = _mm256_madd_epi16 (_mm256_maddubs_epi16 (values, _mm256_set1_epi16 (0x0110)),
                                     _mm256_set1_epi32 (0x00010100));
  guint64 starts = _mm512_cmpeq_epi8_mask (v, _mm512_set1_epi8 ('\\')) &
                   _mm512_cmpeq_epi8_mask (v, _mm512_set1_epi8 ('u')) >> 1;
  guint32 usable = _pext_u64 (starts, G_GUINT64_CONSTANT (0x0000041041041041));
  guint n;

  usable &= ~(guint32) _mm256_test_epi32_mask (_mm256_or_si256 (values, digits),
                                               _mm256_set1_epi32 ((int) 0x80808080));
  usable &= ~(guint32) _mm256_cmpeq_epi32_mask (
      _mm256_and_si256 (units, _mm256_set1_epi32 (0xf800)), _mm256_set1_epi32 (0xd800));
  n = __builtin_ctz (~usable | 0x100);

  if (store)
    {
      __mmask8 two_or_more = _mm256_cmpgt_epi32_mask (units, _mm256_set1_epi32 (0x7f));
      __mmask8 three = _mm256_cmpgt_epi32_mask (units, _mm256_set1_epi32 (0x7ff));
      __m256i bytes = encode_units (units, two_or_more, three);
      guint32 kept =
          0x11111111 | _pdep_u32 (two_or_more, 0x22222222) | _pdep_u32 (three, 0x44444444);

      kept &= (guint32) ((G_GUINT64_CONSTANT (1) << 4 * n) - 1);
      _mm256_storeu_si256 ((__m256i *) *dst, _mm256_maskz_compress_epi8 (kept, bytes));
      *dst += __builtin_popcount (kept);
    }

  return n;
}

/* Drops the backslashes of a whole vector at once: what it costs does not grow with the escapes. */
JSON_INLINE JSON_TARGET const guint8 *
read_escaped_into (JsonWalk *walk, const guint8 *p, guint8 **out, gboolean store)
{
  gboolean strict = (walk->plan->flags & JSON_FLAGS_STRICT) != 0;
  guint8 unused[4];
  guint8 *dst = store ? *out : NULL;
  gboolean open = FALSE;

  while (p < walk->end)
    {
      Vector v = vector_load (p);
      Vector plain = unescape (v);
      guint64 escaping = escaping_backslashes (_mm512_cmpeq_epi8_mask (v, _mm512_set1_epi8 ('\\')));
      guint64 escaped = escaping << 1;
      guint64 unknown = escaped & _mm512_testn_epi8_mask (plain, plain);
      guint64 stops = (_mm512_cmpeq_epi8_mask (v, _mm512_set1_epi8 ('"')) & ~escaped) |
                      _mm512_cmplt_epu8_mask (v, _mm512_set1_epi8 (0x20)) | unknown >> 1 |
                      (escaping & G_GUINT64_CONSTANT (1) << 63);
      guint n = stops != 0 ? __builtin_ctzll (stops) : BLOCK;
      guint units;

      if (!check_utf8 (p, v, stops, &open))
        return NULL;
      if (store)
        {
          guint64 kept = ~escaping & _bzhi_u64 (G_MAXUINT64, n);

          v = _mm512_mask_mov_epi8 (v, escaped, plain);
          _mm512_storeu_si512 (dst, _mm512_maskz_compress_epi8 (kept, v));
          dst += __builtin_popcountll (kept);
        }

      p += n;
      if (n == BLOCK)
        continue;
      if (p >= walk->end)
        return NULL;
      if (*p == '"')
        {
          if (store)
            *out = dst;
          return p + 1;
        }
      if (*p != '\\')
        return NULL;
      if (n == BLOCK - 1)
        continue;

      units = read_code_units (p, &dst, store);
      if (units > 0)
        p += 6 * units;
      else
        {
          guint8 *to = store ? dst : unused;

          p = json_read_escape (p, &to, strict, &walk->lone_surrogates);
          if (p == NULL)
            return NULL;
          if (store)
            dst = to;
        }
    }

  return NULL;
}

static JSON_TARGET const guint8 *
read_escaped (JsonWalk *walk, const guint8 *p, guint8 **dst)
{
  return dst != NULL ? read_escaped_into (walk, p, dst, TRUE) :
                       read_escaped_into (walk, p, NULL, FALSE);
}

#include "json-walk-template.h"

#endif
