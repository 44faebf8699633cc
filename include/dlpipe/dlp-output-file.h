/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-macros.h"

G_BEGIN_DECLS

#define DLP_TYPE_OUTPUT_FILE (dlp_output_file_get_type ())
#define DLP_TYPE_OUTPUT_CLAIM (dlp_output_claim_get_type ())

/**
 * DlpOutputFile:
 *
 * A file being written by a sink, which survives a crash: it is appended to under an unfinished
 * name (".NAME.RUN.ATTEMPT.partial" beside its final one), made durable up to a length, and
 * published by rename. Writing, flushing and telling is the streaming thread's; sync may run at the
 * same time on another.
 *
 * RUN is the identity of the run, hexadecimal (dlp_sink_get_run_id()): no run touches an unfinished
 * file of another one, and none replaces what is at the final name. As long as it is open the file
 * is locked (flock, where there is such), by which others know that its run lives.
 *
 * A resumed attempt never writes into the file of a former attempt that may still live: it copies
 * the durable prefix to its own; where the lock of the state proves the former attempt dead, the
 * file is renamed and truncated.
 *
 * Since: 0.1
 */
typedef struct _DlpOutputFile DlpOutputFile;

/**
 * DlpOutputClaim:
 * @run_id: this run's own
 * @discarded_run_id: (nullable): that of the run which --restart discards
 * @discarded_complete: its checkpoint says that it came to its end
 * @overwrite: that of any run, by its manifest
 *
 * Whose output may be at a location where a run begins. A plain value: the texts are its maker's.
 *
 * Since: 0.1
 */
typedef struct
{
  const char *run_id;
  const char *discarded_run_id;
  gboolean discarded_complete;
  gboolean overwrite;
} DlpOutputClaim;

DLP_AVAILABLE_IN_0_2
GType dlp_output_file_get_type (void) G_GNUC_CONST;
DLP_AVAILABLE_IN_0_2
GType dlp_output_claim_get_type (void) G_GNUC_CONST;

