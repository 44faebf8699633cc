/* SPDX-License-Identifier: MIT */

#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>

#include "launch.h"

static const int caught[] = { SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGQUIT };

void
launch_block_signals (void)
{
  sigset_t signals;

  sigemptyset (&signals);
  for (guint i = 0; i < G_N_ELEMENTS (caught); i++)
    sigaddset (&signals, caught[i]);
  pthread_sigmask (SIG_BLOCK, &signals, NULL);
  /* Writes that fail say so by their error. */
  signal (SIGPIPE, SIG_IGN);
  signal (SIGXFSZ, SIG_IGN);
}

int
launch_open_signals (void)
{
  sigset_t signals;

  pthread_sigmask (SIG_BLOCK, NULL, &signals);
  return signalfd (-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
}
