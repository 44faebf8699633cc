/* SPDX-License-Identifier: MIT */
#pragma once

#include "dedup-table.h"

G_BEGIN_DECLS

#define DEDUP_FILTER_BLOCK 64 /* bytes: a cache line */

/* Says of most keys that are not in a run that they are not: a Bloom filter whose bits of one key
 * are in one block. Blocks are in the order of the keys, so that a run fills them in turn, and that
 * two neighbours can become one. */
typedef struct
{
  guint64 *words; /* NULL: there is none, and any key may be there */
  gsize n_blocks;
} DedupFilter;

/* As many bytes as are of use for @n_keys, at most @max_bytes; none where that is too few. */
void dedup_filter_init (DedupFilter *self, guint64 n_keys, gsize max_bytes);
void dedup_filter_clear (DedupFilter *self);
/* How many bytes are of use for so many keys. */
gsize dedup_filter_get_wanted (guint64 n_keys);
gsize dedup_filter_get_bytes (const DedupFilter *self);
/* Of @n_keys keys: to half of its bytes, or to none where that is too few for them. */
void dedup_filter_halve (DedupFilter *self, guint64 n_keys);

static inline guint64 *
dedup_filter_get_block (const DedupFilter *self, const DedupKey *key)
{
  return self->words + dedup_key_place (key, self->n_blocks) * (DEDUP_FILTER_BLOCK / 8);
}

static inline void
dedup_filter_add (DedupFilter *self, const DedupKey *key)
{
  guint64 *block;

  if (self->words == NULL)
    return;
  block = dedup_filter_get_block (self, key);
  for (guint shift = 0; shift < 36; shift += 9)
    {
      guint bit = (key->low >> shift) & 511;

      block[bit / 64] |= G_GUINT64_CONSTANT (1) << (bit % 64);
    }
}

static inline gboolean
dedup_filter_may_contain (const DedupFilter *self, const DedupKey *key)
{
  const guint64 *block;
  guint64 all = 1;

  if (self->words == NULL)
    return TRUE;
  block = dedup_filter_get_block (self, key);
  for (guint shift = 0; shift < 36; shift += 9)
    {
      guint bit = (key->low >> shift) & 511;

      all &= block[bit / 64] >> (bit % 64);
    }
  return all & 1;
}

static inline void
dedup_filter_prefetch (const DedupFilter *self, const DedupKey *key)
{
  if (self->words != NULL)
    __builtin_prefetch (dedup_filter_get_block (self, key));
}

G_END_DECLS
