/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-element.h>

G_BEGIN_DECLS

/* Says when a run has not moved for a minute (DLPIPE_STALL_SECONDS; 0: never), and what each
 * element waits for. A pause is no stall, nor is a wait that an element declared. One thread,
 * beside those of the run, because each of them may be the one that hangs. */
typedef struct _DlpWatchdog DlpWatchdog;

/* @elements: (element-type DlpElement): stays as it is. */
DlpWatchdog *dlp_watchdog_new (GPtrArray *elements);
void dlp_watchdog_free (DlpWatchdog *self);

/* Outside of the elements' steps: what is being done, such as "is starting", and to which element
 * (nullable). Static text. */
void dlp_watchdog_enter (DlpWatchdog *self, DlpElement *element, const char *what);
void dlp_watchdog_leave (DlpWatchdog *self);

G_END_DECLS
