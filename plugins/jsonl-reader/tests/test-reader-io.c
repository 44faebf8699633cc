/* SPDX-License-Identifier: MIT */

/* Pipes, files that change or are gone, many files, long lines, all sizes of chunks, with threads.
 */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "reader-fixture.h"

/* ---- threads that cannot be made ---- */

int __real_pthread_create (pthread_t *thread,
                           const pthread_attr_t *attr,
                           void *(*func) (void *),
                           void *data);
int __wrap_pthread_create (pthread_t *thread,
                           const pthread_attr_t *attr,
                           void *(*func) (void *),
                           void *data);

static char last_message[200];

static GLogWriterOutput
write_log (GLogLevelFlags level, const GLogField *fields, gsize n_fields, gpointer data)
{
  for (gsize i = 0; i < n_fields; i++)
    if (strcmp (fields[i].key, "MESSAGE") == 0 && strstr (fields[i].value, "threads") != NULL)
      g_strlcpy (last_message, fields[i].value, sizeof last_message);
  return g_log_writer_default (level, fields, n_fields, data);
}

static guint n_threads;
static guint max_threads = G_MAXUINT;

/* By the linker's option --wrap. */
int
__wrap_pthread_create (pthread_t *thread,
                       const pthread_attr_t *attr,
                       void *(*func) (void *),
                       void *data)
{
  return n_threads++ < max_threads ? __real_pthread_create (thread, attr, func, data) : EAGAIN;
}

/* The reader's threads are the last ones that are made: three, with as much memory as this. */
static void
test_few_threads (void)
{
  g_autoptr (Fixture) fixture = fixture_new ();
  GError *error = NULL;
  guint all;

  for (guint i = 0; i < 9; i++)
    {
      g_autofree char *name = g_strdup_printf ("%u.jsonl", i);

      fixture_write (fixture, name, "{\"text\":\"a\"}\n{\"text\":\"b\"}\n", -1);
    }
  fixture->config.workers = 1;
  n_threads = 0;
  rig_free (rig_new (fixture_config (fixture), NULL, &error));
  g_assert_no_error (error);
  all = n_threads;
  g_assert_cmpuint (all, >, 3);

  for (guint made = 0; made <= 3; made++)
    {
      g_autoptr (RigOutput) output = NULL;

      n_threads = 0;
      max_threads = all - 3 + made;
      last_message[0] = '\0';
      output = rig_run (fixture_config (fixture));
      max_threads = G_MAXUINT;
      if (made == 0)
        {
          g_assert_error (output->error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK);
          g_assert_true (g_str_has_prefix (output->error->message,
                                           "jsonl-reader0: cannot make a thread to read files"));
          continue;
        }
      g_assert_no_error (output->error);
      g_assert_cmpuint (output->good->len, ==, 18);
      g_assert_cmpint (made < 3, ==,
                       g_str_has_prefix (last_message, "jsonl-reader0: threads that read: "));
    }
}

/* ---- a pipe ---- */

static void
write_text (int fd, const char *text)
{
  g_assert_cmpint (write (fd, text, strlen (text)), ==, (gssize) strlen (text));
}

static void
assert_next (Rig *rig, const char *expected)
{
  gboolean is_rejected;
  GError *error = NULL;
  g_autofree char *line = rig_next_within (rig, 10, &is_rejected, &error);

  g_assert_no_error (error);
  g_assert_cmpstr (line, ==, expected);
}

static void
assert_nothing (Rig *rig)
{
  gboolean is_rejected;
  GError *error = NULL;

  g_assert_null (rig_next_within (rig, 0.03, &is_rejected, &error));
  g_assert_no_error (error);
}

/* Whole records come out as soon as they are there, and not before. */
static void
test_pipe (void)
{
  g_autoptr (Fixture) fixture = fixture_new ();
  g_autofree char *path = fixture_path (fixture, "pipe.jsonl");
  g_autofree char *pad = g_strnfill (80, ' ');
  g_autofree char *first = g_strdup_printf ("{\"text\":\"one\"}%s\n", pad);
  GError *error = NULL;
  g_autoptr (Rig) rig = NULL;
  int fd;

  g_assert_cmpint (mkfifo (path, 0600), ==, 0);
  fd = open (path, O_RDWR | O_CLOEXEC);
  g_assert_cmpint (fd, >=, 0);
  fixture->config.workers = 1;
  rig = rig_new (fixture_config (fixture), NULL, &error);
  g_assert_no_error (error);

  write_text (fd, first);
  assert_next (rig, "0 0 0 0 0\tone");
  assert_nothing (rig);
  write_text (fd, "{\"text\":\"tw");
  assert_nothing (rig);
  write_text (fd, "o\"}\n\n{\"text\":");
  assert_next (rig, "0 0 0 1 0\ttwo");
  write_text (fd, "\"three\"}\n{\"text\":\"four\"}\n{\"text\":\"five\"}");
  assert_next (rig, "0 0 0 2 0\tthree");
  assert_next (rig, "0 0 0 3 0\tfour");
  assert_nothing (rig);
  close (fd);
  assert_next (rig, "0 0 0 4 0\tfive");
  assert_next (rig, NULL);
}

