/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-unicode.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* A scanner returns the end of the piece that starts at @p < @end. It never reads at or past @end,
 * and always moves. The meaning of each known pattern is spelled out once, without special cases
 * for speed, in dlp-scan.c; the inline functions below take the frequent cases away from it. */
const guint8 *dlp_scan_gpt2_any (const guint8 *p, const guint8 *end);
const guint8 *dlp_scan_cl100k_any (const guint8 *p, const guint8 *end, gboolean blank_end);
const guint8 *dlp_scan_o200k_any (const guint8 *p, const guint8 *end);

const guint8 *dlp_scan_run (const guint8 *p, const guint8 *end, guint set);

#ifdef __SSE2__

/* bit i: p[i] is an ASCII letter */
static inline guint
dlp_letters16 (const guint8 *p)
{
  __m128i v = _mm_loadu_si128 ((const __m128i *) p);
  __m128i from_a = _mm_sub_epi8 (_mm_or_si128 (v, _mm_set1_epi8 (0x20)), _mm_set1_epi8 ('a'));

  return _mm_movemask_epi8 (_mm_cmpeq_epi8 (_mm_min_epu8 (from_a, _mm_set1_epi8 (25)), from_a));
}

static inline guint
dlp_lower16 (const guint8 *p)
{
  __m128i from_a = _mm_sub_epi8 (_mm_loadu_si128 ((const __m128i *) p), _mm_set1_epi8 ('a'));

  return _mm_movemask_epi8 (_mm_cmpeq_epi8 (_mm_min_epu8 (from_a, _mm_set1_epi8 (25)), from_a));
}

/* how many of the 16 bytes at @p are spaces before the first that is not */
static inline guint
dlp_spaces16 (const guint8 *p)
{
  __m128i v = _mm_loadu_si128 ((const __m128i *) p);

  return __builtin_ctz (~_mm_movemask_epi8 (_mm_cmpeq_epi8 (v, _mm_set1_epi8 (' '))));
}

#else

static inline guint
dlp_spaces16 (const guint8 *p)
{
  guint n = 0;

  while (n < 16 && p[n] == ' ')
    n++;
  return n;
}

static inline guint
dlp_lower16 (const guint8 *p)
{
  guint mask = 0;

  for (guint i = 0; i < 16; i++)
    mask |= (guint) (dlp_ascii_class[p[i]] == DLP_CLASS_LOWER) << i;
  return mask;
}

static inline guint
dlp_letters16 (const guint8 *p)
{
  guint mask = 0;

  for (guint i = 0; i < 16; i++)
    mask |= (guint) DLP_IN (DLP_SET_LETTER, dlp_ascii_class[p[i]]) << i;
  return mask;
}

#endif

/* how many of the low 16 bits are set before the first that is not */
static inline guint
dlp_count_ones16 (guint mask)
{
  return __builtin_ctz (~mask | 0x10000);
}

static DLP_INLINE const guint8 *
dlp_scan_letters (const guint8 *p, const guint8 *end)
{
  while (end - p > 16)
    {
      guint n = dlp_count_ones16 (dlp_letters16 (p));

      p += n;
      if (n < 16)
        return *p < 0x80 ? p : dlp_scan_run (p, end, DLP_SET_LETTER);
    }
  return dlp_scan_run (p, end, DLP_SET_LETTER);
}

/* a run of ASCII in @set; NULL if a character that is not ASCII or the end comes next */
static DLP_INLINE const guint8 *
dlp_scan_ascii (const guint8 *p, const guint8 *end, guint set)
{
  while (p < end && DLP_IN (set, dlp_ascii_class[*p]))
    p++;
  return p < end && *p < 0x80 ? p : NULL;
}

/* White space in ASCII that begins at @p; NULL if a character that is not ASCII or the end follows
 */
static DLP_INLINE const guint8 *
dlp_scan_blank (const guint8 *p, const guint8 *end, gboolean newlines)
{
  const guint8 *q = p, *after_newline = NULL;

  while (end - q > 16)
    {
      q += dlp_spaces16 (q);
      if (dlp_ascii_class[*q] != DLP_CLASS_SPACE)
        break;
      if (newlines && (*q == '\r' || *q == '\n'))
        after_newline = q + 1;
      q++;
    }
  if (end - q <= 16 || *q >= 0x80)
    return NULL;
  if (after_newline)
    return after_newline;
  return q - p > 1 ? q - 1 : q;
}

