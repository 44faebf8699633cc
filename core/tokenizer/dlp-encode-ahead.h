/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-encode.h"

/* Pieces that are not in the cache, encoded before they come up. Each merge asks a table of
 * megabytes for two pairs, and which comes next depends on the answer: one by one the pieces wait
 * for memory most of the time. So many are merged in turn, a merge each, and what the next merge of
 * one will ask for is fetched while the others have theirs. Compiled once for each kind of
 * processor. */

#define DLP_LANES 16
#define DLP_LANE_PLACES 32
/* Longer ones are faster by the table (at most DLP_LANE_PLACES - 2). */
#define DLP_LANE_MAX_LEN 22
#define DLP_LANE_NO_MERGE G_MAXINT32
/* What stands at both ends of a piece: no entry has these ids. */
#define DLP_LANE_LEFT_END (DLP_ID_LIMIT - 1)
#define DLP_LANE_RIGHT_END (DLP_ID_LIMIT - 2)

typedef gint32 DlpLaneWords __attribute__ ((vector_size (16)));

/* A piece being merged. Its symbols stay where they are, from place 1 on, with an end on both
 * sides. */
typedef struct
{
  union
  {
    gint32 merges[DLP_LANE_PLACES]; /* with the right neighbour: merge * DLP_LANE_PLACES + place */
    DlpLaneWords words[DLP_LANE_PLACES / 4];
  };
  guint32 ids[DLP_LANE_PLACES];
  guint32 used;          /* a bit for each place */
  guint left, at, right; /* neighbours whose merges are to be looked up */
  const DlpSpan *span;
} DlpLane;

static DLP_INLINE const guint64 *
dlp_lane_pair (const DlpVocabulary *vocabulary, const DlpLane *lane, guint left, guint right)
{
  guint64 key = (guint64) lane->ids[left] << DLP_ID_BITS | lane->ids[right];

  return &vocabulary->pairs[key * DLP_PAIR_MULTIPLIER >> vocabulary->pairs_shift];
}

/* As a number of merges[]. Nearly always the answer is in the first slot, so that there is no
 * branch for the processor to guess. */
static DLP_INLINE gint32
dlp_lane_look_up (const DlpVocabulary *vocabulary, const DlpLane *lane, guint left, guint right)
{
  guint64 key = (guint64) lane->ids[left] << DLP_ID_BITS | lane->ids[right];
  guint64 slot = *dlp_lane_pair (vocabulary, lane, left, right);
  guint32 merge = slot & (DLP_ID_LIMIT - 1);

  if (DLP_PAIR_KEY (slot) != key)
    merge = DLP_ID_NONE;
  if (G_UNLIKELY (merge == DLP_ID_NONE && (slot & DLP_PAIR_ELSEWHERE)))
    merge = dlp_vocabulary_merge (vocabulary, lane->ids[left], lane->ids[right]);
  return merge == DLP_ID_NONE ? DLP_LANE_NO_MERGE : (gint32) (merge * DLP_LANE_PLACES + left);
}

static DLP_INLINE gint32
dlp_lane_find_first (const DlpLane *lane)
{
  DlpLaneWords least = lane->words[0];
  gint32 a, b;

  for (guint i = 1; i < DLP_LANE_PLACES / 4; i++)
    {
      DlpLaneWords is_less = lane->words[i] < least;

      least = (lane->words[i] & is_less) | (least & ~is_less);
    }
  a = MIN (least[0], least[1]);
  b = MIN (least[2], least[3]);
  return MIN (a, b);
}

static DLP_INLINE void
dlp_lane_start (DlpLane *lane, const DlpVocabulary *vocabulary, const DlpSpan *span, gsize len)
{
  const DlpLaneWords none = { DLP_LANE_NO_MERGE, DLP_LANE_NO_MERGE, DLP_LANE_NO_MERGE,
                              DLP_LANE_NO_MERGE };
  const guint8 *p = span->p;

  for (guint i = 0; i < DLP_LANE_PLACES / 4; i++)
    lane->words[i] = none;
  for (guint i = 0; i < len; i++)
    lane->ids[i + 1] = vocabulary->byte_ids[p[i]];
  for (guint i = 1; i < len; i++)
    {
      guint32 merge = vocabulary->byte_pairs[p[i - 1] << 8 | p[i]];

      if (merge != DLP_ID_NONE)
        lane->merges[i] = merge * DLP_LANE_PLACES + i;
    }
  lane->ids[0] = DLP_LANE_LEFT_END;
  lane->ids[len + 1] = DLP_LANE_RIGHT_END;
  lane->used = (guint32) (((guint64) 4 << len) - 1);
  lane->left = 0;
  lane->at = lane->right = len + 1;
  lane->span = span;
}

/* The next merge, lowest first, leftmost on ties; FALSE when there is none. */
static DLP_INLINE gboolean
dlp_lane_merge (DlpLane *lane, const DlpVocabulary *vocabulary)
{
  guint32 behind;
  gint32 first;
  guint at, gone;

  lane->merges[lane->left] = dlp_lane_look_up (vocabulary, lane, lane->left, lane->at);
  lane->merges[lane->at] = dlp_lane_look_up (vocabulary, lane, lane->at, lane->right);
  first = dlp_lane_find_first (lane);
  if (first == DLP_LANE_NO_MERGE)
    return FALSE;

  at = first % DLP_LANE_PLACES;
  behind = lane->used & (G_MAXUINT32 - 1) << at;
  behind &= behind - 1;
  gone = __builtin_ctz (lane->used >> at >> 1) + at + 1;
  lane->ids[at] = dlp_vocabulary_merge_id (vocabulary, first / DLP_LANE_PLACES);
  lane->merges[gone] = DLP_LANE_NO_MERGE;
  lane->used &= ~(1u << gone);
  lane->at = at;
  lane->right = __builtin_ctz (behind);
  lane->left = 31 - __builtin_clz (lane->used & ((1u << at) - 1));
  __builtin_prefetch (dlp_lane_pair (vocabulary, lane, lane->left, at));
  __builtin_prefetch (dlp_lane_pair (vocabulary, lane, at, lane->right));
  return TRUE;
}

