/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-file.h>

G_BEGIN_DECLS

/* By which it is opened, before anybody else has it. @scheme: (nullable): by that of its name. */
void dlp_file_set_scheme (DlpFile *self, DlpScheme *scheme);
/* The type of the scheme of that name, in lower case; G_TYPE_INVALID: there is none. */
GType dlp_scheme_find_type (const char *name);
/* (transfer full): the names of those that are there, and that plugins would bring, sorted. */
char **dlp_scheme_list_names (void);

/* Compares what was opened with what @self recorded: a difference is DLP_DATA_ERROR_CHANGED with
 * both values. A size of -1 and an identity of NULL are unknown, and equal to anything. */
gboolean dlp_file_check (DlpFile *self, gint64 size, const char *identity, GError **error);
/* Whether @stream, of dlp_file_open(), still reads what was opened, as far as its scheme can tell.
 */
gboolean dlp_file_check_stream (DlpFile *self, GInputStream *stream, GError **error);

G_END_DECLS
