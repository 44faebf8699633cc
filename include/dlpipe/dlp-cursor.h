/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-macros.h"

G_BEGIN_DECLS

#define DLP_TYPE_MARK (dlp_mark_get_type ())
#define DLP_TYPE_CURSOR (dlp_cursor_get_type ())

/**
 * DlpMark:
 *
 * A point from which an element can regenerate what follows: its state, the records it had emitted
 * on each pad, a cursor for each input. Made by the library between two steps; immutable, reference
 * counted atomically.
 *
 * Since: 0.1
 */
typedef struct _DlpMark DlpMark;

/**
 * DlpCursor:
 * @mark: (nullable): a mark of the element that feeds the link; %NULL: the input is closed
 * @position: the number of records consumed from the link
 *
 * A position on a link. A plain value: copied by dlp_cursor_set(), released by dlp_cursor_clear().
 *
 * Since: 0.1
 */
typedef struct
{
  DlpMark *mark;
  guint64 position;
} DlpCursor;

DLP_AVAILABLE_IN_0_2
GType dlp_mark_get_type (void) G_GNUC_CONST;
DLP_AVAILABLE_IN_0_2
GType dlp_cursor_get_type (void) G_GNUC_CONST;

/**
 * dlp_cursor_set:
 * @self: a cursor that was cleared, zeroed or set before
 * @from: a cursor
 *
 * Makes @self a copy of @from, with a reference of its own to the mark.
 *
 * Threads: one at a time.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_cursor_set (DlpCursor *self, const DlpCursor *from);

/**
 * dlp_cursor_clear:
 * @self: a cursor
 *
 * Releases the mark and zeroes the cursor.
 *
 * Threads: one at a time.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_cursor_clear (DlpCursor *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (DlpCursor, dlp_cursor_clear)

G_END_DECLS
