/* SPDX-License-Identifier: MIT */
#include "dlp-detokenizer.h"
#include "load.h"

#include <string.h>

/* @node: [ids, text] */
static void
check_case (DlpTokenizer *tokenizer, DlpJsonNode node, const char *where)
{
  g_autoptr (GArray) ids = read_ids (dlp_json_get_first (node));
  g_autoptr (GString) out = g_string_new ("before ");
  g_autoptr (GError) error = NULL;
  gsize len;
  const char *wanted = dlp_json_get_string (dlp_json_get_next (dlp_json_get_first (node)), &len);

  dlp_tokenizer_decode (tokenizer, (const guint32 *) (gpointer) ids->data, ids->len, out, &error);
  g_assert_no_error (error);
  if (out->len != strlen ("before ") + len ||
      memcmp (out->str + strlen ("before "), wanted, len) != 0)
    g_error ("%.2000s: byte %" G_GSIZE_FORMAT ": \"%s\", not \"%s\"", where,
             dlp_json_get_position (node), out->str, wanted);
}

static guint
check_line (const char *line)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpJsonTree) tree = dlp_json_tree_new (line, strlen (line), "line", &error);
  g_autoptr (DlpTokenizer) tokenizer = NULL;
  DlpJsonNode root, cases, at, json, model;
  gsize len;

  g_assert_no_error (error);
  root = dlp_json_tree_get_root (tree);
  json = dlp_json_get_member (root, "tokenizer");
  model = dlp_json_get_member (root, "model");
  if (dlp_json_get_type (json) == DLP_JSON_STRING)
    {
      const char *content = dlp_json_get_string (json, &len);

      tokenizer = load_as ("model", content, len, &error);
    }
  else
    {
      g_autofree guint8 *data = g_base64_decode (dlp_json_get_string (model, NULL), &len);

      tokenizer = load_as ("model", data, len, &error);
    }
  g_assert_no_error (error);

  cases = dlp_json_get_member (root, "cases");
  at = dlp_json_get_first (cases);
  for (guint n = dlp_json_get_n_children (cases); n > 0; n--)
    {
      check_case (tokenizer, at, line);
      at = dlp_json_get_next (at);
    }
  return dlp_json_get_n_children (cases);
}

/* Texts of the originals; see cases/make-decoders.py. */
static void
test_cases (void)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "cases", "decoders.jsonl", NULL);
  g_autofree char *content = NULL;
  g_auto (GStrv) lines = NULL;
  guint n = 0;

  g_assert_true (g_file_get_contents (path, &content, NULL, NULL));
  lines = g_strsplit (content, "\n", -1);
  for (guint i = 0; lines[i]; i++)
    if (*lines[i])
      n += check_line (lines[i]);
  g_assert_cmpuint (n, >=, 1000);
}

static const char head[] = "{\"model\":{\"type\":\"WordLevel\",\"vocab\":{\"▁a\":0,\"<0xC3>\":1},"
                           "\"unk_token\":\"▁a\"},\"decoder\":";

static void
assert_refused (const char *decoder, const char *part)
{
  g_autofree char *json = g_strconcat (head, decoder, "}", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpTokenizer) tokenizer = load_as ("model", json, strlen (json), &error);

  g_assert_null (tokenizer);
  g_assert_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_BAD_VOCABULARY);
  if (strstr (error->message, part) == NULL || strstr (error->message, "byte") == NULL)
    g_error ("“%s” is not in: %s", part, error->message);
}

