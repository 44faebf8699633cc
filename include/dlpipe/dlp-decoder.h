/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-file.h"

G_BEGIN_DECLS

#define DLP_TYPE_DECODER (dlp_decoder_get_type ())
/**
 * DlpDecoder:
 *
 * A codec's decoder for one file, made anew for each. Used by one thread at a time. If the class
 * has a property "window-log-max" (uint) a reader sets it.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
G_DECLARE_DERIVABLE_TYPE (DlpDecoder, dlp_decoder, DLP, DECODER, GObject)

/**
 * DlpDecoderBorder:
 * @raw: the byte of the file where it is
 * @decoded: how many decoded bytes lie before it
 * @counts: what else the decoder had counted there, for its messages
 *
 * A place in a compressed file from which it can be decoded without what lies before it, such as
 * the end of a frame. All zero: the start of the file.
 *
 * Since: 0.2
 */
typedef struct
{
  guint64 raw;
  guint64 decoded;
  guint64 counts[2];
} DlpDecoderBorder;

/**
 * DlpDecoderClass:
 * @parent_class: the parent class
 * @decode: decodes some bytes
 * @finish: ends the stream
 * @get_warning: something worth a warning
 * @limit_memory: a limit of memory
 * @rest: there may be no decode for long
 * @get_border: the last border that was passed
 * @go_to_border: goes on from a border
 * @measure: how long a part of the file is that can be decoded by itself
 *
 * The class of decoders, with room for three further virtual functions.
 *
 * Since: 0.1
 */
struct _DlpDecoderClass
{
  GObjectClass parent_class;

  /**
   * DlpDecoderClass::decode: (skip)
   * @self: a decoder
   * @in: bytes of the file
   * @in_size: how many
   * @in_used: (out): how many were used
   * @out: where decoded bytes go
   * @out_size: how many there is room for
   * @out_written: (out): how many were written
   * @error: return location for an error
   *
   * Decodes some of @in to @out, all members or frames of the file one after another; makes
   * progress or fails. What was written to @out before an error is good. Errors:
   * %DLP_DATA_ERROR_DAMAGED, whose message says what and at which byte of the compressed stream
   * (counted by the decoder).
   *
   * Threads: one at a time, not always the same.
   *
   * Returns: %FALSE with an error
   *
   * Since: 0.1
   */
  gboolean (*decode) (DlpDecoder *self,
                      const guint8 *in,
                      gsize in_size,
                      gsize *in_used,
                      guint8 *out,
                      gsize out_size,
                      gsize *out_written,
                      GError **error);
  /**
   * DlpDecoderClass::finish:
   * @self: a decoder
   * @error: return location for an error
   *
   * No more input will come. Called after decode() with no input has written nothing more.
   *
   * Threads: one at a time, not always the same.
   *
   * Returns: %FALSE and %DLP_DATA_ERROR_DAMAGED where the stream is cut
   *
   * Since: 0.1
   */
  gboolean (*finish) (DlpDecoder *self, GError **error);
  /**
   * DlpDecoderClass::get_warning:
   * @self: a decoder
   *
   * Optional: something worth a warning, such as trailing zero bytes; read at the end.
   *
   * Threads: one at a time, not always the same.
   *
   * Returns: (nullable) (transfer none): a message
   *
   * Since: 0.1
   */
  const char *(*get_warning) (DlpDecoder *self);
  /**
   * DlpDecoderClass::limit_memory:
   * @self: a decoder
   * @bytes: the limit
   * @folder: (nullable): a folder
   *
   * Optional: before the first decode: at most so many bytes are to be held in memory between two
   * calls; what must be held beyond that may lie in a file without a name in @folder.
   *
   * Threads: one at a time, not always the same.
   *
   * Since: 0.1
   */
  void (*limit_memory) (DlpDecoder *self, gsize bytes, const char *folder);
  /**
   * DlpDecoderClass::rest:
   * @self: a decoder
   *
   * Optional: there may be no decode for long: what need not be in memory leaves it.
   *
   * Threads: one at a time, not always the same.
   *
   * Since: 0.1
   */
  void (*rest) (DlpDecoder *self);
  /**
   * DlpDecoderClass::get_border:
   * @self: a decoder
   * @border: (out caller-allocates): where it goes
   *
   * Optional, with go_to_border(): the last border that was passed; all that was decoded of what
   * lies before it has been written. A run that is continued within the file begins to decode
   * there.
   *
   * Threads: one at a time, not always the same.
   *
   * Returns: %FALSE: none yet
   *
   * Since: 0.2
   */
  gboolean (*get_border) (DlpDecoder *self, DlpDecoderBorder *border);
  /**
   * DlpDecoderClass::go_to_border:
   * @self: a decoder
   * @border: a border that another decoder of the same file gave
   *
   * Optional, with get_border(): before the first decode: what comes is the file from @border on.
   * Whatever is said of it from there on, in errors and warnings, is what would have been said
   * otherwise.
   *
   * Threads: one at a time, not always the same.
   *
   * Since: 0.2
   */
  void (*go_to_border) (DlpDecoder *self, const DlpDecoderBorder *border);
  /**
   * DlpDecoderClass::measure:
   * @self: a decoder; only its class matters
   * @border: (inout): a border of a file, or its start; becomes the next border but for its
   *   @decoded, where that can be told
   * @in: (array length=size): bytes of the file from @border on
   * @size: how many
   *
   * Optional, with go_to_border(): how long the file is from one border to the next one, by its
   * headers, without decoding it. Such parts are decoded by several decoders at once. What is wrong
   * with the file is for decode() to say: this one only says that it cannot be told.
   *
   * Threads: one at a time, not always the same.
   *
   * Returns: bytes, at most @size; 0: more bytes are needed to tell; -1: it cannot be told
   *
   * Since: 0.2
   */
  gssize (*measure) (DlpDecoder *self, DlpDecoderBorder *border, const guint8 *in, gsize size);

