/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dlp-input-index-private.h"
#include "dlp-input-list-private.h"

#include "faults.h"

typedef struct
{
  char *path;
  char *file;
  int folder;
  DlpInputList *list;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer unused)
{
  faults_reset ();
  fixture->path = faults_make_folder ();
  fixture->file = g_build_filename (fixture->path, "inputs", NULL);
  fixture->folder = open (fixture->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  g_assert_cmpint (fixture->folder, >=, 0);
  fixture->list = dlp_input_list_new (fixture->folder, fixture->path);
}

static void
tear_down (Fixture *fixture, gconstpointer unused)
{
  faults_reset ();
  dlp_input_list_free (fixture->list);
  close (fixture->folder);
  g_free (fixture->file);
  faults_remove_folder (fixture->path);
}

/* What is listed of file @i: every byte but NUL occurs in URIs. */
static DlpInputEntry *
make_entry (guint i)
{
  DlpInputEntry *entry = g_new0 (DlpInputEntry, 1);

  entry->stage = i % 3;
  entry->source = i % 7 == 0 ? G_MAXUINT32 : i % 7;
  entry->file = i;
  entry->size = i % 5 == 0 ? -1 : i % 11 == 0 ? G_MAXINT64 : (gint64) i * 1000;
  entry->identity = i % 4 == 0 ? NULL :
                    i % 4 == 1 ? g_strdup ("") :
                                 g_strdup_printf ("\"etag\t-%u\"", i);
  entry->uri = g_strdup_printf ("data/%c%c\n%u\\-.jsonl", 1 + i % 255, 1 + (i / 3) % 255, i);
  return entry;
}

static void
add (Fixture *fixture, guint from, guint to)
{
  for (guint i = from; i < to; i++)
    {
      g_autoptr (DlpInputEntry) entry = make_entry (i);
      g_autoptr (GError) error = NULL;

      dlp_input_list_add (fixture->list, entry, &error);
      g_assert_no_error (error);
    }
}

static gboolean
has (Fixture *fixture, guint i)
{
  g_autoptr (DlpInputEntry) expected = make_entry (i);
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpInputEntry) found = NULL;

  found = dlp_input_list_find (fixture->list, expected->stage, expected->source, expected->file,
                               &error);
  g_assert_no_error (error);
  if (found == NULL)
    return FALSE;

  g_assert_cmpuint (found->stage, ==, expected->stage);
  g_assert_cmpuint (found->source, ==, expected->source);
  g_assert_cmpuint (found->file, ==, expected->file);
  g_assert_cmpint (found->size, ==, expected->size);
  g_assert_cmpstr (found->identity, ==, expected->identity);
  g_assert_cmpstr (found->uri, ==, expected->uri);
  return TRUE;
}

static void
sync_list (Fixture *fixture, guint64 *length, guint64 *hash)
{
  g_autoptr (GError) error = NULL;

  dlp_input_list_sync (fixture->list, length, hash, &error);
  g_assert_no_error (error);
}

static void
reopen (Fixture *fixture)
{
  dlp_input_list_free (fixture->list);
  fixture->list = dlp_input_list_new (fixture->folder, fixture->path);
}

static void
restore (Fixture *fixture, DlpInputListMode mode, guint64 length, guint64 hash)
{
  g_autoptr (GError) error = NULL;

  reopen (fixture);
  dlp_input_list_restore (fixture->list, mode, length, hash, &error);
  g_assert_no_error (error);
}

static void
test_many (Fixture *fixture, gconstpointer user_data)
{
  DlpInputListMode mode = GPOINTER_TO_UINT (user_data);
  guint64 length, hash, longer, other;
  guint n = 10000;

  g_assert_false (has (fixture, 0));
  add (fixture, 0, n);
  for (guint i = 0; i < n; i++)
    g_assert_true (has (fixture, i));
  sync_list (fixture, &length, &hash);
  add (fixture, n, n + 3000);
  sync_list (fixture, &longer, &other);
  g_assert_cmpuint (longer, >, length);

  restore (fixture, mode, length, hash);
  for (guint i = 0; i < n + 3000; i++)
    g_assert_cmpint (has (fixture, i), ==, i < n);
  if (mode == DLP_INPUT_LIST_READ_ONLY)
    return;

  /* The same entries again give the same file. */
  add (fixture, n, n + 3000);
  sync_list (fixture, &length, &hash);
  g_assert_cmpuint (length, ==, longer);
  g_assert_cmpuint (hash, ==, other);
  for (guint i = 0; i < n + 3000; i++)
    g_assert_true (has (fixture, i));
  restore (fixture, DLP_INPUT_LIST_READ_ONLY, length, hash);
}

