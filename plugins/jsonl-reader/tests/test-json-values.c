/* SPDX-License-Identifier: MIT */

#include <string.h>

#include "json-compare.h"
#include "json-lines.h"
#include "json-record.h"

#define MAX_PATHS 6

/* A line, the paths wanted of it, and for each "kind" or "kind:value". */
typedef struct
{
  const char *line;
  const char *paths[MAX_PATHS];
  const char *values[MAX_PATHS];
  guint64 duplicates;
  guint64 lone_surrogates;
} Example;

static const Example examples[] = {
  { "{\"text\":\"one\"}", { "text" }, { "string:one" } },
  { "{\"text\":\"\"}", { "text" }, { "string:" } },
  { "{\"id\":1}", { "text" }, { "missing" } },
  { "{\"text\":null}", { "text" }, { "null:null" } },
  { "{\"text\": -1.50e3 }", { "text" }, { "number:-1.50e3" } },
  { "{\"text\":true,\"b\":false}", { "b", "text" }, { "false:false", "true:true" } },
  { "{\"text\":[ 1, {\"text\":2} ] }", { "text" }, { "array:[ 1, {\"text\":2} ]" } },
  { "{\"text\":{ }, \"b\":[]}", { "text", "b" }, { "object:{ }", "array:[]" } },
  { "{\"text\":12345678901234567890123}", { "text" }, { "number:12345678901234567890123" } },
  { "{\"TEXT\":1,\"tex\":2,\"textt\":3,\"te\":4}", { "text" }, { "missing" } },
  { "{\"a\":{\"text\":1},\"b\":[{\"text\":2}]}", { "text" }, { "missing" } },

  { "{\"text\":\"a\\nb\\tc\\\\d\\\"e\\/\"}", { "text" }, { "string:a\nb\tc\\d\"e/" } },
  { "{\"text\":\"\\u00e9\\u20ac\\ud83d\\ude00\"}", { "text" }, { "string:é€😀" } },
  { "{\"text\":\"é€😀\"}", { "text" }, { "string:é€😀" } },
  { "{\"text\":\"x\\ud800y\"}", { "text" }, { "string:x\xef\xbf\xbdy" }, 0, 1 },
  { "{\"text\":\"\\udc00\\ud800\"}", { "text" }, { "string:\xef\xbf\xbd\xef\xbf\xbd" }, 0, 2 },
  { "{\"text\":\"\\ud83d\\ud83d\\ude00\"}", { "text" }, { "string:\xef\xbf\xbd😀" }, 0, 1 },
  { "{\"other\":\"\\ud800\",\"\\udfff\":0}", { "text" }, { "missing" }, 0, 2 },

  { "{\"t\\u0065xt\":\"k\"}", { "text" }, { "string:k" } },
  { "{\"\\u0074\\u0065\\u0078\\u0074\":\"k\"}", { "text" }, { "string:k" } },
  { "{\"text\\u0000\":\"k\",\"text\\n\":1}", { "text" }, { "missing" } },
  { "{\"ключ\":\"k\"}", { "ключ" }, { "string:k" } },
  { "{\"\\u043aлюч\":\"k\"}", { "ключ" }, { "string:k" } },
  { "{\"a\\\"b\":\"k\"}", { "a\"b" }, { "string:k" } },
  { "{\"a\\\\b\":1,\"a\\tb\":2}", { "a\\\\b", "a\tb" }, { "number:1", "number:2" } },
  { "{\"a_key_longer_than_eight\":1,\"a_key_longer_than_nine\":2}",
    { "a_key_longer_than_nine", "a_key_longer_than_eigh" },
    { "number:2", "missing" } },

  { "{\"data\":{\"doc\":{\"text\":\"deep\"}}}", { "data.doc.text" }, { "string:deep" } },
  { "{\"data\":{\"doc\":null}}", { "data.doc.text" }, { "missing" } },
  { "{\"data.doc.text\":\"flat\"}", { "data.doc.text" }, { "missing" } },
  { "{\"data.doc.text\":\"flat\"}", { "data\\.doc\\.text" }, { "string:flat" } },
  { "{\"data\":{\"doc.text\":\"half\"}}", { "data.doc\\.text" }, { "string:half" } },
  { "{\"data\":[{\"doc\":1}]}", { "data.doc" }, { "missing" } },
  { "{\"doc\":1,\"data\":{\"x\":{\"doc\":2}}}", { "data.doc" }, { "missing" } },
  { "{\"a\":{\"x\":{\"b\":1},\"b\":2,\"y\":[{\"b\":3}]},\"b\":4}", { "a.b" }, { "number:2" } },
  { "{\"a\":{\"b\":{\"c\":1},\"d\":2},\"e\":3}",
    { "a", "a.b", "a.b.c", "a.d", "e", "a.x" },
    { "object:{\"b\":{\"c\":1},\"d\":2}", "object:{\"c\":1}", "number:1", "number:2", "number:3",
      "missing" } },
  { "{\"text\":\"twice\"}", { "text", "text" }, { "string:twice", "string:twice" } },
  { "{\"text\":\"a\\nb\",\"b\":\"c\\nd\",\"c\":\"e\"}",
    { "text", "b", "c" },
    { "string:a\nb", "string:c\nd", "string:e" } },

  { "{\"text\":\"first\",\"text\":\"second\"}", { "text" }, { "string:second" }, 1 },
  { "{\"text\":\"a\",\"t\\u0065xt\":\"b\"}", { "text" }, { "string:b" }, 1 },
  { "{\"text\":\"a\\n\",\"text\":\"b\\n\",\"text\":\"c\\n\"}", { "text" }, { "string:c\n" }, 2 },
  { "{\"text\":\"a\",\"text\":null}", { "text" }, { "null:null" }, 1 },
  { "{\"x\":1,\"x\":2,\"text\":\"a\"}", { "text" }, { "string:a" }, 0 },
  { "{\"a\":{\"b\":1},\"a\":{\"c\":2}}", { "a.b", "a.c" }, { "missing", "number:2" }, 1 },
  { "{\"a\":{\"b\":1},\"a\":2}", { "a.b", "a" }, { "missing", "number:2" }, 1 },
  { "{\"a\":{\"b\":1,\"b\":2},\"a\":{\"b\":3}}", { "a.b" }, { "number:3" }, 2 },
  { "{\"a\":2,\"a\":{\"b\":1}}", { "a.b" }, { "number:1" }, 1 },
  { "{\"a\":{\"b\":1},\"x\":{\"b\":2}}", { "a.b" }, { "number:1" }, 0 },
};

