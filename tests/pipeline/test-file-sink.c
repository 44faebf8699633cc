/* SPDX-License-Identifier: MIT */

#include <string.h>

#include <dlpipe/dlp-check.h>
#include <glib/gstdio.h>

/* Writes a head, the numbers of rows, and how many there were. */
#define ROW_TYPE_SINK (row_sink_get_type ())
G_DECLARE_FINAL_TYPE (RowSink, row_sink, ROW, SINK, DlpFileSink)

struct _RowSink
{
  DlpFileSink parent_instance;
};

G_DEFINE_FINAL_TYPE (RowSink, row_sink, DLP_TYPE_FILE_SINK)

static gboolean
write_number (DlpFileSink *sink, const char *what, guint64 n, GError **error)
{
  g_autofree char *line = g_strdup_printf ("%s%" G_GUINT64_FORMAT "\n", what, n);

  return dlp_file_sink_write (sink, line, strlen (line), error);
}

static gboolean
row_sink_write_begin (DlpFileSink *sink, GError **error)
{
  return dlp_file_sink_write (sink, "row\n", 4, error);
}

static gboolean
row_sink_write_rows (DlpFileSink *sink, DlpRecordBatch *batch, guint row, guint n, GError **error)
{
  for (guint i = 0; i < n; i++)
    if (!write_number (sink, "", dlp_record_batch_get_coordinate (batch, row + i)->row, error))
      return FALSE;
  return TRUE;
}

static gboolean
row_sink_write_end (DlpFileSink *sink, GError **error)
{
  return write_number (sink, "records: ", dlp_sink_get_n_records (DLP_SINK (sink)), error);
}

static void
row_sink_class_init (RowSinkClass *klass)
{
  DLP_FILE_SINK_CLASS (klass)->format = "rows";
  DLP_FILE_SINK_CLASS (klass)->write_begin = row_sink_write_begin;
  DLP_FILE_SINK_CLASS (klass)->write_rows = row_sink_write_rows;
  DLP_FILE_SINK_CLASS (klass)->write_end = row_sink_write_end;
}

static void
row_sink_init (RowSink *self)
{
}

static void
test_file (void)
{
  g_autoptr (DlpCheckHarness) harness = dlp_check_harness_new ("row-sink location={dir}/sub/rows");
  g_autofree char *path = NULL;
  g_autoptr (GVariant) manifest = NULL;
  g_autoptr (GError) error = NULL;
  guint64 bytes, hash, n;
  const char *name;

  dlp_check_harness_push_text (harness, "a");
  dlp_check_harness_push_text (harness, "b");
  g_assert_true (dlp_check_harness_finish (harness, NULL));
  dlp_check_harness_assert_file (harness, "sub/rows", "row\n0\n1\nrecords: 2\n");

  path =
      g_build_filename (dlp_check_harness_get_folder (harness), "sub", "rows.manifest.json", NULL);
  manifest = dlp_manifest_load (path, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (dlp_manifest_get_string (manifest, "format"), ==, "rows");
  g_assert_true (dlp_manifest_get_uint64 (manifest, "documents", &n));
  g_assert_cmpuint (n, ==, 2);
  g_assert_cmpuint (dlp_manifest_get_n_files (manifest), ==, 1);
  dlp_manifest_get_file (manifest, 0, &name, &bytes, &hash);
  g_assert_cmpstr (name, ==, "rows");
  g_assert_cmpuint (bytes, ==, strlen ("row\n0\n1\nrecords: 2\n"));
}

/* Also of no records there is a head, and an end. */
static void
test_empty (void)
{
  g_autofree char *folder = g_dir_make_tmp ("dlpipe-file-sink-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "rows", NULL);
  g_autofree char *manifest = g_strconcat (path, ".manifest.json", NULL);
  g_autofree char *graph = g_strdup_printf ("check-source records=0 ! row-sink location=%s", path);
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;

  dlp_check_run (graph, NULL, &error);
  g_assert_no_error (error);
  g_file_get_contents (path, &text, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (text, ==, "row\nrecords: 0\n");
  g_assert_no_errno (g_unlink (path));
  g_assert_no_errno (g_unlink (manifest));
  g_assert_no_errno (g_rmdir (folder));
}

/* Outside of what writes. */
static void
test_no_file (void)
{
  g_autoptr (DlpElement) sink = g_object_new (ROW_TYPE_SINK, NULL);
  g_autoptr (GError) error = NULL;

  g_assert_false (dlp_file_sink_write (DLP_FILE_SINK (sink), "x", 1, &error));
  g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_INTERNAL);
}

static void
test_exact (void)
{
  dlp_check_all ("check-source records=40 ! row-sink location={dir}/rows");
}

static void
test_location (void)
{
  static const char *const graphs[] = { "check-source ! row-sink",
                                        "check-source ! row-sink location={dir}/" };

  for (guint i = 0; i < G_N_ELEMENTS (graphs); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_false (dlp_check_run (graphs[i], NULL, &error));
      g_assert_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE);
      g_test_message ("%s", error->message);
      g_assert_nonnull (strstr (error->message, "row-sink0: location="));
      g_assert_null (strstr (error->message, "row-sink0: row-sink0"));
    }
}

/* Another run's output is in the way, until it is to be overwritten. */
static void
test_foreign (void)
{
  g_autofree char *folder = g_dir_make_tmp ("dlpipe-file-sink-XXXXXX", NULL);
  g_autofree char *graph = g_strdup_printf ("check-source ! row-sink location=%s/rows", folder);
  g_autofree char *path = g_build_filename (folder, "rows", NULL);
  g_autofree char *manifest = g_strconcat (path, ".manifest.json", NULL);
  g_autoptr (DlpPipeline) pipeline = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_true (dlp_check_run (graph, NULL, NULL));
  g_assert_false (dlp_check_run (graph, NULL, &error));
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_FOREIGN_OUTPUT);
  g_clear_error (&error);

  pipeline = dlp_pipeline_new_from_string (graph, &error);
  g_assert_no_error (error);
  g_object_set (pipeline, "overwrite", TRUE, NULL);
  dlp_pipeline_run (pipeline, NULL, &error);
  g_assert_no_error (error);
  g_assert_no_errno (g_unlink (path));
  g_assert_no_errno (g_unlink (manifest));
  g_assert_no_errno (g_rmdir (folder));
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;

  g_test_init (&argc, &argv, NULL);
  dlp_check_init ();
  dlp_registry_add_element ("row-sink", ROW_TYPE_SINK, &error);
  g_assert_no_error (error);
  g_test_add_func ("/file-sink/file", test_file);
  g_test_add_func ("/file-sink/empty", test_empty);
  g_test_add_func ("/file-sink/no-file", test_no_file);
  g_test_add_func ("/file-sink/exact", test_exact);
  g_test_add_func ("/file-sink/location", test_location);
  g_test_add_func ("/file-sink/foreign", test_foreign);
  return g_test_run ();
}
