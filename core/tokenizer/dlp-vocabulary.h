/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-key.h"

#define DLP_ID_NONE G_MAXUINT32
#define DLP_ID_BITS 21
#define DLP_ID_LIMIT (1u << DLP_ID_BITS)
#define DLP_TOKEN_MAX_LEN 1024
#define DLP_PAIR(left, right, merge)                                                               \
  ((guint64) (left) << (2 * DLP_ID_BITS) | (guint64) (right) << DLP_ID_BITS | (merge))
/* In a slot of the table, on top: a pair whose first slot this is had to go to another one. */
#define DLP_PAIR_ELSEWHERE ((guint64) 1 << 63)
#define DLP_PAIR_KEY(pair) (((pair) & ~DLP_PAIR_ELSEWHERE) >> DLP_ID_BITS)
#define DLP_PAIR_LEFT(pair) ((guint32) (DLP_PAIR_KEY (pair) >> DLP_ID_BITS))
#define DLP_PAIR_RIGHT(pair) ((guint32) ((pair) >> DLP_ID_BITS & (DLP_ID_LIMIT - 1)))
#define DLP_PAIR_MERGE(pair) ((guint32) ((pair) & (DLP_ID_LIMIT - 1)))

typedef struct
{
  guint64 lo;
  guint64 hi;
  guint32 id;
  guint32 pad;
} DlpShortSlot;

typedef struct _DlpBpeTable DlpBpeTable;

/* The entries of a model: bytes to id, and which two neighbours merge into what. Read-only once
 * loaded; that of a rank file is shared by all tokenizers of the process made from the same file.
 *
 * A pair that merges has a number, its merge. In a rank file that is the id of the result and its
 * rank too. Elsewhere merge_ids gives the id of the result, and merge_ranks the rank. */
typedef struct
{
  guint ref_count; /* under the lock of dlp-vocabulary.c */
  char *sha256;

  guint32 n_ids; /* largest id + 1 */
  guint32 n_tokens;
  guint32 longest;
  guint8 *bytes;
  guint32 *starts;       /* by id */
  guint16 *lengths;      /* by id; 0 is a hole */
  guint32 byte_ids[256]; /* DLP_ID_NONE where a byte has no entry */
  guint32 *merge_ids;    /* NULL: the merge itself */
  guint32 *merge_ranks;  /* NULL: the merge itself; else several may have the same */

  DlpShortSlot *shorts; /* entries of at most DLP_KEY_MAX_LEN bytes */
  guint32 shorts_mask;
  GHashTable *foreign; /* of what is no text's: content to id + 1; may be NULL */
  guint64 *longs;      /* of the others, id + 1 below the upper half of their hash */
  guint32 longs_mask;
  guint64 *pairs;        /* left, right and result, DLP_ID_BITS each */
  guint64 *pairs_filter; /* a bit for the hash of each pair: most pairs that are asked for do not
                          * merge, and this is small enough to stay in a near cache */
  guint32 *byte_pairs;   /* the merge of two bytes, by left << 8 | right; NULL where entries are
                          * made of characters */
  DlpBpeTable *table;    /* to encode without merging; may be NULL */
  guint pairs_shift;
  guint filter_shift;
  guint32 pairs_mask;
} DlpVocabulary;

#define DLP_PAIR_EMPTY ((guint64) G_MAXINT64)
#define DLP_PAIR_MULTIPLIER 0x9e3779b97f4a7c15u

DlpVocabulary *dlp_vocabulary_get (GBytes *file, const char *where, GError **error);
DlpVocabulary *dlp_vocabulary_ref (DlpVocabulary *self);
void dlp_vocabulary_unref (DlpVocabulary *self);

DlpVocabulary *
dlp_vocabulary_parse (const char *data, gsize size, const char *where, GError **error);
void dlp_vocabulary_free (DlpVocabulary *self);

guint32 dlp_vocabulary_lookup (const DlpVocabulary *self, const guint8 *p, gsize len);

/* To make one: bytes, starts and lengths of all ids; room for the index; each id that can be looked
 * up; the pairs. */
DlpVocabulary *dlp_vocabulary_new (guint32 n_ids, gsize n_bytes);
void dlp_vocabulary_reserve (DlpVocabulary *self);
gboolean dlp_vocabulary_insert (DlpVocabulary *self, guint32 id);
void dlp_vocabulary_find_byte_ids (DlpVocabulary *self);
GArray *dlp_vocabulary_collect_pairs (const DlpVocabulary *self, guint32 n_entries);
void dlp_vocabulary_set_pairs (DlpVocabulary *self, const GArray *pairs, gboolean of_bytes);

static inline guint32
dlp_vocabulary_lookup_key (const DlpVocabulary *self, DlpKey key)
{
  guint32 i = dlp_key_hash (key) & self->shorts_mask;

  for (; self->shorts[i].hi; i = (i + 1) & self->shorts_mask)
    if (((self->shorts[i].lo ^ key.lo) | (self->shorts[i].hi ^ key.hi)) == 0)
      return self->shorts[i].id;

  return DLP_ID_NONE;
}

/* The merge of @left and @right, DLP_ID_NONE if there is none. */
static inline guint32
dlp_vocabulary_merge (const DlpVocabulary *self, guint32 left, guint32 right)
{
  guint64 key = (guint64) left << DLP_ID_BITS | right;
  guint64 hash = key * DLP_PAIR_MULTIPLIER;
  guint64 bit = hash >> self->filter_shift;
  guint32 i = hash >> self->pairs_shift;

  if (!(self->pairs_filter[bit / 64] >> (bit % 64) & 1))
    return DLP_ID_NONE;

  for (;; i = (i + 1) & self->pairs_mask)
    {
      guint64 slot = self->pairs[i];

      if (DLP_PAIR_KEY (slot) == key)
        return slot & (DLP_ID_LIMIT - 1);
      if (slot == DLP_PAIR_EMPTY)
        return DLP_ID_NONE;
    }
}

static inline guint32
dlp_vocabulary_merge_id (const DlpVocabulary *self, guint32 merge)
{
  return self->merge_ids ? self->merge_ids[merge] : merge;
}

static inline guint32
dlp_vocabulary_merge_rank (const DlpVocabulary *self, guint32 merge)
{
  return self->merge_ranks && merge != DLP_ID_NONE ? self->merge_ranks[merge] : merge;
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpVocabulary, dlp_vocabulary_free)
