/* SPDX-License-Identifier: MIT */

/* Further fields with types: what is a value of each, what is a bad record, and what it says. */

#include <string.h>

#include "reader-fixture.h"

typedef struct
{
  const char *type;
  const char *json; /* NULL: the key is missing */
  const char *good; /* what comes out, or NULL ... */
  const char *kind; /* ... where it is a bad record of this kind ... */
  const char *says;
} Case;

#define INT64 "a whole number, as it is int64 (fields=v would take its text)"
#define UINT64 "a whole number, as it is uint64 (fields=v would take its text)"
#define DOUBLE "a number, as it is double (fields=v would take its text)"
#define BOOLEAN "true or false, as it is boolean (fields=v would take its text)"
#define INT64_RANGE "-9223372036854775808 to 9223372036854775807, as it is int64"
#define UINT64_RANGE "0 to 18446744073709551615, as it is uint64"
#define DOUBLE_RANGE "-1.7976931348623157e308 to 1.7976931348623157e308, as it is double"

static const Case cases[] = {
  { "int64", "5", "5" },
  { "int64", "-0", "0" },
  { "int64", "1e3", "1000" },
  { "int64", "1.0", "1" },
  { "int64", "9007199254740993", "9007199254740993" },
  { "int64", "9223372036854775807", "9223372036854775807" },
  { "int64", "-9223372036854775808", "-9223372036854775808" },
  { "int64", "9223372036854775808", NULL, "range",
    "number 9223372036854775808, expected " INT64_RANGE },
  { "int64", "-9223372036854775809", NULL, "range",
    "number -9223372036854775809, expected " INT64_RANGE },
  { "int64", "1.5", NULL, "type", "is the number 1.5, expected " INT64 },
  { "int64", "\"5\"", NULL, "type", "is the string \"5\", expected " INT64 },
  { "int64", "true", NULL, "type", "is true, expected " INT64 },
  { "int64", "[5]", NULL, "type", "is the array [5], expected " INT64 },
  { "int64", "{\"a\":5}", NULL, "type", "is the object {\"a\":5}, expected " INT64 },
  { "int64", "null", NULL, "null",
    "the field \"v\" is null, expected a whole number (fields=v:int64? would take it)" },
  { "int64", NULL, NULL, "missing",
    "no field \"v\"; the record has \"text\" (fields=v:int64? would take it)" },
  { "int64?", "5", "5" },
  { "int64?", "null", "(null)" },
  { "int64?", NULL, "(null)" },
  { "int64?", "\"\"", NULL, "type", "is the string \"\", expected " INT64 },

  { "uint64", "18446744073709551615", "18446744073709551615" },
  { "uint64", "0", "0" },
  { "uint64", "1e19", "10000000000000000000" },
  { "uint64", "-1", NULL, "range", "is the number -1, expected " UINT64_RANGE },
  { "uint64", "18446744073709551616", NULL, "range", "expected " UINT64_RANGE },
  { "uint64", "0.5", NULL, "type", "is the number 0.5, expected " UINT64 },
  { "uint64", "false", NULL, "type", "is false, expected " UINT64 },
  { "uint64", "\"18\"", NULL, "type", "expected " UINT64 },
  { "uint64", "[]", NULL, "type", "is the array [], expected " UINT64 },
  { "uint64", "null", NULL, "null", "(fields=v:uint64? would take it)" },
  { "uint64", NULL, NULL, "missing", "(fields=v:uint64? would take it)" },
  { "uint64?", "null", "(null)" },
  { "uint64?", NULL, "(null)" },

  { "double", "0.1", "0.10000000000000001" },
  { "double", "-0.0", "-0" },
  { "double", "5", "5" },
  { "double", "9007199254740993", "9007199254740992" },
  { "double", "1e-400", "0" },
  { "double", "5e-324", "4.9406564584124654e-324" },
  { "double", "1.7976931348623157e308", "1.7976931348623157e+308" },
  { "double", "1e400", NULL, "range", "is the number 1e400, expected " DOUBLE_RANGE },
  { "double", "-1e309", NULL, "range", "is the number -1e309, expected " DOUBLE_RANGE },
  { "double", "\"0.1\"", NULL, "type", "is the string \"0.1\", expected " DOUBLE },
  { "double", "true", NULL, "type", "is true, expected " DOUBLE },
  { "double", "[[[0.1]]]", NULL, "type", "is the array [[[0.1]]], expected " DOUBLE },
  { "double", "{}", NULL, "type", "is the object {}, expected " DOUBLE },
  { "double", "null", NULL, "null", "(fields=v:double? would take it)" },
  { "double", NULL, NULL, "missing", "(fields=v:double? would take it)" },
  { "double?", "null", "(null)" },
  { "double?", NULL, "(null)" },
  { "double?", "1e400", NULL, "range", "expected " DOUBLE_RANGE },

  { "boolean", "true", "true" },
  { "boolean", "false", "false" },
  { "boolean", "1", NULL, "type", "is the number 1, expected " BOOLEAN },
  { "boolean", "\"true\"", NULL, "type", "is the string \"true\", expected " BOOLEAN },
  { "boolean", "[true]", NULL, "type", "expected " BOOLEAN },
  { "boolean", "null", NULL, "null", "(fields=v:boolean? would take it)" },
  { "boolean", NULL, NULL, "missing", "(fields=v:boolean? would take it)" },
  { "boolean?", "null", "(null)" },
  { "boolean?", NULL, "(null)" },

  { "string", "\"a\"", "a" },
  { "string", "1.50", "1.50" },
  { "string", "1e400", "1e400" },
  { "string", "{ \"k\":[1] }", "{ \"k\":[1] }" },
  { "string", "null", NULL, "null",
    "the field \"v\" is null, expected a string (fields=v:string? would take it)" },
  { "string", NULL, NULL, "missing", "no field \"v\"; the record has \"text\"" },
  { "string?", "null", "(null)" },
  { "string?", NULL, "(null)" },
  { "string?", "true", "true" },
};

