/* SPDX-License-Identifier: MIT */

/* Files that a manifest names, read in a pipeline. */

#include <string.h>

#include <dlp-harness.h>
#include <dlpipe/dlp-app-sink.h>
#include <glib/gstdio.h>

#define LINES "one\ntwo\nthree\n"

static char *folder;

static void
write_file (const char *name, gconstpointer data, gsize size)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autoptr (GError) error = NULL;

  g_file_set_contents (path, data, (gssize) size, &error);
  g_assert_no_error (error);
}

/* In the manifest "#" stands for the SHA-256 of the lines. */
static char *
make_graph (const char *manifest, const char *reader)
{
  g_autofree char *hash = g_compute_checksum_for_string (G_CHECKSUM_SHA256, LINES, -1);
  g_auto (GStrv) parts = g_strsplit (manifest, "#", -1);
  g_autofree char *text = g_strjoinv (hash, parts);

  write_file ("m.json", text, strlen (text));
  return g_strdup_printf ("file-source manifest=%s/m.json ! %s ! check-sink name=k", folder,
                          reader);
}

static guint
count (const char *manifest, const char *reader)
{
  g_autofree char *graph = make_graph (manifest, reader);
  g_autoptr (GHashTable) got = dlp_harness_expect (graph);

  return ((GPtrArray *) g_hash_table_lookup (got, "k"))->len;
}

static void
assert_fails (const char *manifest, GQuark domain, int code, const char *message)
{
  g_autofree char *graph = make_graph (manifest, "text-reader unit=line");
  g_autoptr (GError) error = NULL;

  g_assert_false (dlp_harness_run (graph, NULL, &error));
  g_assert_error (error, domain, code);
  if (strstr (error->message, message) == NULL)
    g_error ("“%s” is not in “%s”", message, error->message);
}

static void
test_good (void)
{
  g_assert_cmpuint (count ("[{\"uri\": \"b.txt\"}, {\"uri\": \"a.txt\"}]", "text-reader unit=line"),
                    ==, 6);
  g_assert_cmpuint (count ("{\"uri\": \"a.txt\", \"size\": 14, \"rows\": 3, \"sha256\": \"#\", "
                           "\"etag\": \"of a server\"}",
                           "text-reader unit=line"),
                    ==, 3);
  /* Small reads, and places in the middle of the file. */
  g_assert_cmpuint (count ("{\"uri\": \"a.txt\", \"rows\": 3, \"sha256\": \"#\"}",
                           "text-reader unit=line read-size=1"),
                    ==, 3);
}

static void
test_damage (void)
{
  assert_fails ("{\"uri\": \"a.txt\", \"size\": 15}", DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
                "/a.txt: the file has 14 bytes; its manifest says 15");
  assert_fails ("{\"uri\": \"a.txt\", \"rows\": 4}", DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
                "/a.txt: the file has 3 rows, good and bad; its manifest says 4");
  assert_fails ("{\"uri\": \"c.txt\", \"sha256\": \"#\"}", DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
                "/c.txt: the SHA-256 of the file is ");
}

/* The records before the damage are kept, and the next file is read. */
static void
test_keep (void)
{
  static const char reader[] = "text-reader unit=line on-damaged-file=keep";

  g_assert_cmpuint (
      count ("[{\"uri\": \"a.txt\"}, {\"uri\": \"c.txt\", \"sha256\": \"#\"}]", reader), ==, 6);
  g_assert_cmpuint (count ("[{\"uri\": \"a.txt\", \"rows\": 1}, {\"uri\": \"b.txt\"}]", reader), ==,
                    6);
  /* Another length is known before the first one. */
  g_assert_cmpuint (count ("[{\"uri\": \"a.txt\", \"size\": 5}, {\"uri\": \"b.txt\"}]", reader), ==,
                    3);
}

