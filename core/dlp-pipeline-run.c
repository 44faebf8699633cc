/* SPDX-License-Identifier: MIT */

/* Prepare, run, and the ways to end: complete, stop, finish, abort, error. */

#include <unistd.h>

#include "dlp-pipeline-private.h"

#define NOTIFY_INTERVAL_MS 100

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

gboolean
dlp_pipeline_prepare (DlpPipeline *self, GCancellable *cancellable, GError **error)
{
  if (!check_process (self, error))
    return FALSE;
  if (dlp_pipeline_get_status (self) == DLP_PIPELINE_READY)
    return TRUE;
  if (self->prepared)
    {
      g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE,
                   "a pipeline runs once; make another one from its string or its state");
      return FALSE;
    }
  self->prepared = true;
  if (!dlp_pipeline_build (self, error) || !dlp_pipeline_restore (self, error))
    {
      dlp_pipeline_set_status (self, DLP_PIPELINE_FAILED);
      return FALSE;
    }
  dlp_pipeline_set_status (self, DLP_PIPELINE_READY);
  return TRUE;
}

gboolean
dlp_pipeline_check (DlpPipeline *self, GError **error)
{
  if (!check_process (self, error))
    return FALSE;
  if (self->prepared)
    {
      g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE,
                   "the pipeline is built already");
      return FALSE;
    }
  self->prepared = true;
  return dlp_pipeline_build (self, error);
}

static void
wake_all (DlpPipeline *self)
{
  if (self->runner != NULL)
    dlp_runner_kick (self->runner);
  if (self->checkpointer != NULL)
    dlp_checkpointer_snapshot_taken (self->checkpointer);
}

void
dlp_pipeline_fail (DlpPipeline *self, DlpElement *element, GError *error)
{
  DlpContext *run = self->run;

  pthread_mutex_lock (&self->lock);
  /* What a stop interrupts in its I/O is no fault. */
  if (self->error == NULL &&
      !(dlp_flag_get (run->stopping) && g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED)))
    {
      self->error = g_steal_pointer (&error);
      if (element != NULL)
        self->failed_element = g_strdup (dlp_element_get_name (element));
    }
  pthread_mutex_unlock (&self->lock);
  g_clear_error (&error);

  dlp_flag_set (run->cancelled);
  g_cancellable_cancel (run->cancellable);
  wake_all (self);
}

/* ---- ends ---- */

static bool
is_running (DlpPipeline *self)
{
  DlpPipelineStatus status = dlp_pipeline_get_status (self);

  return status == DLP_PIPELINE_RUNNING || status == DLP_PIPELINE_PAUSED;
}

void
dlp_pipeline_pause (DlpPipeline *self)
{
  pthread_mutex_lock (&self->lock);
  if (self->status == DLP_PIPELINE_RUNNING)
    {
      self->status = DLP_PIPELINE_PAUSED;
      dlp_flag_set (self->run->paused);
    }
  pthread_mutex_unlock (&self->lock);
}

void
dlp_pipeline_resume (DlpPipeline *self)
{
  pthread_mutex_lock (&self->lock);
  if (self->status == DLP_PIPELINE_PAUSED)
    {
      self->status = DLP_PIPELINE_RUNNING;
      __atomic_store_n (&self->run->paused, false, __ATOMIC_RELEASE);
    }
  pthread_mutex_unlock (&self->lock);
  wake_all (self);
}

void
dlp_pipeline_stop (DlpPipeline *self)
{
  if (!is_running (self))
    return;
  dlp_flag_set (self->run->stopping);
  g_cancellable_cancel (self->run->cancellable);
  wake_all (self);
}

void
dlp_pipeline_finish (DlpPipeline *self)
{
  if (!is_running (self))
    return;
  dlp_flag_set (self->run->finishing);
  wake_all (self);
}

void
dlp_pipeline_abort (DlpPipeline *self)
{
  if (!is_running (self))
    return;
  pthread_mutex_lock (&self->lock);
  self->aborted = true;
  pthread_mutex_unlock (&self->lock);
  dlp_pipeline_fail (self, NULL,
                     g_error_new (DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_ABORTED, "aborted"));
}

