/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-vocabulary.h"

/* Room for the merge of long pieces; empty until the first one. */
typedef struct
{
  guint32 *words;
  gsize capacity; /* in words */
} DlpBpeScratch;

gsize dlp_bpe_encode (const DlpVocabulary *vocabulary,
                      DlpBpeScratch *scratch,
                      const guint8 *p,
                      gsize len,
                      guint32 *ids);
void dlp_bpe_scratch_clear (DlpBpeScratch *scratch);
