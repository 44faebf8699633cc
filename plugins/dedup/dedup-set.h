/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "dedup-table.h"

G_BEGIN_DECLS

/* A set of hashes in bounded memory: a table, and what does not fit there in files without a name.
 * See docs/internals/dedup.md. One thread at a time. */
typedef struct _DedupSet DedupSet;

/* Opens an empty file without a name; -1 with an error. */
typedef int (*DedupSetOpenFile) (gpointer data, GError **error);

/* @memory: bytes that it may take, about; of less than 64 KiB it takes that. */
DedupSet *dedup_set_new (gsize memory, DedupSetOpenFile open_file, gpointer data);
void dedup_set_free (DedupSet *self);
/* These keys are about to be added: what has to be read for them is asked for. */
void dedup_set_look_ahead (DedupSet *self, const DedupKey *keys, guint n);
/* *is_new: it was not there before, and is now. */
gboolean dedup_set_add (DedupSet *self, const DedupKey *key, gboolean *is_new, GError **error);
/* One that is known not to be there yet. */
gboolean dedup_set_add_new (DedupSet *self, const DedupKey *key, GError **error);
/* To be called now and then, behind some keys: goes on with what is put together of files, by as
 * much as is due to keep their number bounded. */
gboolean dedup_set_maintain (DedupSet *self, GError **error);

guint64 dedup_set_get_length (const DedupSet *self);
/* Bytes taken now, and files there are. */
gsize dedup_set_get_bytes (const DedupSet *self);
guint dedup_set_get_n_files (const DedupSet *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DedupSet, dedup_set_free)

G_END_DECLS
