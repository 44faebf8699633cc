/* SPDX-License-Identifier: MIT */

/* The element in a pipeline. */

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "sink-rig.h"

static const guint32 golden[][6] = { { 1, 2, 3, 50256 },
                                     { 7, 8, 50256 },
                                     { 9, 10, 11, 12, 13, 50256 } };
static const gsize golden_lengths[] = { 4, 3, 6 };

static DlpSchema *
make_schema (DlpFieldType type)
{
  /* A field before it: the one that is written is found by name. */
  const char *const names[] = { "id", "tokens" };
  const DlpFieldType types[] = { DLP_FIELD_INT64, type };

  return dlp_schema_new (DLP_SCHEMA_RECORDS, 2, names, types, NULL);
}

static void
fill (DlpRecordBatchBuilder *builder, const guint32 *ids, gsize n, guint64 id)
{
  DlpSchema *schema = dlp_record_batch_builder_get_schema (builder);
  g_autofree guint16 *narrow = g_new (guint16, n + 1);

  for (gsize i = 0; i < n; i++)
    narrow[i] = (guint16) ids[i];
  dlp_record_batch_builder_append_int64 (builder, 0, (gint64) id);
  if (dlp_schema_get_field_type (schema, 1) == DLP_FIELD_LIST_UINT16)
    dlp_record_batch_builder_append_list (builder, 1, narrow, n);
  else
    dlp_record_batch_builder_append_list (builder, 1, ids, n);
}

static void
fill_golden (DlpRecordBatchBuilder *builder, guint64 n)
{
  fill (builder, golden[n], golden_lengths[n], n);
}

/* Documents of 0 to 6 tokens, some of them empty. */
static void
fill_some (DlpRecordBatchBuilder *builder, guint64 n)
{
  guint32 ids[7];

  for (guint i = 0; i < 7; i++)
    ids[i] = (guint32) (n * 7 + i) % 50257;
  fill (builder, ids, n * 5 % 7, n);
}

static void
fill_empty (DlpRecordBatchBuilder *builder, guint64 n)
{
  fill (builder, NULL, 0, n);
}

/* 65534, 65535, 65536, and so on. */
static void
fill_growing (DlpRecordBatchBuilder *builder, guint64 n)
{
  const guint32 ids[] = { 1, 65534 + (guint32) n, 2 };

  fill (builder, ids, 3, n);
}

static void
fill_huge (DlpRecordBatchBuilder *builder, guint64 n)
{
  const guint32 ids[] = { 0x7FFFFFFF, 0x80000000 };

  fill (builder, ids, 2, n);
}

static void
run (const char *sink, const char *state)
{
  g_autoptr (GError) error = NULL;

  sink_rig_run (sink, state, SINK_RIG_RUN, 0, &error);
  g_assert_no_error (error);
}

static void
assert_golden (const char *folder, const char *name, const char *golden_name)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, golden_name, NULL);
  g_autoptr (GError) error = NULL;
  g_autofree char *data = NULL;
  gsize size;

  g_file_get_contents (path, &data, &size, &error);
  g_assert_no_error (error);
  sink_rig_assert_file (folder, name, data, size);
}

static guint8
read_dtype_code (const char *folder)
{
  g_autofree char *path = g_build_filename (folder, "x.idx", NULL);
  g_autofree char *data = NULL;
  gsize size;

  g_assert_true (g_file_get_contents (path, &data, &size, NULL));
  g_assert_cmpuint (size, >=, 34);
  return (guint8) data[17];
}

typedef struct
{
  const char *name;
  DlpFieldType type;
  guint64 vocab_size; /* of the tokenizer */
  const char *options;
  guint8 code;
} Width;

static const Width widths[] = {
  { "uint16-gpt2", DLP_FIELD_LIST_UINT16, 50257, "", 8 },
  { "wide-gpt2", DLP_FIELD_LIST_UINT32, 50257, "", 8 },
  { "below-limit", DLP_FIELD_LIST_UINT16, 65499, "", 8 },
  { "at-limit", DLP_FIELD_LIST_UINT16, 65500, "", 4 },
  { "unknown-uint16", DLP_FIELD_LIST_UINT16, 0, "", 8 },
  { "unknown-uint32", DLP_FIELD_LIST_UINT32, 0, "", 4 },
  { "large", DLP_FIELD_LIST_UINT32, 200019, "", 4 },
  { "large-uint16", DLP_FIELD_LIST_UINT32, 65536, "dtype=uint16", 8 },
  { "small-int32", DLP_FIELD_LIST_UINT16, 50257, "dtype=int32", 4 },
  { "given", DLP_FIELD_LIST_UINT32, 0, "vocab-size=50257", 8 },
  { "given-over-tokenizer", DLP_FIELD_LIST_UINT32, 50257, "vocab-size=65536", 4 },
};

