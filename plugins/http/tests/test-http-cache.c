/* SPDX-License-Identifier: MIT */

/* The cache on disk: what is in it is whole and right, or it is not there; and never too much. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "dlp-http-cache-private.h"
#include "dlp-http-settings.h"
#include "dlp-http-stream.h"
#include "http-rig.h"

#define SIZE (2 * HTTP_CACHE_BLOCK + 1000)
#define BIG G_GINT64_CONSTANT (1000000000)

static guint n_warnings; /* atomic */

static GLogWriterOutput
count_warnings (GLogLevelFlags level, const GLogField *fields, gsize n, gpointer data)
{
  if (level & G_LOG_LEVEL_WARNING)
    g_atomic_int_inc (&n_warnings);
  return level & G_LOG_LEVEL_WARNING ? G_LOG_WRITER_HANDLED :
                                       g_log_writer_default (level, fields, n, data);
}

/* ---- a server, a folder, and one who reads ---- */

typedef struct
{
  HttpRig *rig;
  char *folder;
  HttpSettings settings;
  GBytes *content;
} Fixture;

static Fixture *
fixture_new (gsize size, gint64 limit)
{
  Fixture *self = g_new0 (Fixture, 1);

  g_atomic_int_set (&n_warnings, 0);
  self->rig = http_rig_new (0, 1, 0.3);
  self->folder = g_dir_make_tmp ("dlpipe-cache-XXXXXX", NULL);
  self->content = http_rig_make_lines (size);
  http_settings_init (&self->settings);
  self->settings.first_wait = 1000;
  self->settings.attempts = 20;
  self->settings.cache = http_cache_new (self->folder, limit);
  return self;
}

/* (transfer full): names, sorted; without the lock. */
static GPtrArray *
list_folder (Fixture *self)
{
  g_autoptr (GDir) dir = g_dir_open (self->folder, 0, NULL);
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  const char *name;

  while ((name = g_dir_read_name (dir)) != NULL)
    if (strcmp (name, "lock") != 0)
      g_ptr_array_add (names, g_strdup (name));
  return names;
}

