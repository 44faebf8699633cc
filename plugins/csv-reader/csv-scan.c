/* SPDX-License-Identifier: MIT */

/* Rows, found by vectors: of 64 bytes each, masks say where quotes, LF and delimiters are. Where
 * there is no quote, as in most, nothing else is to be done. */

#include "csv-scan.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define BLOCK 64
#define INLINE static inline __attribute__ ((always_inline))

/* Where in a row, in the low bits of the state; a row may begin with a byte order mark. */
enum
{
  AT_ROW, /* 0: at its start */
  AT_MARK_1,
  AT_MARK_2,
  AT_FIELD,
  IN_TEXT,
  IN_QUOTES,
  BEHIND_QUOTE, /* of which it is not known yet whether it is doubled */
};

#define PLACE_MASK 7
/* The row is not blank. */
#define HAS_TEXT 8
/* A byte order mark and the LF before it. */
#define LOOK_BACK 4

/* ---- byte by byte ---- */

INLINE guint
step (const CsvDialect *dialect, guint place, guint8 byte)
{
  gboolean is_quote = byte == dialect->quote && dialect->quote != 0;

  if (place == IN_QUOTES)
    return is_quote ? BEHIND_QUOTE : IN_QUOTES;
  if (byte == '\n')
    return AT_ROW;
  if (byte == dialect->delimiter)
    return AT_FIELD;
  if (is_quote && (place == AT_ROW || place == AT_FIELD || place == BEHIND_QUOTE))
    return IN_QUOTES;
  if (place == AT_ROW && byte == 0xef)
    return AT_MARK_1;
  if (place == AT_MARK_1 && byte == 0xbb)
    return AT_MARK_2;
  if (place == AT_MARK_2 && byte == 0xbf)
    return AT_FIELD;
  return IN_TEXT;
}

static gsize
scan_bytes (const CsvDialect *dialect,
            guint64 *state,
            const guint8 *data,
            gsize size,
            gboolean first)
{
  guint place = *state & PLACE_MASK;
  gboolean has_text = (*state & HAS_TEXT) != 0;
  gsize border = 0;

  for (gsize i = 0; i < size; i++)
    {
      gboolean is_end = data[i] == '\n' && place != IN_QUOTES;

      place = step (dialect, place, data[i]);
      has_text = has_text || (data[i] != '\r' && data[i] != '\n');
      if (!is_end)
        continue;
      if (!first || has_text)
        border = i + 1;
      if (first && has_text)
        break;
      has_text = FALSE;
    }
  *state = place | (has_text ? HAS_TEXT : 0);
  return border;
}

/* ---- by blocks ---- */

#if defined(__SSE2__)

INLINE guint64
find_byte (const guint8 *p, guint8 byte)
{
  guint64 mask = 0;

  for (guint i = 0; i < BLOCK; i += 16)
    {
      __m128i v = _mm_loadu_si128 ((const __m128i *) (p + i));
      __m128i same = _mm_cmpeq_epi8 (v, _mm_set1_epi8 ((char) byte));

      mask |= (guint64) (guint16) _mm_movemask_epi8 (same) << i;
    }
  return mask;
}

#else

INLINE guint64
find_byte (const guint8 *p, guint8 byte)
{
  guint64 mask = 0;

  for (guint i = 0; i < BLOCK; i++)
    mask |= (guint64) (p[i] == byte) << i;
  return mask;
}

#endif

/* A quote at @p, in text: is it the first byte of a row but for the mark? */
static gboolean
is_behind_mark (const guint8 *p)
{
  return memcmp (p - LOOK_BACK, "\n\xef\xbb\xbf", LOOK_BACK) == 0;
}

/* Bits from @at on. */
INLINE guint64
from_bit (guint at)
{
  return at < 64 ? ~G_GUINT64_CONSTANT (0) << at : 0;
}

/* Which of @newlines end a row. *place is IN_QUOTES or BEHIND_QUOTE where one is that at the end.
 */
static guint64
scan_quotes (const CsvDialect *dialect,
             const guint8 *p,
             guint64 quotes,
             guint64 newlines,
             guint *place)
{
  guint64 starts = (newlines | find_byte (p, dialect->delimiter)) << 1;
  guint64 ends = 0;
  guint at = 0; /* from where on nothing is decided yet */

  starts |= *place == AT_ROW || *place == AT_FIELD || *place == BEHIND_QUOTE;
  while (at < BLOCK)
    {
      guint64 next = quotes & from_bit (at);
      guint found;

      if (*place != IN_QUOTES)
        while (next != 0 && (starts >> __builtin_ctzll (next) & 1) == 0 &&
               !is_behind_mark (p + __builtin_ctzll (next)))
          next &= next - 1;
      found = next != 0 ? (guint) __builtin_ctzll (next) : BLOCK;
      if (*place != IN_QUOTES)
        ends |= newlines & from_bit (at) & ~from_bit (found);
      if (found == BLOCK)
        {
          if (*place != IN_QUOTES)
            *place = IN_TEXT;
          return ends;
        }
      at = found + 1;
      if (*place == IN_QUOTES)
        {
          /* A doubled quote ends the quotes and begins them again. */
          *place = BEHIND_QUOTE;
          starts |= at < BLOCK ? G_GUINT64_CONSTANT (1) << at : 0;
        }
      else
        *place = IN_QUOTES;
    }
  return ends;
}

