/* SPDX-License-Identifier: MIT */

#include <string.h>

#include <dlpipe/dlp-plugin.h>

#include "app-rig.h"

#define GRAPH "app-source name=in schema=text:string ! app-sink name=out"
static const char *const limited =
    "app-source name=in schema=text:string ! limit records=1000 ! app-sink name=out";
#define WITH_TOKENS "app-source name=in schema=text:string tokens=true max-batches=2 ! "

static const DlpRunnerKind runners[] = { DLP_RUNNER_THREADS, DLP_RUNNER_POOL,
                                         DLP_RUNNER_SEQUENTIAL };

typedef struct
{
  AppRig *rig;
  guint n;       /* records in all */
  guint a_batch; /* in a push */
  guint a_token; /* pushes that have the same */
  GError *error;
} Pusher;

/* Tokens are the number of their first record. What comes before the restored one is left out. */
static gpointer
push_all (gpointer data)
{
  Pusher *self = data;
  DlpAppSource *in = self->rig->in;
  g_autoptr (GVariant) restored = dlp_app_source_dup_restored_token (in);
  guint64 first = restored != NULL ? g_variant_get_uint64 (restored) : 0;
  gboolean tokens;

  g_object_get (in, "tokens", &tokens, NULL);
  for (guint64 i = first; i < self->n && self->error == NULL; i += self->a_batch)
    {
      g_autoptr (DlpRecordBatch) batch =
          app_make_batch (i, (guint) MIN (self->a_batch, self->n - i));
      guint64 token = i - i % (self->a_batch * MAX (self->a_token, 1));

      dlp_app_source_push (in, batch, tokens ? g_variant_new_uint64 (token) : NULL, NULL,
                           &self->error);
    }
  if (self->error == NULL)
    dlp_app_source_end (in);
  return NULL;
}

static char *
make_line (guint source, guint file, guint row, guint number)
{
  g_autofree char *text = g_strdup_printf ("record %u", number);
  g_autofree char *encoded = g_base64_encode ((const guint8 *) text, strlen (text));

  return g_strdup_printf ("[0 %u %u %u 0] text=%s", source, file, row, encoded);
}

static void
assert_line (GPtrArray *lines, guint i, guint source, guint file, guint row, guint number)
{
  g_autofree char *line = make_line (source, file, row, number);

  g_assert_cmpstr (g_ptr_array_index (lines, i), ==, line);
}

static GPtrArray *
expect (guint n)
{
  GPtrArray *lines = app_lines_new ();

  for (guint i = 0; i < n; i++)
    g_ptr_array_add (lines, make_line (0, 0, i, i));
  return lines;
}

static void
test_push (void)
{
  static const guint sizes[] = { 1, 7, 100, 5000 };

  for (guint i = 0; i < G_N_ELEMENTS (runners) * G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr (GPtrArray) expected = expect (5000);
      g_autoptr (GPtrArray) lines = app_lines_new ();
      g_autoptr (DlpRecordBatch) late = app_make_batch (0, 1);
      g_autoptr (GError) error = NULL;
      AppRig rig;
      Pusher pusher = { &rig, 5000, sizes[i % G_N_ELEMENTS (sizes)] };
      GThread *thread;

      app_rig_init (&rig, GRAPH, runners[i / G_N_ELEMENTS (sizes)], NULL);
      app_rig_start (&rig);
      thread = g_thread_new ("push", push_all, &pusher);
      app_pull_all (rig.out, 0, lines);
      g_thread_join (thread);
      g_assert_no_error (pusher.error);
      app_assert_equal (lines, expected);
      g_assert_false (dlp_app_source_push (rig.in, late, NULL, NULL, &error));
      g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE);
      app_rig_finish (&rig);
    }
}

/* ---- schema, coordinates ---- */

