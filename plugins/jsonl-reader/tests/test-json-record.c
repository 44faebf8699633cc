/* SPDX-License-Identifier: MIT */

#include <string.h>

#include "json-compare.h"
#include "json-record.h"

typedef struct
{
  const char *line;
  JsonErrorKind kind; /* JSON_ERROR_NONE: a record */
  gsize offset;
} Vector;

#define GOOD JSON_ERROR_NONE, 0

static const Vector structure[] = {
  { "{}", GOOD },
  { " \t\r\n{ \t\r\n} \t\r\n", GOOD },
  { "\xef\xbb\xbf{}", GOOD },
  { "\xef\xbb\xbf {}", GOOD },
  { "{}\r", GOOD },
  { "{\"a\":1}", GOOD },
  { "{ \"a\" : 1 , \"b\" : 2 }", GOOD },
  { "{\t\"a\"\n:\r1\t,\"b\":2}", GOOD },
  { "{\"\":\"\"}", GOOD },
  { "{\"a\":[]}", GOOD },
  { "{\"a\":[ ]}", GOOD },
  { "{\"a\":{}}", GOOD },
  { "{\"a\":[[],[[]],{},[{}]]}", GOOD },
  { "{\"a\":[1,\"x\",null,true,false,{\"b\":[2]}],\"c\":{\"d\":{\"e\":[]}}}", GOOD },
  { "{\"a\":{\"b\":1},\"c\":2}", GOOD },
  { "{\"a\":1,\"a\":2}", GOOD },

  { "", JSON_ERROR_EMPTY, 0 },
  { " \t\r", JSON_ERROR_EMPTY, 2 },
  { "\xef\xbb\xbf", JSON_ERROR_EMPTY, 3 },
  { "\xef\xbb\xbf\xef\xbb\xbf{}", JSON_ERROR_SYNTAX, 3 },
  { "\xef\xbb{}", JSON_ERROR_SYNTAX, 0 },
  { "{\xef\xbb\xbf}", JSON_ERROR_SYNTAX, 1 },
  { "\xff\xfe{", JSON_ERROR_UTF_16, 0 },
  { "\xfe\xff", JSON_ERROR_UTF_16, 0 },
  { "\x1f\x8b\x08\x08", JSON_ERROR_COMPRESSED, 0 },
  { "\x28\xb5\x2f\xfd", JSON_ERROR_COMPRESSED, 0 },
  { "[]", JSON_ERROR_ARRAY_LINE, 0 },
  { " [{\"a\":1}]", JSON_ERROR_ARRAY_LINE, 1 },
  { "[", JSON_ERROR_ARRAY_LINE, 0 },
  { "\"a\"", JSON_ERROR_NOT_AN_OBJECT, 0 },
  { " 12", JSON_ERROR_NOT_AN_OBJECT, 1 },
  { "-1", JSON_ERROR_NOT_AN_OBJECT, 0 },
  { "true", JSON_ERROR_NOT_AN_OBJECT, 0 },
  { "false", JSON_ERROR_NOT_AN_OBJECT, 0 },
  { "null", JSON_ERROR_NOT_AN_OBJECT, 0 },
  { "nul", JSON_ERROR_SYNTAX, 0 },
  { "text", JSON_ERROR_SYNTAX, 0 },
  { "}", JSON_ERROR_SYNTAX, 0 },
  { "'a'", JSON_ERROR_SYNTAX, 0 },
  { "\v{}", JSON_ERROR_SYNTAX, 0 },
  { "\xc2\xa0{}", JSON_ERROR_SYNTAX, 0 },
  { "\f{}", JSON_ERROR_SYNTAX, 0 },

  { "{", JSON_ERROR_UNTERMINATED, 1 },
  { "{\r", JSON_ERROR_UNTERMINATED, 1 },
  { "{ ", JSON_ERROR_UNTERMINATED, 2 },
  { "{\"a\"", JSON_ERROR_UNTERMINATED, 4 },
  { "{\"a\":", JSON_ERROR_UNTERMINATED, 5 },
  { "{\"a\":1", JSON_ERROR_UNTERMINATED, 6 },
  { "{\"a\":1,", JSON_ERROR_UNTERMINATED, 7 },
  { "{\"a\":{}", JSON_ERROR_UNTERMINATED, 7 },
  { "{\"a\":[", JSON_ERROR_UNTERMINATED, 6 },
  { "{\"a\":[1,", JSON_ERROR_UNTERMINATED, 8 },
  { "{\"a\":[1", JSON_ERROR_UNTERMINATED, 7 },

  { "{,}", JSON_ERROR_SYNTAX, 1 },
  { "{a:1}", JSON_ERROR_SYNTAX, 1 },
  { "{1:1}", JSON_ERROR_SYNTAX, 1 },
  { "{'a':1}", JSON_ERROR_SYNTAX, 1 },
  { "{null:1}", JSON_ERROR_SYNTAX, 1 },
  { "{]", JSON_ERROR_SYNTAX, 1 },
  { "{\"a\"}", JSON_ERROR_SYNTAX, 4 },
  { "{\"a\" 1}", JSON_ERROR_SYNTAX, 5 },
  { "{\"a\",1}", JSON_ERROR_SYNTAX, 4 },
  { "{\"a\"=1}", JSON_ERROR_SYNTAX, 4 },
  { "{\"a\"::1}", JSON_ERROR_SYNTAX, 5 },
  { "{\"a\":}", JSON_ERROR_SYNTAX, 5 },
  { "{\"a\":,\"b\":1}", JSON_ERROR_SYNTAX, 5 },
  { "{\"a\":1,}", JSON_ERROR_SYNTAX, 7 },
  { "{\"a\":1,,\"b\":2}", JSON_ERROR_SYNTAX, 7 },
  { "{\"a\":1 \"b\":2}", JSON_ERROR_SYNTAX, 7 },
  { "{\"a\":1;\"b\":2}", JSON_ERROR_SYNTAX, 6 },
  { "{\"a\":1]", JSON_ERROR_SYNTAX, 6 },
  { "{\"a\":[1}}", JSON_ERROR_SYNTAX, 7 },
  { "{\"a\":[1,]}", JSON_ERROR_SYNTAX, 8 },
  { "{\"a\":[,1]}", JSON_ERROR_SYNTAX, 6 },
  { "{\"a\":[,]}", JSON_ERROR_SYNTAX, 6 },
  { "{\"a\":[1 2]}", JSON_ERROR_SYNTAX, 8 },
  { "{\"a\":[\"b\":1]}", JSON_ERROR_SYNTAX, 9 },
  { "{\"a\":'x'}", JSON_ERROR_SYNTAX, 5 },
  { "{\"a\":\"x\"\"y\"}", JSON_ERROR_SYNTAX, 8 },
  { "{\"a\":/**/1}", JSON_ERROR_SYNTAX, 5 },
  { "{\"a\":1}//", JSON_ERROR_TRAILING, 7 },
  { "{\"a\":\xe2\x80\xa8"
    "1}",
    JSON_ERROR_SYNTAX, 5 },
  { "{\"a\":\v1}", JSON_ERROR_SYNTAX, 5 },

  { "{}{}", JSON_ERROR_TRAILING, 2 },
  { "{} {}", JSON_ERROR_TRAILING, 3 },
  { "{}}", JSON_ERROR_TRAILING, 2 },
  { "{},", JSON_ERROR_TRAILING, 2 },
  { "{}\n{}", JSON_ERROR_TRAILING, 3 },
  { "{}\v", JSON_ERROR_TRAILING, 2 },
};

