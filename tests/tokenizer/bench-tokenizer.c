/* SPDX-License-Identifier: MIT */
#include "dlpipe/dlp-tokenizer.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* usage: bench-tokenizer MODEL DOCUMENTS PASSES [PATTERN]
 *
 * DOCUMENTS holds for each document its length in bytes (32 bits, little-endian), then its text.
 * Encodes all of them PASSES times on one thread with one context, the ids into a buffer as large
 * as a record batch's. Prints a line: MB/s of CPU time of each pass, the number of ids of one pass,
 * the head of the sha256 of its ids (32 bits each), so that speed is never compared between
 * different results. tests/peers/bench_tokenizers.py runs it beside others. */

typedef struct
{
  const char *text;
  gsize len;
} Document;

static double
cpu_seconds (void)
{
  struct timespec now;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

static GArray *
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

static void
measure (DlpTokenizer *tokenizer, GArray *documents, guint n_passes)
{
  g_autoptr (DlpTokenizerContext) context = dlp_tokenizer_context_new (tokenizer, 0);
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
  g_autofree guint32 *ids = NULL;
  gsize longest = 0, total = 0;
  guint64 n_ids = 0;

  for (guint i = 0; i < documents->len; i++)
    {
      longest = MAX (longest, g_array_index (documents, Document, i).len);
      total += g_array_index (documents, Document, i).len;
    }
  ids = g_new (guint32, longest + 1);
  memset (ids, 1, (longest + 1) * sizeof *ids);

  for (guint pass = 0; pass < n_passes; pass++)
    {
      double start = cpu_seconds ();

      for (guint i = 0; i < documents->len; i++)
        {
          const Document *document = &g_array_index (documents, Document, i);

          g_assert_cmpint (dlp_tokenizer_encode (tokenizer, context, document->text, document->len,
                                                 ids, longest + 1),
                           >=, 0);
        }
      g_print ("%.1f ", total / 1e6 / (cpu_seconds () - start));
    }
  for (guint i = 0; i < documents->len; i++)
    {
      const Document *document = &g_array_index (documents, Document, i);
      gssize n = dlp_tokenizer_encode (tokenizer, context, document->text, document->len, ids,
                                       longest + 1);

      g_checksum_update (checksum, (guchar *) ids, n * sizeof *ids);
      n_ids += n;
    }
  g_print ("%" G_GUINT64_FORMAT " %.16s\n", n_ids, g_checksum_get_string (checksum));
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpTokenizer) tokenizer = NULL;
  g_autoptr (GArray) documents = NULL;
  g_autofree char *data = NULL;
  gsize size;

  if (argc < 4)
    {
      g_printerr ("usage: bench-tokenizer MODEL DOCUMENTS PASSES [PATTERN]\n");
      return 77;
    }
  if (!g_file_get_contents (argv[2], &data, &size, &error))
    g_error ("%s", error->message);
  tokenizer = dlp_tokenizer_new (argv[1], argc > 4 ? argv[4] : NULL, &error);
  if (tokenizer == NULL)
    g_error ("%s", error->message);
  documents = find_documents (data, size);
  measure (tokenizer, documents, g_ascii_strtoull (argv[3], NULL, 10));
  return EXIT_SUCCESS;
}