void
dlp_pipeline_checkpoint (DlpPipeline *self)
{
  if (is_running (self) && self->checkpointer != NULL)
    dlp_checkpointer_request (self->checkpointer);
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

static void
stop_elements (DlpPipeline *self)
{
  for (guint i = 0; i < self->order->len; i++)
    dlp_element_stop (g_ptr_array_index (self->order, i));
}

static bool
start_elements (DlpPipeline *self, GError **error)
{
  for (guint i = 0; i < self->order->len; i++)
    {
      DlpElement *element = g_ptr_array_index (self->order, i);

      if (!dlp_element_start (element, error))
        {
          g_prefix_error (error, "%s: ", dlp_element_get_name (element));
          return false;
        }
    }
  return true;
}

static void
cancelled (GCancellable *cancellable, gpointer data)
{
  DlpPipeline *self = data;

  dlp_pipeline_fail (self, NULL,
                     g_error_new (G_IO_ERROR, G_IO_ERROR_CANCELLED, "the run was cancelled"));
}

/* Until every element has left; nothing of the run's threads is there afterwards. */
static void
drive (DlpPipeline *self, GCancellable *cancellable)
{
  gulong id;

  self->runner =
      dlp_runner_new (self->runner_kind, self->order, self->run, self->workers, runner_done, self);
  self->checkpointer = dlp_checkpointer_new (self);
  dlp_pipeline_set_status (self, DLP_PIPELINE_RUNNING);
  dlp_runner_start (self->runner);
  dlp_checkpointer_start (self->checkpointer);
  id = cancellable != NULL ?
           g_cancellable_connect (cancellable, G_CALLBACK (cancelled), self, NULL) :
           0;

  pthread_mutex_lock (&self->lock);
  while (!self->runner_done)
    pthread_cond_wait (&self->cond, &self->lock);
  pthread_mutex_unlock (&self->lock);

  if (cancellable != NULL)
    g_cancellable_disconnect (cancellable, id);
  dlp_checkpointer_stop (self->checkpointer);
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
  self->run->attempt = self->run->former_attempt;
  for (guint i = 0; i < self->order->len; i++)
    {
      DlpElement *element = g_ptr_array_index (self->order, i);
      g_autoptr (DlpState) state = NULL;

      if (!DLP_IS_SINK (element) || DLP_SINK_GET_CLASS (element)->publish == NULL)
        continue;
      state = DLP_ELEMENT_GET_CLASS (element)->save (element);
      if (!DLP_SINK_GET_CLASS (element)->publish (DLP_SINK (element), state, TRUE, error))
        return false;
    }
  return true;
}

static void
free_run (DlpPipeline *self)
{
  DlpRunner *runner;
  DlpCheckpointer *checkpointer;

  /* Whoever calls stop() or abort() now finds that it does not run any more. */
  runner = g_steal_pointer (&self->runner);
  checkpointer = g_steal_pointer (&self->checkpointer);
  g_clear_pointer (&runner, dlp_runner_free);
  g_clear_pointer (&checkpointer, dlp_checkpointer_free);
}

static bool
conclude (DlpPipeline *self, GError **error)
{
  g_autoptr (GError) failure = NULL;
  bool ok = true;

  pthread_mutex_lock (&self->lock);
  failure = g_steal_pointer (&self->error);
  pthread_mutex_unlock (&self->lock);

  if (failure == NULL && all_ended (self))
    {
      ok = dlp_checkpointer_commit (self->checkpointer, true, &failure);
      self->complete = ok;
    }
  else if (failure == NULL)
    {
      ok = self->dir == NULL || dlp_checkpointer_commit (self->checkpointer, false, &failure);
      if (ok)
        g_set_error (&failure, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED, "stopped%s",
                     self->dir != NULL ? "; the same command goes on" : "");
    }
  self->ended = g_get_monotonic_time ();

  if (failure == NULL)
    {
      dlp_pipeline_set_status (self, DLP_PIPELINE_FINISHED);
      return true;
    }
  dlp_pipeline_set_status (
      self, g_error_matches (failure, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED) ?
                DLP_PIPELINE_STOPPED :
            self->aborted ? DLP_PIPELINE_ABORTED :
                            DLP_PIPELINE_FAILED);
  g_propagate_error (error, g_steal_pointer (&failure));
  return false;
}

static bool
run_prepared (DlpPipeline *self, GCancellable *cancellable, GError **error)
{
  bool ok;

  if (self->complete)
    {
      ok = publish_again (self, error);
      dlp_pipeline_set_status (self, ok ? DLP_PIPELINE_FINISHED : DLP_PIPELINE_FAILED);
      dlp_flag_set (self->quiet);
      return ok;
    }

  self->began = g_get_monotonic_time ();
  if (!start_elements (self, error))
    {
      stop_elements (self);
      dlp_pipeline_set_status (self, DLP_PIPELINE_FAILED);
      return false;
    }
  drive (self, cancellable);
  ok = conclude (self, error);
  stop_elements (self);
  dlp_flag_set (self->quiet);
  return ok;
}

gboolean
dlp_pipeline_run (DlpPipeline *self, GCancellable *cancellable, GError **error)
{
  bool ok;

  if (!dlp_pipeline_prepare (self, cancellable, error))
    return FALSE;
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    {
      dlp_pipeline_set_status (self, DLP_PIPELINE_ABORTED);
      return FALSE;
    }
  ok = run_prepared (self, cancellable, error);
  free_run (self);
  return ok;
}

/* ---- async ---- */

static gpointer
run_in_thread (gpointer data)
{
  g_autoptr (GTask) task = data;
  GError *error = NULL;

  if (dlp_pipeline_run (g_task_get_source_object (task), g_task_get_cancellable (task), &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
  return NULL;
}

static void
notify_element (DlpElement *element)
{
  DlpElementPrivate *priv = dlp_element_get_private (element);
  guint64 in = 0, out = 0, bytes = 0;
  guint level = 0;

  for (guint i = 0; i < priv->inputs->len; i++)
    {
      DlpPad *pad = g_ptr_array_index (priv->inputs, i);
      guint batches;
      gsize held;

      in += dlp_pad_get_position (pad);
      dlp_queue_get_level (pad->link, &batches, &held);
      level += batches;
    }
  for (guint i = 0; i < priv->outputs->len; i++)
    {
      DlpPad *pad = g_ptr_array_index (priv->outputs, i);

      out += dlp_pad_get_emitted (pad);
      bytes += dlp_stat_get (&pad->bytes);
    }

  g_object_freeze_notify (G_OBJECT (element));
  if (in != priv->shown_in)
    g_object_notify (G_OBJECT (element), "records-in");
  if (out != priv->shown_out)
    g_object_notify (G_OBJECT (element), "records-out");
  if (bytes != priv->shown_bytes)
    g_object_notify (G_OBJECT (element), "bytes");
  if (level != priv->shown_level)
    g_object_notify (G_OBJECT (element), "input-level");
  priv->shown_in = in;
  priv->shown_out = out;
  priv->shown_bytes = bytes;
  priv->shown_level = level;
  g_object_thaw_notify (G_OBJECT (element));
}

static gboolean
notify_progress (gpointer data)
{
  static const char *const names[] = { "status", "fraction", "files-done", "files-total", "records",
                                       "tokens", "bytes",    "elapsed",    "eta" };
  DlpPipeline *self = data;

  if (self->order->len == self->elements->len)
    for (guint i = 0; i < self->elements->len; i++)
      notify_element (g_ptr_array_index (self->elements, i));
  g_object_freeze_notify (G_OBJECT (self));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_object_notify (G_OBJECT (self), names[i]);
  g_object_thaw_notify (G_OBJECT (self));
  return G_SOURCE_CONTINUE;
}

void
dlp_pipeline_run_async (DlpPipeline *self,
                        GCancellable *cancellable,
                        GAsyncReadyCallback callback,
                        gpointer user_data)
{
  GTask *task;

  g_main_context_push_thread_default (self->main_context);
  task = g_task_new (self, cancellable, callback, user_data);
  g_main_context_pop_thread_default (self->main_context);
  g_task_set_source_tag (task, dlp_pipeline_run_async);

  if (self->ticker == NULL)
    {
      self->ticker = g_timeout_source_new (NOTIFY_INTERVAL_MS);
      g_source_set_callback (self->ticker, notify_progress, self, NULL);
      g_source_attach (self->ticker, self->main_context);
    }
  g_thread_unref (g_thread_new ("dlp-pipeline", run_in_thread, task));
}

gboolean
dlp_pipeline_run_finish (DlpPipeline *self, GAsyncResult *result, GError **error)
{
  if (self->ticker != NULL)
    {
      g_source_destroy (self->ticker);
      g_clear_pointer (&self->ticker, g_source_unref);
      notify_progress (self);
    }
  return g_task_propagate_boolean (G_TASK (result), error);
}
