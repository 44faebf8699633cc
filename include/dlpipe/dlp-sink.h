/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-digest.h"
#include "dlp-element.h"
#include "dlp-merge.h"
#include "dlp-output-file.h"

G_BEGIN_DECLS

#define DLP_TYPE_SINK_ATTEMPT (dlp_sink_attempt_get_type ())
/**
 * DlpSinkAttempt:
 * @attempt: of this run, from 1
 * @former_attempt: whose unfinished files are continued; 0: none, begin anew
 * @former_is_dead: proven by the lock of the state
 *
 * How a sink's output is begun. A plain value.
 *
 * Since: 0.1
 */
typedef struct
{
  guint attempt;
  guint former_attempt;
  gboolean former_is_dead;
} DlpSinkAttempt;

DLP_AVAILABLE_IN_0_2
GType dlp_sink_attempt_get_type (void) G_GNUC_CONST;

#define DLP_TYPE_SINK (dlp_sink_get_type ())
/**
 * DlpSink:
 *
 * Base of elements without outputs: one input `in`. It keeps the digest of what was consumed, and
 * takes part in checkpoints: snapshot is save(), on the streaming thread; sync() on the checkpoint
 * thread makes what save() spoke of durable; then the checkpoint is written; then publish().
 *
 * What waits for others ends when its cancellable says so, with %G_IO_ERROR_CANCELLED: the run is
 * stopped, or fails. A sink that was interrupted in consume() has no state: a stopped run goes on
 * from the checkpoint before; drain(), flush() and sync() are called again. What a stopped run does
 * for its last checkpoint, and a complete one in its end, is given none.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
G_DECLARE_DERIVABLE_TYPE (DlpSink, dlp_sink, DLP, SINK, DlpElement)

/**
 * DlpSink:digest:
 *
 * Whether a digest of the records is kept, by which two runs are compared.
 *
 * Since: 0.1
 */

/**
 * DlpSinkClass:
 * @parent_class: the parent class
 * @consume: takes rows
 * @drain: the end of the stream
 * @flush: before save()
 * @sync: makes what save() spoke of durable
 * @publish: makes finished outputs visible
 * @get_location: where the output goes
 * @list_files: what is written
 * @check_location: whether something is in the way
 * @discard: deletes what is in the way
 * @is_resumable: whether a run may be continued
 * @check_merge: whether its outputs may become one
 * @merge: makes one output of several
 *
 * The class of sinks, with room for five further virtual functions.
 *
 * Since: 0.1
 */
struct _DlpSinkClass
{
  DlpElementClass parent_class;