static void
fixture_free (Fixture *self)
{
  g_autoptr (GPtrArray) names = list_folder (self);

  g_ptr_array_add (names, g_strdup ("lock"));
  for (guint i = 0; i < names->len; i++)
    {
      g_autofree char *path = g_build_filename (self->folder, names->pdata[i], NULL);

      g_unlink (path);
    }
  g_assert_cmpint (g_rmdir (self->folder), ==, 0);
  http_settings_clear (&self->settings);
  g_bytes_unref (self->content);
  g_free (self->folder);
  http_rig_free (self->rig);
  g_free (self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Fixture, fixture_free)

static guint
count_entries (Fixture *self)
{
  g_autoptr (GPtrArray) names = list_folder (self);

  for (guint i = 0; i < names->len; i++)
    g_assert_true (g_str_has_suffix (names->pdata[i], HTTP_CACHE_ENTRY));
  return names->len;
}

/* What the lock's file says all take. */
static gint64
read_total (Fixture *self)
{
  g_autofree char *path = g_build_filename (self->folder, "lock", NULL);
  g_autofree char *text = NULL;
  gsize size;
  guint64 total;

  g_assert_true (g_file_get_contents (path, &text, &size, NULL));
  g_assert_cmpuint (size, ==, sizeof total);
  memcpy (&total, text, sizeof total);
  return (gint64) GUINT64_FROM_LE (total);
}

static DlpFile *
identify (Fixture *self, const char *mode, const char *name)
{
  g_autofree char *uri = http_rig_make_uri (self->rig, mode, name);
  g_autoptr (GError) error = NULL;
  DlpFile *file = dlp_http_identify (uri, &self->settings, NULL, &error);

  g_assert_no_error (error);
  return file;
}

static DlpFile *
add_file (Fixture *self, const char *name)
{
  http_rig_add_file (self->rig, name, self->content);
  return identify (self, "ok", name);
}

/* Reads all from @offset on, by reads of @step. */
static void
check_read (Fixture *self, DlpFile *file, gsize offset, gsize step)
{
  gsize size;
  const guint8 *content = g_bytes_get_data (self->content, &size);
  g_autofree guint8 *buffer = g_malloc (step);
  g_autoptr (GError) error = NULL;
  g_autoptr (GInputStream) stream =
      dlp_http_stream_open (file, &self->settings, (gint64) offset, NULL, &error);
  gssize n;

  g_assert_no_error (error);
  while ((n = g_input_stream_read (stream, buffer, step, NULL, &error)) > 0)
    {
      g_assert_cmpuint (offset + (gsize) n, <=, size);
      g_assert_cmpint (memcmp (buffer, content + offset, (gsize) n), ==, 0);
      offset += (gsize) n;
    }
  g_assert_no_error (error);
  g_assert_cmpuint (offset, ==, size);
}

/* How many bytes of requests that takes: none, if it comes from the cache. */
static guint
count_requests (Fixture *self, DlpFile *file, gsize offset)
{
  guint before = http_rig_count (self->rig, "requests");

  check_read (self, file, offset, 30000);
  return http_rig_count (self->rig, "requests") - before;
}

/* ---- tests ---- */

static void
test_whole (void)
{
  static const gsize steps[] = { 1000, 300000, 1 << 20 };
  g_autoptr (Fixture) fixture = fixture_new (SIZE, BIG);
  g_autoptr (DlpFile) file = add_file (fixture, "a");
  gsize size = g_bytes_get_size (fixture->content);
  const gsize offsets[] = {
    0, 1, HTTP_CACHE_BLOCK - 1, HTTP_CACHE_BLOCK, HTTP_CACHE_BLOCK + 1, size - 1, size
  };
  guint requests;

  g_assert_cmpuint (count_requests (fixture, file, 0), ==, 1);
  g_assert_cmpuint (count_entries (fixture), ==, 1);
  g_assert_cmpint (read_total (fixture), ==, http_cache_count_bytes ((gint64) size));
  requests = http_rig_count (fixture->rig, "requests");
  for (guint i = 0; i < G_N_ELEMENTS (offsets); i++)
    for (guint k = 0; k < G_N_ELEMENTS (steps); k++)
      check_read (fixture, file, offsets[i], steps[k]);
  g_assert_cmpuint (http_rig_count (fixture->rig, "requests"), ==, requests);
  g_assert_cmpuint (n_warnings, ==, 0);
}

/* Blocks that are full, or not begun, at the end of the file. */
static void
test_sizes (void)
{
  static const gsize sizes[] = { 1, HTTP_CACHE_BLOCK - 1, HTTP_CACHE_BLOCK, HTTP_CACHE_BLOCK + 1,
                                 2 * HTTP_CACHE_BLOCK };
  g_autoptr (Fixture) fixture = fixture_new (SIZE, BIG);
  g_autoptr (GBytes) all = g_bytes_ref (fixture->content);

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autofree char *name = g_strdup_printf ("of-%zu", sizes[i]);
      g_autoptr (DlpFile) file = NULL;

      g_bytes_unref (fixture->content);
      fixture->content = g_bytes_new_from_bytes (all, 0, sizes[i]);
      file = add_file (fixture, name);
      g_assert_cmpuint (count_requests (fixture, file, 0), ==, 1);
      g_assert_cmpuint (count_requests (fixture, file, 0), ==, 0);
    }
  g_assert_cmpuint (count_entries (fixture), ==, G_N_ELEMENTS (sizes));
}

/* Broken connections are none of its business: what is kept is what was given out. */
static void
test_faults (void)
{
  static const char *const modes[] = { "norange", "range-early", "http500", "chunked", "redirect" };
  g_autoptr (Fixture) fixture = fixture_new (SIZE, BIG);

  http_rig_add_file (fixture->rig, "a", fixture->content);
  for (guint i = 0; i < G_N_ELEMENTS (modes); i++)
    {
      g_autoptr (DlpFile) file = identify (fixture, modes[i], "a");

      check_read (fixture, file, 0, 5000);
      g_assert_cmpuint (count_requests (fixture, file, 0), ==, 0);
    }
}

