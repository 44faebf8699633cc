/* SPDX-License-Identifier: MIT */
#pragma once

#include "launch-rig.h"

G_BEGIN_DECLS

/* Runs of dlpipe-inspect that find the plugins of one folder, "plugins" in that of the rig, and
 * have a cache there too, "registry.cache". */

LaunchRig *registry_rig_new (void);
/* Puts a fixture there, as a new file; @folder: (nullable): instead of "plugins". */
void registry_rig_add (LaunchRig *rig, const char *folder, const char *fixture);
/* (transfer full): of what stands in "plugins". */
char *registry_rig_path (LaunchRig *rig, const char *fixture);

/* (transfer full): what --json says, with further arguments; fails the test where it fails. */
GVariant *registry_rig_list (LaunchRig *rig, const char *argument);
/* (transfer full) (nullable): the entry of that name. */
GVariant *registry_rig_find (GVariant *all, const char *list, const char *name);
/* (transfer full): the problems' reasons and remedies, sorted, joined by LF. */
char *registry_rig_get_problems (GVariant *all);

/* From now on each file that is scanned is noted. */
void registry_rig_count_scans (LaunchRig *rig);
/* Since the last call. */
guint registry_rig_take_scans (LaunchRig *rig);

G_END_DECLS
