/* SPDX-License-Identifier: MIT */

#pragma once

#include "json-private.h"

/* Scalar pieces of string decoding that every level shares. */

extern const guint8 json_escapes[256]; /* what stands for \x, or 0 */
extern const gint8 json_hex[256];      /* value of a digit, or -1 */

/* For vectors, see json-utf8.c: by the high and the low half of a byte, and the high half of the
 * next. */
extern const guint8 json_utf8_tables[3][16];

#define JSON_IS_HIGH_SURROGATE(c) (((c) &0xfc00) == 0xd800)
#define JSON_IS_LOW_SURROGATE(c) (((c) &0xfc00) == 0xdc00)

/* Where the first fault in a string lies, and its kind; NULL: none, and @end is behind the string.
 */
const guint8 *
json_string_find_fault (const guint8 *p, const guint8 *end, gboolean strict, JsonErrorKind *kind);

/* The four digits at @p as a number, negative if one of them is none. */
JSON_INLINE gint32
json_read_hex (const guint8 *p)
{
  return json_hex[p[0]] * 4096 | json_hex[p[1]] * 256 | json_hex[p[2]] * 16 | json_hex[p[3]];
}

/* Writes 4 bytes whatever the length of the character. */
JSON_INLINE guint8 *
json_write_utf8 (guint8 *dst, guint32 c)
{
  if (c < 0x80)
    {
      dst[0] = c;
      return dst + 1;
    }
  if (c < 0x800)
    {
      dst[0] = 0xc0 | c >> 6;
      dst[1] = 0x80 | (c & 0x3f);
      return dst + 2;
    }
  if (c < 0x10000)
    {
      dst[0] = 0xe0 | c >> 12;
      dst[1] = 0x80 | (c >> 6 & 0x3f);
      dst[2] = 0x80 | (c & 0x3f);
      return dst + 3;
    }
  dst[0] = 0xf0 | c >> 18;
  dst[1] = 0x80 | (c >> 12 & 0x3f);
  dst[2] = 0x80 | (c >> 6 & 0x3f);
  dst[3] = 0x80 | (c & 0x3f);
  return dst + 4;
}

/*
 * Decodes the escape at @p, whose backslash lies before the end of the line. Reads at most 12
 * bytes, so into the padding; the caller sees by the result that the line was over. NULL:
 * malformed, or (with @strict) a lone surrogate.
 */
JSON_INLINE const guint8 *
json_read_escape (const guint8 *p, guint8 **dst, gboolean strict, guint64 *lone_surrogates)
{
  guint8 plain = json_escapes[p[1]];
  gint32 c, low;

  if (G_LIKELY (plain != 0))
    {
      *(*dst)++ = plain;
      return p + 2;
    }

  if (p[1] != 'u' || (c = json_read_hex (p + 2)) < 0)
    return NULL;
  p += 6;

  if (G_UNLIKELY ((c & 0xf800) == 0xd800))
    {
      if (JSON_IS_HIGH_SURROGATE (c) && p[0] == '\\' && p[1] == 'u' &&
          (low = json_read_hex (p + 2)) >= 0 && JSON_IS_LOW_SURROGATE (low))
        {
          c = 0x10000 + ((c & 0x3ff) << 10 | (low & 0x3ff));
          p += 6;
        }
      else
        {
          if (strict)
            return NULL;
          c = 0xfffd;
          *lone_surrogates += 1;
        }
    }

  *dst = json_write_utf8 (*dst, c);
  return p;
}

/* Length of the well-formed sequence at @p (not ASCII), 0: ill-formed, -1: the line ends in it. */
JSON_INLINE int
json_utf8_sequence (const guint8 *p, const guint8 *end)
{
  guint8 lead = p[0], low = 0x80, high = 0xbf;
  int len = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;

  if (lead < 0xc2 || lead > 0xf4)
    return 0;
  if (lead == 0xe0)
    low = 0xa0;
  else if (lead == 0xed)
    high = 0x9f;
  else if (lead == 0xf0)
    low = 0x90;
  else if (lead == 0xf4)
    high = 0x8f;

  for (int i = 1; i < len; i++)
    {
      if (p + i >= end)
        return -1;
      if (p[i] < low || p[i] > high)
        return 0;
      low = 0x80;
      high = 0xbf;
    }

  return len;
}

/* The first quote, backslash or control character at or behind @p; NULL: ill-formed UTF-8 before.
 */
JSON_INLINE const guint8 *
json_scan_plain_scalar (const guint8 *p, const guint8 *end)
{
  while (p < end)
    {
      int len;

      if (G_LIKELY (*p < 0x80))
        {
          if (*p == '"' || *p == '\\' || *p < 0x20)
            return p;
          p++;
          continue;
        }
      if ((len = json_utf8_sequence (p, end)) <= 0)
        return NULL;
      p += len;
    }

  return NULL;
}
