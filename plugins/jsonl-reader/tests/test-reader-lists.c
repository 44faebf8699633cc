/* SPDX-License-Identifier: MIT */

/* Fields that are lists of numbers, fields by other names, and no text at all; and what is said of
 * a property fields that is none. */

#include <string.h>

#include <dlpipe/dlp-error.h>

#include "reader-fixture.h"

typedef struct
{
  const char *type;
  const char *json; /* of the value */
  const char *good; /* what comes out, or NULL ... */
  const char *kind; /* ... where it is a bad record of this kind, */
  guint at;         /* with the fault so many bytes within the value */
  const char *says;
} Case;

static const Case cases[] = {
  { "i32[]", "[]", "[]" },
  { "i32[]", "[ ]", "[]" },
  { "i32[]", "[1]", "[1]" },
  { "i32[]", "[1,-2,0,-0,2147483647,-2147483648]", "[1,-2,0,0,2147483647,-2147483648]" },
  { "i32[]", "[ 1 ,\t2 , 3 ]", "[1,2,3]" },
  { "i32[]", "[1.0,2e2,300e-2,0.0]", "[1,200,3,0]" },
  { "i32[]", "[1,2147483648]", NULL, "range", 3,
    "the field \"v\": item 1 of the list is 2147483648, expected -2147483648 to 2147483647, as it "
    "is i32[]" },
  { "i32[]", "[-2147483649]", NULL, "range", 1, "is -2147483649, expected -2147483648 to" },
  { "i32[]", "[1,99999999999999999999]", NULL, "range", 3, "is 99999999999999999999, expected" },
  { "i32[]", "[1, 1.5]", NULL, "type", 4, "item 1 of the list is 1.5, expected a whole number" },
  { "i32[]", "[null]", NULL, "null", 1, "item 0 of the list is null, expected a whole number" },
  { "i32[]", "[1,\"2\"]", NULL, "type", 3, "item 1 of the list is a string" },
  { "i32[]", "[[1]]", NULL, "type", 1, "item 0 of the list is a list" },
  { "i32[]", "[{}]", NULL, "type", 1, "item 0 of the list is an object" },
  { "i32[]", "[true]", NULL, "type", 1, "item 0 of the list is true" },
  { "i32[]", "5", NULL, "type", 0, "is the number 5, expected a list of whole numbers, as it is" },
  { "i32[]", "\"[1]\"", NULL, "type", 0, "is the string \"[1]\", expected a list" },
  { "i32[]", "null", NULL, "null", 0, "(fields=v:i32[]? would take it)" },
  { "i32[]?", "null", "(null)" },
  { "i32[]?", "[1]", "[1]" },
  { "u16[]", "[0,65535]", "[0,65535]" },
  { "u16[]", "[65536]", NULL, "range", 1, "expected 0 to 65535, as it is u16[]" },
  { "u16[]", "[-1]", NULL, "range", 1, "is -1, expected 0 to 65535" },
  { "u32[]", "[0,4294967295]", "[0,4294967295]" },
  { "u32[]", "[4294967296]", NULL, "range", 1, "expected 0 to 4294967295" },
  { "list<uint32>", "[7]", "[7]" },
  { "list<uint16>", "[65536]", NULL, "range", 1, "as it is list<uint16>" },
  { "i64[]", "[9223372036854775807,-9223372036854775808,123456789012345678]",
    "[9223372036854775807,-9223372036854775808,123456789012345678]" },
  { "i64[]", "[9223372036854775808]", NULL, "range", 1, "is 9223372036854775808" },
  { "f32[]", "[0.1,1,-0,1e-50]", "[0.100000001,1,-0,0]" },
  { "f32[]", "[3.4028235e38]", "[3.40282347e+38]" },
  { "f32[]", "[1e39]", NULL, "range", 1, "expected -3.4028234663852886e38 to" },
  { "f64[]", "[0.1,1e300,123456789012345678901]",
    "[0.10000000000000001,1.0000000000000001e+300,1.2345678901234568e+20]" },
  { "f64[]", "[1e400]", NULL, "range", 1, "is 1e400" },
  { "i32[3]", "[1,2,3]", "[1,2,3]" },
  { "i32[3]", "[1,2]", NULL, "length", 0,
    "the field \"v\" has 2 values, expected 3, as it is i32[3] (pad=0 would fill it up)" },
  { "i32[3]", "[1,2,3,4]", NULL, "length", 0,
    "has 4 values, expected 3, as it is i32[3] (cut=true" },
  { "i32[3] pad=-1", "[]", "[-1,-1,-1]" },
  { "i32[3] pad=-1", "[1,2]", "[1,2,-1]" },
  { "i32[3] pad=-1", "[1,2,3,4]", NULL, "length", 0, "has 4 values" },
  { "i32[3] pad=7 cut=true", "[1,2,3,4.5,5]", "[1,2,3]" },
  { "i32[3] cut=true pad=7", "[1]", "[1,7,7]" },
  { "i32[3] cut=false", "[1,2,3,4]", NULL, "length", 0, "has 4 values" },
  { "i32[3]  cut=true ", "[1,2,3,\"x\"]", NULL, "type", 7, "item 3 of the list is a string" },
  { "f32[2] pad=0.5", "[1]", "[1,0.5]" },
  { "i32[2]? pad=0", "null", "(null)" },

  /* Numbers of 32 bits and others by their short names. */
  { "i32", "2147483647", "2147483647" },
  { "i32", "2147483648", NULL, "range", 0, "expected -2147483648 to 2147483647, as it is i32" },
  { "u16", "65536", NULL, "range", 0, "expected 0 to 65535, as it is u16" },
  { "u32?", "null", "(null)" },
  { "i64", "-9223372036854775808", "-9223372036854775808" },
  { "u64", "18446744073709551615", "18446744073709551615" },
  { "f32", "0.1", "0.10000000149011612" },
  { "f32", "1e39", NULL, "range", 0, "as it is f32" },
  { "f64", "0.1", "0.10000000000000001" },
  { "bool", "true", "true" },
  { "text", "\"a\"", "a" },
};

