/* SPDX-License-Identifier: MIT */

#include "dlp-zstd-frame.h"

#define WINDOW_LOG_MIN 10

static const guint8 dictionary_sizes[4] = { 0, 1, 2, 4 };

guint32
zstd_frame_read_le32 (const guint8 *data)
{
  return (guint32) data[0] | (guint32) data[1] << 8 | (guint32) data[2] << 16 |
         (guint32) data[3] << 24;
}

gboolean
zstd_frame_is_skippable (guint32 magic)
{
  return (magic & 0xfffffff0u) == 0x184d2a50u;
}

static guint64
read_le (const guint8 *data, guint size)
{
  guint64 value = 0;

  for (guint i = 0; i < size; i++)
    value |= (guint64) data[i] << (8 * i);

  return value;
}

static gboolean
is_single_segment (guint8 descriptor)
{
  return (descriptor >> 5 & 1) != 0;
}

static guint
content_size_size (guint8 descriptor)
{
  guint flag = descriptor >> 6;

  return flag == 0 ? (is_single_segment (descriptor) ? 1u : 0u) : 1u << flag;
}

gsize
zstd_frame_header_size (const guint8 *data)
{
  guint8 descriptor = data[ZSTD_FRAME_MAGIC_SIZE];

  return ZSTD_FRAME_PREFIX_SIZE + !is_single_segment (descriptor) +
         dictionary_sizes[descriptor & 3] + content_size_size (descriptor);
}

static guint64
window_size (guint8 descriptor)
{
  guint64 base = G_GUINT64_CONSTANT (1) << (WINDOW_LOG_MIN + (descriptor >> 3));

  return base + base / 8 * (descriptor & 7);
}

void
zstd_frame_parse_header (const guint8 *data, ZstdFrameHeader *header)
{
  guint8 descriptor = data[ZSTD_FRAME_MAGIC_SIZE];
  const guint8 *p = data + ZSTD_FRAME_PREFIX_SIZE;
  guint n = content_size_size (descriptor);

  header->has_checksum = (descriptor >> 2 & 1) != 0;
  header->window_size = is_single_segment (descriptor) ? 0 : window_size (*p++);
  header->dictionary = (guint32) read_le (p, dictionary_sizes[descriptor & 3]);
  p += dictionary_sizes[descriptor & 3];

  header->content_size = n == 0 ? ZSTD_CONTENT_SIZE_UNKNOWN : read_le (p, n);
  if (n == 2)
    header->content_size += 256;
  if (is_single_segment (descriptor))
    header->window_size = header->content_size;
}

void
zstd_frame_parse_block_header (const guint8 *data, ZstdBlockHeader *header)
{
  guint32 value = (guint32) read_le (data, ZSTD_BLOCK_HEADER_SIZE);

  header->is_last = (value & 1) != 0;
  header->type = (ZstdBlockType) (value >> 1 & 3);
  header->size = value >> 3;
  header->stored_size = header->type == ZSTD_BLOCK_RLE ? 1 : header->size;
}
