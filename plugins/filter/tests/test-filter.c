/* SPDX-License-Identifier: MIT */

#include <glib/gstdio.h>
#include <string.h>

#include <dlp-harness.h>
#include <dlpipe/dlp-plugin.h>
#include <dlpipe/dlp-source.h>

static GPtrArray *
lines_of (GHashTable *got, const char *name)
{
  return g_hash_table_lookup (got, name);
}

/* Records that are kept and those that are not are all records, in order. */
static void
check_parts (const char *where, gboolean (*keeps) (const char *line))
{
  g_autofree char *graph =
      g_strdup_printf ("check-source records=500 ! filter name=f where=\"%s\" ! check-sink name=k  "
                       "f.rejected ! check-sink name=j",
                       where);
  g_autoptr (GHashTable) all = dlp_harness_expect ("check-source records=500 ! check-sink name=k");
  g_autoptr (GHashTable) got = dlp_harness_expect (graph);
  GPtrArray *parts[] = { lines_of (got, "j"), lines_of (got, "k") };
  guint at[2] = { 0 };

  for (guint i = 0; i < 500; i++)
    {
      const char *line = g_ptr_array_index (lines_of (all, "k"), i);
      guint part = keeps (line) ? 1 : 0;

      g_assert_cmpuint (at[part], <, parts[part]->len);
      g_assert_cmpstr (g_ptr_array_index (parts[part], at[part]++), ==, line);
    }
  g_assert_cmpuint (at[0], ==, parts[0]->len);
  g_assert_cmpuint (at[1], ==, parts[1]->len);
}

static double
get_score (const char *line)
{
  return g_ascii_strtod (strstr (line, "score=") + strlen ("score="), NULL);
}

static gboolean
is_high (const char *line)
{
  return get_score (line) > 20;
}

static gboolean
is_null_or_short (const char *line)
{
  return g_str_has_suffix (line, "=null") || strstr (line, "text= ") != NULL;
}

static gboolean
always (const char *line)
{
  return TRUE;
}

static gboolean
never (const char *line)
{
  return FALSE;
}

static void
test_parts (void)
{
  check_parts ("score > 20", is_high);
  check_parts ("score is null or length(text) == 0", is_null_or_short);
  check_parts ("true", always);
  check_parts ("false", never);
  check_parts ("score == score and score is null", never);
}

static guint64
get_count (DlpPipeline *pipeline, const char *key)
{
  g_autoptr (GVariant) report = dlp_pipeline_get_report (pipeline);
  g_autoptr (GVariant) elements =
      g_variant_lookup_value (report, "elements", G_VARIANT_TYPE ("aa{sv}"));

  for (gsize i = 0; i < g_variant_n_children (elements); i++)
    {
      g_autoptr (GVariant) element = g_variant_get_child_value (elements, i);
      g_autoptr (GVariant) state = g_variant_lookup_value (element, "state", NULL);
      guint64 n;

      if (state != NULL && g_variant_lookup (state, key, "t", &n))
        return n;
    }
  g_error ("nobody counts %s", key);
}

static void
test_counts (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_string (
      "check-source records=400 ! filter where=\"score >= 25\" ! check-sink name=k", &error);

  g_assert_no_error (error);
  dlp_check_sink_clear ();
  g_assert_true (dlp_pipeline_run (pipeline, NULL, &error));
  /* One score in four is null; the others are their number / 8. */
  g_assert_cmpuint (get_count (pipeline, "kept"), ==, 150);
  g_assert_cmpuint (get_count (pipeline, "dropped"), ==, 250);
  g_assert_cmpuint (get_count (pipeline, "null"), ==, 100);
  g_assert_cmpuint (dlp_check_sink_get_lines ("k")->len, ==, 150);
}

/* In the report, and not where something was kept. */
static void
test_nothing (void)
{
  static const char *const wheres[] = { "score < 0", "score >= 0" };

  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *graph = g_strdup_printf (
          "check-source records=40 ! filter where=\"%s\" ! check-sink name=k", wheres[i]);
      g_autoptr (GError) error = NULL;
      g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_string (graph, &error);
      g_autoptr (GVariant) report = NULL;
      g_autofree char *text = NULL;

      g_assert_no_error (error);
      g_assert_true (dlp_pipeline_run (pipeline, NULL, &error));
      report = dlp_pipeline_get_report (pipeline);
      text = g_variant_print (report, FALSE);
      g_assert_true ((strstr (text, "kept none of 40 records; for 10 of them the condition was "
                                    "null: score < 0") != NULL) == (i == 0));
    }
}

