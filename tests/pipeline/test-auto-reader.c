/* SPDX-License-Identifier: MIT */

/* auto-reader: what comes out is what comes of the reader that a person would have typed. */

#include <string.h>

#include <dlp-harness.h>
#include <glib/gstdio.h>

static char *folder;

static void
write_file (const char *name, gconstpointer data, gsize size)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autoptr (GError) error = NULL;

  g_file_set_contents (path, data, (gssize) size, &error);
  g_assert_no_error (error);
}

static void
write_text (const char *name, const char *text)
{
  write_file (name, text, strlen (text));
}

static void
write_zipped (const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GError) error = NULL;
  g_autoptr (GOutputStream) raw =
      G_OUTPUT_STREAM (g_file_replace (file, NULL, FALSE, G_FILE_CREATE_NONE, NULL, &error));
  g_autoptr (GConverter) zip =
      G_CONVERTER (g_zlib_compressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP, -1));
  g_autoptr (GOutputStream) stream = g_converter_output_stream_new (raw, zip);

  g_assert_no_error (error);
  g_output_stream_write_all (stream, text, strlen (text), NULL, NULL, &error);
  g_assert_no_error (error);
  g_output_stream_close (stream, NULL, &error);
  g_assert_no_error (error);
}

/* A file of the tree. */
static void
copy_file (const char *from, const char *name)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "..", "plugins", from, NULL);
  g_autofree char *data = NULL;
  g_autoptr (GError) error = NULL;
  gsize size;

  g_file_get_contents (path, &data, &size, &error);
  g_assert_no_error (error);
  write_file (name, data, size);
}

/* "@" stands for the folder. */
static char *
make_graph (const char *location, const char *reader)
{
  g_autofree char *graph =
      g_strdup_printf ("file-source %s ! %s ! check-sink name=k", location, reader);
  g_autofree char *slashed = g_strconcat (folder, "/", NULL);
  g_auto (GStrv) parts = g_strsplit (graph, "@", -1);

  return g_strjoinv (slashed, parts);
}

static GPtrArray *
read_all (const char *location, const char *reader)
{
  g_autofree char *graph = make_graph (location, reader);
  g_autoptr (GHashTable) got = dlp_harness_expect (graph);

  return g_ptr_array_ref (g_hash_table_lookup (got, "k"));
}

static void
check_same (const char *location, const char *reader, const char *properties)
{
  g_autofree char *typed = g_strconcat (reader, " ", properties, NULL);
  g_autofree char *automatic = g_strconcat ("auto-reader ", properties, NULL);
  g_autoptr (GPtrArray) expected = read_all (location, typed);
  g_autoptr (GPtrArray) got = read_all (location, automatic);

  g_assert_cmpuint (got->len, ==, expected->len);
  g_assert_cmpuint (got->len, >, 0);
  for (guint i = 0; i < got->len; i++)
    g_assert_cmpstr (got->pdata[i], ==, expected->pdata[i]);
}

static void
test_names (void)
{
  check_same ("location=@a.jsonl", "jsonl-reader", "");
  check_same ("location=@b.jsonl.gz", "jsonl-reader", "field=body interleave=2");
  check_same ("location=@*.jsonl location=@*.JSONL.gz", "jsonl-reader", "");
  check_same ("location=@a.csv location=@b.tsv", "csv-reader", "");
  check_same ("location=@a.csv", "csv-reader", "field=body fields=n:int64");
  check_same ("location=@a.txt location=@b.md", "text-reader", "unit=file");
  check_same ("location=@a.warc.gz", "warc-reader", "fields=url");
  check_same ("location=@a.tar.gz", "tar-reader", "fields=key");
}

/* Names that tell nothing, or something else. */
static void
test_bytes (void)
{
  check_same ("location=@warc-1", "warc-reader", "");
  check_same ("location=@tar.bin", "tar-reader", "fields=key");
  check_same ("location=@lines", "jsonl-reader", "");
  check_same ("location=@tar.ndjson", "tar-reader", "fields=key");
  check_same ("location=@empty location=@lines", "jsonl-reader", "");
}

/* An empty file is as good as its name. */
static void
test_empty (void)
{
  g_autoptr (GPtrArray) got = read_all ("location=@empty.jsonl", "auto-reader");

  g_assert_cmpuint (got->len, ==, 0);
}

