/* SPDX-License-Identifier: MIT */

/* Gives tasks to workers, hears how far they are, and sees to it that a worker that dies or hangs
 * holds up nothing. One thread; what others look at it changes under the lock. */

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "dlp-fanout-private.h"

#define TICK_MS 100
/* Between the end of a worker's link and the end of its process. */
#define GONE_US G_USEC_PER_SEC
/* In a row: the program is not what it should be. */
#define MAX_EARLY_ENDS 3
/* What idle workers have to leave, and killed ones to be gone. */
#define LEAVE_US (2 * G_USEC_PER_SEC)
/* What runs a task of a fan-out that was killed ends with it, but that takes a while, as where much
 * memory is given back; and so do locks of a node that is gone. */
#define LOCKED_US (30 * G_USEC_PER_SEC)
#define LOCKED_PAUSE_US (G_USEC_PER_SEC / 2)
/* Longer than a look takes at most. */
#define SLEPT_US (2 * G_USEC_PER_SEC)

static DlpFanoutPlace *
get_place (DlpFanout *self, guint i)
{
  return g_ptr_array_index (self->places, i);
}

static DlpFanoutTask *
get_task (DlpFanout *self, int i)
{
  return i >= 0 ? g_ptr_array_index (self->tasks, i) : NULL;
}

static bool
is_ending (DlpFanout *self)
{
  return self->fatal != NULL || __atomic_load_n (&self->stopping, __ATOMIC_ACQUIRE) ||
         __atomic_load_n (&self->aborting, __ATOMIC_ACQUIRE);
}

