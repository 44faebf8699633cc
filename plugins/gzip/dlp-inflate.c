/* SPDX-License-Identifier: MIT */

#include "dlp-inflate.h"

#include <pthread.h>
#include <string.h>

#include "dlp-inflate-table.h"

/* So much input is wanted where two loads of eight bytes are made for each symbol. */
#define FAST_INPUT_MIN 24
#define LITERAL_MASK ((1u << INFLATE_LITERAL_BITS) - 1)
#define DISTANCE_MASK ((1u << INFLATE_DISTANCE_BITS) - 1)
#define CODE_LENGTH_BITS 7

typedef struct
{
  const guint8 *next, *end;
} Input;

static guint32 fixed_literals[INFLATE_LITERAL_ENTRIES], fixed_distances[INFLATE_DISTANCE_ENTRIES];

static void
make_fixed_tables (void)
{
  guint8 lengths[288];

  for (guint i = 0; i < G_N_ELEMENTS (lengths); i++)
    lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
  inflate_table_build (INFLATE_OF_LITERALS, lengths, 288, INFLATE_LITERAL_BITS, fixed_literals);
  memset (lengths, 5, 32);
  inflate_table_build (INFLATE_OF_DISTANCES, lengths, 32, INFLATE_DISTANCE_BITS, fixed_distances);
}

Inflate *
inflate_new (guint space)
{
  Inflate *self = g_malloc (sizeof *self + INFLATE_HISTORY_SIZE + space);

  self->size = INFLATE_HISTORY_SIZE + space;
  return self;
}

void
inflate_begin (Inflate *self)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;

  pthread_once (&once, make_fixed_tables);
  memset (self, 0, offsetof (Inflate, size));
}

gboolean
inflate_is_short_of_room (const Inflate *self)
{
  return self->size - self->end < (self->size - INFLATE_HISTORY_SIZE) / 2;
}

void
inflate_make_room (Inflate *self)
{
  guint n = MIN (self->end, INFLATE_HISTORY_SIZE);

  memmove (self->data, self->data + self->end - n, n);
  self->begin = self->end = n;
}

static InflateResult
fail (Inflate *self, const char *message)
{
  self->message = message;
  return INFLATE_FAILED;
}

/* ---- bits, a byte at a time: no more are consumed than are needed ---- */

static gboolean
pull_byte (Inflate *self, Input *in)
{
  if (in->next == in->end)
    return FALSE;
  self->hold |= (guint64) *in->next++ << self->bits;
  self->bits += 8;
  return TRUE;
}

static gboolean
need (Inflate *self, Input *in, guint n)
{
  while (self->bits < n)
    if (!pull_byte (self, in))
      return FALSE;
  return TRUE;
}

static guint
peek (const Inflate *self, guint n)
{
  return (guint) self->hold & ((1u << n) - 1);
}

static void
drop (Inflate *self, guint n)
{
  self->hold >>= n;
  self->bits -= n;
}

static guint
take (Inflate *self, guint n)
{
  guint value = peek (self, n);

  drop (self, n);
  return value;
}

/* ---- symbols ---- */

static inline guint32
look_up (const guint32 *table, guint64 hold, guint bits)
{
  guint32 entry = table[hold & ((1u << bits) - 1)];

  if ((entry & (INFLATE_OTHER | INFLATE_SUBTABLE)) == (INFLATE_OTHER | INFLATE_SUBTABLE))
    entry = table[inflate_entry_value (entry) +
                  (hold >> bits & ((1u << inflate_entry_total (entry)) - 1))];
  return entry;
}

static inline guint
value_of (guint32 entry, guint64 hold)
{
  guint code = inflate_entry_code (entry), extra = inflate_entry_total (entry) - code;

  return inflate_entry_value (entry) + ((guint) (hold >> code) & ((1u << extra) - 1));
}

static inline void
copy_words (guint8 *to, const guint8 *from, const guint8 *end, gsize word)
{
  do
    {
      memcpy (to, from, word);
      to += word;
      from += word;
    }
  while (to < end);
}

/* Writes up to 15 bytes more. */
static inline void
copy_match (guint8 *to, guint distance, guint length)
{
  const guint8 *from = to - distance;

  if (G_LIKELY (distance >= 16))
    copy_words (to, from, to + length, 16);
  else if (distance >= 8)
    copy_words (to, from, to + length, 8);
  else if (distance == 1)
    memset (to, *from, length);
  else
    copy_words (to, from, to + length, 1);
}

static void
write_match (Inflate *self, guint distance, guint length)
{
  copy_match (self->data + self->end, distance, length);
  self->end += length;
  self->produced += length;
}

typedef enum
{
  SYMBOL_DONE,
  SYMBOL_INPUT, /* there are too few bits */
  SYMBOL_END,
  SYMBOL_FAILED,
} SymbolResult;

