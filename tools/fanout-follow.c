/* SPDX-License-Identifier: MIT */

/* dlpipe-fanout --follow: the bar of a job that others run, from its folder. */

#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "fanout.h"

#define LOOK_INTERVAL G_USEC_PER_SEC
/* A folder of a thousand tasks on a slow file system is not looked at all the time. */
#define LEAST_IDLE 20

typedef struct
{
  FanoutFolder *folder;
  FanoutProgress *progress;
  bool by_slurm;
  int fd;            /* of signals */
  int signal_number; /* 0: none came */
} Follow;

/* (nullable) (transfer full): what the job that comes after all ranks has left. */
static GVariant *
load_end (Follow *self)
{
  return fanout_load_json (fanout_folder_get_path (self->folder), FANOUT_SLURM_END, NULL);
}

/* Ranks record what became of tasks, but the parts are looked at, and the whole is written, by who
 * ends last. */
static bool
is_over (Follow *self, GVariant *report, int *code)
{
  g_autoptr (GVariant) end = self->by_slurm ? load_end (self) : NULL;

  if (end != NULL)
    *code = (int) launch_get_number (end, "exit-code");
  else if (!self->by_slurm && fanout_is_settled (report))
    *code = fanout_exit_for_records (report);
  else
    return false;
  return true;
}

/* False: a signal came. */
static bool
wait_for_signal (Follow *self, gint64 us)
{
  struct pollfd fd = { self->fd, POLLIN, 0 };
  struct signalfd_siginfo info;

  if (poll (&fd, 1, (int) (us / 1000)) <= 0 || read (self->fd, &info, sizeof info) != sizeof info ||
      info.ssi_signo == SIGQUIT)
    return true;
  self->signal_number = (int) info.ssi_signo;
  return false;
}

static void
say_left (Follow *self)
{
  const char *path = fanout_folder_get_path (self->folder);
  g_autofree char *name = g_build_filename (path, FANOUT_SLURM_JOBS, NULL);
  g_autofree char *ids = NULL;

  if (self->by_slurm && g_file_get_contents (name, &ids, NULL, NULL))
    launch_say ("SIG%s: the job goes on; “scancel %s” ends it, “dlpipe-fanout --follow %s” shows "
                "it again",
                sigabbrev_np (self->signal_number), g_strdelimit (g_strchomp (ids), "\n", ' '),
                path);
  else
    launch_say ("SIG%s: the job goes on; “dlpipe-fanout --follow %s” shows it again",
                sigabbrev_np (self->signal_number), path);
}

static void
say_end (GVariant *report, int code)
{
  guint64 left = launch_get_number (report, "tasks") - launch_get_number (report, "tasks-done") -
                 launch_get_number (report, "tasks-failed");
  g_autofree char *tasks = launch_format_number (left, "task");
  g_autoptr (GError) stopped = NULL;

  if (code == LAUNCH_EXIT_STOPPED)
    stopped = g_error_new (DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED, "%s left", tasks);
  fanout_say_end (report, stopped, true);
}

static int
follow (Follow *self, const FanoutOptions *options, GError **error)
{
  g_autoptr (GVariant) report = NULL;
  gint64 took;
  int code = 0;

  do
    {
      gint64 began = g_get_monotonic_time ();
      bool first = report == NULL;

      g_clear_pointer (&report, g_variant_unref);
      report = fanout_folder_look (self->folder);
      took = g_get_monotonic_time () - began;
      if (first && options->command == FANOUT_FOLLOW)
        fanout_say_job (report);
      if (is_over (self, report, &code))
        {
          fanout_progress_end (self->progress, report, code);
          say_end (report, code);
          return options->summary == NULL ||
                         fanout_write_summary (options->summary, report, code, error) ?
                     code :
                     LAUNCH_EXIT_FAILED;
        }
      if (fanout_progress_is_due (self->progress))
        fanout_progress_show (self->progress, report);
    }
  while (wait_for_signal (self, MAX (LOOK_INTERVAL, LEAST_IDLE * took)));
  say_left (self);
  return LAUNCH_EXIT_SIGNAL + self->signal_number;
}

int
fanout_follow (const FanoutOptions *options, GError **error)
{
  Follow self = { .folder = fanout_folder_open (options->folder, error) };
  g_autofree char *jobs = NULL;
  int code;

  if (self.folder == NULL)
    return LAUNCH_EXIT_USAGE;
  jobs = g_build_filename (options->folder, FANOUT_SLURM_JOBS, NULL);
  self.by_slurm = g_file_test (jobs, G_FILE_TEST_EXISTS);
  self.fd = launch_open_signals ();
  self.progress = fanout_progress_new (NULL, options);
  code = follow (&self, options, error);
  fanout_progress_free (self.progress);
  fanout_folder_free (self.folder);
  close (self.fd);
  return code;
}
