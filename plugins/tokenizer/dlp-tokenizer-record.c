/* SPDX-License-Identifier: MIT */

/* A record's text becomes ids, on a worker. */

#include "dlp-tokenizer-element-private.h"

#include <string.h>

/* How many ids a record may have: a column holds no more, what is in it before the record batch is
 * pushed included. */
static gsize
get_max_ids (DlpTokenizerElement *self)
{
  return (DLP_COLUMN_MAX_BYTES - 2 * DLP_RECORD_BATCH_MAX_BYTES) / (self->wide ? 4 : 2);
}

static gsize
get_width (DlpTokenizerElement *self)
{
  return self->wide ? sizeof (guint32) : sizeof (guint16);
}

static DlpTokenizerFlags
get_flags (DlpTokenizerElement *self)
{
  DlpTokenizerFlags flags = DLP_TOKENIZER_FLAGS_NONE;

  if (self->special_tokens == DLP_SPECIAL_TOKENS_ALLOW)
    flags |= DLP_TOKENIZER_FLAGS_SPECIALS;
  if (self->post_processor == DLP_POST_PROCESSOR_FILE)
    flags |= DLP_TOKENIZER_FLAGS_POST_PROCESSOR;
  return flags;
}

static inline void
put_ids (DlpTokenizerElement *self, gpointer ids, gsize at, const guint32 *values, guint n)
{
  for (guint i = 0; i < n; i++)
    if (self->wide)
      ((guint32 *) ids)[at + i] = values[i];
    else
      ((guint16 *) ids)[at + i] = (guint16) values[i];
}

/* What is put around each document. */
typedef struct
{
  guint32 before[2];
  guint32 behind[1];
  guint n_before, n_behind;
} Around;

static void
get_around (DlpTokenizerElement *self, Around *around)
{
  *around = (Around){ .n_before = 0 };
  if (self->eod == DLP_EOD_PREPEND)
    around->before[around->n_before++] = self->eod_id;
  if (self->bos == DLP_BOS_ADD)
    around->before[around->n_before++] = self->bos_id;
  if (self->eod == DLP_EOD_APPEND)
    around->behind[around->n_behind++] = self->eod_id;
}

/* Below 0: see dlp_tokenizer_encode(). */
static gssize
encode (DlpTokenizerElement *self,
        DlpTokenizerContext *context,
        const Around *around,
        const char *text,
        gsize size,
        gpointer ids,
        gsize capacity)
{
  DlpTokenizerFlags flags = get_flags (self);
  guint n_around = around->n_before + around->n_behind;
  guint8 *body = (guint8 *) ids + around->n_before * get_width (self);
  gssize n;

  if (capacity < n_around)
    return -1;
  capacity -= n_around;
  n = self->wide ? dlp_tokenizer_encode_full (self->tokenizer, context, text, size, flags,
                                              (guint32 *) body, capacity) :
                   dlp_tokenizer_encode16_full (self->tokenizer, context, text, size, flags,
                                                (guint16 *) body, capacity);
  if (n < 0)
    return n;
  put_ids (self, ids, 0, around->before, around->n_before);
  put_ids (self, ids, around->n_before + n, around->behind, around->n_behind);
  return n + n_around;
}

static gboolean
may_refuse (DlpTokenizerElement *self)
{
  return self->special_tokens == DLP_SPECIAL_TOKENS_SKIP_RECORD ||
         self->special_tokens == DLP_SPECIAL_TOKENS_ERROR;
}

static guint
count_specials (DlpTokenizerElement *self, const char *text, gsize size, DlpTransformOutput *output)
{
  guint hits = dlp_tokenizer_count_specials (self->tokenizer, text, size);

  if (G_UNLIKELY (hits > 0))
    dlp_transform_output_count (output, COUNT_SPECIALS, hits);
  return hits;
}

/* (transfer full): "sample/a.jsonl: row 17", or by numbers where no file is known. */
static char *
describe_place (DlpTokenizerElement *self, const DlpRecordBatch *batch, guint row)
{
  const DlpCoordinate *at = dlp_record_batch_get_coordinate (batch, row);
  g_autofree char *file = dlp_element_dup_input_name (DLP_ELEMENT (self), at);

  return file != NULL ? g_strdup_printf ("%s: row %" G_GUINT64_FORMAT, file, at->row) :
                        g_strdup_printf ("source %u, file %u, row %" G_GUINT64_FORMAT, at->source,
                                         at->file, at->row);
}

/* The special token whose text comes first in a document. */
static const char *
find_special (DlpTokenizerElement *self, const char *text, gsize size)
{
  const char *found = NULL;
  const char *first = NULL;

  for (guint i = 0; i < dlp_tokenizer_get_n_specials (self->tokenizer); i++)
    {
      const char *content = dlp_tokenizer_get_special (self->tokenizer, i, NULL);
      const char *at = memmem (text, size, content, strlen (content));

      if (at != NULL && (first == NULL || at < first))
        {
          first = at;
          found = content;
        }
    }
  return found;
}

