/* SPDX-License-Identifier: MIT */

/* Prepare, run, and the ways to end: complete, stop, finish, abort, error. */

#include <string.h>
#include <unistd.h>

#include "dlp-app-private.h"
#include "dlp-pipeline-private.h"

/* The elements that a program holds, without a lock. */
void
dlp_pipeline_tell_over (DlpPipeline *self, const GError *error)
{
  g_autoptr (GPtrArray) elements = dlp_pipeline_ref_elements (self);

  for (guint i = 0; i < elements->len; i++)
    {
      DlpElement *element = g_ptr_array_index (elements, i);
      const DlpAppHooks *app = dlp_element_get_private (element)->app;

      if (app != NULL)
        app->over (element, error);
    }
}

static void
tell_ready (DlpPipeline *self)
{
  for (guint i = 0; i < self->order->len; i++)
    {
      DlpElement *element = g_ptr_array_index (self->order, i);
      const DlpAppHooks *app = dlp_element_get_private (element)->app;

      if (app != NULL)
        app->ready (element);
    }
}

static bool
check_process (DlpPipeline *self, GError **error)
{
  if (getpid () == self->pid)
    return true;
  g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_FORKED,
               "the pipeline was made in process %d and is used in its child %d: threads do not "
               "survive fork(); make it "
               "after the fork, or start a new program",
               (int) self->pid, (int) getpid ());
  return false;
}

/* For one caller only, and while a run has begun, for that. */
static bool
claim (DlpPipeline *self, bool of_run, const char *refusal, GError **error)
{
  bool mine, busy;

  pthread_mutex_lock (&self->lock);
  mine = !self->prepared && (of_run || !self->active);
  busy = dlp_flag_get (self->preparing);
  if (mine)
    {
      self->prepared = true;
      dlp_flag_set (self->preparing);
      while (self->reporting > 0)
        pthread_cond_wait (&self->cond, &self->lock);
    }
  pthread_mutex_unlock (&self->lock);
  if (!mine)
    g_set_error_literal (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE,
                         busy ? "the pipeline is being prepared or checked by another call: wait "
                                "until that has returned" :
                                refusal);
  return mine;
}

static void
interrupt (GCancellable *cancellable, gpointer data)
{
  g_cancellable_cancel (data);
}

/* What the caller cancels ends the I/O of the elements. */
static gulong
watch (DlpPipeline *self, GCancellable *cancellable)
{
  return cancellable != NULL ?
             g_cancellable_connect (cancellable, G_CALLBACK (interrupt),
                                    g_object_ref (self->run->cancellable), g_object_unref) :
             0;
}

/* Once it is not watched any more, so that a pipeline that is ready was not interrupted. */
static bool
end_watch (GCancellable *cancellable, gulong id, GError **error)
{
  g_cancellable_disconnect (cancellable, id);
  return !g_cancellable_set_error_if_cancelled (cancellable, error);
}

/* @elements: those whose steps are watched. */
static void
start_watchdog (DlpPipeline *self, GPtrArray *elements)
{
  DlpWatchdog *watchdog = dlp_watchdog_new (self->run, elements, self->stall_timeout,
                                            self->stall_action == DLP_STALL_ACTION_FAIL);

  pthread_mutex_lock (&self->lock);
  self->watchdog = watchdog;
  pthread_mutex_unlock (&self->lock);
}

static void
stop_watchdog (DlpPipeline *self)
{
  DlpWatchdog *watchdog;

  pthread_mutex_lock (&self->lock);
  watchdog = g_steal_pointer (&self->watchdog);
  pthread_mutex_unlock (&self->lock);
  dlp_watchdog_free (watchdog);
}

/* What hangs in it is called by the run's thread alone: nothing takes steps. */
static void
start_watchdog_of_prepare (DlpPipeline *self)
{
  g_autoptr (GPtrArray) none = g_ptr_array_new ();

  start_watchdog (self, none);
}

/* The error of a stall goes before what it led to. Returns whether there is none. */
static bool
end_watchdog_of_prepare (DlpPipeline *self, GError **error)
{
  GError *stall = NULL;

  stop_watchdog (self);
  if (dlp_pipeline_check_stall (self, &stall))
    return true;
  g_clear_error (error);
  g_propagate_error (error, stall);
  return false;
}

