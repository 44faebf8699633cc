/* SPDX-License-Identifier: MIT */
#include "dlp-normalizer-unicode.h"
#include "dlp-normalizer.h"
#include "dlp-symbols.h"
#include "dlpipe/dlp-tokenizer.h"
#include "test-step.h"

#include <string.h>

/* cases/normalizer.json is made by make-normalizer-cases.py. */

static DlpNormalizer *
new_normalizer (const char *json, GError **error)
{
  g_autoptr (DlpJsonTree) tree = dlp_json_tree_new (json, strlen (json), "file", error);

  return tree ? dlp_normalizer_new (dlp_json_tree_get_root (tree), error) : NULL;
}

/* In room of exactly its size, so that a sanitizer sees a read behind its end. */
static void
assert_result (const DlpNormalizer *normalizer,
               DlpNormalizerScratch *scratch,
               const char *text,
               gsize len,
               const char *expected,
               gsize expected_len)
{
  g_autofree guint8 *copy = len > 0 ? g_memdup2 (text, len) : g_malloc (1);
  const guint8 *result = copy;

  g_assert_true (dlp_normalizer_run (normalizer, scratch, &result, &len));
  if (len != expected_len || memcmp (result, expected, len) != 0)
    g_test_message ("text \"%s\", expected \"%s\", got \"%.*s\"", text, expected, (int) len,
                    (const char *) result);
  g_assert_cmpmem (result, len, expected, expected_len);
}

static void
check_pairs (const DlpNormalizer *normalizer, DlpJsonNode pairs)
{
  DlpNormalizerScratch scratch = { 0 };
  DlpJsonNode pair = dlp_json_get_first (pairs);
  guint n = dlp_json_get_n_children (pairs);

  g_assert_cmpuint (n, >, 0);
  for (guint i = 0; i < n; i++)
    {
      DlpJsonNode text = dlp_json_get_first (pair);
      gsize len, expected_len;
      const char *bytes = dlp_json_get_string (text, &len);
      const char *expected = dlp_json_get_string (dlp_json_get_next (text), &expected_len);

      assert_result (normalizer, &scratch, bytes, len, expected, expected_len);
      if (i + 1 < n)
        pair = dlp_json_get_next (pair);
    }
  dlp_normalizer_scratch_clear (&scratch);
}

static void
hash_point (const DlpNormalizer *normalizer,
            DlpNormalizerScratch *scratch,
            GChecksum *checksum,
            const guint8 *text,
            gsize len)
{
  g_assert_true (dlp_normalizer_run (normalizer, scratch, &text, &len));
  if (len > 0)
    g_checksum_update (checksum, text, len);
  g_checksum_update (checksum, (const guchar *) "\n", 1);
}

/* All points, or a few of each page, whose hash is not known. */
static guint
point_step (void)
{
  return test_get_step () > 1 ? 61 : 1;
}

static void
check_points (const DlpNormalizer *normalizer, const char *expected)
{
  static const guint8 behind[] = "\xcc\xa3\xcc\x81"
                                 "b";
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
  DlpNormalizerScratch scratch = { 0 };
  guint step = point_step ();
  guint8 text[16] = "e", *end;

  for (guint between = 0; between < 2; between++)
    for (gunichar c = 0; c < 0x110000; c += step)
      {
        if (c >= 0xd800 && c < 0xe000)
          continue;
        end = dlp_utf8_write (text + 1, c);
        if (between)
          {
            memcpy (end, behind, 5);
            end += 5;
          }
        hash_point (normalizer, &scratch, checksum, text + !between, end - text - !between);
      }
  if (step == 1)
    g_assert_cmpstr (g_checksum_get_string (checksum), ==, expected);
  dlp_normalizer_scratch_clear (&scratch);
}

