/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "dlp-macros.h"

G_BEGIN_DECLS

/**
 * DlpFileHash:
 *
 * The hash of an output file, as a manifest has it, made while the file is written. It goes on from
 * a checkpoint, which keeps two numbers of it: the file is cut into blocks of 64 MiB (the last
 * one may be shorter, none is empty), B1 to Bn, and with X as XXH3 of 64 bits, numbers being
 * little-endian,
 *
 *   H(0) = 0,  H(i) = X (H(i - 1), X (Bi)),  and H(n) is the hash.
 *
 * One thread at a time.
 */
typedef struct _DlpFileHash DlpFileHash;

#define DLP_FILE_HASH_BLOCK ((guint64) 64 * 1024 * 1024)

DLP_API DlpFileHash *dlp_file_hash_new (void);
/* Of the first @length bytes of a file, which have the hash @hash, and their whole blocks the hash
 * @chain; what is behind these, less than a block, is read. Shorter, or of another hash:
 * DLP_STATE_ERROR_CHANGED. Whole blocks are not read again: whether they still have what was
 * written is seen by who compares the file with the hash at its end. */
DLP_API DlpFileHash *dlp_file_hash_resume (const char *path,
                                           guint64 length,
                                           guint64 chain,
                                           guint64 hash,
                                           GCancellable *cancellable,
                                           GError **error);
DLP_API void dlp_file_hash_free (DlpFileHash *self);
DLP_API void dlp_file_hash_update (DlpFileHash *self, gconstpointer data, gsize size);
/* Of the whole blocks so far: for a checkpoint. */
DLP_API guint64 dlp_file_hash_get_chain (DlpFileHash *self);
/* Of all so far; may be gone on with. */
DLP_API guint64 dlp_file_hash_get (DlpFileHash *self);

/* That of the first @length bytes of a file. Shorter: DLP_STATE_ERROR_CHANGED. */
DLP_API gboolean dlp_file_hash_read (const char *path,
                                     guint64 length,
                                     GCancellable *cancellable,
                                     guint64 *hash,
                                     GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpFileHash, dlp_file_hash_free)

G_END_DECLS
