/* SPDX-License-Identifier: MIT */
#pragma once

#include "fanout.h"

G_BEGIN_DECLS

/* What is submitted to Slurm: the ranks of a job, and a last job that decides. */
typedef struct
{
  const FanoutOptions *options;
  char *job;        /* its folder, absolute */
  char *ranks_path; /* of the scripts */
  char *finish_path;
  char *name; /* for whoever looks at the queue */
  guint world_size;
  GArray *ranks;    /* of guint: those that have something to do, in order */
  guint array_size; /* an index of an array is below it */
  GPtrArray
      *calls; /* of char **: of sbatch, for the ranks; the last job's is made of what they give */
} FanoutSlurm;

/* (transfer full) */
char *fanout_slurm_make_ranks_script (const FanoutSlurm *self);
char *fanout_slurm_make_finish_script (const FanoutSlurm *self);

/* Whether what is passed on to sbatch leaves this program what it sets itself. */
bool fanout_slurm_check_options (const FanoutOptions *options, GError **error);

G_END_DECLS
