/* SPDX-License-Identifier: MIT */

/* Sources that are read more than once, and those that have nothing. */

#include <glib/gstdio.h>

#include <dlp-harness.h>
#include <dlpipe/dlp-app-sink.h>

static char *folder;

static char *
write_file (const char *name, const char *text)
{
  char *path = g_build_filename (folder, name, NULL);

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  return path;
}

static char *
write_rows (const char *name, guint rows, guint bytes)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *filler = g_strnfill (bytes, 'x');

  for (guint i = 0; i < rows; i++)
    g_string_append_printf (text, "{\"text\": \"%s %u %s\"}\n", name, i, filler);
  return write_file (name, text->str);
}

static void
empty_folder (void)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      g_remove (path);
    }
}

/* ---- read once ---- */

static gboolean
pull (DlpAppSink *out, guint n, GError **error)
{
  g_autoptr (DlpRecordBatch) batch = NULL;

  while (n > 0)
    {
      g_clear_pointer (&batch, dlp_record_batch_unref);
      batch = dlp_app_sink_pull (out, n, NULL, error);
      if (batch == NULL)
        return FALSE;
      n -= dlp_record_batch_get_length (batch);
    }
  return TRUE;
}

/* Whether a run goes on once its files are gone after one epoch of @rows. */
static gboolean
outlives_files (const char *settings, guint rows)
{
  g_autofree char *graph =
      g_strdup_printf ("file-source location=%s epochs=forever prefetch-files=0 ! jsonl-reader %s "
                       "! app-sink name=out",
                       folder, settings);
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_string (graph, &error);
  DlpAppSink *out;
  gboolean lives;

  g_assert_no_error (error);
  out = DLP_APP_SINK (dlp_pipeline_get_element (pipeline, "out"));
  dlp_pipeline_run_async (pipeline, NULL, NULL, NULL);
  g_assert_true (pull (out, rows, &error));
  empty_folder ();
  lives = pull (out, 50 * rows, &error);
  if (!lives)
    g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT);
  return lives;
}

static void
write_three (void)
{
  g_free (write_rows ("a.jsonl", 100, 500));
  g_free (write_rows ("b.jsonl", 1, 10));
  g_free (write_rows ("c.jsonl", 200, 1000));
}

static void
test_read_once (void)
{
  static const char *const settings[] = { "", "interleave=2", "chunk-bytes=1k read-size=100",
                                          "max-record-bytes=800 max-bad-ratio=1" };

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++)
    {
      write_three ();
      g_assert_true (outlives_files (settings[i], i == 3 ? 101 : 301));
    }
  /* 260 kB do not fit, nor does what is read as 0 of them. */
  write_three ();
  g_assert_false (outlives_files ("cache-bytes=200k", 301));
  write_three ();
  g_assert_false (outlives_files ("cache-bytes=0", 301));
}

/* Nothing of it is seen. */
static void
test_same_records (void)
{
  static const char *const sources[] = { "", "shuffle=true", "shuffle=true reshuffle=true" };
  static const char *const readers[] = { "cache-bytes=0", "", "interleave=2", "cache-bytes=100k",
                                         "chunk-bytes=3k" };

  write_three ();
  for (guint i = 0; i < G_N_ELEMENTS (sources); i++)
    {
      g_autoptr (GPtrArray) expected = NULL;

      for (guint k = 0; k < G_N_ELEMENTS (readers); k++)
        {
          g_autofree char *graph = g_strdup_printf (
              "file-source location=%s epochs=4 %s ! jsonl-reader %s ! check-sink name=k", folder,
              sources[i], readers[k]);
          g_autoptr (GHashTable) got = dlp_harness_expect (graph);
          GPtrArray *lines = g_hash_table_lookup (got, "k");

          g_assert_cmpuint (lines->len, ==, 4 * 301);
          if (k == 2)
            continue;
          if (expected == NULL)
            expected = g_ptr_array_ref (lines);
          for (guint row = 0; row < lines->len; row++)
            g_assert_cmpstr (g_ptr_array_index (lines, row), ==, g_ptr_array_index (expected, row));
        }
    }
  empty_folder ();
}

static void
test_resume (void)
{
  g_autofree char *graph = g_strdup_printf (
      "file-source location=%s epochs=4 shuffle=true reshuffle=true ! jsonl-reader interleave=2 ! "
      "check-sink name=k",
      folder);

  g_free (write_rows ("a.jsonl", 7, 5));
  g_free (write_rows ("b.jsonl", 3, 5));
  g_free (write_rows ("c.jsonl", 0, 5));
  g_free (write_rows ("d.jsonl", 6, 5));
  dlp_harness_check_resume (graph, 1);
  for (guint n = 0; n < dlp_harness_scale (5); n++)
    dlp_harness_check_resume (graph, 0);
  dlp_harness_check_settings (graph);
  empty_folder ();
}

