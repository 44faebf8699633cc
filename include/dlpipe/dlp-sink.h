/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-digest.h"
#include "dlp-element.h"

G_BEGIN_DECLS

/* How a sink's output is begun; see dlp_sink_get_attempt(). */
typedef struct
{
  guint attempt;           /* of this run, from 1 */
  guint former_attempt;    /* whose unfinished files are continued; 0: none, begin anew */
  gboolean former_is_dead; /* proven by the lock of the state */
} DlpSinkAttempt;

/**
 * DlpSink:
 *
 * Base of elements without outputs: one input `in`. It keeps the digest of what was consumed
 * (property `digest`), and takes part in checkpoints: snapshot is save(), on the streaming thread;
 * sync() on the checkpoint thread makes what save() spoke of durable; then the checkpoint is
 * written; then publish().
 */
#define DLP_TYPE_SINK (dlp_sink_get_type ())
DLP_API
G_DECLARE_DERIVABLE_TYPE (DlpSink, dlp_sink, DLP, SINK, DlpElement)

struct _DlpSinkClass
{
  DlpElementClass parent_class;

  /* Takes rows [row, row + n) of a batch. */
  gboolean (*consume) (DlpSink *self, DlpRecordBatch *batch, guint row, guint n, GError **error);
  /* (nullable): the end of the stream: writes what is left, so that the state saved next is the
   * final one. May be called again after a restore. */
  gboolean (*drain) (DlpSink *self, GError **error);
  /* (nullable): hands what is buffered to the system; before save(). */
  gboolean (*flush) (DlpSink *self, GError **error);
  /* (nullable): on the checkpoint thread, while consume() may run. */
  gboolean (*sync) (DlpSink *self, const DlpState *state, GError **error);
  /* (nullable): makes finished outputs visible; @complete: the run is over. On the checkpoint
   * thread, after a checkpoint with @state is durable; again at start, with the state restored. */
  gboolean (*publish) (DlpSink *self, const DlpState *state, gboolean complete, GError **error);
  /* (nullable) (transfer full): where the output goes, for the state folder and messages; NULL: not
   * a file sink. */
  char *(*get_location) (DlpSink *self);
  /* (nullable): before the first attempt: is there output of another run in the way?
   * DLP_STATE_ERROR_FOREIGN_OUTPUT.
   * @overwrite: delete what its manifest lists instead. */
  gboolean (*check_location) (DlpSink *self, gboolean overwrite, GError **error);
  /* (nullable): deletes this run's own outputs, finished and unfinished (--restart). */
  gboolean (*discard) (DlpSink *self, GError **error);
  /* (nullable): whether a run may be continued: FALSE for a sink that cannot go back (standard
   * output). */
  gboolean (*is_resumable) (DlpSink *self);

  gpointer reserved[8];
};

DLP_API DlpSinkAttempt dlp_sink_get_attempt (DlpSink *self);
/* The run's identity, for manifests; hexadecimal. */
DLP_API const char *dlp_sink_get_run_id (DlpSink *self);
DLP_API DlpDigest dlp_sink_get_digest (DlpSink *self);
/* Records of which the sink's state speaks. */
DLP_API guint64 dlp_sink_get_n_records (DlpSink *self);
/* Adds to the pipeline's counter of tokens; part of the sink's state. */
DLP_API void dlp_sink_add_tokens (DlpSink *self, guint64 n);
DLP_API guint64 dlp_sink_get_n_tokens (DlpSink *self);

G_END_DECLS
