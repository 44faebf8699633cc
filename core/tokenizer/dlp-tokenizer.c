/* SPDX-License-Identifier: MIT */
#include "dlp-tokenizer-private.h"

G_DEFINE_ENUM_TYPE (DlpTokenizerError,
                    dlp_tokenizer_error,
                    G_DEFINE_ENUM_VALUE (DLP_TOKENIZER_ERROR_NOT_FOUND, "not-found"),
                    G_DEFINE_ENUM_VALUE (DLP_TOKENIZER_ERROR_BAD_VOCABULARY, "bad-vocabulary"),
                    G_DEFINE_ENUM_VALUE (DLP_TOKENIZER_ERROR_BAD_PATTERN, "bad-pattern"),
                    G_DEFINE_ENUM_VALUE (DLP_TOKENIZER_ERROR_NO_EOD, "no-eod"),
                    G_DEFINE_ENUM_VALUE (DLP_TOKENIZER_ERROR_BAD_ID, "bad-id"),
                    G_DEFINE_ENUM_VALUE (DLP_TOKENIZER_ERROR_NO_BOS, "no-bos"))

G_DEFINE_ENUM_TYPE (DlpTokenizerKind,
                    dlp_tokenizer_kind,
                    G_DEFINE_ENUM_VALUE (DLP_TOKENIZER_KIND_RANKS, "ranks"),
                    G_DEFINE_ENUM_VALUE (DLP_TOKENIZER_KIND_JSON, "json"),
                    G_DEFINE_ENUM_VALUE (DLP_TOKENIZER_KIND_TEKKEN, "tekken"),
                    G_DEFINE_ENUM_VALUE (DLP_TOKENIZER_KIND_SENTENCEPIECE, "sentencepiece"),
                    G_DEFINE_ENUM_VALUE (DLP_TOKENIZER_KIND_BYTES, "bytes"))

G_DEFINE_FLAGS_TYPE (DlpTokenizerFlags,
                     dlp_tokenizer_flags,
                     G_DEFINE_ENUM_VALUE (DLP_TOKENIZER_FLAGS_NONE, "none"),
                     G_DEFINE_ENUM_VALUE (DLP_TOKENIZER_FLAGS_SPECIALS, "specials"),
                     G_DEFINE_ENUM_VALUE (DLP_TOKENIZER_FLAGS_POST_PROCESSOR, "post-processor"))

G_DEFINE_FINAL_TYPE (DlpTokenizer, dlp_tokenizer, G_TYPE_OBJECT)

/* clang-format off */
G_DEFINE_QUARK (dlp-tokenizer-error-quark, dlp_tokenizer_error)
/* clang-format on */

static void
dlp_tokenizer_finalize (GObject *object)
{
  DlpTokenizer *self = DLP_TOKENIZER (object);

  g_free (self->name);
  g_free (self->file);
  g_free (self->fingerprint);
  g_strfreev (self->steps);
  g_free (self->traits);
  dlp_added_tokens_clear (&self->added);
  g_clear_pointer (&self->normalizer, dlp_normalizer_free);
  g_clear_pointer (&self->splitter, dlp_splitter_free);
  g_clear_pointer (&self->own_pattern, dlp_pattern_free);
  g_clear_pointer (&self->model, dlp_model_free);
  g_clear_pointer (&self->detokenizer, dlp_detokenizer_free);
  dlp_template_clear (&self->template);
  g_array_unref (self->specials);

  G_OBJECT_CLASS (dlp_tokenizer_parent_class)->finalize (object);
}

static void
dlp_tokenizer_class_init (DlpTokenizerClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->finalize = dlp_tokenizer_finalize;
}

static void
dlp_tokenizer_init (DlpTokenizer *self)
{
  self->specials = g_array_new (FALSE, FALSE, sizeof (guint32));
  self->bos_id = DLP_ID_NONE;
}

const char *
dlp_tokenizer_get_name (DlpTokenizer *self)
{
  g_return_val_if_fail (DLP_IS_TOKENIZER (self), NULL);

  return self->name;
}

const char *
dlp_tokenizer_get_file (DlpTokenizer *self)
{
  g_return_val_if_fail (DLP_IS_TOKENIZER (self), NULL);

  return self->file;
}

const char *
dlp_tokenizer_get_pattern (DlpTokenizer *self)
{
  g_return_val_if_fail (DLP_IS_TOKENIZER (self), NULL);

  return self->pattern ? self->pattern->text : NULL;
}

const char *
dlp_tokenizer_get_fingerprint (DlpTokenizer *self)
{
  g_return_val_if_fail (DLP_IS_TOKENIZER (self), NULL);

  return self->fingerprint;
}

guint32
dlp_tokenizer_get_vocab_size (DlpTokenizer *self)
{
  g_return_val_if_fail (DLP_IS_TOKENIZER (self), 0);

  return self->vocab_size;
}
