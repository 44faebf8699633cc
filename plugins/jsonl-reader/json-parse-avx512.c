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

JSON_INLINE JSON_TARGET guint64
hex_digit_mask (Vector v)
{
  Vector number = _mm512_sub_epi8 (v, _mm512_set1_epi8 ('0'));
  Vector letter =
      _mm512_sub_epi8 (_mm512_or_si512 (v, _mm512_set1_epi8 (0x20)), _mm512_set1_epi8 ('a'));

  return _mm512_cmplt_epu8_mask (number, _mm512_set1_epi8 (10)) |
         _mm512_cmplt_epu8_mask (letter, _mm512_set1_epi8 (6));
}

/* What the digits @offset bytes further on are worth; something below 16 for other bytes. */
JSON_INLINE JSON_TARGET Vector
hex_values (const guint8 *p, guint offset)
{
  Vector v = _mm512_maskz_loadu_epi8 (G_MAXUINT64 >> offset, p + offset);
  __mmask64 letters = _mm512_test_epi8_mask (v, _mm512_set1_epi8 (0x40));

  v = _mm512_mask_add_epi8 (v, letters, v, _mm512_set1_epi8 (9));
  return _mm512_and_si512 (v, _mm512_set1_epi8 (0x0f));
}

/* A vector while it is decoded. */
typedef struct
{
  Vector bytes;
  guint64 dropped;
  guint64 stops;
} Decoded;

/*
 * All escapes \\uXXXX of the vector at @p at once. Such an escape has six bytes, its UTF-8 at most
 * three, which are made in the places of the backslash, the u and the first digit. Each of them
 * needs but two digits, and these lie two and three bytes behind its own place. An escape that is
 * malformed, half of a pair, or cut by the vector's end becomes a stop.
 */
JSON_INLINE JSON_TARGET void
decode_units (const guint8 *p, Vector v, guint64 starts, Decoded *decoded)
{
  const Vector eights = _mm512_set1_epi8 (8);
  const Vector continued = _mm512_set1_epi8 ((char) 0x80);
  const Vector six_bits = _mm512_set1_epi8 (0x3f);
  Vector digit = hex_values (p, 2);
  Vector next = hex_values (p, 3);
  guint64 hex = hex_digit_mask (v);
  guint64 next_below_8 = _mm512_cmplt_epu8_mask (next, eights);
  guint64 surrogates = _mm512_cmpeq_epi8_mask (digit, _mm512_set1_epi8 (0xd)) & ~next_below_8;
  guint64 good = starts & hex >> 2 & hex >> 3 & hex >> 4 & hex >> 5 & ~surrogates;
  guint64 below_800 = good & _mm512_testn_epi8_mask (digit, digit) & next_below_8;
  guint64 below_80 =
      below_800 & _mm512_testn_epi8_mask (next, next) & _mm512_cmplt_epu8_mask (digit, eights) >> 2;
  Vector first = _mm512_or_si512 (digit, _mm512_set1_epi8 ((char) 0xe0));
  Vector second = _mm512_or_si512 (_mm512_slli_epi16 (digit, 2), _mm512_srli_epi16 (next, 2));
  Vector ascii = _mm512_or_si512 (_mm512_slli_epi16 (digit, 4), next);
  Vector third = _mm512_or_si512 (_mm512_and_si512 (ascii, six_bits), continued);

  second = _mm512_or_si512 (_mm512_and_si512 (second, six_bits), continued);
  second = _mm512_mask_add_epi8 (second, below_800 << 1, second, _mm512_set1_epi8 (0x40));
  third = _mm512_mask_mov_epi8 (third, below_80 << 2, ascii);

  v = _mm512_mask_mov_epi8 (decoded->bytes, good, first);
  v = _mm512_mask_mov_epi8 (v, good << 1, second);
  decoded->bytes = _mm512_mask_mov_epi8 (v, good << 2, third);
  decoded->dropped &= ~good;
  decoded->dropped |= good << 3 | good << 4 | good << 5 | below_800 | below_80 << 1;
  decoded->stops |= starts & ~good;
}

/* All escapes of the vector at once: what it costs does not grow with their number. */
JSON_INLINE JSON_TARGET Decoded
decode_vector (const guint8 *p, Vector v)
{
  const guint64 last = G_GUINT64_CONSTANT (1) << 63;
  Vector plain = unescape (v);
  guint64 dropped = escaping_backslashes (_mm512_cmpeq_epi8_mask (v, _mm512_set1_epi8 ('\\')));
  guint64 escaped = dropped << 1;
  guint64 unknown = escaped & _mm512_testn_epi8_mask (plain, plain);
  guint64 units = unknown & _mm512_cmpeq_epi8_mask (v, _mm512_set1_epi8 ('u'));
  guint64 quotes = _mm512_cmpeq_epi8_mask (v, _mm512_set1_epi8 ('"')) & ~escaped;
  guint64 controls = _mm512_cmplt_epu8_mask (v, _mm512_set1_epi8 (0x20));
  Decoded decoded = { .bytes = _mm512_mask_mov_epi8 (v, escaped, plain),
                      .dropped = dropped,
                      .stops = quotes | controls | (unknown ^ units) >> 1 | (dropped & last) };

  if (units != 0)
    decode_units (p, v, units >> 1, &decoded);
  return decoded;
}

JSON_INLINE JSON_TARGET const guint8 *
read_one_escape (JsonWalk *walk, const guint8 *p, guint8 **dst, gboolean store)
{
  gboolean strict = (walk->plan->flags & JSON_FLAGS_STRICT) != 0;
  guint8 unused[4];
  guint8 *to = store ? *dst : unused;

  p = json_read_escape (p, &to, strict, &walk->lone_surrogates);
  if (store)
    *dst = to;
  return p;
}

JSON_INLINE JSON_TARGET const guint8 *
read_escaped_into (JsonWalk *walk, const guint8 *p, guint8 **out, gboolean store)
{
  guint8 *dst = store ? *out : NULL;
  gboolean open = FALSE;

  /* A first key has but two bytes before it in the line; utf8_errors() looks at three. */
  if (G_UNLIKELY (p < walk->line + 3) && (p = read_one_escape (walk, p, &dst, store)) == NULL)
    return NULL;

  while (p < walk->end)
    {
      Vector v = vector_load (p);
      Decoded decoded = decode_vector (p, v);
      guint n = decoded.stops != 0 ? __builtin_ctzll (decoded.stops) : BLOCK;

      if (!check_utf8 (p, v, decoded.stops, &open))
        return NULL;
      if (store)
        {
          guint64 kept = ~decoded.dropped & _bzhi_u64 (G_MAXUINT64, n);

          _mm512_storeu_si512 (dst, _mm512_maskz_compress_epi8 (kept, decoded.bytes));
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
      /* Perhaps only cut by the vector's end. */
      if (n > BLOCK - 6)
        continue;

      p = read_one_escape (walk, p, &dst, store);
      if (p == NULL)
        return NULL;
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
