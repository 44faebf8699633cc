/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-model-private.h"

/* The most probable way to cut a piece into entries, each of which has a score. */
typedef struct
{
  DlpModel parent;
  DlpTrie *trie;
  double *scores; /* by id */
  double unknown_score;
  gboolean byte_fallback;
  gboolean is_single;       /* sums are kept in single precision, as SentencePiece does */
  guint32 byte_tokens[256]; /* what stands for the bytes of what is unknown */
} DlpUnigramModel;

gsize dlp_unigram_model_encode (const DlpModel *model,
                                DlpModelScratch *scratch,
                                const guint8 *p,
                                gsize len,
                                guint32 *ids);
void dlp_unigram_model_hash (const DlpModel *model, GChecksum *checksum);
void dlp_unigram_model_free (DlpModel *model);

extern const DlpModelClass dlp_unigram_model_class;

#define DLP_UNIGRAM_UNKNOWN_PENALTY 10.0
