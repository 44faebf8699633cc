/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-macros.h"

G_BEGIN_DECLS

/* A point from which an element can regenerate what follows: its state, the records it had emitted
 * on each pad, a cursor for each input. Made by core between two steps; immutable, reference
 * counted atomically. */
typedef struct _DlpMark DlpMark;

/**
 * DlpCursor:
 *
 * A position on a link: a mark of the element that feeds it, and the number of records consumed.
 * With a NULL mark the input is closed. A plain value: copied by dlp_cursor_set(), released by
 * dlp_cursor_clear().
 */
typedef struct
{
  DlpMark *mark;
  guint64 position;
} DlpCursor;

DLP_API void dlp_cursor_set (DlpCursor *self, const DlpCursor *from);
DLP_API void dlp_cursor_clear (DlpCursor *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (DlpCursor, dlp_cursor_clear)

G_END_DECLS
