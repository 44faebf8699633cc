/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A worker on a thread of this process; it owns @fd, and ends when the other side closes its own. A
 * task that goes on then is aborted. */
GThread *dlp_fanout_worker_start_thread (int fd);

G_END_DECLS
