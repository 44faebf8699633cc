/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-element.h>

G_BEGIN_DECLS

/* A record as one block of bytes: its coordinate, then each field in turn: a u64 with its size in
 * bytes, all ones for null, and its bytes. In the byte order of the machine. */

gsize dlp_record_block_get_size (DlpSchema *schema, const DlpRecordBatch *batch, guint row);
void dlp_record_block_write (DlpSchema *schema, const DlpRecordBatch *batch, guint row, guint8 *to);
/* Appends it to a pad's open record batch, ending the record there. */
void dlp_record_block_emit (DlpSchema *schema, const guint8 *block, DlpPad *pad);

/* Whether bytes from outside are one. The message does not say which record. */
gboolean dlp_record_block_check (DlpSchema *schema, const guint8 *data, gsize size, GError **error);
gsize dlp_record_block_get_max_size (DlpSchema *schema);

G_END_DECLS
