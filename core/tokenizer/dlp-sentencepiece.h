/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-model.h"
#include "dlp-normalizer.h"

typedef enum
{
  DLP_SENTENCEPIECE_UNIGRAM = 1,
  DLP_SENTENCEPIECE_BPE = 2,
} DlpSentencePieceKind;

typedef enum
{
  DLP_PIECE_NORMAL = 1,
  DLP_PIECE_UNKNOWN = 2,
  DLP_PIECE_CONTROL = 3, /* never in text */
  DLP_PIECE_USER_DEFINED = 4,
  DLP_PIECE_UNUSED = 5,
  DLP_PIECE_BYTE = 6,
} DlpPieceType;

typedef struct
{
  const char *p;
  guint32 len; /* > 0, of UTF-8 */
  float score; /* finite */
  DlpPieceType type;
} DlpSentencePieceEntry;

/* What is done to a text. */
typedef struct
{
  const guint8 *charsmap;
  gsize charsmap_size;
  gboolean add_dummy_prefix;
  gboolean remove_extra_whitespaces;
  gboolean escape_whitespaces;
} DlpSentencePieceRules;

/* A SentencePiece .model. What is pointed to is in the data that it was parsed from. */
typedef struct
{
  char *where;
  GArray *entries; /* of DlpSentencePieceEntry, by id */
  DlpSentencePieceKind kind;
  gboolean byte_fallback;
  guint32 unknown_id;
  guint32 bos_id; /* these three: DLP_ID_NONE if there is none */
  guint32 eos_id;
  guint32 pad_id;
  const char *unknown; /* what the unknown piece is decoded to */
  gsize unknown_len;

  DlpSentencePieceRules normalizer;
  DlpSentencePieceRules denormalizer; /* of a decoded text; nothing without a charsmap */
} DlpSentencePiece;

/* Whether @data could be one, by its first bytes. */
gboolean dlp_sentencepiece_is_likely (const guint8 *data, gsize size);

/* Anything may be in @data, which is to live as long as what is made. */
DlpSentencePiece *
dlp_sentencepiece_parse (const guint8 *data, gsize size, const char *where, GError **error);
void dlp_sentencepiece_free (DlpSentencePiece *self);

/* @symbols: as for dlp_normalizer_new_sentencepiece(). */
DlpNormalizer *dlp_sentencepiece_make_normalizer (const DlpSentencePiece *self,
                                                  const DlpSentencePieceRules *rules,
                                                  const char *const *symbols,
                                                  GError **error);

/* The model does all that SentencePiece does behind its normalizer, for the whole of a normalized
 * text: user-defined pieces are found in it, so that they need not be added tokens. It keeps
 * nothing of @self. Control pieces have ids and are found by content, but not in text. */
DlpModel *dlp_model_new_sentencepiece (const DlpSentencePiece *self, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpSentencePiece, dlp_sentencepiece_free)
