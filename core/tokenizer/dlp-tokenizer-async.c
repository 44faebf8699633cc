/* SPDX-License-Identifier: MIT */

/* A tokenizer that is loaded on a thread of its own. */

#include <dlpipe/dlp-tokenizer.h>

typedef struct
{
  char *model;
  char *pattern; /* nullable */
  /* Nullable; atomic, as sanitizers do not know the locks of a task. */
  DlpTokenizer *loaded;
} Call;

static void
call_free (gpointer data)
{
  Call *self = data;

  g_free (self->model);
  g_free (self->pattern);
  g_clear_object (&self->loaded);
  g_free (self);
}

static void
load (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Call *call = data;
  GError *error = NULL;
  DlpTokenizer *self = dlp_tokenizer_new (call->model, call->pattern, &error);

  __atomic_store_n (&call->loaded, self, __ATOMIC_RELEASE);
  if (self != NULL)
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

void
dlp_tokenizer_load_async (const char *model,
                          const char *pattern,
                          GCancellable *cancellable,
                          GAsyncReadyCallback callback,
                          gpointer user_data)
{
  g_autoptr (GTask) task = NULL;
  Call *call;

  g_return_if_fail (model != NULL);
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  call = g_new0 (Call, 1);
  call->model = g_strdup (model);
  call->pattern = g_strdup (pattern);
  task = g_task_new (NULL, cancellable, callback, user_data);
  g_task_set_source_tag (task, dlp_tokenizer_load_async);
  g_task_set_task_data (task, call, call_free);
  g_task_set_return_on_cancel (task, TRUE);
  g_task_run_in_thread (task, load);
}

DlpTokenizer *
dlp_tokenizer_load_finish (GAsyncResult *result, GError **error)
{
  Call *call;

  g_return_val_if_fail (g_task_is_valid (result, NULL), NULL);
  g_return_val_if_fail (g_task_get_source_tag (G_TASK (result)) == dlp_tokenizer_load_async, NULL);

  if (!g_task_propagate_boolean (G_TASK (result), error))
    return NULL;
  call = g_task_get_task_data (G_TASK (result));
  return __atomic_exchange_n (&call->loaded, NULL, __ATOMIC_ACQ_REL);
}
