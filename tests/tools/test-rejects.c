/* SPDX-License-Identifier: MIT */

/* What many tiny bad records take of memory. */

#include <sys/resource.h>

#include "launch-rig.h"
#include "sanitized.h"

#define N_RECORDS 1000000
/* The budget, and about 15 MiB of program and libraries. */
#define MAX_KIB (56 * 1024)

static void
test_memory (void)
{
  g_autoptr (LaunchRig) rig = launch_rig_new ();
  g_autofree char *lines = g_malloc (2 * N_RECORDS);
  const char *arguments[] = {
    "--progress",
    "none",
    "--memory",
    "32M",
    "--workers",
    "2",
    "file-source location=in.jsonl ! jsonl-reader max-bad-ratio=1 ! jsonl-sink location=out.jsonl",
    NULL
  };
  struct rusage usage;

  if (SANITIZED)
    {
      g_test_skip ("sanitizers take memory of their own");
      return;
    }
  for (guint i = 0; i < N_RECORDS; i++)
    {
      lines[2 * i] = 'x';
      lines[2 * i + 1] = '\n';
    }
  launch_rig_write (rig, "in.jsonl", lines, 2 * N_RECORDS);
  launch_rig_run (rig, arguments);
  g_assert_cmpint (rig->exit_code, ==, 1);
  g_assert_cmpint (getrusage (RUSAGE_CHILDREN, &usage), ==, 0);
  g_test_message ("%ld KiB", usage.ru_maxrss);
  g_assert_cmpint (usage.ru_maxrss, <, MAX_KIB);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  launch_rig_init (argc, argv);
  g_test_add_func ("/rejects/memory", test_memory);
  return g_test_run ();
}
