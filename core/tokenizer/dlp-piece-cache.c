/* SPDX-License-Identifier: MIT */
#include "dlp-piece-cache.h"

#include <stdlib.h>
#include <sys/mman.h>

#define MIN_BYTES (64 * 1024)
#define HUGE_PAGE (2 * 1024 * 1024)

/* Half of @bytes for lines, a sixteenth for the index of the long pieces, the rest for their log,
 * each a power of two. */
void
dlp_piece_cache_init (DlpPieceCache *self, gsize bytes)
{
  guint bits = g_bit_storage (CLAMP (bytes, MIN_BYTES, (gsize) 1 << 32)) - 1;
  gsize line_bytes = (gsize) 1 << (bits - 1);
  void *lines = NULL;

  if (posix_memalign (&lines, line_bytes >= HUGE_PAGE ? HUGE_PAGE : 64, line_bytes) != 0)
    g_error ("out of memory: %" G_GSIZE_FORMAT " bytes for a tokenizer cache", line_bytes);
  if (line_bytes >= HUGE_PAGE)
    madvise (lines, line_bytes, MADV_HUGEPAGE);
  memset (lines, 0, line_bytes);

  self->lines = lines;
  self->lines_shift = 64 - (bits - 7);
  self->index_mask = ((1u << (bits - 4)) / sizeof (guint64)) - 1;
  self->index = g_new0 (guint64, self->index_mask + 1);
  self->index_used = 0;
  self->log_capacity = ((1u << (bits - 2)) + (1u << (bits - 3))) / sizeof (guint32);
  self->log = g_new (guint32, self->log_capacity);
  self->log_len = 0;
}

void
dlp_piece_cache_clear (DlpPieceCache *self)
{
  free (self->lines);
  g_free (self->index);
  g_free (self->log);
  memset (self, 0, sizeof *self);
}

void
dlp_piece_cache_add (DlpPieceCache *self, DlpKey key, const guint32 *ids, gsize n)
{
  DlpPieceLine *line = dlp_piece_cache_line (self, key);

  line->slots[1] = line->slots[0];
  line->slots[0].key = key;
  for (gsize i = 0; i < DLP_SHORT_MAX_IDS; i++)
    line->slots[0].ids[i] = i < n ? ids[i] : 0;
  line->slots[0].ids[0] |= (guint32) n << DLP_COUNT_SHIFT;
}

const guint32 *
dlp_piece_cache_find_long (const DlpPieceCache *self,
                           const guint8 *p,
                           gsize len,
                           guint64 hash,
                           gsize *n)
{
  guint64 tag = hash >> 32;

  for (guint32 i = hash & self->index_mask; self->index[i]; i = (i + 1) & self->index_mask)
    {
      const guint32 *entry = self->log + (guint32) self->index[i] - 1;

      if (self->index[i] >> 32 == tag && entry[0] == len &&
          memcmp (entry + 2 + entry[1], p, len) == 0)
        {
          *n = entry[1];
          return entry + 2;
        }
    }
  return NULL;
}

void
dlp_piece_cache_add_long (DlpPieceCache *self,
                          const guint8 *p,
                          gsize len,
                          guint64 hash,
                          const guint32 *ids,
                          gsize n)
{
  gsize words = 2 + n + (len + 3) / 4;
  guint32 *entry;
  guint32 i;

  if (words > self->log_capacity - self->log_len || self->index_used > self->index_mask / 2)
    {
      memset (self->index, 0, (self->index_mask + 1) * sizeof *self->index);
      self->index_used = 0;
      self->log_len = 0;
    }

  entry = self->log + self->log_len;
  entry[0] = len;
  entry[1] = n;
  memcpy (entry + 2, ids, n * sizeof *ids);
  memcpy (entry + 2 + n, p, len);

  for (i = hash & self->index_mask; self->index[i]; i = (i + 1) & self->index_mask)
    ;
  self->index[i] = hash >> 32 << 32 | (self->log_len + 1);
  self->index_used++;
  self->log_len += words;
}