static gboolean
fail_special (DlpTokenizerElement *self,
              const DlpRecordBatch *batch,
              guint row,
              const char *text,
              gsize size,
              guint hits,
              GError **error)
{
  g_autofree char *place = describe_place (self, batch, row);
  const char *content = find_special (self, text, size);

  g_set_error (
      error, DLP_DATA_ERROR, DLP_DATA_ERROR_BAD_RECORD,
      "%s: %s: the document has the text of a special token, %s (%u in all); "
      "special-tokens=text takes it as ordinary text, skip-record leaves such documents out",
      dlp_element_get_name (DLP_ELEMENT (self)), place, content != NULL ? content : "?", hits);
  return FALSE;
}

/* FALSE: the record is not to be delivered; or an error. */
static gboolean
check_specials (DlpTokenizerElement *self,
                const DlpRecordBatch *batch,
                guint row,
                const char *text,
                gsize size,
                DlpTransformOutput *output,
                GError **error)
{
  guint hits = count_specials (self, text, size, output);

  if (G_LIKELY (hits == 0))
    return TRUE;
  if (self->special_tokens == DLP_SPECIAL_TOKENS_SKIP_RECORD)
    {
      dlp_transform_output_count (output, COUNT_DROPPED, 1);
      dlp_transform_output_push (output, 1,
                                 dlp_record_batch_slice ((DlpRecordBatch *) batch, row, 1));
      return FALSE;
    }
  return fail_special (self, batch, row, text, size, hits, error);
}

static gboolean
fail_record (DlpTokenizerElement *self,
             DlpRecordBatch *batch,
             guint row,
             gsize size,
             gssize code,
             GError **error)
{
  g_autofree char *place = describe_place (self, batch, row);

  if (code == -1)
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_RANGE,
                 "%s: %s: a text of %zu bytes has more than the %zu tokens that fit; set a smaller "
                 "max-record-bytes on the reader",
                 dlp_element_get_name (DLP_ELEMENT (self)), place, size, get_max_ids (self));
  else
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_BAD_RECORD,
                 "%s: %s: the pattern exceeds the limits of its engine on a text of %zu bytes",
                 dlp_element_get_name (DLP_ELEMENT (self)), place, size);
  return FALSE;
}

static void
copy_kept (DlpTokenizerElement *self,
           DlpRecordBatch *batch,
           guint row,
           DlpRecordBatchBuilder *builder)
{
  for (guint i = 0; i < self->n_kept; i++)
    dlp_record_batch_builder_append_field (builder, i, batch, self->kept[i], row);
}

static void
count_source (DlpTokenizerElement *self,
              DlpTransformOutput *output,
              const DlpCoordinate *at,
              gsize size,
              const guint8 *ids,
              gsize n)
{
  const guint64 counted[] = { 1, size, n };
  guint64 unknown = 0, single = 0;

  if (self->wide)
    dlp_tokenizer_count_ids (self->tokenizer, (const guint32 *) ids, n, &unknown, &single);
  else
    dlp_tokenizer_count_ids16 (self->tokenizer, (const guint16 *) ids, n, &unknown, &single);
  for (guint i = 0; i < G_N_ELEMENTS (counted); i++)
    dlp_transform_output_count_by_source (output, at, SOURCE_DOCUMENTS + i, counted[i]);
  if (unknown > 0)
    dlp_transform_output_count_by_source (output, at, SOURCE_UNKNOWN, unknown);
  if (single > 0)
    dlp_transform_output_count_by_source (output, at, SOURCE_SINGLE_BYTES, single);
}

/* The first of them are where they belong, in the builder. */
static gsize
put_cut (DlpTokenizerElement *self,
         const Around *around,
         DlpRecordBatchBuilder *builder,
         const DlpCoordinate *at,
         gpointer ids,
         gsize n,
         DlpTransformOutput *output)
{
  put_ids (self, ids, self->max_tokens - around->n_behind, around->behind, around->n_behind);
  dlp_record_batch_builder_commit (builder, self->n_kept, self->max_tokens);
  dlp_transform_output_end_record (output, 0, at);
  dlp_transform_output_count (output, COUNT_CUT, 1);
  dlp_transform_output_count (output, COUNT_CUT_TOKENS, n - self->max_tokens);
  return self->max_tokens;
}

