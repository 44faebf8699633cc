/* SPDX-License-Identifier: MIT */
#include "bench-documents.h"
#include "dlpipe/dlp-tokenizer.h"

#include <stdlib.h>

/* usage: bench-tokenizer MODEL DOCUMENTS PASSES [PATTERN]
 *
 * Encodes all documents PASSES times on one thread with one context, the ids into a buffer as large
 * as a record batch's. Prints a line: the seconds of CPU time that it took to make the context,
 * MB/s of CPU time of each pass, the number of ids of one pass, the head of the sha256 of its ids
 * (32 bits each), so that speed is never compared between different results.
 * tests/peers/bench_tokenizers.py runs it beside others. */

/* More than the bytes of a document, since a normalizer may make a text longer. */
static gsize
count_room (GArray *documents)
{
  return 2 * find_longest (documents) + 64;
}

static gsize
encode (DlpTokenizer *tokenizer,
        DlpTokenizerContext *context,
        const Document *document,
        guint32 *ids,
        gsize room)
{
  gssize n = dlp_tokenizer_encode (tokenizer, context, document->text, document->len, ids, room);

  g_assert_cmpint (n, >=, 0);
  return n;
}

static void
measure_passes (DlpTokenizer *tokenizer,
                DlpTokenizerContext *context,
                GArray *documents,
                guint n_passes,
                guint32 *ids)
{
  gsize room = count_room (documents), total = 0;

  for (guint i = 0; i < documents->len; i++)
    total += g_array_index (documents, Document, i).len;
  for (guint pass = 0; pass < n_passes; pass++)
    {
      double start = get_seconds (CLOCK_THREAD_CPUTIME_ID);

      for (guint i = 0; i < documents->len; i++)
        encode (tokenizer, context, &g_array_index (documents, Document, i), ids, room);
      g_print ("%.1f ", total / 1e6 / (get_seconds (CLOCK_THREAD_CPUTIME_ID) - start));
    }
}

static void
measure (DlpTokenizer *tokenizer, GArray *documents, guint n_passes)
{
  double start = get_seconds (CLOCK_THREAD_CPUTIME_ID);
  g_autoptr (DlpTokenizerContext) context = dlp_tokenizer_context_new (tokenizer, 0);
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
  gsize room = count_room (documents);
  g_autofree guint32 *ids = g_new (guint32, room);
  guint64 n_ids = 0;

  g_print ("%.4f ", get_seconds (CLOCK_THREAD_CPUTIME_ID) - start);
  memset (ids, 1, room * sizeof *ids);
  measure_passes (tokenizer, context, documents, n_passes, ids);
  for (guint i = 0; i < documents->len; i++)
    {
      gsize n = encode (tokenizer, context, &g_array_index (documents, Document, i), ids, room);

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
