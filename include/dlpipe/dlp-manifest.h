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
 * what it looks at. Any thread. */

/* One file of a manifest. */
typedef struct
{
  const char *path; /* beside the manifest */
  guint64 bytes;
  guint64 hash; /* see DlpFileHash */
} DlpManifestFile;

/* Whether a manifest can list what an output at @location is called: JSON is UTF-8, which names of
 * files need not be. Otherwise DLP_GRAPH_ERROR_VALUE; for an element's negotiate(). */
DLP_API gboolean dlp_manifest_check_name (const char *location, GError **error);
/* (transfer full), not floating. @members: a{sv}, sunk if floating: what follows "files". */
DLP_API GVariant *dlp_manifest_new (const char *format,
                                    const char *run_id,
                                    const DlpManifestFile *files,
                                    guint n_files,
                                    GVariant *members);
/* Whether what is at @path, if anything, is a manifest of @run_id; otherwise
 * DLP_STATE_ERROR_FOREIGN_OUTPUT. */
DLP_API gboolean dlp_manifest_check_run (const char *path, const char *run_id, GError **error);
/* Writes it durably; does nothing if the file has it already. Replaces a manifest of its own run
 * only. */
DLP_API gboolean dlp_manifest_write (const char *path, GVariant *manifest, GError **error);
/* (transfer full): a{sv} as dlp_json_parse() gives it, with its version, format, run-id and files
 * checked. G_IO_ERROR_NOT_FOUND: there is none. G_IO_ERROR_INVALID_DATA: it is no manifest. */
DLP_API GVariant *dlp_manifest_load (const char *path, GError **error);
/* Whether the file is as it was written. *has_hash: FALSE where it has no hash of its own, as those
 * of former versions. Otherwise G_IO_ERROR_INVALID_DATA. */
DLP_API gboolean dlp_manifest_check_hash (const char *path, gboolean *has_hash, GError **error);
/* (transfer none) (nullable): a string member. */
DLP_API const char *dlp_manifest_get_string (GVariant *manifest, const char *key);
/* FALSE: there is no such member. */
DLP_API gboolean dlp_manifest_get_uint64 (GVariant *manifest, const char *key, guint64 *value);
DLP_API guint dlp_manifest_get_n_files (GVariant *manifest);
/* *name lives as long as the manifest. */
DLP_API void dlp_manifest_get_file (GVariant *manifest,
                                    guint index,
                                    const char **name,
                                    guint64 *bytes,
                                    guint64 *hash);

/* Whether the final names of an output, @files (NULL-terminated paths), and that of its manifest
 * are free, or what has them may be deleted by @claim: it is in the list of a manifest of the
 * discarded run (or, to overwrite, of any), or there is no manifest and the discarded run was
 * complete. And whether no other run writes them now. Otherwise DLP_STATE_ERROR_FOREIGN_OUTPUT.
 * Deletes nothing. *left: see dlp_output_file_check_others(). See dlp_sink_check_files(). */
DLP_API gboolean dlp_manifest_check_location (const char *path,
                                              const char *const *files,
                                              const DlpOutputClaim *claim,
                                              char **left,
                                              GError **error);
/* Deletes it, and unfinished files of the discarded run. */
DLP_API gboolean dlp_manifest_discard (const char *path,
                                       const char *const *files,
                                       const DlpOutputClaim *claim,
                                       GError **error);

G_END_DECLS
