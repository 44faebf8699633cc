/* SPDX-License-Identifier: MIT */
#include "dlp-scan.h"

const guint8 *
dlp_scan_run (const guint8 *p, const guint8 *end, guint set)
{
  guint len;

  while (p < end && DLP_IN (set, dlp_unicode_next (p, end, &len)))
    p += len;
  return p;
}

static gboolean
starts_with (const guint8 *p, const guint8 *end, guint set, guint *len)
{
  return p < end && DLP_IN (set, dlp_unicode_next (p, end, len));
}

static gboolean
is_newline (guint8 c)
{
  return c == '\r' || c == '\n';
}

/* \s*[\r\n]+ if @newlines, then \s+(?!\S), then \s; with \s++$ before all of them if @blank_end */
static const guint8 *
scan_space (const guint8 *p, const guint8 *end, gboolean newlines, gboolean blank_end)
{
  const guint8 *q = p, *last = p, *after_newline = NULL;
  guint len;

  for (; starts_with (q, end, DLP_SET (SPACE), &len); q += len)
    {
      last = q;
      if (is_newline (*q))
        after_newline = q + 1;
    }

  if (q == end && blank_end)
    return q;
  if (newlines && after_newline)
    return after_newline;
  return q == end || last == p ? q : last;
}

/* '(?:[sdmt]|ll|ve|re), with @fold also in upper case, where s has U+017F as a third form */
static const guint8 *
scan_contraction (const guint8 *p, const guint8 *end, gboolean fold)
{
  guint8 a, b;

  if (end - p < 2 || *p != '\'')
    return NULL;
  a = fold ? g_ascii_tolower (p[1]) : p[1];
  if (a == 's' || a == 'd' || a == 'm' || a == 't')
    return p + 2;
  if (end - p < 3)
    return NULL;
  if (fold && p[1] == 0xc5 && p[2] == 0xbf)
    return p + 3;
  b = fold ? g_ascii_tolower (p[2]) : p[2];
  if ((a == 'l' && b == 'l') || (b == 'e' && (a == 'v' || a == 'r')))
    return p + 3;
  return NULL;
}

const guint8 *
dlp_scan_gpt2_any (const guint8 *p, const guint8 *end)
{
  const guint8 *stop = scan_contraction (p, end, FALSE);
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
  return scan_space (p, end, FALSE, TRUE);
}

/* \p{N}{1,3} */
static const guint8 *
scan_numbers (const guint8 *p, const guint8 *end)
{
  guint len;

  for (guint n = 0; n < 3 && starts_with (p, end, DLP_SET (NUMBER), &len); n++)
    p += len;
  return p;
}

/* " ?[^\s\p{L}\p{N}]+[\r\n]*", with @slash [\r\n/]*; NULL if that does not match */
static const guint8 *
scan_punctuation (const guint8 *p, const guint8 *end, gboolean slash)
{
  const guint8 *word = p + (*p == ' ');
  guint len;

  if (!starts_with (word, end, DLP_SET_PUNCT, &len))
    return NULL;
  word = dlp_scan_run (word + len, end, DLP_SET_PUNCT);
  while (word < end && (is_newline (*word) || (slash && *word == '/')))
    word++;
  return word;
}

const guint8 *
dlp_scan_cl100k_any (const guint8 *p, const guint8 *end, gboolean blank_end)
{
  const guint8 *stop = scan_contraction (p, end, TRUE);
  DlpUnicodeClass first;
  guint len, next;

  if (stop)
    return stop;
  first = dlp_unicode_next (p, end, &len);
  if (DLP_IN (DLP_SET_LETTER, first))
    return dlp_scan_run (p + len, end, DLP_SET_LETTER);
  if (first == DLP_CLASS_NUMBER)
    return scan_numbers (p, end);
  if (!is_newline (*p) && starts_with (p + len, end, DLP_SET_LETTER, &next))
    return dlp_scan_run (p + len + next, end, DLP_SET_LETTER);

  stop = scan_punctuation (p, end, FALSE);
  return stop ? stop : scan_space (p, end, TRUE, blank_end);
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
  if (first == DLP_CLASS_NUMBER || is_newline (*p))
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
      const guint8 *contraction = scan_contraction (stop, end, TRUE);

      return contraction ? contraction : stop;
    }
  if (starts_with (p, end, DLP_SET (NUMBER), &len))
    return scan_numbers (p, end);
  stop = scan_punctuation (p, end, TRUE);
  return stop ? stop : scan_space (p, end, TRUE, FALSE);
}
