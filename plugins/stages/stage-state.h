/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-batcher.h>
#include <dlpipe/dlp-stages.h>

G_BEGIN_DECLS

#define STAGE_NEVER G_MAXUINT64

/* What ends a stage before its input does; 0: nothing. */
typedef struct
{
  guint64 records;
  guint64 tokens;
  guint64 batches;
  DlpBatchRule rule; /* by which batches are made behind; size 0: none are, or they come in */
} StagePlan;

/* What of a stage was passed on. */
typedef struct
{
  guint64 records;
  guint64 tokens;
  guint64 batches; /* that are whole, or were ended short and are not dropped */
} StageTally;

typedef struct
{
  guint n_stages;
  gboolean whole; /* batches come in: they are the places that are counted, not the records */
  guint stage;    /* the one records are taken from; n_stages: all are over */
  guint64 start;  /* places of all stages before it */
  guint64 open;   /* records of the batch that is not whole */
  guint32 epoch;  /* of the last record */
  StageTally tallies[];
} StageState;

StageState *stage_state_new (guint n_stages);
gsize stage_state_get_size (guint n_stages);

/* Places of all stages. */
guint64 stage_state_count_places (const StageState *self);

/* How many of rows [row, row + n) are passed on, and counted. *leave: the stage ends behind them.
 * @tokens_field: -1: tokens are not counted. @leave_at: places of all stages, behind which the
 * stage is left at the next border. */
guint stage_state_take (StageState *self,
                        const StagePlan *plan,
                        int tokens_field,
                        guint64 leave_at,
                        DlpRecordBatch *batch,
                        guint row,
                        guint n,
                        gboolean *leave);
/* The stage begins, or goes on after something was changed: whether it is to be left at once. */
gboolean stage_state_is_over (const StageState *self, const StagePlan *plan, guint64 leave_at);
/* On to the next stage. */
void stage_state_leave (StageState *self, const StagePlan *plan);

/* Adds the keys to @dict. */
void stage_state_describe (const StageState *self, GVariantDict *dict);
/* (transfer full): what a report says: of each stage its name and what was passed on. */
GVariant *stage_state_report (GVariant *described, DlpElement *element);
gboolean
stage_state_load (StageState *self, const StagePlan *plans, GVariant *described, GError **error);

G_END_DECLS
