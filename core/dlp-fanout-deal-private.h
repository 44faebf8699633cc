/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* How the files of a source are dealt to tasks. Pure functions: what comes out depends on the
 * arguments alone. The rule is recorded in docs/internals/fanout.md, and what it gave in the plan
 * of the job: a later version may deal otherwise, jobs that have begun stay as they are. */

/* Stored bytes of input for which there is a task of its own, and the most tasks by default. */
#define DLP_FANOUT_BYTES_A_TASK ((guint64) 16 << 30)
#define DLP_FANOUT_MAX_TASKS 1024
/* What can be asked for. */
#define DLP_FANOUT_MOST_TASKS 99999

/* How many tasks there are by default: one for each 16 GiB, 1 to 1024, and no more than @most can
 * be dealt to. */
guint dlp_fanout_choose_tasks (guint64 bytes, guint most);

/* @sizes: of the files, in the order of the source; -1: unknown, which counts as the mean of those
 * that are known. @loads: of @n_tasks: bytes of the sources dealt before; those of this one are
 * added. @task_of: of @n: whose each file is. */
void
dlp_fanout_deal (const gint64 *sizes, guint32 n, guint32 n_tasks, guint64 *loads, guint32 *task_of);

G_END_DECLS