static void
test_width (gconstpointer data)
{
  const Width *width = data;
  char *folder = sink_rig_make_folder ();
  g_autofree char *sink =
      g_strdup_printf ("megatron-sink location=%s/x %s", folder, width->options);

  sink_rig_set_source (make_schema (width->type), 3, fill_golden);
  sink_rig_set_model ("gpt2", "abc", width->vocab_size);
  run (sink, NULL);
  g_assert_cmpuint (read_dtype_code (folder), ==, width->code);
  assert_golden (folder, "x.bin", width->code == 8 ? "meg16.bin" : "meg32.bin");
  assert_golden (folder, "x.idx", width->code == 8 ? "meg16.idx" : "meg32.idx");
  sink_rig_remove_folder (folder);
}

static void
test_manifest (void)
{
  char *folder = sink_rig_make_folder ();
  g_autofree char *sink = g_strdup_printf ("megatron-sink location=%s/x", folder);
  g_autofree char *path = g_build_filename (folder, "x.manifest.json", NULL);
  g_autofree char *names = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) manifest = NULL;
  const char *name;
  guint64 bytes, hash, again, tokens;

  sink_rig_set_source (make_schema (DLP_FIELD_LIST_UINT16), 3, fill_golden);
  sink_rig_set_model ("gpt2", "abc", 50257);
  run (sink, NULL);
  names = sink_rig_list_folder (folder);
  g_assert_cmpstr (names, ==, "x.bin x.idx x.manifest.json");

  manifest = dlp_manifest_load (path, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (dlp_manifest_get_string (manifest, "format"), ==, "megatron");
  g_assert_cmpstr (dlp_manifest_get_string (manifest, "dtype"), ==, "uint16");
  g_assert_cmpstr (dlp_manifest_get_string (manifest, "tokenizer"), ==, "gpt2");
  g_assert_cmpstr (dlp_manifest_get_string (manifest, "tokenizer-fingerprint"), ==, "abc");
  g_assert_cmpuint (strlen (dlp_manifest_get_string (manifest, "digest")), ==, 65);
  g_assert_cmpuint (strlen (dlp_manifest_get_string (manifest, "run-id")), ==, 16);
  g_assert_true (dlp_manifest_get_uint64 (manifest, "tokens", &tokens));
  g_assert_cmpuint (tokens, ==, 13);
  g_assert_cmpuint (dlp_manifest_get_n_files (manifest), ==, 2);
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *file = NULL;

      dlp_manifest_get_file (manifest, i, &name, &bytes, &hash);
      g_assert_cmpstr (name, ==, i == 0 ? "x.bin" : "x.idx");
      g_assert_cmpuint (bytes, ==, i == 0 ? 26 : 102);
      file = g_build_filename (folder, name, NULL);
      dlp_file_hash_read (file, bytes, NULL, &again, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (hash, ==, again);
    }
  sink_rig_remove_folder (folder);
}

/* ---- ranges ---- */

static void
assert_range_error (const char *options, SinkRigFunc func, guint64 vocab_size, const char *wanted)
{
  char *folder = sink_rig_make_folder ();
  g_autofree char *sink =
      g_strdup_printf ("megatron-sink name=out location=%s/x %s", folder, options);
  g_autofree char *bin = g_build_filename (folder, "x.bin", NULL);
  g_autoptr (GError) error = NULL;

  sink_rig_set_source (make_schema (DLP_FIELD_LIST_UINT32), 4, func);
  sink_rig_set_model (NULL, NULL, vocab_size);
  g_assert_false (sink_rig_run (sink, NULL, SINK_RIG_RUN, 0, &error));
  g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_RANGE);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, wanted));
  g_assert_nonnull (strstr (error->message, "out: "));
  g_assert_false (g_file_test (bin, G_FILE_TEST_EXISTS));
  sink_rig_remove_folder (folder);
}

