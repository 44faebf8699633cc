/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-batch.h"
#include "dlp-cursor.h"
#include "dlp-record-batch.h"

G_BEGIN_DECLS

/**
 * DlpPadDirection:
 * @DLP_PAD_INPUT: records come in
 * @DLP_PAD_OUTPUT: records go out
 *
 * The direction of a pad.
 *
 * Since: 0.1
 */
typedef enum
{
  DLP_PAD_INPUT,
  DLP_PAD_OUTPUT,
} DlpPadDirection;

#define DLP_TYPE_PAD_DIRECTION (dlp_pad_direction_get_type ())
DLP_AVAILABLE_IN_0_2
GType dlp_pad_direction_get_type (void) G_GNUC_CONST;

#define DLP_TYPE_PAD (dlp_pad_get_type ())
/**
 * DlpPad:
 *
 * Where an element is joined to a link. Belongs to its element, which alone uses the functions of
 * the streaming path, from within step(); the others may be called from any thread once the graph
 * is built.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
G_DECLARE_FINAL_TYPE (DlpPad, dlp_pad, DLP, PAD, GObject)

/**
 * dlp_pad_get_name:
 * @self: a pad
 *
 * Gets the name of the pad.
 *
 * Threads: any, once the graph is built.
 *
 * Returns: (transfer none): a name
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
const char *dlp_pad_get_name (DlpPad *self);

/**
 * dlp_pad_get_direction:
 * @self: a pad
 *
 * Gets the direction of the pad.
 *
 * Threads: any, once the graph is built.
 *
 * Returns: a direction
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpPadDirection dlp_pad_get_direction (DlpPad *self);

/**
 * dlp_pad_get_peer:
 * @self: a pad
 *
 * Gets the pad at the other end of the link.
 *
 * Threads: any, once the graph is built.
 *
 * Returns: (transfer none) (nullable): a pad; %NULL: it is not linked
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpPad *dlp_pad_get_peer (DlpPad *self);

/**
 * dlp_pad_is_linked:
 * @self: a pad
 *
 * Gets whether the pad is linked.
 *
 * Threads: any, once the graph is built.
 *
 * Returns: whether it is
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_pad_is_linked (DlpPad *self);

/**
 * dlp_pad_get_schema:
 * @self: a pad
 *
 * Gets what the link carries; of an input pad known in negotiate().
 *
 * Threads: any, once the graph is built.
 *
 * Returns: (transfer none) (nullable): a schema; %NULL: not known yet
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpSchema *dlp_pad_get_schema (DlpPad *self);

/**
 * dlp_pad_set_schema:
 * @self: a pad
 * @schema: a schema
 *
 * Sets what an output pad gives, in negotiate().
 *
 * Threads: the one that builds the pipeline.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_pad_set_schema (DlpPad *self, DlpSchema *schema);

/* ---- input pads, streaming path ---- */

/**
 * dlp_pad_peek:
 * @self: a pad
 * @row: (out): the first row that is to be consumed
 *
 * Looks at the record batch that is next, of which rows [row, length) are still to be consumed, at
 * least one. Valid until the next call on this pad. A training batch is consumed as a whole.
 *
 * Threads: the element's.
 *
 * Returns: (transfer none) (nullable): a record batch; %NULL: nothing there now (see
 *   dlp_pad_is_over())
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpRecordBatch *dlp_pad_peek (DlpPad *self, guint *row);

/**
 * dlp_pad_consume:
 * @self: a pad
 * @n: how many
 *
 * Consumes rows that dlp_pad_peek() showed.
 *
 * Threads: the element's.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_pad_consume (DlpPad *self, guint n);

/**
 * dlp_pad_take:
 * @self: a pad
 *
 * Consumes all that dlp_pad_peek() shows.
 *
 * Threads: the element's.
 *
 * Returns: (transfer full) (nullable): a record batch; %NULL: nothing there now
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpRecordBatch *dlp_pad_take (DlpPad *self);

/**
 * dlp_pad_is_over:
 * @self: a pad
 *
 * Gets whether no record will ever come any more: the end was reached, or the input is closed.
 *
 * Threads: the element's.
 *
 * Returns: whether it is over
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_pad_is_over (DlpPad *self);

/**
 * dlp_pad_close:
 * @self: a pad
 *
 * Says that this input is needed no more: its producer must not wait for it, nor be restored for
 * it.
 *
 * Threads: the element's.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_pad_close (DlpPad *self);

/**
 * dlp_pad_get_position:
 * @self: a pad
 *
 * Gets the number of records consumed, over all attempts.
 *
 * Threads: the element's.
 *
 * Returns: how many
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
guint64 dlp_pad_get_position (DlpPad *self);

/**
 * dlp_pad_get_cursor:
 * @self: a pad
 * @cursor: (out caller-allocates): a cursor, cleared or set before; dlp_cursor_clear() it
 *
 * Gets the cursor behind what was consumed.
 *
 * Threads: the element's.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_pad_get_cursor (DlpPad *self, DlpCursor *cursor);

/* ---- output pads, streaming path; none of these waits ---- */