/* Of the literal or length whose bits are @before there is a distance, too. */
static SymbolResult
try_distance (Inflate *self, guint before, guint length)
{
  guint32 entry = look_up (self->distances, self->hold >> before, INFLATE_DISTANCE_BITS);
  guint distance;

  if (before + inflate_entry_code (entry) > self->bits)
    return SYMBOL_INPUT;
  if ((entry & INFLATE_OTHER) != 0)
    {
      drop (self, before + inflate_entry_code (entry));
      self->message = "invalid distance code";
      return SYMBOL_FAILED;
    }
  if (before + inflate_entry_total (entry) > self->bits)
    return SYMBOL_INPUT;

  distance = value_of (entry, self->hold >> before);
  drop (self, before + inflate_entry_total (entry));
  if (distance > self->produced)
    {
      self->message = "invalid distance too far back";
      return SYMBOL_FAILED;
    }
  write_match (self, distance, length);
  return SYMBOL_DONE;
}

/* With the bits that are there. */
static SymbolResult
try_symbol (Inflate *self)
{
  guint32 entry = look_up (self->literals, self->hold, INFLATE_LITERAL_BITS);

  if (inflate_entry_code (entry) > self->bits)
    return SYMBOL_INPUT;
  if ((entry & INFLATE_LITERAL) != 0)
    {
      self->data[self->end++] = (guint8) inflate_entry_value (entry);
      self->produced++;
      drop (self, inflate_entry_code (entry));
      return SYMBOL_DONE;
    }
  if ((entry & INFLATE_OTHER) != 0)
    {
      drop (self, inflate_entry_code (entry));
      if ((entry & INFLATE_END_OF_BLOCK) != 0)
        return SYMBOL_END;
      self->message = "invalid literal/length code";
      return SYMBOL_FAILED;
    }
  if (inflate_entry_total (entry) > self->bits)
    return SYMBOL_INPUT;
  return try_distance (self, inflate_entry_total (entry), value_of (entry, self->hold));
}

static guint64
load_le64 (const guint8 *data)
{
  guint64 value;

  memcpy (&value, data, sizeof value);
  return GUINT64_FROM_LE (value);
}

/* Above @bits of them there may be more in @hold, those that come next. */
#define REFILL                                                                                     \
  do                                                                                               \
    {                                                                                              \
      hold |= load_le64 (next) << bits;                                                            \
      next += (63 - bits) >> 3;                                                                    \
      bits |= 56;                                                                                  \
    }                                                                                              \
  while (0)
#define DROP(n)                                                                                    \
  do                                                                                               \
    {                                                                                              \
      hold >>= (n);                                                                                \
      bits -= (n);                                                                                 \
    }                                                                                              \
  while (0)

#define PUT_LITERAL                                                                                \
  do                                                                                               \
    {                                                                                              \
      DROP (inflate_entry_total (entry));                                                          \
      *out++ = (guint8) (entry >> 16);                                                             \
    }                                                                                              \
  while (0)

/* Literals and matches, while there is enough input and room to look at neither. What is met that
 * is none of both is left to try_symbol(). The next entry is looked up before a match is copied. */
static inline __attribute__ ((always_inline)) void
run_fast (Inflate *self, Input *in)
{
  const guint8 *next = in->next, *next_max = in->end - FAST_INPUT_MIN;
  guint8 *start = self->data + self->end, *out = start;
  guint8 *out_max = self->data + self->size - INFLATE_ROOM_MIN;
  const guint32 *literals = self->literals, *distances = self->distances;
  guint64 hold = self->hold, produced = self->produced;
  guint bits = self->bits;
  guint32 entry;

  REFILL;
  entry = literals[hold & LITERAL_MASK];
  while (next <= next_max && out <= out_max)
    {
      guint64 behind;
      guint length, distance, used;

      /* At least 56 bits: three literals of 11, or two and a length of 15 and 5 more. */
      if ((entry & INFLATE_LITERAL) != 0)
        {
          PUT_LITERAL;
          entry = literals[hold & LITERAL_MASK];
          if ((entry & INFLATE_LITERAL) != 0)
            {
              PUT_LITERAL;
              entry = literals[hold & LITERAL_MASK];
              if ((entry & INFLATE_LITERAL) != 0)
                {
                  PUT_LITERAL;
                  REFILL;
                  entry = literals[hold & LITERAL_MASK];
                  continue;
                }
            }
        }
      if (G_UNLIKELY ((entry & INFLATE_OTHER) != 0))
        {
          entry = look_up (literals, hold, INFLATE_LITERAL_BITS);
          if ((entry & INFLATE_LITERAL) != 0)
            {
              PUT_LITERAL;
              REFILL;
              entry = literals[hold & LITERAL_MASK];
              continue;
            }
          if ((entry & INFLATE_OTHER) != 0)
            break;
        }

      length = value_of (entry, hold);
      used = inflate_entry_total (entry);
      /* A distance is of up to 15 bits and 13 more. */
      if (G_UNLIKELY (bits < used + 28))
        REFILL;
      behind = hold >> used;
      entry = distances[behind & DISTANCE_MASK];
      if (G_UNLIKELY ((entry & INFLATE_OTHER) != 0))
        {
          entry = look_up (distances, behind, INFLATE_DISTANCE_BITS);
          if ((entry & INFLATE_OTHER) != 0)
            break;
        }
      distance = value_of (entry, behind);
      if (G_UNLIKELY (distance > produced + (guint64) (out - start)))
        break;
      DROP (used + inflate_entry_total (entry));
      REFILL;
      entry = literals[hold & LITERAL_MASK];
      copy_match (out, distance, length);
      out += length;
    }

  in->next = next - (bits >> 3);
  self->bits = bits & 7;
  self->hold = hold & ((1u << self->bits) - 1);
  self->end = (guint) (out - self->data);
  self->produced = produced + (guint64) (out - start);
}