  /*< private >*/
  gpointer reserved[3];
};

/**
 * dlp_decoder_open_scratch:
 * @folder: the folder that #DlpDecoderClass.limit_memory was given
 * @error: return location for an error
 *
 * Makes an empty file without a name in @folder, for what does not fit the memory of a decoder. On
 * a file system on which each file has a name at first, one that a run which was killed meanwhile
 * leaves is removed by the next run with that state folder.
 *
 * Threads: any. Errors: #GIOErrorEnum.
 *
 * Returns: its descriptor, to be closed by the caller; -1 on error
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
int dlp_decoder_open_scratch (const char *folder, GError **error);

/**
 * DlpCodecMatch: (skip)
 * @head: at least min(16, size of the file) bytes
 * @size: how many
 *
 * Says whether a stream that begins with these bytes belongs to the codec.
 *
 * Threads: any.
 *
 * Returns: whether it does
 *
 * Since: 0.1
 */
typedef gboolean (*DlpCodecMatch) (const guint8 *head, gsize size);

/**
 * dlp_codec_register: (skip)
 * @name: its name, such as "gzip"
 * @match: recognises it
 * @decoder_type: a subclass of #DlpDecoder
 *
 * Registers a codec. For programs that bring one of their own; a plugin has dlp_plugin_add_codec().
 *
 * Threads: any.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_codec_register (const char *name, DlpCodecMatch match, GType decoder_type);

/**
 * dlp_codec_of_file_name:
 * @name: the name of a file
 *
 * Gets the name of the codec that files with such an extension have by custom (".gz": "gzip"),
 * whether it is registered or not.
 *
 * Threads: any.
 *
 * Returns: (nullable) (transfer none): the name of a codec
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
const char *dlp_codec_of_file_name (const char *name);

/**
 * dlp_codec_open:
 * @head: (array length=size): the first bytes of the stream
 * @size: how many
 * @name: (out) (optional) (nullable) (transfer none): the name of the codec
 *
 * Makes a new decoder for a stream that begins so.
 *
 * Threads: any.
 *
 * Returns: (transfer full) (nullable): a decoder, or %NULL: not compressed as far as the registered
 *   codecs can tell
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpDecoder *dlp_codec_open (const guint8 *head, gsize size, const char **name);

#define DLP_TYPE_BYTE_STREAM (dlp_byte_stream_get_type ())
/**
 * DlpByteStream:
 *
 * The decoded bytes of a file: opens it, recognises its codec by magic number whatever its name,
 * decodes. Used by one thread at a time.
 *
 * Since: 0.1
 */
typedef struct _DlpByteStream DlpByteStream;

DLP_AVAILABLE_IN_0_2
GType dlp_byte_stream_get_type (void) G_GNUC_CONST;

