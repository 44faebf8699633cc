/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "dlp-file-hash.h"
#include "dlp-output-file.h"

G_BEGIN_DECLS

/* The manifest of an output: a JSON file beside the files of a sink, written when they are
 * complete:
 *
 *   {
 *     "dlpipe-manifest": 1,
 *     "format": "megatron",
 *     "run-id": "…",
 *     "files": [ { "name": "corpus.bin", "bytes": 26, "xxh3-blocks": "16 hex digits" }, … ],
 *     … what else the format has to say …,
 *     "xxh3-manifest": "16 hex digits"
 *   }
 *
 * Names are relative to the manifest's folder, and never leave it. The last member is the hash
 * (XXH3, 64 bits) of the bytes before the comma that precedes it; dlp_manifest_write() adds it. By
 * the manifest a run knows what is its own, `--overwrite` what it may delete, and dlpipe-dataset
 * what it looks at. */

#define DLP_TYPE_MANIFEST_FILE (dlp_manifest_file_get_type ())
/**
 * DlpManifestFile:
 * @path: (type filename): the file, beside the manifest
 * @bytes: its length
 * @hash: its hash; see #DlpFileHash
 *
 * One file of a manifest. A plain value: the path is its maker's.
 *
 * Since: 0.1
 */
typedef struct
{
  const char *path;
  guint64 bytes;
  guint64 hash;
} DlpManifestFile;

DLP_AVAILABLE_IN_0_2
GType dlp_manifest_file_get_type (void) G_GNUC_CONST;

