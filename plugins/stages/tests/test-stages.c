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
test_limits (void)
{
  const char *two = "check-source records=10 ! s.web  check-source records=10 ! s.code  ";
  static const struct
  {
    const char *stages;
    DlpGraphError code;
    const char *part;
  } bad[] = {
    { "stages name=s records=1 ! check-sink name=k", DLP_GRAPH_ERROR_VALUE,
      "1 numbers for 2 inputs" },
    { "stages name=s records=1,x ! check-sink name=k", DLP_GRAPH_ERROR_VALUE, "records: “x”" },
    { "stages name=s records=web:1,cod:1 ! check-sink name=k", DLP_GRAPH_ERROR_VALUE,
      "no input is named “cod”; there are: web, code" },
    { "stages name=s records=web:1,web:2 ! check-sink name=k", DLP_GRAPH_ERROR_VALUE,
      "records: input “web” has two" },
    { "stages name=s records=web:1,2 ! check-sink name=k", DLP_GRAPH_ERROR_VALUE,
      "“2” has no name" },
    { "stages name=s tokens=web:1 ! check-sink name=k", DLP_GRAPH_ERROR_TYPE, "needs a field" },
    { "stages name=s batches=1,0 ! check-sink name=k", DLP_GRAPH_ERROR_LINK,
      "needs an element “batch”" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autofree char *graph = g_strconcat (two, bad[i].stages, NULL);

      assert_refused (graph, bad[i].code, bad[i].part);
    }
  assert_refused (
      "check-source ! s.a  check-source tokens=true ! s.b  stages name=s ! check-sink name=k",
      DLP_GRAPH_ERROR_TYPE, "must be alike");
}

static void
test_links (void)
{
  assert_refused ("check-source ! a.  check-source ! a.  stages name=a ! b. "
                  "check-source ! b.  stages name=b ! check-sink name=k",
                  DLP_GRAPH_ERROR_LINK, "stages cannot be nested");
  assert_refused ("check-source ! tee name=t  t. ! a.  t. ! b. "
                  "stages name=a ! check-sink name=k  stages name=b ! check-sink name=l",
                  DLP_GRAPH_ERROR_LINK, "feeds two stages, “in-0” of a and “in-0” of b");
  assert_refused ("check-source ! s.out  stages name=s ! check-sink name=k", DLP_GRAPH_ERROR_LINK,
                  "has no input pad “out”");
}

/* "stage/source first-last, ..." of the runs of records. */
static char *
summarize (GPtrArray *lines)
{
  GString *text = g_string_new (NULL);
  guint at[2] = { G_MAXUINT, G_MAXUINT };
  guint last = 0;

  for (guint i = 0; i < lines->len; i++)
    {
      guint stage, source, row;

      g_assert_cmpint (
          sscanf (g_ptr_array_index (lines, i), "[%u %u %*u %u", &stage, &source, &row), ==, 3);
      if (stage != at[0] || source != at[1] || row != last + 1)
        g_string_append_printf (text, "%s%u/%u %u-", i == 0 ? "" : ", ", stage, source, row);
      else
        g_string_truncate (text, strrchr (text->str, '-') - text->str + 1);
      g_string_append_printf (text, "%u", row);
      at[0] = stage;
      at[1] = source;
      last = row;
    }
  return g_string_free (text, FALSE);
}

static void
assert_order (const char *graph, const char *order)
{
  g_autoptr (GHashTable) got = dlp_harness_expect (graph);
  g_autofree char *text = summarize (g_hash_table_lookup (got, "k"));

  g_assert_cmpstr (text, ==, order);
}

static void
test_order (void)
{
  const char *three = "check-source records=30 ! s.a  check-source records=0 ! s.b "
                      "check-source records=20 ! s.c  stages name=s ";
  static const struct
  {
    const char *limits;
    const char *order;
  } cases[] = {
    { "", "0/0 0-29, 2/0 0-19" },
    { "records=7,1,8", "0/0 0-6, 2/0 0-7" },
    { "records=c:1", "0/0 0-29, 2/0 0-0" },
    { "records=30,0,20", "0/0 0-29, 2/0 0-19" },
    { "records=0,0,1k", "0/0 0-29, 2/0 0-19" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *graph = g_strconcat (three, cases[i].limits, " ! check-sink name=k", NULL);

      assert_order (graph, cases[i].order);
    }
}

static guint
count_tokens (GPtrArray *lines, guint stage)
{
  guint n = 0;

  for (guint i = 0; i < lines->len; i++)
    {
      const char *line = g_ptr_array_index (lines, i);
      const char *tokens = strstr (line, " tokens=");

      g_assert_nonnull (tokens);
      if (line[1] != (char) ('0' + stage))
        continue;
      for (const char *p = tokens + strlen (" tokens="); *p == ' ' && g_ascii_isdigit (p[1]);
           p += strcspn (p + 1, " ") + 1)
        n++;
    }
  return n;
}

/* As `limit` does. */
static void
test_tokens (void)
{
  g_autoptr (GHashTable) got = dlp_harness_expect (
      "check-source records=200 tokens=true ! s.  check-source records=200 tokens=true variant=1 ! "
      "s.  stages name=s tokens=500,700 ! check-sink name=k");
  g_autoptr (GPtrArray) lines = g_ptr_array_ref (g_hash_table_lookup (got, "k"));
  g_autoptr (GHashTable) limited = dlp_harness_expect (
      "check-source records=200 tokens=true ! limit tokens=500 ! check-sink name=k");
  GPtrArray *first = g_hash_table_lookup (limited, "k");

  g_assert_cmpuint (lines->len, >, first->len);
  for (guint i = 0; i < first->len; i++)
    g_assert_cmpstr (g_ptr_array_index (lines, i), ==, g_ptr_array_index (first, i));
  g_assert_true (g_str_has_prefix (g_ptr_array_index (lines, first->len), "[1 0 0 0"));
  g_assert_cmpuint (count_tokens (lines, 0), <=, 500);
  g_assert_cmpuint (count_tokens (lines, 0), >, 500 - 40);
  g_assert_cmpuint (count_tokens (lines, 1), <=, 700);
  g_assert_cmpuint (count_tokens (lines, 1), >, 700 - 40);
}

/* (transfer full): what an element says. */
static GVariant *
get_said (GVariant *report, const char *name)
{
  g_autoptr (GVariant) elements =
      g_variant_lookup_value (report, "elements", G_VARIANT_TYPE ("aa{sv}"));

  for (gsize i = 0; i < g_variant_n_children (elements); i++)
    {
      g_autoptr (GVariant) element = g_variant_get_child_value (elements, i);
      g_autoptr (GVariant) state = g_variant_lookup_value (element, "state", NULL);
      const char *known;

      g_assert_true (g_variant_lookup (element, "name", "&s", &known));
      if (strcmp (known, name) == 0)
        return g_steal_pointer (&state);
    }
  g_error ("there is no %s", name);
}

static guint64
get_undelivered (GVariant *report)
{
  g_autoptr (GVariant) said = get_said (report, "x");
  guint64 n = 0;

  g_variant_lookup (said, "undelivered", "t", &n);
  return n;
}

/* Of the two stages, a and b. */
static void
check_report (GVariant *report, guint64 first, guint64 second)
{
  g_autoptr (GVariant) said = get_said (report, "s");
  g_autoptr (GVariant) stages = g_variant_lookup_value (said, "stages", G_VARIANT_TYPE ("aa{sv}"));
  const char *const names[] = { "a", "b" };
  const guint64 records[] = { first, second };

  g_assert_cmpuint (g_variant_n_children (stages), ==, 2);
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GVariant) stage = g_variant_get_child_value (stages, i);
      const char *name;
      guint64 n;

      g_assert_true (g_variant_lookup (stage, "name", "&s", &name));
      g_assert_cmpstr (name, ==, names[i]);
      g_assert_true (g_variant_lookup (stage, "records", "t", &n));
      g_assert_cmpuint (n, ==, records[i]);
    }
}

