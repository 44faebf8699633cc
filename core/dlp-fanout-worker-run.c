/* SPDX-License-Identifier: MIT */

/* The worker's side: runs one task after the other, tells how far it is, and ends with whoever told
 * it to. In a process of its own, or on a thread of the fan-out's. */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <dlpipe/dlp-fanout.h>

#include "dlp-fanout-link-private.h"
#include "dlp-fanout-task-private.h"
#include "dlp-fanout-worker-private.h"

#define TICK_MS 250
/* A run that has failed, and has an element that does not come back. */
#define HANG_US (20 * G_USEC_PER_SEC)

typedef struct
{
  DlpFanoutLink link;
  bool own_process;
  int ended_fd;

  guint task;
  DlpPipeline *pipeline; /* (nullable): the task's that goes on */
  /* The one before, so that what tasks have in common, as the tables of a tokenizer, stays loaded.
   */
  DlpPipeline *former;
  pthread_t thread;
  GError *error; /* the thread's until it is joined */
  bool stopping;
  bool leaving;     /* no other task can be run here */
  gint64 failed_at; /* 0: not yet */
} Worker;

/* ---- what is said ---- */

static GVariantDict *
begin_message (Worker *self, const char *is)
{
  GVariantDict *dict = g_variant_dict_new (NULL);

  g_variant_dict_insert (dict, "is", "s", is);
  g_variant_dict_insert (dict, "task", "t", (guint64) self->task);
  return dict;
}

/* False: nobody is there any more. */
static bool
send_message (Worker *self, GVariantDict *dict)
{
  bool sent = dlp_fanout_link_send (&self->link, g_variant_dict_end (dict), true);

  g_variant_dict_unref (dict);
  return sent;
}

static bool
say_ready (Worker *self)
{
  GVariantDict *dict = begin_message (self, "ready");

  g_variant_dict_insert (dict, "pid", "t", (guint64) getpid ());
  return send_message (self, dict);
}

static void
add_counters (Worker *self, GVariantDict *dict)
{
  guint64 records, tokens, bytes;
  guint files;
  double fraction;

  g_object_get (self->pipeline, "records", &records, "tokens", &tokens, "bytes", &bytes,
                "files-done", &files, "fraction", &fraction, NULL);
  g_variant_dict_insert (dict, "records", "t", records);
  g_variant_dict_insert (dict, "tokens", "t", tokens);
  g_variant_dict_insert (dict, "bytes", "t", bytes);
  g_variant_dict_insert (dict, "files", "t", (guint64) files);
  g_variant_dict_insert (dict, "fraction", "d", fraction);
}

/* While the run prepares, its elements are not to be looked at: then it only says that it is there.
 */
static bool
say_progress (Worker *self)
{
  GVariantDict *dict = begin_message (self, "progress");

  if (dlp_pipeline_get_status (self->pipeline) != DLP_PIPELINE_NEW)
    add_counters (self, dict);
  return send_message (self, dict);
}

/* @error: (nullable). @report: (nullable). */
static bool
say_ended (Worker *self, const GError *error, GVariant *report)
{
  GVariantDict *dict = begin_message (self, "ended");

  if (error != NULL)
    {
      g_variant_dict_insert (dict, "error-domain", "s", g_quark_to_string (error->domain));
      g_variant_dict_insert (dict, "error-code", "i", error->code);
      dlp_fanout_add_text (dict, "error", error->message);
    }
  if (report != NULL)
    g_variant_dict_insert_value (dict, "report", report);
  g_variant_dict_insert (dict, "leaving", "b", (gboolean) self->leaving);
  return send_message (self, dict);
}

/* ---- a task ---- */

static gpointer
run_in_thread (gpointer data)
{
  Worker *self = data;
  guint64 one = 1;

  dlp_pipeline_run (self->pipeline, NULL, &self->error);
  while (write (self->ended_fd, &one, sizeof one) < 0 && errno == EINTR)
    ;
  return NULL;
}

/* What is written to the standard output or error from now on goes to the log of the task, also by
 * children. */
static bool
open_log (const char *path, GError **error)
{
  int fd = open (path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

  if (fd >= 0 && dup2 (fd, STDOUT_FILENO) >= 0 && dup2 (fd, STDERR_FILENO) >= 0)
    {
      close (fd);
      return true;
    }
  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno), "%s: cannot open: %s", path,
               g_strerror (errno));
  if (fd >= 0)
    close (fd);
  return false;
}

static bool
begin_task (Worker *self, GVariant *order)
{
  g_autoptr (GError) error = NULL;

  self->task = (guint) dlp_fanout_get_number (order, "task");
  self->stopping = false;
  self->failed_at = 0;
  if (self->own_process && !open_log (dlp_fanout_get_text (order, "log"), &error))
    return say_ended (self, error, NULL);
  self->pipeline = dlp_fanout_make_task (order, &error);
  if (self->pipeline == NULL)
    return say_ended (self, error, NULL);
  if (pthread_create (&self->thread, NULL, run_in_thread, self) != 0)
    g_error ("cannot create a thread");
  return true;
}