/**
 * dlp_manifest_check_name:
 * @location: (type filename): the name of an output
 * @error: return location for an error
 *
 * Looks whether a manifest can list what an output at @location is called: JSON is UTF-8, which
 * names of files need not be. For an element's negotiate().
 *
 * Threads: any.
 *
 * Returns: %FALSE with %DLP_GRAPH_ERROR_VALUE
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_manifest_check_name (const char *location, GError **error);

/**
 * dlp_manifest_new:
 * @format: the name of the format
 * @run_id: the identity of the run
 * @files: (array length=n_files): the files
 * @n_files: how many
 * @members: (nullable): a value of type a{sv}, sunk if floating: what follows "files"
 *
 * Makes a manifest.
 *
 * Threads: any.
 *
 * Returns: (transfer full): a value, not floating
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
GVariant *dlp_manifest_new (const char *format,
                            const char *run_id,
                            const DlpManifestFile *files,
                            guint n_files,
                            GVariant *members);

/**
 * dlp_manifest_check_run:
 * @path: (type filename): the place of a manifest
 * @run_id: the identity of a run
 * @error: return location for an error
 *
 * Looks whether what is at @path, if anything, is a manifest of @run_id.
 *
 * Threads: any.
 *
 * Returns: %FALSE with %DLP_STATE_ERROR_FOREIGN_OUTPUT
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_manifest_check_run (const char *path, const char *run_id, GError **error);

/**
 * dlp_manifest_write:
 * @path: (type filename): the place of the manifest
 * @manifest: what dlp_manifest_new() gave
 * @error: return location for an error
 *
 * Writes a manifest durably; does nothing if the file has it already. Replaces a manifest of its
 * own run only.
 *
 * Threads: any.
 *
 * Returns: %FALSE with an error
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_manifest_write (const char *path, GVariant *manifest, GError **error);

/**
 * dlp_manifest_load:
 * @path: (type filename): the place of the manifest
 * @error: return location for an error
 *
 * Reads a manifest, and checks its version, format, run-id and files. Errors:
 * %G_IO_ERROR_NOT_FOUND: there is none. %G_IO_ERROR_INVALID_DATA: it is no manifest.
 *
 * Threads: any.
 *
 * Returns: (transfer full): a value of type a{sv} as dlp_json_parse() gives it
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
GVariant *dlp_manifest_load (const char *path, GError **error);

/**
 * dlp_manifest_load_async:
 * @path: (type filename): the place of the manifest
 * @cancellable: (nullable): a cancellable; who waits has %G_IO_ERROR_CANCELLED at once
 * @callback: (scope async) (nullable): called in the thread-default main context of the caller
 * @user_data: (closure): for @callback
 *
 * As dlp_manifest_load(), on a thread of its own.
 *
 * Threads: any.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_manifest_load_async (const char *path,
                              GCancellable *cancellable,
                              GAsyncReadyCallback callback,
                              gpointer user_data);

/**
 * dlp_manifest_load_finish:
 * @result: what the callback was given
 * @error: return location for an error
 *
 * Ends dlp_manifest_load_async().
 *
 * Returns: (transfer full): as dlp_manifest_load()
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
GVariant *dlp_manifest_load_finish (GAsyncResult *result, GError **error);

/**
 * dlp_manifest_check_hash:
 * @path: (type filename): the place of the manifest
 * @has_hash: (out): %FALSE where it has no hash of its own, as those of former versions
 * @error: return location for an error
 *
 * Looks whether the file is as it was written. Otherwise %G_IO_ERROR_INVALID_DATA.
 *
 * Threads: any.
 *
 * Returns: %FALSE with an error
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_manifest_check_hash (const char *path, gboolean *has_hash, GError **error);

/**
 * dlp_manifest_get_string:
 * @manifest: a manifest
 * @key: the name of the member
 *
 * Gets a string member.
 *
 * Threads: any.
 *
 * Returns: (transfer none) (nullable): a text that lives as long as the manifest; %NULL: there is
 *   none
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
const char *dlp_manifest_get_string (GVariant *manifest, const char *key);

/**
 * dlp_manifest_get_uint64:
 * @manifest: a manifest
 * @key: the name of the member
 * @value: (out): the number
 *
 * Gets a member that is a number.
 *
 * Threads: any.
 *
 * Returns: %FALSE: there is no such member
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_manifest_get_uint64 (GVariant *manifest, const char *key, guint64 *value);

/**
 * dlp_manifest_get_n_files:
 * @manifest: a manifest
 *
 * Gets the number of files of a manifest.
 *
 * Threads: any.
 *
 * Returns: how many
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
guint dlp_manifest_get_n_files (GVariant *manifest);

/**
 * dlp_manifest_get_file:
 * @manifest: a manifest
 * @index: the number of the file, from 0
 * @name: (out) (transfer none): its name, which lives as long as the manifest
 * @bytes: (out): its length
 * @hash: (out): its hash; see #DlpFileHash
 *
 * Gets a file of a manifest.
 *
 * Threads: any.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_manifest_get_file (GVariant *manifest,
                            guint index,
                            const char **name,
                            guint64 *bytes,
                            guint64 *hash);

/**
 * dlp_manifest_check_location:
 * @path: (type filename): the place of the manifest
 * @files: (array zero-terminated=1) (element-type filename): the paths of the output
 * @claim: whose output may be there
 * @left: (out) (transfer full) (nullable): see dlp_output_file_check_others()
 * @error: return location for an error
 *
 * Looks whether the final names of an output, and that of its manifest, are free, or what has them
 * may be deleted by @claim: it is in the list of a manifest of the discarded run (or, to overwrite,
 * of any), or there is no manifest and the discarded run was complete. And whether no other run
 * writes them now. Deletes nothing. See dlp_sink_check_files().
 *
 * Threads: any.
 *
 * Returns: %FALSE with %DLP_STATE_ERROR_FOREIGN_OUTPUT
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_manifest_check_location (const char *path,
                                      const char *const *files,
                                      const DlpOutputClaim *claim,
                                      char **left,
                                      GError **error);

/**
 * dlp_manifest_discard:
 * @path: (type filename): the place of the manifest
 * @files: (array zero-terminated=1) (element-type filename): the paths of the output
 * @claim: whose output may be there
 * @error: return location for an error
 *
 * Deletes what dlp_manifest_check_location() would let be deleted, and unfinished files of the
 * discarded run. They are gone durably, so that the state by which one knew whose they were may go.
 *
 * Threads: any.
 *
 * Returns: %FALSE with an error
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_manifest_discard (const char *path,
                               const char *const *files,
                               const DlpOutputClaim *claim,
                               GError **error);

G_END_DECLS
