/* SPDX-License-Identifier: MIT */
#pragma once

#include "csv-row.h"

G_BEGIN_DECLS

typedef struct
{
  const char *name; /* of the column */
  gboolean may_be_absent;
} CsvWish;

/* Where the columns that are wanted lie in a file. */
typedef struct
{
  gint *fields;     /* by column */
  guint n_columns;  /* 0: the file has no row at all */
  gint *same;       /* by wish: another one of the same column, whose cell is this one's, or -1 */
  gboolean *absent; /* by wish */
  char *fault;      /* (nullable): why the file cannot be read */
  gsize fault_offset;
} CsvPlan;

/* @header: the first row, with what is before it, and 16 readable bytes behind. */
CsvPlan *csv_plan_new_from_header (const CsvDialect *dialect,
                                   const guint8 *header,
                                   gsize size,
                                   gboolean is_names,
                                   const CsvWish *wishes,
                                   guint n_wishes);
/* @names: (array length=n_names): of the columns. */
CsvPlan *csv_plan_new (const char *const *names,
                       guint n_names,
                       const char *what,
                       const CsvWish *wishes,
                       guint n_wishes);
void csv_plan_free (CsvPlan *self);

G_END_DECLS