static void
check_schema (const char *text, const char *is, const char *part)
{
  g_autoptr (DlpPipeline) pipeline = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *graph =
      g_strdup_printf ("app-source name=in %s%s%s ! null-sink", text != NULL ? "schema=\"" : "",
                       text != NULL ? text : "", text != NULL ? "\"" : "");
  DlpSchema *schema;

  pipeline = dlp_pipeline_new_from_string (graph, &error);
  g_assert_no_error (error);
  if (is == NULL)
    {
      g_assert_false (dlp_pipeline_prepare (pipeline, NULL, &error));
      g_assert_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE);
      if (strstr (error->message, part) == NULL)
        g_error ("“%s” is not in %s", part, error->message);
      return;
    }
  g_assert_true (dlp_pipeline_prepare (pipeline, NULL, &error));
  g_assert_no_error (error);
  schema = dlp_app_source_get_schema (DLP_APP_SOURCE (dlp_pipeline_get_element (pipeline, "in")));
  {
    g_autofree char *has = dlp_schema_to_string (schema);

    g_assert_cmpstr (has, ==, is);
  }
}

static void
test_schema (void)
{
  check_schema ("text:string", "records {text: string}", NULL);
  check_schema (" a : string , b:double? ", "records {a: string, b: double?}", NULL);
  check_schema ("records {t: list<uint16>, u: list<uint32>?, i: int64}",
                "records {t: list<uint16>, u: list<uint32>?, i: int64}", NULL);
  check_schema ("batches{x:uint64}", "batches {x: uint64}", NULL);
  check_schema (NULL, NULL, "“schema” is not set");
  check_schema ("text", NULL, "“text” is no NAME:TYPE");
  check_schema ("", NULL, "names no field");
  check_schema ("text:str", NULL, "has no type");
  check_schema (":string", NULL, "has no name");
  check_schema ("a:string,a:string", NULL, "is there twice");
  check_schema ("rows {a:string}", NULL, "has braces");
  check_schema ("{a:string", NULL, "has braces");
}

/* It is part of the graph's text, so that a state knows it. */
static void
test_set_schema (void)
{
  const char *names[] = { "tokens", "score" };
  DlpFieldType types[] = { DLP_FIELD_LIST_UINT16, DLP_FIELD_DOUBLE };
  gboolean optional[] = { FALSE, TRUE };
  g_autoptr (DlpSchema) schema = dlp_schema_new (DLP_SCHEMA_BATCHES, 2, names, types, optional);
  g_autoptr (DlpPipeline) pipeline =
      dlp_pipeline_new_from_string ("app-source name=in ! null-sink", NULL);
  g_autoptr (DlpPipeline) again = NULL;
  g_autoptr (DlpRecordBatch) batch = app_make_batch (0, 1);
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  DlpAppSource *in = DLP_APP_SOURCE (dlp_pipeline_get_element (pipeline, "in"));

  g_assert_false (dlp_app_source_try_push (in, batch, NULL, &error));
  g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE);
  g_clear_error (&error);
  dlp_app_source_set_schema (in, schema);
  g_assert_false (dlp_app_source_try_push (in, batch, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT);
  g_assert_nonnull (strstr (error->message, "records {text: string}"));
  g_clear_error (&error);

  text = dlp_pipeline_to_string (pipeline);
  again = dlp_pipeline_new_from_string (text, &error);
  g_assert_no_error (error);
  g_assert_true (dlp_schema_equal (
      schema, dlp_app_source_get_schema (DLP_APP_SOURCE (dlp_pipeline_get_element (again, "in")))));
}

