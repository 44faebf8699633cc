/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-state-file.h>

#include "dedup-table.h"

G_BEGIN_DECLS

/* The hashes of all records that were kept, in their order: files of the state, one for each
 * attempt, of which the last one is appended to. A place in it is the number of hashes before it.
 * The element's thread appends; any may describe what was there. */
typedef struct _DedupLog DedupLog;

/* A point of the log: what was there then. */
typedef struct
{
  guint64 n_keys;
  guint64 hash[2];   /* of the bytes of this attempt's file; high, low */
  gboolean is_begun; /* dedup_log_begin() was called */
} DedupLogMark;

/* What gets the hashes that are read. */
typedef gboolean (*DedupLogFunc) (const DedupKey *keys, gsize n, gpointer data, GError **error);

DedupLog *dedup_log_new (DlpElement *element);
void dedup_log_free (DedupLog *self);

/* Opens the files that a state names, of type a(sts), which have to have @n_keys hashes. */
gboolean dedup_log_load (DedupLog *self, GVariant *files, guint64 n_keys, GError **error);
/* Gives all that is there to @func, and begins a file of this attempt. */
gboolean dedup_log_begin (DedupLog *self,
                          DedupLogFunc func,
                          gpointer data,
                          GCancellable *cancellable,
                          GError **error);
gboolean dedup_log_append (DedupLog *self, const DedupKey *keys, gsize n, GError **error);
void dedup_log_get_mark (const DedupLog *self, DedupLogMark *mark);
/* (transfer floating): a(sts), what had been logged at @mark. */
GVariant *dedup_log_describe (const DedupLog *self, const DedupLogMark *mark);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DedupLog, dedup_log_free)

G_END_DECLS
