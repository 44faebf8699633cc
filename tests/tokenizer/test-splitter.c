/* SPDX-License-Identifier: MIT */
#include "dlp-byte-letters.h"
#include "dlp-splitter.h"
#include "dlpipe/dlp-tokenizer.h"

#include <string.h>

static DlpSplitter *
new_splitter (const char *json, gboolean byte_level)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpJsonTree) tree = dlp_json_tree_new (json, strlen (json), "file", &error);
  DlpSplitter *splitter;

  g_assert_no_error (error);
  splitter = dlp_splitter_new (dlp_json_tree_get_root (tree), byte_level, &error);
  g_assert_no_error (error);
  return splitter;
}

static void
run (const DlpSplitter *splitter, const char *text, DlpPieces *pieces)
{
  g_assert_true (dlp_splitter_run (splitter, (const guint8 *) text, strlen (text), TRUE, pieces));
}

static char *
join (const DlpPieces *pieces)
{
  GString *out = g_string_new (NULL);

  for (gsize i = 0; i < pieces->n; i++)
    {
      g_string_append_len (out, (const char *) pieces->text + pieces->items[i].start,
                           pieces->items[i].len);
      g_string_append_c (out, '|');
    }
  return g_string_free (out, FALSE);
}

static void
assert_cut (const char *json, const char *text, const char *wanted)
{
  g_autoptr (DlpSplitter) splitter = new_splitter (json, FALSE);
  g_autofree char *got = NULL;
  DlpPieces pieces = { 0 };

  run (splitter, text, &pieces);
  got = join (&pieces);
  g_assert_cmpstr (got, ==, wanted);
  dlp_pieces_clear (&pieces);
}

/* A piece of a byte-level splitter as the letters that the reference has. */
static char *
write_piece (const DlpPieces *pieces, gsize i, gboolean byte_level)
{
  const guint8 *p = pieces->text + pieces->items[i].start;
  GString *out = g_string_new (NULL);

  g_assert_cmpuint (pieces->items[i].len, >, 0);
  g_assert_cmpuint ((gsize) pieces->items[i].start + pieces->items[i].len, <=, pieces->text_len);
  for (guint32 k = 0; k < pieces->items[i].len; k++)
    if (byte_level)
      g_string_append_unichar (out, dlp_letter_of_byte (p[k]));
    else
      g_string_append_c (out, p[k]);
  return g_string_free (out, FALSE);
}

/* @at is an array of a text and its pieces. */
static void
check_case (const DlpSplitter *splitter, DlpPieces *pieces, DlpJsonNode at, gboolean byte_level)
{
  DlpJsonNode text = dlp_json_get_first (at), list = dlp_json_get_next (text), piece;
  guint n = dlp_json_get_n_children (list);

  run (splitter, dlp_json_get_string (text, NULL), pieces);
  piece = dlp_json_get_first (list);
  for (guint i = 0; i < n && i < pieces->n; i++, piece = dlp_json_get_next (piece))
    {
      g_autofree char *got = write_piece (pieces, i, byte_level);

      g_assert_cmpstr (got, ==, dlp_json_get_string (piece, NULL));
    }
  g_assert_cmpuint (pieces->n, ==, n);
}

static void
check_line (const char *line, DlpPieces *pieces)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpJsonTree) tree = dlp_json_tree_new (line, strlen (line), "case", &error);
  DlpJsonNode root, list, at;
  g_autoptr (DlpSplitter) splitter = NULL;
  gboolean byte_level;
  guint64 kind = DLP_PATTERN_REGEX;
  guint n;

  g_assert_no_error (error);
  root = dlp_json_tree_get_root (tree);
  list = dlp_json_get_member (root, "cases");
  n = dlp_json_get_n_children (list);
  splitter = dlp_splitter_new (dlp_json_get_member (root, "pre_tokenizer"), FALSE, &error);
  g_assert_no_error (error);
  byte_level = dlp_json_get_type (dlp_json_get_member (root, "byte_level")) == DLP_JSON_TRUE;
  g_assert_cmpint (dlp_splitter_is_byte_level (splitter), ==, byte_level);
  if (dlp_splitter_get_pattern (splitter) == NULL)
    g_assert_false (
        dlp_json_read_uint (dlp_json_get_member (root, "kind"), G_MAXUINT, &kind, NULL));
  else
    {
      g_assert_true (
          dlp_json_read_uint (dlp_json_get_member (root, "kind"), G_MAXUINT, &kind, NULL));
      g_assert_cmpint (dlp_splitter_get_pattern (splitter)->kind, ==, kind);
    }

  at = dlp_json_get_first (list);
  for (guint i = 0; i < n; i++, at = dlp_json_get_next (at))
    check_case (splitter, pieces, at, byte_level);
}

