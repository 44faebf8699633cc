/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include <dlpipe/dlp-record-batch.h>
#include <dlpipe/dlp-utf8.h>

G_BEGIN_DECLS

/* As g_utf8_validate_len(), which takes U+0000 for an error. */
bool dlp_utf8_is_valid (const guint8 *text, gsize size);
/* (transfer full): @batch itself where all its strings are valid, else one of the same records with
 * their strings repaired, or NULL: they are too large now. @n_repaired: (out): how many U+FFFD came
 * in. */
DlpRecordBatch *dlp_utf8_repair_batch (DlpRecordBatch *batch, guint64 *n_repaired, GError **error);

G_END_DECLS
