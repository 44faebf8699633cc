/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "state-dir-rig.h"

#define MANY_ELEMENTS 3000

static void
test_empty (Fixture *fixture, gconstpointer unused)
{
  g_autofree char *path = g_build_filename (fixture->path, "a", "b.dlpipe", NULL);
  g_autoptr (DlpStateDir) dir = open_dir (path);
  guint64 generation = 7;

  g_assert_cmpstr (dlp_state_dir_get_path (dir), ==, path);
  g_assert_cmpuint (load (dir, &generation), ==, 0);
  g_assert_cmpuint (generation, ==, 0);
  g_assert_false (dlp_state_dir_former_is_dead (dir));
  g_assert_cmpuint (dlp_state_dir_get_attempt (dir), ==, 1);
}

static void
test_generations (Fixture *fixture, gconstpointer unused)
{
  g_autoptr (DlpStateDir) dir = open_dir (fixture->path);
  guint64 generation;

  for (guint i = 1; i <= 12; i++)
    {
      save (dir, i);
      g_assert_cmpuint (load (dir, &generation), ==, i);
      g_assert_cmpuint (generation, ==, i);
    }
  assert_files (fixture, "checkpoint-11 checkpoint-12 lock");

  g_clear_pointer (&dir, dlp_state_dir_free);
  dir = open_dir (fixture->path);
  g_assert_cmpuint (load (dir, &generation), ==, 12);
  save (dir, 13);
  assert_files (fixture, "checkpoint-12 checkpoint-13 lock");
}

typedef struct
{
  const char *name;
  const char *what;
  const char *contents;
  gssize cut, flip; /* of the good file: its length or the place, if contents is NULL */
} Damage;

static const Damage damages[] = {
  { "empty", "the file is empty", "", 0, 0 },
  { "json", "not a checkpoint", "{\"version\":1,\"seq\":4", 0, 0 },
  { "cut", "cut off", NULL, 60, 0 },
  { "grown", "something follows its end", NULL, 1000, 0 },
  { "flipped", "checksum", NULL, 0, 50 },
};

static void
damage_file (Fixture *fixture, const char *name, const Damage *damage)
{
  g_autofree char *path = g_build_filename (fixture->path, name, NULL);
  g_autofree char *data = NULL;
  gsize size;

  if (damage->contents != NULL)
    {
      put_file (fixture, name, damage->contents, -1);
      return;
    }

  g_assert_true (g_file_get_contents (path, &data, &size, NULL));
  if (damage->cut > 0)
    {
      data = g_realloc (data, 1000);
      memset (data + size, 0, 1000 - size);
      size = (gsize) damage->cut;
    }
  else
    {
      data[damage->flip] ^= 4;
    }
  put_file (fixture, name, data, (gssize) size);
}

static void
test_falls_back (Fixture *fixture, gconstpointer user_data)
{
  const Damage *damage = user_data;
  g_autoptr (DlpStateDir) dir = open_dir (fixture->path);
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) payload = NULL;
  g_autofree char *fell_back = NULL;
  guint64 generation;

  for (guint i = 1; i <= 4; i++)
    save (dir, i);
  damage_file (fixture, "checkpoint-4", damage);
  g_clear_pointer (&dir, dlp_state_dir_free);

  dir = open_dir (fixture->path);
  payload = dlp_state_dir_load (dir, &generation, &fell_back, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (generation, ==, 3);
  g_assert_nonnull (strstr (fell_back, damage->what));
  g_assert_nonnull (strstr (fell_back, "checkpoint-4: "));
  g_assert_nonnull (strstr (fell_back, "going on from checkpoint-3"));
  assert_files (fixture, "checkpoint-3 checkpoint-4.bad lock");

  /* The good one is what stays beside the new one. */
  save (dir, 5);
  assert_files (fixture, "checkpoint-3 checkpoint-4.bad checkpoint-5 lock");
  save (dir, 6);
  assert_files (fixture, "checkpoint-4.bad checkpoint-5 checkpoint-6 lock");
}

static void
test_all_damaged (Fixture *fixture, gconstpointer unused)
{
  g_autoptr (DlpStateDir) dir = open_dir (fixture->path);

  save (dir, 1);
  save (dir, 2);
  damage_file (fixture, "checkpoint-1", &damages[0]);
  damage_file (fixture, "checkpoint-2", &damages[4]);

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *fell_back = NULL;

      g_clear_pointer (&dir, dlp_state_dir_free);
      dir = open_dir (fixture->path);
      g_assert_null (dlp_state_dir_load (dir, NULL, &fell_back, &error));
      g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT);
      assert_says (error, "checkpoint-1: the file is empty");
      assert_says (error, "checkpoint-2: damaged: the checksum");
      g_assert_null (fell_back);
      assert_files (fixture, "checkpoint-1 checkpoint-2 lock");
    }
}

