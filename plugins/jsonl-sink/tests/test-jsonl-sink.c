/* SPDX-License-Identifier: MIT */

/* The elements jsonl-sink and quarantine-sink in a pipeline. */

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sink-rig.h"

#define SOME 50

static DlpSchema *
make_schema (void)
{
  const char *const names[] = { "text", "tokens" };
  const DlpFieldType types[] = { DLP_FIELD_STRING, DLP_FIELD_LIST_UINT16 };

  return dlp_schema_new (DLP_SCHEMA_RECORDS, 2, names, types, NULL);
}

static void
fill (DlpRecordBatchBuilder *builder, guint64 n)
{
  g_autofree char *text = g_strdup_printf ("line %" G_GUINT64_FORMAT "\n", n);
  const guint16 tokens[] = { 7, (guint16) n };

  dlp_record_batch_builder_append_value (builder, 0, text, strlen (text));
  dlp_record_batch_builder_append_list (builder, 1, tokens, 2);
}

/* As the readers' pad `rejected` has it. */
static DlpSchema *
make_rejected_schema (void)
{
  const char *const names[] = { "kind", "reason", "uri", "row", "line", "offset", "raw" };
  const DlpFieldType types[] = { DLP_FIELD_STRING, DLP_FIELD_STRING, DLP_FIELD_STRING,
                                 DLP_FIELD_UINT64, DLP_FIELD_UINT64, DLP_FIELD_UINT64,
                                 DLP_FIELD_BINARY };

  return dlp_schema_new (DLP_SCHEMA_RECORDS, 7, names, types, NULL);
}

/* What is text, and what is not. */
static const struct
{
  const char *bytes;
  gsize size;
  const char *written;
} raws[] = {
  { "\377", 1, "\"raw_base64\":\"/w==\"" },    { "", 0, "\"raw\":\"\"" },
  { "n\303\251", 3, "\"raw\":\"n\303\251\"" }, { "\300\257x", 3, "\"raw_base64\":\"wK94\"" },
  { "a\0b", 3, "\"raw_base64\":\"YQBi\"" },
};

static void
fill_rejected (DlpRecordBatchBuilder *builder, guint64 n)
{
  const char *kind = n % 3 == 0 ? "utf-8" : "syntax";
  const char *uri = n % 2 == 0 ? "a.jsonl" : "b.jsonl";

  dlp_record_batch_builder_append_value (builder, 0, kind, strlen (kind));
  dlp_record_batch_builder_append_value (builder, 1, "bad", 3);
  dlp_record_batch_builder_append_value (builder, 2, uri, 7);
  dlp_record_batch_builder_append_uint64 (builder, 3, n);
  dlp_record_batch_builder_append_uint64 (builder, 4, n + 1);
  dlp_record_batch_builder_append_uint64 (builder, 5, n * 10);
  dlp_record_batch_builder_append_value (builder, 6, raws[n % G_N_ELEMENTS (raws)].bytes,
                                         raws[n % G_N_ELEMENTS (raws)].size);
}

static char *
make_expected (guint64 n, gboolean coordinates)
{
  GString *text = g_string_new (NULL);

  for (guint64 i = 0; i < n; i++)
    {
      g_string_append_printf (
          text, "{\"text\":\"line %" G_GUINT64_FORMAT "\\n\",\"tokens\":[7,%" G_GUINT64_FORMAT "]",
          i, i);
      if (coordinates)
        g_string_append_printf (text,
                                ",\"stage\":0,\"source\":1,\"file\":2,\"row\":%" G_GUINT64_FORMAT
                                ",\"epoch\":0,\"part\":0",
                                i);
      g_string_append (text, "}\n");
    }
  return g_string_free (text, FALSE);
}

static char *
make_expected_rejected (guint64 n)
{
  GString *text = g_string_new (NULL);

  for (guint64 i = 0; i < n; i++)
    g_string_append_printf (text,
                            "{\"element\":\"rig-source0\",\"kind\":\"%s\",\"reason\":\"bad\","
                            "\"uri\":\"%s\",\"row\":%" G_GUINT64_FORMAT
                            ",\"line\":%" G_GUINT64_FORMAT ",\"offset\":%" G_GUINT64_FORMAT
                            ",%s}\n",
                            i % 3 == 0 ? "utf-8" : "syntax", i % 2 == 0 ? "a.jsonl" : "b.jsonl", i,
                            i + 1, i * 10, raws[i % G_N_ELEMENTS (raws)].written);
  return g_string_free (text, FALSE);
}

static void
run (const char *sink, const char *state)
{
  g_autoptr (GError) error = NULL;

  sink_rig_run (sink, state, SINK_RIG_RUN, 0, &error);
  g_assert_no_error (error);
}

