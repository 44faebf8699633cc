/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-source.h"

G_BEGIN_DECLS

#define DLP_TYPE_APP_SOURCE (dlp_app_source_get_type ())
/**
 * DlpAppSource:
 *
 * The beginning of a chain into which the program puts its records: the element `app-source`.
 *
 * Its functions may be called from any thread, one push at a time. A push that is called while
 * another goes on, also an asynchronous one whose callback was not called yet, fails with
 * %G_IO_ERROR_PENDING: the order of pushes is the order of records, so it has to be decided by the
 * program.
 *
 * A push fails with %G_IO_ERROR_CLOSED where nobody takes records any more, such as behind a limit
 * that was reached, which is no fault; and with the error of the run once that has failed or was
 * ended.
 *
 * To be continued after it was killed, a run needs to know where the program was. The program says
 * so by a token with each push (property `tokens`): a #GVariant of any type that means its own
 * position to it. A #GVariant, because it has a type, every language can make one, it is stored as
 * it is, and tools can show it. dlp_app_source_dup_restored_token() gives back the newest token
 * that the state knows of: the program pushes again everything that it pushed with that token, and
 * everything after it, in the same order; where the batches are cut does not matter. What of it was
 * delivered already is dropped here.
 *
 * Records get the coordinate {ordinal of the source, file 0, row}, the row being counted from the
 * beginning of the run; with the property `keep-coordinates` they keep their own. Of a schema of
 * files the file is what is counted.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
G_DECLARE_FINAL_TYPE (DlpAppSource, dlp_app_source, DLP, APP_SOURCE, DlpSource)

/**
 * DlpAppSource:schema:
 *
 * The fields of what is pushed, such as `text:string,score:double?`. The types are those that
 * dlp_field_type_to_string() names; with a question mark a value may be null. A string that is not
 * UTF-8 gets U+FFFD for each maximal subpart of what is wrong; that is counted, and warned of once.
 *
 * Since: 0.2
 */

/**
 * DlpAppSource:tokens:
 *
 * Whether each push has a token.
 *
 * Since: 0.2
 */

/**
 * DlpAppSource:keep-coordinates:
 *
 * Whether records keep the coordinates that they were pushed with.
 *
 * Since: 0.2
 */

/**
 * DlpAppSource:max-batches:
 *
 * Pushed batches that are held at most.
 *
 * Since: 0.2
 */

/**
 * DlpAppSource:max-bytes:
 *
 * Bytes that are held at most, and one batch beyond; less where the memory of the pipeline is
 * short.
 *
 * Since: 0.2
 */

/**
 * dlp_app_source_set_schema:
 * @self: an app-source
 * @schema: the schema of all batches that are going to be pushed
 *
 * Sets the property `schema`. Before the pipeline is prepared; on the thread that makes it.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_app_source_set_schema (DlpAppSource *self, DlpSchema *schema);

/**
 * dlp_app_source_get_schema:
 * @self: an app-source
 *
 * Gets the property `schema` as a schema.
 *
 * Returns: (transfer none) (nullable): the schema, if it is set and right
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
DlpSchema *dlp_app_source_get_schema (DlpAppSource *self);

/**
 * dlp_app_source_dup_restored_token:
 * @self: an app-source
 *
 * Where a continued run goes on; known once the pipeline is prepared. Any thread.
 *
 * Returns: (transfer full) (nullable): push again what was pushed with this token and after it;
 *   %NULL: everything, from the beginning
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
GVariant *dlp_app_source_dup_restored_token (DlpAppSource *self);

/**
 * dlp_app_source_push:
 * @self: an app-source
 * @batch: records of the schema; may be large, may be empty
 * @token: (nullable): the program's position at the first record of @batch; a floating one is
 *   consumed. Needed where the property `tokens` is set, refused where it is not. At most 64 KiB.
 *   Batches pushed one after the other may have the same.
 * @cancellable: (nullable): ends the wait
 * @error: where to put an error
 *
 * Waits for room. Any thread; not one of the pipeline's. Before the pipeline runs there is room for
 * as much as `max-batches` and `max-bytes` say.
 *
 * Returns: whether it was taken. If not, nothing of it was.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean dlp_app_source_push (DlpAppSource *self,
                              DlpRecordBatch *batch,
                              GVariant *token,
                              GCancellable *cancellable,
                              GError **error);

/**
 * dlp_app_source_try_push:
 * @self: an app-source
 * @batch: see dlp_app_source_push()
 * @token: (nullable): see dlp_app_source_push()
 * @error: where to put an error
 *
 * As dlp_app_source_push(), but does not wait: where there is no room it fails with
 * %G_IO_ERROR_WOULD_BLOCK. Any thread.
 *
 * Returns: whether it was taken
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean dlp_app_source_try_push (DlpAppSource *self,
                                  DlpRecordBatch *batch,
                                  GVariant *token,
                                  GError **error);

/**
 * dlp_app_source_push_async:
 * @self: an app-source
 * @batch: see dlp_app_source_push()
 * @token: (nullable): see dlp_app_source_push()
 * @cancellable: (nullable): ends the wait
 * @callback: (scope async) (nullable): called in the main context of the pipeline
 * @user_data: (closure): for @callback
 *
 * As dlp_app_source_push(), without waiting. Any thread.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_app_source_push_async (DlpAppSource *self,
                                DlpRecordBatch *batch,
                                GVariant *token,
                                GCancellable *cancellable,
                                GAsyncReadyCallback callback,
                                gpointer user_data);

/**
 * dlp_app_source_push_finish:
 * @self: an app-source
 * @result: what the callback was given
 * @error: where to put an error
 *
 * Ends dlp_app_source_push_async().
 *
 * Returns: whether it was taken
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean dlp_app_source_push_finish (DlpAppSource *self, GAsyncResult *result, GError **error);

/**
 * dlp_app_source_end:
 * @self: an app-source
 *
 * The stream ends behind what was pushed, also behind a push that still waits. Any thread; returns
 * at once. Later pushes fail with %DLP_PIPELINE_ERROR_STATE.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_app_source_end (DlpAppSource *self);

/**
 * dlp_app_source_fail:
 * @self: an app-source
 * @error: what happened
 *
 * The stream breaks off behind what was pushed: that still reaches its consumers, then the run
 * fails with @error. Any thread; returns at once.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_app_source_fail (DlpAppSource *self, const GError *error);

G_END_DECLS
