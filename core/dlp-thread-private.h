/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* First of all on a thread that streams: its name, and that it is there for throughput. A thread
 * that is woken then does not push aside the one that woke it, which goes on until it has nothing
 * to do: on a busy machine that saves most switches between the two ends of a link. */
void dlp_thread_begin (const char *name);

G_END_DECLS
