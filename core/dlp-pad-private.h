/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-element.h>

#include "dlp-mark-private.h"
#include "dlp-queue-private.h"
#include "dlp-record-batch-private.h"

G_BEGIN_DECLS

/* Steps without a record batch on a pad before core sends an empty one with a newer mark. */
#define DLP_PAD_PATIENCE 64

struct _DlpPad
{
  GObject parent_instance;

  DlpElement *element; /* owns the pad */
  char *name;
  DlpPadDirection direction;
  bool optional;
  bool whole; /* training batches: not cut, not merged */
  DlpPad *peer;
  DlpQueue *link; /* shared with the peer, owned by the output pad; NULL: not linked */
  DlpSchema *schema;
  bool over;   /* input: ended or closed */
  bool closed; /* input: by dlp_pad_close() */
  bool faulty; /* output: the builder has a fault, nothing more comes out */
  /* Atomic; input that is closed, or of an element that has ended: it saw the end of its stream.
   * Closed without that, the stream was ended early. */
  bool drained;

  /* Input: the batch being read and the cursor behind what was consumed. */
  DlpRecordBatch *reading;
  guint row;
  DlpCursor cursor;
  guint64 marked; /* the serial of the producer's mark that the last mark here refers to */

  /* Output. */
  guint64 emitted; /* written by the element's thread, read by others (relaxed) */
  guint64 wanted;  /* after a restore: drop below this position */
  guint64 seen;    /* of training batches: what sinks had below it, through what is in between */
  bool torn;       /* what begins below it ends above it */
  bool restored;   /* emitted is that of a state */
  DlpRecordBatchBuilder *builder;
  gsize batch_bytes;     /* an open record batch of so many is pushed */
  DlpMark *open_mark;    /* of the builder's first record */
  guint64 open_position; /* of the builder's first record */
  DlpRecordBatch *empty; /* of length 0, made once */
  guint quiet;           /* steps since the last record batch */
  guint seen_wish;       /* DlpContext.checkpoint_wish at the last record batch */

  guint64 bytes;     /* atomic, relaxed: pushed, of this attempt */
  guint64 n_batches; /* atomic, relaxed */
  guint64 wait_time; /* atomic, relaxed: ns the element waited for this pad */
  guint64 known;     /* atomic, relaxed: input position or emitted, for progress */
};

DlpPad *
dlp_pad_new (DlpElement *element, const char *name, DlpPadDirection direction, bool optional);
/* Joins an output to an input pad by a new link. */
void dlp_pad_link (DlpPad *output, DlpPad *input);
/* @max_bytes counts what is queued, @batch_bytes what is put together here. */
void
dlp_pad_set_link_limits (DlpPad *output, guint max_batches, gsize max_bytes, gsize batch_bytes);
/* Before the run: where the consumer goes on, and so what the producer drops. */
void dlp_pad_restore_input (DlpPad *input, DlpMark *producer_mark, guint64 position);
/* @position: how much was consumed before it was closed. */
void dlp_pad_restore_closed (DlpPad *input, bool drained, guint64 position);

/* Closes it, as having consumed that much; more was taken, and is dropped. */
void dlp_pad_close_at (DlpPad *input, guint64 position);

/* Pushes the open record batch, if there is one. */
void dlp_pad_flush (DlpPad *output);
/* The same, if the consumer has nothing to do. */
void dlp_pad_flush_if_idle (DlpPad *output);
void dlp_pad_end (DlpPad *output);
/* Breaks off instead, with what happened and to whom. */
void dlp_pad_fail (DlpPad *output, const GError *error, DlpElement *failed_by);
/* A record that was begun and not ended is a fault. */
void dlp_pad_check_ended (DlpPad *output);
/* (transfer full): the error of a fault in what was to be record number @record of the pad. */
GError *dlp_pad_explain_fault (DlpPad *output, guint64 record, const DlpRecordFault *fault);
/* (transfer full): of an output pad that is faulty. */
GError *dlp_pad_get_fault (DlpPad *output);
/* An empty record batch carrying @mark (transfer none). */
void dlp_pad_push_mark (DlpPad *output, DlpMark *mark);
/* Input: takes the next record batch off the link if none is being read; FALSE: nothing there. */
bool dlp_pad_fill (DlpPad *input);

static inline void
dlp_stat_add (guint64 *stat, guint64 n)
{
  __atomic_store_n (stat, __atomic_load_n (stat, __ATOMIC_RELAXED) + n, __ATOMIC_RELAXED);
}

static inline guint64
dlp_stat_get (const guint64 *stat)
{
  return __atomic_load_n (stat, __ATOMIC_RELAXED);
}

G_END_DECLS
