/* SPDX-License-Identifier: MIT */

#include <string.h>

#include <dlpipe/dlp-error.h>

#include "source-manifest.h"

#define SHA "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* (transfer full): what is understood of a text, as JSON lines. */
static char *
understand (const char *text, const char *location)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) entries = source_manifest_parse (text, strlen (text), &error);

  g_assert_no_error (error);
  if (location != NULL)
    source_manifest_resolve (entries, location, &error);
  g_assert_no_error (error);
  return source_manifest_print (entries);
}

static void
assert_means (const char *text, const char *expected)
{
  g_autofree char *printed = understand (text, NULL);
  g_autofree char *again = understand (printed, NULL);

  g_assert_cmpstr (printed, ==, expected);
  g_assert_cmpstr (again, ==, expected);
}

/* One file, two, and none of the optional keys; as a document, wrapped, as lines. */
static void
test_forms (void)
{
  static const char two[] = "{\"uri\": \"b\"}\n{\"uri\": \"a\", \"size\": 5}\n";

  assert_means ("[{\"uri\":\"b\"},{\"uri\":\"a\",\"size\":5}]", two);
  assert_means (" \n[\n {\"uri\":\"b\"},\n {\"size\":5,\"uri\":\"a\"}]\n", two);
  assert_means ("{\"files\": [{\"uri\":\"b\"},{\"uri\":\"a\",\"size\":5}]}", two);
  assert_means ("{\"uri\":\"b\"}\n{\"uri\":\"a\",\"size\":5}", two);
  assert_means ("\r\n{\"uri\":\"b\"}\r\n\n  \n{\"uri\":\"a\",\"size\":5}\r\n\n", two);
  assert_means ("{\"uri\":\"b\"}", "{\"uri\": \"b\"}\n");
  assert_means ("{\"uri\":\"b\"}\n", "{\"uri\": \"b\"}\n");
}

static void
test_keys (void)
{
  assert_means ("{\"weight\": 1.0, \"sha256\": \"" SHA "\", \"etag\": \"\\\"x\\\"\", \"rows\": 0, "
                "\"size\": 9223372036854775807, \"uri\": \"s3://b/\xc3\xa9 #?\"}",
                "{\"uri\": \"s3://b/\xc3\xa9 #?\", \"size\": 9223372036854775807, \"rows\": 0, "
                "\"etag\": \"\\\"x\\\"\", \"sha256\": \"" SHA "\"}\n");
  assert_means ("{\"uri\": \"a\", \"sha256\": "
                "\"ABCDEF6789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"}",
                "{\"uri\": \"a\", \"sha256\": "
                "\"abcdef6789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"}\n");
}

/* What gives access is not stored. */
static void
test_secrets (void)
{
  g_autofree char *printed =
      understand ("{\"uri\": \"https://me:pass@h/x?X-Amz-Signature=123&part=1\"}", NULL);

  g_assert_null (strstr (printed, "pass"));
  g_assert_null (strstr (printed, "123"));
  g_assert_nonnull (strstr (printed, "part=1"));
}

static void
test_errors (void)
{
  static const struct
  {
    const char *text, *message;
  } cases[] = {
    { "", "names no file" },
    { " \n\n", "names no file" },
    { "[]", "names no file" },
    { "{\"files\": []}", "names no file" },
    { "[{\"uri\": \"a\"}, 5]", "entry (from 0) 1: it is no object" },
    { "{\"files\": 5}", "“files” is no array" },
    { "{\"files\": [], \"version\": 1}", "line 1: unknown key “files”" },
    { "{\"uri\": \"a\"}\n{\"uri\": \"b\"", "line 2: " },
    { "{\"uri\": \"a\"}\n\n{\"url\": \"b\"}", "line 3: unknown key “url”; known: uri, size, rows" },
    { "[{\"uri\": \"a\"", "byte" },
    { "[{\"uri\": \"a\"}] {}", "byte" },
    { "{\"size\": 5}", "the key “uri” is missing" },
    { "{\"uri\": \"\"}", "“uri” is \"\"; it has to be a text" },
    { "{\"uri\": null}", "“uri” is null; it has to be a text" },
    { "{\"uri\": \"a\", \"uri\": \"b\"}", "the key “uri” is there twice" },
    { "{\"uri\": \"a\", \"size\": -1}", "“size” is -1; it has to be a whole number" },
    { "{\"uri\": \"a\", \"size\": 1.5}", "“size” is 1.5" },
    { "{\"uri\": \"a\", \"size\": \"5\"}", "“size” is \"5\"" },
    { "{\"uri\": \"a\", \"rows\": 9223372036854775808}", "“rows” is 9223372036854775808" },
    { "{\"uri\": \"a\", \"etag\": 5}", "“etag” is 5" },
    { "{\"uri\": \"a\", \"sha256\": \"abc\"}", "“sha256” is \"abc\"; it has to be 64 hex" },
    { "{\"uri\": \"a\", \"sha256\": \"" SHA "0\"}", "64 hexadecimal digits" },
    { "{\"uri\": \"a\", \"weight\": 2}", "“weight” is 2; it has to be 1: files of one source" },
    { "part-0.jsonl\npart-1.jsonl\n", "line 1: " },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (source_manifest_parse (cases[i].text, strlen (cases[i].text), &error));
      g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT);
      if (strstr (error->message, cases[i].message) == NULL)
        g_error ("“%s” is not in “%s”", cases[i].message, error->message);
    }
}

static void
test_relative (void)
{
  static const struct
  {
    const char *uri, *location, *expected;
  } cases[] = {
    { "a.jsonl", "m.json", "a.jsonl" },
    { "a.jsonl", "data/m.json", "data/a.jsonl" },
    { "../a b.jsonl", "data/m.json", "data/../a b.jsonl" },
    { "/srv/a.jsonl", "data/m.json", "/srv/a.jsonl" },
    { "http://h/a", "data/m.json", "http://h/a" },
    { "a.jsonl", "http://h/data/m.json", "http://h/data/a.jsonl" },
    { "../a.jsonl?x=1", "http://h/data/m.json?y=2", "http://h/a.jsonl?x=1" },
    { "/a.jsonl", "http://h/data/m.json", "http://h/a.jsonl" },
    { "part/a.jsonl", "s3://bucket/data/m.json", "s3://bucket/data/part/a.jsonl" },
    { "s3://b/a", "http://h/data/m.json", "s3://b/a" },
    { "a%20b.jsonl", "https://h:81/data/m.json", "https://h:81/data/a%20b.jsonl" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = g_strdup_printf ("{\"uri\": \"%s\"}", cases[i].uri);
      g_autofree char *expected = g_strdup_printf ("{\"uri\": \"%s\"}\n", cases[i].expected);
      g_autofree char *printed = understand (text, cases[i].location);

      g_assert_cmpstr (printed, ==, expected);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/source-manifest/forms", test_forms);
  g_test_add_func ("/source-manifest/keys", test_keys);
  g_test_add_func ("/source-manifest/secrets", test_secrets);
  g_test_add_func ("/source-manifest/errors", test_errors);
  g_test_add_func ("/source-manifest/relative", test_relative);
  return g_test_run ();
}