static void say (DlpFanout *self, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* Said once the lock is given back: who hears it may ask this object something. */
static void
say (DlpFanout *self, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  g_ptr_array_add (self->said, g_strdup_vprintf (format, args));
  va_end (args);
}

static void
speak (DlpFanout *self)
{
  for (guint i = 0; i < self->said->len; i++)
    g_warning ("%s", (const char *) self->said->pdata[i]);
  g_ptr_array_set_size (self->said, 0);
}

static void
set_fatal (DlpFanout *self, GError *error)
{
  if (self->fatal == NULL)
    self->fatal = error;
  else
    g_error_free (error);
}

/* ---- giving out work ---- */

static bool
is_due (DlpFanout *self, const DlpFanoutTask *task)
{
  return dlp_fanout_is_own (self, task->number) && task->status == DLP_TASK_WAITING &&
         (task->not_before == 0 || task->not_before <= g_get_monotonic_time ());
}

static DlpFanoutTask *
find_waiting (DlpFanout *self)
{
  for (guint i = 0; i < self->tasks->len; i++)
    {
      DlpFanoutTask *task = g_ptr_array_index (self->tasks, i);

      if (is_due (self, task))
        return task;
    }
  return NULL;
}

static void
give_task (DlpFanout *self, DlpFanoutPlace *place, DlpFanoutTask *task)
{
  GVariant *order = dlp_fanout_make_order (self, task->number, place->number, 0);

  if (!dlp_fanout_link_send (&place->process.link, order, false))
    {
      place->gone = true;
      return;
    }
  place->task = (int) task->number;
  place->stop_asked = false;
  place->since = g_get_monotonic_time ();
  task->status = DLP_TASK_RUNNING;
  task->attempts++;
}

static char **
make_environment (DlpFanout *self, DlpFanoutPlace *place)
{
  char **environment;
  g_autofree char *name = NULL;
  g_autofree char *folder = NULL;

  if (place->device == NULL)
    return NULL;
  environment = g_get_environ ();
  name = g_build_filename ("devices", place->device, NULL);
  folder = dlp_fanout_job_get_path (self->job, name);
  environment = g_environ_setenv (environment, self->settings.device_env, place->device, TRUE);
  environment = g_environ_setenv (environment, "DLPIPE_DEVICE", place->device, TRUE);
  return g_environ_setenv (environment, "DLPIPE_DEVICE_DIR", folder, TRUE);
}

static void
start_place (DlpFanout *self, DlpFanoutPlace *place)
{
  g_auto (GStrv) environment = make_environment (self, place);
  GError *error = NULL;
  bool ok;

  if (place->in_process)
    ok = dlp_fanout_process_start_thread (&place->process, &error);
  else
    ok = dlp_fanout_process_start (&place->process, self->program, environment, self->worker_log,
                                   &error);
  if (!ok)
    {
      set_fatal (self, error);
      return;
    }
  place->there = true;
  place->ready = place->gone = false;
  place->since = g_get_monotonic_time ();
}

/* A worker is started where there is a task for it, so that no more of them are than are needed. */
static void
give_out_work (DlpFanout *self)
{
  guint n_waiting = 0, n_coming = 0;

  for (guint i = 0; i < self->tasks->len; i++)
    n_waiting += is_due (self, get_task (self, (int) i));
  for (guint i = 0; i < self->places->len && !is_ending (self); i++)
    {
      DlpFanoutPlace *place = get_place (self, i);
      DlpFanoutTask *task = find_waiting (self);

      if (place->task >= 0 || task == NULL)
        continue;
      if (place->there && place->ready && !place->gone)
        {
          give_task (self, place, task);
          n_waiting--;
        }
      else if (!place->there && n_coming < n_waiting)
        start_place (self, place);
      n_coming += place->there && place->task < 0;
    }
}

/* ---- what becomes of a task ---- */

/* What may be otherwise the next time. */
static bool
may_pass (const GError *error)
{
  if (g_error_matches (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STALLED) ||
      g_error_matches (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED))
    return true;
  if (error->domain != G_IO_ERROR)
    return false;
  return error->code != G_IO_ERROR_NO_SPACE && error->code != G_IO_ERROR_PERMISSION_DENIED &&
         error->code != G_IO_ERROR_READ_ONLY && error->code != G_IO_ERROR_NOT_FOUND;
}

static void
settle (DlpFanoutTask *task, DlpTaskStatus status, GVariant *report)
{
  task->status = status;
  g_clear_pointer (&task->outcome, g_variant_unref);
  task->outcome = dlp_fanout_make_outcome (task, report);
}

/* Another attempt has the task, and what becomes of it is that one's to record. */
static bool
is_taken_over (const GError *error)
{
  return g_error_matches (error, DLP_STATE_ERROR, DLP_STATE_ERROR_FENCED) ||
         g_error_matches (error, DLP_STATE_ERROR, DLP_STATE_ERROR_LOCKED);
}

/* Takes @error over. */
static void
attempt_failed (DlpFanout *self, DlpFanoutTask *task, bool passing, GError *error)
{
  guint retries = self->settings.retries;

  g_ptr_array_add (task->verdicts, g_strdup (error->message));
  g_clear_error (&task->error);
  task->error = error;
  if (is_taken_over (error))
    {
      task->status = DLP_TASK_STOPPED;
      set_fatal (self, g_error_copy (error));
    }
  else if (__atomic_load_n (&self->aborting, __ATOMIC_ACQUIRE))
    task->status = DLP_TASK_STOPPED;
  else if (is_ending (self) && passing)
    {
      task->status = DLP_TASK_STOPPED;
      say (self, "%s; the same command goes on from its checkpoint", error->message);
    }
  else if (passing && ++task->failures <= retries)
    {
      task->status = DLP_TASK_WAITING;
      say (self, "%s; it goes on from its checkpoint (retry %u of %u)", error->message,
           task->failures, retries);
    }
  else
    {
      settle (task, DLP_TASK_FAILED, NULL);
      say (self, "%s; it is given up, the other tasks go on", error->message);
    }
}

/* Another fan-out, as one that had this one for lost, has the state of the task: what it has
 * recorded counts. */
static bool
is_done_elsewhere (DlpFanout *self, DlpFanoutTask *task, const GError *error)
{
  if (!g_error_matches (error, DLP_STATE_ERROR, DLP_STATE_ERROR_LOCKED) &&
      !g_error_matches (error, DLP_STATE_ERROR, DLP_STATE_ERROR_FENCED))
    return false;
  dlp_fanout_load_outcome (self, task);
  return task->status == DLP_TASK_DONE;
}

/* Whether the task is tried again as it was, since a run that is about to end still has its state;
 * takes @error over then. */
static bool
wait_for_lock (DlpFanout *self, DlpFanoutTask *task, GError *error)
{
  gint64 now = g_get_monotonic_time ();

  if (!g_error_matches (error, DLP_STATE_ERROR, DLP_STATE_ERROR_LOCKED))
    return false;
  if (task->locked_since == 0)
    {
      task->locked_since = now;
      say (self, "%s; if that run is about to end, the task is begun within %d s", error->message,
           (int) (LOCKED_US / G_USEC_PER_SEC));
    }
  if (!is_ending (self) && now - task->locked_since > LOCKED_US)
    return false;
  task->status = is_ending (self) ? DLP_TASK_STOPPED : DLP_TASK_WAITING;
  task->not_before = now + LOCKED_PAUSE_US;
  g_error_free (error);
  return true;
}

/* ---- what workers say ---- */

static void
take_progress (DlpFanoutTask *task, GVariant *message)
{
  double fraction = -1;

  g_variant_lookup (message, "fraction", "d", &fraction);
  task->fraction = MAX (task->fraction, fraction);
  task->records = MAX (task->records, dlp_fanout_get_number (message, "records"));
  task->tokens = MAX (task->tokens, dlp_fanout_get_number (message, "tokens"));
  task->bytes = MAX (task->bytes, dlp_fanout_get_number (message, "bytes"));
  task->files_done = MAX (task->files_done, dlp_fanout_get_number (message, "files"));
}

/* The last word on them, also where an attempt had more and died. */
static void
take_report (DlpFanoutTask *task, GVariant *report)
{
  task->records = dlp_fanout_get_count (report, "records");
  task->tokens = dlp_fanout_get_count (report, "tokens");
  task->bytes = dlp_fanout_get_count (report, "bytes");
  task->files_done = dlp_fanout_get_count (report, "files-done");
}

static GError *
read_error (DlpFanoutTask *task, GVariant *message)
{
  const char *domain;
  int code = 0;
  GError *error;

  if (!g_variant_lookup (message, "error-domain", "&s", &domain))
    return NULL;
  g_variant_lookup (message, "error-code", "i", &code);
  error = g_error_new (g_quark_from_string (domain), code, "task %u: %s", task->number,
                       dlp_fanout_get_text (message, "error"));
  return error;
}

static void
take_end (DlpFanout *self, DlpFanoutPlace *place, DlpFanoutTask *task, GVariant *message)
{
  g_autoptr (GVariant) report = g_variant_lookup_value (message, "report", G_VARIANT_TYPE_VARDICT);
  GError *error = read_error (task, message);
  bool stopped = g_error_matches (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED);
  gboolean leaving = FALSE;

  g_variant_lookup (message, "leaving", "b", &leaving);
  place->gone |= leaving;
  place->task = -1;
  if (report != NULL)
    take_report (task, report);
  if (error == NULL)
    {
      task->fraction = 1;
      g_clear_error (&task->error);
      settle (task, DLP_TASK_DONE, report);
    }
  else if (is_ending (self) &&
           (stopped || g_error_matches (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_ABORTED)))
    {
      task->status = DLP_TASK_STOPPED;
      g_error_free (error);
    }
  else if (is_done_elsewhere (self, task, error))
    g_error_free (error);
  else if (!wait_for_lock (self, task, error))
    attempt_failed (self, task, may_pass (error), error);
}

static void
hear_message (DlpFanout *self, DlpFanoutPlace *place, GVariant *message)
{
  DlpFanoutTask *task = get_task (self, place->task);
  const char *is = "";

  place->since = g_get_monotonic_time ();
  g_variant_lookup (message, "is", "&s", &is);
  if (strcmp (is, "ready") == 0)
    {
      place->ready = true;
      place->early_ends = 0;
      dlp_fanout_process_note_memory (&place->process);
    }
  else if (task == NULL || dlp_fanout_get_number (message, "task") != task->number)
    return;
  else if (strcmp (is, "progress") == 0)
    take_progress (task, message);
  else if (strcmp (is, "ended") == 0)
    take_end (self, place, task, message);
}

/* False: it will say nothing more. */
static bool
take_messages (DlpFanout *self, DlpFanoutPlace *place)
{
  bool open = dlp_fanout_link_receive (&place->process.link);
  GVariant *message;

  while ((message = dlp_fanout_link_take (&place->process.link)) != NULL)
    {
      hear_message (self, place, message);
      g_variant_unref (message);
    }
  return open;
}

static void
hear (DlpFanout *self, DlpFanoutPlace *place)
{
  if (take_messages (self, place) && dlp_fanout_link_flush (&place->process.link))
    return;
  place->gone = true;
  place->since = g_get_monotonic_time ();
}

/* ---- workers that end ---- */

static char *
describe_place (DlpFanoutPlace *place, pid_t pid, DlpFanoutTask *task)
{
  if (task == NULL)
    return g_strdup_printf ("worker %u (process %d)", place->number, (int) pid);
  if (task->fraction > 0)
    return g_strdup_printf (
        "task %u: worker %u (process %d), at %.0f %%, %" G_GUINT64_FORMAT " records", task->number,
        place->number, (int) pid, task->fraction * 100, task->records);
  return g_strdup_printf ("task %u: worker %u (process %d), at its beginning", task->number,
                          place->number, (int) pid);
}

static void
ended_early (DlpFanout *self, DlpFanoutPlace *place, const char *who, const char *how)
{
  g_autofree char *log = dlp_fanout_job_get_path (self->job, "workers.log");

  if (++place->early_ends >= MAX_EARLY_ENDS)
    set_fatal (self, g_error_new (DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_INTERNAL,
                                  "%s %s before it could be given a task, as %u before it; %s may "
                                  "say why",
                                  who, how, MAX_EARLY_ENDS - 1, log));
}

static void
place_ended (DlpFanout *self, DlpFanoutPlace *place, pid_t pid, const DlpFanoutVerdict *verdict)
{
  DlpFanoutTask *task;
  g_autofree char *who = NULL;
  g_autofree char *how =
      place->killed != NULL ? g_strdup (place->killed) : dlp_fanout_verdict_describe (verdict);

  /* Its last words may be that the task is done. */
  take_messages (self, place);
  task = get_task (self, place->task);
  who = describe_place (place, pid, task);
  dlp_fanout_process_clear (&place->process, true);
  place->there = false;
  place->task = -1;
  place->restarts++;
  g_clear_pointer (&place->killed, g_free);
  if (task != NULL)
    attempt_failed (self, task, true,
                    g_error_new (G_IO_ERROR, G_IO_ERROR_BROKEN_PIPE, "%s, %s", who, how));
  else if (!place->ready)
    ended_early (self, place, who, how);
}

static void
kill_place (DlpFanoutPlace *place, char *why)
{
  g_free (place->killed);
  place->killed = why;
  dlp_fanout_process_kill (&place->process);
}

/* Its thread has ended while a run of it hangs: nothing more can be done in this process. */
static void
look_after_thread (DlpFanout *self, DlpFanoutPlace *place)
{
  DlpFanoutTask *task = get_task (self, place->task);

  if (!place->gone)
    return;
  dlp_fanout_process_clear (&place->process, false);
  place->there = false;
  place->task = -1;
  if (task != NULL)
    task->status = DLP_TASK_STOPPED;
  set_fatal (self,
             g_error_new (DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STALLED,
                          "a task that has failed does not end; the same command goes on from "
                          "its checkpoint"));
}

static void
look_after (DlpFanout *self, DlpFanoutPlace *place)
{
  gint64 silence = g_get_monotonic_time () - place->since;
  gint64 limit = self->settings.answer_timeout;
  pid_t pid = place->process.pid;
  DlpFanoutVerdict verdict;

  if (place->in_process)
    look_after_thread (self, place);
  else if (dlp_fanout_process_reap (&place->process, &verdict))
    place_ended (self, place, pid, &verdict);
  else if (place->killed != NULL)
    return;
  else if (place->gone && silence > GONE_US)
    kill_place (place, g_strdup ("was killed, since it spoke no more"));
  else if (limit > 0 && silence > limit && (place->task >= 0 || !place->ready))
    kill_place (place, g_strdup_printf ("was killed, since it said nothing for %.0f s",
                                        (double) silence / G_USEC_PER_SEC));
}

/* ---- what is asked for ---- */

static void
ask_to_stop (DlpFanout *self, DlpFanoutPlace *place)
{
  GVariantDict dict;

  if (place->stop_asked || place->task < 0 || place->gone)
    return;
  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "do", "s", "stop");
  place->stop_asked =
      dlp_fanout_link_send (&place->process.link, g_variant_dict_end (&dict), false);
  place->gone |= !place->stop_asked;
}

