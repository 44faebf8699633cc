/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "dlp-cursor.h"
#include "dlp-error.h"
#include "dlp-pad.h"
#include "dlp-state.h"

G_BEGIN_DECLS

/**
 * DlpStep:
 * @DLP_STEP_ERROR: the error is set; the pipeline ends
 * @DLP_STEP_MORE: call again
 * @DLP_STEP_WANT_INPUT: waits for a record or the end of the input of dlp_element_want_input()
 * @DLP_STEP_WANT_WORK: waits for dlp_element_wake(); a wake since the step began counts
 * @DLP_STEP_WANT_INPUT_OR_WORK: either of the two
 * @DLP_STEP_END: nothing will ever be emitted any more
 *
 * What a step came to. That an error is the 0 is for languages in which a step that raised
 * something gives that.
 *
 * Since: 0.1
 */
typedef enum
{
  DLP_STEP_ERROR,
  DLP_STEP_MORE,
  DLP_STEP_WANT_INPUT,
  DLP_STEP_WANT_WORK,
  DLP_STEP_WANT_INPUT_OR_WORK,
  DLP_STEP_END,
} DlpStep;

#define DLP_TYPE_STEP (dlp_step_get_type ())
DLP_AVAILABLE_IN_0_2
GType dlp_step_get_type (void) G_GNUC_CONST;

/**
 * DlpElementFlags:
 * @DLP_ELEMENT_NONE: nothing is promised
 * @DLP_ELEMENT_ONE_TO_ONE: one record out for each in, in order
 * @DLP_ELEMENT_STATELESS: what comes out depends on the record alone
 * @DLP_ELEMENT_LARGE: its state is large: marks are made rarely, at most three alive
 * @DLP_ELEMENT_LOG: its state is the length of an append-only file; see make_durable()
 * @DLP_ELEMENT_KEEPS_ALL: each record that goes in comes out, sooner or later: what did not is held
 * @DLP_ELEMENT_REORDERS: records leave in another order than they came in
 * @DLP_ELEMENT_FIRST_ONES: of what goes in the first records come out, in order; then it ends
 *
 * What the class of an element promises.
 *
 * Since: 0.1
 */
typedef enum
{
  DLP_ELEMENT_NONE = 0,
  DLP_ELEMENT_ONE_TO_ONE = 1 << 0,
  DLP_ELEMENT_STATELESS = 1 << 1,
  DLP_ELEMENT_LARGE = 1 << 2,
  DLP_ELEMENT_LOG = 1 << 3,
  DLP_ELEMENT_KEEPS_ALL = 1 << 4,
  DLP_ELEMENT_REORDERS = 1 << 5,
  DLP_ELEMENT_FIRST_ONES = 1 << 6,
} DlpElementFlags;

#define DLP_TYPE_ELEMENT_FLAGS (dlp_element_flags_get_type ())
DLP_AVAILABLE_IN_0_2
GType dlp_element_flags_get_type (void) G_GNUC_CONST;

#define DLP_TYPE_ELEMENT (dlp_element_get_type ())
/**
 * DlpElement:
 *
 * Something with pads that turns records into records. An element is made and configured on one
 * thread; once the pipeline runs, its step() is called by one thread at a time, not always the same
 * one.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
G_DECLARE_DERIVABLE_TYPE (DlpElement, dlp_element, DLP, ELEMENT, GObject)

/**
 * DlpElement:name:
 *
 * The name of the element within its pipeline.
 *
 * Since: 0.1
 */

/**
 * DlpElement:factory:
 *
 * The name of its kind, such as "jsonl-reader".
 *
 * Since: 0.1
 */

/**
 * DlpElement:records-in:
 *
 * Records consumed, over all attempts. Notified in the pipeline's main context.
 *
 * Since: 0.1
 */

/**
 * DlpElement:records-out:
 *
 * Records emitted, over all attempts. Notified in the pipeline's main context.
 *
 * Since: 0.1
 */

/**
 * DlpElement:bytes:
 *
 * Bytes emitted in this attempt. Notified in the pipeline's main context.
 *
 * Since: 0.1
 */

/**
 * DlpElement:input-level:
 *
 * Record batches queued before the element. Notified in the pipeline's main context.
 *
 * Since: 0.1
 */

