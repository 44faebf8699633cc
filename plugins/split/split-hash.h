/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-record-batch.h>

G_BEGIN_DECLS

/* What decides the side of a record: XXH3-64, with @salt as its seed, of the bytes that the page of
 * the element gives for each type. */
guint64 split_hash_field (const DlpRecordBatch *batch,
                          guint field,
                          DlpFieldType type,
                          guint row,
                          guint64 salt);
guint64 split_hash_coordinate (const DlpCoordinate *at, guint64 salt);

G_END_DECLS