static void
test_format (Fixture *fixture, gconstpointer unused)
{
  DlpInputEntry entry = { 1, 2, 3, -1, NULL, (char *) "a\tb\\c\nd" };
  g_autofree char *contents = NULL;
  guint64 length, hash;

  sync_list (fixture, &length, &hash);
  g_assert_cmpuint (length, ==, 16);
  g_assert_true (dlp_input_list_add (fixture->list, &entry, NULL));
  sync_list (fixture, &length, &hash);
  g_assert_true (g_file_get_contents (fixture->file, &contents, NULL, NULL));
  g_assert_cmpstr (contents, ==, "dlpipe inputs 1\n1\t2\t3\t-1\t\\-\ta\\tb\\\\c\\nd\n");
  g_assert_cmpuint (length, ==, strlen (contents));
}

static void
test_last_counts (Fixture *fixture, gconstpointer unused)
{
  guint64 length, hash;

  for (gint64 i = 0; i < 200; i++)
    {
      DlpInputEntry entry = { 0, 0, 5, i, NULL, (char *) "x" };

      g_assert_true (dlp_input_list_add (fixture->list, &entry, NULL));
      add (fixture, (guint) i * 10, (guint) i * 10 + 10);
    }
  sync_list (fixture, &length, &hash);
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (DlpInputEntry) found = dlp_input_list_find (fixture->list, 0, 0, 5, NULL);

      g_assert_cmpint (found->size, ==, 199);
      restore (fixture, DLP_INPUT_LIST_IN_PLACE, length, hash);
    }
}

static void
test_long_uri (Fixture *fixture, gconstpointer unused)
{
  g_autofree char *uri = g_strnfill (3 * 1024 * 1024, '\t');
  DlpInputEntry entry = { 0, 0, 0, 0, (char *) "i", uri };
  guint64 length, hash;

  g_assert_true (dlp_input_list_add (fixture->list, &entry, NULL));
  add (fixture, 1, 10);
  sync_list (fixture, &length, &hash);
  restore (fixture, DLP_INPUT_LIST_COPY, length, hash);
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (DlpInputEntry) found = dlp_input_list_find (fixture->list, 0, 0, 0, NULL);

      g_assert_cmpstr (found->uri, ==, uri);
      g_assert_true (has (fixture, 9));
    }
}

static void
assert_not_restored (Fixture *fixture, guint64 length, guint64 hash, const char *what)
{
  for (guint mode = DLP_INPUT_LIST_READ_ONLY; mode <= DLP_INPUT_LIST_COPY; mode++)
    {
      g_autofree char *before = NULL;
      g_autofree char *after = NULL;
      g_autofree char *names = NULL;
      g_autoptr (GError) error = NULL;
      gsize n_before = 0, n_after = 0;

      reopen (fixture);
      g_file_get_contents (fixture->file, &before, &n_before, NULL);
      g_assert_false (dlp_input_list_restore (fixture->list, mode, length, hash, &error));
      g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT);
      if (strstr (error->message, what) == NULL || strstr (error->message, fixture->file) == NULL)
        g_error ("“%s” does not say “%s”", error->message, what);
      g_file_get_contents (fixture->file, &after, &n_after, NULL);
      g_assert_cmpmem (before, n_before, after, n_after);
      names = faults_list_folder (fixture->path);
      g_assert_cmpstr (names, ==, before != NULL ? "inputs" : "");
    }
}

static void
test_damaged (Fixture *fixture, gconstpointer unused)
{
  guint64 length, hash;
  int fd;

  add (fixture, 0, 100);
  sync_list (fixture, &length, &hash);
  assert_not_restored (fixture, length, hash + 1, "their hash is");
  assert_not_restored (fixture, length - 1, hash, "do not end with a whole entry");
  assert_not_restored (fixture, length + 1, hash, "cut off");
  assert_not_restored (fixture, 0, hash, "less than its first line");

  fd = open (fixture->file, O_RDWR | O_CLOEXEC);
  g_assert_cmpint (write (fd, "D", 1), ==, 1);
  assert_not_restored (fixture, length, hash, "its first line is not");
  g_assert_cmpint (pwrite (fd, "d", 1, 0), ==, 1);
  g_assert_cmpint (pwrite (fd, "x", 1, 16), ==, 1);
  assert_not_restored (fixture, length, hash, "malformed entry at byte 16");
  close (fd);
  g_assert_cmpint (unlink (fixture->file), ==, 0);
  assert_not_restored (fixture, length, hash, "missing");
}