static void
assert_refused (const char *filter, int code, const char *part)
{
  g_autofree char *graph =
      g_strdup_printf ("check-source ! filter name=f %s ! check-sink name=k", filter);
  g_autoptr (GError) error = NULL;

  g_assert_false (dlp_harness_run (graph, NULL, &error));
  g_assert_error (error, DLP_GRAPH_ERROR, code);
  if (strstr (error->message, part) == NULL)
    g_error ("“%s” is not in: %s", part, error->message);
}

static void
test_errors (void)
{
  assert_refused ("", DLP_GRAPH_ERROR_VALUE, "set where=CONDITION");
  assert_refused ("where=\"scor > 1 and id == 'x'\"", DLP_GRAPH_ERROR_VALUE,
                  "line 1, column 16: f: where, column 1: the input has no field “scor”, did you "
                  "mean “score”?; its fields: text, id, score\n");
  assert_refused ("where=\"scor > 1 and id == 'x'\"", DLP_GRAPH_ERROR_VALUE,
                  "\n  scor > 1 and id == 'x'\n  ^~~~");
  assert_refused ("where=\"text > 1\"", DLP_GRAPH_ERROR_TYPE,
                  "string cannot be compared with an integer\n");
  assert_refused ("where=\"text > \"", DLP_GRAPH_ERROR_SYNTAX, "\n  text > \n         ^");
}

static void
test_files (void)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (dlp_harness_run (
      "file-source location=/dev/null ! filter where='size > 3' ! null-sink", NULL, &error));
  g_assert_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_TYPE);
  g_assert_nonnull (strstr (error->message, "put a reader before it"));
}

/* What was before the record that cannot be judged comes out, whatever the cuts and workers. */
static void
test_failure (void)
{
  static const char *const graph =
      "check-source records=60 ! filter where=\"not matches(text, '^(\\\\D+)+[^\\\\D]+x$')\" ! "
      "check-sink name=k";
  guint n = 0;

  for (guint i = 0; i < 4; i++)
    {
      DlpHarnessSettings settings = { .workers = 1 + i % 3, .batch_records = i % 4 };
      g_autoptr (GError) error = NULL;

      g_assert_false (dlp_harness_run (graph, &settings, &error));
      g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_BAD_RECORD);
      g_assert_nonnull (strstr (error->message, "gave up on this record"));
      if (i == 0)
        n = dlp_check_sink_get_lines ("k")->len;
      g_assert_cmpuint (dlp_check_sink_get_lines ("k")->len, ==, n);
    }
  g_assert_cmpuint (n, <, 60);
}

static void
test_resume (void)
{
  const char *both = "check-source records=90 ! filter name=f where=\"score > 2 and score < 7 or "
                     "matches(text, '\\\\d{4} ')\" ! check-sink name=k  f.rejected ! check-sink "
                     "name=j";

  dlp_harness_check_resume (both, 1);
  for (guint n = 0; n < dlp_harness_scale (10); n++)
    dlp_harness_check_resume (both, 0);
  dlp_harness_check_resume ("check-source records=150 ! filter where=\"length(text) < 100\" ! "
                            "shuffle size=9 ! filter where=\"id is not null\" ! check-sink name=k",
                            1);
}

static void
test_settings (void)
{
  dlp_harness_check_settings (
      "check-source records=200 ! filter name=f where=\"score > 5 or text == ''\" ! check-sink "
      "name=k  f.rejected ! check-sink name=j");
}

/* Marks, a resume at every record, stress, cancels and kills. */
static void
test_all (void)
{
  dlp_check_all ("check-source records=60 ! filter name=f where=\"score > 1 and score < 5\" ! "
                 "check-sink name=k  f.rejected ! check-sink name=j");
}

static void
test_golden (void)
{
  dlp_harness_check_golden (
      "check-source records=60 ! filter where=\"score >= 2 and id is not null and chars(text) in "
      "(0, 100, 200) or starts-with(text, '<|end')\" ! check-sink name=k",
      GOLDEN);
}

/* ---- long drops ---- */

#define N_RECORDS 200000

/* `numbers`: 0, 1, 2, ..., which stops the pipeline when it has made so many. */
typedef struct
{
  DlpSource parent_instance;
  guint64 next; /* the state */
} Numbers;
typedef DlpSourceClass NumbersClass;

static GType numbers_get_type (void);
G_DEFINE_TYPE (Numbers, numbers, DLP_TYPE_SOURCE)

static DlpPipeline *pipeline_to_stop;
static guint64 stop_at; /* 0: never */
static guint64 n_made;  /* in all attempts; by one thread at a time */

