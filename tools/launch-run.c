/* SPDX-License-Identifier: MIT */

/* A run and what comes from outside while it runs: signals, and the time that an end may take. The
 * threads of the run have all signals blocked; the main thread reads them from a descriptor. */

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <glib-unix.h>

#include "launch.h"

#define TICK_MS 50
/* Who signals a process and then its group means it once. */
#define AGAIN G_USEC_PER_SEC

typedef struct
{
  DlpPipeline *pipeline;
  const LaunchOptions *options;
  GMainLoop *loop;
  pthread_t preparer;
  GCancellable *cancellable; /* of prepare() */
  GError *unprepared;        /* of prepare(): the preparer's until it is joined */
  bool running;              /* behind prepare() */
  bool was_complete;         /* before this run */
  bool hung;                 /* it did not end within the grace */
  GVariant *stored;          /* (nullable): the summary that it left then */
  LaunchProgress *progress;
  GError *error; /* of the run */
  int signal_number;
  guint n_signals;
  gint64 signalled_at;
  gint64 last_signal_at;
  gint64 failed_at; /* 0: not yet */
} LaunchRun;

G_NORETURN static void
leave_now (LaunchRun *self, int code)
{
  launch_show_bar (NULL);
  _exit (code);
}

static int conclude (LaunchRun *self);

/* While threads of the run hang, which cannot be waited for. Consumes @error. */
G_NORETURN static void
leave_with (LaunchRun *self, GError *error)
{
  int code;

  self->error = error;
  code = conclude (self);
  fflush (stdout);
  leave_now (self, code);
}

/* (transfer full): while it was prepared. */
static GError *
make_ended (LaunchRun *self, DlpPipelineError code)
{
  return g_error_new (DLP_PIPELINE_ERROR, code, "%s by SIG%s before the first record",
                      code == DLP_PIPELINE_ERROR_ABORTED ? "aborted" : "stopped",
                      sigabbrev_np (self->signal_number));
}

/* ---- signals ---- */

static void
take_first_signal (LaunchRun *self, int number)
{
  self->signal_number = number;
  self->signalled_at = g_get_monotonic_time ();
  /* Nothing was read or written. */
  if (!self->running)
    {
      launch_say ("SIG%s: stopping", sigabbrev_np (number));
      g_cancellable_cancel (self->cancellable);
    }
  else if (self->options->finish_on_interrupt)
    launch_say ("SIG%s: finishing with what was read", sigabbrev_np (number));
  else
    launch_say ("SIG%s: stopping%s", sigabbrev_np (number),
                launch_has_state (self->pipeline) ? " after a checkpoint" : "");
}

static void
print_stats (LaunchRun *self)
{
  g_autoptr (GVariant) report = self->stored != NULL ? g_variant_ref (self->stored) :
                                                       dlp_pipeline_get_report (self->pipeline);
  g_autofree char *table = launch_format_stats (report, self->options->sequential);

  launch_write (table);
}

static void
take_signal_again (LaunchRun *self, int number)
{
  self->signal_number = number;
  if (self->n_signals > 2)
    leave_now (self, LAUNCH_EXIT_SIGNAL + number);
  /* What is being prepared has nothing that an abort could save. */
  if (!self->running)
    leave_with (self, make_ended (self, DLP_PIPELINE_ERROR_ABORTED));
  launch_say ("SIG%s again: aborting", sigabbrev_np (number));
}

static void
take_signal (LaunchRun *self, int number)
{
  gint64 now = g_get_monotonic_time ();

  if (number == SIGQUIT)
    {
      if (self->running)
        print_stats (self);
      return;
    }
  if (self->n_signals > 0 && now - self->last_signal_at < AGAIN)
    return;
  self->last_signal_at = now;
  self->n_signals++;
  if (self->n_signals == 1)
    take_first_signal (self, number);
  else
    take_signal_again (self, number);
}