/* Killed in the middle of an append, after any byte of it. */
static void
test_torn_tail (Fixture *fixture, gconstpointer unused)
{
  g_autofree char *contents = NULL;
  guint64 length, hash, longer, other;
  gsize size;

  add (fixture, 0, 20);
  sync_list (fixture, &length, &hash);
  add (fixture, 20, 25);
  sync_list (fixture, &longer, &other);
  g_assert_true (g_file_get_contents (fixture->file, &contents, &size, NULL));
  g_assert_cmpuint (size, ==, longer);

  for (gsize n = length; n <= size; n++)
    {
      guint64 again, hash_again;
      struct stat st;

      g_assert_true (g_file_set_contents (fixture->file, contents, (gssize) n, NULL));
      restore (fixture, n % 2 == 0 ? DLP_INPUT_LIST_COPY : DLP_INPUT_LIST_IN_PLACE, length, hash);
      g_assert_cmpint (stat (fixture->file, &st), ==, 0);
      g_assert_cmpuint ((guint64) st.st_size, ==, length);
      g_assert_true (has (fixture, 19));
      g_assert_false (has (fixture, 20));
      add (fixture, 20, 25);
      sync_list (fixture, &again, &hash_again);
      g_assert_cmpuint (again, ==, longer);
      g_assert_cmpuint (hash_again, ==, other);
    }
}

/* A run that is not known to be dead goes on writing: not into our file. */
static void
test_zombie (Fixture *fixture, gconstpointer user_data)
{
  gboolean fresh = GPOINTER_TO_INT (user_data);
  g_autoptr (DlpInputList) zombie = NULL;
  DlpInputEntry entry = { 9, 9, 9, 9, NULL, (char *) "zombie" };
  guint64 length, hash;

  add (fixture, 0, 50);
  sync_list (fixture, &length, &hash);
  zombie = g_steal_pointer (&fixture->list);
  if (fresh)
    reopen (fixture);
  else
    restore (fixture, DLP_INPUT_LIST_COPY, length, hash);
  add (fixture, 50, 60);
  for (guint i = 0; i < 100; i++)
    g_assert_true (dlp_input_list_add (zombie, &entry, NULL));
  g_assert_true (dlp_input_list_sync (zombie, &length, &hash, NULL));
  sync_list (fixture, &length, &hash);
  g_assert_true (dlp_input_list_add (zombie, &entry, NULL));
  g_assert_true (dlp_input_list_sync (zombie, &(guint64){ 0 }, &(guint64){ 0 }, NULL));

  restore (fixture, DLP_INPUT_LIST_READ_ONLY, length, hash);
  g_assert_true (has (fixture, 59));
  g_assert_null (dlp_input_list_find (fixture->list, 9, 9, 9, NULL));
}

static void
test_order_of_calls (Fixture *fixture, gconstpointer unused)
{
  guint64 length, hash;

  add (fixture, 0, 10);
  sync_list (fixture, &length, &hash);
  g_assert_cmpstr (faults_get_trace (), ==, "renameat pwrite fdatasync fsync");
  add (fixture, 10, 20);
  sync_list (fixture, &length, &hash);
  g_assert_cmpstr (faults_get_trace (), ==, "renameat pwrite fdatasync fsync pwrite fdatasync");
  /* Nothing new. */
  sync_list (fixture, &length, &hash);
  g_assert_cmpuint (faults_get_count (), ==, 6);

  faults_reset ();
  restore (fixture, DLP_INPUT_LIST_COPY, length, hash);
  g_assert_cmpstr (faults_get_trace (), ==, "pwrite fdatasync renameat");
}

static void
assert_fails (Fixture *fixture, int code, const char *what)
{
  g_autoptr (GError) error = NULL;
  guint64 length, hash;

  g_assert_false (dlp_input_list_sync (fixture->list, &length, &hash, &error));
  g_assert_error (error, G_IO_ERROR, (gint) g_io_error_from_errno (code));
  if (strstr (error->message, what) == NULL)
    g_error ("“%s” does not say “%s”", error->message, what);
}

static void
test_errors_stay (Fixture *fixture, gconstpointer user_data)
{
  const char *call = user_data;
  g_autoptr (DlpInputEntry) entry = make_entry (7);
  g_autoptr (GError) error = NULL;
  const char *what = strcmp (call, "pwrite") == 0 ? "cannot write" : call;

  add (fixture, 0, 5);
  faults_fail_next (call, ENOSPC);
  assert_fails (fixture, ENOSPC, what);
  assert_fails (fixture, ENOSPC, what);
  g_assert_false (dlp_input_list_add (fixture->list, entry, &error));
  g_assert_nonnull (strstr (error->message, what));
}

