/* SPDX-License-Identifier: MIT */

#include <string.h>

#include <dlpipe/dlp-error.h>

#include "filter-private.h"
#include "filter-rows.h"

static void
check (const char *text, const char *expected)
{
  g_autoptr (DlpRecordBatch) batch = filter_rows_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (FilterExpression) expression =
      filter_expression_new (text, dlp_record_batch_get_schema (batch), &error);
  g_autofree char *got = NULL;

  g_assert_no_error (error);
  got = filter_rows_test (batch, expression);
  if (strcmp (got, expected) != 0)
    g_error ("%s: %s, not %s", text, got, expected);
}

static void
test_strings (void)
{
  check ("s == 'hello'", "FTFFFN");
  check ("s == \"hello\"", "FTFFFN");
  check ("s != 'hello'", "TFTTTN");
  check ("s == ''", "TFFFFN");
  check ("s == 'it''s'", "FFFTFN");
  check ("s == \"it's\"", "FFFTFN");
  check ("'hello' == s", "FTFFFN");
  check ("s < 'hello'", "TFTFTN");
  check ("s <= 'hello'", "TTTFTN");
  check ("s > 'hello'", "FFFTFN");
  check ("s >= 'hello'", "FTFTFN");
  check ("s == b", "TFFTFN");
  check ("b == x'00ff'", "FTFFFN");
  check ("b == x'00FF'", "FTFFFN");
  check ("b == x''", "TFFFFN");
  check ("b > 'en'", "FFTTTN");
  check ("s == 'Füchse 🦊'", "FFTFFN");
  check ("`odd name` == 'x'", "TTTTTF");
  check ("s == x'656e'", "FFFFTN");
}

static void
test_numbers (void)
{
  check ("i == 0", "TFFFFN");
  check ("i < 0", "FTFTFN");
  check ("i == -5", "FTFFFN");
  check ("i == +0", "TFFFFN");
  check ("i == 9223372036854775807", "FFTFFN");
  check ("i == -9223372036854775808", "FFFTFN");
  check ("u == 18446744073709551615", "FFTFFN");
  check ("u == 9223372036854775808", "FFFTFN");
  check ("u > 9223372036854775807", "FFTTFN");
  check ("u > -1", "TTTTTN");
  check ("i < 18446744073709551615", "TTTTTN");
  check ("d == 0.5", "FTFFFN");
  check ("d == 5e-1", "FTFFFN");
  check ("d > .25", "FTFTFN");
  check ("d < 0", "FFTFFN");
  check ("d == 0", "TFFFFN");
  check ("d == -0.", "TFFFFN");
  check ("i == u", "TFFFTN");
  check ("i < u", "FTTTFN");
}

/* None of these is right when one side is converted to the type of the other. */
static void
test_exact (void)
{
  check ("i == 9007199254740992.0", "FFFFFN");
  check ("i > 9007199254740992.0", "FFTFTN");
  check ("u == 9007199254740992.0", "FFFFFN");
  check ("i == 9223372036854775808.0", "FFFFFN");
  check ("i < 9223372036854775808.0", "TTTTTN");
  check ("u == 18446744073709551616.0", "FFFFFN");
  check ("u < 18446744073709551616.0", "TTTTTN");
  check ("i == -9223372036854775808.0", "FFFTFN");
  check ("i > 0.5", "FFTFTN");
  check ("i > -5.5", "TTTFTN");
  check ("i < -4.5", "FTFTFN");
  check ("u > -0.5", "TTTTTN");
  check ("d == u", "TFFTFN");
  check ("u == d", "TFFTFN");
  check ("i < d", "FTFTFN");
}

/* Nothing is less, equal or greater than NaN, which is not null. */
static void
test_nan (void)
{
  check ("d == d", "TTTTFN");
  check ("d != d", "FFFFTN");
  check ("d <= 1e308 or d > 1e308", "TTTTFN");
  check ("d is null", "FFFFFT");
  check ("d in (0, 0.5, -1e300, 9223372036854775808)", "TTTTFN");
  check ("d not in (1, 2)", "TTTTTN");
}

static void
test_booleans (void)
{
  check ("f", "FTFTTN");
  check ("not f", "TFTFFN");
  check ("f == true", "FTFTTN");
  check ("f != true", "TFTFFN");
  check ("false == f", "TFTFFN");
  check ("f in (true)", "FTFTTN");
  check ("true", "TTTTTT");
  check ("false or f", "FTFTTN");
  check ("1 == 1", "TTTTTT");
  check ("1 == 1.0 and 'a' < 'b'", "TTTTTT");
}

