/* SPDX-License-Identifier: MIT */

/* The writer without a pipeline: bytes, arithmetic, crashes at each point of the end. */

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dlpipe/dlpipe.h>

#include "dlp-megatron-index.h"
#include "dlp-megatron-tokens.h"
#include "dlp-megatron-writer.h"
#include "sink-rig.h"

#define RUN "0123456789abcdef"

static const guint32 golden[] = { 1, 2, 3, 50256, 7, 8, 50256, 9, 10, 11, 12, 13, 50256 };
static const guint32 golden_lengths[] = { 4, 3, 6 };

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

static void
add_golden (DlpMegatronWriter *writer)
{
  g_autoptr (GError) error = NULL;

  dlp_megatron_writer_add_tokens (writer, golden, 4, G_N_ELEMENTS (golden), &error);
  g_assert_no_error (error);
  dlp_megatron_writer_add_documents (writer, golden_lengths, 3, &error);
  g_assert_no_error (error);
}

static void
finish (DlpMegatronWriter *writer, DlpMegatronState *state)
{
  g_autoptr (GError) error = NULL;

  dlp_megatron_writer_finish (writer, NULL, &error);
  g_assert_no_error (error);
  dlp_megatron_writer_get_state (writer, state);
  dlp_megatron_writer_sync (writer, state, &error);
  g_assert_no_error (error);
}

static DlpMegatronWriter *
create (const char *location, guint width, guint attempt)
{
  g_autoptr (GError) error = NULL;
  DlpMegatronWriter *writer = dlp_megatron_writer_create (location, RUN, width, attempt, &error);

  g_assert_no_error (error);
  return writer;
}

static void
publish (const char *location, const DlpMegatronState *state)
{
  g_autoptr (GError) error = NULL;

  dlp_megatron_publish (location, RUN, state, &error);
  g_assert_no_error (error);
}

/* ---- bytes ---- */

static void
test_golden (gconstpointer data)
{
  guint width = GPOINTER_TO_UINT (data);
  char *folder = sink_rig_make_folder ();
  g_autofree char *location = g_build_filename (folder, "x", NULL);
  g_autoptr (DlpMegatronWriter) writer = create (location, width, 1);
  g_autofree char *names = NULL;
  DlpMegatronState state;

  add_golden (writer);
  finish (writer, &state);
  publish (location, &state);

  names = sink_rig_list_folder (folder);
  g_assert_cmpstr (names, ==, "x.bin x.idx");
  assert_golden (folder, "x.bin", width == 2 ? "meg16.bin" : "meg32.bin");
  assert_golden (folder, "x.idx", width == 2 ? "meg16.idx" : "meg32.idx");
  sink_rig_remove_folder (folder);
}