static void
check_rejected (const char *line, const Case *c)
{
  g_auto (GStrv) parts = g_strsplit (line, "\t", -1);

  g_assert_cmpstr (parts[1], ==, c->kind);
  g_test_message ("%s", parts[2]);
  g_assert_nonnull (strstr (parts[2], c->says));
  g_assert_cmpuint (g_ascii_strtoull (parts[6], NULL, 10), ==, strlen ("{\"v\":") + c->at);
}

static void
test_values (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const Case *c = &cases[i];
      g_autoptr (Fixture) fixture = fixture_new ();
      g_autoptr (RigOutput) output = NULL;
      g_autofree char *line = g_strdup_printf ("{\"v\":%s}\n", c->json);

      g_test_message ("%s: %s", c->type, c->json);
      fixture_write (fixture, "a.jsonl", line, -1);
      fixture_set_reader (fixture, "field=");
      fixture_set_reader (fixture, "fields=v:%s", c->type);
      fixture_set_reader (fixture, "max-bad-ratio=1");
      output = rig_run (fixture_config (fixture));
      if (c->good != NULL)
        {
          g_autofree char *good = g_strdup_printf ("0 0 0 0 0\t%s", c->good);

          g_assert_no_error (output->error);
          g_assert_cmpuint (output->rejected->len, ==, 0);
          g_assert_cmpstr (output->good->pdata[0], ==, good);
          continue;
        }
      g_assert_cmpuint (output->rejected->len, ==, 1);
      check_rejected (output->rejected->pdata[0], c);
    }
}

