/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlpipe.h>

G_BEGIN_DECLS

/* What a rank got out of a graph. */
typedef struct
{
  GPtrArray *lines; /* a batch each, as make-configs.py writes them, without the newline */
  guint64 records;
  GError *error; /* what the run ended with */
} OrderOutcome;

void order_outcome_init (OrderOutcome *self);
void order_outcome_clear (OrderOutcome *self);

/* (transfer full): the lines in one text, each with its newline. */
char *order_outcome_join (const OrderOutcome *self);

/* As the @number-th run is driven, which changes nothing of what comes out. */
void order_run_set_up (DlpPipeline *pipeline, guint number);
/* Runs until the program has that many batches, or to the end. (transfer full) (nullable): the
 * state behind them; NULL: it came to its end. */
GBytes *order_run (OrderOutcome *self, DlpPipeline *pipeline, guint n_batches);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (OrderOutcome, order_outcome_clear)

G_END_DECLS