static gboolean
signals_ready (int fd, GIOCondition condition, gpointer data)
{
  struct signalfd_siginfo info;

  while (read (fd, &info, sizeof info) == sizeof info)
    take_signal (data, (int) info.ssi_signo);
  return G_SOURCE_CONTINUE;
}

/* (transfer full): "; last is in a step that does not return", or "". Outside of steps none of them
 * takes any. */
static char *
describe_hang (LaunchRun *self)
{
  g_autoptr (GVariant) report = dlp_pipeline_get_report (self->pipeline);
  g_autoptr (GArray) elements = launch_get_elements (report);
  g_autofree char *waits = NULL;

  if (!g_variant_lookup (report, "phase", "s", &waits))
    waits = launch_describe_waits (elements);
  return g_strconcat (waits[0] != '\0' ? "; " : "", waits, NULL);
}

/* ---- what is said at both ends ---- */

static char *
describe_state (LaunchRun *self)
{
  g_autofree char *dir = NULL;
  g_autofree char *why_not = NULL;

  g_object_get (self->pipeline, "state-dir", &dir, NULL);
  if (dir != NULL)
    return g_strdup_printf (
        "state %s, checkpoint every %s", dir,
        self->options->checkpoint_every != NULL ? self->options->checkpoint_every : "10s");
  if (self->options->no_state)
    return g_strdup ("no state");
  why_not = launch_why_no_state (self->pipeline);
  return g_strdup_printf ("no state, because %s", why_not != NULL ? why_not : "no file is written");
}

static void
say_choices (LaunchRun *self, GVariant *report)
{
  g_autofree char *state = describe_state (self);
  g_autofree char *models = launch_get_models (self->pipeline);
  g_autofree char *worker_text = NULL;
  guint64 memory = 0, seed = 0;
  guint workers = 0;

  g_variant_lookup (report, "workers", "u", &workers);
  g_variant_lookup (report, "memory", "t", &memory);
  g_variant_lookup (report, "seed", "t", &seed);
  worker_text = launch_format_number (workers, "worker");
  launch_say ("%s, %" G_GUINT64_FORMAT " MiB of memory, seed %" G_GUINT64_FORMAT "%s%s, %s",
              worker_text, memory >> 20, seed, models != NULL ? ", tokenizer " : "",
              models != NULL ? models : "", state);
}

static void
say_resumed (LaunchRun *self, GVariant *report)
{
  g_autoptr (GArray) elements = launch_get_elements (report);
  g_autofree char *skips = NULL;
  guint64 records = 0, replay = 0;
  guint attempt = 0;

  g_variant_lookup (report, "attempt", "u", &attempt);
  g_variant_lookup (report, "records", "t", &records);
  for (guint i = 0; i < elements->len; i++)
    replay = MAX (replay, g_array_index (elements, LaunchElement, i).replay);
  if (attempt > 1 && records > 0)
    launch_say ("attempt %u, going on behind record %" G_GUINT64_FORMAT, attempt, records);
  else if (attempt > 1)
    launch_say ("attempt %u, from the first record on", attempt);
  if (replay > 0)
    {
      g_autofree char *number = launch_format_number (replay, "record");

      launch_say ("replaying %s", number);
    }
  skips = attempt > 1 ? launch_describe_skips (self->pipeline) : NULL;
  if (skips != NULL)
    launch_say ("leaving out %s, as dlpipe-state skip asked for", skips);
}

static void
say_begin (LaunchRun *self)
{
  g_autoptr (GVariant) report = dlp_pipeline_get_report (self->pipeline);

  say_choices (self, report);
  if (!self->was_complete)
    say_resumed (self, report);
}

static void
say_finished (LaunchRun *self, GVariant *report, const char *totals)
{
  bool early = launch_get_flag (report, "finished-early");

  if (self->was_complete && early)
    launch_say ("finished early before, nothing to do: %s; --restart begins anew and makes the "
                "whole",
                totals);
  else if (self->was_complete)
    launch_say ("finished already, nothing to do: %s; --restart begins anew", totals);
  else if (early)
    launch_say ("finished early, not all of the input was read: %s", totals);
  else
    launch_say ("finished: %s", totals);
}