/* What is not UTF-8 is so no more; once it is warned of, and it is counted. */
static void
test_utf8 (void)
{
  g_autoptr (DlpSchema) schema = NULL;
  g_autoptr (GPtrArray) lines = app_lines_new ();
  g_autoptr (GVariant) report = NULL;
  g_autofree char *printed = NULL;
  g_autofree char *wanted = g_base64_encode ((const guchar *) "a\xef\xbf\xbdz\xef\xbf\xbd", 8);
  const char *warning;
  g_autoptr (GError) error = NULL;
  AppRig rig;

  app_rig_init (&rig, GRAPH, DLP_RUNNER_THREADS, NULL);
  schema = dlp_schema_ref (dlp_app_source_get_schema (rig.in));
  app_rig_start (&rig);
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (DlpRecordBatchBuilder) builder = dlp_record_batch_builder_new (schema);
      g_autoptr (DlpRecordBatch) batch = NULL;

      dlp_record_batch_builder_append_value (builder, 0, "a\xf0\x9f\x98z\xff", 6);
      dlp_record_batch_builder_end_record (builder, &(DlpCoordinate){ .row = i });
      batch = dlp_record_batch_builder_finish (builder, &error);
      g_assert_no_error (error);
      g_assert_true (dlp_app_source_push (rig.in, batch, NULL, NULL, &error));
      g_assert_no_error (error);
    }
  dlp_app_source_end (rig.in);
  app_pull_all (rig.out, 0, lines);
  g_assert_cmpuint (lines->len, ==, 2);
  for (guint i = 0; i < lines->len; i++)
    g_assert_nonnull (strstr (g_ptr_array_index (lines, i), wanted));
  app_rig_join (&rig);
  g_assert_no_error (rig.error);
  report = dlp_pipeline_get_report (rig.pipeline);
  printed = g_variant_print (report, TRUE);
  g_assert_nonnull (strstr (printed, "'replacement-characters': <uint64 4>"));
  warning = strstr (printed, "strings that are not UTF-8");
  g_assert_nonnull (warning);
  g_assert_null (strstr (warning + 1, "strings that are not UTF-8"));
  app_rig_clear (&rig);
}

static void
test_coordinates (void)
{
  g_autoptr (GPtrArray) lines = app_lines_new ();
  g_autoptr (DlpRecordBatch) whole = app_make_batch (0, 20);
  g_autoptr (DlpRecordBatch) part = dlp_record_batch_slice (whole, 15, 2);
  AppRig rig;

  app_rig_init (&rig,
                "app-source name=in keep-coordinates=true schema=text:string ! app-sink name=out",
                DLP_RUNNER_AUTO, NULL);
  app_rig_start (&rig);
  g_assert_true (dlp_app_source_push (rig.in, part, NULL, NULL, NULL));
  dlp_app_source_end (rig.in);
  app_pull_all (rig.out, 0, lines);
  assert_line (lines, 1, 0, 7, 16, 16);
  app_rig_finish (&rig);

  /* The ordinal is that among all sources; of a small slice of much the values are copied. */
  g_ptr_array_set_size (lines, 0);
  app_rig_init (
      &rig,
      "check-source records=0 ! null-sink app-source name=in schema=text:string ! app-sink "
      "name=out",
      DLP_RUNNER_AUTO, NULL);
  app_rig_start (&rig);
  g_assert_true (dlp_app_source_push (rig.in, part, NULL, NULL, NULL));
  g_assert_true (dlp_app_source_push (rig.in, whole, NULL, NULL, NULL));
  dlp_app_source_end (rig.in);
  app_pull_all (rig.out, 0, lines);
  g_assert_cmpuint (lines->len, ==, 22);
  assert_line (lines, 1, 1, 0, 1, 16);
  assert_line (lines, 21, 1, 0, 21, 19);
  app_rig_finish (&rig);
}

/* ---- limits and ends ---- */

