/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-detokenizer.h"
#include "dlp-normalizer.h"

/* One step; those of nested Sequences are laid out in one row. */
typedef struct _DlpDetokenizerStep DlpDetokenizerStep;

/* Makes the tokens of @out, which is empty, of those of @in. */
typedef gboolean (*DlpDetokenizerRun) (const DlpDetokenizerStep *self,
                                       const DlpTokenList *in,
                                       DlpTokenList *out,
                                       DlpNormalizerScratch *scratch);

struct _DlpDetokenizerStep
{
  DlpDetokenizerRun run;
  char *text; /* prefix, suffix, replacement, content or pad_token */
  gsize len;
  char *delimiter; /* of CTC */
  gsize delimiter_len;
  gboolean flag;     /* WordPiece and CTC: cleanup; Metaspace: a prefix was put before the text */
  guint64 counts[2]; /* Strip: how many at the start, at the end */
  DlpNormalizer *replace;
  gpointer pieces; /* of SentencePiece */
};

DlpDetokenizerRun dlp_detokenizer_find (const char *name);

gboolean dlp_detokenizer_run_byte_level (const DlpDetokenizerStep *self,
                                         const DlpTokenList *in,
                                         DlpTokenList *out,
                                         DlpNormalizerScratch *scratch);
gboolean dlp_detokenizer_run_byte_fallback (const DlpDetokenizerStep *self,
                                            const DlpTokenList *in,
                                            DlpTokenList *out,
                                            DlpNormalizerScratch *scratch);
gboolean dlp_detokenizer_run_sentencepiece (const DlpDetokenizerStep *self,
                                            const DlpTokenList *in,
                                            DlpTokenList *out,
                                            DlpNormalizerScratch *scratch);

gpointer dlp_detokenizer_pieces_new (const DlpSentencePiece *file);
void dlp_detokenizer_pieces_free (gpointer pieces);

/* "<0x41>": the byte, or -1 if it is no such token. */
int dlp_token_get_byte (const guint8 *token, gsize len);

/* How many bytes at @p < @end are one character or, where none is there, the most that one could
 * begin with, but at least 1. */
gsize dlp_utf8_measure (const guint8 *p, const guint8 *end, gboolean *is_valid);

#define DLP_REPLACEMENT "\357\277\275" /* U+FFFD */
