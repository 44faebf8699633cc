/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-pipeline.h"

G_BEGIN_DECLS

#define DLP_TYPE_FANOUT (dlp_fanout_get_type ())
/**
 * DlpFanout:
 *
 * A graph that is run as many tasks, each of them a pipeline with a part of the input files and of
 * the output, by several processes. The files are dealt once, by a rule that depends on them alone,
 * and the plan is kept in the job's folder; so how many workers there are, and which of them runs a
 * task, never changes what comes out. Killed or stopped, the same job goes on from the checkpoints
 * of its tasks.
 *
 * It is a #GListModel of its workers, of #DlpFanoutWorker. It captures the thread-default main
 * context at construction: notifies, changes of the list and async results come there. A fan-out
 * runs once. Its settings are properties that are set before dlp_fanout_prepare().
 *
 * A worker that dies, or no longer answers, is replaced, and its task goes on from its checkpoint;
 * a task whose workers die once more than #DlpFanout:retries has failed, and the others are still
 * done.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
G_DECLARE_FINAL_TYPE (DlpFanout, dlp_fanout, DLP, FANOUT, GObject)

/**
 * DlpFanout:workers:
 *
 * Processes that run tasks; 0: one for each device, or, without #DlpFanout:devices, for four CPUs
 * of the budget. Where there is one worker or one task, or (with 0) less than 256 MiB of input, the
 * tasks run in the process itself, one after the other. To be set before dlp_fanout_prepare().
 *
 * Since: 0.2
 */

/**
 * DlpFanout:tasks:
 *
 * Tasks that the files are dealt to; 0: one for each 16 GiB as stored, 1 to 1024, and no more than
 * there are files. A job that goes on has those that it began with. To be set before
 * dlp_fanout_prepare().
 *
 * Since: 0.2
 */

/**
 * DlpFanout:retries:
 *
 * How often a task is begun again from its checkpoint when its worker has died, or it failed with
 * what may pass, such as an error of input or output. To be set before dlp_fanout_prepare().
 *
 * Since: 0.2
 */

/**
 * DlpFanout:state-dir:
 *
 * The folder of the job: its plan, the states and logs of its tasks. %NULL: LOCATION.fanout beside
 * the output of the first sink; where no sink writes files, a temporary one. To be set before
 * dlp_fanout_prepare().
 *
 * Since: 0.2
 */

/**
 * DlpFanout:seed:
 *
 * The seed of all random draws. To be set before dlp_fanout_prepare().
 *
 * Since: 0.2
 */

/**
 * DlpFanout:memory:
 *
 * Memory for queues, buffers and caches of all workers together, in bytes; 0: of each what a
 * pipeline has by default, and together at most a quarter of what there is. To be set before
 * dlp_fanout_prepare().
 *
 * Since: 0.2
 */

/**
 * DlpFanout:threads:
 *
 * Threads for stateless work of all workers together; 0: the CPU budget. To be set before
 * dlp_fanout_prepare().
 *
 * Since: 0.2
 */

/**
 * DlpFanout:checkpoint-interval:
 *
 * As #DlpPipeline:checkpoint-interval, of each task. To be set before dlp_fanout_prepare().
 *
 * Since: 0.2
 */

/**
 * DlpFanout:strict:
 *
 * As #DlpPipeline:strict, of each task. To be set before dlp_fanout_prepare().
 *
 * Since: 0.2
 */

/**
 * DlpFanout:overwrite:
 *
 * As #DlpPipeline:overwrite, of each task. To be set before dlp_fanout_prepare().
 *
 * Since: 0.2
 */

/**
 * DlpFanout:restart:
 *
 * Whether the states and outputs of the job are discarded first. To be set before
 * dlp_fanout_prepare().
 *
 * Since: 0.2
 */

/**
 * DlpFanout:merge:
 *
 * Whether the parts become one output when all tasks are done: LOCATION/all, with the endings that
 * parts have, which is what its parts are one behind the other. A sink that cannot is refused
 * before anything is run. See #DlpMerge. To be set before dlp_fanout_prepare().
 *
 * Since: 0.2
 */

