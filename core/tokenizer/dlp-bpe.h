/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-vocabulary.h"

#define DLP_BPE_FEW_BYTES 16 /* up to here merging is faster than a table */

/* Room for the merge of long pieces; empty until the first one. */
typedef struct
{
  guint32 *words;
  gsize capacity;  /* in words */
  guint32 last[2]; /* what the last merge joined */
  guint64 steps;   /* that long pieces have taken so far: what tests bound instead of time */
} DlpBpeScratch;

/* Merges the @n symbols in @ids, lowest rank first, leftmost on ties; returns how many are left. */
gsize
dlp_bpe_merge (const DlpVocabulary *vocabulary, DlpBpeScratch *scratch, guint32 *ids, gsize n);

/* Makes dlp_bpe_encode() faster for a vocabulary whose pairs are set and in which each byte has an
 * entry. */
void dlp_bpe_prepare (DlpVocabulary *vocabulary);

/* Merges the bytes of one piece, each of which has an entry; @ids has room for @len. The piece as a
 * whole is not looked up. */
gsize dlp_bpe_encode (const DlpVocabulary *vocabulary,
                      DlpBpeScratch *scratch,
                      const guint8 *p,
                      gsize len,
                      guint32 *ids);
void dlp_bpe_scratch_reserve (DlpBpeScratch *scratch, gsize words);
void dlp_bpe_scratch_trim (DlpBpeScratch *scratch);
void dlp_bpe_scratch_clear (DlpBpeScratch *scratch);
