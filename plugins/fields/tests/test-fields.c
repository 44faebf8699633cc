/* SPDX-License-Identifier: MIT */

#include <string.h>

#include <dlp-harness.h>

/* The first line that comes of a graph with @fields in it. */
static char *
first_line (const char *fields)
{
  g_autofree char *graph =
      g_strdup_printf ("check-source records=2 ! fields %s ! check-sink name=k", fields);
  g_autoptr (GHashTable) got = dlp_harness_expect (graph);
  GPtrArray *lines = g_hash_table_lookup (got, "k");

  g_assert_cmpuint (lines->len, ==, 2);
  return g_strdup (g_ptr_array_index (lines, 1));
}

static void
assert_line (const char *fields, const char *expected)
{
  g_autofree char *line = first_line (fields);

  g_assert_cmpstr (line, ==, expected);
}

static void
test_select (void)
{
  assert_line ("keep=id", "[0 0 0 1 0] id=MC0x");
  assert_line ("keep=score,id", "[0 0 0 1 0] score=0.125 id=MC0x");
  assert_line ("keep=\"score, text , id\"", "[0 0 0 1 0] score=0.125 text= id=MC0x");
  assert_line ("drop=id", "[0 0 0 1 0] text= score=0.125");
  assert_line ("drop=text,id", "[0 0 0 1 0] score=0.125");
  assert_line ("rename=id:source-id", "[0 0 0 1 0] text= source-id=MC0x score=0.125");
  assert_line ("keep=score,id drop=text", "[0 0 0 1 0] score=0.125 id=MC0x");
}

static void
test_rename (void)
{
  assert_line ("rename=id:score,score:id", "[0 0 0 1 0] text= score=MC0x id=0.125");
  assert_line ("drop=text rename=id:text", "[0 0 0 1 0] text=MC0x score=0.125");
  assert_line ("keep=score,id rename=id:a,score:b", "[0 0 0 1 0] b=0.125 a=MC0x");
  assert_line ("rename=id:id", "[0 0 0 1 0] text= id=MC0x score=0.125");
  /* A comma, a colon, a blank and a backslash, there and back. */
  assert_line ("keep=id rename='id:a\\,b\\:c\\ \\\\' ! fields rename='a\\,b\\:c\\ \\\\:x'",
               "[0 0 0 1 0] x=MC0x");
  assert_line ("keep=id rename='id:a b'", "[0 0 0 1 0] a b=MC0x");
}

/* One behind the other, and with what copies and what slices records. */
static void
test_chain (void)
{
  g_autoptr (GHashTable) a = dlp_harness_expect (
      "check-source records=200 ! fields keep=score,id,text ! fields rename=id:a,text:b ! "
      "shuffle size=20 ! fields drop=score ! limit records=99 ! fields keep=b,a "
      "rename=b:text,a:id ! check-sink name=k");
  g_autoptr (GHashTable) b =
      dlp_harness_expect ("check-source records=200 ! shuffle size=20 ! limit records=99 ! "
                          "fields drop=score ! check-sink name=k");
  GPtrArray *got = g_hash_table_lookup (a, "k");
  GPtrArray *expected = g_hash_table_lookup (b, "k");

  g_assert_cmpuint (got->len, ==, 99);
  for (guint i = 0; i < got->len; i++)
    g_assert_cmpstr (g_ptr_array_index (got, i), ==, g_ptr_array_index (expected, i));
}

static void
assert_refused (const char *fields, const char *part)
{
  g_autofree char *graph = g_strdup_printf ("check-source ! fields %s ! check-sink name=k", fields);
  g_autoptr (GError) error = NULL;

  g_assert_false (dlp_harness_run (graph, NULL, &error));
  g_assert_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE);
  if (strstr (error->message, part) == NULL)
    g_error ("“%s” is not in: %s", part, error->message);
}

static void
test_errors (void)
{
  assert_refused ("", "set keep=NAME,... or drop=NAME,... or rename=OLD:NEW,...");
  assert_refused ("keep=txt", "keep: its input has no field “txt”, did you mean “text”?; its "
                              "fields: text, id, score");
  assert_refused ("drop=author", "drop: its input has no field “author”; its fields: text, id");
  assert_refused ("rename=a:b", "rename: its input has no field “a”; its fields: text, id");
  assert_refused ("keep=id,text,id", "keep: names the field “id” twice");
  assert_refused ("drop=id,id", "drop: names the field “id” twice");
  assert_refused ("rename=id:a,id:b", "rename: names the field “id” twice");
  assert_refused ("keep=id,text drop=id", "keep and drop both name the field “id”");
  assert_refused ("drop=text,id,score", "drop: no field is left");
  assert_refused ("rename=id:text", "rename: two fields would be named “text”");
  assert_refused ("keep=text rename=id:a", "rename: the field “id” is not kept");
  assert_refused ("keep=id,", "keep=id,: entry 2 is not the name of a field");
  assert_refused ("keep=,id", "entry 1 is not the name of a field");
  assert_refused ("rename=id", "rename=id: entry 1 is not old:new");
  assert_refused ("rename=id:", "entry 1 is not old:new");
  assert_refused ("rename=:id", "entry 1 is not old:new");
  assert_refused ("rename=id:a:b", "entry 1 is not old:new");
  assert_refused ("rename=id:a,text", "entry 2 is not old:new");
}

static void
test_files (void)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (dlp_harness_run ("file-source location=/dev/null ! fields keep=uri ! null-sink",
                                   NULL, &error));
  g_assert_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_TYPE);
  g_assert_nonnull (strstr (error->message, "put a reader before it"));
}

static void
test_resume (void)
{
  const char *graph =
      "check-source records=60 ! fields keep=id,text rename=text:body ! check-sink name=k";

  dlp_harness_check_resume (graph, 1);
  dlp_harness_check_resume ("check-source records=90 ! fields drop=id ! shuffle size=9 ! fields "
                            "keep=score ! check-sink name=k",
                            0);
}

static void
test_settings (void)
{
  dlp_harness_check_settings ("check-source records=200 ! fields drop=id ! check-sink name=k");
}

/* Marks, a resume at every record, stress, cancels and kills. */
static void
test_all (void)
{
  dlp_check_all ("check-source records=60 ! fields keep=id,text rename=id:x ! check-sink name=k");
}

static void
test_golden (void)
{
  dlp_harness_check_golden ("check-source records=20 ! fields keep=score,text rename=text:body ! "
                            "check-sink name=k",
                            GOLDEN);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  g_test_add_func ("/fields/golden", test_golden);
  g_test_add_func ("/fields/select", test_select);
  g_test_add_func ("/fields/rename", test_rename);
  g_test_add_func ("/fields/chain", test_chain);
  g_test_add_func ("/fields/errors", test_errors);
  g_test_add_func ("/fields/files", test_files);
  g_test_add_func ("/fields/resume", test_resume);
  g_test_add_func ("/fields/settings", test_settings);
  g_test_add_func ("/fields/all", test_all);
  return g_test_run ();
}
