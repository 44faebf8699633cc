/* SPDX-License-Identifier: MIT */

/* Files that the class opens itself: it gives runs of rows, and offsets are rows. */

#include "dlp-element-private.h"
#include "dlp-file-private.h"
#include "dlp-reader-private.h"

bool
dlp_reader_opens_files (DlpReader *self)
{
  return DLP_READER_GET_CLASS (self)->open_file != NULL;
}

void
dlp_reader_clear_piece (DlpReaderPiece *piece)
{
  if (piece->free_func != NULL)
    piece->free_func (piece->data);
  *piece = (DlpReaderPiece){ 0 };
}

void
dlp_reader_close_file (DlpReaderLane *lane)
{
  if (lane->opened_file != NULL)
    DLP_READER_GET_CLASS (lane->reader)->close_file (lane->reader, lane->opened_file);
  lane->opened_file = NULL;
}

static bool
open_file (DlpReaderLane *lane, GCancellable *cancellable)
{
  lane->is_open = true;
  if (!dlp_reader_check_file (lane, &lane->failed) ||
      !dlp_file_verify (lane->file, cancellable, &lane->failed))
    return false;
  lane->opened_file =
      DLP_READER_GET_CLASS (lane->reader)
          ->open_file (lane->reader, lane->file, lane->offset, cancellable, &lane->failed);
  return lane->opened_file != NULL;
}

/* Of a sample only the beginning of each file is read. */
static bool
is_past_head (DlpReaderLane *lane, guint64 position)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (lane->reader);
  double size = (double) MAX (dlp_file_get_size (lane->file), 0);

  return priv->head_share < 1 &&
         position >= MAX ((guint64) (size * priv->head_share), priv->head_bytes);
}

static DlpReaderChunk *
make_chunk (DlpReaderLane *lane, const DlpReaderPiece *piece)
{
  DlpReaderChunk *chunk =
      dlp_reader_chunk_new (lane, NULL, (gsize) piece->n_rows, 0, lane->offset, false);

  chunk->piece = *piece;
  chunk->raw_position = piece->position;
  lane->raw_read = piece->position;
  lane->offset += piece->n_rows;
  if (is_past_head (lane, piece->position))
    lane->is_head = lane->ended = true;
  return chunk;
}

/* As what parse() finds: where the damage is found depends on sizes, what is said of it does not.
 */
static void
add_row (DlpReaderLane *lane)
{
  GError *error = lane->failed;

  if (!g_error_matches (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED))
    return;
  lane->failed = g_error_new (DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
                              "%s (at row %" G_GUINT64_FORMAT ")", error->message, lane->offset);
  g_error_free (error);
}

static bool
read_piece (DlpReaderLane *lane, DlpReaderPiece *piece, GCancellable *cancellable)
{
  gsize max_bytes = dlp_reader_get_private (lane->reader)->piece_size;
  DlpReaderClass *klass = DLP_READER_GET_CLASS (lane->reader);

  if (klass->read_piece (lane->reader, lane->opened_file, max_bytes, piece, cancellable,
                         &lane->failed))
    return piece->n_rows > 0;
  add_row (lane);
  return false;
}

DlpReaderChunk *
dlp_reader_fill_from_file (DlpReaderLane *lane, GCancellable *cancellable)
{
  DlpReaderPiece piece = { 0 };

  if ((lane->opened_file != NULL || open_file (lane, cancellable)) &&
      read_piece (lane, &piece, cancellable))
    return make_chunk (lane, &piece);

  dlp_reader_clear_piece (&piece);
  lane->ended = true;
  return NULL;
}
