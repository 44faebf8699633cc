/* SPDX-License-Identifier: MIT */

/* What becomes of bad records, and when they are too many. */

#include <string.h>

#include <dlpipe/dlp-file.h>

#include "reader-fixture.h"

static void
add_good (GString *text, guint n)
{
  for (guint i = 0; i < n; i++)
    g_string_append (text, "{\"text\":\"x\"}\n");
}

static void
add_bad (GString *text, guint n)
{
  for (guint i = 0; i < n; i++)
    g_string_append (text, "{\"text\":3}\n");
}

/* Runs over one file; the chunks must not matter. */
static RigOutput *
run (const char *text, const char *setting, gboolean strict)
{
  static const guint64 chunk_bytes[] = { 1024 * 1024, 1, 777 };
  g_autoptr (Fixture) folder = fixture_new ();
  g_autofree char *path = fixture_path (folder, "a.jsonl");
  RigOutput *output = NULL;

  fixture_write (folder, "a.jsonl", text, -1);
  for (guint i = 0; i < G_N_ELEMENTS (chunk_bytes); i++)
    {
      g_autoptr (Fixture) fixture = fixture_new_at (path);
      g_autoptr (RigOutput) again = NULL;

      if (setting != NULL)
        fixture_set_reader (fixture, "%s", setting);
      fixture_set_reader (fixture, "chunk-bytes=%" G_GUINT64_FORMAT, chunk_bytes[i]);
      fixture->config.strict = strict;
      fixture->config.workers = i;
      again = rig_run (fixture_config (fixture));
      if (output == NULL)
        output = g_steal_pointer (&again);
      else
        rig_assert_equal (again, output);
    }
  return output;
}

static void
assert_fails (const RigOutput *output, guint good, guint rejected, const char *message)
{
  const char *said;

  g_assert_nonnull (output->error);
  g_test_message ("%s", output->error->message);
  g_assert_cmpint (output->error->domain, ==, DLP_DATA_ERROR);
  said = strstr (output->error->message, message);
  g_assert_nonnull (said);
  g_assert_cmpuint (output->good->len, ==, good);
  g_assert_cmpuint (output->rejected->len, ==, rejected);
}

static void
test_in_a_row (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (RigOutput) passes = NULL;
  g_autoptr (RigOutput) fails = NULL;
  g_autoptr (RigOutput) allowed = NULL;

  add_good (text, 300);
  add_bad (text, 99);
  add_good (text, 1);
  add_bad (text, 99);
  passes = run (text->str, "max-bad-ratio=0.9", FALSE);
  g_assert_no_error (passes->error);
  g_assert_cmpuint (passes->rejected->len, ==, 198);

  add_bad (text, 1);
  fails = run (text->str, "max-bad-ratio=0.9", FALSE);
  assert_fails (fails, 301, 198, ": 100 bad records in a row; the last one: ");

  add_bad (text, 50);
  allowed = run (text->str, "max-bad-ratio=1", FALSE);
  g_assert_no_error (allowed->error);
  g_assert_cmpuint (allowed->rejected->len, ==, 249);
}

static void
test_ratio (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (RigOutput) exact = NULL;
  g_autoptr (RigOutput) late = NULL;
  g_autoptr (RigOutput) early = NULL;

  /* One of 1,000 is the share allowed, and no more than it. */
  add_good (text, 999);
  add_bad (text, 1);
  exact = run (text->str, NULL, FALSE);
  g_assert_no_error (exact->error);

  add_bad (text, 1);
  add_good (text, 5000);
  late = run (text->str, NULL, FALSE);
  assert_fails (late, 999, 1, ": 2 of 1001 records are bad, above the share max-bad-ratio=0.001");

  /* Before record 1,000 nothing is judged; at the end all is. */
  g_string_truncate (text, 0);
  add_good (text, 20);
  add_bad (text, 20);
  add_good (text, 900);
  early = run (text->str, NULL, FALSE);
  g_assert_no_error (early->error);
  add_good (text, 100);
  g_clear_pointer (&early, rig_output_free);
  early = run (text->str, NULL, FALSE);
  assert_fails (early, 1020, 20, ": 20 of 1040 records are bad");
  add_good (text, 20000);
  g_clear_pointer (&early, rig_output_free);
  early = run (text->str, NULL, FALSE);
  g_assert_no_error (early->error);
}

