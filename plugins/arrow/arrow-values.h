/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-record-batch.h>

#include "arrow-plan.h"
#include "reader-list.h"

G_BEGIN_DECLS

typedef enum
{
  ARROW_ROW_GOOD,
  ARROW_ROW_BAD,
  ARROW_ROW_DAMAGED, /* the file is, from this row on */
} ArrowRowResult;

/* A row of a record batch, and what becomes of it. */
typedef struct
{
  const struct ArrowArray *batch;
  gint64 row;
  DlpRecordBatchBuilder *builder;
  ReaderList *list;
  gsize bytes; /* of its values so far */
  gsize max_bytes;
  const char *kind; /* of a bad record */
  char *message;    /* what is wrong with it, or with the file */
} ArrowRow;

/* Its value becomes that of field @index. */
ArrowRowResult arrow_column_append (const ArrowColumn *self, ArrowRow *row, guint index);

/* (transfer full): the row as JSON, of the columns that are wanted, at most @max_bytes of it. */
GString *arrow_plan_show_row (const ArrowPlan *plan,
                              const struct ArrowArray *batch,
                              gint64 row,
                              gsize max_bytes);

G_END_DECLS
