/* SPDX-License-Identifier: MIT */

#include "dlp-xz-index.h"

#include <lzma.h>

#define INTEGER_BITS 63
#define CRC_SIZE 4

static guint64
mix (guint64 a, guint64 b)
{
  guint64 x = (a ^ b) + G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);

  x = (x ^ (x >> 30)) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return x ^ (x >> 31);
}

guint64
xz_index_digest (guint64 digest, guint64 unpadded_size, guint64 size)
{
  return mix (mix (digest, unpadded_size), size);
}

void
xz_index_begin (XzIndex *self)
{
  static const guint8 indicator = 0;

  *self = (XzIndex){ .size = 1, .crc = lzma_crc32 (&indicator, 1, 0) };
}

static void
end_records (XzIndex *self)
{
  self->part = self->size % 4 == 0 ? XZ_INDEX_CRC : XZ_INDEX_PADDING;
}

static const char *
end_integer (XzIndex *self)
{
  guint64 value = self->integer;

  self->integer = 0;
  self->shift = 0;
  if (self->part == XZ_INDEX_COUNT)
    {
      if (value > G_MAXUINT64 / 2 - 1)
        return "the index has more records than there can be";
      self->left = value * 2;
      self->part = XZ_INDEX_RECORDS;
    }
  else if (self->left-- % 2 == 0)
    self->unpadded = value;
  else
    self->digest = xz_index_digest (self->digest, self->unpadded, value);

  if (self->left == 0)
    end_records (self);
  return NULL;
}

static const char *
read_integer_byte (XzIndex *self, guint8 byte)
{
  self->integer |= (guint64) (byte & 0x7f) << self->shift;
  self->shift += 7;
  if ((byte & 0x80) == 0)
    return byte == 0 && self->shift > 7 ? "an integer of the index is longer than it need be" :
                                          end_integer (self);
  return self->shift < INTEGER_BITS ? NULL : "an integer of the index has more than nine bytes";
}

static const char *
read_crc_byte (XzIndex *self, guint8 byte)
{
  self->stored_crc |= (guint32) byte << (8 * self->n_crc++);
  if (self->n_crc < CRC_SIZE)
    return NULL;
  self->part = XZ_INDEX_END;
  return self->stored_crc == self->crc ? NULL : "the index does not match its CRC32";
}

static const char *
read_byte (XzIndex *self, guint8 byte)
{
  self->size++;
  if (self->part == XZ_INDEX_CRC)
    return read_crc_byte (self, byte);

  self->crc = lzma_crc32 (&byte, 1, self->crc);
  if (self->part != XZ_INDEX_PADDING)
    return read_integer_byte (self, byte);

  end_records (self);
  return byte == 0 ? NULL : "the padding of the index is not zero";
}

gsize
xz_index_read (XzIndex *self, const guint8 *in, gsize size, const char **fault)
{
  gsize n = 0;

  *fault = NULL;
  while (n < size && self->part != XZ_INDEX_END && *fault == NULL)
    *fault = read_byte (self, in[n++]);

  return n;
}