/* "... ROW ...\tKIND\tMESSAGE\tURI\tROW\tLINE\tOFFSET\tRECORD" of a rejected record. */
static void
check_rejected (const char *line, const Case *c)
{
  g_auto (GStrv) parts = g_strsplit (line, "\t", -1);
  const char *value = strstr (parts[7], "\"v\":");
  gint64 offset = value != NULL ? value + strlen ("\"v\":") - parts[7] : 0;

  g_assert_cmpstr (parts[1], ==, c->kind);
  g_assert_nonnull (strstr (parts[2], c->says));
  g_assert_cmpint (g_ascii_strtoll (parts[6], NULL, 10), ==, offset);
}

static void
test_values (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const Case *c = &cases[i];
      g_autoptr (Fixture) fixture = fixture_new ();
      g_autoptr (RigOutput) output = NULL;
      g_autofree char *good = NULL;
      g_autofree char *line = c->json == NULL ?
                                  g_strdup ("{\"text\":\"x\"}\n") :
                                  g_strdup_printf ("{\"text\":\"x\",\"v\":%s}\n", c->json);

      g_test_message ("%s: %s", c->type, c->json);
      fixture_write (fixture, "a.jsonl", line, -1);
      fixture_set_reader (fixture, "fields=v:%s", c->type);
      fixture_set_reader (fixture, "max-bad-ratio=1");
      output = rig_run (fixture_config (fixture));
      if (c->good != NULL)
        {
          good = g_strdup_printf ("0 0 0 0 0\tx\t%s", c->good);
          g_assert_no_error (output->error);
          g_assert_cmpuint (output->rejected->len, ==, 0);
          g_assert_cmpstr (output->good->pdata[0], ==, good);
          continue;
        }
      g_assert_cmpuint (output->rejected->len, ==, 1);
      check_rejected (output->rejected->pdata[0], c);
    }
}

