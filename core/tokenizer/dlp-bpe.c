/* SPDX-License-Identifier: MIT */
#include "dlp-bpe-long.h"
#include "dlp-bpe-table.h"

#define SCAN_MAX 32
#define HEAP_MAX 1024
#define SCRATCH_KEPT_WORDS (1u << 18)
#define WORDS_PER_SYMBOL 5
#define NO_POSITION G_MAXUINT32

/* Merging a piece of some length: a doubly linked list of symbols, and a heap with one place for
 * each symbol that can merge with its right neighbour. Lowest rank first, leftmost on ties. */
typedef struct
{
  const DlpVocabulary *vocabulary;
  guint32 *ids;
  guint32 *next;
  guint32 *previous;
  guint32 *ranks; /* of the merge with the right neighbour, DLP_ID_NONE if there is none */
  guint32 *heap;  /* symbols, ordered by rank, then by position */
  guint32 *place; /* in the heap, by symbol */
  guint32 heap_len;
} Merger;

static inline gboolean
comes_before (const Merger *self, guint32 a, guint32 b)
{
  guint32 ra = self->ranks[a], rb = self->ranks[b];

  return ra < rb || (ra == rb && a < b);
}

static inline void
put (Merger *self, guint32 at, guint32 symbol)
{
  self->heap[at] = symbol;
  self->place[symbol] = at;
}

static void
sift_up (Merger *self, guint32 at, guint32 symbol)
{
  while (at > 0 && comes_before (self, symbol, self->heap[(at - 1) / 2]))
    {
      put (self, at, self->heap[(at - 1) / 2]);
      at = (at - 1) / 2;
    }
  put (self, at, symbol);
}

static void
sift_down (Merger *self, guint32 at, guint32 symbol)
{
  for (;;)
    {
      gsize child = 2 * (gsize) at + 1;

      if (child >= self->heap_len)
        break;
      if (child + 1 < self->heap_len &&
          comes_before (self, self->heap[child + 1], self->heap[child]))
        child++;
      if (!comes_before (self, self->heap[child], symbol))
        break;
      put (self, at, self->heap[child]);
      at = child;
    }
  put (self, at, symbol);
}

static void
heap_remove (Merger *self, guint32 symbol)
{
  guint32 at = self->place[symbol];
  guint32 last = self->heap[--self->heap_len];

  self->place[symbol] = NO_POSITION;
  if (last == symbol)
    return;
  if (at > 0 && comes_before (self, last, self->heap[(at - 1) / 2]))
    sift_up (self, at, last);
  else
    sift_down (self, at, last);
}

static void
set_rank (Merger *self, guint32 symbol)
{
  guint32 right = self->next[symbol];
  guint32 rank = right == NO_POSITION ?
                     DLP_ID_NONE :
                     dlp_bpe_rank_of_pair (self->vocabulary, self->ids[symbol], self->ids[right]);
  guint32 at = self->place[symbol];

  if (at != NO_POSITION && rank == self->ranks[symbol])
    return;
  if (at != NO_POSITION)
    heap_remove (self, symbol);
  self->ranks[symbol] = rank;
  if (rank != DLP_ID_NONE)
    sift_up (self, self->heap_len++, symbol);
}

static void
merger_start (Merger *self, gsize n)
{
  for (gsize i = 0; i < n; i++)
    {
      self->previous[i] = i - 1;
      self->next[i] = i + 1 < n ? i + 1 : NO_POSITION;
      self->place[i] = NO_POSITION;
    }
  for (gsize i = 0; i + 1 < n; i++)
    {
      self->ranks[i] = dlp_bpe_rank_of_pair (self->vocabulary, self->ids[i], self->ids[i + 1]);
      if (self->ranks[i] != DLP_ID_NONE)
        self->heap[self->heap_len++] = i;
    }
  for (guint32 i = self->heap_len; i-- > 0;)
    sift_down (self, i, self->heap[i]);
}

static void
merge_first (Merger *self, DlpBpeScratch *scratch)
{
  guint32 left = self->heap[0];
  guint32 right = self->next[left];
  guint32 merge = dlp_bpe_merge_of_pair (self->vocabulary, self->ids[left], self->ids[right],
                                         self->ranks[left]);

  scratch->last[0] = self->ids[left];
  scratch->last[1] = self->ids[right];
  self->ids[left] = dlp_vocabulary_merge_id (self->vocabulary, merge);
  self->next[left] = self->next[right];
  if (self->next[left] != NO_POSITION)
    self->previous[self->next[left]] = left;
  if (self->place[right] != NO_POSITION)
    heap_remove (self, right);
  set_rank (self, left);
  if (self->previous[left] != NO_POSITION)
    set_rank (self, self->previous[left]);
}

