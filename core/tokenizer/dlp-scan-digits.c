/* SPDX-License-Identifier: MIT */
#include "dlp-scan-known.h"
#include "dlp-scan-parts.h"
#include "dlp-scan.h"

#include <string.h>

#define FIRST_LEAD 0xf0 /* of UTF-8, of all numbers that are new in Unicode 17 */

/* The stage that cuts at numbers has a newer version of Unicode than the pattern. */
static gboolean
starts_with_number (const guint8 *p, const guint8 *end, guint *len)
{
  gunichar c;

  if (p == end)
    return FALSE;
  if (*p != FIRST_LEAD)
    return dlp_unicode_next (p, end, len) == DLP_CLASS_NUMBER;
  c = dlp_scan_decode (p, end).c;
  return dlp_unicode_next (p, end, len) == DLP_CLASS_NUMBER || dlp_scan_is_new_number (c);
}

/* The pattern takes a new number for something else. */
static const guint8 *
stop_at_new_number (const guint8 *p, const guint8 *stop)
{
  const guint8 *q = p;

  while ((q = memchr (q, FIRST_LEAD, stop - q)) != NULL)
    {
      if (dlp_scan_is_new_number (dlp_scan_decode (q, stop).c))
        return q;
      q++;
    }
  return stop;
}

/* Each number is a piece; what is between two of them is cut by gpt2's pattern, by itself. Of that
 * pattern only \s+(?!\S) looks further than the piece: to it a number is the end of the text. */
const guint8 *
dlp_scan_digits (const guint8 *p, const guint8 *end)
{
  const guint8 *q = p;
  guint len;

  if (starts_with_number (p, end, &len))
    return p + len;
  while (dlp_scan_starts_with (q, end, DLP_SET (SPACE), &len))
    q += len;
  if (q > p && starts_with_number (q, end, &len))
    return q;
  return stop_at_new_number (p, dlp_scan_gpt2_any (p, end));
}