/* Reads @text with @fields; (transfer full): what comes out of either pad. */
static RigOutput *
read_text (const char *text, const char *fields, const char *setting)
{
  g_autoptr (Fixture) fixture = fixture_new ();

  fixture_write (fixture, "a.jsonl", text, -1);
  fixture_set_reader (fixture, "fields=%s", fields);
  fixture_set_reader (fixture, "max-bad-ratio=1");
  if (setting != NULL)
    fixture_set_reader (fixture, "%s", setting);
  return rig_run (fixture_config (fixture));
}

static void
test_lists (void)
{
  static const char text[] =
      "{\"text\":\"x\",\"s\":0.5,\"n\":7,\"a,b\":true,\"c:d\":{\"e\":1},\"l\":[1]}\n";
  static const char *const lists[] = {
    "s:double?,n:int64,a\\,b:boolean?,c\\:d.e:uint64,l",
    " s : double? , n:int64,a\\,b: boolean?, c:d.e:uint64 ,l",
  };

  for (guint i = 0; i < G_N_ELEMENTS (lists); i++)
    {
      g_autoptr (RigOutput) output = read_text (text, lists[i] + (i == 1), NULL);

      g_assert_no_error (output->error);
      g_assert_cmpuint (output->good->len, ==, 1);
      g_assert_cmpstr (output->good->pdata[0], ==, "0 0 0 0 0\tx\t0.5\t7\ttrue\t1\t[1]");
    }
}

/* The last of equal keys counts, and what the others were does not. */
static void
test_duplicates (void)
{
  g_autoptr (RigOutput) output = read_text ("{\"text\":\"x\",\"n\":\"no\",\"n\":1e99,\"n\":3}\n"
                                            "{\"text\":\"y\",\"n\":3,\"n\":null}\n"
                                            "{\"text\":\"z\",\"n\":3,\"n\":\"no\"}\n",
                                            "n:int64?", NULL);

  g_assert_no_error (output->error);
  g_assert_cmpuint (output->good->len, ==, 2);
  g_assert_cmpstr (output->good->pdata[0], ==, "0 0 0 0 0\tx\t3");
  g_assert_cmpstr (output->good->pdata[1], ==, "0 0 0 1 0\ty\t(null)");
  g_assert_cmpuint (output->rejected->len, ==, 1);
}

static void
test_non_finite (void)
{
  static const char text[] = "{\"text\":\"x\",\"d\":-Infinity}\n{\"text\":\"y\",\"d\":NaN}\n";
  g_autoptr (RigOutput) refused = read_text (text, "d:double", NULL);
  g_autoptr (RigOutput) taken = read_text (text, "d:double", "allow-non-finite=true");
  g_autoptr (RigOutput) integer = read_text (text, "d:int64", "allow-non-finite=true");

  g_assert_cmpuint (refused->rejected->len, ==, 2);
  g_assert_nonnull (strstr (refused->rejected->pdata[0], "\tnon-finite\t"));
  g_assert_no_error (taken->error);
  g_assert_cmpstr (taken->good->pdata[0], ==, "0 0 0 0 0\tx\t-inf");
  g_assert_cmpstr (taken->good->pdata[1], ==, "0 0 0 1 0\ty\tnan");
  g_assert_cmpuint (integer->rejected->len, ==, 2);
  g_assert_nonnull (strstr (integer->rejected->pdata[0], "\ttype\tthe field \"d\" is the number "
                                                         "-Infinity, expected a whole number"));
}

/* Long ones are cut between characters; one with escapes lies where it lies in the line. Text that
 * is bad is said first. */
