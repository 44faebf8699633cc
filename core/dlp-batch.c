/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-batch.h>

#include "dlp-record-batch-private.h"

static gpointer
dlp_batch_info_copy (gpointer self)
{
  return g_memdup2 (self, sizeof (DlpBatchInfo));
}

G_DEFINE_BOXED_TYPE (DlpBatchInfo, dlp_batch_info, dlp_batch_info_copy, g_free)

static guint64
count_tokens (const DlpRecordBatch *batch, guint row, guint n)
{
  DlpSchema *schema = dlp_record_batch_get_schema (batch);
  int field = dlp_schema_find (schema, "tokens");
  guint64 tokens = 0;

  if (field < 0 || !dlp_field_type_is_list (dlp_schema_get_field_type (schema, (guint) field)))
    return 0;
  for (guint i = 0; i < n; i++)
    {
      gsize length;

      dlp_record_batch_value (batch, (guint) field, row + i, &length);
      tokens += length;
    }
  return tokens;
}

void
dlp_batch_info_add_rows (DlpBatchInfo *self, const DlpRecordBatch *batch, guint row, guint n)
{
  g_return_if_fail (self != NULL && batch != NULL);
  g_return_if_fail (row <= batch->length && n <= batch->length - row);

  dlp_digest_add (&self->digest, batch, row, n, (self->index << 32) + self->records);
  self->records += n;
  self->tokens += count_tokens (batch, row, n);
}

void
dlp_batch_info_add_batch (DlpBatchInfo *self, const DlpBatchInfo *batch)
{
  g_return_if_fail (self != NULL && batch != NULL);

  self->n_batches += batch->n_batches;
  self->records += batch->records;
  self->tokens += batch->tokens;
  dlp_digest_combine (&self->digest, &batch->digest);
}

const DlpBatchInfo *
dlp_record_batch_get_batch_info (const DlpRecordBatch *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->training;
}