static DlpJsonTree *
load_cases (void)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "cases", "normalizer.json", NULL);
  g_autofree char *data = NULL;
  g_autoptr (GError) error = NULL;
  DlpJsonTree *tree;
  gsize size;

  g_file_get_contents (path, &data, &size, &error);
  g_assert_no_error (error);
  tree = dlp_json_tree_new (data, size, path, &error);
  g_assert_no_error (error);
  return tree;
}

typedef void (*CheckEntry) (const DlpNormalizer *normalizer, DlpJsonNode entry);

static void
for_each_entry (const char *kind,
                DlpNormalizer *(*create) (DlpJsonNode node, DlpJsonNode entry),
                CheckEntry check)
{
  g_autoptr (DlpJsonTree) tree = load_cases ();
  DlpJsonNode root = dlp_json_tree_get_root (tree);
  DlpJsonNode entry = dlp_json_get_first (root);
  guint n = dlp_json_get_n_children (root), n_of_kind = 0;

  for (guint i = 0; i < n; i++)
    {
      DlpJsonNode node = dlp_json_get_member (entry, kind);

      if (dlp_json_get_type (node) != DLP_JSON_NONE)
        {
          g_autoptr (DlpNormalizer) normalizer = create (node, entry);

          g_test_message ("entry %u", i);
          check (normalizer, entry);
          n_of_kind++;
        }
      if (i + 1 < n)
        entry = dlp_json_get_next (entry);
    }
  g_assert_cmpuint (n_of_kind, >=, 10);
}

static DlpNormalizer *
create_from_json (DlpJsonNode node, DlpJsonNode entry)
{
  g_autoptr (GError) error = NULL;
  DlpNormalizer *normalizer = dlp_normalizer_new (node, &error);

  g_assert_no_error (error);
  return normalizer;
}

static DlpNormalizer *
create_sentencepiece (DlpJsonNode node, DlpJsonNode entry)
{
  g_autoptr (GPtrArray) symbols = g_ptr_array_new ();
  g_autoptr (GError) error = NULL;
  DlpJsonNode list = dlp_json_get_member (entry, "symbols");
  DlpJsonNode at = dlp_json_get_first (list);
  g_autofree guchar *charsmap = NULL;
  DlpNormalizer *normalizer;
  guint64 flags;
  gsize size;

  for (guint i = 0; i < dlp_json_get_n_children (list); i++)
    {
      g_ptr_array_add (symbols, (gpointer) dlp_json_get_string (at, NULL));
      at = dlp_json_get_next (at);
    }
  g_ptr_array_add (symbols, NULL);
  g_assert_true (dlp_json_read_uint (dlp_json_get_member (entry, "flags"), 15, &flags, NULL));
  charsmap = g_base64_decode (dlp_json_get_string (node, NULL), &size);
  normalizer = dlp_normalizer_new_sentencepiece (
      charsmap, size, (const char *const *) symbols->pdata, flags, "file", &error);
  g_assert_no_error (error);
  return normalizer;
}

static void
check_entry_pairs (const DlpNormalizer *normalizer, DlpJsonNode entry)
{
  check_pairs (normalizer, dlp_json_get_member (entry, "cases"));
}

static void
check_entry_points (const DlpNormalizer *normalizer, DlpJsonNode entry)
{
  check_points (normalizer, dlp_json_get_string (dlp_json_get_member (entry, "points"), NULL));
}

static void
test_cases (void)
{
  for_each_entry ("normalizer", create_from_json, check_entry_pairs);
}

static void
test_points (void)
{
  for_each_entry ("normalizer", create_from_json, check_entry_points);
}

static void
test_sentencepiece (void)
{
  for_each_entry ("sentencepiece", create_sentencepiece, check_entry_pairs);
}