/**
 * dlp_pad_push:
 * @self: a pad
 * @batch: (transfer full): a record batch
 *
 * Pushes a record batch of the pad's schema, which may be a slice.
 *
 * Threads: the element's.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_pad_push (DlpPad *self, DlpRecordBatch *batch);

/**
 * dlp_pad_push_rows:
 * @self: a pad
 * @batch: a record batch
 * @row: the first row
 * @n: how many
 *
 * Pushes rows without copying their columns.
 *
 * Threads: the element's.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_pad_push_rows (DlpPad *self, DlpRecordBatch *batch, guint row, guint n);

/**
 * dlp_pad_append_rows:
 * @self: a pad
 * @batch: a record batch
 * @row: the first row
 * @n: how many
 *
 * Copies rows to the pad's open record batch, which is pushed when it is full, or when the element
 * is about to wait and its consumer is idle.
 *
 * Threads: the element's.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_pad_append_rows (DlpPad *self, DlpRecordBatch *batch, guint row, guint n);

/**
 * dlp_pad_get_builder:
 * @self: a pad
 *
 * Gets the builder of the open record batch, to append one record's fields; then
 * dlp_pad_end_record().
 *
 * Threads: the element's.
 *
 * Returns: (transfer none): a builder
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpRecordBatchBuilder *dlp_pad_get_builder (DlpPad *self);

/**
 * dlp_pad_end_record:
 * @self: a pad
 * @coordinate: where the record comes from
 *
 * Ends the record whose fields were appended to the builder.
 *
 * Threads: the element's.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_pad_end_record (DlpPad *self, const DlpCoordinate *coordinate);

/**
 * dlp_pad_push_batch:
 * @self: a pad whose schema is of the kind %DLP_SCHEMA_BATCHES
 * @batch: (transfer full): a training batch of the pad's schema
 * @info: what is known of it
 *
 * Pushes a training batch, which is never cut or merged. It takes as many places on the link as it
 * stands for batches, those of other ranks included. Here the other functions that push take whole
 * batches only, and leave what was known of them as it was.
 *
 * Threads: the element's.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_pad_push_batch (DlpPad *self, DlpRecordBatch *batch, const DlpBatchInfo *info);

/**
 * dlp_pad_is_unwanted:
 * @self: a pad
 *
 * Gets whether nobody will consume what is pushed: not linked, or closed by its consumer. It must
 * be emitted all the same where the element's other pads or state depend on it; positions count on.
 *
 * Threads: the element's.
 *
 * Returns: whether it is unwanted
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_pad_is_unwanted (DlpPad *self);

/**
 * dlp_pad_get_emitted:
 * @self: a pad
 *
 * Gets the number of records emitted, over all attempts, replayed ones once.
 *
 * Threads: the element's.
 *
 * Returns: how many
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
guint64 dlp_pad_get_emitted (DlpPad *self);

/**
 * dlp_pad_check_emitted:
 * @self: an output pad
 * @key: a key of the element's state
 * @value: its value
 * @error: return location for an error
 *
 * For load() of an element whose state counts what left by a pad: it must be what was emitted by
 * then (of training batches, those of all ranks). Of an element that has ended nothing is known.
 *
 * Threads: the one that prepares the pipeline.
 *
 * Returns: %FALSE with %DLP_STATE_ERROR_CORRUPT
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean dlp_pad_check_emitted (DlpPad *self, const char *key, guint64 value, GError **error);

G_END_DECLS