static void
test_unreadable (Fixture *fixture, gconstpointer unused)
{
  g_autoptr (DlpStateDir) dir = open_dir (fixture->path);
  g_autofree char *pipe_path = g_build_filename (fixture->path, "checkpoint-9", NULL);
  g_autofree char *fell_back = NULL;
  g_autoptr (GVariant) payload = NULL;

  save (dir, 1);
  g_assert_cmpint (mkfifo (pipe_path, 0600), ==, 0);
  payload = dlp_state_dir_load (dir, NULL, &fell_back, NULL);
  g_assert_nonnull (payload);
  g_assert_nonnull (strstr (fell_back, "not a regular file"));
}

/* Falling back would lose the work of the newer program without a word. */
static void
test_newer_format (Fixture *fixture, gconstpointer unused)
{
  static const guint8 newer[] = {
    'D',  'L',  'P',  'S',  'T',  'A',  'T',  'E',  2,    0,    0,    0,    0,    0,
    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0x24, 0xff, 0xf2, 0xc0,
    0xf5, 0x29, 0x3b, 0x65, 0x6d, 0xa9, 0x56, 0xd3, 0xa9, 0x22, 0x30, 0x37,
  };
  g_autoptr (DlpStateDir) dir = open_dir (fixture->path);
  g_autoptr (GError) error = NULL;

  save (dir, 1);
  put_file (fixture, "checkpoint-2", (const char *) newer, sizeof newer);
  g_assert_null (dlp_state_dir_load (dir, NULL, NULL, &error));
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_VERSION);
  assert_says (error, "checkpoint-2: written by a newer dlpipe, format 2, this one reads 1");
  assert_files (fixture, "checkpoint-1 checkpoint-2 lock");
}

static void
test_order_of_calls (Fixture *fixture, gconstpointer unused)
{
  g_autoptr (DlpStateDir) dir = open_dir (fixture->path);

  save (dir, 1);
  save (dir, 2);
  faults_reset ();
  save (dir, 3);
  g_assert_cmpstr (faults_get_trace (), ==, "pwrite fdatasync renameat fsync unlinkat");
  g_assert_cmpuint (faults_get_count (), ==, 5);
}

static void
test_strays (Fixture *fixture, gconstpointer unused)
{
  g_auto (GStrv) names = g_strsplit (
      ".checkpoint-3.123.0badcafe.tmp .status.json.1.00000000.tmp .scratch.77.00aabbcc.tmp "
      ".checkpoint-3.123.0badcafe.tmp~ .notes.tmp checkpoint-007 checkpoint-+7 "
      "checkpoint-99999999999999999999",
      " ", 0);

  dlp_state_dir_free (open_dir (fixture->path));
  for (guint i = 0; names[i] != NULL; i++)
    put_file (fixture, names[i], "x", 1);
  dlp_state_dir_free (open_dir (fixture->path));
  assert_files (fixture, ".checkpoint-3.123.0badcafe.tmp~ .notes.tmp checkpoint-+7 checkpoint-007 "
                         "checkpoint-99999999999999999999 lock");
}

/* Somebody's own folder, whatever its files are called. */
static void
test_not_a_state (Fixture *fixture, gconstpointer unused)
{
  static const char zeros[170];
  static const char *const names[] = { "status.json",      "inputs",      "lock",
                                       "quarantine.jsonl", "report.json", "checkpoint-7" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_build_filename (fixture->path, names[i], NULL);
      g_autoptr (GError) error = NULL;

      put_file (fixture, names[i], "mine", 4);
      g_assert_null (dlp_state_dir_open (fixture->path, &error));
      g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_FOREIGN_OUTPUT);
      assert_says (error, "is not the state of a run, but has “");
      assert_says (error, names[i]);
      assert_files (fixture, names[i]);
      unlink (path);
    }
  /* What a run that died at once leaves; and one whose power was cut then. */
  put_file (fixture, "lock", "", 0);
  dlp_state_dir_free (open_dir (fixture->path));
  put_file (fixture, "lock", zeros, sizeof zeros);
  dlp_state_dir_free (open_dir (fixture->path));
}

/* What a trainer that saves into the same folder makes is not looked at, renamed or removed, and is
 * no newer generation. */