static void
test_hashes (void)
{
  char *folder = sink_rig_make_folder ();
  g_autofree char *location = g_build_filename (folder, "x", NULL);
  g_autofree char *bin = g_strconcat (location, ".bin", NULL);
  g_autofree char *idx = g_strconcat (location, ".idx", NULL);
  g_autoptr (DlpMegatronWriter) writer = create (location, 2, 1);
  g_autoptr (GError) error = NULL;
  DlpMegatronState state;
  guint64 hash;

  add_golden (writer);
  finish (writer, &state);
  publish (location, &state);

  dlp_file_hash_read (bin, 26, NULL, &hash, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (hash, ==, state.bin_hash);
  dlp_file_hash_read (idx, 102, NULL, &hash, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (hash, ==, state.idx_hash);
  sink_rig_remove_folder (folder);
}

static void
test_empty_documents (void)
{
  static const guint8 expected[] = {
    'M', 'M', 'I', 'D', 'I', 'D', 'X', 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 8, /* header */
    1,   0,   0,   0,   0,   0,   0,   0, 5, 0, 0, 0, 0, 0, 0, 0,       /* S, D */
    2,   0,   0,   0,                                                   /* lengths */
    0,   0,   0,   0,   0,   0,   0,   0,                               /* pointers */
    0,   0,   0,   0,   0,   0,   0,   0, 0, 0, 0, 0, 0, 0, 0, 0,       /* documents */
    1,   0,   0,   0,   0,   0,   0,   0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,
  };
  static const guint32 lengths[] = { 0, 2, 0, 0 };
  static const guint16 tokens[] = { 5, 6 };
  char *folder = sink_rig_make_folder ();
  g_autofree char *location = g_build_filename (folder, "x", NULL);
  g_autoptr (DlpMegatronWriter) writer = create (location, 2, 1);
  g_autoptr (GError) error = NULL;
  DlpMegatronState state;

  dlp_megatron_writer_add_tokens (writer, tokens, 2, 2, &error);
  dlp_megatron_writer_add_documents (writer, lengths, 4, &error);
  g_assert_no_error (error);
  finish (writer, &state);
  publish (location, &state);

  sink_rig_assert_file (folder, "x.idx", expected, sizeof expected);
  sink_rig_assert_file (folder, "x.bin", tokens, sizeof tokens);
  sink_rig_remove_folder (folder);
}

static void
test_no_tokens (void)
{
  static const guint32 lengths[] = { 0, 0 };
  char *folder = sink_rig_make_folder ();
  g_autofree char *location = g_build_filename (folder, "x", NULL);
  g_autoptr (DlpMegatronWriter) writer = create (location, 2, 1);
  g_autofree char *names = NULL;
  g_autoptr (GError) error = NULL;
  DlpMegatronState state;

  dlp_megatron_writer_add_documents (writer, lengths, 2, &error);
  g_assert_no_error (error);
  finish (writer, &state);
  g_assert_cmpuint (state.documents, ==, 2);
  g_assert_cmpuint (state.sequences, ==, 0);
  publish (location, &state);

  names = sink_rig_list_folder (folder);
  g_assert_cmpstr (names, ==, "");
  sink_rig_remove_folder (folder);
}

/* ---- arithmetic ---- */

static void
test_pointers (void)
{
  const gint32 lengths[] = { 1, 2147483647, 2147483647, 5, 0 };
  gint64 pointers[5];
  gint64 next = 0;
  g_autoptr (GError) error = NULL;

  dlp_megatron_index_fill_pointers (lengths, 5, 4, &next, pointers, &error);
  g_assert_no_error (error);
  g_assert_cmpint (pointers[0], ==, 0);
  g_assert_cmpint (pointers[1], ==, 4);
  g_assert_cmpint (pointers[2], ==, G_GINT64_CONSTANT (8589934592));
  g_assert_cmpint (pointers[3], ==, G_GINT64_CONSTANT (17179869180));
  g_assert_cmpint (pointers[4], ==, G_GINT64_CONSTANT (17179869200));
  g_assert_cmpint (next, ==, G_GINT64_CONSTANT (17179869200));

  /* Across 2^31 and 2^32, by one byte more and less. */
  for (gint64 start = (G_GINT64_CONSTANT (1) << 31) - 4; start <= (G_GINT64_CONSTANT (1) << 32) + 4;
       start += (G_GINT64_CONSTANT (1) << 31) - 2)
    {
      next = start;
      dlp_megatron_index_fill_pointers ((const gint32[]){ 1, 1, 3, 1 }, 4, 2, &next, pointers,
                                        &error);
      g_assert_no_error (error);
      g_assert_cmpint (pointers[1], ==, start + 2);
      g_assert_cmpint (pointers[2], ==, start + 4);
      g_assert_cmpint (pointers[3], ==, start + 10);
      g_assert_cmpint (next, ==, start + 12);
    }
}

static void
test_pointers_overflow (void)
{
  gint64 pointer;
  gint64 next = G_MAXINT64 - 7;
  g_autoptr (GError) error = NULL;

  g_assert_true (
      dlp_megatron_index_fill_pointers ((const gint32[]){ 1 }, 1, 4, &next, &pointer, &error));
  g_assert_false (
      dlp_megatron_index_fill_pointers ((const gint32[]){ 1 }, 1, 4, &next, &pointer, &error));
  g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_RANGE);
  g_clear_error (&error);

  next = 0;
  g_assert_false (
      dlp_megatron_index_fill_pointers ((const gint32[]){ -1 }, 1, 4, &next, &pointer, &error));
  g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_RANGE);
}

