/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-piece-cache.h"
#include "dlp-scan-known.h"
#include "dlp-tokenizer-private.h"

struct _DlpTokenizerContext
{
  DlpTokenizer *tokenizer; /* owned; the next two are its */
  const DlpModel *model;
  const DlpPattern *pattern; /* nullable */

  gsize (*encode) (DlpTokenizerContext *self,
                   const guint8 *text,
                   gsize len,
                   gpointer ids,
                   gboolean wide);
  DlpScanFunc scan; /* NULL without a scanner */
  DlpPieceCache cache;
  DlpModelScratch scratch;
  DlpMatcher *matcher; /* for patterns without a scanner */
  DlpNormalizerScratch normalizer;
  DlpPieces pieces;

  gsize
      spare; /* so many bytes behind the text can be read, and so many ids written behind its own */
  guint32 *ids; /* of one long piece */
  gsize ids_capacity;
  guint64 dropped;
  guint64 n_pieces, n_misses;
  gboolean expects_misses; /* in what comes next, since there were some just now */
};

#define DLP_ENCODE_GAVE_UP -2

/* A text, by the scanner or the matcher of the tokenizer's pattern. @ids has room for @len of the
 * given width. */
gssize dlp_context_encode (DlpTokenizerContext *self,
                           const guint8 *text,
                           gsize len,
                           gpointer ids,
                           gboolean wide);

/* What self->pieces holds. @ids has room for as many as its text has bytes. */
gsize dlp_context_encode_pieces (DlpTokenizerContext *self, gpointer ids, gboolean wide);