static void
test_refused (void)
{
  assert_refused ("{\"type\":\"Nope\"}", "unknown decoder \"Nope\"");
  assert_refused ("{\"type\":\"Fuse\",\"x\":1}", "unknown field \"x\"");
  assert_refused ("{}", "a decoder without \"type\"");
  assert_refused ("\"Fuse\"", "a decoder");
  assert_refused ("{\"type\":7}", "\"type\" of a decoder");
  assert_refused ("{\"type\":\"Sequence\"}", "no field \"decoders\"");
  assert_refused ("{\"type\":\"Sequence\",\"decoders\":{}}", "\"decoders\"");
  assert_refused ("{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Fuse\"},{\"type\":\"No\"}]}",
                  "unknown decoder \"No\"");
  assert_refused ("{\"type\":\"WordPiece\",\"prefix\":\"##\"}", "no field \"cleanup\"");
  assert_refused ("{\"type\":\"BPEDecoder\"}", "no field \"suffix\"");
  assert_refused ("{\"type\":\"CTC\",\"pad_token\":\"p\",\"cleanup\":true}",
                  "no field \"word_delimiter_token\"");
  assert_refused ("{\"type\":\"Strip\",\"content\":\"ab\",\"start\":1,\"stop\":0}",
                  "not one character");
  assert_refused ("{\"type\":\"Strip\",\"content\":\" \",\"start\":-1,\"stop\":0}",
                  "not a whole number");
  assert_refused ("{\"type\":\"Metaspace\"}", "no field \"replacement\"");
  assert_refused ("{\"type\":\"Metaspace\",\"replacement\":\"_\",\"prepend_scheme\":\"x\"}",
                  "unknown \"prepend_scheme\"");
  assert_refused ("{\"type\":\"Metaspace\",\"replacement\":\"_\",\"prepend_scheme\":\"first\","
                  "\"add_prefix_space\":false}",
                  "contradict");
  assert_refused ("{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"(\"},\"content\":\"\"}", "(");
}

/* What comes before a bad id is decoded; single tokens stay as they are. */
static void
test_bad_id (void)
{
  g_autofree char *json = g_strconcat (head, "{\"type\":\"ByteFallback\"}}", NULL);
  g_autoptr (GString) out = g_string_new ("x");
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpTokenizer) tokenizer = load_as ("model", json, strlen (json), &error);
  const guint32 ids[] = { 0, 1, 2, 0 };
  gsize len;

  g_assert_no_error (error);
  g_assert_false (dlp_tokenizer_decode (tokenizer, ids, 4, out, &error));
  g_assert_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_BAD_ID);
  g_assert_nonnull (strstr (error->message, "id 2 at position 2"));
  g_assert_cmpstr (out->str, ==, "x▁a\357\277\275");
  g_assert_cmpint (memcmp (dlp_tokenizer_get_token (tokenizer, 1, &len), "<0xC3>", 6), ==, 0);
  g_assert_cmpuint (len, ==, 6);
  g_assert_true (dlp_tokenizer_decode (tokenizer, NULL, 0, out, NULL));
  g_assert_cmpstr (out->str, ==, "x▁a\357\277\275");
}

/* Time and memory follow the number of tokens. */
static void
test_long (void)
{
  g_autofree char *json = g_strconcat (
      head,
      "{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Replace\",\"pattern\":{\"String\":\"▁\"},"
      "\"content\":\" \"},{\"type\":\"ByteFallback\"},{\"type\":\"Fuse\"},{\"type\":\"Strip\","
      "\"content\":\" \",\"start\":1,\"stop\":0}]}}",
      NULL);
  g_autoptr (GString) out = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpTokenizer) tokenizer = load_as ("model", json, strlen (json), &error);
  gsize n = 300000;
  g_autofree guint32 *ids = g_new0 (guint32, n);

  g_assert_no_error (error);
  g_assert_true (dlp_tokenizer_decode (tokenizer, ids, n, out, NULL));
  g_assert_cmpuint (out->len, ==, 2 * n - 1);
  g_string_truncate (out, 0);
  memset (ids, 0, n * sizeof *ids);
  for (gsize i = 0; i < n; i++)
    ids[i] = 1;
  g_assert_true (dlp_tokenizer_decode (tokenizer, ids, n, out, NULL));
  g_assert_cmpuint (out->len, ==, 3 * n);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/decode/cases", test_cases);
  g_test_add_func ("/decode/refused", test_refused);
  g_test_add_func ("/decode/bad-id", test_bad_id);
  g_test_add_func ("/decode/long", test_long);
  return g_test_run ();
}
