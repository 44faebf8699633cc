/* SPDX-License-Identifier: MIT */
#include "dlp-model-bpe.h"
#include "dlp-model-unigram.h"
#include "dlp-sentencepiece.h"
#include "dlpipe/dlp-tokenizer.h"

#include <float.h>

#define USER_DEFINED_BONUS 0.1 /* a byte */
#define ENTRY(file, id) (&g_array_index ((file)->entries, DlpSentencePieceEntry, id))

static gboolean fail (const DlpSentencePiece *file, GError **error, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

static gboolean
fail (const DlpSentencePiece *file, GError **error, const char *format, ...)
{
  g_autofree char *what = NULL;
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_BAD_VOCABULARY, "%s: %s",
               file->where, what);
  return FALSE;
}

static gboolean
is_text (DlpPieceType type)
{
  return type == DLP_PIECE_NORMAL || type == DLP_PIECE_USER_DEFINED || type == DLP_PIECE_UNUSED;
}

static void
store (DlpVocabulary *self, guint32 id, const char *p, gsize len, gsize *n_bytes)
{
  memcpy (self->bytes + *n_bytes, p, len);
  self->starts[id] = *n_bytes;
  self->lengths[id] = len;
  self->n_tokens++;
  *n_bytes += len;
}

static gboolean
insert_entries (DlpVocabulary *self, const DlpSentencePiece *file, GError **error)
{
  self->foreign =
      g_hash_table_new_full (g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, NULL);
  dlp_vocabulary_reserve (self);
  for (guint32 id = 0; id < file->entries->len; id++)
    {
      const DlpSentencePieceEntry *entry = ENTRY (file, id);
      gboolean is_new = is_text (entry->type) ?
                            dlp_vocabulary_insert (self, id) :
                            g_hash_table_insert (self->foreign, g_bytes_new (entry->p, entry->len),
                                                 GUINT_TO_POINTER (id + 1));

      if (!is_new)
        return fail (file, error, "piece %u, \"%.*s\", is there twice", id, (int) entry->len,
                     entry->p);
    }
  return TRUE;
}

/* Characters that occur in pieces without being one: they can be merged all the same. */
static GHashTable *
find_unlisted (const DlpSentencePiece *file)
{
  g_autoptr (GHashTable) listed = g_hash_table_new (NULL, NULL);
  GHashTable *unlisted = g_hash_table_new (NULL, NULL);

  for (guint32 id = 0; id < file->entries->len; id++)
    {
      const DlpSentencePieceEntry *entry = ENTRY (file, id);

      if (is_text (entry->type) && g_utf8_next_char (entry->p) == entry->p + entry->len)
        g_hash_table_add (listed, GUINT_TO_POINTER (g_utf8_get_char (entry->p)));
    }
  for (guint32 id = 0; id < file->entries->len; id++)
    {
      const DlpSentencePieceEntry *entry = ENTRY (file, id);
      const char *end = entry->p + entry->len;

      for (const char *p = entry->p; p < end && entry->type == DLP_PIECE_NORMAL;
           p = g_utf8_next_char (p))
        if (!g_hash_table_contains (listed, GUINT_TO_POINTER (g_utf8_get_char (p))))
          g_hash_table_add (unlisted, GUINT_TO_POINTER (g_utf8_get_char (p)));
    }
  return unlisted;
}

static void
add_unlisted (DlpVocabulary *self, GHashTable *unlisted, guint32 id, gsize *n_bytes)
{
  GHashTableIter iter;
  gpointer c;

  g_hash_table_iter_init (&iter, unlisted);
  while (g_hash_table_iter_next (&iter, &c, NULL))
    {
      char utf8[6];
      gsize len = g_unichar_to_utf8 (GPOINTER_TO_UINT (c), utf8);

      store (self, id++, utf8, len, n_bytes);
    }
}

static DlpVocabulary *
make_vocabulary (const DlpSentencePiece *file, GHashTable *unlisted, GError **error)
{
  guint n_unlisted = unlisted ? g_hash_table_size (unlisted) : 0;
  guint32 n = file->entries->len;
  g_autoptr (DlpVocabulary) self = NULL;
  gsize n_bytes = 4 * (gsize) n_unlisted;

  for (guint32 id = 0; id < n; id++)
    n_bytes += ENTRY (file, id)->len;
  if (n_bytes > G_MAXUINT32)
    {
      fail (file, error, "pieces of more than 4 GiB");
      return NULL;
    }
  self = dlp_vocabulary_new (n + n_unlisted, n_bytes);
  n_bytes = 0;
  for (guint32 id = 0; id < n; id++)
    store (self, id, ENTRY (file, id)->p, ENTRY (file, id)->len, &n_bytes);
  if (unlisted)
    add_unlisted (self, unlisted, n, &n_bytes);
  if (!insert_entries (self, file, error))
    return NULL;
  for (guint i = 0; i < n_unlisted; i++)
    dlp_vocabulary_insert (self, n + i);
  dlp_vocabulary_find_byte_ids (self);
  return g_steal_pointer (&self);
}

