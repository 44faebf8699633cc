/* SPDX-License-Identifier: MIT */

/* A manifest that is read on a thread of its own. */

#include <dlpipe/dlp-manifest.h>

#include "dlp-blocking-private.h"

static gpointer
load (gpointer path, GCancellable *cancellable, GError **error)
{
  return dlp_manifest_load (path, error);
}

void
dlp_manifest_load_async (const char *path,
                         GCancellable *cancellable,
                         GAsyncReadyCallback callback,
                         gpointer user_data)
{
  DlpBlocking what = { .tag = dlp_manifest_load_async,
                       .func = load,
                       .free_data = g_free,
                       .free_value = (GDestroyNotify) g_variant_unref };

  g_return_if_fail (path != NULL);
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  what.data = g_strdup (path);
  dlp_blocking_begin (what, cancellable, callback, user_data);
}

GVariant *
dlp_manifest_load_finish (GAsyncResult *result, GError **error)
{
  return dlp_blocking_finish (result, dlp_manifest_load_async, error);
}
