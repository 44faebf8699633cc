/* SPDX-License-Identifier: MIT */
#include "dlp-scan.h"
#include "dlp-scan-parts.h"

const guint8 *
dlp_scan_run (const guint8 *p, const guint8 *end, guint set)
{
  guint len;

  while (p < end && DLP_IN (set, dlp_unicode_next (p, end, &len)))
    p += len;
  return p;
}

const guint8 *
dlp_scan_gpt2_any (const guint8 *p, const guint8 *end)
{
  const guint8 *stop = dlp_scan_contraction (p, end, FALSE);
  const guint8 *word = p + (*p == ' ');
  DlpUnicodeClass first;
  guint len;

  if (stop)
    return stop;
  if (word == end)
    return end;
  first = dlp_unicode_next (word, end, &len);
  if (DLP_IN (DLP_SET_LETTER, first))
    return dlp_scan_run (word + len, end, DLP_SET_LETTER);
  if (DLP_IN (DLP_SET_PUNCT, first))
    return dlp_scan_run (word + len, end, DLP_SET_PUNCT);
  if (first == DLP_CLASS_NUMBER)
    return dlp_scan_run (word + len, end, DLP_SET (NUMBER));
  return dlp_scan_space (p, end, FALSE, TRUE);
}

const guint8 *
dlp_scan_cl100k_any (const guint8 *p, const guint8 *end, gboolean blank_end)
{
  const guint8 *stop = dlp_scan_contraction (p, end, TRUE);
  DlpUnicodeClass first;
  guint len, next;

  if (stop)
    return stop;
  first = dlp_unicode_next (p, end, &len);
  if (DLP_IN (DLP_SET_LETTER, first))
    return dlp_scan_run (p + len, end, DLP_SET_LETTER);
  if (first == DLP_CLASS_NUMBER)
    return dlp_scan_numbers (p, end, 3);
  if (!dlp_scan_is_newline (*p) && dlp_scan_starts_with (p + len, end, DLP_SET_LETTER, &next))
    return dlp_scan_run (p + len + next, end, DLP_SET_LETTER);

  stop = dlp_scan_punctuation (p, end, DLP_SET_PUNCT, FALSE);
  return stop ? stop : dlp_scan_space (p, end, TRUE, blank_end);
}

/* [Lu Lt Lm Lo M]*[Ll Lm Lo M]+ at @p, NULL if that does not match. Then @upper_end is the end of
 * [Lu Lt]* there. The first loop takes all it can; if no Ll follows, it has to give back up to the
 * last character that is in both sets, and the second loop ends with that one. */
static const guint8 *
scan_cased (const guint8 *p, const guint8 *end, const guint8 **upper_end)
{
  const guint8 *last_both = NULL;
  DlpUnicodeClass kind = DLP_CLASS_SPACE;
  guint len;

  for (; p < end; p += len)
    {
      kind = dlp_unicode_next (p, end, &len);
      if (kind == DLP_CLASS_CASELESS || kind == DLP_CLASS_MARK)
        last_both = p + len;
      else if (kind != DLP_CLASS_UPPER)
        break;
    }

  *upper_end = p;
  if (p < end && kind == DLP_CLASS_LOWER)
    return dlp_scan_run (p, end, DLP_SET (LOWER) | DLP_SET (CASELESS) | DLP_SET (MARK));
  return last_both;
}

/* The first two alternatives of o200k without what follows the word. The optional first character
 * is tried with, then without; without it only a mark can begin a word that is not a letter. */
static const guint8 *
scan_word (const guint8 *p, const guint8 *end)
{
  const guint8 *stop, *upper_end, *ignored;
  DlpUnicodeClass first;
  guint len;

  first = dlp_unicode_next (p, end, &len);
  if (first == DLP_CLASS_NUMBER || dlp_scan_is_newline (*p))
    return NULL;
  if (DLP_IN (DLP_SET_LETTER, first))
    len = 0;

  stop = scan_cased (p + len, end, &upper_end);
  if (stop == NULL && first == DLP_CLASS_MARK)
    stop = scan_cased (p, end, &ignored);
  if (stop == NULL && upper_end > p + len)
    stop = upper_end;
  return stop;
}

const guint8 *
dlp_scan_o200k_any (const guint8 *p, const guint8 *end)
{
  const guint8 *stop = scan_word (p, end);
  guint len;

  if (stop)
    {
      const guint8 *contraction = dlp_scan_contraction (stop, end, TRUE);

      return contraction ? contraction : stop;
    }
  if (dlp_scan_starts_with (p, end, DLP_SET (NUMBER), &len))
    return dlp_scan_numbers (p, end, 3);
  stop = dlp_scan_punctuation (p, end, DLP_SET_PUNCT, TRUE);
  return stop ? stop : dlp_scan_space (p, end, TRUE, FALSE);
}