/**
 * DlpFanout:remove-parts:
 *
 * Whether the parts are removed once they are merged, by #DlpFanout:merge. To be set before
 * dlp_fanout_prepare().
 *
 * Since: 0.2
 */

/**
 * DlpFanout:update:
 *
 * Whether files that are new since the job was planned get tasks of their own; what is done stays.
 * Files that are gone or have changed are refused, unless #DlpFanout:accept-changed; tasks that
 * have failed are held out, unless #DlpFanout:retry-failed. To be set before dlp_fanout_prepare().
 *
 * Since: 0.2
 */

/**
 * DlpFanout:accept-changed:
 *
 * With #DlpFanout:update: files may be gone or have changed. What was made of them stays, and what
 * has changed is made once more. To be set before dlp_fanout_prepare().
 *
 * Since: 0.2
 */

/**
 * DlpFanout:retry-failed:
 *
 * Whether failed tasks of a job that has ended are run again, and nothing else. To be set before
 * dlp_fanout_prepare().
 *
 * Since: 0.2
 */

/**
 * DlpFanout:stall-timeout:
 *
 * How long nothing may move in a task before it is begun again, in microseconds; 0: for ever. To be
 * set before dlp_fanout_prepare().
 *
 * Since: 0.2
 */

/**
 * DlpFanout:answer-timeout:
 *
 * How long a worker may say nothing before it is killed, in microseconds; 0: for ever. It speaks
 * four times a second. To be set before dlp_fanout_prepare().
 *
 * Since: 0.2
 */

/**
 * DlpFanout:plan-timeout:
 *
 * How long a fan-out of another rank than 0 waits for rank 0 to have dealt the files, in
 * microseconds; 0: for ever. To be set before dlp_fanout_prepare().
 *
 * Since: 0.2
 */

/**
 * DlpFanout:grace:
 *
 * How long all tasks together have for their checkpoints after dlp_fanout_stop(), in microseconds;
 * what has not ended then is killed. To be set before dlp_fanout_prepare().
 *
 * Since: 0.2
 */

/**
 * DlpFanout:devices:
 *
 * Devices that are dealt to the workers in turn, as values of the environment variable
 * #DlpFanout:device-env. DLPIPE_DEVICE has the same value, and DLPIPE_DEVICE_DIR is a folder that
 * the workers of one device share. To be set before dlp_fanout_prepare().
 *
 * Since: 0.2
 */

/**
 * DlpFanout:device-env:
 *
 * The environment variable that tells a worker its device. To be set before dlp_fanout_prepare().
 *
 * Since: 0.2
 */

/**
 * DlpFanout:rank:
 *
 * With #DlpFanout:world-size: of several fan-outs that share a job's folder, on several machines,
 * this one's number; it runs each task whose number modulo the world size is the rank. To be set
 * before dlp_fanout_prepare().
 *
 * Since: 0.2
 */

/**
 * DlpFanout:world-size:
 *
 * How many fan-outs share the job's folder. To be set before dlp_fanout_prepare().
 *
 * Since: 0.2
 */

/**
 * DlpFanout:wait-for-lock:
 *
 * Whether it waits where another fan-out holds the job, or, of several, another attempt of this
 * rank the rank, as on a node that a scheduler took for lost, and says so by a message; else that
 * is an error. A stop or a cancel ends the wait. To be set before dlp_fanout_prepare().
 *
 * Since: 0.2
 */

/**
 * DlpFanout:status:
 *
 * Where in its life the fan-out is.
 *
 * Since: 0.2
 */

/**
 * DlpFanout:fraction:
 *
 * The share of the input that has passed through, 0 to 1, which never shrinks; -1: not planned yet.
 *
 * Since: 0.2
 */

/**
 * DlpFanout:tasks-done:
 *
 * Tasks that are complete.
 *
 * Since: 0.2
 */

