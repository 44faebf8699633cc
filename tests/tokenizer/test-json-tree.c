/* SPDX-License-Identifier: MIT */
#include "dlp-json-tree.h"
#include "dlpipe/dlp-tokenizer.h"

#include <string.h>

static DlpJsonTree *
parse (const char *text)
{
  g_autoptr (GError) error = NULL;
  DlpJsonTree *tree = dlp_json_tree_new (text, strlen (text), "file", &error);

  g_assert_no_error (error);
  return tree;
}

static void
assert_fails (const char *text, gsize len, const char *message)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpJsonTree) tree = dlp_json_tree_new (text, len, "file", &error);

  g_assert_null (tree);
  g_assert_error (error, DLP_TOKENIZER_ERROR, DLP_TOKENIZER_ERROR_BAD_VOCABULARY);
  g_assert_cmpstr (error->message, ==, message);
}

static void
test_values (void)
{
  g_autoptr (DlpJsonTree) tree = parse (" {\"a\": [1, -2.5e1, true, null, {}], \"b\": \"x\", "
                                        "\"a\": [7, []]} ");
  DlpJsonNode root = dlp_json_tree_get_root (tree);
  DlpJsonNode list = dlp_json_get_member (root, "a"), at;
  g_autoptr (GError) error = NULL;
  guint64 value;
  double number;

  g_assert_cmpint (dlp_json_get_type (root), ==, DLP_JSON_OBJECT);
  g_assert_cmpuint (dlp_json_get_n_children (root), ==, 3);
  g_assert_cmpuint (dlp_json_get_n_children (list), ==, 2);
  at = dlp_json_get_first (list);
  g_assert_true (dlp_json_read_uint (at, 7, &value, &error));
  g_assert_cmpuint (value, ==, 7);
  g_assert_false (dlp_json_read_uint (at, 6, &value, &error));
  g_assert_cmpstr (error->message, ==, "file: at byte 52: 7 is not a whole number from 0 to 6");
  g_assert_cmpint (dlp_json_get_type (dlp_json_get_next (at)), ==, DLP_JSON_ARRAY);
  g_assert_cmpint (dlp_json_get_type (dlp_json_get_first (dlp_json_get_next (at))), ==,
                   DLP_JSON_NONE);

  list = dlp_json_get_next (dlp_json_get_first (root));
  g_assert_cmpuint (dlp_json_get_n_children (list), ==, 5);
  g_assert_true (
      dlp_json_read_double (dlp_json_get_next (dlp_json_get_first (list)), &number, NULL));
  g_assert_cmpfloat (number, ==, -25);
  g_assert_cmpint (dlp_json_get_type (dlp_json_get_member (root, "c")), ==, DLP_JSON_NONE);
  g_assert_true (dlp_json_is_string (dlp_json_get_member (root, "b"), "x"));
}

static void
test_strings (void)
{
  g_autoptr (DlpJsonTree) tree = parse (
      "[\"a\\u0000b\", \"\\\"\\\\\\/\\b\\f\\n\\r\\t\", \"\\u00e9\\uD83D\\ude00\xe4\xb8\xad\"]");
  DlpJsonNode at = dlp_json_get_first (dlp_json_tree_get_root (tree));
  const char *string;
  gsize len;

  string = dlp_json_get_string (at, &len);
  g_assert_cmpmem (string, len, "a\0b", 3);
  at = dlp_json_get_next (at);
  g_assert_cmpstr (dlp_json_get_string (at, &len), ==, "\"\\/\b\f\n\r\t");
  at = dlp_json_get_next (at);
  g_assert_cmpstr (dlp_json_get_string (at, &len), ==, "é😀中");
  g_assert_cmpuint (len, ==, 9);
}

