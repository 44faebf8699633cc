/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-macros.h"

G_BEGIN_DECLS

/* JSON (RFC 8259) of manifests, reports and summaries: small documents, held in memory. */

/**
 * DLP_JSON_MAX_DEPTH:
 *
 * How deep arrays and objects may be nested.
 *
 * Since: 0.1
 */
#define DLP_JSON_MAX_DEPTH 128

#define DLP_JSON_ERROR (dlp_json_error_quark ())
/**
 * DlpJsonError:
 * @DLP_JSON_ERROR_SYNTAX: the text is not JSON; the message says at which byte
 * @DLP_JSON_ERROR_DEPTH: nested deeper than %DLP_JSON_MAX_DEPTH; since 0.2
 *
 * Errors of reading JSON.
 *
 * Since: 0.1
 */
typedef enum
{
  DLP_JSON_ERROR_SYNTAX,
  DLP_JSON_ERROR_DEPTH,
} DlpJsonError;

#define DLP_TYPE_JSON_ERROR (dlp_json_error_get_type ())
DLP_AVAILABLE_IN_0_2
GType dlp_json_error_get_type (void) G_GNUC_CONST;

/**
 * dlp_json_error_quark:
 *
 * Gets the domain of #DlpJsonError.
 *
 * Threads: any.
 *
 * Returns: the domain
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
GQuark dlp_json_error_quark (void);

/**
 * dlp_json_print:
 * @value: a value, sunk if floating
 * @pretty: one member a line, for people; ends with LF
 *
 * Prints a value as JSON: dictionaries with string keys are objects, other arrays and tuples
 * arrays, empty maybes and numbers that JSON has not (NaN, infinities) null, doubles the shortest
 * text that reads back as the same.
 *
 * Threads: any.
 *
 * Returns: (transfer full): a text
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
char *dlp_json_print (GVariant *value, gboolean pretty);

/**
 * dlp_json_append_string:
 * @out: what is appended to
 * @text: (array length=size) (element-type guint8): bytes
 * @size: how many
 *
 * Appends bytes as a quoted string: UTF-8 is kept, control characters are escaped, what is not
 * UTF-8 becomes U+FFFD.
 *
 * Threads: any.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_json_append_string (GString *out, const char *text, gsize size);

/**
 * dlp_json_parse:
 * @text: (array length=size) (element-type guint8): the text
 * @size: its number of bytes
 * @error: return location for an error
 *
 * Reads a JSON text. Objects are a{sv} in the order of the text, arrays av, strings s, numbers x, t
 * or d, whichever is the first to hold it, null an empty mv. A string with U+0000 is an error.
 *
 * Threads: any.
 *
 * Returns: (transfer full): a value, not floating
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
GVariant *dlp_json_parse (const char *text, gsize size, GError **error);

/**
 * dlp_json_check:
 * @text: (array length=size) (element-type guint8): the text
 * @size: its number of bytes
 * @error: return location for an error
 *
 * Looks whether it is one JSON text; makes nothing of it.
 *
 * Threads: any.
 *
 * Returns: %FALSE with an error
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gboolean dlp_json_check (const char *text, gsize size, GError **error);

G_END_DECLS
