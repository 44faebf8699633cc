/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-record-batch.h>

/* Helpers of the tests of record batches. A value is a GBytes of its memory (8 bytes of int64,
 * uint64 and double, one of boolean), or NULL if it is null; all names begin with random_. */

DlpSchema *random_schema (GRand *rand);
/* One field of each type, all optional or none. */
DlpSchema *random_schema_all (gboolean optional);
GBytes *random_value (GRand *rand, const DlpSchema *schema, guint field);
DlpCoordinate random_coordinate (GRand *rand);
DlpRecordBatch *random_batch (GRand *rand, DlpSchema *schema, guint n);

void random_append (GRand *rand, DlpRecordBatchBuilder *builder, guint field, GBytes *value);
GBytes *random_get (const DlpRecordBatch *batch, guint field, guint row);
void random_assert_value (const DlpRecordBatch *batch, guint field, guint row, GBytes *expected);
void random_assert_equal (const DlpRecordBatch *a,
                          guint row_a,
                          const DlpRecordBatch *b,
                          guint row_b,
                          guint n);

/* n times DLPIPE_TEST_SCALE. */
guint random_scaled (guint n);
