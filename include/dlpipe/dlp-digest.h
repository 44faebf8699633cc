/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-record-batch.h"

G_BEGIN_DECLS

/**
 * DlpDigest:
 *
 * The digest of a stream of records: sums modulo 2^128 of a 128 bit hash of each record, once with
 * and once without its position. Parts may be added up in any order. The encoding that is hashed is
 * in docs/internals/digest.md.
 */
typedef struct
{
  guint64 ordered[2];   /* low, high: with the position */
  guint64 unordered[2]; /* without */
} DlpDigest;

/* Adds rows [row, row + n), whose first has position @position. */
DLP_API void
dlp_digest_add (DlpDigest *self, const DlpRecordBatch *batch, guint row, guint n, guint64 position);
DLP_API void dlp_digest_combine (DlpDigest *self, const DlpDigest *other);
/* (transfer full): 32 hexadecimal digits of each, "ORDERED-UNORDERED". */
DLP_API char *dlp_digest_to_string (const DlpDigest *self);

G_END_DECLS