static void
test_messages (void)
{
  g_autofree char *long_text = g_strnfill (47, 'a');
  g_autofree char *text =
      g_strdup_printf ("{\"text\":\"caf\\u00e9\",\"d\": \"\\u00e9%s\xc3\xa9\"}\n"
                       "{\"text\":\"x\",\"d\":\"\\u0041\\u0001\",\"e\":1}\n"
                       "{\"text\":1,\"d\":\"\"}\n",
                       long_text);
  g_autofree char *expected =
      g_strdup_printf ("the field \"d\" is the string \"\xc3\xa9%.46s\"..., expected", long_text);
  g_autoptr (RigOutput) output = read_text (text, "d:double,e:boolean", NULL);
  g_auto (GStrv) first = NULL;
  g_auto (GStrv) second = NULL;

  g_assert_cmpuint (output->rejected->len, ==, 3);
  first = g_strsplit (output->rejected->pdata[0], "\t", -1);
  g_assert_cmpstr (first[1], ==, "type");
  g_test_message ("%s", first[2]);
  g_assert_true (g_str_has_prefix (first[2], expected));
  g_assert_cmpstr (first[6], ==, "25");
  second = g_strsplit (output->rejected->pdata[1], "\t", -1);
  g_test_message ("%s", second[2]);
  g_assert_nonnull (strstr (second[2], "\"d\" is the string \"A\\u0001\", expected a number"));
  g_assert_cmpint (g_ascii_strtoll (second[6], NULL, 10), ==, strchr (text, '\n') + 1 - text + 16);
  g_assert_nonnull (strstr (output->rejected->pdata[2], "the field \"text\" is of kind number"));
}

static void
test_fail (void)
{
  g_autoptr (Fixture) fixture = fixture_new ();
  g_autofree char *path = fixture_path (fixture, "a.jsonl");
  g_autofree char *expected = g_strdup_printf (
      "jsonl-reader0: %s: row 1 (line 2, byte 46): range: the field \"m.s\" is the "
      "number 1e400, expected " DOUBLE_RANGE " (fields=m.s would take its text) "
      "(bad records are not allowed: on-bad-record=fail)",
      path);
  g_autoptr (RigOutput) output = NULL;

  fixture_write (fixture, "a.jsonl",
                 "{\"text\":\"x\",\"m\":{\"s\":1}}\n{\"text\":\"y\",\"m\":{\"s\":1e400}}\n", -1);
  fixture_set_reader (fixture, "fields=m.s:double?");
  fixture_set_reader (fixture, "on-bad-record=fail");
  output = rig_run (fixture_config (fixture));
  g_assert_nonnull (output->error);
  g_assert_cmpstr (output->error->message, ==, expected);
  g_assert_cmpuint (output->good->len, ==, 1);
}

