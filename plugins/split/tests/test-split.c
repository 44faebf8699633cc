/* SPDX-License-Identifier: MIT */

#include <string.h>

#include <dlp-harness.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static GPtrArray *
lines_of (GHashTable *got, const char *name)
{
  return g_hash_table_lookup (got, name);
}

/* The text of a line of check-sink. */
static guchar *
decode_text (const char *line, gsize *size)
{
  const char *encoded = strstr (line, "text=") + strlen ("text=");
  g_autofree char *base64 = g_strndup (encoded, strcspn (encoded, " "));

  return g_base64_decode (base64, size);
}

/* The hash of the text times the sum of the shares, against shares times 2^64: in integers. */
static guint
expect_side (const char *line, guint64 salt, const guint *shares)
{
  gsize size;
  g_autofree guchar *text = decode_text (line, &size);
  unsigned __int128 hash = XXH3_64bits_withSeed (text, size, salt);
  guint sum = 0, end = 0, side = 0;

  for (guint i = 0; shares[i] > 0; i++)
    sum += shares[i];
  for (;; side++)
    {
      end += shares[side];
      if (hash * sum < (unsigned __int128) end << 64)
        return side;
    }
}

static void
check_sides (const char *properties, guint64 salt, const guint *shares)
{
  g_autofree char *graph =
      g_strdup_printf ("check-source records=2000 ! split name=s %s ! check-sink name=k  "
                       "s. ! check-sink name=j  s.c ! check-sink name=i",
                       properties);
  g_autoptr (GHashTable) all = dlp_harness_expect ("check-source records=2000 ! check-sink name=k");
  g_autoptr (GHashTable) got = dlp_harness_expect (graph);
  GPtrArray *sides[] = { lines_of (got, "k"), lines_of (got, "j"), lines_of (got, "i") };
  guint at[3] = { 0 };

  for (guint i = 0; i < 2000; i++)
    {
      const char *line = g_ptr_array_index (lines_of (all, "k"), i);
      guint side = expect_side (line, salt, shares);

      g_assert_cmpuint (at[side], <, sides[side]->len);
      g_assert_cmpstr (g_ptr_array_index (sides[side], at[side]), ==, line);
      at[side]++;
    }
  for (guint i = 0; i < 3; i++)
    {
      g_assert_cmpuint (at[i], ==, sides[i]->len);
      g_assert_cmpuint (at[i], >, 0);
    }
}

static void
test_sides (void)
{
  const guint tenths[] = { 7, 2, 1, 0 };
  const guint thirds[] = { 1, 1, 1, 0 };

  check_sides ("ratios=a:0.7,b:0.2,c:0.1", 0, tenths);
  check_sides ("ratios=a:70,b:20,c:10 salt=12345", 12345, tenths);
  check_sides ("ratios=a:1,b:1,c:1 by=field field=text", 0, thirds);
}

/* Texts on one side; @from: of the sinks named so. */
static void
add_texts (GHashTable *texts, GPtrArray *lines)
{
  for (guint i = 0; i < lines->len; i++)
    {
      const char *encoded = strstr (g_ptr_array_index (lines, i), "text=");

      g_hash_table_add (texts, g_strndup (encoded, strcspn (encoded, " ")));
    }
}

/* Whatever comes before and whatever the seed: equal texts are on one side. */
static void
test_equal_texts (void)
{
  g_autoptr (GHashTable) valid = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  static const char *const orders[] = { "", "! shuffle size=10", "! shuffle size=1000" };

  for (guint i = 0; i < 6; i++)
    {
      DlpHarnessSettings settings = { .workers = 1 + i, .seed = i, .batch_records = i % 3 };
      g_autofree char *graph = g_strdup_printf (
          "check-source records=500 ! m.  check-source records=600 ! m.  "
          "mix name=m %s ! split ratios=train:0.8,valid:0.2 name=s ! check-sink name=k  "
          "s.valid ! check-sink name=j",
          orders[i % 3]);
      g_autoptr (GHashTable) train = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
      g_autoptr (GHashTable) here = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
      g_autoptr (GError) error = NULL;
      GHashTableIter iter;
      gpointer text;

      dlp_harness_run (graph, &settings, &error);
      g_assert_no_error (error);
      add_texts (train, dlp_check_sink_get_lines ("k"));
      add_texts (here, dlp_check_sink_get_lines ("j"));
      g_assert_cmpuint (g_hash_table_size (here), >, 50);
      g_assert_cmpuint (dlp_check_sink_get_lines ("k")->len + dlp_check_sink_get_lines ("j")->len,
                        ==, 1100);
      g_hash_table_iter_init (&iter, here);
      while (g_hash_table_iter_next (&iter, &text, NULL))
        {
          g_assert_false (g_hash_table_contains (train, text));
          g_assert_true (i == 0 || g_hash_table_contains (valid, text));
          if (i == 0)
            g_hash_table_add (valid, g_strdup (text));
        }
      g_assert_cmpuint (g_hash_table_size (here), ==, g_hash_table_size (valid));
    }
}