/* Read in part, from the middle, or of what cannot be told apart: it is not kept. */
static void
test_not_kept (void)
{
  g_autoptr (Fixture) fixture = fixture_new (SIZE, BIG);
  g_autoptr (DlpFile) file = add_file (fixture, "a");
  g_autoptr (DlpFile) weak = identify (fixture, "weak-etag", "a");
  g_autoptr (GInputStream) stream = dlp_http_stream_open (file, &fixture->settings, 0, NULL, NULL);
  guint8 buffer[1000];

  g_assert_cmpint (g_input_stream_read (stream, buffer, sizeof buffer, NULL, NULL), >, 0);
  g_clear_object (&stream);
  g_assert_cmpuint (count_entries (fixture), ==, 0);
  g_assert_cmpint (read_total (fixture), ==, 0);
  check_read (fixture, file, 1, 1000);
  check_read (fixture, weak, 0, 1000);
  g_assert_cmpuint (count_entries (fixture), ==, 0);
  /* Nor what would be more than all there may be. */
  http_cache_unref (fixture->settings.cache);
  fixture->settings.cache = http_cache_new (fixture->folder, SIZE);
  check_read (fixture, file, 0, 1000);
  g_assert_cmpuint (count_entries (fixture), ==, 0);
}

static char *
get_only_entry (Fixture *self)
{
  g_autoptr (GPtrArray) names = list_folder (self);

  g_assert_cmpuint (names->len, ==, 1);
  return g_build_filename (self->folder, names->pdata[0], NULL);
}

static void
flip (const char *path, goffset place)
{
  int fd = open (path, O_RDWR | O_CLOEXEC);
  guint8 byte;

  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (pread (fd, &byte, 1, place), ==, 1);
  byte ^= 0x10;
  g_assert_cmpint (pwrite (fd, &byte, 1, place), ==, 1);
  close (fd);
}

/* Wherever it is damaged, what comes out is right; it is fetched again, and good then. */
static void
test_damaged (void)
{
  g_autoptr (Fixture) fixture = fixture_new (SIZE, BIG);
  g_autoptr (DlpFile) file = add_file (fixture, "a");
  gint64 size = (gint64) g_bytes_get_size (fixture->content);
  gint64 whole = http_cache_count_bytes (size);
  const gint64 places[] = { 0,         HTTP_CACHE_BLOCK + 5, size - 1,  size,
                            size + 16, whole - 24,           whole - 9, whole - 1 };

  for (guint i = 0; i < G_N_ELEMENTS (places); i++)
    {
      g_autofree char *path = NULL;

      check_read (fixture, file, 0, 1000);
      path = get_only_entry (fixture);
      flip (path, places[i]);
      g_assert_cmpuint (count_requests (fixture, file, 0), ==, 1);
      check_read (fixture, file, 0, 1000);
      g_assert_cmpuint (count_requests (fixture, file, 0), ==, 0);
      g_assert_cmpint (read_total (fixture), ==, whole);
    }
}

/* As a power cut, or who cleans up, may leave it. */
static void
test_cut (void)
{
  g_autoptr (Fixture) fixture = fixture_new (SIZE, BIG);
  g_autoptr (DlpFile) file = add_file (fixture, "a");
  gint64 whole = http_cache_count_bytes ((gint64) g_bytes_get_size (fixture->content));
  const gint64 sizes[] = { 0, 100, whole - 1, whole + 1 };

  for (guint i = 0; i <= G_N_ELEMENTS (sizes); i++)
    {
      g_autofree char *path = NULL;

      check_read (fixture, file, 0, 1000);
      path = get_only_entry (fixture);
      if (i < G_N_ELEMENTS (sizes))
        g_assert_cmpint (truncate (path, sizes[i]), ==, 0);
      else
        {
          /* The size is right, and nothing is in it. */
          g_assert_cmpint (truncate (path, 0), ==, 0);
          g_assert_cmpint (truncate (path, whole), ==, 0);
        }
      g_assert_cmpuint (count_requests (fixture, file, 0), ==, 1);
      g_assert_cmpuint (count_requests (fixture, file, 0), ==, 0);
    }
}

