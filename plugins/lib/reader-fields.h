/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-record-batch.h>

G_BEGIN_DECLS

/* A further field of the records of a reader. */
typedef struct
{
  char *path; /* as it was written */
  DlpFieldType type;
  gboolean optional;
  gboolean has_type; /* one was written */
} ReaderField;

/* (transfer full) (element-type ReaderField): of the values of the property fields, each "lang" or
 * "data.score:double?", or several with commas between. None may come twice, or, with @field
 * (nullable), be "text", which is what that becomes. @format: what is read, for messages; NULL: it
 * has all types, which others have not. @has_binary: whether a field may be binary. Errors:
 * DLP_GRAPH_ERROR_VALUE. */
GPtrArray *reader_fields_parse (const char *const *texts,
                                const char *field,
                                const char *format,
                                gboolean has_binary,
                                GError **error);

/* (transfer full): a name as it is, without the backslashes of how it was written. */
char *reader_field_unescape (const char *path);

/* (transfer full): of "a,b\,c", or several of those. */
GPtrArray *reader_fields_split_names (const char *const *texts);

/* (transfer full): “"id", "body"; did you mean "body"?” of a name that is not among them, of which
 * there are NULL-terminated @n_names. */
char *reader_fields_list_names (const char *const *names, guint n_names, const char *wanted);

/* What a value has to be, and which range it has, in a message. */
const char *reader_field_type_get_wanted (DlpFieldType type);
const char *reader_field_type_get_range (DlpFieldType type);

G_END_DECLS
