/* SPDX-License-Identifier: MIT */
#include "dlp-letters.h"
#include "dlp-byte-letters.h"

gssize
dlp_letters_decode (const char *text, gsize len, guint8 *out)
{
  const guint8 *p = (const guint8 *) text, *end = p + len;
  gsize n = 0;

  while (p < end)
    {
      guint c = *p++, byte;

      if (c >= 0xe0)
        return -1;
      if (c >= 0x80)
        c = (c & 0x1f) << 6 | (*p++ & 0x3f);
      byte = dlp_byte_of_letter (c);
      if (byte == DLP_LETTER_NONE)
        return -1;
      out[n++] = byte;
    }
  return n;
}

gsize
dlp_letters_encode (guint8 byte, char *out)
{
  return g_unichar_to_utf8 (dlp_letter_of_byte (byte), out);
}