static char *
describe (const JsonValue *value)
{
  const char *kind = json_value_kind_get_name (value->kind);

  if (value->kind == JSON_VALUE_MISSING)
    return g_strdup (kind);

  return g_strdup_printf ("%s:%.*s", kind, (int) value->len, (const char *) value->data);
}

static void
check_example (const Example *example, JsonLevel level)
{
  guint n = 0;
  g_autoptr (JsonScratch) scratch = json_scratch_new ();
  g_autoptr (GError) error = NULL;
  JsonValue values[MAX_PATHS];
  JsonCounts counts = { 0 };
  JsonError json_error;

  while (n < MAX_PATHS && example->paths[n] != NULL)
    n++;

  g_autoptr (JsonPlan) plan = json_plan_new (example->paths, n, JSON_FLAGS_NONE, &error);
  g_assert_no_error (error);
  if (!json_plan_set_level (plan, level))
    return;

  g_assert_true (json_parse_record_unpadded (plan, scratch, (const guint8 *) example->line,
                                             strlen (example->line), values, &counts, &json_error));
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *got = describe (&values[i]);

      g_assert_cmpstr (got, ==, example->values[i]);
    }
  g_assert_cmpuint (counts.duplicate_keys, ==, example->duplicates);
  g_assert_cmpuint (counts.lone_surrogates, ==, example->lone_surrogates);
}

static void
test_examples (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (examples); i++)
    for (guint level = 0; level < JSON_N_LEVELS; level++)
      check_example (&examples[i], level);
}

/* Without an escape a value lies in the line; with NUL its length counts. */
static void
test_places (void)
{
  const char *const paths[] = { "a", "b" };
  g_autoptr (JsonPlan) plan = json_plan_new (paths, 2, JSON_FLAGS_NONE, NULL);
  g_autoptr (JsonScratch) scratch = json_scratch_new ();
  const char *text = "{\"a\":\"plain\",\"b\":\"ab\\u0000cd\"}";
  g_autofree guint8 *line = g_malloc0 (strlen (text) + JSON_PADDING);
  JsonValue values[2];
  JsonCounts counts = { 0 };
  JsonError error;

  memcpy (line, text, strlen (text));
  g_assert_true (json_parse_record (plan, scratch, line, strlen (text), values, &counts, &error));
  g_assert_true (values[0].data == line + 6);
  g_assert_cmpuint (values[0].len, ==, 5);
  g_assert_cmpmem (values[1].data, values[1].len, "ab\0cd", 5);
}