static gboolean
find_byte_tokens (const DlpSentencePiece *file,
                  const DlpModel *model,
                  guint32 ids[256],
                  GError **error)
{
  if (dlp_model_find_byte_tokens (model, ids) || !file->byte_fallback)
    return TRUE;
  return fail (file, error, "byte_fallback without a piece for each of <0x00> to <0xFF>");
}

static gboolean
check_bpe (const DlpSentencePiece *file, GError **error)
{
  for (guint32 id = 0; id < file->entries->len; id++)
    {
      const DlpSentencePieceEntry *entry = ENTRY (file, id);
      gboolean is_char = g_utf8_next_char (entry->p) == entry->p + entry->len;

      if (entry->type == DLP_PIECE_UNUSED && !is_char)
        return fail (file, error,
                     "piece %u, \"%.*s\", is of type UNUSED; in a model of type BPE that is not "
                     "supported",
                     id, (int) entry->len, entry->p);
      if (!is_text (entry->type) && entry->type != DLP_PIECE_UNKNOWN && is_char)
        return fail (file, error,
                     "piece %u, \"%.*s\", of type %u is a single character; in a model of type BPE "
                     "that is not supported",
                     id, (int) entry->len, entry->p, entry->type);
    }
  return TRUE;
}

/* Two neighbours merge if they are a piece together; what is user-defined does not take part. */
static void
collect_pairs (const DlpVocabulary *self, const DlpSentencePiece *file, guint32 id, GArray *pairs)
{
  const guint8 *p = self->bytes + self->starts[id];
  gsize len = self->lengths[id];

  for (gsize k = 1; k < len; k++)
    {
      guint32 left, right;
      guint64 pair;

      if ((p[k] & 0xc0) == 0x80)
        continue;
      left = dlp_vocabulary_lookup (self, p, k);
      right = left == DLP_ID_NONE ? left : dlp_vocabulary_lookup (self, p + k, len - k);
      if (right == DLP_ID_NONE ||
          (left < file->entries->len && ENTRY (file, left)->type == DLP_PIECE_USER_DEFINED) ||
          (right < file->entries->len && ENTRY (file, right)->type == DLP_PIECE_USER_DEFINED))
        continue;
      pair = DLP_PAIR (left, right, id);
      g_array_append_val (pairs, pair);
    }
}

static int
compare_scores (gconstpointer a, gconstpointer b, gpointer user_data)
{
  const DlpSentencePiece *file = user_data;
  float left = ENTRY (file, *(const guint32 *) a)->score;
  float right = ENTRY (file, *(const guint32 *) b)->score;

  return (left < right) - (left > right);
}

/* The higher its score, the earlier a piece is merged; equal ones have the same rank. */
static guint32 *
make_ranks (const DlpSentencePiece *file)
{
  guint32 n = file->entries->len;
  g_autofree guint32 *order = g_new (guint32, n);
  guint32 *ranks = g_new (guint32, n);

  for (guint32 id = 0; id < n; id++)
    order[id] = id;
  g_qsort_with_data (order, n, sizeof *order, compare_scores, (gpointer) file);
  for (guint32 i = 0, rank = 0; i < n; i++)
    {
      if (i > 0 && compare_scores (&order[i - 1], &order[i], (gpointer) file) != 0)
        rank = i;
      ranks[order[i]] = rank;
    }
  return ranks;
}

static void
set_merges (DlpBpeModel *self, const DlpSentencePiece *file)
{
  DlpVocabulary *vocabulary = self->parent.vocabulary;
  g_autoptr (GArray) pairs = g_array_new (FALSE, FALSE, sizeof (guint64));

  for (guint32 id = 0; id < file->entries->len; id++)
    if (ENTRY (file, id)->type == DLP_PIECE_NORMAL)
      collect_pairs (vocabulary, file, id, pairs);
  dlp_vocabulary_set_pairs (vocabulary, pairs, FALSE);
  vocabulary->merge_ranks = make_ranks (file);
}

static void
set_user_defined (DlpBpeModel *self, const DlpSentencePiece *file)
{
  g_autofree DlpTrieKey *keys = g_new (DlpTrieKey, file->entries->len);
  const DlpVocabulary *vocabulary = self->parent.vocabulary;
  gsize n = 0;

  for (guint32 id = 0; id < file->entries->len; id++)
    if (ENTRY (file, id)->type == DLP_PIECE_USER_DEFINED)
      keys[n++] =
          (DlpTrieKey){ vocabulary->bytes + vocabulary->starts[id], vocabulary->lengths[id], id };
  if (n > 0)
    self->user_defined = dlp_trie_new (keys, n);
}

