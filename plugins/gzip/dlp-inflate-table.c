/* SPDX-License-Identifier: MIT */

#include "dlp-inflate-table.h"

#include <string.h>

#define CODE_BITS_MAX 15
#define END_OF_BLOCK 256
#define SYMBOLS_MAX 288

/* RFC 1951, 3.2.5. */
static const guint16 length_bases[29] = { 3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                          15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                          67, 83, 99, 115, 131, 163, 195, 227, 258 };
static const guint8 length_extras[29] = { 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                          2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0 };
static const guint16 distance_bases[30] = { 1,    2,    3,    4,     5,     7,    9,    13,
                                            17,   25,   33,   49,    65,    97,   129,  193,
                                            257,  385,  513,  769,   1025,  1537, 2049, 3073,
                                            4097, 6145, 8193, 12289, 16385, 24577 };

static guint32
make_entry (guint32 value, guint code, guint extra)
{
  return value << 16 | code << 8 | (code + extra);
}

/* A symbol that means nothing is found like others, and is an error. */
static guint32
entry_of_symbol (InflateTableKind kind, guint symbol, guint code)
{
  if (kind == INFLATE_OF_CODE_LENGTHS)
    return make_entry (symbol, code, 0);

  if (kind == INFLATE_OF_DISTANCES)
    return symbol < G_N_ELEMENTS (distance_bases) ?
               make_entry (distance_bases[symbol], code, symbol < 2 ? 0 : symbol / 2 - 1) :
               make_entry (0, code, 0) | INFLATE_OTHER;

  if (symbol < END_OF_BLOCK)
    return make_entry (symbol, code, 0) | INFLATE_LITERAL;
  if (symbol == END_OF_BLOCK)
    return make_entry (0, code, 0) | INFLATE_OTHER | INFLATE_END_OF_BLOCK;

  symbol -= END_OF_BLOCK + 1;
  return symbol < G_N_ELEMENTS (length_bases) ?
             make_entry (length_bases[symbol], code, length_extras[symbol]) :
             make_entry (0, code, 0) | INFLATE_OTHER;
}

static guint
reverse (guint code, guint bits)
{
  guint reversed = 0;

  for (guint i = 0; i < bits; i++)
    reversed |= (code >> i & 1) << (bits - 1 - i);
  return reversed;
}

/* The symbols in the order of their codes. Returns how much of all codes is unused, in units of the
 * longest ones; below 0: more than there are. */
static int
sort_symbols (const guint8 *lengths, guint n, guint counts[CODE_BITS_MAX + 1], guint16 *sorted)
{
  guint offsets[CODE_BITS_MAX + 2] = { 0 };
  int left = 1;

  memset (counts, 0, (CODE_BITS_MAX + 1) * sizeof *counts);
  for (guint i = 0; i < n; i++)
    counts[lengths[i]]++;
  for (guint i = 1; i <= CODE_BITS_MAX; i++)
    {
      left = left * 2 - (int) counts[i];
      if (left < 0)
        return left;
      offsets[i + 1] = offsets[i] + counts[i];
    }
  for (guint i = 0; i < n; i++)
    if (lengths[i] != 0)
      sorted[offsets[lengths[i]]++] = (guint16) i;
  return left;
}

/* How many bits the table needs that begins with a code of @length and has all with the same first
 * @bits: until it is full. */
static guint
measure_subtable (const guint counts[CODE_BITS_MAX + 1], guint length, guint n_used, guint bits)
{
  guint size = length - bits;
  int left = (1 << size) - (int) (counts[length] - n_used);

  while (left > 0 && size + bits < CODE_BITS_MAX)
    {
      size++;
      left = left * 2 - (int) counts[size + bits];
    }
  return size;
}

typedef struct
{
  guint32 *table;
  guint bits;
  guint next;          /* where the next table for longer codes begins */
  guint prefix, start; /* of the last one */
  guint subtable_bits;
} Builder;

static void
begin_subtable (Builder *self, guint prefix, guint subtable_bits)
{
  self->prefix = prefix;
  self->start = self->next;
  self->subtable_bits = subtable_bits;
  self->next += 1u << subtable_bits;
  /* The bits of the second look-up are in the low byte. */
  self->table[prefix] =
      self->start << 16 | self->bits << 8 | subtable_bits | INFLATE_OTHER | INFLATE_SUBTABLE;
}

static void
fill (guint32 *table, guint size, guint from, guint step, guint32 entry)
{
  for (guint i = from; i < size; i += step)
    table[i] = entry;
}

gboolean
inflate_table_build (InflateTableKind kind,
                     const guint8 *lengths,
                     guint n,
                     guint bits,
                     guint32 *table)
{
  guint counts[CODE_BITS_MAX + 1];
  guint16 sorted[SYMBOLS_MAX + 32];
  Builder builder = { table, bits, 1u << bits, G_MAXUINT, 0, 0 };
  int left = sort_symbols (lengths, n, counts, sorted);
  guint code = 0, k = 0;

  /* One code of one bit is allowed to stand alone, and none: whoever meets the other one fails. */
  if (left < 0 || (left > 0 && counts[0] != n &&
                   (kind == INFLATE_OF_CODE_LENGTHS || counts[1] + counts[0] != n)))
    return FALSE;
  if (left > 0)
    fill (table, 1u << bits, 0, 1,
          make_entry (0, 1, 0) | (kind == INFLATE_OF_CODE_LENGTHS ? 0 : INFLATE_OTHER));

  for (guint length = 1; length <= CODE_BITS_MAX; length++, code <<= 1)
    for (guint i = 0; i < counts[length]; i++, code++)
      {
        guint reversed = reverse (code, length);
        guint32 entry = entry_of_symbol (kind, sorted[k++], length);

        if (length <= bits)
          {
            fill (table, 1u << bits, reversed, 1u << length, entry);
            continue;
          }
        if ((reversed & ((1u << bits) - 1)) != builder.prefix)
          begin_subtable (&builder, reversed & ((1u << bits) - 1),
                          measure_subtable (counts, length, i, bits));
        fill (table + builder.start, 1u << builder.subtable_bits, reversed >> bits,
              1u << (length - bits), entry);
      }
  return TRUE;
}
