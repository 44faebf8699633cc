/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include <dlpipe/dlp-file.h>

G_BEGIN_DECLS

/* How long to wait for what: times in microseconds. */
typedef struct
{
  gint64 first_wait; /* behind the first fault; doubled by each further one */
  gint64 budget;     /* without progress */
  guint timeout;     /* of one read or connection attempt, in seconds */
} HttpSettings;

/* One reader's view of the waits of a host, which all readers of the process share. */
typedef struct
{
  const HttpSettings *settings;
  char *host;
  char *name;         /* what is read, fit to print */
  gint64 first_fault; /* monotonic; 0: none since the last progress */
} HttpRetry;

void http_retry_init (HttpRetry *self, const HttpSettings *settings, const char *uri);
/* What is read has another name than the URI that it is asked for by. */
void http_retry_set_name (HttpRetry *self, const char *name);
void http_retry_clear (HttpRetry *self);

/* Waits until the host may be asked. FALSE: cancelled. */
gboolean http_retry_wait (HttpRetry *self, GCancellable *cancellable, GError **error);
/* Takes note of a fault that another attempt may not have; @retry_after: seconds, -1: not said.
 * Takes @cause: FALSE and it where the budget is spent. */
gboolean http_retry_note_fault (HttpRetry *self, gint64 retry_after, GError *cause, GError **error);
void http_retry_note_progress (HttpRetry *self);

G_END_DECLS
