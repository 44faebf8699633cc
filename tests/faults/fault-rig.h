/* SPDX-License-Identifier: MIT */
#pragma once

#include "launch-rig.h"

#include "inject.h"

G_BEGIN_DECLS

/* A small job of the real program, spoilt by the library inject.c while it runs: four files with a
 * bad record, shuffled, tokenized, and written as .bin and .idx and, by a tee, as lines.
 */
typedef struct
{
  LaunchRig *run;
  char *dir; /* of run, without symbolic links */
  char *log;
  const char *graph;
  guint slow_us;              /* what each sync takes */
  GSpawnChildSetupFunc setup; /* (nullable): in the child */
  const char *state;          /* the name of its state folder */
  const char *options[8];     /* further ones */
  gboolean is_cut;            /* a part reads ahead of a limit: its counts are a matter of time */
} FaultRig;

/* @argv: of the test: the program, the folder with test data, the library. */
void fault_rig_init (int argc, char **argv);

/* @graph: (nullable): instead of that of the job. It outlives the rig. */
FaultRig *fault_rig_new (const char *graph);
void fault_rig_free (FaultRig *self);
/* All but the inputs goes. */
void fault_rig_clear (FaultRig *self);

typedef enum
{
  FAULT_RIG_GATES = 1 << 0,  /* so that there are three checkpoints that have new bytes each */
  FAULT_RIG_DATA = 1 << 1,   /* the log has the bytes that were written */
  FAULT_RIG_REMOTE = 1 << 2, /* nothing tells that the attempt before is dead */
} FaultRigFlags;

/* The job with a plan, see inject.h; @plan: (nullable). The log is begun anew. */
void fault_rig_start (FaultRig *self, const char *plan, FaultRigFlags flags);
void fault_rig_run (FaultRig *self, const char *plan, FaultRigFlags flags);

/* (transfer full): all that a run leaves that must not depend on how it was disturbed. */
char *fault_rig_read_output (FaultRig *self);
/* The output is @expected, and nothing is half written. @what: for the message of a failure. */
void fault_rig_check_output (FaultRig *self, const char *expected, const char *what);
/* The same of a job that is not disturbed. */
char *fault_rig_run_undisturbed (FaultRig *self);

/* An entry of the log; paths are relative to the folder. */
typedef struct
{
  InjectEntry entry;
  char *path;
  char *other;
  GBytes *data; /* (nullable) */
} FaultCall;

/* (element-type FaultCall) */
GPtrArray *fault_rig_load_log (FaultRig *self);
const char *fault_call_get_name (const FaultCall *self);
/* (nullable): the call that was spoilt. */
const FaultCall *fault_rig_find_fault (GPtrArray *calls);

G_END_DECLS
