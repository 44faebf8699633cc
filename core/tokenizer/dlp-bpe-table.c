/* SPDX-License-Identifier: MIT */
#include "dlp-bpe-table.h"
#include "dlp-huge.h"

#define FEW_BYTES 256 /* their marks are on the stack */

typedef struct
{
  const DlpVocabulary *vocabulary;
  DlpBpeEntry *entries;
  DlpTrieKey *keys;
  gsize n_keys;
  guint32 *ids; /* room */
  DlpBpeScratch scratch;
} Builder;

/* Runs the merges of an entry. FALSE if they do not make it, so that it never comes up. */
static gboolean
find_last_merge (Builder *self, guint32 id, gsize n)
{
  const DlpVocabulary *vocabulary = self->vocabulary;
  DlpBpeEntry *entry = &self->entries[id];
  gboolean is_symbol = n == 1;
  guint32 merge;

  n = dlp_bpe_merge (vocabulary, &self->scratch, self->ids, n);
  if (n != 1 || self->ids[0] != id)
    return FALSE;
  if (is_symbol)
    return TRUE;
  entry->left = self->scratch.last[0];
  entry->right = self->scratch.last[1];
  merge = dlp_vocabulary_merge (vocabulary, entry->left, entry->right);
  entry->age = dlp_vocabulary_merge_rank (vocabulary, merge) + 1;
  return TRUE;
}

static void
add_entries (Builder *self, DlpBpeSplitFunc split, gconstpointer data)
{
  const DlpVocabulary *vocabulary = self->vocabulary;

  for (guint32 id = 0; id < vocabulary->n_ids; id++)
    {
      const guint8 *p = vocabulary->bytes + vocabulary->starts[id];
      gsize len = vocabulary->lengths[id];

      if (dlp_vocabulary_lookup (vocabulary, p, len) == id &&
          find_last_merge (self, id, split (data, p, len, self->ids)))
        self->keys[self->n_keys++] = (DlpTrieKey){ p, len, id };
    }
}

static gboolean
ages_rise (const Builder *self)
{
  for (gsize i = 0; i < self->n_keys; i++)
    {
      const DlpBpeEntry *entry = &self->entries[self->keys[i].value];

      if (entry->age > 0 && (self->entries[entry->left].age >= entry->age ||
                             self->entries[entry->right].age >= entry->age))
        return FALSE;
    }
  return TRUE;
}

static inline guint64
bit_of (guint32 id)
{
  return (guint64) 1 << (id * 0x9e3779b1u >> 26);
}

static void
add_neighbours (Builder *self)
{
  for (gsize i = 0; i < self->n_keys; i++)
    {
      const DlpBpeEntry *entry = &self->entries[self->keys[i].value];

      if (entry->age == 0)
        continue;
      self->entries[entry->left].rights |= bit_of (entry->right);
      self->entries[entry->right].lefts |= bit_of (entry->left);
    }
}

static guint32
find_shorter (const DlpTrie *trie, const DlpTrieKey *key)
{
  guint64 node = dlp_trie_root (trie);
  guint32 found = DLP_ID_NONE;

  for (guint32 i = 0; i + 1 < key->len; i++)
    {
      dlp_trie_step (trie, &node, key->p[i]);
      if (dlp_trie_value (node) != DLP_TRIE_NONE)
        found = dlp_trie_value (node);
    }
  return found;
}

/* Two symbols that stand side by side are all that is left of a text, as far as its merges did not
 * go beyond it: if they merge at all, then by the last merge of the entry that they make. So of the
 * many ways to cut an entry in two only one is ever asked for. */
static void
keep_last_merges (Builder *self, DlpVocabulary *vocabulary)
{
  g_autoptr (GArray) pairs = g_array_new (FALSE, FALSE, sizeof (guint64));

  for (gsize i = 0; i < self->n_keys; i++)
    {
      const DlpBpeEntry *entry = &self->entries[self->keys[i].value];
      guint64 pair;

      if (entry->age == 0)
        continue;
      pair = DLP_PAIR (entry->left, entry->right,
                       dlp_vocabulary_merge (vocabulary, entry->left, entry->right));
      g_array_append_val (pairs, pair);
    }
  dlp_vocabulary_set_pairs (vocabulary, pairs, vocabulary->byte_pairs != NULL);
}