static void
test_refused (void)
{
  static const struct
  {
    const char *fields;
    const char *says;
  } refused[] = {
    { "n:int", "fields, column 3: “int” is no type, did you mean “" },
    { "n:int64??", "“int64?” is no type" },
    { "n:", "“” is no type" },
    { "dc:title", "a colon in a name is written \\:" },
    { "n:binary", "JSON is read as string, number, boolean, list of numbers, not as binary" },
    { "n:text[]", "there are no lists of text" },
    { "n:int64,", "fields, column 9: a field has no name" },
    { "a,,b", "a field has no name" },
    { ":double", "a field has no name" },
    { "n,n:double", "fields, column 3: \"n\" is given twice" },
    { "a,text:string", "fields, column 3: \"text\" is the name" },
    { "a..b:int64", "Bad field path \"a..b\": a component is empty" },
    { "a\\b:int64", "a backslash may only stand before" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      g_autoptr (RigOutput) output = read_text ("", refused[i].fields, NULL);

      g_assert_error (output->error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE);
      g_test_message ("%s", output->error->message);
      g_assert_nonnull (strstr (output->error->message, refused[i].says));
    }
}

static void
append_record (GString *text, guint i)
{
  switch (i % 9)
    {
    case 2:
      g_string_append_printf (text, "{\"text\":\"%u\",\"n\":1.5,\"s\":1}\n", i);
      break;
    case 4:
      g_string_append_printf (text, "{\"text\":\"%u\",\"s\":1}\n\n", i);
      break;
    case 5:
      g_string_append_printf (text, "{\"s\":\"%u\",\"n\":1,\"text\":\"\\ud800\",\"n\":2}\n", i);
      break;
    case 7:
      g_string_append_printf (text, "{\"text\":\"%u\",\"n\":%u,\"ok\":true,\"s\":1e999}\n", i, i);
      break;
    default:
      g_string_append_printf (text, "{\"text\":\"%u\",\"n\":%u,\"ok\":%s,\"s\":%u.%u}\n", i, i,
                              i % 2 == 0 ? "null" : "false", i, i);
    }
}

/* Stopped at every record, whatever the chunks and workers. */
static void
test_resume (gconstpointer data)
{
  static const guint chunk_bytes[] = { 1024 * 1024, 1, 100 };
  g_autoptr (Fixture) folder = fixture_new ();
  g_autofree char *glob = fixture_path (folder, "*");
  g_autoptr (RigOutput) first = NULL;

  for (guint file = 0; file < 3; file++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      g_autofree char *name = g_strdup_printf ("%u.jsonl%s", file, file == 1 ? ".gz" : "");

      for (guint i = 0; i < 20 + 10 * file; i++)
        append_record (text, i);
      fixture_write (folder, name, text->str, (gssize) text->len);
    }
  for (guint i = 0; i < G_N_ELEMENTS (chunk_bytes); i++)
    {
      g_autoptr (Fixture) fixture = fixture_new_at (glob);
      g_autoptr (RigOutput) whole = NULL;
      g_autoptr (RigOutput) pieces = NULL;

      fixture_set_reader (fixture, "fields=n:int64,ok:boolean?,s:double?");
      fixture_set_reader (fixture, "max-bad-ratio=1");
      fixture_set_reader (fixture, "interleave=%u", GPOINTER_TO_UINT (data));
      fixture_set_reader (fixture, "chunk-bytes=%u", chunk_bytes[i]);
      fixture->config.workers = i;
      whole = rig_run (fixture_config (fixture));
      pieces = rig_run_in_pieces (fixture_config (fixture));
      g_assert_no_error (whole->error);
      g_assert_cmpuint (whole->good->len, >, 30);
      g_assert_cmpuint (whole->rejected->len, >, 30);
      rig_assert_equal (pieces, whole);
      if (i == 0)
        rig_assert_resumable (fixture_config (fixture), fixture_config (fixture));
      if (first == NULL)
        first = g_steal_pointer (&whole);
      else
        rig_assert_equal (whole, first);
    }
}

/* What was appended of a bad record, in place or aside, is taken back. */
static void
test_large_text (void)
{
  g_autofree char *large = g_strnfill (100000, 't');
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (RigOutput) output = NULL;

  for (guint i = 0; i < 40; i++)
    g_string_append_printf (text, "{\"text\":\"%s\",\"n\":%s}\n", i % 3 == 0 ? "s" : large,
                            i % 4 == 1 ? "[]" : "1");
  output = read_text (text->str, "n:int64", NULL);
  g_assert_no_error (output->error);
  g_assert_cmpuint (output->good->len, ==, 30);
  g_assert_cmpuint (output->rejected->len, ==, 10);
  for (guint i = 0; i < 30; i++)
    {
      guint row = i / 3 * 4 + (i % 3 == 0 ? 0 : i % 3 + 1);
      g_autofree char *expected =
          g_strdup_printf ("0 0 0 %u 0\t%s\t1", row, row % 3 == 0 ? "s" : large);

      g_assert_cmpstr (output->good->pdata[i], ==, expected);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  fixture_init ();
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  g_test_add_func ("/reader/typed/values", test_values);
  g_test_add_func ("/reader/typed/lists", test_lists);
  g_test_add_func ("/reader/typed/duplicates", test_duplicates);
  g_test_add_func ("/reader/typed/non-finite", test_non_finite);
  g_test_add_func ("/reader/typed/messages", test_messages);
  g_test_add_func ("/reader/typed/fail", test_fail);
  g_test_add_func ("/reader/typed/refused", test_refused);
  g_test_add_func ("/reader/typed/large-text", test_large_text);
  g_test_add_data_func ("/reader/typed/resume/1", GUINT_TO_POINTER (1), test_resume);
  g_test_add_data_func ("/reader/typed/resume/3", GUINT_TO_POINTER (3), test_resume);
  return g_test_run ();
}
