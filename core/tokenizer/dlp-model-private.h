/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-model.h"
#include "dlp-trie.h"

/* One constructor for each type of "model"; @node is its object. */
DlpModel *dlp_model_new_bpe (DlpJsonNode node, gboolean byte_level, GError **error);
DlpModel *dlp_model_new_unigram (DlpJsonNode node, gboolean byte_level, GError **error);
DlpModel *dlp_model_new_word_piece (DlpJsonNode node, gboolean byte_level, GError **error);
DlpModel *dlp_model_new_word_level (DlpJsonNode node, gboolean byte_level, GError **error);

/* For the classes whose entries are those of their vocabulary. */
const guint8 *dlp_model_get_entry (const DlpModel *self, guint32 id, gsize *len);
guint32 dlp_model_lookup_entry (const DlpModel *self, const char *content, gsize len);

/* The member "vocab" of @node, which is of @type, becomes the vocabulary, the member "unk_token"
 * the id of what is unknown. It must be an entry if @is_needed. */
gboolean
dlp_model_read_vocabulary (DlpModel *self, DlpJsonNode node, DlpJsonType type, GError **error);
gboolean
dlp_model_read_unknown (DlpModel *self, DlpJsonNode node, gboolean is_needed, GError **error);

/* Of all entries that can be text, their ids as values. */
DlpTrie *dlp_model_make_trie (const DlpModel *self);

/* Ids of the entries "<0x00>" to "<0xFF>". Returns whether there are all of them. */
gboolean dlp_model_find_byte_tokens (const DlpModel *self, guint32 ids[256]);

/* The type and all entries with their ids. */
void dlp_model_hash_entries (const DlpModel *self, const char *type, GChecksum *checksum);

static inline void
dlp_checksum_add_uint (GChecksum *checksum, guint64 value)
{
  value = GUINT64_TO_LE (value);
  g_checksum_update (checksum, (const guchar *) &value, sizeof value);
}
