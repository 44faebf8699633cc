/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-file.h>

G_BEGIN_DECLS

/* Compares what was opened with what @self recorded: a difference is DLP_DATA_ERROR_CHANGED with
 * both values. A size of -1 and an identity of NULL are unknown, and equal to anything. */
gboolean dlp_file_check (DlpFile *self, gint64 size, const char *identity, GError **error);
/* Whether @stream, of dlp_file_open(), still reads what was opened, as far as its scheme can tell.
 */
gboolean dlp_file_check_stream (DlpFile *self, GInputStream *stream, GError **error);

G_END_DECLS