/* A reader that waits for a pipe can be stopped. */
static void
test_stop (void)
{
  g_autoptr (Fixture) fixture = fixture_new ();
  g_autofree char *path = fixture_path (fixture, "pipe.jsonl");
  gint64 begin = g_get_monotonic_time ();
  int fd;

  g_assert_cmpint (mkfifo (path, 0600), ==, 0);
  fd = open (path, O_RDWR | O_CLOEXEC);
  for (guint i = 0; i < rig_scaled (20); i++)
    {
      GError *error = NULL;
      g_autoptr (Rig) rig = NULL;

      fixture->config.workers = 2;
      rig = rig_new (fixture_config (fixture), NULL, &error);
      g_assert_no_error (error);
      if (i % 2 == 0)
        assert_nothing (rig);
    }
  close (fd);
  g_assert_cmpint (g_get_monotonic_time () - begin, <, 20 * G_USEC_PER_SEC);
}

/* A pipe that is given up for damage keeps no thread from the other files. */
static void
test_damaged_pipe (void)
{
  g_autoptr (Fixture) fixture = fixture_new ();
  g_autofree char *path = fixture_path (fixture, "pipe.jsonl");
  GError *error = NULL;
  g_autoptr (Rig) rig = NULL;
  int fd;

  g_assert_cmpint (mkfifo (path, 0600), ==, 0);
  fd = open (path, O_RDWR | O_CLOEXEC);
  fixture_write (fixture, "q.jsonl", "{\"text\":\"a\"}\n", -1);
  fixture_set_reader (fixture, "on-damaged-file=keep");
  fixture->config.workers = 1;
  fixture->config.memory = 1024 * 1024; /* one thread */
  rig = rig_new (fixture_config (fixture), NULL, &error);
  g_assert_no_error (error);
  write_text (fd, "[1, 2, 3, 4, 5, 6, 7]\n");
  assert_next (rig, "0 0 1 0 0\ta");
  assert_next (rig, NULL);
  close (fd);
}

static void
test_pipe_is_not_continued (void)
{
  g_autoptr (Fixture) fixture = fixture_new ();
  g_autofree char *path = fixture_path (fixture, "pipe.jsonl");
  GError *error = NULL;
  g_autoptr (Rig) rig = NULL;
  g_autoptr (Rig) again = NULL;
  g_autoptr (RigState) state = NULL;

  g_assert_cmpint (mkfifo (path, 0600), ==, 0);
  rig = rig_new (fixture_config (fixture), NULL, &error);
  g_assert_no_error (error);
  state = rig_save (rig);
  again = rig_new (fixture_config (fixture), state, &error);
  g_assert_null (again);
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED);
  g_clear_error (&error);
}

/* ---- files that are not what they were ---- */

static void
assert_changed (const char *change, int code)
{
  g_autoptr (Fixture) fixture = fixture_new ();
  g_autofree char *path = fixture_path (fixture, "b.jsonl");
  GError *error = NULL;
  g_autoptr (Rig) rig = NULL;
  gboolean is_rejected;
  char *line;

  fixture_write (fixture, "a.jsonl", "{\"text\":\"x\"}\n", -1);
  fixture_write (fixture, "b.jsonl", "{\"text\":\"y\"}\n", -1);
  fixture_set_reader (fixture, "on-damaged-file=keep");
  rig = rig_new (fixture_config (fixture), NULL, &error);
  g_assert_no_error (error);
  if (change == NULL)
    g_assert_cmpint (g_remove (path), ==, 0);
  else
    fixture_write (fixture, "b.jsonl", change, -1);

  while ((line = rig_next (rig, &is_rejected, &error)) != NULL)
    {
      g_assert_cmpstr (line, ==, "0 0 0 0 0\tx");
      g_free (line);
    }
  g_test_message ("%s", error->message);
  g_assert_error (error, DLP_DATA_ERROR, code);
  g_assert_true (g_str_has_prefix (error->message, "jsonl-reader0: "));
  g_assert_nonnull (strstr (error->message, path));
  g_clear_error (&error);
}

