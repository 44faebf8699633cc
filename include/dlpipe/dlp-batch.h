/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-digest.h"

G_BEGIN_DECLS

#define DLP_TYPE_BATCH_INFO (dlp_batch_info_get_type ())
/**
 * DlpBatchInfo:
 * @index: the global index of the training batch, from 0: the same whatever the world size
 * @n_batches: the global batches that it stands for: its own, and those that other ranks have of
 * the same step
 * @records: records of all of these
 * @tokens: ids in the field `tokens` of all of these
 * @digest: the digest of all of these
 *
 * What is known of a training batch, which is a record batch on a link of the kind
 * %DLP_SCHEMA_BATCHES. Where several ranks share a stream, each step gives one batch to each rank,
 * and what a rank's batch says of the step is the same on all of them. A plain value; one of zeros
 * stands for nothing yet.
 *
 * Since: 0.2
 */
typedef struct
{
  guint64 index;
  guint64 n_batches;
  guint64 records;
  guint64 tokens;
  DlpDigest digest;
} DlpBatchInfo;

DLP_AVAILABLE_IN_0_2
GType dlp_batch_info_get_type (void) G_GNUC_CONST;

/**
 * dlp_batch_info_add_rows:
 * @self: what is known of one batch, with its index
 * @batch: a record batch
 * @row: the first row
 * @n: how many
 *
 * Adds records to what is known of a batch, in their order. In the digest the position of a record
 * is the index of the batch times 2^32, and its number within the batch.
 *
 * Threads: any, one at a time for one value.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_batch_info_add_rows (DlpBatchInfo *self, const DlpRecordBatch *batch, guint row, guint n);

/**
 * dlp_batch_info_add_batch:
 * @self: what is known of a step
 * @batch: what is known of a whole batch
 *
 * Adds a batch to a step: all but the index, which stays.
 *
 * Threads: any, one at a time for one value.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_batch_info_add_batch (DlpBatchInfo *self, const DlpBatchInfo *batch);

/**
 * dlp_record_batch_get_batch_info:
 * @self: a record batch
 *
 * Gets what is known of a training batch, and of the step that it is of.
 *
 * Threads: any.
 *
 * Returns: (transfer none) (nullable): what is known; %NULL: it is no training batch
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
const DlpBatchInfo *dlp_record_batch_get_batch_info (const DlpRecordBatch *self);

G_END_DECLS
