/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlpipe.h>

/* libdlpipe-check-1.0: tests of elements, for those who write them. Link a test with
 * `pkg-config --libs dlpipe-check-1.0`; call g_test_init(), then dlp_check_init().
 *
 * A check that fails ends the test like a failed assertion, and prints the element, the pad and the
 * record, what was expected and what was got, and the command that does the same again. All of it
 * is called on the main thread of the test. */

G_BEGIN_DECLS

/**
 * dlp_check_init:
 *
 * Once, behind g_test_init(): registers the elements `check-source`, `check-input` and
 * `check-sink`, and takes the seed of all that is random from the environment variable
 * DLPIPE_CHECK_SEED, or else from the test framework.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_check_init (void);

/**
 * dlp_check_scale:
 * @n: a count
 *
 * Returns: DLPIPE_TEST_SCALE (an environment variable, 1 without) times @n, at least 1
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
guint dlp_check_scale (guint n);

/* ---- whole graphs ----
 *
 * A graph is a text. It ends in sinks under test, or in `check-sink`s, which keep each record as a
 * line of text. Records come from sources under test, from `check-source records=N` (random text:
 * fields text, id, score; with tokens=true: tokens, id, score), or from what was pushed into a
 * #DlpCheckHarness. "{dir}" stands for the folder of the run, whose files are part of its result.
 *
 * What resumption goes by is the sink named "k", or else the first sink of the graph. */

/**
 * DlpCheckSettings:
 * @runner: how the elements are driven
 * @workers: threads of the shared pool; 0: the default
 * @link_batches: record batches a link holds; 0: the default
 * @batch_records: records a record batch holds at most; 0: the default
 * @random_yields: threads give way at random
 * @seed: the pipeline's
 *
 * None of these but the seed may change what comes out.
 *
 * Since: 0.2
 */
typedef struct
{
  DlpRunnerKind runner;
  guint workers;
  guint link_batches;
  guint batch_records;
  gboolean random_yields;
  guint64 seed;
} DlpCheckSettings;

/**
 * dlp_check_run:
 * @graph: graph text
 * @settings: (nullable): NULL: the defaults
 * @error: set where it does not end well
 *
 * Runs @graph to its end; what each `check-sink` got is in dlp_check_sink_get_lines().
 *
 * Returns: whether it ended well
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean dlp_check_run (const char *graph, const DlpCheckSettings *settings, GError **error);

/**
 * dlp_check_expect:
 * @graph: graph text
 *
 * Runs @graph undisturbed, and asserts that it ends well.
 *
 * Returns: (transfer full) (element-type utf8 GPtrArray): what each `check-sink` got: its name to
 *   an array of lines
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
GHashTable *dlp_check_expect (const char *graph);

/**
 * dlp_check_run_in_pieces:
 * @graph: graph text
 * @stride: records an attempt; 0: a random number from 1 to 5 each time
 *
 * Stops the run behind every @stride records of its sink, and goes on from its state in a new
 * pipeline, until it ends.
 *
 * Returns: the number of attempts
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
guint dlp_check_run_in_pieces (const char *graph, guint stride);

/**
 * dlp_check_resume:
 * @graph: graph text
 * @stride: see dlp_check_run_in_pieces()
 *
 * Asserts that a run in pieces gives what an undisturbed one gives: every sink's lines and files,
 * and what the report of the end says of every element (but of those before one that closes its
 * input early, since how far they ran ahead is a matter of time).
 *
 * Returns: the number of attempts
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
guint dlp_check_resume (const char *graph, guint stride);

/**
 * dlp_check_marks:
 * @graph: graph text
 *
 * Checks the cursors on both sides of each element. At every mark that core makes, the cursor for
 * each input is compared with what was consumed: a mark that names records not yet consumed is
 * reported with element, pad and position. Then, for every record of the sink (of a long stream, 64
 * of them), the run is stopped there and restored from the mark which that record carries: exactly
 * the remainder must come.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_check_marks (const char *graph);

/**
 * dlp_check_stress:
 * @graph: graph text
 *
 * Asserts the same output under each runner, with 1, 2 and 7 workers, links of 1 and of 64 record
 * batches, record batches of 1 and of 1,024 records, and threads that give way at random.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_check_stress (const char *graph);

/**
 * dlp_check_stop:
 * @graph: graph text
 *
 * Stops the run at its first call of a step, parse(), process(), consume(), flush(), sync() or
 * publish(), at its second, and so on (the later ones not at each); each time it must end within
 * two seconds, leave no element and no open file behind, and give the undisturbed result once it is
 * continued. DLPIPE_TEST_PATIENCE multiplies the seconds.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_check_stop (const char *graph);

/**
 * dlp_check_cancel:
 * @graph: graph text
 *
 * The same, but the run is cancelled, by a #GCancellable; and then at random times too, so also
 * while an element waits in its own I/O.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_check_cancel (const char *graph);

/**
 * dlp_check_kill:
 * @graph: graph text
 * @n_kills: how often
 *
 * Runs @graph in child processes that die by SIGKILL, half of them behind a random record, half of
 * them at a random time, until one comes to the end; asserts that the result is that of an
 * undisturbed run. Repeated until @n_kills children have died, or as many attempts were made.
 *
 * Returns: how many died
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
guint dlp_check_kill (const char *graph, guint n_kills);

/**
 * dlp_check_all:
 * @graph: graph text
 *
 * dlp_check_marks(), dlp_check_resume() at every record and at random ones, dlp_check_stress(),
 * dlp_check_stop(), dlp_check_cancel(), and dlp_check_kill() with 10 kills.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_check_all (const char *graph);

/**
 * dlp_check_golden:
 * @graph: graph text with a `check-sink name=k`
 * @path: (type filename): name of a file
 *
 * Asserts that what sink "k" gets is what the file says, a record a line. With the environment
 * variable DLPIPE_UPDATE_GOLDEN set the file is written instead.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_check_golden (const char *graph, const char *path);

/* ---- check-sink ---- */