static void
say_end (LaunchRun *self)
{
  g_autoptr (GVariant) report = self->stored != NULL ? g_variant_ref (self->stored) :
                                                       dlp_pipeline_get_report (self->pipeline);
  g_autofree char *totals = launch_format_totals (report);

  if (self->options->stats)
    print_stats (self);
  if (self->error == NULL)
    say_finished (self, report, totals);
  else if (g_error_matches (self->error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED))
    launch_say ("stopped: %s%s", totals,
                launch_has_state (self->pipeline) ? "; continue with the same command" : "");
  else if (g_error_matches (self->error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_ABORTED))
    launch_say ("aborted: %s%s", totals,
                launch_has_state (self->pipeline) ?
                    "; the same command goes on from the last checkpoint" :
                    "");
  else
    launch_report_error (self->error, launch_has_state (self->pipeline));
}

static int
judge_end (LaunchRun *self)
{
  if (self->hung)
    {
      launch_error (self->error->message);
      return LAUNCH_EXIT_FAILED;
    }
  if (self->running)
    {
      say_end (self);
      return launch_exit_for_run (self->pipeline, self->error, self->signal_number);
    }
  if (g_error_matches (self->error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED) ||
      g_error_matches (self->error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_ABORTED))
    {
      launch_say ("%s", self->error->message);
      return launch_exit_for_run (self->pipeline, self->error, self->signal_number);
    }
  launch_report_error (self->error, launch_has_state (self->pipeline));
  return launch_exit_for_prepare (self->error, launch_has_state (self->pipeline));
}

static int
conclude (LaunchRun *self)
{
  g_autoptr (GVariant) report = NULL;
  g_autoptr (GVariant) summary = NULL;
  g_autoptr (GError) failure = NULL;
  int code;

  launch_show_bar (NULL);
  code = judge_end (self);
  report = dlp_pipeline_get_report (self->pipeline);
  summary = launch_make_summary (report, self->error, code);
  if (!launch_write_summary (self->pipeline, self->options, summary, self->stored, &failure))
    {
      launch_error (failure->message);
      code = code != LAUNCH_EXIT_FINISHED ? code : LAUNCH_EXIT_FAILED;
    }
  if (self->progress != NULL)
    launch_progress_end (self->progress, self->stored != NULL ? self->stored : summary);
  return code;
}

/* ---- phases ---- */

static bool
is_grace_over (LaunchRun *self)
{
  return self->n_signals > 0 && g_get_monotonic_time () - self->signalled_at > self->options->grace;
}

static void
give_up (LaunchRun *self)
{
  g_autofree char *grace = launch_format_seconds (self->options->grace / 1e6);
  g_autofree char *hang = describe_hang (self);

  if (!self->running)
    leave_with (self, make_ended (self, DLP_PIPELINE_ERROR_STOPPED));
  self->hung = true;
  leave_with (
      self, g_error_new (G_IO_ERROR, G_IO_ERROR_TIMED_OUT,
                         "the run did not end within %s of SIG%s%s; --grace TIME gives it longer%s",
                         grace, sigabbrev_np (self->signal_number), hang,
                         launch_has_state (self->pipeline) ?
                             ", the same command goes on from the last checkpoint" :
                             ""));
}

/* A stop asked for before the elements run is not heard: asked for again. */
static void
press_on (LaunchRun *self)
{
  if (self->n_signals >= 2)
    dlp_pipeline_abort (self->pipeline);
  else if (self->options->finish_on_interrupt)
    dlp_pipeline_finish (self->pipeline);
  else
    dlp_pipeline_stop (self->pipeline);
  if (is_grace_over (self))
    give_up (self);
}

