/* SPDX-License-Identifier: MIT */

#include <stdio.h>

#include "json-string.h"

static const char *const error_names[JSON_N_ERRORS] = {
  [JSON_ERROR_NONE] = "none",
  [JSON_ERROR_EMPTY] = "empty",
  [JSON_ERROR_UTF_16] = "utf-16",
  [JSON_ERROR_COMPRESSED] = "compressed",
  [JSON_ERROR_ARRAY_LINE] = "array-line",
  [JSON_ERROR_NOT_AN_OBJECT] = "not-an-object",
  [JSON_ERROR_SYNTAX] = "syntax",
  [JSON_ERROR_NUMBER] = "number",
  [JSON_ERROR_NON_FINITE] = "non-finite",
  [JSON_ERROR_ESCAPE] = "escape",
  [JSON_ERROR_CONTROL_CHARACTER] = "control-character",
  [JSON_ERROR_UTF_8] = "utf-8",
  [JSON_ERROR_UNTERMINATED] = "unterminated",
  [JSON_ERROR_DEPTH] = "depth",
  [JSON_ERROR_TRAILING] = "trailing",
  [JSON_ERROR_LONE_SURROGATE] = "lone-surrogate",
  [JSON_ERROR_DUPLICATE_KEY] = "duplicate-key",
};

static const char *const value_names[] = {
  [JSON_VALUE_MISSING] = "missing", [JSON_VALUE_NULL] = "null",     [JSON_VALUE_FALSE] = "false",
  [JSON_VALUE_TRUE] = "true",       [JSON_VALUE_NUMBER] = "number", [JSON_VALUE_STRING] = "string",
  [JSON_VALUE_ARRAY] = "array",     [JSON_VALUE_OBJECT] = "object",
};

static const char *const expectations[] = {
  [JSON_EXPECT_KEY_OR_CLOSE] = "a key in quotes or '}'",
  [JSON_EXPECT_KEY] = "a key in quotes",
  [JSON_EXPECT_COLON] = "':' after the key",
  [JSON_EXPECT_VALUE] = "a value",
  [JSON_EXPECT_VALUE_OR_CLOSE] = "a value or ']'",
  [JSON_EXPECT_COMMA_OR_BRACE] = "',' or '}'",
  [JSON_EXPECT_COMMA_OR_BRACKET] = "',' or ']'",
};

const char *
json_error_kind_get_name (JsonErrorKind kind)
{
  g_return_val_if_fail (kind < JSON_N_ERRORS, NULL);

  return error_names[kind];
}

const char *
json_value_kind_get_name (JsonValueKind kind)
{
  g_return_val_if_fail (kind < G_N_ELEMENTS (value_names), NULL);

  return value_names[kind];
}

/* What is at @at, in printable ASCII. */
static const char *
describe (const JsonWalk *walk, const guint8 *at, char found[64])
{
  char *out = found;

  if (at >= walk->end)
    return "the end of the line";
  if (*at < 0x20 || *at >= 0x7f)
    {
      snprintf (found, 64, "byte 0x%02x", *at);
      return found;
    }

  *out++ = '\'';
  for (const guint8 *p = at; p < walk->end && p < at + 12 && *p >= 0x20 && *p < 0x7f; p++)
    *out++ = *p;
  *out++ = '\'';
  *out = '\0';
  return found;
}

/* An error that lies behind the last byte is always the same one: the record is cut. */
static gboolean
fail (JsonWalk *walk, const guint8 *at, JsonErrorKind kind, const char *expected)
{
  JsonError *error = walk->error;
  char found[64];

  if (at >= walk->end && kind != JSON_ERROR_EMPTY)
    {
      at = walk->end;
      kind = JSON_ERROR_UNTERMINATED;
    }

  error->kind = kind;
  error->offset = at - walk->line;
  if (kind == JSON_ERROR_UNTERMINATED)
    g_snprintf (error->message, sizeof error->message,
                "the line ends inside the record: expected %s", expected);
  else
    g_snprintf (error->message, sizeof error->message, "expected %s, found %s", expected,
                describe (walk, at, found));
  return FALSE;
}

static gboolean
fail_plainly (JsonWalk *walk, const guint8 *at, JsonErrorKind kind, const char *message)
{
  walk->error->kind = kind;
  walk->error->offset = at - walk->line;
  g_strlcpy (walk->error->message, message, sizeof walk->error->message);
  return FALSE;
}

/* TRUE if the line from @at on is a beginning of @word, and then ends. */
static gboolean
is_cut_word (const JsonWalk *walk, const guint8 *at, const char *word)
{
  gsize left = walk->end - at;

  return left < strlen (word) && memcmp (at, word, left) == 0;
}

