/* SPDX-License-Identifier: MIT */

#include <dlp-harness.h>

static void
test_all (void)
{
  g_autoptr (GHashTable) got = dlp_harness_expect (
      "check-source records=100 ! tee name=t ! check-sink name=k  t. ! check-sink name=j  "
      "t.third ! limit records=10 ! check-sink name=i");
  GPtrArray *k = g_hash_table_lookup (got, "k");
  GPtrArray *j = g_hash_table_lookup (got, "j");
  GPtrArray *i = g_hash_table_lookup (got, "i");

  g_assert_cmpuint (k->len, ==, 100);
  g_assert_cmpuint (j->len, ==, 100);
  g_assert_cmpuint (i->len, ==, 10);
  for (guint n = 0; n < 100; n++)
    g_assert_cmpstr (g_ptr_array_index (k, n), ==, g_ptr_array_index (j, n));
  for (guint n = 0; n < 10; n++)
    g_assert_cmpstr (g_ptr_array_index (k, n), ==, g_ptr_array_index (i, n));
}

/* Branches that meet again are refused. */
static void
test_diamond (void)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (dlp_harness_run (
      "check-source ! tee name=t ! mix name=m ! check-sink name=k  t. ! m.", NULL, &error));
  g_assert_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_LINK);
  g_assert_nonnull (strstr (error->message, "meet again"));
}

/* Nor may two inputs that are each dealt to the same two mixes: run, these block each other. */
static void
test_ring (void)
{
  static const char *const graphs[][2] = {
    { "check-source ! tee name=t  check-source ! tee name=u  t. ! a.  u. ! a.  t. ! b.  u. ! b.  "
      "mix name=a ! null-sink  mix name=b ! null-sink",
      "comes from u, and there is another way between them: u - a - t - b" },
    { "file-source location=. ! jsonl-reader name=r ! a.  file-source location=. ! jsonl-reader "
      "name=q ! a.  stages name=a ! null-sink  r.rejected ! b.  q.rejected ! b.  mix name=b ! "
      "null-sink",
      "comes from q, and there is another way between them: q - a - r - b" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (graphs); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_false (dlp_harness_run (graphs[i][0], NULL, &error));
      g_assert_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_LINK);
      if (strstr (error->message, graphs[i][1]) == NULL)
        g_error ("“%s” is not in: %s", graphs[i][1], error->message);
    }
}

static void
test_no_output (void)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (dlp_harness_run ("check-source ! tee", NULL, &error));
  g_assert_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_LINK);
  g_assert_nonnull (strstr (error->message, "none of its outputs is linked"));
}

static void
test_resume (void)
{
  const char *graph =
      "check-source records=70 ! shuffle size=7 ! tee name=t ! check-sink name=k  "
      "t. ! limit records=25 ! check-sink name=j  t. ! shuffle size=20 ! check-sink name=i";

  dlp_harness_check_resume (graph, 1);
  for (guint n = 0; n < dlp_harness_scale (10); n++)
    dlp_harness_check_resume (graph, 0);
}

static void
test_settings (void)
{
  dlp_harness_check_settings (
      "check-source records=200 ! tee name=t ! check-sink name=k  t. ! limit records=25 ! "
      "check-sink name=j");
}

static void
test_golden (void)
{
  dlp_harness_check_golden ("check-source records=12 ! tee ! check-sink name=k", GOLDEN);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  g_test_add_func ("/tee/golden", test_golden);
  g_test_add_func ("/tee/all", test_all);
  g_test_add_func ("/tee/diamond", test_diamond);
  g_test_add_func ("/tee/ring", test_ring);
  g_test_add_func ("/tee/no-output", test_no_output);
  g_test_add_func ("/tee/resume", test_resume);
  g_test_add_func ("/tee/settings", test_settings);
  return g_test_run ();
}
