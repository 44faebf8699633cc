/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Before anything else is opened: where standard input, output or error is closed, the next file
 * would take its number, and be read or written in its place. What stands there instead can be
 * neither read nor, but for standard error, written. */
void std_streams_secure (void);
/* At the end: whether all that was printed has arrived. */
gboolean std_streams_flush (GError **error);

G_END_DECLS