static const Vector scalars[] = {
  { "{\"a\":true,\"b\":false,\"c\":null}", GOOD },
  { "{\"a\":tru}", JSON_ERROR_SYNTAX, 5 },
  { "{\"a\":tru", JSON_ERROR_UNTERMINATED, 8 },
  { "{\"a\":t", JSON_ERROR_UNTERMINATED, 6 },
  { "{\"a\":fals", JSON_ERROR_UNTERMINATED, 9 },
  { "{\"a\":nul", JSON_ERROR_UNTERMINATED, 8 },
  { "{\"a\":trux", JSON_ERROR_SYNTAX, 5 },
  { "{\"a\":TRUE}", JSON_ERROR_SYNTAX, 5 },
  { "{\"a\":True}", JSON_ERROR_SYNTAX, 5 },
  { "{\"a\":None}", JSON_ERROR_SYNTAX, 5 },
  { "{\"a\":undefined}", JSON_ERROR_SYNTAX, 5 },
  { "{\"a\":truee}", JSON_ERROR_SYNTAX, 9 },
  { "{\"a\":nulll}", JSON_ERROR_SYNTAX, 9 },
  { "{\"a\":true1}", JSON_ERROR_SYNTAX, 9 },

  { "{\"a\":0}", GOOD },
  { "{\"a\":-0}", GOOD },
  { "{\"a\":10}", GOOD },
  { "{\"a\":-12}", GOOD },
  { "{\"a\":0.5}", GOOD },
  { "{\"a\":1.250}", GOOD },
  { "{\"a\":0e0}", GOOD },
  { "{\"a\":0E+5}", GOOD },
  { "{\"a\":1e-5}", GOOD },
  { "{\"a\":-1.5E+300}", GOOD },
  { "{\"a\":1e99999}", GOOD },
  { "{\"a\":123456789012345678901234567890}", GOOD },
  { "{\"a\":1 }", GOOD },
  { "{\"a\":[0,-0,1.0,1e1]}", GOOD },
  { "{\"a\":01}", JSON_ERROR_NUMBER, 5 },
  { "{\"a\":-01}", JSON_ERROR_NUMBER, 6 },
  { "{\"a\":00}", JSON_ERROR_NUMBER, 5 },
  { "{\"a\":-}", JSON_ERROR_NUMBER, 6 },
  { "{\"a\":--1}", JSON_ERROR_NUMBER, 6 },
  { "{\"a\":-a}", JSON_ERROR_NUMBER, 6 },
  { "{\"a\":1.}", JSON_ERROR_NUMBER, 7 },
  { "{\"a\":1.e1}", JSON_ERROR_NUMBER, 7 },
  { "{\"a\":1e}", JSON_ERROR_NUMBER, 7 },
  { "{\"a\":1e+}", JSON_ERROR_NUMBER, 8 },
  { "{\"a\":1e1.5}", JSON_ERROR_SYNTAX, 8 },
  { "{\"a\":1.5.5}", JSON_ERROR_SYNTAX, 8 },
  { "{\"a\":1ee5}", JSON_ERROR_NUMBER, 7 },
  { "{\"a\":1x}", JSON_ERROR_SYNTAX, 6 },
  { "{\"a\":0x10}", JSON_ERROR_SYNTAX, 6 },
  { "{\"a\":1_000}", JSON_ERROR_SYNTAX, 6 },
  { "{\"a\":+1}", JSON_ERROR_SYNTAX, 5 },
  { "{\"a\":.5}", JSON_ERROR_SYNTAX, 5 },
  { "{\"a\":1-2}", JSON_ERROR_SYNTAX, 6 },
  { "{\"a\":-", JSON_ERROR_UNTERMINATED, 6 },
  { "{\"a\":1.", JSON_ERROR_UNTERMINATED, 7 },
  { "{\"a\":1e", JSON_ERROR_UNTERMINATED, 7 },
  { "{\"a\":1e-", JSON_ERROR_UNTERMINATED, 8 },
  { "{\"a\":\xef\xbc\x91}", JSON_ERROR_SYNTAX, 5 },

  { "{\"a\":NaN}", JSON_ERROR_NON_FINITE, 5 },
  { "{\"a\":[1,NaN]}", JSON_ERROR_NON_FINITE, 8 },
  { "{\"a\":Infinity}", JSON_ERROR_NON_FINITE, 5 },
  { "{\"a\":-Infinity}", JSON_ERROR_NON_FINITE, 5 },
  { "{\"a\":[NaN]}", JSON_ERROR_NON_FINITE, 6 },
  { "{\"a\":nan}", JSON_ERROR_SYNTAX, 5 },
  { "{\"a\":inf}", JSON_ERROR_SYNTAX, 5 },
  { "{\"a\":-Inf}", JSON_ERROR_NUMBER, 6 },
  { "{\"a\":-NaN}", JSON_ERROR_NUMBER, 6 },
};

