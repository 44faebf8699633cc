/* SPDX-License-Identifier: MIT */
#include "dlp-pattern.h"
#include "dlp-scan.h"

#include <stdlib.h>

/* The scanners against PCRE2 running the same pattern. */
typedef const guint8 *(*ScanFunc) (const guint8 *p, const guint8 *end);

typedef struct
{
  const char *name;
  const char *pattern;
  ScanFunc fast;
  ScanFunc any;
} Subject;

static const guint8 *
cl100k (const guint8 *p, const guint8 *end)
{
  return dlp_scan_cl100k (p, end, TRUE);
}

static const guint8 *
cl100k_any (const guint8 *p, const guint8 *end)
{
  return dlp_scan_cl100k_any (p, end, TRUE);
}

static const guint8 *
cl100k_old (const guint8 *p, const guint8 *end)
{
  return dlp_scan_cl100k (p, end, FALSE);
}

static const guint8 *
cl100k_old_any (const guint8 *p, const guint8 *end)
{
  return dlp_scan_cl100k_any (p, end, FALSE);
}

static const char old_cl100k[] =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}|"
    " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

static const char old_gpt2[] = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|"
                               "\\s+(?!\\S)|\\s+";

static const Subject subjects[] = {
  { "gpt2", "gpt2", dlp_scan_gpt2, dlp_scan_gpt2_any },
  { "gpt2-old", old_gpt2, dlp_scan_gpt2, dlp_scan_gpt2_any },
  { "cl100k", "cl100k", cl100k, cl100k_any },
  { "cl100k-old", old_cl100k, cl100k_old, cl100k_old_any },
  { "o200k", "o200k", dlp_scan_o200k, dlp_scan_o200k_any },
};

/* Characters that the patterns tell apart, and different lengths in UTF-8 of the same class. */
static const char *const atoms[] = {
  " ",          "\n",         "a",        "B",      "'",      "s",      "l",          "1",
  "/",          ".",          "\r",       "\t",     "\u4e2d", "\u0301", "\u00e9",     "\u00c9",
  "\u0967",     "\u00a0",     "\u017f",   "\u02b0", "\u01c5", "\u2014", "\u3000",     "\U0001f600",
  "\U00010400", "\U0001d7ce", "\xc2\x85", "\u180e", "\u200b", "\x01",   "t",          "e",
  "v",          "r",          "S",        "L",      "m",      "D",      "\U000e0100", "\u2028",
  "\u1c89",     "\U00010d4a", "\u0378",
};
#define N_SHORT_ATOMS 20

static double
scale (void)
{
  const char *value = g_getenv ("DLPIPE_TEST_SCALE");

  return value ? g_ascii_strtod (value, NULL) : 1.0;
}

static G_GNUC_NORETURN void
fail (const Subject *subject,
      const char *what,
      const guint8 *text,
      gsize len,
      gsize start,
      gsize got,
      gsize wanted)
{
  g_autoptr (GString) hex = g_string_new (NULL);

  for (gsize i = 0; i < len; i++)
    g_string_append_printf (hex, "%02x ", text[i]);
  g_error ("%s, %s: piece at %zu ends at %zu, wanted %zu: %s", subject->name, what, start, got,
           wanted, hex->str);
}

static void
compare (const Subject *subject, DlpMatcher *matcher, const guint8 *text, gsize len)
{
  gsize start = 0, stop = 0, last = 0;

  while (last < len)
    {
      gsize fast = subject->fast (text + last, text + len) - text;
      gsize any = subject->any (text + last, text + len) - text;

      g_assert_cmpint (dlp_matcher_next (matcher, text, len, &start, &stop), ==, 1);
      g_assert_cmpuint (start, ==, last);
      if (any != stop)
        fail (subject, "slow", text, len, last, any, stop);
      if (fast != stop)
        fail (subject, "fast", text, len, last, fast, stop);
      last = stop;
    }
}

/* Every string of up to 4 of the first atoms, alone and before a text that lets the fast path run.
 */
static void
compare_short (const Subject *subject, DlpMatcher *matcher)
{
  static const char after[] = " the quick brown Fox";
  guint max_len = scale () >= 4 ? 5 : scale () >= 0.5 ? 4 : 3;
  guint64 n = 1;

  for (guint len = 1; len <= max_len; len++)
    {
      n *= N_SHORT_ATOMS;
      for (guint64 i = 0; i < n; i++)
        {
          guint8 text[64];
          gsize at = 0;
          guint64 rest = i;

          for (guint k = 0; k < len; k++, rest /= N_SHORT_ATOMS)
            at = (guint8 *) stpcpy ((char *) text + at, atoms[rest % N_SHORT_ATOMS]) - text;
          compare (subject, matcher, text, at);
          if (len < 4)
            {
              memcpy (text + at, after, strlen (after));
              compare (subject, matcher, text, at + strlen (after));
            }
        }
    }
}

