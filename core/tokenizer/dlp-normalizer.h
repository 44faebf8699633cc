/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-json-tree.h"

/* What is done to a text before it is cut: "normalizer" of a tokenizer.json. Read-only once made;
 * used by any thread. */
typedef struct _DlpNormalizer DlpNormalizer;

typedef struct
{
  guint8 *bytes;
  gsize len;
  gsize size;
} DlpNormalizerText;

/* Room that one thread needs, for any number of normalizers; all zero at first. What is above a
 * megabyte is given back by the next run that needs less. */
#define DLP_NORMALIZER_SPARE 32

typedef struct
{
  gsize spare; /* of the last run: so many bytes behind its text can be read */
  DlpNormalizerText texts[2];
  guint32 *points;
  gsize n_points;
  gsize size_points;
  GArray *matchers;
} DlpNormalizerScratch;

/* @node is the value of "normalizer", an object. */
DlpNormalizer *dlp_normalizer_new (DlpJsonNode node, GError **error);

/* Fields of normalizer_spec and trainer_spec. */
typedef enum
{
  DLP_SENTENCEPIECE_ADD_DUMMY_PREFIX = 1,
  DLP_SENTENCEPIECE_REMOVE_EXTRA_WHITESPACES = 2,
  DLP_SENTENCEPIECE_ESCAPE_WHITESPACES = 4,
  DLP_SENTENCEPIECE_TREAT_WHITESPACE_AS_SUFFIX = 8,
} DlpSentencepieceFlags;

/* What a SentencePiece model does to a text. @charsmap may be empty. @symbols are the user-defined
 * pieces, which stay as they are; NULL-terminated, or NULL. @where names the file in errors. */
DlpNormalizer *dlp_normalizer_new_sentencepiece (gconstpointer charsmap,
                                                 gsize size,
                                                 const char *const *symbols,
                                                 DlpSentencepieceFlags flags,
                                                 const char *where,
                                                 GError **error);
void dlp_normalizer_free (DlpNormalizer *self);

/* @text is valid UTF-8. On return it is the normalized text, which is a part of what it was where
 * nothing had to be changed, else in @scratch until that is used again, with zeros behind it. A
 * text that needs no change costs one look at each byte and no copy. FALSE if a regular expression
 * of a Replace gave up. */
gboolean dlp_normalizer_run (const DlpNormalizer *self,
                             DlpNormalizerScratch *scratch,
                             const guint8 **text,
                             gsize *len);

/* Whether a later stage sees the letters of byte-level BPE: there is a ByteLevel among the steps.
 */
gboolean dlp_normalizer_is_byte_level (const DlpNormalizer *self);

/* Adds all that decides what comes out. */
void dlp_normalizer_hash (const DlpNormalizer *self, GChecksum *checksum);
void dlp_normalizer_scratch_clear (DlpNormalizerScratch *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpNormalizer, dlp_normalizer_free)