static void
test_counts_add_up (void)
{
  const char *const path = "a";
  g_autoptr (JsonPlan) plan = json_plan_new (&path, 1, JSON_FLAGS_NONE, NULL);
  g_autoptr (JsonScratch) scratch = json_scratch_new ();
  const char *good = "{\"a\":\"\\ud800\",\"a\":1}";
  const char *bad = "{\"a\":\"\\ud800\",\"a\":1";
  JsonCounts counts = { 10, 20 };
  JsonError error;
  JsonValue value;

  g_assert_true (json_parse_record_unpadded (plan, scratch, (const guint8 *) good, strlen (good),
                                             &value, &counts, &error));
  g_assert_false (json_parse_record_unpadded (plan, scratch, (const guint8 *) bad, strlen (bad),
                                              &value, &counts, &error));
  g_assert_cmpuint (counts.lone_surrogates, ==, 11);
  g_assert_cmpuint (counts.duplicate_keys, ==, 21);
}

static void
test_flags (void)
{
  static const struct
  {
    const char *line;
    JsonFlags flags;
    JsonErrorKind kind;
    gsize offset;
  } vectors[] = {
    { "{\"a\":\"x\\ud800\"}", JSON_FLAGS_STRICT, JSON_ERROR_LONE_SURROGATE, 7 },
    { "{\"b\":\"\\ude00\"}", JSON_FLAGS_STRICT, JSON_ERROR_LONE_SURROGATE, 6 },
    { "{\"a\":\"\\ud83d\\ude00\"}", JSON_FLAGS_STRICT, JSON_ERROR_NONE, 0 },
    { "{\"a\":\"\\ud83d\\ud83d\\ude00\"}", JSON_FLAGS_STRICT, JSON_ERROR_LONE_SURROGATE, 6 },
    { "{\"a\":1, \"a\":2}", JSON_FLAGS_STRICT, JSON_ERROR_DUPLICATE_KEY, 8 },
    { "{\"a\":1,\"\\u0061\":2}", JSON_FLAGS_STRICT, JSON_ERROR_DUPLICATE_KEY, 7 },
    { "{\"b\":1,\"b\":2}", JSON_FLAGS_STRICT, JSON_ERROR_NONE, 0 },
    { "{\"a\":1,\"a\":\"\\x\"}", JSON_FLAGS_STRICT, JSON_ERROR_DUPLICATE_KEY, 7 },
    { "{\"a\":NaN}", JSON_FLAGS_ALLOW_NON_FINITE, JSON_ERROR_NONE, 0 },
    { "{\"b\":[-Infinity,Infinity]}", JSON_FLAGS_ALLOW_NON_FINITE, JSON_ERROR_NONE, 0 },
    { "{\"b\":-Infinit}", JSON_FLAGS_ALLOW_NON_FINITE, JSON_ERROR_NUMBER, 6 },
    { "{\"b\":Inf}", JSON_FLAGS_ALLOW_NON_FINITE, JSON_ERROR_SYNTAX, 5 },
  };
  const char *const path = "a";
  g_autoptr (JsonScratch) scratch = json_scratch_new ();

  for (gsize i = 0; i < G_N_ELEMENTS (vectors); i++)
    for (guint level = 0; level < JSON_N_LEVELS; level++)
      {
        g_autoptr (JsonPlan) plan = json_plan_new (&path, 1, vectors[i].flags, NULL);
        JsonValue value;
        JsonCounts counts = { 0 };
        JsonError error = { 0 };
        const guint8 *line = (const guint8 *) vectors[i].line;

        if (!json_plan_set_level (plan, level))
          continue;
        g_assert_cmpint (json_parse_record_unpadded (plan, scratch, line, strlen (vectors[i].line),
                                                     &value, &counts, &error),
                         ==, vectors[i].kind == JSON_ERROR_NONE);
        g_assert_cmpint (error.kind, ==, vectors[i].kind);
        g_assert_cmpuint (error.offset, ==, vectors[i].offset);
      }
}