static void
assert_stable (const char *json, const char *text)
{
  g_autoptr (DlpNormalizer) normalizer = new_normalizer (json, NULL);
  DlpNormalizerScratch scratch = { 0 };
  const guint8 *result = (const guint8 *) text;
  gsize len = strlen (text);

  g_assert_nonnull (normalizer);
  g_assert_true (dlp_normalizer_run (normalizer, &scratch, &result, &len));
  g_assert_true (result == (const guint8 *) text);
  g_assert_cmpuint (len, ==, strlen (text));
  g_assert_null (scratch.texts[0].bytes);
  dlp_normalizer_scratch_clear (&scratch);
}

/* What needs no change is not copied. */
static void
test_no_copy (void)
{
  assert_stable ("{\"type\": \"NFC\"}",
                 "Hello, wörld! Привет 中文。かな 한국어 ภาษาไทยที่ বাংলা עִבְרִית");
  assert_stable ("{\"type\": \"NFD\"}", "Hello, wo\xcc\x88rld! 中文");
  assert_stable ("{\"type\": \"NFKC\"}", "naïve 中文");
  assert_stable ("{\"type\": \"Lowercase\"}", "hello, wörld! привет 中文, longer than a block");
  assert_stable ("{\"type\": \"Replace\", \"pattern\": {\"String\": \" \"}, \"content\": \"_\"}",
                 "hello");
  assert_stable ("{\"type\": \"Replace\", \"pattern\": {\"Regex\": \" {2,}\"}, \"content\": \" \"}",
                 "hello world");
  assert_stable ("{\"type\": \"Sequence\", \"normalizers\": [{\"type\": \"NFC\"}, "
                 "{\"type\": \"Strip\", \"strip_left\": true, \"strip_right\": true}]}",
                 "hello world");
}

/* Blocks that are skipped have nothing of the set in them, wherever in a block it is; and where all
 * is quiet, all blocks are skipped. */
static void
test_blocks (void)
{
  guint8 text[160];

  for (gunichar c = 0x80; c < 0x30000; c += point_step ())
    {
      if ((c >= 0xd800 && c < 0xe000) || !dlp_page_set_has (&dlp_nfc_set, c))
        continue;
      for (gsize at = 0; at < 40; at++)
        {
          guint8 *end;

          memset (text, 'x', sizeof text);
          end = dlp_utf8_write (text + at, c);
          g_assert_true (dlp_nfc_skip (text, text + sizeof text) <= text + at);
          g_assert_true (dlp_nfc_skip (text, end) <= text + at);
        }
    }
}

/* At each place of a block, up to the very end of what may be read. */
static void
test_alignment (void)
{
  static const char *const fills[] = { "x", "\xc3\xb6", "\xe4\xb8\xad", "\xf0\x9f\x98\x80" };
  g_autoptr (DlpNormalizer) normalizer = new_normalizer ("{\"type\": \"NFC\"}", NULL);
  DlpNormalizerScratch scratch = { 0 };

  for (guint i = 0; i < G_N_ELEMENTS (fills); i++)
    for (guint before = 0; before < 70; before++)
      for (guint behind = 0; behind < 40; behind += 1 + (behind > 5) * 9)
        {
          g_autoptr (GString) text = g_string_new (NULL);
          g_autoptr (GString) expected = g_string_new (NULL);

          for (guint j = 0; j < before; j++)
            g_string_append (text, fills[i]);
          g_string_append (expected, text->str);
          g_string_append (text, "e\xcc\x81");
          g_string_append (expected, "\xc3\xa9");
          for (guint j = 0; j < behind; j++)
            {
              g_string_append (text, fills[i]);
              g_string_append (expected, fills[i]);
            }
          assert_result (normalizer, &scratch, text->str, text->len, expected->str, expected->len);
        }
  dlp_normalizer_scratch_clear (&scratch);
}

