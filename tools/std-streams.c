/* SPDX-License-Identifier: MIT */

#include "std-streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

void
std_streams_secure (void)
{
  /* The other way round, so that using it is an error that is told. */
  static const int flags[] = { O_WRONLY, O_RDONLY, O_RDWR };

  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    if (fcntl (fd, F_GETFD) < 0 && errno == EBADF && open ("/dev/null", flags[fd]) != fd)
      _exit (2);
}

gboolean
std_streams_flush (GError **error)
{
  /* What an earlier flush has lost has no reason any more. */
  gboolean failed_before = ferror (stdout) != 0;
  int code = fflush (stdout) != 0 ? errno : 0;

  if (!failed_before && code == 0)
    return TRUE;

  g_set_error (error, G_IO_ERROR,
               code != 0 ? (int) g_io_error_from_errno (code) : G_IO_ERROR_FAILED,
               "standard output: not all could be written%s%s", code != 0 ? ": " : "",
               code != 0 ? g_strerror (code) : "");
  return FALSE;
}
