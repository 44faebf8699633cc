/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-output-file.h>

#include "dlp-durable-private.h"

#include "faults.h"

#define MIB ((gsize) 1024 * 1024)
#define RUN "00c0ffee"
#define OTHER "0badcafe"

typedef struct
{
  char *folder;
  char *path;
  GString *expected;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer unused)
{
  faults_reset ();
  fixture->folder = faults_make_folder ();
  fixture->path = g_build_filename (fixture->folder, "out.bin", NULL);
  fixture->expected = g_string_new (NULL);
}

static void
tear_down (Fixture *fixture, gconstpointer unused)
{
  faults_reset ();
  g_string_free (fixture->expected, TRUE);
  g_free (fixture->path);
  faults_remove_folder (fixture->folder);
}

static DlpOutputFile *
create (Fixture *fixture, guint attempt)
{
  g_autoptr (GError) error = NULL;
  DlpOutputFile *file = dlp_output_file_create (fixture->path, RUN, attempt, &error);

  g_assert_no_error (error);
  return file;
}

static DlpOutputFile *
resume (Fixture *fixture, guint attempt, guint former, gboolean is_dead, guint64 length)
{
  g_autoptr (GError) error = NULL;
  DlpOutputFile *file =
      dlp_output_file_resume (fixture->path, RUN, attempt, former, is_dead, length, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (dlp_output_file_get_length (file), ==, length);
  return file;
}

/* @size bytes that depend on where they are, and on @salt. */
static void
write_some (Fixture *fixture, DlpOutputFile *file, gsize size, guint8 salt)
{
  g_autofree guint8 *data = g_malloc (size + 1);
  g_autoptr (GError) error = NULL;
  guint64 start = dlp_output_file_get_length (file);

  for (gsize i = 0; i < size; i++)
    data[i] = (guint8) ((start + i) * 7 + ((start + i) >> 9) + salt);
  dlp_output_file_write (file, data, size, &error);
  g_assert_no_error (error);
  if (fixture != NULL)
    g_string_append_len (fixture->expected, (const char *) data, (gssize) size);
}

static void
flush_and_sync (DlpOutputFile *file)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (dlp_output_file_flush (file, &error));
  g_assert_no_error (error);
  dlp_output_file_sync (file, &error);
  g_assert_no_error (error);
}

