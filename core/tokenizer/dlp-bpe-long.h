/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-bpe.h"

/* As dlp_bpe_merge(), for many symbols: see dlp-bpe-long.c. */
gsize
dlp_bpe_merge_long (const DlpVocabulary *vocabulary, DlpBpeScratch *scratch, guint32 *ids, gsize n);

/* The rank of the merge of two symbols, DLP_ID_NONE if they do not merge. */
static inline guint32
dlp_bpe_rank_of_pair (const DlpVocabulary *vocabulary, guint32 left, guint32 right)
{
  return dlp_vocabulary_merge_rank (vocabulary, dlp_vocabulary_merge (vocabulary, left, right));
}

/* The merge of two symbols that have one, whose rank is @rank. */
static inline guint32
dlp_bpe_merge_of_pair (const DlpVocabulary *vocabulary, guint32 left, guint32 right, guint32 rank)
{
  return vocabulary->merge_ranks ? dlp_vocabulary_merge (vocabulary, left, right) : rank;
}
