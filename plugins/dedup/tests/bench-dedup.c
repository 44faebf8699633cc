/* SPDX-License-Identifier: MIT */

/* Nanoseconds a hash, of so many different ones in so much memory; half of those that come are
 * repeated, at all distances. */

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "dedup-set.h"
#include "spread.h"

#define STEP 1024

static int
open_file (gpointer data, GError **error)
{
  g_autofree char *name = NULL;
  int fd = g_file_open_tmp ("dedup-XXXXXX", &name, error);

  if (fd >= 0)
    g_unlink (name);
  return fd;
}

static double
now (clockid_t clock)
{
  struct timespec time;

  clock_gettime (clock, &time);
  return (double) time.tv_sec + (double) time.tv_nsec * 1e-9;
}

static guint64
draw (guint64 *state, guint64 limit)
{
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return (guint64) (((unsigned __int128) *state * limit) >> 64);
}

static void
measure (guint64 n_keys, gsize memory)
{
  g_autoptr (DedupSet) set = dedup_set_new (memory, open_file, NULL);
  double begin = now (CLOCK_MONOTONIC), cpu = now (CLOCK_THREAD_CPUTIME_ID), last = 0;
  guint64 state = 88172645463325252, next = 0, added = 0, last_from = n_keys - n_keys / 10;
  DedupKey keys[STEP];

  for (added = 0; next < n_keys; added += STEP)
    {
      g_autoptr (GError) error = NULL;
      gboolean is_new;

      for (guint i = 0; i < STEP; i++)
        keys[i] = spread (i % 2 == 0 ? next++ : draw (&state, next));
      if (last == 0 && next >= last_from)
        last = now (CLOCK_MONOTONIC);
      dedup_set_look_ahead (set, keys, STEP);
      for (guint i = 0; i < STEP; i++)
        if (!dedup_set_add (set, &keys[i], &is_new, &error))
          g_error ("%s", error->message);
      if (!dedup_set_maintain (set, &error))
        g_error ("%s", error->message);
    }
  cpu = now (CLOCK_THREAD_CPUTIME_ID) - cpu;
  g_print ("%11" G_GUINT64_FORMAT " %9zu %8.0f %8.0f %8.0f %8.1f %5u\n", n_keys, memory >> 20,
           (now (CLOCK_MONOTONIC) - begin) / (double) added * 1e9, cpu / (double) added * 1e9,
           (now (CLOCK_MONOTONIC) - last) / ((double) (n_keys - last_from) * 2) * 1e9,
           (double) dedup_set_get_bytes (set) / 1048576.0, dedup_set_get_n_files (set));
}

/* bench-dedup [HASHES MIB]... */
int
main (int argc, char **argv)
{
  g_print ("%11s %9s %8s %8s %8s %8s %5s\n", "hashes", "MiB", "ns each", "CPU ns", "the last",
           "MiB used", "files");
  for (int i = 1; i + 1 < argc; i += 2)
    measure (g_ascii_strtoull (argv[i], NULL, 10), (gsize) g_ascii_strtoull (argv[i + 1], NULL, 10)
                                                       << 20);
  if (argc > 1)
    return 0;
  measure (1000000, 64);
  measure (10000000, 1024);
  measure (10000000, 64);
  measure (10000000, 16);
  measure (10000000, 2);
  return 0;
}