static void
run_portable (Inflate *self, Input *in)
{
  run_fast (self, in);
}

#ifdef __x86_64__
/* It has shifts by a register that leave the flags alone. */
__attribute__ ((target ("bmi2"))) static void
run_bmi2 (Inflate *self, Input *in)
{
  run_fast (self, in);
}

static void
run_many (Inflate *self, Input *in)
{
  if (__builtin_cpu_supports ("bmi2"))
    run_bmi2 (self, in);
  else
    run_portable (self, in);
}
#else
static void
run_many (Inflate *self, Input *in)
{
  run_portable (self, in);
}
#endif

static gboolean
has_room (const Inflate *self)
{
  return self->size - self->end >= INFLATE_ROOM_MIN;
}

static InflateResult
end_block (Inflate *self)
{
  self->mode = self->is_last ? INFLATE_DONE : INFLATE_BLOCK;
  return INFLATE_MORE;
}

static InflateResult
read_symbols (Inflate *self, Input *in)
{
  while (has_room (self))
    {
      SymbolResult result;

      /* Bits of a symbol that lacked some may be of input that is gone: none can be given back. */
      if (self->bits < 8 && in->end - in->next >= FAST_INPUT_MIN)
        run_many (self, in);
      if (!has_room (self))
        break;
      while ((result = try_symbol (self)) == SYMBOL_INPUT)
        if (!pull_byte (self, in))
          return INFLATE_MORE;
      if (result == SYMBOL_END)
        return end_block (self);
      if (result == SYMBOL_FAILED)
        return INFLATE_FAILED;
    }
  return INFLATE_MORE;
}

/* ---- blocks ---- */

static InflateResult
read_block_header (Inflate *self, Input *in)
{
  if (!need (self, in, 3))
    return INFLATE_MORE;
  self->is_last = take (self, 1) != 0;
  switch (take (self, 2))
    {
    case 0:
      drop (self, self->bits & 7);
      self->mode = INFLATE_STORED_SIZE;
      return INFLATE_MORE;

    case 1:
      self->literals = fixed_literals;
      self->distances = fixed_distances;
      self->mode = INFLATE_SYMBOLS;
      return INFLATE_MORE;

    case 2:
      self->mode = INFLATE_TABLE_SIZES;
      return INFLATE_MORE;

    default:
      return fail (self, "invalid block type");
    }
}

static InflateResult
read_stored_size (Inflate *self, Input *in)
{
  guint size, inverse;

  if (!need (self, in, 32))
    return INFLATE_MORE;
  size = (guint) self->hold & 0xffff;
  inverse = (guint) (self->hold >> 16) & 0xffff;
  if (size != (inverse ^ 0xffff))
    return fail (self, "invalid stored block lengths");
  drop (self, 32);
  self->stored = size;
  self->mode = INFLATE_STORED;
  return INFLATE_MORE;
}

static InflateResult
read_stored (Inflate *self, Input *in)
{
  guint room = self->size - self->end;
  guint n = (guint) MIN ((gsize) (in->end - in->next), MIN (room, self->stored));

  if (n > 0)
    memcpy (self->data + self->end, in->next, n);
  in->next += n;
  self->end += n;
  self->produced += n;
  self->stored -= n;
  return self->stored == 0 ? end_block (self) : INFLATE_MORE;
}

