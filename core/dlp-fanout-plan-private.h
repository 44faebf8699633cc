/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include <dlpipe/dlp-file.h>
#include <dlpipe/dlp-pipeline.h>

G_BEGIN_DECLS

/* What is dealt to whom: of each source of a graph all of its files, and the task of each. Made
 * once in the life of a job, recorded, and only read from then on. */

typedef struct
{
  char *name;       /* of the element */
  GPtrArray *files; /* of DlpFile, in the order of the source */
  guint32 *task_of; /* of each */
  guint8 *stale;    /* of each: it is gone or has changed since, and that was accepted */
  guint epochs;     /* 0: for ever, or not known */
  guint64 bytes;    /* as stored, of one epoch, as far as they are known */
} DlpFanoutSource;

typedef struct
{
  guint n_tasks;
  GArray *ends;       /* of guint: of each generation, how many tasks there are with it */
  GPtrArray *sources; /* of DlpFanoutSource */
  guint64 bytes;
  guint files;
} DlpFanoutPlan;

/* Lists the sources of a pipeline behind dlp_pipeline_check(), and deals to @n_tasks (0: as many as
 * there are by default). More than can be dealt: DLP_GRAPH_ERROR_VALUE. */
DlpFanoutPlan *dlp_fanout_plan_new (DlpPipeline *pipeline, guint n_tasks, GError **error);
void dlp_fanout_plan_free (DlpFanoutPlan *self);
/* Bytes as stored of the files of a task, of one epoch. */
guint64 dlp_fanout_plan_get_bytes (const DlpFanoutPlan *self, guint task);
guint dlp_fanout_plan_get_n_files (const DlpFanoutPlan *self, guint task);
guint dlp_fanout_plan_get_n_generations (const DlpFanoutPlan *self);
guint dlp_fanout_plan_get_generation (const DlpFanoutPlan *self, guint task);
/* How many tasks there are with the generation of @task: the number in the name of its part. */
guint dlp_fanout_plan_get_end (const DlpFanoutPlan *self, guint task);

/* Whether the files are those that were recorded, by their names; else DLP_STATE_ERROR_CHANGED. */
bool
dlp_fanout_plan_compare (const DlpFanoutPlan *recorded, const DlpFanoutPlan *now, GError **error);
/* The sources alone, by their number. */
bool dlp_fanout_plan_compare_sources (const DlpFanoutPlan *recorded,
                                      const DlpFanoutPlan *now,
                                      GError **error);

/* Adds a generation of tasks for the files that are new in @now or have changed. What has changed
 * or is gone, unless @accept: DLP_STATE_ERROR_CHANGED. @grown: whether there was anything. */
bool dlp_fanout_plan_update (DlpFanoutPlan *self,
                             const DlpFanoutPlan *now,
                             bool accept,
                             bool *grown,
                             GError **error);
/* As dlp_fanout_plan_compare() of a plan that has grown, whatever the order. */
bool dlp_fanout_plan_compare_grown (DlpFanoutPlan *self, const DlpFanoutPlan *now, GError **error);

/* ---- as a file ---- */

/* (transfer full): the text of the file. */
GString *dlp_fanout_plan_print (const DlpFanoutPlan *self);
DlpFanoutPlan *dlp_fanout_plan_load (const char *path, GError **error);
/* @path: for messages. */
DlpFanoutPlan *
dlp_fanout_plan_parse (const char *path, const char *text, gsize size, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpFanoutPlan, dlp_fanout_plan_free)

G_END_DECLS