static const Vector strings[] = {
  { "{\"a\":\"\"}", GOOD },
  { "{\"a\":\"\\\" \\\\ \\/ \\b \\f \\n \\r \\t\"}", GOOD },
  { "{\"a\":\"\\u0000\\u001f\\u0020\\u007F\\u00e9\\u20AC\\uFFFF\"}", GOOD },
  { "{\"a\":\"\\ud83d\\ude00\"}", GOOD },
  { "{\"a\":\"\\uD83D\\uDE00\"}", GOOD },
  { "{\"a\":\"\\ud83d\"}", GOOD },
  { "{\"a\":\"\\ude00\"}", GOOD },
  { "{\"a\":\"\\ud83d\\ud83d\\ude00\"}", GOOD },
  { "{\"a\":\"\\ud83dx\"}", GOOD },
  { "{\"a\":\"\\ud83d\\n\"}", GOOD },
  { "{\"a\":\"\\ud83d\\u0041\"}", GOOD },
  { "{\"a\":\"\x7f\"}", GOOD },
  { "{\"a\":\"'/\"}", GOOD },
  { "{\"a\":\"\xc2\x80 \xdf\xbf \xe0\xa0\x80 \xef\xbf\xbf \xf0\x90\x80\x80 \xf4\x8f\xbf\xbf\"}",
    GOOD },
  { "{\"a\":\"\xed\x9f\xbf \xee\x80\x80 \xef\xbb\xbf \xef\xb7\x90\"}", GOOD },
  { "{\"a\":\"\xe2\x80\xa8\xe2\x80\xa9\xc2\x85\"}", GOOD },
  { "{\"\\u0061\":1}", GOOD },
  { "{\"\xe9\x8d\xb5\":1}", GOOD },

  { "{\"", JSON_ERROR_UNTERMINATED, 2 },
  { "{\"a", JSON_ERROR_UNTERMINATED, 3 },
  { "{\"a\":\"", JSON_ERROR_UNTERMINATED, 6 },
  { "{\"a\":\"x", JSON_ERROR_UNTERMINATED, 7 },
  { "{\"a\":\"x\r", JSON_ERROR_UNTERMINATED, 7 },
  { "{\"a\":\"x\\", JSON_ERROR_UNTERMINATED, 8 },
  { "{\"a\":\"x\\\"", JSON_ERROR_UNTERMINATED, 9 },
  { "{\"a\":\"x\\u", JSON_ERROR_UNTERMINATED, 9 },
  { "{\"a\":\"x\\u00e", JSON_ERROR_UNTERMINATED, 12 },
  { "{\"a\":\"x\\ud83d", JSON_ERROR_UNTERMINATED, 13 },
  { "{\"a\":\"x\\ud83d\\ude0", JSON_ERROR_UNTERMINATED, 18 },
  { "{\"a\":\"\xe9\x8d", JSON_ERROR_UNTERMINATED, 8 },
  { "{\"a\":\"\xf0\x9f\x98", JSON_ERROR_UNTERMINATED, 9 },

  { "{\"a\":\"\\x\"}", JSON_ERROR_ESCAPE, 6 },
  { "{\"a\":\"\\'\"}", JSON_ERROR_ESCAPE, 6 },
  { "{\"a\":\"\\a\"}", JSON_ERROR_ESCAPE, 6 },
  { "{\"a\":\"\\0\"}", JSON_ERROR_ESCAPE, 6 },
  { "{\"a\":\"\\N\"}", JSON_ERROR_ESCAPE, 6 },
  { "{\"a\":\"\\ \"}", JSON_ERROR_ESCAPE, 6 },
  { "{\"a\":\"\\\n\"}", JSON_ERROR_ESCAPE, 6 },
  { "{\"a\":\"\\\xe9\x8d\xb5\"}", JSON_ERROR_ESCAPE, 6 },
  { "{\"a\":\"\\U0041\"}", JSON_ERROR_ESCAPE, 6 },
  { "{\"a\":\"\\u004\"}", JSON_ERROR_ESCAPE, 6 },
  { "{\"a\":\"\\u00g0\"}", JSON_ERROR_ESCAPE, 6 },
  { "{\"a\":\"\\u+041\"}", JSON_ERROR_ESCAPE, 6 },
  { "{\"a\":\"\\u 041\"}", JSON_ERROR_ESCAPE, 6 },
  { "{\"a\":\"\\u\"}", JSON_ERROR_ESCAPE, 6 },
  { "{\"a\":\"\\ud83d\\u\"}", JSON_ERROR_ESCAPE, 12 },
  { "{\"a\":\"\\ud83d\\x\"}", JSON_ERROR_ESCAPE, 12 },
  { "{\"\\x\":1}", JSON_ERROR_ESCAPE, 2 },
  { "{\"a\":1,\"\\u00\":1}", JSON_ERROR_ESCAPE, 8 },

  { "{\"a\":\"\x01\"}", JSON_ERROR_CONTROL_CHARACTER, 6 },
  { "{\"a\":\"x\ty\"}", JSON_ERROR_CONTROL_CHARACTER, 7 },
  { "{\"a\":\"x\ny\"}", JSON_ERROR_CONTROL_CHARACTER, 7 },
  { "{\"a\":\"x\ry\"}", JSON_ERROR_CONTROL_CHARACTER, 7 },
  { "{\"a\":\"\x1f\"}", JSON_ERROR_CONTROL_CHARACTER, 6 },
  { "{\"\x1f\":1}", JSON_ERROR_CONTROL_CHARACTER, 2 },
  { "{\"a\":\"\\n\x02\"}", JSON_ERROR_CONTROL_CHARACTER, 8 },

  { "{\"a\":\"\x80\"}", JSON_ERROR_UTF_8, 6 },
  { "{\"a\":\"x\xbf\"}", JSON_ERROR_UTF_8, 7 },
  { "{\"a\":\"\xc0\xaf\"}", JSON_ERROR_UTF_8, 6 },
  { "{\"a\":\"\xc1\xbf\"}", JSON_ERROR_UTF_8, 6 },
  { "{\"a\":\"caf\xe9\"}", JSON_ERROR_UTF_8, 9 },
  { "{\"a\":\"\xc3\"}", JSON_ERROR_UTF_8, 6 },
  { "{\"a\":\"\xc3(\"}", JSON_ERROR_UTF_8, 6 },
  { "{\"a\":\"\xe9\x8d\"}", JSON_ERROR_UTF_8, 6 },
  { "{\"a\":\"\xe9\x8d\xb5\x80\"}", JSON_ERROR_UTF_8, 9 },
  { "{\"a\":\"\xe0\x80\x80\"}", JSON_ERROR_UTF_8, 6 },
  { "{\"a\":\"\xe0\x9f\xbf\"}", JSON_ERROR_UTF_8, 6 },
  { "{\"a\":\"\xed\xa0\x80\"}", JSON_ERROR_UTF_8, 6 },
  { "{\"a\":\"\xed\xbf\xbf\"}", JSON_ERROR_UTF_8, 6 },
  { "{\"a\":\"\xf0\x80\x80\x80\"}", JSON_ERROR_UTF_8, 6 },
  { "{\"a\":\"\xf0\x8f\xbf\xbf\"}", JSON_ERROR_UTF_8, 6 },
  { "{\"a\":\"\xf0\x9f\x98\"}", JSON_ERROR_UTF_8, 6 },
  { "{\"a\":\"\xf4\x90\x80\x80\"}", JSON_ERROR_UTF_8, 6 },
  { "{\"a\":\"\xf5\x80\x80\x80\"}", JSON_ERROR_UTF_8, 6 },
  { "{\"a\":\"\xf8\x88\x80\x80\x80\"}", JSON_ERROR_UTF_8, 6 },
  { "{\"a\":\"\xff\"}", JSON_ERROR_UTF_8, 6 },
  { "{\"\x80\":1}", JSON_ERROR_UTF_8, 2 },
  { "{\"a\":\"\\n\xe9\"}", JSON_ERROR_UTF_8, 8 },
};