static void
test_range (void)
{
  assert_range_error (
      "dtype=uint16", fill_growing, 0,
      "record 2 (stage 0, source 1, file 2, row 2, epoch 0, part 0): “tokens” has id "
      "65536 at index 1; allowed are 0 to 65535, for the dtype is uint16");
  assert_range_error (
      "", fill_growing, 65535,
      "record 1 (stage 0, source 1, file 2, row 1, epoch 0, part 0): “tokens” has id "
      "65535 at index 1; allowed are 0 to 65534, for the vocabulary has 65535 ids");
  assert_range_error ("", fill_huge, 0, "id 2147483648 at index 1; allowed are 0 to 2147483647");
}

static void
assert_refused (const char *sink, DlpSchema *schema, guint64 vocab_size, GQuark domain, int code)
{
  g_autoptr (GError) error = NULL;

  sink_rig_set_source (schema, 3, fill_golden);
  sink_rig_set_model (NULL, NULL, vocab_size);
  g_assert_false (sink_rig_run (sink, NULL, SINK_RIG_RUN, 0, &error));
  g_test_message ("%s", error->message);
  g_assert_error (error, domain, code);
}

static void
test_refused (void)
{
  const char *const names[] = { "id", "text" };
  const DlpFieldType types[] = { DLP_FIELD_INT64, DLP_FIELD_STRING };

  assert_refused ("megatron-sink location=/dev/null/x dtype=uint16",
                  make_schema (DLP_FIELD_LIST_UINT32), 65537, DLP_GRAPH_ERROR,
                  DLP_GRAPH_ERROR_VALUE);
  assert_refused ("megatron-sink", make_schema (DLP_FIELD_LIST_UINT16), 0, DLP_GRAPH_ERROR,
                  DLP_GRAPH_ERROR_VALUE);
  assert_refused ("megatron-sink location=out/", make_schema (DLP_FIELD_LIST_UINT16), 0,
                  DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE);
  assert_refused ("megatron-sink location=/dev/null/x field=ids",
                  make_schema (DLP_FIELD_LIST_UINT16), 0, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_TYPE);
  assert_refused ("megatron-sink location=/dev/null/x",
                  dlp_schema_new (DLP_SCHEMA_RECORDS, 2, names, types, NULL), 0, DLP_GRAPH_ERROR,
                  DLP_GRAPH_ERROR_TYPE);
  assert_refused ("megatron-sink location=/dev/null/x field=text",
                  dlp_schema_new (DLP_SCHEMA_RECORDS, 2, names, types, NULL), 0, DLP_GRAPH_ERROR,
                  DLP_GRAPH_ERROR_TYPE);
}

/* ---- resumption ---- */

#define SOME 60

static char *
make_reference (void)
{
  char *folder = sink_rig_make_folder ();
  g_autofree char *sink = g_strdup_printf ("megatron-sink location=%s/x", folder);

  sink_rig_set_source (make_schema (DLP_FIELD_LIST_UINT16), SOME, fill_some);
  sink_rig_set_model ("gpt2", "abc", 50257);
  run (sink, NULL);
  return folder;
}

static char *
get_digest (const char *folder)
{
  g_autofree char *path = g_build_filename (folder, "x.manifest.json", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) manifest = dlp_manifest_load (path, &error);

  g_assert_no_error (error);
  return g_strdup (dlp_manifest_get_string (manifest, "digest"));
}

static void
assert_like_reference (const char *folder, const char *reference)
{
  g_autofree char *names = sink_rig_list_folder (folder);
  g_autofree char *digest = get_digest (folder);
  g_autofree char *wanted = get_digest (reference);

  g_assert_cmpstr (names, ==, "s x.bin x.idx x.manifest.json");
  sink_rig_assert_same_file (folder, reference, "x.bin");
  sink_rig_assert_same_file (folder, reference, "x.idx");
  g_assert_cmpstr (digest, ==, wanted);
}