/**
 * DlpElement:status:
 *
 * What the element waits for, where it declared a wait. Notified in the pipeline's main context.
 *
 * Since: 0.1
 */

/**
 * DlpElementClass:
 * @parent_class: the parent class
 * @flags: what the class promises
 * @state_version: the version of what save() and describe() give
 * @state_oldest_version: the oldest version that load() reads
 * @request_pad: a pad for a link
 * @negotiate: checks the schemas of the inputs, sets those of the outputs
 * @start: before the first step
 * @step: does a piece of work
 * @stop: after the last step
 * @save: a copy of the state
 * @describe: a saved state as a value
 * @load: takes on a described state
 * @mark_input: the cursor of a mark
 * @make_durable: before a checkpoint is written
 * @report: something said in the report
 * @want_memory: bytes that it could make use of
 * @comes_to: what an automatic property comes to
 * @check_tasks: whether it may be in a fan-out
 *
 * The class of elements, with room for thirteen further virtual functions.
 *
 * Since: 0.1
 */
struct _DlpElementClass
{
  GObjectClass parent_class;

  DlpElementFlags flags;
  guint state_version;
  guint state_oldest_version;

  /**
   * DlpElementClass::request_pad:
   * @self: an element
   * @direction: of which direction
   * @name: (nullable): its name; %NULL: none is given
   * @error: return location for an error
   *
   * Optional: the pad for a link whose text says @name; may add one. The default takes the static
   * pad of that name, or the first unlinked one of the direction, never `rejected`.
   *
   * Threads: the one that builds the pipeline.
   *
   * Returns: (transfer none): a pad, or %NULL with an error
   *
   * Since: 0.1
   */
  DlpPad *(*request_pad) (DlpElement *self,
                          DlpPadDirection direction,
                          const char *name,
                          GError **error);
  /**
   * DlpElementClass::negotiate:
   * @self: an element
   * @error: return location for an error
   *
   * Optional: the input pads have their schemas; check them, set those of the output pads.
   * Properties do not change afterwards. Errors: %DLP_GRAPH_ERROR_TYPE, %DLP_GRAPH_ERROR_VALUE; or
   * of opening what a property names.
   *
   * Threads: the one that builds the pipeline.
   *
   * Returns: %FALSE with an error
   *
   * Since: 0.1
   */
  gboolean (*negotiate) (DlpElement *self, GError **error);

  /**
   * DlpElementClass::start:
   * @self: an element
   * @cancellable: (nullable): a cancellable
   * @error: return location for an error
   *
   * Optional: before the first step, after load(). May block.
   *
   * Threads: the element's: one at a time, not always the same.
   *
   * Returns: %FALSE with an error
   *
   * Since: 0.1
   */
  gboolean (*start) (DlpElement *self, GCancellable *cancellable, GError **error);
  /**
   * DlpElementClass::step:
   * @self: an element
   * @cancellable: (nullable): a cancellable
   * @error: return location for an error
   *
   * Does a piece of work: takes from inputs that have something, emits what is due to it. About a
   * record batch's worth: what was emitted since the last mark is generated again after a restore.
   * Never waits on links; may block in its own I/O with @cancellable. It is not called while an
   * output link is full.
   *
   * Threads: the element's: one at a time, not always the same.
   *
   * Returns: what the step came to
   *
   * Since: 0.1
   */
  DlpStep (*step) (DlpElement *self, GCancellable *cancellable, GError **error);
  /**
   * DlpElementClass::stop:
   * @self: an element
   *
   * Optional: after the last step; also after a failed start.
   *
   * Threads: any.
   *
   * Since: 0.1
   */
  void (*stop) (DlpElement *self);