/* Three values: and is the least of F < N < T, or the greatest. */
static void
test_nulls (void)
{
  check ("s is null", "FFFFFT");
  check ("s is not null", "TTTTTF");
  check ("not s is null", "TTTTTF");
  check ("l16 is null and l32 is null", "FFFFFT");
  check ("`odd name` is null", "FFFFFF");
  check ("i == 0 and true", "TFFFFN");
  check ("i == 0 and false", "FFFFFF");
  check ("i == 0 or true", "TTTTTT");
  check ("i == 0 or false", "TFFFFN");
  check ("true and i == 0", "TFFFFN");
  check ("false and i == 0", "FFFFFF");
  check ("true or i == 0", "TTTTTT");
  check ("false or i == 0", "TFFFFN");
  check ("not (i == 0)", "FTTTTN");
  check ("i == 0 or i != 0", "TTTTTN");
  check ("i is null or i == 0", "TFFFFT");
  check ("i != 0 and i is not null", "FTTTTF");
  check ("i == i", "TTTTTN");
}

static void
test_joins (void)
{
  check ("i == 0 or i == -5 and s == 'x'", "TFFFFN");
  check ("(i == 0 or i == -5) and s == 'x'", "FFFFFN");
  check ("(i == 0 or i == -5) and s == 'hello'", "FTFFFN");
  check ("s == 'x' and i == 0 or i == -5", "FTFFFN");
  check ("not i == 0 and s != 'en'", "FTTTFN");
  check ("not (i == 0 and s == '')", "FTTTTN");
  check ("not i == 0 or i == 0", "TTTTTN");
  check ("not not i == 0", "TFFFFN");
  check ("not (not (i == 0))", "TFFFFN");
  check ("((((i == 0))))", "TFFFFN");
  check ("i == 0 or s == 'hello' or u == 18446744073709551615", "TTTFFN");
  check ("i < 0 and s > 'a' and d > 0 and f", "FTFTFN");
  check ("f and not (s == 'hello' or s == 'en') and u > 0", "FFFTFN");
  check (" \t\ni==0 or(s=='hello')and not(f==false)", "TTFFFN");
}

static void
test_in (void)
{
  check ("s in ('en', 'hello')", "FTFFTN");
  check ("s not in ('en', 'hello')", "TFTTFN");
  check ("not s in ('en', 'hello')", "TFTTFN");
  check ("s in ('')", "TFFFFN");
  check ("i in (3, -5.0, 18446744073709551615, 0, 0)", "TTFFFN");
  check ("u in (9007199254740993, 9007199254740992.0)", "FFFFTN");
  check ("u in (9007199254740992.0)", "FFFFFN");
  check ("b in (x'00ff', 'hello')", "FTTFFN");
  check ("length(s) in (2, 4)", "FFFTTN");
  check ("s in ('en','a','b','c','d','e','f','g','h','it''s','x','y','z')", "FFFTTN");
}

static void
test_functions (void)
{
  check ("length(s) == 5", "FTFFFN");
  check ("length (s) >= 12", "FFTFFN");
  check ("length(b) < 3", "TTFFFN");
  check ("chars(s) == 8", "FFTFFN");
  check ("chars(s) <= length(s)", "TTTTTN");
  check ("chars(s) < length(s)", "FFTFFN");
  check ("n-tokens(l16) > 1", "FFTTTN");
  check ("n-tokens(l32) == n-tokens(l16)", "TTTTTN");
  check ("n-tokens(l32) == 0", "TFFFFN");
  check ("starts-with(s, 'he')", "FTFFFN");
  check ("starts-with(s, '')", "TTTTTN");
  check ("ends-with(s, 'n')", "FFFFTN");
  check ("contains(s, 'ü')", "FFTFFN");
  check ("contains(b, x'00')", "FTFFTN");
  check ("contains(b, s)", "TFFTTN");
  check ("contains('hello', s)", "TTFFFN");
  check ("not contains(s, 'l') and f", "FFFTTN");
  check ("(starts-with(s, 'it') or ends-with(s, 'lo'))", "FTFTFN");
}