static void
assert_contents (const char *path, const GString *expected)
{
  g_autofree char *contents = NULL;
  g_autoptr (GError) error = NULL;
  gsize size;

  g_file_get_contents (path, &contents, &size, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (size, ==, expected->len);
  g_assert_true (memcmp (contents, expected->str, size) == 0);
}

static void
assert_files (Fixture *fixture, const char *names)
{
  g_autofree char *found = faults_list_folder (fixture->folder);

  g_assert_cmpstr (found, ==, names);
}

static void
publish (Fixture *fixture, guint attempt, guint64 length)
{
  g_autoptr (GError) error = NULL;

  dlp_output_file_publish (fixture->path, RUN, attempt, length, &error);
  g_assert_no_error (error);
}

static void
assert_says (const GError *error, const char *what)
{
  g_assert_nonnull (error);
  if (strstr (error->message, what) == NULL)
    g_error ("“%s” does not say “%s”", error->message, what);
}

static void
test_write (Fixture *fixture, gconstpointer unused)
{
  static const gsize sizes[] = { 0, 1,   100,     MIB - 101, 1,  MIB - 1,
                                 2, MIB, MIB + 1, 3 * MIB,   17, 500000 };
  g_autoptr (DlpOutputFile) file = create (fixture, 3);

  g_assert_cmpstr (dlp_output_file_get_path (file), ==, fixture->path);
  g_assert_true (
      g_str_has_suffix (dlp_output_file_get_partial_path (file), "/.out.bin." RUN ".3.partial"));
  for (guint round = 0; round < 4; round++)
    for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
      {
        write_some (fixture, file, sizes[(i * (round * 2 + 1)) % G_N_ELEMENTS (sizes)], 0);
        g_assert_cmpuint (dlp_output_file_get_length (file), ==, fixture->expected->len);
      }

  flush_and_sync (file);
  assert_contents (dlp_output_file_get_partial_path (file), fixture->expected);
  publish (fixture, 3, fixture->expected->len);
  assert_files (fixture, "out.bin");
  assert_contents (fixture->path, fixture->expected);
}

static void
test_reserve (Fixture *fixture, gconstpointer unused)
{
  g_autoptr (DlpOutputFile) file = create (fixture, 1);

  for (guint i = 0; i < 500; i++)
    {
      gsize size = (gsize) g_test_rand_int_range (0, 20000) + (i % 50 == 0 ? MIB - 20000 : 0);
      gsize used = size / 2;
      guint8 *room = dlp_output_file_reserve (file, size, NULL);

      g_assert_nonnull (room);
      memset (room, (int) i, size);
      dlp_output_file_commit (file, used);
      memset (room + used, 0xee, size - used);
      g_string_set_size (fixture->expected, fixture->expected->len + used);
      memset (fixture->expected->str + fixture->expected->len - used, (int) i, used);
      if (i % 7 == 0)
        write_some (fixture, file, i, 1);
    }
  flush_and_sync (file);
  assert_contents (dlp_output_file_get_partial_path (file), fixture->expected);
}

static void
test_small_writes_are_gathered (Fixture *fixture, gconstpointer unused)
{
  g_autoptr (DlpOutputFile) file = create (fixture, 1);

  faults_reset ();
  for (guint i = 0; i < 40000; i++)
    write_some (fixture, file, 100, 0);
  g_assert_cmpuint (faults_get_count (), ==, 3);
  flush_and_sync (file);
  g_assert_cmpstr (faults_get_trace (), ==, "pwrite fdatasync fsync");
  write_some (fixture, file, 100, 0);
  flush_and_sync (file);
  /* The folder once only. */
  g_assert_cmpstr (faults_get_trace (), ==, "pwrite fdatasync fsync pwrite fdatasync");
}

static void
test_folder_and_mode (Fixture *fixture, gconstpointer unused)
{
  g_autofree char *path = g_build_filename (fixture->folder, "a", "b", "c.bin", NULL);
  mode_t mask = umask (027);
  g_autoptr (DlpOutputFile) file = dlp_output_file_create (path, RUN, 1, NULL);
  struct stat st;

  umask (mask);
  g_assert_nonnull (file);
  g_assert_cmpint (stat (dlp_output_file_get_partial_path (file), &st), ==, 0);
  g_assert_cmpuint (st.st_mode & 07777, ==, 0640);
}

/* Its unfinished file has been taken away: there is nothing that a checkpoint could speak of. */
static void
assert_gone (DlpOutputFile *file)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (dlp_output_file_flush (file, &error));
  g_assert_no_error (error);
  g_assert_false (dlp_output_file_sync (file, &error));
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED);
  g_assert_nonnull (strstr (error->message, "was deleted, moved or replaced"));
}

static void
test_create_replaces (Fixture *fixture, gconstpointer unused)
{
  g_autoptr (DlpOutputFile) zombie = create (fixture, 1);
  g_autoptr (DlpOutputFile) file = create (fixture, 1);

  write_some (NULL, zombie, 3 * MIB, 5);
  write_some (fixture, file, 1000, 0);
  flush_and_sync (file);
  assert_gone (zombie);
  assert_contents (dlp_output_file_get_partial_path (file), fixture->expected);
}

static void
test_interrupted_writes (Fixture *fixture, gconstpointer unused)
{
  g_autoptr (DlpOutputFile) file = create (fixture, 1);

  faults_shorten_writes (100001);
  write_some (fixture, file, 1000, 0);
  write_some (fixture, file, 5 * MIB, 0);
  write_some (fixture, file, 1000, 0);
  flush_and_sync (file);
  assert_contents (dlp_output_file_get_partial_path (file), fixture->expected);
}

static gpointer
sync_repeatedly (gpointer user_data)
{
  for (guint i = 0; i < 500; i++)
    g_assert_true (dlp_output_file_sync (user_data, NULL));
  return NULL;
}

static void
test_concurrent_sync (Fixture *fixture, gconstpointer unused)
{
  g_autoptr (DlpOutputFile) file = create (fixture, 1);
  GThread *thread = g_thread_new ("sync", sync_repeatedly, file);

  for (guint i = 0; i < 300; i++)
    {
      write_some (fixture, file, 30000, 0);
      if (i % 10 == 0)
        g_assert_true (dlp_output_file_flush (file, NULL));
    }
  g_thread_join (thread);
  flush_and_sync (file);
  assert_contents (dlp_output_file_get_partial_path (file), fixture->expected);
}

