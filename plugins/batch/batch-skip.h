/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlpipe.h>

G_BEGIN_DECLS

/* Batches that are not given out; both ends are of it. It was asked for when @from batches had gone
 * out: those of them that are made again went out too. */
typedef struct
{
  guint64 first, last;
  guint64 from;
} BatchRange;

typedef enum
{
  BATCH_SKIP_NO,
  BATCH_SKIP_YES,
  BATCH_SKIP_TOO_LATE,
} BatchSkip;

/* (transfer full) (element-type BatchRange) */
GArray *batch_skip_new (void);
/* @position: batches that go out before it. */
BatchSkip batch_skip_find (GArray *skip, guint64 index, guint64 position);

/* As a state has it, under the key "skip": a(ttt), as dlp_checkpoint_skip_batches() writes it. */
GVariant *batch_skip_describe (GArray *skip);
gboolean batch_skip_load (GArray *skip, GVariant *described, GError **error);

G_END_DECLS