/* However far the shuffle ran ahead. */
static void
check_undelivered (guint link_batches, guint batch_records)
{
  static const struct
  {
    guint limit;
    guint undelivered;
  } cases[] = { { 1, 6 }, { 20, 6 }, { 24, 6 }, { 27, 3 }, { 30, 0 }, { 0, 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = g_strdup_printf (
          "check-source records=30 ! shuffle name=x size=6 ! s.a  check-source records=40 ! s.b "
          "stages name=s records=%u,0 ! null-sink",
          cases[i].limit);
      g_autoptr (GError) error = NULL;
      g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_string (text, &error);
      g_autoptr (GVariant) report = NULL;

      g_assert_no_error (error);
      g_object_set (pipeline, "link-batches", link_batches, "batch-records", batch_records, NULL);
      dlp_pipeline_run (pipeline, NULL, &error);
      g_assert_no_error (error);
      report = dlp_pipeline_get_report (pipeline);
      g_assert_cmpuint (get_undelivered (report), ==, cases[i].undelivered);
      check_report (report, cases[i].limit > 0 ? cases[i].limit : 30, 40);
    }
}

static void
test_undelivered (void)
{
  check_undelivered (1, 1);
  check_undelivered (2, 3);
  check_undelivered (64, 1024);
}

static const char *const graph =
    "check-source records=30 ! m.  check-source records=20 variant=1 ! m.  mix name=m ! "
    "shuffle size=6 ! s.  check-source records=0 ! s.  check-source records=25 variant=2 ! "
    "shuffle size=4 ! s.  check-source records=9 variant=3 ! s. "
    "stages name=s records=33,0,14,0 ! check-sink name=k";

/* ---- batches ---- */

#define STAGE_0 "check-source records=50 ! "
#define STAGE_1 "check-source records=40 variant=1 ! shuffle size=6 ! "
#define STAGE_2 "check-source records=0 ! "
#define STAGE_3 "check-source records=23 variant=3 ! "
#define BEHIND STAGE_0 "s.  " STAGE_1 "s.  " STAGE_2 "s.  " STAGE_3 "s.  "

static const char *const behind =
    BEHIND "stages name=s batches=3,4,0,0 ! fields keep=id ! batch size=4,3,9,5 ! "
           "check-sink name=k";
static const char *const before = STAGE_0
    "batch size=4 ! s.  " STAGE_1 "batch size=3 ! s.  " STAGE_2 "batch size=9 ! s.  " STAGE_3
    "batch size=5 ! s.  stages name=s batches=3,4,0,0 ! fields keep=id ! batch ! "
    "check-sink name=k";
static const char *const mingled =
    BEHIND "stages name=s batches=3,4,0,0 ! shuffle size=5 ! batch size=4 ! check-sink name=k";

static guint
count_stage (GPtrArray *lines, guint stage)
{
  guint n = 0;

  for (guint i = 0; i < lines->len; i++)
    n += ((char *) g_ptr_array_index (lines, i))[1] == (char) ('0' + stage);
  return n;
}

static void
test_batches (void)
{
  g_autoptr (GHashTable) a = dlp_harness_expect (behind);
  g_autoptr (GHashTable) b = dlp_harness_expect (before);
  g_autoptr (GHashTable) c = dlp_harness_expect (mingled);
  GPtrArray *lines = g_hash_table_lookup (a, "k");
  GPtrArray *same = g_hash_table_lookup (b, "k");

  g_assert_cmpuint (count_stage (lines, 0), ==, 3 * 4);
  g_assert_cmpuint (count_stage (lines, 1), ==, 4 * 3);
  g_assert_cmpuint (count_stage (lines, 3), ==, 23);
  g_assert_cmpuint (lines->len, ==, same->len);
  for (guint i = 0; i < lines->len; i++)
    g_assert_cmpstr (g_ptr_array_index (lines, i), ==, g_ptr_array_index (same, i));

  lines = g_hash_table_lookup (c, "k");
  g_assert_cmpuint (count_stage (lines, 0), ==, 3 * 4);
  g_assert_cmpuint (count_stage (lines, 1), ==, 4 * 4);
  g_assert_cmpuint (count_stage (lines, 3), ==, 23);
}

/* Limits in records of what comes in batches: whole ones. */
static void
test_whole (void)
{
  assert_order (STAGE_0 "batch size=4 ! s.  " STAGE_3 "batch size=5 ! s. "
                        "stages name=s records=11,20 ! check-sink name=k",
                "0/0 0-7, 1/0 0-19");
  assert_refused (STAGE_0 "batch size=4 world-size=2 ! s.  " STAGE_3
                          "batch size=5 ! s.  stages name=s ! check-sink name=k",
                  DLP_GRAPH_ERROR_VALUE, "dealt to 2 ranks before the stages");
  assert_refused (STAGE_0 "s.  " STAGE_3 "s.  stages name=s batches=1,1 ! batch size=1,2,3 ! "
                          "check-sink name=k",
                  DLP_GRAPH_ERROR_VALUE, "3 sizes for 2 stages");
  assert_refused ("check-source records=10 epochs=4 ! s.  " STAGE_3
                  "s.  stages name=s batches=3,0 ! shuffle size=50 ! "
                  "batch name=b size=4 cut-at-epoch=true ! check-sink name=k",
                  DLP_GRAPH_ERROR_VALUE, "batches=3,0 cannot be counted: b ends batches where an");
}

static void
test_batch_checks (void)
{
  const char *const graphs[] = { behind, before, mingled };

  for (guint i = 0; i < G_N_ELEMENTS (graphs); i++)
    {
      dlp_check_marks (graphs[i]);
      dlp_check_resume (graphs[i], 1);
      dlp_check_resume (graphs[i], 0);
      dlp_check_kill (graphs[i], dlp_check_scale (5));
    }
  dlp_check_stress (behind);
}

/* ---- what is no state ---- */

static const char good_state[] =
    "{'stage': <uint64 1>, 'open': <uint64 1>, 'epoch': <uint64 0>, 'records': <[uint64 12, 4]>, "
    "'tokens': <[uint64 0, 0]>, 'batches': <[uint64 3, 1]>, 'advances': <[uint64 12, 15]>, "
    "'passed': <uint64 16>}";

static void
load (const char *from, const char *to, const char *part)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_string (
      STAGE_0 "s.  " STAGE_3
              "s.  stages name=s batches=3,0 records=0,7 ! batch size=4,3 ! null-sink",
      &error);
  g_auto (GStrv) parts = g_strsplit (good_state, from, 2);
  g_autofree char *text = g_strjoinv (to, parts);
  g_autoptr (GVariant) state = g_variant_parse (NULL, text, NULL, NULL, &error);
  DlpElement *element;
  gboolean ok;

  g_assert_no_error (error);
  g_assert_cmpuint (g_strv_length (parts), ==, 2);
  dlp_pipeline_prepare (pipeline, NULL, &error);
  g_assert_no_error (error);
  element = dlp_pipeline_get_element (pipeline, "s");
  ok = DLP_ELEMENT_GET_CLASS (element)->load (element, state, 1, &error);
  if (part == NULL)
    {
      g_assert_no_error (error);
      g_assert_true (ok);
      return;
    }
  g_assert_false (ok);
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT);
  if (strstr (error->message, part) == NULL)
    g_error ("“%s” is not in: %s", part, error->message);
}

