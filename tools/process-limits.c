/* SPDX-License-Identifier: MIT */

#include "process-limits.h"

#include <malloc.h>
#include <sys/resource.h>

/* Of the C library; by default there are eight for each CPU, and each keeps what was given back. */
#define MAX_ARENAS 4
/* From here on memory goes back to the system when it is freed. */
#define MIN_MAPPED (128 * 1024)

void
process_limits_set (void)
{
  struct rlimit files;

  /* A mix of 500 sources has a thousand files open. */
  if (getrlimit (RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max)
    {
      files.rlim_cur = files.rlim_max;
      setrlimit (RLIMIT_NOFILE, &files);
    }
  mallopt (M_ARENA_MAX, MAX_ARENAS);
  mallopt (M_MMAP_THRESHOLD, MIN_MAPPED);
}
