/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>
#include <stdbool.h>

G_BEGIN_DECLS

/* The result of an asynchronous call on its way to one main context, whatever thread made the call
 * and whatever thread returns. A GTask could only be made by a thread that may own the context. */
typedef struct _DlpAsyncCall DlpAsyncCall;

/* @source: (nullable) (transfer full), may be set later. */
DlpAsyncCall *dlp_async_call_new (gpointer source,
                                  GMainContext *context,
                                  GCancellable *cancellable,
                                  gpointer tag,
                                  GAsyncReadyCallback callback,
                                  gpointer user_data);
void dlp_async_call_set_source (DlpAsyncCall *self, gpointer source);
/* In the main context, right before the callback is due. */
void dlp_async_call_set_before (DlpAsyncCall *self, void (*before) (gpointer source));
gpointer dlp_async_call_get_source (DlpAsyncCall *self);
GCancellable *dlp_async_call_get_cancellable (DlpAsyncCall *self);
/* @cancelled is called on the thread that cancels; not any more once the callback was called. */
void dlp_async_call_watch (DlpAsyncCall *self, GCallback cancelled);
/* Each takes the call over. An error (transfer full) goes before a value. */
void dlp_async_call_return_boolean (DlpAsyncCall *self, GError *error);
void dlp_async_call_return_pointer (DlpAsyncCall *self,
                                    gpointer value,
                                    GDestroyNotify free_value,
                                    GError *error);
/* Runs @func on a thread of its own and returns what it does. It holds the source. */
void dlp_async_call_run (DlpAsyncCall *self,
                         const char *name,
                         bool (*func) (gpointer source, GCancellable *cancellable, GError **error));

G_END_DECLS