static void
test_stop_at_each_record (void)
{
  char *reference = make_reference ();

  for (guint stop = 0; stop <= SOME; stop++)
    {
      char *folder = sink_rig_make_folder ();
      g_autofree char *sink = g_strdup_printf ("megatron-sink location=%s/x", folder);
      g_autofree char *state = g_build_filename (folder, "s", NULL);
      g_autoptr (GError) error = NULL;

      g_assert_false (sink_rig_run (sink, state, SINK_RIG_STOP, stop, &error));
      g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED);
      run (sink, state);
      assert_like_reference (folder, reference);
      sink_rig_remove_folder (folder);
    }
  sink_rig_remove_folder (reference);
}

static void
test_stop_often (void)
{
  char *reference = make_reference ();
  char *folder = sink_rig_make_folder ();
  g_autofree char *sink = g_strdup_printf ("megatron-sink location=%s/x", folder);
  g_autofree char *state = g_build_filename (folder, "s", NULL);
  guint n = 0;

  for (;; n++)
    {
      g_autoptr (GError) error = NULL;

      if (sink_rig_run (sink, state, SINK_RIG_STOP, 7, &error))
        break;
      g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED);
    }
  g_assert_cmpuint (n, >=, SOME / 7);
  assert_like_reference (folder, reference);
  sink_rig_remove_folder (folder);
  sink_rig_remove_folder (reference);
}

/* Each attempt makes a few records more before it dies, so it ends. */
static void
test_kill (void)
{
  char *reference = make_reference ();
  char *folder = sink_rig_make_folder ();
  g_autofree char *sink = g_strdup_printf ("megatron-sink location=%s/x", folder);
  g_autofree char *state = g_build_filename (folder, "s", NULL);
  guint64 made = 1;

  while (!sink_rig_run_in_child (sink, state, made))
    made += 3;
  g_assert_true (sink_rig_run_in_child (sink, state, 0));
  assert_like_reference (folder, reference);
  sink_rig_remove_folder (folder);
  sink_rig_remove_folder (reference);
}

/* 3,000 documents: .bin 17,994, lengths 10,284, documents 24,000, .idx 54,894 bytes. */
static void
test_full_disk (void)
{
  static const guint64 limits[] = { 17000, 23000, 50000 };

  sink_rig_set_source (make_schema (DLP_FIELD_LIST_UINT16), 3000, fill_some);
  sink_rig_set_model ("gpt2", "abc", 50257);
  for (guint i = 0; i < G_N_ELEMENTS (limits); i++)
    {
      char *folder = sink_rig_make_folder ();
      g_autofree char *sink = g_strdup_printf ("megatron-sink location=%s/x", folder);
      g_autofree char *reference = g_strdup_printf ("megatron-sink location=%s/y", folder);
      g_autofree char *state = g_build_filename (folder, "s", NULL);
      g_autofree char *bin = g_build_filename (folder, "x.bin", NULL);
      g_autofree char *idx = g_build_filename (folder, "x.idx", NULL);
      g_autofree char *data = NULL;
      gsize size;

      for (guint round = 0; round < 2; round++)
        {
          g_assert_false (sink_rig_run_limited (sink, state, limits[i]));
          g_assert_false (g_file_test (bin, G_FILE_TEST_EXISTS));
          g_assert_false (g_file_test (idx, G_FILE_TEST_EXISTS));
        }

      /* Once there is room it goes on. */
      run (sink, state);
      run (reference, NULL);
      g_assert_true (g_file_get_contents (bin, &data, &size, NULL));
      sink_rig_assert_file (folder, "y.bin", data, size);
      g_clear_pointer (&data, g_free);
      g_assert_true (g_file_get_contents (idx, &data, &size, NULL));
      sink_rig_assert_file (folder, "y.idx", data, size);
      sink_rig_remove_folder (folder);
    }
}

/* The same command after the end changes nothing, not even times. */
static void
test_again (void)
{
  char *folder = sink_rig_make_folder ();
  g_autofree char *sink = g_strdup_printf ("megatron-sink location=%s/x", folder);
  g_autofree char *state = g_build_filename (folder, "s", NULL);
  static const char *const names[] = { "x.bin", "x.idx", "x.manifest.json" };
  GStatBuf before[3];

  sink_rig_set_source (make_schema (DLP_FIELD_LIST_UINT16), 3, fill_golden);
  sink_rig_set_model ("gpt2", "abc", 50257);
  run (sink, state);
  for (guint round = 0; round < 2; round++)
    {
      for (guint i = 0; i < 3; i++)
        {
          g_autofree char *path = g_build_filename (folder, names[i], NULL);
          GStatBuf st;

          g_assert_no_errno (g_stat (path, round == 0 ? &before[i] : &st));
          if (round == 1)
            {
              g_assert_cmpuint (st.st_ino, ==, before[i].st_ino);
              g_assert_cmpint (st.st_mtim.tv_nsec, ==, before[i].st_mtim.tv_nsec);
            }
        }
      if (round == 0)
        run (sink, state);
    }
  sink_rig_remove_folder (folder);
}

