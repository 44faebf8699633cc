/* SPDX-License-Identifier: MIT */
#include "dlp-normalizer.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* usage: bench-normalizer TEXT... [-- NORMALIZER...]
 *
 * Normalizes each file of UTF-8, cut into documents of about 13 KB, with each of some normalizers
 * (as tokenizer.json has them). Prints the best of 7 passes on one thread in MB/s of CPU time, and
 * for how many of the documents nothing had to be changed. */

#define DOCUMENT 13000
#define PASSES 7

static const char *const usual[] = {
  "{\"type\": \"NFC\"}",
  "{\"type\": \"NFD\"}",
  "{\"type\": \"NFKC\"}",
  "{\"type\": \"Lowercase\"}",
  "{\"type\": \"Replace\", \"pattern\": {\"String\": \" \"}, \"content\": \"▁\"}",
  "{\"type\": \"Replace\", \"pattern\": {\"Regex\": \" {2,}\"}, \"content\": \" \"}",
  "{\"type\": \"Nmt\"}",
  "{\"type\": \"BertNormalizer\", \"clean_text\": true, \"handle_chinese_chars\": true, "
  "\"lowercase\": true}",
  NULL,
};

static double
cpu_seconds (void)
{
  struct timespec now;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

static guint
run_documents (const DlpNormalizer *normalizer,
               DlpNormalizerScratch *scratch,
               const char *text,
               gsize size,
               guint *n_documents)
{
  const guint8 *p = (const guint8 *) text, *end = p + size;
  guint n_same = 0;

  for (*n_documents = 0; p < end; ++*n_documents)
    {
      const guint8 *stop = end - p > DOCUMENT ? p + DOCUMENT : end;
      const guint8 *result = p;
      gsize len;

      while (stop < end && (*stop & 0xc0) == 0x80)
        stop++;
      len = stop - p;
      g_assert_true (dlp_normalizer_run (normalizer, scratch, &result, &len));
      n_same += result == p && len == (gsize) (stop - p);
      p = stop;
    }
  return n_same;
}

static void
measure (const char *json, const char *path, const char *text, gsize size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpJsonTree) tree = dlp_json_tree_new (json, strlen (json), "argument", &error);
  g_autoptr (DlpNormalizer) normalizer = NULL;
  DlpNormalizerScratch scratch = { 0 };
  guint n_same = 0, n_documents = 0;
  double best = G_MAXDOUBLE;

  if (tree)
    normalizer = dlp_normalizer_new (dlp_json_tree_get_root (tree), &error);
  if (normalizer == NULL)
    g_error ("%s", error->message);
  for (guint pass = 0; pass < PASSES; pass++)
    {
      double start = cpu_seconds ();

      n_same = run_documents (normalizer, &scratch, text, size, &n_documents);
      best = MIN (best, cpu_seconds () - start);
    }
  g_print ("%-24.24s %9.0f MB/s  %5u of %5u unchanged  %.60s\n", path, size / 1e6 / best, n_same,
           n_documents, json);
  dlp_normalizer_scratch_clear (&scratch);
}

int
main (int argc, char **argv)
{
  const char *const *normalizers = usual;
  int n_files = 1;

  while (n_files < argc && strcmp (argv[n_files], "--") != 0)
    n_files++;
  if (n_files == 1)
    {
      g_printerr ("usage: bench-normalizer TEXT... [-- NORMALIZER...]\n");
      return 77;
    }
  if (n_files < argc)
    normalizers = (const char *const *) argv + n_files + 1;
  for (guint i = 0; normalizers[i]; i++)
    for (int j = 1; j < n_files; j++)
      {
        g_autoptr (GError) error = NULL;
        g_autofree char *text = NULL;
        g_autofree char *name = g_path_get_basename (argv[j]);
        gsize size;

        if (!g_file_get_contents (argv[j], &text, &size, &error))
          g_error ("%s", error->message);
        if (!g_utf8_validate_len (text, size, NULL))
          g_error ("%s: not UTF-8", argv[j]);
        measure (normalizers[i], name, text, size);
      }
  return EXIT_SUCCESS;
}