/**
 * dlp_check_sink_get_lines:
 * @name: name of a `check-sink`
 *
 * Returns: (transfer none) (element-type utf8): what it got, a record a line: the coordinate as
 *   "[stage source file row epoch]", and each field as name=value, text in base64
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
GPtrArray *dlp_check_sink_get_lines (const char *name);

/**
 * dlp_check_sink_clear:
 *
 * Forgets what all of them got.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_check_sink_clear (void);

/**
 * dlp_check_sink_set_pipeline:
 * @pipeline: (nullable): the pipeline that runs next
 *
 * Says what the property `stop-after` of a `check-sink` stops. For pipelines made by the test
 * itself.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_check_sink_set_pipeline (DlpPipeline *pipeline);

/**
 * dlp_check_record_to_text:
 * @batch: a record batch
 * @row: a row of it
 *
 * Returns: (transfer full): the record as a line of a `check-sink`
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
char *dlp_check_record_to_text (const DlpRecordBatch *batch, guint row);

/* ---- one element ---- */

/**
 * DlpCheckHarness:
 *
 * An element alone in a real pipeline: what is pushed goes in, what it makes of it is pulled from
 * its output pads.
 *
 *     DlpCheckHarness *harness = dlp_check_harness_new ("shout field=text");
 *     dlp_check_harness_push_text (harness, "hello");
 *     dlp_check_harness_assert_text (harness, "out", "text", "HELLO");
 *     dlp_check_harness_check_all (harness);
 *     dlp_check_harness_free (harness);
 *
 * The run begins with the first pull, or when it is finished. All that was pushed is kept for the
 * checks, which run it from its beginning.
 *
 * Since: 0.2
 */
typedef struct _DlpCheckHarness DlpCheckHarness;

