/* SPDX-License-Identifier: MIT */

#include "dlp-local-stream-private.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

struct _DlpLocalStream
{
  GInputStream parent_instance;

  int fd;
  gboolean owned;
  int wake_fd; /* of a pipe, a terminal, which may have to be waited for; else -1 */
};

G_DEFINE_FINAL_TYPE (DlpLocalStream, dlp_local_stream, G_TYPE_INPUT_STREAM)

static void
set_errno_error (GError **error, const char *what, int code)
{
  g_set_error (error, G_IO_ERROR, (int) g_io_error_from_errno (code), "%s%s", what,
               g_strerror (code));
}

static void
wake (GCancellable *cancellable, gpointer data)
{
  eventfd_write (GPOINTER_TO_INT (data), 1);
}

gboolean
dlp_local_stream_wait (DlpLocalStream *self, GCancellable *cancellable, GError **error)
{
  struct pollfd fds[2] = { { self->fd, POLLIN, 0 }, { self->wake_fd, POLLIN, 0 } };
  gulong handler = 0;
  eventfd_t value;
  int n, code;

  if (self->wake_fd < 0)
    return TRUE;

  if (cancellable != NULL)
    handler = g_cancellable_connect (cancellable, G_CALLBACK (wake),
                                     GINT_TO_POINTER (self->wake_fd), NULL);
  do
    n = poll (fds, G_N_ELEMENTS (fds), -1);
  while (n < 0 && errno == EINTR);
  code = n < 0 ? errno : 0;
  g_cancellable_disconnect (cancellable, handler);
  (void) eventfd_read (self->wake_fd, &value);

  if (code == 0)
    return !g_cancellable_set_error_if_cancelled (cancellable, error);

  set_errno_error (error, "cannot wait: ", code);
  return FALSE;
}

static gssize
dlp_local_stream_read (GInputStream *stream,
                       void *buffer,
                       gsize count,
                       GCancellable *cancellable,
                       GError **error)
{
  DlpLocalStream *self = DLP_LOCAL_STREAM (stream);
  gssize n;

  /* Whoever reads through a large file to come to a place in it looks here, and nowhere else. */
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return -1;
  do
    {
      if (!dlp_local_stream_wait (self, cancellable, error))
        return -1;
      n = read (self->fd, buffer, count);
    }
  while (n < 0 && (errno == EINTR || (errno == EAGAIN && self->wake_fd >= 0)));

  if (n < 0)
    set_errno_error (error, "", errno);
  return n;
}

static gboolean
dlp_local_stream_close (GInputStream *stream, GCancellable *cancellable, GError **error)
{
  DlpLocalStream *self = DLP_LOCAL_STREAM (stream);

  if (self->owned)
    close (self->fd);
  if (self->wake_fd >= 0)
    close (self->wake_fd);
  self->fd = self->wake_fd = -1;
  return TRUE;
}

static void
dlp_local_stream_class_init (DlpLocalStreamClass *klass)
{
  GInputStreamClass *stream_class = G_INPUT_STREAM_CLASS (klass);

  stream_class->read_fn = dlp_local_stream_read;
  stream_class->close_fn = dlp_local_stream_close;
}

static void
dlp_local_stream_init (DlpLocalStream *self)
{
  self->fd = self->wake_fd = -1;
}

DlpLocalStream *
dlp_local_stream_new (int fd, gboolean owned, GError **error)
{
  g_autoptr (DlpLocalStream) self = g_object_new (DLP_TYPE_LOCAL_STREAM, NULL);
  struct stat st;

  self->fd = fd;
  self->owned = owned;
  if (fstat (fd, &st) == 0 && (S_ISREG (st.st_mode) || S_ISBLK (st.st_mode)))
    return g_steal_pointer (&self);

  /* Not that of g_cancellable_make_pollfd(), which ends the program where none can be made. */
  self->wake_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (self->wake_fd >= 0)
    return g_steal_pointer (&self);

  set_errno_error (error, "cannot wait for what it has: ", errno);
  return NULL;
}

int
dlp_local_stream_get_fd (DlpLocalStream *self)
{
  return self->fd;
}