/* The same; what is behind them is in the way of the records that it becomes. */
static gsize
put_parts (DlpTokenizerElement *self,
           DlpRecordBatchBuilder *builder,
           DlpRecordBatch *batch,
           guint row,
           const guint8 *ids,
           gsize n,
           DlpTransformOutput *output)
{
  DlpCoordinate at = *dlp_record_batch_get_coordinate (batch, row);
  gsize width = get_width (self);
  gsize rest = n - self->max_tokens;
  g_autofree guint8 *behind = g_memdup2 (ids + self->max_tokens * width, rest * width);

  dlp_record_batch_builder_commit (builder, self->n_kept, self->max_tokens);
  dlp_transform_output_end_record (output, 0, &at);
  for (gsize done = 0; done < rest; done += self->max_tokens)
    {
      gsize n_part = MIN (rest - done, self->max_tokens);

      builder = dlp_transform_output_get_builder (output, 0);
      copy_kept (self, batch, row, builder);
      dlp_record_batch_builder_append_list (builder, self->n_kept, behind + done * width, n_part);
      at.part++;
      dlp_transform_output_end_record (output, 0, &at);
    }
  dlp_transform_output_count (output, COUNT_SPLIT, 1);
  return n;
}

static gboolean
encode_record (DlpTokenizerElement *self,
               DlpTokenizerContext *context,
               const Around *around,
               DlpRecordBatch *batch,
               guint row,
               const char *text,
               gsize size,
               DlpTransformOutput *output,
               GError **error)
{
  DlpRecordBatchBuilder *builder = dlp_transform_output_get_builder (output, 0);
  const DlpCoordinate *at = dlp_record_batch_get_coordinate (batch, row);
  guint n_around = around->n_before + around->n_behind;
  gsize capacity = MIN (size + 2, get_max_ids (self));
  gssize n = 0;
  gpointer ids;

  /* Wanted when the text is encoded. */
  __builtin_prefetch (at);
  copy_kept (self, batch, row, builder);

  /* An empty document has no tokens, and no EOD. A normalizer may make a text longer. */
  ids = dlp_record_batch_builder_reserve (builder, self->n_kept, capacity);
  if (size > 0)
    n = encode (self, context, around, text, size, ids, capacity);
  else
    dlp_transform_output_count (output, COUNT_EMPTY, 1);
  while (n == -1 && capacity < get_max_ids (self))
    {
      capacity = MIN (capacity * 4, get_max_ids (self));
      ids = dlp_record_batch_builder_reserve (builder, self->n_kept, capacity);
      n = encode (self, context, around, text, size, ids, capacity);
    }
  if (n < 0)
    {
      dlp_record_batch_builder_commit (builder, self->n_kept, 0);
      dlp_record_batch_builder_drop_record (builder);
      return fail_record (self, batch, row, size, n, error);
    }
  count_source (self, output, at, size, (guint8 *) ids + around->n_before * get_width (self),
                n - MIN (n, n_around));
  if (G_LIKELY (self->max_tokens == 0 || (gsize) n <= self->max_tokens))
    {
      dlp_record_batch_builder_commit (builder, self->n_kept, n);
      dlp_transform_output_end_record (output, 0, at);
    }
  else if (self->overflow == DLP_OVERFLOW_CUT)
    n = put_cut (self, around, builder, at, ids, n, output);
  else
    n = put_parts (self, builder, batch, row, ids, n, output);
  dlp_transform_output_count (output, COUNT_TOKENS, n);
  return TRUE;
}

gboolean
dlp_tokenizer_element_process (DlpTransform *transform,
                               gpointer worker,
                               DlpRecordBatch *batch,
                               guint64 first,
                               DlpTransformOutput *output,
                               GError **error)
{
  DlpTokenizerElement *self = DLP_TOKENIZER_ELEMENT (transform);
  guint n = dlp_record_batch_get_length (batch);
  guint64 unmatched = dlp_tokenizer_context_get_dropped (worker);
  Around around;

  get_around (self, &around);
  for (guint row = 0; row < n; row++)
    {
      g_autoptr (GError) local = NULL;
      gsize size;
      const char *text =
          (const char *) dlp_record_batch_get_value (batch, self->text_field, row, &size);

      if (may_refuse (self) && !check_specials (self, batch, row, text, size, output, &local))
        {
          if (local == NULL)
            continue;
          g_propagate_error (error, g_steal_pointer (&local));
          return FALSE;
        }
      if (!encode_record (self, worker, &around, batch, row, text, size, output, error))
        return FALSE;
      /* Where it refuses nothing, the text is looked at once more while it is in the processor's
       * cache. */
      if (!may_refuse (self))
        count_specials (self, text, size, output);
    }
  dlp_transform_output_count (output, COUNT_DOCUMENTS, n);
  dlp_transform_output_count (output, COUNT_UNMATCHED,
                              dlp_tokenizer_context_get_dropped (worker) - unmatched);
  return TRUE;
}