/* Once nothing is left to merge; there is room for what @lane began with. */
static inline gsize
dlp_lane_get_ids (const DlpLane *lane, guint32 *ids)
{
  guint32 used = lane->used & (lane->used - 1);
  gsize n = 0;

  for (; used & (used - 1); used &= used - 1)
    ids[n++] = lane->ids[__builtin_ctz (used)];
  return n;
}

static inline gboolean
dlp_ahead_is_cached (const DlpTokenizerContext *self, const DlpSpan *span)
{
  return dlp_piece_line_find (span->line, span->key) != NULL ||
         dlp_piece_line_find (dlp_piece_cache_other_line (&self->cache, span->line, span->key),
                              span->key) != NULL;
}

/* A piece may be there more than once among those that are encoded ahead. */
static inline void
dlp_ahead_add (DlpTokenizerContext *self, const DlpSpan *span, const guint32 *ids, gsize n)
{
  if (dlp_ahead_is_cached (self, span))
    return;
  dlp_piece_cache_add (&self->cache, span->key, span->p, ids, n);
  self->n_misses++;
}

/* Those of @spans that are not in the cache, in @misses, and what will be asked for of them on its
 * way here. */
static inline guint
dlp_ahead_find_misses (const DlpTokenizerContext *self,
                       const DlpSpan *spans,
                       guint count,
                       guint16 *misses)
{
  const DlpVocabulary *vocabulary = self->model->vocabulary;
  guint n = 0, n_misses = 0;

  for (guint i = 0; i < count; i++)
    {
      const DlpSpan *span = &spans[i];

      if (span->line == NULL || dlp_piece_line_find (span->line, span->key) != NULL)
        continue;
      __builtin_prefetch (dlp_piece_cache_other_line (&self->cache, span->line, span->key));
      misses[n++] = i;
    }
  for (guint i = 0; i < n; i++)
    {
      const DlpSpan *span = &spans[misses[i]];

      if (dlp_ahead_is_cached (self, span))
        continue;
      if (!dlp_key_is_long (span->key))
        __builtin_prefetch (
            &vocabulary->shorts[dlp_key_hash (span->key) & vocabulary->shorts_mask]);
      misses[n_misses++] = misses[i];
    }
  return n_misses;
}

/* TRUE if @lane has the piece; a long one is left to be encoded when it comes up. */
static inline gboolean
dlp_ahead_start (DlpTokenizerContext *self, const DlpSpan *span, DlpLane *lane)
{
  const DlpVocabulary *vocabulary = self->model->vocabulary;
  gsize len = dlp_key_len (span->key);
  guint32 id = dlp_key_is_long (span->key) ? dlp_vocabulary_lookup (vocabulary, span->p, len) :
                                             dlp_vocabulary_lookup_key (vocabulary, span->key);

  if (id != DLP_ID_NONE)
    dlp_ahead_add (self, span, &id, 1);
  else if (len <= DLP_LANE_MAX_LEN)
    dlp_lane_start (lane, vocabulary, span, len);
  return id == DLP_ID_NONE && len <= DLP_LANE_MAX_LEN;
}

/* For models of which merges_bytes is set. */
static inline void
dlp_encode_ahead (DlpTokenizerContext *self, const DlpSpan *spans, guint count)
{
  guint16 misses[DLP_SPANS_MAX];
  guint n_misses = dlp_ahead_find_misses (self, spans, count, misses);
  DlpLane lanes[DLP_LANES], *active[DLP_LANES];
  guint n_active = 0, next = 0;
  guint32 ids[DLP_LANE_PLACES];

  for (guint i = 0; i < DLP_LANES; i++)
    active[i] = &lanes[i];
  do
    {
      while (n_active < DLP_LANES && next < n_misses)
        n_active += dlp_ahead_start (self, &spans[misses[next++]], active[n_active]);
      for (guint i = 0; i < n_active;)
        {
          DlpLane *lane = active[i];

          if (dlp_lane_merge (lane, self->model->vocabulary))
            {
              i++;
              continue;
            }
          dlp_ahead_add (self, lane->span, ids, dlp_lane_get_ids (lane, ids));
          active[i] = active[--n_active];
          active[n_active] = lane;
        }
    }
  while (n_active > 0 || next < n_misses);
}

/* Where so many were missing just now, more will. */
#define DLP_FEW_MISSES 2

/* The ids of @spans go to @at. */
static DLP_INLINE gsize
dlp_encode_spans (DlpTokenizerContext *self,
                  const DlpSpan *spans,
                  guint count,
                  gpointer out,
                  gsize at,
                  gboolean wide)
{
  guint64 n_misses = self->n_misses;

  if (G_UNLIKELY (self->expects_misses))
    dlp_encode_ahead (self, spans, count);
  for (guint i = 0; i < count; i++)
    at = dlp_encode_span (self, &spans[i], out, at, wide);
  self->n_pieces += count;
  self->expects_misses = self->model->merges_bytes && self->n_misses - n_misses >= DLP_FEW_MISSES;
  return at;
}
