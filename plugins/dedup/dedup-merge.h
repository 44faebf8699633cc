/* SPDX-License-Identifier: MIT */
#pragma once

#include "dedup-run.h"

G_BEGIN_DECLS

/* As many runs of about one size become one. */
#define DEDUP_FAN 4

/* Runs, which have no key in common, on their way into one; done piece by piece. */
typedef struct _DedupMerge DedupMerge;

/* (transfer none) runs: they are read, and can be looked into all the while. Takes @fd, of an empty
 * file. @n_buffer: slots that are read and written at once, for each of the five files. */
DedupMerge *
dedup_merge_new (DedupRun *const runs[DEDUP_FAN], int fd, gsize max_filter_bytes, gsize n_buffer);
void dedup_merge_free (DedupMerge *self);
/* Goes on by so many keys. *done: all are through. */
gboolean dedup_merge_go_on (DedupMerge *self, guint64 n_keys, gboolean *done, GError **error);
/* (transfer full): the run that it made; of one that is done. */
DedupRun *dedup_merge_steal_run (DedupMerge *self);
gsize dedup_merge_get_bytes (const DedupMerge *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DedupMerge, dedup_merge_free)

G_END_DECLS
