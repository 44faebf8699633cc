/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-fanout-plan-private.h"

G_BEGIN_DECLS

/* What reading a plan shares with making one. */
DlpFanoutPlan *dlp_fanout_plan_alloc (void);
void dlp_fanout_source_free (gpointer source);
/* Sums up what the sources have. */
void dlp_fanout_plan_count (DlpFanoutPlan *self);
/* A plan is about to be written: whatever is known of one of that name counts no more. */
void dlp_fanout_plan_forget_places (void);

G_END_DECLS
