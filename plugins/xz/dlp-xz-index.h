/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The index at the end of a stream, which repeats the sizes of its blocks (The .xz File
 * Format 1.1.0, section 4). The library checks it by what it remembers since the start of the
 * stream; here what is remembered of the blocks is one number, so that a run can go on at any
 * block. */

typedef enum
{
  XZ_INDEX_COUNT,
  XZ_INDEX_RECORDS,
  XZ_INDEX_PADDING,
  XZ_INDEX_CRC,
  XZ_INDEX_END,
} XzIndexPart;

typedef struct
{
  XzIndexPart part;
  guint64 size;    /* bytes so far */
  guint64 integer; /* the one in hand */
  guint shift;     /* how many bits of it are there */
  guint64 left;    /* integers to come, two a block */
  guint64 unpadded;
  guint64 digest; /* of the records so far */
  guint32 crc;    /* of the bytes so far */
  guint32 stored_crc;
  guint n_crc;
} XzIndex;

/* The digest of a stream's blocks, with one more; of none it is 0. */
guint64 xz_index_digest (guint64 digest, guint64 unpadded_size, guint64 size);

/* The first byte, which tells an index from a block, was read. */
void xz_index_begin (XzIndex *self);
/* Reads bytes up to the end of the index. @fault: what is wrong with it. Returns how many were
 * read. */
gsize xz_index_read (XzIndex *self, const guint8 *in, gsize size, const char **fault);

G_END_DECLS
