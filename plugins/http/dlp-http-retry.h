/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "dlp-http-cache.h"

G_BEGIN_DECLS

/* How files are read over HTTP; times in microseconds where nothing else is said. */
typedef struct
{
  gint64 first_wait; /* behind the first fault; doubled by each further one */
  gint64 budget;     /* without progress */
  guint timeout;     /* of one read or connection attempt, in seconds */
  guint attempts;    /* in a row without progress; 0: as many as the budget allows */
  char *ca_file;     /* (nullable): whom to trust, in place of the system's */
  char *cache_folder;
  gint64 cache_bytes;
  HttpCache *cache; /* (nullable): of that folder */
} HttpSettings;

typedef struct _HttpHost HttpHost;

/* One reader's view of the waits of a host, which all readers of the process share. */
typedef struct
{
  const HttpSettings *settings;
  HttpHost *host;
  char *name;         /* what is read, fit to print */
  gint64 first_fault; /* monotonic; 0: none since the last progress */
  guint faults;       /* since then */
} HttpRetry;

void http_retry_init (HttpRetry *self, const HttpSettings *settings, const char *uri);
/* What is read has another name than the URI that it is asked for by. */
void http_retry_set_name (HttpRetry *self, const char *name);
void http_retry_clear (HttpRetry *self);

/* How long the host is to be left alone, in microseconds. */
gint64 http_retry_get_wait (HttpRetry *self);
/* Waits until the host may be asked. FALSE: cancelled. */
gboolean http_retry_wait (HttpRetry *self, GCancellable *cancellable, GError **error);
/* Takes note of a fault that another attempt may not have; @retry_after: seconds, -1: not said.
 * Takes @cause: FALSE and it where the budget is spent. */
gboolean http_retry_note_fault (HttpRetry *self, gint64 retry_after, GError *cause, GError **error);
void http_retry_note_progress (HttpRetry *self);

G_END_DECLS
