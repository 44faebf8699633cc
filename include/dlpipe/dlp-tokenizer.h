/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib-object.h>

G_BEGIN_DECLS

#define DLP_TYPE_TOKENIZER (dlp_tokenizer_get_type ())
#define DLP_TOKENIZER_ERROR (dlp_tokenizer_error_quark ())

/**
 * DlpTokenizerError:
 * @DLP_TOKENIZER_ERROR_NOT_FOUND: no such model, or its file cannot be read
 * @DLP_TOKENIZER_ERROR_BAD_VOCABULARY: the vocabulary file is not valid
 * @DLP_TOKENIZER_ERROR_BAD_PATTERN: the pattern is missing, malformed or cannot be honoured exactly
 * @DLP_TOKENIZER_ERROR_NO_EOD: no end-of-document token is known, or more than one
 * @DLP_TOKENIZER_ERROR_BAD_ID: an id that is not in the vocabulary
 */
typedef enum
{
  DLP_TOKENIZER_ERROR_NOT_FOUND,
  DLP_TOKENIZER_ERROR_BAD_VOCABULARY,
  DLP_TOKENIZER_ERROR_BAD_PATTERN,
  DLP_TOKENIZER_ERROR_NO_EOD,
  DLP_TOKENIZER_ERROR_BAD_ID,
} DlpTokenizerError;

/**
 * DlpTokenizerFlags:
 * @DLP_TOKENIZER_FLAGS_NONE: the text of a special token is ordinary text
 * @DLP_TOKENIZER_FLAGS_SPECIALS: the text of a special token becomes its id; what lies between is
 *   encoded as if each segment were a text of its own
 */
typedef enum
{
  DLP_TOKENIZER_FLAGS_NONE = 0,
  DLP_TOKENIZER_FLAGS_SPECIALS = 1 << 0,
} DlpTokenizerFlags;

G_DECLARE_FINAL_TYPE (DlpTokenizer, dlp_tokenizer, DLP, TOKENIZER, GObject)

/**
 * DlpTokenizerContext: (skip)
 *
 * What one thread needs to encode: a cache of pieces, bounded in bytes, and scratch space. Keep one
 * per thread for the whole run. What is encoded never depends on what the context has seen before.
 */
typedef struct _DlpTokenizerContext DlpTokenizerContext;

GQuark dlp_tokenizer_error_quark (void);

DlpTokenizer *dlp_tokenizer_new (const char *model, const char *pattern, GError **error);

const char *dlp_tokenizer_get_name (DlpTokenizer *self);
const char *dlp_tokenizer_get_file (DlpTokenizer *self);
const char *dlp_tokenizer_get_pattern (DlpTokenizer *self);
const char *dlp_tokenizer_get_fingerprint (DlpTokenizer *self);
guint32 dlp_tokenizer_get_vocab_size (DlpTokenizer *self);
gboolean dlp_tokenizer_get_eod (DlpTokenizer *self, guint32 *id, GError **error);

guint dlp_tokenizer_get_n_specials (DlpTokenizer *self);
const char *dlp_tokenizer_get_special (DlpTokenizer *self, guint index, guint32 *id);
gboolean dlp_tokenizer_lookup_special (DlpTokenizer *self, const char *content, guint32 *id);
guint dlp_tokenizer_count_specials (DlpTokenizer *self, const char *text, gsize len);

DlpTokenizerContext *dlp_tokenizer_context_new (DlpTokenizer *tokenizer, gsize cache_bytes);
void dlp_tokenizer_context_free (DlpTokenizerContext *context);
guint64 dlp_tokenizer_context_get_dropped (DlpTokenizerContext *context);

gssize dlp_tokenizer_encode (DlpTokenizer *self,
                             DlpTokenizerContext *context,
                             const char *text,
                             gsize len,
                             guint32 *ids,
                             gsize capacity);
gssize dlp_tokenizer_encode16 (DlpTokenizer *self,
                               DlpTokenizerContext *context,
                               const char *text,
                               gsize len,
                               guint16 *ids,
                               gsize capacity);
gssize dlp_tokenizer_encode_full (DlpTokenizer *self,
                                  DlpTokenizerContext *context,
                                  const char *text,
                                  gsize len,
                                  DlpTokenizerFlags flags,
                                  guint32 *ids,
                                  gsize capacity);
gssize dlp_tokenizer_encode16_full (DlpTokenizer *self,
                                    DlpTokenizerContext *context,
                                    const char *text,
                                    gsize len,
                                    DlpTokenizerFlags flags,
                                    guint16 *ids,
                                    gsize capacity);
guint32 *dlp_tokenizer_encode_text (DlpTokenizer *self,
                                    const char *text,
                                    gssize len,
                                    DlpTokenizerFlags flags,
                                    gsize *n_ids);

const guint8 *dlp_tokenizer_get_token (DlpTokenizer *self, guint32 id, gsize *len);
gboolean dlp_tokenizer_decode (DlpTokenizer *self,
                               const guint32 *ids,
                               gsize n_ids,
                               GString *out,
                               GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpTokenizerContext, dlp_tokenizer_context_free)

G_END_DECLS
