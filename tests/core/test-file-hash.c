/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-file-hash.h>

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <dlpipe/dlp-error.h>

#define BLOCK ((gsize) DLP_FILE_HASH_BLOCK)
#define SIZE (2 * BLOCK + 12345)

static guint8 *data;

/* By the definition. */
static guint64
expect (gsize size)
{
  guint64 hash = 0;

  for (gsize at = 0; at < size; at += BLOCK)
    {
      guint64 pair[2] = { hash, XXH3_64bits (data + at, MIN (BLOCK, size - at)) };

      hash = XXH3_64bits (pair, 16);
    }
  return hash;
}

static const gsize sizes[] = { 0,         1,         1000,          BLOCK - 1, BLOCK,
                               BLOCK + 1, 2 * BLOCK, 2 * BLOCK + 1, SIZE };

static char *
write_file (gsize size)
{
  g_autofree char *folder =
      g_strdup (g_access ("/dev/shm", W_OK) == 0 ? "/dev/shm" : g_get_tmp_dir ());
  char *path = g_build_filename (folder, "dlpipe-hash-XXXXXX", NULL);
  int fd = g_mkstemp (path);

  g_assert_no_errno (fd);
  for (gsize done = 0; done < size;)
    {
      gssize n = write (fd, data + done, size - done);

      g_assert_cmpint (n, >, 0);
      done += (gsize) n;
    }
  close (fd);
  return path;
}

static void
remove_file (char *path)
{
  g_assert_no_errno (g_unlink (path));
  g_free (path);
}

static void
update_in_pieces (DlpFileHash *hash, gsize begin, gsize end)
{
  while (begin < end)
    {
      gsize n = (gsize) g_test_rand_int_range (1, 40 * 1024 * 1024);

      n = MIN (n, end - begin);
      dlp_file_hash_update (hash, data + begin, n);
      begin += n;
    }
}

static void
test_known (void)
{
  g_autoptr (DlpFileHash) hash = dlp_file_hash_new ();

  /* Computed by another program from the definition. */
  g_assert_cmpuint (dlp_file_hash_get (hash), ==, 0);
  dlp_file_hash_update (hash, "abc", 3);
  g_assert_cmphex (dlp_file_hash_get (hash), ==, 0x809D2BAA272DB914);
  g_assert_cmpuint (dlp_file_hash_get_chain (hash), ==, 0);
}

static void
test_pieces (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr (DlpFileHash) hash = dlp_file_hash_new ();

      update_in_pieces (hash, 0, sizes[i]);
      g_assert_cmphex (dlp_file_hash_get (hash), ==, expect (sizes[i]));
      g_assert_cmphex (dlp_file_hash_get (hash), ==, expect (sizes[i]));
      g_assert_cmphex (dlp_file_hash_get_chain (hash), ==, expect (sizes[i] / BLOCK * BLOCK));
    }
}

static void
test_read (void)
{
  char *path = write_file (SIZE);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  guint64 hash;

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      dlp_file_hash_read (path, sizes[i], NULL, &hash, &error);
      g_assert_no_error (error);
      g_assert_cmphex (hash, ==, expect (sizes[i]));
    }
  g_assert_false (dlp_file_hash_read (path, SIZE + 1, NULL, &hash, &error));
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED);
  g_clear_error (&error);
  g_assert_null (dlp_file_hash_resume (path, 1000, 0, expect (1000) ^ 1, NULL, &error));
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED);
  g_assert_nonnull (strstr (error->message, "bytes 0 to 1000 are not what was written"));
  g_clear_error (&error);
  g_cancellable_cancel (cancellable);
  g_assert_false (dlp_file_hash_read (path, SIZE, cancellable, &hash, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  remove_file (path);
}

/* At each of the lengths, from what a checkpoint has; and of whole blocks nothing is read. */
static void
test_resume (void)
{
  char *path = write_file (SIZE);

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      guint64 chain = expect (sizes[i] / BLOCK * BLOCK);
      g_autoptr (GError) error = NULL;
      g_autoptr (DlpFileHash) hash = NULL;

      if (sizes[i] >= BLOCK)
        {
          static const guint8 zeros[4096];
          int fd = open (path, O_WRONLY | O_CLOEXEC);

          g_assert_cmpint (
              pwrite (fd, zeros, sizeof zeros, (off_t) ((sizes[i] / BLOCK - 1) * BLOCK)), ==,
              sizeof zeros);
          close (fd);
        }
      hash = dlp_file_hash_resume (path, sizes[i], chain, expect (sizes[i]), NULL, &error);
      g_assert_no_error (error);
      g_assert_cmphex (dlp_file_hash_get (hash), ==, expect (sizes[i]));
      g_assert_cmphex (dlp_file_hash_get_chain (hash), ==, chain);
      update_in_pieces (hash, sizes[i], SIZE);
      g_assert_cmphex (dlp_file_hash_get (hash), ==, expect (SIZE));
    }
  remove_file (path);
}

static void
test_resume_refused (void)
{
  char *path = write_file (1000);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;

  g_assert_null (dlp_file_hash_resume (path, 1001, 0, 0, NULL, &error));
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED);
  g_clear_error (&error);
  g_assert_null (dlp_file_hash_resume (path, 1000, 0, expect (1000) ^ 1, NULL, &error));
  g_assert_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED);
  g_assert_nonnull (strstr (error->message, "bytes 0 to 1000 are not what was written"));
  g_clear_error (&error);
  g_cancellable_cancel (cancellable);
  g_assert_null (dlp_file_hash_resume (path, 1000, 0, 0, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  remove_file (path);
  g_assert_null (dlp_file_hash_resume ("/no/such/file", 0, 0, 0, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
}

int
main (int argc, char **argv)
{
  int code;

  g_test_init (&argc, &argv, NULL);
  data = g_malloc (SIZE);
  for (gsize i = 0; i < SIZE; i++)
    data[i] = (guint8) (i * 31 + (i >> 11) + (i >> 23));
  g_test_add_func ("/file-hash/known", test_known);
  g_test_add_func ("/file-hash/pieces", test_pieces);
  g_test_add_func ("/file-hash/read", test_read);
  g_test_add_func ("/file-hash/resume", test_resume);
  g_test_add_func ("/file-hash/resume-refused", test_resume_refused);
  code = g_test_run ();
  g_free (data);
  return code;
}
