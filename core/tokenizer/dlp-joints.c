/* SPDX-License-Identifier: MIT */
#include "dlp-joints.h"

#include <string.h>

#define BITS_PER_JOINT 16
#define MIN_BITS 12
#define MAX_BITS 22

void
dlp_joints_init (DlpJoints *self, gsize n_expected)
{
  guint bits = CLAMP (g_bit_storage (n_expected * BITS_PER_JOINT), MIN_BITS, MAX_BITS);

  memset (self->ascii, 0, sizeof self->ascii);
  self->others = g_new0 (guint64, ((gsize) 1 << bits) / 64);
  self->shift = 64 - bits;
}

void
dlp_joints_clear (DlpJoints *self)
{
  g_clear_pointer (&self->others, g_free);
}

void
dlp_joints_add (DlpJoints *self,
                const guint8 *left,
                gsize left_len,
                const guint8 *right,
                gsize right_len)
{
  const guint8 *last = left + left_len - 1;
  gunichar l, r;
  guint64 bit;

  while (last > left && (*last & 0xc0) == 0x80)
    last--;
  l = g_utf8_get_char ((const char *) last);
  r = g_utf8_get_char ((const char *) right);
  if ((l | r) < 128)
    {
      self->ascii[l][r / 64] |= (guint64) 1 << (r % 64);
      return;
    }
  bit = dlp_joints_bit (self, l, r);
  self->others[bit / 64] |= (guint64) 1 << (bit % 64);
}
