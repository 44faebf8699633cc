/* SPDX-License-Identifier: MIT */
#pragma once

#include <pthread.h>

#include <dlpipe/dlp-fanout.h>

#include "dlp-fanout-job-private.h"
#include "dlp-fanout-plan-private.h"
#include "dlp-fanout-process-private.h"

G_BEGIN_DECLS

typedef enum
{
  DLP_TASK_WAITING,
  DLP_TASK_RUNNING,
  DLP_TASK_DONE,
  DLP_TASK_FAILED,
  DLP_TASK_STOPPED, /* in this run; the next one goes on with it */
} DlpTaskStatus;

typedef struct
{
  guint number;
  guint n_files;
  guint64 planned; /* bytes as stored */
  DlpTaskStatus status;
  guint attempts;     /* begun by this fan-out */
  guint failures;     /* of them, deaths and what may pass */
  bool failed_before; /* a run before has recorded that */
  bool recorded;      /* what became of it is in its folder */
  /* Monotonic; 0: never. Since when its state was found to be another's, and when it is tried
   * again.
   */
  gint64 locked_since, not_before;

  /* The most that was heard: one that begins again never makes them less. */
  double fraction;
  guint64 records, tokens, bytes, files_done;

  GError *error;       /* (nullable): of the last attempt that failed */
  GPtrArray *verdicts; /* of char *: what became of attempts that ended badly */
  GVariant *outcome;   /* (nullable): what is recorded */
} DlpFanoutTask;

/* The place of a worker: one process after another. */
typedef struct
{
  guint number;
  char *device; /* (nullable) */
  DlpFanoutProcess process;
  bool in_process;
  bool there;      /* a process was started and is not over */
  bool ready;      /* it has said so */
  bool gone;       /* its side of the link is closed */
  bool stop_asked; /* it was told */
  int task;        /* -1: none */
  gint64 since;    /* when it was heard of, or began to be gone; monotonic */
  char *killed;    /* (nullable): why it was killed by us */
  guint restarts;
  guint early_ends; /* in a row, before it was ready */
} DlpFanoutPlace;

typedef struct
{
  guint workers, tasks, retries, rank, world_size, threads;
  guint64 memory;
  char *state_dir;
  gint64 checkpoint_interval, stall_timeout, answer_timeout, plan_timeout, grace;
  gboolean strict, overwrite, restart, wait_for_lock;
  gboolean merge, remove_parts, update, accept_changed, retry_failed;
  char **devices;
  char *device_env;
} DlpFanoutSettings;

struct _DlpFanout
{
  GObject parent_instance;

  GMainContext *main_context;
  DlpPipeline *pattern; /* lock: the graph of all tasks; NULL once it is prepared */
  DlpFanoutSettings settings;
  bool prepared; /* atomic */
  bool claimed;  /* lock: prepare() was called */

  /* From prepare() on. */
  char *graph;
  guint64 seed;
  char *job_id;
  DlpFanoutJob *job;
  DlpFanoutPlan *plan;
  guint64 own_bytes; /* of this rank's tasks */
  guint own_tasks, own_files;
  guint done_before;  /* of these, by former runs */
  GPtrArray *folders; /* of char *: of the outputs */
  char *program;      /* of a worker; NULL: tasks run in this process */
  int worker_log;

  int wake_fd;           /* an eventfd: something is asked for */
  GCancellable *merging; /* of what happens when all tasks are done */
  bool stopping;         /* atomic */
  bool aborting;         /* atomic */

  pthread_mutex_t lock;
  DlpPipelineStatus status; /* lock */
  bool was_run;             /* lock */
  GPtrArray *tasks;         /* lock, once it runs: of DlpFanoutTask, all of the job */
  GPtrArray *places;        /* lock, once it runs: of DlpFanoutPlace */
  double fraction;          /* lock: the most that was told */
  gint64 began, ended;      /* lock: monotonic; 0: not yet */
  GError *fatal;            /* lock: no task can be run any more */
  GPtrArray *merged;        /* lock: of char *: locations of whole outputs */
  GPtrArray *said;          /* the supervisor's: of char *, warnings that are due */
  gint64 stopped_at;        /* the supervisor's */
  gint64 looked_at;         /* the supervisor's */
  bool hung;                /* the supervisor's: a task in this process does not end */

  /* Main context. */
  GPtrArray *workers; /* of DlpFanoutWorker */
  GSource *ticker;
  double shown[8];
  DlpPipelineStatus shown_status;
};

