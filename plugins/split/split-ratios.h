/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define SPLIT_MAX_SIDES 32

/* The sides of a split. Hashes are dealt by integers alone: ratios are counted in units of 10^-9,
 * and side i gets the hashes h with h * total / 2^64 in [ends[i - 1], ends[i]). */
typedef struct
{
  guint n_sides;
  char *names[SPLIT_MAX_SIDES + 1]; /* NULL-terminated */
  guint64 ends[SPLIT_MAX_SIDES];    /* the last is the total */
} SplitRatios;

/* (transfer full) (nullable): of "train:0.99,valid:0.01". */
SplitRatios *split_ratios_parse (const char *text, GError **error);
void split_ratios_free (SplitRatios *self);
/* -1: there is none. */
int split_ratios_find (const SplitRatios *self, const char *name);

static inline guint
split_ratios_get_side (const SplitRatios *self, guint64 hash)
{
  guint64 at = (guint64) (((unsigned __int128) hash * self->ends[self->n_sides - 1]) >> 64);
  guint side = 0;

  while (at >= self->ends[side])
    side++;
  return side;
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SplitRatios, split_ratios_free)

G_END_DECLS