static void
test_refused (void)
{
  g_autofree char *both =
      g_strdup_printf ("file-source manifest=%s/m.json location=%s/a.txt ! text-reader unit=line ! "
                       "check-sink name=k",
                       folder, folder);
  g_autoptr (GError) error = NULL;

  assert_fails ("{\"uri\": \"a.txt\"}\n{\"uri\": \"a.txt\"}", DLP_DATA_ERROR,
                DLP_DATA_ERROR_NO_INPUT, "/a.txt twice");
  assert_fails ("{\"uri\": \"a.txt\", \"crc\": 1}", DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
                "/m.json: line 1: unknown key “crc”");
  assert_fails ("{\"uri\": \"none.txt\"}", DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT, "/none.txt");
  g_assert_false (dlp_harness_run (both, NULL, &error));
  g_assert_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE);
}

/* Gone on with at every record, hashes and rows are those of the whole files. */
static void
test_resume (void)
{
  static const char manifest[] =
      "[{\"uri\": \"a.txt\", \"rows\": 3, \"sha256\": \"#\"}, {\"uri\": \"b.txt\", \"rows\": 3, "
      "\"size\": 14, \"sha256\": \"#\"}]";
  static const char *const readers[] = { "text-reader unit=line",
                                         "text-reader unit=line interleave=2",
                                         "text-reader unit=line read-size=3" };

  for (guint i = 0; i < G_N_ELEMENTS (readers); i++)
    {
      g_autofree char *graph = make_graph (manifest, readers[i]);

      dlp_harness_check_resume (graph, 1);
      dlp_harness_check_resume (graph, 0);
    }
}

/* ---- a manifest that is published anew ---- */

static gpointer
run (gpointer data)
{
  g_autoptr (GError) error = NULL;

  dlp_pipeline_run (data, NULL, &error);
  if (!g_error_matches (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED))
    g_assert_no_error (error);
  return NULL;
}

/* Pulls one record, or all, and stops. */
static guint
pull (const char *graph, const char *state, guint max)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_string (graph, &error);
  DlpAppSink *out;
  GThread *thread;
  guint n = 0;

  g_assert_no_error (error);
  g_object_set (pipeline, "state-dir", state, NULL);
  dlp_pipeline_prepare (pipeline, NULL, &error);
  g_assert_no_error (error);
  out = DLP_APP_SINK (dlp_pipeline_get_element (pipeline, "out"));
  thread = g_thread_new ("run", run, pipeline);
  while (n < max)
    {
      g_autoptr (DlpRecordBatch) batch = dlp_app_sink_pull (out, 1, NULL, NULL);

      if (batch == NULL)
        break;
      n++;
    }
  dlp_app_sink_commit (out);
  if (n == max)
    dlp_pipeline_stop (pipeline);
  g_thread_join (thread);
  return n;
}

static void
test_published_anew (void)
{
  g_autofree char *made =
      make_graph ("[{\"uri\": \"a.txt\", \"rows\": 3, \"sha256\": \"#\"}, {\"uri\": \"b.txt\"}]",
                  "text-reader unit=line");
  g_autofree char *graph = g_strdup_printf (
      "file-source manifest=%s/m.json ! text-reader unit=line ! app-sink name=out", folder);
  g_autofree char *state = g_build_filename (folder, "state", NULL);
  g_autofree char *other = NULL;

  g_assert_cmpuint (pull (graph, state, 1), ==, 1);
  other = make_graph ("[{\"uri\": \"c.txt\"}, {\"uri\": \"a.txt\", \"rows\": 9}]",
                      "text-reader unit=line");
  g_assert_cmpuint (pull (graph, state, 2), ==, 2);
  g_assert_cmpuint (pull (graph, state, 100), ==, 3);
  g_assert_cmpuint (pull (graph, state, 100), ==, 0);
}

int
main (int argc, char **argv)
{
  static const char changed[] = "one\ntwo\nthrex\n";

  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  folder = g_dir_make_tmp ("manifest-XXXXXX", NULL);
  write_file ("a.txt", LINES, strlen (LINES));
  write_file ("b.txt", LINES, strlen (LINES));
  write_file ("c.txt", changed, strlen (changed));
  g_test_add_func ("/manifest/good", test_good);
  g_test_add_func ("/manifest/damage", test_damage);
  g_test_add_func ("/manifest/keep", test_keep);
  g_test_add_func ("/manifest/refused", test_refused);
  g_test_add_func ("/manifest/resume", test_resume);
  g_test_add_func ("/manifest/published-anew", test_published_anew);
  return g_test_run ();
}
