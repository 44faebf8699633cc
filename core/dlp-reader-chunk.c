/* SPDX-License-Identifier: MIT */

#include <string.h>

#include "dlp-reader-private.h"
#include "dlp-record-batch-private.h"

DlpReaderChunk *
dlp_reader_chunk_new (DlpReaderLane *lane,
                      guint8 *data,
                      gsize size,
                      gsize capacity,
                      guint64 offset,
                      bool is_last)
{
  DlpReaderChunk *self = g_new0 (DlpReaderChunk, 1);

  self->reader = lane->reader;
  self->lane = lane;
  self->link.data = self;
  self->data = data;
  self->size = size;
  self->capacity = capacity;
  self->offset = offset;
  self->is_last = is_last;
  self->batches = g_ptr_array_new_with_free_func ((GDestroyNotify) dlp_record_batch_unref);
  return self;
}

void
dlp_reader_chunk_free (DlpReaderChunk *self)
{
  dlp_reader_give_buffer (self->reader, self->data, self->capacity);
  g_ptr_array_unref (self->batches);
  dlp_reader_rejects_clear (&self->rejects);
  g_clear_pointer (&self->counts, g_array_unref);
  g_clear_pointer (&self->header, g_bytes_unref);
  dlp_reader_clear_piece (&self->piece);
  g_free (self->damage);
  g_free (self);
}

/* What a binding copies would outlive the call that it is for. */
static DlpReaderChunk *
dlp_reader_chunk_boxed_copy (DlpReaderChunk *self)
{
  return NULL;
}

static void
dlp_reader_chunk_boxed_free (DlpReaderChunk *self)
{
}

G_DEFINE_BOXED_TYPE (DlpReaderChunk,
                     dlp_reader_chunk,
                     dlp_reader_chunk_boxed_copy,
                     dlp_reader_chunk_boxed_free)

const guint8 *
dlp_reader_chunk_get_data (DlpReaderChunk *self, gsize *size)
{
  g_return_val_if_fail (self != NULL, NULL);

  *size = self->size;
  return self->data;
}

guint64
dlp_reader_chunk_get_offset (DlpReaderChunk *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->offset;
}

gboolean
dlp_reader_chunk_is_last (DlpReaderChunk *self)
{
  g_return_val_if_fail (self != NULL, TRUE);

  return self->is_last;
}

const guint8 *
dlp_reader_chunk_get_header (DlpReaderChunk *self, gsize *size)
{
  g_return_val_if_fail (self != NULL, NULL);

  *size = 0;
  return self->header != NULL ? g_bytes_get_data (self->header, size) : NULL;
}

gpointer
dlp_reader_chunk_get_piece (DlpReaderChunk *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->piece.data;
}

const char *
dlp_reader_chunk_get_uri (DlpReaderChunk *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->lane->uri;
}

DlpRecordBatchBuilder *
dlp_reader_chunk_get_builder (DlpReaderChunk *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->builder;
}

static void
finish_batch (DlpReaderChunk *self)
{
  if (dlp_record_batch_builder_get_length (self->builder) > 0)
    g_ptr_array_add (self->batches, dlp_record_batch_builder_take (self->builder));
}

/* The reader's, not the file's: the chunk is good up to there. */
static void
note_fault (DlpReaderChunk *self)
{
  DlpRecordFault fault;

  finish_batch (self);
  dlp_record_batch_builder_take_fault (self->builder, &fault);
  if (self->damage != NULL)
    {
      g_free (fault.message);
      return;
    }
  dlp_reader_chunk_damage (self, 0, fault.message);
  self->is_faulty = true;
}

void
dlp_reader_chunk_end_record (DlpReaderChunk *self, guint lines)
{
  DlpCoordinate coordinate;

  g_return_if_fail (self != NULL);

  if (G_UNLIKELY (self->damage != NULL))
    {
      dlp_record_batch_builder_drop_record (self->builder);
      return;
    }

  coordinate = self->lane->coordinate;
  coordinate.row = self->rows;
  if (G_UNLIKELY (!dlp_record_batch_builder_end_record (self->builder, &coordinate)))
    {
      note_fault (self);
      return;
    }
  self->rows++;
  self->lines += lines;
  if (dlp_record_batch_builder_is_full (self->builder))
    finish_batch (self);
}

static void
add_reject (DlpReaderChunk *self,
            guint lines,
            const char *kind,
            gsize offset,
            const guint8 *data,
            gsize size,
            const char *message,
            bool may_refer)
{
  const DlpReaderReject reject = {
    .row = self->rows++,
    .line = (self->lines += lines),
    .kind = kind,
    .message = message,
    .offset = offset,
    .data = data,
    .size = MIN (size, DLP_READER_MAX_REJECTED),
  };

  dlp_reader_rejects_add (&self->rejects, &reject, may_refer ? self->data : NULL, self->size);
}

void
dlp_reader_chunk_reject (DlpReaderChunk *self,
                         guint lines,
                         const char *kind,
                         gsize offset,
                         const guint8 *data,
                         gsize size,
                         char *message)
{
  g_return_if_fail (self != NULL);

  dlp_record_batch_builder_drop_record (self->builder);
  if (self->damage == NULL)
    add_reject (self, lines, g_intern_string (kind), offset, data, size, message, true);
  g_free (message);
}