/* (transfer full): one count of what the element says in the report. */
static guint64
get_count (DlpPipeline *pipeline, const char *name, const char *key)
{
  g_autoptr (GVariant) report = dlp_pipeline_get_report (pipeline);
  g_autoptr (GVariant) elements =
      g_variant_lookup_value (report, "elements", G_VARIANT_TYPE ("aa{sv}"));

  for (gsize i = 0; i < g_variant_n_children (elements); i++)
    {
      g_autoptr (GVariant) element = g_variant_get_child_value (elements, i);
      g_autoptr (GVariant) state = g_variant_lookup_value (element, "state", NULL);
      const char *own;
      guint64 n;

      if (g_variant_lookup (element, "name", "&s", &own) && strcmp (own, name) == 0 &&
          state != NULL && g_variant_lookup (state, key, "t", &n))
        return n;
    }
  g_error ("%s says no %s", name, key);
}

static void
test_counts (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_string (
      "check-source records=1000 ! split name=s ratios=train:0.6,valid:0.3,test:0.1  "
      "s.valid ! check-sink name=k",
      &error);
  guint64 train, valid, test;

  g_assert_no_error (error);
  dlp_check_sink_clear ();
  g_assert_true (dlp_pipeline_run (pipeline, NULL, &error));
  train = get_count (pipeline, "s", "records-train");
  valid = get_count (pipeline, "s", "records-valid");
  test = get_count (pipeline, "s", "records-test");
  g_assert_cmpuint (train + valid + test, ==, 1000);
  g_assert_cmpuint (valid, ==, dlp_check_sink_get_lines ("k")->len);
  g_assert_cmpuint (get_count (pipeline, "s", "discarded"), ==, train + test);
  g_assert_cmpuint (train, >, 450);
  g_assert_cmpuint (valid, >, 200);
  g_assert_cmpuint (test, >, 40);
}

/* Where a record came from decides, not the epoch or what is in it. */
static void
test_coordinate (void)
{
  g_autoptr (GHashTable) a =
      dlp_harness_expect ("check-source records=300 rows-a-file=10 ! split by=coordinate name=s "
                          "ratios=x:1,y:1 ! check-sink name=k  s. ! check-sink name=j");
  g_autoptr (GHashTable) b = dlp_harness_expect (
      "check-source records=300 rows-a-file=10 variant=9 ! split by=coordinate name=s "
      "ratios=x:1,y:1 ! check-sink name=k  s. ! check-sink name=j");

  g_assert_cmpuint (lines_of (a, "k")->len, ==, lines_of (b, "k")->len);
  g_assert_cmpuint (lines_of (a, "k")->len, >, 100);
  g_assert_cmpuint (lines_of (a, "j")->len, >, 100);
  for (guint i = 0; i < lines_of (a, "k")->len; i++)
    {
      const char *line = g_ptr_array_index (lines_of (a, "k"), i);
      const char *other = g_ptr_array_index (lines_of (b, "k"), i);

      g_assert_cmpint (strncmp (line, other, strcspn (line, "]")), ==, 0);
    }
}

/* All nulls go one way. */
static void
test_null (void)
{
  g_autoptr (GHashTable) got =
      dlp_harness_expect ("check-source records=300 ! split by=field field=score name=s "
                          "ratios=x:1,y:1 ! check-sink name=k  s. ! check-sink name=j");
  guint nulls[2] = { 0 };

  for (guint s = 0; s < 2; s++)
    for (guint i = 0; i < lines_of (got, s == 0 ? "k" : "j")->len; i++)
      nulls[s] += g_str_has_suffix (g_ptr_array_index (lines_of (got, s == 0 ? "k" : "j"), i),
                                    "score=null");
  g_assert_cmpuint (nulls[0] + nulls[1], ==, 75);
  g_assert_true (nulls[0] == 0 || nulls[1] == 0);
}

