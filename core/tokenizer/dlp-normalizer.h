/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-json-tree.h"

/* What is done to a text before it is cut: "normalizer" of a tokenizer.json. Read-only once made;
 * used by any thread. */
typedef struct _DlpNormalizer DlpNormalizer;

/* Room that one thread needs; all zero at first. */
typedef struct
{
  GByteArray *texts[2];
} DlpNormalizerScratch;

/* @node is the value of "normalizer", an object. */
DlpNormalizer *dlp_normalizer_new (DlpJsonNode node, GError **error);

/* What a SentencePiece model says in its normalizer_spec; @charsmap may be empty. */
DlpNormalizer *dlp_normalizer_new_sentencepiece (gconstpointer charsmap,
                                                 gsize size,
                                                 gboolean add_dummy_prefix,
                                                 gboolean remove_extra_whitespaces,
                                                 gboolean escape_whitespaces,
                                                 const char *where,
                                                 GError **error);
void dlp_normalizer_free (DlpNormalizer *self);

/* @text is valid UTF-8. On return it is the normalized text, which is as it was where nothing had
 * to be changed, else in @scratch until it is used again. A text that needs no change costs one
 * look at each byte and no copy. */
void dlp_normalizer_run (const DlpNormalizer *self,
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