static gpointer
sync_repeatedly (gpointer user_data)
{
  Fixture *fixture = user_data;
  guint64 length, hash, last = 0;

  for (guint i = 0; i < 200; i++)
    {
      sync_list (fixture, &length, &hash);
      g_assert_cmpuint (length, >=, last);
      last = length;
      g_thread_yield ();
    }
  return NULL;
}

static void
test_concurrent (Fixture *fixture, gconstpointer unused)
{
  GThread *thread = g_thread_new ("sync", sync_repeatedly, fixture);
  guint64 length, hash;

  add (fixture, 0, 5000);
  for (guint i = 0; i < 5000; i++)
    g_assert_true (has (fixture, i));
  g_thread_join (thread);
  sync_list (fixture, &length, &hash);
  restore (fixture, DLP_INPUT_LIST_IN_PLACE, length, hash);
  g_assert_true (has (fixture, 4999));
}

static void
test_malformed_lines (void)
{
  static const char *const lines[] = {
    "",
    "1",
    "1\t2\t3\t4\t5",
    "1\t2\t3\t4\t5\t6\t7",
    "-1\t2\t3\t4\t5\t6",
    "1\t2\t4294967296\t4\t5\t6",
    "1\t2\t3\t-2\t5\t6",
    "1\t2\t3\t9223372036854775808\t5\t6",
    "1\t2\t3\t4\t5\t\\-",
    "1\t2\t3\t4\t5\t\\x",
    "1\t2\t3\t4\t5\tabc\\",
    "1\t2\t3\t4\t\\-\\-\t6",
    "1\t2\t3\t\t5\t6",
    "+1\t2\t3\t4\t5\t6",
    "1\t2\t18446744073709551617\t4\t5\t6",
    "1\t2\t3\t-1",
    "1\t2\t3",
    "1\t2\t3\t",
  };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    {
      /* Without the NUL behind it, for AddressSanitizer. */
      g_autofree char *line = g_memdup2 (lines[i], MAX (strlen (lines[i]), 1));

      g_assert_null (dlp_input_entry_parse (line, strlen (lines[i])));
    }
  g_assert_null (dlp_input_entry_parse ("1\t2\t3\t4\t5\ta\0b", 13));
}

/* Against a plain list, with hashes that collide. */
static void
test_index (void)
{
  DlpInputIndex index = { 0 };
  g_autoptr (GArray) hashes = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint i = 0; i < 3000; i++)
    {
      guint32 hash = (guint32) g_test_rand_int_range (0, 400) * (i % 2 == 0 ? 1 : 0x10000001);

      dlp_input_index_add (&index, hash, ((guint64) 1 << 40) + i);
      g_array_append_val (hashes, hash);
    }

  for (guint i = 0; i < hashes->len; i++)
    {
      guint32 hash = g_array_index (hashes, guint32, i);
      gsize position = 0;

      for (guint j = 0; j < hashes->len; j++)
        if (g_array_index (hashes, guint32, j) == hash)
          g_assert_cmpuint (dlp_input_index_next (&index, hash, &position), ==,
                            ((guint64) 1 << 40) + j);
      g_assert_cmpuint (dlp_input_index_next (&index, hash, &position), ==, 0);
      g_assert_cmpuint (dlp_input_index_next (&index, hash, &position), ==, 0);
    }
  dlp_input_index_clear (&index);
}

#define ADD(name, func, data)                                                                      \
  g_test_add ("/input-list/" name, Fixture, data, set_up, func, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD ("many/read-only", test_many, GUINT_TO_POINTER (DLP_INPUT_LIST_READ_ONLY));
  ADD ("many/in-place", test_many, GUINT_TO_POINTER (DLP_INPUT_LIST_IN_PLACE));
  ADD ("many/copy", test_many, GUINT_TO_POINTER (DLP_INPUT_LIST_COPY));
  ADD ("format", test_format, NULL);
  ADD ("last-counts", test_last_counts, NULL);
  ADD ("long-uri", test_long_uri, NULL);
  ADD ("damaged", test_damaged, NULL);
  ADD ("torn-tail", test_torn_tail, NULL);
  ADD ("zombie/restored", test_zombie, GINT_TO_POINTER (FALSE));
  ADD ("zombie/fresh", test_zombie, GINT_TO_POINTER (TRUE));
  ADD ("order-of-calls", test_order_of_calls, NULL);
  ADD ("errors-stay/write", test_errors_stay, "pwrite");
  ADD ("errors-stay/sync", test_errors_stay, "fdatasync");
  ADD ("errors-stay/folder", test_errors_stay, "fsync");
  ADD ("concurrent", test_concurrent, NULL);
  g_test_add_func ("/input-list/malformed-lines", test_malformed_lines);
  g_test_add_func ("/input-list/index", test_index);
  return g_test_run ();
}
