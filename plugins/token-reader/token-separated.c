/* SPDX-License-Identifier: MIT */

/* Documents with an id between them: what is read is looked through, so that a run that goes on in
 * the middle of a file passes over what is before. */

#include "token-rows-private.h"

#define BLOCK_BYTES (256 * 1024)
#define MAX_ROWS 65536

/* FALSE with an error; nothing is filled at the end. */
static gboolean
read_block (TokenRows *self, GCancellable *cancellable, GError **error)
{
  guint64 n = MIN (self->array.n - self->read_to, BLOCK_BYTES / self->width);

  if (self->block == NULL)
    self->block = g_malloc (BLOCK_BYTES);
  self->at = self->filled = 0;
  if (!token_file_read (&self->ids, self->array.offset + self->read_to * self->width, self->block,
                        (gsize) n * self->width, cancellable, error))
    return FALSE;
  self->read_to += n;
  self->filled = (gsize) n;
  return TRUE;
}

/* Takes ids of the block that are the document's; TRUE: it ends behind them. */
static gboolean
take_ids (TokenRows *self, gboolean is_wanted)
{
  const guint8 *ids = self->block + self->at * self->width;
  gsize n = self->filled - self->at;
  gsize from = self->at_start && self->doc_length == 0 ? 1 : 0;
  gsize found = from + token_dtype_find (self->dtype, ids + from * self->width, n - from,
                                         (guint64) self->settings->separator);
  gboolean ends = found < n;
  gsize taken = ends && !self->at_start ? found + 1 : found;

  self->at += taken;
  self->doc_length += taken;
  if (token_rows_is_too_long (self, self->doc_length))
    g_byte_array_set_size (self->doc, 0);
  else if (is_wanted)
    g_byte_array_append (self->doc, ids, (guint) (taken * self->width));
  return ends;
}

/* The next document, as a whole. None is there where it has no id. */
static gboolean
read_document (TokenRows *self, gboolean is_wanted, GCancellable *cancellable, GError **error)
{
  gboolean ends = FALSE;

  self->doc_length = 0;
  g_byte_array_set_size (self->doc, 0);
  while (!ends)
    {
      if (self->at == self->filled && !read_block (self, cancellable, error))
        return FALSE;
      if (self->filled == 0)
        return TRUE;
      ends = take_ids (self, is_wanted);
    }
  return TRUE;
}

gboolean
token_separated_pass (TokenRows *self, guint64 n, GCancellable *cancellable, GError **error)
{
  for (; n > 0; n--, self->row++)
    {
      if (!read_document (self, FALSE, cancellable, error))
        return FALSE;
      if (self->doc_length == 0)
        return TRUE;
    }
  return TRUE;
}

gboolean
token_separated_read (TokenRows *self,
                      gsize max_bytes,
                      TokenPiece *piece,
                      GCancellable *cancellable,
                      GError **error)
{
  guint64 cost = 0;

  while (piece->rows->len < MAX_ROWS)
    {
      gboolean is_too_long;

      if (!self->has_doc && !read_document (self, TRUE, cancellable, error))
        return FALSE;
      self->has_doc = self->doc_length > 0;
      if (!self->has_doc)
        return TRUE;
      is_too_long = token_rows_is_too_long (self, self->doc_length);
      cost += token_rows_get_cost (self, is_too_long ? 0 : self->doc_length);
      if (piece->rows->len > 0 && cost > max_bytes)
        return TRUE;
      g_byte_array_append (piece->ids, self->doc->data, self->doc->len);
      token_piece_add_row (piece, self->doc_length, is_too_long);
      self->has_doc = FALSE;
      self->row++;
    }
  return TRUE;
}