/* (transfer full): the name of an unfinished file of the run whose manifest this is. */
static char *
make_unfinished_path (const char *manifest_path, const char *final)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) manifest = dlp_manifest_load (manifest_path, &error);
  g_autofree char *folder = g_path_get_dirname (manifest_path);

  g_assert_no_error (error);
  return g_strdup_printf ("%s/.%s.%s.1.partial", folder, final,
                          dlp_manifest_get_string (manifest, "run-id"));
}

/* A run that died while it published leaves one of these; the same command does the rest. */
static void
test_publish_again (void)
{
  static const char *const finished[] = { "x.manifest.json", "x.idx", "x.bin" };

  sink_rig_set_source (make_schema (DLP_FIELD_LIST_UINT16), 3, fill_golden);
  sink_rig_set_model ("gpt2", "abc", 50257);
  for (guint undone = 0; undone <= 3; undone++)
    {
      char *folder = sink_rig_make_folder ();
      g_autofree char *sink = g_strdup_printf ("megatron-sink location=%s/x", folder);
      g_autofree char *state = g_build_filename (folder, "s", NULL);
      g_autofree char *before = NULL;
      g_autofree char *manifest = g_build_filename (folder, "x.manifest.json", NULL);
      g_autofree char *leftover = NULL;
      g_autofree char *idx = NULL;
      g_autofree char *bin = NULL;
      g_autofree char *names = NULL;

      run (sink, state);
      leftover = make_unfinished_path (manifest, "x.idx.lengths");
      idx = make_unfinished_path (manifest, "x.idx");
      bin = make_unfinished_path (manifest, "x.bin");
      g_assert_true (g_file_get_contents (manifest, &before, NULL, NULL));
      g_assert_true (g_file_set_contents (leftover, "left", -1, NULL));
      for (guint i = 0; i < undone; i++)
        {
          g_autofree char *from = g_build_filename (folder, finished[i], NULL);

          g_assert_no_errno (i == 0 ? g_unlink (from) : g_rename (from, i == 1 ? idx : bin));
        }

      run (sink, state);
      names = sink_rig_list_folder (folder);
      g_assert_cmpstr (names, ==, "s x.bin x.idx x.manifest.json");
      assert_golden (folder, "x.bin", "meg16.bin");
      assert_golden (folder, "x.idx", "meg16.idx");
      sink_rig_assert_file (folder, "x.manifest.json", before, strlen (before));
      sink_rig_remove_folder (folder);
    }
}

/* ---- places ---- */

static void
test_no_tokens (void)
{
  char *folder = sink_rig_make_folder ();
  g_autofree char *sink = g_strdup_printf ("megatron-sink location=%s/x", folder);
  g_autofree char *path = g_build_filename (folder, "x.manifest.json", NULL);
  g_autofree char *names = NULL;
  g_autofree char *warning = NULL;
  g_autoptr (GVariant) manifest = NULL;
  guint64 documents, tokens;

  sink_rig_set_source (make_schema (DLP_FIELD_LIST_UINT16), 4, fill_empty);
  sink_rig_set_model (NULL, NULL, 0);
  run (sink, NULL);
  warning = sink_rig_take_warning ();
  g_assert_nonnull (strstr (warning, "no tokens came"));
  names = sink_rig_list_folder (folder);
  g_assert_cmpstr (names, ==, "x.manifest.json");
  manifest = dlp_manifest_load (path, NULL);
  g_assert_nonnull (manifest);
  g_assert_cmpuint (dlp_manifest_get_n_files (manifest), ==, 0);
  g_assert_true (dlp_manifest_get_uint64 (manifest, "documents", &documents));
  g_assert_true (dlp_manifest_get_uint64 (manifest, "tokens", &tokens));
  g_assert_cmpuint (documents, ==, 4);
  g_assert_cmpuint (tokens, ==, 0);
  sink_rig_remove_folder (folder);
}

