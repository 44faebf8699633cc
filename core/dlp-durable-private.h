/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* System calls of what must survive a crash. Interrupted calls and short transfers are gone on
 * with; an error names the path, what was wanted and why not, in G_IO_ERROR. Paths serve the
 * messages where a descriptor of the folder is given. Any thread.
 */

void dlp_durable_set_error (GError **error, int code, const char *format, ...) G_GNUC_PRINTF (3, 4);

/* All of @data at @offset. A full disk or quota: the message names @path and the bytes wanted. */
gboolean dlp_durable_write (int fd,
                            const char *path,
                            gconstpointer data,
                            gsize size,
                            guint64 offset,
                            GError **error);
/* Up to @size bytes from @offset; fewer only at the end of the file. -1: error. */
gssize dlp_durable_read (int fd,
                         const char *path,
                         gpointer data,
                         gsize size,
                         guint64 offset,
                         GError **error);
/* A sync that failed says nothing about a later one: the caller must not call it again on this
 * file. */
gboolean dlp_durable_sync_data (int fd, const char *path, GError **error);
gboolean dlp_durable_sync_folder (int fd, const char *path, GError **error);

/* A descriptor of the folder @path, or -1. */
int dlp_durable_open_folder (const char *path, GError **error);
/* The folder and those above it; each one made is durable. */
gboolean dlp_durable_make_folder (const char *path, GError **error);
/* (element-type utf8): the names in the folder, unsorted. */
GPtrArray *dlp_durable_list (int folder, const char *path, GError **error);
/* The whole of a regular file. @damaged: whether it is there, and only cannot be read. */
GBytes *dlp_durable_load_file (int fd, const char *path, gboolean *damaged, GError **error);
GBytes *dlp_durable_load (int folder,
                          const char *path,
                          const char *name,
                          gboolean *damaged,
                          GError **error);

/* Temporary names are ".NAME.PID.XXXXXXXX.tmp". @name NULL: of whatever name. */
gboolean dlp_durable_is_temporary (const char *candidate, const char *name);
/* A new empty file under a temporary name, open for reading and writing, or -1. */
int dlp_durable_create_temporary (int folder,
                                  const char *path,
                                  const char *name,
                                  char **temporary,
                                  GError **error);
/* A new empty file without a name in the folder @path, or -1. Where a file always has a name at
 * first (NFS), that is a temporary one for a moment. */
int dlp_durable_open_scratch (const char *path, GError **error);
gboolean
dlp_durable_rename (int folder, const char *path, const char *from, const char *to, GError **error);
/* Replaces nothing: @to is there already: G_IO_ERROR_EXISTS. */
gboolean dlp_durable_rename_new (int folder,
                                 const char *path,
                                 const char *from,
                                 const char *to,
                                 GError **error);
/* Missing is no error. */
gboolean dlp_durable_remove (int folder, const char *path, const char *name, GError **error);

typedef enum
{
  DLP_DURABLE_NOT, /* whole or absent for whoever reads it, but may vanish with the power */
  DLP_DURABLE_FULL,
} DlpDurability;

/* Replaces the file @name: temporary file, sync, rename, sync of the folder. @sync_failed:
 * (nullable): whether it was a sync that failed. */
gboolean dlp_durable_replace (int folder,
                              const char *path,
                              const char *name,
                              gconstpointer data,
                              gsize size,
                              DlpDurability durability,
                              gboolean *sync_failed,
                              GError **error);
/* The same; the temporary file is named after @stem. */
gboolean dlp_durable_replace_as (int folder,
                                 const char *path,
                                 const char *stem,
                                 const char *name,
                                 gconstpointer data,
                                 gsize size,
                                 DlpDurability durability,
                                 gboolean *sync_failed,
                                 GError **error);

G_END_DECLS