/* An attempt that got to a length that is durable, and then further. */
static void
leave_attempt (Fixture *fixture, guint attempt, gsize length)
{
  g_autoptr (DlpOutputFile) file = create (fixture, attempt);

  write_some (fixture, file, length, 0);
  write_some (NULL, file, 12345, 99);
  flush_and_sync (file);
}

static void
test_resume (Fixture *fixture, gconstpointer user_data)
{
  gboolean is_dead = GPOINTER_TO_INT (user_data);
  gsize length = 2 * MIB + 77;
  g_autoptr (DlpOutputFile) file = NULL;

  leave_attempt (fixture, 1, length);
  faults_reset ();
  file = resume (fixture, 2, 1, is_dead, length);
  if (is_dead)
    g_assert_cmpstr (faults_get_trace (), ==, "renameat ftruncate");
  else
    g_assert_cmpstr (faults_get_trace (), ==, "copy_file_range fdatasync renameat fsync");
  assert_files (fixture, is_dead ? ".out.bin." RUN ".2.partial" :
                                   ".out.bin." RUN ".1.partial .out.bin." RUN ".2.partial");
  assert_contents (dlp_output_file_get_partial_path (file), fixture->expected);

  write_some (fixture, file, MIB + 5, 0);
  flush_and_sync (file);
  publish (fixture, 2, fixture->expected->len);
  assert_contents (fixture->path, fixture->expected);
}

static void
test_resume_same_attempt (Fixture *fixture, gconstpointer user_data)
{
  g_autoptr (DlpOutputFile) file = NULL;

  leave_attempt (fixture, 2, 1000);
  file = resume (fixture, 2, 2, GPOINTER_TO_INT (user_data), 1000);
  assert_files (fixture, ".out.bin." RUN ".2.partial");
  assert_contents (dlp_output_file_get_partial_path (file), fixture->expected);
}

/* What the kernel cannot copy, or not to its end, is read and written. */
static void
test_resume_without_copy_call (Fixture *fixture, gconstpointer user_data)
{
  int code = GPOINTER_TO_INT (user_data);
  g_autoptr (DlpOutputFile) file = NULL;

  leave_attempt (fixture, 1, 3 * MIB + 5);
  faults_fail_all ("copy_file_range", code);
  file = resume (fixture, 2, 1, FALSE, 3 * MIB + 5);
  assert_contents (dlp_output_file_get_partial_path (file), fixture->expected);
}

static void
test_resume_beside_zombie (Fixture *fixture, gconstpointer unused)
{
  g_autoptr (DlpOutputFile) zombie = create (fixture, 1);
  g_autoptr (DlpOutputFile) file = NULL;
  gsize length;

  write_some (fixture, zombie, 70000, 0);
  flush_and_sync (zombie);
  length = fixture->expected->len;
  file = resume (fixture, 2, 1, FALSE, length);
  write_some (NULL, zombie, 2 * MIB, 9);
  write_some (fixture, file, 50000, 0);
  flush_and_sync (zombie);
  flush_and_sync (file);
  g_assert_true (dlp_output_file_clean (fixture->path, RUN, 2, NULL));
  write_some (NULL, zombie, 2 * MIB, 9);
  assert_gone (zombie);
  publish (fixture, 2, fixture->expected->len);
  assert_contents (fixture->path, fixture->expected);
  assert_files (fixture, "out.bin");
}

static void
assert_not_resumed (Fixture *fixture, guint former, guint64 length, const char *what)
{
  for (gboolean is_dead = FALSE; is_dead <= TRUE; is_dead++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (
          dlp_output_file_resume (fixture->path, RUN, former + 1, former, is_dead, length, &error));
      g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED);
      assert_says (error, what);
      assert_says (error, fixture->path);
    }
}

