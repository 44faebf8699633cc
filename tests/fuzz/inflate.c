/* SPDX-License-Identifier: MIT */

#include "inflate-compare.h"

/* The first byte chooses deflate or gzip (bit 7) and how the input is cut; the rest is the stream.
 * zlib must come to the same bytes, error and place. */

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  static const gsize chunks[] = { 1, 2, 3, 7, 64, 1000, 4096, 1 << 20 };

  if (size < 2)
    return 0;
  if ((data[0] & 0x80) != 0)
    inflate_compare_gzip (data + 1, size - 1, chunks[data[0] & 7], chunks[data[0] >> 3 & 7]);
  else
    inflate_compare (data + 1, size - 1, chunks[data[0] & 7]);
  return 0;
}
