/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-record-batch.h"

G_BEGIN_DECLS

#define DLP_TYPE_DIGEST (dlp_digest_get_type ())
/**
 * DlpDigest:
 * @ordered: low and high half of the sum with positions
 * @unordered: low and high half of the sum without
 *
 * The digest of a stream of records: sums modulo 2^128 of a 128 bit hash of each record, once with
 * and once without its position. Parts may be added up in any order. The digest of no record is all
 * zero. The encoding that is hashed is in docs/internals/digest.md.
 *
 * Since: 0.1
 */
typedef struct
{
  guint64 ordered[2];
  guint64 unordered[2];
} DlpDigest;

DLP_AVAILABLE_IN_0_2
GType dlp_digest_get_type (void) G_GNUC_CONST;

/**
 * dlp_digest_new:
 *
 * Makes the digest of no record.
 *
 * Threads: any, one at a time for one digest.
 *
 * Returns: (transfer full): a digest, to be freed by g_free()
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
DlpDigest *dlp_digest_new (void);

/**
 * dlp_digest_add:
 * @self: a digest
 * @batch: a record batch
 * @row: the first row
 * @n: how many
 * @position: the absolute position of row @row
 *
 * Adds rows [row, row + n), whose first has position @position.
 *
 * Threads: any, one at a time for one digest.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void
dlp_digest_add (DlpDigest *self, const DlpRecordBatch *batch, guint row, guint n, guint64 position);

/**
 * dlp_digest_combine:
 * @self: a digest
 * @other: the other one
 *
 * Adds what another digest was made of.
 *
 * Threads: any, one at a time for one digest.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_digest_combine (DlpDigest *self, const DlpDigest *other);

/**
 * dlp_digest_to_string:
 * @self: a digest
 *
 * Prints the digest.
 *
 * Threads: any, one at a time for one digest.
 *
 * Returns: (transfer full): 32 hexadecimal digits of each sum, "ORDERED-UNORDERED"
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
char *dlp_digest_to_string (const DlpDigest *self);

G_END_DECLS
