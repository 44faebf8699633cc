/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-element.h"

G_BEGIN_DECLS

typedef enum
{
  DLP_RUNNER_AUTO,       /* threads, or the pool when there are many elements */
  DLP_RUNNER_THREADS,    /* a thread an element */
  DLP_RUNNER_POOL,       /* a few threads for all of them */
  DLP_RUNNER_SEQUENTIAL, /* everything on one thread */
} DlpRunnerKind;

typedef enum
{
  DLP_PIPELINE_NEW,
  DLP_PIPELINE_READY, /* built, or restored */
  DLP_PIPELINE_RUNNING,
  DLP_PIPELINE_PAUSED,
  DLP_PIPELINE_FINISHED, /* complete */
  DLP_PIPELINE_STOPPED,  /* ended by stop, resumable */
  DLP_PIPELINE_FAILED,
  DLP_PIPELINE_ABORTED,
} DlpPipelineStatus;

#define DLP_TYPE_RUNNER_KIND (dlp_runner_kind_get_type ())
#define DLP_TYPE_PIPELINE_STATUS (dlp_pipeline_status_get_type ())
DLP_API GType dlp_runner_kind_get_type (void);
DLP_API GType dlp_pipeline_status_get_type (void);

/**
 * DlpPipeline:
 *
 * A graph of elements, and its run. It is a GListModel of its elements. It captures the
 * thread-default main context at construction: notifies and async results come there. A pipeline
 * runs once; another is made from its string or state.
 *
 * Properties set before dlp_pipeline_prepare(): seed, state-dir, memory, workers, runner,
 * checkpoint-interval, link-records, link-batches, strict, overwrite, restart. Progress, notified
 * at most 10 times a second: status, fraction (0..1, -1 unknown), files-done, files-total, records,
 * tokens, bytes, elapsed (s), eta (s, -1 unknown); totals over all attempts.
 */
#define DLP_TYPE_PIPELINE (dlp_pipeline_get_type ())
DLP_API
G_DECLARE_FINAL_TYPE (DlpPipeline, dlp_pipeline, DLP, PIPELINE, GObject)

DLP_API DlpPipeline *dlp_pipeline_new (void);
/* From graph text: all or nothing. */
DLP_API DlpPipeline *dlp_pipeline_new_from_string (const char *text, GError **error);
/* From the graph stored in a state folder, which becomes its state-dir. */
DLP_API DlpPipeline *dlp_pipeline_new_from_state (const char *state_dir, GError **error);
/* (transfer none) @element. */
DLP_API gboolean dlp_pipeline_add (DlpPipeline *self, DlpElement *element, GError **error);
/* Links an output pad to an input pad; NULL: the default one. */
DLP_API gboolean dlp_pipeline_link (DlpPipeline *self,
                                    DlpElement *from,
                                    const char *from_pad,
                                    DlpElement *to,
                                    const char *to_pad,
                                    GError **error);
/* (transfer none) (nullable) */
DLP_API DlpElement *dlp_pipeline_get_element (DlpPipeline *self, const char *name);
/* A property from text, as in graph text. */
DLP_API gboolean dlp_pipeline_set_property_text (DlpPipeline *self,
                                                 const char *element,
                                                 const char *property,
                                                 const char *value,
                                                 GError **error);
/* (transfer full): graph text that makes this graph. */
DLP_API char *dlp_pipeline_to_string (DlpPipeline *self);

/* Checks and negotiates the whole graph; opens the state folder, if there is one, and loads what it
 * holds. Done by run() where it was not called; refused while a run goes on. @cancellable is looked
 * at before it begins, and before the state is opened; one that was cancelled in between cannot be
 * run any more (DLP_PIPELINE_ABORTED). */
DLP_API gboolean dlp_pipeline_prepare (DlpPipeline *self,
                                       GCancellable *cancellable,
                                       GError **error);
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
DLP_API void dlp_pipeline_prepare_async (DlpPipeline *self,
                                         GCancellable *cancellable,
                                         GAsyncReadyCallback callback,
                                         gpointer user_data);
/**
 * dlp_pipeline_prepare_finish:
 * @self: a pipeline
 * @result: what the callback was given
 * @error: where to put an error
 *
 * Returns: as dlp_pipeline_prepare()
 *
 * Since: 0.2
 */
DLP_API gboolean dlp_pipeline_prepare_finish (DlpPipeline *self,
                                              GAsyncResult *result,
                                              GError **error);
/* Checks and negotiates the whole graph and nothing else: no state is opened, no output looked at,
 * and the pipeline cannot be run afterwards. */