static void
test_none_good (void)
{
  g_autoptr (RigOutput) bad = run ("{}\n[\n{\"text\":[]}\n", NULL, FALSE);
  g_autoptr (RigOutput) nothing = run ("\n\n", NULL, FALSE);

  assert_fails (bad, 0, 3, ": no record is good, all 3 are bad (1 missing, 1 array-line, 1 type)");
  g_assert_no_error (nothing->error);
}

static void
test_fail (void)
{
  const char *text =
      "\n{\"text\":\"a\"}\n\n\n{\"text\":\"b\"}\n{\"text\":\"c\" 1}\n{\"text\":\"d\"}\n";
  g_autoptr (RigOutput) fail = run (text, "on-bad-record=fail", FALSE);
  g_autoptr (RigOutput) strict = run (text, NULL, TRUE);

  assert_fails (fail, 2, 0, "a.jsonl: row 2 (line 6, byte 41): syntax: ");
  assert_fails (strict, 2, 0, "(bad records are not allowed: the pipeline is strict)");
}

static void
test_strict_json (void)
{
  const char *text = "{\"text\":\"a\"}\n{\"text\":\"\\ud800\"}\n";
  g_autoptr (RigOutput) lenient = run (text, NULL, FALSE);
  g_autoptr (RigOutput) strict = run (text, NULL, TRUE);
  g_autoptr (GVariant) counters = NULL;
  guint64 n;

  g_assert_no_error (lenient->error);
  g_assert_cmpstr (lenient->good->pdata[1], ==, "0 0 0 1 0\t\xef\xbf\xbd");
  g_assert_true (g_variant_lookup (lenient->report, "counters", "@a{st}", &counters));
  g_assert_true (g_variant_lookup (counters, "lone-surrogates", "t", &n));
  g_assert_cmpuint (n, ==, 1);
  assert_fails (strict, 1, 0, ": lone-surrogate: ");
}

static void
test_rejected (void)
{
  g_autoptr (Fixture) fixture = fixture_new ();
  g_autofree char *path = fixture_path (fixture, "a\n.jsonl.zst");
  g_autofree char *shown = dlp_uri_escape_for_display (path);
  g_autofree char *expected = NULL;
  g_autoptr (RigOutput) output = NULL;
  g_autoptr (GVariant) files = NULL;
  guint64 n;

  fixture_write (fixture, "a\n.jsonl.zst", "{\"text\":\"x\"}\n\n {\"text\":null,\"id\":1}\r\n", -1);
  fixture->config.workers = 1;
  output = rig_run (fixture_config (fixture));
  g_assert_no_error (output->error);
  g_assert_cmpuint (output->rejected->len, ==, 1);
  expected = g_strdup_printf (
      "0 0 0 1 0\tnull\tthe field \"text\" is of kind null, expected a string\t%s\t1\t3\t23\t "
      "{\"text\":null,\"id\":1}\\x0d",
      shown);
  g_assert_cmpstr (output->rejected->pdata[0], ==, expected);
  g_assert_true (g_variant_lookup (output->report, "bad-files", "@a{st}", &files));
  g_assert_true (g_variant_lookup (files, shown, "t", &n));
  g_assert_cmpuint (n, ==, 1);
}