/* ---- nothing ---- */

static gboolean
run (const char *settings, gboolean strict, char **warnings, GError **error)
{
  g_autofree char *graph = g_strdup_printf (
      "file-source name=web location=%s %s ! jsonl-reader max-bad-ratio=1 ! null-sink", folder,
      settings);
  g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_string (graph, error);
  g_autoptr (GVariant) report = NULL;
  g_autoptr (GVariant) list = NULL;
  gboolean ok;

  g_assert_nonnull (pipeline);
  g_object_set (pipeline, "strict", strict, NULL);
  ok = dlp_pipeline_run (pipeline, NULL, error);
  report = dlp_pipeline_get_report (pipeline);
  list = g_variant_lookup_value (report, "warnings", G_VARIANT_TYPE_STRING_ARRAY);
  *warnings = g_variant_print (list, FALSE);
  return ok;
}

static void
test_empty (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *warnings = NULL;
  g_autofree char *none = NULL;

  g_free (write_file ("a.jsonl", ""));
  g_free (write_file ("b.jsonl", "\n\n"));
  g_assert_true (run ("epochs=2", FALSE, &warnings, &error));
  g_assert_no_error (error);
  g_assert_nonnull (strstr (warnings, "web has no records (4 files)"));

  g_clear_pointer (&warnings, g_free);
  g_assert_false (run ("", TRUE, &warnings, &error));
  g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT);
  g_assert_nonnull (
      strstr (error->message, "web has no records (2 files), and the pipeline is strict"));
  g_clear_error (&error);

  g_free (write_file ("c.jsonl", "{\"text\": \"one\"}"));
  g_assert_true (run ("", TRUE, &none, &error));
  g_assert_cmpstr (none, ==, "[]");
  empty_folder ();
}

static void
test_infinite (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *warnings = NULL;
  g_autofree char *graph = g_strdup_printf ("file-source location=%s name=web ! jsonl-reader ! m.a "
                                            " file-source location=%s ! jsonl-reader ! "
                                            "m.b  mix name=m exhausted=repeat ! null-sink",
                                            folder, folder);

  g_free (write_file ("a.jsonl", ""));
  g_free (write_file ("b.jsonl", "\n\n"));
  g_assert_false (run ("epochs=forever", FALSE, &warnings, &error));
  g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT);
  g_assert_nonnull (strstr (error->message, "infinite source has no records: web begins again"));
  g_clear_error (&error);
  g_clear_pointer (&warnings, g_free);
  g_assert_false (dlp_harness_run (graph, NULL, &error));
  g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT);
  g_clear_error (&error);

  g_free (write_file ("b.jsonl", "{\n"));
  g_assert_false (run ("epochs=forever", FALSE, &warnings, &error));
  g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_BAD_RATIO);
  g_assert_nonnull (strstr (error->message, "no record is good"));
  empty_folder ();
}

/* Records there are, but of a whole epoch none is let through. */
static void
test_none_passes (void)
{
  static const char *const graphs[] = {
    "file-source location=%s name=web epochs=forever ! jsonl-reader ! filter name=f where=false ! "
    "null-sink",
    "file-source location=%s name=web ! jsonl-reader ! filter name=f where=false ! m.a  "
    "file-source location=%s ! jsonl-reader ! m.b  mix name=m exhausted=repeat-until-all ! "
    "null-sink",
  };

  g_free (write_file ("a.jsonl", "{\"text\": \"one\"}\n{\"text\": \"two\"}"));
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *graph = g_strdup_printf (graphs[i], folder, folder);
      g_autoptr (GError) error = NULL;

      g_assert_false (dlp_harness_run (graph, NULL, &error));
      g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT);
      g_assert_nonnull (strstr (error->message, "f: infinite source has no records: web begins"));
    }
  empty_folder ();
}

/* One of many, and that in the first of many files of an epoch. */
static void
test_one_passes (void)
{
  g_autofree char *graph =
      g_strdup_printf ("file-source location=%s epochs=forever ! jsonl-reader ! filter "
                       "where='text == \"one\"' ! limit records=7 ! null-sink",
                       folder);
  g_autoptr (GError) error = NULL;

  g_free (write_file ("a.jsonl", "{\"text\": \"one\"}"));
  g_free (write_file ("b.jsonl", "{\"text\": \"two\"}\n{\"text\": \"three\"}"));
  g_assert_true (dlp_harness_run (graph, NULL, &error));
  g_assert_no_error (error);
  empty_folder ();
}

