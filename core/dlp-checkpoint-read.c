/* SPDX-License-Identifier: MIT */

/* Checkpoints in files, of which no more is read than there can be of one. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dlp-durable-private.h"
#include "dlp-state-dir-private.h"

#define PIECE ((gsize) 1 << 20)

/* ---- of a state folder ---- */

GVariant *
dlp_checkpoint_load (int folder,
                     const char *path,
                     const char *name,
                     gboolean *damaged,
                     GError **error)
{
  g_autofree char *full = g_build_filename (path, name, NULL);
  /* Not blocking: a pipe of that name must not hang the start. */
  int fd = TEMP_FAILURE_RETRY (openat (folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) failure = NULL;
  GVariant *payload = NULL;
  struct stat st;

  *damaged = FALSE;
  if (fd < 0)
    {
      dlp_durable_set_error (error, errno, "%s: cannot open", full);
      return NULL;
    }
  if (fstat (fd, &st) != 0 || !S_ISREG (st.st_mode) ||
      dlp_checkpoint_check_file (fd, full, (guint64) st.st_size, &failure))
    {
      bytes = dlp_durable_load_file (fd, full, damaged, error);
      payload = bytes != NULL ? dlp_checkpoint_decode (bytes, &failure) : NULL;
    }
  close (fd);
  if (failure != NULL)
    {
      *damaged = !g_error_matches (failure, DLP_STATE_ERROR, DLP_STATE_ERROR_VERSION);
      if (failure->domain == DLP_STATE_ERROR)
        g_prefix_error (&failure, "%s: ", full);
      g_propagate_error (error, g_steal_pointer (&failure));
    }
  return payload;
}

/* ---- of a program ---- */

/* Whether it goes on with what a JSON text cannot have. */
static gboolean
check_json_piece (const guint8 *data, gsize size, guint64 at, GError **error)
{
  const guint8 *zero = memchr (data, 0, size);

  if (zero == NULL)
    return TRUE;
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
               "not a state: it begins as JSON does, but byte %" G_GUINT64_FORMAT " is 0",
               at + (guint64) (zero - data));
  return FALSE;
}

/* A piece is made room for when the former one is full: what the header promises costs nothing. One
 * byte more than there can be shows that something follows. */
static gboolean
read_piece (int fd, const char *path, GByteArray *bytes, gboolean *over, GError **error)
{
  guint64 limit = dlp_checkpoint_get_limit (bytes->data, bytes->len, error);
  guint from = bytes->len;
  gssize n;

  if (limit == 0)
    return FALSE;
  *over = TRUE;
  if (from > limit)
    return TRUE;
  if (from > G_MAXUINT - PIECE - 1)
    {
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                   "longer than %u bytes, which is the most that is read from what is no file",
                   from);
      return FALSE;
    }
  g_byte_array_set_size (bytes, from + (guint) PIECE);
  n = TEMP_FAILURE_RETRY (read (fd, bytes->data + from, PIECE));
  g_byte_array_set_size (bytes, from + (guint) MAX (n, 0));
  if (n < 0)
    {
      dlp_durable_set_error (error, errno, "%s: cannot read", path);
      return FALSE;
    }
  *over = n == 0;
  return *over || bytes->data[0] != '{' ||
         check_json_piece (bytes->data + from, (gsize) n, from, error);
}

static GBytes *
read_stream (int fd, const char *path, GError **error)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  gboolean over = FALSE;

  while (!over)
    if (!read_piece (fd, path, bytes, &over, error))
      return NULL;
  return g_byte_array_free_to_bytes (g_steal_pointer (&bytes));
}

static gboolean
check_json_file (int fd, const char *path, guint64 size, GError **error)
{
  g_autofree guint8 *piece = g_malloc (PIECE);
  gssize n = 1;

  for (guint64 at = 0; at < size && n > 0; at += (guint64) n)
    {
      n = dlp_durable_read (fd, path, piece, PIECE, at, error);
      if (n > 0 && !check_json_piece (piece, (gsize) n, at, error))
        return FALSE;
    }
  return n >= 0;
}

static gboolean
check_any_file (int fd, const char *path, guint64 size, GError **error)
{
  char first = '\0';

  if (size < DLP_CHECKPOINT_LARGE)
    return TRUE;
  if (dlp_durable_read (fd, path, &first, 1, 0, error) < 0)
    return FALSE;
  return first == '{' ? check_json_file (fd, path, size, error) :
                        dlp_checkpoint_check_file (fd, path, size, error);
}

GBytes *
dlp_checkpoint_read (const char *path, GError **error)
{
  int fd = TEMP_FAILURE_RETRY (open (path, O_RDONLY | O_CLOEXEC));
  GBytes *bytes = NULL;
  gboolean damaged;
  struct stat st;

  if (fd < 0 || fstat (fd, &st) != 0)
    dlp_durable_set_error (error, errno, "%s: cannot open", path);
  else if (!S_ISREG (st.st_mode))
    bytes = read_stream (fd, path, error);
  else if (check_any_file (fd, path, (guint64) st.st_size, error))
    bytes = dlp_durable_load_file (fd, path, &damaged, error);
  if (fd >= 0)
    close (fd);
  return bytes;
}
