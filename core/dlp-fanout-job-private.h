/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-fanout-plan-private.h"
#include "dlp-state-lock-private.h"

G_BEGIN_DECLS

/* The folder of a job:
 *
 *   lock               held as long as a fan-out runs it
 *   graph              of the job
 *   plan               what is dealt to whom; plan-1 and so on: with what was added later
 *   job.json           written last: with it there is a plan
 *   tasks/N/state      the state folder of the task's pipeline
 *   tasks/N/log        what its workers printed
 *   tasks/N/done.json, tasks/N/failed.json  what became of it
 *   workers.log        what workers printed before they had a task
 *   devices/NAME       shared by the workers of a device
 *   ranks/N/lock       where several fan-outs share the job
 */
typedef struct
{
  char *path; /* absolute */
  bool temporary;
  int folder;
  int rank_folder; /* -1: none */
  DlpStateLock *lock;
} DlpFanoutJob;

/* @path: (nullable): a temporary folder. */
DlpFanoutJob *dlp_fanout_job_open (const char *path, GError **error);
void dlp_fanout_job_free (DlpFanoutJob *self);
/* Held by another fan-out: DLP_STATE_ERROR_LOCKED. @rank: -1: the job's own. */
bool dlp_fanout_job_lock (DlpFanoutJob *self, int rank, GError **error);
void dlp_fanout_job_unlock (DlpFanoutJob *self);

/* (transfer full) */
char *dlp_fanout_job_get_path (const DlpFanoutJob *self, const char *name);
char *dlp_fanout_job_get_task_path (const DlpFanoutJob *self, guint task, const char *name);
/* Makes the folder of a task. */
bool dlp_fanout_job_make_task (const DlpFanoutJob *self, guint task, GError **error);

/* (nullable) (transfer full): job.json; NULL without an error: there is no plan. */
GVariant *dlp_fanout_job_load (const DlpFanoutJob *self, GError **error);
/* (transfer full): of a generation of tasks. */
char *dlp_fanout_job_get_plan_path (const DlpFanoutJob *self, guint generation);
/* The plan that job.json is of. */
DlpFanoutPlan *dlp_fanout_job_load_plan (const DlpFanoutJob *self, GVariant *job, GError **error);
/* (transfer full) */
char *dlp_fanout_job_load_graph (const DlpFanoutJob *self, GError **error);
/* @graph: (nullable): it is there. @id: (nullable): of a job that is there. */
bool dlp_fanout_job_save (const DlpFanoutJob *self,
                          const char *graph,
                          const char *id,
                          guint64 seed,
                          const DlpFanoutPlan *plan,
                          GError **error);
/* (nullable) (transfer full): what became of a task; NULL: nothing yet, or what cannot be read. */
GVariant *dlp_fanout_job_load_task (const DlpFanoutJob *self, guint task);
/* @done: else it has failed. */
bool dlp_fanout_job_save_task (const DlpFanoutJob *self,
                               guint task,
                               bool done,
                               GVariant *outcome,
                               GError **error);
/* Removes it, durably: the task is one that is still to be run. */
bool dlp_fanout_job_forget_task (const DlpFanoutJob *self, guint task, GError **error);

/* Removes the job, but for its lock: first that which says that there is one. The states of the
 * tasks must have been discarded. */
bool dlp_fanout_job_clear (const DlpFanoutJob *self, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpFanoutJob, dlp_fanout_job_free)

G_END_DECLS
