/* SPDX-License-Identifier: MIT */

/* Each error says once which element it comes from, whether or not that says so itself. */

#include <string.h>

#include <dlpipe/dlp-check.h>
#include <glib/gstdio.h>

#define NAME "text-sink0"

typedef DlpSink Faulty;
typedef DlpSinkClass FaultyClass;

GType faulty_get_type (void);

G_DEFINE_TYPE (Faulty, faulty, DLP_TYPE_SINK)

static const char *fails_in;
static gboolean names_itself;
static gboolean warns;

static gboolean
fail_in (const char *function, GQuark domain, GError **error)
{
  if (strcmp (fails_in, function) != 0)
    return TRUE;
  g_set_error (error, domain, 1, "%sit has a fault", names_itself ? NAME ": " : "");
  return FALSE;
}

static gboolean
faulty_negotiate (DlpElement *element, GError **error)
{
  return fail_in ("negotiate", DLP_GRAPH_ERROR, error) &&
         fail_in ("negotiate, data", DLP_DATA_ERROR, error);
}

static gboolean
faulty_check_location (DlpSink *sink, gboolean overwrite, GError **error)
{
  return fail_in ("check_location", DLP_STATE_ERROR, error);
}

static gboolean
faulty_discard (DlpSink *sink, gboolean overwrite, GError **error)
{
  return fail_in ("discard", G_IO_ERROR, error);
}

static gboolean
faulty_start (DlpElement *element, GCancellable *cancellable, GError **error)
{
  return fail_in ("start", DLP_DATA_ERROR, error);
}

static gboolean
faulty_consume (DlpSink *sink,
                DlpRecordBatch *batch,
                guint row,
                guint n,
                GCancellable *cancellable,
                GError **error)
{
  if (warns && row == 0 && dlp_record_batch_get_position (batch) == 0)
    {
      dlp_element_warn (DLP_ELEMENT (sink), NULL, -1, "an odd record");
      dlp_element_warn (DLP_ELEMENT (sink), NULL, -1, NAME ": an odd record");
    }
  return fail_in ("consume", DLP_DATA_ERROR, error);
}

static gboolean
faulty_sync (DlpSink *sink, const DlpState *state, GCancellable *cancellable, GError **error)
{
  return fail_in ("sync", G_IO_ERROR, error);
}

static gboolean
faulty_publish (DlpSink *sink,
                const DlpState *state,
                gboolean complete,
                GCancellable *cancellable,
                GError **error)
{
  return fail_in ("publish", G_IO_ERROR, error);
}

static void
faulty_class_init (FaultyClass *klass)
{
  DlpElementClass *element_class = DLP_ELEMENT_CLASS (klass);

  element_class->negotiate = faulty_negotiate;
  element_class->start = faulty_start;
  klass->check_location = faulty_check_location;
  klass->discard = faulty_discard;
  klass->consume = faulty_consume;
  klass->sync = faulty_sync;
  klass->publish = faulty_publish;
}

static void
faulty_init (Faulty *self)
{
}

static guint
count (const char *text, const char *part)
{
  guint n = 0;

  for (const char *at = strstr (text, part); at != NULL; at = strstr (at + 1, part))
    n++;
  return n;
}

/* One without folders in it, which may not be there. */
static void
remove_folder (const char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *file = g_build_filename (path, name, NULL);

      g_assert_no_errno (g_unlink (file));
    }
  g_rmdir (path);
}

static void
expect_named (const char *function)
{
  g_autofree char *folder = g_dir_make_tmp ("naming-XXXXXX", NULL);
  g_autofree char *state = g_build_filename (folder, "state", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPipeline) pipeline =
      dlp_pipeline_new_from_string ("check-source ! faulty name=" NAME, &error);
  const char *said;

  g_assert_no_error (error);
  g_object_set (pipeline, "state-dir", state, "restart", strcmp (function, "discard") == 0, NULL);
  fails_in = function;
  g_assert_false (dlp_pipeline_run (pipeline, NULL, &error));
  g_assert_nonnull (error);
  g_test_message ("%s: %s", function, error->message);
  said = strstr (error->message, NAME ": it has a fault");
  g_assert_nonnull (said);
  /* The text of the graph, below, has it as well. */
  g_assert_cmpuint (count (error->message, NAME ":"), ==, 1);
  remove_folder (state);
  g_assert_no_errno (g_rmdir (folder));
}

static void
test_named (gconstpointer data)
{
  names_itself = FALSE;
  expect_named (data);
  names_itself = TRUE;
  expect_named (data);
}

/* A name that is a word of the message too. */
static void
test_word (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPipeline) pipeline =
      dlp_pipeline_new_from_string ("check-source ! faulty name=has", &error);

  g_assert_no_error (error);
  fails_in = "consume";
  names_itself = FALSE;
  g_assert_false (dlp_pipeline_run (pipeline, NULL, &error));
  g_assert_nonnull (error);
  g_assert_cmpstr (error->message, ==, "has: it has a fault");
}

/* Warnings too; they are in the report. */
static void
test_warning (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPipeline) pipeline =
      dlp_pipeline_new_from_string ("check-source ! faulty name=" NAME, &error);
  g_autoptr (GVariant) report = NULL;
  g_autoptr (GVariant) warnings = NULL;

  g_assert_no_error (error);
  fails_in = "nothing";
  warns = TRUE;
  g_assert_true (dlp_pipeline_run (pipeline, NULL, &error));
  warns = FALSE;
  g_assert_no_error (error);
  report = dlp_pipeline_get_report (pipeline);
  warnings = g_variant_lookup_value (report, "warnings", G_VARIANT_TYPE_STRING_ARRAY);
  g_assert_cmpuint (g_variant_n_children (warnings), ==, 2);
  for (gsize i = 0; i < 2; i++)
    {
      const char *text;

      g_variant_get_child (warnings, i, "&s", &text);
      g_assert_cmpstr (text, ==, NAME ": an odd record");
    }
}

int
main (int argc, char **argv)
{
  static const char *const functions[] = { "negotiate", "negotiate, data", "check_location",
                                           "discard",   "start",           "consume",
                                           "sync",      "publish" };

  g_test_init (&argc, &argv, NULL);
  dlp_check_init ();
  g_assert_true (dlp_registry_add_element ("faulty", faulty_get_type (), NULL));
  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    {
      g_autofree char *path = g_strconcat ("/naming/", functions[i], NULL);

      g_test_add_data_func (path, functions[i], test_named);
    }
  g_test_add_func ("/naming/word", test_word);
  g_test_add_func ("/naming/warning", test_warning);
  return g_test_run ();
}
