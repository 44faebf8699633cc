/* SPDX-License-Identifier: MIT */

/* A run of a fan-out and the signals that come meanwhile. */

#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <glib-unix.h>

#include "fanout.h"

#define TICK_MS 50
/* Who signals a process and then its group means it once. */
#define AGAIN G_USEC_PER_SEC
/* Beyond the grace, in which what is left is killed: a task of this process cannot be. */
#define LEAVE_US (5 * G_USEC_PER_SEC)

typedef struct
{
  DlpFanout *fanout;
  const FanoutOptions *options;
  GMainLoop *loop;
  GCancellable *cancellable;
  FanoutProgress *progress;
  GError *error;
  bool begun; /* what was chosen is said */
  int signal_number;
  guint n_signals;
  gint64 last_signal_at;
} FanoutRun;

static bool
is_prepared (FanoutRun *self)
{
  g_autoptr (GVariant) report = dlp_fanout_get_report (self->fanout);

  return fanout_is_prepared (report);
}

static bool
has_job (GVariant *report)
{
  g_autoptr (GVariant) path = g_variant_lookup_value (report, "state-dir", NULL);

  return path != NULL && !launch_get_flag (report, "state-dir-temporary");
}

/* ---- signals ---- */

static void
take_first_signal (FanoutRun *self)
{
  launch_say ("SIG%s: stopping all tasks, each with a checkpoint",
              sigabbrev_np (self->signal_number));
  if (is_prepared (self))
    dlp_fanout_stop (self->fanout);
  else
    g_cancellable_cancel (self->cancellable);
}

G_NORETURN static void
leave_now (FanoutRun *self)
{
  launch_show_bar (NULL);
  _exit (LAUNCH_EXIT_SIGNAL + self->signal_number);
}

static void
take_signal (FanoutRun *self, int number)
{
  gint64 now = g_get_monotonic_time ();

  if (number == SIGQUIT || (self->n_signals > 0 && now - self->last_signal_at < AGAIN))
    return;
  self->signal_number = number;
  self->last_signal_at = now;
  self->n_signals++;
  if (self->n_signals == 1)
    take_first_signal (self);
  else if (self->n_signals == 2)
    {
      launch_say ("SIG%s again: aborting", sigabbrev_np (number));
      dlp_fanout_abort (self->fanout);
    }
  else
    leave_now (self);
}

static gboolean
signals_ready (int fd, GIOCondition condition, gpointer data)
{
  struct signalfd_siginfo info;

  while (read (fd, &info, sizeof info) == sizeof info)
    take_signal (data, (int) info.ssi_signo);
  return G_SOURCE_CONTINUE;
}

/* ---- the run ---- */

static void
say_begin (FanoutRun *self)
{
  g_autoptr (GVariant) report = NULL;

  if (self->begun || !is_prepared (self))
    return;
  self->begun = true;
  report = dlp_fanout_get_report (self->fanout);
  fanout_say_begin (report);
}

/* What runs in this process and does not end holds it up for ever. */
static void
watch_grace (FanoutRun *self)
{
  gint64 grace = 0;

  if (self->n_signals == 0)
    return;
  g_object_get (self->fanout, "grace", &grace, NULL);
  if (g_get_monotonic_time () - self->last_signal_at < grace + LEAVE_US)
    return;
  launch_error ("the tasks did not end within the grace; the same command goes on from their last "
                "checkpoints");
  launch_show_bar (NULL);
  _exit (LAUNCH_EXIT_FAILED);
}

static gboolean
tick (gpointer data)
{
  FanoutRun *self = data;

  say_begin (self);
  watch_grace (self);
  if (self->begun && fanout_progress_is_due (self->progress))
    {
      g_autoptr (GVariant) report = dlp_fanout_get_report (self->fanout);

      fanout_progress_show (self->progress, report);
    }
  return G_SOURCE_CONTINUE;
}

static void
run_done (GObject *source, GAsyncResult *result, gpointer data)
{
  FanoutRun *self = data;

  dlp_fanout_run_finish (self->fanout, result, &self->error);
  g_main_loop_quit (self->loop);
}

static int
conclude (FanoutRun *self)
{
  g_autoptr (GVariant) report = dlp_fanout_get_report (self->fanout);
  g_autoptr (GError) failure = NULL;
  int code;

  if (g_error_matches (self->error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      g_clear_error (&self->error);
      self->error = g_error_new (DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED,
                                 "stopped before the first record");
    }
  say_begin (self);
  code = fanout_exit_for (self->error, is_prepared (self), self->signal_number, report);
  fanout_progress_end (self->progress, report, code);
  launch_show_bar (NULL);
  fanout_say_end (report, self->error, has_job (report));
  if (self->options->summary == NULL ||
      fanout_write_summary (self->options->summary, report, code, &failure))
    return code;
  launch_error (failure->message);
  return code != LAUNCH_EXIT_FINISHED ? code : LAUNCH_EXIT_FAILED;
}

int
fanout_run (DlpFanout *fanout, const FanoutOptions *options)
{
  FanoutRun self = { .fanout = fanout, .options = options };
  int fd = launch_open_signals ();
  guint tick_id, signal_id;
  int code;

  self.loop = g_main_loop_new (NULL, FALSE);
  self.cancellable = g_cancellable_new ();
  self.progress = fanout_progress_new (G_LIST_MODEL (fanout), options);
  signal_id = g_unix_fd_add (fd, G_IO_IN, signals_ready, &self);
  tick_id = g_timeout_add (TICK_MS, tick, &self);
  dlp_fanout_run_async (fanout, self.cancellable, run_done, &self);
  g_main_loop_run (self.loop);

  g_source_remove (tick_id);
  g_source_remove (signal_id);
  code = conclude (&self);
  fanout_progress_free (self.progress);
  close (fd);
  g_main_loop_unref (self.loop);
  g_object_unref (self.cancellable);
  g_clear_error (&self.error);
  return code;
}
