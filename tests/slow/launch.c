/* SPDX-License-Identifier: MIT */

#include "launch.h"

#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

extern char **environ;

static double
seconds (const struct timeval *time)
{
  return (double) time->tv_sec + (double) time->tv_usec * 1e-6;
}

static pid_t
spawn (const char *log, const char *const *args)
{
  g_autoptr (GPtrArray) argv = g_ptr_array_new ();
  posix_spawn_file_actions_t actions;
  pid_t pid;

  g_assert_nonnull (g_getenv ("DLPIPE_LAUNCH"));
  g_ptr_array_add (argv, (gpointer) g_getenv ("DLPIPE_LAUNCH"));
  for (; *args != NULL; args++)
    g_ptr_array_add (argv, (gpointer) *args);
  g_ptr_array_add (argv, NULL);

  posix_spawn_file_actions_init (&actions);
  posix_spawn_file_actions_addopen (&actions, 2, log, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  g_assert_cmpint (
      posix_spawn (&pid, argv->pdata[0], &actions, NULL, (char **) argv->pdata, environ), ==, 0);
  posix_spawn_file_actions_destroy (&actions);
  return pid;
}

/* The peak of a process counts what its parent held when it was made: this one must stay small. */
void
launch_run (Launch *self, const char *log, const char *const *args)
{
  gint64 start = g_get_monotonic_time ();
  pid_t pid = spawn (log, args);
  struct rusage usage;

  g_assert_cmpint (wait4 (pid, &self->status, 0, &usage), ==, pid);
  self->wall = (double) (g_get_monotonic_time () - start) * 1e-6;
  self->cpu = seconds (&usage.ru_utime) + seconds (&usage.ru_stime);
  self->peak = (gsize) usage.ru_maxrss * 1024;
  self->said = NULL;
  g_assert_true (g_file_get_contents (log, &self->said, NULL, NULL));
}

void
launch_clear (Launch *self)
{
  g_clear_pointer (&self->said, g_free);
}

guint64
launch_get_records (const Launch *self)
{
  static const char before[] = "finished: ";
  const char *at = g_strrstr (self->said, before);
  char *end;
  guint64 n;

  g_assert_nonnull (at);
  n = g_ascii_strtoull (at + sizeof before - 1, &end, 10);
  g_assert_true (g_str_has_prefix (end, " record"));
  return n;
}