  /**
   * DlpSinkClass::consume:
   * @self: a sink
   * @batch: a record batch
   * @row: the first row
   * @n: how many
   * @cancellable: (nullable): a cancellable
   * @error: return location for an error
   *
   * Takes rows [row, row + n) of a batch.
   *
   * Threads: the streaming thread of the sink.
   *
   * Returns: %FALSE with an error
   *
   * Since: 0.1
   */
  gboolean (*consume) (DlpSink *self,
                       DlpRecordBatch *batch,
                       guint row,
                       guint n,
                       GCancellable *cancellable,
                       GError **error);
  /**
   * DlpSinkClass::drain:
   * @self: a sink
   * @cancellable: (nullable): a cancellable
   * @error: return location for an error
   *
   * Optional: the end of the stream: writes what is left, so that the state saved next is the final
   * one. May be called again after a restore. If it takes long it minds @cancellable: what it has
   * written before counts, and a run that is stopped in it goes on with it.
   *
   * Threads: the streaming thread of the sink.
   *
   * Returns: %FALSE with an error
   *
   * Since: 0.1
   */
  gboolean (*drain) (DlpSink *self, GCancellable *cancellable, GError **error);
  /**
   * DlpSinkClass::flush:
   * @self: a sink
   * @cancellable: (nullable): a cancellable
   * @error: return location for an error
   *
   * Optional: hands what is buffered to the system; before save().
   *
   * Threads: the streaming thread of the sink.
   *
   * Returns: %FALSE with an error
   *
   * Since: 0.1
   */
  gboolean (*flush) (DlpSink *self, GCancellable *cancellable, GError **error);
  /**
   * DlpSinkClass::sync:
   * @self: a sink
   * @state: a state that save() gave
   * @cancellable: (nullable): a cancellable
   * @error: return location for an error
   *
   * Optional: makes what save() spoke of durable.
   *
   * Threads: the checkpoint thread, while consume() may run.
   *
   * Returns: %FALSE with an error
   *
   * Since: 0.1
   */
  gboolean (*sync) (DlpSink *self,
                    const DlpState *state,
                    GCancellable *cancellable,
                    GError **error);
  /**
   * DlpSinkClass::publish:
   * @self: a sink
   * @state: a state that save() gave
   * @complete: the run is over; in this version it is called with %TRUE only, once at the end of a
   *   run, and again by a run that finds that it was complete
   * @cancellable: (nullable): a cancellable
   * @error: return location for an error
   *
   * Optional: makes finished outputs visible, after a checkpoint with @state is durable. What was
   * done already must be found done.
   *
   * Threads: that of the run.
   *
   * Returns: %FALSE with an error
   *
   * Since: 0.1
   */
  gboolean (*publish) (DlpSink *self,
                       const DlpState *state,
                       gboolean complete,
                       GCancellable *cancellable,
                       GError **error);
  /**
   * DlpSinkClass::get_location:
   * @self: a sink
   *
   * Optional: where the output goes, for the state folder and messages.
   *
   * Threads: any.
   *
   * Returns: (nullable) (transfer full) (type filename): a path; %NULL: not a file sink
   *
   * Since: 0.1
   */
  char *(*get_location) (DlpSink *self);
  /**
   * DlpSinkClass::list_files:
   * @self: a sink
   *
   * Optional: names of all files that it is going to have written; before it negotiates. No two
   * sinks may write one file, and no source reads it.
   *
   * Threads: the one that prepares the pipeline.
   *
   * Returns: (nullable) (transfer full) (array zero-terminated=1) (element-type filename): paths
   *
   * Since: 0.1
   */
  char **(*list_files) (DlpSink *self);
  /**
   * DlpSinkClass::check_location:
   * @self: a sink
   * @overwrite: whether the output of another run may be replaced
   * @error: return location for an error
   *
   * Optional: before the first attempt: is there output of another run in the way? What discard()
   * would delete is not in the way. Deletes nothing. See dlp_sink_check_files().
   *
   * Threads: the one that prepares the pipeline.
   *
   * Returns: %FALSE with %DLP_STATE_ERROR_FOREIGN_OUTPUT
   *
   * Since: 0.1
   */
  gboolean (*check_location) (DlpSink *self, gboolean overwrite, GError **error);
  /**
   * DlpSinkClass::discard:
   * @self: a sink
   * @overwrite: and what the manifest of another run lists
   * @error: return location for an error
   *
   * Optional: when nothing is in the way of any sink: deletes what the run that --restart discards
   * has left, finished and unfinished, and nothing else. See dlp_sink_discard_files().
   *
   * Threads: the one that prepares the pipeline.
   *
   * Returns: %FALSE with an error
   *
   * Since: 0.1
   */
  gboolean (*discard) (DlpSink *self, gboolean overwrite, GError **error);
  /**
   * DlpSinkClass::is_resumable:
   * @self: a sink
   *
   * Optional: whether a run may be continued: %FALSE for a sink that cannot go back (standard
   * output).
   *
   * Threads: the one that prepares the pipeline.
   *
   * Returns: whether it may
   *
   * Since: 0.1
   */
  gboolean (*is_resumable) (DlpSink *self);
  /**
   * DlpSinkClass::check_merge:
   * @self: a sink
   * @error: return location for an error
   *
   * Optional, where there is a merge(): whether it can merge, as it is set; asked before anything
   * is run.
   *
   * Threads: the one that prepares the pipeline.
   *
   * Returns: %FALSE with an error
   *
   * Since: 0.2
   */
  gboolean (*check_merge) (DlpSink *self, GError **error);
  /**
   * DlpSinkClass::merge:
   * @self: a sink that is not run, with the properties of those that have written the parts
   * @merge: the parts, and where their whole is written
   * @error: return location for an error
   *
   * Optional: writes the files of the whole, which has the records of the parts in their order. See
   * #DlpMerge. Ended in the middle, it is called again from the beginning.
   *
   * Threads: that of the fan-out, or another one that has the sink for itself.
   *
   * Returns: %FALSE with an error
   *
   * Since: 0.2
   */
  gboolean (*merge) (DlpSink *self, DlpMerge *merge, GError **error);

