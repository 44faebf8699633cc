/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-transform.h>

G_BEGIN_DECLS

#define DLP_TYPE_TOKENIZER_ELEMENT (dlp_tokenizer_element_get_type ())
G_DECLARE_FINAL_TYPE (DlpTokenizerElement,
                      dlp_tokenizer_element,
                      DLP,
                      TOKENIZER_ELEMENT,
                      DlpTransform)

typedef enum
{
  DLP_EOD_APPEND,
  DLP_EOD_PREPEND,
  DLP_EOD_NONE,
} DlpEod;

typedef enum
{
  DLP_SPECIAL_TOKENS_TEXT,
  DLP_SPECIAL_TOKENS_ALLOW,
  DLP_SPECIAL_TOKENS_SKIP_RECORD,
  DLP_SPECIAL_TOKENS_ERROR,
} DlpSpecialTokens;

typedef enum
{
  DLP_BOS_NONE,
  DLP_BOS_ADD,
} DlpBos;

typedef enum
{
  DLP_POST_PROCESSOR_NONE,
  DLP_POST_PROCESSOR_FILE,
} DlpPostProcessor;

/* A document with more than max-tokens. */
typedef enum
{
  DLP_OVERFLOW_SPLIT,
  DLP_OVERFLOW_CUT,
} DlpOverflow;

#define DLP_TYPE_EOD (dlp_eod_get_type ())
GType dlp_eod_get_type (void);
#define DLP_TYPE_SPECIAL_TOKENS (dlp_special_tokens_get_type ())
GType dlp_special_tokens_get_type (void);
#define DLP_TYPE_BOS (dlp_bos_get_type ())
GType dlp_bos_get_type (void);
#define DLP_TYPE_POST_PROCESSOR (dlp_post_processor_get_type ())
GType dlp_post_processor_get_type (void);
#define DLP_TYPE_OVERFLOW (dlp_overflow_get_type ())
GType dlp_overflow_get_type (void);

G_END_DECLS