/* An element that hangs keeps a run that has failed from its end. */
static void
watch_failure (LaunchRun *self)
{
  g_autoptr (GError) error = dlp_pipeline_get_error (self->pipeline);
  gint64 now = g_get_monotonic_time ();
  g_autofree char *grace = NULL;
  g_autofree char *hang = NULL;

  if (error == NULL || g_error_matches (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_ABORTED))
    return;
  if (self->failed_at == 0)
    self->failed_at = now;
  if (now - self->failed_at <= self->options->grace && !is_grace_over (self))
    return;
  grace = launch_format_seconds (self->options->grace / 1e6);
  hang = describe_hang (self);
  launch_warn ("the run has failed and did not end within %s%s; --grace TIME gives it longer",
               grace, hang);
  leave_with (self, g_steal_pointer (&error));
}

static gboolean
tick (gpointer data)
{
  LaunchRun *self = data;

  watch_failure (self);
  if (self->n_signals > 0)
    press_on (self);
  if (self->progress != NULL)
    launch_progress_tick (self->progress);
  return G_SOURCE_CONTINUE;
}

static void
run_done (GObject *source, GAsyncResult *result, gpointer data)
{
  LaunchRun *self = data;

  dlp_pipeline_run_finish (self->pipeline, result, &self->error);
  g_main_loop_quit (self->loop);
}

/* A signal came while it was prepared. A fault that was found then is still one. */
static void
note_early_stop (LaunchRun *self)
{
  if (self->n_signals == 0 ||
      (self->error != NULL && !g_error_matches (self->error, G_IO_ERROR, G_IO_ERROR_CANCELLED)))
    return;
  g_clear_error (&self->error);
  self->error = make_ended (self, DLP_PIPELINE_ERROR_STOPPED);
}

static gboolean
prepare_done (gpointer data)
{
  LaunchRun *self = data;

  pthread_join (self->preparer, NULL);
  self->error = g_steal_pointer (&self->unprepared);
  note_early_stop (self);
  if (self->error != NULL || !launch_write_dot (self->pipeline, self->options, &self->error))
    {
      g_main_loop_quit (self->loop);
      return G_SOURCE_REMOVE;
    }
  self->running = true;
  self->was_complete = dlp_pipeline_is_complete (self->pipeline);
  if (self->was_complete)
    self->stored = launch_load_summary (self->pipeline);
  say_begin (self);
  self->progress = launch_progress_new (self->pipeline, self->options);
  dlp_pipeline_run_async (self->pipeline, NULL, run_done, self);
  return G_SOURCE_REMOVE;
}

/* A thread that is joined, not one of GLib's pool: that one could be the last to let go of the
 * pipeline. */
static gpointer
prepare_in_thread (gpointer data)
{
  LaunchRun *self = data;

  dlp_pipeline_prepare (self->pipeline, self->cancellable, &self->unprepared);
  g_idle_add (prepare_done, self);
  return NULL;
}

int
launch_run (DlpPipeline *pipeline, const LaunchOptions *options)
{
  LaunchRun self = { .pipeline = pipeline, .options = options };
  guint tick_id;
  int fd = launch_open_signals ();
  int code;

  self.loop = g_main_loop_new (NULL, FALSE);
  self.cancellable = g_cancellable_new ();
  g_unix_fd_add (fd, G_IO_IN, signals_ready, &self);
  tick_id = g_timeout_add (TICK_MS, tick, &self);
  if (pthread_create (&self.preparer, NULL, prepare_in_thread, &self) != 0)
    g_error ("cannot create a thread");
  g_main_loop_run (self.loop);

  g_source_remove (tick_id);
  code = conclude (&self);
  g_clear_pointer (&self.progress, launch_progress_free);
  g_clear_pointer (&self.stored, g_variant_unref);
  close (fd);
  g_main_loop_unref (self.loop);
  g_object_unref (self.cancellable);
  g_clear_error (&self.error);
  return code;
}
