/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The layout of a zstd stream (RFC 8878), as far as it takes to know where frames and blocks begin.
 */

#define ZSTD_FRAME_MAGIC 0xfd2fb528u
#define ZSTD_FRAME_MAGIC_SIZE 4
/* Magic and descriptor: what tells how long the header is. */
#define ZSTD_FRAME_PREFIX_SIZE 5
#define ZSTD_FRAME_HEADER_SIZE_MAX 18
#define ZSTD_SKIPPABLE_HEADER_SIZE 8
#define ZSTD_BLOCK_HEADER_SIZE 3
#define ZSTD_CHECKSUM_SIZE 4
#define ZSTD_CONTENT_SIZE_UNKNOWN G_MAXUINT64

typedef struct
{
  guint64 window_size;
  guint64 content_size; /* or ZSTD_CONTENT_SIZE_UNKNOWN */
  guint32 dictionary;   /* 0: none */
  gboolean has_checksum;
} ZstdFrameHeader;

typedef enum
{
  ZSTD_BLOCK_RAW,
  ZSTD_BLOCK_RLE,
  ZSTD_BLOCK_COMPRESSED,
  ZSTD_BLOCK_RESERVED,
} ZstdBlockType;

typedef struct
{
  ZstdBlockType type;
  gboolean is_last;
  guint32 size;        /* as the header says: decoded for RAW and RLE */
  guint32 stored_size; /* its bytes in the file */
} ZstdBlockHeader;

guint32 zstd_frame_read_le32 (const guint8 *data);
gboolean zstd_frame_is_skippable (guint32 magic);
/* Of a header of which ZSTD_FRAME_PREFIX_SIZE bytes are there. */
gsize zstd_frame_header_size (const guint8 *data);
void zstd_frame_parse_header (const guint8 *data, ZstdFrameHeader *header);
void zstd_frame_parse_block_header (const guint8 *data, ZstdBlockHeader *header);

G_END_DECLS