  /**
   * DlpElementClass::save:
   * @self: an element
   *
   * Optional: called between steps: a copy of the state.
   *
   * Threads: the element's: one at a time, not always the same.
   *
   * Returns: (transfer full) (nullable): a state; %NULL: there is none
   *
   * Since: 0.1
   */
  DlpState *(*save) (DlpElement *self);
  /**
   * DlpElementClass::describe:
   * @self: an element
   * @state: a state that save() gave
   *
   * Makes a value of a saved state.
   *
   * Threads: any, also while step() runs.
   *
   * Returns: (transfer full): a value of type a{sv}, floating or not
   *
   * Since: 0.1
   */
  GVariant *(*describe) (DlpElement *self, const DlpState *state);
  /**
   * DlpElementClass::load:
   * @self: an element
   * @described: what describe() gave
   * @version: the version of it
   * @error: return location for an error
   *
   * Takes on a described state. Every key is checked: unknown ones are refused.
   *
   * Threads: the one that prepares the pipeline, before start().
   *
   * Returns: %FALSE with %DLP_STATE_ERROR_CORRUPT
   *
   * Since: 0.1
   */
  gboolean (*load) (DlpElement *self, GVariant *described, guint version, GError **error);
  /**
   * DlpElementClass::mark_input:
   * @self: an element
   * @input: the number of the input
   * @cursor: a cursor, to be set by dlp_cursor_set()
   *
   * Optional: gives the cursor that a mark made now shall have for an input, where that lies before
   * what was consumed (the default), and the state says what of it is still held; of a sink, where
   * its state speaks of. It never goes back: what only an earlier cursor needs is let go of.
   *
   * Threads: the element's: one at a time, not always the same.
   *
   * Since: 0.1
   */
  void (*mark_input) (DlpElement *self, guint input, DlpCursor *cursor);
  /**
   * DlpElementClass::make_durable:
   * @self: an element
   * @state: a state that save() gave
   * @error: return location for an error
   *
   * Optional: called before a checkpoint that names @state is written, and before that is
   * described. Of an element whose state is a log, or large.
   *
   * Threads: the checkpoint thread, also while step() runs.
   *
   * Returns: %FALSE with an error
   *
   * Since: 0.1
   */
  gboolean (*make_durable) (DlpElement *self, const DlpState *state, GError **error);
  /**
   * DlpElementClass::report:
   * @self: an element
   * @described: what describe() gave
   *
   * Optional: something said in the report about a described state, such as counts. The default is
   * the described state.
   *
   * Threads: any.
   *
   * Returns: (transfer full): a value of type a{sv}, floating or not
   *
   * Since: 0.1
   */
  GVariant *(*report) (DlpElement *self, GVariant *described);
  /**
   * DlpElementClass::want_memory:
   * @self: an element
   * @n_workers: threads in the pool
   *
   * Optional: bytes that the element could make use of beyond its links, such as for a cache; asked
   * after negotiate(). What it gets of the pipeline's memory budget is
   * dlp_element_get_memory_share(). The default asks for next to nothing.
   *
   * Threads: the one that prepares the pipeline.
   *
   * Returns: bytes
   *
   * Since: 0.1
   */
  gsize (*want_memory) (DlpElement *self, guint n_workers);

  /**
   * DlpElementClass::comes_to:
   * @self: an element
   * @property: the name of a property
   *
   * Optional: after negotiate(): what a property that is left to the element comes to, such as an
   * automatic width.
   *
   * Threads: any.
   *
   * Returns: (nullable) (transfer full): its value as text; %NULL: it is what it is set to
   *
   * Since: 0.1
   */
  char *(*comes_to) (DlpElement *self, const char *property);

  /**
   * DlpElementClass::check_tasks:
   * @self: an element
   * @n_tasks: how many tasks there are, at least 2
   * @error: return location for an error
   *
   * Optional: after negotiate(): whether the element may be in a #DlpFanout, where each of the
   * tasks has an element of its own, and a part of the input. One that counts or compares across
   * all records refuses, unless its user says that this is meant for each task.
   *
   * Returns: %FALSE with %DLP_GRAPH_ERROR_VALUE
   *
   * Since: 0.2
   */
  gboolean (*check_tasks) (DlpElement *self, guint n_tasks, GError **error);

  /*< private >*/
  gpointer reserved[13];
};

/* ---- construction ---- */

