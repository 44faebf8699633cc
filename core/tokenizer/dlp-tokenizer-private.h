/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-added-tokens.h"
#include "dlp-detokenizer.h"
#include "dlp-model-file.h"
#include "dlp-model.h"
#include "dlp-normalizer.h"
#include "dlp-splitter.h"
#include "dlp-template.h"
#include "dlpipe/dlp-tokenizer.h"

/* Text goes through these in their order: see docs/internals/tokenizer.md. */
struct _DlpTokenizer
{
  GObject parent_instance;

  char *name;
  char *file; /* nullable */
  DlpTokenizerKind kind;
  char **steps; /* nullable */
  char *fingerprint;

  DlpAddedTokens added;
  DlpNormalizer *normalizer; /* nullable */
  DlpSplitter *splitter;     /* NULL of a rank file */
  DlpPattern *own_pattern;   /* of a rank file */
  const DlpPattern *pattern; /* NULL: the splitter has to be run */
  DlpModel *model;
  DlpTemplate template;        /* empty of a rank file */
  DlpDetokenizer *detokenizer; /* NULL: a text is the bytes of its tokens */

  guint32 vocab_size;
  guint32 bos_id; /* that its file names; DLP_ID_NONE if none */
  guint8 *traits; /* by id: DLP_TRAIT_* */
  /* The ids that stand for a single byte, where they are neighbours and there is no unknown id;
   * else both are 0. */
  guint32 single_begin, single_end;
  GArray *specials; /* guint32: indices of the special ones among the added tokens */
};

#define DLP_TRAIT_UNKNOWN 1
#define DLP_TRAIT_SINGLE_BYTE 2

gboolean dlp_tokenizer_read_ranks (DlpTokenizer *self,
                                   DlpModelFile *file,
                                   const char *pattern,
                                   GError **error);
gboolean dlp_tokenizer_read_json (DlpTokenizer *self, DlpModelFile *file, GError **error);
gboolean dlp_tokenizer_read_sentencepiece (DlpTokenizer *self, DlpModelFile *file, GError **error);

gboolean dlp_tokenizer_is_tekken (DlpJsonNode root);
gboolean
dlp_tokenizer_read_tekken (DlpTokenizer *self, DlpJsonNode root, const char *where, GError **error);

/* Once everything else is there: the added tokens, and what follows from all. */
void dlp_tokenizer_set_added (DlpTokenizer *self, const DlpAddedToken *items, guint n);

/* Once all is there: what can be asked about its ids. */
void dlp_tokenizer_find_traits (DlpTokenizer *self);

/* What dlp_tokenizer_list_steps() gives of a tokenizer.json, of a SentencePiece model. */
char **dlp_tokenizer_describe_json (DlpJsonNode root);
char **dlp_tokenizer_describe_sentencepiece (const DlpSentencePiece *file);