static InflateResult
read_table_sizes (Inflate *self, Input *in)
{
  if (!need (self, in, 14))
    return INFLATE_MORE;
  self->n_literals = take (self, 5) + 257;
  self->n_distances = take (self, 5) + 1;
  self->n_codes = take (self, 4) + 4;
  if (self->n_literals > 286 || self->n_distances > 30)
    return fail (self, "too many length or distance symbols");
  memset (self->lengths, 0, 19);
  self->n_read = 0;
  self->mode = INFLATE_LENGTH_CODES;
  return INFLATE_MORE;
}

/* The lengths of the codes by which the lengths of codes are written. */
static InflateResult
read_length_codes (Inflate *self, Input *in)
{
  static const guint8 order[19] = {
    16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15
  };

  for (; self->n_read < self->n_codes; self->n_read++)
    {
      if (!need (self, in, 3))
        return INFLATE_MORE;
      self->lengths[order[self->n_read]] = (guint8) take (self, 3);
    }

  if (!inflate_table_build (INFLATE_OF_CODE_LENGTHS, self->lengths, 19, CODE_LENGTH_BITS,
                            self->own_literals))
    return fail (self, "invalid code lengths set");
  self->n_read = 0;
  self->mode = INFLATE_CODE_LENGTHS;
  return INFLATE_MORE;
}

static InflateResult
build_tables (Inflate *self)
{
  if (self->lengths[256] == 0)
    return fail (self, "invalid code -- missing end-of-block");
  if (!inflate_table_build (INFLATE_OF_LITERALS, self->lengths, self->n_literals,
                            INFLATE_LITERAL_BITS, self->own_literals))
    return fail (self, "invalid literal/lengths set");
  if (!inflate_table_build (INFLATE_OF_DISTANCES, self->lengths + self->n_literals,
                            self->n_distances, INFLATE_DISTANCE_BITS, self->own_distances))
    return fail (self, "invalid distances set");
  self->literals = self->own_literals;
  self->distances = self->own_distances;
  self->mode = INFLATE_SYMBOLS;
  return INFLATE_MORE;
}

/* @symbol: 16, the last length again, 17 and 18, none. Its extra bits are there. */
static gboolean
repeat_length (Inflate *self, guint symbol)
{
  guint n_all = self->n_literals + self->n_distances, n;
  guint8 length = 0;

  if (symbol == 16 && self->n_read == 0)
    return FALSE;
  if (symbol == 16)
    length = self->lengths[self->n_read - 1];
  n = symbol == 16 ? 3 + take (self, 2) : symbol == 17 ? 3 + take (self, 3) : 11 + take (self, 7);
  if (self->n_read + n > n_all)
    return FALSE;
  memset (self->lengths + self->n_read, length, n);
  self->n_read += n;
  return TRUE;
}

static InflateResult
read_code_lengths (Inflate *self, Input *in)
{
  static const guint8 extras[3] = { 2, 3, 7 };

  while (self->n_read < self->n_literals + self->n_distances)
    {
      guint32 entry;
      guint symbol;

      while (entry = self->own_literals[peek (self, CODE_LENGTH_BITS)],
             inflate_entry_code (entry) > self->bits)
        if (!pull_byte (self, in))
          return INFLATE_MORE;
      symbol = inflate_entry_value (entry);
      if (symbol >= 16 && !need (self, in, inflate_entry_code (entry) + extras[symbol - 16]))
        return INFLATE_MORE;
      drop (self, inflate_entry_code (entry));
      if (symbol < 16)
        self->lengths[self->n_read++] = (guint8) symbol;
      else if (!repeat_length (self, symbol))
        return fail (self, "invalid bit length repeat");
    }
  return build_tables (self);
}

static InflateResult
run_mode (Inflate *self, Input *in)
{
  switch (self->mode)
    {
    case INFLATE_BLOCK:
      return read_block_header (self, in);

    case INFLATE_STORED_SIZE:
      return read_stored_size (self, in);

    case INFLATE_STORED:
      return read_stored (self, in);

    case INFLATE_TABLE_SIZES:
      return read_table_sizes (self, in);

    case INFLATE_LENGTH_CODES:
      return read_length_codes (self, in);

    case INFLATE_CODE_LENGTHS:
      return read_code_lengths (self, in);

    case INFLATE_SYMBOLS:
      return read_symbols (self, in);

    case INFLATE_DONE:
      return INFLATE_END;

    default:
      g_assert_not_reached ();
    }
}

InflateResult
inflate_run (Inflate *self, const guint8 *in, gsize in_size, gsize *in_used)
{
  Input input = { in, in + in_size };
  InflateResult result = INFLATE_MORE;
  InflateMode mode;

  do
    {
      mode = self->mode;
      result = run_mode (self, &input);
    }
  while (result == INFLATE_MORE && self->mode != mode);

  *in_used = (gsize) (input.next - in);
  return result;
}
