/* SPDX-License-Identifier: MIT */
#include "dlp-scan-parts.h"
#include "dlp-char-set.h"
#include "dlp-scan.h"
#include "dlp-utf8.h"

DlpScanned
dlp_scan_decode (const guint8 *p, const guint8 *end)
{
  DlpScanned scanned = { DLP_N_POINTS, 1 };

  if (*p < 0x80)
    scanned.c = *p;
  else
    {
      dlp_unicode_next (p, end, &scanned.len);
      if (scanned.len > 1)
        scanned.c = dlp_utf8_get (p);
    }
  return scanned;
}

const guint8 *
dlp_scan_contraction (const guint8 *p, const guint8 *end, gboolean fold)
{
  guint8 a, b;

  if (end - p < 2 || *p != '\'')
    return NULL;
  a = fold ? g_ascii_tolower (p[1]) : p[1];
  if (a == 's' || a == 'd' || a == 'm' || a == 't')
    return p + 2;
  if (end - p < 3)
    return NULL;
  if (fold && p[1] == 0xc5 && p[2] == 0xbf) /* the long s */
    return p + 3;
  b = fold ? g_ascii_tolower (p[2]) : p[2];
  if ((a == 'l' && b == 'l') || (b == 'e' && (a == 'v' || a == 'r')))
    return p + 3;
  return NULL;
}

const guint8 *
dlp_scan_punctuation (const guint8 *p, const guint8 *end, guint set, gboolean slash)
{
  const guint8 *word = p + (*p == ' ');
  guint len;

  if (!dlp_scan_starts_with (word, end, set, &len))
    return NULL;
  word = dlp_scan_run (word + len, end, set);
  while (word < end && (dlp_scan_is_newline (*word) || (slash && *word == '/')))
    word++;
  return word;
}

const guint8 *
dlp_scan_space (const guint8 *p, const guint8 *end, gboolean newlines, gboolean blank_end)
{
  const guint8 *q = p, *last = p, *after_newline = NULL;
  guint len;

  for (; dlp_scan_starts_with (q, end, DLP_SET (SPACE), &len); q += len)
    {
      last = q;
      if (dlp_scan_is_newline (*q))
        after_newline = q + 1;
    }
  if (q == end && blank_end)
    return q;
  if (newlines && after_newline)
    return after_newline;
  return q == end || last == p ? q : last;
}

const guint8 *
dlp_scan_numbers (const guint8 *p, const guint8 *end, guint max)
{
  guint len;

  for (guint n = 0; n < max && dlp_scan_starts_with (p, end, DLP_SET (NUMBER), &len); n++)
    p += len;
  return p;
}
