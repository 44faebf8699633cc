/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-record-batch.h>

#include "json-writer.h"

G_BEGIN_DECLS

/**
 * JsonRow:
 *
 * How a record becomes a line: an object with the fields in order, then the coordinates if wanted.
 */
typedef struct _JsonRow JsonRow;

/* @fields: (nullable): their names; NULL or empty: all. @element: (nullable): a first member
 * "element" of every line. DLP_GRAPH_ERROR_VALUE: a field that is not there, or two members of one
 * name. */
JsonRow *json_row_new (DlpSchema *schema,
                       const char *const *fields,
                       const char *element,
                       gboolean coordinates,
                       GError **error);
void json_row_free (JsonRow *self);
/* The line, with its LF. */
void json_row_write (JsonRow *self, JsonWriter *writer, DlpRecordBatch *batch, guint row);
/* Whether a list is among the fields, and how many values the lists of rows have. */
gboolean json_row_has_lists (JsonRow *self);
guint64 json_row_count_values (JsonRow *self, DlpRecordBatch *batch, guint row, guint n);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (JsonRow, json_row_free)

G_END_DECLS
