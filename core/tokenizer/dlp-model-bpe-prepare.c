/* SPDX-License-Identifier: MIT */
#include "dlp-bpe-table.h"
#include "dlp-model-bpe.h"

static void
index_chars (DlpBpeModel *self)
{
  self->char_ids = g_new (guint32, 0x10000);
  for (gunichar c = 0; c < 0x10000; c++)
    {
      char utf8[6];
      gsize len = g_unichar_to_utf8 (c, utf8);

      self->char_ids[c] = dlp_vocabulary_lookup (self->parent.vocabulary, (guint8 *) utf8, len);
    }
}

static void
find_whole (DlpBpeModel *self)
{
  const DlpVocabulary *vocabulary = self->parent.vocabulary;
  g_autofree guint32 *ids = g_new (guint32, vocabulary->longest + 1);
  DlpBpeScratch scratch = { NULL };

  self->whole = g_new0 (guint64, vocabulary->n_ids / 64 + 1);
  for (guint32 id = 0; id < self->parent.n_ids; id++)
    {
      gsize len = vocabulary->lengths[id];
      gsize n = dlp_bpe_model_split (self, vocabulary->bytes + vocabulary->starts[id], len, ids);

      n = dlp_bpe_merge (vocabulary, &scratch, ids, n);
      if (n == 1 && ids[0] == id)
        self->whole[id / 64] |= (guint64) 1 << (id % 64);
    }
  dlp_bpe_scratch_clear (&scratch);
}

/* Whether an id may stand for something else than what its entry says. */
static gboolean
is_stand_in (const DlpBpeModel *self, guint32 id)
{
  if (id == self->parent.unknown_id)
    return TRUE;
  if (self->parent.vocabulary->lengths[id] != strlen ("<0x00>") || !self->byte_fallback)
    return FALSE;
  for (guint i = 0; i < 256; i++)
    if (self->byte_tokens[i] == id)
      return TRUE;
  return FALSE;
}

static gboolean
has_stand_ins (const DlpBpeModel *self)
{
  const DlpVocabulary *vocabulary = self->parent.vocabulary;

  for (guint32 i = 0; i <= vocabulary->pairs_mask; i++)
    {
      guint64 slot = vocabulary->pairs[i];

      if (slot != DLP_PAIR_EMPTY &&
          (is_stand_in (self, DLP_PAIR_LEFT (slot)) || is_stand_in (self, DLP_PAIR_RIGHT (slot))))
        return TRUE;
    }
  return FALSE;
}

static void
add_joint (DlpBpeModel *self, guint64 slot)
{
  const DlpVocabulary *vocabulary = self->parent.vocabulary;
  guint32 left = DLP_PAIR_LEFT (slot), right = DLP_PAIR_RIGHT (slot);

  dlp_joints_add (&self->joints, vocabulary->bytes + vocabulary->starts[left],
                  vocabulary->lengths[left], vocabulary->bytes + vocabulary->starts[right],
                  vocabulary->lengths[right]);
}

/* A user-defined entry is not cut either. */
static void
add_user_defined_joints (DlpBpeModel *self, guint32 id)
{
  const DlpVocabulary *vocabulary = self->parent.vocabulary;
  const guint8 *p = vocabulary->bytes + vocabulary->starts[id];
  gsize len = vocabulary->lengths[id];

  if (dlp_trie_lookup (self->user_defined, p, len) != id)
    return;
  for (gsize k = 1; k < len; k++)
    if ((p[k] & 0xc0) != 0x80)
      dlp_joints_add (&self->joints, p, k, p + k, len - k);
}

static void
find_joints (DlpBpeModel *self)
{
  const DlpVocabulary *vocabulary = self->parent.vocabulary;
  gsize n = 0;

  for (guint32 i = 0; i <= vocabulary->pairs_mask; i++)
    n += vocabulary->pairs[i] != DLP_PAIR_EMPTY;
  dlp_joints_init (&self->joints, n);
  for (guint32 i = 0; i <= vocabulary->pairs_mask; i++)
    if (vocabulary->pairs[i] != DLP_PAIR_EMPTY)
      add_joint (self, vocabulary->pairs[i]);
  for (guint32 id = 0; id < self->parent.n_ids && self->user_defined; id++)
    add_user_defined_joints (self, id);
  self->parent.can_cut = TRUE;
}

static gsize
split_chars (gconstpointer data, const guint8 *p, gsize len, guint32 *ids)
{
  return dlp_bpe_model_split (data, p, len, ids);
}

/* Where any character can be unknown, unknown ones become one, or vanish: there a text is not cut.
 * Where they vanish, their neighbours meet, and there is no table either. */
void
dlp_bpe_model_prepare (DlpBpeModel *self)
{
  gboolean has_affix = self->prefix_len + self->suffix_len > 0;
  gboolean is_plain = !has_affix && !has_stand_ins (self);
  gboolean can_vanish = !self->all_bytes && self->parent.unknown_id == DLP_ID_NONE;
  DlpVocabulary *vocabulary = self->parent.vocabulary;

  if (!self->parent.byte_level)
    index_chars (self);
  if (is_plain && self->all_bytes && self->parent.byte_level)
    {
      dlp_bpe_prepare (vocabulary);
      self->parent.merges_bytes = vocabulary->merge_ranks == NULL &&
                                  (self->ignore_merges || vocabulary->table->is_complete);
    }
  else if (is_plain && !can_vanish)
    vocabulary->table = dlp_bpe_table_new (vocabulary, split_chars, self);
  if (vocabulary->table == NULL && !self->ignore_merges && !has_affix)
    find_whole (self);
  if (is_plain && self->all_bytes && !self->parent.byte_level && !self->ignore_merges)
    find_joints (self);
}