static void
test_resume_refused (Fixture *fixture, gconstpointer unused)
{
  leave_attempt (fixture, 2, 1000);
  assert_not_resumed (fixture, 2, 13346,
                      ".out.bin." RUN ".2.partial has 13345 bytes, the checkpoint says 13346");
  assert_not_resumed (fixture, 3, 1, ".out.bin." RUN ".3.partial is missing");
  assert_files (fixture, ".out.bin." RUN ".2.partial");
}

/* An attempt took the file over and died before its first checkpoint: the checkpoint names one that
 * is gone. */
static void
test_resume_twice (Fixture *fixture, gconstpointer user_data)
{
  gboolean is_dead = GPOINTER_TO_INT (user_data);
  g_autoptr (DlpOutputFile) file = NULL;

  leave_attempt (fixture, 1, 5000);
  for (guint attempt = 2; attempt < 5; attempt++)
    {
      file = resume (fixture, attempt, 1, is_dead || attempt == 2, 5000);
      assert_contents (dlp_output_file_get_partial_path (file), fixture->expected);
      write_some (NULL, file, 3000, 50);
      flush_and_sync (file);
      g_clear_pointer (&file, dlp_output_file_free);
    }
}

static void
test_publish (Fixture *fixture, gconstpointer unused)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpOutputFile) file = create (fixture, 1);

  write_some (fixture, file, 500, 0);
  flush_and_sync (file);
  g_assert_false (dlp_output_file_publish (fixture->path, RUN, 1, 499, &error));
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED);
  assert_says (error, ".out.bin." RUN ".1.partial has 500 bytes, the checkpoint says 499");
  g_clear_error (&error);
  g_assert_false (dlp_output_file_publish (fixture->path, RUN, 2, 500, &error));
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED);
  assert_says (error, "neither it nor");
  g_clear_error (&error);

  faults_reset ();
  publish (fixture, 1, 500);
  g_assert_cmpstr (faults_get_trace (), ==, "renameat2 fsync");
  publish (fixture, 1, 500);
  g_assert_cmpstr (faults_get_trace (), ==, "renameat2 fsync");
  g_assert_cmpuint (faults_get_count (), ==, 3);
  g_assert_false (dlp_output_file_publish (fixture->path, RUN, 1, 501, &error));
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED);
  assert_contents (fixture->path, fixture->expected);
}

/* How the system replaces nothing: at once, by a second name, or not at all. */
static const char *const ways[] = { "renameat2 fsync", "renameat2 linkat fsync unlinkat fsync",
                                    "renameat2 linkat renameat fsync" };

static void
test_publish_ways (Fixture *fixture, gconstpointer user_data)
{
  guint way = GPOINTER_TO_UINT (user_data);
  g_autoptr (DlpOutputFile) file = create (fixture, 1);
  g_autoptr (GError) error = NULL;

  write_some (fixture, file, 500, 0);
  flush_and_sync (file);
  /* Somebody else's file appeared. */
  faults_limit_renames (way);
  g_assert_true (g_file_set_contents (fixture->path, "mine", 4, NULL));
  g_assert_false (dlp_output_file_publish (fixture->path, RUN, 1, 500, &error));
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_FOREIGN_OUTPUT);
  assert_says (error, fixture->path);
  assert_files (fixture, ".out.bin." RUN ".1.partial out.bin");
  g_assert_cmpint (unlink (fixture->path), ==, 0);

  faults_reset ();
  faults_limit_renames (way);
  publish (fixture, 1, 500);
  g_assert_cmpstr (faults_get_trace (), ==, ways[way]);
  assert_files (fixture, "out.bin");
  assert_contents (fixture->path, fixture->expected);
}

/* Ended between the second name and the removal of the first. */
static void
test_publish_twice_named (Fixture *fixture, gconstpointer unused)
{
  g_autoptr (DlpOutputFile) file = create (fixture, 1);

  write_some (fixture, file, 500, 0);
  flush_and_sync (file);
  g_assert_cmpint (link (dlp_output_file_get_partial_path (file), fixture->path), ==, 0);
  publish (fixture, 1, 500);
  assert_files (fixture, "out.bin");
  assert_contents (fixture->path, fixture->expected);
}

