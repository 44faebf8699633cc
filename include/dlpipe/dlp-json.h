/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-macros.h"

G_BEGIN_DECLS

/* JSON (RFC 8259) of manifests, reports and summaries: small documents, held in memory. Any thread.
 */

#define DLP_JSON_MAX_DEPTH 128

#define DLP_JSON_ERROR (dlp_json_error_quark ())
typedef enum
{
  DLP_JSON_ERROR_SYNTAX,
} DlpJsonError;

DLP_API GQuark dlp_json_error_quark (void);

/* (transfer full): the text of @value, sunk if floating: dictionaries with string keys are objects,
 * other arrays and tuples arrays, empty maybes and numbers that JSON has not (NaN, infinities)
 * null, doubles the shortest text that reads back as the same. @pretty: one member a line, for
 * people; ends with LF. */
DLP_API char *dlp_json_print (GVariant *value, gboolean pretty);
/* Appends @size bytes as a quoted string: UTF-8 is kept, control characters are escaped, what is
 * not UTF-8 becomes U+FFFD. */
DLP_API void dlp_json_append_string (GString *out, const char *text, gsize size);

/* (transfer full), not floating: objects are a{sv} in the order of the text, arrays av, strings s,
 * numbers x, t or d, whichever is the first to hold it, null an empty mv. A string with U+0000 is
 * an error. The message of DLP_JSON_ERROR_SYNTAX says at which byte. */
DLP_API GVariant *dlp_json_parse (const char *text, gsize size, GError **error);
/* Whether it is one JSON text; makes nothing of it. */
DLP_API gboolean dlp_json_check (const char *text, gsize size, GError **error);

G_END_DECLS
