/* SPDX-License-Identifier: MIT */
#include "dlp-bpe-table.h"
#include "dlp-bpe-long.h"
#include "dlp-huge.h"
#include "dlp-unicode.h"

#define MEMO_BITS 8
#define MEMO_SLOTS (1 << MEMO_BITS)
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
  entry->sides[0] = self->scratch.last[0];
  entry->sides[1] = self->scratch.last[1];
  merge = dlp_vocabulary_merge (vocabulary, entry->sides[0], entry->sides[1]);
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

/* No part of an entry is older than it is. A merge by a lower rank than that of its sides does not
 * wait, but goes together with theirs. Longer entries come after what they are made of. */
static void
raise_ages (Builder *self)
{
  guint32 longest = self->vocabulary->longest;
  g_autofree guint32 *starts = g_new0 (guint32, longest + 2);
  g_autofree guint32 *order = g_new (guint32, self->n_keys);

  for (gsize i = 0; i < self->n_keys; i++)
    starts[self->keys[i].len + 1]++;
  for (guint32 i = 1; i <= longest; i++)
    starts[i + 1] += starts[i];
  for (gsize i = 0; i < self->n_keys; i++)
    order[starts[self->keys[i].len]++] = self->keys[i].value;

  for (gsize i = 0; i < self->n_keys; i++)
    {
      DlpBpeEntry *entry = &self->entries[order[i]];

      if (entry->age > 0)
        entry->age = MAX (entry->age, MAX (self->entries[entry->sides[0]].age,
                                           self->entries[entry->sides[1]].age));
    }
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
      self->entries[entry->sides[0]].rights |= bit_of (entry->sides[1]);
      self->entries[entry->sides[1]].lefts |= bit_of (entry->sides[0]);
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
      pair = DLP_PAIR (entry->sides[0], entry->sides[1],
                       dlp_vocabulary_merge (vocabulary, entry->sides[0], entry->sides[1]));
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
  raise_ages (&builder);
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

static inline gboolean
may_merge (const DlpBpeEntry *entries, guint32 left, guint32 right)
{
  return (entries[left].rights & bit_of (right)) && (entries[right].lefts & bit_of (left));
}

/* Of a merge that went together with an earlier one: below which rank another one would have come
 * before it. Where the other side of a right one was made at that time, too, that was what it
 * waited for. */
static guint32 __attribute__ ((noinline)) limit_of_late (const DlpVocabulary *vocabulary,
                                                         const DlpBpeEntry *entries,
                                                         guint32 id,
                                                         gboolean is_left)
{
  const DlpBpeEntry *entry = &entries[id];

  if (!is_left && entries[entry->sides[1]].age == entry->age)
    return entry->age;
  return dlp_bpe_rank_of_pair (vocabulary, entry->sides[0], entry->sides[1]) + !is_left;
}

/* Most pairs that are looked up are two single bytes: @border is where in the text they meet. */
static inline guint32
rank_of_symbols (const DlpVocabulary *vocabulary, guint32 left, guint32 right, const guint8 *border)
{
  guint32 merge = vocabulary->byte_pairs ? vocabulary->byte_pairs[border[-1] << 8 | border[0]] :
                                           dlp_vocabulary_merge (vocabulary, left, right);

  return dlp_vocabulary_merge_rank (vocabulary, merge);
}

static inline gboolean
can_follow (const DlpVocabulary *vocabulary,
            const DlpBpeEntry *entries,
            guint32 left,
            guint32 right,
            const guint8 *border)
{
  guint32 left_age = entries[left].age, right_age = entries[right].age;
  guint32 limit = DLP_ID_NONE;

  while ((left_age | right_age) > 0)
    {
      if (may_merge (entries, left, right) &&
          dlp_bpe_rank_of_pair (vocabulary, left, right) < limit)
        return FALSE;
      /* Of two merges of the same rank the left one comes first. */
      if (left_age > right_age)
        {
          guint32 inner = entries[left].sides[1], age = entries[inner].age;

          limit = left_age - 1;
          if (G_UNLIKELY (age == left_age))
            limit = limit_of_late (vocabulary, entries, left, TRUE);
          left = inner;
          left_age = age;
        }
      else
        {
          guint32 inner = entries[right].sides[0], age = entries[inner].age;

          limit = right_age;
          if (G_UNLIKELY (age == right_age))
            limit = limit_of_late (vocabulary, entries, right, FALSE);
          right = inner;
          right_age = age;
        }
    }
  return !may_merge (entries, left, right) ||
         rank_of_symbols (vocabulary, left, right, border) >= limit;
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

/* Of a long text: what was asked last, because in one that repeats itself it is asked again and
 * again. A slot is left, right and the answer. */
typedef struct
{
  guint64 slots[MEMO_SLOTS];
} Memo;

static inline gboolean
can_follow_again (Memo *memo,
                  const DlpVocabulary *vocabulary,
                  const DlpBpeEntry *entries,
                  guint32 left,
                  guint32 right,
                  const guint8 *border)
{
  guint64 key = DLP_PAIR (left, right, 0);
  guint64 *slot = &memo->slots[key * DLP_PAIR_MULTIPLIER >> (64 - MEMO_BITS)];

  if ((*slot ^ key) > 1)
    *slot = key | can_follow (vocabulary, entries, left, right, border);
  return *slot & 1;
}

/* A text on its way to ids. */
typedef struct
{
  const DlpBpeTable *table;
  const DlpVocabulary *vocabulary;
  const guint8 *p;
  gsize len;
  guint32 *ids;
  guint32 *marks; /* bits for len + 1 places: set for those from which there is no way to go on */
  Memo *memo;     /* NULL for a short text */
  guint64 *steps; /* NULL likewise */
} Encoding;

static DLP_INLINE gboolean
fits (const Encoding *self, guint32 last, guint32 id, gsize at, gsize next)
{
  const DlpBpeEntry *entries = self->table->entries;

  if (IS_MARKED (self->marks, next))
    return FALSE;
  return self->memo ?
             can_follow_again (self->memo, self->vocabulary, entries, last, id, self->p + at) :
             can_follow (self->vocabulary, entries, last, id, self->p + at);
}

/* Once more what stands before @at, as often as that goes: in a long run of one character the
 * longest entry is seldom the one that it is made of. */
static DLP_INLINE gsize
repeat (const Encoding *self, gsize *n, gsize at, gsize *steps)
{
  guint32 id = self->ids[*n - 1];
  gsize len = self->vocabulary->lengths[id];
  const guint8 *p = self->p;

  while (self->len - at >= len && p[at] == p[at - len] && memcmp (p + at, p + at - len, len) == 0 &&
         fits (self, id, id, at, at + len))
    {
      self->ids[(*n)++] = id;
      (*steps)++;
      at += len;
    }
  return at;
}

/* Takes the last of the ids back, because nothing can follow it, and returns the next one to try in
 * its place. What repeats the one before it was tried first. */
static DLP_INLINE guint32
go_back (const Encoding *self, gsize *n, gsize *at)
{
  guint32 id = self->ids[--*n];

  self->marks[*at / 32] |= 1u << (*at % 32);
  *at -= self->vocabulary->lengths[id];
  if (self->memo && *n > 0 && self->ids[*n - 1] == id)
    return find_longest (self->table->trie, self->p + *at, self->p + self->len);
  return self->table->entries[id].shorter;
}

/* Each place is left at most once for good, so that this is linear in the length. */
static DLP_INLINE gsize
encode (const Encoding *self)
{
  const guint16 *lengths = self->vocabulary->lengths;
  gsize n = 0, at = 0, next = 0, steps = 0;

  while (at < self->len)
    {
      guint32 id = find_longest (self->table->trie, self->p + at, self->p + self->len);

      for (;;)
        {
          for (; id != DLP_ID_NONE; id = self->table->entries[id].shorter)
            {
              steps++;
              next = at + lengths[id];
              if (n == 0 ? !IS_MARKED (self->marks, next) :
                           fits (self, self->ids[n - 1], id, at, next))
                break;
            }
          if (id != DLP_ID_NONE)
            break;
          g_assert (n > 0);
          id = go_back (self, &n, &at);
        }
      self->ids[n++] = id;
      at = self->memo ? repeat (self, &n, next, &steps) : next;
    }
  if (self->steps)
    *self->steps += steps;
  return n;
}

static gsize __attribute__ ((noinline)) encode_few (const DlpBpeTable *self,
                                                    const DlpVocabulary *vocabulary,
                                                    const guint8 *p,
                                                    gsize len,
                                                    guint32 *ids)
{
  guint32 marks[FEW_BYTES / 32 + 1] = { 0 };

  return encode (&(Encoding){ self, vocabulary, p, len, ids, marks, NULL, NULL });
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
  Memo memo;
  gsize n;

  if (len <= FEW_BYTES)
    return encode_few (self, vocabulary, p, len, ids);

  dlp_bpe_scratch_reserve (scratch, words);
  memset (scratch->words, 0, words * sizeof (guint32));
  memset (&memo, 0xff, sizeof memo);
  n = encode (&(Encoding){ self, vocabulary, p, len, ids, scratch->words, &memo, &scratch->steps });
  dlp_bpe_scratch_trim (scratch);
  return n;
}