static void
test_matches (void)
{
  check ("matches(s, '^h.*o$')", "FTFFFN");
  check ("matches(s, 'ü|t''')", "FFTTFN");
  check ("matches(s, '^\\w+$')", "FTFFTN");
  check ("matches(s, '^.{8}$')", "FFTFFN");
  check ("matches(s, '\\p{So}')", "FFTFFN");
  check ("matches(s, '(?i)HELLO')", "FTFFFN");
  check ("matches(s, '')", "TTTTTN");
  check ("matches(b, '^[\\x00\\xff]+$')", "FTFFFN");
  check ("matches(b, '^.{2}$')", "FTFFFN");
  check ("matches(s, 'a') or matches(s, 'e')", "FTTFTN");
}

/* A pattern that backtracks without end gives up, and says so. */
static void
test_failure (void)
{
  static const char *const names[] = { "s" };
  static const DlpFieldType types[] = { DLP_FIELD_STRING };
  g_autoptr (DlpSchema) schema = dlp_schema_new (DLP_SCHEMA_RECORDS, 1, names, types, NULL);
  g_autoptr (DlpRecordBatchBuilder) builder = dlp_record_batch_builder_new (schema);
  g_autoptr (DlpRecordBatch) batch = NULL;
  g_autoptr (FilterExpression) expression =
      filter_expression_new ("matches(s, '(a+)+[bd]') or true", schema, NULL);
  g_autoptr (FilterContext) context = filter_context_new (expression);
  g_autofree char *text = g_strnfill (64, 'a');
  g_autofree char *failure = NULL;

  text[63] = 'c';
  dlp_record_batch_builder_append_value (builder, 0, "aaaac", 5);
  dlp_record_batch_builder_end_record (builder, &(DlpCoordinate){ 0 });
  dlp_record_batch_builder_append_value (builder, 0, text, 64);
  dlp_record_batch_builder_end_record (builder, &(DlpCoordinate){ 0 });
  batch = dlp_record_batch_builder_finish (builder, NULL);
  g_assert_cmpint (filter_context_test (context, batch, 0), ==, FILTER_TRUE);
  g_assert_cmpint (filter_context_test (context, batch, 1), ==, FILTER_FAILED);
  failure = filter_context_get_failure (context);
  g_assert_nonnull (strstr (failure, "limit"));
  g_assert_cmpint (filter_context_test (context, batch, 0), ==, FILTER_TRUE);
}

