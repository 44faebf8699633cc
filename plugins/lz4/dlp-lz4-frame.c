/* SPDX-License-Identifier: MIT */

#include "dlp-lz4-frame.h"

#include <xxhash.h>

#define FLAG_DICTIONARY 0x01
#define FLAG_RESERVED 0x02
#define FLAG_CHECKSUM 0x04
#define FLAG_CONTENT_SIZE 0x08
#define FLAG_BLOCK_CHECKSUM 0x10
#define FLAG_INDEPENDENT 0x20
#define VERSION 1
/* Of the second byte: 4 to 7 are blocks of 64 KiB to 4 MiB. */
#define BLOCK_SIZE_RESERVED 0x8f
#define BLOCK_SIZE_MIN 4

guint32
lz4_frame_read_le32 (const guint8 *data)
{
  return (guint32) data[0] | (guint32) data[1] << 8 | (guint32) data[2] << 16 |
         (guint32) data[3] << 24;
}

gboolean
lz4_frame_is_skippable (guint32 magic)
{
  return (magic & 0xfffffff0u) == 0x184d2a50u;
}

gsize
lz4_frame_header_size (const guint8 *data)
{
  guint8 flags = data[LZ4_FRAME_MAGIC_SIZE];

  return 7 + ((flags & FLAG_CONTENT_SIZE) != 0 ? 8 : 0) + ((flags & FLAG_DICTIONARY) != 0 ? 4 : 0);
}

char *
lz4_frame_parse_header (const guint8 *data, Lz4FrameHeader *header)
{
  const guint8 *descriptor = data + LZ4_FRAME_MAGIC_SIZE, *p = descriptor + 2;
  gsize size = lz4_frame_header_size (data) - LZ4_FRAME_MAGIC_SIZE - 1;
  guint8 flags = descriptor[0], block_size = descriptor[1];

  if (descriptor[size] != (guint8) (XXH32 (descriptor, size, 0) >> 8))
    return g_strdup ("the frame's header does not match its checksum");
  if (flags >> 6 != VERSION)
    return g_strdup_printf ("a frame of version %u, known is %u", flags >> 6, VERSION);
  if ((flags & FLAG_RESERVED) != 0 || (block_size & BLOCK_SIZE_RESERVED) != 0 ||
      block_size >> 4 < BLOCK_SIZE_MIN)
    return g_strdup_printf ("the frame's header has flags %02x and a block size of %02x, which "
                            "mean nothing",
                            flags, block_size);

  *header = (Lz4FrameHeader){
    .is_linked = (flags & FLAG_INDEPENDENT) == 0,
    .has_block_checksum = (flags & FLAG_BLOCK_CHECKSUM) != 0,
    .has_checksum = (flags & FLAG_CHECKSUM) != 0,
    .block_size_max = 1u << (8 + 2 * (block_size >> 4)),
    .content_size = LZ4_CONTENT_SIZE_UNKNOWN,
  };
  if ((flags & FLAG_CONTENT_SIZE) != 0)
    {
      header->content_size = lz4_frame_read_le32 (p) | (guint64) lz4_frame_read_le32 (p + 4) << 32;
      p += 8;
    }
  if ((flags & FLAG_DICTIONARY) != 0)
    return g_strdup_printf ("it needs the dictionary %u, and there is no way to give one",
                            lz4_frame_read_le32 (p));
  return NULL;
}
