/* SPDX-License-Identifier: MIT */

#include <stdio.h>

#include <dlp-harness.h>

static void
assert_refused (const char *graph, DlpGraphError code, const char *part)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (dlp_harness_run (graph, NULL, &error));
  g_assert_error (error, DLP_GRAPH_ERROR, (int) code);
  if (strstr (error->message, part) == NULL)
    g_error ("“%s” is not in: %s", part, error->message);
}

static void
test_weights (void)
{
  const char *two = "check-source records=10 ! m.web  check-source records=10 variant=1 ! m.code  ";
  static const struct
  {
    const char *mix;
    DlpGraphError code;
    const char *part;
  } bad[] = {
    { "mix name=m weights=1 ! check-sink name=k", DLP_GRAPH_ERROR_VALUE, "1 weights for 2 inputs" },
    { "mix name=m weights=1,x ! check-sink name=k", DLP_GRAPH_ERROR_VALUE, "“x” is not a number" },
    { "mix name=m weights=1,-1 ! check-sink name=k", DLP_GRAPH_ERROR_VALUE,
      "“-1” is not a number of at least 0" },
    { "mix name=m weights=0,0 ! check-sink name=k", DLP_GRAPH_ERROR_VALUE, "every weight is 0" },
    { "mix name=m weights=web:1,cod:1 ! check-sink name=k", DLP_GRAPH_ERROR_VALUE,
      "no input is named “cod”" },
    { "mix name=m weights=web:1 ! check-sink name=k", DLP_GRAPH_ERROR_VALUE,
      "input “code” has none" },
    { "mix name=m weights=web:1,2 ! check-sink name=k", DLP_GRAPH_ERROR_VALUE, "“2” has no name" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autofree char *graph = g_strconcat (two, bad[i].mix, NULL);

      assert_refused (graph, bad[i].code, bad[i].part);
    }
  assert_refused (
      "check-source ! m.a  check-source tokens=true ! m.b  mix name=m ! check-sink name=k",
      DLP_GRAPH_ERROR_TYPE, "must be alike");
}

static guint
count_source (GPtrArray *lines, guint source)
{
  guint n = 0;

  for (guint i = 0; i < lines->len; i++)
    {
      guint of = 0;

      g_assert_cmpint (sscanf (g_ptr_array_index (lines, i), "[%*u %u", &of), ==, 1);
      n += of == source;
    }
  return n;
}

static void
test_shares (void)
{
  g_autoptr (GHashTable) got = dlp_harness_expect (
      "check-source records=10k ! m.a  check-source records=10k ! m.b  check-source records=9 ! "
      "m.c  check-source records=0 ! m.d "
      "mix name=m weights=a:3,b:1,c:0,d:5 ! limit records=4000 ! check-sink name=k");
  GPtrArray *lines = g_hash_table_lookup (got, "k");

  g_assert_cmpuint (lines->len, ==, 4000);
  /* Binomial with p = 0.75: a standard deviation is 27. */
  g_assert_cmpuint (count_source (lines, 0), >, 3000 - 140);
  g_assert_cmpuint (count_source (lines, 0), <, 3000 + 140);
  g_assert_cmpuint (count_source (lines, 2), ==, 0);
}

static void
test_exhausted (void)
{
  const char *inputs = "check-source records=30 ! m.  check-source records=200 variant=2 ! m.  ";
  g_autofree char *all = g_strconcat (inputs, "mix name=m ! check-sink name=k", NULL);
  g_autofree char *stop =
      g_strconcat (inputs, "mix name=m exhausted=stop ! check-sink name=k", NULL);
  g_autoptr (GHashTable) a = dlp_harness_expect (all);
  g_autoptr (GHashTable) b = dlp_harness_expect (stop);
  GPtrArray *lines = g_hash_table_lookup (b, "k");

  g_assert_cmpuint (((GPtrArray *) g_hash_table_lookup (a, "k"))->len, ==, 230);
  g_assert_cmpuint (count_source (lines, 0), ==, 30);
  g_assert_cmpuint (lines->len, <, 150);
}

static const char *const graph =
    "check-source records=40 ! m.  check-source records=25 variant=1 ! limit records=20 ! m. "
    "check-source records=0 ! m.  mix name=m weights=2,1,1 ! check-sink name=k";

static void
test_resume (void)
{
  dlp_harness_check_resume (graph, 1);
  dlp_harness_check_resume ("check-source records=40 ! mix ! check-sink name=k", 1);
  for (guint n = 0; n < dlp_harness_scale (20); n++)
    dlp_harness_check_resume (graph, 0);
}

static void
test_settings (void)
{
  dlp_harness_check_settings (graph);
}

static void
test_golden (void)
{
  dlp_harness_check_golden ("check-source records=12 ! m.a  check-source records=5 variant=1 ! m.b "
                            " mix name=m weights=a:1,b:2 ! check-sink name=k",
                            GOLDEN);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  g_test_add_func ("/mix/golden", test_golden);
  g_test_add_func ("/mix/weights", test_weights);
  g_test_add_func ("/mix/shares", test_shares);
  g_test_add_func ("/mix/exhausted", test_exhausted);
  g_test_add_func ("/mix/resume", test_resume);
  g_test_add_func ("/mix/settings", test_settings);
  return g_test_run ();
}