static bool
build_and_restore (DlpPipeline *self, GCancellable *cancellable, GError **error)
{
  gulong id = watch (self, cancellable);
  GError *failure = NULL;
  bool ok;

  start_watchdog_of_prepare (self);
  ok = dlp_pipeline_build (self, &failure) &&
       !g_cancellable_set_error_if_cancelled (cancellable, &failure) &&
       dlp_pipeline_restore (self, &failure);
  ok = end_watchdog_of_prepare (self, &failure) && ok;
  ok = end_watch (cancellable, id, ok ? &failure : NULL) && ok;
  if (ok)
    tell_ready (self);
  else
    {
      dlp_pipeline_tell_over (self, failure);
      g_propagate_error (error, failure);
    }
  dlp_pipeline_set_status (self, ok                                       ? DLP_PIPELINE_READY :
                                 g_cancellable_is_cancelled (cancellable) ? DLP_PIPELINE_ABORTED :
                                                                            DLP_PIPELINE_FAILED);
  __atomic_store_n (&self->preparing, false, __ATOMIC_RELEASE);
  return ok;
}

static bool
prepare (DlpPipeline *self, bool of_run, GCancellable *cancellable, GError **error)
{
  if (!check_process (self, error) || g_cancellable_set_error_if_cancelled (cancellable, error))
    return false;
  if (dlp_pipeline_get_status (self) == DLP_PIPELINE_READY)
    return true;
  return claim (self, of_run, "a pipeline runs once; make another one from its string or its state",
                error) &&
         build_and_restore (self, cancellable, error);
}

gboolean
dlp_pipeline_prepare (DlpPipeline *self, GCancellable *cancellable, GError **error)
{
  return prepare (self, false, cancellable, error);
}

gboolean
dlp_pipeline_check (DlpPipeline *self, GCancellable *cancellable, GError **error)
{
  gulong id;
  bool ok;

  if (!check_process (self, error) || g_cancellable_set_error_if_cancelled (cancellable, error) ||
      !claim (self, false, "the pipeline is built already", error))
    return FALSE;
  id = watch (self, cancellable);
  start_watchdog_of_prepare (self);
  ok = dlp_pipeline_build (self, error);
  ok = end_watchdog_of_prepare (self, error) && ok;
  self->was_checked = end_watch (cancellable, id, ok ? error : NULL) && ok;
  __atomic_store_n (&self->preparing, false, __ATOMIC_RELEASE);
  return self->was_checked;
}

gboolean
dlp_pipeline_check_state (DlpPipeline *self, GCancellable *cancellable, GError **error)
{
  bool ok;

  if (!check_process (self, error) || g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;
  if (!self->was_checked)
    {
      g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE,
                   "the state of a pipeline is checked once, after dlp_pipeline_check()");
      return FALSE;
    }
  self->was_checked = false;
  start_watchdog_of_prepare (self);
  ok = dlp_pipeline_look_at_state (self, error);
  return end_watchdog_of_prepare (self, error) && ok;
}

/* Under the lock, because other threads call it until the run has its result. */
static void
wake_all (DlpPipeline *self)
{
  pthread_mutex_lock (&self->lock);
  if (self->runner != NULL)
    dlp_runner_kick (self->runner);
  if (self->checkpointer != NULL)
    dlp_checkpointer_snapshot_taken (self->checkpointer);
  pthread_mutex_unlock (&self->lock);
}

static bool
has_word (const char *text, const char *word)
{
  gsize length = strlen (word);

  for (const char *at = strstr (text, word); at != NULL; at = strstr (at + 1, word))
    if ((at == text || !g_ascii_isalnum (at[-1])) && !g_ascii_isalnum (at[length]))
      return true;
  return false;
}

/* What core says of an element has it in a sentence. What an element says may have that word in it
 * without meaning the element. */
static bool
is_named (const GError *error, const char *name)
{
  gsize length = strlen (name);

  if (error->domain == DLP_PIPELINE_ERROR)
    return has_word (error->message, name);
  return strncmp (error->message, name, length) == 0 &&
         (error->message[length] == ':' || error->message[length] == ' ');
}

