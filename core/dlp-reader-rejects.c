/* SPDX-License-Identifier: MIT */

/* The bad records of a chunk. A chunk of 1 MiB may have half a million, of a byte each: they are
 * written one behind the other as what is another than in the one before, and their bytes stay in
 * the chunk where there are many. */

#include <string.h>

#include "dlp-reader-private.h"

#define FIRST_CAPACITY 256
/* Of the chunk's bytes that are copied, so that its buffer need not be kept. */
#define COPIED_SHARE 8

typedef enum
{
  SAME_KIND = 1 << 0,
  SAME_MESSAGE = 1 << 1,
  IN_CHUNK = 1 << 2,
} Flags;

/* ---- writing ---- */

static void
put (DlpReaderRejects *self, gconstpointer data, gsize size)
{
  if (self->size + size > self->capacity)
    {
      self->capacity = MAX (self->capacity + self->capacity / 2, self->size + size);
      self->capacity = MAX (self->capacity, FIRST_CAPACITY);
      self->bytes = g_realloc (self->bytes, self->capacity);
    }
  if (size > 0)
    memcpy (self->bytes + self->size, data, size);
  self->size += size;
}

static void
put_number (DlpReaderRejects *self, guint64 value)
{
  guint8 bytes[10];
  guint n = 0;

  for (; value >= 0x80; value >>= 7)
    bytes[n++] = (guint8) (value | 0x80);
  bytes[n++] = (guint8) value;
  put (self, bytes, n);
}

static void
put_difference (DlpReaderRejects *self, gsize value, gsize before)
{
  guint64 difference = (guint64) value - before;

  put_number (self, value >= before ? difference << 1 : (~difference << 1) | 1);
}

static Flags
find_flags (DlpReaderRejects *self, const DlpReaderReject *reject, bool refer)
{
  const DlpReaderReject *last = &self->last;
  gsize length = strlen (reject->message);
  Flags flags = refer ? IN_CHUNK : 0;

  if (self->size == 0)
    return flags;
  if (last->kind == reject->kind)
    flags |= SAME_KIND;
  if (length == self->message_length &&
      memcmp (self->bytes + self->message_at, reject->message, length) == 0)
    flags |= SAME_MESSAGE;
  return flags;
}

void
dlp_reader_rejects_add (DlpReaderRejects *self,
                        const DlpReaderReject *reject,
                        const guint8 *chunk,
                        gsize chunk_size)
{
  bool in_chunk =
      chunk != NULL && reject->data >= chunk && reject->data + reject->size <= chunk + chunk_size;
  bool refer = in_chunk && self->copied >= chunk_size / COPIED_SHARE;
  Flags flags = find_flags (self, reject, refer);
  guint8 first = (guint8) flags;

  put (self, &first, 1);
  put_number (self, reject->row - self->last.row);
  put_number (self, reject->line - self->last.line);
  put_difference (self, reject->offset, self->last.offset);
  if (!(flags & SAME_KIND))
    put (self, &reject->kind, sizeof reject->kind);
  if (!(flags & SAME_MESSAGE))
    {
      self->message_length = strlen (reject->message);
      put_number (self, self->message_length);
      self->message_at = self->size;
      put (self, reject->message, self->message_length + 1);
    }
  put_number (self, reject->size);
  if (refer)
    {
      put_difference (self, (gsize) (reject->data - chunk), self->data_at);
      self->data_at = (gsize) (reject->data - chunk);
      self->refers = true;
    }
  else
    {
      put (self, reject->data, reject->size);
      self->copied += reject->size;
    }
  self->last = *reject;
}

void
dlp_reader_rejects_finish (DlpReaderRejects *self)
{
  if (self->size < self->capacity)
    self->bytes = g_realloc (self->bytes, self->size);
  self->capacity = self->size;
  self->last = (DlpReaderReject){ 0 };
  self->data_at = 0;
}

void
dlp_reader_rejects_clear (DlpReaderRejects *self)
{
  g_free (self->bytes);
  *self = (DlpReaderRejects){ 0 };
}

/* ---- reading ---- */

static guint64
get_number (DlpReaderRejects *self)
{
  guint64 value = 0;
  guint8 byte;

  for (guint shift = 0;; shift += 7)
    {
      byte = self->bytes[self->at++];
      value |= (guint64) (byte & 0x7F) << shift;
      if (byte < 0x80)
        return value;
    }
}

static gsize
get_difference (DlpReaderRejects *self, gsize before)
{
  guint64 number = get_number (self);
  guint64 difference = number & 1 ? ~(number >> 1) : number >> 1;

  return (gsize) (before + difference);
}

static void
read_next (DlpReaderRejects *self, const guint8 *chunk)
{
  DlpReaderReject *next = &self->last;
  Flags flags = self->bytes[self->at++];
  gsize length;

  next->row += get_number (self);
  next->line += get_number (self);
  next->offset = get_difference (self, next->offset);
  if (!(flags & SAME_KIND))
    {
      memcpy (&next->kind, self->bytes + self->at, sizeof next->kind);
      self->at += sizeof next->kind;
    }
  if (!(flags & SAME_MESSAGE))
    {
      length = get_number (self);
      next->message = (const char *) self->bytes + self->at;
      self->at += length + 1;
    }
  next->size = get_number (self);
  if (flags & IN_CHUNK)
    {
      self->data_at = get_difference (self, self->data_at);
      next->data = chunk + self->data_at;
    }
  else
    {
      next->data = self->bytes + self->at;
      self->at += next->size;
    }
  self->has_next = true;
}

const DlpReaderReject *
dlp_reader_rejects_peek (DlpReaderRejects *self, const guint8 *chunk)
{
  if (!self->has_next && self->at < self->size)
    read_next (self, chunk);
  return self->has_next ? &self->last : NULL;
}

void
dlp_reader_rejects_pass (DlpReaderRejects *self)
{
  self->has_next = false;
}