  /*< private >*/
  gpointer reserved[5];
};

/**
 * dlp_sink_get_attempt:
 * @self: a sink
 * @attempt: (out caller-allocates): the attempt
 *
 * Gets how the output is begun.
 *
 * Threads: the element's, from start() on.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_sink_get_attempt (DlpSink *self, DlpSinkAttempt *attempt);

/**
 * dlp_sink_get_run_id:
 * @self: a sink
 *
 * Gets the run's identity, for unfinished files and manifests.
 *
 * Threads: any, from when the pipeline is prepared.
 *
 * Returns: (transfer none): a hexadecimal number
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
const char *dlp_sink_get_run_id (DlpSink *self);

/**
 * dlp_sink_is_in_state_dir:
 * @self: a sink
 * @path: (type filename): a path
 *
 * Gets whether @path is in the state folder: what is there is this run's.
 *
 * Threads: any, from when the pipeline is prepared.
 *
 * Returns: whether it is
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_sink_is_in_state_dir (DlpSink *self, const char *path);

/**
 * dlp_sink_get_claim: (skip)
 * @self: a sink
 * @overwrite: whether the output of another run may be replaced
 *
 * Gets what check_location() and discard() may delete. For C, by value since its texts are lent;
 * other languages have dlp_sink_check_files() and dlp_sink_discard_files().
 *
 * Threads: any, from when the pipeline is prepared.
 *
 * Returns: a claim, whose texts are the pipeline's
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpOutputClaim dlp_sink_get_claim (DlpSink *self, gboolean overwrite);

/**
 * dlp_sink_check_files:
 * @self: a sink
 * @manifest: (type filename): the place of the manifest
 * @files: (array zero-terminated=1) (element-type filename): the final names of the outputs
 * @overwrite: whether the output of another run may be replaced
 * @error: return location for an error
 *
 * A check_location() of outputs that have a manifest; see dlp_manifest_check_location(). Warns of
 * unfinished files of other runs.
 *
 * Threads: the one that prepares the pipeline.
 *
 * Returns: %FALSE with an error
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_sink_check_files (DlpSink *self,
                               const char *manifest,
                               const char *const *files,
                               gboolean overwrite,
                               GError **error);

/**
 * dlp_sink_discard_files:
 * @self: a sink
 * @manifest: (type filename): the place of the manifest
 * @files: (array zero-terminated=1) (element-type filename): the final names of the outputs
 * @overwrite: whether the output of another run may be replaced
 * @error: return location for an error
 *
 * A discard() of outputs that have a manifest; see dlp_manifest_discard().
 *
 * Threads: the one that prepares the pipeline.
 *
 * Returns: %FALSE with an error
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_sink_discard_files (DlpSink *self,
                                 const char *manifest,
                                 const char *const *files,
                                 gboolean overwrite,
                                 GError **error);

/**
 * dlp_sink_is_finished_early:
 * @self: a sink
 *
 * For publish() of a complete run: gets whether it was finished by dlp_pipeline_finish() before all
 * of its input was read.
 *
 * Threads: that of the run, in publish().
 *
 * Returns: whether it was
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_sink_is_finished_early (DlpSink *self);

/**
 * dlp_sink_get_digest:
 * @self: a sink
 * @digest: (out caller-allocates): the digest
 *
 * Gets the digest of the records consumed.
 *
 * Threads: the streaming thread of the sink, or any once the run is over.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_sink_get_digest (DlpSink *self, DlpDigest *digest);

/**
 * dlp_sink_get_n_records:
 * @self: a sink
 *
 * Gets the number of records of which the sink's state speaks.
 *
 * Threads: the streaming thread of the sink, or any once the run is over.
 *
 * Returns: how many
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
guint64 dlp_sink_get_n_records (DlpSink *self);

/**
 * dlp_sink_add_tokens:
 * @self: a sink
 * @n: how many
 *
 * Adds to the pipeline's counter of tokens; part of the sink's state.
 *
 * Threads: the streaming thread of the sink, or any once the run is over.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_sink_add_tokens (DlpSink *self, guint64 n);

/**
 * dlp_sink_get_n_tokens:
 * @self: a sink
 *
 * Gets the number of tokens that were added.
 *
 * Threads: the streaming thread of the sink, or any once the run is over.
 *
 * Returns: how many
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
guint64 dlp_sink_get_n_tokens (DlpSink *self);

G_END_DECLS
