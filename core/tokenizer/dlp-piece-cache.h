/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-key.h"

/* What pieces were encoded to. Bounded in bytes; what is pushed out is encoded again, so that the
 * cache never decides what comes out.
 *
 * A line has two slots. A piece whose line is full goes to the other line that is its own; what it
 * pushes out where both are full goes to its other one in turn (as in cuckoo hashing, a few times),
 * so that a text whose pieces fit by number fits as a whole: with one line each some always push
 * each other out, and a piece that misses costs a hundred others.
 *
 * A slot holds up to DLP_SHORT_MAX_IDS ids of a piece, or says where in the log they are. The log
 * starts over when it is full, which makes a new generation; what the former one wrote further
 * on is still there. */
#define DLP_SHORT_MAX_IDS 4
#define DLP_LONG_MAX_LEN 512
#define DLP_COUNT_SHIFT 28
#define DLP_COUNT_MASK ((1u << DLP_COUNT_SHIFT) - 1)
#define DLP_COUNT_IN_LOG 15u

typedef struct
{
  DlpKey key;
  guint32 ids[DLP_SHORT_MAX_IDS]; /* their number is in the top bits of the first; if it is
                                   * DLP_COUNT_IN_LOG, the next are a place and a generation */
} DlpPieceSlot;

typedef struct
{
  DlpPieceSlot slots[2];
} DlpPieceLine;

typedef struct
{
  DlpPieceLine *lines;
  guint lines_shift;

  guint32 *log; /* number of ids, ids, bytes of a piece that is too long for a key */
  guint32 log_len;
  guint32 log_capacity;
  guint32 generation;
} DlpPieceCache;

void dlp_piece_cache_init (DlpPieceCache *self, gsize bytes);
void dlp_piece_cache_clear (DlpPieceCache *self);
void
dlp_piece_cache_add (DlpPieceCache *self, DlpKey key, const guint8 *p, const guint32 *ids, gsize n);

/* The key of a piece of DLP_KEY_MAX_LEN < @len <= DLP_LONG_MAX_LEN bytes. Other than that of a
 * shorter one, it may be shared. */
static inline DlpKey
dlp_key_of_long (const guint8 *p, gsize len)
{
  return (DlpKey){ dlp_hash_bytes (p, len), (guint64) 0x80 << 56 | len };
}

static inline gboolean
dlp_key_is_long (DlpKey key)
{
  return key.hi >> 63;
}

static inline gsize
dlp_key_len (DlpKey key)
{
  return dlp_key_is_long (key) ? key.hi & 0xffff : key.hi >> 56;
}

static inline DlpPieceLine *
dlp_piece_cache_line (const DlpPieceCache *self, DlpKey key)
{
  return self->lines + (dlp_key_hash (key) >> self->lines_shift);
}

/* The second of the two lines where a piece may be, when @line is one of them. */
static inline DlpPieceLine *
dlp_piece_cache_other_line (const DlpPieceCache *self, const DlpPieceLine *line, DlpKey key)
{
  gsize apart = (dlp_key_hash (key) & (G_MAXUINT64 >> self->lines_shift)) | 1;

  return self->lines + ((gsize) (line - self->lines) ^ apart);
}

static inline const DlpPieceSlot *
dlp_piece_line_find (const DlpPieceLine *line, DlpKey key)
{
  for (guint i = 0; i < 2; i++)
    if (dlp_key_equal (line->slots[i].key, key))
      return &line->slots[i];
  return NULL;
}

/* The ids of the piece at @p that @slot refers to; NULL if it is not that one or is gone. */
static inline const guint32 *
dlp_piece_cache_read_log (const DlpPieceCache *self,
                          const DlpPieceSlot *slot,
                          const guint8 *p,
                          gsize *n)
{
  const guint32 *entry = self->log + slot->ids[1];

  if (slot->ids[2] != self->generation &&
      (slot->ids[2] + 1 != self->generation || slot->ids[1] < self->log_len))
    return NULL;
  *n = entry[0];
  if (dlp_key_is_long (slot->key) && memcmp (entry + 1 + *n, p, dlp_key_len (slot->key)) != 0)
    return NULL;
  return entry + 1;
}
