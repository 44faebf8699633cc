/* SPDX-License-Identifier: MIT */

/* A run and what comes from outside while it runs: signals, and the time that an end may take. The
 * threads of the run have all signals blocked; the main thread reads them from a descriptor. */

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <glib-unix.h>

#include "launch.h"

#define TICK_MS 50

static const int caught[] = { SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGQUIT };

typedef struct
{
  DlpPipeline *pipeline;
  const LaunchOptions *options;
  GMainLoop *loop;
  bool running; /* behind prepare() */
  bool done;
  GError *error; /* of the run */
  int signal_number;
  guint n_signals;
  gint64 signalled_at;
} LaunchRun;

static void
leave_now (LaunchRun *self, int code)
{
  launch_show_bar (NULL);
  _exit (code);
}

/* ---- signals ---- */

static bool
has_state (DlpPipeline *pipeline)
{
  g_autofree char *dir = NULL;

  g_object_get (pipeline, "state-dir", &dir, NULL);
  return dir != NULL;
}

static void
take_first_signal (LaunchRun *self, int number)
{
  self->signal_number = number;
  self->signalled_at = g_get_monotonic_time ();
  if (!self->running)
    {
      /* Nothing was read or written. */
      launch_say ("stopped by SIG%s before the first record", sigabbrev_np (number));
      leave_now (self,
                 has_state (self->pipeline) ? LAUNCH_EXIT_STOPPED : LAUNCH_EXIT_SIGNAL + number);
    }
  if (self->options->finish_on_interrupt)
    launch_say ("SIG%s: finishing with what was read", sigabbrev_np (number));
  else
    launch_say ("SIG%s: stopping%s", sigabbrev_np (number),
                has_state (self->pipeline) ? " after a checkpoint" : "");
}

static void
take_signal (LaunchRun *self, int number)
{
  if (number == SIGQUIT)
    return;
  self->n_signals++;
  if (self->n_signals == 1)
    take_first_signal (self, number);
  else
    {
      self->signal_number = number;
      if (self->n_signals == 2)
        launch_say ("SIG%s again: aborting", sigabbrev_np (number));
      else
        leave_now (self, LAUNCH_EXIT_SIGNAL + number);
    }
}

static gboolean
signals_ready (int fd, GIOCondition condition, gpointer data)
{
  struct signalfd_siginfo info;

  while (read (fd, &info, sizeof info) == sizeof info)
    take_signal (data, (int) info.ssi_signo);
  return G_SOURCE_CONTINUE;
}

/* A stop asked for before the elements run is not heard: asked for again. */
static void
press_on (LaunchRun *self)
{
  gint64 waited = g_get_monotonic_time () - self->signalled_at;

  if (self->n_signals >= 2)
    dlp_pipeline_abort (self->pipeline);
  else if (self->options->finish_on_interrupt)
    dlp_pipeline_finish (self->pipeline);
  else
    dlp_pipeline_stop (self->pipeline);
  if (waited > self->options->grace)
    {
      g_autofree char *grace = launch_format_seconds (self->options->grace / 1e6);
      g_autofree char *message = g_strdup_printf (
          "the run did not end within %s of SIG%s%s; --grace TIME gives it longer", grace,
          sigabbrev_np (self->signal_number),
          has_state (self->pipeline) ? ", the same command goes on from the last checkpoint" : "");

      launch_error (message);
      leave_now (self, LAUNCH_EXIT_FAILED);
    }
}

static gboolean
tick (gpointer data)
{
  LaunchRun *self = data;

  if (self->n_signals > 0)
    press_on (self);
  return G_SOURCE_CONTINUE;
}

/* ---- phases ---- */

static void
prepare_in_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  GError *error = NULL;

  if (dlp_pipeline_prepare (source, cancellable, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

static void
run_done (GObject *source, GAsyncResult *result, gpointer data)
{
  LaunchRun *self = data;

  dlp_pipeline_run_finish (self->pipeline, result, &self->error);
  g_main_loop_quit (self->loop);
}

static void
prepare_done (GObject *source, GAsyncResult *result, gpointer data)
{
  LaunchRun *self = data;

  if (!g_task_propagate_boolean (G_TASK (result), &self->error))
    {
      g_main_loop_quit (self->loop);
      return;
    }
  self->running = true;
  dlp_pipeline_run_async (self->pipeline, NULL, run_done, self);
}

static int
conclude (LaunchRun *self)
{
  if (!self->running)
    {
      launch_error (self->error->message);
      return launch_exit_for_prepare (self->error);
    }
  if (g_error_matches (self->error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED))
    launch_say ("stopped%s", has_state (self->pipeline) ? "; continue with the same command" : "");
  else if (self->error != NULL)
    launch_error (self->error->message);
  return launch_exit_for_run (self->pipeline, self->error, self->signal_number);
}

int
launch_run (DlpPipeline *pipeline, const LaunchOptions *options)
{
  LaunchRun self = { .pipeline = pipeline, .options = options };
  g_autoptr (GTask) task = NULL;
  sigset_t signals;
  guint tick_id;
  int fd, code;

  sigemptyset (&signals);
  for (guint i = 0; i < G_N_ELEMENTS (caught); i++)
    sigaddset (&signals, caught[i]);
  pthread_sigmask (SIG_BLOCK, &signals, NULL);
  signal (SIGPIPE, SIG_IGN);
  fd = signalfd (-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);

  self.loop = g_main_loop_new (NULL, FALSE);
  g_unix_fd_add (fd, G_IO_IN, signals_ready, &self);
  tick_id = g_timeout_add (TICK_MS, tick, &self);
  task = g_task_new (pipeline, NULL, prepare_done, &self);
  g_task_run_in_thread (task, prepare_in_thread);
  g_main_loop_run (self.loop);

  g_source_remove (tick_id);
  close (fd);
  code = conclude (&self);
  g_main_loop_unref (self.loop);
  g_clear_error (&self.error);
  return code;
}
