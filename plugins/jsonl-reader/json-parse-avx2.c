/* SPDX-License-Identifier: MIT */

#include "json-string.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define JSON_TARGET __attribute__ ((target ("avx2,bmi,bmi2,popcnt,lzcnt")))
#define JSON_PARSE json_parse_avx2
#define BLOCK 32
#define MASK_SHIFT 0

typedef __m256i Vector;

JSON_INLINE JSON_TARGET Vector
vector_load (const guint8 *p)
{
  return _mm256_loadu_si256 ((const __m256i *) p);
}

JSON_INLINE JSON_TARGET void
vector_store (guint8 *p, Vector v)
{
  _mm256_storeu_si256 ((__m256i *) p, v);
}

JSON_INLINE JSON_TARGET Vector
quotes_and_backslashes (Vector v)
{
  return _mm256_or_si256 (_mm256_cmpeq_epi8 (v, _mm256_set1_epi8 ('"')),
                          _mm256_cmpeq_epi8 (v, _mm256_set1_epi8 ('\\')));
}

JSON_INLINE JSON_TARGET guint64
stop_mask (Vector v)
{
  Vector controls = _mm256_cmpeq_epi8 (_mm256_min_epu8 (v, _mm256_set1_epi8 (0x1f)), v);

  return (guint32) _mm256_movemask_epi8 (_mm256_or_si256 (quotes_and_backslashes (v), controls));
}

JSON_INLINE JSON_TARGET guint64
high_mask (Vector v)
{
  return (guint32) _mm256_movemask_epi8 (v);
}

/* Signed: below 0x20 is a control character or not ASCII. */
JSON_INLINE JSON_TARGET guint64
event_mask (Vector v)
{
  Vector events =
      _mm256_or_si256 (quotes_and_backslashes (v), _mm256_cmpgt_epi8 (_mm256_set1_epi8 (0x20), v));

  return (guint32) _mm256_movemask_epi8 (events);
}

JSON_INLINE JSON_TARGET Vector
load_table (guint i)
{
  return _mm256_broadcastsi128_si256 (_mm_loadu_si128 ((const __m128i *) json_utf8_tables[i]));
}

JSON_INLINE JSON_TARGET Vector
high_halves (Vector v)
{
  return _mm256_and_si256 (_mm256_srli_epi16 (v, 4), _mm256_set1_epi8 (0x0f));
}

JSON_INLINE JSON_TARGET guint64
utf8_errors (const guint8 *p, Vector v)
{
  const Vector a_high = load_table (0);
  const Vector a_low = load_table (1);
  const Vector b_high = load_table (2);
  Vector one = vector_load (p - 1);
  Vector classes = _mm256_and_si256 (
      _mm256_and_si256 (_mm256_shuffle_epi8 (a_high, high_halves (one)),
                        _mm256_shuffle_epi8 (a_low, _mm256_and_si256 (one, _mm256_set1_epi8 (15)))),
      _mm256_shuffle_epi8 (b_high, high_halves (v)));
  Vector third = _mm256_subs_epu8 (vector_load (p - 2), _mm256_set1_epi8 (0xe0 - 0x80));
  Vector fourth = _mm256_subs_epu8 (vector_load (p - 3), _mm256_set1_epi8 (0xf0 - 0x80));
  Vector due = _mm256_and_si256 (_mm256_or_si256 (third, fourth), _mm256_set1_epi8 ((char) 0x80));
  Vector errors = _mm256_xor_si256 (classes, due);

  return ~(guint32) _mm256_movemask_epi8 (_mm256_cmpeq_epi8 (errors, _mm256_setzero_si256 ()));
}

#include "json-vector-template.h"
#include "json-walk-template.h"

#endif