/* What a stop interrupts in its I/O is no fault; but a sink that was interrupted in the midst of a
 * record batch has no state to go on from, if there is to be one. */
static bool
is_interruption (DlpPipeline *self, DlpElement *element, GError *error)
{
  return dlp_flag_get (self->run->stopping) &&
         g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED) &&
         (element == NULL || !DLP_IS_SINK (element) || self->dir == NULL);
}

void
dlp_pipeline_fail (DlpPipeline *self, DlpElement *element, GError *error)
{
  DlpContext *run = self->run;
  const char *name = element != NULL ? dlp_element_get_name (element) : NULL;
  g_autoptr (GError) first = NULL;

  if (name != NULL && !is_named (error, name))
    g_prefix_error (&error, "%s: ", name);
  pthread_mutex_lock (&self->lock);
  if (self->error == NULL && !is_interruption (self, element, error))
    {
      self->error = g_error_copy (error);
      g_free (self->failed_element);
      self->failed_element = g_strdup (name);
      first = g_steal_pointer (&error);
    }
  pthread_mutex_unlock (&self->lock);
  g_clear_error (&error);

  dlp_flag_set (run->cancelled);
  g_cancellable_cancel (run->cancellable);
  wake_all (self);
  if (first != NULL)
    dlp_pipeline_tell_over (self, first);
}

bool
dlp_pipeline_check_stall (DlpPipeline *self, GError **error)
{
  g_autoptr (GError) failure = NULL;

  if (self->concluding)
    dlp_watchdog_report_only (self->watchdog);
  failure = dlp_pipeline_get_error (self);
  if (!g_error_matches (failure, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STALLED))
    return true;
  g_propagate_error (error, g_steal_pointer (&failure));
  return false;
}

/* ---- ends ---- */

/* From the call of run() on, so that an end asked for while it opens files is not lost. In a child
 * of fork() the locks may be held by threads that are not there. */
static bool
is_active (DlpPipeline *self)
{
  bool active;

  if (getpid () != self->pid)
    return false;
  pthread_mutex_lock (&self->lock);
  active = self->active;
  pthread_mutex_unlock (&self->lock);
  return active;
}

static void
set_paused (DlpPipeline *self, bool paused)
{
  DlpPipelineStatus from = paused ? DLP_PIPELINE_RUNNING : DLP_PIPELINE_PAUSED;

  pthread_mutex_lock (&self->lock);
  __atomic_store_n (&self->run->paused, paused, __ATOMIC_RELEASE);
  if (self->status == from)
    self->status = paused ? DLP_PIPELINE_PAUSED : DLP_PIPELINE_RUNNING;
  pthread_mutex_unlock (&self->lock);
  wake_all (self);
}

void
dlp_pipeline_pause (DlpPipeline *self)
{
  if (is_active (self))
    set_paused (self, true);
}

void
dlp_pipeline_resume (DlpPipeline *self)
{
  if (is_active (self))
    set_paused (self, false);
}

void
dlp_pipeline_stop (DlpPipeline *self)
{
  g_autoptr (GError) stopped = NULL;

  if (!is_active (self))
    return;
  dlp_flag_set (self->run->stopping);
  g_cancellable_cancel (self->run->cancellable);
  wake_all (self);
  stopped = g_error_new (DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED, "stopped");
  dlp_pipeline_tell_over (self, stopped);
}

void
dlp_pipeline_finish (DlpPipeline *self)
{
  if (!is_active (self))
    return;
  dlp_flag_set (self->run->finishing);
  /* What is paused could never come to its end. */
  set_paused (self, false);
  wake_all (self);
}

void
dlp_pipeline_abort (DlpPipeline *self)
{
  if (is_active (self))
    dlp_pipeline_fail (self, NULL,
                       g_error_new (DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_ABORTED, "aborted"));
}

void
dlp_pipeline_checkpoint (DlpPipeline *self)
{
  if (!is_active (self))
    return;
  pthread_mutex_lock (&self->lock);
  if (self->checkpointer != NULL)
    dlp_checkpointer_request (self->checkpointer);
  pthread_mutex_unlock (&self->lock);
}

/* ---- the run ---- */

