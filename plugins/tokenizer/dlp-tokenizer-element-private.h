/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-tokenizer.h>

#include "dlp-tokenizer-element.h"

G_BEGIN_DECLS

#define DLP_TOKENIZER_NO_EOD G_MAXUINT32

/* Counters of the class, in the order of dlp_tokenizer_counters. */
enum
{
  COUNT_DOCUMENTS,
  COUNT_EMPTY,
  COUNT_TOKENS,
  COUNT_SPECIALS,
  COUNT_DROPPED,
  COUNT_UNMATCHED,
  COUNT_SPLIT,
  COUNT_CUT,
  COUNT_CUT_TOKENS,
};

/* The same for each source; tokens are those of its texts, without what is put around them. */
enum
{
  SOURCE_DOCUMENTS,
  SOURCE_BYTES,
  SOURCE_TOKENS,
  SOURCE_UNKNOWN,
  SOURCE_SINGLE_BYTES,
  N_SOURCE_COUNTERS
};

extern const char *const dlp_tokenizer_counters[];
extern const char *const dlp_tokenizer_source_counters[];

struct _DlpTokenizerElement
{
  DlpTransform parent_instance;

  char *model;
  char *pattern;
  char *field;
  char *output_field;
  char *eod_token;
  DlpEod eod;
  DlpSpecialTokens special_tokens;
  DlpBos bos;
  DlpPostProcessor post_processor;
  DlpOverflow overflow;
  guint64 max_tokens; /* 0: no limit */
  guint byte_offset;
  gboolean keep_text;
  guint64 cache_bytes;

  DlpTokenizer *tokenizer;
  guint32 eod_id;
  guint32 bos_id;
  guint32 vocab_size; /* the eod included */
  gboolean wide;      /* ids of 4 bytes */
  guint text_field;   /* of the input */
  guint n_kept;
  guint *kept; /* fields of the input that the output has too, in its order */

  guint64 next_look;  /* documents: then what the sources gave is looked at */
  GHashTable *warned; /* of gint64: the sources that were warned of; NULL: none */
};

/* DlpTransformClass.process (dlp-tokenizer-record.c) */
gboolean dlp_tokenizer_element_process (DlpTransform *transform,
                                        gpointer worker,
                                        DlpRecordBatch *batch,
                                        guint64 first,
                                        DlpTransformOutput *output,
                                        GError **error);

/* What was done to documents in silence is said once, and a source that the vocabulary does not fit
 * as soon as it is known (dlp-tokenizer-report.c); in step(). */
void dlp_tokenizer_element_warn_at_end (DlpTokenizerElement *self);
void dlp_tokenizer_element_look_at_sources (DlpTokenizerElement *self);
/* DlpElementClass.report */
GVariant *dlp_tokenizer_element_report (DlpElement *element, GVariant *described);

G_END_DECLS