void
dlp_reader_chunk_pass_lines (DlpReaderChunk *self, guint lines)
{
  g_return_if_fail (self != NULL);

  if (self->damage == NULL)
    self->lines += lines;
}

void
dlp_reader_chunk_damage (DlpReaderChunk *self, gsize offset, char *message)
{
  g_return_if_fail (self != NULL);

  dlp_record_batch_builder_drop_record (self->builder);
  if (self->damage != NULL)
    {
      g_free (message);
      return;
    }
  self->damage = message;
  self->damage_offset = offset;
  while (self->counts != NULL && self->counts->len > 0 &&
         g_array_index (self->counts, DlpReaderCount, self->counts->len - 1).row == self->rows)
    g_array_set_size (self->counts, self->counts->len - 1);
}

void
dlp_reader_chunk_count (DlpReaderChunk *self, guint counter, guint64 n)
{
  DlpReaderCount count = { .counter = counter, .n = n };

  g_return_if_fail (self != NULL && counter < DLP_READER_MAX_COUNTERS);

  if (self->damage != NULL)
    return;
  count.row = self->rows;
  if (self->counts == NULL)
    self->counts = g_array_new (FALSE, FALSE, sizeof (DlpReaderCount));
  g_array_append_val (self->counts, count);
}

/* It is reported at its first line. */
void
dlp_reader_chunk_set_too_long (DlpReaderChunk *self,
                               guint64 record_size,
                               guint64 lines,
                               guint64 max_record_bytes)
{
  g_autofree char *message =
      g_strdup_printf ("a record of %" G_GUINT64_FORMAT
                       " bytes, above the max-record-bytes=%" G_GUINT64_FORMAT " allowed",
                       record_size, max_record_bytes);

  add_reject (self, MIN (lines, 1), "too-long", 0, self->data, self->size, message, false);
  self->lines = lines;
  dlp_reader_rejects_finish (&self->rejects);
}

void
dlp_reader_chunk_parse (DlpReaderChunk *self, gpointer worker, DlpRecordBatchBuilder *builder)
{
  self->builder = builder;
  DLP_READER_GET_CLASS (self->reader)->parse (self->reader, worker, self);
  if (self->damage != NULL)
    dlp_record_batch_builder_drop_record (builder);
  if (!dlp_record_batch_builder_check_ended (builder))
    note_fault (self);
  finish_batch (self);
  dlp_reader_rejects_finish (&self->rejects);
  dlp_reader_clear_piece (&self->piece);
  self->builder = NULL;
}

bool
dlp_reader_chunk_has_work (const DlpReaderChunk *self)
{
  return self->data != NULL || self->piece.data != NULL;
}

gsize
dlp_reader_chunk_get_bytes (DlpReaderChunk *self)
{
  gsize bytes = self->data != NULL ? self->capacity : self->piece.bytes;

  for (guint i = 0; i < self->batches->len; i++)
    bytes += dlp_record_batch_get_bytes (g_ptr_array_index (self->batches, i));
  bytes += self->rejects.capacity;
  if (self->counts != NULL)
    bytes += self->counts->len * sizeof (DlpReaderCount);
  return bytes;
}

/* The batches were made here and nobody else has seen them yet: their coordinates may be written.
 */
static void
rebase (DlpRecordBatch *batch, guint64 base_row)
{
  DlpCoordinate *coordinates = (DlpCoordinate *) dlp_record_batch_coordinate (batch, 0);
  guint length = dlp_record_batch_length (batch);

  for (guint i = 0; i < length; i++)
    coordinates[i].row += base_row;
}

/* The first row of @batch, from @from on, that is not below @row. */
static guint
find_row (DlpRecordBatch *batch, guint from, guint64 row)
{
  guint low = from;
  guint high = dlp_record_batch_length (batch);

  while (low < high)
    {
      guint middle = low + (high - low) / 2;

      if (dlp_record_batch_coordinate (batch, middle)->row < row)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

void
dlp_reader_chunk_adopt (DlpReaderChunk *self, guint64 base_row, guint64 reached)
{
  const DlpReaderReject *reject;

  self->adopted = true;
  if (base_row > 0)
    for (guint i = 0; i < self->batches->len; i++)
      rebase (g_ptr_array_index (self->batches, i), base_row);

  while (self->batch < self->batches->len)
    {
      DlpRecordBatch *batch = g_ptr_array_index (self->batches, self->batch);

      self->row_in_batch = find_row (batch, 0, reached);
      if (self->row_in_batch < dlp_record_batch_length (batch))
        break;
      self->row_in_batch = 0;
      self->batch++;
    }
  while ((reject = dlp_reader_rejects_peek (&self->rejects, self->data)) != NULL &&
         base_row + reject->row < reached)
    dlp_reader_rejects_pass (&self->rejects);
  while (self->counts != NULL && self->count < self->counts->len &&
         base_row + g_array_index (self->counts, DlpReaderCount, self->count).row < reached)
    self->count++;
}
