/* SPDX-License-Identifier: MIT */

/* Files that are no checkpoints and so large that nobody could hold them: refused, in little
 * memory. They have holes, and take no room. Argument: the folder tests/data/state. */

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include <dlpipe/dlpipe.h>

#define GIB ((guint64) 1 << 30)
#define HUGE_SIZE (8 * GIB)
#define SMALLER (GIB / 4)
#define MOST_MEMORY ((glong) 48 << 20)

static const char *data_folder;
static char *dir;

/* Bytes, as they are at most. */
static glong
get_memory (void)
{
  struct rusage usage;

  g_assert_cmpint (getrusage (RUSAGE_SELF, &usage), ==, 0);
  return usage.ru_maxrss * 1024;
}

/* (transfer full): the name of a file with holes. */
static char *
make_file (const char *name, gconstpointer head, gsize head_size, guint64 size)
{
  char *path = g_build_filename (dir, name, NULL);
  int fd = open (path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (write (fd, head, head_size), ==, (gssize) head_size);
  g_assert_cmpint (ftruncate (fd, (off_t) size), ==, 0);
  close (fd);
  return path;
}

static void
make_head (guint8 head[24], guint32 version, guint64 payload)
{
  version = GUINT32_TO_LE (version);
  payload = GUINT64_TO_LE (payload);
  memset (head, 0, 24);
  memcpy (head, "DLPSTATE", 8);
  memcpy (head + 8, &version, 4);
  memcpy (head + 16, &payload, 8);
}

static void
assert_refused (const char *path, const char *pattern)
{
  glong before = get_memory ();
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpCheckpoint) checkpoint = dlp_checkpoint_new_from_file (path, &error);

  g_assert_null (checkpoint);
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT);
  g_assert_true (g_str_has_prefix (error->message, path));
  if (!g_pattern_match_simple (pattern, error->message))
    g_error ("%s: %s", pattern, error->message);
  g_assert_cmpint (get_memory () - before, <, MOST_MEMORY);
}

static void
test_files (void)
{
  guint8 head[24];
  g_autofree char *zeros = make_file ("zeros", "", 0, HUGE_SIZE);
  g_autofree char *json = make_file ("json", "{\"dlpipe-state\": 1", 18, HUGE_SIZE);
  g_autofree char *longer = NULL;
  g_autofree char *shorter = NULL;

  make_head (head, 1, 100);
  longer = make_file ("longer", head, sizeof head, HUGE_SIZE);
  make_head (head, 1, 100 * GIB);
  shorter = make_file ("shorter", head, sizeof head, HUGE_SIZE);
  assert_refused (zeros, "*: not a checkpoint: it does not begin with DLPSTATE");
  assert_refused (json, "*: not a state: it begins as JSON does, but byte 18 is 0");
  assert_refused (longer, "*: something follows its end: it holds 8589934552 bytes of payload, its "
                          "header says 100");
  assert_refused (shorter, "*: cut off: it holds 8589934552 bytes of payload, its header says "
                           "107374182400");
}

/* Where the size is right, or cannot be known, its checksum is computed, but not of memory. */
static void
test_checksum (void)
{
  guint8 head[24];
  g_autofree char *right = NULL;
  g_autofree char *newer = NULL;

  make_head (head, 1, SMALLER - 40);
  right = make_file ("right", head, sizeof head, SMALLER);
  make_head (head, 2, 100);
  newer = make_file ("newer", head, sizeof head, SMALLER);
  assert_refused (right, "*: damaged: the checksum over its first 268435440 bytes is wrong");
  assert_refused (newer, "*: damaged: the checksum over its first 268435440 bytes is wrong");
}

/* A large one that is whole is read. */
static void
test_whole (void)
{
  g_autofree char *stored = g_build_filename (data_folder, "stored", NULL);
  g_autofree char *padding = g_strnfill (70 << 20, 'x');
  g_autofree char *path = g_build_filename (dir, "whole", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpCheckpoint) small = dlp_checkpoint_new_from_folder (stored, NULL, &error);
  g_autoptr (GVariant) state = NULL;
  g_autoptr (DlpCheckpoint) large = NULL;
  g_autoptr (DlpCheckpoint) again = NULL;
  g_autoptr (DlpCheckpoint) from_json = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autofree char *json = NULL;
  const char *const warnings[] = { padding, NULL };
  GVariantDict dict;

  g_assert_no_error (error);
  state = dlp_checkpoint_to_variant (small);
  g_variant_dict_init (&dict, state);
  g_variant_dict_insert_value (&dict, "warnings", g_variant_new_strv (warnings, 1));
  large = dlp_checkpoint_new_from_variant (g_variant_dict_end (&dict), &error);
  g_assert_no_error (error);
  bytes = dlp_checkpoint_to_bytes (large);
  g_assert_true (g_file_set_contents (path, g_bytes_get_data (bytes, NULL),
                                      (gssize) g_bytes_get_size (bytes), NULL));
  again = dlp_checkpoint_new_from_file (path, &error);
  g_assert_no_error (error);
  json = dlp_checkpoint_to_json (again);
  g_assert_true (g_file_set_contents (path, json, -1, NULL));
  from_json = dlp_checkpoint_new_from_file (path, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (dlp_checkpoint_get_graph (from_json), ==, dlp_checkpoint_get_graph (small));
}

/* In a state folder it is a damaged generation: the one before is taken. */
static void
test_folder (void)
{
  g_autofree char *from = g_build_filename (data_folder, "stored", "checkpoint-2", NULL);
  g_autofree char *to = g_build_filename (dir, "checkpoint-2", NULL);
  g_autofree char *contents = NULL;
  g_autofree char *fell_back = NULL;
  g_autofree char *huge = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpCheckpoint) checkpoint = NULL;
  guint8 head[24];
  glong before;
  gsize size;

  g_assert_true (g_file_get_contents (from, &contents, &size, NULL));
  g_assert_true (g_file_set_contents (to, contents, (gssize) size, NULL));
  make_head (head, 1, 100);
  huge = make_file ("checkpoint-3", head, sizeof head, HUGE_SIZE);
  before = get_memory ();
  checkpoint = dlp_checkpoint_new_from_folder (dir, &fell_back, &error);
  g_assert_no_error (error);
  g_assert_true (g_str_has_suffix (dlp_checkpoint_get_path (checkpoint), "/checkpoint-2"));
  g_assert_nonnull (strstr (fell_back, "something follows its end"));
  g_assert_cmpint (get_memory () - before, <, MOST_MEMORY);
}