static void
test_index_length (void)
{
  const guint64 many = (G_GUINT64_CONSTANT (1) << 31) + 5;
  guint64 length;

  g_assert_true (dlp_megatron_index_get_length (2, 13, 3, 3, &length));
  g_assert_cmpuint (length, ==, 102);
  g_assert_true (dlp_megatron_index_get_length (2, many, many, many, &length));
  g_assert_cmpuint (length, ==, 34 + 12 * many + 8 * (many + 1));
  g_assert_true (dlp_megatron_index_get_length (2, G_MAXINT64 / 2, 1, 1, &length));
  g_assert_false (dlp_megatron_index_get_length (2, (guint64) G_MAXINT64 / 2 + 1, 1, 1, &length));
  g_assert_false (dlp_megatron_index_get_length (2, G_MAXUINT64 / 2 + 2, 1, 1, &length));
  g_assert_false (dlp_megatron_index_get_length (2, 1, G_MAXUINT64 / 12 + 1, 1, &length));
  g_assert_false (dlp_megatron_index_get_length (2, 1, 1, G_MAXUINT64, &length));
  g_assert_false (dlp_megatron_index_get_length (2, 1, 1, G_MAXUINT64 / 8, &length));
}

static void
test_header (void)
{
  static const guint8 expected[DLP_MEGATRON_HEADER_SIZE] = {
    'M', 'M', 'I', 'D',  'I', 'D', 'X', 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 4, /* magic, version, int32 */
    5,   0,   0,   0x80, 0,   0,   0,   0,                               /* 2^31 + 5 */
    0,   0,   0,   0,    1,   0,   0,   0                                /* 2^32 */
  };
  guint8 header[DLP_MEGATRON_HEADER_SIZE];

  dlp_megatron_index_fill_header (header, 4, 0x80000005, 0xFFFFFFFF);
  g_assert_cmpmem (header, sizeof header, expected, sizeof expected);
}

static void
test_tokens (void)
{
  guint32 wide[300];
  guint16 narrow[300];
  guint16 converted[300];
  guint32 widened[300];

  for (guint i = 0; i < 300; i++)
    {
      wide[i] = 65535 - i;
      narrow[i] = (guint16) (65535 - i);
    }
  dlp_megatron_tokens_convert (wide, 4, 300, converted, 2);
  g_assert_cmpmem (converted, sizeof converted, narrow, sizeof narrow);
  dlp_megatron_tokens_convert (narrow, 2, 300, widened, 4);
  g_assert_cmpmem (widened, sizeof widened, wide, sizeof wide);

  g_assert_cmpuint (dlp_megatron_tokens_check (wide, 4, 300, 65536), ==, 300);
  g_assert_cmpuint (dlp_megatron_tokens_check (narrow, 2, 300, 65536), ==, 300);
  g_assert_cmpuint (dlp_megatron_tokens_check (narrow, 2, 300, 65535), ==, 0);
  for (guint bad = 0; bad < 300; bad++)
    {
      wide[bad] = 65536;
      g_assert_cmpuint (dlp_megatron_tokens_check (wide, 4, 300, 65536), ==, bad);
      g_assert_cmpuint (dlp_megatron_tokens_check (wide, 4, bad, 65536), ==, bad);
      wide[bad] = 0xFFFFFFFF;
      g_assert_cmpuint (dlp_megatron_tokens_check (wide, 4, 300, (guint64) G_MAXINT32 + 1), ==,
                        bad);
      g_assert_cmpuint (dlp_megatron_tokens_get (wide, 4, bad), ==, 0xFFFFFFFF);
      wide[bad] = 0;
    }
}

static void
test_too_long (void)
{
  const guint32 length = 0x80000000;
  char *folder = sink_rig_make_folder ();
  g_autofree char *location = g_build_filename (folder, "x", NULL);
  g_autoptr (DlpMegatronWriter) writer = create (location, 2, 1);
  g_autoptr (GError) error = NULL;

  g_assert_false (dlp_megatron_writer_add_documents (writer, &length, 1, &error));
  g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_RANGE);
  g_clear_pointer (&writer, dlp_megatron_writer_free);
  sink_rig_remove_folder (folder);
}

/* ---- memory ---- */