/* What was used last stays. */
static void
test_limit (void)
{
  gint64 one = http_cache_count_bytes (100000);
  g_autoptr (Fixture) fixture = fixture_new (100000, 3 * one + one / 2);
  static const char *const names[] = { "a", "b", "c", "a", "d" };
  g_autoptr (GHashTable) files =
      g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_object_unref);
  static const struct
  {
    const char *name;
    guint requests;
  } expected[] = { { "a", 0 }, { "c", 0 }, { "d", 0 }, { "b", 1 } };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      DlpFile *file = g_hash_table_lookup (files, names[i]);

      if (file == NULL)
        g_hash_table_insert (files, (gpointer) names[i], file = add_file (fixture, names[i]));
      check_read (fixture, file, 0, 7000);
      /* Times of files are those of the clock's ticks. */
      g_usleep (20000);
    }
  g_assert_cmpuint (count_entries (fixture), ==, 3);
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    g_assert_cmpuint (count_requests (fixture, g_hash_table_lookup (files, expected[i].name), 0),
                      ==, expected[i].requests);
  g_assert_cmpuint (count_entries (fixture), ==, 3);
}

/* A folder with what others left: of a process that was killed, and what is none of the cache's. */
static void
test_left_behind (void)
{
  g_autoptr (Fixture) fixture = fixture_new (100000, BIG);
  g_autoptr (DlpFile) file = add_file (fixture, "a");
  g_autofree char *partial =
      g_build_filename (fixture->folder, "x.abcdef" HTTP_CACHE_PARTIAL, NULL);
  g_autofree char *alive = g_build_filename (fixture->folder, "y.abcdef" HTTP_CACHE_PARTIAL, NULL);
  g_autofree char *other = g_build_filename (fixture->folder, "notes.txt", NULL);
  g_autofree char *lock = g_build_filename (fixture->folder, "lock", NULL);
  int fd;

  g_assert_true (g_file_set_contents (partial, "half", 4, NULL));
  g_assert_true (g_file_set_contents (alive, "half", 4, NULL));
  g_assert_true (g_file_set_contents (other, "mine", 4, NULL));
  fd = open (alive, O_RDONLY | O_CLOEXEC);
  g_assert_cmpint (flock (fd, LOCK_EX), ==, 0);
  check_read (fixture, file, 0, 1000);
  g_assert_false (g_file_test (partial, G_FILE_TEST_EXISTS));
  g_assert_true (g_file_test (alive, G_FILE_TEST_EXISTS));
  g_assert_true (g_file_test (other, G_FILE_TEST_EXISTS));
  g_assert_cmpint (read_total (fixture), ==,
                   4 + http_cache_count_bytes ((gint64) g_bytes_get_size (fixture->content)));
  close (fd);

  /* A sum that nobody can believe is counted anew. */
  g_assert_true (g_file_set_contents (lock, "\xff\xff\xff\xff\xff\xff\xff\xff", 8, NULL));
  g_clear_object (&file);
  file = add_file (fixture, "b");
  check_read (fixture, file, 0, 1000);
  g_assert_false (g_file_test (alive, G_FILE_TEST_EXISTS));
  g_assert_true (g_file_test (other, G_FILE_TEST_EXISTS));
  g_assert_cmpint (read_total (fixture), ==,
                   2 * http_cache_count_bytes ((gint64) g_bytes_get_size (fixture->content)));
}

/* No room, no folder, no right to write: one warning, and the file all the same. */
static void
test_no_room (void)
{
  g_autoptr (Fixture) fixture = fixture_new (SIZE, BIG);
  g_autoptr (DlpFile) file = add_file (fixture, "a");
  struct rlimit before, small;

  signal (SIGXFSZ, SIG_IGN);
  g_assert_cmpint (getrlimit (RLIMIT_FSIZE, &before), ==, 0);
  small = before;
  small.rlim_cur = 100000;
  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &small), ==, 0);
  check_read (fixture, file, 0, 1000);
  check_read (fixture, file, 0, 1000);
  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &before), ==, 0);
  g_assert_cmpuint (n_warnings, ==, 1);
  g_assert_cmpuint (count_entries (fixture), ==, 0);
  g_assert_cmpint (read_total (fixture), ==, 0);

  http_cache_unref (fixture->settings.cache);
  fixture->settings.cache = http_cache_new ("/dev/null/cache", BIG);
  check_read (fixture, file, 0, 1000);
  check_read (fixture, file, 0, 1000);
  g_assert_cmpuint (n_warnings, ==, 2);
}

