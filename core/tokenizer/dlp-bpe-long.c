/* SPDX-License-Identifier: MIT */
#include "dlp-bpe-long.h"

#include <string.h>

#define NONE G_MAXUINT32
#define NO_RANK ((gint64) -1)
#define MIN_SLOTS 1024
/* The symbols' five words, and two words for each of at most twice as many candidates: each merge
 * uses up one and adds two. */
#define WORDS_PER_SYMBOL 8

/* Merging a long piece. A heap of all its pairs would touch memory all over for each merge; but the
 * order in which pairs are merged is that of their ranks, of which there are few, and within a rank
 * that of the text. So there is a list of candidates for each rank, mostly in the order of the text
 * already, and only the ranks are in a heap. A merge may make a pair of a rank that has come up
 * already: such ones are rare, and in a heap of their own, which goes first.
 *
 * A candidate is good if its symbol still has that rank; what is not is left where it is until it
 * comes up. */
typedef struct
{
  guint32 rank;
  guint32 first; /* of its candidates */
  guint32 last;
  gboolean is_sorted;
} Bucket;

typedef struct
{
  const DlpVocabulary *vocabulary;

  /* by symbol */
  guint32 *ids;
  guint32 *next;
  guint32 *previous;
  guint32 *ranks; /* of the merge with the right neighbour; DLP_ID_NONE if there is none */

  /* by candidate */
  guint32 *symbols;
  guint32 *links;
  guint32 n_used;
  guint32 first_free;

  Bucket *buckets; /* a hash table by rank */
  guint32 mask;
  guint32 n_buckets;
  GArray *heap; /* guint64: ranks of buckets */
  GArray *late; /* guint64: rank and symbol */

  gint64 rank;  /* that comes up now */
  guint32 head; /* candidates of it */
} Merger;

/* ---- heaps of numbers ---- */

static void
heap_push (GArray *heap, guint64 value)
{
  guint64 *values;
  guint i = heap->len;

  g_array_set_size (heap, i + 1);
  values = (guint64 *) (gpointer) heap->data;
  for (; i > 0 && value < values[(i - 1) / 2]; i = (i - 1) / 2)
    values[i] = values[(i - 1) / 2];
  values[i] = value;
}

static guint64
heap_first (const GArray *heap)
{
  return heap->len > 0 ? g_array_index (heap, guint64, 0) : G_MAXUINT64;
}

static void
heap_pop (GArray *heap)
{
  guint64 *values = (guint64 *) (gpointer) heap->data;
  guint n = heap->len - 1, i = 0, child;
  guint64 value = values[n];

  while ((child = 2 * i + 1) < n)
    {
      if (child + 1 < n && values[child + 1] < values[child])
        child++;
      if (value <= values[child])
        break;
      values[i] = values[child];
      i = child;
    }
  values[i] = value;
  g_array_set_size (heap, n);
}

/* ---- buckets ---- */

static Bucket *
find_bucket (Merger *self, guint32 rank)
{
  guint32 i = rank * 0x9e3779b1u;

  for (;; i++)
    {
      Bucket *bucket = &self->buckets[i & self->mask];

      if (bucket->rank == rank || bucket->rank == NONE)
        return bucket;
    }
}

static void
make_buckets (Merger *self, guint32 n_slots)
{
  Bucket *old = self->buckets;
  guint32 n_old = old ? self->mask + 1 : 0;

  self->buckets = g_new (Bucket, n_slots);
  memset (self->buckets, 0xff, n_slots * sizeof *self->buckets);
  self->mask = n_slots - 1;
  for (guint32 i = 0; i < n_old; i++)
    if (old[i].rank != NONE)
      *find_bucket (self, old[i].rank) = old[i];
  g_free (old);
}

static void
add_to_bucket (Merger *self, guint32 rank, guint32 candidate)
{
  Bucket *bucket = find_bucket (self, rank);

  if (bucket->rank == NONE)
    {
      if (++self->n_buckets > self->mask / 2)
        {
          make_buckets (self, 2 * (self->mask + 1));
          bucket = find_bucket (self, rank);
        }
      bucket->rank = rank;
      bucket->first = NONE;
    }
  if (bucket->first == NONE)
    {
      bucket->first = bucket->last = candidate;
      bucket->is_sorted = TRUE;
      heap_push (self->heap, rank);
      return;
    }
  bucket->is_sorted &= self->symbols[bucket->last] < self->symbols[candidate];
  self->links[bucket->last] = candidate;
  bucket->last = candidate;
}

static guint32
merge_lists (Merger *self, guint32 a, guint32 b)
{
  guint32 head = NONE, *tail = &head;

  while (a != NONE && b != NONE)
    {
      guint32 *from = self->symbols[a] <= self->symbols[b] ? &a : &b;

      *tail = *from;
      tail = &self->links[*from];
      *from = *tail;
    }
  *tail = a != NONE ? a : b;
  return head;
}

