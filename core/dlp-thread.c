/* SPDX-License-Identifier: MIT */

#include "dlp-thread-private.h"

#include <pthread.h>
#include <sched.h>

void
dlp_thread_begin (const char *name)
{
  char short_name[16];
  struct sched_param param;
  int policy;

  g_strlcpy (short_name, name, sizeof short_name);
  pthread_setname_np (pthread_self (), short_name);

  /* Whoever gave the program another policy knows why. */
  if (pthread_getschedparam (pthread_self (), &policy, &param) == 0 && policy == SCHED_OTHER)
    pthread_setschedparam (pthread_self (), SCHED_BATCH, &param);
}