static void
test_folders (Fixture *fixture, gconstpointer unused)
{
  static const char *const names[] = { "checkpoint-2", "checkpoint-500" };
  DlpStateDir *dir;
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_build_filename (fixture->path, names[i], NULL);

      g_assert_cmpint (mkdir (path, 0700), ==, 0);
    }
  dir = open_dir (fixture->path);
  save (dir, 1);
  save (dir, 2);
  assert_files (fixture, "checkpoint-1 checkpoint-2 checkpoint-3 checkpoint-500 lock");
  dlp_state_dir_free (dir);
  dir = open_dir (fixture->path);
  g_assert_cmpuint (load (dir, NULL), ==, 2);
  assert_files (fixture, "checkpoint-1 checkpoint-2 checkpoint-3 checkpoint-500 lock");
  dlp_state_dir_clear (dir, &error);
  g_assert_no_error (error);
  assert_files (fixture, "checkpoint-2 checkpoint-500 lock");
  dlp_state_dir_free (dir);
}

static GVariant *
make_many_files (guint number)
{
  GVariantBuilder elements;

  g_variant_builder_init (&elements, G_VARIANT_TYPE ("aa{sv}"));
  for (guint i = 0; i < MANY_ELEMENTS; i++)
    {
      g_autofree char *name = g_strdup_printf ("state-e%u-1-%u", i, number);

      g_variant_builder_add_parsed (&elements, "{'state': <{'state-files': <[(%s, %t, '')]>}>}",
                                    name, G_GUINT64_CONSTANT (0));
    }
  return g_variant_new_parsed ("{'elements': %v}", g_variant_builder_end (&elements));
}

/* Files of states: those that two generations name stay; and it is not a matter of their square. */
static void
test_many_files (Fixture *fixture, gconstpointer unused)
{
  g_autoptr (DlpStateDir) dir = open_dir (fixture->path);
  clock_t began;

  for (guint number = 1; number <= 4; number++)
    for (guint i = 0; i < MANY_ELEMENTS; i++)
      {
        g_autofree char *name = g_strdup_printf ("%s/state-e%u-1-%u", fixture->path, i, number);
        int fd = open (name, O_CREAT | O_WRONLY, 0600);

        g_assert_cmpint (fd, >=, 0);
        close (fd);
      }
  began = clock ();
  for (guint number = 1; number <= 3; number++)
    g_assert_true (dlp_state_dir_save (dir, make_many_files (number), NULL));
  g_assert_cmpfloat ((double) (clock () - began) / CLOCKS_PER_SEC, <, 2);
  g_assert_false (has_file (fixture, "state-e7-1-1"));
  for (guint i = 0; i < MANY_ELEMENTS; i++)
    {
      g_autofree char *before = g_strdup_printf ("state-e%u-1-2", i);
      g_autofree char *next = g_strdup_printf ("state-e%u-1-4", i);

      g_assert_true (has_file (fixture, before) && has_file (fixture, next));
    }
}

static void
save_attempt (DlpStateDir *dir)
{
  g_autoptr (GError) error = NULL;

  dlp_state_dir_save (dir,
                      g_variant_new_parsed ("{'value': <uint32 1>, 'attempt': <%u>}",
                                            dlp_state_dir_get_attempt (dir)),
                      &error);
  g_assert_no_error (error);
}

/* Whoever deletes the lock leaves a state that can be gone on with, and attempts are counted on. */
static void
test_without_lock (Fixture *fixture, gconstpointer unused)
{
  g_autofree char *lock = g_build_filename (fixture->path, "lock", NULL);
  DlpStateDir *dir;

  for (guint i = 1; i <= 5; i++)
    {
      dir = open_dir (fixture->path);
      g_assert_cmpint (i > 1, ==, load (dir, NULL) == 1);
      g_assert_cmpuint (dlp_state_dir_get_attempt (dir), ==, i);
      save_attempt (dir);
      g_assert_cmpuint (load (dir, NULL), ==, 1);
      g_assert_cmpuint (dlp_state_dir_get_attempt (dir), ==, i);
      dlp_state_dir_free (dir);
      if (i % 2 == 0)
        g_assert_cmpint (unlink (lock), ==, 0);
    }
}

typedef struct
{
  const char *path;
  guint nth;
  FaultsCrash how;
  guint value;
} Crash;

