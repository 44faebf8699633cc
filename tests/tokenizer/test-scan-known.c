/* SPDX-License-Identifier: MIT */
#include "dlp-scan-known.h"
#include "dlp-splitter.h"
#include "dlp-unicode.h"

#include <string.h>

/* The scanners against the stages and regular expressions that they stand for. */
typedef struct
{
  const char *name;
  gboolean digits;        /* first cut by Digits */
  const char *regexes[3]; /* NULL: that of the pattern */
} Subject;

static const Subject subjects[] = {
  { "gpt2",
    FALSE,
    { "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|"
      "\\s+(?!\\S)|\\s+" } },
  { "qwen2", FALSE, { NULL } },
  { "qwen3.5", FALSE, { NULL } },
  { "tekken", FALSE, { NULL } },
  { "kimi-k2", FALSE, { NULL } },
  { "o200k", FALSE, { NULL } },
  { "deepseek",
    FALSE,
    { "\\p{N}{1,3}", "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
      "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}"
      "\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+" } },
  { "digits",
    TRUE,
    { "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+" } },
};

/* Characters that the patterns tell apart. The first are those of the exhaustive test. */
static const char *const atoms[] = {
  " ",          "\n",         "a",          "B",          "'",          "s",      "1",
  ".",          "\t",         "\u4e2d",     "\u0301",     "\u30a2",     "\x01",   "/",
  "\u2e80",     "\u3007",     "\u00a0",     "\u30fb",     "\u3099",     "\u01c5", "\r",
  "l",          "\u00e9",     "\u00c9",     "\u0967",     "\u017f",     "\u02b0", "\u2014",
  "\u3000",     "\U0001f600", "\U00010400", "\U0001d7ce", "\xc2\x85",   "\u180e", "\u200b",
  "t",          "e",          "v",          "r",          "S",          "L",      "m",
  "D",          "\U000e0100", "\u2028",     "\u1c89",     "\U00010d4a", "\u0378", "\u3005",
  "\u3042",     "\u3040",     "\u30a0",     "\u309b",     "\u9fa6",     "\u3400", "\u302a",
  "\U00016ff0", "\U00020000", "\u3021",     "\u00b2",     "\ufeff",     "$",      "_",
  "\U00011de0", "\U00016ff4", "\u2160",
};
#define N_SHORT_ATOMS 20

static double
scale (void)
{
  const char *value = g_getenv ("DLPIPE_TEST_SCALE");

  return value ? g_ascii_strtod (value, NULL) : 1.0;
}

static void
append_split (GString *json, const char *regex)
{
  g_string_append (json, "{\"type\":\"Split\",\"behavior\":\"Isolated\",\"invert\":false,"
                         "\"pattern\":{\"Regex\":\"(?:");
  for (; *regex; regex++)
    if ((guchar) *regex < ' ' || *regex == '"' || *regex == '\\')
      g_string_append_printf (json, "\\u%04x", *regex);
    else
      g_string_append_c (json, *regex);
  g_string_append (json, ")\"}}");
}

/* The group around each regular expression makes it one that is not known. */
static DlpSplitter *
new_oracle (const Subject *subject, const DlpPattern *pattern)
{
  g_autoptr (GString) json = g_string_new ("{\"type\":\"Sequence\",\"pretokenizers\":[");
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpJsonTree) tree = NULL;
  DlpSplitter *splitter;

  if (subject->digits)
    g_string_append (json, "{\"type\":\"Digits\",\"individual_digits\":true},");
  append_split (json, subject->regexes[0] ? subject->regexes[0] : pattern->text);
  for (guint i = 1; i < G_N_ELEMENTS (subject->regexes) && subject->regexes[i]; i++)
    {
      g_string_append_c (json, ',');
      append_split (json, subject->regexes[i]);
    }
  g_string_append (json, "]}");

  tree = dlp_json_tree_new (json->str, json->len, subject->name, &error);
  g_assert_no_error (error);
  splitter = dlp_splitter_new (dlp_json_tree_get_root (tree), FALSE, &error);
  g_assert_no_error (error);
  g_assert_null (dlp_splitter_get_pattern (splitter));
  return splitter;
}

typedef struct
{
  const char *name;
  DlpScanFunc scan;
  DlpSplitter *oracle;
  DlpPieces pieces;
} Comparison;

static G_GNUC_NORETURN void
fail (const Comparison *self, const guint8 *text, gsize len, gsize start, gsize got, gsize wanted)
{
  g_autoptr (GString) hex = g_string_new (NULL);

  for (gsize i = 0; i < len; i++)
    g_string_append_printf (hex, "%02x ", text[i]);
  g_error ("%s: piece at %zu ends at %zu, wanted %zu: %s", self->name, start, got, wanted,
           hex->str);
}