/* The same where the two names seem to be two files; and not, where another's differs in a byte. */
static void
test_publish_twin (Fixture *fixture, gconstpointer unused)
{
  g_autoptr (DlpOutputFile) file = create (fixture, 1);
  g_autoptr (GError) error = NULL;
  g_autofree char *bytes = NULL;
  gsize size;

  write_some (fixture, file, 700 * 1000, 0);
  flush_and_sync (file);
  g_assert_true (
      g_file_get_contents (dlp_output_file_get_partial_path (file), &bytes, &size, NULL));
  bytes[size - 1] ^= 1;
  g_assert_true (g_file_set_contents (fixture->path, bytes, (gssize) size, NULL));
  g_assert_false (dlp_output_file_publish (fixture->path, RUN, 1, size, &error));
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_FOREIGN_OUTPUT);
  assert_files (fixture, ".out.bin." RUN ".1.partial out.bin");

  bytes[size - 1] ^= 1;
  g_assert_true (g_file_set_contents (fixture->path, bytes, (gssize) size, NULL));
  publish (fixture, 1, size);
  assert_files (fixture, "out.bin");
}

/* ---- other runs ---- */

static void
test_final_taken (Fixture *fixture, gconstpointer unused)
{
  g_autoptr (GError) error = NULL;
  const char *const others[] = { "file", "link" };

  leave_attempt (fixture, 1, 1000);
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    {
      if (i == 0)
        g_assert_true (g_file_set_contents (fixture->path, "mine", 4, NULL));
      else
        g_assert_cmpint (symlink ("nowhere", fixture->path), ==, 0);
      g_assert_null (dlp_output_file_create (fixture->path, RUN, 2, &error));
      g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_FOREIGN_OUTPUT);
      g_clear_error (&error);
      for (gboolean is_dead = FALSE; is_dead <= TRUE; is_dead++)
        {
          g_assert_null (dlp_output_file_resume (fixture->path, RUN, 2, 1, is_dead, 1000, &error));
          g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_FOREIGN_OUTPUT);
          assert_says (error, fixture->path);
          g_clear_error (&error);
        }
      assert_files (fixture, ".out.bin." RUN ".1.partial out.bin");
      g_assert_cmpint (unlink (fixture->path), ==, 0);
    }
}

/* Two runs write to one name at once: neither harms the other, and the second to end is refused. */
static void
test_two_runs (Fixture *fixture, gconstpointer unused)
{
  g_autoptr (DlpOutputFile) file = create (fixture, 1);
  g_autoptr (DlpOutputFile) other = NULL;
  g_autoptr (GError) error = NULL;

  write_some (fixture, file, 500, 0);
  g_assert_null (dlp_output_file_create (fixture->path, OTHER, 1, &error));
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_FOREIGN_OUTPUT);
  g_clear_error (&error);
  flush_and_sync (file);
  assert_files (fixture, ".out.bin." RUN ".1.partial");
  g_clear_pointer (&file, dlp_output_file_free);
  other = dlp_output_file_create (fixture->path, OTHER, 1, &error);
  g_assert_no_error (error);
  write_some (NULL, other, 700, 9);
  flush_and_sync (other);
  g_assert_true (dlp_output_file_clean (fixture->path, RUN, 1, NULL));
  publish (fixture, 1, 500);
  g_assert_true (dlp_output_file_clean (fixture->path, RUN, 0, NULL));
  assert_files (fixture, ".out.bin." OTHER ".1.partial out.bin");
  g_assert_false (dlp_output_file_publish (fixture->path, OTHER, 1, 700, &error));
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_FOREIGN_OUTPUT);
  assert_contents (fixture->path, fixture->expected);
}

static void
check_others (Fixture *fixture, const char *discarded, gboolean is_refused, const char *left)
{
  const DlpOutputClaim claim = { RUN, discarded, FALSE, FALSE };
  g_autofree char *found = NULL;
  g_autoptr (GError) error = NULL;
  gboolean ok = dlp_output_file_check_others (fixture->path, &claim, &found, &error);

  g_assert_cmpint (ok, ==, !is_refused);
  if (is_refused)
    {
      g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_FOREIGN_OUTPUT);
      assert_says (error, ".out.bin." OTHER ".1.partial");
    }
  if (left == NULL)
    g_assert_null (found);
  else
    g_assert_nonnull (strstr (found, left));
}

