/* SPDX-License-Identifier: MIT */
#include "dlp-letters.h"

#define FIRST_OTHER 0x100u
#define IS_OWN(c) (((c) >= 0x21 && (c) <= 0x7e) || ((c) >= 0xa1 && (c) <= 0xff && (c) != 0xad))

/* The others: 0x00 to 0x20, 0x7f to 0xa0, 0xad. */
static int
byte_of_letter (guint c)
{
  if (c < FIRST_OTHER)
    return IS_OWN (c) ? (int) c : -1;
  c -= FIRST_OTHER;
  if (c <= 0x20)
    return c;
  if (c <= 0x42)
    return c - 0x21 + 0x7f;
  return c == 0x43 ? 0xad : -1;
}

gssize
dlp_letters_decode (const char *text, gsize len, guint8 *out)
{
  const guint8 *p = (const guint8 *) text, *end = p + len;
  gsize n = 0;

  while (p < end)
    {
      guint c = *p++;
      int byte;

      if (c >= 0xe0)
        return -1;
      if (c >= 0x80)
        c = (c & 0x1f) << 6 | (*p++ & 0x3f);
      byte = byte_of_letter (c);
      if (byte < 0)
        return -1;
      out[n++] = byte;
    }
  return n;
}

gsize
dlp_letters_encode (guint8 byte, char *out)
{
  guint c = byte;

  if (byte <= 0x20)
    c = FIRST_OTHER + byte;
  else if (byte >= 0x7f && byte <= 0xa0)
    c = FIRST_OTHER + 0x21 + (byte - 0x7f);
  else if (byte == 0xad)
    c = FIRST_OTHER + 0x43;
  return g_unichar_to_utf8 (c, out);
}
