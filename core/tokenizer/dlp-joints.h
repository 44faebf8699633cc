/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* Between which two characters a merge can ever join what is left of them with what is right. Where
 * it cannot, a text may be cut. May say "yes" where the answer is "no". */
typedef struct
{
  guint64 ascii[128][2];
  guint64 *others;
  guint shift;
} DlpJoints;

void dlp_joints_init (DlpJoints *self, gsize n_expected);
void dlp_joints_clear (DlpJoints *self);

/* A merge of these two; both are valid UTF-8 and not empty. */
void dlp_joints_add (DlpJoints *self,
                     const guint8 *left,
                     gsize left_len,
                     const guint8 *right,
                     gsize right_len);

static inline guint64
dlp_joints_bit (const DlpJoints *self, gunichar left, gunichar right)
{
  return (((guint64) left << 32 | right) * 0x9e3779b97f4a7c15u) >> self->shift;
}

static inline gboolean
dlp_joints_has_ascii (const DlpJoints *self, gunichar left, gunichar right)
{
  return self->ascii[left][right / 64] >> (right % 64) & 1;
}

static inline gboolean
dlp_joints_has (const DlpJoints *self, gunichar left, gunichar right)
{
  guint64 bit;

  if ((left | right) < 128)
    return dlp_joints_has_ascii (self, left, right);
  bit = dlp_joints_bit (self, left, right);
  return self->others[bit / 64] >> (bit % 64) & 1;
}
