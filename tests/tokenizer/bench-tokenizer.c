/* SPDX-License-Identifier: MIT */
#include "dlpipe/dlp-tokenizer.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* MB/s of CPU time for the files named in DLPIPE_BENCH_FILES (separated by ":"), each as one
 * document, with the models of DLPIPE_BENCH_MODELS: first pass, median and best of those that
 * follow. Also the head of the sha256 of the ids, so that speed is never compared between different
 * results. */
#define PASSES 7

static double
cpu_seconds (void)
{
  struct timespec now;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

static gsize
cache_bytes (void)
{
  const char *value = g_getenv ("DLPIPE_BENCH_CACHE_BYTES");

  return value ? g_ascii_strtoull (value, NULL, 10) : 0;
}

static int
compare_doubles (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

static void
measure (DlpTokenizer *tokenizer, const char *path)
{
  g_autoptr (DlpTokenizerContext) context = dlp_tokenizer_context_new (tokenizer, cache_bytes ());
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL, *base = g_path_get_basename (path), *sha256 = NULL;
  g_autofree guint32 *ids = NULL;
  double rates[PASSES];
  gsize len;
  gssize n = 0;

  if (!g_file_get_contents (path, &text, &len, &error))
    g_error ("%s", error->message);
  ids = g_new0 (guint32, len + 1);
  memset (ids, 1, len * sizeof *ids);

  for (guint i = 0; i < PASSES; i++)
    {
      double start = cpu_seconds ();

      n = dlp_tokenizer_encode (tokenizer, context, text, len, ids, len);
      rates[i] = len / 1e6 / (cpu_seconds () - start);
    }

  sha256 = g_compute_checksum_for_data (G_CHECKSUM_SHA256, (guchar *) ids, n * sizeof *ids);
  qsort (rates + 1, PASSES - 1, sizeof *rates, compare_doubles);
  g_print ("%-12s %-12s %9zd ids %.16s  first %6.1f  median %6.1f  best %6.1f MB/s\n",
           dlp_tokenizer_get_name (tokenizer), base, n, sha256, rates[0], rates[PASSES / 2 + 1],
           rates[PASSES - 1]);
}

int
main (void)
{
  const char *files = g_getenv ("DLPIPE_BENCH_FILES");
  const char *models = g_getenv ("DLPIPE_BENCH_MODELS");
  g_auto (GStrv) paths = g_strsplit (files ? files : "", ":", -1);
  g_auto (GStrv) names = g_strsplit (models ? models : "gpt2:cl100k_base:o200k_base", ":", -1);

  if (*paths == NULL)
    {
      g_printerr ("DLPIPE_BENCH_FILES is not set: nothing to measure\n");
      return 77;
    }
  for (guint m = 0; names[m]; m++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (DlpTokenizer) tokenizer = dlp_tokenizer_new (names[m], NULL, &error);

      if (tokenizer == NULL)
        g_error ("%s", error->message);
      for (guint i = 0; paths[i]; i++)
        measure (tokenizer, paths[i]);
    }
  return EXIT_SUCCESS;
}
