/* SPDX-License-Identifier: MIT */

/* A registry that is loaded on a thread of its own. */

#include "dlp-blocking-private.h"
#include "dlp-registry-private.h"

void
dlp_registry_load (void)
{
  dlp_registry_lock_in_use ();
  dlp_registry_unlock ();
}

static gpointer
load (gpointer data, GCancellable *cancellable, GError **error)
{
  dlp_registry_load ();
  return GINT_TO_POINTER (TRUE);
}

static void
free_nothing (gpointer value)
{
}

void
dlp_registry_load_async (GCancellable *cancellable,
                         GAsyncReadyCallback callback,
                         gpointer user_data)
{
  DlpBlocking what = { .tag = dlp_registry_load_async, .func = load, .free_value = free_nothing };

  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  dlp_blocking_begin (what, cancellable, callback, user_data);
}

gboolean
dlp_registry_load_finish (GAsyncResult *result, GError **error)
{
  return dlp_blocking_finish (result, dlp_registry_load_async, error) != NULL;
}
