/* SPDX-License-Identifier: MIT */
#pragma once

#include "launch-rig.h"

G_BEGIN_DECLS

/* Jobs of dlpipe-fanout in the folder of a rig: files in-0.jsonl and so on, and outputs in out/. */
#define FANOUT_FILES 8
#define FANOUT_TASKS "4"

/* Files of other lengths each, the records of which say where they are from. One has a record with
 * “die” in it, for fixture-die.c. */
void fanout_rig_write_files (LaunchRig *self, guint records);
/* (transfer full): of what is in the folder out, names and bytes, without what tells runs apart. */
char *fanout_rig_hash (LaunchRig *self);
/* (element-type int): processes of workers of the fan-out @pid. */
GArray *fanout_rig_list_workers (pid_t pid);
/* Until there are so many, or the time is over. */
GArray *fanout_rig_wait_for_workers (LaunchRig *self, guint n);
/* Whether it is there, and not only waits to be reaped. */
gboolean fanout_rig_is_alive (pid_t pid);
/* "KEY": N of the summary, the first such. */
guint64 fanout_rig_get_number (LaunchRig *self, const char *key);
/* (transfer full) */
char *fanout_rig_read (LaunchRig *self, const char *name);

G_END_DECLS
