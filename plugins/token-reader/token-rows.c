/* SPDX-License-Identifier: MIT */

/* Rows of files of ids, in runs that fit into memory. */

#include <dlpipe/dlp-error.h>

#include "token-rows-private.h"

/* Rows of a piece; they may be short. */
#define MAX_ROWS 65536
/* A piece is an array of GLib's. */
#define MAX_BYTES (1024 * 1024 * 1024)
/* What a row takes beside its ids. */
#define ROW_BYTES 32

/* ---- pieces ---- */

static TokenPiece *
piece_new (TokenDtype dtype)
{
  TokenPiece *self = g_new (TokenPiece, 1);

  self->dtype = dtype;
  self->ids = g_byte_array_new ();
  self->rows = g_array_new (FALSE, FALSE, sizeof (TokenRow));
  return self;
}

void
token_piece_free (gpointer data)
{
  TokenPiece *self = data;

  g_byte_array_unref (self->ids);
  g_array_unref (self->rows);
  g_free (self);
}

void
token_piece_add_row (TokenPiece *self, guint64 n, gboolean is_too_long)
{
  TokenRow row = { n, is_too_long };

  g_array_append_val (self->rows, row);
}

gboolean
token_rows_is_too_long (const TokenRows *self, guint64 n)
{
  return n > self->settings->max_record_bytes / MAX (self->width, self->settings->field_width);
}

guint64
token_rows_get_cost (const TokenRows *self, guint64 n)
{
  return n * (self->width + self->settings->field_width) + ROW_BYTES;
}

/* ---- rows that are found by their number ---- */

static gboolean
find_in_array (TokenRows *self, guint64 row, GArray *runs, guint64 *n)
{
  guint64 first = row * self->row_length;
  TokenRun run;

  *n = MIN (self->row_length, self->array.n - first);
  run = (TokenRun){ self->array.offset + first * self->width, *n * self->width };
  if (!token_rows_is_too_long (self, *n))
    g_array_append_val (runs, run);
  return TRUE;
}

static gboolean
find_row (TokenRows *self, GArray *runs, guint64 *n, GCancellable *cancellable, GError **error)
{
  return self->layout == TOKEN_LAYOUT_ARRAY ?
             find_in_array (self, self->row, runs, n) :
             token_index_find_row (self, self->row, runs, n, cancellable, error);
}

/* What a row that cannot be found leaves of the rows before it. */
static gboolean
end_at_damage (const TokenPiece *piece, GError *damage, GError **error)
{
  if (piece->rows->len > 0 && g_error_matches (damage, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED))
    {
      g_error_free (damage);
      return TRUE;
    }
  g_propagate_error (error, damage);
  return FALSE;
}

/* As many rows as fit, of which the ids lie in @runs. */
static gboolean
find_rows (TokenRows *self,
           guint64 max_bytes,
           TokenPiece *piece,
           GArray *runs,
           GCancellable *cancellable,
           GError **error)
{
  guint64 cost = 0;

  for (; self->row < self->n_rows && piece->rows->len < MAX_ROWS; self->row++)
    {
      guint before = runs->len;
      GError *failure = NULL;
      gboolean is_too_long;
      guint64 n;

      if (!find_row (self, runs, &n, cancellable, &failure))
        {
          g_array_set_size (runs, before);
          return end_at_damage (piece, failure, error);
        }
      is_too_long = token_rows_is_too_long (self, n);
      cost += is_too_long ? ROW_BYTES : token_rows_get_cost (self, n);
      if (piece->rows->len > 0 && cost > max_bytes)
        {
          g_array_set_size (runs, before);
          return TRUE;
        }
      token_piece_add_row (piece, n, is_too_long);
    }
  return TRUE;
}

/* Mostly they all lie one behind the other. */
static void
join_runs (GArray *runs)
{
  TokenRun *all = (TokenRun *) runs->data;
  guint n = 0;

  for (guint i = 1; i < runs->len; i++)
    if (all[n].offset + all[n].size == all[i].offset)
      all[n].size += all[i].size;
    else
      all[++n] = all[i];
  g_array_set_size (runs, MIN (runs->len, n + 1));
}

static gboolean
read_runs (TokenRows *self,
           GArray *runs,
           TokenPiece *piece,
           GCancellable *cancellable,
           GError **error)
{
  join_runs (runs);
  for (guint i = 0; i < runs->len; i++)
    {
      const TokenRun *run = &g_array_index (runs, TokenRun, i);
      guint start = piece->ids->len;

      g_byte_array_set_size (piece->ids, start + (guint) run->size);
      if (!token_file_read (&self->ids, run->offset, piece->ids->data + start, (gsize) run->size,
                            cancellable, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
read_found (TokenRows *self,
            gsize max_bytes,
            TokenPiece *piece,
            GCancellable *cancellable,
            GError **error)
{
  g_autoptr (GArray) runs = g_array_new (FALSE, FALSE, sizeof (TokenRun));

  return find_rows (self, max_bytes, piece, runs, cancellable, error) &&
         read_runs (self, runs, piece, cancellable, error);
}

/* ---- files ---- */

TokenRows *
token_rows_open (const TokenSettings *settings,
                 DlpFile *file,
                 guint64 row,
                 GCancellable *cancellable,
                 GError **error)
{
  TokenRows *self = g_new0 (TokenRows, 1);

  self->settings = settings;
  if (token_file_init (&self->ids, file, error) &&
      token_rows_find_layout (self, file, row, cancellable, error))
    return self;
  token_rows_free (self);
  return NULL;
}

void
token_rows_free (TokenRows *self)
{
  token_file_clear (&self->ids);
  token_column_clear (&self->lengths);
  token_column_clear (&self->offsets);
  token_column_clear (&self->borders);
  g_clear_pointer (&self->doc, g_byte_array_unref);
  g_free (self->block);
  g_free (self);
}

gboolean
token_rows_read (TokenRows *self,
                 gsize max_bytes,
                 DlpReaderPiece *piece,
                 GCancellable *cancellable,
                 GError **error)
{
  TokenPiece *rows = piece_new (self->dtype);
  gboolean is_good;

  max_bytes = MIN (max_bytes, MAX_BYTES);
  is_good = self->layout == TOKEN_LAYOUT_SEPARATED ?
                token_separated_read (self, max_bytes, rows, cancellable, error) :
                read_found (self, max_bytes, rows, cancellable, error);

  if (!is_good || rows->rows->len == 0)
    {
      token_piece_free (rows);
      return is_good;
    }
  *piece = (DlpReaderPiece){
    .n_rows = rows->rows->len,
    .bytes = rows->ids->len / self->width * (self->width + self->settings->field_width) +
             rows->rows->len * ROW_BYTES,
    .position = self->ids.position,
    .data = rows,
    .free_func = token_piece_free,
  };
  return TRUE;
}
