/* SPDX-License-Identifier: MIT */
#include "dlp-bpe.h"

#define SCAN_MAX_LEN 32
#define SCRATCH_KEPT_WORDS (1u << 18)
#define WORDS_PER_BYTE 6
#define NO_POSITION G_MAXUINT32

/* Merging a long piece: a doubly linked list of symbols, and a heap with one place for each symbol
 * that can merge with its right neighbour. Lowest rank first, leftmost on ties. */
typedef struct
{
  const DlpVocabulary *vocabulary;
  guint32 *ids;
  guint32 *next;
  guint32 *previous;
  guint32 *ranks; /* of the merge with the right neighbour */
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
                     dlp_vocabulary_merge (self->vocabulary, self->ids[symbol], self->ids[right]);
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
merger_start (Merger *self, const guint8 *p, gsize len)
{
  for (gsize i = 0; i < len; i++)
    {
      self->ids[i] = self->vocabulary->byte_ids[p[i]];
      self->previous[i] = i - 1;
      self->next[i] = i + 1 < len ? i + 1 : NO_POSITION;
      self->place[i] = NO_POSITION;
    }
  for (gsize i = 0; i + 1 < len; i++)
    {
      self->ranks[i] = self->vocabulary->byte_pairs[p[i] << 8 | p[i + 1]];
      if (self->ranks[i] != DLP_ID_NONE)
        self->heap[self->heap_len++] = i;
    }
  for (guint32 i = self->heap_len; i-- > 0;)
    sift_down (self, i, self->heap[i]);
}

static gsize
merge_by_heap (const DlpVocabulary *vocabulary,
               DlpBpeScratch *scratch,
               const guint8 *p,
               gsize len,
               guint32 *out)
{
  Merger self = { vocabulary };
  gsize n = 0;

  if (scratch->capacity < len * WORDS_PER_BYTE)
    {
      g_free (scratch->words);
      scratch->words = g_new (guint32, len * WORDS_PER_BYTE);
      scratch->capacity = len * WORDS_PER_BYTE;
    }
  self.ids = scratch->words;
  self.next = self.ids + len;
  self.previous = self.next + len;
  self.ranks = self.previous + len;
  self.heap = self.ranks + len;
  self.place = self.heap + len;

  merger_start (&self, p, len);
  while (self.heap_len > 0)
    {
      guint32 left = self.heap[0];
      guint32 right = self.next[left];

      self.ids[left] = self.ranks[left];
      self.next[left] = self.next[right];
      if (self.next[left] != NO_POSITION)
        self.previous[self.next[left]] = left;
      if (self.place[right] != NO_POSITION)
        heap_remove (&self, right);
      set_rank (&self, left);
      if (self.previous[left] != NO_POSITION)
        set_rank (&self, self.previous[left]);
    }

  for (guint32 i = 0; i != NO_POSITION; i = self.next[i])
    out[n++] = self.ids[i];
  if (scratch->capacity > SCRATCH_KEPT_WORDS)
    dlp_bpe_scratch_clear (scratch);
  return n;
}

/* A short piece: symbols stay where their first byte is, a mask says which places are in use. */
static gsize
merge_by_scan (const DlpVocabulary *vocabulary, const guint8 *p, gsize len, guint32 *out)
{
  guint32 ids[SCAN_MAX_LEN], ranks[SCAN_MAX_LEN];
  guint64 used = G_MAXUINT64 >> (64 - len);
  gsize n = 0;

  for (gsize i = 0; i < len; i++)
    ids[i] = vocabulary->byte_ids[p[i]];
  for (gsize i = 0; i + 1 < len; i++)
    ranks[i] = vocabulary->byte_pairs[p[i] << 8 | p[i + 1]];
  ranks[len - 1] = DLP_ID_NONE;

  for (;;)
    {
      guint32 best = DLP_ID_NONE;
      guint at = 0, right;
      guint64 behind, before;

      for (guint i = 0; i + 1 < len; i++)
        {
          at = ranks[i] < best ? i : at;
          best = MIN (ranks[i], best);
        }
      if (best == DLP_ID_NONE)
        break;

      before = used & (((guint64) 1 << at) - 1);
      behind = used & ~(((guint64) 2 << at) - 1);
      right = __builtin_ctzll (behind);
      ids[at] = best;
      ranks[at] = ranks[right] = DLP_ID_NONE;
      used &= ~((guint64) 1 << right);
      behind &= behind - 1;
      if (behind)
        ranks[at] = dlp_vocabulary_merge (vocabulary, best, ids[__builtin_ctzll (behind)]);
      if (before)
        {
          guint left = 63 - __builtin_clzll (before);

          ranks[left] = dlp_vocabulary_merge (vocabulary, ids[left], best);
        }
    }

  for (; used; used &= used - 1)
    out[n++] = ids[__builtin_ctzll (used)];
  return n;
}

/* Merges the bytes of one piece; @ids has room for @len. The piece as a whole is not looked up. */
gsize
dlp_bpe_encode (const DlpVocabulary *vocabulary,
                DlpBpeScratch *scratch,
                const guint8 *p,
                gsize len,
                guint32 *ids)
{
  if (len == 0)
    return 0;
  if (len <= SCAN_MAX_LEN)
    return merge_by_scan (vocabulary, p, len, ids);
  return merge_by_heap (vocabulary, scratch, p, len, ids);
}

void
dlp_bpe_scratch_clear (DlpBpeScratch *scratch)
{
  g_free (scratch->words);
  scratch->words = NULL;
  scratch->capacity = 0;
}
