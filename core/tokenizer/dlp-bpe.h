/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-vocabulary.h"

/* Room for the merge of long pieces; empty until the first one. */
typedef struct
{
  guint32 *words;
  gsize capacity;  /* in words */
  guint32 last[2]; /* what the last merge joined */
} DlpBpeScratch;

/* Merges the @n symbols in @ids, lowest rank first, leftmost on ties; returns how many are left. */
gsize
dlp_bpe_merge (const DlpVocabulary *vocabulary, DlpBpeScratch *scratch, guint32 *ids, gsize n);

/* Merges the bytes of one piece, each of which has an entry; @ids has room for @len. The piece as a
 * whole is not looked up. */
gsize dlp_bpe_encode (const DlpVocabulary *vocabulary,
                      DlpBpeScratch *scratch,
                      const guint8 *p,
                      gsize len,
                      guint32 *ids);
void dlp_bpe_scratch_reserve (DlpBpeScratch *scratch, gsize words);
void dlp_bpe_scratch_clear (DlpBpeScratch *scratch);
