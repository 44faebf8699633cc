/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-element.h"

G_BEGIN_DECLS

#define DLP_TYPE_STATE_FILE (dlp_state_file_get_type ())
/**
 * DlpStateFile:
 *
 * A file that holds the part of an element's state that is too large for a checkpoint, such as the
 * records of a buffer. In a state folder it lies beside the checkpoints, is durable before one
 * names it, and is removed when none does any more; without one it has no name in the file system,
 * and its content goes into the saved state. Written once, by one thread; what a state names of it
 * is immutable. Reference counted.
 *
 * An element that has a state of this kind says so by dlp_element_set_large(). It writes the files
 * in make_durable(). Its describe() puts dlp_state_file_describe() of each into the key
 * "state-files", of the type a(sts), by which the files are known to the library.
 *
 * A log, which the flag %DLP_ELEMENT_LOG speaks of, is such a file too: step() appends to it before
 * it emits, and a state names what was there at its mark: (name, size, hash), the last one
 * XXH3-128 of the first size bytes as 32 hexadecimal digits. An attempt that goes on reads so much
 * of it, and begins another file: nobody appends to a file of a former attempt. Once it was made it
 * is named by each state, also where nothing of it counts: a file that is not named, and is older
 * than one that is, is removed.
 *
 * Since: 0.2
 */
typedef struct _DlpStateFile DlpStateFile;

DLP_AVAILABLE_IN_0_2
GType dlp_state_file_get_type (void) G_GNUC_CONST;

/**
 * dlp_state_file_new:
 * @element: an element
 * @error: return location for an error
 *
 * Makes an empty file for a state of @element.
 *
 * Threads: any, while the pipeline runs or is asked for its state.
 *
 * Returns: (transfer full): a file
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
DlpStateFile *dlp_state_file_new (DlpElement *element, GError **error);

/**
 * dlp_state_file_open:
 * @element: an element
 * @described: what dlp_state_file_describe() gave, of type (sts)
 * @error: return location for an error
 *
 * For load(): opens a file that a state names. All of it is read and compared with what was
 * recorded of it: %DLP_STATE_ERROR_CORRUPT with the name of the file where it is missing, or is not
 * the same.
 *
 * Threads: the one that prepares the pipeline.
 *
 * Returns: (transfer full): a file
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
DlpStateFile *dlp_state_file_open (DlpElement *element, GVariant *described, GError **error);

/**
 * dlp_state_file_ref:
 * @self: a file
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
DlpStateFile *dlp_state_file_ref (DlpStateFile *self);

/**
 * dlp_state_file_unref:
 * @self: (transfer full): a file
 *
 * Drops a reference. A file without a name is gone with the last one.
 *
 * Threads: any.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
void dlp_state_file_unref (DlpStateFile *self);

/**
 * dlp_state_file_append:
 * @self: a file that dlp_state_file_new() made
 * @data: (array length=size) (element-type guint8): bytes
 * @size: how many
 * @error: return location for an error
 *
 * Writes bytes behind those that are there. Errors: of the file system, with the name of the file.
 *
 * Threads: one at a time.
 *
 * Returns: %FALSE with an error
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean dlp_state_file_append (DlpStateFile *self, gconstpointer data, gsize size, GError **error);

/**
 * dlp_state_file_read: (skip)
 * @self: a file
 * @offset: from where
 * @data: where the bytes go
 * @size: how many
 * @error: return location for an error
 *
 * Reads bytes; fewer only at the end.
 *
 * Threads: any.
 *
 * Returns: how many; -1 with an error
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gssize
dlp_state_file_read (DlpStateFile *self, guint64 offset, gpointer data, gsize size, GError **error);

/**
 * dlp_state_file_read_bytes:
 * @self: a file
 * @offset: from where
 * @size: how many
 * @error: return location for an error
 *
 * Reads bytes; fewer only at the end.
 *
 * Threads: any.
 *
 * Returns: (transfer full): the bytes
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
GBytes *dlp_state_file_read_bytes (DlpStateFile *self, guint64 offset, gsize size, GError **error);

/**
 * dlp_state_file_get_name:
 * @self: a file
 *
 * Gets its name within the state folder.
 *
 * Threads: any.
 *
 * Returns: (transfer none): a name
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
const char *dlp_state_file_get_name (DlpStateFile *self);

/**
 * dlp_state_file_describe:
 * @self: a file to which nothing is appended any more
 *
 * Describes the file: its name, its size, a hash of its content.
 *
 * Threads: any.
 *
 * Returns: (transfer floating): a value of type (sts)
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
GVariant *dlp_state_file_describe (DlpStateFile *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpStateFile, dlp_state_file_unref)

G_END_DECLS