static void
check_vectors (const Vector *vectors, gsize n_vectors)
{
  const char *const paths[] = { "text", "a" };
  g_autoptr (JsonComparer) comparer = json_comparer_new (paths, 2);
  g_autoptr (JsonPlan) plan = json_plan_new (paths, 2, JSON_FLAGS_NONE, NULL);
  g_autoptr (JsonScratch) scratch = json_scratch_new ();

  for (gsize i = 0; i < n_vectors; i++)
    {
      const Vector *vector = &vectors[i];
      gsize len = strlen (vector->line);
      g_autofree char *escaped = g_strescape (vector->line, NULL);
      JsonValue values[2];
      JsonCounts counts = { 0 };
      JsonError error = { 0 };
      gboolean accepted = json_parse_record_unpadded (plan, scratch, (const guint8 *) vector->line,
                                                      len, values, &counts, &error);

      g_test_message ("%s: %s", escaped, accepted ? "accepted" : error.message);
      g_assert_cmpstr (accepted ? "none" : json_error_kind_get_name (error.kind), ==,
                       json_error_kind_get_name (vector->kind));
      if (!accepted)
        g_assert_cmpuint (error.offset, ==, vector->offset);
      json_comparer_check (comparer, (const guint8 *) vector->line, len);
    }
}

