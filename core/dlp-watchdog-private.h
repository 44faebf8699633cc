/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include <dlpipe/dlp-element.h>

#include "dlp-context-private.h"

G_BEGIN_DECLS

/* Says when a run, or what is prepared for one, has not moved for so long, and what each element
 * waits for; or makes it fail. A pause is no stall, nor is a wait that an element declared, nor
 * that of those that wait for it. One thread, beside those of the run, because each of them may be
 * the one that hangs. */
typedef struct _DlpWatchdog DlpWatchdog;

#define DLP_WATCHDOG_LIMIT (60 * G_USEC_PER_SEC)

/* That of DLPIPE_STALL_SECONDS (0: never), or DLP_WATCHDOG_LIMIT; us. */
gint64 dlp_watchdog_get_default_limit (void);

/* @elements: (element-type DlpElement): those whose steps are watched; stays as it is. @limit: us;
 * 0: never. @fails: whether a stall ends the run, by its context. */
DlpWatchdog *dlp_watchdog_new (DlpContext *context, GPtrArray *elements, gint64 limit, bool fails);
void dlp_watchdog_free (DlpWatchdog *self);

/* Outside of the elements' steps: what is being done, such as "is starting", and to which element
 * (nullable). Static text. That it begins or ends counts as movement. @self: (nullable): nothing is
 * watched; in all of these. By the run's thread, also one within the other; what is outside goes on
 * when the inner one ends. */
void dlp_watchdog_enter (DlpWatchdog *self, DlpElement *element, const char *what);
/* The same by one other thread, beside the run, where it is no movement: what comes again and again
 * must not hide that nothing else moves. */
void dlp_watchdog_enter_aside (DlpWatchdog *self, DlpElement *element, const char *what);
void dlp_watchdog_leave (DlpWatchdog *self);
/* (transfer full) (nullable): in what the run's thread is, such as "out is syncing"; not what has
 * only just begun. Any thread. */
char *dlp_watchdog_describe_phase (DlpWatchdog *self);

/* From now on a stall is said, and does not end the run. When it returns, one that did has set its
 * error. */
void dlp_watchdog_report_only (DlpWatchdog *self);

G_END_DECLS
