/* SPDX-License-Identifier: MIT */

/* What goes on before the first record: interrupted, asked for twice at once, and from a state
 * folder without blocking. */

#include <dlp-harness.h>
#include <dlpipe/dlp-plugin.h>

#include <string.h>

/* ---- lister: a source that looks at many files in negotiate() ---- */

static gint listing; /* atomic */

typedef DlpSource Lister;
typedef DlpSourceClass ListerClass;

static GType lister_get_type (void);

G_DEFINE_TYPE (Lister, lister, DLP_TYPE_SOURCE)

/* Each file takes a millisecond, and there are enough for the test to fail where nobody looks. */
static gboolean
lister_negotiate (DlpElement *element, GError **error)
{
  g_atomic_int_set (&listing, TRUE);
  for (guint i = 0; i < 20000; i++)
    {
      if (g_cancellable_set_error_if_cancelled (dlp_element_get_cancellable (element), error))
        return FALSE;
      g_usleep (1000);
    }
  g_assert_not_reached ();
}

static void
lister_class_init (ListerClass *klass)
{
  DLP_ELEMENT_CLASS (klass)->negotiate = lister_negotiate;
}

static void
lister_init (Lister *self)
{
}

static void
wait_until_listing (void)
{
  while (!g_atomic_int_compare_and_exchange (&listing, TRUE, FALSE))
    g_usleep (1000);
}

static DlpPipeline *
make (const char *graph)
{
  g_autoptr (GError) error = NULL;
  DlpPipeline *pipeline = dlp_pipeline_new_from_string (graph, &error);

  g_assert_no_error (error);
  return pipeline;
}

static void
keep_result (GObject *source, GAsyncResult *result, gpointer data)
{
  *(GAsyncResult **) data = g_object_ref (result);
}

static GAsyncResult *
wait_for (GAsyncResult **result)
{
  while (*result == NULL)
    g_main_context_iteration (NULL, TRUE);
  return *result;
}

static void
test_cancelled (void)
{
  static const char *const calls[] = { "prepare", "check", "run" };

  for (guint i = 0; i < G_N_ELEMENTS (calls); i++)
    {
      g_autoptr (DlpPipeline) pipeline = make ("lister ! check-sink name=k");
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      g_autoptr (GAsyncResult) result = NULL;
      g_autoptr (GError) error = NULL;

      if (i == 0)
        dlp_pipeline_prepare_async (pipeline, cancellable, keep_result, &result);
      else if (i == 1)
        dlp_pipeline_check_async (pipeline, cancellable, keep_result, &result);
      else
        dlp_pipeline_run_async (pipeline, cancellable, keep_result, &result);
      wait_until_listing ();
      g_cancellable_cancel (cancellable);
      wait_for (&result);
      g_assert_false (i == 0 ? dlp_pipeline_prepare_finish (pipeline, result, &error) :
                      i == 1 ? dlp_pipeline_check_finish (pipeline, result, &error) :
                               dlp_pipeline_run_finish (pipeline, result, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      if (i != 1)
        g_assert_cmpint (dlp_pipeline_get_status (pipeline), ==, DLP_PIPELINE_ABORTED);
    }
}

static void
test_ended (void)
{
  static const DlpPipelineError codes[] = { DLP_PIPELINE_ERROR_STOPPED,
                                            DLP_PIPELINE_ERROR_ABORTED };

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (DlpPipeline) pipeline = make ("lister ! check-sink name=k");
      g_autoptr (GAsyncResult) result = NULL;
      g_autoptr (GError) error = NULL;

      dlp_pipeline_run_async (pipeline, NULL, keep_result, &result);
      wait_until_listing ();
      if (i == 0)
        dlp_pipeline_stop (pipeline);
      else
        dlp_pipeline_abort (pipeline);
      wait_for (&result);
      g_assert_false (dlp_pipeline_run_finish (pipeline, result, &error));
      g_assert_error (error, DLP_PIPELINE_ERROR, (gint) codes[i]);
      g_assert_cmpint (dlp_pipeline_get_status (pipeline), ==,
                       i == 0 ? DLP_PIPELINE_STOPPED : DLP_PIPELINE_ABORTED);
    }
}

/* The remedy is to wait, not to make another one. */
static void
test_twice_at_once (void)
{
  g_autoptr (DlpPipeline) pipeline = make ("lister ! check-sink name=k");
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;

  dlp_pipeline_prepare_async (pipeline, cancellable, keep_result, &result);
  wait_until_listing ();
  g_assert_false (dlp_pipeline_prepare (pipeline, NULL, &error));
  g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE);
  g_assert_cmpstr (error->message, ==,
                   "the pipeline is being prepared or checked by another call: wait until that has "
                   "returned");
  g_clear_error (&error);
  g_assert_false (dlp_pipeline_check (pipeline, NULL, &error));
  g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE);
  g_assert_true (g_str_has_suffix (error->message, "wait until that has returned"));
  g_cancellable_cancel (cancellable);
  wait_for (&result);
}