static void
test_bad_paths (void)
{
  g_autoptr (GString) deep = g_string_new ("a");
  const char *const bad[] = { "", ".", "a.", ".a", "a..b", "a\\", "a\\n", "\xff", "\\" };

  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      const char *const paths[] = { "text", bad[i] };
      g_autoptr (GError) error = NULL;

      g_assert_null (json_plan_new (paths, 2, JSON_FLAGS_NONE, &error));
      g_assert_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE);
    }

  for (guint i = 1; i <= JSON_MAX_PATH_DEPTH; i++)
    {
      const char *const path = deep->str;
      g_autoptr (JsonPlan) plan = json_plan_new (&path, 1, JSON_FLAGS_NONE, NULL);

      g_assert_nonnull (plan);
      g_string_append (deep, ".a");
    }
  const char *const path = deep->str;
  g_assert_null (json_plan_new (&path, 1, JSON_FLAGS_NONE, NULL));
}

/* A key that holds a quote cannot stand in a line as it is. */
static void
test_key_with_quote (void)
{
  const char *const path = "a\"b";
  const char *line = "{\"a\"b\":1}";
  g_autoptr (JsonScratch) scratch = json_scratch_new ();

  for (guint level = 0; level < JSON_N_LEVELS; level++)
    {
      g_autoptr (JsonPlan) plan = json_plan_new (&path, 1, JSON_FLAGS_NONE, NULL);
      JsonValue value;
      JsonCounts counts = { 0 };
      JsonError error;

      if (!json_plan_set_level (plan, level))
        continue;
      g_assert_false (json_parse_record_unpadded (plan, scratch, (const guint8 *) line,
                                                  strlen (line), &value, &counts, &error));
      g_assert_cmpint (error.kind, ==, JSON_ERROR_SYNTAX);
      g_assert_cmpuint (error.offset, ==, 4);
    }
}

/* The deepest path there may be, each step of it wanted too. */
static void
test_deep_path (void)
{
  g_autoptr (GString) path = g_string_new (NULL);
  g_autoptr (GString) line = g_string_new (NULL);
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);
  g_autofree JsonValue *values = g_new0 (JsonValue, JSON_MAX_PATH_DEPTH);
  g_autoptr (JsonScratch) scratch = json_scratch_new ();
  JsonCounts counts = { 0 };
  JsonError error;

  for (guint i = 0; i < JSON_MAX_PATH_DEPTH; i++)
    {
      g_string_append (path, i == 0 ? "a" : ".a");
      g_ptr_array_add (paths, g_strdup (path->str));
      g_string_append (line, "{\"a\":");
    }
  g_string_append (line, "{\"a\":7}");
  for (guint i = 0; i < JSON_MAX_PATH_DEPTH; i++)
    g_string_append_c (line, '}');

  g_autoptr (JsonPlan) plan =
      json_plan_new ((const char *const *) paths->pdata, paths->len, JSON_FLAGS_NONE, NULL);
  g_assert_true (json_parse_record_unpadded (plan, scratch, (const guint8 *) line->str, line->len,
                                             values, &counts, &error));
  for (guint i = 0; i < paths->len; i++)
    {
      g_assert_cmpint (values[i].kind, ==, JSON_VALUE_OBJECT);
      g_assert_cmpuint (values[i].len, ==, 7 + 6 * (JSON_MAX_PATH_DEPTH - 1 - i));
    }
}

/* One scratch for plans of different sizes, for giant lines, and after it was trimmed. */
static void
test_scratch (void)
{
  const char *const paths[] = { "a", "b.c", "d" };
  g_autoptr (JsonScratch) scratch = json_scratch_new ();
  g_autoptr (GString) line = g_string_new ("{\"a\":\"");
  gsize text_len;

  for (guint i = 0; i < 300000; i++)
    g_string_append (line, "\\n x\\u00e9");
  text_len = 5 * 300000;
  g_string_append (line, "\",\"d\":\"y\\n\"}");

  for (guint n = 0; n <= 3; n++)
    {
      g_autoptr (JsonPlan) plan = json_plan_new (paths, n, JSON_FLAGS_NONE, NULL);
      JsonValue values[3];
      JsonCounts counts = { 0 };
      JsonError error;

      g_assert_true (json_parse_record_unpadded (plan, scratch, (const guint8 *) line->str,
                                                 line->len, values, &counts, &error));
      if (n > 0)
        {
          g_assert_cmpuint (values[0].len, ==, text_len);
          g_assert_cmpmem (values[0].data, 5, "\n x\xc3\xa9", 5);
          g_assert_cmpmem (values[0].data + text_len - 5, 5, "\n x\xc3\xa9", 5);
        }
      if (n > 2)
        g_assert_cmpmem (values[2].data, values[2].len, "y\n", 2);
      json_scratch_trim (scratch, n % 2 != 0 ? 0 : G_MAXSIZE);
    }
}