/**
 * dlp_output_file_create:
 * @path: (type filename): the final name; its folder is made if it is missing
 * @run_id: the identity of the run
 * @attempt: the number of this attempt, 1 is the first
 * @error: return location for an error
 *
 * Begins a file. An unfinished file of that attempt is replaced, not written to. The final name is
 * taken: %DLP_STATE_ERROR_FOREIGN_OUTPUT.
 *
 * Threads: the streaming thread of the sink.
 *
 * Returns: (transfer full): a file
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpOutputFile *
dlp_output_file_create (const char *path, const char *run_id, guint attempt, GError **error);

/**
 * dlp_output_file_resume:
 * @path: (type filename): the final name
 * @run_id: the identity of the run
 * @attempt: the number of this attempt
 * @former_attempt: the number of the attempt whose file it is
 * @former_is_dead: whether the lock of the state proves that attempt dead
 * @length: where to go on, in bytes
 * @error: return location for an error
 *
 * Goes on with the unfinished file of a former attempt. Missing, but an attempt after it, which
 * died before its first checkpoint, had taken it over: that one's. Copied: durable when it returns,
 * and the former file stays.
 *
 * Errors: found shorter than @length, or missing: %DLP_STATE_ERROR_CHANGED. The final name is
 * taken: %DLP_STATE_ERROR_FOREIGN_OUTPUT.
 *
 * Threads: the streaming thread of the sink.
 *
 * Returns: (transfer full): a file
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpOutputFile *dlp_output_file_resume (const char *path,
                                       const char *run_id,
                                       guint attempt,
                                       guint former_attempt,
                                       gboolean former_is_dead,
                                       guint64 length,
                                       GError **error);

/**
 * dlp_output_file_free:
 * @self: (transfer full): an output file
 *
 * Closes it; the unfinished file stays. What was not flushed is lost. No sync may be running.
 *
 * Threads: the streaming thread of the sink.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_output_file_free (DlpOutputFile *self);

/**
 * dlp_output_file_write:
 * @self: an output file
 * @data: (array length=size) (element-type guint8): bytes
 * @size: how many
 * @error: return location for an error
 *
 * Writes bytes, buffered (1 MiB). After an error every later call fails with the same. The message
 * of a full disk names the path and the bytes wanted.
 *
 * Threads: the streaming thread of the sink.
 *
 * Returns: %FALSE with an error
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean
dlp_output_file_write (DlpOutputFile *self, gconstpointer data, gsize size, GError **error);

/**
 * dlp_output_file_reserve: (skip)
 * @self: an output file
 * @size: how many; at most 1 MiB
 * @error: return location for an error
 *
 * Makes room for bytes to be written in place, then committed.
 *
 * Threads: the streaming thread of the sink.
 *
 * Returns: (transfer none): where to write, or %NULL with an error
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gpointer dlp_output_file_reserve (DlpOutputFile *self, gsize size, GError **error);

/**
 * dlp_output_file_commit: (skip)
 * @self: an output file
 * @used: how many bytes of those reserved
 *
 * Commits what was written in place.
 *
 * Threads: the streaming thread of the sink.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_output_file_commit (DlpOutputFile *self, gsize used);

/**
 * dlp_output_file_flush:
 * @self: an output file
 * @error: return location for an error
 *
 * Hands the buffer to the system, without waiting for the disk.
 *
 * Threads: the streaming thread of the sink.
 *
 * Returns: %FALSE with an error
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_output_file_flush (DlpOutputFile *self, GError **error);

/**
 * dlp_output_file_get_length:
 * @self: an output file
 *
 * Gets how many bytes were written, buffered ones too.
 *
 * Threads: the streaming thread of the sink.
 *
 * Returns: bytes
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
guint64 dlp_output_file_get_length (DlpOutputFile *self);

/**
 * dlp_output_file_get_path:
 * @self: an output file
 *
 * Gets the final name.
 *
 * Threads: the streaming thread of the sink.
 *
 * Returns: (transfer none) (type filename): a path
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
const char *dlp_output_file_get_path (DlpOutputFile *self);

/**
 * dlp_output_file_get_partial_path:
 * @self: an output file
 *
 * Gets the unfinished name.
 *
 * Threads: the streaming thread of the sink.
 *
 * Returns: (transfer none) (type filename): a path
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
const char *dlp_output_file_get_partial_path (DlpOutputFile *self);

/**
 * dlp_output_file_sync:
 * @self: an output file
 * @error: return location for an error
 *
 * Sees to it that what was flushed before is on disk when it returns (fdatasync, and once fsync of
 * the folder). Takes no lock that a write waits for. A sync that failed makes all later calls fail.
 *
 * Threads: any.
 *
 * Returns: %FALSE with an error
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_output_file_sync (DlpOutputFile *self, GError **error);

/**
 * dlp_output_file_publish:
 * @path: (type filename): the final name
 * @run_id: the identity of the run
 * @attempt: the number of the attempt whose file it is
 * @length: its length in bytes
 * @error: return location for an error
 *
 * Renames the unfinished file of @attempt to @path, durably. Done already (no unfinished file, and
 * @path has @length bytes): success.
 *
 * Errors: something is there: %DLP_STATE_ERROR_FOREIGN_OUTPUT, and it stays. Another length:
 * %DLP_STATE_ERROR_CHANGED.
 *
 * Threads: any.
 *
 * Returns: %FALSE with an error
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_output_file_publish (const char *path,
                                  const char *run_id,
                                  guint attempt,
                                  guint64 length,
                                  GError **error);

/**
 * dlp_output_file_clean:
 * @path: (type filename): the final name
 * @run_id: (nullable): the identity of the run; %NULL: temporary files that a
 *   dlp_write_file_durably() left
 * @keep_attempt: the attempt whose file stays; 0: none
 * @error: return location for an error
 *
 * Deletes the unfinished file of any attempt of @run_id but one, and what a resume that died left.
 * Lists the folder: not for each of many.
 *
 * Threads: any.
 *
 * Returns: %FALSE with an error
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean
dlp_output_file_clean (const char *path, const char *run_id, guint keep_attempt, GError **error);

/**
 * dlp_output_file_is_unfinished:
 * @name: (type filename): the name of a file
 * @path: (type filename): the final name
 * @run_id: (nullable): the identity of a run; %NULL: of any
 *
 * Looks whether @name, in whatever folder, is the name of an unfinished file.
 *
 * Threads: any.
 *
 * Returns: whether it is
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_output_file_is_unfinished (const char *name, const char *path, const char *run_id);

/**
 * dlp_output_file_check_others:
 * @path: (type filename): the final name
 * @claim: whose output may be there
 * @left: (out) (transfer full) (nullable): a warning that names the unfinished files of other runs
 *   which nobody writes; they are left alone
 * @error: return location for an error
 *
 * Looks whether another run writes @path now. The message names its unfinished file.
 *
 * Threads: any.
 *
 * Returns: %FALSE with %DLP_STATE_ERROR_FOREIGN_OUTPUT
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_output_file_check_others (const char *path,
                                       const DlpOutputClaim *claim,
                                       char **left,
                                       GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpOutputFile, dlp_output_file_free)

/**
 * dlp_write_file_durably:
 * @path: (type filename): the file
 * @data: (array length=size) (element-type guint8): its content
 * @size: how many bytes
 * @error: return location for an error
 *
 * Writes a small file at once and durably: unique temporary name, fsync, rename, fsync of the
 * folder.
 *
 * Threads: any.
 *
 * Returns: %FALSE with an error
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_write_file_durably (const char *path, gconstpointer data, gsize size, GError **error);

G_END_DECLS
