/* SPDX-License-Identifier: MIT */
#include "dlp-cut.h"
#include "dlp-encode.h"
#include "dlp-scan-known.h"
#include "dlp-scan.h"

#include <stdlib.h>

/* Blocks cut at once against the scanner that says what the pattern means. Built once for each kind
 * of processor. */
typedef struct
{
  const char *name;
  guint64 (*cut) (const guint8 *p);
  const guint8 *(*scan) (const guint8 *p, const guint8 *end);
} Subject;

static const guint8 *
cl100k_any (const guint8 *p, const guint8 *end)
{
  return dlp_scan_cl100k_any (p, end, TRUE);
}

static const Subject subjects[] = {
  { "gpt2", dlp_cut_gpt2, dlp_scan_gpt2_any },    { "cl100k", dlp_cut_cl100k, cl100k_any },
  { "o200k", dlp_cut_o200k, dlp_scan_o200k_any }, { "qwen2", dlp_cut_qwen2, dlp_scan_qwen2 },
  { "qwen35", dlp_cut_qwen35, dlp_scan_qwen35 },  { "tekken", dlp_cut_tekken, dlp_scan_tekken },
};

/* Characters that the patterns tell apart, and different lengths in UTF-8 of the same class. */
static const char *const atoms[] = {
  " ",          "\n",         "a",        "B",      "'",      "s",      "l",          "1",
  "/",          ".",          "\r",       "\t",     "\u4e2d", "\u0301", "\u00e9",     "\u00c9",
  "\u0967",     "\u00a0",     "\u017f",   "\u02b0", "\u01c5", "\u2014", "\u3000",     "\U0001f600",
  "\U00010400", "\U0001d7ce", "\xc2\x85", "\u180e", "\u200b", "\x01",   "t",          "e",
  "v",          "r",          "S",        "L",      "m",      "D",      "\U000e0100", "\u2028",
  "\u1c89",     "\U00010d4a", "\u0378",   "d",      "ll",     "\u0627", "\u0915",     "\u093f",
};

#define MAX_LEN 400

static double
scale (void)
{
  const char *value = g_getenv ("DLPIPE_TEST_SCALE");

  return value ? g_ascii_strtod (value, NULL) : 1.0;
}

static void
fail (const Subject *subject, const guint8 *p, guint64 places, const char *what, guint at)
{
  g_autofree char *text = g_strndup ((const char *) p, DLP_BLOCK_ROOM);
  g_autofree char *escaped = g_strescape (text, NULL);

  g_error ("%s: %s at %u of \"%s\": places %016" G_GINT64_MODIFIER "x", subject->name, what, at,
           escaped, places);
}

/* All that is cut has to be where the scanner cuts, and nothing is left out before the last. */
static guint
check_block (const Subject *subject, const guint8 *p, const guint8 *end)
{
  guint64 places = subject->cut (p), left = places;
  const guint8 *q = p;

  while (left)
    {
      guint at = __builtin_ctzll (left);

      q = subject->scan (q, end);
      if (q != p + at)
        fail (subject, p, places, q < p + at ? "a cut is missing" : "there is no cut",
              q < p + at ? q - p : at);
      left &= left - 1;
    }
  return q - p;
}

/* Returns how many of the bytes were cut in blocks. */
static gsize
check_text (const Subject *subject, const guint8 *text, gsize len)
{
  const guint8 *p = text, *end = text + len;
  gsize in_blocks = 0;

  while (end - p >= DLP_BLOCK_ROOM)
    {
      guint n = check_block (subject, p, end);

      in_blocks += n;
      p = n > 0 ? p + n : subject->scan (p, end);
    }
  return in_blocks;
}

static void
test_random (gconstpointer data)
{
  const Subject *subject = data;
  g_autoptr (GRand) rand = g_rand_new_with_seed (g_test_rand_int ());
  guint n = MAX (2000, 20000 * scale ());
  gsize in_blocks = 0, all = 0;

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      g_autofree guint8 *exact = NULL;
      guint n_kinds = g_rand_int_range (rand, 1, 12), kinds[12];

      for (guint k = 0; k < n_kinds; k++)
        kinds[k] = g_rand_int_range (rand, 0, i % 4 ? G_N_ELEMENTS (atoms) : 13);
      while (text->len < MAX_LEN)
        {
          const char *atom = atoms[kinds[g_rand_int_range (rand, 0, n_kinds)]];
          guint repeat = g_rand_int_range (rand, 0, 8) ? 1 : g_rand_int_range (rand, 1, 9);

          while (repeat-- > 0)
            g_string_append (text, atom);
        }
      /* So that AddressSanitizer sees what is read behind the end. */
      exact = g_memdup2 (text->str, text->len);
      in_blocks += check_text (subject, exact, text->len);
      all += text->len;
    }
  g_test_message ("%s: %.0f %% of the bytes were cut in blocks", subject->name,
                  100.0 * in_blocks / all);
  g_assert_cmpuint (in_blocks, >, all / 4);
}

/* Every string of three characters of the first kinds, between two words, at every place of a
 * block. */
static void
test_places (gconstpointer data)
{
  const Subject *subject = data;
  const guint n = 13;

  for (guint i = 0; i < n * n * n; i++)
    for (guint before = 0; before < 66; before += 1 + (i % 7))
      {
        g_autoptr (GString) text = g_string_new (NULL);

        for (guint k = 0; k < before; k++)
          g_string_append_c (text, k % 6 == 5 ? ' ' : 'x');
        g_string_append (text, atoms[i % n]);
        g_string_append (text, atoms[i / n % n]);
        g_string_append (text, atoms[i / n / n]);
        while (text->len < 140)
          g_string_append (text, text->len % 6 == 5 ? " " : "Y");
        check_text (subject, (const guint8 *) text->str, text->len);
      }
}

#ifdef __AVX2__
static int
skip (void)
{
  g_print ("1..0 # SKIP this processor has not what the loop is compiled for\n");
  return 0;
}
#endif

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#ifdef __AVX512BW__
  if (!dlp_cpu_has_avx512 ())
    return skip ();
#elif defined(__AVX2__)
  if (!dlp_cpu_has_avx2 ())
    return skip ();
#endif
  for (guint i = 0; i < G_N_ELEMENTS (subjects); i++)
    {
      g_autofree char *random = g_strdup_printf ("/cut/%s/random", subjects[i].name);
      g_autofree char *places = g_strdup_printf ("/cut/%s/places", subjects[i].name);

      g_test_add_data_func (random, &subjects[i], test_random);
      g_test_add_data_func (places, &subjects[i], test_places);
    }
  return g_test_run ();
}
