/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-app-sink.h"
#include "dlp-checkpoint.h"
#include "dlp-element.h"
#include "dlp-pipeline-enums.h"

G_BEGIN_DECLS

#define DLP_TYPE_PIPELINE (dlp_pipeline_get_type ())
/**
 * DlpPipeline:
 *
 * A graph of elements, and its run. It is a #GListModel of its elements. It captures the
 * thread-default main context at construction: notifies and async results come there. A pipeline
 * runs once; another is made from its string or state.
 *
 * Its settings are properties that are set before dlp_pipeline_prepare(). Its progress is in
 * properties that are notified at most 10 times a second, in that main context.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
G_DECLARE_FINAL_TYPE (DlpPipeline, dlp_pipeline, DLP, PIPELINE, GObject)

/**
 * DlpPipeline:seed:
 *
 * The seed of all random draws. To be set before dlp_pipeline_prepare().
 *
 * Since: 0.1
 */

/**
 * DlpPipeline:state-dir:
 *
 * The folder of the checkpoints, from which a run goes on; %NULL: it cannot. To be set before
 * dlp_pipeline_prepare().
 *
 * Since: 0.1
 */

/**
 * DlpPipeline:quarantine:
 *
 * The file for bad records; %NULL: one in the state folder. To be set before
 * dlp_pipeline_prepare().
 *
 * Since: 0.1
 */

/**
 * DlpPipeline:memory:
 *
 * Memory for queues, buffers and caches, in bytes, at least 1 MiB; 0: 64 MiB and 48 MiB a worker,
 * at most a quarter of what there is. Less is %DLP_GRAPH_ERROR_VALUE when it is prepared. To be set
 * before dlp_pipeline_prepare().
 *
 * Since: 0.1
 */

/**
 * DlpPipeline:workers:
 *
 * Threads for stateless work; 0: the CPU budget. To be set before dlp_pipeline_prepare().
 *
 * Since: 0.1
 */

/**
 * DlpPipeline:runner:
 *
 * How elements get their turns. To be set before dlp_pipeline_prepare().
 *
 * Since: 0.1
 */

/**
 * DlpPipeline:checkpoint-interval:
 *
 * Time between checkpoints, in microseconds; 0: 10 s, and at most 1 % of the time. To be set before
 * dlp_pipeline_prepare().
 *
 * Since: 0.1
 */

/**
 * DlpPipeline:link-batches:
 *
 * Record batches that a link holds. To be set before dlp_pipeline_prepare().
 *
 * Since: 0.1
 */

/**
 * DlpPipeline:batch-records:
 *
 * Records in a record batch at most; 0: as many as fit. What comes out does not depend on it. To be
 * set before dlp_pipeline_prepare().
 *
 * Since: 0.1
 */

/**
 * DlpPipeline:random-yields:
 *
 * For tests: threads give way at random. To be set before dlp_pipeline_prepare().
 *
 * Since: 0.1
 */

/**
 * DlpPipeline:strict:
 *
 * Whether the first fault ends the run. A run that would go on with another version of a plugin is
 * refused then. To be set before dlp_pipeline_prepare().
 *
 * Since: 0.1
 */

/**
 * DlpPipeline:overwrite:
 *
 * Whether the output of another run is replaced, as its manifest lists it. To be set before
 * dlp_pipeline_prepare().
 *
 * Since: 0.1
 */

/**
 * DlpPipeline:restart:
 *
 * Whether this run's state and outputs are discarded first. To be set before
 * dlp_pipeline_prepare().
 *
 * Since: 0.1
 */

/**
 * DlpPipeline:stall-action:
 *
 * What happens where the run stalls. %DLP_STALL_ACTION_FAIL ends it as any other error does: the
 * last checkpoint stays usable. Its pulls and pushes end at once, but dlp_pipeline_run() returns
 * when all elements have left their steps, which one that hangs for good never does:
 * dlp_pipeline_get_error() tells a program of the error meanwhile. To be set before
 * dlp_pipeline_prepare().
 *
 * Since: 0.2
 */

/**
 * DlpPipeline:stall-timeout:
 *
 * How long nothing may move before that is a stall, in microseconds; 0: for ever. Counted from the
 * begin of dlp_pipeline_prepare() or dlp_pipeline_check() on, where each element that is done with
 * is movement, and not while the process is stopped. One minute, where the environment variable
 * DLPIPE_STALL_SECONDS says nothing else. To be set before dlp_pipeline_prepare().
 *
 * Since: 0.2
 */

