/* SPDX-License-Identifier: MIT */
#include "dlp-model-unigram.h"

#define SCRATCH_KEPT_WORDS (1u << 18)
#define NO_START G_MAXUINT32
#define LOWEST_SINGLE -100000.0f

/* The best way to get to a place of the piece. */
typedef struct
{
  double score;
  guint32 start; /* of the last entry on it */
  guint32 id;
} Node;

static inline gsize
char_len (guint8 lead)
{
  return lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/* Of equal ones the first stays. */
static inline void
offer (Node *node, double score, guint32 start, guint32 id, gboolean is_single)
{
  if (is_single)
    score = (float) score;
  if (node->start != NO_START && score <= node->score)
    return;
  node->score = score;
  node->start = start;
  node->id = id;
}

static inline void
go_on_from (const DlpUnigramModel *self,
            const guint8 *p,
            gsize len,
            gsize start,
            gsize n,
            Node *nodes,
            gboolean is_single)
{
  guint64 at = dlp_trie_root (self->trie);
  double score = nodes[start].score;
  gboolean has_char = FALSE;

  for (gsize i = start; i < len && dlp_trie_step (self->trie, &at, p[i]);)
    {
      guint32 id = dlp_trie_value (at);

      i++;
      if (id == DLP_TRIE_NONE)
        continue;
      offer (&nodes[i], score + self->scores[id], start, id, is_single);
      has_char = has_char || i == start + n;
    }
  if (!has_char)
    offer (&nodes[start + n], score + self->unknown_score, start, self->parent.unknown_id,
           is_single);
}

/* In single precision, sums that have grown large would tell small differences apart no more: then
 * all go on from the one at @start. */
static void
lift (const DlpUnigramModel *self, Node *nodes, gsize start, gsize len)
{
  gsize end = MIN (start + self->parent.vocabulary->longest, len);
  double lowest = nodes[start].score;

  if (lowest >= LOWEST_SINGLE)
    return;
  for (gsize i = start; i <= end; i++)
    if (nodes[i].start != NO_START)
      nodes[i].score = (float) (nodes[i].score - lowest);
}

static void
find_best (const DlpUnigramModel *self, const guint8 *p, gsize len, Node *nodes)
{
  nodes[0].score = 0;
  for (gsize i = 0; i <= len; i++)
    nodes[i].start = NO_START;

  for (gsize i = 0, n; i < len; i += n)
    {
      n = self->parent.byte_level ? 1 : MIN (char_len (p[i]), len - i);
      if (self->is_single)
        {
          lift (self, nodes, i, len);
          go_on_from (self, p, len, i, n, nodes, TRUE);
        }
      else
        go_on_from (self, p, len, i, n, nodes, FALSE);
    }
}

static Node *
reserve (DlpModelScratch *scratch, gsize n)
{
  gsize words = n * sizeof (Node) / sizeof (guint32);

  if (scratch->capacity < words)
    {
      g_free (scratch->words);
      scratch->words = g_new (guint32, words);
      scratch->capacity = words;
    }
  return (Node *) scratch->words;
}

/* Writes what a run of unknown characters becomes, last id first. */
static gsize
put_unknown (const DlpUnigramModel *self, const guint8 *p, gsize len, guint32 *ids)
{
  gsize n = 0;
  guint32 id = self->is_single ? DLP_TRIE_NONE : dlp_trie_lookup (self->trie, p, len);

  if (id != DLP_TRIE_NONE)
    {
      ids[0] = id;
      return 1;
    }
  while (self->byte_fallback && n < len && self->byte_tokens[p[len - 1 - n]] != DLP_ID_NONE)
    {
      ids[n] = self->byte_tokens[p[len - 1 - n]];
      n++;
    }
  if (n == len)
    return n;
  ids[0] = self->parent.unknown_id;
  return 1;
}

/* Goes back from the end; the ids come last first. */
static gsize
collect (const DlpUnigramModel *self, const guint8 *p, gsize len, const Node *nodes, guint32 *ids)
{
  gsize n = 0;

  for (gsize end = len, start; end > 0; end = start)
    {
      start = nodes[end].start;
      if (nodes[end].id != self->parent.unknown_id)
        {
          ids[n++] = nodes[end].id;
          continue;
        }
      while (start > 0 && nodes[start].id == self->parent.unknown_id)
        start = nodes[start].start;
      n += put_unknown (self, p + start, end - start, ids + n);
    }
  for (gsize i = 0; i < n / 2; i++)
    {
      guint32 id = ids[i];

      ids[i] = ids[n - 1 - i];
      ids[n - 1 - i] = id;
    }
  return n;
}

gsize
dlp_unigram_model_encode (const DlpModel *model,
                          DlpModelScratch *scratch,
                          const guint8 *p,
                          gsize len,
                          guint32 *ids)
{
  const DlpUnigramModel *self = (const DlpUnigramModel *) model;
  Node *nodes = reserve (scratch, len + 1);
  gsize n;

  find_best (self, p, len, nodes);
  n = collect (self, p, len, nodes, ids);
  if (scratch->capacity > SCRATCH_KEPT_WORDS)
    {
      g_clear_pointer (&scratch->words, g_free);
      scratch->capacity = 0;
    }
  return n;
}

void
dlp_unigram_model_hash (const DlpModel *model, GChecksum *checksum)
{
  const DlpUnigramModel *self = (const DlpUnigramModel *) model;

  dlp_model_hash_entries (model, "Unigram", checksum);
  dlp_checksum_add_uint (checksum, self->is_single);
  dlp_checksum_add_uint (checksum, self->byte_fallback);
  for (guint32 id = 0; id < model->n_ids; id++)
    {
      guint64 bits;

      memcpy (&bits, &self->scores[id], sizeof bits);
      dlp_checksum_add_uint (checksum, bits);
    }
}

void
dlp_unigram_model_free (DlpModel *model)
{
  DlpUnigramModel *self = (DlpUnigramModel *) model;

  g_clear_pointer (&self->trie, dlp_trie_free);
  g_free (self->scores);
  g_free (self);
}

const DlpModelClass dlp_unigram_model_class = {
  .encode = dlp_unigram_model_encode,
  .get_token = dlp_model_get_entry,
  .lookup = dlp_model_lookup_entry,
  .hash = dlp_unigram_model_hash,
  .free = dlp_unigram_model_free,
};
