/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-key.h"

/* What pieces were encoded to. Bounded in bytes; what is pushed out is encoded again, so that the
 * cache never decides what comes out.
 *
 * Short: pieces of at most DLP_KEY_MAX_LEN bytes and DLP_SHORT_MAX_IDS ids, two to a cache line.
 * Long: the others, in a log that starts over when it is full. */
#define DLP_SHORT_MAX_IDS 4
#define DLP_LONG_MAX_LEN 512
#define DLP_COUNT_SHIFT 28
#define DLP_COUNT_MASK ((1u << DLP_COUNT_SHIFT) - 1)

typedef struct
{
  DlpKey key;
  guint32 ids[DLP_SHORT_MAX_IDS]; /* the number of ids is in the top bits of the first */
} DlpPieceSlot;

typedef struct
{
  DlpPieceSlot slots[2]; /* newest first */
} DlpPieceLine;

typedef struct
{
  DlpPieceLine *lines;
  guint lines_shift;

  guint64 *index; /* hash and place in the log + 1, 32 bits each */
  guint32 index_mask;
  guint32 index_used;
  guint32 *log; /* length, number of ids, ids, bytes */
  guint32 log_len;
  guint32 log_capacity;
} DlpPieceCache;

void dlp_piece_cache_init (DlpPieceCache *self, gsize bytes);
void dlp_piece_cache_clear (DlpPieceCache *self);
void dlp_piece_cache_add (DlpPieceCache *self, DlpKey key, const guint32 *ids, gsize n);
const guint32 *dlp_piece_cache_find_long (const DlpPieceCache *self,
                                          const guint8 *p,
                                          gsize len,
                                          guint64 hash,
                                          gsize *n);
void dlp_piece_cache_add_long (DlpPieceCache *self,
                               const guint8 *p,
                               gsize len,
                               guint64 hash,
                               const guint32 *ids,
                               gsize n);

static inline DlpPieceLine *
dlp_piece_cache_line (const DlpPieceCache *self, DlpKey key)
{
  return self->lines + (dlp_key_hash (key) >> self->lines_shift);
}