static gsize
resident_bytes (void)
{
  g_autofree char *text = NULL;
  guint64 size, resident;

  g_assert_true (g_file_get_contents ("/proc/self/statm", &text, NULL, NULL));
  g_assert_cmpint (sscanf (text, "%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT, &size, &resident), ==,
                   2);
  return resident * (gsize) sysconf (_SC_PAGESIZE);
}

/* The index of so many documents is 64 MB. */
static void
test_many_documents (void)
{
  const char *scale_text = g_getenv ("DLPIPE_TEST_SCALE");
  guint n = (guint) (8000000 * (scale_text != NULL ? g_ascii_strtod (scale_text, NULL) : 1.0));
  static guint32 lengths[1000];
  static const guint16 token = 9;
  char *folder = sink_rig_make_folder ();
  g_autofree char *location = g_build_filename (folder, "x", NULL);
  g_autoptr (DlpMegatronWriter) writer = create (location, 2, 1);
  g_autoptr (GError) error = NULL;
  DlpMegatronState state;
  gsize before;

  lengths[999] = 1;
  dlp_megatron_writer_add_tokens (writer, &token, 2, 1, &error);
  dlp_megatron_writer_add_documents (writer, lengths, 1000, &error);
  g_assert_no_error (error);
  before = resident_bytes ();
  for (guint i = 1000; i < n; i += 1000)
    {
      dlp_megatron_writer_add_tokens (writer, &token, 2, 1, &error);
      dlp_megatron_writer_add_documents (writer, lengths, 1000, &error);
      g_assert_no_error (error);
    }
  finish (writer, &state);
  g_assert_cmpuint (resident_bytes (), <, before + 16 * 1024 * 1024);
  g_assert_cmpuint (state.sequences, ==, state.documents / 1000);
  sink_rig_remove_folder (folder);
}

/* ---- crashes ---- */

/* A run that dies between any two steps of the end leaves one of these; doing it again gives the
 * same. */
static void
test_publish_again (void)
{
  static const char *const unfinished[] = { ".x.bin." RUN ".1.partial", ".x.idx." RUN ".1.partial",
                                            ".x.idx.lengths." RUN ".1.partial",
                                            ".x.idx.documents." RUN ".1.partial" };

  for (guint done = 0; done <= 4; done++)
    {
      char *folder = sink_rig_make_folder ();
      g_autofree char *location = g_build_filename (folder, "x", NULL);
      g_autoptr (DlpMegatronWriter) writer = create (location, 2, 1);
      g_autofree char *names = NULL;
      DlpMegatronState state;

      add_golden (writer);
      finish (writer, &state);
      g_clear_pointer (&writer, dlp_megatron_writer_free);
      for (guint i = 0; i < done; i++)
        {
          g_autofree char *from = g_build_filename (folder, unfinished[i], NULL);
          g_autofree char *to = g_strconcat (location, i == 0 ? ".bin" : ".idx", NULL);

          g_assert_no_errno (i < 2 ? g_rename (from, to) : g_unlink (from));
        }

      publish (location, &state);
      publish (location, &state);
      names = sink_rig_list_folder (folder);
      g_assert_cmpstr (names, ==, "x.bin x.idx");
      assert_golden (folder, "x.bin", "meg16.bin");
      assert_golden (folder, "x.idx", "meg16.idx");
      sink_rig_remove_folder (folder);
    }
}

static void
test_publish_changed (void)
{
  char *folder = sink_rig_make_folder ();
  g_autofree char *location = g_build_filename (folder, "x", NULL);
  g_autofree char *bin = g_strconcat (location, ".bin", NULL);
  g_autoptr (DlpMegatronWriter) writer = create (location, 2, 1);
  g_autoptr (GError) error = NULL;
  DlpMegatronState state;

  add_golden (writer);
  finish (writer, &state);
  publish (location, &state);
  g_assert_no_errno (truncate (bin, 25));
  g_assert_false (dlp_megatron_publish (location, RUN, &state, &error));
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED);
  g_assert_nonnull (strstr (error->message, bin));
  sink_rig_remove_folder (folder);
}

/* The index was half written when the attempt died; the one that goes on writes it anew. */
static void
test_drain_again (gconstpointer data)
{
  gboolean is_dead = GPOINTER_TO_INT (data);
  char *folder = sink_rig_make_folder ();
  g_autofree char *location = g_build_filename (folder, "x", NULL);
  g_autofree char *index = g_build_filename (folder, ".x.idx." RUN ".1.partial", NULL);
  g_autoptr (DlpMegatronWriter) writer = create (location, 2, 1);
  g_autofree char *names = NULL;
  g_autoptr (GError) error = NULL;
  DlpMegatronState saved, state;

  add_golden (writer);
  dlp_megatron_writer_flush (writer, &error);
  g_assert_no_error (error);
  dlp_megatron_writer_get_state (writer, &saved);
  add_golden (writer);
  finish (writer, &state);
  g_clear_pointer (&writer, dlp_megatron_writer_free);
  g_assert_no_errno (truncate (index, 50));

  writer = dlp_megatron_writer_resume (location, RUN, &saved, 2, is_dead, NULL, &error);
  g_assert_no_error (error);
  finish (writer, &state);
  publish (location, &state);
  names = sink_rig_list_folder (folder);
  g_assert_cmpstr (names, ==, "x.bin x.idx");
  assert_golden (folder, "x.bin", "meg16.bin");
  assert_golden (folder, "x.idx", "meg16.idx");
  sink_rig_remove_folder (folder);
}

