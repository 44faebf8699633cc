/* SPDX-License-Identifier: MIT */

#include <math.h>
#include <string.h>

#include <dlpipe/dlp-json.h>

typedef struct
{
  const char *text;
  const char *variant; /* NULL: it is not JSON */
} Case;

static const Case cases[] = {
  { "null", "@mv nothing" },
  { " true ", "true" },
  { "false\n", "false" },
  { "0", "int64 0" },
  { "-0", "int64 0" },
  { "-12", "int64 -12" },
  { "9223372036854775807", "int64 9223372036854775807" },
  { "9223372036854775808", "uint64 9223372036854775808" },
  { "18446744073709551615", "uint64 18446744073709551615" },
  { "18446744073709551616", "18446744073709551616.0" },
  { "-9223372036854775808", "int64 -9223372036854775808" },
  { "1.5", "1.5" },
  { "1e2", "100.0" },
  { "1E+2", "100.0" },
  { "0.25e-1", "0.025" },
  { "\"\"", "''" },
  { "\"a\\\"\\\\\\/\\b\\f\\n\\r\\tz\"", "'a\"\\\\/\\b\\f\\n\\r\\tz'" },
  { "\"\\u00e9\\u4e16\"", "'é世'" },
  { "\"\\ud83d\\ude00\"", "'\360\237\230\200'" },
  { "\"\\ud83dx\"", "'\357\277\275x'" },
  { "\"\\ude00\"", "'\357\277\275'" },
  { "\"\\ud83d\\u0041\"", "'\357\277\275A'" },
  { "\"é\"", "'é'" },
  { "[]", "@av []" },
  { "[1,\"a\" , [ ] ]", "[<int64 1>, <'a'>, <@av []>]" },
  { "{}", "@a{sv} {}" },
  { "{\"a\":1,\"b\":{\"c\":[true]}}", "{'a': <int64 1>, 'b': <{'c': <[<true>]>}>}" },
  { "{ \"a\" : null }", "{'a': <@mv nothing>}" },
  { "", NULL },
  { " ", NULL },
  { "nul", NULL },
  { "nulll", NULL },
  { "01", NULL },
  { "+1", NULL },
  { "1.", NULL },
  { ".5", NULL },
  { "1e", NULL },
  { "-", NULL },
  { "0x1", NULL },
  { "NaN", NULL },
  { "\"a", NULL },
  { "\"\\x\"", NULL },
  { "\"\\u12\"", NULL },
  { "\"\\u12g4\"", NULL },
  { "\"\n\"", NULL },
  { "\"\t\"", NULL },
  { "\"\377\"", NULL },
  { "\"\300\200\"", NULL },
  { "'a'", NULL },
  { "[", NULL },
  { "[1", NULL },
  { "[1,", NULL },
  { "[1,]", NULL },
  { "[,1]", NULL },
  { "[1 2]", NULL },
  { "[1}", NULL },
  { "{", NULL },
  { "{\"a\"", NULL },
  { "{\"a\":", NULL },
  { "{\"a\":1", NULL },
  { "{\"a\":1,}", NULL },
  { "{a:1}", NULL },
  { "{1:1}", NULL },
  { "{\"a\" 1}", NULL },
  { "]", NULL },
  { "1 2", NULL },
  { "{}{}", NULL },
  { "\f1", NULL },
};

static void
check_case (const Case *test)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) check_error = NULL;
  /* Where reading behind the end would be seen. */
  gsize size = strlen (test->text);
  g_autofree char *escaped = g_strescape (test->text, NULL);
  g_autofree char *text = g_memdup2 (test->text, MAX (size, 1));
  g_autoptr (GVariant) found = dlp_json_parse (text, size, &error);
  gboolean ok = dlp_json_check (text, size, &check_error);

  g_test_message ("%s", escaped);
  if (test->variant == NULL)
    {
      g_assert_null (found);
      g_assert_error (error, DLP_JSON_ERROR, DLP_JSON_ERROR_SYNTAX);
      g_assert_nonnull (strstr (error->message, " at byte "));
      g_assert_false (ok);
      g_assert_cmpstr (error->message, ==, check_error->message);
      return;
    }

  {
    g_autoptr (GVariant) expected = g_variant_new_parsed (test->variant);
    g_autofree char *printed = NULL;
    g_autoptr (GVariant) again = NULL;

    g_assert_no_error (error);
    g_assert_true (ok);
    g_variant_ref_sink (expected);
    g_assert_cmpvariant (found, expected);
    printed = dlp_json_print (found, size % 2);
    again = dlp_json_parse (printed, strlen (printed), &error);
    g_assert_no_error (error);
    g_assert_cmpvariant (again, found);
  }
}

static void
test_parse (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check_case (&cases[i]);
}