/* By another name, twice, from within objects, beside a text and without. */
static void
test_names (void)
{
  static const char text[] = "{\"text\":\"x\",\"ids\":[1,2,3],\"m\":{\"a=b\":4,\"c\":5.5}}\n";
  static const struct
  {
    const char *field, *fields, *good;
  } named[] = {
    { "text", "tokens=ids:i32[],n=m.a\\=b:i64", "x\t[1,2,3]\t4" },
    { "", "tokens=ids:i32[4] pad=0, score = m.c : f32", "[1,2,3,0]\t5.5" },
    { "", "text=ids:u16[2] cut=true,again=ids:f64[]", "[1,2]\t[1,2,3]" },
    { "", "ids", "[1,2,3]" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (named); i++)
    {
      g_autoptr (Fixture) fixture = fixture_new ();
      g_autoptr (RigOutput) output = NULL;
      g_autofree char *good = g_strconcat ("0 0 0 0 0\t", named[i].good, NULL);

      fixture_write (fixture, "a.jsonl", text, -1);
      fixture_set_reader (fixture, "field=%s", named[i].field);
      fixture_set_reader (fixture, "fields=%s", named[i].fields);
      output = rig_run (fixture_config (fixture));
      g_assert_no_error (output->error);
      g_assert_cmpuint (output->good->len, ==, 1);
      g_assert_cmpstr (output->good->pdata[0], ==, good);
    }
}

/* Where it is wrong stands below it. */
static void
test_refused (void)
{
  static const struct
  {
    const char *fields, *says;
  } refused[] = {
    { "n:i33",
      "fields, column 3: “i33” is no type, did you mean “i32”?; there are text, bytes, bool" },
    { "n:i33", "behind it where null is taken; a colon in a name is written \\:\nn:i33\n  ^~~" },
    { "a,tokens=ids:i32[x]", "fields, column 14: “[x]” is no length; it is [], or [N] with 1 to "
                             "268435455\na,tokens=ids:i32[x]\n             ^~~~~~" },
    { "v:i32[0]", "“[0]” is no length" },
    { "v:i32[268435456]", "“[268435456]” is no length" },
    { "v:i32[3", "“[3” is no length" },
    { "v:i32[3]]", "“[3]]” is no length" },
    { "v:text[]", "there are no lists of text" },
    { "v:u64[]", "there are no lists of u64" },
    { "v:bytes", "JSON is read as string, number, boolean, list of numbers, not as bytes" },
    { "v:i32[] pad=0", "pad and cut need a list of a length, such as i32[2048]\nv:i32[] pad=0\n"
                       "        ^~~~~" },
    { "v:i32 cut=true", "pad and cut need a list" },
    { "v:u16[2] pad=65536", "pad: “65536” is no value of u16[2]; allowed are 0 to 65535, whole "
                            "numbers\nv:u16[2] pad=65536\n             ^~~~~" },
    { "v:u16[2] pad=", "pad: “” is no value" },
    { "v:i32[2] pad=0.5", "pad: “0.5” is no value of i32[2]" },
    { "v:f32[2] pad=NaN", "pad: “NaN” is no value of f32[2]" },
    { "v:i32[2] pad=0 cat=1", "“cat=1” is neither pad=NUMBER nor cut=true or cut=false" },
    { "a=b,a=c", "fields, column 5: \"a\" is given twice\na=b,a=c\n    ^~~" },
    { "=b", "a field has no name" },
    { "b=", "a field has no name" },
    { ":i32", "a field has no name" },
    { "text=b", "\"text\" is the name of the field that field=text becomes" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      g_autoptr (Fixture) fixture = fixture_new ();
      g_autoptr (GError) error = NULL;

      fixture_write (fixture, "a.jsonl", "{}", -1);
      fixture_set_reader (fixture, "fields=%s", refused[i].fields);
      g_assert_null (rig_new (fixture_config (fixture), NULL, &error));
      g_assert_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE);
      g_test_message ("%s", error->message);
      g_assert_nonnull (strstr (error->message, refused[i].says));
    }
}

/* A long list, after which short ones are as before. */
static void
test_long (void)
{
  g_autoptr (GString) text = g_string_new ("{\"v\":[");
  g_autoptr (Fixture) fixture = fixture_new ();
  g_autoptr (RigOutput) output = NULL;
  const char *line;

  for (guint i = 0; i < 1000000; i++)
    g_string_append_printf (text, "%s%u", i > 0 ? "," : "", i);
  g_string_append (text, "]}\n{\"v\":[5]}\n{\"v\":[]}\n");
  fixture_write (fixture, "a.jsonl", text->str, -1);
  fixture_set_reader (fixture, "field=");
  fixture_set_reader (fixture, "fields=v:i64[]");
  output = rig_run (fixture_config (fixture));
  g_assert_no_error (output->error);
  g_assert_cmpuint (output->good->len, ==, 3);
  line = output->good->pdata[0];
  g_assert_true (g_str_has_suffix (line, ",999998,999999]"));
  g_assert_true (g_str_has_suffix (output->good->pdata[1], "\t[5]"));
  g_assert_true (g_str_has_suffix (output->good->pdata[2], "\t[]"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  fixture_init ();
  g_test_add_func ("/reader/lists/values", test_values);
  g_test_add_func ("/reader/lists/names", test_names);
  g_test_add_func ("/reader/lists/refused", test_refused);
  g_test_add_func ("/reader/lists/long", test_long);
  return g_test_run ();
}
