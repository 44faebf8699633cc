/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-arrow.h>

/* For test_arrow.py: batches of another program go in and come out, by addresses of the structs. */

DLP_API gboolean arrow_probe_round_trip (struct ArrowSchema *schema,
                                         struct ArrowArray *array,
                                         struct ArrowSchema *schema_out,
                                         struct ArrowArray *array_out,
                                         guint row,
                                         guint n,
                                         gboolean copy,
                                         char *message,
                                         gsize size);

static DlpRecordBatch *
copy_records (DlpRecordBatch *batch)
{
  g_autoptr (DlpRecordBatchBuilder) builder =
      dlp_record_batch_builder_new (dlp_record_batch_get_schema (batch));
  guint length = dlp_record_batch_get_length (batch);

  for (guint row = 0, n; row < length; row += n)
    {
      n = MIN (1 + row % 7, length - row);
      dlp_record_batch_builder_append_rows (builder, batch, row, n);
    }
  return dlp_record_batch_builder_finish (builder, NULL);
}

/* Rows [row, row + n) of array: a slice of it, or a copy of that. FALSE: message says why. */
gboolean
arrow_probe_round_trip (struct ArrowSchema *schema_in,
                        struct ArrowArray *array,
                        struct ArrowSchema *schema_out,
                        struct ArrowArray *array_out,
                        guint row,
                        guint n,
                        gboolean copy,
                        char *message,
                        gsize size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpSchema) schema = dlp_schema_import (schema_in, DLP_SCHEMA_RECORDS, &error);
  g_autoptr (DlpRecordBatch) batch = NULL;
  g_autoptr (DlpRecordBatch) result = NULL;

  if (schema == NULL)
    array->release (array);
  else
    batch = dlp_record_batch_import (schema, array, NULL, &error);
  if (batch == NULL)
    {
      g_strlcpy (message, error->message, size);
      return FALSE;
    }

  result = dlp_record_batch_slice (batch, row, n);
  if (copy)
    {
      g_autoptr (DlpRecordBatch) slice = g_steal_pointer (&result);

      result = copy_records (slice);
    }
  dlp_schema_export (schema, schema_out);
  dlp_record_batch_export (result, array_out);
  return TRUE;
}