static void
save_and_crash (gpointer user_data)
{
  Crash *crash = user_data;
  DlpStateDir *dir = open_dir (crash->path);

  load (dir, NULL);
  faults_crash_at (crash->nth, crash->how);
  save (dir, crash->value);
  /* What is said to be durable must survive even this. */
  faults_crash_at (0, crash->how);
  save (dir, 0);
}

static void
crash_in_save (Fixture *fixture, guint nth, FaultsCrash how, guint value)
{
  Crash crash = { fixture->path, nth, how, value };
  g_autoptr (DlpStateDir) dir = NULL;
  guint found;

  g_assert_cmpint (faults_run_child (save_and_crash, &crash), ==, FAULTS_CRASHED);
  dir = open_dir (fixture->path);
  found = load (dir, NULL);
  g_assert_true (found == value || found == value - 1);
  /* Calls: pwrite, fdatasync, renameat, fsync, unlinkat. */
  g_assert_cmpuint (found, ==, nth > (how == FAULTS_KILL ? 2 : 3) ? value : value - 1);
  if (found != value)
    save (dir, value);
}

static void
test_crashes (Fixture *fixture, gconstpointer unused)
{
  guint value = 3;
  g_autoptr (DlpStateDir) dir = open_dir (fixture->path);

  save (dir, 1);
  save (dir, 2);
  g_clear_pointer (&dir, dlp_state_dir_free);
  for (guint how = FAULTS_KILL; how <= FAULTS_POWER; how++)
    for (guint nth = 0; nth < 7; nth++)
      crash_in_save (fixture, nth, how, value++);
  g_assert_false (has_file (fixture, "checkpoint-1"));
}

static void
fail_to_save (DlpStateDir *dir, const char *call, int code, const char *what)
{
  g_autoptr (GError) error = NULL;

  if (call != NULL)
    faults_fail_next (call, code);
  g_assert_false (dlp_state_dir_save (dir, make_payload (9), &error));
  assert_says (error, what);
  assert_says (error, dlp_state_dir_get_path (dir));
}

/* A full disk passes. */
static void
test_disk_full (Fixture *fixture, gconstpointer unused)
{
  g_autoptr (DlpStateDir) dir = open_dir (fixture->path);
  g_autoptr (GBytes) bytes = dlp_checkpoint_encode (make_payload (9));
  g_autofree char *wanted =
      g_strdup_printf ("cannot write %u bytes", (guint) g_bytes_get_size (bytes));

  save (dir, 1);
  fail_to_save (dir, "pwrite", ENOSPC, wanted);
  fail_to_save (dir, "pwrite", EDQUOT, wanted);
  fail_to_save (dir, "renameat", EIO, "cannot rename");
  assert_files (fixture, "checkpoint-1 lock");
  save (dir, 2);
  g_assert_cmpuint (load (dir, NULL), ==, 2);
}

static void
test_sync_failed (Fixture *fixture, gconstpointer user_data)
{
  const char *call = user_data;
  g_autoptr (DlpStateDir) dir = open_dir (fixture->path);

  save (dir, 1);
  save (dir, 2);
  fail_to_save (dir, call, EIO, call);
  fail_to_save (dir, NULL, 0, call);
  g_assert_true (has_file (fixture, "checkpoint-1"));
  g_assert_true (has_file (fixture, "checkpoint-2"));
}

static void
test_interrupted_writes (Fixture *fixture, gconstpointer unused)
{
  g_autoptr (DlpStateDir) dir = open_dir (fixture->path);

  faults_shorten_writes (7);
  save (dir, 1);
  g_assert_cmpuint (load (dir, NULL), ==, 1);
}