static void
test_structure (void)
{
  check_vectors (structure, G_N_ELEMENTS (structure));
}

static void
test_scalars (void)
{
  check_vectors (scalars, G_N_ELEMENTS (scalars));
}

static void
test_strings (void)
{
  check_vectors (strings, G_N_ELEMENTS (strings));
}

/* Bytes with a NUL among them. */
static void
test_nul (void)
{
  static const struct
  {
    const char *line;
    gsize len;
    JsonErrorKind kind;
    gsize offset;
  } vectors[] = {
    { "{\"a\":\"x\0y\"}", 11, JSON_ERROR_CONTROL_CHARACTER, 7 },
    { "{\"a\":1\0}", 8, JSON_ERROR_SYNTAX, 6 },
    { "{\"a\":1}\0", 8, JSON_ERROR_TRAILING, 7 },
    { "\0", 1, JSON_ERROR_SYNTAX, 0 },
    { "\0{\0\"", 4, JSON_ERROR_UTF_16, 0 },
    { "{\0\"\0", 4, JSON_ERROR_UTF_16, 0 },
    { "{\"a\":\0}", 7, JSON_ERROR_SYNTAX, 5 },
    { "{\"a\":\"\\\0\"}", 10, JSON_ERROR_ESCAPE, 6 },
  };
  const char *const path = "a";
  g_autoptr (JsonPlan) plan = json_plan_new (&path, 1, JSON_FLAGS_NONE, NULL);
  g_autoptr (JsonScratch) scratch = json_scratch_new ();
  g_autoptr (JsonComparer) comparer = json_comparer_new (&path, 1);

  for (gsize i = 0; i < G_N_ELEMENTS (vectors); i++)
    {
      JsonValue value;
      JsonCounts counts = { 0 };
      JsonError error = { 0 };
      const guint8 *line = (const guint8 *) vectors[i].line;

      g_assert_false (json_parse_record_unpadded (plan, scratch, line, vectors[i].len, &value,
                                                  &counts, &error));
      g_assert_cmpint (error.kind, ==, vectors[i].kind);
      g_assert_cmpuint (error.offset, ==, vectors[i].offset);
      json_comparer_check (comparer, line, vectors[i].len);
    }
}