static void
assert_foreign (const char *sink)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (sink_rig_run (sink, NULL, SINK_RIG_RUN, 0, &error));
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_FOREIGN_OUTPUT);
  g_test_message ("%s", error->message);
}

static void
test_foreign_output (void)
{
  char *folder = sink_rig_make_folder ();
  g_autofree char *sink = g_strdup_printf ("megatron-sink location=%s/x", folder);
  g_autofree char *manifest = g_build_filename (folder, "x.manifest.json", NULL);
  g_autofree char *other = g_build_filename (folder, "x.txt", NULL);

  sink_rig_set_source (make_schema (DLP_FIELD_LIST_UINT16), 3, fill_golden);
  sink_rig_set_model (NULL, NULL, 0);
  run (sink, NULL);
  g_assert_true (g_file_set_contents (other, "mine", -1, NULL));
  assert_foreign (sink);

  /* With its manifest it is replaced, and nothing else is touched. */
  sink_rig_set_source (make_schema (DLP_FIELD_LIST_UINT32), 3, fill_golden);
  sink_rig_set_options (TRUE, FALSE);
  run (sink, NULL);
  assert_golden (folder, "x.bin", "meg32.bin");
  g_assert_true (g_file_test (other, G_FILE_TEST_EXISTS));

  /* Without one nobody knows whose it is. */
  g_assert_no_errno (g_unlink (manifest));
  assert_foreign (sink);
  assert_golden (folder, "x.bin", "meg32.bin");
  sink_rig_set_options (FALSE, FALSE);
  sink_rig_remove_folder (folder);
}

static void
test_restart (void)
{
  char *folder = sink_rig_make_folder ();
  g_autofree char *sink = g_strdup_printf ("megatron-sink location=%s/x", folder);
  g_autofree char *wider = g_strconcat (sink, " dtype=int32", NULL);
  g_autofree char *state = g_build_filename (folder, "s", NULL);
  g_autoptr (GError) error = NULL;
  g_autofree char *names = NULL;

  sink_rig_set_source (make_schema (DLP_FIELD_LIST_UINT16), 3, fill_golden);
  sink_rig_set_model (NULL, NULL, 0);
  g_assert_false (sink_rig_run (sink, state, SINK_RIG_STOP, 2, &error));
  g_clear_error (&error);
  g_assert_false (sink_rig_run (wider, state, SINK_RIG_RUN, 0, &error));
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED);

  sink_rig_set_options (FALSE, TRUE);
  run (wider, state);
  assert_golden (folder, "x.bin", "meg32.bin");
  run (sink, state);
  assert_golden (folder, "x.bin", "meg16.bin");
  names = sink_rig_list_folder (folder);
  g_assert_cmpstr (names, ==, "s x.bin x.idx x.manifest.json");
  sink_rig_set_options (FALSE, FALSE);
  sink_rig_remove_folder (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  sink_rig_catch_warnings ();
  for (guint i = 0; i < G_N_ELEMENTS (widths); i++)
    {
      g_autofree char *path = g_strconcat ("/megatron-sink/width/", widths[i].name, NULL);

      g_test_add_data_func (path, &widths[i], test_width);
    }
  g_test_add_func ("/megatron-sink/manifest", test_manifest);
  g_test_add_func ("/megatron-sink/range", test_range);
  g_test_add_func ("/megatron-sink/refused", test_refused);
  g_test_add_func ("/megatron-sink/stop-at-each-record", test_stop_at_each_record);
  g_test_add_func ("/megatron-sink/stop-often", test_stop_often);
  g_test_add_func ("/megatron-sink/kill", test_kill);
  g_test_add_func ("/megatron-sink/full-disk", test_full_disk);
  g_test_add_func ("/megatron-sink/again", test_again);
  g_test_add_func ("/megatron-sink/publish-again", test_publish_again);
  g_test_add_func ("/megatron-sink/no-tokens", test_no_tokens);
  g_test_add_func ("/megatron-sink/foreign-output", test_foreign_output);
  g_test_add_func ("/megatron-sink/restart", test_restart);

  return g_test_run ();
}