static void
assert_text (const char *folder, const char *name, const char *expected)
{
  sink_rig_assert_file (folder, name, expected, strlen (expected));
}

/* ---- jsonl-sink ---- */

static void
test_file (void)
{
  char *folder = sink_rig_make_folder ();
  g_autofree char *sink =
      g_strdup_printf ("jsonl-sink location=%s/sub/x.jsonl coordinates=true", folder);
  g_autofree char *sub = g_build_filename (folder, "sub", NULL);
  g_autofree char *manifest_path = g_build_filename (sub, "x.jsonl.manifest.json", NULL);
  g_autofree char *expected = make_expected (SOME, TRUE);
  g_autofree char *names = NULL;
  g_autoptr (GVariant) manifest = NULL;
  g_autoptr (GError) error = NULL;
  guint64 tokens, documents, bytes, hash, again;
  const char *name;
  g_autofree char *path = NULL;

  sink_rig_set_source (make_schema (), SOME, fill);
  sink_rig_set_model ("gpt2", "abc", 50257);
  run (sink, NULL);
  names = sink_rig_list_folder (sub);
  g_assert_cmpstr (names, ==, "x.jsonl x.jsonl.manifest.json");
  assert_text (sub, "x.jsonl", expected);

  manifest = dlp_manifest_load (manifest_path, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (dlp_manifest_get_string (manifest, "format"), ==, "jsonl");
  g_assert_cmpstr (dlp_manifest_get_string (manifest, "tokenizer"), ==, "gpt2");
  g_assert_true (dlp_manifest_get_uint64 (manifest, "tokens", &tokens));
  g_assert_cmpuint (tokens, ==, 2 * SOME);
  g_assert_true (dlp_manifest_get_uint64 (manifest, "documents", &documents));
  g_assert_cmpuint (documents, ==, SOME);
  dlp_manifest_get_file (manifest, 0, &name, &bytes, &hash);
  g_assert_cmpuint (bytes, ==, strlen (expected));
  path = g_build_filename (sub, name, NULL);
  dlp_file_hash_read (path, bytes, NULL, &again, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (hash, ==, again);
  sink_rig_remove_folder (folder);
}

static void
test_fields (void)
{
  char *folder = sink_rig_make_folder ();
  g_autofree char *sink =
      g_strdup_printf ("jsonl-sink location=%s/x fields=tokens fields=text", folder);

  g_autofree char *state = g_build_filename (folder, "s", NULL);

  sink_rig_set_source (make_schema (), 1, fill);
  run (sink, state);
  run (sink, state);
  assert_text (folder, "x", "{\"tokens\":[7,0],\"text\":\"line 0\\n\"}\n");
  sink_rig_remove_folder (folder);
}

static void
test_empty (void)
{
  char *folder = sink_rig_make_folder ();
  g_autofree char *sink = g_strdup_printf ("jsonl-sink location=%s/x", folder);

  sink_rig_set_source (make_schema (), 0, fill);
  run (sink, NULL);
  assert_text (folder, "x", "");
  sink_rig_remove_folder (folder);
}

static void
test_refused (void)
{
  static const char *const sinks[] = { "jsonl-sink", "jsonl-sink location=/dev/null/x/",
                                       "jsonl-sink location=/dev/null/x fields=nothing",
                                       "quarantine-sink" };

  sink_rig_set_source (make_schema (), 1, fill);
  for (guint i = 0; i < G_N_ELEMENTS (sinks); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_false (sink_rig_run (sinks[i], NULL, SINK_RIG_RUN, 0, &error));
      g_assert_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE);
      g_test_message ("%s", error->message);
    }
}

static void
assert_finished (const char *folder, const char *expected)
{
  g_autofree char *names = sink_rig_list_folder (folder);

  g_assert_cmpstr (names, ==, "s x x.manifest.json");
  assert_text (folder, "x", expected);
}

static void
test_stop_at_each_record (void)
{
  g_autofree char *expected = make_expected (SOME, FALSE);

  sink_rig_set_source (make_schema (), SOME, fill);
  for (guint stop = 0; stop <= SOME; stop++)
    {
      char *folder = sink_rig_make_folder ();
      g_autofree char *sink = g_strdup_printf ("jsonl-sink location=%s/x", folder);
      g_autofree char *state = g_build_filename (folder, "s", NULL);
      g_autoptr (GError) error = NULL;

      g_assert_false (sink_rig_run (sink, state, SINK_RIG_STOP, stop, &error));
      g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED);
      run (sink, state);
      assert_finished (folder, expected);
      sink_rig_remove_folder (folder);
    }
}

