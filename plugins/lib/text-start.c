/* SPDX-License-Identifier: MIT */

#include "text-start.h"

#include <string.h>

/* So many bytes, every other one zero, are enough to tell UTF-16 without a mark. */
#define UTF_16_BYTES 6

typedef struct
{
  const char *bytes;
  gsize size;
  const char *fault;
} Start;

#define COMPRESSED(name) name " data, which nothing here decompresses (or compressed twice?)"

/* Longer ones first where one begins with another. */
static const Start starts[] = {
  { "\xff\xfe\0\0", 4, "a UTF-32 byte order mark: the file must be UTF-8" },
  { "\0\0\xfe\xff", 4, "a UTF-32 byte order mark: the file must be UTF-8" },
  { "\xff\xfe", 2, "a UTF-16 byte order mark: the file must be UTF-8" },
  { "\xfe\xff", 2, "a UTF-16 byte order mark: the file must be UTF-8" },
  { "\x1f\x8b\x08", 3, COMPRESSED ("gzip") },
  { "\x28\xb5\x2f\xfd", 4, COMPRESSED ("zstd") },
  { "\xfd"
    "7zXZ\0",
    6, COMPRESSED ("xz") },
  { "\x04\x22\x4d\x18", 4, COMPRESSED ("lz4") },
  { "PK\x03\x04", 4, COMPRESSED ("zip") },
};

static gboolean
is_bzip2 (const guint8 *data, gsize size)
{
  return size >= 10 && memcmp (data, "BZh", 3) == 0 && data[3] >= '1' && data[3] <= '9' &&
         memcmp (data + 4, "1AY&SY", 6) == 0;
}

/* In the first line, since no more of the file may be there. @parity: of the bytes that are zero,
 * while the others are not. */
static gboolean
is_utf_16 (const guint8 *data, gsize size, guint parity)
{
  if (size < UTF_16_BYTES)
    return FALSE;
  for (guint i = 0; i < UTF_16_BYTES; i++)
    if ((data[i] == 0) != (i % 2 == parity) || data[i] == '\n')
      return FALSE;
  return TRUE;
}

const char *
text_start_find_fault (const guint8 *data, gsize size)
{
  for (guint i = 0; i < G_N_ELEMENTS (starts); i++)
    if (size >= starts[i].size && memcmp (data, starts[i].bytes, starts[i].size) == 0)
      return starts[i].fault;
  if (is_bzip2 (data, size))
    return COMPRESSED ("bzip2");
  if (is_utf_16 (data, size, 0) || is_utf_16 (data, size, 1))
    return "UTF-16 text (every other byte is zero): the file must be UTF-8";
  return NULL;
}

gsize
text_start_measure_bom (const guint8 *data, gsize size)
{
  return size >= 3 && memcmp (data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}
