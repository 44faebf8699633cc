/* SPDX-License-Identifier: MIT */

/* Calls that return at once, and the life of a pipeline whose run goes on. */

#include <unistd.h>

#include "dlp-async-private.h"
#include "dlp-pipeline-private.h"

/* A run does not hold its pipeline: while it goes on, dispose keeps the pipeline alive for it. So
 * whoever drops the last reference ends the run. */
bool
dlp_pipeline_keep_for_run (DlpPipeline *self)
{
  bool running, dropped;

  pthread_mutex_lock (&self->lock);
  running = self->runs_alone;
  dropped = running && !self->dropped;
  if (dropped)
    {
      __atomic_store_n (&self->dropped, true, __ATOMIC_RELAXED);
      g_object_ref (self);
    }
  pthread_mutex_unlock (&self->lock);
  if (dropped)
    dlp_pipeline_abort (self);
  return running;
}

/* From now on the result's reference holds it. */
static DlpPipeline *
take_reference (DlpPipeline *self)
{
  pthread_mutex_lock (&self->lock);
  self->runs_alone = false;
  if (!self->dropped)
    g_object_ref (self);
  pthread_mutex_unlock (&self->lock);
  return self;
}

static void
end_notifies (gpointer source)
{
  dlp_pipeline_end_notifies (source);
}

typedef struct
{
  DlpPipeline *pipeline;
  DlpAsyncCall *call;
} Run;

static gpointer
run_in_thread (gpointer data)
{
  Run *run = data;
  DlpPipeline *self = run->pipeline;
  DlpAsyncCall *call = run->call;
  GError *error = NULL;

  g_free (run);
  dlp_pipeline_run_begun (self, dlp_async_call_get_cancellable (call), &error);
  dlp_async_call_set_source (call, take_reference (self));
  dlp_async_call_return_boolean (call, error);
  return NULL;
}

void
dlp_pipeline_run_async (DlpPipeline *self,
                        GCancellable *cancellable,
                        GAsyncReadyCallback callback,
                        gpointer user_data)
{
  DlpAsyncCall *call = dlp_async_call_new (NULL, self->main_context, cancellable,
                                           dlp_pipeline_run_async, callback, user_data);
  GError *error = NULL;
  Run *run;

  if (!dlp_pipeline_begin_run (self, &error))
    {
      dlp_async_call_set_source (call, g_object_ref (self));
      dlp_async_call_return_boolean (call, error);
      return;
    }
  if (!self->prepared)
    dlp_flag_set (self->preparing);
  pthread_mutex_lock (&self->lock);
  self->runs_alone = true;
  pthread_mutex_unlock (&self->lock);
  dlp_async_call_set_before (call, end_notifies);
  dlp_pipeline_start_notifies (self);
  run = g_new0 (Run, 1);
  *run = (Run){ self, call };
  g_thread_unref (g_thread_new ("dlp-pipeline", run_in_thread, run));
}

static gboolean
finish (DlpPipeline *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}

gboolean
dlp_pipeline_run_finish (DlpPipeline *self, GAsyncResult *result, GError **error)
{
  return finish (self, result, error);
}

static void
call_in_thread (DlpPipeline *self,
                bool (*func) (gpointer source, GCancellable *cancellable, GError **error),
                GCancellable *cancellable,
                gpointer tag,
                GAsyncReadyCallback callback,
                gpointer user_data)
{
  DlpAsyncCall *call = dlp_async_call_new (g_object_ref (self), self->main_context, cancellable,
                                           tag, callback, user_data);

  dlp_async_call_run (call, "dlp-pipeline", func);
}

static bool
prepare (gpointer source, GCancellable *cancellable, GError **error)
{
  return dlp_pipeline_prepare (source, cancellable, error);
}

void
dlp_pipeline_prepare_async (DlpPipeline *self,
                            GCancellable *cancellable,
                            GAsyncReadyCallback callback,
                            gpointer user_data)
{
  call_in_thread (self, prepare, cancellable, dlp_pipeline_prepare_async, callback, user_data);
}

gboolean
dlp_pipeline_prepare_finish (DlpPipeline *self, GAsyncResult *result, GError **error)
{
  return finish (self, result, error);
}

static bool
check (gpointer source, GCancellable *cancellable, GError **error)
{
  return dlp_pipeline_check (source, cancellable, error);
}

void
dlp_pipeline_check_async (DlpPipeline *self,
                          GCancellable *cancellable,
                          GAsyncReadyCallback callback,
                          gpointer user_data)
{
  call_in_thread (self, check, cancellable, dlp_pipeline_check_async, callback, user_data);
}

gboolean
dlp_pipeline_check_finish (DlpPipeline *self, GAsyncResult *result, GError **error)
{
  return finish (self, result, error);
}

static bool
check_state (gpointer source, GCancellable *cancellable, GError **error)
{
  return dlp_pipeline_check_state (source, cancellable, error);
}

void
dlp_pipeline_check_state_async (DlpPipeline *self,
                                GCancellable *cancellable,
                                GAsyncReadyCallback callback,
                                gpointer user_data)
{
  call_in_thread (self, check_state, cancellable, dlp_pipeline_check_state_async, callback,
                  user_data);
}

gboolean
dlp_pipeline_check_state_finish (DlpPipeline *self, GAsyncResult *result, GError **error)
{
  return finish (self, result, error);
}

/* ---- from a state folder ---- */

typedef struct
{
  char *path;
  GVariant *payload;
  DlpAsyncCall *call;
} StateRead;

static void
state_read_free (gpointer data)
{
  StateRead *self = data;

  g_clear_pointer (&self->payload, g_variant_unref);
  g_free (self->path);
  g_free (self);
}

static gpointer
read_state_in_thread (gpointer data)
{
  StateRead *self = data;
  DlpAsyncCall *call = self->call;
  GCancellable *cancellable = dlp_async_call_get_cancellable (call);
  GError *error = NULL;

  if (!g_cancellable_set_error_if_cancelled (cancellable, &error))
    self->payload = dlp_pipeline_read_state (self->path, &error);
  if (error == NULL)
    g_cancellable_set_error_if_cancelled (cancellable, &error);
  if (error != NULL)
    g_clear_pointer (&self, state_read_free);
  dlp_async_call_return_pointer (call, self, state_read_free, error);
  return NULL;
}

void
dlp_pipeline_new_from_state_async (const char *state_dir,
                                   GCancellable *cancellable,
                                   GAsyncReadyCallback callback,
                                   gpointer user_data)
{
  g_autoptr (GMainContext) context = g_main_context_ref_thread_default ();
  StateRead *self = g_new0 (StateRead, 1);

  self->path = g_strdup (state_dir);
  self->call = dlp_async_call_new (NULL, context, cancellable, dlp_pipeline_new_from_state_async,
                                   callback, user_data);
  g_thread_unref (g_thread_new ("dlp-pipeline", read_state_in_thread, self));
}

DlpPipeline *
dlp_pipeline_new_from_state_finish (GAsyncResult *result, GError **error)
{
  StateRead *self;
  DlpPipeline *pipeline;

  g_return_val_if_fail (g_task_is_valid (result, NULL), NULL);
  g_return_val_if_fail (
      g_task_get_source_tag (G_TASK (result)) == dlp_pipeline_new_from_state_async, NULL);

  self = g_task_propagate_pointer (G_TASK (result), error);
  if (self == NULL)
    return NULL;
  pipeline = dlp_pipeline_make_from_state (self->path, self->payload, error);
  state_read_free (self);
  return pipeline;
}
