/* SPDX-License-Identifier: MIT */

#include <fcntl.h>
#include <glib/gstdio.h>
#include <locale.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-file.h>

#include "dlp-glob-private.h"

/* Each test has a folder of its own, and is in it. */
typedef struct
{
  char *folder;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->folder = g_dir_make_tmp ("dlpipe-file-XXXXXX", NULL);
  g_assert_nonnull (fixture->folder);
  g_assert_cmpint (chdir (fixture->folder), ==, 0);
}

static void
remove_tree (const char *folder)
{
  g_autoptr (GPtrArray) folders = g_ptr_array_new_with_free_func (g_free);

  g_ptr_array_add (folders, g_strdup (folder));
  for (guint i = 0; i < folders->len; i++)
    {
      g_autoptr (GDir) dir = g_dir_open (folders->pdata[i], 0, NULL);
      const char *name;

      while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
        {
          g_autofree char *path = g_build_filename (folders->pdata[i], name, NULL);

          if (unlink (path) != 0)
            g_ptr_array_add (folders, g_steal_pointer (&path));
        }
    }
  for (guint i = folders->len; i > 0; i--)
    g_assert_cmpint (rmdir (folders->pdata[i - 1]), ==, 0);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  g_assert_cmpint (chdir ("/"), ==, 0);
  remove_tree (fixture->folder);
  g_free (fixture->folder);
}

/* Makes a file that holds its own name, and the folders above it. */
static void
make_file (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path);

  g_assert_cmpint (g_mkdir_with_parents (folder, 0755), ==, 0);
  g_assert_true (g_file_set_contents (path, path, -1, NULL));
}

static void
make_link (const char *target, const char *path)
{
  g_assert_cmpint (symlink (target, path), ==, 0);
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* The URIs that a pattern lists, sorted by bytes and joined by '|'; or the error. */
static char *
list_joined (const char *pattern, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autoptr (GPtrArray) files = NULL;
  DlpScheme *scheme = dlp_scheme_for_uri (pattern, error);

  if (scheme == NULL)
    return NULL;
  files = dlp_scheme_list (scheme, pattern, NULL, error);
  if (files == NULL)
    return NULL;

  for (guint i = 0; i < files->len; i++)
    g_ptr_array_add (names, (gpointer) dlp_file_get_uri (files->pdata[i]));
  g_ptr_array_sort (names, compare_names);
  g_ptr_array_add (names, NULL);

  return g_strjoinv ("|", (char **) names->pdata);
}

static void
assert_list (const char *pattern, const char *expected)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *joined = list_joined (pattern, &error);

  g_assert_no_error (error);
  g_assert_cmpstr (joined, ==, expected);
}

static void
assert_in (const char *text, const char *part)
{
  if (strstr (text, part) == NULL)
    g_error ("\"%s\" is not in \"%s\"", part, text);
}

static void
assert_no_list (const char *pattern, const char *message)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *joined = list_joined (pattern, &error);

  g_assert_null (joined);
  g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT);
  assert_in (error->message, message);
}

static void
assert_display (const char *uri, const char *expected)
{
  g_autofree char *display = dlp_uri_escape_for_display (uri);

  g_assert_cmpstr (display, ==, expected);
}

static void
test_display (void)
{
  assert_display ("", "");
  assert_display ("a b'\"\\%20.jsonl", "a b'\"\\%20.jsonl");
  assert_display ("a\nb\t\x1b[31m\x7f", "a\\x0ab\\x09\\x1b[31m\\x7f");
  assert_display ("caf\xc3\xa9 \xe6\x97\xa5", "caf\xc3\xa9 \xe6\x97\xa5");
  assert_display ("caf\xe9.jsonl", "caf\\xe9.jsonl");
  assert_display ("cut\xe6\x97", "cut\\xe6\\x97");
  assert_display ("\xc2\x9b", "\\xc2\\x9b");
  assert_display ("\xe2\x80\xa8", "\\xe2\\x80\\xa8");
}

