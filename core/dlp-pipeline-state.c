/* SPDX-License-Identifier: MIT */

/* The state of a run for a program that keeps it with its own: a trainer, in its checkpoint. It is
 * the payload of a checkpoint file, with the list of input files in it. */

#include "dlp-async-private.h"
#include "dlp-checkpoint-private.h"
#include "dlp-pipeline-private.h"

#define PATIENCE (100 * 1000)

/* What is outside of the state could not go back with it. */
static bool
check_outside (DlpPipeline *self, DlpElement *element, GError **error)
{
  DlpSinkClass *klass = DLP_IS_SINK (element) ? DLP_SINK_GET_CLASS (element) : NULL;

  if ((klass == NULL || (klass->sync == NULL && klass->publish == NULL)) &&
      !(DLP_ELEMENT_GET_CLASS (element)->flags & DLP_ELEMENT_LOG))
    return true;
  g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE,
               "%s keeps files, which go with a state folder: set state-dir, and read the state "
               "from there",
               dlp_element_get_name (element));
  return false;
}

bool
dlp_pipeline_check_capturable (DlpPipeline *self, GError **error)
{
  if (self->state_path != NULL)
    {
      g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE,
                   "the state of this run is in its folder %s", self->state_path);
      return false;
    }
  for (guint i = 0; i < self->order->len; i++)
    if (!check_outside (self, g_ptr_array_index (self->order, i), error))
      return false;
  return dlp_pipeline_check_resumable (self, error);
}

/* The lock is held. */
static void
wait_a_moment (DlpPipeline *self)
{
  gint64 until = g_get_real_time () + PATIENCE;
  struct timespec time = { until / G_USEC_PER_SEC, (until % G_USEC_PER_SEC) * 1000 };

  pthread_cond_timedwait (&self->cond, &self->lock, &time);
}

typedef enum
{
  CAPTURE_NOT,
  CAPTURE_RUNNING,
  CAPTURE_ENDED,
  CAPTURE_SAVED, /* nothing was done since it was made from a state */
} Capture;

/* Waits until the run has begun to work, or, if @ended, until it has ended. The run does not take
 * its parts down while it is asked. */
static Capture
begin_capture (DlpPipeline *self, bool ended, GCancellable *cancellable, GError **error)
{
  Capture capture = CAPTURE_NOT;

  pthread_mutex_lock (&self->lock);
  while (self->capturing || (self->active && (ended || self->checkpointer == NULL)))
    {
      if (g_cancellable_is_cancelled (cancellable))
        break;
      wait_a_moment (self);
    }
  if (!g_cancellable_is_cancelled (cancellable))
    capture = self->checkpointer != NULL ? CAPTURE_RUNNING :
              self->captured != NULL     ? CAPTURE_ENDED :
              self->saved != NULL        ? CAPTURE_SAVED :
                                           CAPTURE_NOT;
  self->capturing |= capture != CAPTURE_NOT;
  pthread_mutex_unlock (&self->lock);
  if (capture == CAPTURE_NOT && !g_cancellable_set_error_if_cancelled (cancellable, error))
    g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE,
                 "a pipeline has a state from the beginning of its run on");
  return capture;
}

static void
end_capture (DlpPipeline *self)
{
  pthread_mutex_lock (&self->lock);
  self->capturing = false;
  pthread_cond_broadcast (&self->cond);
  pthread_mutex_unlock (&self->lock);
}

/* (floating) (nullable); *@again: the run is about to end, after which its state is asked anew. */
static GVariant *
capture_once (DlpPipeline *self,
              Capture capture,
              DlpCapture kind,
              GCancellable *cancellable,
              bool *again,
              GError **error)
{
  GVariant *payload = NULL;

  *again = false;
  if (capture == CAPTURE_SAVED)
    return g_variant_ref (self->saved);
  if (!dlp_pipeline_check_capturable (self, error))
    return NULL;
  __atomic_store_n (&self->run->capture, kind, __ATOMIC_RELAXED);
  if (capture == CAPTURE_ENDED)
    payload = dlp_checkpointer_capture_ended (self->captured, error);
  else
    payload = dlp_checkpointer_capture (self->checkpointer, cancellable, again, error);
  __atomic_store_n (&self->run->capture, DLP_CAPTURE_CONFIRMED, __ATOMIC_RELAXED);
  return payload;
}