/* A stop comes while the index is written: all is as before, and can be gone on with or saved. */
static void
test_drain_cancelled (gconstpointer data)
{
  gboolean in_this_attempt = GPOINTER_TO_INT (data);
  char *folder = sink_rig_make_folder ();
  g_autofree char *location = g_build_filename (folder, "x", NULL);
  g_autoptr (DlpMegatronWriter) writer = create (location, 2, 1);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autofree char *names = NULL;
  g_autoptr (GError) error = NULL;
  DlpMegatronState before, state;

  add_golden (writer);
  dlp_megatron_writer_get_state (writer, &before);
  g_cancellable_cancel (cancellable);
  g_assert_false (dlp_megatron_writer_finish (writer, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  dlp_megatron_writer_get_state (writer, &state);
  g_assert_cmpmem (&state, sizeof state, &before, sizeof before);
  dlp_megatron_writer_sync (writer, &state, &error);
  g_assert_no_error (error);

  if (!in_this_attempt)
    {
      g_clear_pointer (&writer, dlp_megatron_writer_free);
      writer = dlp_megatron_writer_resume (location, RUN, &state, 2, TRUE, NULL, &error);
      g_assert_no_error (error);
    }
  finish (writer, &state);
  publish (location, &state);
  names = sink_rig_list_folder (folder);
  g_assert_cmpstr (names, ==, "x.bin x.idx");
  assert_golden (folder, "x.bin", "meg16.bin");
  assert_golden (folder, "x.idx", "meg16.idx");
  sink_rig_remove_folder (folder);
}

static void
test_damaged_stream (void)
{
  static const char *const names[] = { ".x.bin." RUN ".1.partial",
                                       ".x.idx.lengths." RUN ".1.partial",
                                       ".x.idx.documents." RUN ".1.partial" };

  for (guint i = 0; i < 3; i++)
    {
      char *folder = sink_rig_make_folder ();
      g_autofree char *location = g_build_filename (folder, "x", NULL);
      g_autofree char *path = g_build_filename (folder, names[i], NULL);
      g_autoptr (DlpMegatronWriter) writer = create (location, 2, 1);
      g_autoptr (GError) error = NULL;

      add_golden (writer);
      dlp_megatron_writer_flush (writer, &error);
      g_assert_no_error (error);
      g_assert_no_errno (truncate (path, 3));
      g_assert_false (dlp_megatron_writer_finish (writer, NULL, &error));
      g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED);
      g_assert_nonnull (strstr (error->message, names[i]));
      sink_rig_remove_folder (folder);
    }
}

/* Each resume at each length of one document of one token, by an attempt of its own. */
static void
test_resume_chain (void)
{
  char *folder = sink_rig_make_folder ();
  g_autofree char *location = g_build_filename (folder, "x", NULL);
  g_autofree char *reference = g_build_filename (folder, "y", NULL);
  g_autoptr (DlpMegatronWriter) whole = create (reference, 4, 1);
  g_autoptr (GError) error = NULL;
  DlpMegatronState state = { 0 };
  DlpMegatronState whole_state;

  for (guint i = 0; i < 20; i++)
    {
      g_autoptr (DlpMegatronWriter) writer =
          i == 0 ? create (location, 4, 1) :
                   dlp_megatron_writer_resume (location, RUN, &state, i + 1, i % 2, NULL, &error);
      const guint16 token = (guint16) (i * 100);
      const guint32 length = i % 3 != 0;

      g_assert_no_error (error);
      for (guint k = 0; k < 2; k++)
        {
          DlpMegatronWriter *to = k == 0 ? writer : whole;

          dlp_megatron_writer_add_tokens (to, &token, 2, length, &error);
          dlp_megatron_writer_add_documents (to, &length, 1, &error);
          g_assert_no_error (error);
        }
      dlp_megatron_writer_flush (writer, &error);
      dlp_megatron_writer_get_state (writer, &state);
      dlp_megatron_writer_sync (writer, &state, &error);
      g_assert_no_error (error);
      /* What is not in the state is not in the output. */
      dlp_megatron_writer_add_tokens (writer, &token, 2, 1, &error);
      dlp_megatron_writer_flush (writer, &error);
      g_assert_no_error (error);
      if (i == 19)
        {
          g_clear_pointer (&writer, dlp_megatron_writer_free);
          writer = dlp_megatron_writer_resume (location, RUN, &state, 21, TRUE, NULL, &error);
          g_assert_no_error (error);
          finish (writer, &state);
        }
    }
  finish (whole, &whole_state);
  g_assert_cmpuint (state.bin_hash, ==, whole_state.bin_hash);
  g_assert_cmpuint (state.idx_hash, ==, whole_state.idx_hash);
  publish (location, &state);
  publish (reference, &whole_state);
  sink_rig_remove_folder (folder);
}

/* One byte of what an earlier attempt wrote is another: in each of the streams. */
static void
test_resume_damaged (gconstpointer data)
{
  const char *suffix = data;
  char *folder = sink_rig_make_folder ();
  g_autofree char *location = g_build_filename (folder, "x", NULL);
  g_autofree char *name = g_strdup_printf (".x%s.%s.1.partial", suffix, RUN);
  g_autofree char *path = g_build_filename (folder, name, NULL);
  DlpMegatronWriter *writer = create (location, 2, 1);
  g_autoptr (GError) error = NULL;
  const guint16 tokens[] = { 1, 2, 3 };
  const guint32 lengths[] = { 2, 1 };
  DlpMegatronState state;
  guint8 byte;
  int fd;

  dlp_megatron_writer_add_tokens (writer, tokens, 2, 3, &error);
  dlp_megatron_writer_add_documents (writer, lengths, 2, &error);
  dlp_megatron_writer_flush (writer, &error);
  g_assert_no_error (error);
  dlp_megatron_writer_get_state (writer, &state);
  dlp_megatron_writer_free (writer);

  fd = open (path, O_RDWR | O_CLOEXEC);
  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (pread (fd, &byte, 1, 1), ==, 1);
  byte ^= 4;
  g_assert_cmpint (pwrite (fd, &byte, 1, 1), ==, 1);
  close (fd);

  g_assert_null (dlp_megatron_writer_resume (location, RUN, &state, 2, TRUE, NULL, &error));
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED);
  g_assert_nonnull (strstr (error->message, suffix));
  g_assert_nonnull (strstr (error->message, "are not what was written"));
  sink_rig_remove_folder (folder);
}