static void
abort_place (DlpFanout *self, DlpFanoutPlace *place)
{
  GVariantDict dict;

  if (!place->in_process)
    {
      if (place->there && place->killed == NULL)
        kill_place (place, g_strdup ("was killed, as it was asked for"));
      return;
    }
  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "do", "s", "abort");
  dlp_fanout_link_send (&place->process.link, g_variant_dict_end (&dict), false);
}

static void
end_grace (DlpFanout *self, DlpFanoutPlace *place)
{
  DlpFanoutTask *task = get_task (self, place->task);

  if (task == NULL || place->killed != NULL)
    return;
  if (place->in_process)
    {
      self->hung = true;
      return;
    }
  kill_place (place,
              g_strdup_printf ("was killed, since it made no checkpoint within %.0f s of the "
                               "stop",
                               (double) self->settings.grace / G_USEC_PER_SEC));
}

static void
obey (DlpFanout *self)
{
  bool aborting = __atomic_load_n (&self->aborting, __ATOMIC_ACQUIRE);
  gint64 now = g_get_monotonic_time ();
  bool late;

  if (!is_ending (self))
    return;
  if (self->stopped_at == 0)
    self->stopped_at = now;
  late = now - self->stopped_at > self->settings.grace;
  for (guint i = 0; i < self->places->len; i++)
    {
      DlpFanoutPlace *place = get_place (self, i);

      if (!place->there)
        continue;
      if (aborting)
        abort_place (self, place);
      else
        ask_to_stop (self, place);
      if (late)
        end_grace (self, place);
    }
}

