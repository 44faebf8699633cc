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
    { "mix name=m weights=1e308,1e308 ! check-sink name=k", DLP_GRAPH_ERROR_VALUE,
      "add up to more than a double can be" },
    { "mix name=m weights=0,0 ! check-sink name=k", DLP_GRAPH_ERROR_VALUE, "every weight is 0" },
    { "mix name=m weights=web:1,cod:1 ! check-sink name=k", DLP_GRAPH_ERROR_VALUE,
      "no input is named “cod”" },
    { "mix name=m weights=web:1 ! check-sink name=k", DLP_GRAPH_ERROR_VALUE,
      "input “code” has none" },
    { "mix name=m weights=web:1,code:1,web:2 ! check-sink name=k", DLP_GRAPH_ERROR_VALUE,
      "input “web” has two" },
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

#define TWO "check-source records=30 %s ! m.  check-source records=200 variant=2 %s ! m.  "

static GPtrArray *
ref_lines (GHashTable *got)
{
  return g_ptr_array_ref (g_hash_table_lookup (got, "k"));
}

/* (transfer full): lines of sink k. */
static GPtrArray *get_lines (const char *format, ...) G_GNUC_PRINTF (1, 2);

static GPtrArray *
get_lines (const char *format, ...)
{
  g_autofree char *text = NULL;
  g_autoptr (GHashTable) got = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  got = dlp_harness_expect (text);
  return ref_lines (got);
}

static void
assert_equal (GPtrArray *a, GPtrArray *b)
{
  g_assert_cmpuint (a->len, ==, b->len);
  for (guint i = 0; i < a->len; i++)
    g_assert_cmpstr (g_ptr_array_index (a, i), ==, g_ptr_array_index (b, i));
}

static guint
get_source (GPtrArray *lines, guint i)
{
  guint source;

  g_assert_cmpint (sscanf (g_ptr_array_index (lines, i), "[%*u %u", &source), ==, 1);
  return source;
}

/* To repeat an input is to have epochs of its source for ever. */
static void
test_repeat (void)
{
  g_autoptr (GPtrArray) repeated = get_lines (TWO "mix name=m weights=1,2 exhausted=repeat ! limit "
                                                  "records=900 ! check-sink name=k",
                                              "", "epochs=2");
  g_autoptr (GPtrArray) forever = get_lines (TWO "mix name=m weights=1,2 ! limit records=900 ! "
                                                 "check-sink name=k",
                                             "epochs=forever", "epochs=0");

  g_assert_cmpuint (repeated->len, ==, 900);
  assert_equal (repeated, forever);
}

/* It ends with the last record that was not given yet. */
static void
test_repeat_until_all (void)
{
  g_autoptr (GPtrArray) lines = get_lines (
      TWO "check-source records=9 ! m.  mix name=m weights=1,1,0 exhausted=repeat-until-all ! "
          "check-sink name=k",
      "", "epochs=2");
  g_autoptr (GPtrArray) one =
      get_lines ("check-source records=7 epochs=3 ! mix exhausted=repeat-until-all ! check-sink "
                 "name=k");

  g_assert_cmpuint (count_source (lines, 1), ==, 400);
  g_assert_cmpuint (count_source (lines, 0), >, 300);
  g_assert_cmpuint (get_source (lines, lines->len - 1), ==, 1);
  g_assert_true (g_str_has_prefix (g_ptr_array_index (lines, lines->len - 1), "[0 1 0 199 1]"));
  g_assert_cmpuint (one->len, ==, 21);
}