/* ---- several at once: each has a cache of its own, as processes do ---- */

#define N_FILES 12

typedef struct
{
  Fixture *fixture;
  DlpFile *const *files;
  gint64 limit;
  guint seed;
} Reader;

static gpointer
read_some (gpointer data)
{
  Reader *self = data;
  Fixture own = *self->fixture;
  GRand *rand = g_rand_new_with_seed (self->seed);

  own.settings.cache = http_cache_new (own.folder, self->limit);
  for (guint i = 0; i < 60; i++)
    check_read (&own, self->files[g_rand_int_range (rand, 0, N_FILES)], 0,
                (gsize) g_rand_int_range (rand, 500, 50000));
  http_cache_unref (own.settings.cache);
  g_rand_free (rand);
  return NULL;
}

/* Of all there is, at an instant at which nobody changes it. */
static gint64
measure (Fixture *self)
{
  g_autofree char *lock = g_build_filename (self->folder, "lock", NULL);
  int fd = open (lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  g_autoptr (GPtrArray) names = NULL;
  gint64 total = 0;

  g_assert_cmpint (flock (fd, LOCK_EX), ==, 0);
  names = list_folder (self);
  for (guint i = 0; i < names->len; i++)
    {
      g_autofree char *path = g_build_filename (self->folder, names->pdata[i], NULL);
      struct stat st;

      total += stat (path, &st) == 0 ? st.st_size : 0;
    }
  close (fd);
  return total;
}

static void
test_shared (void)
{
  gint64 limit = 4 * http_cache_count_bytes (100100);
  g_autoptr (Fixture) fixture = fixture_new (100000, limit);
  DlpFile *files[N_FILES];
  Reader readers[6];
  GThread *threads[G_N_ELEMENTS (readers)];
  gint64 most = 0;

  for (guint i = 0; i < N_FILES; i++)
    {
      g_autofree char *name = g_strdup_printf ("file-%u", i);

      files[i] = add_file (fixture, name);
    }
  for (guint i = 0; i < G_N_ELEMENTS (readers); i++)
    {
      readers[i] = (Reader){ fixture, files, limit, i };
      threads[i] = g_thread_new ("read", read_some, &readers[i]);
    }
  for (guint i = 0; i < 300; i++)
    {
      gint64 total = measure (fixture);

      most = MAX (most, total);
      g_assert_cmpint (total, <=, limit);
      g_usleep (2000);
    }
  for (guint i = 0; i < G_N_ELEMENTS (readers); i++)
    g_thread_join (threads[i]);
  g_assert_cmpint (most, >, limit / 2);
  g_assert_cmpuint (count_entries (fixture), <=, 4);
  g_assert_cmpint (read_total (fixture), ==, measure (fixture));
  for (guint i = 0; i < N_FILES; i++)
    g_object_unref (files[i]);
}

int
main (int argc, char **argv)
{
  g_setenv ("NETRC", "/dev/null", TRUE);
  g_setenv ("GIO_USE_PROXY_RESOLVER", "dummy", TRUE);
  g_test_init (&argc, &argv, NULL);
  g_log_set_always_fatal ((GLogLevelFlags) (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL));
  g_log_set_writer_func (count_warnings, NULL, NULL);
  g_test_add_func ("/http-cache/whole", test_whole);
  g_test_add_func ("/http-cache/sizes", test_sizes);
  g_test_add_func ("/http-cache/faults", test_faults);
  g_test_add_func ("/http-cache/not-kept", test_not_kept);
  g_test_add_func ("/http-cache/damaged", test_damaged);
  g_test_add_func ("/http-cache/cut", test_cut);
  g_test_add_func ("/http-cache/limit", test_limit);
  g_test_add_func ("/http-cache/left-behind", test_left_behind);
  g_test_add_func ("/http-cache/no-room", test_no_room);
  g_test_add_func ("/http-cache/shared", test_shared);
  return g_test_run ();
}