static void
runner_done (gpointer runner, gpointer data)
{
  DlpPipeline *self = data;

  pthread_mutex_lock (&self->lock);
  self->runner_done = true;
  pthread_cond_broadcast (&self->cond);
  pthread_mutex_unlock (&self->lock);
}

static bool
must_end (DlpPipeline *self)
{
  return dlp_flag_get (self->run->cancelled) || dlp_flag_get (self->run->stopping);
}

static bool
start_elements (DlpPipeline *self, GError **error)
{
  for (guint i = 0; i < self->order->len && !must_end (self); i++)
    {
      DlpElement *element = g_ptr_array_index (self->order, i);
      bool ok;

      if (g_log_get_debug_enabled ())
        g_debug ("%s: starts, with %zu KiB of memory of its own", dlp_element_get_name (element),
                 dlp_element_get_memory_share (element) >> 10);
      dlp_watchdog_enter (self->watchdog, element, "is starting");
      ok = dlp_element_start (element, error);
      dlp_watchdog_leave (self->watchdog);
      if (!ok)
        return false;
    }
  return !must_end (self);
}

static void
stop_elements (DlpPipeline *self)
{
  for (guint i = 0; i < self->order->len; i++)
    {
      DlpElement *element = g_ptr_array_index (self->order, i);

      dlp_watchdog_enter (self->watchdog, element, "is stopping");
      dlp_element_stop (element);
      dlp_watchdog_leave (self->watchdog);
    }
}

static void
cancelled (GCancellable *cancellable, gpointer data)
{
  DlpPipeline *self = data;

  dlp_pipeline_fail (self, NULL,
                     g_error_new (G_IO_ERROR, G_IO_ERROR_CANCELLED, "the run was cancelled"));
}

/* Until every element has left. */
static void
drive (DlpPipeline *self)
{
  DlpRunner *runner =
      dlp_runner_new (self->runner_kind, self->order, self->run, self->workers, runner_done, self);
  DlpCheckpointer *checkpointer = dlp_checkpointer_new (self);

  pthread_mutex_lock (&self->lock);
  self->runner = runner;
  self->checkpointer = checkpointer;
  self->status = dlp_flag_get (self->run->paused) ? DLP_PIPELINE_PAUSED : DLP_PIPELINE_RUNNING;
  pthread_cond_broadcast (&self->cond);
  pthread_mutex_unlock (&self->lock);

  dlp_runner_start (runner);
  dlp_checkpointer_start (checkpointer);

  pthread_mutex_lock (&self->lock);
  while (!self->runner_done)
    pthread_cond_wait (&self->cond, &self->lock);
  pthread_mutex_unlock (&self->lock);
  dlp_watchdog_enter (self->watchdog, NULL, "a checkpoint is being written");
  dlp_checkpointer_stop (checkpointer);
  dlp_watchdog_leave (self->watchdog);
}

static bool
all_ended (DlpPipeline *self)
{
  for (guint i = 0; i < self->order->len; i++)
    if (!dlp_flag_get (dlp_element_get_private (g_ptr_array_index (self->order, i))->ended))
      return false;
  return true;
}

/* What a finished run left unpublished when it died: done again, which changes nothing where it was
 * done. */
static bool
publish_again (DlpPipeline *self, GError **error)
{
  __atomic_store_n (&self->run->attempt, self->run->former_attempt, __ATOMIC_RELAXED);
  for (guint i = 0; i < self->order->len; i++)
    {
      DlpElement *element = g_ptr_array_index (self->order, i);
      g_autoptr (DlpState) state = NULL;
      bool ok;

      if (!DLP_IS_SINK (element) || DLP_SINK_GET_CLASS (element)->publish == NULL)
        continue;
      state = DLP_ELEMENT_GET_CLASS (element)->save (element);
      dlp_watchdog_enter (self->watchdog, element, "is publishing");
      ok = DLP_SINK_GET_CLASS (element)->publish (DLP_SINK (element), state, TRUE, NULL, error);
      dlp_watchdog_leave (self->watchdog);
      if (!ok)
        return dlp_element_failed (element, "publish", error);
    }
  return true;
}

