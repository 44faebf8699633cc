/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib-object.h>

G_BEGIN_DECLS

/* How far back what is decoded refers, which is what a decoder must hold: the property
 * "window-log-max" of decoders, which a reader sets. */

#define DECODER_WINDOW_LOG_DEFAULT 27
#define DECODER_WINDOW_LOG_MAX 31

GParamSpec *decoder_window_new_pspec (void);
/* In MiB, rounded up. */
guint64 decoder_window_to_mib (guint64 size);
/* @what: what asks for it, as in "zstd frame"; @start: its place. */
gboolean
decoder_window_check (guint64 size, guint log_max, const char *what, guint64 start, GError **error);

G_END_DECLS