/**
 * dlp_element_add_pad:
 * @self: an element
 * @name: its name, unique within the element
 * @direction: its direction
 *
 * Adds a pad.
 *
 * Threads: the one that makes the element: in its instance init, or in request_pad().
 *
 * Returns: (transfer none): the pad
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpPad *dlp_element_add_pad (DlpElement *self, const char *name, DlpPadDirection direction);

/**
 * dlp_element_add_optional_pad:
 * @self: an element
 * @name: its name, unique within the element
 * @direction: its direction
 *
 * Adds a pad that holds no element open and need not be linked, such as `rejected`.
 *
 * Threads: the one that makes the element: in its instance init, or in request_pad().
 *
 * Returns: (transfer none): the pad
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpPad *
dlp_element_add_optional_pad (DlpElement *self, const char *name, DlpPadDirection direction);

/* ---- what it is ---- */

/**
 * dlp_element_get_name:
 * @self: an element
 *
 * Gets the name of the element within its pipeline.
 *
 * Threads: any, once the graph is built.
 *
 * Returns: (transfer none): a name
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
const char *dlp_element_get_name (DlpElement *self);

/**
 * dlp_element_get_factory:
 * @self: an element
 *
 * Gets the name of its factory, such as "jsonl-reader".
 *
 * Threads: any, once the graph is built.
 *
 * Returns: (transfer none): a name
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
const char *dlp_element_get_factory (DlpElement *self);

/**
 * dlp_element_get_n_inputs:
 * @self: an element
 *
 * Gets the number of input pads.
 *
 * Threads: any, once the graph is built.
 *
 * Returns: how many
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
guint dlp_element_get_n_inputs (DlpElement *self);

/**
 * dlp_element_get_n_outputs:
 * @self: an element
 *
 * Gets the number of output pads.
 *
 * Threads: any, once the graph is built.
 *
 * Returns: how many
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
guint dlp_element_get_n_outputs (DlpElement *self);

/**
 * dlp_element_get_input:
 * @self: an element
 * @input: its number, from 0
 *
 * Gets an input pad.
 *
 * Threads: any, once the graph is built.
 *
 * Returns: (transfer none): a pad
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpPad *dlp_element_get_input (DlpElement *self, guint input);

/**
 * dlp_element_get_output:
 * @self: an element
 * @output: its number, from 0
 *
 * Gets an output pad.
 *
 * Threads: any, once the graph is built.
 *
 * Returns: (transfer none): a pad
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpPad *dlp_element_get_output (DlpElement *self, guint output);

/**
 * dlp_element_find_pad:
 * @self: an element
 * @name: its name
 *
 * Finds a pad.
 *
 * Threads: any, once the graph is built.
 *
 * Returns: (transfer none) (nullable): a pad
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpPad *dlp_element_find_pad (DlpElement *self, const char *name);

/* ---- for authors, once the graph is built ---- */