/* ---- the loop ---- */

/* Where this process itself was stopped, the silence of the others says nothing. */
static void
excuse_silence (DlpFanout *self)
{
  gint64 now = g_get_monotonic_time ();
  bool slept = self->looked_at != 0 && now - self->looked_at > SLEPT_US;

  self->looked_at = now;
  for (guint i = 0; i < self->places->len && slept; i++)
    get_place (self, i)->since = now;
}

static void
wait_for_something (DlpFanout *self)
{
  g_autofree struct pollfd *fds = g_new0 (struct pollfd, self->places->len + 1);
  guint64 n;

  for (guint i = 0; i < self->places->len; i++)
    {
      DlpFanoutPlace *place = get_place (self, i);
      short events = dlp_fanout_link_has_unsent (&place->process.link) ? POLLIN | POLLOUT : POLLIN;

      fds[i] =
          (struct pollfd){ place->there && !place->gone ? place->process.link.fd : -1, events, 0 };
    }
  fds[self->places->len] = (struct pollfd){ self->wake_fd, POLLIN, 0 };
  if (poll (fds, self->places->len + 1, TICK_MS) < 0)
    return;
  if ((fds[self->places->len].revents & POLLIN) && read (self->wake_fd, &n, sizeof n) < 0)
    g_debug ("nothing to be woken by");
  pthread_mutex_lock (&self->lock);
  for (guint i = 0; i < self->places->len; i++)
    if (fds[i].revents != 0)
      hear (self, get_place (self, i));
  pthread_mutex_unlock (&self->lock);
}