DlpCheckpoint *
dlp_pipeline_get_state (DlpPipeline *self,
                        DlpAppSinkState kind,
                        GCancellable *cancellable,
                        GError **error)
{
  DlpCapture wanted =
      kind == DLP_APP_SINK_STATE_APPROXIMATE ? DLP_CAPTURE_APPROXIMATE : DLP_CAPTURE_EXACT;
  GVariant *payload = NULL;
  bool again = false;

  g_return_val_if_fail (DLP_IS_PIPELINE (self), NULL);

  do
    {
      Capture capture = begin_capture (self, again, cancellable, error);

      if (capture == CAPTURE_NOT)
        return NULL;
      payload = capture_once (self, capture, wanted, cancellable, &again, error);
      end_capture (self);
    }
  while (again);
  return payload != NULL ? dlp_checkpoint_new_unchecked (payload) : NULL;
}

/* ---- the same, without waiting ---- */

typedef struct
{
  DlpAsyncCall *call;
  DlpAppSinkState kind;
} StateCall;

static gpointer
get_in_thread (gpointer data)
{
  g_autofree StateCall *self = data;
  GError *error = NULL;
  DlpCheckpoint *checkpoint =
      dlp_pipeline_get_state (dlp_async_call_get_source (self->call), self->kind,
                              dlp_async_call_get_cancellable (self->call), &error);

  dlp_async_call_return_pointer (self->call, checkpoint, (GDestroyNotify) dlp_checkpoint_unref,
                                 error);
  return NULL;
}

void
dlp_pipeline_get_state_async (DlpPipeline *self,
                              DlpAppSinkState kind,
                              GCancellable *cancellable,
                              GAsyncReadyCallback callback,
                              gpointer user_data)
{
  StateCall *state = g_new0 (StateCall, 1);

  state->kind = kind;
  state->call = dlp_async_call_new (g_object_ref (self), self->main_context, cancellable,
                                    dlp_pipeline_get_state_async, callback, user_data);
  g_thread_unref (g_thread_new ("dlp-state", get_in_thread, state));
}

DlpCheckpoint *
dlp_pipeline_get_state_finish (DlpPipeline *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

/* ---- as bytes ---- */

static GBytes *
take_bytes (DlpCheckpoint *checkpoint)
{
  GBytes *bytes = checkpoint != NULL ? dlp_checkpoint_to_bytes (checkpoint) : NULL;

  g_clear_pointer (&checkpoint, dlp_checkpoint_unref);
  return bytes;
}

GBytes *
dlp_pipeline_save_state (DlpPipeline *self, GCancellable *cancellable, GError **error)
{
  return take_bytes (dlp_pipeline_get_state (self, DLP_APP_SINK_STATE_EXACT, cancellable, error));
}

void
dlp_pipeline_save_state_async (DlpPipeline *self,
                               GCancellable *cancellable,
                               GAsyncReadyCallback callback,
                               gpointer user_data)
{
  dlp_pipeline_get_state_async (self, DLP_APP_SINK_STATE_EXACT, cancellable, callback, user_data);
}

GBytes *
dlp_pipeline_save_state_finish (DlpPipeline *self, GAsyncResult *result, GError **error)
{
  return take_bytes (dlp_pipeline_get_state_finish (self, result, error));
}

DlpPipeline *
dlp_pipeline_new_from_state_bytes (GBytes *state, GError **error)
{
  g_autoptr (DlpCheckpoint) checkpoint = NULL;

  g_return_val_if_fail (state != NULL, NULL);

  checkpoint = dlp_checkpoint_new_from_bytes (state, error);
  if (checkpoint == NULL)
    {
      g_prefix_error (error, "the saved state: ");
      return NULL;
    }
  return dlp_pipeline_new_from_checkpoint (checkpoint, error);
}

/* ---- a pipeline made from it ---- */

DlpPipeline *
dlp_pipeline_new_from_checkpoint (DlpCheckpoint *checkpoint, GError **error)
{
  g_autoptr (GVariant) payload = NULL;
  g_autoptr (GVariant) opened = NULL;
  g_autoptr (DlpPipeline) self = NULL;

  g_return_val_if_fail (checkpoint != NULL, NULL);

  payload = dlp_checkpoint_to_variant (checkpoint);
  opened = g_variant_lookup_value (payload, "opened", NULL);
  if (opened == NULL)
    {
      g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE,
                   "this state is that of a run with a state folder, and goes on only there: use "
                   "dlp_pipeline_new_from_state()");
      return NULL;
    }
  self = dlp_pipeline_new_from_string (dlp_checkpoint_get_graph (checkpoint), error);
  if (self == NULL)
    return NULL;
  self->from_state = true;
  self->saved = g_steal_pointer (&payload);
  return g_steal_pointer (&self);
}
