/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* The unfinished files of an output, ".NAME.ATTEMPT.partial" beside it. A file gets such a name
 * only when it holds, durably, all that a checkpoint knows of: whichever attempt it belongs to, its
 * beginning can be used.
 */
char *dlp_partial_path (const char *path, guint attempt);
/* TRUE if @name is an unfinished file of an output named @final. */
gboolean dlp_partial_parse (const char *name, const char *final, guint *attempt);

/* As dlp_output_file_create() and dlp_output_file_resume(): a descriptor, or -1. */
int dlp_partial_create (const char *path, guint attempt, GError **error);
int dlp_partial_resume (const char *path,
                        guint attempt,
                        guint former_attempt,
                        gboolean former_is_dead,
                        guint64 length,
                        GError **error);
gboolean dlp_partial_sync_folder (const char *path, GError **error);

G_END_DECLS