gboolean
json_fail_expect (JsonWalk *walk, const guint8 *at, JsonExpect expect)
{
  static const char *const words[] = { "true", "false", "null" };

  if (at < walk->end && (expect == JSON_EXPECT_VALUE || expect == JSON_EXPECT_VALUE_OR_CLOSE))
    {
      for (guint i = 0; i < G_N_ELEMENTS (words); i++)
        if (is_cut_word (walk, at, words[i]))
          return fail (walk, walk->end, JSON_ERROR_UNTERMINATED, words[i]);

      if (json_match_non_finite (at, walk->end) != NULL)
        return fail (walk, at, JSON_ERROR_NON_FINITE, "a value that JSON knows (RFC 8259)");
    }

  if (at == walk->line + 1 && at < walk->end && *at == 0)
    return fail_plainly (walk, walk->line, JSON_ERROR_UTF_16,
                         "UTF-16 text: the file must be UTF-8");

  return fail (walk, at, JSON_ERROR_SYNTAX, expectations[expect]);
}

gboolean
json_fail_string (JsonWalk *walk, const guint8 *start)
{
  JsonErrorKind kind = JSON_ERROR_UTF_8;
  gboolean strict = (walk->plan->flags & JSON_FLAGS_STRICT) != 0;
  const guint8 *at = json_string_find_fault (start, walk->end, strict, &kind);
  const char *expected = "a closing quote";

  g_assert (at != NULL);

  if (kind == JSON_ERROR_CONTROL_CHARACTER)
    expected = "an escape such as \\n for a control character in a string";
  else if (kind == JSON_ERROR_ESCAPE)
    expected = "one of the escapes \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX";
  else if (kind == JSON_ERROR_UTF_8)
    expected = "well-formed UTF-8";
  else if (kind == JSON_ERROR_LONE_SURROGATE)
    expected = "a surrogate pair";

  return fail (walk, at, kind, expected);
}

gboolean
json_fail_number (JsonWalk *walk, const guint8 *start)
{
  const guint8 *p = start;

  if (json_match_non_finite (p, walk->end) != NULL)
    return fail (walk, p, JSON_ERROR_NON_FINITE, "a number that JSON knows (RFC 8259)");

  if (p < walk->end && *p == '-')
    p++;
  if (walk->end - p >= 2 && p[0] == '0' && g_ascii_isdigit (p[1]))
    return fail (walk, p, JSON_ERROR_NUMBER, "a number without leading zeros");
  while (p < walk->end && g_ascii_isdigit (*p))
    p++;
  if (p < walk->end && p > start && g_ascii_isdigit (p[-1]) && *p == '.')
    for (p++; p < walk->end && g_ascii_isdigit (*p);)
      p++;
  if (p < walk->end && g_ascii_isdigit (p[-1]) && (*p | 0x20) == 'e')
    {
      p++;
      if (p < walk->end && (*p == '+' || *p == '-'))
        p++;
    }

  return fail (walk, p, JSON_ERROR_NUMBER, "a digit");
}

/* @at: the first byte that is not white space; not '{'. */
gboolean
json_fail_start (JsonWalk *walk, const guint8 *at)
{
  gsize left = walk->end - at;

  if (left == 0)
    return fail_plainly (walk, at, JSON_ERROR_EMPTY, "nothing but white space");
  if (left >= 2 && ((at[0] == 0xff && at[1] == 0xfe) || (at[0] == 0xfe && at[1] == 0xff)))
    return fail_plainly (walk, at, JSON_ERROR_UTF_16,
                         "a UTF-16 byte order mark: the file must be UTF-8");
  if (at[0] == 0 && left >= 2 && (at[1] == '{' || at[1] == '['))
    return fail_plainly (walk, at, JSON_ERROR_UTF_16, "UTF-16 text: the file must be UTF-8");
  if (left >= 4 && (memcmp (at, "\x1f\x8b\x08", 3) == 0 || memcmp (at, "\x28\xb5\x2f\xfd", 4) == 0))
    return fail_plainly (walk, at, JSON_ERROR_COMPRESSED,
                         "compressed data where a JSON object was expected: compressed twice?");
  if (at[0] == '[')
    return fail_plainly (walk, at, JSON_ERROR_ARRAY_LINE, "a JSON array, not JSON lines");
  if (at[0] == '"' || at[0] == '-' || g_ascii_isdigit (at[0]) ||
      (left >= 4 && (memcmp (at, "true", 4) == 0 || memcmp (at, "null", 4) == 0)) ||
      (left >= 5 && memcmp (at, "false", 5) == 0))
    return fail (walk, at, JSON_ERROR_NOT_AN_OBJECT, "a JSON object");

  return fail (walk, at, JSON_ERROR_SYNTAX, "'{'");
}

gboolean
json_fail_depth (JsonWalk *walk, const guint8 *at)
{
  fail (walk, at, JSON_ERROR_DEPTH, "");
  g_snprintf (walk->error->message, sizeof walk->error->message,
              "nested deeper than the %d levels allowed", JSON_MAX_DEPTH);
  return FALSE;
}

gboolean
json_fail_duplicate (JsonWalk *walk, const guint8 *at, const JsonPlanNode *node)
{
  return fail (walk, at, JSON_ERROR_DUPLICATE_KEY, "each key once");
}

gboolean
json_fail_trailing (JsonWalk *walk, const guint8 *at)
{
  return fail (walk, at, JSON_ERROR_TRAILING,
               *at == '{' ? "one object in a line" : "the end of the line after the record");
}
