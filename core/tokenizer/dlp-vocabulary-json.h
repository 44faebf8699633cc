/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-json-tree.h"
#include "dlp-vocabulary.h"

/* The "vocab" of a tokenizer.json: an object of entries and their ids, or an array whose elements
 * are an entry and something else; the pairs are not set. With
 * @byte_level the letters of an entry become the bytes they stand for. An entry that is not written
 * with letters alone is kept as it is and is no text's: only its content finds it. */
DlpVocabulary *
dlp_vocabulary_read (DlpJsonNode node, DlpJsonType type, gboolean byte_level, GError **error);

/* FALSE if @id is a hole or no text becomes it by its bytes. */
gboolean dlp_vocabulary_is_text (const DlpVocabulary *self, guint32 id);

/* The id of the entry that is written @content. */
guint32 dlp_vocabulary_lookup_content (const DlpVocabulary *self,
                                       gboolean byte_level,
                                       const char *content,
                                       gsize len);
