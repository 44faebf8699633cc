/* SPDX-License-Identifier: MIT */
#include "dlp-bpe-long.h"

#include <time.h>

static DlpVocabulary *vocabulary;

static double
scale (void)
{
  const char *value = g_getenv ("DLPIPE_TEST_SCALE");

  return value ? g_ascii_strtod (value, NULL) : 1.0;
}

/* The definition: of all neighbours whose bytes together are an entry, merge the pair of the lowest
 * rank, the leftmost one on ties, until there is none. */
static gsize
merge_plainly (const DlpVocabulary *self, const guint8 *p, gsize len, guint32 *ids)
{
  g_autofree gsize *starts = g_new (gsize, len + 1);
  gsize n = len;

  for (gsize i = 0; i <= len; i++)
    starts[i] = i;
  for (;;)
    {
      guint32 best = DLP_ID_NONE;
      gsize at = 0;

      for (gsize i = 0; i + 1 < n; i++)
        {
          guint32 id = dlp_vocabulary_lookup (self, p + starts[i], starts[i + 2] - starts[i]);

          if (id < best)
            {
              best = id;
              at = i;
            }
        }
      if (best == DLP_ID_NONE)
        break;
      memmove (starts + at + 1, starts + at + 2, (n - at - 1) * sizeof *starts);
      n--;
    }
  for (gsize i = 0; i < n; i++)
    ids[i] = dlp_vocabulary_lookup (self, p + starts[i], starts[i + 1] - starts[i]);
  return n;
}

static void
fill (GRand *rand, guint8 *p, gsize len, guint kind)
{
  static const char *const words[] = { "the", "in", "tion", "aaaa", " ", "abab", "er", "\xe4\xb8" };

  for (gsize i = 0; i < len;)
    {
      const char *word = words[g_rand_int_range (rand, 0, G_N_ELEMENTS (words))];

      if (kind == 0)
        p[i++] = g_rand_int_range (rand, 0, 256);
      else if (kind == 1)
        p[i++] = "ab"[g_rand_int_range (rand, 0, 2)];
      else if (kind == 2)
        p[i++] = 'a';
      else
        while (*word && i < len)
          p[i++] = *word++;
    }
}

static void
test_random (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (99);
  guint n = 20000 * scale ();
  DlpBpeScratch scratch = { NULL };

  for (guint i = 0; i < n; i++)
    {
      gsize len = g_rand_int_range (rand, 1, i % 8 == 0 ? 300 : 60);
      g_autofree guint8 *text = g_malloc (len);
      g_autofree guint32 *ids = g_new (guint32, len);
      g_autofree guint32 *wanted = g_new (guint32, len);
      gsize count, wanted_count;

      fill (rand, text, len, i % 6);
      count = dlp_bpe_encode (vocabulary, &scratch, text, len, ids);
      wanted_count = merge_plainly (vocabulary, text, len, wanted);
      g_assert_cmpmem (ids, count * sizeof *ids, wanted, wanted_count * sizeof *wanted);

      /* By merging, whatever is faster. */
      for (gsize k = 0; k < len; k++)
        ids[k] = vocabulary->byte_ids[text[k]];
      count = dlp_bpe_merge (vocabulary, &scratch, ids, len);
      g_assert_cmpmem (ids, count * sizeof *ids, wanted, wanted_count * sizeof *wanted);

      for (gsize k = 0; k < len; k++)
        ids[k] = vocabulary->byte_ids[text[k]];
      count = dlp_bpe_merge_long (vocabulary, &scratch, ids, len);
      g_assert_cmpmem (ids, count * sizeof *ids, wanted, wanted_count * sizeof *wanted);
    }
  dlp_bpe_scratch_clear (&scratch);
}

/* Entries that are made by a later merge than the one they are part of: then there is no table. */
static void
test_ages (void)
{
  GString *file = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpVocabulary) odd = NULL;
  DlpBpeScratch scratch = { NULL };
  guint32 ids[24];

  for (guint i = 0; i < 256; i++)
    {
      guchar byte = i;
      g_autofree char *base64 = g_base64_encode (&byte, 1);

      g_string_append_printf (file, "%s %u\n", base64, i);
    }
  /* "abc" has rank 300, but is made of "ab", which has rank 301. */
  g_string_append (file, "YWJj 300\nYWI= 301\n");
  odd = dlp_vocabulary_parse (file->str, file->len, "odd", &error);
  g_assert_no_error (error);
  g_assert_null (odd->table);
  g_assert_nonnull (vocabulary->table);
  g_assert_cmpuint (
      dlp_bpe_encode (odd, &scratch, (const guint8 *) "abcababcabababcxabab", 20, ids), ==, 9);
  g_assert_cmpuint (ids[0], ==, 300);
  g_assert_cmpuint (ids[1], ==, 301);
  g_string_free (file, TRUE);
  dlp_bpe_scratch_clear (&scratch);
}