static void
end_by (DlpFanout *self, GError *error)
{
  pthread_mutex_lock (&self->lock);
  set_fatal (self, error);
  pthread_mutex_unlock (&self->lock);
}

/* What has failed since another attempt of this rank has come and taken it over is that one's. */
static bool
may_record (DlpFanout *self, DlpFanoutTask *task)
{
  GError *error = NULL;

  if (task->status == DLP_TASK_DONE || dlp_state_lock_check (self->job->lock, &error))
    return true;
  pthread_mutex_lock (&self->lock);
  task->status = DLP_TASK_STOPPED;
  set_fatal (self, error);
  pthread_mutex_unlock (&self->lock);
  return false;
}

/* Without the lock: nobody else changes a task that is settled. Before the next one is begun it is
 * seen whether another attempt of this rank has come: beginning it would take the task from that
 * one. */
static void
record (DlpFanout *self)
{
  bool any = false;
  GError *error = NULL;

  for (guint i = 0; i < self->tasks->len; i++)
    {
      DlpFanoutTask *task = get_task (self, (int) i);

      if (task->recorded || (task->status != DLP_TASK_DONE && task->status != DLP_TASK_FAILED))
        continue;
      if (!may_record (self, task))
        continue;
      any = task->recorded = true;
      if (dlp_fanout_job_save_task (self->job, task->number, task->status == DLP_TASK_DONE,
                                    task->outcome, &error))
        continue;
      g_prefix_error (&error, "task %u: what became of it cannot be recorded: ", task->number);
      end_by (self, g_steal_pointer (&error));
    }
  if (any && !dlp_state_lock_check (self->job->lock, &error))
    end_by (self, error);
}

