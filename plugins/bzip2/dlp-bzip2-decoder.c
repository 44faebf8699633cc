/* SPDX-License-Identifier: MIT */

#include "dlp-bzip2-decoder.h"

#include <bzlib.h>
#include <string.h>

#include <dlpipe/dlp-error.h>

#include "decoder-io.h"
#include "decoder-memory.h"

#define HEADER_SIZE 4
/* Behind the header: of a block, or of the end of the stream. */
#define MAGIC_SIZE 6
#define BUFFER_SIZE_MIN (256 * 1024)

/* A block comes out when its CRC-32 has been seen to hold: damage anywhere in it changes all of its
 * bytes, and how many of them the library writes before it fails depends on how it is called. At
 * most it is 45.9 MB, where 900,000 bytes are runs of 255 equal ones; with text, a little more than
 * those 900,000. */

/* What is in hand. */
typedef enum
{
  UNIT_HEADER, /* of a stream, or padding before it */
  UNIT_BLOCK,  /* or the end of the stream */
  UNIT_OUTPUT, /* of a block there is something to give out */
} Unit;

struct _DlpBzip2Decoder
{
  DlpDecoder parent_instance;

  DecoderIo io;
  DecoderMemory memory;
  bz_stream stream;
  gboolean in_stream;
  guint unit; /* a Unit */

  guint8 header[HEADER_SIZE];
  gsize header_size;
  guint64 stream_start; /* where the stream in hand begins */
  guint64 block_start;  /* the byte in or before which the block in hand begins */
  guint8 *buffer;       /* a block, whose CRC-32 holds */
  gsize buffer_size;
  gsize begin, end;        /* what is to be given out of it */
  guint64 streams;         /* those complete */
  guint64 padding;         /* zero bytes between and behind streams */
  DlpDecoderBorder border; /* the end of the last stream */
  char *warning;
};

G_DEFINE_FINAL_TYPE (DlpBzip2Decoder, dlp_bzip2_decoder, DLP_TYPE_DECODER)

static gboolean
is_header_byte (guint8 byte, gsize index)
{
  return index < 3 ? byte == (guint8) "BZh"[index] : byte >= '1' && byte <= '9';
}

gboolean
dlp_bzip2_decoder_match (const guint8 *head, gsize size)
{
  static const guint8 block[MAGIC_SIZE] = { 0x31, 0x41, 0x59, 0x26, 0x53, 0x59 };
  static const guint8 end[MAGIC_SIZE] = { 0x17, 0x72, 0x45, 0x38, 0x50, 0x90 };
  gsize n;

  /* A file of no more than the header is cut, and not text. */
  if (size < HEADER_SIZE)
    return FALSE;
  for (gsize i = 0; i < HEADER_SIZE; i++)
    if (!is_header_byte (head[i], i))
      return FALSE;

  n = MIN (size - HEADER_SIZE, MAGIC_SIZE);
  return memcmp (head + HEADER_SIZE, block, n) == 0 || memcmp (head + HEADER_SIZE, end, n) == 0;
}

static gpointer
alloc (gpointer memory, int n, int size)
{
  return decoder_memory_alloc (memory, (gsize) n * (gsize) size);
}

static gboolean
fail_library (DlpBzip2Decoder *self, int code, GError **error)
{
  if (code == BZ_MEM_ERROR)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED,
                 "not enough memory for the bzip2 stream at byte %" G_GUINT64_FORMAT,
                 self->stream_start);
  else
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
                 "bzip2 data damaged at byte %" G_GUINT64_FORMAT
                 " (stream from byte %" G_GUINT64_FORMAT
                 "): a block, or the end of the stream, does not hold, or not its CRC-32",
                 self->block_start, self->stream_start);
  return FALSE;
}

static gboolean
fail_junk (DlpBzip2Decoder *self, GError **error)
{
  if (self->streams == 0)
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
                 "not bzip2 at byte %" G_GUINT64_FORMAT, self->stream_start);
  else
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
                 "not bzip2 at byte %" G_GUINT64_FORMAT ", behind %" G_GUINT64_FORMAT
                 " complete streams: trailing junk",
                 self->stream_start, self->streams);
  return FALSE;
}

