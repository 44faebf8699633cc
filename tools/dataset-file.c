/* SPDX-License-Identifier: MIT */

#include "dataset.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static gboolean
fail (const char *path, const char *what, GError **error)
{
  int code = errno;

  g_set_error (error, G_IO_ERROR, (int) g_io_error_from_errno (code), "%s: %s: %s", path, what,
               g_strerror (code));
  return FALSE;
}

gboolean
dataset_file_open (DatasetFile *self, const char *path, GError **error)
{
  struct stat st;

  self->path = g_strdup (path);
  self->fd = TEMP_FAILURE_RETRY (open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (self->fd < 0)
    return fail (path, "cannot open", error);
  if (fstat (self->fd, &st) != 0)
    return fail (path, "cannot read", error);
  if (!S_ISREG (st.st_mode))
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE, "%s: is not a regular file",
                   path);
      return FALSE;
    }

  self->size = (guint64) st.st_size;
  return TRUE;
}

void
dataset_file_clear (DatasetFile *self)
{
  if (self->fd >= 0)
    close (self->fd);
  self->fd = -1;
  g_clear_pointer (&self->path, g_free);
}

gboolean
dataset_file_read (const DatasetFile *self, guint64 offset, gpointer data, gsize n, GError **error)
{
  for (gsize done = 0; done < n;)
    {
      gssize got = -1;

      if (offset <= G_MAXINT64 && done <= G_MAXINT64 - offset)
        got = TEMP_FAILURE_RETRY (
            pread (self->fd, (char *) data + done, n - done, (off_t) (offset + done)));
      else
        errno = EINVAL;
      if (got < 0)
        return fail (self->path, "cannot read", error);
      if (got == 0)
        {
          g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                       "%s: ends at byte %" G_GUINT64_FORMAT ", but %" G_GSIZE_FORMAT
                       " bytes at byte %" G_GUINT64_FORMAT " are wanted",
                       self->path, offset + done, n, offset);
          return FALSE;
        }
      done += (gsize) got;
    }
  return TRUE;
}