static void
test_full (void)
{
  g_autoptr (DlpRecordBatch) batch = app_make_batch (0, 10);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  AppRig rig;

  /* Before it runs there is room as well. */
  app_rig_init (&rig, "app-source name=in max-batches=3 schema=text:string ! app-sink name=out",
                DLP_RUNNER_AUTO, NULL);
  for (guint i = 0; i < 3; i++)
    g_assert_true (dlp_app_source_try_push (rig.in, batch, NULL, NULL));
  g_assert_false (dlp_app_source_try_push (rig.in, batch, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK);
  g_clear_error (&error);
  g_cancellable_cancel (cancellable);
  g_assert_false (dlp_app_source_push (rig.in, batch, NULL, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  app_rig_clear (&rig);
}

typedef struct
{
  DlpAppSource *source;
  GError *error;
} Waiter;

static gpointer
push_until_it_fails (gpointer data)
{
  Waiter *self = data;

  while (self->error == NULL)
    {
      g_autoptr (DlpRecordBatch) batch = app_make_batch (0, 100);

      dlp_app_source_push (self->source, batch, NULL, NULL, &self->error);
    }
  return NULL;
}

static void
end_by_limit (AppRig *rig)
{
  g_autoptr (GPtrArray) lines = app_lines_new ();

  app_pull_all (rig->out, 0, lines);
  g_assert_cmpuint (lines->len, ==, 1000);
}

static void
end_by_close (AppRig *rig)
{
  dlp_app_sink_close (rig->out);
}

static void
end_by_stop (AppRig *rig)
{
  dlp_pipeline_stop (rig->pipeline);
}

static void
end_by_abort (AppRig *rig)
{
  dlp_pipeline_abort (rig->pipeline);
}

static void
end_by_drop (AppRig *rig)
{
  app_rig_join (rig);
  g_clear_object (&rig->pipeline);
}

/* A push that waits is woken at once, whatever the end. */
static void
test_woken (void)
{
  const struct
  {
    void (*end) (AppRig *);
    GQuark domain;
    int code;
  } ends[] = {
    { end_by_limit, G_IO_ERROR, G_IO_ERROR_CLOSED },
    { end_by_close, G_IO_ERROR, G_IO_ERROR_CLOSED },
    { end_by_stop, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED },
    { end_by_abort, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_ABORTED },
    { end_by_drop, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (runners) * G_N_ELEMENTS (ends); i++)
    {
      guint k = i % G_N_ELEMENTS (ends);
      g_autoptr (DlpAppSource) source = NULL;
      Waiter waiter = { NULL };
      GThread *thread;
      AppRig rig;

      app_rig_init (&rig, ends[k].end == end_by_limit ? limited : GRAPH,
                    runners[i / G_N_ELEMENTS (ends)], NULL);
      waiter.source = source = g_object_ref (rig.in);
      if (ends[k].end != end_by_drop)
        app_rig_start (&rig);
      thread = g_thread_new ("push", push_until_it_fails, &waiter);
      g_usleep (3000);
      ends[k].end (&rig);
      g_thread_join (thread);
      g_assert_error (waiter.error, ends[k].domain, ends[k].code);
      g_clear_error (&waiter.error);
      app_rig_clear (&rig);
    }
}

/* Pushes after the run has failed give its error. */
static void
test_error (void)
{
  g_autoptr (DlpRecordBatch) batch = app_make_batch (0, 10);
  g_autoptr (GError) own = g_error_new (G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED, "the oven is cold");
  g_autoptr (GError) error = NULL;
  DlpAppSource *other;
  AppRig rig;

  app_rig_init (&rig,
                "app-source name=in schema=text:string ! null-sink  app-source name=other "
                "schema=text:string ! null-sink",
                DLP_RUNNER_AUTO, NULL);
  other = DLP_APP_SOURCE (dlp_pipeline_get_element (rig.pipeline, "other"));
  app_rig_start (&rig);
  g_assert_true (dlp_app_source_push (rig.in, batch, NULL, NULL, NULL));
  dlp_app_source_fail (other, own);
  app_rig_join (&rig);
  for (guint i = 0; i < 2; i++)
    {
      g_assert_false (dlp_app_source_push (rig.in, batch, NULL, NULL, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED);
      g_assert_nonnull (strstr (error->message, "the oven is cold"));
      g_clear_error (&error);
    }
  app_rig_clear (&rig);
}

/* ---- asynchronous ---- */

static void
keep_result (GObject *source, GAsyncResult *result, gpointer data)
{
  *(GAsyncResult **) data = g_object_ref (result);
}

static bool
get_result (DlpAppSource *source, GAsyncResult **result, GError **error)
{
  bool ok;

  while (*result == NULL)
    g_main_context_iteration (NULL, TRUE);
  ok = dlp_app_source_push_finish (source, *result, error);
  g_clear_object (result);
  return ok;
}

static void
test_async (void)
{
  g_autoptr (DlpRecordBatch) batch = app_make_batch (0, 10);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GPtrArray) lines = app_lines_new ();
  g_autoptr (GError) error = NULL;
  GAsyncResult *result = NULL;
  GAsyncResult *other = NULL;
  AppRig rig;

  app_rig_init (&rig, "app-source name=in max-batches=1 schema=text:string ! app-sink name=out",
                DLP_RUNNER_AUTO, NULL);
  dlp_app_source_push_async (rig.in, batch, NULL, NULL, keep_result, &result);
  g_assert_true (get_result (rig.in, &result, NULL));
  dlp_app_source_push_async (rig.in, batch, NULL, cancellable, keep_result, &result);
  dlp_app_source_push_async (rig.in, batch, NULL, NULL, keep_result, &other);
  g_assert_false (get_result (rig.in, &other, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PENDING);
  g_clear_error (&error);
  g_assert_false (dlp_app_source_push (rig.in, batch, NULL, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PENDING);
  g_clear_error (&error);
  g_cancellable_cancel (cancellable);
  g_assert_false (get_result (rig.in, &result, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);

  /* An end is behind the push that waits. */
  dlp_app_source_push_async (rig.in, batch, NULL, NULL, keep_result, &result);
  dlp_app_source_end (rig.in);
  app_rig_start (&rig);
  g_assert_true (get_result (rig.in, &result, &error));
  app_pull_all (rig.out, 0, lines);
  g_assert_cmpuint (lines->len, ==, 20);
  app_rig_finish (&rig);
}

/* The end does not wait for the callback of a push that was taken, which cannot come while the run
 * blocks the main context. */
static void
test_end_behind_async (void)
{
  g_autoptr (DlpRecordBatch) batch = app_make_batch (0, 10);
  g_autoptr (GError) error = NULL;
  GAsyncResult *result = NULL;
  AppRig rig;

  app_rig_init (&rig, "app-source name=in schema=text:string ! null-sink name=n", DLP_RUNNER_AUTO,
                NULL);
  dlp_app_source_push_async (rig.in, batch, NULL, NULL, keep_result, &result);
  dlp_app_source_end (rig.in);
  g_assert_true (dlp_pipeline_run (rig.pipeline, NULL, &error));
  g_assert_no_error (error);
  g_assert_true (get_result (rig.in, &result, NULL));
  g_assert_cmpuint (
      dlp_sink_get_n_records (DLP_SINK (dlp_pipeline_get_element (rig.pipeline, "n"))), ==, 10);
  app_rig_clear (&rig);
}

/* Pushes that come too late, just when the element looks whether it is to end, do not keep it. */
static void
test_end_is_seen (void)
{
  g_autoptr (DlpRecordBatch) batch = app_make_batch (0, 10);

  for (guint i = 0; i < dlp_harness_scale (300); i++)
    {
      gint64 late = g_get_monotonic_time () + 20 * G_USEC_PER_SEC;
      AppRig rig;

      app_rig_init (&rig, "app-source name=in schema=text:string ! null-sink", runners[i % 3],
                    NULL);
      app_rig_start (&rig);
      dlp_app_source_end (rig.in);
      while (dlp_pipeline_get_status (rig.pipeline) == DLP_PIPELINE_RUNNING)
        {
          g_autoptr (GError) error = NULL;

          g_assert_false (dlp_app_source_try_push (rig.in, batch, NULL, &error));
          g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE);
          g_assert_cmpint (g_get_monotonic_time (), <, late);
        }
      app_rig_finish (&rig);
    }
}

/* ---- tokens ---- */

static void
test_no_tokens (void)
{
  char *folder = app_make_folder ();
  g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_string (GRAPH, NULL);
  g_autoptr (DlpRecordBatch) batch = app_make_batch (0, 10);
  g_autoptr (GVariant) large =
      g_variant_ref_sink (g_variant_new_take_string (g_strnfill (70000, 'x')));
  g_autoptr (GError) error = NULL;
  AppRig rig;

  g_object_set (pipeline, "state-dir", folder, NULL);
  g_assert_false (dlp_pipeline_prepare (pipeline, NULL, &error));
  g_assert_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE);
  g_assert_nonnull (strstr (error->message, "set tokens=true"));
  g_clear_error (&error);

  app_rig_init (&rig, GRAPH, DLP_RUNNER_AUTO, NULL);
  g_assert_false (dlp_app_source_try_push (rig.in, batch, g_variant_new_uint64 (1), &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT);
  g_clear_error (&error);
  app_rig_clear (&rig);

  app_rig_init (&rig, WITH_TOKENS "app-sink name=out", DLP_RUNNER_AUTO, folder);
  g_assert_false (dlp_app_source_try_push (rig.in, batch, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT);
  g_clear_error (&error);
  g_assert_false (dlp_app_source_try_push (rig.in, batch, large, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT);
  g_assert_nonnull (strstr (error->message, "at most 65536"));
  g_clear_error (&error);
  app_rig_clear (&rig);

  /* Who did not ask cannot know. */
  g_clear_object (&pipeline);
  pipeline = dlp_pipeline_new_from_string (WITH_TOKENS "app-sink name=out", NULL);
  g_assert_false (
      dlp_app_source_try_push (DLP_APP_SOURCE (dlp_pipeline_get_element (pipeline, "in")), batch,
                               g_variant_new_uint64 (1), &error));
  g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE);
  app_remove_folder (folder);
}

/* Stopped behind record @stop_at, and gone on with in batches of another size. */
static void
check_resume (const char *graph, guint stop_at, guint a_batch, guint a_token, GPtrArray *expected)
{
  char *folder = app_make_folder ();
  g_autoptr (GPtrArray) lines = app_lines_new ();
  AppRig rig;
  Pusher pusher = { &rig, 200, a_batch, a_token };
  GThread *thread;

  app_rig_init (&rig, graph, runners[stop_at % 3], folder);
  g_assert_null (dlp_app_source_dup_restored_token (rig.in));
  app_rig_start (&rig);
  thread = g_thread_new ("push", push_all, &pusher);
  for (guint i = 0; i < stop_at; i++)
    {
      g_autoptr (DlpRecordBatch) batch = dlp_app_sink_pull (rig.out, 1, NULL, NULL);

      app_add_lines (lines, batch);
    }
  dlp_app_sink_commit (rig.out);
  app_rig_stop (&rig);
  g_thread_join (thread);
  g_clear_error (&pusher.error);
  app_rig_clear (&rig);

  app_rig_init (&rig, graph, runners[stop_at / 3 % 3], folder);
  app_rig_start (&rig);
  thread = g_thread_new ("push", push_all, &pusher);
  app_pull_all (rig.out, 5, lines);
  g_thread_join (thread);
  g_assert_no_error (pusher.error);
  app_assert_equal (lines, expected);
  app_rig_finish (&rig);
  app_remove_folder (folder);
}

static void
test_resume (void)
{
  g_autoptr (GPtrArray) expected = expect (200);

  for (guint i = 0; i < 200; i += i < 25 ? 1 : 13)
    {
      check_resume (WITH_TOKENS "app-sink name=out", i, 1 + i % 11, 1 + i % 3, expected);
      if (i % 4 == 0)
        check_resume (WITH_TOKENS "app-sink name=out", i, 200, 1, expected);
    }
}

/* With something between that holds records: what is pushed again lies well before. */
static void
test_resume_shuffled (void)
{
  static const char *const graph = WITH_TOKENS "shuffle size=20 ! app-sink name=out";
  g_autoptr (GPtrArray) expected = app_lines_new ();
  AppRig rig;
  Pusher pusher = { &rig, 200, 50 };
  GThread *thread;

  app_rig_init (&rig, graph, DLP_RUNNER_AUTO, NULL);
  app_rig_start (&rig);
  thread = g_thread_new ("push", push_all, &pusher);
  app_pull_all (rig.out, 0, expected);
  g_thread_join (thread);
  app_rig_finish (&rig);
  for (guint i = 0; i < 200; i += 17)
    check_resume (graph, i, 1 + i % 30, 1 + i % 3, expected);
}

/* With a mark for each step. */
static void
begin_goes_on (AppRig *rig, const char *graph, const char *folder)
{
  g_autoptr (GError) error = NULL;

  *rig = (AppRig){ .pipeline = dlp_pipeline_new_from_string (graph, &error) };
  g_assert_no_error (error);
  g_object_set (rig->pipeline, "state-dir", folder, "batch-records", 1, "link-batches", 1, NULL);
  dlp_pipeline_prepare (rig->pipeline, NULL, &error);
  g_assert_no_error (error);
  rig->in = DLP_APP_SOURCE (dlp_pipeline_get_element (rig->pipeline, "in"));
  rig->out = DLP_APP_SINK (dlp_pipeline_get_element (rig->pipeline, "out"));
  app_rig_start (rig);
}

/* A stream whose end was seen has no more records when it is gone on with: what was drawn of the
 * buffer since then was drawn of fewer. */
static void
test_goes_on (void)
{
  static const char *const graph =
      WITH_TOKENS "shuffle size=1000 ! app-sink name=out max-batches=1";
  char *folder = app_make_folder ();
  g_autoptr (GError) error = NULL;
  AppRig rig;
  Pusher pusher = { &rig, 2000, 50 };
  DlpRecordBatch *batch;
  GThread *thread;

  begin_goes_on (&rig, graph, folder);
  thread = g_thread_new ("push", push_all, &pusher);
  for (guint i = 0; i < 1900; i++)
    dlp_record_batch_unref (dlp_app_sink_pull (rig.out, 1, NULL, NULL));
  dlp_app_sink_commit (rig.out);
  app_rig_stop (&rig);
  g_thread_join (thread);
  app_rig_clear (&rig);

  pusher.n = 3000;
  begin_goes_on (&rig, graph, folder);
  thread = g_thread_new ("push", push_all, &pusher);
  while ((batch = dlp_app_sink_pull (rig.out, 0, NULL, &error)) != NULL)
    dlp_record_batch_unref (batch);
  g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_CHANGED);
  g_assert_nonnull (strstr (error->message, "shuffle0: its input goes on behind record 2000"));
  g_thread_join (thread);
  g_clear_error (&pusher.error);
  app_rig_clear (&rig);
  app_remove_folder (folder);
}

/* What is pushed again wrongly is refused. */
static void
test_wrong_token (void)
{
  char *folder = app_make_folder ();
  g_autoptr (DlpRecordBatch) batch = app_make_batch (0, 10);
  g_autoptr (DlpRecordBatch) got = NULL;
  g_autoptr (GVariant) restored = NULL;
  g_autoptr (GError) error = NULL;
  AppRig rig;

  app_rig_init (&rig, WITH_TOKENS "app-sink name=out", DLP_RUNNER_AUTO, folder);
  app_rig_start (&rig);
  g_assert_true (dlp_app_source_push (rig.in, batch, g_variant_new ("(st)", "a", 5), NULL, NULL));
  got = dlp_app_sink_pull (rig.out, 3, NULL, NULL);
  dlp_app_sink_commit (rig.out);
  app_rig_stop (&rig);
  app_rig_clear (&rig);

  app_rig_init (&rig, WITH_TOKENS "app-sink name=out", DLP_RUNNER_AUTO, folder);
  restored = dlp_app_source_dup_restored_token (rig.in);
  g_assert_cmpstr (g_variant_get_type_string (restored), ==, "(st)");
  g_assert_false (dlp_app_source_try_push (rig.in, batch, g_variant_new ("(st)", "a", 6), &error));
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED);
  g_assert_nonnull (strstr (error->message, "('a', uint64 5)"));
  g_assert_true (dlp_app_source_try_push (rig.in, batch, restored, NULL));
  app_rig_clear (&rig);
  app_remove_folder (folder);
}

/* Records of another token are not dropped in place of those that were not pushed again. */
static void
test_fewer_again (void)
{
  char *folder = app_make_folder ();
  g_autoptr (DlpRecordBatch) ten = app_make_batch (0, 10);
  g_autoptr (DlpRecordBatch) three = app_make_batch (0, 3);
  g_autoptr (DlpRecordBatch) got = NULL;
  g_autoptr (DlpRecordBatch) more = NULL;
  g_autoptr (GError) error = NULL;
  AppRig rig;

  app_rig_init (&rig, WITH_TOKENS "app-sink name=out", DLP_RUNNER_AUTO, folder);
  app_rig_start (&rig);
  g_assert_true (dlp_app_source_push (rig.in, ten, g_variant_new_uint64 (5), NULL, NULL));
  got = dlp_app_sink_pull (rig.out, 7, NULL, NULL);
  g_assert_cmpuint (dlp_record_batch_get_length (got), ==, 7);
  dlp_app_sink_commit (rig.out);
  app_rig_stop (&rig);
  app_rig_clear (&rig);

  app_rig_init (&rig, WITH_TOKENS "app-sink name=out", DLP_RUNNER_AUTO, folder);
  app_rig_start (&rig);
  g_assert_true (dlp_app_source_push (rig.in, three, g_variant_new_uint64 (5), NULL, NULL));
  dlp_app_source_push (rig.in, ten, g_variant_new_uint64 (6), NULL, NULL);
  more = dlp_app_sink_pull (rig.out, 0, NULL, &error);
  g_assert_null (more);
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED);
  g_assert_nonnull (strstr (error->message, "3 records were pushed again, but at least 7"));
  app_rig_clear (&rig);
  app_remove_folder (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  g_test_add_func ("/app-source/push", test_push);
  g_test_add_func ("/app-source/schema", test_schema);
  g_test_add_func ("/app-source/set-schema", test_set_schema);
  g_test_add_func ("/app-source/utf8", test_utf8);
  g_test_add_func ("/app-source/coordinates", test_coordinates);
  g_test_add_func ("/app-source/full", test_full);
  g_test_add_func ("/app-source/woken", test_woken);
  g_test_add_func ("/app-source/error", test_error);
  g_test_add_func ("/app-source/async", test_async);
  g_test_add_func ("/app-source/end-behind-async", test_end_behind_async);
  g_test_add_func ("/app-source/end-is-seen", test_end_is_seen);
  g_test_add_func ("/app-source/no-tokens", test_no_tokens);
  g_test_add_func ("/app-source/resume", test_resume);
  g_test_add_func ("/app-source/resume-shuffled", test_resume_shuffled);
  g_test_add_func ("/app-source/goes-on", test_goes_on);
  g_test_add_func ("/app-source/wrong-token", test_wrong_token);
  g_test_add_func ("/app-source/fewer-again", test_fewer_again);
  return g_test_run ();
}
