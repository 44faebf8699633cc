/* SPDX-License-Identifier: MIT */

#include "dlp-element-private.h"
#include "dlp-pad-private.h"
#include "dlp-record-batch-private.h"

G_DEFINE_FINAL_TYPE (DlpPad, dlp_pad, G_TYPE_OBJECT)

static void
dlp_pad_finalize (GObject *object)
{
  DlpPad *self = DLP_PAD (object);

  g_clear_pointer (&self->reading, dlp_record_batch_unref);
  dlp_cursor_clear (&self->cursor);
  g_clear_pointer (&self->builder, dlp_record_batch_builder_unref);
  g_clear_pointer (&self->open_mark, dlp_mark_unref);
  g_clear_pointer (&self->empty, dlp_record_batch_unref);
  g_clear_pointer (&self->schema, dlp_schema_unref);
  if (self->peer != NULL)
    self->peer->peer = NULL;
  if (self->direction == DLP_PAD_OUTPUT && self->link != NULL)
    {
      if (self->peer != NULL)
        self->peer->link = NULL;
      dlp_queue_destroy (self->link);
      g_free (self->link);
    }
  g_free (self->name);

  G_OBJECT_CLASS (dlp_pad_parent_class)->finalize (object);
}

static void
dlp_pad_class_init (DlpPadClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = dlp_pad_finalize;
}

static void
dlp_pad_init (DlpPad *self)
{
}

DlpPad *
dlp_pad_new (DlpElement *element, const char *name, DlpPadDirection direction, bool optional)
{
  DlpPad *self = g_object_new (DLP_TYPE_PAD, NULL);

  self->element = element;
  self->name = g_strdup (name);
  self->direction = direction;
  self->optional = optional;
  return self;
}

const char *
dlp_pad_get_name (DlpPad *self)
{
  return self->name;
}

DlpPadDirection
dlp_pad_get_direction (DlpPad *self)
{
  return self->direction;
}

DlpPad *
dlp_pad_get_peer (DlpPad *self)
{
  return self->peer;
}

DlpElement *
dlp_pad_get_element (DlpPad *self)
{
  return self->element;
}

gboolean
dlp_pad_is_linked (DlpPad *self)
{
  return self->peer != NULL;
}

DlpSchema *
dlp_pad_get_schema (DlpPad *self)
{
  return self->schema;
}

void
dlp_pad_set_schema (DlpPad *self, DlpSchema *schema)
{
  DlpSchema *old = self->schema;

  self->schema = dlp_schema_ref (schema);
  self->whole = dlp_schema_get_kind (schema) == DLP_SCHEMA_BATCHES;
  g_clear_pointer (&old, dlp_schema_unref);
  if (self->direction == DLP_PAD_OUTPUT)
    {
      g_clear_pointer (&self->builder, dlp_record_batch_builder_unref);
      g_clear_pointer (&self->empty, dlp_record_batch_unref);
      self->builder = dlp_record_batch_builder_new (schema);
      self->empty = dlp_record_batch_new_empty (schema);
    }
}

void
dlp_pad_link (DlpPad *output, DlpPad *input)
{
  output->link = g_new0 (DlpQueue, 1);
  dlp_queue_init (output->link, 16, 16 * 1024 * 1024);
  output->batch_bytes = DLP_RECORD_BATCH_MAX_BYTES;
  input->link = output->link;
  output->peer = input;
  input->peer = output;
  output->link->consumer = &dlp_element_get_private (input->element)->waker;
  output->link->producer = &dlp_element_get_private (output->element)->waker;
}

void
dlp_pad_set_link_limits (DlpPad *output, guint max_batches, gsize max_bytes, gsize batch_bytes)
{
  output->link->max_batches = MAX (max_batches, 1);
  output->link->max_bytes = MAX (max_bytes, 1);
  output->batch_bytes = MIN (batch_bytes, DLP_RECORD_BATCH_MAX_BYTES);
}

void
dlp_pad_restore_input (DlpPad *input, DlpMark *producer_mark, guint64 position)
{
  DlpCursor cursor = { producer_mark, position };

  dlp_cursor_set (&input->cursor, &cursor);
  input->known = position;
  input->peer->wanted = position;
}

void
dlp_pad_restore_closed (DlpPad *input, bool drained, guint64 position)
{
  input->known = position;
  input->over = input->closed = true;
  input->drained = drained;
  dlp_cursor_clear (&input->cursor);
  if (input->link != NULL)
    dlp_queue_close (input->link);
}

/* ---- input ---- */