static gsize
merge_by_heap (const DlpVocabulary *vocabulary, DlpBpeScratch *scratch, guint32 *ids, gsize n)
{
  Merger self = { vocabulary, ids };
  gsize count = 0;

  dlp_bpe_scratch_reserve (scratch, n * WORDS_PER_SYMBOL);
  self.next = scratch->words;
  self.previous = self.next + n;
  self.ranks = self.previous + n;
  self.heap = self.ranks + n;
  self.place = self.heap + n;

  merger_start (&self, n);
  while (self.heap_len > 0)
    merge_first (&self, scratch);

  for (guint32 i = 0; i != NO_POSITION; i = self.next[i])
    ids[count++] = ids[i];
  dlp_bpe_scratch_trim (scratch);
  return count;
}

/* A few symbols stay where they are, a mask says which places are in use. */
static inline gsize
merge_by_scan (const DlpVocabulary *vocabulary,
               DlpBpeScratch *scratch,
               guint32 *ids,
               guint32 *ranks,
               gsize n)
{
  guint64 used = G_MAXUINT64 >> (64 - n);
  gsize count = 0;

  ranks[n - 1] = DLP_ID_NONE;
  for (;;)
    {
      guint32 best = DLP_ID_NONE;
      guint at = 0, right;
      guint64 behind, before;

      for (guint i = 0; i + 1 < n; i++)
        {
          at = ranks[i] < best ? i : at;
          best = MIN (ranks[i], best);
        }
      if (best == DLP_ID_NONE)
        break;

      before = used & (((guint64) 1 << at) - 1);
      behind = used & ~(((guint64) 2 << at) - 1);
      right = __builtin_ctzll (behind);
      scratch->last[0] = ids[at];
      scratch->last[1] = ids[right];
      ids[at] = dlp_vocabulary_merge_id (
          vocabulary, dlp_bpe_merge_of_pair (vocabulary, ids[at], ids[right], best));
      ranks[at] = ranks[right] = DLP_ID_NONE;
      used &= ~((guint64) 1 << right);
      behind &= behind - 1;
      if (behind)
        ranks[at] = dlp_bpe_rank_of_pair (vocabulary, ids[at], ids[__builtin_ctzll (behind)]);
      if (before)
        {
          guint left = 63 - __builtin_clzll (before);

          ranks[left] = dlp_bpe_rank_of_pair (vocabulary, ids[left], ids[at]);
        }
    }

  for (; used; used &= used - 1)
    ids[count++] = ids[__builtin_ctzll (used)];
  return count;
}

gsize
dlp_bpe_merge (const DlpVocabulary *vocabulary, DlpBpeScratch *scratch, guint32 *ids, gsize n)
{
  guint32 ranks[SCAN_MAX];

  if (n < 2)
    return n;
  if (n > HEAP_MAX)
    return dlp_bpe_merge_long (vocabulary, scratch, ids, n);
  if (n > SCAN_MAX)
    return merge_by_heap (vocabulary, scratch, ids, n);

  for (gsize i = 0; i + 1 < n; i++)
    ranks[i] = dlp_bpe_rank_of_pair (vocabulary, ids[i], ids[i + 1]);
  return merge_by_scan (vocabulary, scratch, ids, ranks, n);
}

static gsize
split_bytes (gconstpointer data, const guint8 *p, gsize len, guint32 *ids)
{
  const DlpVocabulary *vocabulary = data;

  for (gsize i = 0; i < len; i++)
    ids[i] = vocabulary->byte_ids[p[i]];
  return len;
}

void
dlp_bpe_prepare (DlpVocabulary *vocabulary)
{
  vocabulary->table = dlp_bpe_table_new (vocabulary, split_bytes, vocabulary);
}

gsize
dlp_bpe_encode (const DlpVocabulary *vocabulary,
                DlpBpeScratch *scratch,
                const guint8 *p,
                gsize len,
                guint32 *ids)
{
  guint32 ranks[SCAN_MAX];

  if (vocabulary->table && len > DLP_BPE_FEW_BYTES)
    return dlp_bpe_table_encode (vocabulary->table, vocabulary, scratch, p, len, ids);

  split_bytes (vocabulary, p, len, ids);
  if (len < 2 || len > SCAN_MAX)
    return dlp_bpe_merge (vocabulary, scratch, ids, len);

  for (gsize i = 0; i + 1 < len; i++)
    ranks[i] = dlp_vocabulary_merge_rank (vocabulary, vocabulary->byte_pairs[p[i] << 8 | p[i + 1]]);
  return merge_by_scan (vocabulary, scratch, ids, ranks, len);
}

void
dlp_bpe_scratch_reserve (DlpBpeScratch *scratch, gsize words)
{
  if (scratch->capacity >= words)
    return;
  g_free (scratch->words);
  scratch->words = g_new (guint32, words);
  scratch->capacity = words;
}

/* What a long text needed is not kept: one like that comes once. */
void
dlp_bpe_scratch_trim (DlpBpeScratch *scratch)
{
  if (scratch->capacity > SCRATCH_KEPT_WORDS)
    dlp_bpe_scratch_clear (scratch);
}

void
dlp_bpe_scratch_clear (DlpBpeScratch *scratch)
{
  g_free (scratch->words);
  scratch->words = NULL;
  scratch->capacity = 0;
}
