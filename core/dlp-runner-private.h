/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-pipeline.h>

#include "dlp-element-private.h"

G_BEGIN_DECLS

/* More elements than this, and AUTO takes the pool. */
#define DLP_RUNNER_MAX_THREADS 64

/* Drives the elements of a pipeline until each has ended, or the context is cancelled or stopping.
 */
typedef struct _DlpRunner DlpRunner;

/* @elements: (element-type DlpElement). @done: called once, on some thread, when the last one has
 * left. */
DlpRunner *dlp_runner_new (DlpRunnerKind kind,
                           GPtrArray *elements,
                           DlpContext *context,
                           guint n_threads,
                           GFunc done,
                           gpointer data);
void dlp_runner_start (DlpRunner *self);
/* Joins all threads; they must be on their way out. */
void dlp_runner_free (DlpRunner *self);
/* Wakes every wait, so that each element looks at the flags of the context and at its snapshot. */
void dlp_runner_kick (DlpRunner *self);

G_END_DECLS
