/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-record-batch.h>

#include "dedup-table.h"

G_BEGIN_DECLS

/* XXH3-128 of a value: of its bytes, of its ids, of the 8 bytes of a number, of the byte of a truth
 * value; the empty key where it is null. */
DedupKey dedup_hash (const DlpRecordBatch *batch, guint field, DlpFieldType type, guint row);

G_END_DECLS
