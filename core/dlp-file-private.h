/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-file.h>

G_BEGIN_DECLS

/* By which it is opened, before anybody else has it. @scheme: (nullable): by that of its name. */
void dlp_file_set_scheme (DlpFile *self, DlpScheme *scheme);
/* (transfer none) (nullable): by which it is opened. */
DlpScheme *dlp_file_find_scheme (DlpFile *self, GError **error);
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

/* What a manifest says of a file, to be set before anybody else sees it. -1 and NULL: nothing. */
void dlp_file_set_expected (DlpFile *self, gint64 size, gint64 rows, const char *sha256);
/* (nullable) */
const char *dlp_file_get_expected_sha256 (DlpFile *self);
/* What is not as it was said is damage. A size of -1 is unknown. */
gboolean dlp_file_check_expected_size (DlpFile *self, gint64 size, GError **error);
/* Of a file for which there is one. */
gboolean dlp_file_check_expected_sha256 (DlpFile *self, GChecksum *checksum, GError **error);
gboolean dlp_file_check_expected_rows (DlpFile *self, guint64 rows, GError **error);
/* Reads the file once as a whole, if it has to have a SHA-256: for who does not read its bytes in
 * turn. */
gboolean dlp_file_verify (DlpFile *self, GCancellable *cancellable, GError **error);

G_END_DECLS