/* {"a":[[[...]]]} with @depth levels, the bytes before and behind the innermost as given. */
static GString *
make_nested (guint depth, gboolean objects)
{
  GString *line = g_string_new ("{\"a\":");

  for (guint i = 1; i < depth; i++)
    g_string_append (line, objects ? "{\"a\":" : "[");
  if (objects)
    g_string_append (line, "1");
  for (guint i = 1; i < depth; i++)
    g_string_append_c (line, objects ? '}' : ']');
  g_string_append_c (line, '}');
  return line;
}

static void
test_depth (void)
{
  const char *const paths[] = { "a.a", "b" };
  g_autoptr (JsonPlan) plan = json_plan_new (paths, 2, JSON_FLAGS_NONE, NULL);
  g_autoptr (JsonScratch) scratch = json_scratch_new ();
  g_autoptr (JsonComparer) comparer = json_comparer_new (paths, 2);

  for (guint objects = 0; objects < 2; objects++)
    {
      g_autoptr (GString) deepest = make_nested (JSON_MAX_DEPTH, objects);
      g_autoptr (GString) deeper = make_nested (JSON_MAX_DEPTH + 1, objects);
      g_autoptr (GString) abyss = make_nested (200000, objects);
      JsonValue values[2];
      JsonCounts counts = { 0 };
      JsonError error = { 0 };

      g_assert_true (json_comparer_check (comparer, (const guint8 *) deepest->str, deepest->len));
      g_assert_false (json_comparer_check (comparer, (const guint8 *) deeper->str, deeper->len));
      g_assert_false (json_comparer_check (comparer, (const guint8 *) abyss->str, abyss->len));
      g_assert_false (json_parse_record_unpadded (plan, scratch, (const guint8 *) abyss->str,
                                                  abyss->len, values, &counts, &error));
      g_assert_cmpint (error.kind, ==, JSON_ERROR_DEPTH);
      g_assert_cmpuint (error.offset, ==, objects ? 5 * JSON_MAX_DEPTH : 5 + (JSON_MAX_DEPTH - 1));
    }
}

