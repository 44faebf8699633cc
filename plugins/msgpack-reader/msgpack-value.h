/* SPDX-License-Identifier: MIT */
#pragma once

#include "reader-number.h"

G_BEGIN_DECLS

/* MessagePack (github.com/msgpack/msgpack, spec.md). Nothing is taken from a length but where the
 * next value would be: what a file says is never allocated, and how deep it nests is only counted.
 */

typedef enum
{
  MSGPACK_NONE, /* in a record that has it not */
  MSGPACK_NIL,
  MSGPACK_BOOLEAN,
  MSGPACK_NUMBER,
  MSGPACK_STRING,
  MSGPACK_BINARY,
  MSGPACK_EXTENSION,
  MSGPACK_ARRAY,
  MSGPACK_MAP,
} MsgpackKind;

/* The first bytes of a value. */
typedef struct
{
  MsgpackKind kind;
  gsize size;          /* of these bytes */
  guint64 length;      /* bytes behind them, of strings and the like; else 0 */
  guint64 n;           /* values behind them, of arrays and maps, keys included */
  gboolean is_true;    /* of booleans */
  ReaderNumber number; /* of numbers */
} MsgpackHead;

typedef enum
{
  MSGPACK_READ,
  MSGPACK_SHORT,   /* the bytes end before it does */
  MSGPACK_INVALID, /* 0xc1, which begins nothing */
} MsgpackResult;

MsgpackResult msgpack_read_head (const guint8 *p, const guint8 *end, MsgpackHead *head);

/* Passes over one value with all that is in it. READ: *p is behind it; INVALID: at the byte. */
MsgpackResult msgpack_skip (const guint8 **p, const guint8 *end);

/* As DlpReaderClass::skip, of any value; @state: two numbers. */
gsize msgpack_skip_on (guint64 *state, const guint8 *data, gsize size, gboolean *ended);

const char *msgpack_kind_get_name (MsgpackKind kind);

G_END_DECLS