/**
 * dlp_byte_stream_open:
 * @file: a file
 * @offset: where to begin, of the decoded bytes; unless it is 0 or the file is not compressed, what
 *   lies before is skipped by decoding
 * @window_log_max: the largest window of a compressed file that is accepted, as a power of two
 * @read_size: bytes asked of the file at once; 0: 256 KiB
 * @cancellable: (nullable): a cancellable
 * @error: return location for an error
 *
 * Opens a file. Errors: those of dlp_file_open(); %DLP_DATA_ERROR_DAMAGED.
 *
 * Threads: any, one at a time for one stream.
 *
 * Returns: (transfer full): a stream
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
DlpByteStream *dlp_byte_stream_open (DlpFile *file,
                                     guint64 offset,
                                     guint window_log_max,
                                     gsize read_size,
                                     GCancellable *cancellable,
                                     GError **error);

/**
 * dlp_byte_stream_free:
 * @self: (transfer full): a stream
 *
 * Closes the stream.
 *
 * Threads: any, one at a time for one stream.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_byte_stream_free (DlpByteStream *self);

/**
 * dlp_byte_stream_limit_memory:
 * @self: a stream
 * @bytes: the limit
 * @folder: (nullable): a folder
 *
 * Before the first read: what a decoder must hold beyond so many bytes may lie in a file without a
 * name in @folder.
 *
 * Threads: any, one at a time for one stream.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_byte_stream_limit_memory (DlpByteStream *self, gsize bytes, const char *folder);

/**
 * dlp_byte_stream_rest:
 * @self: a stream
 *
 * There may be no read for long: memory that can be had again is given back.
 *
 * Threads: any, one at a time for one stream.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
void dlp_byte_stream_rest (DlpByteStream *self);

/**
 * dlp_byte_stream_take_read_time:
 * @self: a stream
 *
 * Gets how long reads of the file took since the last call; decoding is no part of it.
 *
 * Threads: any, one at a time for one stream.
 *
 * Returns: microseconds
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gint64 dlp_byte_stream_take_read_time (DlpByteStream *self);

/**
 * dlp_byte_stream_read: (skip)
 * @self: a stream
 * @buffer: where they go
 * @size: how many there is room for; not 0
 * @cancellable: (nullable): a cancellable
 * @error: return location for an error
 *
 * Reads decoded bytes. Bytes before damage are returned first, then the error, and the same error
 * again on every later call.
 *
 * Threads: any, one at a time for one stream.
 *
 * Returns: how many were read; 0 at the clean end; -1 on error
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
gssize dlp_byte_stream_read (DlpByteStream *self,
                             guint8 *buffer,
                             gsize size,
                             GCancellable *cancellable,
                             GError **error);

/**
 * dlp_byte_stream_read_bytes:
 * @self: a stream
 * @size: how many at most; not 0
 * @cancellable: (nullable): a cancellable
 * @error: return location for an error
 *
 * Reads decoded bytes, as dlp_byte_stream_read().
 *
 * Threads: any, one at a time for one stream.
 *
 * Returns: (transfer full): bytes; none at the clean end
 *
 * Since: 0.2
 */
DLP_AVAILABLE_IN_0_2
GBytes *dlp_byte_stream_read_bytes (DlpByteStream *self,
                                    gsize size,
                                    GCancellable *cancellable,
                                    GError **error);

/**
 * dlp_byte_stream_get_codec:
 * @self: a stream
 *
 * Gets the codec of the file.
 *
 * Threads: any, one at a time for one stream.
 *
 * Returns: (nullable) (transfer none): "gzip", "zstd", ...; %NULL: it is plain
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
const char *dlp_byte_stream_get_codec (DlpByteStream *self);

/**
 * dlp_byte_stream_get_raw_position:
 * @self: a stream
 *
 * Gets how many bytes of the file, as it lies there, were consumed so far, for progress.
 *
 * Threads: any, one at a time for one stream.
 *
 * Returns: bytes
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
guint64 dlp_byte_stream_get_raw_position (DlpByteStream *self);

/**
 * dlp_byte_stream_get_warning:
 * @self: a stream
 *
 * Gets something worth a warning, such as trailing zero bytes; complete at the end.
 *
 * Threads: any, one at a time for one stream.
 *
 * Returns: (nullable) (transfer none): a message
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
const char *dlp_byte_stream_get_warning (DlpByteStream *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DlpByteStream, dlp_byte_stream_free)

G_END_DECLS