/* A mix of files, of which one source has none with records. */
static void
test_infinite_files (void)
{
  g_autofree char *graph = g_strdup_printf (
      "file-source location=%s/empty.jsonl name=web epochs=forever ! m.  file-source "
      "location=%s/a.jsonl ! m.  mix name=m ! jsonl-reader ! null-sink",
      folder, folder);
  g_autofree char *both = g_strdup_printf (
      "file-source location=%s/empty.jsonl epochs=forever ! m.  file-source "
      "location=%s/empty.jsonl epochs=forever ! m.  mix name=m ! jsonl-reader ! null-sink",
      folder, folder);
  g_autoptr (GError) error = NULL;

  g_free (write_file ("empty.jsonl", ""));
  g_free (write_file ("a.jsonl", ""));
  g_assert_false (dlp_harness_run (graph, NULL, &error));
  g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT);
  g_assert_nonnull (strstr (error->message, "infinite source has no records: web begins again"));
  g_clear_error (&error);
  g_assert_false (dlp_harness_run (both, NULL, &error));
  g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT);
  empty_folder ();
}

/* Behind what reorders or ends, the epochs that were seen say nothing. */
static void
test_not_endless (void)
{
  static const char *const graphs[] = {
    /* Records of ten epochs are in the buffer. */
    "file-source location=%s epochs=forever ! jsonl-reader ! shuffle size=1000 ! filter "
    "where='text == \"one\"' ! limit records=3 ! null-sink",
    /* The first files may be of any epoch. */
    "file-source location=%s epochs=forever ! shuffle size=100 ! jsonl-reader ! limit records=300 "
    "! null-sink",
    "file-source location=%s epochs=forever ! jsonl-reader ! limit records=1000 ! filter "
    "where=false ! null-sink",
    "file-source location=%s/empty-*.jsonl epochs=forever ! limit records=30 ! jsonl-reader ! "
    "null-sink",
    /* Of the endless one nothing was read yet. */
    "file-source location=%s/empty-*.jsonl epochs=3 ! m.  file-source location=%s/a.jsonl "
    "epochs=forever ! m.  mix name=m weights=1000000,1 ! jsonl-reader ! limit records=3 ! "
    "null-sink",
  };
  g_autoptr (GString) text = g_string_new ("{\"text\": \"one\"}\n");

  for (guint i = 1; i < 100; i++)
    g_string_append_printf (text, "{\"text\": \"%u\"}\n", i);
  g_free (write_file ("a.jsonl", text->str));
  for (guint i = 0; i < 9; i++)
    {
      g_autofree char *name = g_strdup_printf ("empty-%u.jsonl", i);

      g_free (write_file (name, ""));
    }
  for (guint i = 0; i < G_N_ELEMENTS (graphs); i++)
    for (guint seed = 0; seed < 3; seed++)
      {
        g_auto (GStrv) parts = g_strsplit (graphs[i], "%s", -1);
        g_autofree char *graph = g_strjoinv (folder, parts);
        g_autoptr (GError) error = NULL;
        g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_string (graph, &error);

        g_assert_no_error (error);
        g_object_set (pipeline, "batch-records", 5, "seed", (guint64) seed, NULL);
        dlp_pipeline_run (pipeline, NULL, &error);
        g_assert_no_error (error);
      }
  empty_folder ();
}

int
main (int argc, char **argv)
{
  int code;

  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  folder = g_dir_make_tmp ("dlpipe-epochs-XXXXXX", NULL);
  g_test_add_func ("/reader/epochs/read-once", test_read_once);
  g_test_add_func ("/reader/epochs/same-records", test_same_records);
  g_test_add_func ("/reader/epochs/resume", test_resume);
  g_test_add_func ("/reader/epochs/empty", test_empty);
  g_test_add_func ("/reader/epochs/infinite", test_infinite);
  g_test_add_func ("/reader/epochs/none-passes", test_none_passes);
  g_test_add_func ("/reader/epochs/one-passes", test_one_passes);
  g_test_add_func ("/reader/epochs/infinite-files", test_infinite_files);
  g_test_add_func ("/reader/epochs/not-endless", test_not_endless);
  code = g_test_run ();
  g_rmdir (folder);
  g_free (folder);
  return code;
}
