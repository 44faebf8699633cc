/* SPDX-License-Identifier: MIT */

/* A tokenizer that is loaded on a thread of its own. */

#include <dlpipe/dlp-tokenizer.h>

typedef struct
{
  char *model;
  char *pattern; /* nullable */
} Arguments;

static void
arguments_free (gpointer data)
{
  Arguments *self = data;

  g_free (self->model);
  g_free (self->pattern);
  g_free (self);
}

static void
load (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Arguments *arguments = data;
  GError *error = NULL;
  DlpTokenizer *self = dlp_tokenizer_new (arguments->model, arguments->pattern, &error);

  if (self != NULL)
    g_task_return_pointer (task, self, g_object_unref);
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
  Arguments *arguments;

  g_return_if_fail (model != NULL);
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  arguments = g_new (Arguments, 1);
  arguments->model = g_strdup (model);
  arguments->pattern = g_strdup (pattern);
  task = g_task_new (NULL, cancellable, callback, user_data);
  g_task_set_source_tag (task, dlp_tokenizer_load_async);
  g_task_set_task_data (task, arguments, arguments_free);
  g_task_set_return_on_cancel (task, TRUE);
  g_task_run_in_thread (task, load);
}

DlpTokenizer *
dlp_tokenizer_load_finish (GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, NULL), NULL);
  g_return_val_if_fail (g_task_get_source_tag (G_TASK (result)) == dlp_tokenizer_load_async, NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}