/**
 * DlpFanout:tasks-failed:
 *
 * Tasks that are given up.
 *
 * Since: 0.2
 */

/**
 * DlpFanout:tasks-total:
 *
 * Tasks that this fan-out runs; 0: not planned yet.
 *
 * Since: 0.2
 */

/**
 * DlpFanout:files-total:
 *
 * Input files of these tasks.
 *
 * Since: 0.2
 */

/**
 * DlpFanout:records:
 *
 * Records that reached the sinks, over all tasks and attempts.
 *
 * Since: 0.2
 */

/**
 * DlpFanout:tokens:
 *
 * Tokens that reached the sinks, the same.
 *
 * Since: 0.2
 */

/**
 * DlpFanout:bytes:
 *
 * Bytes of input files that are read, the same.
 *
 * Since: 0.2
 */

/**
 * DlpFanout:elapsed:
 *
 * Seconds of this run.
 *
 * Since: 0.2
 */

#define DLP_TYPE_FANOUT_WORKER (dlp_fanout_worker_get_type ())
/**
 * DlpFanoutWorker:
 *
 * A worker of a #DlpFanout, for lists: a place for a process, which has another one when that dies.
 * Its properties are notified in the main context of the fan-out.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
G_DECLARE_FINAL_TYPE (DlpFanoutWorker, dlp_fanout_worker, DLP, FANOUT_WORKER, GObject)

/**
 * DlpFanoutWorker:number:
 *
 * Its number, from 0.
 *
 * Since: 0.2
 */

/**
 * DlpFanoutWorker:pid:
 *
 * The process; 0: there is none, or it is the fan-out's own.
 *
 * Since: 0.2
 */

/**
 * DlpFanoutWorker:task:
 *
 * The task that it runs; -1: none.
 *
 * Since: 0.2
 */

/**
 * DlpFanoutWorker:device:
 *
 * Its device; %NULL: none.
 *
 * Since: 0.2
 */

/**
 * DlpFanoutWorker:restarts:
 *
 * How many of its processes have died.
 *
 * Since: 0.2
 */

/**
 * DlpFanoutWorker:fraction:
 *
 * How much of its task has passed through, 0 to 1; -1: unknown.
 *
 * Since: 0.2
 */

/**
 * DlpFanoutWorker:records:
 *
 * Records of its task that reached the sinks.
 *
 * Since: 0.2
 */

/**
 * DlpFanoutWorker:bytes:
 *
 * Bytes of input files of its task that are read.
 *
 * Since: 0.2
 */