/* Waits for other ranks; a stop, an abort and a cancel end it at once: false. @until: of the error,
 * what had not happened before. */
bool dlp_fanout_pause (DlpFanout *self,
                       GCancellable *cancellable,
                       gint64 us,
                       const char *until,
                       GError **error);

/* Tasks of other ranks are only looked at. */
bool dlp_fanout_is_own (const DlpFanout *self, guint task);

/* prepare: all but the state that others see. */
bool dlp_fanout_make_ready (DlpFanout *self, GCancellable *cancellable, GError **error);
/* What another rank, or a run before, has recorded of a task that is done. */
void dlp_fanout_load_outcome (DlpFanout *self, DlpFanoutTask *task);
void dlp_fanout_task_free (gpointer data);
void dlp_fanout_place_free (gpointer data);

/* graph: whether a job that was begun with one graph may go on with another. */
bool dlp_fanout_compare_graphs (DlpPipeline *recorded, DlpPipeline *now, GError **error);
/* That nothing in it stands against being dealt. @n_tasks: at least 1. */
bool dlp_fanout_check_graph (DlpPipeline *pipeline, guint n_tasks, GError **error);

/* order: (floating): what a worker is told of a task. @flags: see dlp-fanout-task-private.h. */
GVariant *dlp_fanout_make_order (DlpFanout *self, guint task, guint place, guint flags);

/* supervise: until all tasks of this rank are done, or nothing can be done for them. */
bool dlp_fanout_supervise (DlpFanout *self, GCancellable *cancellable, GError **error);

/* outcome: (transfer full): what is recorded of a task that is done or given up. @report:
 * (nullable): of its pipeline. */
GVariant *dlp_fanout_make_outcome (const DlpFanoutTask *task, GVariant *report);
/* An array of them, as UTF-8. */
void dlp_fanout_add_strings (GVariantDict *dict, const char *key, GPtrArray *strings);
const char *dlp_fanout_name_status (DlpTaskStatus status);
/* As many as a recorded outcome has. */
guint64 dlp_fanout_get_count (GVariant *outcome, const char *key);

/* finish: parts looked at, manifests of the whole written; when all tasks of the job are done. */
bool dlp_fanout_finish (DlpFanout *self, GCancellable *cancellable, GError **error);
/* Removes the manifests of a job that is discarded. */
bool dlp_fanout_discard_whole (const char *graph,
                               const char *job_id,
                               guint n_generations,
                               GError **error);
/* Whether the manifest of the whole in this folder says that the parts are no more. */
bool dlp_fanout_has_removed_parts (const char *folder);

/* merge: whether the sinks of the graph can, where that is wanted. */
bool dlp_fanout_check_merge (DlpFanout *self, GError **error);
/* Whether the parts of this sink are merged. */
bool dlp_fanout_is_merged (DlpElement *sink);
/* (transfer full): the manifest of the whole. @names: of the manifests of the parts, in order. */
char *dlp_fanout_merge_parts (DlpFanout *self,
                              DlpElement *sink,
                              const char *folder,
                              GPtrArray *names,
                              GCancellable *cancellable,
                              GError **error);
bool
dlp_fanout_discard_merged (DlpElement *sink, const char *job_id, guint generation, GError **error);
bool dlp_fanout_remove_parts (DlpFanout *self, const char *folder, GError **error);
/* (floating): a{ss}: of each sink the sum of the parts of the digests that do not depend on where
 * records are. */
GVariant *dlp_fanout_sum_digests (DlpFanout *self);

/* report; sums up what the tasks of this rank came to; the lock is held. */
typedef struct
{
  guint64 records, tokens, bytes, files;
  guint done, failed, running;
  double fraction;
} DlpFanoutSums;
void dlp_fanout_sum_up (DlpFanout *self, DlpFanoutSums *sums);

/* What is seen of a worker at one moment. */
typedef struct
{
  int pid, task;
  guint restarts;
  double fraction;
  guint64 records, bytes;
} DlpFanoutSight;

/* worker objects, in the main context */
DlpFanoutWorker *dlp_fanout_worker_new (const DlpFanoutPlace *place);
void dlp_fanout_worker_update (DlpFanoutWorker *self, const DlpFanoutSight *sight);

/* notify: in the main context, while a run goes on asynchronously. */
void dlp_fanout_start_notifies (DlpFanout *self);
void dlp_fanout_end_notifies (DlpFanout *self);

G_END_DECLS
