/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "dlp-macros.h"

G_BEGIN_DECLS

#define DLP_TYPE_MERGE (dlp_merge_get_type ())
/**
 * DlpMerge:
 *
 * Several outputs of one sink, the parts of a fan-out, become one: what a sink writes with in
 * #DlpSinkClass.merge(). It has the manifests of the parts, in their order.
 *
 * The files are written under unfinished names and made durable; then the manifest is, under such a
 * name too; then all get their final names, the manifest last. Killed before, the same merge begins
 * anew, killed after that, it gives the names that are left. What is there already and is not of
 * this merge is not replaced.
 *
 * Each method has one thread at a time.
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
G_DECLARE_FINAL_TYPE (DlpMerge, dlp_merge, DLP, MERGE, GObject)

/**
 * dlp_merge_get_location:
 * @self: a merge
 *
 * Gets the location of the whole.
 *
 * Threads: any.
 *
 * Returns: (transfer none) (type filename): a path
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
const char *dlp_merge_get_location (DlpMerge *self);

/**
 * dlp_merge_get_n_parts:
 * @self: a merge
 *
 * Gets the number of parts.
 *
 * Threads: any.
 *
 * Returns: how many
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
guint dlp_merge_get_n_parts (DlpMerge *self);

/**
 * dlp_merge_get_manifest:
 * @self: a merge
 * @part: the number of a part, from 0
 *
 * Gets the manifest of a part.
 *
 * Threads: that of the merge, in #DlpSinkClass.merge().
 *
 * Returns: (transfer none): a manifest
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
GVariant *dlp_merge_get_manifest (DlpMerge *self, guint part);

/**
 * dlp_merge_get_path:
 * @self: a merge
 * @part: the number of a part, from 0
 * @file: the number of a file in its manifest, from 0
 *
 * Gets where a file of a part is.
 *
 * Threads: that of the merge, in #DlpSinkClass.merge().
 *
 * Returns: (transfer full) (type filename): a path
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
char *dlp_merge_get_path (DlpMerge *self, guint part, guint file);

/**
 * dlp_merge_check_file:
 * @self: a merge
 * @part: the number of a part, from 0
 * @file: the number of a file in its manifest, from 0
 * @error: return location for an error
 *
 * Reads a file of a part and compares its hash with its manifest. For what is read in pieces
 * afterwards; dlp_merge_append_file() does so by itself.
 *
 * Threads: that of the merge, in #DlpSinkClass.merge().
 *
 * Returns: %FALSE with an error
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean dlp_merge_check_file (DlpMerge *self, guint part, guint file, GError **error);

/**
 * dlp_merge_begin_file:
 * @self: a merge
 * @path: (type filename): its final name, in the folder of the location
 * @error: return location for an error
 *
 * Begins a file of the whole, when the one before has ended.
 *
 * Threads: that of the merge, in #DlpSinkClass.merge().
 *
 * Returns: %FALSE with an error
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean dlp_merge_begin_file (DlpMerge *self, const char *path, GError **error);

/**
 * dlp_merge_write:
 * @self: a merge
 * @data: (array length=size) (element-type guint8): bytes
 * @size: how many
 * @error: return location for an error
 *
 * Writes bytes to the file that was begun.
 *
 * Threads: that of the merge, in #DlpSinkClass.merge().
 *
 * Returns: %FALSE with an error; %G_IO_ERROR_CANCELLED
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean dlp_merge_write (DlpMerge *self, gconstpointer data, gsize size, GError **error);

/**
 * dlp_merge_append_range:
 * @self: a merge
 * @part: the number of a part, from 0
 * @file: the number of a file in its manifest, from 0
 * @offset: the first byte
 * @size: how many
 * @error: return location for an error
 *
 * Writes bytes of a file of a part to the file that was begun.
 *
 * Threads: that of the merge, in #DlpSinkClass.merge().
 *
 * Returns: %FALSE with an error
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean dlp_merge_append_range (DlpMerge *self,
                                 guint part,
                                 guint file,
                                 guint64 offset,
                                 guint64 size,
                                 GError **error);

/**
 * dlp_merge_append_file:
 * @self: a merge
 * @part: the number of a part, from 0
 * @file: the number of a file in its manifest, from 0
 * @error: return location for an error
 *
 * Writes a whole file of a part to the file that was begun, and compares it with its manifest. It
 * has other bytes: %DLP_DATA_ERROR_DAMAGED.
 *
 * Threads: that of the merge, in #DlpSinkClass.merge().
 *
 * Returns: %FALSE with an error
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean dlp_merge_append_file (DlpMerge *self, guint part, guint file, GError **error);

/**
 * dlp_merge_end_file:
 * @self: a merge
 * @error: return location for an error
 *
 * Ends the file that was begun, and makes it durable.
 *
 * Threads: that of the merge, in #DlpSinkClass.merge().
 *
 * Returns: %FALSE with an error
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean dlp_merge_end_file (DlpMerge *self, GError **error);

/**
 * dlp_merge_concatenate:
 * @self: a merge
 * @error: return location for an error
 *
 * A #DlpSinkClass.merge() of a format whose whole is its parts one behind the other: writes the
 * location itself, of the first file of each part.
 *
 * Threads: that of the merge, in #DlpSinkClass.merge().
 *
 * Returns: %FALSE with an error
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
gboolean dlp_merge_concatenate (DlpMerge *self, GError **error);

G_END_DECLS