/* The library has no way to use a stream's memory for the next one. */
static gboolean
begin_stream (DlpBzip2Decoder *self, GError **error)
{
  int code;

  self->stream = (bz_stream){ .bzalloc = alloc, .bzfree = decoder_memory_free };
  self->stream.opaque = &self->memory;
  code = BZ2_bzDecompressInit (&self->stream, 0, 0);
  if (code == BZ_OK)
    {
      self->in_stream = TRUE;
      self->unit = UNIT_BLOCK;
      self->block_start = self->io.position;
      self->stream.next_in = (char *) self->header;
      self->stream.avail_in = HEADER_SIZE;
      code = BZ2_bzDecompress (&self->stream);
    }
  return code == BZ_OK || fail_library (self, code, error);
}

static gboolean
read_header (DlpBzip2Decoder *self, GError **error)
{
  if (self->header_size == 0 && self->streams > 0)
    self->padding += decoder_io_skip_zeros (&self->io);
  if (self->header_size == 0)
    self->stream_start = self->io.position;

  while (self->header_size < HEADER_SIZE)
    {
      gsize n = self->header_size;

      if (!decoder_io_gather (&self->io, self->header, &self->header_size, n + 1))
        return TRUE;
      if (!is_header_byte (self->header[n], n))
        return fail_junk (self, error);
    }

  return begin_stream (self, error);
}

/* Not by what the file says, but by what comes out. */
static gboolean
grow_buffer (DlpBzip2Decoder *self)
{
  gsize size = MAX (BUFFER_SIZE_MIN, 2 * self->buffer_size);
  guint8 *buffer = decoder_memory_alloc (&self->memory, size);

  if (buffer == NULL)
    return FALSE;
  if (self->end > 0)
    memcpy (buffer, self->buffer, self->end);
  decoder_memory_free (&self->memory, self->buffer);
  self->buffer = buffer;
  self->buffer_size = size;
  return TRUE;
}

static void
end_stream (DlpBzip2Decoder *self)
{
  BZ2_bzDecompressEnd (&self->stream);
  self->in_stream = FALSE;
  self->unit = UNIT_HEADER;
  self->header_size = 0;
  self->streams++;
  self->border =
      (DlpDecoderBorder){ self->io.position, self->io.decoded, { self->streams, self->padding } };
}

/* Of a block the library has begun to give out: all of it, to the buffer. No bytes are taken. */
static int
drain_block (DlpBzip2Decoder *self)
{
  int code = BZ_OK;
  gsize n;

  do
    {
      if (self->end == self->buffer_size && !grow_buffer (self))
        return BZ_MEM_ERROR;
      n = self->buffer_size - self->end;
      self->stream.avail_in = 0;
      self->stream.next_out = (char *) self->buffer + self->end;
      self->stream.avail_out = (guint) n;
      code = BZ2_bzDecompress (&self->stream);
      self->end += n - self->stream.avail_out;
    }
  while (code == BZ_OK && self->stream.avail_out == 0);

  return code;
}

/* Up to the end of a block, or of the stream. The library takes no more input while it has output,
 * and there is none without room for it. It counts in unsigned int. */
static gboolean
read_block (DlpBzip2Decoder *self, GError **error)
{
  guint given = (guint) MIN (decoder_io_in_left (&self->io), G_MAXINT);
  int code;

  self->stream.next_in = (char *) decoder_io_in (&self->io);
  self->stream.avail_in = given;
  self->stream.avail_out = 0;
  code = BZ2_bzDecompress (&self->stream);
  decoder_io_use (&self->io, given - self->stream.avail_in);

  if (code == BZ_STREAM_END)
    end_stream (self);
  else if (code == BZ_OK)
    code = drain_block (self);
  if (code != BZ_OK && code != BZ_STREAM_END)
    {
      self->end = 0;
      return fail_library (self, code, error);
    }

  if (self->end > 0)
    {
      self->block_start = self->io.position;
      self->unit = UNIT_OUTPUT;
    }
  return TRUE;
}

static gboolean
give_out (DlpBzip2Decoder *self)
{
  gsize n = MIN (self->end - self->begin, decoder_io_out_left (&self->io));

  memcpy (decoder_io_out (&self->io), self->buffer + self->begin, n);
  decoder_io_write (&self->io, n);
  self->begin += n;
  if (self->begin < self->end)
    return TRUE;

  self->begin = self->end = 0;
  self->unit = self->in_stream ? UNIT_BLOCK : UNIT_HEADER;
  return TRUE;
}