/* ---- a full disk ---- */

static void
write_limited (const char *location, guint64 limit)
{
  const struct rlimit small = { limit, limit };
  DlpMegatronWriter *writer;
  GError *error = NULL;
  guint32 lengths[1000];
  guint16 tokens[1000] = { 0 };
  gboolean ok = TRUE;

  signal (SIGXFSZ, SIG_IGN);
  if (setrlimit (RLIMIT_FSIZE, &small) != 0)
    _exit (3);
  for (guint i = 0; i < 1000; i++)
    lengths[i] = 1;
  writer = dlp_megatron_writer_create (location, RUN, 2, 1, &error);
  for (guint i = 0; i < 20 && ok; i++)
    ok = dlp_megatron_writer_add_tokens (writer, tokens, 2, 1000, &error) &&
         dlp_megatron_writer_add_documents (writer, lengths, 1000, &error) &&
         dlp_megatron_writer_flush (writer, &error);
  if (ok)
    ok = dlp_megatron_writer_finish (writer, NULL, &error);
  /* 20,000 documents: .bin 40,000, lengths 80,000, documents 160,000, .idx 400,042 bytes. */
  if (ok)
    _exit (2);
  _exit (strstr (error->message, location) != NULL && strstr (error->message, "bytes") != NULL ? 0 :
                                                                                                 4);
}

static void
test_full_disk (void)
{
  static const guint64 limits[] = { 1, 39999, 79999, 159999, 399000 };

  for (guint i = 0; i < G_N_ELEMENTS (limits); i++)
    {
      char *folder = sink_rig_make_folder ();
      g_autofree char *location = g_build_filename (folder, "x", NULL);
      pid_t pid = fork ();
      int status;

      g_assert_cmpint (pid, >=, 0);
      if (pid == 0)
        write_limited (location, limits[i]);
      g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
      g_assert_true (WIFEXITED (status));
      g_assert_cmpint (WEXITSTATUS (status), ==, 0);
      sink_rig_remove_folder (folder);
    }
}

