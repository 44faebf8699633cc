/* SPDX-License-Identifier: MIT */

/* A worker of a fan-out: runs tasks for the process that started it. */

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <dlpipe/dlp-fanout.h>

#include "log-lines.h"
#include "process-limits.h"
#include "std-streams.h"

/* Behind the standard streams. */
#define WORKER_FD 3

static bool
has_socket (void)
{
  int type = 0;
  socklen_t size = sizeof type;

  return getsockopt (WORKER_FD, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

int
main (int argc, char **argv)
{
  std_streams_secure ();
  if (argc != 1 || !has_socket ())
    {
      fputs ("usage: dlpipe-fanout-worker, with a socket as descriptor 3\n"
             "For libdlpipe alone; see dlpipe-fanout.\n",
             stderr);
      return 2;
    }
  setlocale (LC_CTYPE, "");
  process_limits_set ();
  log_lines_init ("dlpipe-fanout-worker");
  return dlp_fanout_run_worker (WORKER_FD);
}