/* Sequences nest as deep as JSON may. */
static void
test_nested (void)
{
  g_autoptr (GString) json = g_string_new ("{\"type\": \"Lowercase\"}");
  g_autoptr (DlpNormalizer) normalizer = NULL;
  DlpNormalizerScratch scratch = { 0 };

  for (guint i = 0; i < 63; i++)
    {
      g_string_prepend (json, "{\"type\": \"Sequence\", \"normalizers\": [");
      g_string_append (json, "]}");
    }
  normalizer = new_normalizer (json->str, NULL);
  g_assert_nonnull (normalizer);
  assert_result (normalizer, &scratch, "ABC", 3, "abc", 3);
  g_assert_false (dlp_normalizer_is_byte_level (normalizer));
  dlp_normalizer_scratch_clear (&scratch);
}

static char *
get_hash (const DlpNormalizer *normalizer)
{
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);

  dlp_normalizer_hash (normalizer, checksum);
  return g_strdup (g_checksum_get_string (checksum));
}

static void
test_hash (void)
{
  static const char *const descriptions[] = {
    "{\"type\": \"NFC\"}",
    "{\"type\": \"NFD\"}",
    "{\"type\": \"Strip\", \"strip_left\": true, \"strip_right\": true}",
    "{\"type\": \"Strip\", \"strip_left\": true, \"strip_right\": false}",
    "{\"type\": \"Replace\", \"pattern\": {\"String\": \"ab\"}, \"content\": \"c\"}",
    "{\"type\": \"Replace\", \"pattern\": {\"String\": \"a\"}, \"content\": \"bc\"}",
    "{\"type\": \"Replace\", \"pattern\": {\"Regex\": \"a\"}, \"content\": \"bc\"}",
    "{\"type\": \"ByteLevel\"}",
    "{\"type\": \"Sequence\", \"normalizers\": []}",
  };
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (descriptions); i++)
    {
      g_autoptr (DlpNormalizer) normalizer = new_normalizer (descriptions[i], NULL);
      g_autoptr (DlpNormalizer) again = new_normalizer (descriptions[i], NULL);
      g_autofree char *hash = get_hash (again);

      g_assert_cmpint (dlp_normalizer_is_byte_level (normalizer), ==, i == 7);
      g_assert_true (g_hash_table_add (seen, get_hash (normalizer)));
      g_assert_true (g_hash_table_contains (seen, hash));
    }
}

#define N_MARKS ((gsize) 1 << 18)

static void
check_marks (const char *type, const char *start, const GString *text)
{
  g_autofree char *json = g_strdup_printf ("{\"type\": \"%s\"}", type);
  g_autoptr (DlpNormalizer) normalizer = new_normalizer (json, NULL);
  g_autoptr (GString) expected = g_string_new (start);
  DlpNormalizerScratch scratch = { 0 };

  for (gsize i = 1; i < N_MARKS; i++)
    g_string_append (expected, "\xcc\xa3");
  for (gsize i = 0; i < N_MARKS; i++)
    g_string_append (expected, "\xcc\x81");
  assert_result (normalizer, &scratch, text->str, text->len, expected->str, expected->len);
  g_assert_cmpuint (scratch.size_points, >=, 2 * N_MARKS);

  /* What a long text needed is given back. */
  assert_result (normalizer, &scratch, "e", 1, "e", 1);
  g_assert_cmpuint (scratch.size_points, ==, 0);
  g_assert_cmpuint (scratch.texts[0].size + scratch.texts[1].size, <=, 2 << 20);
  dlp_normalizer_scratch_clear (&scratch);
}

/* A starter and half a million marks, of classes that fall again and again. */
static void
test_marks (void)
{
  g_autoptr (GString) text = g_string_new ("a");

  for (gsize i = 0; i < N_MARKS; i++)
    g_string_append (text, "\xcc\x81\xcc\xa3");
  check_marks ("NFC", "\xe1\xba\xa1", text);
  check_marks ("NFKC", "\xe1\xba\xa1", text);
  check_marks ("NFD", "a\xcc\xa3", text);
  check_marks ("NFKD", "a\xcc\xa3", text);
}

