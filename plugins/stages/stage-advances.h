/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-stages.h>

G_BEGIN_DECLS

/* Where a program asked to leave the stage. A place is a number of records (of batches, where they
 * come in) of all stages: the stage that has the last of them is left behind it. Those that are
 * over are kept: an older mark goes through them again. */
typedef struct
{
  GArray *places; /* of guint64, ascending */
  guint64 passed; /* what had been passed on when the state was saved */
} StageAdvances;

void stage_advances_init (StageAdvances *self);
void stage_advances_clear (StageAdvances *self);

void stage_advances_add (StageAdvances *self, guint64 at);
/* The first one that is meant for a stage, or for a later one: the last of its places is not one of
 * the @start places of the stages before. STAGE_NEVER: there is none. */
guint64 stage_advances_find (const StageAdvances *self, guint64 start, gboolean is_first);

/* Adds the keys to @dict. @passed: what was passed on by now. */
void stage_advances_describe (const StageAdvances *self, guint64 passed, GVariantDict *dict);
/* @least: places that the rest of the state speaks of. */
gboolean
stage_advances_load (StageAdvances *self, GVariant *described, guint64 least, GError **error);

G_END_DECLS
