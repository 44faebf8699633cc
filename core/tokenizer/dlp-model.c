/* SPDX-License-Identifier: MIT */
#include "dlp-model-private.h"
#include "dlp-vocabulary-json.h"

typedef DlpModel *(*Constructor) (DlpJsonNode node, gboolean byte_level, GError **error);

static const struct
{
  const char *name;
  Constructor construct;
} types[] = {
  { "BPE", dlp_model_new_bpe },
  { "Unigram", dlp_model_new_unigram },
  { "WordPiece", dlp_model_new_word_piece },
  { "WordLevel", dlp_model_new_word_level },
};

static gboolean
has (DlpJsonNode node, const char *key)
{
  return dlp_json_get_type (dlp_json_get_member (node, key)) != DLP_JSON_NONE;
}

/* Files made before there was a "type": the fields tell. */
static Constructor
guess (DlpJsonNode node)
{
  if (has (node, "merges"))
    return dlp_model_new_bpe;
  if (has (node, "max_input_chars_per_word"))
    return dlp_model_new_word_piece;
  if (dlp_json_get_type (dlp_json_get_member (node, "vocab")) == DLP_JSON_ARRAY)
    return dlp_model_new_unigram;
  return dlp_model_new_word_level;
}

DlpModel *
dlp_model_new (DlpJsonNode node, gboolean byte_level, GError **error)
{
  DlpJsonNode type;

  if (!dlp_json_check_type (node, DLP_JSON_OBJECT, "\"model\"", error))
    return NULL;
  type = dlp_json_get_member (node, "type");
  if (dlp_json_get_type (type) == DLP_JSON_NONE)
    return guess (node) (node, byte_level, error);
  if (!dlp_json_check_type (type, DLP_JSON_STRING, "\"type\" of the model", error))
    return NULL;

  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (dlp_json_is_string (type, types[i].name))
      return types[i].construct (node, byte_level, error);
  dlp_json_fail (type, error,
                 "unknown type of model \"%.60s\"; known are BPE, Unigram, WordPiece, WordLevel",
                 dlp_json_get_string (type, NULL));
  return NULL;
}

void
dlp_model_free (DlpModel *self)
{
  g_clear_pointer (&self->vocabulary, dlp_vocabulary_unref);
  self->klass->free (self);
}

void
dlp_model_scratch_clear (DlpModelScratch *self)
{
  dlp_bpe_scratch_clear (&self->bpe);
  g_clear_pointer (&self->words, g_free);
  self->capacity = 0;
}

gsize
dlp_model_find_cut (const DlpModel *self, const guint8 *p, gsize len, gsize from)
{
  return self->can_cut ? self->klass->find_cut (self, p, len, from) : len;
}

const guint8 *
dlp_model_get_entry (const DlpModel *self, guint32 id, gsize *len)
{
  const DlpVocabulary *vocabulary = self->vocabulary;

  if (id >= self->n_ids || vocabulary->lengths[id] == 0)
    return NULL;
  *len = vocabulary->lengths[id];
  return vocabulary->bytes + vocabulary->starts[id];
}

guint32
dlp_model_lookup_entry (const DlpModel *self, const char *content, gsize len)
{
  return dlp_vocabulary_lookup_content (self->vocabulary, self->byte_level, content, len);
}

gboolean
dlp_model_read_vocabulary (DlpModel *self, DlpJsonNode node, DlpJsonType type, GError **error)
{
  DlpJsonNode vocab = dlp_json_get_member (node, "vocab");

  if (dlp_json_get_type (vocab) == DLP_JSON_NONE)
    return dlp_json_fail (node, error, "no field \"vocab\" in the model");
  self->vocabulary = dlp_vocabulary_read (vocab, type, self->byte_level, error);
  if (self->vocabulary == NULL)
    return FALSE;
  self->n_ids = self->vocabulary->n_ids;
  return TRUE;
}

gboolean
dlp_model_read_unknown (DlpModel *self, DlpJsonNode node, gboolean is_needed, GError **error)
{
  DlpJsonNode name = dlp_json_get_member (node, "unk_token");
  DlpJsonType type = dlp_json_get_type (name);
  const char *content;
  gsize len;

  self->unknown_id = DLP_ID_NONE;
  if (!is_needed && (type == DLP_JSON_NONE || type == DLP_JSON_NULL))
    return TRUE;
  if (type == DLP_JSON_NONE)
    return dlp_json_fail (node, error, "no field \"unk_token\" in the model");
  if (!dlp_json_check_type (name, DLP_JSON_STRING, "\"unk_token\"", error))
    return FALSE;

  content = dlp_json_get_string (name, &len);
  self->unknown_id = dlp_model_lookup_entry (self, content, len);
  if (is_needed && self->unknown_id == DLP_ID_NONE)
    return dlp_json_fail (name, error,
                          "the unk_token \"%.60s\" is no entry of \"vocab\": what is unknown could "
                          "not be encoded",
                          content);
  return TRUE;
}

DlpTrie *
dlp_model_make_trie (const DlpModel *self)
{
  const DlpVocabulary *vocabulary = self->vocabulary;
  g_autofree DlpTrieKey *keys = g_new (DlpTrieKey, self->n_ids);
  gsize n = 0;

  for (guint32 id = 0; id < self->n_ids; id++)
    {
      const guint8 *p = vocabulary->bytes + vocabulary->starts[id];
      guint32 len = vocabulary->lengths[id];

      if (len > 0 && dlp_vocabulary_lookup (vocabulary, p, len) == id)
        keys[n++] = (DlpTrieKey){ p, len, id };
    }
  return dlp_trie_new (keys, n);
}

gboolean
dlp_model_find_byte_tokens (const DlpModel *self, guint32 ids[256])
{
  gboolean all = TRUE;

  for (guint i = 0; i < 256; i++)
    {
      char name[7];

      g_snprintf (name, sizeof name, "<0x%02X>", i);
      ids[i] = dlp_model_lookup_entry (self, name, 6);
      all = all && ids[i] != DLP_ID_NONE;
    }
  return all;
}

void
dlp_model_hash_entries (const DlpModel *self, const char *type, GChecksum *checksum)
{
  g_checksum_update (checksum, (const guchar *) type, -1);
  dlp_checksum_add_uint (checksum, self->byte_level);
  dlp_checksum_add_uint (checksum, self->n_ids);
  dlp_checksum_add_uint (checksum, self->unknown_id);
  for (guint32 id = 0; id < self->n_ids; id++)
    {
      gsize len = self->vocabulary->lengths[id];
      const guint8 *p = self->vocabulary->bytes + self->vocabulary->starts[id];

      dlp_checksum_add_uint (checksum, len);
      g_checksum_update (checksum, p, len);
      dlp_checksum_add_uint (checksum, dlp_vocabulary_is_text (self->vocabulary, id));
    }
}