/**
 * dlp_check_harness_new: (skip)
 * @element: graph text of one element, such as "shout field=text"; "{dir}" in it stands for the
 *   folder of the run
 *
 * Asserts that there is such an element. A source needs nothing pushed; a reader gets files, other
 * elements records.
 *
 * Returns: (transfer full): a harness
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
DlpCheckHarness *dlp_check_harness_new (const char *element);

/**
 * dlp_check_harness_free: (skip)
 * @self: (transfer full): a harness
 *
 * Ends the run, where one goes on, and asserts that no record batch that was pushed is still held.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_check_harness_free (DlpCheckHarness *self);

/**
 * dlp_check_harness_push: (skip)
 * @self: a harness
 * @batch: (transfer none): records; all that are pushed have one schema
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_check_harness_push (DlpCheckHarness *self, DlpRecordBatch *batch);

/**
 * dlp_check_harness_push_text: (skip)
 * @self: a harness
 * @text: UTF-8
 *
 * Pushes a record {text: string}; rows are counted up.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_check_harness_push_text (DlpCheckHarness *self, const char *text);

/**
 * dlp_check_harness_push_tokens: (skip)
 * @self: a harness
 * @tokens: (array length=n_tokens): tokens
 * @n_tokens: how many
 *
 * Pushes a record {tokens: list<uint16>}; rows are counted up.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_check_harness_push_tokens (DlpCheckHarness *self, const guint16 *tokens, gsize n_tokens);

/**
 * dlp_check_harness_push_file: (skip)
 * @self: a harness
 * @name: the name that it shall have, without a folder
 * @data: (array length=size) (element-type guint8): what is in it
 * @size: bytes, -1: up to the NUL
 *
 * Pushes a file, for readers.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_check_harness_push_file (DlpCheckHarness *self,
                                  const char *name,
                                  gconstpointer data,
                                  gssize size);

/**
 * dlp_check_harness_end: (skip)
 * @self: a harness
 *
 * Nothing more will be pushed.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_check_harness_end (DlpCheckHarness *self);

/**
 * dlp_check_harness_pull: (skip)
 * @self: a harness
 * @pad: name of an output pad
 *
 * Waits for the next record; at most ten seconds, then the test fails.
 *
 * Returns: (transfer full) (nullable): a record batch of one record; NULL: the stream has ended,
 *   which takes dlp_check_harness_end()
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
DlpRecordBatch *dlp_check_harness_pull (DlpCheckHarness *self, const char *pad);

/**
 * dlp_check_harness_assert_text: (skip)
 * @self: a harness
 * @pad: name of an output pad
 * @field: a string or binary field
 * @text: (nullable): what it must be; NULL: null
 *
 * Pulls a record and compares one field of it.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_check_harness_assert_text (DlpCheckHarness *self,
                                    const char *pad,
                                    const char *field,
                                    const char *text);

/**
 * dlp_check_harness_assert_record: (skip)
 * @self: a harness
 * @pad: name of an output pad
 * @line: coordinate and fields as in messages: `[0 0 0 1 0] text="HELLO" n=1 tokens= 1 2 3`
 *
 * Pulls a record and compares all of it.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_check_harness_assert_record (DlpCheckHarness *self, const char *pad, const char *line);

/**
 * dlp_check_harness_assert_end: (skip)
 * @self: a harness
 * @pad: name of an output pad
 *
 * Ends the input, and asserts that nothing more comes.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_check_harness_assert_end (DlpCheckHarness *self, const char *pad);

/**
 * dlp_check_harness_finish: (skip)
 * @self: a harness
 * @error: set where the run failed
 *
 * Ends the input and waits for the end of the run.
 *
 * Returns: whether it ended well
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean dlp_check_harness_finish (DlpCheckHarness *self, GError **error);

/**
 * dlp_check_harness_assert_error: (skip)
 * @self: a harness
 * @domain: an error domain
 * @code: a code of it
 * @part: what the message must contain
 *
 * Ends the input, and asserts that the run fails so.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void
dlp_check_harness_assert_error (DlpCheckHarness *self, GQuark domain, int code, const char *part);

/**
 * dlp_check_harness_get_counter: (skip)
 * @self: a harness whose run has ended
 * @name: a number in the element's part of the report
 *
 * Returns: what the report says; asserted to be there
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
guint64 dlp_check_harness_get_counter (DlpCheckHarness *self, const char *name);

/**
 * dlp_check_harness_get_folder: (skip)
 * @self: a harness
 *
 * Returns: (transfer none): what "{dir}" is in its run
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
const char *dlp_check_harness_get_folder (DlpCheckHarness *self);

/**
 * dlp_check_harness_assert_file: (skip)
 * @self: a harness whose run has ended
 * @name: name of a file in its folder
 * @text: what must be in it
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_check_harness_assert_file (DlpCheckHarness *self, const char *name, const char *text);

/**
 * dlp_check_harness_get_graph: (skip)
 * @self: a harness
 *
 * Ends the run, where one goes on.
 *
 * Returns: (transfer none): graph text in which the element gets all that was pushed, for the
 *   checks of graphs; valid until more is pushed, or the harness is freed
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
const char *dlp_check_harness_get_graph (DlpCheckHarness *self);

/**
 * dlp_check_harness_check_all: (skip)
 * @self: a harness
 *
 * dlp_check_all() with all that was pushed; and asserts that no record batch is still held
 * afterwards.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_check_harness_check_all (DlpCheckHarness *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpCheckHarness, dlp_check_harness_free)

G_END_DECLS