/* By symbol: a list of 2^i candidates waits at i for another one. */
static guint32
sort_list (Merger *self, guint32 head)
{
  guint32 waiting[32], list;
  guint n = 0;

  while (head != NONE)
    {
      guint i = 0;

      list = head;
      head = self->links[head];
      self->links[list] = NONE;
      for (; i < n && waiting[i] != NONE; i++)
        {
          list = merge_lists (self, waiting[i], list);
          waiting[i] = NONE;
        }
      n = MAX (n, i + 1);
      waiting[i] = list;
    }
  list = NONE;
  for (guint i = 0; i < n; i++)
    if (waiting[i] != NONE)
      list = merge_lists (self, waiting[i], list);
  return list;
}

/* ---- candidates ---- */

static void
add_candidate (Merger *self, guint32 symbol)
{
  guint32 rank = self->ranks[symbol], candidate = self->first_free;

  if (rank == DLP_ID_NONE)
    return;
  if (rank <= self->rank)
    {
      heap_push (self->late, (guint64) rank << 32 | symbol);
      return;
    }
  if (candidate != NONE)
    self->first_free = self->links[candidate];
  else
    candidate = self->n_used++;
  self->symbols[candidate] = symbol;
  self->links[candidate] = NONE;
  add_to_bucket (self, rank, candidate);
}

/* The symbol whose turn it is, with its rank; NONE when all is merged. */
static guint32
take_candidate (Merger *self, guint32 *rank)
{
  guint64 late = heap_first (self->late);
  guint32 candidate;
  Bucket *bucket;

  if (self->head == NONE && late == G_MAXUINT64)
    {
      if (self->heap->len == 0)
        return NONE;
      self->rank = heap_first (self->heap);
      heap_pop (self->heap);
      bucket = find_bucket (self, self->rank);
      self->head = bucket->is_sorted ? bucket->first : sort_list (self, bucket->first);
      bucket->first = NONE;
    }
  if (self->head == NONE || late < ((guint64) self->rank << 32 | self->symbols[self->head]))
    {
      heap_pop (self->late);
      *rank = late >> 32;
      return (guint32) late;
    }

  candidate = self->head;
  self->head = self->links[candidate];
  self->links[candidate] = self->first_free;
  self->first_free = candidate;
  *rank = self->rank;
  return self->symbols[candidate];
}

static void
set_rank (Merger *self, guint32 symbol)
{
  guint32 right = self->next[symbol];

  self->ranks[symbol] =
      right == NONE ? DLP_ID_NONE :
                      dlp_bpe_rank_of_pair (self->vocabulary, self->ids[symbol], self->ids[right]);
  add_candidate (self, symbol);
}

static void
merge (Merger *self, DlpBpeScratch *scratch, guint32 left, guint32 rank)
{
  guint32 right = self->next[left];
  guint32 made = dlp_bpe_merge_of_pair (self->vocabulary, self->ids[left], self->ids[right], rank);

  scratch->last[0] = self->ids[left];
  scratch->last[1] = self->ids[right];
  self->ids[left] = dlp_vocabulary_merge_id (self->vocabulary, made);
  self->next[left] = self->next[right];
  if (self->next[left] != NONE)
    self->previous[self->next[left]] = left;
  self->ranks[right] = DLP_ID_NONE;
  if (self->previous[left] != NONE)
    set_rank (self, self->previous[left]);
  set_rank (self, left);
}

static void
start (Merger *self, gsize n)
{
  for (gsize i = 0; i < n; i++)
    {
      self->previous[i] = i - 1;
      self->next[i] = i + 1 < n ? i + 1 : NONE;
    }
  for (gsize i = 0; i < n; i++)
    set_rank (self, i);
}

gsize
dlp_bpe_merge_long (const DlpVocabulary *vocabulary, DlpBpeScratch *scratch, guint32 *ids, gsize n)
{
  Merger self = { vocabulary, ids };
  guint32 symbol, rank;
  gsize count = 0;

  dlp_bpe_scratch_reserve (scratch, n * WORDS_PER_SYMBOL);
  self.next = scratch->words;
  self.previous = self.next + n;
  self.ranks = self.previous + n;
  self.symbols = self.ranks + n;
  self.links = self.symbols + 2 * n;
  self.first_free = self.head = NONE;
  self.rank = NO_RANK;
  self.heap = g_array_new (FALSE, FALSE, sizeof (guint64));
  self.late = g_array_new (FALSE, FALSE, sizeof (guint64));
  make_buckets (&self, MIN_SLOTS);

  start (&self, n);
  for (; (symbol = take_candidate (&self, &rank)) != NONE; scratch->steps++)
    if (self.ranks[symbol] == rank)
      merge (&self, scratch, symbol, rank);

  for (guint32 i = 0; i != NONE; i = self.next[i])
    ids[count++] = ids[i];
  g_array_unref (self.heap);
  g_array_unref (self.late);
  g_free (self.buckets);
  dlp_bpe_scratch_trim (scratch);
  return count;
}
