/* SPDX-License-Identifier: MIT */

/* The first record of a file, where each chunk of it needs that. It is no part of the state: who
 * goes on in the middle of a file reads it again. */

#include "dlp-byte-stream-private.h"
#include "dlp-reader-private.h"

#define PIECE_BYTES (64 * 1024)

static gsize
find_end (DlpReaderLane *lane, guint64 *scan, const guint8 *data, gsize size)
{
  DlpReaderClass *klass = DLP_READER_GET_CLASS (lane->reader);

  return size > 0 ? klass->find_border (lane->reader, dlp_file_get_uri (lane->file), scan, data,
                                        size, TRUE) :
                    0;
}

static bool
is_missing (DlpReaderLane *lane)
{
  return dlp_reader_get_private (lane->reader)->has_header && lane->header == NULL;
}

bool
dlp_reader_find_header (DlpReaderLane *lane)
{
  gsize end;

  if (!is_missing (lane))
    return true;
  end = find_end (lane, &lane->header_scan, lane->data + lane->header_looked_at,
                  lane->size - lane->header_looked_at);
  if (end > 0)
    lane->header = g_bytes_new (lane->data, lane->header_looked_at + end);
  lane->header_looked_at = lane->size;
  return end > 0;
}

void
dlp_reader_end_header (DlpReaderLane *lane)
{
  if (!dlp_reader_find_header (lane))
    lane->header = g_bytes_new (lane->data, lane->size);
}

void
dlp_reader_set_header_error (DlpReaderLane *lane, GError **error)
{
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
               "%s: the first row, which is needed to read the others, has more than the "
               "max-record-bytes=%" G_GUINT64_FORMAT " allowed",
               lane->name, dlp_reader_get_private (lane->reader)->max_record_bytes);
}

static gssize
read_piece (DlpReaderLane *lane,
            DlpByteStream *stream,
            guint8 *piece,
            GCancellable *cancellable,
            GError **error)
{
  if (stream == NULL)
    return (gssize) dlp_reader_read_copy (lane, piece, PIECE_BYTES);
  return dlp_byte_stream_read (stream, piece, PIECE_BYTES, cancellable, error);
}

static bool
read_header (DlpReaderLane *lane, DlpByteStream *stream, GCancellable *cancellable, GError **error)
{
  DlpReaderPrivate *priv = dlp_reader_get_private (lane->reader);
  g_autoptr (GByteArray) header = g_byte_array_new ();
  g_autofree guint8 *piece = g_malloc (PIECE_BYTES);
  guint64 scan = 0;
  gsize end = 0;
  gssize n;

  while (end == 0 && (n = read_piece (lane, stream, piece, cancellable, error)) != 0)
    {
      if (n < 0)
        return false;
      end = find_end (lane, &scan, piece, n);
      g_byte_array_append (header, piece, (guint) (end > 0 ? end : (gsize) n));
      if (header->len > priv->max_record_bytes)
        {
          dlp_reader_set_header_error (lane, error);
          return false;
        }
    }
  lane->header = g_byte_array_free_to_bytes (g_steal_pointer (&header));
  return true;
}

bool
dlp_reader_load_header (DlpReaderLane *lane, GCancellable *cancellable, GError **error)
{
  static const DlpDecoderBorder start;
  DlpReaderPrivate *priv = dlp_reader_get_private (lane->reader);
  DlpByteStream *stream = NULL;
  gsize copied_to = lane->copied_to;
  bool done;

  if (!is_missing (lane) || lane->offset == 0)
    return true;
  if (lane->copy == NULL)
    {
      stream = dlp_byte_stream_open_at (lane->file, NULL, 0, &start, priv->window_log_max,
                                        priv->effective_read_size, cancellable, error);
      if (stream == NULL)
        return false;
    }
  lane->copied_to = 0;
  done = read_header (lane, stream, cancellable, error);
  lane->copied_to = copied_to;
  g_clear_pointer (&stream, dlp_byte_stream_free);
  return done;
}