static void
test_kill (void)
{
  char *folder = sink_rig_make_folder ();
  g_autofree char *sink = g_strdup_printf ("jsonl-sink location=%s/x", folder);
  g_autofree char *state = g_build_filename (folder, "s", NULL);
  g_autofree char *expected = make_expected (SOME, FALSE);
  guint64 made = 1;

  sink_rig_set_source (make_schema (), SOME, fill);
  while (!sink_rig_run_in_child (sink, state, made))
    made += 3;
  assert_finished (folder, expected);
  run (sink, state);
  assert_finished (folder, expected);
  sink_rig_remove_folder (folder);
}

static void
test_foreign_output (void)
{
  char *folder = sink_rig_make_folder ();
  g_autofree char *sink = g_strdup_printf ("jsonl-sink location=%s/x", folder);
  g_autofree char *manifest = g_build_filename (folder, "x.manifest.json", NULL);
  g_autofree char *expected = make_expected (3, FALSE);
  g_autoptr (GError) error = NULL;

  sink_rig_set_source (make_schema (), 2, fill);
  run (sink, NULL);
  g_assert_false (sink_rig_run (sink, NULL, SINK_RIG_RUN, 0, &error));
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_FOREIGN_OUTPUT);
  g_clear_error (&error);

  sink_rig_set_source (make_schema (), 3, fill);
  sink_rig_set_options (TRUE, FALSE);
  run (sink, NULL);
  assert_text (folder, "x", expected);
  g_assert_no_errno (g_unlink (manifest));
  g_assert_false (sink_rig_run (sink, NULL, SINK_RIG_RUN, 0, &error));
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_FOREIGN_OUTPUT);
  assert_text (folder, "x", expected);
  sink_rig_set_options (FALSE, FALSE);
  sink_rig_remove_folder (folder);
}

/* ---- the standard output ---- */

/* In a child whose standard output is @fd; its exit status. */
static int
run_to (int fd, const char *sink)
{
  pid_t pid;
  int status;

  fflush (NULL);
  pid = fork ();
  g_assert_cmpint (pid, >=, 0);
  if (pid == 0)
    {
      g_autoptr (GError) error = NULL;
      int code = 0;

      dup2 (fd, STDOUT_FILENO);
      close (fd);
      if (!sink_rig_run (sink, NULL, SINK_RIG_RUN, 0, &error))
        code = g_error_matches (error, G_IO_ERROR, G_IO_ERROR_NO_SPACE) ? 28 : 1;
      _exit (code);
    }
  close (fd);
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  g_assert_true (WIFEXITED (status));
  return WEXITSTATUS (status);
}

static void
test_stdout (void)
{
  g_autofree char *expected = make_expected (SOME, FALSE);
  char found[8192];
  gssize n;
  int fds[2];

  sink_rig_set_source (make_schema (), SOME, fill);
  g_assert_no_errno (pipe (fds));
  g_assert_cmpint (run_to (fds[1], "jsonl-sink location=-"), ==, 0);
  n = read (fds[0], found, sizeof found);
  g_assert_cmpmem (found, n, expected, strlen (expected));
  close (fds[0]);
}

static void
test_stdout_full (void)
{
  sink_rig_set_source (make_schema (), SOME, fill);
  g_assert_cmpint (run_to (open ("/dev/full", O_WRONLY), "jsonl-sink location=-"), ==, 28);
}

static void
test_stdout_has_no_state (void)
{
  char *folder = sink_rig_make_folder ();
  g_autofree char *state = g_build_filename (folder, "s", NULL);
  g_autoptr (GError) error = NULL;

  g_assert_false (sink_rig_run ("jsonl-sink location=-", state, SINK_RIG_RUN, 0, &error));
  g_assert_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE);
  sink_rig_remove_folder (folder);
}

/* ---- quarantine-sink ---- */

static void
test_quarantine (void)
{
  char *folder = sink_rig_make_folder ();
  g_autofree char *sink = g_strdup_printf ("quarantine-sink location=%s/q.jsonl", folder);
  g_autofree char *state = g_build_filename (folder, "s", NULL);
  g_autofree char *path = g_build_filename (folder, "q.jsonl", NULL);
  g_autofree char *expected = make_expected_rejected (SOME);
  g_autofree char *beginning = make_expected_rejected (9);
  g_autofree char *names = NULL;
  g_autoptr (GError) error = NULL;

  sink_rig_set_source (make_rejected_schema (), SOME, fill_rejected);
  g_assert_false (sink_rig_run (sink, state, SINK_RIG_STOP, 9, &error));
  g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED);
  /* It can be read while it is unfinished. */
  g_assert_true (g_file_test (path, G_FILE_TEST_IS_SYMLINK));
  assert_text (folder, "q.jsonl", beginning);

  run (sink, state);
  g_assert_false (g_file_test (path, G_FILE_TEST_IS_SYMLINK));
  assert_text (folder, "q.jsonl", expected);
  names = sink_rig_list_folder (folder);
  g_assert_cmpstr (names, ==, "q.jsonl s");
  sink_rig_remove_folder (folder);
}