static void
test_faults (void)
{
  static const struct
  {
    const char *json;
    const char *message;
  } cases[] = {
    { "[]", "file: at byte 0: a normalizer is an array, not an object" },
    { "{}", "file: at byte 0: a normalizer without \"type\"" },
    { "{\"type\": 1}", "file: at byte 9: \"type\" is a number, not a string" },
    { "{\"type\": \"nfc\"}",
      "file: at byte 10: unknown normalizer \"nfc\"; known are BertNormalizer, ByteLevel, "
      "Lowercase, NFC, NFD, NFKC, NFKD, Nmt, Precompiled, Prepend, Replace, Sequence, Strip, "
      "StripAccents" },
    { "{\"type\": \"NFC\", \"x\": 1}", "file: at byte 17: unknown field \"x\"; known are type" },
    { "{\"type\": \"Strip\", \"strip_left\": true}", "file: at byte 0: no field \"strip_right\"" },
    { "{\"type\": \"Strip\", \"strip_left\": 1, \"strip_right\": true}",
      "file: at byte 32: \"strip_left\" is a number, not true or false" },
    { "{\"type\": \"Prepend\", \"prepend\": null}",
      "file: at byte 31: \"prepend\" is null, not a string" },
    { "{\"type\": \"Prepend\"}", "file: at byte 0: no field \"prepend\"" },
    { "{\"type\": \"Sequence\", \"normalizers\": [null]}",
      "file: at byte 37: a normalizer is null, not an object" },
    { "{\"type\": \"Sequence\", \"normalizers\": null}",
      "file: at byte 36: \"normalizers\" is null, not an array" },
    { "{\"type\": \"Replace\", \"pattern\": \"a\", \"content\": \"\"}",
      "file: at byte 32: \"pattern\" is a string, not an object" },
    { "{\"type\": \"Replace\", \"pattern\": {}, \"content\": \"\"}",
      "file: at byte 31: \"pattern\" has 0 fields, not one of \"String\" and \"Regex\"" },
    { "{\"type\": \"Replace\", \"pattern\": {\"Glob\": \"a\"}, \"content\": \"\"}",
      "file: at byte 31: no field \"String\"" },
    { "{\"type\": \"Replace\", \"pattern\": {\"String\": \"a\"}}",
      "file: at byte 0: no field \"content\"" },
    { "{\"type\": \"Replace\", \"pattern\": {\"Regex\": \"a\\u0000\"}, \"content\": \"\"}",
      "file: at byte 42: a regular expression with a nul" },
    { "{\"type\": \"BertNormalizer\", \"clean_text\": true, \"handle_chinese_chars\": true, "
      "\"strip_accents\": 0, \"lowercase\": true}",
      "file: at byte 94: \"strip_accents\" is a number, not true or false" },
    { "{\"type\": \"BertNormalizer\", \"clean_text\": true, \"handle_chinese_chars\": true}",
      "file: at byte 0: no field \"lowercase\"" },
    { "{\"type\": \"Precompiled\", \"precompiled_charsmap\": \"AAA\"}",
      "file: at byte 49: \"precompiled_charsmap\" is not base64" },
    { "{\"type\": \"Precompiled\", \"precompiled_charsmap\": \"A?==\"}",
      "file: at byte 49: \"precompiled_charsmap\" is not base64" },
    { "{\"type\": \"Precompiled\", \"precompiled_charsmap\": \"\"}",
      "file: at byte 49: \"precompiled_charsmap\" is damaged: no size of a trie" },
    { "{\"type\": \"Precompiled\", \"precompiled_charsmap\": \"CAAAAAAAAAA=\"}",
      "file: at byte 49: \"precompiled_charsmap\" is damaged: a trie of a size that cannot be" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (new_normalizer (cases[i].json, &error));
      g_assert_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_BAD_VOCABULARY);
      g_assert_cmpstr (error->message, ==, cases[i].message);
    }
}

/* Units of a trie: the label of the edge to it, whether it has a leaf, how far its children are. */
#define UNIT(label, leaf, offset) ((label) | (leaf) << 8 | (guint32) (offset) << 10)