static void
test_load (void)
{
  static const char *const cases[][3] = {
    { "'stage'", "'stage'", NULL },
    { "'stage': <uint64 1>", "'stage': <uint64 3>", "key “stage” is 3, above the 2" },
    { "'open': <uint64 1>", "'open': <uint64 3>", "key “open” is 3, above the 2" },
    { "'epoch': <uint64 0>", "'epoch': <uint64 4294967296>", "key “epoch”" },
    { "[uint64 12, 4]", "[uint64 12]", "key “records” has 1 numbers" },
    { "[uint64 12, 4]", "[uint64 12, 8]", "key “records”: 8 of stage 1, above the 7" },
    { "[uint64 3, 1]", "[uint64 4, 1]", "key “batches”: 4 of stage 0, above the 3" },
    { "'stage': <uint64 1>", "'stage': <uint64 0>", "of stage 1, above the 0" },
    { "uint64 12, 15", "uint64 15, 12", "key “advances”" },
    { "'passed': <uint64 16>", "'passed': <uint64 15>", "key “passed” is 15, below the 16" },
    { ", 'passed': <uint64 16>", "", "key “passed” is missing" },
    { "'passed'", "'past'", "unknown key “past”" },
    { "<uint64 16>", "<16>", "key “passed” has type i" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    load (cases[i][0], cases[i][1], cases[i][2]);
}

static void
test_resume (void)
{
  dlp_harness_check_resume (graph, 1);
  for (guint n = 0; n < dlp_harness_scale (5); n++)
    dlp_harness_check_resume (graph, 0);
}

static void
test_checks (void)
{
  dlp_check_marks (graph);
  dlp_check_stop (graph);
  dlp_check_kill (graph, dlp_check_scale (10));
}

static void
test_settings (void)
{
  dlp_harness_check_settings (graph);
}

static void
test_golden (void)
{
  dlp_harness_check_golden (graph, GOLDEN);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  g_test_add_func ("/stages/golden", test_golden);
  g_test_add_func ("/stages/limits", test_limits);
  g_test_add_func ("/stages/links", test_links);
  g_test_add_func ("/stages/order", test_order);
  g_test_add_func ("/stages/tokens", test_tokens);
  g_test_add_func ("/stages/undelivered", test_undelivered);
  g_test_add_func ("/stages/batches", test_batches);
  g_test_add_func ("/stages/whole", test_whole);
  g_test_add_func ("/stages/batch-checks", test_batch_checks);
  g_test_add_func ("/stages/load", test_load);
  g_test_add_func ("/stages/resume", test_resume);
  g_test_add_func ("/stages/checks", test_checks);
  g_test_add_func ("/stages/settings", test_settings);
  return g_test_run ();
}
