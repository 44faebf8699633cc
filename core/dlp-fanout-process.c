/* SPDX-License-Identifier: MIT */

#include "dlp-fanout-process-private.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dlp-fanout-worker-private.h"
#include "dlp-place-private.h"

#define PROGRAM "dlpipe-fanout-worker"
#define CGROUP_ROOT "/sys/fs/cgroup"
/* Behind the standard streams. */
#define WORKER_FD 3

/* ---- its memory ---- */

guint64
dlp_fanout_count_oom_kills (const char *path)
{
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;

  if (path == NULL || !g_file_get_contents (path, &text, NULL, NULL))
    return 0;
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    if (g_str_has_prefix (lines[i], "oom_kill "))
      return g_ascii_strtoull (lines[i] + strlen ("oom_kill "), NULL, 10);
  return 0;
}

/* Of a line "NUMBER:CONTROLLERS:PATH"; version 2 has no controllers. */
static char *
find_in_line (const char *line, const char *root)
{
  g_auto (GStrv) part = g_strsplit (line, ":", 3);
  g_auto (GStrv) controllers = NULL;

  if (g_strv_length (part) != 3)
    return NULL;
  if (part[1][0] == '\0')
    return g_build_filename (root, part[2], "memory.events", NULL);
  controllers = g_strsplit (part[1], ",", -1);
  if (!g_strv_contains ((const char *const *) controllers, "memory"))
    return NULL;
  return g_build_filename (root, "memory", part[2], "memory.oom_control", NULL);
}

char *
dlp_fanout_find_oom_file (const char *cgroups, const char *root)
{
  g_auto (GStrv) lines = g_strsplit (cgroups, "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++)
    {
      char *path = find_in_line (lines[i], root);

      if (path != NULL && g_file_test (path, G_FILE_TEST_IS_REGULAR))
        return path;
      g_free (path);
    }
  return NULL;
}

void
dlp_fanout_process_note_memory (DlpFanoutProcess *self)
{
  g_autofree char *name = g_strdup_printf ("/proc/%d/cgroup", (int) self->pid);
  g_autofree char *text = NULL;

  g_clear_pointer (&self->oom_file, g_free);
  if (self->pid == 0 || !g_file_get_contents (name, &text, NULL, NULL))
    return;
  self->oom_file = dlp_fanout_find_oom_file (text, CGROUP_ROOT);
  self->oom_kills = dlp_fanout_count_oom_kills (self->oom_file);
}

char *
dlp_fanout_verdict_describe (const DlpFanoutVerdict *self)
{
  if (self->out_of_memory)
    return g_strdup ("was killed by SIGKILL, probably for lack of memory: its cgroup counts such a "
                     "kill; give it less to hold (--memory, fewer --workers)");
  if (self->signal_number != 0)
    return g_strdup_printf ("was killed by SIG%s", sigabbrev_np (self->signal_number) != NULL ?
                                                       sigabbrev_np (self->signal_number) :
                                                       "?");
  if (self->exit_code >= 0)
    return g_strdup_printf ("exited with code %d", self->exit_code);
  return g_strdup ("ended, and nobody knows how");
}

/* ---- its life ---- */

char *
dlp_fanout_find_worker (void)
{
  const char *named = secure_getenv ("DLPIPE_FANOUT_WORKER");
  g_autofree char *build = NULL;
  g_autofree char *beside = NULL;

  if (named != NULL && *named != '\0')
    return g_strdup (named);
  build = dlp_place_get_uninstalled ();
  if (build != NULL)
    return g_build_filename (build, "..", "tools", PROGRAM, NULL);
  beside = dlp_place_find_folder (DLP_SCANNER_SUBDIR);
  return g_build_filename (beside != NULL ? beside : DLP_SCANNER_DIR, PROGRAM, NULL);
}

static bool
make_sockets (int fds[2], GError **error)
{
  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0)
    return true;
  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno),
               "cannot make a socket for a worker: %s", g_strerror (errno));
  return false;
}

bool
dlp_fanout_process_start (DlpFanoutProcess *self,
                          const char *program,
                          char **environment,
                          int log,
                          GError **error)
{
  const char *const argv[] = { program, NULL };
  const int target = WORKER_FD;
  GPid pid;
  int fds[2];
  bool ok;

  if (!make_sockets (fds, error))
    return false;
  /* GLib closes all other descriptors in the child. */
  ok = g_spawn_async_with_pipes_and_fds (NULL, argv, (const char *const *) environment,
                                         G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL, -1, log, log,
                                         &fds[1], &target, 1, &pid, NULL, NULL, NULL, error);
  close (fds[1]);
  if (!ok)
    {
      g_prefix_error (error, "the worker cannot be started: ");
      close (fds[0]);
      return false;
    }
  self->pid = pid;
  dlp_fanout_link_init (&self->link, fds[0]);
  return true;
}

bool
dlp_fanout_process_start_thread (DlpFanoutProcess *self, GError **error)
{
  int fds[2];

  if (!make_sockets (fds, error))
    return false;
  dlp_fanout_link_init (&self->link, fds[0]);
  self->thread = dlp_fanout_worker_start_thread (fds[1]);
  return true;
}

/* It stays to be reaped: as long as it does, its number is that of nobody else, and so is that of
 * its session, of which something may go on. */
static bool
is_over (DlpFanoutProcess *self)
{
  siginfo_t info = { 0 };
  int result =
      TEMP_FAILURE_RETRY (waitid (P_PID, (id_t) self->pid, &info, WEXITED | WNOHANG | WNOWAIT));

  return result != 0 || info.si_pid != 0;
}

/* Where the program reaps all its children, as by waitpid (-1), it may be gone. */
static void
reap (DlpFanoutProcess *self, DlpFanoutVerdict *verdict)
{
  int status = 0;

  if (TEMP_FAILURE_RETRY (waitpid (self->pid, &status, WNOHANG)) != self->pid)
    return;
  if (WIFEXITED (status))
    verdict->exit_code = WEXITSTATUS (status);
  else if (WIFSIGNALED (status))
    verdict->signal_number = WTERMSIG (status);
}

bool
dlp_fanout_process_reap (DlpFanoutProcess *self, DlpFanoutVerdict *verdict)
{
  *verdict = (DlpFanoutVerdict){ .exit_code = -1 };
  if (self->pid == 0 || !is_over (self))
    return false;
  kill (-self->pid, SIGKILL);
  reap (self, verdict);
  verdict->out_of_memory = verdict->signal_number == SIGKILL && self->oom_file != NULL &&
                           dlp_fanout_count_oom_kills (self->oom_file) > self->oom_kills;
  self->pid = 0;
  return true;
}

void
dlp_fanout_process_kill (DlpFanoutProcess *self)
{
  if (self->pid == 0)
    return;
  kill (-self->pid, SIGKILL);
  kill (self->pid, SIGKILL);
}

void
dlp_fanout_process_clear (DlpFanoutProcess *self, bool idle)
{
  dlp_fanout_link_clear (&self->link);
  if (self->thread != NULL && idle)
    g_thread_join (g_steal_pointer (&self->thread));
  g_clear_pointer (&self->thread, g_thread_unref);
  g_clear_pointer (&self->oom_file, g_free);
}