/* As the commit does, which does not say in whom it hangs; there is nothing left for it then. */
static bool
flush_sinks (DlpPipeline *self, GError **error)
{
  for (guint i = 0; i < self->order->len; i++)
    {
      DlpElement *element = g_ptr_array_index (self->order, i);
      bool ok;

      if (!DLP_IS_SINK (element) || DLP_SINK_GET_CLASS (element)->flush == NULL ||
          dlp_flag_get (dlp_element_get_private (element)->ended))
        continue;
      dlp_watchdog_enter (self->watchdog, element, "is flushing");
      ok = DLP_SINK_GET_CLASS (element)->flush (DLP_SINK (element), NULL, error);
      dlp_watchdog_leave (self->watchdog);
      if (!ok)
        return dlp_element_failed (element, "flush", error);
    }
  return true;
}

static bool
commit (DlpPipeline *self, bool complete, GError **error)
{
  bool ok;

  dlp_watchdog_enter (self->watchdog, NULL, "the last checkpoint is being written");
  ok = dlp_checkpointer_commit (self->checkpointer, complete, error);
  dlp_watchdog_leave (self->watchdog);
  return ok;
}

/* A stopped run commits once more; one whose inputs were being ended early does not, because what
 * is made from that checkpoint would have seen an end that is none. */
static void
conclude_stop (DlpPipeline *self, GError **error)
{
  bool finishing = dlp_flag_get (self->run->finishing);

  if (self->checkpointer != NULL && self->dir != NULL && !finishing)
    {
      if (!flush_sinks (self, error) || !commit (self, false, error))
        return;
    }
  else if (!dlp_pipeline_check_stall (self, error))
    return;
  g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED, "stopped%s",
               self->dir == NULL ? "" :
               finishing ? " while its inputs were being ended; the same command goes on from the "
                           "last checkpoint before that" :
                           "; the same command goes on");
}