static void
assert_refused (const char *split, int code, const char *part)
{
  g_autofree char *graph = g_strdup_printf ("check-source ! %s", split);
  g_autoptr (GError) error = NULL;

  g_assert_false (dlp_harness_run (graph, NULL, &error));
  g_assert_error (error, DLP_GRAPH_ERROR, code);
  if (strstr (error->message, part) == NULL)
    g_error ("“%s” is not in: %s", part, error->message);
}

static void
test_errors (void)
{
  assert_refused ("split name=s  s.vaild ! check-sink name=k", DLP_GRAPH_ERROR_LINK,
                  "did you mean “valid”?; ratios names: train, valid");
  assert_refused ("split name=s  s. ! check-sink name=k  s. ! check-sink name=j  s. ! check-sink",
                  DLP_GRAPH_ERROR_LINK, "each of the 2 sides of split is linked already");
  assert_refused ("split name=s", DLP_GRAPH_ERROR_LINK, "none of its outputs is linked");
  assert_refused ("split ratios=a:1,a:2 ! check-sink name=k", DLP_GRAPH_ERROR_LINK,
                  "entry 2 has the name of one before it");
  assert_refused ("split field=body ! check-sink name=k", DLP_GRAPH_ERROR_TYPE,
                  "by=text needs a string field “body”; its input is records {text: string");
  assert_refused ("split field=score ! check-sink name=k", DLP_GRAPH_ERROR_TYPE,
                  "needs a string field “score”");
  assert_refused ("split by=field ! check-sink name=k", DLP_GRAPH_ERROR_VALUE,
                  "by=field needs field=NAME");
  assert_refused ("split by=coordinate field=id ! check-sink name=k", DLP_GRAPH_ERROR_VALUE,
                  "take field=id out");
  assert_refused ("split name=s ! mix name=m ! check-sink name=k  s. ! m.", DLP_GRAPH_ERROR_LINK,
                  "meet again");
}

static void
test_resume (void)
{
  const char *graph =
      "check-source records=90 ! split name=s ratios=a:0.6,b:0.3,c:0.08,d:0.02  s.a ! check-sink "
      "name=k  s.b ! shuffle size=7 ! check-sink name=j  s.d ! check-sink name=i";

  dlp_harness_check_resume (graph, 1);
  for (guint n = 0; n < dlp_harness_scale (10); n++)
    dlp_harness_check_resume (graph, 0);
  /* The one that is gone by is of few records, and far behind the other. */
  dlp_harness_check_resume ("check-source records=400 ! split name=s ratios=a:0.97,b:0.03  s.b ! "
                            "check-sink name=k  s.a ! check-sink name=j",
                            1);
  dlp_harness_check_resume ("check-source records=90 ! split name=s ratios=a:0.6,b:0.4  s.a ! "
                            "check-sink name=k  s.b ! limit records=5 ! check-sink name=j",
                            1);
}

static void
test_settings (void)
{
  dlp_harness_check_settings (
      "check-source records=200 ! split name=s ratios=a:0.9,b:0.1  s.a ! check-sink "
      "name=k  s.b ! check-sink name=j");
}

/* Marks, a resume at every record, stress, cancels and kills. */
static void
test_all (void)
{
  dlp_check_all (
      "check-source records=60 ! split name=s ratios=a:0.7,b:0.3  s.a ! check-sink name=k  "
      "s.b ! check-sink name=j");
}

static void
test_golden (void)
{
  dlp_harness_check_golden ("check-source records=30 ! split name=s ratios=train:0.5,valid:0.5  "
                            "s.valid ! check-sink name=k",
                            GOLDEN);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  g_test_add_func ("/split/golden", test_golden);
  g_test_add_func ("/split/sides", test_sides);
  g_test_add_func ("/split/equal-texts", test_equal_texts);
  g_test_add_func ("/split/counts", test_counts);
  g_test_add_func ("/split/coordinate", test_coordinate);
  g_test_add_func ("/split/null", test_null);
  g_test_add_func ("/split/errors", test_errors);
  g_test_add_func ("/split/resume", test_resume);
  g_test_add_func ("/split/settings", test_settings);
  g_test_add_func ("/split/all", test_all);
  return g_test_run ();
}
