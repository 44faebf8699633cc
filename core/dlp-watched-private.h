/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include <dlpipe/dlp-element.h>

G_BEGIN_DECLS

/* The elements of a run as the watchdog sees them; its thread's own. */
typedef struct _DlpWatched DlpWatched;

/* @elements: (element-type DlpElement): stay as they are. */
DlpWatched *dlp_watched_new (GPtrArray *elements);
void dlp_watched_free (DlpWatched *self);

/* Anything that moves changes it. */
guint64 dlp_watched_measure (DlpWatched *self);
void dlp_watched_note_movement (DlpWatched *self);
/* Where nothing has moved for @passed us more: for how long one of them has hung that a declared
 * wait does not excuse. *declared: one of them declared a wait. */
gint64 dlp_watched_look (DlpWatched *self, gint64 passed, bool *declared);
/* Appends those that have hung for @limit us at least. Those that wait for a neighbour are named
 * only where none hangs by itself. *first: (nullable): set to the first one that does. */
void dlp_watched_say (DlpWatched *self, gint64 limit, GString *text, DlpElement **first);

bool dlp_watched_is_declared (DlpElement *element);

G_END_DECLS