static void
test_quarantine_kill (void)
{
  char *folder = sink_rig_make_folder ();
  g_autofree char *sink = g_strdup_printf ("quarantine-sink location=%s/q.jsonl", folder);
  g_autofree char *state = g_build_filename (folder, "s", NULL);
  g_autofree char *expected = make_expected_rejected (SOME);
  g_autofree char *names = NULL;
  guint64 made = 1;

  sink_rig_set_source (make_rejected_schema (), SOME, fill_rejected);
  while (!sink_rig_run_in_child (sink, state, made))
    made += 3;
  assert_text (folder, "q.jsonl", expected);
  names = sink_rig_list_folder (folder);
  g_assert_cmpstr (names, ==, "q.jsonl s");
  sink_rig_remove_folder (folder);
}

/* The records that ended the run are to be found. */
static void
test_quarantine_fail (void)
{
  char *folder = sink_rig_make_folder ();
  g_autofree char *sink = g_strdup_printf ("quarantine-sink location=%s/q.jsonl", folder);
  g_autofree char *state = g_build_filename (folder, "s", NULL);
  g_autofree char *expected = make_expected_rejected (7);
  g_autoptr (GError) error = NULL;

  sink_rig_set_source (make_rejected_schema (), SOME, fill_rejected);
  g_assert_false (sink_rig_run (sink, state, SINK_RIG_FAIL, 7, &error));
  g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_BAD_RATIO);
  assert_text (folder, "q.jsonl", expected);
  sink_rig_remove_folder (folder);
}

/* No bad record, no file. */
static void
test_quarantine_empty (void)
{
  char *folder = sink_rig_make_folder ();
  g_autofree char *sink = g_strdup_printf ("quarantine-sink location=%s/q.jsonl", folder);
  g_autofree char *names = NULL;

  sink_rig_set_source (make_rejected_schema (), 0, fill_rejected);
  run (sink, NULL);
  names = sink_rig_list_folder (folder);
  g_assert_cmpstr (names, ==, "");
  sink_rig_remove_folder (folder);
}

/* Counts go on over attempts, and are in the report. */
static void
test_quarantine_counts (void)
{
  char *folder = sink_rig_make_folder ();
  g_autofree char *sink = g_strdup_printf ("quarantine-sink location=%s/q.jsonl", folder);
  g_autofree char *state = g_build_filename (folder, "s", NULL);
  g_autofree char *report = NULL;
  g_autoptr (GError) error = NULL;

  sink_rig_set_source (make_rejected_schema (), 10, fill_rejected);
  g_assert_false (sink_rig_run (sink, state, SINK_RIG_STOP, 4, &error));
  report = sink_rig_run_for_report (sink, state);
  g_test_message ("%s", report);
  g_assert_nonnull (strstr (report, "\"a.jsonl\": 5"));
  g_assert_nonnull (strstr (report, "\"b.jsonl\": 5"));
  g_assert_nonnull (strstr (report, "\"utf-8\": 4"));
  g_assert_nonnull (strstr (report, "\"syntax\": 6"));
  g_assert_nonnull (strstr (report, "\"lines\": 10"));
  sink_rig_remove_folder (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  sink_rig_catch_warnings ();
  g_test_add_func ("/jsonl-sink/file", test_file);
  g_test_add_func ("/jsonl-sink/fields", test_fields);
  g_test_add_func ("/jsonl-sink/empty", test_empty);
  g_test_add_func ("/jsonl-sink/refused", test_refused);
  g_test_add_func ("/jsonl-sink/stop-at-each-record", test_stop_at_each_record);
  g_test_add_func ("/jsonl-sink/kill", test_kill);
  g_test_add_func ("/jsonl-sink/foreign-output", test_foreign_output);
  g_test_add_func ("/jsonl-sink/stdout", test_stdout);
  g_test_add_func ("/jsonl-sink/stdout-full", test_stdout_full);
  g_test_add_func ("/jsonl-sink/stdout-has-no-state", test_stdout_has_no_state);
  g_test_add_func ("/quarantine-sink/stop", test_quarantine);
  g_test_add_func ("/quarantine-sink/kill", test_quarantine_kill);
  g_test_add_func ("/quarantine-sink/fail", test_quarantine_fail);
  g_test_add_func ("/quarantine-sink/empty", test_quarantine_empty);
  g_test_add_func ("/quarantine-sink/counts", test_quarantine_counts);

  return g_test_run ();
}