static void
append_random (GRand *rand, GString *text)
{
  guint kind = g_rand_int_range (rand, 0, 10);
  guint n = g_rand_int_range (rand, 1, kind < 2 ? 40 : 5);
  const char *atom = atoms[g_rand_int_range (rand, 0, G_N_ELEMENTS (atoms))];

  for (guint i = 0; i < n; i++)
    if (kind == 2)
      g_string_append_c (text, g_rand_int_range (rand, 0x20, 0x7f));
    else if (kind < 5)
      g_string_append_c (text, (kind == 3 ? 'a' : 'A') + g_rand_int_range (rand, 0, 26));
    else if (kind == 5)
      g_string_append (text, atoms[g_rand_int_range (rand, 0, G_N_ELEMENTS (atoms))]);
    else
      g_string_append (text, atom);
}

static void
append_any_character (GRand *rand, GString *text)
{
  gunichar c = g_rand_int_range (rand, 0, g_rand_boolean (rand) ? 0x3000 : 0x110000);

  if (c < 0xd800 || c > 0xdfff)
    g_string_append_unichar (text, c);
}

/* In a block of its exact size, at every alignment, so that a sanitizer sees each read too far. */
static void
compare_random (const Subject *subject, DlpMatcher *matcher)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (20240917);
  guint n = 20000 * scale ();

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      guint pieces = g_rand_int_range (rand, 1, 16), offset = i % 16;
      guint8 *block;

      for (guint k = 0; k < pieces; k++)
        if (i % 4 == 0)
          append_any_character (rand, text);
        else
          append_random (rand, text);
      block = g_malloc (offset + text->len + 1);
      block = g_realloc (block, offset + MAX (text->len, 1));
      memcpy (block + offset, text->str, text->len);
      compare (subject, matcher, block + offset, text->len);
      g_free (block);
    }
}

static void
test_subject (gconstpointer data)
{
  const Subject *subject = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPattern) known = dlp_pattern_new (subject->pattern, &error);
  g_autoptr (DlpPattern) regex = NULL;
  DlpMatcher *matcher;

  g_assert_no_error (error);
  g_assert_cmpint (known->kind, !=, DLP_PATTERN_REGEX);
  /* Not known->text where the pattern is a spelling: that one is what has to mean the same. */
  regex = dlp_pattern_new_regex (strchr (subject->pattern, '\\') ? subject->pattern : known->text,
                                 &error);
  g_assert_no_error (error);
  matcher = dlp_matcher_new (regex);

  compare_short (subject, matcher);
  compare_random (subject, matcher);
  dlp_matcher_free (matcher);
}

/* Bytes that are no UTF-8: any result will do, but it must move, end, and stay inside. */
static void
test_invalid (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  guint n = 50000 * scale ();

  for (guint i = 0; i < n; i++)
    {
      gsize len = g_rand_int_range (rand, 1, 48);
      guint8 *text = g_malloc (len);

      for (gsize k = 0; k < len; k++)
        text[k] = g_rand_boolean (rand) ? g_rand_int_range (rand, 0x80, 0x100) :
                                          g_rand_int_range (rand, 0, 0x80);
      for (guint s = 0; s < G_N_ELEMENTS (subjects); s++)
        for (const guint8 *p = text; p < text + len;)
          {
            const guint8 *stop = subjects[s].fast (p, text + len);

            g_assert_true (stop > p && stop <= text + len);
            g_assert_true (stop == subjects[s].any (p, text + len));
            p = stop;
          }
      g_free (text);
    }
}

static void
test_tables (void)
{
  guint counts[8] = { 0 }, letters = 0;

  for (gunichar c = 0; c < 0x110000; c++)
    counts[dlp_unicode_class (c)]++;
  letters = counts[DLP_CLASS_UPPER] + counts[DLP_CLASS_LOWER] + counts[DLP_CLASS_CASELESS];

  /* Unicode 16.0 */
  g_assert_cmpstr (dlp_unicode_version, ==, "16.0.0");
  g_assert_cmpuint (letters, ==, 141028);
  g_assert_cmpuint (counts[DLP_CLASS_UPPER], ==, 1858 + 31);
  g_assert_cmpuint (counts[DLP_CLASS_LOWER], ==, 2258);
  g_assert_cmpuint (counts[DLP_CLASS_MARK], ==, 2501);
  g_assert_cmpuint (counts[DLP_CLASS_NUMBER], ==, 1911);
  g_assert_cmpuint (counts[DLP_CLASS_SPACE], ==, 25);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tokenizer/scan/tables", test_tables);
  g_test_add_func ("/tokenizer/scan/invalid", test_invalid);
  for (guint i = 0; i < G_N_ELEMENTS (subjects); i++)
    {
      g_autofree char *path = g_strconcat ("/tokenizer/scan/", subjects[i].name, NULL);

      g_test_add_data_func (path, &subjects[i], test_subject);
    }
  return g_test_run ();
}