/* ---- state ---- */

static void
test_state (void)
{
  const DlpMegatronState state = { 2, 7, 13, 3, 5, 1, G_MAXUINT64, 77 };
  static const char *const bad[] = {
    "{'width': <uint64 3>}",     "{'attempt': <uint64 0>}",
    "{'sequences': <uint64 6>}", "{'sequences': <uint64 14>, 'documents': <uint64 20>}",
    "{'finished': <uint64 2>}",  "{'tokens': <'13'>}",
    "{'else': <uint64 1>}",      "{'tokens': <uint64 0xffffffffffffffff>}",
  };
  g_autoptr (GVariant) described = g_variant_ref_sink (dlp_megatron_state_describe (&state));
  g_autoptr (GError) error = NULL;
  DlpMegatronState loaded;

  dlp_megatron_state_load (&loaded, described, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (&loaded, sizeof loaded, &state, sizeof state);

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (GVariant) change =
          g_variant_parse (G_VARIANT_TYPE_VARDICT, bad[i], NULL, NULL, &error);
      g_autoptr (GVariant) whole = NULL;
      GVariantDict dict;
      GVariantIter iter;
      const char *key;
      GVariant *value;

      g_assert_no_error (error);
      g_variant_dict_init (&dict, described);
      g_variant_iter_init (&iter, change);
      while (g_variant_iter_loop (&iter, "{&sv}", &key, &value))
        g_variant_dict_insert_value (&dict, key, value);
      whole = g_variant_ref_sink (g_variant_dict_end (&dict));
      g_assert_false (dlp_megatron_state_load (&loaded, whole, &error));
      g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT);
      g_clear_error (&error);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/megatron-writer/golden-uint16", GUINT_TO_POINTER (2), test_golden);
  g_test_add_data_func ("/megatron-writer/golden-int32", GUINT_TO_POINTER (4), test_golden);
  g_test_add_func ("/megatron-writer/hashes", test_hashes);
  g_test_add_func ("/megatron-writer/empty-documents", test_empty_documents);
  g_test_add_func ("/megatron-writer/no-tokens", test_no_tokens);
  g_test_add_func ("/megatron-writer/pointers", test_pointers);
  g_test_add_func ("/megatron-writer/pointers-overflow", test_pointers_overflow);
  g_test_add_func ("/megatron-writer/index-length", test_index_length);
  g_test_add_func ("/megatron-writer/header", test_header);
  g_test_add_func ("/megatron-writer/tokens", test_tokens);
  g_test_add_func ("/megatron-writer/too-long", test_too_long);
  g_test_add_func ("/megatron-writer/many-documents", test_many_documents);
  g_test_add_func ("/megatron-writer/publish-again", test_publish_again);
  g_test_add_func ("/megatron-writer/publish-changed", test_publish_changed);
  g_test_add_data_func ("/megatron-writer/drain-again-dead", GINT_TO_POINTER (TRUE),
                        test_drain_again);
  g_test_add_data_func ("/megatron-writer/drain-again-maybe-alive", GINT_TO_POINTER (FALSE),
                        test_drain_again);
  g_test_add_data_func ("/megatron-writer/drain-cancelled", GINT_TO_POINTER (TRUE),
                        test_drain_cancelled);
  g_test_add_data_func ("/megatron-writer/drain-cancelled-and-resumed", GINT_TO_POINTER (FALSE),
                        test_drain_cancelled);
  g_test_add_func ("/megatron-writer/damaged-stream", test_damaged_stream);
  g_test_add_func ("/megatron-writer/resume-chain", test_resume_chain);
  g_test_add_data_func ("/megatron-writer/resume-damaged-bin", ".bin", test_resume_damaged);
  g_test_add_data_func ("/megatron-writer/resume-damaged-lengths", ".idx.lengths",
                        test_resume_damaged);
  g_test_add_data_func ("/megatron-writer/resume-damaged-documents", ".idx.documents",
                        test_resume_damaged);
  g_test_add_func ("/megatron-writer/full-disk", test_full_disk);
  g_test_add_func ("/megatron-writer/state", test_state);

  return g_test_run ();
}