static void
test_repeat_refused (void)
{
  static const struct
  {
    const char *input;
    const char *exhausted;
    const char *part;
  } bad[] = {
    { "limit records=10 ! m.a", "repeat", "input “a” again: limit0 before it may end by itself" },
    { "tee name=t ! m.a  t. ! null-sink", "repeat", "input “a” again: t before it feeds others" },
    { "mix name=n ! m.a  check-source ! n.", "repeat", "n before it has several inputs" },
    { "shuffle ! m.a", "repeat-until-all", "input “a” cannot be seen: it is shuffled" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autofree char *graph = g_strdup_printf (
          "check-source ! %s  check-source ! m.b  mix name=m exhausted=%s ! null-sink",
          bad[i].input, bad[i].exhausted);

      assert_refused (graph, DLP_GRAPH_ERROR_VALUE, bad[i].part);
    }
  assert_refused ("check-source epochs=forever ! m.a  mix name=m exhausted=repeat-until-all ! "
                  "null-sink",
                  DLP_GRAPH_ERROR_VALUE, "goes on for ever by itself");
  assert_refused ("file-source location=- ! jsonl-reader ! m.a  mix name=m exhausted=repeat ! "
                  "null-sink",
                  DLP_GRAPH_ERROR_VALUE, "can be read only once");
}

/* ---- tokens ---- */

static guint
count_tokens (const char *line)
{
  const char *list = strstr (line, "tokens=");
  const char *end = strstr (list, " id=");
  guint n = 0;

  for (const char *p = list; p < end; p++)
    n += *p == ' ';
  return n;
}

#define TOKENS                                                                                     \
  "check-source records=70 tokens=true ! m.a  check-source records=300 tokens=true variant=1 ! "   \
  "m.b  check-source records=150 tokens=true variant=2 ! m.c  mix name=m unit=tokens "             \
  "weights=a:0.5,b:0.3,c:0.2 ! "

/* As the sources give them, merged by the rule: none is ever ahead of its share by more than a
 * record of its own, of those that are left. */
static void
test_tokens (void)
{
  static const double weights[] = { 0.5, 0.3, 0.2 };
  static const guint records[] = { 70, 300, 150 };
  g_autoptr (GPtrArray) lines = get_lines (TOKENS "check-sink name=k");
  guint64 tokens[3] = { 0 }, all = 0;
  guint taken[3] = { 0 };

  g_assert_cmpuint (lines->len, ==, 520);
  for (guint i = 0; i < lines->len; i++)
    {
      guint source = get_source (lines, i);
      guint n = count_tokens (g_ptr_array_index (lines, i));

      for (guint k = 0; k < 3; k++)
        if (taken[k] < records[k])
          {
            double a = (double) tokens[source] / weights[source];
            double b = (double) tokens[k] / weights[k];

            g_assert_true (k < source ? a < b : a <= b);
          }
      tokens[source] += n;
      taken[source]++;
      all += n;
      if (taken[0] < records[0])
        for (guint k = 0; k < 3; k++)
          g_assert_cmpfloat ((double) tokens[k] - weights[k] * (double) all, <=, 40);
    }
  assert_refused ("check-source ! m.a  mix name=m unit=tokens ! null-sink", DLP_GRAPH_ERROR_TYPE,
                  "unit=tokens needs a field “tokens”");
}

/* ---- weights that change ---- */

static void
test_weights_at (void)
{
  const char *two =
      "check-source records=50 tokens=true ! m.a  check-source records=80 tokens=true "
      "variant=1 ! m.b  ";
  g_autoptr (GPtrArray) lines = get_lines (
      "%smix name=m weights=a:1,b:0 weights-at='10 records:b:1,a:0' weights-at='30 records:1,0' ! "
      "check-sink name=k",
      two);
  g_autoptr (GPtrArray) ended =
      get_lines ("%smix name=m weights=1,0 weights-at='100 records:0,1' ! check-sink name=k", two);
  g_autoptr (GPtrArray) stopped =
      get_lines ("%smix name=m exhausted=stop weights=1,0 weights-at='100 records:0,1' ! "
                 "check-sink name=k",
                 two);
  g_autoptr (GPtrArray) by_tokens = get_lines (
      "%smix name=m weights=1,0 weights-at=200:1,1 unit=tokens ! check-sink name=k", two);
  guint64 sum = 0;
  guint i;

  for (i = 0; i < lines->len; i++)
    g_assert_cmpuint (get_source (lines, i), ==, i >= 10 && i < 30);
  g_assert_cmpuint (lines->len, ==, 70);
  /* Nothing is left out where an input ends before the position is reached. */
  g_assert_cmpuint (ended->len, ==, 130);
  for (i = 0; i < ended->len; i++)
    g_assert_cmpuint (get_source (ended, i), ==, i >= 50);
  g_assert_cmpuint (stopped->len, ==, 50);
  for (i = 0; sum < 200; i++)
    {
      g_assert_cmpuint (get_source (by_tokens, i), ==, 0);
      sum += count_tokens (g_ptr_array_index (by_tokens, i));
    }
  /* From there on both count from nothing. */
  g_assert_cmpuint (get_source (by_tokens, i), ==, 0);
  g_assert_cmpuint (by_tokens->len, ==, 130);
}

static void
test_weights_at_refused (void)
{
  static const struct
  {
    const char *mix;
    const char *part;
  } bad[] = {
    { "weights-at=10", "write POSITION:WEIGHTS" },
    { "weights-at=0:1", "weights-at" },
    { "weights-at=x:1", "weights-at" },
    { "weights-at='5 records:0'", "every weight is 0" },
    { "weights-at='5 records:1,1'", "2 weights for 1 inputs" },
    { "weights-at='5 records:1' weights-at='5 records:1'", "positions ascend" },
    { "weights-at='5 records:1' weights-at=9:1", "all in tokens or all in records" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autofree char *text =
          g_strdup_printf ("check-source ! m.a  mix name=m %s ! null-sink", bad[i].mix);

      assert_refused (text, DLP_GRAPH_ERROR_VALUE, bad[i].part);
    }
  assert_refused ("check-source ! m.a  mix name=m weights-at=5:1 ! null-sink", DLP_GRAPH_ERROR_TYPE,
                  "or write “N records:”");
}

/* ---- report ---- */

static void
test_report (void)
{
  g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_string (
      "check-source records=10 epochs=3 tokens=true ! m.a  check-source records=10 tokens=true "
      "variant=1 ! m.b  mix name=m weights=3,1 ! null-sink",
      NULL);
  g_autoptr (GError) error = NULL;
  g_autofree char *json = NULL;

  g_assert_true (dlp_pipeline_run (pipeline, NULL, &error));
  g_assert_no_error (error);
  json = dlp_pipeline_get_report_json (pipeline);
  g_assert_nonnull (strstr (json, "\"asked\": 0.75"));
  g_assert_nonnull (strstr (json, "\"got\": 0.75"));
  g_assert_nonnull (strstr (json, "\"epochs\": 3"));
}

/* Wherever record batches are cut. */
static void
test_shuffled_epochs (void)
{
  for (guint seed = 0; seed < 10; seed++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_string (
          "check-source records=40 epochs=3 ! shuffle size=200 ! mix name=m ! null-sink", &error);
      g_autofree char *json = NULL;

      g_assert_no_error (error);
      g_object_set (pipeline, "batch-records", seed % 2, "seed", (guint64) seed, NULL);
      g_assert_true (dlp_pipeline_run (pipeline, NULL, &error));
      g_assert_no_error (error);
      json = dlp_pipeline_get_report_json (pipeline);
      g_assert_nonnull (strstr (json, "\"epochs\": 3"));
    }
}

static const char *const more_graphs[] = {
  "check-source records=9 ! m.  check-source records=30 variant=1 ! m.  mix name=m weights=1,2 "
  "exhausted=repeat-until-all ! check-sink name=k",
  "check-source records=9 ! shuffle size=4 ! m.  check-source records=5 variant=1 ! m.  mix name=m "
  "exhausted=repeat ! limit records=40 ! check-sink name=k",
  "check-source records=20 tokens=true ! m.  check-source records=15 tokens=true variant=1 ! m.  "
  "mix name=m unit=tokens weights=2,1 weights-at=100:1,2 weights-at=300:0,1 ! check-sink name=k",
  "check-source records=20 ! m.  check-source records=15 variant=1 ! m.  mix name=m weights=2,1 "
  "weights-at='7 records:1,2' weights-at='15 records:0,1' ! check-sink name=k",
};

/* One that had given all while it had a weight has none for a time: a run that goes on within that
 * time knows it too. */
static void
test_wrapped (void)
{
  const char *graph =
      "check-source records=30 ! m.  check-source records=2 variant=1 ! m.  mix name=m "
      "exhausted=repeat-until-all weights-at='10 records:1,0' weights-at='90 records:1,1' ! "
      "check-sink name=k";
  g_autoptr (GPtrArray) lines = get_lines ("%s", graph);

  g_assert_cmpuint (count_source (lines, 0), ==, 30);
  dlp_harness_check_resume (graph, 1);
}

static void
test_more (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (more_graphs); i++)
    {
      dlp_harness_check_resume (more_graphs[i], 1);
      for (guint n = 0; n < dlp_harness_scale (5); n++)
        dlp_harness_check_resume (more_graphs[i], 0);
      dlp_harness_check_settings (more_graphs[i]);
    }
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
  g_test_add_func ("/mix/repeat", test_repeat);
  g_test_add_func ("/mix/repeat-until-all", test_repeat_until_all);
  g_test_add_func ("/mix/repeat-refused", test_repeat_refused);
  g_test_add_func ("/mix/tokens", test_tokens);
  g_test_add_func ("/mix/weights-at", test_weights_at);
  g_test_add_func ("/mix/weights-at-refused", test_weights_at_refused);
  g_test_add_func ("/mix/report", test_report);
  g_test_add_func ("/mix/shuffled-epochs", test_shuffled_epochs);
  g_test_add_func ("/mix/wrapped", test_wrapped);
  g_test_add_func ("/mix/more", test_more);
  g_test_add_func ("/mix/resume", test_resume);
  g_test_add_func ("/mix/settings", test_settings);
  return g_test_run ();
}