static const struct
{
  const char *text;
  const char *message; /* up to the place that is shown */
  guint caret;
  guint columns;
} mistakes[] = {
  { "x > 1", "where, column 1: the input has no field “x”; its fields: s, b, f, i, u, d,", 0, 1 },
  { "od-name == 'x'", "column 1: the input has no field “od-name”, did you mean “odd name”?", 0,
    7 },
  { "i > 1 and q1 == 2", "column 11: the input has no field “q1”", 10, 2 },
  { "s == 'ä' and q == 1", "column 14: the input has no field “q”", 13, 1 },
  { "", "column 1: a field, a number, a string or a function is expected here", 0, 1 },
  { "i ==", "column 5: a field, a number, a string or a function is expected here", 4, 1 },
  { "i", "column 2: a comparison is expected here: ==, !=, <", 1, 1 },
  { "i and f", "column 3: a comparison is expected here", 2, 3 },
  { "i = 1", "column 3: “=” is written == here", 2, 1 },
  { "i <> 1", "column 3: “<>” is written != here", 2, 2 },
  { "i === 1", "column 3: “===” is written == here", 2, 3 },
  { "s =~ 'x'", "column 3: “=~” is written matches", 2, 2 },
  { "f && f", "column 3: “&&” is written and here", 2, 2 },
  { "f || f", "column 3: “||” is written or here", 2, 2 },
  { "!f", "column 1: “!” is written not here", 0, 1 },
  { "f AND f", "column 3: “and”, “or” or the end is expected here, did you mean “and”?", 2, 3 },
  { "f f", "column 3: “and”, “or” or the end is expected here", 2, 1 },
  { "i + 1 == 2", "column 3: no part of an expression begins with this", 2, 1 },
  { "1 < i < 3", "column 7: comparisons are not chained; join two of them by “and”", 6, 1 },
  { "(i == 1", "column 1: no “)” belongs to this", 0, 1 },
  { "f and ((i == 1) or f", "column 7: no “)” belongs to this", 6, 1 },
  { "i == 1)", "column 7: no “(” belongs to this", 6, 1 },
  { "()", "column 2: a field, a number, a string or a function is expected here", 1, 1 },
  { "f and", "column 6: a field, a number", 5, 1 },
  { "and f", "column 1: the input has no field “and”", 0, 3 },
  { "not", "column 4: a field, a number", 3, 1 },
  { "s == 'x", "column 6: this quote has no end", 5, 1 },
  { "`s == 1", "column 1: this quote has no end", 0, 1 },
  { "b == x'0'", "column 6: between the quotes of x'...' are bytes", 5, 4 },
  { "b == x'0g'", "column 6: between the quotes of x'...' are bytes", 5, 5 },
  { "i > 10k", "column 5: this is no number", 4, 3 },
  { "i > 1.2.3", "column 5: this is no number", 4, 5 },
  { "i > 1e", "column 5: this is no number", 4, 2 },
  { "i > 0x10", "column 5: this is no number", 4, 4 },
  { "i > 18446744073709551616", "column 5: this number is too large", 4, 20 },
  { "i > -9223372036854775809", "column 5: this number is too large", 4, 20 },
  { "d > 1e999", "column 5: this number is too large", 4, 5 },
  { "s == null", "column 6: null is asked for by “FIELD is null”", 5, 4 },
  { "null == s", "column 1: null is asked for by “FIELD is null”", 0, 4 },
  { "s is 3", "column 6: “null” or “not null” is expected behind “is”", 5, 1 },
  { "s is not", "column 9: “null” or “not null” is expected behind “is”", 8, 1 },
  { "3 is null", "column 1: only a field can be null", 0, 1 },
  { "length(s) is null", "column 1: only a field can be null", 0, 9 },
  { "s == 1", "column 3: string cannot be compared with an integer", 2, 2 },
  { "d >= 'x'", "column 3: double cannot be compared with a string", 2, 2 },
  { "f == 'true'", "column 3: boolean cannot be compared with a string", 2, 2 },
  { "s == i", "column 3: string cannot be compared with int64", 2, 2 },
  { "f < true", "column 3: booleans have no order", 2, 1 },
  { "l16 == 3", "column 1: this is a list; what can be compared is its length: n-tokens", 0, 3 },
  { "s in ()", "column 7: a field, a number, a string", 6, 1 },
  { "s in 'x'", "column 6: “(” and literals are expected behind “in”", 5, 3 },
  { "s in ('x', 3)", "column 12: string cannot be compared with an integer", 11, 1 },
  { "s in ('x', b)", "column 12: between the parentheses of “in” are literals", 11, 1 },
  { "s in ('x' 'y')", "column 11: “,” or “)” is expected in the list of “in”", 10, 3 },
  { "s not null", "column 7: “in” is expected behind “not”", 6, 4 },
  { "l16 in (1)", "column 1: this is a list", 0, 3 },
  { "len(s) > 3", "column 1: there is no function “len”, did you mean “length”?; there are ", 0,
    3 },
  { "length(l16) > 3", "column 8: length is in bytes; n-tokens is of a list", 7, 3 },
  { "length(i) > 3", "column 8: length is of a string or binary field", 7, 1 },
  { "length('x') > 3", "column 8: the name of a field is expected here", 7, 3 },
  { "length(q) > 3", "column 8: the input has no field “q”", 7, 1 },
  { "length(s > 3", "column 10: “)” is expected behind the field", 9, 1 },
  { "chars(b) > 3", "column 7: chars is of a string; length is of bytes", 6, 1 },
  { "n-tokens(s) > 3", "column 10: n-tokens is of a list; length is of other fields", 9, 1 },
  { "contains(s)", "column 11: “,” and a second value are expected here", 10, 1 },
  { "contains(s, 3)", "column 13: this is neither a string nor a binary field", 12, 1 },
  { "contains(i, 's')", "column 10: this is neither a string nor a binary field", 9, 1 },
  { "contains(s, 's'", "column 16: “)” is expected behind the second value", 15, 1 },
  { "s == contains(s, 's')", "column 6: this is a condition, not a value", 5, 16 },
  { "matches(s, b)", "column 12: the pattern of matches is a string in quotes", 11, 1 },
  { "matches(s, 'a(b')", "column 12: the pattern is no regular expression, at its byte 3: ", 11,
    5 },
  { "matches(s, x'ff')", "column 12: the pattern is no regular expression", 11, 5 },
};

