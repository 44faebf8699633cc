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

/* What the command line says; strings that were not given are NULL. */
typedef struct
{
  char *graph;
  char *file;
  char *status; /* the job that is to be shown; nothing is run then */
  char *state;
  char *workers, *tasks, *retries, *threads, *memory, *seed;
  char *checkpoint_every, *stall_timeout, *answer_timeout, *plan_timeout, *grace;
  char *devices, *device_env;
  char *rank, *world_size;
  gboolean from_environment; /* rank and world size */
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
/* Shows a job by its folder alone. */
int fanout_show_status (const FanoutOptions *options, GError **error);

int fanout_exit_for (const GError *error, bool prepared, int signal_number, GVariant *report);

typedef struct _FanoutProgress FanoutProgress;

FanoutProgress *fanout_progress_new (DlpFanout *fanout, const FanoutOptions *options);
/* Called often; shows what is due. */
void fanout_progress_tick (FanoutProgress *self);
/* The last record of --progress=json, and a bar that is full where all is done. */
void fanout_progress_end (FanoutProgress *self, int code);
void fanout_progress_free (FanoutProgress *self);

/* ---- what is said ---- */

/* Whether the files are dealt. */
bool fanout_is_prepared (GVariant *report);
void fanout_say_begin (GVariant *report);
/* @error: (nullable) */
void fanout_say_end (GVariant *report, const GError *error, bool resumable);
bool fanout_write_summary (const char *name, GVariant *report, int code, GError **error);

G_END_DECLS
