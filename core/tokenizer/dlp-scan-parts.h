/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-unicode.h"

/* What scanners share: alternatives that several patterns have. */

#define DLP_CATEGORY_FIRST_P 12 /* Pc, in the order of unicode/make-table.py */
#define DLP_CATEGORY_LAST_S 22  /* So */

typedef struct
{
  gunichar c; /* DLP_N_POINTS or more where there is no UTF-8 */
  guint len;
} DlpScanned;

static inline gboolean
dlp_scan_is_newline (guint8 c)
{
  return c == '\r' || c == '\n';
}

static inline gboolean
dlp_scan_starts_with (const guint8 *p, const guint8 *end, guint set, guint *len)
{
  return p < end && DLP_IN (set, dlp_unicode_next (p, end, len));
}

/* Numbers of Unicode 17, which the pre-tokenizer Digits knows. */
static const gunichar dlp_new_numbers[][2] = { { 0x11de0, 0x11de9 }, { 0x16ff4, 0x16ff6 } };

static inline gboolean
dlp_scan_is_new_number (gunichar c)
{
  for (guint i = 0; i < G_N_ELEMENTS (dlp_new_numbers); i++)
    if (c >= dlp_new_numbers[i][0] && c <= dlp_new_numbers[i][1])
      return TRUE;
  return FALSE;
}

/* The character at @p < @end; what is not UTF-8 is one byte that counts as unassigned. */
DlpScanned dlp_scan_decode (const guint8 *p, const guint8 *end);

/* '(?:[sdmt]|ll|ve|re), with @fold also in upper case, where s has U+017F as a third form; NULL if
 * that does not match */
const guint8 *dlp_scan_contraction (const guint8 *p, const guint8 *end, gboolean fold);

/* " ?" and a run of @set, then [\r\n]* and with @slash [\r\n/]*; NULL if that does not match */
const guint8 *dlp_scan_punctuation (const guint8 *p, const guint8 *end, guint set, gboolean slash);

/* \s*[\r\n]+ if @newlines, then \s+(?!\S), then \s+; with \s++$ before all of them if @blank_end;
 * where @p is at a space */
const guint8 *
dlp_scan_space (const guint8 *p, const guint8 *end, gboolean newlines, gboolean blank_end);

/* \p{N}{1,@max}, where @p is at a number */
const guint8 *dlp_scan_numbers (const guint8 *p, const guint8 *end, guint max);
