/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-bpe.h"
#include "dlp-trie.h"

/* Byte-pair encoding without merging.
 *
 * Merges give a text the entries t1 ... tn if and only if they give each two neighbours ti ti+1
 * those two: a merge across a border does not come up in the text unless it comes up between the
 * two beside it. So a text is encoded from left to right: the longest entry that can stand behind
 * the last one; where there is none, the last one was too long.
 *
 * Whether one entry can stand behind another is found by undoing their merges, the latest first: at
 * no time may what is left of the border merge with what is right of it before the merge that is
 * undone.
 *
 * Ranks need not rise on the way to an entry. While it is made, those of its merges that have a
 * lower rank than one before them do not wait for anything, so that their time is that of the
 * highest rank so far: the age. Within an entry as beside its neighbours, merges come in the order
 * of their ages; only how low a rank must be to come between two of the same age takes another look
 * at the ranks. */
typedef struct
{
  guint32 sides[2]; /* what the last merge of the entry joins, left and right */
  guint32 age;      /* the highest rank of its merges and 1; 0 if it is a symbol, made by none */
  guint32 shorter;  /* the longest other entry that it begins with; DLP_ID_NONE */

  /* A bit for each entry that merges with it on that side: most have few, and to look up a pair
   * that does not merge is what takes the time. */
  guint64 lefts;
  guint64 rights;
} DlpBpeEntry;

struct _DlpBpeTable
{
  DlpTrie *trie;        /* of the entries that their own merges make */
  DlpBpeEntry *entries; /* by id */
  gboolean is_complete; /* its own merges make each entry */
};

/* What the merges of a text begin with; @ids has room for @len. */
typedef gsize (*DlpBpeSplitFunc) (gconstpointer data, const guint8 *p, gsize len, guint32 *ids);

/* Of the pairs of @vocabulary only those stay that can come up. */
DlpBpeTable *
dlp_bpe_table_new (DlpVocabulary *vocabulary, DlpBpeSplitFunc split, gconstpointer data);
void dlp_bpe_table_free (DlpBpeTable *self);

/* Encodes a text whose symbols all have entries; @ids has room for @len. */
gsize dlp_bpe_table_encode (const DlpBpeTable *self,
                            const DlpVocabulary *vocabulary,
                            DlpBpeScratch *scratch,
                            const guint8 *p,
                            gsize len,
                            guint32 *ids);
