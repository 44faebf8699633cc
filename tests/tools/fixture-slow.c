/* SPDX-License-Identifier: MIT */

/* Preloaded into a program: makes writes, or syncs, of files whose names have a part take long, as
 * on a server that is gone. DLPIPE_TEST_SLOW is "write" or "sync", that part and milliseconds (0:
 * for good), with colons between them. The file `hangs` says that one has begun. */

/* Both names of a call are defined here. */
#undef _FILE_OFFSET_BITS

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__ ((visibility ("default")))

static void
wait_for_server (int ms)
{
  close (open ("hangs", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  while (ms == 0)
    pause ();
  usleep ((useconds_t) ms * 1000);
}

static void
delay (const char *call, int fd)
{
  const char *plan = getenv ("DLPIPE_TEST_SLOW");
  char wanted[16], part[64], link[64], path[4096];
  ssize_t length;
  int ms;

  if (plan == NULL || sscanf (plan, "%15[^:]:%63[^:]:%d", wanted, part, &ms) != 3 ||
      strcmp (wanted, call) != 0)
    return;
  snprintf (link, sizeof link, "/proc/self/fd/%d", fd);
  length = readlink (link, path, sizeof path - 1);
  if (length < 0)
    return;
  path[length] = '\0';
  if (strstr (path, part) != NULL)
    wait_for_server (ms);
}

EXPORT ssize_t
pwrite (int fd, const void *data, size_t size, off_t offset)
{
  delay ("write", fd);
  return syscall (SYS_pwrite64, fd, data, size, offset);
}

EXPORT ssize_t
pwrite64 (int fd, const void *data, size_t size, off64_t offset)
{
  return pwrite (fd, data, size, offset);
}

EXPORT int
fsync (int fd)
{
  delay ("sync", fd);
  return (int) syscall (SYS_fsync, fd);
}

EXPORT int
fdatasync (int fd)
{
  delay ("sync", fd);
  return (int) syscall (SYS_fdatasync, fd);
}
