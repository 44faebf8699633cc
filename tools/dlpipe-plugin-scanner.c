/* SPDX-License-Identifier: MIT */

/* Opens one plugin on behalf of a program that only wants to know what it brings; whatever the
 * plugin does, it does to this process. */

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <dlpipe/dlp-registry.h>

#include "std-streams.h"

int
main (int argc, char **argv)
{
  int fd;

  std_streams_secure ();
  if (argc != 3)
    {
      fputs (
          "usage: dlpipe-plugin-scanner FILE BUILD-ID\nFor libdlpipe alone; see dlpipe-inspect.\n",
          stderr);
      return 2;
    }

  /* What a plugin prints is none of what the other side reads. */
  fd = fcntl (STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (fd < 0 || dup2 (STDERR_FILENO, STDOUT_FILENO) < 0)
    return 2;

  /* No destructor of a plugin runs. */
  _exit (dlp_registry_scan_file (argv[1], argv[2], fd));
}