static void
assert_charsmap_fault (const guint32 *units,
                       guint n_units,
                       const char *strings,
                       gsize len,
                       const char *fault)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpNormalizer) normalizer = NULL;
  guint32 size = GUINT32_TO_LE (4 * n_units);

  g_byte_array_append (bytes, (guint8 *) &size, 4);
  for (guint i = 0; i < n_units; i++)
    {
      guint32 unit = GUINT32_TO_LE (units[i]);

      g_byte_array_append (bytes, (guint8 *) &unit, 4);
    }
  g_byte_array_append (bytes, (const guint8 *) strings, len);
  normalizer =
      dlp_normalizer_new_sentencepiece (bytes->data, bytes->len, NULL, 0, "m.model", &error);
  if (fault == NULL)
    {
      g_assert_no_error (error);
      g_assert_nonnull (normalizer);
      return;
    }
  g_assert_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_BAD_VOCABULARY);
  g_assert_true (
      g_str_has_prefix (error->message, "m.model: its precompiled_charsmap is damaged: "));
  g_assert_cmpstr (strrchr (error->message, ':') + 2, ==, fault);
}

/* A trie of the key "a": unit 0 leads to 96 ^ 'a' = 1, whose leaf is at 1 ^ 3 = 2. */
static void
test_charsmap_faults (void)
{
  guint32 units[3] = { UNIT (0, 0, 96), UNIT ('a', 1, 3), 1u << 31 };

  assert_charsmap_fault (units, 3, "b", 2, NULL);
  assert_charsmap_fault (units, 3, "", 0, "a string that is not in the file");
  assert_charsmap_fault (units, 3, "\xff", 2, "a string that is not UTF-8");
  units[2] |= 1;
  assert_charsmap_fault (units, 3, "\xc3\xa9", 3, "a string that begins inside a character");
  units[1] = UNIT ('a', 1, 300);
  assert_charsmap_fault (units, 3, "b", 2, "a trie that leads out of itself");
  units[0] |= 1 << 8;
  assert_charsmap_fault (units, 3, "b", 2, "a trie that leads out of itself");
}

static void
test_symbols (void)
{
  const char *const strings[] = { "abc", "", "a", "abcde", "b", "\xc3\xa9", "abd", NULL };
  g_autoptr (DlpSymbols) symbols = dlp_symbols_new (strings);
  static const struct
  {
    const char *text;
    gsize len;
  } cases[] = { { "", 0 },     { "x", 0 },         { "a", 1 },       { "ab", 1 },  { "abc", 3 },
                { "abcd", 3 }, { "abcde", 5 },     { "abcdef", 5 },  { "abd", 3 }, { "abe", 1 },
                { "ba", 1 },   { "\xc3\xa9x", 2 }, { "\xc3\xa8", 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_cmpuint (
        dlp_symbols_match (symbols, (const guint8 *) cases[i].text, strlen (cases[i].text)), ==,
        cases[i].len);
  g_assert_cmpuint (dlp_symbols_match (symbols, (const guint8 *) "a\0", 2), ==, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/normalizer/cases", test_cases);
  g_test_add_func ("/normalizer/points", test_points);
  g_test_add_func ("/normalizer/sentencepiece", test_sentencepiece);
  g_test_add_func ("/normalizer/no-copy", test_no_copy);
  g_test_add_func ("/normalizer/blocks", test_blocks);
  g_test_add_func ("/normalizer/alignment", test_alignment);
  g_test_add_func ("/normalizer/nested", test_nested);
  g_test_add_func ("/normalizer/hash", test_hash);
  g_test_add_func ("/normalizer/marks", test_marks);
  g_test_add_func ("/normalizer/faults", test_faults);
  g_test_add_func ("/normalizer/charsmap-faults", test_charsmap_faults);
  g_test_add_func ("/normalizer/symbols", test_symbols);
  return g_test_run ();
}
