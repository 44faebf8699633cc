/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* Of valid UTF-8 alone. */

static inline guint
dlp_utf8_len (guint8 first)
{
  return first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

static inline gunichar
dlp_utf8_get (const guint8 *p)
{
  gunichar c = p[0];

  if (c < 0x80)
    return c;
  if (c < 0xe0)
    return (c & 0x1f) << 6 | (p[1] & 0x3f);
  if (c < 0xf0)
    return (c & 0x0f) << 12 | (p[1] & 0x3f) << 6 | (p[2] & 0x3f);
  return (c & 0x07) << 18 | (p[1] & 0x3f) << 12 | (p[2] & 0x3f) << 6 | (p[3] & 0x3f);
}