static void
test_errors (void)
{
  static const struct
  {
    const char *location, *properties, *parts[3];
  } cases[] = {
    { "location=@unknown.bin",
      "",
      { "/unknown.bin (codec: none; first bytes: 00 01 02 03)",
        "jsonl-reader (.jsonl .ndjson .json)", "auto-reader0" } },
    { "location=@unknown.gz", "", { "codec: gzip; first bytes: 61 62 63", "known: " } },
    { "location=@a.jsonl location=@a.csv",
      "",
      { "/a.csv is for csv-reader, but ", "/a.jsonl is for jsonl-reader" } },
    { "location=@lines location=@warc-1", "", { "/warc-1 is for warc-reader" } },
    { "location=@empty", "", { "are empty, and their names tell nothing" } },
    { "location=@a.jsonl",
      "delimiter=x",
      { "the files are for jsonl-reader: jsonl-reader has no property “delimiter”" } },
    { "location=@a.jsonl", "interleave=0", { "interleave" } },
    { "location=-", "", { "the standard input can be read only once" } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *reader = g_strconcat ("auto-reader ", cases[i].properties, NULL);
      g_autofree char *graph = make_graph (cases[i].location, reader);
      g_autoptr (GError) error = NULL;

      g_assert_false (dlp_harness_run (graph, NULL, &error));
      g_assert_nonnull (error);
      g_assert_true (error->domain == DLP_GRAPH_ERROR);
      for (guint k = 0; k < 3 && cases[i].parts[k] != NULL; k++)
        if (strstr (error->message, cases[i].parts[k]) == NULL)
          g_error ("“%s” is not in “%s”", cases[i].parts[k], error->message);
    }
}

/* A shard that has no file has the reader of the others. */
static void
test_empty_shard (void)
{
  g_autoptr (GPtrArray) got = read_all ("location=@a.jsonl shard=1/2", "auto-reader");

  g_assert_cmpuint (got->len, ==, 0);
}

/* Before it is prepared the graph has what was typed, afterwards what runs; the list says so. */
static void
note_change (GListModel *list, guint position, guint removed, guint added, gpointer data)
{
  g_assert_cmpuint (removed, ==, 1);
  g_assert_cmpuint (added, ==, 1);
  *(guint *) data = position;
}

static void
test_replaced (void)
{
  g_autofree char *graph = make_graph ("location=@b.jsonl.gz", "auto-reader name=r field=body");
  g_autofree char *before = NULL;
  g_autofree char *after = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_string (graph, &error);
  guint changed = 0;

  g_assert_no_error (error);
  g_signal_connect (pipeline, "items-changed", G_CALLBACK (note_change), &changed);
  before = dlp_pipeline_to_string (pipeline);
  g_assert_nonnull (strstr (before, "auto-reader name=r field=\"body\""));
  dlp_pipeline_prepare (pipeline, NULL, &error);
  g_assert_no_error (error);
  after = dlp_pipeline_to_string (pipeline);
  g_assert_nonnull (strstr (after, "jsonl-reader name=r field=\"body\""));
  g_assert_cmpstr (dlp_element_get_factory (dlp_pipeline_get_element (pipeline, "r")), ==,
                   "jsonl-reader");
  while (changed == 0)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpuint (changed, ==, 1);
  dlp_pipeline_run (pipeline, NULL, &error);
  g_assert_no_error (error);
}

/* The state has the reader that was chosen, and goes on as it. */
static void
test_resume (void)
{
  g_autofree char *lines = make_graph ("location=@*.jsonl location=@b.jsonl.gz", "auto-reader");
  g_autofree char *table = make_graph ("location=@a.csv location=@b.tsv", "auto-reader field=body");

  dlp_harness_check_resume (lines, 1);
  dlp_harness_check_resume (table, 1);
  dlp_check_kill (lines, 3);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  folder = g_dir_make_tmp ("auto-reader-XXXXXX", NULL);
  write_text ("a.jsonl", "{\"text\": \"one\"}\n{\"text\": \"two\"}\n");
  write_zipped ("b.jsonl.gz", "{\"body\": \"three\", \"text\": \"3\"}\n");
  write_zipped ("c.JSONL.gz", "{\"text\": \"four\"}\n");
  write_text ("lines", "{\"text\": \"five\"}\n");
  write_text ("a.csv", "n,body,text\n1,one,eins\n2,two,zwei\n");
  write_text ("b.tsv", "body\ttext\nthree\tdrei\n");
  write_text ("a.txt", "{one\n");
  write_text ("b.md", "# two\n");
  write_text ("empty", "");
  write_text ("empty.jsonl", "");
  write_file ("unknown.bin", "\0\1\2\3", 4);
  write_zipped ("unknown.gz", "abc");
  copy_file ("warc-reader/tests/cases/w01-ok.warc.gz", "a.warc.gz");
  copy_file ("warc-reader/tests/cases/w01-ok.warc.gz", "warc-1");
  copy_file ("tar-reader/tests/random/04.tar.gz", "a.tar.gz");
  copy_file ("tar-reader/tests/random/04.tar.gz", "tar.bin");
  copy_file ("tar-reader/tests/random/06.tar", "tar.ndjson");
  g_test_add_func ("/auto-reader/names", test_names);
  g_test_add_func ("/auto-reader/bytes", test_bytes);
  g_test_add_func ("/auto-reader/empty", test_empty);
  g_test_add_func ("/auto-reader/empty-shard", test_empty_shard);
  g_test_add_func ("/auto-reader/errors", test_errors);
  g_test_add_func ("/auto-reader/replaced", test_replaced);
  g_test_add_func ("/auto-reader/resume", test_resume);
  return g_test_run ();
}