DLP_API gboolean dlp_pipeline_check (DlpPipeline *self, GError **error);
/* Behind it, once: whether what prepare() would find, a state or outputs, is in the way. Writes
 * nothing; the report says what was found. */
DLP_API gboolean dlp_pipeline_check_state (DlpPipeline *self, GError **error);
/**
 * dlp_pipeline_check_async:
 * @self: a pipeline
 * @cancellable: (nullable): looked at before it begins
 * @callback: (scope async) (nullable): called in the main context of the pipeline
 * @user_data: (closure): for @callback
 *
 * As dlp_pipeline_check(), on a thread of its own.
 *
 * Since: 0.2
 */
DLP_API void dlp_pipeline_check_async (DlpPipeline *self,
                                       GCancellable *cancellable,
                                       GAsyncReadyCallback callback,
                                       gpointer user_data);
/**
 * dlp_pipeline_check_finish:
 * @self: a pipeline
 * @result: what the callback was given
 * @error: where to put an error
 *
 * Returns: as dlp_pipeline_check()
 *
 * Since: 0.2
 */
DLP_API gboolean dlp_pipeline_check_finish (DlpPipeline *self,
                                            GAsyncResult *result,
                                            GError **error);
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
DLP_API void dlp_pipeline_check_state_async (DlpPipeline *self,
                                             GCancellable *cancellable,
                                             GAsyncReadyCallback callback,
                                             gpointer user_data);
/**
 * dlp_pipeline_check_state_finish:
 * @self: a pipeline
 * @result: what the callback was given
 * @error: where to put an error
 *
 * Returns: as dlp_pipeline_check_state()
 *
 * Since: 0.2
 */
DLP_API gboolean dlp_pipeline_check_state_finish (DlpPipeline *self,
                                                  GAsyncResult *result,
                                                  GError **error);
/* Runs to the end, blocking; does not iterate a main context. TRUE: complete
 * (DLP_PIPELINE_FINISHED). Errors: that of an element; DLP_PIPELINE_ERROR_STOPPED after a stop;
 * G_IO_ERROR_CANCELLED. */
DLP_API gboolean dlp_pipeline_run (DlpPipeline *self, GCancellable *cancellable, GError **error);
DLP_API void dlp_pipeline_run_async (DlpPipeline *self,
                                     GCancellable *cancellable,
                                     GAsyncReadyCallback callback,
                                     gpointer user_data);
DLP_API gboolean dlp_pipeline_run_finish (DlpPipeline *self, GAsyncResult *result, GError **error);
/* All of these return at once, may be called from any thread, and do nothing where they do not
 * apply. */
DLP_API void dlp_pipeline_pause (DlpPipeline *self);
DLP_API void dlp_pipeline_resume (DlpPipeline *self);
DLP_API void dlp_pipeline_stop (DlpPipeline *self);
DLP_API void dlp_pipeline_finish (DlpPipeline *self);
DLP_API void dlp_pipeline_abort (DlpPipeline *self);
/* Asks for a checkpoint now. */
DLP_API void dlp_pipeline_checkpoint (DlpPipeline *self);

DLP_API DlpPipelineStatus dlp_pipeline_get_status (DlpPipeline *self);
/* Whether the state that was loaded says that the run is complete. */
DLP_API gboolean dlp_pipeline_is_complete (DlpPipeline *self);
/* (transfer full): floating-free a{sv} with everything known of the run: elements with records in
 * and out, bytes, times, queue levels, reports; digests; attempt, seed. Any thread. */
DLP_API GVariant *dlp_pipeline_get_report (DlpPipeline *self);
/* The same as JSON. */
DLP_API char *dlp_pipeline_get_report_json (DlpPipeline *self);
/* (transfer full): a(ssss), not floating: each property of each element as {element, property,
 * value as text, origin}; the origin is "default", "graph", "state"
 * (the graph of dlp_pipeline_new_from_state()), "option" (dlp_pipeline_set_property_text()) or
 * "program". */
DLP_API GVariant *dlp_pipeline_get_settings (DlpPipeline *self);
/* (transfer full) (nullable): the place that tools give to the state: LOCATION.dlpipe of the first
 * file sink. NULL: there is none. */
DLP_API char *dlp_pipeline_get_default_state_dir (DlpPipeline *self);
/* (transfer full): the graph in the language of Graphviz. */
DLP_API char *dlp_pipeline_to_dot (DlpPipeline *self);

G_END_DECLS
