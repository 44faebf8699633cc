/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>
#include <stdbool.h>

G_BEGIN_DECLS

/* A call that blocks, on a thread of its own. Its result is given back in the main context that was
 * the thread-default one of whoever began it, once; there is no source object. */
typedef struct
{
  gpointer tag;
  /* What came of it, NULL with an error; or an error alone. */
  gpointer (*func) (gpointer data, GCancellable *cancellable, GError **error);
  gpointer data;
  GDestroyNotify free_data;
  GDestroyNotify free_value;
  /* Once it has begun it is not left: the result says what was done. Others have their result as
   * soon as they are cancelled, wherever they hang; what comes of them is thrown away. */
  bool is_whole;
} DlpBlocking;

void dlp_blocking_begin (DlpBlocking what,
                         GCancellable *cancellable,
                         GAsyncReadyCallback callback,
                         gpointer user_data);
/* (transfer full) (nullable) */
gpointer dlp_blocking_finish (GAsyncResult *result, gpointer tag, GError **error);

G_END_DECLS
