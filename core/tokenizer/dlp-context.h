/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-bpe.h"
#include "dlp-pattern.h"
#include "dlp-piece-cache.h"
#include "dlpipe/dlp-tokenizer.h"

struct _DlpTokenizerContext
{
  DlpTokenizer *tokenizer; /* owned; the next two are its */
  const DlpVocabulary *vocabulary;
  const DlpPattern *pattern;

  DlpPieceCache cache;
  DlpBpeScratch scratch;
  DlpMatcher *matcher; /* for patterns without a scanner */

  guint32 *ids; /* of one long piece, or of a text that may not fit */
  gsize ids_capacity;
  guint64 dropped;
};

const DlpVocabulary *dlp_tokenizer_peek_vocabulary (DlpTokenizer *self);
const DlpPattern *dlp_tokenizer_peek_pattern (DlpTokenizer *self);

#define DLP_ENCODE_GAVE_UP -2

/* @ids has room for @len of the given width */
gssize dlp_context_encode (DlpTokenizerContext *self,
                           const guint8 *text,
                           gsize len,
                           gpointer ids,
                           gboolean wide);