static gsize
encode_bpe (const DlpModel *model,
            DlpModelScratch *scratch,
            const guint8 *p,
            gsize len,
            guint32 *ids)
{
  gsize n = dlp_bpe_model_encode (model, scratch, p, len, ids);

  return dlp_bpe_model_replace_unlisted ((const DlpBpeModel *) model, ids, n);
}

static void
hash_bpe (const DlpModel *model, GChecksum *checksum)
{
  const DlpBpeModel *self = (const DlpBpeModel *) model;

  dlp_model_hash_entries (model, "SentencePiece BPE", checksum);
  dlp_checksum_add_uint (checksum, self->byte_fallback);
  for (guint32 id = 0; id < model->n_ids; id++)
    {
      const guint8 *p = model->vocabulary->bytes + model->vocabulary->starts[id];
      gsize len = model->vocabulary->lengths[id];

      dlp_checksum_add_uint (checksum, model->vocabulary->merge_ranks[id]);
      dlp_checksum_add_uint (checksum, self->user_defined &&
                                           dlp_trie_lookup (self->user_defined, p, len) == id);
    }
}

static const DlpModelClass bpe_class = {
  .encode = encode_bpe,
  .get_token = dlp_model_get_entry,
  .lookup = dlp_model_lookup_entry,
  .find_cut = dlp_bpe_model_find_cut,
  .hash = hash_bpe,
  .free = dlp_bpe_model_free,
};

static DlpModel *
new_bpe (const DlpSentencePiece *file, GError **error)
{
  DlpBpeModel *self = g_new0 (DlpBpeModel, 1);
  g_autoptr (DlpModel) model = &self->parent;
  g_autoptr (GHashTable) unlisted = find_unlisted (file);

  model->klass = &bpe_class;
  model->n_ids = file->entries->len;
  model->unknown_id = file->unknown_id;
  if (!check_bpe (file, error))
    return NULL;
  model->vocabulary = make_vocabulary (file, unlisted, error);
  if (model->vocabulary == NULL || !find_byte_tokens (file, model, self->byte_tokens, error))
    return NULL;

  self->byte_fallback = self->all_bytes = file->byte_fallback;
  self->fuse_unknown = TRUE;
  set_user_defined (self, file);
  set_merges (self, file);
  dlp_bpe_model_prepare (self);
  return g_steal_pointer (&model);
}

/* What is user-defined scores by its length alone, and so wins over all ways to make it of others.
 * Sums are in the precision that the original has them in. */
static void
set_scores (DlpUnigramModel *self, const DlpSentencePiece *file)
{
  float lowest = FLT_MAX;
  guint32 n = file->entries->len;

  self->scores = g_new (double, n);
  for (guint32 id = 0; id < n; id++)
    {
      const DlpSentencePieceEntry *entry = ENTRY (file, id);

      if (entry->type == DLP_PIECE_NORMAL)
        lowest = MIN (lowest, entry->score);
      self->scores[id] = entry->type == DLP_PIECE_USER_DEFINED ?
                             (float) (USER_DEFINED_BONUS * (entry->len - 1)) :
                             entry->score;
    }
  self->unknown_score = lowest - (float) DLP_UNIGRAM_UNKNOWN_PENALTY;
}

static void
set_trie (DlpUnigramModel *self, const DlpSentencePiece *file)
{
  g_autofree DlpTrieKey *keys = g_new (DlpTrieKey, file->entries->len);
  const DlpVocabulary *vocabulary = self->parent.vocabulary;
  gsize n = 0;

  for (guint32 id = 0; id < file->entries->len; id++)
    if (ENTRY (file, id)->type == DLP_PIECE_NORMAL ||
        ENTRY (file, id)->type == DLP_PIECE_USER_DEFINED)
      keys[n++] =
          (DlpTrieKey){ vocabulary->bytes + vocabulary->starts[id], vocabulary->lengths[id], id };
  self->trie = dlp_trie_new (keys, n);
}

static DlpModel *
new_unigram (const DlpSentencePiece *file, GError **error)
{
  DlpUnigramModel *self = g_new0 (DlpUnigramModel, 1);
  g_autoptr (DlpModel) model = &self->parent;

  model->klass = &dlp_unigram_model_class;
  model->n_ids = file->entries->len;
  model->unknown_id = file->unknown_id;
  model->vocabulary = make_vocabulary (file, NULL, error);
  if (model->vocabulary == NULL || !find_byte_tokens (file, model, self->byte_tokens, error))
    return NULL;

  self->byte_fallback = file->byte_fallback;
  self->is_single = TRUE;
  set_scores (self, file);
  set_trie (self, file);
  return g_steal_pointer (&model);
}

DlpModel *
dlp_model_new_sentencepiece (const DlpSentencePiece *self, GError **error)
{
  return self->kind == DLP_SENTENCEPIECE_BPE ? new_bpe (self, error) : new_unigram (self, error);
}