static void
test_changed (void)
{
  assert_changed (NULL, DLP_DATA_ERROR_NO_INPUT);
  assert_changed ("{\"text\":\"longer\"}\n", DLP_DATA_ERROR_CHANGED);
}

/* ---- any sizes, any number of threads ---- */

static void
write_random_file (Fixture *fixture, GRand *rand, guint index)
{
  static const char *const endings[] = { "jsonl", "jsonl.gz", "jsonl.zst" };
  g_autofree char *name =
      g_strdup_printf ("%02u.%s", index, endings[g_rand_int_range (rand, 0, 3)]);
  g_autoptr (GString) text = g_string_new (NULL);
  guint n = g_rand_int_range (rand, 0, 3) == 0 ? 0 : g_rand_int_range (rand, 1, 800);

  for (guint i = 0; i < n; i++)
    {
      gint kind = g_rand_int_range (rand, 0, 400);
      gint length = kind == 0 ? g_rand_int_range (rand, 0, 200000) : g_rand_int_range (rand, 0, 60);
      g_autofree char *filler = g_strnfill (length, 'a' + (gchar) (i % 26));

      if (kind == 1)
        g_string_append_printf (text, "\n{\"text\":%s}\n", filler);
      else
        g_string_append_printf (text, "{\"text\":\"%u %s\"}\n", i, filler);
    }
  fixture_write (fixture, name, text->str, (gssize) text->len);
}

static Fixture *
make_fixture (const char *glob, GRand *rand, guint interleave)
{
  Fixture *fixture = fixture_new_at (glob);
  guint64 chunk_bytes = G_GUINT64_CONSTANT (1) << g_rand_int_range (rand, 8, 21);

  fixture_set_source (fixture, "shuffle=true");
  fixture_set_source (fixture, "epochs=2");
  fixture_set_reader (fixture, "max-bad-ratio=1");
  fixture_set_reader (fixture, "interleave=%u", interleave);
  fixture_set_reader (fixture, "chunk-bytes=%" G_GUINT64_FORMAT, chunk_bytes);
  fixture_set_reader (fixture, "read-size=%d", 1 << g_rand_int_range (rand, 8, 20));
  fixture->config.memory = (gsize) 1 << g_rand_int_range (rand, 16, 26);
  fixture->config.workers = g_rand_int_range (rand, 0, 4);
  return fixture;
}

static void
test_any_way (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);

  for (guint round = 0; round < rig_scaled (6); round++)
    {
      guint interleave = round % 2 == 0 ? 1 : (guint) g_rand_int_range (rand, 2, 20);
      guint n_files = g_rand_int_range (rand, 1, 24);
      g_autoptr (Fixture) folder = fixture_new ();
      g_autofree char *glob = fixture_path (folder, "*");
      g_autoptr (RigOutput) first = NULL;

      for (guint i = 0; i < n_files; i++)
        write_random_file (folder, rand, i);
      for (guint i = 0; i < 6; i++)
        {
          g_autoptr (Fixture) fixture = make_fixture (glob, rand, interleave);
          g_autoptr (RigOutput) output = rig_run (fixture_config (fixture));

          g_assert_no_error (output->error);
          if (first == NULL)
            first = g_steal_pointer (&output);
          else
            rig_assert_equal (output, first);
        }
    }
}

static void
test_many_files (void)
{
  g_autoptr (Fixture) fixture = fixture_new ();
  g_autoptr (RigOutput) output = NULL;
  guint n = rig_scaled (1000);
  guint64 files;

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("%05u.jsonl", i);

      fixture_write (fixture, name, "{\"text\":\"a\"}\n{\"text\":\"b\"}\n", -1);
    }
  fixture->config.workers = 2;
  output = rig_run (fixture_config (fixture));
  g_assert_no_error (output->error);
  g_assert_cmpuint (output->good->len, ==, 2 * n);
  g_assert_true (g_variant_lookup (output->report, "files", "t", &files));
  g_assert_cmpuint (files, ==, n);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  fixture_init ();
  g_log_set_writer_func (write_log, NULL, NULL);
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  g_test_add_func ("/reader/io/pipe", test_pipe);
  g_test_add_func ("/reader/io/few-threads", test_few_threads);
  g_test_add_func ("/reader/io/stop", test_stop);
  g_test_add_func ("/reader/io/damaged-pipe", test_damaged_pipe);
  g_test_add_func ("/reader/io/pipe-is-not-continued", test_pipe_is_not_continued);
  g_test_add_func ("/reader/io/changed", test_changed);
  g_test_add_func ("/reader/io/any-way", test_any_way);
  g_test_add_func ("/reader/io/many-files", test_many_files);
  return g_test_run ();
}