static void
test_too_long (void)
{
  static const guint64 chunk_bytes[] = { 1, 100, 1000, 1024 * 1024 };
  g_autoptr (GString) text = g_string_new ("{\"text\":\"a\"}\n");
  g_autofree char *exact = g_strnfill (2000 - strlen ("{\"text\":\"\"}\n"), 'e');
  g_autofree char *over = g_strnfill (2000 - strlen ("{\"text\":\"\"}\n") + 1, 'o');
  g_autofree char *huge = g_strnfill (100000, 'h');
  g_autoptr (RigOutput) first = NULL;

  g_string_append_printf (text, "{\"text\":\"%s\"}\n", exact);
  g_string_append_printf (text, "{\"text\":\"%s\"}\n", over);
  g_string_append_printf (text, "\n{\"text\":\"%s\"}\n{\"text\":\"b\"}\n", huge);
  g_string_append_printf (text, "{\"text\":\"%s\"}", exact);
  for (guint last = 0; last < 2; last++)
    {
      g_clear_pointer (&first, rig_output_free);
      for (guint i = 0; i < 2 * G_N_ELEMENTS (chunk_bytes); i++)
        {
          g_autoptr (Fixture) fixture = fixture_new ();
          g_autoptr (RigOutput) output = NULL;
          g_autoptr (RigOutput) pieces = NULL;

          fixture_write (fixture, i % 2 == 0 ? "a.jsonl" : "a.jsonl.gz", text->str, -1);
          fixture_set_reader (fixture, "max-record-bytes=2000");
          fixture_set_reader (fixture, "chunk-bytes=%" G_GUINT64_FORMAT, chunk_bytes[i / 2]);
          fixture->config.workers = i % 3;
          output = rig_run (fixture_config (fixture));
          pieces = rig_run_in_pieces (fixture_config (fixture));
          g_assert_no_error (output->error);
          g_assert_cmpuint (output->good->len, ==, 4);
          g_assert_cmpuint (output->rejected->len, ==, 2 + last);
          g_assert_nonnull (strstr (output->rejected->pdata[0],
                                    "\ttoo-long\ta record of 2001 bytes, above the "
                                    "max-record-bytes=2000 allowed"));
          g_assert_true (g_str_has_prefix (output->rejected->pdata[1], "0 0 0 3 0"));
          rig_assert_equal (pieces, output);
          if (first == NULL)
            first = g_steal_pointer (&output);
          else
            for (guint k = 0; k < 4; k++)
              g_assert_cmpstr (output->good->pdata[k], ==, first->good->pdata[k]);
        }
      g_string_append_printf (text, "\n{\"text\":\"%s\"}", huge);
    }
}

static void
assert_refused (const char *setting, const char *message)
{
  g_autoptr (Fixture) fixture = fixture_new ();
  g_autoptr (RigOutput) output = NULL;

  fixture_write (fixture, "a.jsonl", "", 0);
  fixture_set_reader (fixture, "%s", setting);
  output = rig_run (fixture_config (fixture));
  g_assert_error (output->error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE);
  g_test_message ("%s", output->error->message);
  g_assert_nonnull (strstr (output->error->message, message));
}

static void
test_settings (void)
{
  assert_refused ("field=a..b", "field: ");
  assert_refused ("fields=text", "fields, column 1: \"text\" is the name");
}

static void
test_fields (void)
{
  g_autoptr (Fixture) fixture = fixture_new ();
  g_autoptr (RigOutput) output = NULL;

  fixture_write (fixture, "a.jsonl",
                 "{\"a\":{\"t\":\"x\"},\"id\":\"\\u0041\",\"n\":1.50}\n"
                 "{\"a\":{\"t\":\"\"},\"id\":null,\"n\":{ \"k\":[1] }}\n"
                 "{\"a\":{\"t\":\"z\"},\"id\":true}\n",
                 -1);
  fixture_set_reader (fixture, "field=a.t");
  fixture_set_reader (fixture, "fields=id");
  fixture_set_reader (fixture, "fields=n");
  output = rig_run (fixture_config (fixture));
  g_assert_no_error (output->error);
  g_assert_cmpuint (output->good->len, ==, 3);
  g_assert_cmpstr (output->good->pdata[0], ==, "0 0 0 0 0\tx\tA\t1.50");
  g_assert_cmpstr (output->good->pdata[1], ==, "0 0 0 1 0\t\t(null)\t{ \"k\":[1] }");
  g_assert_cmpstr (output->good->pdata[2], ==, "0 0 0 2 0\tz\ttrue\t(null)");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  fixture_init ();
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  g_test_add_func ("/reader/bad/in-a-row", test_in_a_row);
  g_test_add_func ("/reader/bad/ratio", test_ratio);
  g_test_add_func ("/reader/bad/none-good", test_none_good);
  g_test_add_func ("/reader/bad/fail", test_fail);
  g_test_add_func ("/reader/bad/strict-json", test_strict_json);
  g_test_add_func ("/reader/bad/rejected", test_rejected);
  g_test_add_func ("/reader/bad/too-long", test_too_long);
  g_test_add_func ("/reader/settings", test_settings);
  g_test_add_func ("/reader/fields", test_fields);
  return g_test_run ();
}