static void
compare (Comparison *self, const guint8 *text, gsize len)
{
  gsize last = 0;

  g_assert_true (dlp_splitter_run (self->oracle, text, len, TRUE, &self->pieces));
  for (gsize i = 0; i < self->pieces.n; i++)
    {
      const DlpPiece *piece = &self->pieces.items[i];
      gsize stop = self->scan (text + last, text + len) - text;

      g_assert_cmpuint (piece->start, ==, last);
      if (stop != last + piece->len)
        fail (self, text, len, last, stop, last + piece->len);
      last = stop;
    }
  g_assert_cmpuint (last, ==, len);
}

/* Every string of up to 4 of the first atoms. */
static void
compare_short (Comparison *self)
{
  guint max_len = scale () >= 4 ? 5 : scale () >= 0.5 ? 4 : 3;
  guint64 n = 1;

  for (guint len = 1; len <= max_len; len++)
    {
      n *= N_SHORT_ATOMS;
      for (guint64 i = 0; i < n; i++)
        {
          char text[64], *end = text;
          guint64 rest = i;

          for (guint k = 0; k < len; k++, rest /= N_SHORT_ATOMS)
            end = stpcpy (end, atoms[rest % N_SHORT_ATOMS]);
          compare (self, (guint8 *) text, end - text);
        }
    }
}

static void
append_random (GRand *rand, GString *text)
{
  guint kind = g_rand_int_range (rand, 0, 10);
  guint n = g_rand_int_range (rand, 1, kind < 2 ? 40 : 5);
  const char *atom = atoms[g_rand_int_range (rand, 0, G_N_ELEMENTS (atoms))];
  gunichar c = g_rand_int_range (rand, 0, g_rand_boolean (rand) ? 0x3200 : 0x110000);

  if (kind == 2 && (c < 0xd800 || c > 0xdfff))
    g_string_append_unichar (text, c);
  for (guint i = 0; i < n && kind != 2; i++)
    if (kind < 5)
      g_string_append_c (text, g_rand_int_range (rand, 0x20, 0x7f));
    else if (kind < 8)
      g_string_append (text, atoms[g_rand_int_range (rand, 0, G_N_ELEMENTS (atoms))]);
    else
      g_string_append (text, atom);
}

/* In a block of its exact size, so that a sanitizer sees each read too far. */
static void
compare_random (Comparison *self)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (20261130);
  guint n = 20000 * scale ();

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      guint parts = g_rand_int_range (rand, 1, 16);
      g_autofree guint8 *block = NULL;

      for (guint k = 0; k < parts; k++)
        append_random (rand, text);
      block = g_memdup2 (text->str, MAX (text->len, 1));
      compare (self, block, text->len);
    }
}

static void
test_subject (gconstpointer data)
{
  const Subject *subject = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPattern) pattern = dlp_pattern_new (subject->name, &error);
  Comparison comparison = { subject->name, NULL, NULL, { 0 } };

  g_assert_no_error (error);
  comparison.scan = dlp_pattern_get_scanner (pattern->kind);
  g_assert_nonnull (comparison.scan);
  comparison.oracle = new_oracle (subject, pattern);
  compare_short (&comparison);
  compare_random (&comparison);
  dlp_pieces_clear (&comparison.pieces);
  dlp_splitter_free (comparison.oracle);
}

/* Each spelling means the same to both engines. */
static void
test_dialects (void)
{
  for (guint i = 1; i < 6; i++)
    {
      g_autoptr (DlpPattern) named = dlp_pattern_new (subjects[i].name, NULL);
      g_autoptr (DlpPattern) tiktoken = dlp_pattern_new (named->text, NULL);
      g_autoptr (DlpPattern) onig = dlp_pattern_new_onig (named->text, NULL);
      g_autoptr (GError) error = NULL;
      g_autoptr (DlpPattern) regex = dlp_pattern_new_regex (named->text, &error);

      g_assert_no_error (error);
      g_assert_cmpint (tiktoken->kind, ==, named->kind);
      g_assert_cmpint (onig->kind, ==, named->kind);
      g_assert_cmpint (regex->kind, ==, DLP_PATTERN_REGEX);
    }
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
      g_autofree guint8 *text = g_malloc (len);

      for (gsize k = 0; k < len; k++)
        text[k] = g_rand_boolean (rand) ? g_rand_int_range (rand, 0x80, 0x100) :
                                          g_rand_int_range (rand, 0, 0x80);
      for (guint kind = 0; kind < DLP_PATTERN_REGEX; kind++)
        for (const guint8 *p = text; p < text + len;)
          {
            const guint8 *stop = dlp_pattern_get_scanner (kind) (p, text + len);

            g_assert_true (stop > p && stop <= text + len);
            p = stop;
          }
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tokenizer/scan-known/invalid", test_invalid);
  g_test_add_func ("/tokenizer/scan-known/dialects", test_dialects);
  for (guint i = 0; i < G_N_ELEMENTS (subjects); i++)
    {
      g_autofree char *path = g_strconcat ("/tokenizer/scan-known/", subjects[i].name, NULL);

      g_test_add_data_func (path, &subjects[i], test_subject);
    }
  return g_test_run ();
}