/* What the reference cut, written down by cases/make-splitters.py. One room for all splitters. */
static void
test_cases (void)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "cases", "splitters.jsonl", NULL);
  g_autofree char *content = NULL;
  g_auto (GStrv) lines = NULL;
  DlpPieces pieces = { 0 };
  guint n = 0;

  g_assert_true (g_file_get_contents (path, &content, NULL, NULL));
  lines = g_strsplit (content, "\n", -1);
  for (guint i = 1; lines[i] && *lines[i]; i++, n++)
    check_line (lines[i], &pieces);
  g_assert_cmpuint (n, >, 100);
  dlp_pieces_clear (&pieces);
}

static void
test_errors (void)
{
  static const struct
  {
    const char *json;
    const char *wanted;
  } cases[] = {
    { "7", "file: at byte 0: a pre-tokenizer is a number, not an object" },
    { "{}", "a pre-tokenizer without \"type\"" },
    { "{\"type\":\"Magic\"}", "byte 9: the type of a pre-tokenizer is \"Magic\"; known are Bert" },
    { "{\"type\":\"Whitespace\",\"x\":1}", "unknown field \"x\"" },
    { "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Whitespace\"},{\"type\":1}]}",
      "the type of a pre-tokenizer is a number" },
    { "{\"type\":\"Sequence\"}", "\"pretokenizers\" is nothing" },
    { "{\"type\":\"Digits\"}", "no field \"individual_digits\"" },
    { "{\"type\":\"ByteLevel\",\"add_prefix_space\":0}", "is a number, not true or false" },
    { "{\"type\":\"FixedLength\",\"length\":0}", "at least 1" },
    { "{\"type\":\"FixedLength\",\"length\":-1}", "not a whole number" },
    { "{\"type\":\"CharDelimiterSplit\",\"delimiter\":\"ab\"}", "not one character" },
    { "{\"type\":\"CharDelimiterSplit\",\"delimiter\":\"\"}", "not one character" },
    { "{\"type\":\"Punctuation\",\"behavior\":\"Keep\"}", "\"Keep\"; known are Removed, Iso" },
    { "{\"type\":\"Split\",\"pattern\":\"a\",\"behavior\":\"Removed\",\"invert\":true}",
      "\"pattern\" is a string" },
    { "{\"type\":\"Split\",\"pattern\":{},\"behavior\":\"Removed\",\"invert\":true}",
      "not one of String and Regex" },
    { "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"\\\\X\"},\"behavior\":\"Removed\","
      "\"invert\":true}",
      "byte 36: pattern \"\\X\": at byte 1: an escape that is not supported" },
    { "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"a\\u0000\"},\"behavior\":\"Removed\","
      "\"invert\":true}",
      "nul" },
    { "{\"type\":\"Metaspace\",\"replacement\":\"_\",\"prepend_scheme\":\"last\"}",
      "\"last\"; known are never, first, always" },
    { "{\"type\":\"Metaspace\",\"replacement\":\"_\",\"prepend_scheme\":\"first\","
      "\"add_prefix_space\":false}",
      "contradict" },
    { "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"ByteLevel\",\"add_prefix_space\":"
      "false},{\"type\":\"Metaspace\",\"replacement\":\"_\"}]}",
      "Metaspace behind ByteLevel" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (DlpJsonTree) tree =
          dlp_json_tree_new (cases[i].json, strlen (cases[i].json), "file", NULL);

      g_assert_nonnull (tree);
      g_assert_null (dlp_splitter_new (dlp_json_tree_get_root (tree), FALSE, &error));
      g_assert_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_BAD_VOCABULARY);
      if (strstr (error->message, cases[i].wanted) == NULL)
        g_error ("\"%s\" does not say \"%s\"", error->message, cases[i].wanted);
    }
}

/* The text that a normalizer has written with letters; "\u0120" is a space. */
static void
test_letters (void)
{
  g_autoptr (DlpSplitter) none = new_splitter ("null", TRUE);
  g_autoptr (DlpSplitter) split = new_splitter ("{\"type\":\"CharDelimiterSplit\","
                                                "\"delimiter\":\"\u0120\"}",
                                                TRUE);
  g_autofree char *whole = NULL, *parts = NULL;
  DlpPieces pieces = { 0 };

  g_assert_true (dlp_splitter_is_byte_level (none));
  run (none, "a\u0120\u00e4\u00b8\u0143b\u4e2d", &pieces);
  whole = join (&pieces);
  g_assert_cmpstr (whole, ==,
                   "a \xe4\xb8\xad"
                   "b\u4e2d|");
  run (split, "a\u0120b\u0120\u00e4", &pieces);
  parts = join (&pieces);
  g_assert_cmpstr (parts, ==, "a|b|\xe4|");
  dlp_pieces_clear (&pieces);
}

