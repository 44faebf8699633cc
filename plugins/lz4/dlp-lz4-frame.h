/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The layout of an lz4 stream, by the LZ4 Frame Format Description 1.6.3. */

#define LZ4_FRAME_MAGIC 0x184d2204u
#define LZ4_FRAME_MAGIC_LEGACY 0x184c2102u
#define LZ4_FRAME_MAGIC_SIZE 4
/* Magic and flags: what tells how long the header is. */
#define LZ4_FRAME_PREFIX_SIZE 5
#define LZ4_FRAME_HEADER_SIZE_MAX 19
#define LZ4_SKIPPABLE_HEADER_SIZE 8
#define LZ4_BLOCK_HEADER_SIZE 4
#define LZ4_BLOCK_STORED 0x80000000u
#define LZ4_CHECKSUM_SIZE 4
/* How far back a block may refer to those before it. */
#define LZ4_HISTORY_SIZE 65536
#define LZ4_CONTENT_SIZE_UNKNOWN G_MAXUINT64

typedef struct
{
  gboolean is_linked; /* its blocks refer to those before them */
  gboolean has_block_checksum;
  gboolean has_checksum;
  guint32 block_size_max;
  guint64 content_size; /* or LZ4_CONTENT_SIZE_UNKNOWN */
} Lz4FrameHeader;

guint32 lz4_frame_read_le32 (const guint8 *data);
gboolean lz4_frame_is_skippable (guint32 magic);
/* Of a header of which LZ4_FRAME_PREFIX_SIZE bytes are there. */
gsize lz4_frame_header_size (const guint8 *data);
/* (transfer full) (nullable): what is wrong with it. */
char *lz4_frame_parse_header (const guint8 *data, Lz4FrameHeader *header);

G_END_DECLS
