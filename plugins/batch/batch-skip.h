/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlpipe.h>

G_BEGIN_DECLS

/* Batches that are not given out; both ends are of it. It was asked for when @from batches had gone
 * out. */
typedef struct
{
  guint64 first, last;
  guint64 from;
} BatchRange;

/* (transfer full) (element-type BatchRange) */
GArray *batch_skip_new (void);
gboolean batch_skip_has (GArray *skip, guint64 index);

/* As a state has it, under the key "skip": a(ttt), as dlp_checkpoint_skip_batches() writes it: in
 * order, and apart. */
GVariant *batch_skip_describe (GArray *skip);
gboolean batch_skip_load (GArray *skip, GVariant *described, GError **error);
/* One that went out before it was to be skipped cannot be taken back: DLP_STATE_ERROR_CHANGED.
 * @batches: the index that comes next; @position: batches that go out before it. */
gboolean batch_skip_check (GArray *skip, guint64 batches, guint64 position, GError **error);

G_END_DECLS
