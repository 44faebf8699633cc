/* SPDX-License-Identifier: MIT */

#include "msgpack-value.h"

#include <string.h>

/* Big-endian, as all of the format. */
static guint64
get_be (const guint8 *p, guint width)
{
  guint64 value = 0;

  for (guint i = 0; i < width; i++)
    value = value << 8 | p[i];
  return value;
}

const char *
msgpack_kind_get_name (MsgpackKind kind)
{
  static const char *const names[] = { "missing", "nil",       "a boolean", "a number", "a string",
                                       "binary",  "extension", "an array",  "a map" };

  return names[kind];
}

/* ---- heads ---- */

static void
set_unsigned (MsgpackHead *head, guint64 value)
{
  head->kind = MSGPACK_NUMBER;
  head->number.form = READER_NUMBER_UNSIGNED;
  head->number.u = value;
}

static void
set_signed (MsgpackHead *head, guint64 bits, guint width)
{
  guint shift = 64 - 8 * width;

  head->kind = MSGPACK_NUMBER;
  head->number.form = READER_NUMBER_SIGNED;
  head->number.i = (gint64) (bits << shift) >> shift;
}

static void
set_real (MsgpackHead *head, guint64 bits, guint width)
{
  head->kind = MSGPACK_NUMBER;
  head->number.form = READER_NUMBER_REAL;
  if (width == sizeof (float))
    {
      guint32 narrow = (guint32) bits;
      float value;

      memcpy (&value, &narrow, sizeof value);
      head->number.d = (double) value;
    }
  else
    memcpy (&head->number.d, &bits, sizeof bits);
}

static void
set_run (MsgpackHead *head, MsgpackKind kind, guint64 length)
{
  head->kind = kind;
  head->length = length;
}

static void
set_values (MsgpackHead *head, MsgpackKind kind, guint64 n)
{
  head->kind = kind;
  head->n = kind == MSGPACK_MAP ? 2 * n : n;
}

/* What is told by the first byte alone. */
static gboolean
read_fixed (guint8 first, MsgpackHead *head)
{
  head->size = 1;
  if (first <= 0x7f)
    set_unsigned (head, first);
  else if (first >= 0xe0)
    set_signed (head, first, 1);
  else if (first <= 0x8f)
    set_values (head, MSGPACK_MAP, first & 0x0f);
  else if (first <= 0x9f)
    set_values (head, MSGPACK_ARRAY, first & 0x0f);
  else if (first <= 0xbf)
    set_run (head, MSGPACK_STRING, first & 0x1f);
  else if (first == 0xc0)
    head->kind = MSGPACK_NIL;
  else if (first == 0xc2 || first == 0xc3)
    {
      head->kind = MSGPACK_BOOLEAN;
      head->is_true = first == 0xc3;
    }
  else
    return FALSE;
  return TRUE;
}

/* How many bytes behind the first one say more, of 0xc4 to 0xdf. */
static guint
get_width (guint8 first)
{
  static const guint8 widths[] = {
    1, 2, 4, 1, 2, 4,       /* bin, ext */
    4, 8, 1, 2, 4, 8,       /* float, uint */
    1, 2, 4, 8, 0, 0, 0, 0, /* int, fixext */
    0, 1, 2, 4, 2, 4, 2, 4, /* fixext 16, str, array, map */
  };

  return widths[first - 0xc4];
}

/* A type byte is behind the length of an extension. */
static void
set_extension (MsgpackHead *head, guint64 length)
{
  set_run (head, MSGPACK_EXTENSION, length);
  head->size++;
}

static void
set_wide (guint8 first, guint64 value, guint width, MsgpackHead *head)
{
  if (first <= 0xc6)
    set_run (head, MSGPACK_BINARY, value);
  else if (first <= 0xc9)
    set_extension (head, value);
  else if (first <= 0xcb)
    set_real (head, value, width);
  else if (first <= 0xcf)
    set_unsigned (head, value);
  else if (first <= 0xd3)
    set_signed (head, value, width);
  else if (first <= 0xd8)
    set_extension (head, (guint64) 1 << (first - 0xd4));
  else if (first <= 0xdb)
    set_run (head, MSGPACK_STRING, value);
  else
    set_values (head, first <= 0xdd ? MSGPACK_ARRAY : MSGPACK_MAP, value);
}

MsgpackResult
msgpack_read_head (const guint8 *p, const guint8 *end, MsgpackHead *head)
{
  guint width;

  if (p == end)
    return MSGPACK_SHORT;
  head->length = head->n = 0;
  if (read_fixed (*p, head))
    return MSGPACK_READ;
  if (*p == 0xc1)
    return MSGPACK_INVALID;
  width = get_width (*p);
  if ((gsize) (end - p) < 1 + width)
    return MSGPACK_SHORT;
  head->size = 1 + width;
  set_wide (*p, get_be (p + 1, width), width, head);
  return (gsize) (end - p) < head->size ? MSGPACK_SHORT : MSGPACK_READ;
}

/* ---- whole values ---- */

MsgpackResult
msgpack_skip (const guint8 **p, const guint8 *end)
{
  const guint8 *q = *p;
  guint64 left = 1;
  MsgpackHead head;

  /* What is left can only be more than there are bytes where they end before it. */
  for (; left > 0; left--)
    {
      MsgpackResult result = msgpack_read_head (q, end, &head);

      if (result == MSGPACK_INVALID)
        *p = q;
      if (result != MSGPACK_READ)
        return result;
      q += head.size;
      if (head.length > (guint64) (end - q) || head.n > (guint64) (end - q))
        return MSGPACK_SHORT;
      q += head.length;
      left += head.n;
    }
  *p = q;
  return MSGPACK_READ;
}

/* How much of the current value is still to come. */
enum
{
  STATE_VALUES, /* and one more; 0: it begins */
  STATE_BYTES,
};

gsize
msgpack_skip_on (guint64 *state, const guint8 *data, gsize size, gboolean *ended)
{
  const guint8 *p = data;
  const guint8 *end = data + size;
  guint64 left = state[STATE_VALUES] == 0 ? 1 : state[STATE_VALUES] - 1;
  MsgpackHead head;

  for (;;)
    {
      guint64 n = MIN (state[STATE_BYTES], (guint64) (end - p));
      MsgpackResult result;

      p += n;
      state[STATE_BYTES] -= n;
      if (state[STATE_BYTES] > 0 || left == 0)
        break;
      result = msgpack_read_head (p, end, &head);
      /* Nothing says where to go on: all of the file is this record. */
      if (result == MSGPACK_INVALID)
        {
          state[STATE_BYTES] = G_MAXUINT64;
          continue;
        }
      if (result == MSGPACK_SHORT)
        break;
      p += head.size;
      state[STATE_BYTES] = head.length;
      left--;
      if (__builtin_add_overflow (left, head.n, &left))
        state[STATE_BYTES] = G_MAXUINT64;
    }
  *ended = left == 0 && state[STATE_BYTES] == 0;
  state[STATE_VALUES] = left + 1;
  return (gsize) (p - data);
}