bool
dlp_pad_fill (DlpPad *self)
{
  bool ended = false;
  DlpRecordBatch *batch;
  DlpCursor cursor;

  while (self->reading == NULL && !self->over)
    {
      dlp_context_yield (dlp_element_get_private (self->element)->context);
      batch = dlp_queue_pop (self->link, &ended);
      if (batch == NULL)
        {
          self->over = ended;
          break;
        }
      cursor.mark = dlp_record_batch_get_mark (batch);
      cursor.position = dlp_record_batch_get_position (batch);
      g_assert (cursor.position == self->cursor.position);
      dlp_cursor_set (&self->cursor, &cursor);
      if (dlp_record_batch_get_length (batch) == 0)
        {
          dlp_record_batch_unref (batch);
          continue;
        }
      self->reading = batch;
      self->row = 0;
    }
  return self->reading != NULL;
}

DlpRecordBatch *
dlp_pad_peek (DlpPad *self, guint *row)
{
  if (!dlp_pad_fill (self))
    return NULL;
  *row = self->row;
  return self->reading;
}

void
dlp_pad_consume (DlpPad *self, guint n)
{
  guint left = dlp_record_batch_get_length (self->reading) - self->row;
  guint64 places = dlp_record_batch_count_places (self->reading, n);

  g_assert (n <= left && (!self->whole || n == 0 || n == left));
  if (n == 0)
    return;
  self->row += n;
  self->cursor.position += places;
  dlp_stat_add (&self->known, places);
  if (n == left)
    g_clear_pointer (&self->reading, dlp_record_batch_unref);
}

DlpRecordBatch *
dlp_pad_take (DlpPad *self)
{
  DlpRecordBatch *batch;
  guint n;

  if (!dlp_pad_fill (self))
    return NULL;

  n = dlp_record_batch_get_length (self->reading) - self->row;
  batch = self->row == 0 ? dlp_record_batch_ref (self->reading) :
                           dlp_record_batch_slice (self->reading, self->row, n);
  dlp_pad_consume (self, n);
  return batch;
}

gboolean
dlp_pad_is_over (DlpPad *self)
{
  return !dlp_pad_fill (self) && self->over;
}

void
dlp_pad_close (DlpPad *self)
{
  if (self->closed)
    return;
  if (self->over)
    dlp_flag_set (self->drained);
  self->over = self->closed = true;
  g_clear_pointer (&self->reading, dlp_record_batch_unref);
  dlp_cursor_clear (&self->cursor);
  if (self->link != NULL)
    dlp_queue_close (self->link);
}

void
dlp_pad_close_at (DlpPad *self, guint64 position)
{
  if (!self->closed)
    __atomic_store_n (&self->known, position, __ATOMIC_RELAXED);
  dlp_pad_close (self);
}

guint64
dlp_pad_get_position (DlpPad *self)
{
  return dlp_stat_get (&self->known);
}

void
dlp_pad_get_cursor (DlpPad *self, DlpCursor *cursor)
{
  dlp_cursor_set (cursor, &self->cursor);
}

/* ---- output ---- */

gboolean
dlp_pad_is_unwanted (DlpPad *self)
{
  return self->link == NULL || dlp_queue_is_closed (self->link);
}

guint64
dlp_pad_get_emitted (DlpPad *self)
{
  return dlp_stat_get (&self->known);
}

gboolean
dlp_pad_check_emitted (DlpPad *self, const char *key, guint64 value, GError **error)
{
  if (!self->restored || value == self->emitted)
    return TRUE;
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
               "key “%s” is %" G_GUINT64_FORMAT ", but key “emitted” says that %" G_GUINT64_FORMAT
               " left by its pad “%s” until then",
               key, value, self->emitted, self->name);
  return FALSE;
}

static void
count_emitted (DlpPad *self, guint64 n)
{
  dlp_stat_add (&self->emitted, n);
  if (self->emitted > dlp_stat_get (&self->known))
    __atomic_store_n (&self->known, self->emitted, __ATOMIC_RELAXED);
}

static DlpContext *
get_context (DlpPad *self)
{
  return dlp_element_get_private (self->element)->context;
}

/* Takes a header with its mark and position. */
static void
send (DlpPad *self, DlpRecordBatch *batch)
{
  DlpContext *context = get_context (self);

  if (!self->whole)
    dlp_record_batch_drop_training (batch);
  self->quiet = 0;
  self->seen_wish = __atomic_load_n (&context->checkpoint_wish, __ATOMIC_RELAXED);
  dlp_stat_add (&self->bytes, dlp_record_batch_get_bytes (batch));
  dlp_stat_add (&self->n_batches, 1);
  dlp_context_yield (context);
  dlp_queue_push (self->link, batch);
}

