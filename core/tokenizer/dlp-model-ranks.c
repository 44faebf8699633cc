/* SPDX-License-Identifier: MIT */
#include "dlp-bpe-table.h"
#include "dlp-model-private.h"

/* A rank file: a piece that is an entry is that entry, as tiktoken does it. */

static gsize
encode (const DlpModel *self, DlpModelScratch *scratch, const guint8 *p, gsize len, guint32 *ids)
{
  const DlpBpeTable *table = self->vocabulary->table;

  /* One load a byte, but most of them near: faster than one that is far. */
  if (table && table->is_complete)
    ids[0] = dlp_trie_lookup (table->trie, p, len);
  else
    ids[0] = dlp_vocabulary_lookup (self->vocabulary, p, len);
  if (ids[0] != DLP_ID_NONE && ids[0] != DLP_TRIE_NONE)
    return 1;
  return dlp_bpe_encode (self->vocabulary, &scratch->bpe, p, len, ids);
}

/* Entries of a rank file are not written with letters. */
static guint32
lookup (const DlpModel *self, const char *content, gsize len)
{
  return len > 0 ? dlp_vocabulary_lookup (self->vocabulary, (const guint8 *) content, len) :
                   DLP_ID_NONE;
}

static void
hash_model (const DlpModel *self, GChecksum *checksum)
{
  dlp_model_hash_entries (self, "ranks", checksum);
}

static void
free_model (DlpModel *self)
{
  g_free (self);
}

static const DlpModelClass ranks_class = {
  .encode = encode,
  .get_token = dlp_model_get_entry,
  .lookup = lookup,
  .hash = hash_model,
  .free = free_model,
};

DlpModel *
dlp_model_new_ranks (DlpVocabulary *vocabulary)
{
  DlpModel *self = g_new0 (DlpModel, 1);

  self->klass = &ranks_class;
  self->vocabulary = vocabulary;
  self->n_ids = vocabulary->n_ids;
  self->unknown_id = DLP_ID_NONE;
  self->byte_level = TRUE;
  self->merges_bytes = TRUE;
  return self;
}
