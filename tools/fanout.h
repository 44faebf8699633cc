/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-fanout.h>

#include "launch.h"

G_BEGIN_DECLS

typedef enum
{
  FANOUT_PROGRESS_AUTO,
  FANOUT_PROGRESS_BAR,
  FANOUT_PROGRESS_FULL,
  FANOUT_PROGRESS_PLAIN,
  FANOUT_PROGRESS_JSON,
  FANOUT_PROGRESS_NONE,
} FanoutProgressKind;

typedef enum
{
  FANOUT_RUN,
  FANOUT_STATUS,
  FANOUT_FOLLOW,
  FANOUT_FINISH,
} FanoutCommand;

typedef enum
{
  FANOUT_LAUNCHER_LOCAL,
  FANOUT_LAUNCHER_ENV, /* rank and world size are in the environment */
  FANOUT_LAUNCHER_SLURM,
} FanoutLauncher;

/* What the command line says; strings that were not given are NULL. */
typedef struct
{
  FanoutCommand command;
  FanoutLauncher launcher;
  char *folder; /* of a job that is not run by this process */
  char *graph;
  char *file;
  char *state;
  char *workers, *tasks, *retries, *threads, *memory, *seed;
  char *checkpoint_every, *stall_timeout, *answer_timeout, *plan_timeout, *grace;
  char *devices, *device_env;
  char *rank, *world_size;
  gboolean follow;           /* with FANOUT_LAUNCHER_SLURM too */
  gboolean allocation;       /* of Slurm: one for all ranks, not an array of jobs */
  gboolean slurm_write_only; /* nothing is submitted */
  char **sbatch;             /* (nullable): options that are passed on */
  gboolean strict, restart, overwrite;
  gboolean merge, remove_parts, update, accept_changed, retry_failed;
  char **set;          /* (nullable): of NAME.PROP=VALUE */
  char **plugin_paths; /* (nullable) */
  FanoutProgressKind progress;
  char *summary;
  gboolean json; /* of status */
  gboolean verbose, quiet, show_version;
  gboolean done; /* --help or --version: nothing is left to do */
} FanoutOptions;

bool fanout_options_parse (FanoutOptions *self, int *argc, char ***argv, GError **error);
void fanout_options_clear (FanoutOptions *self);

/* Which of how many processes this one is, by the variables of schedulers: those of an array of
 * Slurm jobs, and of the ranks in each; an indexed job of Kubernetes; Open MPI; torchrun. */
bool fanout_environment_find (guint *rank, guint *world_size, GError **error);

/* (transfer full): built and set, not prepared. */
DlpFanout *fanout_make (const FanoutOptions *options, GError **error);
int fanout_run (DlpFanout *fanout, const FanoutOptions *options);
/* ---- jobs by their folder alone ---- */

typedef struct _FanoutFolder FanoutFolder;

FanoutFolder *fanout_folder_open (const char *path, GError **error);
void fanout_folder_free (FanoutFolder *self);
/* Absolute. */
const char *fanout_folder_get_path (const FanoutFolder *self);
/* job.json */
GVariant *fanout_folder_get_job (const FanoutFolder *self);
/* (transfer full): as the report of a fan-out; its task-list has all tasks of the job. */
GVariant *fanout_folder_look (FanoutFolder *self);
/* (transfer full): an object. */
GVariant *fanout_load_json (const char *folder, const char *name, GError **error);
/* Whether each task is done or has failed. */
bool fanout_is_settled (GVariant *report);
/* By what is recorded of the tasks. */
int fanout_exit_for_records (GVariant *report);

int fanout_show_status (const FanoutOptions *options, GError **error);
/* Until all tasks have ended, or a signal comes. */
int fanout_follow (const FanoutOptions *options, GError **error);
/* What is to be done once all tasks have ended: runs none of them. */
int fanout_finish (const FanoutOptions *options, GError **error);

/* ---- Slurm ---- */

typedef enum
{
  FANOUT_SLURM_FAILED,
  FANOUT_SLURM_WRITTEN,
  FANOUT_SLURM_SUBMITTED,
  FANOUT_SLURM_NOTHING_LEFT, /* all tasks were done before */
} FanoutSlurmResult;

/* Deals the files of @fanout, writes the scripts and submits them. *@job: (nullable) (transfer
 * full): the folder of the job. */
FanoutSlurmResult
fanout_slurm_submit (DlpFanout *fanout, const FanoutOptions *options, char **job, GError **error);
/* Where the last job of all of them leaves its verdict, in the folder of a job. */
#define FANOUT_SLURM_END "slurm/end.json"
#define FANOUT_SLURM_JOBS "slurm/jobs"

int fanout_exit_for (const GError *error, bool prepared, int signal_number, GVariant *report);

typedef struct _FanoutProgress FanoutProgress;

/* @workers: (nullable): of DlpFanoutWorker. */
FanoutProgress *fanout_progress_new (GListModel *workers, const FanoutOptions *options);
bool fanout_progress_is_due (FanoutProgress *self);
void fanout_progress_show (FanoutProgress *self, GVariant *report);
/* The last record of --progress=json. */
void fanout_progress_end (FanoutProgress *self, GVariant *report, int code);
void fanout_progress_free (FanoutProgress *self);

/* ---- what is said ---- */

/* Whether the files are dealt. */
bool fanout_is_prepared (GVariant *report);
void fanout_say_begin (GVariant *report);
/* Of a job that others run. */
void fanout_say_job (GVariant *report);
/* @error: (nullable) */
void fanout_say_end (GVariant *report, const GError *error, bool resumable);
bool fanout_write_summary (const char *name, GVariant *report, int code, GError **error);

G_END_DECLS
