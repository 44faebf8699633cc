/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Memory for many blocks that come and go in no order, within a limit. It is in large pages, so
 * that to touch a block anywhere in gigabytes costs little more than in a few megabytes; and what
 * one block leaves another of about its size takes, without a look at its neighbours. Used by one
 * thread. */
typedef struct _DlpSlab DlpSlab;

DlpSlab *dlp_slab_new (gsize max_bytes);
/* With all that it gave. */
void dlp_slab_free (DlpSlab *self);
/* For what is taken from now on. */
void dlp_slab_set_limit (DlpSlab *self, gsize max_bytes);
/* NULL: it would be beyond the limit. */
gpointer dlp_slab_take (DlpSlab *self, gsize size);
/* @size: as it was taken. */
void dlp_slab_give (DlpSlab *self, gpointer block, gsize size);

/* A larger or smaller copy of a block of @old_size bytes (nullable), in large pages where that
 * pays; to be freed by g_free(). */
gpointer dlp_slab_resize (gpointer old, gsize old_size, gsize size);

G_END_DECLS