static gboolean
numbers_negotiate (DlpElement *element, GError **error)
{
  const char *const names[] = { "n" };
  const DlpFieldType types[] = { DLP_FIELD_INT64 };
  g_autoptr (DlpSchema) schema = dlp_schema_new (DLP_SCHEMA_RECORDS, 1, names, types, NULL);

  dlp_pad_set_schema (dlp_element_get_output (element, 0), schema);
  return TRUE;
}

static DlpStep
numbers_produce (DlpSource *source, DlpPad *out, GCancellable *cancellable, GError **error)
{
  Numbers *self = (Numbers *) source;

  for (guint i = 0; i < 50 && self->next < N_RECORDS; i++)
    {
      dlp_record_batch_builder_append_int64 (dlp_pad_get_builder (out), 0, (gint64) self->next);
      dlp_pad_end_record (out, &(DlpCoordinate){ .row = self->next });
      self->next++;
      n_made++;
    }
  if (stop_at > 0 && self->next >= stop_at)
    dlp_pipeline_stop (pipeline_to_stop);
  return self->next < N_RECORDS ? DLP_STEP_MORE : DLP_STEP_END;
}

static DlpState *
numbers_save (DlpElement *element)
{
  return dlp_state_new (&((Numbers *) element)->next, sizeof (guint64));
}

static GVariant *
numbers_describe (DlpElement *element, const DlpState *state)
{
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "next", "t", *(const guint64 *) dlp_state_get_data (state));
  return g_variant_dict_end (&dict);
}

static gboolean
numbers_load (DlpElement *element, GVariant *described, guint version, GError **error)
{
  return dlp_state_get_uint64 (described, "next", N_RECORDS, &((Numbers *) element)->next, error);
}

static void
numbers_class_init (NumbersClass *klass)
{
  DlpElementClass *element_class = DLP_ELEMENT_CLASS (klass);

  element_class->negotiate = numbers_negotiate;
  element_class->save = numbers_save;
  element_class->describe = numbers_describe;
  element_class->load = numbers_load;
  klass->produce = numbers_produce;
}

static void
numbers_init (Numbers *self)
{
}

static gboolean
attempt (const char *folder, guint64 stop)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_string (
      "numbers ! filter where=\"n == 3 or n == 199990\" ! check-sink name=k", &error);

  g_assert_no_error (error);
  g_object_set (pipeline, "state-dir", folder, "batch-records", 16, "workers", 2, NULL);
  pipeline_to_stop = pipeline;
  stop_at = stop;
  if (dlp_pipeline_run (pipeline, NULL, &error))
    return TRUE;
  g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED);
  return FALSE;
}

/* Marks move over what is dropped: of 200,000 records, two of which come out, few are read again
 * after each of three stops far from both. */
static void
test_long_drop (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("dlpipe-filter-XXXXXX", &error);

  g_assert_no_error (error);
  dlp_check_sink_clear ();
  n_made = 0;
  for (guint i = 1; i < 4; i++)
    g_assert_false (attempt (folder, i * N_RECORDS / 4));
  g_assert_true (attempt (folder, 0));
  g_assert_cmpuint (dlp_check_sink_get_lines ("k")->len, ==, 2);
  g_assert_cmpstr (g_ptr_array_index (dlp_check_sink_get_lines ("k"), 0), ==, "[0 0 0 3 0] n=3");
  g_assert_cmpstr (g_ptr_array_index (dlp_check_sink_get_lines ("k"), 1), ==,
                   "[0 0 0 199990 0] n=199990");
  g_test_message ("%" G_GUINT64_FORMAT " records read again", n_made - N_RECORDS);
  g_assert_cmpuint (n_made, >=, N_RECORDS);
  /* From the beginning it would be one and a half times as many as there are. */
  g_assert_cmpuint (n_made - N_RECORDS, <, N_RECORDS / 4);
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;

  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  /* A filter that keeps nothing says so; that is no fault of the test. */
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  dlp_registry_add_element ("numbers", numbers_get_type (), &error);
  g_assert_no_error (error);
  g_test_add_func ("/filter/golden", test_golden);
  g_test_add_func ("/filter/parts", test_parts);
  g_test_add_func ("/filter/counts", test_counts);
  g_test_add_func ("/filter/nothing", test_nothing);
  g_test_add_func ("/filter/errors", test_errors);
  g_test_add_func ("/filter/files", test_files);
  g_test_add_func ("/filter/failure", test_failure);
  g_test_add_func ("/filter/resume", test_resume);
  g_test_add_func ("/filter/settings", test_settings);
  g_test_add_func ("/filter/all", test_all);
  g_test_add_func ("/filter/long-drop", test_long_drop);
  return g_test_run ();
}
