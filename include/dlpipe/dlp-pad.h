/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-cursor.h"
#include "dlp-record-batch.h"

G_BEGIN_DECLS

typedef enum
{
  DLP_PAD_INPUT,
  DLP_PAD_OUTPUT,
} DlpPadDirection;

/**
 * DlpPad:
 *
 * Where an element is joined to a link. Belongs to its element, which alone uses the functions of
 * the streaming path below, from within step(); the others may be called from any thread once the
 * graph is built.
 */
#define DLP_TYPE_PAD (dlp_pad_get_type ())
DLP_API
G_DECLARE_FINAL_TYPE (DlpPad, dlp_pad, DLP, PAD, GObject)

DLP_API const char *dlp_pad_get_name (DlpPad *self);
DLP_API DlpPadDirection dlp_pad_get_direction (DlpPad *self);
/* (transfer none) (nullable) */
DLP_API DlpPad *dlp_pad_get_peer (DlpPad *self);
DLP_API gboolean dlp_pad_is_linked (DlpPad *self);
/* (transfer none): known once the graph is built. */
DLP_API DlpSchema *dlp_pad_get_schema (DlpPad *self);
/* Of an output pad, in negotiate(). */
DLP_API void dlp_pad_set_schema (DlpPad *self, DlpSchema *schema);

/* ---- input pads, streaming path ---- */

/* (transfer none) (nullable): the record batch that is next, of which rows [*row, length) are still
 * to be consumed, at least one; NULL: nothing there now (see dlp_pad_is_over()). Valid until the
 * next call on this pad. */
DLP_API DlpRecordBatch *dlp_pad_peek (DlpPad *self, guint *row);
/* Consumes @n of the rows that peek showed. */
DLP_API void dlp_pad_consume (DlpPad *self, guint n);
/* (transfer full) (nullable): all that peek shows, consumed. */
DLP_API DlpRecordBatch *dlp_pad_take (DlpPad *self);
/* Whether no record will ever come any more: the end was reached, or the input is closed. */
DLP_API gboolean dlp_pad_is_over (DlpPad *self);
/* This input is needed no more: its producer must not wait for it, nor be restored for it. */
DLP_API void dlp_pad_close (DlpPad *self);
/* Number of records consumed, over all attempts. */
DLP_API guint64 dlp_pad_get_position (DlpPad *self);
/* The cursor behind what was consumed; dlp_cursor_clear() it. */
DLP_API void dlp_pad_get_cursor (DlpPad *self, DlpCursor *cursor);

/* ---- output pads, streaming path; none of these waits ---- */

/* Pushes a record batch (transfer full) of the pad's schema, which may be a slice. */
DLP_API void dlp_pad_push (DlpPad *self, DlpRecordBatch *batch);
/* Pushes rows without copying their columns. */
DLP_API void dlp_pad_push_rows (DlpPad *self, DlpRecordBatch *batch, guint row, guint n);
/* Copies rows to the pad's open record batch, which is pushed when it is full, or when the element
 * is about to wait and its consumer is idle. */
DLP_API void dlp_pad_append_rows (DlpPad *self, DlpRecordBatch *batch, guint row, guint n);
/* The builder of the open record batch, to append one record's fields; then dlp_pad_end_record().
 */
DLP_API DlpRecordBatchBuilder *dlp_pad_get_builder (DlpPad *self);
DLP_API void dlp_pad_end_record (DlpPad *self, const DlpCoordinate *coordinate);
/* Whether nobody will consume what is pushed: not linked, or closed by its consumer. It must be
 * emitted all the same where the element's other pads or state depend on it; positions count on. */
DLP_API gboolean dlp_pad_is_unwanted (DlpPad *self);
/* Records emitted, over all attempts, replayed ones once. */
DLP_API guint64 dlp_pad_get_emitted (DlpPad *self);

G_END_DECLS