static gboolean
read_unit (gpointer decoder, GError **error)
{
  DlpBzip2Decoder *self = decoder;

  switch (self->unit)
    {
    case UNIT_HEADER:
      return read_header (self, error);

    case UNIT_BLOCK:
      return read_block (self, error);

    case UNIT_OUTPUT:
      return give_out (self);

    default:
      g_assert_not_reached ();
    }
}

static gboolean
dlp_bzip2_decoder_decode (DlpDecoder *decoder,
                          const guint8 *in,
                          gsize in_size,
                          gsize *in_used,
                          guint8 *out,
                          gsize out_size,
                          gsize *out_written,
                          GError **error)
{
  DlpBzip2Decoder *self = DLP_BZIP2_DECODER (decoder);

  decoder_io_begin (&self->io, in, in_size, out, out_size);
  return decoder_io_run (&self->io, &self->unit, read_unit, self, in_used, out_written, error);
}

static gboolean
dlp_bzip2_decoder_finish (DlpDecoder *decoder, GError **error)
{
  DlpBzip2Decoder *self = DLP_BZIP2_DECODER (decoder);

  if (!self->in_stream && self->header_size == 0 && self->streams > 0)
    return TRUE;

  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
               "bzip2 stream cut at byte %" G_GUINT64_FORMAT " (stream from byte %" G_GUINT64_FORMAT
               ", %" G_GUINT64_FORMAT " complete before it)",
               self->io.position, self->stream_start, self->streams);
  return FALSE;
}

static const char *
dlp_bzip2_decoder_get_warning (DlpDecoder *decoder)
{
  DlpBzip2Decoder *self = DLP_BZIP2_DECODER (decoder);

  if (self->padding == 0)
    return NULL;

  g_free (self->warning);
  self->warning = g_strdup_printf ("%" G_GUINT64_FORMAT " zero bytes between or behind the bzip2 "
                                   "streams were ignored",
                                   self->padding);
  return self->warning;
}

static void
dlp_bzip2_decoder_limit_memory (DlpDecoder *decoder, gsize bytes, const char *folder)
{
  decoder_memory_set_limit (&DLP_BZIP2_DECODER (decoder)->memory, bytes, folder);
}

static void
dlp_bzip2_decoder_rest (DlpDecoder *decoder)
{
  decoder_memory_rest (&DLP_BZIP2_DECODER (decoder)->memory);
}

static gboolean
dlp_bzip2_decoder_get_border (DlpDecoder *decoder, DlpDecoderBorder *border)
{
  *border = DLP_BZIP2_DECODER (decoder)->border;
  return border->raw > 0;
}

static void
dlp_bzip2_decoder_go_to_border (DlpDecoder *decoder, const DlpDecoderBorder *border)
{
  DlpBzip2Decoder *self = DLP_BZIP2_DECODER (decoder);

  self->border = *border;
  self->io.position = self->stream_start = border->raw;
  self->io.decoded = border->decoded;
  self->streams = border->counts[0];
  self->padding = border->counts[1];
}

static void
dlp_bzip2_decoder_finalize (GObject *object)
{
  DlpBzip2Decoder *self = DLP_BZIP2_DECODER (object);

  if (self->in_stream)
    BZ2_bzDecompressEnd (&self->stream);
  decoder_memory_free (&self->memory, self->buffer);
  decoder_memory_clear (&self->memory);
  g_free (self->warning);

  G_OBJECT_CLASS (dlp_bzip2_decoder_parent_class)->finalize (object);
}

static void
dlp_bzip2_decoder_class_init (DlpBzip2DecoderClass *klass)
{
  DlpDecoderClass *decoder_class = DLP_DECODER_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = dlp_bzip2_decoder_finalize;
  decoder_class->decode = dlp_bzip2_decoder_decode;
  decoder_class->finish = dlp_bzip2_decoder_finish;
  decoder_class->get_warning = dlp_bzip2_decoder_get_warning;
  decoder_class->limit_memory = dlp_bzip2_decoder_limit_memory;
  decoder_class->rest = dlp_bzip2_decoder_rest;
  decoder_class->get_border = dlp_bzip2_decoder_get_border;
  decoder_class->go_to_border = dlp_bzip2_decoder_go_to_border;
}

static void
dlp_bzip2_decoder_init (DlpBzip2Decoder *self)
{
  decoder_memory_init (&self->memory);
}
