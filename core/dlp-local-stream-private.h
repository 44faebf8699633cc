/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/**
 * DlpLocalStream:
 *
 * Reads a file descriptor. Unlike GUnixInputStream it does not end the program where no further
 * descriptor can be made: a mix of many sources may use all that a
 * process can have.
 */
#define DLP_TYPE_LOCAL_STREAM (dlp_local_stream_get_type ())
G_DECLARE_FINAL_TYPE (DlpLocalStream, dlp_local_stream, DLP, LOCAL_STREAM, GInputStream)

/* @owned: whether @fd is closed with it, also on failure. */
DlpLocalStream *dlp_local_stream_new (int fd, gboolean owned, GError **error);
int dlp_local_stream_get_fd (DlpLocalStream *self);
/* Until there is something to read, or no writer any more. */
gboolean dlp_local_stream_wait (DlpLocalStream *self, GCancellable *cancellable, GError **error);

G_END_DECLS
