/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Decodes deflate (RFC 1951) as zlib does: the same bytes come out before an error, it has the same
 * text, and as many bytes of the input were consumed. tests/test-inflate.c compares them. */

#define INFLATE_HISTORY_SIZE 32768u
/* Room for what is decoded beside it, and where memory is short. With less, the history is moved
 * more often. */
#define INFLATE_SPACE_SIZE 65536u
#define INFLATE_SPACE_SIZE_SMALL 8192u
/* So much room is wanted before anything is decoded: the longest match, and what is written beyond
 * its end since whole words are copied. */
#define INFLATE_ROOM_MIN 320u

#define INFLATE_LITERAL_BITS 11
#define INFLATE_DISTANCE_BITS 9
/* Tables of so many bits, and those for longer codes: what they take at most was counted by trying
 * all codes (zlib's examples/enough.c says 2340 of 286 symbols with 11 bits, 594 of 30 with 9). */
#define INFLATE_LITERAL_ENTRIES 2348
#define INFLATE_DISTANCE_ENTRIES 600
#define INFLATE_SYMBOLS_MAX 320

typedef enum
{
  INFLATE_MORE, /* input is wanted, or room */
  INFLATE_END,  /* of the last block */
  INFLATE_FAILED,
} InflateResult;

typedef enum
{
  INFLATE_BLOCK,
  INFLATE_STORED_SIZE,
  INFLATE_STORED,
  INFLATE_TABLE_SIZES,
  INFLATE_LENGTH_CODES,
  INFLATE_CODE_LENGTHS,
  INFLATE_SYMBOLS,
  INFLATE_DONE,
} InflateMode;

typedef struct
{
  /* Bits that were consumed and not used; between two calls fewer than 8 of them that are whole
   * bytes, except where a field of a header is incomplete. */
  guint64 hold;
  guint bits;

  InflateMode mode;
  gboolean is_last;
  guint stored; /* bytes of the block to come */
  guint n_literals, n_distances, n_codes;
  guint n_read;
  guint8 lengths[INFLATE_SYMBOLS_MAX];

  const guint32 *literals, *distances; /* those below, or the fixed ones */
  guint32 own_literals[INFLATE_LITERAL_ENTRIES];
  guint32 own_distances[INFLATE_DISTANCE_ENTRIES];

  guint64 produced; /* of the stream, in all */
  const char *message;

  /* What was decoded: up to @begin it was given out. What lies before is what matches refer to. */
  guint begin, end;
  guint size; /* of data */
  guint8 data[];
} Inflate;

/* (transfer full): by g_free(). @space: one of the two sizes. */
Inflate *inflate_new (guint space);
/* Before each stream. */
/* Whether inflate_make_room() is due. */
gboolean inflate_is_short_of_room (const Inflate *self);
void inflate_begin (Inflate *self);
/* Decodes to the data until input or room is wanted. @in_used: how much was consumed. */
InflateResult inflate_run (Inflate *self, const guint8 *in, gsize in_size, gsize *in_used);
/* All was given out: makes room. */
void inflate_make_room (Inflate *self);

G_END_DECLS
