/* SPDX-License-Identifier: MIT */
#pragma once

#include "filter-expression.h"

/* Records to test expressions on: a field of each type, and one with an odd name. */

#define FILTER_N_ROWS 6

/* (transfer full): s string, b binary, f boolean, i int64, u uint64, d double, l16 and l32 lists,
 * “odd name”, string; all optional but the last. */
DlpSchema *filter_rows_schema (void);
/* (transfer full) */
DlpRecordBatch *filter_rows_new (void);
/* (transfer full): a letter a record, T, F or N, X where it failed. */
char *filter_rows_test (DlpRecordBatch *batch, const FilterExpression *expression);
