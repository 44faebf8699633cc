/* SPDX-License-Identifier: MIT */

/* A tokenizer that is loaded on a thread of its own. */

#include <dlpipe/dlp-tokenizer.h>

#include "dlp-blocking-private.h"

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

static gpointer
load (gpointer data, GCancellable *cancellable, GError **error)
{
  const Arguments *arguments = data;

  return dlp_tokenizer_new (arguments->model, arguments->pattern, error);
}

void
dlp_tokenizer_load_async (const char *model,
                          const char *pattern,
                          GCancellable *cancellable,
                          GAsyncReadyCallback callback,
                          gpointer user_data)
{
  DlpBlocking what = { .tag = dlp_tokenizer_load_async,
                       .func = load,
                       .free_data = arguments_free,
                       .free_value = g_object_unref };
  Arguments *arguments;

  g_return_if_fail (model != NULL);
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  arguments = g_new (Arguments, 1);
  arguments->model = g_strdup (model);
  arguments->pattern = g_strdup (pattern);
  what.data = arguments;
  dlp_blocking_begin (what, cancellable, callback, user_data);
}

DlpTokenizer *
dlp_tokenizer_load_finish (GAsyncResult *result, GError **error)
{
  return dlp_blocking_finish (result, dlp_tokenizer_load_async, error);
}