static void
test_read_only (Fixture *fixture, gconstpointer unused)
{
  g_autoptr (DlpStateDir) dir = open_dir (fixture->path);
  g_autoptr (DlpStateDir) reader = dlp_state_dir_open_read_only (fixture->path, NULL);
  g_autoptr (GError) error = NULL;
  g_autofree char *fell_back = NULL;
  g_autoptr (GVariant) payload = NULL;

  save (dir, 1);
  save (dir, 2);
  damage_file (fixture, "checkpoint-2", &damages[0]);
  payload = dlp_state_dir_load (reader, NULL, &fell_back, NULL);
  g_assert_nonnull (payload);
  g_assert_nonnull (fell_back);
  g_assert_false (dlp_state_dir_save (reader, make_payload (3), &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_READ_ONLY);
  g_assert_false (dlp_state_dir_clear (reader, NULL));
  g_assert_false (dlp_state_dir_write_status (reader, "{}"));
  assert_files (fixture, "checkpoint-1 checkpoint-2 lock");

  g_assert_null (dlp_state_dir_open_read_only ("/nonexistent/state", NULL));
}

static gpointer
save_many (gpointer user_data)
{
  for (guint i = 2; i <= 300; i++)
    {
      save (user_data, i);
      g_assert_true (dlp_state_dir_write_status (user_data, "{}"));
    }
  return NULL;
}

/* A tool reads while generations come and go, and another thread writes the status. */
static void
test_concurrent (Fixture *fixture, gconstpointer unused)
{
  g_autoptr (DlpStateDir) dir = open_dir (fixture->path);
  g_autoptr (DlpStateDir) reader = dlp_state_dir_open_read_only (fixture->path, NULL);
  guint last = 0;
  GThread *thread;

  save (dir, 1);
  thread = g_thread_new ("saver", save_many, dir);
  while (last < 300)
    {
      guint value = load (reader, NULL);

      g_assert_cmpuint (value, >=, last);
      g_assert_true (dlp_state_dir_write_status (dir, "{\"records\": 1}"));
      last = value;
    }
  g_thread_join (thread);
  assert_files (fixture, "checkpoint-299 checkpoint-300 lock status.json");
}

static void
test_status (Fixture *fixture, gconstpointer unused)
{
  g_autoptr (DlpStateDir) dir = open_dir (fixture->path);
  g_autofree char *path = g_build_filename (fixture->path, "status.json", NULL);
  g_autofree char *contents = NULL;

  faults_reset ();
  g_assert_true (dlp_state_dir_write_status (dir, "{\"a\": 1}"));
  g_assert_true (dlp_state_dir_write_status (dir, "{}"));
  g_assert_true (g_file_get_contents (path, &contents, NULL, NULL));
  g_assert_cmpstr (contents, ==, "{}");
  g_assert_cmpstr (faults_get_trace (), ==, "pwrite renameat pwrite renameat");
  faults_fail_next ("pwrite", ENOSPC);
  g_assert_false (dlp_state_dir_write_status (dir, "{}"));
  assert_files (fixture, "lock status.json");
}

static void
fill (Fixture *fixture, DlpStateDir *dir)
{
  DlpInputEntry entry = { 0, 0, 1, 5, (char *) "mtime=1.0", (char *) "a" };
  guint64 length, hash;

  g_assert_true (dlp_state_dir_add_input (dir, &entry, NULL));
  g_assert_true (dlp_state_dir_sync_inputs (dir, &length, &hash, NULL));
  for (guint i = 1; i <= 3; i++)
    g_assert_true (dlp_state_dir_save (
        dir,
        g_variant_new_parsed ("{'value': <%u>, 'length': <%t>, 'hash': <%t>}", i, length, hash),
        NULL));
  g_assert_true (dlp_state_dir_write_status (dir, "{}"));
  put_file (fixture, "quarantine.jsonl", "{}\n", -1);
  put_file (fixture, ".quarantine.jsonl.0a1b.3.partial", "{}\n", -1);
  put_file (fixture, "quarantine-r1.jsonl", "{}\n", -1);
  put_file (fixture, ".quarantine-r1.jsonl.0a1b.3.partial", "{}\n", -1);
  put_file (fixture, "report.json", "{}", -1);
  put_file (fixture, "checkpoint-1.bad", "x", -1);
  put_file (fixture, "mine.txt", "x", -1);
}

static void
test_clear (Fixture *fixture, gconstpointer unused)
{
  g_autoptr (DlpStateDir) dir = open_dir (fixture->path);
  g_autoptr (GError) error = NULL;

  fill (fixture, dir);
  dlp_state_dir_clear (dir, &error);
  g_assert_no_error (error);
  assert_files (fixture, "lock mine.txt");
  g_assert_cmpuint (load (dir, NULL), ==, 0);
  g_assert_null (dlp_state_dir_find_input (dir, 0, 0, 1, &error));
  g_assert_no_error (error);
  fill (fixture, dir);
  g_assert_cmpuint (load (dir, NULL), ==, 3);
}

/* Kept until the state is cleared, and known without a checkpoint. */
static void
test_run_id (Fixture *fixture, gconstpointer unused)
{
  static const char *const bad[] = { "", "\n", "../x\n", "AB\n", "ab cd\n", "ab\ncd\n" };
  g_autoptr (DlpStateDir) dir = open_dir (fixture->path);
  g_autoptr (GError) error = NULL;
  g_autofree char *id = dlp_state_dir_load_run_id (dir, NULL);

  g_assert_null (id);
  dlp_state_dir_save_run_id (dir, "0123456789abcdef", &error);
  g_assert_no_error (error);
  assert_files (fixture, "lock run-id");
  id = dlp_state_dir_load_run_id (dir, NULL);
  g_assert_cmpstr (id, ==, "0123456789abcdef");
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      put_file (fixture, "run-id", bad[i], -1);
      g_assert_null (dlp_state_dir_load_run_id (dir, NULL));
    }
  g_assert_true (dlp_state_dir_clear (dir, NULL));
  assert_files (fixture, "lock");
}