/**
 * dlp_pad_get_element:
 * @self: a pad
 *
 * Gets the element that the pad belongs to.
 *
 * Threads: any, once the graph is built.
 *
 * Returns: (transfer none): an element
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
DlpElement *dlp_pad_get_element (DlpPad *self);

/**
 * dlp_element_get_seed:
 * @self: an element
 *
 * Gets the seed of the pipeline, from which all random draws follow.
 *
 * Threads: any, once the pipeline is prepared: in start() and after. When the graph is built a
 *   state was not read yet, which may have another.
 *
 * Returns: the seed
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
guint64 dlp_element_get_seed (DlpElement *self);

/**
 * dlp_element_get_stage:
 * @self: an element
 *
 * Gets the stage of the curriculum to which the element belongs.
 *
 * Threads: any, once the graph is built.
 *
 * Returns: the stage, from 0
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
guint dlp_element_get_stage (DlpElement *self);

/**
 * dlp_element_get_ordinal:
 * @self: an element
 *
 * Gets the ordinal of a source among the sources of its stage, of another element among those of
 * its kind in its stage, in the order of the graph. What is in no stage counts as in stage 0,
 * behind all that is.
 *
 * Threads: any, once the graph is built.
 *
 * Returns: the ordinal, from 0
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
guint dlp_element_get_ordinal (DlpElement *self);

/**
 * dlp_element_get_strict:
 * @self: an element
 *
 * Gets whether the first fault ends the run.
 *
 * Threads: any, once the graph is built.
 *
 * Returns: whether the pipeline is strict
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_element_get_strict (DlpElement *self);

/**
 * dlp_element_get_memory_budget:
 * @self: an element
 *
 * Gets the memory budget of the whole pipeline; known in start().
 *
 * Threads: any, once the graph is built.
 *
 * Returns: bytes
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
guint64 dlp_element_get_memory_budget (DlpElement *self);

/**
 * dlp_element_get_memory_share:
 * @self: an element
 *
 * Gets how much this element may hold beyond its links, from start() on: at most what its class's
 * want_memory() asked for, less where the memory budget is short.
 *
 * Threads: any, once the graph is built.
 *
 * Returns: bytes
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gsize dlp_element_get_memory_share (DlpElement *self);

/**
 * dlp_element_is_finishing:
 * @self: an element
 *
 * Gets whether the pipeline was asked to end its inputs: a source or reader ends as soon as it can.
 * Where it ends before it has given all, it says so by dlp_element_note_cut_short(); #DlpSource and
 * #DlpReader do both by themselves.
 *
 * Threads: any, once the graph is built.
 *
 * Returns: whether it was
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_element_is_finishing (DlpElement *self);

/**
 * dlp_element_get_cancellable:
 * @self: an element
 *
 * Gets what interrupts the I/O of negotiate(), which is not given one; the others are.
 *
 * Threads: the element's; in negotiate(), the one that prepares the pipeline.
 *
 * Returns: (transfer none) (nullable): a cancellable; %NULL outside of a pipeline
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
GCancellable *dlp_element_get_cancellable (DlpElement *self);

/**
 * dlp_element_note_cut_short:
 * @self: an element
 *
 * Said before an end by dlp_element_is_finishing() that something is dropped by: the run, once it
 * is complete, counts as finished early for ever. Not where only the end was left.
 *
 * Threads: the element's, in step().
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_element_note_cut_short (DlpElement *self);

/**
 * dlp_element_is_replaying:
 * @self: an element
 *
 * Gets whether what is emitted now was seen outside before a restore: warnings are to be silent.
 *
 * Threads: any, once the graph is built.
 *
 * Returns: whether it was
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_element_is_replaying (DlpElement *self);

/**
 * dlp_element_want_input:
 * @self: an element
 * @input: the number of the input
 *
 * Names the input that is waited for.
 *
 * Threads: the element's, in step().
 *
 * Returns: %DLP_STEP_WANT_INPUT, to be returned by the step
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpStep dlp_element_want_input (DlpElement *self, guint input);

/**
 * dlp_element_want_input_or_work:
 * @self: an element
 * @input: the number of the input
 *
 * Names the input that is waited for, where work is out too.
 *
 * Threads: the element's, in step().
 *
 * Returns: %DLP_STEP_WANT_INPUT_OR_WORK, to be returned by the step
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpStep dlp_element_want_input_or_work (DlpElement *self, guint input);

/**
 * dlp_element_wake:
 * @self: an element
 *
 * Says that what %DLP_STEP_WANT_WORK waited for may be there.
 *
 * Threads: any.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_element_wake (DlpElement *self);

/**
 * dlp_element_find_writer:
 * @self: an element
 * @path: (type filename): the name of a file
 *
 * Finds the sink of this pipeline that writes a file, for a source that is about to read it; from
 * negotiate() on.
 *
 * Threads: any.
 *
 * Returns: (transfer none) (nullable): the name of the sink
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
const char *dlp_element_find_writer (DlpElement *self, const char *path);

/**
 * dlp_element_warn:
 * @self: an element
 * @uri: (nullable) (type filename): the file that it is about
 * @row: the row of the file; -1: none
 * @message: what is to be said
 *
 * Logs a structured warning (domain "dlpipe", fields DLP_ELEMENT, DLP_FILE, DLP_ROW), silent while
 * replaying; kept for the report.
 *
 * Threads: any.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_element_warn (DlpElement *self, const char *uri, gint64 row, const char *message);

/**
 * DlpWorkFunc:
 * @self: the element
 * @worker: the number of the worker, below dlp_element_get_n_workers()
 * @data: (closure): data of the work
 *
 * A piece of stateless work.
 *
 * Threads: a worker; or the caller of dlp_element_submit_work(), where the pipeline runs on one
 *   thread.
 *
 * Since: 0.1
 */
typedef void (*DlpWorkFunc) (DlpElement *self, guint worker, gpointer data);