static void
unref_mark (gpointer mark)
{
  dlp_mark_unref (mark);
}

static DlpMark *
take_mark (DlpPad *self)
{
  return dlp_element_take_mark (dlp_element_get_private (self->element));
}

/* The element's turn ends in an error, and nothing more comes out here. */
static void
note_fault (DlpPad *self)
{
  DlpElementPrivate *priv = dlp_element_get_private (self->element);

  self->faulty = true;
  if (priv->faulty == NULL)
    priv->faulty = self;
}

static void
flush_builder (DlpPad *self)
{
  if (self->open_mark == NULL)
    return;

  if (G_UNLIKELY (!dlp_record_batch_builder_check_ended (self->builder)))
    note_fault (self);
  send (self,
        dlp_record_batch_place (dlp_record_batch_builder_take (self->builder), self->open_position,
                                g_steal_pointer (&self->open_mark), unref_mark));
}

void
dlp_pad_check_ended (DlpPad *self)
{
  if (self->link != NULL && self->builder != NULL &&
      !dlp_record_batch_builder_check_ended (self->builder))
    note_fault (self);
}

GError *
dlp_pad_explain_fault (DlpPad *self, guint64 record, const DlpRecordFault *fault)
{
  const DlpCoordinate *at = &fault->coordinate;
  g_autofree char *file =
      fault->has_coordinate ? dlp_element_dup_input_name (self->element, at) : NULL;
  g_autofree char *where = NULL;

  if (file != NULL)
    where = g_strdup_printf (", of %s row %" G_GUINT64_FORMAT, file, (guint64) at->row);
  else if (fault->has_coordinate)
    where = g_strdup_printf (", of source %u file %u row %" G_GUINT64_FORMAT, at->source, at->file,
                             (guint64) at->row);
  return g_error_new (DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_INTERNAL,
                      "%s: record %" G_GUINT64_FORMAT " of pad %s, counted from 0%s: %s",
                      dlp_element_get_name (self->element), record, self->name,
                      where != NULL ? where : "", fault->message);
}

GError *
dlp_pad_get_fault (DlpPad *self)
{
  const DlpRecordFault *fault = dlp_record_batch_builder_get_fault (self->builder);

  return dlp_pad_explain_fault (self, self->emitted, fault);
}

void
dlp_pad_flush (DlpPad *self)
{
  if (self->link != NULL)
    flush_builder (self);
}

void
dlp_pad_flush_if_idle (DlpPad *self)
{
  if (self->open_mark != NULL && dlp_queue_ask_idle (self->link))
    flush_builder (self);
}

void
dlp_pad_end (DlpPad *self)
{
  if (self->link == NULL)
    return;
  flush_builder (self);
  dlp_queue_end (self->link);
}

void
dlp_pad_fail (DlpPad *self, const GError *error, DlpElement *failed_by)
{
  if (self->link == NULL)
    return;
  /* What the error came into the midst of. */
  if (self->builder != NULL)
    dlp_record_batch_builder_drop_record (self->builder);
  flush_builder (self);
  dlp_queue_fail (self->link, error, failed_by);
}

void
dlp_pad_push_mark (DlpPad *self, DlpMark *mark)
{
  send (self, dlp_record_batch_new_at (self->empty, 0, 0, self->emitted, dlp_mark_ref (mark),
                                       unref_mark));
}

/* What of n records that are due now is wanted: they begin at *position, *skip of them are dropped.
 */
static bool
account (DlpPad *self, guint n, guint64 *position, guint *skip)
{
  guint64 at = self->emitted;

  if (G_UNLIKELY (self->faulty))
    return false;
  count_emitted (self, n);
  *position = at;
  *skip = 0;
  if (self->link == NULL || n == 0)
    return false;
  if (at < self->wanted)
    *skip = (guint) MIN (self->wanted - at, n);
  return *skip < n;
}

/* Takes the batch, which is one of its kind. */
static void
push_whole (DlpPad *self, DlpRecordBatch *batch)
{
  guint64 position = self->emitted;

  count_emitted (self, dlp_record_batch_count_places (batch, 1));
  self->torn |= position < self->wanted && self->emitted > self->wanted;
  if (self->link == NULL || position < self->wanted)
    {
      dlp_record_batch_unref (batch);
      return;
    }
  send (self, dlp_record_batch_place (batch, position, take_mark (self), unref_mark));
}

