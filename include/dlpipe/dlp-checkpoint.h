/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "dlp-macros.h"

G_BEGIN_DECLS

#define DLP_TYPE_CHECKPOINT (dlp_checkpoint_get_type ())
/**
 * DlpCheckpoint:
 *
 * The state of a pipeline from which it goes on exactly, read from a state folder, or from the
 * bytes, the value or the JSON text that a program kept. Immutable, reference counted; any number
 * of pipelines may be made from one. It is read without the plugins of its elements.
 *
 * Since: 0.2
 */
typedef struct _DlpCheckpoint DlpCheckpoint;

DLP_AVAILABLE_IN_0_2
GType dlp_checkpoint_get_type (void) G_GNUC_CONST;

/**
 * dlp_checkpoint_new_from_folder: (constructor)
 * @folder: (type filename): a state folder
 * @fell_back: (out) (optional) (nullable) (transfer full): why a newer checkpoint of the folder
 *   could not be used; %NULL: there is none
 * @error: return location for an error
 *
 * Reads the newest checkpoint of a state folder that is whole. Writes nothing, takes no lock; the
 * run that owns the folder may go on meanwhile. Errors: %DLP_STATE_ERROR_CORRUPT,
 * %DLP_STATE_ERROR_VERSION, %G_IO_ERROR_NOT_FOUND. Blocks.
 *
 * Threads: any.
 *
 * Returns: (transfer full): a checkpoint
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
DlpCheckpoint *
dlp_checkpoint_new_from_folder (const char *folder, char **fell_back, GError **error);

/**
 * dlp_checkpoint_new_from_folder_async:
 * @folder: (type filename): a state folder
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (nullable): called in the thread-default main context of the caller
 * @user_data: (closure): for @callback
 *
 * As dlp_checkpoint_new_from_folder(), on a thread of its own. Once it is cancelled its result
 * comes at once, %G_IO_ERROR_CANCELLED, also where the disk does not answer.
 *
 * Threads: any.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_checkpoint_new_from_folder_async (const char *folder,
                                           GCancellable *cancellable,
                                           GAsyncReadyCallback callback,
                                           gpointer user_data);

/**
 * dlp_checkpoint_new_from_folder_finish: (constructor)
 * @result: what the callback was given
 * @fell_back: (out) (optional) (nullable) (transfer full): why a newer checkpoint of the folder
 *   could not be used; %NULL: there is none
 * @error: return location for an error
 *
 * Ends dlp_checkpoint_new_from_folder_async(), once.
 *
 * Threads: any.
 *
 * Returns: (transfer full): a checkpoint
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
DlpCheckpoint *
dlp_checkpoint_new_from_folder_finish (GAsyncResult *result, char **fell_back, GError **error);

/**
 * dlp_checkpoint_new_from_file: (constructor)
 * @path: (type filename): a file: a generation of a state folder, or what a program kept, as bytes
 *   or as JSON
 * @error: return location for an error
 *
 * Reads a checkpoint from a file. Errors: as dlp_checkpoint_new_from_bytes(), those of reading.
 * Blocks.
 *
 * Threads: any.
 *
 * Returns: (transfer full): a checkpoint
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
DlpCheckpoint *dlp_checkpoint_new_from_file (const char *path, GError **error);

/**
 * dlp_checkpoint_new_from_file_async:
 * @path: (type filename): a file
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (nullable): called in the thread-default main context of the caller
 * @user_data: (closure): for @callback
 *
 * As dlp_checkpoint_new_from_file(), on a thread of its own. Once it is cancelled its result comes
 * at once, %G_IO_ERROR_CANCELLED, also where the disk does not answer.
 *
 * Threads: any.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_checkpoint_new_from_file_async (const char *path,
                                         GCancellable *cancellable,
                                         GAsyncReadyCallback callback,
                                         gpointer user_data);

/**
 * dlp_checkpoint_new_from_file_finish: (constructor)
 * @result: what the callback was given
 * @error: return location for an error
 *
 * Ends dlp_checkpoint_new_from_file_async(), once.
 *
 * Threads: any.
 *
 * Returns: (transfer full): a checkpoint
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
DlpCheckpoint *dlp_checkpoint_new_from_file_finish (GAsyncResult *result, GError **error);

/**
 * dlp_checkpoint_new_from_bytes: (constructor)
 * @bytes: what dlp_checkpoint_to_bytes() gave, or the bytes of a file of a state folder
 * @error: return location for an error
 *
 * Reads a checkpoint from bytes, and looks at everything that can be looked at without its
 * elements. Errors: %DLP_STATE_ERROR_CORRUPT, %DLP_STATE_ERROR_VERSION.
 *
 * Threads: any.
 *
 * Returns: (transfer full): a checkpoint
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
DlpCheckpoint *dlp_checkpoint_new_from_bytes (GBytes *bytes, GError **error);

/**
 * dlp_checkpoint_new_from_variant: (constructor)
 * @value: what dlp_checkpoint_to_variant() gave; sunk if floating
 * @error: return location for an error
 *
 * As dlp_checkpoint_new_from_bytes(), from a value. A value has no checksum of its own.
 *
 * Threads: any.
 *
 * Returns: (transfer full): a checkpoint
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
DlpCheckpoint *dlp_checkpoint_new_from_variant (GVariant *value, GError **error);

/**
 * dlp_checkpoint_new_from_json: (constructor)
 * @text: what dlp_checkpoint_to_json() gave
 * @error: return location for an error
 *
 * As dlp_checkpoint_new_from_bytes(), from JSON. Errors also: #DlpJsonError.
 *
 * Threads: any.
 *
 * Returns: (transfer full): a checkpoint
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
DlpCheckpoint *dlp_checkpoint_new_from_json (const char *text, GError **error);

/**
 * dlp_checkpoint_ref:
 * @self: a checkpoint
 *
 * Adds a reference.
 *
 * Threads: any.
 *
 * Returns: (transfer full): @self
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
DlpCheckpoint *dlp_checkpoint_ref (DlpCheckpoint *self);

/**
 * dlp_checkpoint_unref:
 * @self: (transfer full): a checkpoint
 *
 * Drops a reference.
 *
 * Threads: any.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_checkpoint_unref (DlpCheckpoint *self);

/**
 * dlp_checkpoint_to_variant:
 * @self: a checkpoint
 *
 * Gets all that it holds, of type a{sv}; docs/internals/checkpoint.md has its keys.
 *
 * Threads: any.
 *
 * Returns: (transfer full): a value, not floating
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
GVariant *dlp_checkpoint_to_variant (DlpCheckpoint *self);

/**
 * dlp_checkpoint_to_bytes:
 * @self: a checkpoint
 *
 * Gets it as bytes, with a checksum over them: the shortest form, and that of the files.
 *
 * Threads: any.
 *
 * Returns: (transfer full): bytes
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
GBytes *dlp_checkpoint_to_bytes (DlpCheckpoint *self);

/**
 * dlp_checkpoint_to_json:
 * @self: a checkpoint
 *
 * Gets it as JSON: an object with `dlpipe-state` (1, the version of this form), `checksum` (that of
 * dlp_checkpoint_to_bytes(), in hexadecimal) and `state`, which has what
 * dlp_checkpoint_to_variant() gives. Dictionaries with texts as keys are objects, other containers
 * arrays; numbers, texts and booleans are plain. Only a value in a place that takes any type (`v`)
 * is an object of one member, named by its type: `{"t": 5}`. Bytes that are a text are a string,
 * others `{"base64": "..."}`; a maybe is an array of one or none; doubles that JSON has not are
 * `"nan"`, `"inf"` and `"-inf"`.
 *
 * Threads: any.
 *
 * Returns: (transfer full): a text
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
char *dlp_checkpoint_to_json (DlpCheckpoint *self);

/**
 * dlp_checkpoint_get_path:
 * @self: a checkpoint
 *
 * Gets the file that it was read from.
 *
 * Threads: any.
 *
 * Returns: (transfer none) (nullable) (type filename): a path; %NULL: it was not read from a file
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
const char *dlp_checkpoint_get_path (DlpCheckpoint *self);

/**
 * dlp_checkpoint_get_graph:
 * @self: a checkpoint
 *
 * Gets graph text that makes the graph.
 *
 * Threads: any.
 *
 * Returns: (transfer none) (type filename): a graph
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
const char *dlp_checkpoint_get_graph (DlpCheckpoint *self);

/**
 * dlp_checkpoint_get_n_skipped:
 * @self: a checkpoint
 *
 * Gets how many records never come to the program: they were queued for it when this state, or one
 * that it goes on from, was made as an approximate one.
 *
 * Threads: any.
 *
 * Returns: records, of all app-sinks
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
guint64 dlp_checkpoint_get_n_skipped (DlpCheckpoint *self);

/**
 * dlp_checkpoint_skip_batches:
 * @self: a checkpoint
 * @element: (nullable): the name of the element that makes the batches, such as `batch`; %NULL: the
 *   only one there is
 * @first: the index of the first batch that is to be skipped, as dlp_record_batch_get_index() has
 *   it
 * @last: of the last one
 * @error: return location for an error
 *
 * Makes a checkpoint from which a run goes on as from @self, but never gives out these batches:
 * they are read, counted (`skipped-batches`, `skipped-records`), and recorded in every later state.
 * Those behind them keep their index; ranks share what is left. Skipped before are still skipped.
 * Errors: %DLP_PIPELINE_ERROR_STATE where there is no such element, or one of the batches has gone
 * out already; also where it is made again from the checkpoint, since what is behind the element
 * was further on.
 *
 * Threads: any.
 *
 * Returns: (transfer full): a checkpoint
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
DlpCheckpoint *dlp_checkpoint_skip_batches (DlpCheckpoint *self,
                                            const char *element,
                                            guint64 first,
                                            guint64 last,
                                            GError **error);

/**
 * dlp_checkpoint_clear_skipped:
 * @self: a checkpoint
 * @element: (nullable): the name of the element that makes the batches; %NULL: the only one there
 *   is
 * @error: return location for an error
 *
 * Takes back what dlp_checkpoint_skip_batches() did, of @self or of one that it goes on from: makes
 * a checkpoint from which a run gives out again what it was to skip. What it skipped already stays
 * so. Errors: as there.
 *
 * Threads: any.
 *
 * Returns: (transfer full): a checkpoint
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
DlpCheckpoint *
dlp_checkpoint_clear_skipped (DlpCheckpoint *self, const char *element, GError **error);

/**
 * dlp_checkpoint_save_to_folder:
 * @self: the newest checkpoint of the folder, or one that was made from it
 * @folder: (type filename): a state folder that no run holds
 * @error: return location for an error
 *
 * Writes it durably as the newest two checkpoints of the folder, from which the next run goes on;
 * those that were there go. Errors: %DLP_STATE_ERROR_LOCKED where a run holds the
 * folder, %DLP_STATE_ERROR_FOREIGN_OUTPUT where it is of another run, %DLP_STATE_ERROR_CHANGED
 * where the run has gone on since @self was read, or is complete, those of writing. Blocks.
 *
 * Threads: any.
 *
 * Returns: %TRUE on success
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean dlp_checkpoint_save_to_folder (DlpCheckpoint *self, const char *folder, GError **error);

/**
 * dlp_checkpoint_save_to_folder_async:
 * @self: a checkpoint that was read from the folder, or made from such a one
 * @folder: (type filename): a state folder that no run holds
 * @cancellable: (nullable): looked at before it begins
 * @callback: (scope async) (nullable): called in the thread-default main context of the caller
 * @user_data: (closure): for @callback
 *
 * As dlp_checkpoint_save_to_folder(), on a thread of its own. What was cancelled before it began
 * has written nothing (%G_IO_ERROR_CANCELLED); once it has begun it goes on, and the result says
 * what came of it.
 *
 * Threads: any.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_checkpoint_save_to_folder_async (DlpCheckpoint *self,
                                          const char *folder,
                                          GCancellable *cancellable,
                                          GAsyncReadyCallback callback,
                                          gpointer user_data);

/**
 * dlp_checkpoint_save_to_folder_finish:
 * @self: the checkpoint
 * @result: what the callback was given
 * @error: return location for an error
 *
 * Ends dlp_checkpoint_save_to_folder_async(), once.
 *
 * Threads: any.
 *
 * Returns: %TRUE on success
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean
dlp_checkpoint_save_to_folder_finish (DlpCheckpoint *self, GAsyncResult *result, GError **error);

/**
 * dlp_checkpoint_list_inputs:
 * @self: a checkpoint
 * @error: return location for an error
 *
 * Lists the input files that were opened up to then, as they were. Of one that was read from a
 * state folder the list is in that folder, and is compared with its hash: errors are
 * %DLP_STATE_ERROR_CORRUPT, and those of reading it. Blocks.
 *
 * Threads: any.
 *
 * Returns: (transfer container) (element-type DlpFile): files, which the array holds
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
GPtrArray *dlp_checkpoint_list_inputs (DlpCheckpoint *self, GError **error);

/**
 * dlp_checkpoint_list_inputs_async:
 * @self: a checkpoint
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (nullable): called in the thread-default main context of the caller
 * @user_data: (closure): for @callback
 *
 * As dlp_checkpoint_list_inputs(), on a thread of its own. Once it is cancelled its result comes at
 * once, %G_IO_ERROR_CANCELLED, also where the disk does not answer.
 *
 * Threads: any.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_checkpoint_list_inputs_async (DlpCheckpoint *self,
                                       GCancellable *cancellable,
                                       GAsyncReadyCallback callback,
                                       gpointer user_data);

/**
 * dlp_checkpoint_list_inputs_finish:
 * @self: the checkpoint
 * @result: what the callback was given
 * @error: return location for an error
 *
 * Ends dlp_checkpoint_list_inputs_async(), once.
 *
 * Threads: any.
 *
 * Returns: (transfer container) (element-type DlpFile): files, which the array holds
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
GPtrArray *
dlp_checkpoint_list_inputs_finish (DlpCheckpoint *self, GAsyncResult *result, GError **error);

/**
 * dlp_checkpoint_describe_folder:
 * @folder: (type filename): a state folder
 * @error: return location for an error
 *
 * Gets what there is in a state folder and who runs over it, without disturbing anybody: a
 * dictionary with `generations` (at, the newest first), `damaged` (at, those put aside), `run-id`
 * (s), `pid`, `host` and `started` (s, of the last run), `attempt` (u), `running` (b: whether that
 * run lives), `status` (a{sv}: its report as it wrote it last) and `status-age` (d, in seconds).
 * What is not known is not there. A folder that is no state has none of them. Errors: those of
 * reading the folder. Blocks.
 *
 * Threads: any.
 *
 * Returns: (transfer full): a value of type a{sv}, not floating
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
GVariant *dlp_checkpoint_describe_folder (const char *folder, GError **error);

/**
 * dlp_checkpoint_describe_folder_async:
 * @folder: (type filename): a state folder
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async) (nullable): called in the thread-default main context of the caller
 * @user_data: (closure): for @callback
 *
 * As dlp_checkpoint_describe_folder(), on a thread of its own. Once it is cancelled its result
 * comes at once, %G_IO_ERROR_CANCELLED, also where the disk does not answer.
 *
 * Threads: any.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_checkpoint_describe_folder_async (const char *folder,
                                           GCancellable *cancellable,
                                           GAsyncReadyCallback callback,
                                           gpointer user_data);

/**
 * dlp_checkpoint_describe_folder_finish:
 * @result: what the callback was given
 * @error: return location for an error
 *
 * Ends dlp_checkpoint_describe_folder_async(), once.
 *
 * Threads: any.
 *
 * Returns: (transfer full): a value of type a{sv}, not floating
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
GVariant *dlp_checkpoint_describe_folder_finish (GAsyncResult *result, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpCheckpoint, dlp_checkpoint_unref)

G_END_DECLS