/* The list of inputs is read as far as the checkpoint speaks of it. */
static void
test_inputs (void)
{
  g_autofree char *from = g_build_filename (data_folder, "stored", "inputs", NULL);
  g_autofree char *to = NULL;
  g_autofree char *contents = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpCheckpoint) checkpoint = dlp_checkpoint_new_from_folder (dir, NULL, &error);
  g_autoptr (GPtrArray) files = NULL;
  glong before;
  gsize size;

  g_assert_no_error (error);
  g_assert_true (g_file_get_contents (from, &contents, &size, NULL));
  to = make_file ("inputs", contents, size, HUGE_SIZE);
  before = get_memory ();
  files = dlp_checkpoint_list_inputs (checkpoint, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (files->len, >, 0);
  g_assert_cmpint (get_memory () - before, <, MOST_MEMORY);
}

/* ---- what is no file ---- */

typedef struct
{
  const char *path;
  gconstpointer head;
  gsize size;
  guint64 zeros;
} Writer;

static gpointer
write_pipe (gpointer data)
{
  static const char zeros[65536];
  Writer *self = data;
  int fd = open (self->path, O_WRONLY | O_CLOEXEC);
  gssize n = write (fd, self->head, self->size);

  for (guint64 i = 0; i < self->zeros && n > 0; i += sizeof zeros)
    n = write (fd, zeros, sizeof zeros);
  close (fd);
  return NULL;
}

static void
test_pipe (void)
{
  g_autofree char *from = g_build_filename (data_folder, "stored", "checkpoint-2", NULL);
  g_autofree char *path = g_build_filename (dir, "pipe", NULL);
  g_autofree char *contents = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpCheckpoint) checkpoint = NULL;
  guint8 head[24];
  gsize size;

  g_assert_true (g_file_get_contents (from, &contents, &size, NULL));
  make_head (head, 1, 100);
  g_assert_cmpint (mkfifo (path, 0600), ==, 0);
  {
    Writer writers[] = { { path, head, sizeof head, HUGE_SIZE },
                         { path, "{", 1, HUGE_SIZE },
                         { path, "else", 4, HUGE_SIZE } };
    static const char *const patterns[] = { "*something follows its end*", "*byte 1 is 0",
                                            "*does not begin with DLPSTATE" };

    for (guint i = 0; i < G_N_ELEMENTS (writers); i++)
      {
        GThread *thread = g_thread_new ("writer", write_pipe, &writers[i]);

        assert_refused (path, patterns[i]);
        g_thread_join (thread);
      }
  }
  {
    Writer whole = { path, contents, size, 0 };
    GThread *thread = g_thread_new ("writer", write_pipe, &whole);

    checkpoint = dlp_checkpoint_new_from_file (path, &error);
    g_thread_join (thread);
  }
  g_assert_no_error (error);
  g_assert_nonnull (checkpoint);
}

static void
test_missing (void)
{
  g_autofree char *path = g_build_filename (dir, "none", NULL);
  g_autofree char *message = g_strdup_printf ("%s: cannot open: No such file or directory", path);
  g_autoptr (GError) error = NULL;

  g_assert_null (dlp_checkpoint_new_from_file (path, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
  g_assert_cmpstr (error->message, ==, message);
  g_clear_error (&error);
  g_assert_null (dlp_checkpoint_new_from_file (dir, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_IS_DIRECTORY);
}

int
main (int argc, char **argv)
{
  g_autofree char *clean = NULL;
  int code;

  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (argc, >, 1);
  data_folder = argv[1];
  /* Of a writer whose reader has seen enough. */
  signal (SIGPIPE, SIG_IGN);
  dir = g_dir_make_tmp ("dlpipe-large-XXXXXX", NULL);
  g_assert_nonnull (dir);
  g_test_add_func ("/checkpoint-large/files", test_files);
  g_test_add_func ("/checkpoint-large/checksum", test_checksum);
  g_test_add_func ("/checkpoint-large/folder", test_folder);
  g_test_add_func ("/checkpoint-large/inputs", test_inputs);
  g_test_add_func ("/checkpoint-large/pipe", test_pipe);
  g_test_add_func ("/checkpoint-large/missing", test_missing);
  /* Last: it takes memory. */
  g_test_add_func ("/checkpoint-large/whole", test_whole);
  code = g_test_run ();
  clean = g_strdup_printf ("rm -r '%s'", dir);
  g_assert_true (g_spawn_command_line_sync (clean, NULL, NULL, NULL, NULL));
  g_free (dir);
  return code;
}
