/* SPDX-License-Identifier: MIT */

#include "json-string.h"

#if defined(__x86_64__)

#include <emmintrin.h>

#define JSON_TARGET
#define JSON_PARSE json_parse_sse2
#define BLOCK 16
#define MASK_SHIFT 0

typedef __m128i Vector;

JSON_INLINE Vector
vector_load (const guint8 *p)
{
  return _mm_loadu_si128 ((const __m128i *) p);
}

JSON_INLINE void
vector_store (guint8 *p, Vector v)
{
  _mm_storeu_si128 ((__m128i *) p, v);
}

JSON_INLINE Vector
equals (Vector v, guint8 byte)
{
  return _mm_cmpeq_epi8 (v, _mm_set1_epi8 ((char) byte));
}

JSON_INLINE Vector
at_most (Vector v, guint8 byte)
{
  return _mm_cmpeq_epi8 (_mm_subs_epu8 (v, _mm_set1_epi8 ((char) byte)), _mm_setzero_si128 ());
}

JSON_INLINE guint64
stop_mask (Vector v)
{
  Vector stops = _mm_or_si128 (_mm_or_si128 (equals (v, '"'), equals (v, '\\')), at_most (v, 0x1f));

  return (guint32) _mm_movemask_epi8 (stops);
}

JSON_INLINE guint64
high_mask (Vector v)
{
  return (guint32) _mm_movemask_epi8 (v);
}

/* Signed: below 0x20 is a control character or not ASCII. */
JSON_INLINE guint64
event_mask (Vector v)
{
  Vector events = _mm_or_si128 (_mm_or_si128 (equals (v, '"'), equals (v, '\\')),
                                _mm_cmplt_epi8 (v, _mm_set1_epi8 (0x20)));

  return (guint32) _mm_movemask_epi8 (events);
}

/* @low..@high behind @lead is ill-formed. */
JSON_INLINE Vector
bad_pair (Vector previous, guint8 lead, Vector bad)
{
  return _mm_and_si128 (equals (previous, lead), bad);
}

/* SSE2 has no table lookup: by comparison. */
JSON_INLINE guint64
utf8_errors (const guint8 *p, Vector v)
{
  Vector one = vector_load (p - 1);
  Vector continued = _mm_cmplt_epi8 (v, _mm_set1_epi8 ((char) 0xc0));
  Vector due =
      _mm_or_si128 (_mm_or_si128 (_mm_subs_epu8 (one, _mm_set1_epi8 ((char) 0xbf)),
                                  _mm_subs_epu8 (vector_load (p - 2), _mm_set1_epi8 ((char) 0xdf))),
                    _mm_subs_epu8 (vector_load (p - 3), _mm_set1_epi8 ((char) 0xef)));
  Vector errors = _mm_cmpeq_epi8 (continued, _mm_cmpeq_epi8 (due, _mm_setzero_si128 ()));
  Vector until_8f = at_most (v, 0x8f);
  Vector until_9f = at_most (v, 0x9f);
  Vector ones = _mm_set1_epi8 (-1);

  errors = _mm_or_si128 (errors, bad_pair (one, 0xe0, until_9f));
  errors = _mm_or_si128 (errors, bad_pair (one, 0xed, _mm_andnot_si128 (until_9f, ones)));
  errors = _mm_or_si128 (errors, bad_pair (one, 0xf0, until_8f));
  errors = _mm_or_si128 (errors, bad_pair (one, 0xf4, _mm_andnot_si128 (until_8f, ones)));
  errors = _mm_or_si128 (errors, _mm_or_si128 (equals (v, 0xc0), equals (v, 0xc1)));
  errors = _mm_or_si128 (errors, _mm_andnot_si128 (at_most (v, 0xf4), ones));

  return (guint32) _mm_movemask_epi8 (errors);
}

#include "json-vector-template.h"
#include "json-walk-template.h"

#endif