static DLP_INLINE const guint8 *
dlp_scan_gpt2 (const guint8 *p, const guint8 *end)
{
  const guint8 *start = p, *stop;

  if (end - p < 2)
    return dlp_scan_gpt2_any (p, end);

  p += *p == ' ';
  switch (dlp_ascii_class[*p])
    {
    case DLP_CLASS_UPPER:
    case DLP_CLASS_LOWER:
      return dlp_scan_letters (p, end);

    case DLP_CLASS_OTHER:
      if (*start == '\'' && DLP_IN (DLP_SET_LETTER, dlp_ascii_class[start[1]]))
        return dlp_scan_gpt2_any (start, end);
      stop = dlp_scan_ascii (p, end, DLP_SET (OTHER));
      break;

    case DLP_CLASS_NUMBER:
      stop = dlp_scan_ascii (p, end, DLP_SET (NUMBER));
      break;

    case DLP_CLASS_SPACE:
      stop = dlp_scan_blank (start, end, FALSE);
      break;

    default:
      stop = NULL;
      break;
    }
  return stop ? stop : dlp_scan_gpt2_any (start, end);
}

static DLP_INLINE const guint8 *
dlp_scan_digits3 (const guint8 *p, const guint8 *end)
{
  guint n = 1;

  while (n < 3 && p + n < end && dlp_ascii_class[p[n]] == DLP_CLASS_NUMBER)
    n++;
  return n == 3 || (p + n < end && p[n] < 0x80) ? p + n : NULL;
}

static DLP_INLINE const guint8 *
dlp_scan_cl100k (const guint8 *p, const guint8 *end, gboolean blank_end)
{
  const guint8 *stop = NULL;
  guint first, second;

  if (end - p < 2)
    return dlp_scan_cl100k_any (p, end, blank_end);

  first = dlp_ascii_class[p[0]];
  second = dlp_ascii_class[p[1]];
  if (DLP_IN (DLP_SET_LETTER, first))
    return dlp_scan_letters (p + 1, end);

  if (first == DLP_CLASS_NUMBER)
    stop = dlp_scan_digits3 (p, end);
  else if (DLP_IN (DLP_SET_LETTER, second) && *p != '\'' && *p != '\r' && *p != '\n' && *p < 0x80)
    return dlp_scan_letters (p + 1, end);
  else if ((first == DLP_CLASS_OTHER && second < DLP_CLASS_NON_ASCII &&
            !(*p == '\'' && DLP_IN (DLP_SET_LETTER, second))) ||
           (*p == ' ' && second == DLP_CLASS_OTHER))
    {
      stop = dlp_scan_ascii (p + 1, end, DLP_SET (OTHER));
      while (stop && stop < end && (*stop == '\r' || *stop == '\n'))
        stop++;
    }
  else if (first == DLP_CLASS_SPACE)
    {
      stop = dlp_scan_blank (p, end, TRUE);
    }
  return stop ? stop : dlp_scan_cl100k_any (p, end, blank_end);
}

static DLP_INLINE const guint8 *
dlp_scan_o200k (const guint8 *p, const guint8 *end)
{
  const guint8 *stop = NULL;
  guint first, second;

  if (end - p < 18)
    return dlp_scan_o200k_any (p, end);

  first = dlp_ascii_class[p[0]];
  second = dlp_ascii_class[p[1]];
  if (first == DLP_CLASS_NUMBER)
    {
      stop = dlp_scan_digits3 (p, end);
    }
  else if (DLP_IN (DLP_SET_LETTER, first) ||
           (DLP_IN (DLP_SET_LETTER, second) && *p != '\r' && *p != '\n' && *p < 0x80))
    {
      const guint8 *word = p + !DLP_IN (DLP_SET_LETTER, first);
      guint lower = dlp_lower16 (word);
      guint n = dlp_count_ones16 (dlp_letters16 (word) & ~lower);

      n += dlp_count_ones16 (lower >> n);
      if (n < 16 && word[n] < 0x80 && word[n] != '\'')
        return word + n;
    }
  else if ((first == DLP_CLASS_OTHER && second != DLP_CLASS_NON_ASCII) ||
           (*p == ' ' && second == DLP_CLASS_OTHER))
    {
      stop = dlp_scan_ascii (p + 1, end, DLP_SET (OTHER));
      while (stop && stop < end && (*stop == '\r' || *stop == '\n' || *stop == '/'))
        stop++;
    }
  else if (first == DLP_CLASS_SPACE)
    {
      stop = dlp_scan_blank (p, end, TRUE);
    }
  return stop ? stop : dlp_scan_o200k_any (p, end);
}
