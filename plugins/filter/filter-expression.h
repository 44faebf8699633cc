/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-record-batch.h>

G_BEGIN_DECLS

/* A condition on the fields of a record: compiled once for a schema, immutable, used by any number
 * of threads, each with a context of its own. */
typedef struct _FilterExpression FilterExpression;
typedef struct _FilterContext FilterContext;

/* Three values, as in SQL: and is the least, or the greatest, not the mirrored. */
typedef enum
{
  FILTER_FALSE,
  FILTER_NULL,
  FILTER_TRUE,
  FILTER_FAILED, /* no value: see filter_context_get_failure() */
} FilterTruth;

/* (transfer full) (nullable): errors are DLP_GRAPH_ERROR, _SYNTAX, _VALUE or _TYPE, with a line of
 * the expression and one with a caret. */
FilterExpression *filter_expression_new (const char *text, DlpSchema *schema, GError **error);
void filter_expression_free (FilterExpression *self);

/* @self must outlive it. */
FilterContext *filter_context_new (const FilterExpression *self);
void filter_context_free (FilterContext *context);
/* @batch is of the schema that the expression was made for. Allocates nothing, but what a regular
 * expression without a compiler may need. */
FilterTruth filter_context_test (FilterContext *context, const DlpRecordBatch *batch, guint row);
/* (transfer full): why the last test failed. */
char *filter_context_get_failure (FilterContext *context);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (FilterExpression, filter_expression_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FilterContext, filter_context_free)

G_END_DECLS
