/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "dlp-macros.h"

G_BEGIN_DECLS

#define DLP_TYPE_FILE_HASH (dlp_file_hash_get_type ())
/**
 * DlpFileHash:
 *
 * The hash of an output file, as a manifest has it, made while the file is written. It goes on from
 * a checkpoint, which keeps two numbers of it: the file is cut into blocks of 64 MiB (the last one
 * may be shorter, none is empty), B1 to Bn, and with X as XXH3 of 64 bits, numbers being
 * little-endian,
 *
 *     H(0) = 0,  H(i) = X (H(i - 1), X (Bi)),  and H(n) is the hash.
 *
 * One thread at a time.
 *
 * Since: 0.1
 */
typedef struct _DlpFileHash DlpFileHash;

/**
 * DLP_FILE_HASH_BLOCK:
 *
 * Bytes of a block of #DlpFileHash.
 *
 * Since: 0.1
 */
#define DLP_FILE_HASH_BLOCK ((guint64) 64 * 1024 * 1024)

DLP_AVAILABLE_IN_0_2
GType dlp_file_hash_get_type (void) G_GNUC_CONST;

/**
 * dlp_file_hash_new:
 *
 * Begins the hash of an empty file.
 *
 * Threads: any, one at a time for one hash.
 *
 * Returns: (transfer full): a hash
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpFileHash *dlp_file_hash_new (void);

/**
 * dlp_file_hash_resume:
 * @path: a file
 * @length: how many of its bytes
 * @chain: the hash of the whole blocks of these
 * @hash: the hash of these
 * @cancellable: (nullable): a cancellable
 * @error: return location for an error
 *
 * Goes on with the hash of the first @length bytes of a file. What lies behind its whole blocks is
 * read. Whole blocks are not read again: whether they still have what was written is seen by who
 * compares the file with the hash at its end.
 *
 * Errors: the file is shorter, or has another hash: %DLP_STATE_ERROR_CHANGED.
 *
 * Threads: any, one at a time for one hash.
 *
 * Returns: (transfer full): a hash
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpFileHash *dlp_file_hash_resume (const char *path,
                                   guint64 length,
                                   guint64 chain,
                                   guint64 hash,
                                   GCancellable *cancellable,
                                   GError **error);

/**
 * dlp_file_hash_free:
 * @self: (transfer full): a hash
 *
 * Frees the hash.
 *
 * Threads: any, one at a time for one hash.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_file_hash_free (DlpFileHash *self);

/**
 * dlp_file_hash_update:
 * @self: a hash
 * @data: (array length=size) (element-type guint8): bytes
 * @size: how many
 *
 * Adds what was written.
 *
 * Threads: any, one at a time for one hash.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_file_hash_update (DlpFileHash *self, gconstpointer data, gsize size);

/**
 * dlp_file_hash_get_chain:
 * @self: a hash
 *
 * Gets the hash of the whole blocks so far, for a checkpoint.
 *
 * Threads: any, one at a time for one hash.
 *
 * Returns: a hash
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
guint64 dlp_file_hash_get_chain (DlpFileHash *self);

/**
 * dlp_file_hash_get:
 * @self: a hash
 *
 * Gets the hash of all so far; may be gone on with.
 *
 * Threads: any, one at a time for one hash.
 *
 * Returns: a hash
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
guint64 dlp_file_hash_get (DlpFileHash *self);

/**
 * dlp_file_hash_read:
 * @path: a file
 * @length: how many of its bytes
 * @cancellable: (nullable): a cancellable
 * @hash: (out): the hash
 * @error: return location for an error
 *
 * Computes the hash of the first @length bytes of a file. Shorter: %DLP_STATE_ERROR_CHANGED.
 *
 * Threads: any, one at a time for one hash.
 *
 * Returns: %FALSE with an error
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_file_hash_read (const char *path,
                             guint64 length,
                             GCancellable *cancellable,
                             guint64 *hash,
                             GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpFileHash, dlp_file_hash_free)

G_END_DECLS
