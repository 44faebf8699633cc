/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>
#include <string.h>
#include <time.h>

/* What the benchmarks of whole tokenizers are run on: a file that holds for each document its
 * length in bytes (32 bits, little-endian), then its text. */

typedef struct
{
  const char *text;
  gsize len;
} Document;

static inline double
get_seconds (clockid_t clock)
{
  struct timespec now;

  clock_gettime (clock, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

static inline GArray *
find_documents (const char *data, gsize size)
{
  GArray *documents = g_array_new (FALSE, FALSE, sizeof (Document));

  for (gsize at = 0; at < size;)
    {
      guint32 len;
      Document document;

      memcpy (&len, data + at, sizeof len);
      document = (Document){ data + at + sizeof len, GUINT32_FROM_LE (len) };
      at += sizeof len + document.len;
      g_assert_cmpuint (at, <=, size);
      g_array_append_val (documents, document);
    }
  return documents;
}

static inline gsize
find_longest (const GArray *documents)
{
  gsize longest = 0;

  for (guint i = 0; i < documents->len; i++)
    longest = MAX (longest, g_array_index (documents, Document, i).len);
  return longest;
}