/* Only the text at the very beginning takes the prefix of Metaspace "first". */
static void
test_first (void)
{
  g_autoptr (DlpSplitter) splitter = new_splitter (
      "{\"type\":\"Metaspace\",\"replacement\":\"_\",\"prepend_scheme\":\"first\"}", FALSE);
  g_autofree char *later = NULL;
  DlpPieces pieces = { 0 };

  g_assert_true (dlp_splitter_run (splitter, (const guint8 *) "a b", 3, FALSE, &pieces));
  later = join (&pieces);
  g_assert_cmpstr (later, ==, "a|_b|");
  dlp_pieces_clear (&pieces);
  assert_cut ("{\"type\":\"Metaspace\",\"replacement\":\"_\",\"prepend_scheme\":\"first\"}", "a b",
              "_a|_b|");
}

static char *
hash (const char *json)
{
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
  g_autoptr (DlpSplitter) splitter = new_splitter (json, FALSE);

  dlp_splitter_hash (splitter, checksum);
  return g_strdup (g_checksum_get_string (checksum));
}

/* Whatever decides what comes out makes another hash, and nothing else does. */
static void
test_hash (void)
{
  static const char *const all[] = {
    "null",
    "{\"type\":\"Whitespace\"}",
    "{\"type\":\"WhitespaceSplit\"}",
    "{\"type\":\"Digits\",\"individual_digits\":true}",
    "{\"type\":\"Digits\",\"individual_digits\":false}",
    "{\"type\":\"FixedLength\"}",
    "{\"type\":\"FixedLength\",\"length\":6}",
    "{\"type\":\"CharDelimiterSplit\",\"delimiter\":\"a\"}",
    "{\"type\":\"CharDelimiterSplit\",\"delimiter\":\"b\"}",
    "{\"type\":\"Metaspace\",\"replacement\":\"_\"}",
    "{\"type\":\"Metaspace\",\"replacement\":\"_\",\"prepend_scheme\":\"never\"}",
    "{\"type\":\"Metaspace\",\"replacement\":\"_\",\"split\":false}",
    "{\"type\":\"ByteLevel\",\"add_prefix_space\":false}",
    "{\"type\":\"ByteLevel\",\"add_prefix_space\":true}",
    "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":false}",
    "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"a+\"},\"behavior\":\"Removed\",\"invert\":true}",
    "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"a+\"},\"behavior\":\"Removed\",\"invert\":false}",
    "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"a*\"},\"behavior\":\"Removed\",\"invert\":true}",
    "{\"type\":\"Split\",\"pattern\":{\"String\":\"a+\"},\"behavior\":\"Removed\",\"invert\":true}",
  };
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autofree char *same = hash ("{\"type\":\"FixedLength\",\"length\":5}");

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    g_assert_true (g_hash_table_add (seen, hash (all[i])));
  g_assert_true (g_hash_table_contains (seen, same));
}

/* A pattern that tries too much is not waited for, and a long run does not need the stack. */
static void
test_limits (void)
{
  g_autoptr (DlpSplitter) bad = new_splitter (
      "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(?:a|aa)+[bc]\"},\"behavior\":\"Isolated\","
      "\"invert\":false}",
      FALSE);
  g_autoptr (DlpSplitter) good = new_splitter (
      "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(?:\\\\p{L}|\\\\s+(?!\\\\S))+\"},\"behavior\":"
      "\"Isolated\",\"invert\":false}",
      FALSE);
  g_autofree char *text = g_strnfill (300000, 'a');
  DlpPieces pieces = { 0 };

  g_assert_false (dlp_splitter_run (bad, (const guint8 *) text, 30000, TRUE, &pieces));
  run (good, text, &pieces);
  g_assert_cmpuint (pieces.n, ==, 1);
  dlp_pieces_clear (&pieces);
}

/* What a huge text needed is given back with the next one. */
static void
test_memory (void)
{
  g_autoptr (DlpSplitter) splitter =
      new_splitter ("{\"type\":\"Metaspace\",\"replacement\":\"\u2581\"}", FALSE);
  g_autofree char *text = g_strnfill (1 << 19, ' ');
  DlpPieces pieces = { 0 };

  run (splitter, text, &pieces);
  g_assert_cmpuint (pieces.n, ==, 1 << 19);
  run (splitter, "a", &pieces);
  g_assert_cmpuint (pieces.capacities[0] + pieces.capacities[1], <, 1 << 18);
  g_assert_true (pieces.texts[0]->len < 1000);
  dlp_pieces_clear (&pieces);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tokenizer/splitter/cases", test_cases);
  g_test_add_func ("/tokenizer/splitter/errors", test_errors);
  g_test_add_func ("/tokenizer/splitter/letters", test_letters);
  g_test_add_func ("/tokenizer/splitter/first", test_first);
  g_test_add_func ("/tokenizer/splitter/hash", test_hash);
  g_test_add_func ("/tokenizer/splitter/limits", test_limits);
  g_test_add_func ("/tokenizer/splitter/memory", test_memory);
  return g_test_run ();
}