static bool
is_over (DlpFanout *self)
{
  if (self->hung)
    return true;
  for (guint i = 0; i < self->tasks->len; i++)
    {
      DlpFanoutTask *task = get_task (self, (int) i);

      if (!dlp_fanout_is_own (self, i))
        continue;
      if (task->status == DLP_TASK_RUNNING ||
          (task->status == DLP_TASK_WAITING && !is_ending (self)))
        return false;
    }
  return true;
}

/* How many processes are still there. */
static guint
reap_all (DlpFanout *self, bool kill)
{
  guint n = 0;

  pthread_mutex_lock (&self->lock);
  for (guint i = 0; i < self->places->len; i++)
    {
      DlpFanoutPlace *place = get_place (self, i);
      DlpFanoutVerdict verdict;

      if (!place->there)
        continue;
      if (dlp_fanout_process_reap (&place->process, &verdict))
        place->there = false;
      else if (kill)
        dlp_fanout_process_kill (&place->process);
      n += place->there;
    }
  pthread_mutex_unlock (&self->lock);
  return n;
}

/* One that does nothing goes when its link is closed, another is killed. */
static void
dismiss (DlpFanout *self, DlpFanoutPlace *place)
{
  if (!place->there)
    return;
  if (place->task >= 0)
    dlp_fanout_process_kill (&place->process);
  if (place->in_process)
    {
      dlp_fanout_process_clear (&place->process, place->task < 0);
      place->there = false;
    }
  else
    dlp_fanout_link_clear (&place->process.link);
}