static void
test_check_others (Fixture *fixture, gconstpointer unused)
{
  g_autofree char *elsewhere = g_build_filename (fixture->folder, "no", "such", NULL);
  const DlpOutputClaim claim = { RUN, NULL, FALSE, FALSE };
  g_autoptr (DlpOutputFile) own = create (fixture, 1);
  g_autoptr (DlpOutputFile) other = NULL;
  g_autofree char *left = NULL;

  check_others (fixture, NULL, FALSE, NULL);
  g_clear_pointer (&own, dlp_output_file_free);
  other = dlp_output_file_create (fixture->path, OTHER, 1, NULL);
  check_others (fixture, NULL, TRUE, NULL);
  check_others (fixture, OTHER, FALSE, NULL);
  g_clear_pointer (&other, dlp_output_file_free);
  check_others (fixture, NULL, FALSE, ".out.bin." OTHER ".1.partial");
  check_others (fixture, OTHER, FALSE, NULL);
  assert_files (fixture, ".out.bin." RUN ".1.partial .out.bin." OTHER ".1.partial");

  g_assert_true (dlp_output_file_check_others (elsewhere, &claim, &left, NULL));
  g_assert_null (left);
}

/* A lock that cannot be had, or that there are none: neither is in the way. */
static void
test_no_locks (Fixture *fixture, gconstpointer unused)
{
  g_autoptr (DlpOutputFile) other = NULL;

  faults_fail_all ("flock", ENOLCK);
  other = dlp_output_file_create (fixture->path, OTHER, 1, NULL);
  g_assert_nonnull (other);
  check_others (fixture, NULL, FALSE, ".out.bin." OTHER ".1.partial");
}

/* The state's lock says that the attempt is dead, but somebody still has its file: it is copied. */
static void
test_resume_locked (Fixture *fixture, gconstpointer unused)
{
  g_autoptr (DlpOutputFile) held = create (fixture, 1);
  g_autoptr (DlpOutputFile) file = NULL;

  write_some (fixture, held, 5000, 0);
  flush_and_sync (held);
  file = resume (fixture, 2, 1, TRUE, 5000);
  assert_files (fixture, ".out.bin." RUN ".1.partial .out.bin." RUN ".2.partial");
  write_some (NULL, held, 5000, 9);
  flush_and_sync (held);
  assert_contents (dlp_output_file_get_partial_path (file), fixture->expected);
}

static void
test_clean (Fixture *fixture, gconstpointer unused)
{
  static const char *const names[] = {
    ".out.bin." RUN ".1.partial",
    ".out.bin." RUN ".2.partial",
    ".out.bin." RUN ".30.partial",
    ".out.bin." RUN ".77.00aabbcc.tmp",
    ".out.bin." OTHER ".1.partial",
    ".out.bin." OTHER ".77.00aabbcc.tmp",
    ".out.bin.77.00aabbcc.tmp",
    ".out.bin." RUN ".1.2.partial",
    ".out.bin.idx." RUN ".1.partial",
    ".out." RUN ".1.partial",
    ".out.bin.1.partial",
    ".out.bin." RUN "..partial",
    ".out.bin." RUN ".1.partial~",
    ".out.bin." RUN ".x.partial",
    "out.bin",
  };
  static const char kept[] =
      ".out." RUN ".1.partial .out.bin." RUN "..partial .out.bin." RUN ".1.2.partial .out.bin." RUN
      ".1.partial~ %s.out.bin." RUN ".x.partial .out.bin." OTHER ".1.partial .out.bin." OTHER
      ".77.00aabbcc.tmp .out.bin.1.partial "
      "%s.out.bin.idx." RUN ".1.partial out.bin";
  g_autofree char *elsewhere = g_build_filename (fixture->folder, "no", "such", NULL);
  g_autofree char *first =
      g_strdup_printf (kept, ".out.bin." RUN ".2.partial ", ".out.bin.77.00aabbcc.tmp ");
  g_autofree char *second = g_strdup_printf (kept, "", ".out.bin.77.00aabbcc.tmp ");
  g_autofree char *third = g_strdup_printf (kept, "", "");

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_build_filename (fixture->folder, names[i], NULL);

      g_assert_true (g_file_set_contents (path, "", 0, NULL));
    }
  g_assert_true (dlp_output_file_clean (fixture->path, RUN, 2, NULL));
  assert_files (fixture, first);
  g_assert_true (dlp_output_file_clean (fixture->path, RUN, 0, NULL));
  assert_files (fixture, second);
  g_assert_true (dlp_output_file_clean (fixture->path, NULL, 0, NULL));
  assert_files (fixture, third);
  g_assert_true (dlp_output_file_clean (elsewhere, RUN, 0, NULL));
}

