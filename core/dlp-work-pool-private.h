/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include <glib.h>

G_BEGIN_DECLS

/* The pool for stateless work: as many threads as the CPU budget, one queue in the order of
 * submission. With 0 threads work is done at once by who submits it. */
typedef struct _DlpWorkPool DlpWorkPool;

typedef void (*DlpPoolFunc) (gpointer user, guint worker, gpointer data);

DlpWorkPool *dlp_work_pool_new (guint n_threads);
/* What is still queued is done first. */
void dlp_work_pool_free (DlpWorkPool *self);
guint dlp_work_pool_get_n_threads (DlpWorkPool *self);
/* Whether work waits for a worker, as all of them are busy. */
bool dlp_work_pool_is_short (DlpWorkPool *self);
/* A sum of CPU time, in nanoseconds; the pool's own, because who submits work may be gone when the
 * time of it is counted. Atomic. */
guint64 *dlp_work_pool_add_account (DlpWorkPool *self);
/* @spent: (nullable): the account that it is counted on. */
void dlp_work_pool_submit (DlpWorkPool *self,
                           DlpPoolFunc func,
                           gpointer user,
                           gpointer data,
                           guint64 *spent);
/* CPU time of its threads so far, in nanoseconds. */
guint64 dlp_work_pool_get_cpu_time (DlpWorkPool *self);

/* The CPU budget: the least of the online CPUs, the affinity of the process, and the quota of its
 * cgroup (v1 and v2), rounded up; at least 1. */
guint dlp_cpu_budget (void);
/* The least of RAM and the memory limit of the cgroup (v1 and v2), in bytes. */
guint64 dlp_memory_limit (void);

G_END_DECLS