static bool
end_task (Worker *self)
{
  g_autoptr (GVariant) report = NULL;
  guint64 n;
  bool sent;

  if (read (self->ended_fd, &n, sizeof n) < 0)
    return true;
  pthread_join (self->thread, NULL);
  report = dlp_pipeline_get_report (self->pipeline);
  sent = say_ended (self, self->error, report);
  g_clear_error (&self->error);
  g_clear_object (&self->former);
  self->former = g_steal_pointer (&self->pipeline);
  return sent;
}

/* With an element that hangs for good nothing is left but to say so, and to go. */
static bool
is_hung (Worker *self)
{
  g_autoptr (GError) error = dlp_pipeline_get_error (self->pipeline);

  if (error == NULL)
    return false;
  if (self->failed_at == 0)
    self->failed_at = g_get_monotonic_time ();
  if (g_get_monotonic_time () - self->failed_at < HANG_US)
    return false;
  self->leaving = true;
  say_ended (self, error, NULL);
  return true;
}

/* ---- the loop ---- */

/* A stop is asked for again and again: one that comes while the run begins may not be heard. */
static bool
tick (Worker *self)
{
  if (self->pipeline == NULL)
    return true;
  if (self->stopping)
    dlp_pipeline_stop (self->pipeline);
  return say_progress (self) && !is_hung (self);
}

static bool
obey (Worker *self, GVariant *order)
{
  const char *what = "";

  g_variant_lookup (order, "do", "&s", &what);
  if (strcmp (what, "run") == 0 && self->pipeline == NULL)
    return begin_task (self, order);
  if (strcmp (what, "stop") == 0)
    {
      self->stopping = true;
      return self->pipeline == NULL || tick (self);
    }
  if (strcmp (what, "abort") == 0 && self->pipeline != NULL)
    dlp_pipeline_abort (self->pipeline);
  return true;
}

/* False: the other side is gone, or this one hangs. */
static bool
listen_once (Worker *self)
{
  struct pollfd fds[] = { { self->link.fd, POLLIN, 0 }, { self->ended_fd, POLLIN, 0 } };
  int n = poll (fds, G_N_ELEMENTS (fds), self->pipeline != NULL ? TICK_MS : -1);
  bool open = true;
  GVariant *order;

  if (n < 0)
    return errno == EINTR;
  if (fds[0].revents != 0)
    open = dlp_fanout_link_receive (&self->link);
  while (open && (order = dlp_fanout_link_take (&self->link)) != NULL)
    {
      open = obey (self, order);
      g_variant_unref (order);
    }
  if (open && (fds[1].revents & POLLIN))
    open = end_task (self);
  return open && tick (self);
}

static void
run (Worker *self)
{
  if (!say_ready (self))
    return;
  while (listen_once (self))
    ;
}

/* ---- as a process ---- */

/* It dies with the fan-out, and is no matter of the terminal: a signal for all is the fan-out's to
 * hear, which then asks for a stop. */
static void
become_worker (void)
{
  static const int left_to_others[] = { SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGQUIT };
  sigset_t signals;

  prctl (PR_SET_PDEATHSIG, SIGKILL);
  setsid ();
  sigemptyset (&signals);
  for (guint i = 0; i < G_N_ELEMENTS (left_to_others); i++)
    sigaddset (&signals, left_to_others[i]);
  pthread_sigmask (SIG_SETMASK, &signals, NULL);
  signal (SIGPIPE, SIG_IGN);
  signal (SIGXFSZ, SIG_IGN);
}

int
dlp_fanout_run_worker (int fd)
{
  Worker self = { .own_process = true };
  bool busy;

  become_worker ();
  fcntl (fd, F_SETFD, FD_CLOEXEC);
  dlp_fanout_link_init (&self.link, fd);
  self.ended_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (self.ended_fd < 0)
    return 1;
  run (&self);
  busy = self.pipeline != NULL;
  /* Threads of a run that goes on are not waited for. Its last checkpoint is what is left of it. */
  if (busy)
    _exit (1);
  g_clear_object (&self.former);
  dlp_fanout_link_clear (&self.link);
  close (self.ended_fd);
  return 0;
}

/* ---- as a thread ---- */

static gpointer
work_in_thread (gpointer data)
{
  Worker *self = data;

  run (self);
  /* The other side is told before a run is waited for that may hang. */
  dlp_fanout_link_clear (&self->link);
  if (self->pipeline != NULL)
    {
      dlp_pipeline_abort (self->pipeline);
      pthread_join (self->thread, NULL);
    }
  g_clear_error (&self->error);
  g_clear_object (&self->pipeline);
  g_clear_object (&self->former);
  close (self->ended_fd);
  g_free (self);
  return NULL;
}

GThread *
dlp_fanout_worker_start_thread (int fd)
{
  Worker *self = g_new0 (Worker, 1);

  dlp_fanout_link_init (&self->link, fd);
  self->ended_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (self->ended_fd < 0)
    g_error ("cannot make an eventfd: %s", g_strerror (errno));
  return g_thread_new ("dlp-worker", work_in_thread, self);
}