static void
assert_all_fail (DlpOutputFile *file, const char *what)
{
  g_autofree char *folder = g_path_get_dirname (dlp_output_file_get_path (file));

  for (guint i = 0; i < 8; i++)
    {
      g_autoptr (GError) error = NULL;
      static const char large[2 * 1024 * 1024];

      switch (i % 4)
        {
        case 0:
          g_assert_false (dlp_output_file_flush (file, &error));
          break;
        case 1:
          g_assert_false (dlp_output_file_write (file, large, i < 4 ? 1 : sizeof large, &error));
          break;
        case 2:
          g_assert_false (dlp_output_file_sync (file, &error));
          break;
        default:
          g_assert_null (dlp_output_file_reserve (file, 10, &error));
        }
      assert_says (error, what);
      assert_says (error, folder);
    }
}

static void
test_errors_stay (Fixture *fixture, gconstpointer user_data)
{
  const char *call = user_data;
  g_autoptr (DlpOutputFile) file = create (fixture, 1);
  g_autoptr (GError) error = NULL;

  write_some (NULL, file, 777, 0);
  faults_fail_next (call, strcmp (call, "pwrite") == 0 ? EDQUOT : EIO);
  if (dlp_output_file_flush (file, &error))
    g_assert_false (dlp_output_file_sync (file, &error));
  if (strcmp (call, "pwrite") == 0)
    g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NO_SPACE);
  assert_all_fail (file, strcmp (call, "pwrite") == 0 ? "cannot write 777 bytes at byte 0" : call);
}

static void
write_beyond_limit (gpointer user_data)
{
  Fixture *fixture = user_data;
  struct rlimit limit = { 2 * MIB, 2 * MIB };
  g_autoptr (DlpOutputFile) file = create (fixture, 1);
  static const char data[1024 * 1024];

  signal (SIGXFSZ, SIG_IGN);
  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &limit), ==, 0);
  g_assert_true (dlp_output_file_write (file, data, 300000, NULL));
  g_assert_true (dlp_output_file_write (file, data, sizeof data, NULL));
  g_assert_false (dlp_output_file_write (file, data, sizeof data, NULL));
  /* 300,000 + 1 MiB were there; the rest of the limit could be written. */
  assert_all_fail (file, "cannot write 300000 bytes at byte 2097152: File too large");
}

static void
test_file_limit (Fixture *fixture, gconstpointer unused)
{
  g_assert_cmpint (faults_run_child (write_beyond_limit, fixture), ==, 0);
}

static void
fill_small_disk (gpointer user_data)
{
  Fixture *fixture = user_data;
  g_autoptr (DlpOutputFile) file = NULL;
  g_autoptr (GError) error = NULL;
  static const char data[1024 * 1024];

  if (unshare (CLONE_NEWNS) != 0 || mount ("none", "/", "none", MS_REC | MS_PRIVATE, NULL) != 0 ||
      mount ("none", fixture->folder, "tmpfs", 0, "size=2m") != 0)
    _exit (77);

  file = create (fixture, 1);
  while (dlp_output_file_write (file, data, sizeof data, &error))
    continue;
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NO_SPACE);
  assert_says (error, "cannot write");
  assert_all_fail (file, error->message);
  g_clear_error (&error);

  g_assert_false (dlp_write_file_durably (fixture->path, data, sizeof data, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NO_SPACE);
  assert_says (error, fixture->path);
  assert_files (fixture, ".out.bin." RUN ".1.partial");
}

static void
test_small_disk (Fixture *fixture, gconstpointer unused)
{
  int status = faults_run_child (fill_small_disk, fixture);

  if (status == 77)
    g_test_skip ("needs the right to mount");
  else
    g_assert_cmpint (status, ==, 0);
}

