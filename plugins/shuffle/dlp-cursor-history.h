/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-element.h>

G_BEGIN_DECLS

#define DLP_CURSOR_HISTORY_MAX 64

/* Some of the cursors that an input had, by position, to replay from: never more than there is room
 * for, thinned where they are densest. Plain; zeroed it is empty. */
typedef struct
{
  DlpCursor cursors[DLP_CURSOR_HISTORY_MAX];
  guint n;
} DlpCursorHistory;

/* What lies before @oldest is needed no more, but for the last such one. */
void dlp_cursor_history_add (DlpCursorHistory *self, const DlpCursor *cursor, guint64 oldest);
/* (transfer none) (nullable): the last one that is not after @oldest, or the first. */
const DlpCursor *dlp_cursor_history_find (const DlpCursorHistory *self, guint64 oldest);
void dlp_cursor_history_clear (DlpCursorHistory *self);

G_END_DECLS