/* What cannot even be killed, as it waits for a disk that is gone, is left. */
static void
end_workers (DlpFanout *self)
{
  gint64 began = g_get_monotonic_time ();
  gint64 waited = 0;

  for (guint i = 0; i < self->places->len; i++)
    dismiss (self, get_place (self, i));
  while (reap_all (self, waited > LEAVE_US) > 0 && waited < 2 * LEAVE_US)
    {
      g_usleep (2000);
      waited = g_get_monotonic_time () - began;
    }
}

static void
make_task_folders (DlpFanout *self)
{
  for (guint i = 0; i < self->tasks->len; i++)
    {
      GError *error = NULL;

      if (dlp_fanout_is_own (self, i) && get_task (self, (int) i)->status == DLP_TASK_WAITING &&
          !dlp_fanout_job_make_task (self->job, i, &error))
        set_fatal (self, error);
    }
}

/* ---- what it came to ---- */

static DlpFanoutTask *
find_failed (DlpFanout *self)
{
  for (guint i = 0; i < self->tasks->len; i++)
    {
      DlpFanoutTask *task = get_task (self, (int) i);

      if (dlp_fanout_is_own (self, i) && task->status == DLP_TASK_FAILED)
        return task;
    }
  return NULL;
}

static bool
fail_with_tasks (DlpFanout *self, const DlpFanoutSums *sums, GError **error)
{
  DlpFanoutTask *task = find_failed (self);

  if (sums->failed == 1)
    g_set_error (error, task->error->domain, task->error->code, "%s; the other %u tasks are done",
                 task->error->message, sums->done);
  else
    g_set_error (error, task->error->domain, task->error->code,
                 "%u of %u tasks have failed, and the others are done; the first: %s", sums->failed,
                 self->own_tasks, task->error->message);
  return false;
}

static bool
conclude (DlpFanout *self, GCancellable *cancellable, GError **error)
{
  DlpFanoutSums sums;

  pthread_mutex_lock (&self->lock);
  dlp_fanout_sum_up (self, &sums);
  pthread_mutex_unlock (&self->lock);
  if (self->fatal != NULL)
    {
      g_propagate_error (error, g_error_copy (self->fatal));
      return false;
    }
  if (sums.done == self->own_tasks)
    return dlp_fanout_finish (self, cancellable, error);
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return false;
  if (__atomic_load_n (&self->aborting, __ATOMIC_ACQUIRE))
    g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_ABORTED,
                 "aborted: %u of %u tasks are done", sums.done, self->own_tasks);
  else if (__atomic_load_n (&self->stopping, __ATOMIC_ACQUIRE) &&
           sums.done + sums.failed < self->own_tasks)
    g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED,
                 "stopped: %u of %u tasks are done", sums.done, self->own_tasks);
  else
    return fail_with_tasks (self, &sums, error);
  return false;
}

static void
cancelled (GCancellable *cancellable, DlpFanout *self)
{
  dlp_fanout_abort (self);
}

bool
dlp_fanout_supervise (DlpFanout *self, GCancellable *cancellable, GError **error)
{
  gulong id = cancellable != NULL ?
                  g_cancellable_connect (cancellable, G_CALLBACK (cancelled), self, NULL) :
                  0;

  make_task_folders (self);
  while (!is_over (self))
    {
      pthread_mutex_lock (&self->lock);
      give_out_work (self);
      obey (self);
      pthread_mutex_unlock (&self->lock);
      wait_for_something (self);
      pthread_mutex_lock (&self->lock);
      excuse_silence (self);
      for (guint i = 0; i < self->places->len; i++)
        if (get_place (self, i)->there)
          look_after (self, get_place (self, i));
      pthread_mutex_unlock (&self->lock);
      speak (self);
      record (self);
    }
  end_workers (self);
  if (cancellable != NULL)
    g_cancellable_disconnect (cancellable, id);
  return conclude (self, cancellable, error);
}
