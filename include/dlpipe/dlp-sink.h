/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-digest.h"
#include "dlp-element.h"
#include "dlp-output-file.h"

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

  /* What waits for others ends when @cancellable (nullable) says so, with G_IO_ERROR_CANCELLED: the
   * run is stopped, or fails. A sink that was interrupted in consume() has no state: a stopped run
   * goes on from the checkpoint before; drain(), flush() and sync() are called again. What a
   * stopped run does for its last checkpoint, and a complete one in its end, is given none. */

  /* Takes rows [row, row + n) of a batch. */
  gboolean (*consume) (DlpSink *self,
                       DlpRecordBatch *batch,
                       guint row,
                       guint n,
                       GCancellable *cancellable,
                       GError **error);
  /* (nullable): the end of the stream: writes what is left, so that the state saved next is the
   * final one. May be called again after a restore. If it takes long it minds @cancellable: what it
   * has written before counts, and a run that is stopped in it goes on with it. */
  gboolean (*drain) (DlpSink *self, GCancellable *cancellable, GError **error);
  /* (nullable): hands what is buffered to the system; before save(). */
  gboolean (*flush) (DlpSink *self, GCancellable *cancellable, GError **error);
  /* (nullable): on the checkpoint thread, while consume() may run. */
  gboolean (*sync) (DlpSink *self,
                    const DlpState *state,
                    GCancellable *cancellable,
                    GError **error);
  /* (nullable): makes finished outputs visible, after a checkpoint with @state is durable.
   * @complete: the run is over; in this version it is called with TRUE only, once at the end of a
   * run, and again by a run that finds that it was complete. What was done already must be found
   * done. On the thread of the run. */
  gboolean (*publish) (DlpSink *self,
                       const DlpState *state,
                       gboolean complete,
                       GCancellable *cancellable,
                       GError **error);
  /* (nullable) (transfer full): where the output goes, for the state folder and messages; NULL: not
   * a file sink. */
  char *(*get_location) (DlpSink *self);
  /* (nullable) (transfer full): names of all files that it is going to have written,
   * NULL-terminated; before it negotiates. No two sinks may write one file, and no source reads it.
   */
  char **(*list_files) (DlpSink *self);
  /* (nullable): before the first attempt: is there output of another run in the way?
   * DLP_STATE_ERROR_FOREIGN_OUTPUT. What discard() would delete is not in the way. Deletes nothing.
   * See dlp_sink_check_files(). */
  gboolean (*check_location) (DlpSink *self, gboolean overwrite, GError **error);
  /* (nullable): when nothing is in the way of any sink: deletes what the run that --restart
   * discards has left, finished and unfinished, and nothing else; @overwrite: and what the manifest
   * of another run lists. See dlp_sink_discard_files(). */
  gboolean (*discard) (DlpSink *self, gboolean overwrite, GError **error);
  /* (nullable): whether a run may be continued: FALSE for a sink that cannot go back (standard
   * output). */
  gboolean (*is_resumable) (DlpSink *self);

  gpointer reserved[7];
};

DLP_API DlpSinkAttempt dlp_sink_get_attempt (DlpSink *self);
/* The run's identity, for unfinished files and manifests; hexadecimal. */
DLP_API const char *dlp_sink_get_run_id (DlpSink *self);
/* Whether @path is in the state folder: what is there is this run's. */
DLP_API gboolean dlp_sink_is_in_state_dir (DlpSink *self, const char *path);
/* What check_location() and discard() may delete. */
DLP_API DlpOutputClaim dlp_sink_get_claim (DlpSink *self, gboolean overwrite);
/* A check_location() and a discard() of outputs that have a manifest: @files are their final names,
 * NULL-terminated; see dlp-manifest.h. The former warns of unfinished files of other runs. */
DLP_API gboolean dlp_sink_check_files (DlpSink *self,
                                       const char *manifest,
                                       const char *const *files,
                                       gboolean overwrite,
                                       GError **error);
DLP_API gboolean dlp_sink_discard_files (DlpSink *self,
                                         const char *manifest,
                                         const char *const *files,
                                         gboolean overwrite,
                                         GError **error);
/* For publish() of a complete run: it was finished by dlp_pipeline_finish() before all of its input
 * was read. */
DLP_API gboolean dlp_sink_is_finished_early (DlpSink *self);
DLP_API DlpDigest dlp_sink_get_digest (DlpSink *self);
/* Records of which the sink's state speaks. */
DLP_API guint64 dlp_sink_get_n_records (DlpSink *self);
/* Adds to the pipeline's counter of tokens; part of the sink's state. */
DLP_API void dlp_sink_add_tokens (DlpSink *self, guint64 n);
DLP_API guint64 dlp_sink_get_n_tokens (DlpSink *self);

G_END_DECLS