/**
 * dlp_fanout_new_from_string:
 * @text: a graph
 * @error: return location for an error
 *
 * Makes a fan-out of a graph. Errors: #DlpGraphError, with the place in the text.
 *
 * Threads: the one that makes the fan-out.
 *
 * Returns: (transfer full): a fan-out
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
DlpFanout *dlp_fanout_new_from_string (const char *text, GError **error);

/**
 * dlp_fanout_set_property_text:
 * @self: a fan-out
 * @element: the name of an element
 * @property: the name of one of its properties
 * @value: its value as text
 * @error: return location for an error
 *
 * As dlp_pipeline_set_property_text(), for all tasks.
 *
 * Threads: the one that makes the fan-out.
 *
 * Returns: %FALSE with an error
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean dlp_fanout_set_property_text (DlpFanout *self,
                                       const char *element,
                                       const char *property,
                                       const char *value,
                                       GError **error);

/**
 * dlp_fanout_prepare:
 * @self: a fan-out
 * @cancellable: (nullable): a cancellable
 * @error: return location for an error
 *
 * Checks the graph, lists its files and deals them, or finds the plan that the job has; makes the
 * folders. Done by dlp_fanout_run() where it was not called.
 *
 * Blocks. Errors: those of dlp_pipeline_check(); %DLP_GRAPH_ERROR_VALUE: an element, or what a
 * source reads, is not for a fan-out; #DlpStateError: the job is another one, or held by another
 * fan-out; those of writing the plan.
 *
 * Threads: any, one at a time.
 *
 * Returns: %FALSE with an error
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean dlp_fanout_prepare (DlpFanout *self, GCancellable *cancellable, GError **error);

/**
 * dlp_fanout_run:
 * @self: a fan-out
 * @cancellable: (nullable): a cancellable; the workers are killed
 * @error: return location for an error
 *
 * Runs all tasks, blocking; does not iterate a main context. Errors: %DLP_PIPELINE_ERROR_STOPPED
 * after a stop, %DLP_PIPELINE_ERROR_ABORTED, %G_IO_ERROR_CANCELLED; that of the first task that
 * failed, when all others are done.
 *
 * Workers die with the thread that runs them.
 *
 * Threads: any, one at a time.
 *
 * Returns: %TRUE: all tasks are complete; %FALSE with an error
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean dlp_fanout_run (DlpFanout *self, GCancellable *cancellable, GError **error);

/**
 * dlp_fanout_run_async:
 * @self: a fan-out
 * @cancellable: (nullable): a cancellable; the workers are killed
 * @callback: (scope async) (nullable): called in the main context of the fan-out
 * @user_data: (closure): for @callback
 *
 * As dlp_fanout_run(), without blocking. The run holds a reference until @callback was called.
 *
 * Threads: any, one at a time.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_fanout_run_async (DlpFanout *self,
                           GCancellable *cancellable,
                           GAsyncReadyCallback callback,
                           gpointer user_data);

/**
 * dlp_fanout_run_finish:
 * @self: a fan-out
 * @result: what the callback was given
 * @error: return location for an error
 *
 * Ends dlp_fanout_run_async().
 *
 * Returns: as dlp_fanout_run()
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean dlp_fanout_run_finish (DlpFanout *self, GAsyncResult *result, GError **error);

/**
 * dlp_fanout_stop:
 * @self: a fan-out
 *
 * Stops all tasks: each makes a checkpoint, and no other one is begun. Returns at once.
 *
 * Threads: any.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_fanout_stop (DlpFanout *self);

/**
 * dlp_fanout_abort:
 * @self: a fan-out
 *
 * Kills the workers. Returns at once.
 *
 * Threads: any.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_fanout_abort (DlpFanout *self);

/**
 * dlp_fanout_get_status:
 * @self: a fan-out
 *
 * Gets where in its life the fan-out is.
 *
 * Threads: any.
 *
 * Returns: a status
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
DlpPipelineStatus dlp_fanout_get_status (DlpFanout *self);

/**
 * dlp_fanout_get_report:
 * @self: a fan-out
 *
 * Gets everything known of the job: counters, what became of each task and each input file, workers
 * that died and why, digests. See docs/internals/fanout.md for its members.
 *
 * Threads: any.
 *
 * Returns: (transfer full): a value of type a{sv}, not floating
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
GVariant *dlp_fanout_get_report (DlpFanout *self);

/**
 * dlp_fanout_refuse_element:
 * @element: an element
 * @why: what it does across all records, such as "counts records"
 * @n_tasks: how many tasks there are
 * @error: return location for an error
 *
 * For the check_tasks() of elements that have a property `per-task`: says why such an element is
 * refused, and how its user says that it is meant.
 *
 * Threads: any.
 *
 * Returns: %FALSE, with %DLP_GRAPH_ERROR_VALUE
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean
dlp_fanout_refuse_element (DlpElement *element, const char *why, guint n_tasks, GError **error);

/**
 * dlp_fanout_run_worker: (skip)
 * @fd: the socket to the fan-out
 *
 * What the program dlpipe-fanout-worker does: runs the tasks that it is told to, until the other
 * side is gone. For that program alone.
 *
 * Threads: the main one.
 *
 * Returns: the exit status
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
int dlp_fanout_run_worker (int fd);

G_END_DECLS