/**
 * dlp_element_get_n_workers:
 * @self: an element
 *
 * Gets the number of workers of the shared pool, which are numbered from 0.
 *
 * Threads: any.
 *
 * Returns: how many
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
guint dlp_element_get_n_workers (DlpElement *self);

/**
 * dlp_element_submit_work:
 * @self: an element
 * @func: (scope async) (closure data): the work
 * @data: data for @func
 *
 * Has a piece of stateless work done on the shared pool; or at once, where the pipeline runs on one
 * thread. @func is called once, and does not outlive stop().
 *
 * Threads: the element's.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_element_submit_work (DlpElement *self, DlpWorkFunc func, gpointer data);

/**
 * dlp_element_check_input_file:
 * @self: an element
 * @coordinate: where the record comes from
 * @uri: (type filename): its URI or path
 * @size: its size in bytes; -1: unknown
 * @identity: what must be equal at each opening
 * @error: return location for an error
 *
 * Records the identity of an opened file, and compares it with what was recorded at an earlier
 * opening, also in earlier attempts. Called when a file is opened.
 *
 * Threads: any.
 *
 * Returns: %FALSE with %DLP_DATA_ERROR_CHANGED
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_element_check_input_file (DlpElement *self,
                                       const DlpCoordinate *coordinate,
                                       const char *uri,
                                       gint64 size,
                                       const char *identity,
                                       GError **error);

/**
 * dlp_element_dup_input_name:
 * @self: an element
 * @coordinate: where the record comes from
 *
 * Gets the name, fit to print, of the file that a record comes from, if a reader opened it. For
 * messages: it may read the list of input files from the state folder, and readers that open a file
 * wait for that.
 *
 * Threads: any.
 *
 * Returns: (transfer full) (nullable): a name; %NULL too outside of a pipeline
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
char *dlp_element_dup_input_name (DlpElement *self, const DlpCoordinate *coordinate);

/**
 * dlp_element_set_progress:
 * @self: an element
 * @bytes_done: bytes read
 * @bytes_total: bytes to be read
 * @files_done: files read
 * @files_total: files to be read
 *
 * Says which parts of the input are known and done. Set, not added.
 *
 * Threads: any.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_element_set_progress (DlpElement *self,
                               guint64 bytes_done,
                               guint64 bytes_total,
                               guint files_done,
                               guint files_total);

/**
 * dlp_element_add_io_wait:
 * @self: an element
 * @microseconds: how long
 *
 * Adds time spent waiting for I/O of its own, for the statistics.
 *
 * Threads: any.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_element_add_io_wait (DlpElement *self, gint64 microseconds);

/**
 * dlp_element_hold_marks:
 * @self: an element
 * @hold: whether marks are held back
 *
 * Says that an element refills what it held before a restore: no newer marks are made for it, and
 * the inputs of the pipeline are not ended early.
 *
 * Threads: the element's, in start() and step().
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_element_hold_marks (DlpElement *self, gboolean hold);

/**
 * dlp_element_open_scratch:
 * @self: an element
 * @error: return location for an error
 *
 * Makes an empty file without a name, for what does not fit the memory share: in the state folder
 * if there is one, else in /var/tmp.
 *
 * Threads: any.
 *
 * Returns: its descriptor, to be closed by the caller; -1 on error
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
int dlp_element_open_scratch (DlpElement *self, GError **error);

/**
 * dlp_element_set_status:
 * @self: an element
 * @status: (nullable): what is waited for; %NULL: it is over
 *
 * Declares a wait ("retry in 42 s"): no stall of this element, nor of those that wait for it.
 *
 * Threads: any.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_element_set_status (DlpElement *self, const char *status);

/* ---- for class init ---- */

/**
 * dlp_element_class_set_description:
 * @klass: a class
 * @description: one line
 * @example: (nullable): an example of a graph
 *
 * Describes the class in listings.
 *
 * Threads: the one of the class init.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_element_class_set_description (DlpElementClass *klass,
                                        const char *description,
                                        const char *example);

/**
 * dlp_element_class_set_flags:
 * @klass: a class
 * @flags: what it promises
 *
 * Sets what the class promises; in C one sets the field.
 *
 * Threads: the one of the class init.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_element_class_set_flags (DlpElementClass *klass, DlpElementFlags flags);

G_END_DECLS