static void
test_dev_full (void)
{
  int fd = open ("/dev/full", O_RDWR | O_CLOEXEC);
  g_autoptr (GError) error = NULL;

  if (fd < 0)
    {
      g_test_skip ("no /dev/full");
      return;
    }
  g_assert_false (dlp_durable_write (fd, "/dev/full", "123", 3, 0, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NO_SPACE);
  assert_says (error, "/dev/full: cannot write 3 bytes at byte 0: ");
  close (fd);
}

static void
test_write_file_durably (Fixture *fixture, gconstpointer unused)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *elsewhere = g_build_filename (fixture->folder, "no", "such", NULL);

  g_string_assign (fixture->expected, "second");
  g_assert_true (dlp_write_file_durably (fixture->path, "first one", 9, NULL));
  faults_reset ();
  g_assert_true (dlp_write_file_durably (fixture->path, "second", 6, NULL));
  g_assert_cmpstr (faults_get_trace (), ==, "pwrite fdatasync renameat fsync");
  assert_contents (fixture->path, fixture->expected);
  g_assert_true (dlp_write_file_durably (fixture->path, "second", 6, NULL));

  faults_fail_next ("fdatasync", EIO);
  g_assert_false (dlp_write_file_durably (fixture->path, "third", 5, &error));
  assert_says (error, "fdatasync");
  assert_contents (fixture->path, fixture->expected);
  assert_files (fixture, "out.bin");
  g_clear_error (&error);

  g_assert_false (dlp_write_file_durably (elsewhere, "", 0, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
}

#define ADD(name, func, data)                                                                      \
  g_test_add ("/output-file/" name, Fixture, data, set_up, func, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD ("write", test_write, NULL);
  ADD ("reserve", test_reserve, NULL);
  ADD ("small-writes-are-gathered", test_small_writes_are_gathered, NULL);
  ADD ("folder-and-mode", test_folder_and_mode, NULL);
  ADD ("create-replaces", test_create_replaces, NULL);
  ADD ("interrupted-writes", test_interrupted_writes, NULL);
  ADD ("concurrent-sync", test_concurrent_sync, NULL);
  ADD ("resume/rename", test_resume, GINT_TO_POINTER (TRUE));
  ADD ("resume/copy", test_resume, GINT_TO_POINTER (FALSE));
  ADD ("resume/same-attempt-rename", test_resume_same_attempt, GINT_TO_POINTER (TRUE));
  ADD ("resume/same-attempt-copy", test_resume_same_attempt, GINT_TO_POINTER (FALSE));
  ADD ("resume/other-device", test_resume_without_copy_call, GINT_TO_POINTER (EXDEV));
  ADD ("resume/no-copy-call", test_resume_without_copy_call, GINT_TO_POINTER (ENOSYS));
  ADD ("resume/beside-zombie", test_resume_beside_zombie, NULL);
  ADD ("resume/refused", test_resume_refused, NULL);
  ADD ("resume/twice-renamed", test_resume_twice, GINT_TO_POINTER (TRUE));
  ADD ("resume/twice-copied", test_resume_twice, GINT_TO_POINTER (FALSE));
  ADD ("resume/locked", test_resume_locked, NULL);
  ADD ("publish", test_publish, NULL);
  ADD ("publish/rename", test_publish_ways, GUINT_TO_POINTER (0));
  ADD ("publish/link", test_publish_ways, GUINT_TO_POINTER (1));
  ADD ("publish/look", test_publish_ways, GUINT_TO_POINTER (2));
  ADD ("publish/twice-named", test_publish_twice_named, NULL);
  ADD ("publish/twin", test_publish_twin, NULL);
  ADD ("others/final-taken", test_final_taken, NULL);
  ADD ("others/two-runs", test_two_runs, NULL);
  ADD ("others/check", test_check_others, NULL);
  ADD ("others/no-locks", test_no_locks, NULL);
  ADD ("clean", test_clean, NULL);
  ADD ("errors-stay/write", test_errors_stay, "pwrite");
  ADD ("errors-stay/sync", test_errors_stay, "fdatasync");
  ADD ("errors-stay/folder", test_errors_stay, "fsync");
  ADD ("file-limit", test_file_limit, NULL);
  ADD ("small-disk", test_small_disk, NULL);
  g_test_add_func ("/output-file/dev-full", test_dev_full);
  ADD ("write-file-durably", test_write_file_durably, NULL);
  return g_test_run ();
}
