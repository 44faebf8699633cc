/* SPDX-License-Identifier: MIT */

#include <string.h>

#include <dlp-harness.h>

static void
assert_permutation (const char *plain, const char *shuffled, gboolean differs)
{
  g_autoptr (GHashTable) a = dlp_harness_expect (plain);
  g_autoptr (GHashTable) b = dlp_harness_expect (shuffled);
  GPtrArray *x = g_hash_table_lookup (a, "k");
  GPtrArray *y = g_hash_table_lookup (b, "k");
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  guint moved = 0;

  g_assert_cmpuint (x->len, ==, y->len);
  for (guint i = 0; i < x->len; i++)
    {
      g_assert_true (g_hash_table_add (seen, g_ptr_array_index (y, i)));
      moved += g_strcmp0 (g_ptr_array_index (x, i), g_ptr_array_index (y, i)) != 0;
    }
  for (guint i = 0; i < x->len; i++)
    g_assert_true (g_hash_table_contains (seen, g_ptr_array_index (x, i)));
  g_assert_true (differs ? moved > x->len / 2 : moved == 0);
}

static void
test_permutation (void)
{
  assert_permutation ("check-source records=500 ! check-sink name=k",
                      "check-source records=500 ! shuffle size=50 ! check-sink name=k", TRUE);
  assert_permutation ("check-source records=500 ! check-sink name=k",
                      "check-source records=500 ! shuffle size=10k ! check-sink name=k", TRUE);
  assert_permutation ("check-source records=500 ! check-sink name=k",
                      "check-source records=500 ! shuffle size=1 ! check-sink name=k", FALSE);
  assert_permutation ("check-source records=0 ! check-sink name=k",
                      "check-source records=0 ! shuffle size=3 ! check-sink name=k", FALSE);
}

static void
test_resume (void)
{
  dlp_harness_check_resume ("check-source records=80 ! shuffle size=6 ! check-sink name=k", 1);
  dlp_harness_check_resume ("check-source records=30 ! shuffle size=50 ! check-sink name=k", 1);
  dlp_harness_check_resume (
      "check-source records=70 tokens=true ! shuffle size=9 ! shuffle size=11 ! check-sink name=k",
      1);
  for (guint n = 0; n < dlp_harness_scale (20); n++)
    dlp_harness_check_resume (
        "check-source records=150 ! shuffle size=13 ! shuffle size=5 ! check-sink name=k", 0);
}

static void
test_resume_records (void)
{
  const char *shuffle = "shuffle checkpoint=records";

  for (guint i = 0; i < 3; i++)
    {
      static const guint sizes[] = { 6, 50, 1 };
      g_autofree char *graph = g_strdup_printf (
          "check-source records=60 ! %s size=%u ! check-sink name=k", shuffle, sizes[i]);

      dlp_harness_check_resume (graph, 1);
    }
  dlp_harness_check_resume ("check-source records=70 tokens=true ! shuffle size=9 "
                            "checkpoint=records ! shuffle size=11 ! shuffle size=4 "
                            "checkpoint=records ! check-sink name=k",
                            1);
  for (guint n = 0; n < dlp_harness_scale (20); n++)
    dlp_harness_check_resume ("check-source records=150 ! shuffle size=13 checkpoint=records ! "
                              "shuffle size=5 checkpoint=records ! check-sink name=k",
                              0);
}

static void
test_settings (void)
{
  dlp_harness_check_settings ("check-source records=300 ! shuffle size=32 ! check-sink name=k");
  dlp_harness_check_settings (
      "check-source records=300 ! shuffle size=32 checkpoint=records ! check-sink name=k");
}

/* A counter of the last run, of the shuffle in it. */
static guint64
get_counter (DlpPipeline *pipeline, const char *key)
{
  g_autoptr (GVariant) report = dlp_pipeline_get_report (pipeline);
  g_autoptr (GVariant) elements =
      g_variant_lookup_value (report, "elements", G_VARIANT_TYPE ("aa{sv}"));
  guint64 count = 0;

  for (gsize i = 0; i < g_variant_n_children (elements); i++)
    {
      g_autoptr (GVariant) element = g_variant_get_child_value (elements, i);
      g_autoptr (GVariant) state = g_variant_lookup_value (element, "state", NULL);
      const char *factory;

      g_assert_true (g_variant_lookup (element, "factory", "&s", &factory));
      if (state != NULL && strcmp (factory, "shuffle") == 0)
        g_variant_lookup (state, key, "t", &count);
    }
  return count;
}

/* A buffer larger than its share of the memory goes to a scratch file, which is written anew now
 * and then, and the order stays. */
static void
test_spill (void)
{
  const char *graph = "check-source records=30k ! shuffle size=8k ! check-sink name=k";
  g_autoptr (GHashTable) expected = dlp_harness_expect (graph);
  GPtrArray *want = g_hash_table_lookup (expected, "k");
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPipeline) pipeline = NULL;
  GPtrArray *got;

  dlp_check_sink_clear ();
  pipeline = dlp_pipeline_new_from_string (graph, &error);
  g_assert_no_error (error);
  g_object_set (pipeline, "memory", G_GUINT64_CONSTANT (1048576), NULL);
  dlp_pipeline_run (pipeline, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (get_counter (pipeline, "spilled"), >, 1000);
  g_assert_cmpuint (get_counter (pipeline, "scratch-rewritten"), >, 1);
  got = dlp_check_sink_get_lines ("k");
  g_assert_cmpuint (got->len, ==, want->len);
  for (guint i = 0; i < want->len; i++)
    g_assert_cmpstr (g_ptr_array_index (got, i), ==, g_ptr_array_index (want, i));
}

static void
run_in (const char *graph, guint64 memory, GError **error)
{
  g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_string (graph, error);

  g_assert_no_error (*error);
  dlp_check_sink_clear ();
  g_object_set (pipeline, "memory", memory, NULL);
  dlp_pipeline_run (pipeline, NULL, error);
}

/* Slots of all buffers together are within the memory. */
static void
test_outgrown (void)
{
  g_autoptr (GError) error = NULL;

  run_in ("check-source records=30k ! shuffle size=16k ! check-sink name=k", 1048576, &error);
  g_assert_no_error (error);
  run_in ("check-source records=30k ! shuffle size=8k ! shuffle size=8k ! check-sink name=k",
          1048576, &error);
  g_assert_no_error (error);
  run_in ("check-source records=30k ! shuffle size=16k ! shuffle size=16k ! check-sink name=k",
          1048576, &error);
  g_assert_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE);
  g_assert_nonnull (strstr (error->message, " bytes for its slots alone; of the memory budget of "
                                            "1048576 links, caches and other buffers leave "));
}

static void
test_golden (void)
{
  dlp_harness_check_golden ("check-source records=20 ! shuffle size=6 ! check-sink name=k", GOLDEN);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  g_test_add_func ("/shuffle/golden", test_golden);
  g_test_add_func ("/shuffle/permutation", test_permutation);
  g_test_add_func ("/shuffle/resume", test_resume);
  g_test_add_func ("/shuffle/resume-records", test_resume_records);
  g_test_add_func ("/shuffle/settings", test_settings);
  g_test_add_func ("/shuffle/spill", test_spill);
  g_test_add_func ("/shuffle/outgrown", test_outgrown);
  return g_test_run ();
}
