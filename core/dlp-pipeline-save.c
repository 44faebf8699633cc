/* SPDX-License-Identifier: MIT */

/* The state of a run as bytes, for a program that keeps it with its own: a trainer, in its
 * checkpoint. It is the payload of a checkpoint file, with the list of input files in it. */

#include "dlp-async-private.h"
#include "dlp-pipeline-private.h"

/* What is outside of the state could not go back with it. */
static bool
check_outside (DlpPipeline *self, DlpElement *element, GError **error)
{
  DlpSinkClass *klass = DLP_IS_SINK (element) ? DLP_SINK_GET_CLASS (element) : NULL;

  if ((klass == NULL || (klass->sync == NULL && klass->publish == NULL)) &&
      !(DLP_ELEMENT_GET_CLASS (element)->flags & DLP_ELEMENT_LOG))
    return true;
  g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE,
               "%s keeps files, which go with a state folder: set state-dir instead of saving the "
               "state",
               dlp_element_get_name (element));
  return false;
}

static bool
check_saveable (DlpPipeline *self, GError **error)
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

/* The run does not take its parts down while it is asked. */
static bool
begin_capture (DlpPipeline *self, GError **error)
{
  bool ready;

  pthread_mutex_lock (&self->lock);
  ready = self->checkpointer != NULL && !self->capturing;
  self->capturing |= ready;
  pthread_mutex_unlock (&self->lock);
  if (!ready)
    g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE,
                 "the state is saved while the pipeline runs, by one call at a time");
  return ready;
}

static void
end_capture (DlpPipeline *self)
{
  pthread_mutex_lock (&self->lock);
  self->capturing = false;
  pthread_cond_broadcast (&self->cond);
  pthread_mutex_unlock (&self->lock);
}

GBytes *
dlp_pipeline_save_state (DlpPipeline *self, GCancellable *cancellable, GError **error)
{
  GVariant *payload = NULL;

  if (!begin_capture (self, error))
    return NULL;
  if (check_saveable (self, error))
    payload = dlp_checkpointer_capture (self->checkpointer, cancellable, error);
  end_capture (self);
  return payload != NULL ? dlp_checkpoint_encode (payload) : NULL;
}

static gpointer
save_in_thread (gpointer data)
{
  DlpAsyncCall *call = data;
  GError *error = NULL;
  GBytes *bytes = dlp_pipeline_save_state (dlp_async_call_get_source (call),
                                           dlp_async_call_get_cancellable (call), &error);

  dlp_async_call_return_pointer (call, bytes, (GDestroyNotify) g_bytes_unref, error);
  return NULL;
}

void
dlp_pipeline_save_state_async (DlpPipeline *self,
                               GCancellable *cancellable,
                               GAsyncReadyCallback callback,
                               gpointer user_data)
{
  DlpAsyncCall *call = dlp_async_call_new (g_object_ref (self), self->main_context, cancellable,
                                           dlp_pipeline_save_state_async, callback, user_data);

  g_thread_unref (g_thread_new ("dlp-save", save_in_thread, call));
}

GBytes *
dlp_pipeline_save_state_finish (DlpPipeline *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

DlpPipeline *
dlp_pipeline_new_from_state_bytes (GBytes *state, GError **error)
{
  g_autoptr (GVariant) payload = NULL;
  g_autoptr (DlpPipeline) self = NULL;
  const char *graph;

  g_return_val_if_fail (state != NULL, NULL);

  payload = dlp_checkpoint_decode (state, error);
  if (payload == NULL)
    {
      g_prefix_error (error, "the saved state: ");
      return NULL;
    }
  if (!g_variant_lookup (payload, "graph", "^&ay", &graph))
    {
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                   "the saved state: key “graph” is missing");
      return NULL;
    }
  self = dlp_pipeline_new_from_string (graph, error);
  if (self == NULL)
    return NULL;
  self->from_state = true;
  self->saved = g_steal_pointer (&payload);
  return g_steal_pointer (&self);
}