static void
test_glob_match (void)
{
  static const struct
  {
    const char *pattern, *name;
    gboolean matches;
  } cases[] = {
    { "*", "a", TRUE },
    { "*", "", TRUE },
    { "*", ".a", FALSE },
    { ".*", ".a", TRUE },
    { "?a", ".a", FALSE },
    { "[.]a", ".a", FALSE },
    { "a*b", "ab", TRUE },
    { "a*b", "axxb", TRUE },
    { "a*b", "axxbc", FALSE },
    { "a**b", "axb", TRUE },
    { "?", "a", TRUE },
    { "?", "", FALSE },
    { "?", "\xe9", TRUE },
    { "?", "\xc3\xa9", FALSE },
    { "??", "\xc3\xa9", TRUE },
    { "[abc]", "b", TRUE },
    { "[abc]", "d", FALSE },
    { "[a-c]x", "bx", TRUE },
    { "[!a-c]", "b", FALSE },
    { "[^a-c]", "d", TRUE },
    { "[]a]", "]", TRUE },
    { "[!]a]", "]", FALSE },
    { "[a-]", "-", TRUE },
    { "[-a]", "-", TRUE },
    { "[a", "[a", TRUE },
    { "[a", "a", FALSE },
    { "[*]", "*", TRUE },
    { "[*]", "x", FALSE },
    { "[]", "[]", TRUE },
    { "\\*", "\\x", TRUE },
    { "[\xe0-\xff]", "\xe9", TRUE },
    { "A", "a", FALSE },
    { "x*.jsonl", "x.jsonl", TRUE },
    { "*.j*l", "a.json.jsonl", TRUE },
    { "*a", "b\na", TRUE },
    { "[z-a]", "m", FALSE },
    { "", "", TRUE },
    { "", "a", FALSE },
    { "a", "", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    if (dlp_glob_match (cases[i].pattern, cases[i].name) != cases[i].matches)
      g_error ("\"%s\" on \"%s\" is not %d", cases[i].pattern, cases[i].name, cases[i].matches);
}

static void
test_glob_match_is_not_exponential (void)
{
  g_autofree char *name = g_strnfill (20000, 'a');
  gint64 start = g_get_monotonic_time ();

  g_assert_false (dlp_glob_match ("*a*a*a*a*a*a*a*a*a*a*a*a*b", name));
  g_assert_cmpint (g_get_monotonic_time () - start, <, 5 * G_USEC_PER_SEC);
}

static void
make_tree (void)
{
  static const char *const paths[] = {
    "b.jsonl",          "a.jsonl",       "B.jsonl",          "c.txt",
    ".hidden.jsonl",    "sub/x.jsonl",   "sub/deep/y.jsonl", "sub/deep/z.txt",
    "sub/.git/w.jsonl", "other/x.jsonl", "data[1].jsonl",    "data1.jsonl",
  };

  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    make_file (paths[i]);
}

static void
test_list (Fixture *fixture, gconstpointer data)
{
  make_tree ();

  assert_list ("a.jsonl", "a.jsonl");
  assert_list ("./a.jsonl", "./a.jsonl");
  assert_list ("?.jsonl", "B.jsonl|a.jsonl|b.jsonl");
  assert_list ("[a-b].jsonl", "a.jsonl|b.jsonl");
  assert_list ("*.jsonl", "B.jsonl|a.jsonl|b.jsonl|data1.jsonl|data[1].jsonl");
  assert_list (".*.jsonl", ".hidden.jsonl");
  assert_list ("*/x.jsonl", "other/x.jsonl|sub/x.jsonl");
  assert_list ("sub//*.jsonl", "sub/x.jsonl");
  assert_list ("./[cd]*", "./c.txt|./data1.jsonl|./data[1].jsonl");
  assert_list ("sub/../c.*", "sub/../c.txt");
}

static void
test_list_recursive (Fixture *fixture, gconstpointer data)
{
  make_tree ();

  assert_list ("sub/**", "sub/deep/y.jsonl|sub/deep/z.txt|sub/x.jsonl");
  assert_list ("sub/**/*.jsonl", "sub/deep/y.jsonl|sub/x.jsonl");
  assert_list ("**/x.jsonl", "other/x.jsonl|sub/x.jsonl");
  assert_list ("**/**/deep/**/*", "sub/deep/y.jsonl|sub/deep/z.txt");
  assert_list ("**/.git/*", "sub/.git/w.jsonl");
  assert_list ("**/*.txt", "c.txt|sub/deep/z.txt");
}

/* A name that exists is that file; and one that does not may still be a pattern for others. */
static void
test_list_literal_first (Fixture *fixture, gconstpointer data)
{
  make_tree ();
  make_file ("star*.jsonl");
  make_file ("star1.jsonl");
  make_file ("odd[dir]/q.jsonl");

  assert_list ("data[1].jsonl", "data[1].jsonl");
  assert_list ("data[[]1].jsonl", "data[1].jsonl");
  assert_list ("data[12].jsonl", "data1.jsonl");
  assert_list ("star*.jsonl", "star*.jsonl");
  assert_list ("star?.jsonl", "star*.jsonl|star1.jsonl");
  assert_list ("odd[dir]", "odd[dir]/q.jsonl");
  assert_list ("odd[dir]/", "odd[dir]/q.jsonl");
}

static void
test_list_folder (Fixture *fixture, gconstpointer data)
{
  make_tree ();
  g_assert_cmpint (mkdir ("empty", 0755), ==, 0);
  g_assert_cmpint (mkdir ("empty/sub", 0755), ==, 0);
  make_file ("empty/.hidden");

  assert_list ("sub", "sub/x.jsonl");
  assert_list ("sub/", "sub/x.jsonl");
  assert_list (".", "./B.jsonl|./a.jsonl|./b.jsonl|./c.txt|./data1.jsonl|./data[1].jsonl");
  assert_list ("s*/", "sub/x.jsonl");
  assert_no_list ("empty", "empty: the folder holds no files");
  assert_no_list ("empt*", "empt*: no file matches");
}

static void
test_list_nothing (Fixture *fixture, gconstpointer data)
{
  make_tree ();

  assert_no_list ("sub/q*.jsonl", "sub/q*.jsonl: no file matches; the nearest folder that exists "
                                  "is \"sub\"");
  assert_no_list ("sub/no/where/*.jsonl", "the nearest folder that exists is \"sub\"");
  assert_no_list ("missing.jsonl", "missing.jsonl: no such file; the nearest folder that exists is "
                                   "\".\"");
  assert_no_list ("/nosuchfolder\n/*", "/nosuchfolder\\x0a/*: no file matches; the nearest folder "
                                       "that exists is \"/\"");
  assert_no_list ("a.jsonl/*", "no file matches");
}

/* Names are bytes: spaces, quotes, newlines, what is not UTF-8; and their order is that of the
 * bytes. */
static void
test_list_names (Fixture *fixture, gconstpointer data)
{
  make_file ("sp ace.jsonl");
  make_file ("quo'te\".jsonl");
  make_file ("new\nline.jsonl");
  make_file ("latin\xe9.jsonl");
  make_file ("%20.jsonl");
  make_file ("#?.jsonl");
  make_file ("-");

  assert_list ("new\nline.jsonl", "new\nline.jsonl");
  assert_list ("latin\xe9.jsonl", "latin\xe9.jsonl");
  assert_list ("latin?.jsonl", "latin\xe9.jsonl");
  assert_list ("%20.jsonl", "%20.jsonl");
  assert_list ("*", "#?.jsonl|%20.jsonl|./-|latin\xe9.jsonl|new\nline.jsonl|quo'te\".jsonl|sp "
                    "ace.jsonl");
}

static void
test_list_loops (Fixture *fixture, gconstpointer data)
{
  make_file ("d/a/one.jsonl");
  make_link ("..", "d/a/up");
  make_link (".", "d/self");
  make_link ("a", "d/0again");
  make_link ("a/one.jsonl", "d/file-link.jsonl");

  assert_list ("d/**/*.jsonl", "d/a/one.jsonl|d/file-link.jsonl");
  assert_list ("**/one.jsonl", "d/a/one.jsonl");
  /* Asked for by name, a link is followed. */
  assert_list ("d/0again/*", "d/0again/one.jsonl");
  assert_list ("d/*/one.jsonl", "d/0again/one.jsonl|d/a/one.jsonl");
}

/* What lies outside of the tree is found by the link, once. */
static void
test_list_linked_folder (Fixture *fixture, gconstpointer data)
{
  make_file ("far/one.jsonl");
  g_assert_cmpint (mkdir ("d", 0755), ==, 0);
  make_link ("../far", "d/y");
  make_link ("../far", "d/x");

  assert_list ("d/**", "d/x/one.jsonl");
}

static void
test_list_dangling (Fixture *fixture, gconstpointer data)
{
  make_file ("d/a.jsonl");
  make_link ("nowhere", "d/z.jsonl");
  make_link ("loop.txt", "d/loop.txt");

  assert_list ("d/a*", "d/a.jsonl");
  assert_no_list ("d/*.jsonl", "d/z.jsonl: the symbolic link leads nowhere");
  assert_no_list ("d", "d/loop.txt: the symbolic link leads nowhere");
  assert_no_list ("d/z.jsonl", "d/z.jsonl: the symbolic link leads nowhere (to \"nowhere\"");
  assert_no_list ("d/**", ": the symbolic link leads nowhere");
}

static void
test_list_uri (Fixture *fixture, gconstpointer data)
{
  g_autofree char *real = g_get_current_dir ();
  g_autofree char *uri = g_strconcat ("file://", real, "/sp%20%C3%A9.jsonl", NULL);
  g_autofree char *local = g_strconcat ("FILE://localhost", real, "/*", NULL);
  g_autofree char *path = g_strconcat (real, "/sp \xc3\xa9.jsonl", NULL);

  make_file ("sp \xc3\xa9.jsonl");
  assert_list (uri, path);
  assert_list (local, path);
  assert_list ("-", "-");
  assert_no_list ("file://elsewhere/x", "a file on another host (elsewhere)");
  assert_no_list ("file:///a%zz", "not a file URI");
}

static void
test_list_cancelled (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;

  make_tree ();
  g_cancellable_cancel (cancellable);
  g_assert_null (dlp_scheme_list (dlp_scheme_for_uri ("*", NULL), "*", cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static DlpFile *
identify (const char *uri)
{
  g_autoptr (GError) error = NULL;
  DlpFile *file = dlp_scheme_identify (dlp_scheme_for_uri (uri, NULL), uri, NULL, &error);

  g_assert_no_error (error);
  return file;
}

static char *
read_all (GInputStream *stream)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  char buffer[5];
  gssize n;

  while ((n = g_input_stream_read (stream, buffer, sizeof buffer, NULL, &error)) > 0)
    g_string_append_len (text, buffer, n);
  g_assert_no_error (error);

  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
assert_opens (DlpFile *file, gint64 offset, const char *expected)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GInputStream) stream = dlp_file_open (file, offset, NULL, &error);
  g_autofree char *text = NULL;

  g_assert_no_error (error);
  text = read_all (stream);
  g_assert_cmpstr (text, ==, expected);
}

static void
assert_open_fails (DlpFile *file, gint64 offset, GQuark domain, int code, const char *message)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (dlp_file_open (file, offset, NULL, &error));
  g_assert_error (error, domain, code);
  assert_in (error->message, message);
}

static void
test_open (Fixture *fixture, gconstpointer data)
{
  g_autoptr (DlpFile) file = NULL, unknown = dlp_file_new ("some.jsonl", -1, NULL);

  make_file ("some.jsonl");
  file = identify ("some.jsonl");
  g_assert_cmpint (dlp_file_get_size (file), ==, 10);
  assert_opens (file, 0, "some.jsonl");
  assert_opens (file, 4, ".jsonl");
  assert_opens (file, 10, "");
  assert_opens (unknown, 0, "some.jsonl");
  assert_open_fails (
      unknown, 11, DLP_DATA_ERROR, DLP_DATA_ERROR_CHANGED,
      "some.jsonl: the file has changed: it is 10 bytes, and was read up to byte 11");
}

static void
test_identity (Fixture *fixture, gconstpointer data)
{
  struct timespec times[2] = { { 1700000000, 0 }, { 1700000001, 20 } };
  g_autoptr (DlpFile) file = NULL;

  make_file ("some.jsonl");
  g_assert_cmpint (utimensat (AT_FDCWD, "some.jsonl", times, 0), ==, 0);
  file = identify ("some.jsonl");
  g_assert_cmpstr (dlp_file_get_identity (file), ==, "mtime=1700000001.000000020");
  assert_opens (file, 0, "some.jsonl");

  times[1].tv_nsec = 21;
  g_assert_cmpint (utimensat (AT_FDCWD, "some.jsonl", times, 0), ==, 0);
  assert_open_fails (file, 0, DLP_DATA_ERROR, DLP_DATA_ERROR_CHANGED,
                     "some.jsonl: the file has changed: it was mtime=1700000001.000000020, now it "
                     "is mtime=1700000001.000000021");

  g_assert_true (g_file_set_contents ("some.jsonl", "longer than it was", -1, NULL));
  assert_open_fails (file, 0, DLP_DATA_ERROR, DLP_DATA_ERROR_CHANGED,
                     "it was 10 bytes, now it is 18; it was mtime=");
}

static void
test_open_fails (Fixture *fixture, gconstpointer data)
{
  g_autoptr (DlpFile) missing = dlp_file_new ("no\nfile", -1, NULL);
  g_autoptr (DlpFile) folder = dlp_file_new ("folder", -1, NULL);
  g_autoptr (DlpFile) below = dlp_file_new ("file/below", -1, NULL);
  g_autoptr (DlpFile) link = dlp_file_new ("link", -1, NULL);

  make_file ("file");
  make_link ("gone", "link");
  g_assert_cmpint (mkdir ("folder", 0755), ==, 0);

  assert_open_fails (missing, 0, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
                     "no\\x0afile: no such file");
  assert_open_fails (below, 0, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT, "file/below: no such file");
  assert_open_fails (link, 0, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT,
                     "link: the symbolic link leads nowhere (to \"gone\"");
  assert_open_fails (folder, 0, G_IO_ERROR, G_IO_ERROR_IS_DIRECTORY,
                     "folder: a folder, where a file was expected");
}

static gpointer
cancel_later (gpointer data)
{
  g_usleep (100 * 1000);
  g_cancellable_cancel (data);
  return NULL;
}

/* Nobody writes: the open waits, and ends when it is cancelled. */
static void
test_fifo_without_writer (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (DlpFile) file = NULL;
  g_autoptr (GError) error = NULL;
  gint64 start = g_get_monotonic_time ();
  GThread *thread;

  g_assert_cmpint (mkfifo ("fifo.jsonl", 0644), ==, 0);
  assert_list ("*.jsonl", "fifo.jsonl");
  file = identify ("fifo.jsonl");
  g_assert_cmpint (dlp_file_get_size (file), ==, -1);
  g_assert_null (dlp_file_get_identity (file));

  thread = g_thread_new ("cancel", cancel_later, cancellable);
  g_assert_null (dlp_file_open (file, 0, cancellable, &error));
  g_thread_join (thread);

  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_cmpint (g_get_monotonic_time () - start, >=, 90 * 1000);
}

/* A writer who comes late, writes in pieces and makes long pauses. */
static gpointer
write_later (gpointer data)
{
  int fd;

  g_usleep (50 * 1000);
  fd = open (data, O_WRONLY | O_CLOEXEC);
  g_assert_cmpint (fd, >=, 0);
  for (const char *p = "in pieces"; *p != '\0'; p++)
    {
      g_assert_cmpint (write (fd, p, 1), ==, 1);
      g_usleep (5 * 1000);
    }
  close (fd);

  return NULL;
}

static void
test_fifo_with_writer (Fixture *fixture, gconstpointer data)
{
  g_autoptr (DlpFile) file = dlp_file_new ("fifo", -1, NULL);
  GThread *thread;

  g_assert_cmpint (mkfifo ("fifo", 0644), ==, 0);

  thread = g_thread_new ("write", write_later, (gpointer) "fifo");
  assert_opens (file, 0, "in pieces");
  g_thread_join (thread);

  assert_open_fails (file, 5, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
                     "fifo: a pipe cannot be read again from byte 5");
}

/* Between the open and the first byte, and in the middle, a read can be ended too. */
static void
test_fifo_read_is_cancelled (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (DlpFile) file = dlp_file_new ("fifo", -1, NULL);
  g_autoptr (GInputStream) stream = NULL;
  g_autoptr (GError) error = NULL;
  GThread *thread;
  char buffer[10];
  int fd;

  g_assert_cmpint (mkfifo ("fifo", 0644), ==, 0);
  fd = open ("fifo", O_RDWR | O_CLOEXEC);
  g_assert_cmpint (write (fd, "x", 1), ==, 1);

  stream = dlp_file_open (file, 0, cancellable, &error);
  g_assert_no_error (error);
  g_assert_cmpint (g_input_stream_read (stream, buffer, 10, cancellable, &error), ==, 1);

  thread = g_thread_new ("cancel", cancel_later, cancellable);
  g_assert_cmpint (g_input_stream_read (stream, buffer, 10, cancellable, &error), ==, -1);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_thread_join (thread);
  close (fd);
}

static int writer_was_let_in; /* atomic */

static gpointer
wait_for_reader (gpointer data)
{
  int fd = open (data, O_WRONLY | O_CLOEXEC);

  g_assert_cmpint (fd, >=, 0);
  g_atomic_int_set (&writer_was_let_in, 1);
  g_assert_cmpint (write (fd, "still here", 10), ==, 10);
  close (fd);

  return NULL;
}

/* A pipe is not opened for it: that would let its writer in, and then kill it. */
static void
test_prefetch (Fixture *fixture, gconstpointer data)
{
  g_autoptr (DlpFile) fifo = dlp_file_new ("fifo", -1, NULL);
  g_autoptr (DlpFile) missing = dlp_file_new ("missing", -1, NULL);
  g_autoptr (DlpFile) file = dlp_file_new ("file", -1, NULL);
  DlpScheme *scheme = dlp_scheme_for_uri ("file", NULL);
  GThread *thread;

  make_file ("file");
  g_assert_cmpint (mkfifo ("fifo", 0644), ==, 0);

  thread = g_thread_new ("write", wait_for_reader, (gpointer) "fifo");
  g_usleep (50 * 1000);
  dlp_scheme_prefetch (scheme, file, 1 << 20);
  dlp_scheme_prefetch (scheme, missing, 1 << 20);
  dlp_scheme_prefetch (scheme, fifo, 1 << 20);
  g_usleep (50 * 1000);
  g_assert_cmpint (g_atomic_int_get (&writer_was_let_in), ==, 0);

  assert_opens (fifo, 0, "still here");
  g_thread_join (thread);
  assert_opens (file, 0, "file");
}

static void
test_stdin (void)
{
  g_autoptr (DlpFile) file = dlp_file_new ("-", -1, NULL);
  int fds[2];

  if (!g_test_subprocess ())
    {
      g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
      g_test_trap_assert_passed ();
      return;
    }

  g_assert_cmpint (pipe (fds), ==, 0);
  g_assert_cmpint (write (fds[1], "from a pipe", 11), ==, 11);
  close (fds[1]);
  g_assert_cmpint (dup2 (fds[0], STDIN_FILENO), ==, STDIN_FILENO);

  assert_opens (file, 0, "from a pipe");
  assert_open_fails (file, 5, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
                     "-: the standard input cannot be read again from byte 5");
  g_assert_cmpint (fcntl (STDIN_FILENO, F_GETFD), >=, 0);
}

/* A scheme of a plugin: one file, whose text is its name. */
typedef DlpScheme EchoScheme;
typedef DlpSchemeClass EchoSchemeClass;

static GType echo_scheme_get_type (void);
G_DEFINE_TYPE (EchoScheme, echo_scheme, DLP_TYPE_SCHEME)

static GInputStream *
echo_open (DlpScheme *scheme,
           DlpFile *file,
           gint64 offset,
           GCancellable *cancellable,
           GError **error)
{
  const char *uri = dlp_file_get_uri (file);

  return g_memory_input_stream_new_from_data (g_strdup (uri + offset), -1, g_free);
}

static void
echo_scheme_class_init (EchoSchemeClass *klass)
{
  klass->open = echo_open;
}

static void
echo_scheme_init (EchoScheme *self)
{
}

static void
test_schemes (void)
{
  g_autoptr (DlpFile) file = dlp_file_new ("Echo://abc", -1, NULL);
  g_autoptr (GError) error = NULL;

  g_assert_null (dlp_scheme_for_uri ("http://host/a", &error));
  g_assert_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_NO_INPUT);
  assert_in (error->message, "http:// needs a plugin that is not loaded; known: file");
  g_clear_error (&error);

  dlp_scheme_register ("echo", echo_scheme_get_type ());
  dlp_scheme_register ("echo", echo_scheme_get_type ());
  g_assert_true (dlp_scheme_for_uri ("echo://x", NULL) == dlp_scheme_for_uri ("ECHO://y", NULL));
  assert_opens (file, 5, "//abc");

  g_assert_null (dlp_scheme_list (dlp_scheme_for_uri ("echo://x", NULL), "echo://x", NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED);
  assert_in (error->message, "cannot list files");
  g_clear_error (&error);

  g_assert_null (dlp_scheme_for_uri ("s3://bucket/a", &error));
  assert_in (error->message, "known: echo, file");

  /* No scheme: these are paths. */
  g_assert_true (dlp_scheme_for_uri ("./http://a", NULL) == dlp_scheme_for_uri ("a", NULL));
  g_assert_true (dlp_scheme_for_uri ("http:/a", NULL) == dlp_scheme_for_uri ("a", NULL));
  g_assert_true (dlp_scheme_for_uri ("1a://b", NULL) == dlp_scheme_for_uri ("a", NULL));
}

static void
test_redact (void)
{
  static const char *const pairs[][2] = {
    { "a/b@c?sig=1", "a/b@c?sig=1" },
    { "http://h/a?x=1", "http://h/a?x=1" },
    { "http://me:secret@h:80/a@b", "http://***@h:80/a@b" },
    { "https://me:a@b@h/", "https://***@h/" },
    { "s3://h/a?X-Amz-Signature=ab&x=1&Token=2#f", "s3://h/a?X-Amz-Signature=***&x=1&Token=***#f" },
    { "http://h/?sig=", "http://h/?sig=***" },
    { "http://h?key", "http://h?key" },
    { "file:///a@b?sig=1", "file:///a@b?sig=1" },
    { "location=\"http://a:b@h/x?sig=1\" ! l list=http://c@h",
      "location=\"http://***@h/x?sig=***\" ! l list=http://***@h" },
    { "://", "://" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++)
    {
      g_autofree char *redacted = dlp_uri_redact (pairs[i][0]);

      g_assert_cmpstr (redacted, ==, pairs[i][1]);
    }
}

int
main (int argc, char **argv)
{
  /* Whatever the locale is, it must not show in the order or the matching of names. */
  setlocale (LC_ALL, "");
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/file/redact", test_redact);

#define ADD(name, function) g_test_add (name, Fixture, NULL, set_up, function, tear_down)
  g_test_add_func ("/file/display", test_display);
  g_test_add_func ("/file/schemes", test_schemes);
  g_test_add_func ("/file/stdin", test_stdin);
  g_test_add_func ("/glob/match", test_glob_match);
  g_test_add_func ("/glob/match-is-not-exponential", test_glob_match_is_not_exponential);
  ADD ("/file/list", test_list);
  ADD ("/file/list-recursive", test_list_recursive);
  ADD ("/file/list-literal-first", test_list_literal_first);
  ADD ("/file/list-folder", test_list_folder);
  ADD ("/file/list-nothing", test_list_nothing);
  ADD ("/file/list-names", test_list_names);
  ADD ("/file/list-loops", test_list_loops);
  ADD ("/file/list-linked-folder", test_list_linked_folder);
  ADD ("/file/list-dangling", test_list_dangling);
  ADD ("/file/list-uri", test_list_uri);
  ADD ("/file/list-cancelled", test_list_cancelled);
  ADD ("/file/open", test_open);
  ADD ("/file/identity", test_identity);
  ADD ("/file/open-fails", test_open_fails);
  ADD ("/file/fifo-without-writer", test_fifo_without_writer);
  ADD ("/file/fifo-with-writer", test_fifo_with_writer);
  ADD ("/file/fifo-read-is-cancelled", test_fifo_read_is_cancelled);
  ADD ("/file/prefetch", test_prefetch);

  return g_test_run ();
}