typedef struct
{
  guint good;
  guint bad;
} CaseCounts;

/* As a reader would: damage of the file ends it, blank lines are nothing. */
static CaseCounts
read_case (const char *name, const char *path, JsonLevel level)
{
  g_autofree char *file = g_test_build_filename (G_TEST_DIST, "cases", name, NULL);
  g_autofree char *contents = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonPlan) plan = json_plan_new (&path, 1, JSON_FLAGS_NONE, NULL);
  g_autoptr (JsonScratch) scratch = json_scratch_new ();
  CaseCounts result = { 0 };
  JsonCounts counts = { 0 };
  gsize len;

  g_file_get_contents (file, &contents, &len, &error);
  g_assert_no_error (error);
  g_assert_true (json_plan_set_level (plan, level));

  for (const guint8 *p = (const guint8 *) contents, *end = p + len; p < end;)
    {
      const guint8 *newline = json_find_newline (p, end - p);
      gsize line_len = (newline != NULL ? newline : end) - p;
      JsonError json_error;
      JsonValue value;

      if (json_line_is_blank (p, line_len))
        ;
      else if (!json_parse_record_unpadded (plan, scratch, p, line_len, &value, &counts,
                                            &json_error))
        {
          result.bad++;
          if (json_error.kind == JSON_ERROR_UTF_16 || json_error.kind == JSON_ERROR_ARRAY_LINE)
            return result;
        }
      else if (value.kind != JSON_VALUE_STRING)
        result.bad++;
      else
        result.good++;
      p += line_len + 1;
    }

  return result;
}

/* The rows of manifest.tsv about lines. */
static void
test_cases (void)
{
  g_autofree char *manifest = g_test_build_filename (G_TEST_DIST, "cases", "manifest.tsv", NULL);
  g_autofree char *contents = NULL;
  g_autoptr (JsonPlan) plan = json_plan_new (NULL, 0, JSON_FLAGS_NONE, NULL);
  g_auto (GStrv) rows = NULL;
  guint n_cases = 0;

  g_assert_true (g_file_get_contents (manifest, &contents, NULL, NULL));
  rows = g_strsplit (contents, "\n", -1);

  for (guint i = 0; rows[i] != NULL; i++)
    {
      g_auto (GStrv) cells = g_strsplit (rows[i], "\t", -1);
      const char *path = "text";

      if (rows[i][0] != 'j')
        continue;
      if (g_str_has_prefix (cells[0], "j18"))
        path = "data.doc.text";

      for (guint level = 0; level < JSON_N_LEVELS; level++)
        {
          CaseCounts counts;

          if (!json_plan_set_level (plan, level))
            continue;
          counts = read_case (cells[0], path, level);
          g_test_message ("%s: %u good, %u bad", cells[0], counts.good, counts.bad);
          g_assert_cmpuint (counts.good, ==, g_ascii_strtoull (cells[2], NULL, 10));
          g_assert_cmpuint (counts.bad, ==, g_ascii_strtoull (cells[3], NULL, 10));
        }
      n_cases++;
    }

  g_assert_cmpuint (n_cases, >=, 20);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/json/values/examples", test_examples);
  g_test_add_func ("/json/values/places", test_places);
  g_test_add_func ("/json/values/counts-add-up", test_counts_add_up);
  g_test_add_func ("/json/values/flags", test_flags);
  g_test_add_func ("/json/values/bad-paths", test_bad_paths);
  g_test_add_func ("/json/values/key-with-quote", test_key_with_quote);
  g_test_add_func ("/json/values/deep-path", test_deep_path);
  g_test_add_func ("/json/values/scratch", test_scratch);
  g_test_add_func ("/json/values/cases", test_cases);

  return g_test_run ();
}