static void
clear_and_crash (gpointer user_data)
{
  Crash *crash = user_data;
  DlpStateDir *dir = open_dir (crash->path);

  faults_crash_at (crash->nth, crash->how);
  dlp_state_dir_clear (dir, NULL);
}

/* Cleared half: either a state that can be gone on from, the newest one, or none. */
static void
test_clear_crashes (Fixture *fixture, gconstpointer unused)
{
  Crash crash = { fixture->path, 0, FAULTS_KILL, 0 };
  int status = FAULTS_CRASHED;

  for (; status == FAULTS_CRASHED; crash.nth++)
    {
      g_autoptr (DlpStateDir) dir = open_dir (fixture->path);
      g_autoptr (GVariant) payload = NULL;
      guint64 length, hash;
      guint value;

      g_assert_true (dlp_state_dir_clear (dir, NULL));
      fill (fixture, dir);
      g_clear_pointer (&dir, dlp_state_dir_free);
      status = faults_run_child (clear_and_crash, &crash);

      dir = open_dir (fixture->path);
      payload = dlp_state_dir_load (dir, NULL, NULL, NULL);
      if (payload == NULL)
        continue;
      g_assert_true (g_variant_lookup (payload, "value", "u", &value));
      g_assert_true (g_variant_lookup (payload, "length", "t", &length));
      g_assert_true (g_variant_lookup (payload, "hash", "t", &hash));
      g_assert_cmpuint (value, ==, 3);
      g_assert_true (dlp_state_dir_restore_inputs (dir, length, hash, NULL));
    }
  g_assert_cmpuint (crash.nth, >, 8);
}

/* The list that a checkpoint needs cannot be overwritten by mistake. */
static void
test_inputs_not_restored (Fixture *fixture, gconstpointer unused)
{
  DlpInputEntry entry = { 0, 0, 1, 5, NULL, (char *) "a" };
  g_autoptr (DlpStateDir) dir = open_dir (fixture->path);
  g_autoptr (GError) error = NULL;

  fill (fixture, dir);
  g_clear_pointer (&dir, dlp_state_dir_free);
  dir = open_dir (fixture->path);
  g_assert_false (dlp_state_dir_add_input (dir, &entry, &error));
  g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE);
}

#define ADD(name, func, data)                                                                      \
  g_test_add ("/state-dir/" name, Fixture, data, set_up, func, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD ("empty", test_empty, NULL);
  ADD ("generations", test_generations, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (damages); i++)
    {
      g_autofree char *name = g_strconcat ("/state-dir/falls-back/", damages[i].name, NULL);

      g_test_add (name, Fixture, &damages[i], set_up, test_falls_back, tear_down);
    }
  ADD ("all-damaged", test_all_damaged, NULL);
  ADD ("unreadable", test_unreadable, NULL);
  ADD ("newer-format", test_newer_format, NULL);
  ADD ("order-of-calls", test_order_of_calls, NULL);
  ADD ("strays", test_strays, NULL);
  ADD ("not-a-state", test_not_a_state, NULL);
  ADD ("folders", test_folders, NULL);
  ADD ("many-files", test_many_files, NULL);
  ADD ("without-lock", test_without_lock, NULL);
  ADD ("crashes", test_crashes, NULL);
  ADD ("disk-full", test_disk_full, NULL);
  ADD ("sync-failed/file", test_sync_failed, "fdatasync");
  ADD ("sync-failed/folder", test_sync_failed, "fsync");
  ADD ("interrupted-writes", test_interrupted_writes, NULL);
  ADD ("read-only", test_read_only, NULL);
  ADD ("concurrent", test_concurrent, NULL);
  ADD ("status", test_status, NULL);
  ADD ("clear", test_clear, NULL);
  ADD ("run-id", test_run_id, NULL);
  ADD ("clear-crashes", test_clear_crashes, NULL);
  ADD ("inputs-not-restored", test_inputs_not_restored, NULL);
  return g_test_run ();
}