/* Each beginning of a text that is not whole is refused; nothing is read behind it. */
static void
test_cut (void)
{
  static const char whole[] = "{\"a\": [1.5e3, \"\\ud83d\\ude00\\n\", {\"b\": null}], \"c\": true}";

  for (gsize n = 0; n < sizeof whole - 1; n++)
    {
      g_autofree char *text = g_memdup2 (whole, n + 1);
      g_autofree char *exact = g_memdup2 (text, MAX (n, 1));

      g_assert_false (dlp_json_check (exact, n, NULL));
      g_assert_null (dlp_json_parse (exact, n, NULL));
    }
  g_assert_true (dlp_json_check (whole, sizeof whole - 1, NULL));
}

static void
test_depth (void)
{
  for (guint depth = DLP_JSON_MAX_DEPTH - 1; depth <= DLP_JSON_MAX_DEPTH + 1; depth++)
    {
      GString *text = g_string_new (NULL);
      g_autoptr (GVariant) value = NULL;

      for (guint i = 0; i < depth; i++)
        g_string_append_c (text, '[');
      for (guint i = 0; i < depth; i++)
        g_string_append_c (text, ']');
      value = dlp_json_parse (text->str, text->len, NULL);
      g_assert_true ((value != NULL) == (depth <= DLP_JSON_MAX_DEPTH));
      g_assert_true (dlp_json_check (text->str, text->len, NULL) == (value != NULL));
      g_string_free (text, TRUE);
    }
}

static void
test_nul (void)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (dlp_json_parse ("\"a\\u0000\"", 9, &error));
  g_assert_error (error, DLP_JSON_ERROR, DLP_JSON_ERROR_SYNTAX);
  g_assert_true (dlp_json_check ("\"a\\u0000\"", 9, NULL));
  g_assert_false (dlp_json_check ("\"a\0\"", 4, NULL));
  g_assert_false (dlp_json_check ("1\0", 2, NULL));
}

static void
assert_printed (GVariant *value, gboolean pretty, const char *expected)
{
  g_autofree char *text = dlp_json_print (value, pretty);

  g_assert_cmpstr (text, ==, expected);
}

static void
test_print (void)
{
  assert_printed (g_variant_new_parsed ("{'a': <uint64 1>, 'b': <[byte 2, 3]>}"), FALSE,
                  "{\"a\": 1, \"b\": [2, 3]}");
  assert_printed (g_variant_new_parsed ("{'a': <uint64 1>, 'b': <@as []>, 'c': <[true, false]>}"),
                  TRUE, "{\n  \"a\": 1,\n  \"b\": [],\n  \"c\": [\n    true,\n    false\n  ]\n}\n");
  assert_printed (
      g_variant_new_parsed ("(int16 -1, uint16 2, 3, uint32 4, int64 -5, 'x', {'k': 1})"), FALSE,
      "[-1, 2, 3, 4, -5, \"x\", {\"k\": 1}]");
  assert_printed (g_variant_new_parsed ("[(1.0, 0.1), (1e300, 123456789.125)]"), FALSE,
                  "[[1.0, 0.1], [1e+300, 123456789.125]]");
  assert_printed (g_variant_new_double (NAN), FALSE, "null");
  assert_printed (g_variant_new_double (-INFINITY), FALSE, "null");
  assert_printed (g_variant_new_parsed ("[@mi 1, nothing]"), FALSE, "[1, null]");
  assert_printed (g_variant_new_parsed ("<<'deep'>>"), FALSE, "\"deep\"");
  /* Keys that are no strings. */
  assert_printed (g_variant_new_parsed ("{1: 2}"), FALSE, "[[1, 2]]");
}

static void
assert_string (const char *text, gsize size, const char *expected)
{
  g_autoptr (GString) out = g_string_new (NULL);

  dlp_json_append_string (out, text, size);
  g_assert_cmpstr (out->str, ==, expected);
}

static void
test_strings (void)
{
  assert_string ("", 0, "\"\"");
  assert_string ("a\"b\\c/\177", 7, "\"a\\\"b\\\\c/\177\"");
  assert_string ("\b\f\n\r\t\1\37", 7, "\"\\b\\f\\n\\r\\t\\u0001\\u001f\"");
  assert_string ("a\0b", 3, "\"a\\u0000b\"");
  assert_string ("x\377é", 4, "\"x\357\277\275é\"");
  assert_string ("\303", 1, "\"\357\277\275\"");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/json/parse", test_parse);
  g_test_add_func ("/json/cut", test_cut);
  g_test_add_func ("/json/depth", test_depth);
  g_test_add_func ("/json/nul", test_nul);
  g_test_add_func ("/json/print", test_print);
  g_test_add_func ("/json/strings", test_strings);

  return g_test_run ();
}
