/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Ids as unsigned integers of @width bytes, 2 or 4. */

/* The index of the first one that is not below @limit, or @n. */
gsize dlp_megatron_tokens_check (gconstpointer tokens, guint width, gsize n, guint64 limit);
guint32 dlp_megatron_tokens_get (gconstpointer tokens, guint width, gsize index);
/* All of them fit. */
void
dlp_megatron_tokens_convert (gconstpointer tokens, guint from, gsize n, gpointer out, guint to);

G_END_DECLS
