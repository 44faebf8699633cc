/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-file.h"

G_BEGIN_DECLS

/**
 * DlpDecoder:
 *
 * A codec's decoder for one file, made anew for each. Used by one thread at a time. If the class
 * has a property "window-log-max" (uint) a reader sets it.
 */
#define DLP_TYPE_DECODER (dlp_decoder_get_type ())
DLP_API
G_DECLARE_DERIVABLE_TYPE (DlpDecoder, dlp_decoder, DLP, DECODER, GObject)

struct _DlpDecoderClass
{
  GObjectClass parent_class;

  /* Decodes some of @in to @out, all members or frames of the file one after another; makes
   * progress or fails. What was written to @out before an error is good. Errors:
   * DLP_DATA_ERROR_DAMAGED, whose message says what and at which byte of the compressed stream
   * (counted by the decoder). */
  gboolean (*decode) (DlpDecoder *self,
                      const guint8 *in,
                      gsize in_size,
                      gsize *in_used,
                      guint8 *out,
                      gsize out_size,
                      gsize *out_written,
                      GError **error);
  /* No more input will come (call decode with in_size 0 until nothing is written, then this): FALSE
   * and DLP_DATA_ERROR_DAMAGED where the stream is cut. */
  gboolean (*finish) (DlpDecoder *self, GError **error);
  /* (nullable) (transfer none): something worth a warning, such as trailing zero bytes; read at the
   * end. */
  const char *(*get_warning) (DlpDecoder *self);
  /* (nullable): before the first decode: at most so many bytes are to be held in memory between two
   * calls; what must be held beyond that may lie in a file without a name in @folder. */
  void (*limit_memory) (DlpDecoder *self, gsize bytes, const char *folder);
  /* (nullable): there may be no decode for long: what need not be in memory leaves it. */
  void (*rest) (DlpDecoder *self);

  gpointer reserved[6];
};

/* Does a stream that begins with these bytes belong to the codec? At least min(16, size of the
 * file) bytes are given. */
typedef gboolean (*DlpCodecMatch) (const guint8 *head, gsize size);

DLP_API void dlp_codec_register (const char *name, DlpCodecMatch match, GType decoder_type);
/* The name of the codec that files with such an extension have by custom (".gz": "gzip"), whether
 * it is registered or not, or NULL. */
DLP_API const char *dlp_codec_of_file_name (const char *name);
/* (transfer full) (nullable): a new decoder for a stream that begins so; NULL: not compressed as
 * far as the registered codecs can tell. @name: (out) (nullable). */
DLP_API DlpDecoder *dlp_codec_open (const guint8 *head, gsize size, const char **name);

/**
 * DlpByteStream:
 *
 * The decoded bytes of a file: opens it, recognises its codec by magic number whatever its name,
 * decodes. Used by one thread at a time.
 */
typedef struct _DlpByteStream DlpByteStream;

/* @offset: of the decoded bytes; other than 0 only where the file is not compressed, else it is
 * skipped by decoding. @read_size: bytes asked of the file at once, 0: 256 KiB. */
DLP_API DlpByteStream *dlp_byte_stream_open (DlpFile *file,
                                             guint64 offset,
                                             guint window_log_max,
                                             gsize read_size,
                                             GCancellable *cancellable,
                                             GError **error);
DLP_API void dlp_byte_stream_free (DlpByteStream *self);
/* Before the first read: what a decoder must hold beyond so many bytes may lie in a file without a
 * name in @folder. */
DLP_API void dlp_byte_stream_limit_memory (DlpByteStream *self, gsize bytes, const char *folder);
/* There may be no read for long: memory that can be had again is given back. */
DLP_API void dlp_byte_stream_rest (DlpByteStream *self);
/* Microseconds that reads of the file took since the last call; decoding is no part of it. */
DLP_API gint64 dlp_byte_stream_take_read_time (DlpByteStream *self);
/* Up to @size decoded bytes (> 0); 0 at the clean end; -1 on error. Bytes before damage are
 * returned first, then the error, and the same error again on every later call. */
DLP_API gssize dlp_byte_stream_read (DlpByteStream *self,
                                     guint8 *buffer,
                                     gsize size,
                                     GCancellable *cancellable,
                                     GError **error);
/* (nullable): "gzip", "zstd", ...; NULL: plain. */
DLP_API const char *dlp_byte_stream_get_codec (DlpByteStream *self);
/* Bytes of the file consumed so far (compressed), for progress. */
DLP_API guint64 dlp_byte_stream_get_raw_position (DlpByteStream *self);
DLP_API const char *dlp_byte_stream_get_warning (DlpByteStream *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpByteStream, dlp_byte_stream_free)

G_END_DECLS
