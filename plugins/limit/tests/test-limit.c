/* SPDX-License-Identifier: MIT */

#include <dlp-harness.h>

static guint
count (const char *graph)
{
  g_autoptr (GHashTable) got = dlp_harness_expect (graph);

  return ((GPtrArray *) g_hash_table_lookup (got, "k"))->len;
}

static void
test_records (void)
{
  g_assert_cmpuint (count ("check-source records=100 ! limit records=37 ! check-sink name=k"), ==,
                    37);
  g_assert_cmpuint (count ("check-source records=100 ! limit records=100 ! check-sink name=k"), ==,
                    100);
  g_assert_cmpuint (count ("check-source records=100 ! limit records=1k ! check-sink name=k"), ==,
                    100);
  g_assert_cmpuint (count ("check-source records=0 ! limit records=1 ! check-sink name=k"), ==, 0);
}

#define FIVES "check-source records=100 ! batch size=5 rank=1 world-size=3 ! limit "

/* Whole steps of all ranks: of 20 batches 6 steps of three, of 10 batches 3. */
static void
test_batches (void)
{
  static const char *const bad[] = { "check-source ! limit batches=3 ! null-sink",
                                     FIVES "records=10 ! null-sink",
                                     FIVES "records=10 batches=3 ! null-sink" };

  g_assert_cmpuint (count (FIVES "batches=10 ! check-sink name=k"), ==, 15);
  g_assert_cmpuint (count (FIVES "batches=12 ! check-sink name=k"), ==, 20);
  g_assert_cmpuint (count (FIVES "batches=100 ! check-sink name=k"), ==, 30);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_false (dlp_harness_run (bad[i], NULL, &error));
      g_assert_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE);
    }
  dlp_harness_check_resume (FIVES "batches=10 ! check-sink name=k", 1);
}

/* The record that would exceed is not delivered, nor is any one behind it. */
static void
test_tokens (void)
{
  g_autoptr (GHashTable) all =
      dlp_harness_expect ("check-source records=50 tokens=true ! check-sink name=k");
  GPtrArray *lines = g_hash_table_lookup (all, "k");
  guint64 sum = 0;

  for (guint i = 0; i < lines->len; i++)
    {
      g_autofree char *graph = NULL;
      const char *list = strstr (g_ptr_array_index (lines, i), "tokens=");
      const char *end = strstr (list, " id=");
      guint n = 0;

      for (const char *p = list; p < end; p++)
        n += *p == ' ';
      sum += n;
      if (sum == 0 || n == 0)
        continue;
      graph =
          g_strdup_printf ("check-source records=50 tokens=true ! limit tokens=%" G_GUINT64_FORMAT
                           " ! check-sink name=k",
                           sum);
      /* Empty records behind it still fit. */
      g_assert_cmpuint (count (graph), >=, i + 1);
      g_clear_pointer (&graph, g_free);
      if (sum == 1)
        continue;
      graph =
          g_strdup_printf ("check-source records=50 tokens=true ! limit tokens=%" G_GUINT64_FORMAT
                           " ! check-sink name=k",
                           sum - 1);
      g_assert_cmpuint (count (graph), ==, i);
    }
}

static void
test_errors (void)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (dlp_harness_run ("check-source ! limit ! check-sink name=k", NULL, &error));
  g_assert_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE);
  g_clear_error (&error);
  g_assert_false (
      dlp_harness_run ("check-source ! limit tokens=5 ! check-sink name=k", NULL, &error));
  g_assert_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_TYPE);
}

static void
test_resume (void)
{
  dlp_harness_check_resume ("check-source records=60 ! limit records=41 ! check-sink name=k", 1);
  dlp_harness_check_resume (
      "check-source records=60 tokens=true ! limit tokens=333 ! check-sink name=k", 1);
  dlp_harness_check_resume (
      "check-source records=60 tokens=true ! limit tokens=333 ! check-sink name=k", 0);
}

static void
test_settings (void)
{
  dlp_harness_check_settings ("check-source records=300 ! limit records=219 ! check-sink name=k");
}

static void
test_golden (void)
{
  dlp_harness_check_golden ("check-source records=20 ! limit records=7 ! check-sink name=k",
                            GOLDEN);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  g_test_add_func ("/limit/golden", test_golden);
  g_test_add_func ("/limit/records", test_records);
  g_test_add_func ("/limit/batches", test_batches);
  g_test_add_func ("/limit/tokens", test_tokens);
  g_test_add_func ("/limit/errors", test_errors);
  g_test_add_func ("/limit/resume", test_resume);
  g_test_add_func ("/limit/settings", test_settings);
  return g_test_run ();
}
