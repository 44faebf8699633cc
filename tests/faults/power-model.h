/* SPDX-License-Identifier: MIT */
#pragma once

#include "fault-rig.h"

G_BEGIN_DECLS

/* What a disk may hold after the power was cut. Of a folder it knows what was there at first, which
 * is on disk, and takes in the calls of a log. What was written is on disk once its file was
 * synced, a name once its folder was. Of the rest any part may be, in any order: each write, whole
 * or torn at the borders of sectors or pages, or only the length that it gave; each name that was
 * made, changed or removed.
 */
typedef struct _PowerModel PowerModel;

PowerModel *power_model_new (const char *dir);
/* With nothing taken in since @self was new. */
PowerModel *power_model_copy (const PowerModel *self);
void power_model_free (PowerModel *self);

/* (element-type FaultCall): the first @n of them. */
void power_model_take_in (PowerModel *self, GPtrArray *calls, guint n);
/* Draws what is on disk, and gives up the rest. */
void power_model_lose (PowerModel *self, GRand *rand);
/* Makes @dir what is on disk; what is there goes. */
void power_model_write (const PowerModel *self, const char *dir);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (PowerModel, power_model_free)

G_END_DECLS
