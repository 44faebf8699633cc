/* SPDX-License-Identifier: MIT */
#include "dlp-char-set.h"
#include "dlp-scan-known.h"
#include "dlp-scan-parts.h"
#include "dlp-scan.h"

#define FIRST_HAN 0x2e80

/* o200k's pattern and two that are made from it: tekken's has no contractions and one digit a
 * piece,
 *
 *   [^\r\n\p{L}\p{N}]?U*W+|[^\r\n\p{L}\p{N}]?U+W*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|
 *   \s*[\r\n]+|\s+(?!\S)|\s+         with U = [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]
 *                                    and  W = [\p{Ll}\p{Lm}\p{Lo}\p{M}]
 *
 * Kimi-K2's begins with \p{Han}+ and has no Han in U and W, contractions, three digits a piece, and
 * no slash behind punctuation. */

static gboolean
is_han (gunichar c)
{
  guint low = 0, high = dlp_unicode_n_han;

  if (c < FIRST_HAN || c >= DLP_N_POINTS)
    return FALSE;
  while (low < high)
    {
      guint middle = (low + high) / 2;

      if (c > dlp_unicode_han[middle][1])
        low = middle + 1;
      else
        high = middle;
    }
  return low < dlp_unicode_n_han && c >= dlp_unicode_han[low][0];
}

/* With @han_apart a letter or mark of the script Han is of none of the classes of U and W. */
static DlpUnicodeClass
next_of_word (const guint8 *p, const guint8 *end, gboolean han_apart, guint *len)
{
  DlpUnicodeClass class = dlp_unicode_next (p, end, len);

  if (han_apart && (class == DLP_CLASS_CASELESS || class == DLP_CLASS_MARK) &&
      is_han (dlp_scan_decode (p, end).c))
    return DLP_CLASS_OTHER;
  return class;
}

static const guint8 *
scan_lower (const guint8 *p, const guint8 *end, gboolean han_apart)
{
  const guint set = DLP_SET (LOWER) | DLP_SET (CASELESS) | DLP_SET (MARK);
  guint len;

  while (p < end && DLP_IN (set, next_of_word (p, end, han_apart, &len)))
    p += len;
  return p;
}

/* U*W+ at @p, NULL if that does not match. Then @upper_end is the end of [Lu Lt]* there. U* takes
 * all it can; if no Ll follows, it has to give back up to the last character that is in both sets,
 * and W+ ends with that one. */
static const guint8 *
scan_cased (const guint8 *p, const guint8 *end, gboolean han_apart, const guint8 **upper_end)
{
  const guint8 *last_both = NULL;
  DlpUnicodeClass class = DLP_CLASS_SPACE;
  guint len;

  for (; p < end; p += len)
    {
      class = next_of_word (p, end, han_apart, &len);
      if (class == DLP_CLASS_CASELESS || class == DLP_CLASS_MARK)
        last_both = p + len;
      else if (class != DLP_CLASS_UPPER)
        break;
    }
  *upper_end = p;
  return p < end && class == DLP_CLASS_LOWER ? scan_lower (p, end, han_apart) : last_both;
}

/* The two alternatives of words. The optional first character is tried with, then without; without
 * it only a mark can begin a word that is not a letter. */
static const guint8 *
scan_word (const guint8 *p, const guint8 *end, gboolean han_apart)
{
  const guint8 *stop, *upper_end, *ignored;
  DlpUnicodeClass first;
  guint len;

  first = dlp_unicode_next (p, end, &len);
  if (first == DLP_CLASS_NUMBER || dlp_scan_is_newline (*p))
    return NULL;
  if (DLP_IN (DLP_SET_LETTER, first))
    len = 0;

  stop = scan_cased (p + len, end, han_apart, &upper_end);
  if (stop == NULL && first == DLP_CLASS_MARK)
    stop = scan_cased (p, end, han_apart, &ignored);
  if (stop == NULL && upper_end > p + len)
    stop = upper_end;
  return stop;
}

static const guint8 *
scan_other (const guint8 *p, const guint8 *end, guint max_numbers, gboolean slash)
{
  const guint8 *stop;
  guint len;

  if (dlp_scan_starts_with (p, end, DLP_SET (NUMBER), &len))
    return dlp_scan_numbers (p, end, max_numbers);
  stop = dlp_scan_punctuation (p, end, DLP_SET_PUNCT, slash);
  return stop ? stop : dlp_scan_space (p, end, TRUE, FALSE);
}

const guint8 *
dlp_scan_tekken (const guint8 *p, const guint8 *end)
{
  const guint8 *stop = scan_word (p, end, FALSE);

  return stop ? stop : scan_other (p, end, 1, TRUE);
}

static const guint8 *
scan_han (const guint8 *p, const guint8 *end)
{
  while (p < end)
    {
      DlpScanned scanned = dlp_scan_decode (p, end);

      if (!is_han (scanned.c))
        break;
      p += scanned.len;
    }
  return p;
}

const guint8 *
dlp_scan_kimi_k2 (const guint8 *p, const guint8 *end)
{
  const guint8 *stop = scan_han (p, end), *contraction;

  if (stop > p)
    return stop;
  stop = scan_word (p, end, TRUE);
  if (stop == NULL)
    return scan_other (p, end, 3, FALSE);
  contraction = dlp_scan_contraction (stop, end, TRUE);
  return contraction ? contraction : stop;
}