/* (transfer full): one that nothing is known of yet. */
static DlpRecordBatch *
make_training (DlpPad *self, DlpRecordBatch *batch, guint row, guint n)
{
  DlpRecordBatch *made = dlp_record_batch_new_at (batch, row, n, 0, NULL, NULL);
  DlpBatchInfo info = { .index = self->emitted, .n_batches = 1 };

  if (made->training != NULL)
    return made;
  dlp_batch_info_add_rows (&info, made, 0, n);
  dlp_record_batch_set_training (made, &info);
  return made;
}

void
dlp_pad_push_batch (DlpPad *self, DlpRecordBatch *batch, const DlpBatchInfo *info)
{
  DlpRecordBatch *made;

  g_return_if_fail (self->whole && info->n_batches > 0 && batch->length > 0);

  made = dlp_record_batch_new_at (batch, 0, batch->length, 0, NULL, NULL);
  dlp_record_batch_set_training (made, info);
  dlp_record_batch_unref (batch);
  push_whole (self, made);
}

void
dlp_pad_push_rows (DlpPad *self, DlpRecordBatch *batch, guint row, guint n)
{
  guint64 position;
  guint skip;
  guint limit = get_context (self)->batch_records;

  if (self->whole && n > 0)
    {
      push_whole (self, make_training (self, batch, row, n));
      return;
    }
  if (!account (self, n, &position, &skip))
    return;

  flush_builder (self);
  row += skip;
  position += skip;
  n -= skip;
  while (n > 0)
    {
      guint k = limit != 0 ? MIN (n, limit) : n;

      send (self, dlp_record_batch_new_at (batch, row, k, position, take_mark (self), unref_mark));
      row += k;
      position += k;
      n -= k;
    }
}

void
dlp_pad_push (DlpPad *self, DlpRecordBatch *batch)
{
  guint limit = get_context (self)->batch_records;
  guint n = dlp_record_batch_get_length (batch);
  guint64 position;

  if (!self->whole && self->emitted >= self->wanted && (limit == 0 || n <= limit))
    {
      guint skip;

      if (!account (self, n, &position, &skip))
        {
          dlp_record_batch_unref (batch);
          return;
        }
      flush_builder (self);
      send (self, dlp_record_batch_place (batch, position, take_mark (self), unref_mark));
      return;
    }
  dlp_pad_push_rows (self, batch, 0, n);
  dlp_record_batch_unref (batch);
}

static void
opened (DlpPad *self, guint64 position)
{
  if (self->open_mark != NULL)
    return;
  self->open_mark = take_mark (self);
  self->open_position = position;
}

static void
flush_if_full (DlpPad *self)
{
  guint limit = get_context (self)->batch_records;

  if (dlp_record_batch_builder_is_full (self->builder) ||
      dlp_record_batch_builder_get_bytes (self->builder) >= self->batch_bytes ||
      (limit != 0 && dlp_record_batch_builder_get_length (self->builder) >= limit))
    flush_builder (self);
}

/* The last n that were counted did not come out, and never will. */
static void
take_back (DlpPad *self, guint n)
{
  __atomic_store_n (&self->emitted, self->emitted - n, __ATOMIC_RELAXED);
  __atomic_store_n (&self->known, self->emitted, __ATOMIC_RELAXED);
  note_fault (self);
}

void
dlp_pad_append_rows (DlpPad *self, DlpRecordBatch *batch, guint row, guint n)
{
  guint64 position;
  guint skip;

  g_assert (!self->whole);
  if (!account (self, n, &position, &skip))
    return;

  for (guint i = skip; i < n; i++)
    {
      opened (self, position + i);
      if (G_UNLIKELY (!dlp_record_batch_builder_append_rows (self->builder, batch, row + i, 1)))
        {
          take_back (self, n - i);
          return;
        }
      flush_if_full (self);
    }
}

DlpRecordBatchBuilder *
dlp_pad_get_builder (DlpPad *self)
{
  return self->builder;
}

void
dlp_pad_end_record (DlpPad *self, const DlpCoordinate *coordinate)
{
  guint64 position;
  guint skip;

  g_assert (!self->whole);
  if (!account (self, 1, &position, &skip))
    {
      dlp_record_batch_builder_drop_record (self->builder);
      return;
    }
  opened (self, position);
  if (G_UNLIKELY (!dlp_record_batch_builder_end_record (self->builder, coordinate)))
    {
      take_back (self, 1);
      return;
    }
  flush_if_full (self);
}
