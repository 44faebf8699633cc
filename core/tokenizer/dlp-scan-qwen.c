/* SPDX-License-Identifier: MIT */
#include "dlp-scan-known.h"
#include "dlp-scan-parts.h"
#include "dlp-scan.h"

/* cl100k's pattern as it was, with other letters and one digit a piece:
 *
 *   (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?L+|\p{N}| ?[^\sL\p{N}]+[\r\n]*|
 *   \s*[\r\n]+|\s+(?!\S)|\s+
 *
 * A mark that may itself begin a word does so also where it could stand in front of one: the piece
 * is the same. */
static const guint8 *
scan (const guint8 *p, const guint8 *end, guint letters)
{
  const guint8 *stop = dlp_scan_contraction (p, end, TRUE);
  DlpUnicodeClass first;
  guint len, next;

  if (stop)
    return stop;
  first = dlp_unicode_next (p, end, &len);
  if (DLP_IN (letters, first))
    return dlp_scan_run (p + len, end, letters);
  if (first == DLP_CLASS_NUMBER)
    return p + len;
  if (!dlp_scan_is_newline (*p) && dlp_scan_starts_with (p + len, end, letters, &next))
    return dlp_scan_run (p + len + next, end, letters);

  stop = dlp_scan_punctuation (p, end, DLP_SET_PUNCT & ~letters, FALSE);
  return stop ? stop : dlp_scan_space (p, end, TRUE, FALSE);
}

/* L is \p{L} */
const guint8 *
dlp_scan_qwen2 (const guint8 *p, const guint8 *end)
{
  return scan (p, end, DLP_SET_LETTER);
}

/* L is [\p{L}\p{M}] */
const guint8 *
dlp_scan_qwen35 (const guint8 *p, const guint8 *end)
{
  return scan (p, end, DLP_SET_LETTER | DLP_SET (MARK));
}