static void
check_mistake (guint n)
{
  g_autoptr (DlpSchema) schema = filter_rows_schema ();
  g_autoptr (GError) error = NULL;
  g_autoptr (FilterExpression) expression =
      filter_expression_new (mistakes[n].text, schema, &error);
  g_auto (GStrv) lines = NULL;

  if (expression != NULL)
    g_error ("%s is no mistake", mistakes[n].text);
  lines = g_strsplit (error->message, "\n", -1);
  g_assert_cmpuint (error->domain, ==, DLP_GRAPH_ERROR);
  g_assert_cmpuint (g_strv_length (lines), ==, 3);
  if (strstr (lines[0], mistakes[n].message) == NULL || strcmp (lines[1], mistakes[n].text) != 0)
    g_error ("%s:\n%s", mistakes[n].text, error->message);
  if (strcspn (lines[2], "^") != mistakes[n].caret ||
      strlen (lines[2]) != mistakes[n].caret + mistakes[n].columns)
    g_error ("%s:\n%s", mistakes[n].text, error->message);
}

static void
test_mistakes (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (mistakes); i++)
    check_mistake (i);
}

/* A long expression is cut, and what a terminal must not get is not shown. */
static void
test_long (void)
{
  g_autoptr (DlpSchema) schema = filter_rows_schema ();
  g_autoptr (GString) text = g_string_new ("s in ('a'");
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) lines = NULL;

  for (guint i = 0; i < 1000; i++)
    g_string_append (text, ", 'bc'");
  g_string_append (text, ") and q == '\x1b[1mä\n' and f");
  g_assert_null (filter_expression_new (text->str, schema, &error));
  lines = g_strsplit (error->message, "\n", -1);
  g_assert_cmpuint (g_strv_length (lines), ==, 3);
  g_assert_true (g_str_has_prefix (lines[1], "..."));
  g_assert_null (strchr (lines[1], '\x1b'));
  g_assert_nonnull (strstr (lines[1], ") and q == '\xef\xbf\xbd[1mä\xef\xbf\xbd' and f"));
  g_assert_cmpuint (strcspn (lines[2], "^"), ==, strcspn (lines[1], "q"));
  g_clear_error (&error);
  g_assert_null (filter_expression_new ("s == 'a\xff'", schema, &error));
  g_assert_cmpstr (error->message, ==, "where: byte 7 is not UTF-8; bytes are written as x'00ff'");
}

/* (transfer full): @n times @before, @middle, @n times @behind. */
static char *
nest (const char *before, const char *middle, const char *behind, guint n)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    g_string_append (text, before);
  g_string_append (text, middle);
  for (guint i = 0; i < n; i++)
    g_string_append (text, behind);
  return g_strdup (text->str);
}

static void
test_depth (void)
{
  g_autofree char *most = nest ("(", "f", ")", FILTER_MAX_DEPTH);
  g_autofree char *pairs = nest ("(f or ", "f", ")", FILTER_MAX_DEPTH / 2);
  g_autofree char *more = nest ("(", "f", ")", FILTER_MAX_DEPTH + 1);
  g_autofree char *nots = nest ("not ", "f", "", FILTER_MAX_DEPTH + 1);
  g_autofree char *much = nest ("(f or ", "f", ")", 100000);
  g_autofree char *wide = nest ("f and ", "f", " or f", 10000);
  const char *bad[] = { more, nots, much };
  g_autoptr (DlpSchema) schema = filter_rows_schema ();

  check (most, "FTFTTN");
  check (pairs, "FTFTTN");
  check (wide, "FTFTTN");
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (filter_expression_new (bad[i], schema, &error));
      g_assert_nonnull (strstr (error->message, "nested deeper than 64"));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/filter-expression/strings", test_strings);
  g_test_add_func ("/filter-expression/numbers", test_numbers);
  g_test_add_func ("/filter-expression/exact", test_exact);
  g_test_add_func ("/filter-expression/nan", test_nan);
  g_test_add_func ("/filter-expression/booleans", test_booleans);
  g_test_add_func ("/filter-expression/nulls", test_nulls);
  g_test_add_func ("/filter-expression/joins", test_joins);
  g_test_add_func ("/filter-expression/in", test_in);
  g_test_add_func ("/filter-expression/functions", test_functions);
  g_test_add_func ("/filter-expression/matches", test_matches);
  g_test_add_func ("/filter-expression/failure", test_failure);
  g_test_add_func ("/filter-expression/mistakes", test_mistakes);
  g_test_add_func ("/filter-expression/long", test_long);
  g_test_add_func ("/filter-expression/depth", test_depth);
  return g_test_run ();
}
