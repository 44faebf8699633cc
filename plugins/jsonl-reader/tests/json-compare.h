/* SPDX-License-Identifier: MIT */

#pragma once

#include "json-record.h"

G_BEGIN_DECLS

/* Parses lines at every level this machine has and by the reference, and aborts where they differ.
 */
typedef struct _JsonComparer JsonComparer;

/* @paths: without escapes. */
JsonComparer *json_comparer_new (const char *const *paths, guint n_paths);
void json_comparer_free (JsonComparer *self);

/* Returns whether the line is a record. Nothing behind it needs to be readable. */
gboolean json_comparer_check (JsonComparer *self, const guint8 *line, gsize len);

guint json_comparer_get_n_levels (JsonComparer *self);

/* A number as each type against digits moved about in text, and strtod(); done by
 * json_comparer_check() to each that is a value. */
void json_compare_number (const JsonValue *value);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (JsonComparer, json_comparer_free)

G_END_DECLS