/* One that was prepared under a cancellable is not interrupted by what comes later. */
static void
test_cancelled_later (void)
{
  g_autoptr (DlpPipeline) pipeline = make ("check-source records=10 ! check-sink name=k");
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;

  g_assert_true (dlp_pipeline_prepare (pipeline, cancellable, &error));
  g_cancellable_cancel (cancellable);
  g_assert_true (dlp_pipeline_run (pipeline, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (dlp_check_sink_get_lines ("k")->len, ==, 10);
}

static void
test_from_state (void)
{
  g_autofree char *folder = g_dir_make_tmp ("dlpipe-prepare-XXXXXX", NULL);
  g_autofree char *none = g_build_filename (folder, "none", NULL);
  g_autofree char *state = g_build_filename (folder, "state", NULL);
  g_autofree char *clean = g_strdup_printf ("rm -r '%s'", folder);
  g_autoptr (DlpPipeline) first = make ("check-source records=10 ! check-sink name=k");
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPipeline) second = NULL;
  g_autofree char *had = NULL;
  g_autofree char *got = NULL;

  g_object_set (first, "state-dir", state, NULL);
  g_assert_true (dlp_pipeline_run (first, NULL, &error));
  g_assert_no_error (error);
  had = dlp_pipeline_to_string (first);
  g_clear_object (&first);

  /* Result and pipeline are of the context of the caller. */
  g_main_context_push_thread_default (context);
  dlp_pipeline_new_from_state_async (state, NULL, keep_result, &result);
  while (result == NULL)
    g_main_context_iteration (context, TRUE);
  second = dlp_pipeline_new_from_state_finish (result, &error);
  g_main_context_pop_thread_default (context);
  g_assert_no_error (error);
  got = dlp_pipeline_to_string (second);
  g_assert_cmpstr (got, ==, had);
  g_assert_true (dlp_pipeline_run (second, NULL, &error));
  g_assert_no_error (error);
  g_clear_object (&result);

  dlp_pipeline_new_from_state_async (none, NULL, keep_result, &result);
  g_assert_null (dlp_pipeline_new_from_state_finish (wait_for (&result), &error));
  g_assert_nonnull (error);
  g_assert_nonnull (strstr (error->message, none));
  g_clear_error (&error);
  g_clear_object (&result);

  g_cancellable_cancel (cancellable);
  dlp_pipeline_new_from_state_async (state, cancellable, keep_result, &result);
  g_assert_null (dlp_pipeline_new_from_state_finish (wait_for (&result), &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_true (g_spawn_command_line_sync (clean, NULL, NULL, NULL, NULL));
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;

  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  dlp_registry_add_element ("lister", lister_get_type (), &error);
  g_assert_no_error (error);
  g_test_add_func ("/prepare/cancelled", test_cancelled);
  g_test_add_func ("/prepare/ended", test_ended);
  g_test_add_func ("/prepare/twice-at-once", test_twice_at_once);
  g_test_add_func ("/prepare/cancelled-later", test_cancelled_later);
  g_test_add_func ("/prepare/from-state", test_from_state);
  return g_test_run ();
}
