/* SPDX-License-Identifier: MIT */

#include <string.h>

#include <dlpipe/dlp-error.h>

#include "filter-rows.h"

/* An expression is compiled and tried on records of all types, or refused with a message that a
 * terminal can show. */

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  static DlpRecordBatch *batch;
  g_autofree char *text = g_strndup ((const char *) data, size);
  g_autoptr (FilterExpression) expression = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *truths = NULL;

  if (batch == NULL)
    batch = filter_rows_new ();
  expression = filter_expression_new (text, dlp_record_batch_get_schema (batch), &error);
  if (expression == NULL)
    {
      g_assert_nonnull (error);
      g_assert_true (error->domain == DLP_GRAPH_ERROR);
      g_assert_true (g_utf8_validate (error->message, -1, NULL));
      g_assert_null (strpbrk (error->message, "\x1b\r\t\x7f"));
      return 0;
    }
  truths = filter_rows_test (batch, expression);
  g_assert_cmpuint (strlen (truths), ==, FILTER_N_ROWS);
  return 0;
}