static DlpPipelineStatus
get_end (GError *failure)
{
  if (failure == NULL)
    return DLP_PIPELINE_FINISHED;
  if (g_error_matches (failure, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED))
    return DLP_PIPELINE_STOPPED;
  if (g_error_matches (failure, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_ABORTED) ||
      g_error_matches (failure, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return DLP_PIPELINE_ABORTED;
  return DLP_PIPELINE_FAILED;
}

static bool
conclude (DlpPipeline *self, GError **error)
{
  g_autoptr (GError) failure = dlp_pipeline_get_error (self);

  self->concluding = true;
  if (failure == NULL && self->checkpointer != NULL && all_ended (self))
    {
      if (commit (self, true, &failure))
        dlp_flag_set (self->complete);
    }
  else if (failure == NULL)
    conclude_stop (self, &failure);

  pthread_mutex_lock (&self->lock);
  self->ended = g_get_monotonic_time ();
  self->status = get_end (failure);
  pthread_mutex_unlock (&self->lock);
  if (failure == NULL)
    return true;
  g_propagate_error (error, g_steal_pointer (&failure));
  return false;
}

static bool
run_prepared (DlpPipeline *self, GCancellable *cancellable, GError **error)
{
  g_autofree char *failed_element = NULL;
  GError *failure = NULL;
  gulong id;
  bool ok;

  start_watchdog (self, self->order);
  pthread_mutex_lock (&self->lock);
  self->began = g_get_monotonic_time ();
  pthread_mutex_unlock (&self->lock);

  id = cancellable != NULL ?
           g_cancellable_connect (cancellable, G_CALLBACK (cancelled), self, NULL) :
           0;
  if (start_elements (self, &failure))
    drive (self);
  else if (failure != NULL)
    dlp_pipeline_fail (self, NULL, failure);
  if (cancellable != NULL)
    g_cancellable_disconnect (cancellable, id);

  ok = conclude (self, error);
  pthread_mutex_lock (&self->lock);
  failed_element = g_strdup (self->failed_element);
  pthread_mutex_unlock (&self->lock);
  if (self->checkpointer != NULL && dlp_pipeline_check_capturable (self, NULL))
    {
      dlp_watchdog_enter (self->watchdog, NULL, "its state is being taken");
      dlp_checkpointer_keep (self->checkpointer, failed_element);
      dlp_watchdog_leave (self->watchdog);
    }
  stop_elements (self);
  if (!ok && self->dir == NULL && !self->publishing)
    dlp_pipeline_discard_unfinished (self);
  dlp_flag_set (self->quiet);
  if (self->checkpointer != NULL)
    dlp_checkpointer_write_status (self->checkpointer);
  stop_watchdog (self);
  return ok;
}

static bool
run_complete (DlpPipeline *self, GError **error)
{
  bool ok;

  start_watchdog_of_prepare (self);
  ok = publish_again (self, error);
  stop_watchdog (self);
  dlp_pipeline_set_status (self, ok ? DLP_PIPELINE_FINISHED : DLP_PIPELINE_FAILED);
  dlp_flag_set (self->quiet);
  return ok;
}

/* Whoever calls stop() or abort() from now on finds that it does not run any more. */
static void
end_run (DlpPipeline *self)
{
  DlpRunner *runner;

  pthread_mutex_lock (&self->lock);
  self->active = false;
  while (self->capturing)
    pthread_cond_wait (&self->cond, &self->lock);
  runner = g_steal_pointer (&self->runner);
  self->captured = g_steal_pointer (&self->checkpointer);
  pthread_cond_broadcast (&self->cond);
  pthread_mutex_unlock (&self->lock);
  g_clear_pointer (&runner, dlp_runner_free);
  /* Where there is none somebody may look at that already, for the state behind the end. */
  if (self->dir == NULL)
    return;
  /* Its lock is that of a run, not of the object. */
  self->run->state_dir = NULL;
  dlp_state_files_leave_dir (self->run->state_files);
  g_clear_pointer (&self->dir, dlp_state_dir_free);
}

bool
dlp_pipeline_begin_run (DlpPipeline *self, GError **error)
{
  bool first, busy;

  if (!check_process (self, error))
    return false;
  pthread_mutex_lock (&self->lock);
  busy = self->prepared && dlp_flag_get (self->preparing);
  first = !busy && !self->was_run;
  if (first)
    self->was_run = self->active = true;
  pthread_mutex_unlock (&self->lock);
  if (first)
    return true;
  g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE,
               busy ? "the pipeline is being prepared or checked: run it when that has returned" :
                      "a pipeline runs once; make another one from its string or its state");
  return false;
}

/* It was interrupted by an end that was asked for while it prepared. */
static void
find_cause (DlpPipeline *self, GError **failure)
{
  GError *cause = NULL;

  if (!g_error_matches (*failure, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return;
  cause = dlp_pipeline_get_error (self);
  if (cause == NULL && dlp_flag_get (self->run->stopping))
    cause = g_error_new (DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED,
                         "stopped before the first record");
  if (cause == NULL)
    return;
  g_error_free (*failure);
  *failure = cause;
  dlp_pipeline_set_status (self, get_end (cause));
}

/* What the run has as its result, which may be another one than what came up while it ended. */
static void
keep_result (DlpPipeline *self, const GError *failure)
{
  pthread_mutex_lock (&self->lock);
  g_clear_error (&self->error);
  self->error = failure != NULL ? g_error_copy (failure) : NULL;
  pthread_mutex_unlock (&self->lock);
}

bool
dlp_pipeline_run_begun (DlpPipeline *self, GCancellable *cancellable, GError **error)
{
  GError *failure = NULL;
  bool ok = false;

  if (!prepare (self, true, cancellable, &failure) ||
      g_cancellable_set_error_if_cancelled (cancellable, &failure))
    {
      find_cause (self, &failure);
      if (g_cancellable_is_cancelled (cancellable))
        dlp_pipeline_set_status (self, DLP_PIPELINE_ABORTED);
    }
  else
    ok = dlp_flag_get (self->complete) ? run_complete (self, &failure) :
                                         run_prepared (self, cancellable, &failure);
  keep_result (self, failure);
  end_run (self);
  dlp_pipeline_tell_over (self, failure);
  if (failure != NULL)
    g_propagate_error (error, failure);
  return ok;
}

gboolean
dlp_pipeline_run (DlpPipeline *self, GCancellable *cancellable, GError **error)
{
  return dlp_pipeline_begin_run (self, error) && dlp_pipeline_run_begun (self, cancellable, error);
}
