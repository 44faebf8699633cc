/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* Byte-level BPE writes each byte as a letter: the printable ones of Latin-1 as themselves, the
 * others in order from U+0100 on. */

#define DLP_LETTER_NONE G_MAXUINT

static inline gunichar
dlp_letter_of_byte (guint8 b)
{
  if (b <= 0x20)
    return 0x100 + b;
  if (b >= 0x7f && b <= 0xa0)
    return 0x121 + b - 0x7f;
  return b == 0xad ? 0x143 : b;
}

/* DLP_LETTER_NONE if @c stands for no byte */
static inline guint
dlp_byte_of_letter (gunichar c)
{
  if (c >= 0x100 && c <= 0x120)
    return c - 0x100;
  if (c >= 0x121 && c <= 0x142)
    return c - 0x121 + 0x7f;
  if (c == 0x143)
    return 0xad;
  return c > 0xff || c <= 0x20 || (c >= 0x7f && c <= 0xa0) || c == 0xad ? DLP_LETTER_NONE : c;
}
