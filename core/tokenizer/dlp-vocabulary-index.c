/* SPDX-License-Identifier: MIT */
#include "dlp-huge.h"
#include "dlp-vocabulary.h"

/* bits of the filter for each slot of the table, as a power of two */
#define FILTER_BITS 3

static guint
bits_for (gsize n)
{
  return MAX (g_bit_storage (n * 2), 8);
}

/* The index is as large as the entries that there are now need. */
void
dlp_vocabulary_reserve (DlpVocabulary *self)
{
  gsize n_short = 0, n_long = 0, n;

  for (guint32 id = 0; id < self->n_ids; id++)
    {
      self->longest = MAX (self->longest, self->lengths[id]);
      if (self->lengths[id] > DLP_KEY_MAX_LEN)
        n_long++;
      else if (self->lengths[id] > 0)
        n_short++;
    }

  n = (gsize) 1 << bits_for (n_short);
  self->shorts = dlp_huge_alloc0 (n * sizeof (DlpShortSlot));
  self->shorts_mask = n - 1;
  n = (gsize) 1 << bits_for (n_long);
  self->longs = g_new0 (guint64, n);
  self->longs_mask = n - 1;
}

/* FALSE if there is an entry of the same bytes. */
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
  if (len > self->longest)
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

static inline void
prefetch (const DlpVocabulary *self, const guint8 *p, gsize len)
{
  if (len <= DLP_KEY_MAX_LEN)
    __builtin_prefetch (
        &self->shorts[dlp_key_hash (dlp_key_load_short (p, len)) & self->shorts_mask]);
}

/* The index is megabytes: what the next entry will ask of it is fetched meanwhile. */
static void
prefetch_parts (const DlpVocabulary *self, guint32 id)
{
  const guint8 *p = self->bytes + self->starts[id];
  gsize len = self->lengths[id];

  for (gsize k = 1; k < len; k++)
    {
      prefetch (self, p, k);
      prefetch (self, p + k, len - k);
    }
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
          guint64 slot = DLP_PAIR (left, right, id);

          g_array_append_val (pairs, slot);
        }
    }
}

static void
add_pair (DlpVocabulary *self, guint64 slot)
{
  guint64 hash = DLP_PAIR_KEY (slot) * DLP_PAIR_MULTIPLIER;
  guint64 bit = hash >> self->filter_shift;
  guint32 first = hash >> self->pairs_shift, i = first;

  for (; self->pairs[i] != DLP_PAIR_EMPTY; i = (i + 1) & self->pairs_mask)
    if (DLP_PAIR_KEY (self->pairs[i]) == DLP_PAIR_KEY (slot))
      return;
  if (i != first)
    self->pairs[first] |= DLP_PAIR_ELSEWHERE;
  self->pairs[i] = slot;
  self->pairs_filter[bit / 64] |= (guint64) 1 << (bit % 64);
}

/* Every way to cut one of the first @n_entries entries into two that can be looked up; the merge is
 * the entry. */
GArray *
dlp_vocabulary_collect_pairs (const DlpVocabulary *self, guint32 n_entries)
{
  GArray *pairs = g_array_new (FALSE, FALSE, sizeof (guint64));

  for (guint32 id = 0; id < n_entries; id++)
    {
      if (id + 1 < n_entries)
        prefetch_parts (self, id + 1);
      collect_pairs (self, id, pairs);
    }
  return pairs;
}

void
dlp_vocabulary_find_byte_ids (DlpVocabulary *self)
{
  for (guint i = 0; i < 256; i++)
    {
      guint8 byte = i;

      self->byte_ids[i] = dlp_vocabulary_lookup (self, &byte, 1);
    }
}

static void
index_byte_pairs (DlpVocabulary *self)
{
  self->byte_pairs = g_new (guint32, 1 << 16);
  for (guint i = 0; i < 1 << 16; i++)
    {
      guint32 left = self->byte_ids[i >> 8], right = self->byte_ids[i & 255];

      self->byte_pairs[i] = left == DLP_ID_NONE || right == DLP_ID_NONE ?
                                DLP_ID_NONE :
                                dlp_vocabulary_merge (self, left, right);
    }
}

/* Each is a DLP_PAIR(); of those of the same two the last one counts. */
void
dlp_vocabulary_set_pairs (DlpVocabulary *self, const GArray *pairs, gboolean of_bytes)
{
  guint bits = bits_for (pairs->len);

  dlp_huge_free (self->pairs);
  dlp_huge_free (self->pairs_filter);
  g_free (self->byte_pairs);
  self->pairs_shift = 64 - bits;
  self->pairs_mask = (1u << bits) - 1;
  self->pairs = dlp_huge_alloc0 (sizeof (guint64) << bits);
  for (gsize i = 0; i < (gsize) 1 << bits; i++)
    self->pairs[i] = DLP_PAIR_EMPTY;
  self->filter_shift = self->pairs_shift - FILTER_BITS;
  self->pairs_filter = dlp_huge_alloc0 (((gsize) 1 << (bits + FILTER_BITS)) / 8);
  for (guint n = pairs->len; n-- > 0;)
    add_pair (self, g_array_index (pairs, guint64, n));
  if (of_bytes)
    index_byte_pairs (self);
}
