/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-sink.h"

G_BEGIN_DECLS

/**
 * DlpAppSinkState:
 * @DLP_APP_SINK_STATE_EXACT: a continued run gives the record behind the last one that was
 *   confirmed
 * @DLP_APP_SINK_STATE_APPROXIMATE: it gives the record behind the newest that was in the queue when
 *   the state was saved: what was queued is skipped, and the number is said
 *
 * What the state of an app-sink is.
 *
 * Since: 0.2
 */
typedef enum
{
  DLP_APP_SINK_STATE_EXACT,
  DLP_APP_SINK_STATE_APPROXIMATE,
} DlpAppSinkState;

/**
 * DlpAppSinkConfirm:
 * @DLP_APP_SINK_CONFIRM_PULL: a pull confirms the records that the pulls before it gave
 * @DLP_APP_SINK_CONFIRM_COMMIT: only dlp_app_sink_commit() confirms
 *
 * When records that were given to the program count as done.
 *
 * Since: 0.2
 */
typedef enum
{
  DLP_APP_SINK_CONFIRM_PULL,
  DLP_APP_SINK_CONFIRM_COMMIT,
} DlpAppSinkConfirm;

#define DLP_TYPE_APP_SINK_STATE (dlp_app_sink_state_get_type ())
#define DLP_TYPE_APP_SINK_CONFIRM (dlp_app_sink_confirm_get_type ())
DLP_AVAILABLE_IN_0_2
GType dlp_app_sink_state_get_type (void);
DLP_AVAILABLE_IN_0_2
GType dlp_app_sink_confirm_get_type (void);

#define DLP_TYPE_APP_SINK (dlp_app_sink_get_type ())
/**
 * DlpAppSink:
 *
 * The end of a chain from which the program takes its records: the element `app-sink`.
 *
 * Its functions may be called from any thread, one pull at a time. A pull that is called while
 * another goes on, also an asynchronous one whose callback was not called yet, fails with
 * %G_IO_ERROR_PENDING.
 *
 * A pull gives the next records; or %NULL without an error at the end of the stream, then and ever
 * after; or %NULL with an error: %G_IO_ERROR_CLOSED after dlp_app_sink_close(), and once the run
 * has failed its error, for that pull and all later ones. The records that had come before the
 * failure are given first. After dlp_pipeline_stop(), dlp_pipeline_abort() or a cancelled run
 * nothing more is given, and pulls fail with %DLP_PIPELINE_ERROR_STOPPED,
 * %DLP_PIPELINE_ERROR_ABORTED or %G_IO_ERROR_CANCELLED.
 *
 * Records that were given are confirmed by the next pull, or by dlp_app_sink_commit(); see the
 * property `confirm`. The state of a run is behind the last record that was confirmed when the
 * checkpoint was written: what was given after that is given again by a run that goes on from it.
 * The run is complete when all records were confirmed and the end was met.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
G_DECLARE_FINAL_TYPE (DlpAppSink, dlp_app_sink, DLP, APP_SINK, DlpSink)

/**
 * DlpAppSink:max-records:
 *
 * Records that a pull gives at most. Training batches come whole.
 *
 * Since: 0.2
 */

/**
 * DlpAppSink:max-batches:
 *
 * Record batches that are held ready for the program.
 *
 * Since: 0.2
 */

/**
 * DlpAppSink:max-bytes:
 *
 * Bytes that are held ready for the program, and one record batch beyond; less where the memory of
 * the pipeline is short.
 *
 * Since: 0.2
 */

/**
 * DlpAppSink:state:
 *
 * Where a continued run goes on.
 *
 * Since: 0.2
 */

/**
 * DlpAppSink:confirm:
 *
 * What confirms the records that were given.
 *
 * Since: 0.2
 */

/**
 * dlp_app_sink_pull:
 * @self: an app-sink
 * @max_records: how many records to give at most; 0: as many as the property `max-records` says.
 *   More than that are never given. A training batch (see `batch`) is given whole.
 * @cancellable: (nullable): ends the wait
 * @error: where to put an error
 *
 * Waits for records. Any thread; not one of the pipeline's.
 *
 * Returns: (transfer full) (nullable): the next records; %NULL without an error at the end of the
 *   stream
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
DlpRecordBatch *
dlp_app_sink_pull (DlpAppSink *self, guint max_records, GCancellable *cancellable, GError **error);

/**
 * dlp_app_sink_try_pull:
 * @self: an app-sink
 * @max_records: see dlp_app_sink_pull()
 * @error: where to put an error
 *
 * As dlp_app_sink_pull(), but does not wait: where nothing is there yet it fails with
 * %G_IO_ERROR_WOULD_BLOCK. Any thread.
 *
 * Returns: (transfer full) (nullable): the next records; %NULL without an error at the end of the
 *   stream
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
DlpRecordBatch *dlp_app_sink_try_pull (DlpAppSink *self, guint max_records, GError **error);

/**
 * dlp_app_sink_pull_async:
 * @self: an app-sink
 * @max_records: see dlp_app_sink_pull()
 * @cancellable: (nullable): ends the wait
 * @callback: (scope async) (nullable): called in the main context of the pipeline
 * @user_data: (closure): for @callback
 *
 * As dlp_app_sink_pull(), without waiting. Any thread.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_app_sink_pull_async (DlpAppSink *self,
                              guint max_records,
                              GCancellable *cancellable,
                              GAsyncReadyCallback callback,
                              gpointer user_data);

/**
 * dlp_app_sink_pull_finish:
 * @self: an app-sink
 * @result: what the callback was given
 * @error: where to put an error
 *
 * Ends dlp_app_sink_pull_async().
 *
 * Returns: (transfer full) (nullable): as dlp_app_sink_pull()
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
DlpRecordBatch *dlp_app_sink_pull_finish (DlpAppSink *self, GAsyncResult *result, GError **error);

/**
 * dlp_app_sink_commit:
 * @self: an app-sink
 *
 * Confirms all records that were given so far: no run that goes on from a checkpoint that is
 * written from now on gives them again. It does not wait for one; dlp_pipeline_checkpoint() asks
 * for one. Call it before dlp_pipeline_stop(), so that the last records are not given again. Any
 * thread; returns at once.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_app_sink_commit (DlpAppSink *self);

/**
 * dlp_app_sink_close:
 * @self: an app-sink
 *
 * The program needs no more records: confirms those it was given, drops what is queued, and lets
 * what is before this element end, unless others need it. Pulls fail with %G_IO_ERROR_CLOSED from
 * now on, also one that waits. Any thread; returns at once.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_app_sink_close (DlpAppSink *self);

G_END_DECLS