/* Where one is behind @p, which is not within quotes. */
static guint
find_place (const CsvDialect *dialect, const guint8 *p)
{
  if (p[-1] == '\n')
    return AT_ROW;
  if (p[-1] == dialect->delimiter || memcmp (p - 4, "\n\xef\xbb\xbf", 4) == 0)
    return AT_FIELD;
  if (memcmp (p - 2, "\n\xef", 2) == 0)
    return AT_MARK_1;
  if (memcmp (p - 3, "\n\xef\xbb", 3) == 0)
    return AT_MARK_2;
  return IN_TEXT;
}

/* Behind @p a block begins, and LOOK_BACK bytes are before it. */
INLINE guint64
scan_block (const CsvDialect *dialect, const guint8 *p, guint *place)
{
  guint64 quotes = dialect->quote != 0 ? find_byte (p, dialect->quote) : 0;
  guint64 newlines, ends;

  if (quotes == 0 && *place == IN_QUOTES)
    return 0;
  newlines = find_byte (p, '\n');
  if (quotes == 0)
    {
      *place = find_place (dialect, p + BLOCK);
      return newlines;
    }

  ends = scan_quotes (dialect, p, quotes, newlines, place);
  if (*place != IN_QUOTES && *place != BEHIND_QUOTE)
    *place = find_place (dialect, p + BLOCK);
  return ends;
}

static gsize
scan_blocks (const CsvDialect *dialect,
             guint *place,
             const guint8 *data,
             gsize from,
             gsize size,
             gsize *to)
{
  gsize border = 0;
  gsize at = from;

  for (; size - at >= BLOCK; at += BLOCK)
    {
      guint64 ends = scan_block (dialect, data + at, place);

      if (ends != 0)
        border = at + BLOCK - (gsize) __builtin_clzll (ends);
    }
  *to = at;
  return border;
}

gsize
csv_find_border (const CsvDialect *dialect,
                 guint64 *state,
                 const guint8 *data,
                 gsize size,
                 gboolean first)
{
  gsize border, end;
  gsize at = MIN (LOOK_BACK, size);
  guint place;

  if (first || size < BLOCK)
    return scan_bytes (dialect, state, data, size, first);

  border = scan_bytes (dialect, state, data, at, FALSE);
  place = *state & PLACE_MASK;
  end = scan_blocks (dialect, &place, data, at, size, &at);
  border = MAX (border, end);

  /* Whether the row that is open is blank does not matter here, and later it has got text. */
  *state = place | HAS_TEXT;
  end = scan_bytes (dialect, state, data + at, size - at, FALSE);
  *state |= HAS_TEXT;
  return end > 0 ? at + end : border;
}

/* ---- fields ---- */

#if defined(__SSE2__)

const guint8 *
csv_find_separator (const guint8 *data, const guint8 *end, guint8 delimiter)
{
  for (const guint8 *p = data; p < end; p += 16)
    {
      __m128i v = _mm_loadu_si128 ((const __m128i *) p);
      __m128i found = _mm_or_si128 (_mm_cmpeq_epi8 (v, _mm_set1_epi8 ('\n')),
                                    _mm_cmpeq_epi8 (v, _mm_set1_epi8 ((char) delimiter)));
      guint mask = (guint) _mm_movemask_epi8 (found);

      if (mask != 0)
        return MIN (p + __builtin_ctz (mask), end);
    }
  return end;
}

#else

const guint8 *
csv_find_separator (const guint8 *data, const guint8 *end, guint8 delimiter)
{
  const guint8 *p = data;

  while (p < end && *p != '\n' && *p != delimiter)
    p++;
  return p;
}

#endif

guint
csv_count_newlines (const guint8 *data, gsize size)
{
  gsize at = 0;
  guint n = 0;

  for (; size - at >= BLOCK; at += BLOCK)
    n += (guint) __builtin_popcountll (find_byte (data + at, '\n'));
  for (; at < size; at++)
    n += data[at] == '\n';
  return n;
}
