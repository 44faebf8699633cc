/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* The unfinished files of an output, ".NAME.RUN.ATTEMPT.partial" beside it. A file gets such a name
 * only when it holds, durably, all that a checkpoint knows of: whichever attempt of the run it
 * belongs to, its beginning can be used. Whoever writes it holds a lock on it (flock).
 */

/* An output's folder, and its name in it. */
typedef struct
{
  int fd;
  char *path;
  char *name;
} DlpPartialPlace;

#define DLP_PARTIAL_PLACE_INIT                                                                     \
  {                                                                                                \
    -1, NULL, NULL                                                                                 \
  }

gboolean dlp_partial_place_open (DlpPartialPlace *self, const char *path, GError **error);
void dlp_partial_place_close (DlpPartialPlace *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (DlpPartialPlace, dlp_partial_place_close)
/* The size of a regular file; FALSE: there is none of that name. */
gboolean dlp_partial_get_size (const DlpPartialPlace *place, const char *name, guint64 *size);

/* Hexadecimal, small letters, at most 64 of them. */
gboolean dlp_partial_is_run_id (const char *text);
char *dlp_partial_path (const char *path, const char *run_id, guint attempt);
char *dlp_partial_name (const char *final, const char *run_id, guint attempt);
/* What temporary files of a run's copies are named after. */
char *dlp_partial_stem (const char *final, const char *run_id);
/* TRUE if @name is an unfinished file of an output named @final, and of @run_id (NULL: of any run).
 */
gboolean
dlp_partial_parse (const char *name, const char *final, const char *run_id, guint *attempt);

/* As dlp_output_file_create() and dlp_output_file_resume(): a descriptor, or -1. */
int dlp_partial_create (const char *path, const char *run_id, guint attempt, GError **error);
int dlp_partial_resume (const char *path,
                        const char *run_id,
                        guint attempt,
                        guint former_attempt,
                        gboolean former_is_dead,
                        guint64 length,
                        GError **error);
gboolean dlp_partial_sync_folder (const char *path, GError **error);
/* Whether an unfinished file of this run is there. */
gboolean dlp_partial_exists (const char *path, const char *run_id);
/* DLP_STATE_ERROR_FOREIGN_OUTPUT */
void dlp_partial_set_taken (GError **error, const char *path);

G_END_DECLS