DlpBpeTable *
dlp_bpe_table_new (DlpVocabulary *vocabulary, DlpBpeSplitFunc split, gconstpointer data)
{
  DlpBpeEntry *entries = dlp_huge_alloc0 (vocabulary->n_ids * sizeof (DlpBpeEntry));
  g_autofree DlpTrieKey *keys = g_new (DlpTrieKey, vocabulary->n_ids);
  g_autofree guint32 *ids = g_new (guint32, vocabulary->longest + 1);
  Builder builder = { vocabulary, entries, keys, 0, ids, { NULL } };
  DlpBpeTable *self;

  add_entries (&builder, split, data);
  dlp_bpe_scratch_clear (&builder.scratch);
  keep_last_merges (&builder, vocabulary);
  if (!ages_rise (&builder))
    {
      dlp_huge_free (entries);
      return NULL;
    }

  add_neighbours (&builder);
  self = g_new0 (DlpBpeTable, 1);
  self->trie = dlp_trie_new (keys, builder.n_keys);
  self->entries = entries;
  self->is_complete = builder.n_keys == vocabulary->n_tokens;
  for (gsize i = 0; i < builder.n_keys; i++)
    self->entries[keys[i].value].shorter = find_shorter (self->trie, &keys[i]);
  return self;
}

void
dlp_bpe_table_free (DlpBpeTable *self)
{
  dlp_trie_free (self->trie);
  dlp_huge_free (self->entries);
  g_free (self);
}

/* Whether two neighbours merge at a rank below @limit. */
static inline gboolean
merges_below (const DlpBpeTable *self,
              const DlpVocabulary *vocabulary,
              guint32 left,
              guint32 right,
              guint32 limit)
{
  if (!(self->entries[left].rights & bit_of (right)) ||
      !(self->entries[right].lefts & bit_of (left)))
    return FALSE;
  return dlp_vocabulary_merge_rank (vocabulary, dlp_vocabulary_merge (vocabulary, left, right)) <
         limit;
}

static inline gboolean
can_follow (const DlpBpeTable *self, const DlpVocabulary *vocabulary, guint32 left, guint32 right)
{
  guint32 left_age = self->entries[left].age, right_age = self->entries[right].age;
  guint32 limit = DLP_ID_NONE;

  while (!merges_below (self, vocabulary, left, right, limit))
    {
      /* Of two merges of the same rank the left one comes first. */
      if (left_age > right_age)
        {
          limit = left_age - 1;
          left = self->entries[left].right;
          left_age = self->entries[left].age;
        }
      else if (right_age > 0)
        {
          limit = right_age;
          right = self->entries[right].left;
          right_age = self->entries[right].age;
        }
      else
        return TRUE;
    }
  return FALSE;
}

static inline guint32
find_longest (const DlpTrie *trie, const guint8 *p, const guint8 *end)
{
  guint64 node = dlp_trie_root (trie);
  guint32 found = DLP_TRIE_NONE;

  for (; p < end && dlp_trie_step (trie, &node, *p); p++)
    if (dlp_trie_value (node) != DLP_TRIE_NONE)
      found = dlp_trie_value (node);
  return found == DLP_TRIE_NONE ? DLP_ID_NONE : found;
}

#define IS_MARKED(marks, at) ((marks)[(at) / 32] >> ((at) % 32) & 1)

/* @marks: bits for @len + 1 places, 0; set for those from which there is no way to go on. Each
 * place is left at most once for good, so that this is linear in @len. */
static gsize
encode_marked (const DlpBpeTable *self,
               const DlpVocabulary *vocabulary,
               const guint8 *p,
               gsize len,
               guint32 *ids,
               guint32 *marks)
{
  guint32 id = find_longest (self->trie, p, p + len);
  gsize n = 0, at = 0;

  for (;;)
    {
      gsize next = at;

      for (; id != DLP_ID_NONE; id = self->entries[id].shorter)
        {
          next = at + vocabulary->lengths[id];
          if (!IS_MARKED (marks, next) && (n == 0 || can_follow (self, vocabulary, ids[n - 1], id)))
            break;
        }
      if (id == DLP_ID_NONE)
        {
          g_assert (n > 0);
          marks[at / 32] |= 1u << (at % 32);
          id = ids[--n];
          at -= vocabulary->lengths[id];
          id = self->entries[id].shorter;
          continue;
        }
      ids[n++] = id;
      at = next;
      if (at == len)
        return n;
      id = find_longest (self->trie, p + at, p + len);
    }
}

gsize
dlp_bpe_table_encode (const DlpBpeTable *self,
                      const DlpVocabulary *vocabulary,
                      DlpBpeScratch *scratch,
                      const guint8 *p,
                      gsize len,
                      guint32 *ids)
{
  gsize words = len / 32 + 1;
  guint32 few[FEW_BYTES / 32 + 1] = { 0 };
  gsize n;

  if (len <= FEW_BYTES)
    return encode_marked (self, vocabulary, p, len, ids, few);

  dlp_bpe_scratch_reserve (scratch, words);
  memset (scratch->words, 0, words * sizeof (guint32));
  n = encode_marked (self, vocabulary, p, len, ids, scratch->words);
  dlp_bpe_scratch_trim (scratch);
  return n;
}