static void
test_messages (void)
{
  static const struct
  {
    const char *line;
    const char *message;
  } vectors[] = {
    { "[1]", "a JSON array, not JSON lines" },
    { "{}{}", "expected one object in a line, found '{}'" },
    { "{} x", "expected the end of the line after the record, found 'x'" },
    { "{\"a\":nothing}", "expected a value, found 'nothing}'" },
    { "{\"a\":\"\xe9\"}", "expected well-formed UTF-8, found byte 0xe9" },
    { "{\"a\":\"x", "the line ends inside the record: expected a closing quote" },
    { "\xff\xfe", "a UTF-16 byte order mark: the file must be UTF-8" },
    { "{\"a\":01}", "expected a number without leading zeros, found '01}'" },
    { "17", "expected a JSON object, found '17'" },
    { "{\"a\":NaN}", "expected a value that JSON knows (RFC 8259), found 'NaN}'" },
  };
  g_autoptr (JsonPlan) plan = json_plan_new (NULL, 0, JSON_FLAGS_NONE, NULL);
  g_autoptr (JsonScratch) scratch = json_scratch_new ();

  for (gsize i = 0; i < G_N_ELEMENTS (vectors); i++)
    {
      JsonValue none;
      JsonCounts counts = { 0 };
      JsonError error = { 0 };

      g_assert_false (json_parse_record_unpadded (plan, scratch, (const guint8 *) vectors[i].line,
                                                  strlen (vectors[i].line), &none, &counts,
                                                  &error));
      g_assert_cmpstr (error.message, ==, vectors[i].message);
    }

  for (guint kind = 0; kind < JSON_N_ERRORS; kind++)
    g_assert_nonnull (json_error_kind_get_name (kind));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/json/record/structure", test_structure);
  g_test_add_func ("/json/record/scalars", test_scalars);
  g_test_add_func ("/json/record/strings", test_strings);
  g_test_add_func ("/json/record/nul", test_nul);
  g_test_add_func ("/json/record/depth", test_depth);
  g_test_add_func ("/json/record/messages", test_messages);

  return g_test_run ();
}