static void
test_members (void)
{
  const char *const known[] = { "type", "id", NULL };
  g_autoptr (DlpJsonTree) tree = parse ("{\"type\": 1, \"on\": true, \"idd\": null}");
  DlpJsonNode root = dlp_json_tree_get_root (tree);
  g_autoptr (GError) error = NULL;
  gboolean value = FALSE;

  g_assert_false (dlp_json_check_members (root, known, &error));
  g_assert_cmpstr (error->message, ==,
                   "file: at byte 13: unknown field \"on\"; known are type, id");
  g_clear_error (&error);
  g_assert_true (dlp_json_read_boolean (root, "on", -1, &value, &error) && value);
  g_assert_true (dlp_json_read_boolean (root, "off", TRUE, &value, &error) && value);
  g_assert_true (dlp_json_read_boolean (root, "idd", FALSE, &value, &error) && !value);
  g_assert_false (dlp_json_read_boolean (root, "off", -1, &value, &error));
  g_assert_cmpstr (error->message, ==, "file: at byte 0: no field \"off\"");
  g_clear_error (&error);
  g_assert_false (dlp_json_read_boolean (root, "type", FALSE, &value, &error));
  g_assert_cmpstr (error->message, ==, "file: at byte 9: \"type\" is a number, not true or false");
  g_clear_error (&error);
  g_assert_false (
      dlp_json_check_type (dlp_json_get_member (root, "x"), DLP_JSON_ARRAY, "\"x\"", &error));
  g_assert_cmpstr (error->message, ==, "file: at byte 0: \"x\" is nothing, not an array");
}

static void
test_faults (void)
{
  static const struct
  {
    const char *text;
    const char *message;
  } cases[] = {
    { "", "file: at byte 0: not JSON: a value was expected" },
    { "{\"a\"", "file: at byte 4: not JSON: a colon was expected" },
    { "{1:2}", "file: at byte 1: not JSON: a key was expected" },
    { "{\"a\":1,}", "file: at byte 7: not JSON: a key was expected" },
    { "[1,]", "file: at byte 3: not JSON: a value was expected" },
    { "[1 2]", "file: at byte 3: not JSON: a comma or the end of the list was expected" },
    { "[1", "file: at byte 2: not JSON: a comma or the end of the list was expected" },
    { "nul", "file: at byte 0: not JSON: a value was expected" },
    { "01", "file: at byte 0: not JSON: a number that begins with 0" },
    { "-", "file: at byte 1: not JSON: a value was expected" },
    { "1.", "file: at byte 2: not JSON: a digit was expected" },
    { "1e+", "file: at byte 3: not JSON: a digit was expected" },
    { "\"a", "file: at byte 2: the end of the file inside a string" },
    { "\"\\", "file: at byte 2: the end of the file inside a string" },
    { "\"\\q\"", "file: at byte 2: an escape that JSON does not have" },
    { "\"\n\"", "file: at byte 1: a control character inside a string" },
    { "\"\\u12g4\"", "file: at byte 3: \\u without four hexadecimal digits" },
    { "\"\\ud800x\"", "file: at byte 3: half a surrogate pair" },
    { "\"\\ud800\\u0041\"", "file: at byte 3: half a surrogate pair" },
    { "\"\\udc00\"", "file: at byte 3: half a surrogate pair" },
    { "1 2", "file: at byte 2: not JSON: something behind the value" },
    { "\"\xff\"", "file: at byte 1: not UTF-8, or a nul" },
  };
  g_autoptr (GString) deep = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_fails (cases[i].text, strlen (cases[i].text), cases[i].message);
  assert_fails ("\"\\\0\"", 4, "file: at byte 2: not UTF-8, or a nul");

  for (guint i = 0; i < 129; i++)
    g_string_append_c (deep, '[');
  assert_fails (deep->str, deep->len, "file: at byte 128: nested more than 128 deep");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/json-tree/values", test_values);
  g_test_add_func ("/json-tree/strings", test_strings);
  g_test_add_func ("/json-tree/members", test_members);
  g_test_add_func ("/json-tree/faults", test_faults);
  return g_test_run ();
}
