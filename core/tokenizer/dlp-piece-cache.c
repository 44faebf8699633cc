/* SPDX-License-Identifier: MIT */
#include "dlp-piece-cache.h"
#include "dlp-huge.h"

#define MIN_BYTES (64 * 1024)
/* With four moves, of pieces that take 65 % of the slots 2 to 4 % are encoded again in each pass
 * over the same text, with one 12 to 16 %; each move is a line of memory that is touched. */
#define MAX_MOVES 4
#define MAX_BYTES ((gsize) 1 << 33)

/* Half of @bytes for lines, half for the log, each a power of two. */
void
dlp_piece_cache_init (DlpPieceCache *self, gsize bytes)
{
  guint bits = g_bit_storage (CLAMP (bytes, MIN_BYTES, MAX_BYTES)) - 1;
  gsize half = (gsize) 1 << (bits - 1);

  self->lines = dlp_huge_alloc0 (half);
  self->lines_shift = 64 - (g_bit_storage (half / sizeof (DlpPieceLine)) - 1);
  self->log_capacity = MIN (half / sizeof (guint32), G_MAXUINT32);
  self->log = dlp_huge_alloc (half);
  self->log_len = 0;
  self->generation = 0;
}

void
dlp_piece_cache_clear (DlpPieceCache *self)
{
  dlp_huge_free (self->lines);
  dlp_huge_free (self->log);
  memset (self, 0, sizeof *self);
}

static void
write_log (DlpPieceCache *self, DlpPieceSlot *slot, const guint8 *p, const guint32 *ids, gsize n)
{
  gsize len = dlp_key_is_long (slot->key) ? dlp_key_len (slot->key) : 0;
  gsize words = 1 + n + (len + 3) / 4;
  guint32 *entry;

  if (words > self->log_capacity - self->log_len)
    {
      self->log_len = 0;
      self->generation++;
    }

  slot->ids[0] = DLP_COUNT_IN_LOG << DLP_COUNT_SHIFT;
  slot->ids[1] = self->log_len;
  slot->ids[2] = self->generation;
  slot->ids[3] = 0;

  entry = self->log + self->log_len;
  entry[0] = n;
  memcpy (entry + 1, ids, n * sizeof *ids);
  memcpy (entry + 1 + n, p, len);
  self->log_len += words;
}

static gboolean
is_free (const DlpPieceSlot *slot)
{
  return slot->key.hi == 0;
}

static DlpPieceSlot *
find_free (DlpPieceLine *line)
{
  for (guint i = 0; i < G_N_ELEMENTS (line->slots); i++)
    if (is_free (&line->slots[i]))
      return &line->slots[i];
  return NULL;
}

/* To its other line, from where another one moves on, a few times: then that is lost. */
static void
move_on (DlpPieceCache *self, DlpPieceLine *line, DlpPieceSlot moving)
{
  for (guint i = 0; i < MAX_MOVES; i++)
    {
      DlpPieceSlot *slot, last;

      line = dlp_piece_cache_other_line (self, line, moving.key);
      slot = find_free (line);
      if (slot != NULL)
        {
          *slot = moving;
          return;
        }
      last = line->slots[1];
      line->slots[1] = moving;
      moving = last;
    }
}

/* A piece stays where it is while there is room elsewhere: those that come first are those that
 * come most often, and what is in its own line is found at once. Where there is none, the new one
 * moves up what was in its line, and the second of these moves on. */
static DlpPieceSlot *
make_room (DlpPieceCache *self, DlpKey key)
{
  DlpPieceLine *line = dlp_piece_cache_line (self, key);
  DlpPieceSlot *slot = find_free (line);

  if (slot == NULL)
    slot = find_free (dlp_piece_cache_other_line (self, line, key));
  if (slot != NULL)
    return slot;
  move_on (self, line, line->slots[1]);
  line->slots[1] = line->slots[0];
  return &line->slots[0];
}

/* @key is that of the piece at @p, which was encoded to @ids. */
void
dlp_piece_cache_add (DlpPieceCache *self, DlpKey key, const guint8 *p, const guint32 *ids, gsize n)
{
  DlpPieceSlot *slot = make_room (self, key);

  slot->key = key;
  if (n > DLP_SHORT_MAX_IDS || dlp_key_is_long (key))
    {
      write_log (self, slot, p, ids, n);
      return;
    }
  for (gsize i = 0; i < DLP_SHORT_MAX_IDS; i++)
    slot->ids[i] = i < n ? ids[i] : 0;
  slot->ids[0] |= (guint32) n << DLP_COUNT_SHIFT;
}