/* Bytes, and entries over three letters whose ranks say nothing of how they are made. */
static DlpVocabulary *
make_odd (GRand *rand)
{
  g_autoptr (GString) file = g_string_new (NULL);
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GError) error = NULL;
  guint n = g_rand_int_range (rand, 3, 20);
  DlpVocabulary *odd;

  for (guint i = 0; i < 256 + n; i++)
    {
      guchar bytes[6] = { i };
      gsize len = i < 256 ? 1 : g_rand_int_range (rand, 2, 7);
      g_autofree char *base64 = NULL;

      for (gsize k = 0; i >= 256 && k < len; k++)
        bytes[k] = "abc"[g_rand_int_range (rand, 0, 3)];
      base64 = g_base64_encode (bytes, len);
      if (g_hash_table_add (seen, g_strdup (base64)))
        g_string_append_printf (file, "%s %u\n", base64, i);
    }
  odd = dlp_vocabulary_parse (file->str, file->len, "odd", &error);
  g_assert_no_error (error);
  return odd;
}

static void
test_odd (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  guint n = 600 * scale ();
  DlpBpeScratch scratch = { NULL };

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (DlpVocabulary) odd = make_odd (rand);

      for (guint k = 0; k < 10; k++)
        {
          gsize len = g_rand_int_range (rand, 1, 120), wanted_count, count;
          guint8 text[120];
          guint32 ids[120], wanted[120];

          for (gsize at = 0; at < len; at++)
            text[at] = "abc"[g_rand_int_range (rand, 0, 3)];
          wanted_count = merge_plainly (odd, text, len, wanted);

          for (gsize at = 0; at < len; at++)
            ids[at] = odd->byte_ids[text[at]];
          count = dlp_bpe_merge_long (odd, &scratch, ids, len);
          g_assert_cmpmem (ids, count * sizeof *ids, wanted, wanted_count * sizeof *wanted);

          for (gsize at = 0; at < len; at++)
            ids[at] = odd->byte_ids[text[at]];
          count = dlp_bpe_merge (odd, &scratch, ids, len);
          g_assert_cmpmem (ids, count * sizeof *ids, wanted, wanted_count * sizeof *wanted);
        }
    }
  dlp_bpe_scratch_clear (&scratch);
}

static double
cpu_seconds (void)
{
  struct timespec now;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

/* Time must not grow with the square of the length. */
static void
test_long (void)
{
  gsize len = 1 << 20;
  g_autofree guint8 *text = g_malloc (len);
  g_autofree guint32 *ids = g_new (guint32, len);
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  DlpBpeScratch scratch = { NULL };

  for (guint kind = 0; kind < 4; kind++)
    {
      double start;
      gsize n;

      fill (rand, text, len, kind);
      start = cpu_seconds ();
      n = dlp_bpe_encode (vocabulary, &scratch, text, len, ids);
      start = cpu_seconds () - start;
      g_test_message ("1 MiB of kind %u: %zu ids in %.2f s", kind, n, start);
      g_assert_cmpuint (n, >, 0);
      /* A quadratic merge takes minutes. */
      g_assert_cmpfloat (start, <, 20.0);
    }
  /* Not kept: a record like this comes once. */
  g_assert_cmpuint (scratch.capacity, <, len);
  dlp_bpe_scratch_clear (&scratch);
}

int
main (int argc, char *argv[])
{
  g_autofree char *content = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *path = NULL;
  gsize len;
  int status;

  g_test_init (&argc, &argv, NULL);
  path = g_build_filename (g_getenv ("DLPIPE_VOCAB_PATH"), "r50k_base.tiktoken", NULL);
  g_file_get_contents (path, &content, &len, &error);
  g_assert_no_error (error);
  vocabulary = dlp_vocabulary_parse (content, len, "r50k", &error);
  g_assert_no_error (error);

  g_test_add_func ("/tokenizer/bpe/random", test_random);
  g_test_add_func ("/tokenizer/bpe/ages", test_ages);
  g_test_add_func ("/tokenizer/bpe/odd", test_odd);
  g_test_add_func ("/tokenizer/bpe/long", test_long);
  status = g_test_run ();
  dlp_vocabulary_free (vocabulary);
  return status;
}
