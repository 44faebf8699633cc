/* SPDX-License-Identifier: MIT */
#include "dlp-vocabulary.h"

/* bits of the filter for each slot of the table, as a power of two */
#define FILTER_BITS 3

static guint
bits_for (gsize n)
{
  return MAX (g_bit_storage (n * 2), 8);
}

gboolean
dlp_vocabulary_insert (DlpVocabulary *self, guint32 id)
{
  const guint8 *p = self->bytes + self->starts[id];
  gsize len = self->lengths[id];

  if (dlp_vocabulary_lookup (self, p, len) != DLP_ID_NONE)
    return FALSE;

  if (len <= DLP_KEY_MAX_LEN)
    {
      DlpKey key = dlp_key_load_short (p, len);
      guint32 i = dlp_key_hash (key) & self->shorts_mask;

      while (self->shorts[i].hi)
        i = (i + 1) & self->shorts_mask;
      self->shorts[i] = (DlpShortSlot){ key.lo, key.hi, id, 0 };
    }
  else
    {
      guint64 hash = dlp_hash_bytes (p, len);
      guint32 i = hash & self->longs_mask;

      while (self->longs[i])
        i = (i + 1) & self->longs_mask;
      self->longs[i] = hash >> 32 << 32 | (id + 1);
    }
  return TRUE;
}

guint32
dlp_vocabulary_lookup (const DlpVocabulary *self, const guint8 *p, gsize len)
{
  guint64 hash;

  if (len <= DLP_KEY_MAX_LEN)
    return dlp_vocabulary_lookup_key (self, dlp_key_load_short (p, len));
  if (len > DLP_TOKEN_MAX_LEN)
    return DLP_ID_NONE;

  hash = dlp_hash_bytes (p, len);
  for (guint32 i = hash & self->longs_mask; self->longs[i]; i = (i + 1) & self->longs_mask)
    {
      guint32 id = (guint32) self->longs[i] - 1;

      if (self->longs[i] >> 32 == hash >> 32 && self->lengths[id] == len &&
          memcmp (self->bytes + self->starts[id], p, len) == 0)
        return id;
    }
  return DLP_ID_NONE;
}

static void
collect_pairs (const DlpVocabulary *self, guint32 id, GArray *pairs)
{
  const guint8 *p = self->bytes + self->starts[id];
  gsize len = self->lengths[id];

  for (gsize k = 1; k < len; k++)
    {
      guint64 left = dlp_vocabulary_lookup (self, p, k);
      guint64 right = left == DLP_ID_NONE ? left : dlp_vocabulary_lookup (self, p + k, len - k);

      if (right != DLP_ID_NONE)
        {
          guint64 slot = left << (2 * DLP_ID_BITS) | right << DLP_ID_BITS | id;

          g_array_append_val (pairs, slot);
        }
    }
}

static void
add_pair (DlpVocabulary *self, guint64 slot)
{
  guint64 hash = (slot >> DLP_ID_BITS) * DLP_PAIR_MULTIPLIER;
  guint64 bit = hash >> self->filter_shift;
  guint32 i = hash >> self->pairs_shift;

  while (self->pairs[i] != DLP_PAIR_EMPTY)
    i = (i + 1) & self->pairs_mask;
  self->pairs[i] = slot;
  self->pairs_filter[bit / 64] |= (guint64) 1 << (bit % 64);
}

/* Fills the tables of pairs: every way to cut an entry into two others. */
void
dlp_vocabulary_index (DlpVocabulary *self)
{
  g_autoptr (GArray) pairs = g_array_new (FALSE, FALSE, sizeof (guint64));
  guint bits;

  for (guint32 id = 0; id < self->n_ids; id++)
    collect_pairs (self, id, pairs);

  bits = bits_for (pairs->len);
  self->pairs_shift = 64 - bits;
  self->pairs_mask = (1u << bits) - 1;
  self->pairs = g_new (guint64, (gsize) 1 << bits);
  memset (self->pairs, 0xff, sizeof (guint64) << bits);
  self->filter_shift = self->pairs_shift - FILTER_BITS;
  self->pairs_filter = g_new0 (guint64, ((gsize) 1 << (bits + FILTER_BITS)) / 64);
  for (guint n = 0; n < pairs->len; n++)
    add_pair (self, g_array_index (pairs, guint64, n));

  self->byte_pairs = g_new (guint32, 1 << 16);
  for (guint i = 0; i < 1 << 16; i++)
    self->byte_pairs[i] =
        dlp_vocabulary_merge (self, self->byte_ids[i >> 8], self->byte_ids[i & 255]);
}
