/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "dedup-filter.h"

G_BEGIN_DECLS

/* Slots that are read at once to look for a key: 4 KiB. */
#define DEDUP_PAGE 256

/* Keys in a file: a table like that in memory, written once, from its beginning to its end. */
typedef struct
{
  int fd;
  guint64 capacity; /* places */
  guint64 n_slots;  /* those that were written: no key is behind them */
  guint64 n_keys;
  DedupFilter filter;
} DedupRun;

/* Takes @fd, of an empty file. */
DedupRun *dedup_run_new (int fd, guint64 n_keys, gsize max_filter_bytes);
void dedup_run_free (DedupRun *self);
/* The filter does not know the key to be absent. */
gboolean dedup_run_may_contain (const DedupRun *self, const DedupKey *key);
/* Has the page that the key would be in read, without waiting for it. */
void dedup_run_advise (const DedupRun *self, const DedupKey *key);
/* @page: room for DEDUP_PAGE slots. FALSE: it could not be read. */
gboolean dedup_run_contains (const DedupRun *self,
                             const DedupKey *key,
                             DedupKey *page,
                             gboolean *found,
                             GError **error);

/* Writes the keys of a run, which come in order. */
typedef struct
{
  DedupRun *run;
  DedupKey *buffer;
  gsize n_buffer;  /* slots it has room for */
  gsize n_held;    /* in the buffer */
  guint64 written; /* slots */
} DedupRunWriter;

void dedup_run_writer_init (DedupRunWriter *self, DedupRun *run, gsize n_buffer);
void dedup_run_writer_clear (DedupRunWriter *self);
gboolean dedup_run_writer_add (DedupRunWriter *self, const DedupKey *key, GError **error);
gboolean dedup_run_writer_finish (DedupRunWriter *self, GError **error);

/* Reads the keys of a run, in order. */
typedef struct
{
  const DedupRun *run;
  DedupKey *buffer;
  gsize n_buffer; /* slots it has room for */
  gsize n_held, at;
  guint64 next; /* slot to be read */
} DedupRunReader;

void dedup_run_reader_init (DedupRunReader *self, const DedupRun *run, gsize n_buffer);
void dedup_run_reader_clear (DedupRunReader *self);
/* *key: (transfer none), valid until the next call; NULL: the end. */
gboolean dedup_run_reader_next (DedupRunReader *self, const DedupKey **key, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DedupRun, dedup_run_free)

G_END_DECLS