/**
 * DlpPipeline:status:
 *
 * Where in its life the pipeline is.
 *
 * Since: 0.1
 */

/**
 * DlpPipeline:fraction:
 *
 * The share of the input that has passed through, 0 to 1; -1: unknown. Over all attempts, as all of
 * the progress.
 *
 * Since: 0.1
 */

/**
 * DlpPipeline:files-done:
 *
 * Files read.
 *
 * Since: 0.1
 */

/**
 * DlpPipeline:files-total:
 *
 * Files to read.
 *
 * Since: 0.1
 */

/**
 * DlpPipeline:records:
 *
 * Records that reached the sinks; copies made by a tee count once, bad records do not.
 *
 * Since: 0.1
 */

/**
 * DlpPipeline:tokens:
 *
 * Tokens that reached the sinks.
 *
 * Since: 0.1
 */

/**
 * DlpPipeline:bytes:
 *
 * Bytes of input files that are read.
 *
 * Since: 0.1
 */

/**
 * DlpPipeline:elapsed:
 *
 * Seconds.
 *
 * Since: 0.1
 */

/**
 * DlpPipeline:eta:
 *
 * Seconds to the end, estimated; -1: unknown.
 *
 * Since: 0.1
 */

/**
 * dlp_pipeline_new:
 *
 * Makes a pipeline without elements.
 *
 * Threads: the one that makes the pipeline.
 *
 * Returns: (transfer full): a pipeline
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpPipeline *dlp_pipeline_new (void);

/**
 * dlp_pipeline_new_from_string:
 * @text: a graph
 * @error: return location for an error
 *
 * Makes a pipeline from graph text: all or nothing. Errors: #DlpGraphError, with the place in the
 * text.
 *
 * Threads: the one that makes the pipeline.
 *
 * Returns: (transfer full): a pipeline
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpPipeline *dlp_pipeline_new_from_string (const char *text, GError **error);

/**
 * dlp_pipeline_new_from_state:
 * @state_dir: (type filename): a state folder
 * @error: return location for an error
 *
 * Makes a pipeline from the graph stored in a state folder, which becomes its
 * #DlpPipeline:state-dir. Reads the newest checkpoint, and blocks meanwhile. Errors:
 * #DlpStateError.
 *
 * Threads: the one that makes the pipeline.
 *
 * Returns: (transfer full): a pipeline
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpPipeline *dlp_pipeline_new_from_state (const char *state_dir, GError **error);

/**
 * dlp_pipeline_new_from_state_async:
 * @state_dir: (type filename): a state folder
 * @cancellable: (nullable): looked at before and after the folder is read
 * @callback: (scope async) (nullable): called in the thread-default main context of the caller
 * @user_data: (closure): for @callback
 *
 * As dlp_pipeline_new_from_state(), but the folder is read on a thread of its own.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_pipeline_new_from_state_async (const char *state_dir,
                                        GCancellable *cancellable,
                                        GAsyncReadyCallback callback,
                                        gpointer user_data);

/**
 * dlp_pipeline_new_from_state_finish:
 * @result: what the callback was given
 * @error: where to put an error
 *
 * Ends dlp_pipeline_new_from_state_async(), once: the pipeline is made here.
 *
 * Threads: the one that makes the pipeline.
 *
 * Returns: (transfer full): as dlp_pipeline_new_from_state()
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
DlpPipeline *dlp_pipeline_new_from_state_finish (GAsyncResult *result, GError **error);

/**
 * dlp_pipeline_add:
 * @self: a pipeline
 * @element: (transfer none): an element
 * @error: return location for an error
 *
 * Adds an element, which must be in no pipeline and have a name that is not taken.
 *
 * Threads: the one that makes the pipeline.
 *
 * Returns: %FALSE with an error
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_pipeline_add (DlpPipeline *self, DlpElement *element, GError **error);

/**
 * dlp_pipeline_link:
 * @self: a pipeline
 * @from: an element
 * @from_pad: (nullable): the name of one of its output pads; %NULL: the default one
 * @to: an element
 * @to_pad: (nullable): the name of one of its input pads; %NULL: the default one
 * @error: return location for an error
 *
 * Links an output pad to an input pad. Errors: %DLP_GRAPH_ERROR_LINK.
 *
 * Threads: the one that makes the pipeline.
 *
 * Returns: %FALSE with an error
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_pipeline_link (DlpPipeline *self,
                            DlpElement *from,
                            const char *from_pad,
                            DlpElement *to,
                            const char *to_pad,
                            GError **error);

/**
 * dlp_pipeline_get_element:
 * @self: a pipeline
 * @name: its name
 *
 * Finds an element.
 *
 * Threads: the one that makes the pipeline.
 *
 * Returns: (transfer none) (nullable): an element
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpElement *dlp_pipeline_get_element (DlpPipeline *self, const char *name);

/**
 * dlp_pipeline_set_property_text:
 * @self: a pipeline
 * @element: the name of an element
 * @property: the name of one of its properties
 * @value: its value as text
 * @error: return location for an error
 *
 * Sets a property from text, as in graph text. Errors: #DlpGraphError.
 *
 * Threads: the one that makes the pipeline.
 *
 * Returns: %FALSE with an error
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_pipeline_set_property_text (DlpPipeline *self,
                                         const char *element,
                                         const char *property,
                                         const char *value,
                                         GError **error);

/**
 * dlp_pipeline_to_string:
 * @self: a pipeline
 *
 * Gets graph text that makes this graph.
 *
 * Threads: the one that makes the pipeline.
 *
 * Returns: (transfer full): a graph
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
char *dlp_pipeline_to_string (DlpPipeline *self);

/**
 * dlp_pipeline_prepare:
 * @self: a pipeline
 * @cancellable: (nullable): a cancellable
 * @error: return location for an error
 *
 * Checks and negotiates the whole graph; opens the state folder, if there is one, and loads what it
 * holds. Done by dlp_pipeline_run() where it was not called; refused while a run goes on.
 * @cancellable is looked at between elements, and between files where an element lists them
 * (dlp_element_get_cancellable()); a pipeline that was cancelled then cannot be run any more
 * (%DLP_PIPELINE_ABORTED).
 *
 * Blocks. Errors: #DlpGraphError, #DlpStateError, #DlpDataError, those of opening what a property
 * names.
 *
 * Threads: any, one at a time.
 *
 * Returns: %FALSE with an error
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_pipeline_prepare (DlpPipeline *self, GCancellable *cancellable, GError **error);

/**
 * dlp_pipeline_prepare_async:
 * @self: a pipeline
 * @cancellable: (nullable): see dlp_pipeline_prepare()
 * @callback: (scope async) (nullable): called in the main context of the pipeline
 * @user_data: (closure): for @callback
 *
 * As dlp_pipeline_prepare(), on a thread of its own. Until it has its result nothing else is called
 * but what may be called from any thread.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_pipeline_prepare_async (DlpPipeline *self,
                                 GCancellable *cancellable,
                                 GAsyncReadyCallback callback,
                                 gpointer user_data);

/**
 * dlp_pipeline_prepare_finish:
 * @self: a pipeline
 * @result: what the callback was given
 * @error: where to put an error
 *
 * Ends dlp_pipeline_prepare_async().
 *
 * Returns: as dlp_pipeline_prepare()
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean dlp_pipeline_prepare_finish (DlpPipeline *self, GAsyncResult *result, GError **error);

/**
 * dlp_pipeline_check:
 * @self: a pipeline
 * @cancellable: (nullable): see dlp_pipeline_prepare()
 * @error: return location for an error
 *
 * Checks and negotiates the whole graph and nothing else: no state is opened, no output looked at,
 * and the pipeline cannot be run afterwards. Blocks.
 *
 * Threads: any, one at a time.
 *
 * Returns: %FALSE with an error
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_pipeline_check (DlpPipeline *self, GCancellable *cancellable, GError **error);

/**
 * dlp_pipeline_check_async:
 * @self: a pipeline
 * @cancellable: (nullable): see dlp_pipeline_prepare()
 * @callback: (scope async) (nullable): called in the main context of the pipeline
 * @user_data: (closure): for @callback
 *
 * As dlp_pipeline_check(), on a thread of its own.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_pipeline_check_async (DlpPipeline *self,
                               GCancellable *cancellable,
                               GAsyncReadyCallback callback,
                               gpointer user_data);

/**
 * dlp_pipeline_check_finish:
 * @self: a pipeline
 * @result: what the callback was given
 * @error: where to put an error
 *
 * Ends dlp_pipeline_check_async().
 *
 * Returns: as dlp_pipeline_check()
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean dlp_pipeline_check_finish (DlpPipeline *self, GAsyncResult *result, GError **error);

/**
 * dlp_pipeline_check_state:
 * @self: a pipeline
 * @cancellable: (nullable): looked at before it begins
 * @error: return location for an error
 *
 * Behind dlp_pipeline_check(), once: looks whether what dlp_pipeline_prepare() would find, a state
 * or outputs, is in the way. Writes nothing; the report says what was found. Blocks.
 *
 * Threads: any, one at a time.
 *
 * Returns: %FALSE with an error
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_pipeline_check_state (DlpPipeline *self, GCancellable *cancellable, GError **error);

/**
 * dlp_pipeline_check_state_async:
 * @self: a pipeline
 * @cancellable: (nullable): looked at before it begins
 * @callback: (scope async) (nullable): called in the main context of the pipeline
 * @user_data: (closure): for @callback
 *
 * As dlp_pipeline_check_state(), on a thread of its own.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_pipeline_check_state_async (DlpPipeline *self,
                                     GCancellable *cancellable,
                                     GAsyncReadyCallback callback,
                                     gpointer user_data);

/**
 * dlp_pipeline_check_state_finish:
 * @self: a pipeline
 * @result: what the callback was given
 * @error: where to put an error
 *
 * Ends dlp_pipeline_check_state_async().
 *
 * Returns: as dlp_pipeline_check_state()
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean dlp_pipeline_check_state_finish (DlpPipeline *self, GAsyncResult *result, GError **error);

/**
 * dlp_pipeline_run:
 * @self: a pipeline
 * @cancellable: (nullable): a cancellable
 * @error: return location for an error
 *
 * Runs to the end, blocking; does not iterate a main context. Errors: that of an element;
 * %DLP_PIPELINE_ERROR_STOPPED after a stop; %G_IO_ERROR_CANCELLED.
 *
 * Threads: any, one at a time.
 *
 * Returns: %TRUE: complete (%DLP_PIPELINE_FINISHED); %FALSE with an error
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_pipeline_run (DlpPipeline *self, GCancellable *cancellable, GError **error);

/**
 * dlp_pipeline_get_state:
 * @self: a pipeline that runs, or has run
 * @kind: whether what is queued for the program is to come again
 * @cancellable: (nullable): ends the wait for the elements
 * @error: return location for an error
 *
 * Gets the state of the run, for a program that keeps it in a checkpoint of its own;
 * dlp_pipeline_new_from_checkpoint() goes on from it. The stream neither stops nor becomes slower.
 *
 * With %DLP_APP_SINK_STATE_EXACT the next record of each app-sink is the one behind the last that
 * was pulled (with `confirm=commit`: that was committed). With %DLP_APP_SINK_STATE_APPROXIMATE it
 * is the one behind the last that is queued; how many are skipped so is in
 * dlp_checkpoint_get_n_skipped().
 *
 * Of a run that has ended by a stop, an abort, a cancellable or a fault it is the place of the last
 * record that was pulled then. Only where a sink that is not of the program failed in the midst of
 * its records is there none.
 *
 * For pipelines without a `state-dir` whose sinks keep no files (`app-sink`, `null-sink`); of
 * others the state is in their folder: dlp_checkpoint_new_from_folder(). Errors:
 * %DLP_PIPELINE_ERROR_STATE, %G_IO_ERROR_CANCELLED. Waits until every sink has come to the end of
 * its step, and for the end of a run that is about to end.
 *
 * Threads: any, but not one of the pipeline's.
 *
 * Returns: (transfer full): the state
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
DlpCheckpoint *dlp_pipeline_get_state (DlpPipeline *self,
                                       DlpAppSinkState kind,
                                       GCancellable *cancellable,
                                       GError **error);

/**
 * dlp_pipeline_get_state_async:
 * @self: a pipeline that runs, or has run
 * @kind: whether what is queued for the program is to come again
 * @cancellable: (nullable): ends the wait for the elements
 * @callback: (scope async) (nullable): called in the main context of the pipeline
 * @user_data: (closure): for @callback
 *
 * As dlp_pipeline_get_state(), on a thread of its own.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_pipeline_get_state_async (DlpPipeline *self,
                                   DlpAppSinkState kind,
                                   GCancellable *cancellable,
                                   GAsyncReadyCallback callback,
                                   gpointer user_data);

/**
 * dlp_pipeline_get_state_finish:
 * @self: a pipeline
 * @result: what the callback was given
 * @error: where to put an error
 *
 * Ends dlp_pipeline_get_state_async().
 *
 * Returns: (transfer full): as dlp_pipeline_get_state()
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
DlpCheckpoint *
dlp_pipeline_get_state_finish (DlpPipeline *self, GAsyncResult *result, GError **error);

/**
 * dlp_pipeline_save_state:
 * @self: a pipeline that runs, or has run
 * @cancellable: (nullable): ends the wait for the elements
 * @error: where to put an error
 *
 * The bytes of dlp_pipeline_get_state() with %DLP_APP_SINK_STATE_EXACT.
 *
 * Threads: any, but not one of the pipeline's.
 *
 * Returns: (transfer full): the state, for dlp_pipeline_new_from_state_bytes()
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
GBytes *dlp_pipeline_save_state (DlpPipeline *self, GCancellable *cancellable, GError **error);

/**
 * dlp_pipeline_save_state_async:
 * @self: a pipeline that runs, or has run
 * @cancellable: (nullable): ends the wait for the elements
 * @callback: (scope async) (nullable): called in the main context of the pipeline
 * @user_data: (closure): for @callback
 *
 * As dlp_pipeline_save_state(), on a thread of its own.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_pipeline_save_state_async (DlpPipeline *self,
                                    GCancellable *cancellable,
                                    GAsyncReadyCallback callback,
                                    gpointer user_data);

/**
 * dlp_pipeline_save_state_finish:
 * @self: a pipeline
 * @result: what the callback was given
 * @error: where to put an error
 *
 * Ends dlp_pipeline_save_state_async().
 *
 * Returns: (transfer full): as dlp_pipeline_save_state()
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
GBytes *dlp_pipeline_save_state_finish (DlpPipeline *self, GAsyncResult *result, GError **error);

/**
 * dlp_pipeline_new_from_state_bytes: (constructor)
 * @state: what dlp_pipeline_save_state() or dlp_checkpoint_to_bytes() gave
 * @error: where to put an error
 *
 * As dlp_pipeline_new_from_checkpoint(), from bytes. Errors also: those of
 * dlp_checkpoint_new_from_bytes().
 *
 * Threads: the one that makes the pipeline.
 *
 * Returns: (transfer full): the pipeline
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
DlpPipeline *dlp_pipeline_new_from_state_bytes (GBytes *state, GError **error);

/**
 * dlp_pipeline_new_from_checkpoint: (constructor)
 * @checkpoint: what dlp_pipeline_get_state() gave
 * @error: where to put an error
 *
 * A pipeline of the same graph that goes on from there; any number of them may be made from one
 * state. What is looked at by dlp_pipeline_prepare(): input files that changed, properties that
 * were fixed. Errors: #DlpGraphError; %DLP_PIPELINE_ERROR_STATE: the state is that of a folder.
 *
 * Threads: the one that makes the pipeline.
 *
 * Returns: (transfer full): the pipeline
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
DlpPipeline *dlp_pipeline_new_from_checkpoint (DlpCheckpoint *checkpoint, GError **error);

/**
 * dlp_pipeline_run_async:
 * @self: a pipeline
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (nullable): called when the run is over
 * @user_data: (closure): data for @callback
 *
 * Runs to the end, as dlp_pipeline_run(), without blocking; @callback is called in the main context
 * in which the pipeline was made. The run holds no reference: whoever gives back the last one, also
 * in a callback, aborts it. Then nothing is notified any more, @callback gets
 * %DLP_PIPELINE_ERROR_ABORTED, and the pipeline is freed behind it, in that main context.
 *
 * Threads: any, one at a time.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_pipeline_run_async (DlpPipeline *self,
                             GCancellable *cancellable,
                             GAsyncReadyCallback callback,
                             gpointer user_data);

/**
 * dlp_pipeline_run_finish:
 * @self: a pipeline
 * @result: what the callback was given
 * @error: return location for an error
 *
 * Ends dlp_pipeline_run_async().
 *
 * Threads: any, one at a time.
 *
 * Returns: %TRUE: complete (%DLP_PIPELINE_FINISHED); %FALSE with an error
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_pipeline_run_finish (DlpPipeline *self, GAsyncResult *result, GError **error);

/**
 * dlp_pipeline_pause:
 * @self: a pipeline
 *
 * Pauses the run between two steps. Returns at once; does nothing where it does not apply.
 *
 * Threads: any.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_pipeline_pause (DlpPipeline *self);

/**
 * dlp_pipeline_resume:
 * @self: a pipeline
 *
 * Goes on after dlp_pipeline_pause(). Returns at once; does nothing where it does not apply.
 *
 * Threads: any.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_pipeline_resume (DlpPipeline *self);

/**
 * dlp_pipeline_stop:
 * @self: a pipeline
 *
 * Stops the run: each sink commits what it has consumed, one checkpoint, what is in flight is
 * dropped; resumable where there is a state folder. Returns at once; does nothing where it does not
 * apply.
 *
 * Threads: any.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_pipeline_stop (DlpPipeline *self);

/**
 * dlp_pipeline_finish:
 * @self: a pipeline
 *
 * Ends the inputs here: everything is flushed, the output is valid and shorter, the run is
 * complete. Returns at once; does nothing where it does not apply.
 *
 * Threads: any.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_pipeline_finish (DlpPipeline *self);

/**
 * dlp_pipeline_abort:
 * @self: a pipeline
 *
 * Ends the run now, without a checkpoint. Returns at once; does nothing where it does not apply.
 *
 * Threads: any.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_pipeline_abort (DlpPipeline *self);

/**
 * dlp_pipeline_checkpoint:
 * @self: a pipeline
 *
 * Asks for a checkpoint now. Returns at once; does nothing where it does not apply.
 *
 * Threads: any.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_pipeline_checkpoint (DlpPipeline *self);

/**
 * dlp_pipeline_get_status:
 * @self: a pipeline
 *
 * Gets where in its life the pipeline is.
 *
 * Threads: any.
 *
 * Returns: a status
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpPipelineStatus dlp_pipeline_get_status (DlpPipeline *self);

/**
 * dlp_pipeline_get_error:
 * @self: a pipeline
 *
 * Gets why the run ends or has ended: the error that dlp_pipeline_run() gives, but as soon as it
 * has happened. While elements are still leaving, the run goes on; one that does not return from
 * its step holds that up for ever, and a program that cannot wait ends its process: what the last
 * checkpoint says is safe, as when it is killed.
 *
 * Threads: any.
 *
 * Returns: (transfer full) (nullable): an error; %NULL: there is none so far
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
GError *dlp_pipeline_get_error (DlpPipeline *self);

/**
 * dlp_pipeline_is_complete:
 * @self: a pipeline
 *
 * Gets whether the state that was loaded says that the run is complete.
 *
 * Threads: any.
 *
 * Returns: whether it is
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_pipeline_is_complete (DlpPipeline *self);

/**
 * dlp_pipeline_get_report:
 * @self: a pipeline
 *
 * Gets everything known of the run: elements with records in and out, bytes, times, queue levels,
 * reports; digests; attempt, seed.
 *
 * Threads: any.
 *
 * Returns: (transfer full): a value of type a{sv}, not floating
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
GVariant *dlp_pipeline_get_report (DlpPipeline *self);

/**
 * dlp_pipeline_get_report_json:
 * @self: a pipeline
 *
 * Gets what dlp_pipeline_get_report() gives as JSON.
 *
 * Threads: any.
 *
 * Returns: (transfer full): a text
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
char *dlp_pipeline_get_report_json (DlpPipeline *self);

/**
 * dlp_pipeline_get_settings:
 * @self: a pipeline
 *
 * Gets each property of each element as {element, property, value as text, origin}; the origin is
 * "default", "graph", "state" (the graph of dlp_pipeline_new_from_state()), "option"
 * (dlp_pipeline_set_property_text()) or "program".
 *
 * Threads: any.
 *
 * Returns: (transfer full): a value of type a(ssss), not floating
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
GVariant *dlp_pipeline_get_settings (DlpPipeline *self);

/**
 * dlp_pipeline_get_default_state_dir:
 * @self: a pipeline
 *
 * Gets the place that tools give to the state: LOCATION.dlpipe of the first file sink.
 *
 * Threads: any.
 *
 * Returns: (transfer full) (nullable) (type filename): a path; %NULL: there is none
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
char *dlp_pipeline_get_default_state_dir (DlpPipeline *self);

/**
 * dlp_pipeline_to_dot:
 * @self: a pipeline
 *
 * Gets the graph in the language of Graphviz.
 *
 * Threads: any.
 *
 * Returns: (transfer full): a text
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
char *dlp_pipeline_to_dot (DlpPipeline *self);

G_END_DECLS
