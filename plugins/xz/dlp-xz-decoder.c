/* SPDX-License-Identifier: MIT */

#include "dlp-xz-decoder.h"

#include <lzma.h>
#include <stdlib.h>
#include <string.h>

#include <dlpipe/dlp-error.h>

#include "decoder-io.h"
#include "decoder-memory.h"
#include "decoder-window.h"
#include "dlp-xz-index.h"

/* Streams are taken apart here and the library is given blocks, so that a run can go on at any of
 * them; its own reader of streams can only begin at the start of one. Of a block it is given one
 * chunk of LZMA2 a call, whole, and room for all that it can hold: what it writes before it finds a
 * damage depends on how it is called, so of a chunk with damage nothing comes out. */

#define MAGIC_SIZE 6
#define LEGACY_HEADER_SIZE 13
/* Of LZMA2: a chunk's control byte, its sizes and a byte of properties; its data; what is in it. */
#define CHUNK_HEADER_SIZE_MAX 6
#define CHUNK_SIZE_MAX (64 * 1024)
#define CHUNK_OUTPUT_MAX (2 * 1024 * 1024)
/* Filters for machine code hold some bytes of a chunk back. */
#define CHUNK_HELD_MAX 256
/* What is said of a border beside its place: the digest of the stream's blocks, and in one word the
 * check of the stream, whether it is within one, and the counts of streams. */
#define CHECK_BITS 4
#define IN_STREAM (1u << CHECK_BITS)
#define STREAMS_SHIFT 5
#define STREAMS_BITS 29
#define UNCHECKED_SHIFT (STREAMS_SHIFT + STREAMS_BITS)

static const guint8 magic[MAGIC_SIZE] = { 0xfd, '7', 'z', 'X', 'Z', 0x00 };

/* What the next bytes are. */
typedef enum
{
  UNIT_STREAM_HEADER,
  UNIT_BLOCK_HEADER,
  UNIT_CHUNK_HEADER,
  UNIT_CHUNK,
  UNIT_OUTPUT, /* none: of a chunk that was decoded there is more to give out */
  UNIT_CHECK,
  UNIT_INDEX,
  UNIT_FOOTER,
} Unit;

struct _DlpXzDecoder
{
  DlpDecoder parent_instance;

  DecoderIo io;
  DecoderMemory memory;
  lzma_allocator allocator; /* of what decodes: the window */
  guint window_log_max;

  guint unit;         /* a Unit */
  guint64 unit_start; /* where the unit in hand begins; of a chunk, its header */
  guint8 header[LZMA_BLOCK_HEADER_SIZE_MAX];
  gsize header_size;

  lzma_stream stream;
  lzma_stream_flags flags;
  lzma_filter filters[LZMA_FILTERS_MAX + 1];
  lzma_block block;
  guint8 *chunk; /* header and data of one, then what was in it; NULL until there is one */
  guint8 *output;
  gsize chunk_size, chunk_wanted;
  gsize begin, end; /* what of the output is to be given out */
  gboolean is_last; /* chunk, which has no data */
  gboolean is_ended;
  guint64 digest; /* of the blocks of the stream */
  XzIndex index;

  guint64 padding; /* zero bytes behind the last stream */
  guint64 streams; /* those complete */
  guint64 unchecked_streams;
  DlpDecoderBorder border; /* the end of the last block or stream */
  char *warning;
};

enum
{
  PROP_0,
  PROP_WINDOW_LOG_MAX,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

G_DEFINE_FINAL_TYPE (DlpXzDecoder, dlp_xz_decoder, DLP_TYPE_DECODER)

/* .lzma files have no magic: usual parameters, a window that is a power of two, and a size that is
 * unknown or below 256 GiB. Text has no zero bytes there. */
static gboolean
is_legacy (const guint8 *head, gsize size)
{
  guint32 window;
  guint64 length;

  if (size < LEGACY_HEADER_SIZE || head[0] != 0x5d)
    return FALSE;
  memcpy (&window, head + 1, sizeof window);
  memcpy (&length, head + 5, sizeof length);
  window = GUINT32_FROM_LE (window);
  length = GUINT64_FROM_LE (length);
  return window >= 1u << 16 && (window & (window - 1)) == 0 &&
         (length == G_MAXUINT64 || length < G_GUINT64_CONSTANT (1) << 38);
}

gboolean
dlp_xz_decoder_match (const guint8 *head, gsize size)
{
  /* Two bytes of it are enough where the file has no more: it is cut, and not text. */
  if (size >= 2 && memcmp (head, magic, MIN (size, sizeof magic)) == 0)
    return TRUE;
  return is_legacy (head, size);
}

static void
enter (DlpXzDecoder *self, Unit unit)
{
  self->unit = unit;
  self->unit_start = self->io.position;
  self->header_size = 0;
}

static gboolean G_GNUC_PRINTF (3, 4)
    fail_damaged (DlpXzDecoder *self, GError **error, const char *format, ...)
{
  g_autofree char *what = NULL;
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);

  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
               "xz data damaged at byte %" G_GUINT64_FORMAT " (%" G_GUINT64_FORMAT
               " streams complete before it): %s",
               self->unit_start, self->streams, what);
  return FALSE;
}

/* @what: what does not hold, where the library says no more. */
static gboolean
fail_library (DlpXzDecoder *self, lzma_ret code, const char *what, GError **error)
{
  if (code == LZMA_OPTIONS_ERROR)
    return fail_damaged (
        self, error, "%s is of a kind that liblzma " LZMA_VERSION_STRING " does not know", what);
  if (code != LZMA_MEM_ERROR)
    return fail_damaged (self, error, "%s does not hold", what);

  g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED,
               "not enough memory for the xz block at byte %" G_GUINT64_FORMAT, self->unit_start);
  return FALSE;
}

static guint64
pack_counts (guint64 stream, guint64 streams, guint64 unchecked)
{
  return stream | streams << STREAMS_SHIFT | unchecked << UNCHECKED_SHIFT;
}

static guint64
unpack_streams (guint64 word)
{
  return word >> STREAMS_SHIFT & ((1u << STREAMS_BITS) - 1);
}

static gboolean
is_unchecked (const lzma_stream_flags *flags)
{
  return flags->check == LZMA_CHECK_NONE || !lzma_check_is_supported (flags->check);
}

/* No block needs anything of those before it but their digest. A count that is too large for its
 * bits leaves the border where it is: going on from there only takes longer. */
static void
note_border (DlpXzDecoder *self)
{
  const guint64 limit = G_GUINT64_CONSTANT (1) << STREAMS_BITS;
  gboolean in_stream = self->unit != UNIT_STREAM_HEADER;

  if (self->streams >= limit || self->unchecked_streams >= limit)
    return;
  self->border = (DlpDecoderBorder){
    self->io.position,
    self->io.decoded,
    { self->digest, pack_counts (in_stream ? IN_STREAM | (guint64) self->flags.check : 0,
                                 self->streams, self->unchecked_streams) },
  };
}

static gboolean
fail_no_stream (DlpXzDecoder *self, GError **error)
{
  if (self->streams == 0 && self->header[0] == 0x5d)
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
                 "a file of the legacy format .lzma, which has no checksum and is not read; xz "
                 "--format=lzma -d decompresses it");
  else if (self->streams == 0)
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED, "not xz at byte %" G_GUINT64_FORMAT,
                 self->unit_start);
  else
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
                 "not xz at byte %" G_GUINT64_FORMAT ", behind %" G_GUINT64_FORMAT
                 " complete streams: trailing junk",
                 self->unit_start, self->streams);
  return FALSE;
}

static gboolean
check_padding (DlpXzDecoder *self, GError **error)
{
  if (self->padding % 4 == 0)
    return TRUE;
  return fail_damaged (self, error,
                       "%" G_GUINT64_FORMAT
                       " zero bytes behind a stream; by the format they are a multiple of four",
                       self->padding);
}

static gboolean
gather_header (DlpXzDecoder *self, gsize wanted)
{
  return decoder_io_gather (&self->io, self->header, &self->header_size, wanted);
}

static gboolean
begin_stream (DlpXzDecoder *self, GError **error)
{
  lzma_ret code = lzma_stream_header_decode (&self->flags, self->header);

  if (code != LZMA_OK)
    return fail_library (self, code, "the header of a stream", error);

  self->unchecked_streams += is_unchecked (&self->flags);
  self->digest = 0;
  self->padding = 0;
  enter (self, UNIT_BLOCK_HEADER);
  return TRUE;
}

static gboolean
read_stream_header (DlpXzDecoder *self, GError **error)
{
  if (self->header_size == 0 && self->streams > 0)
    {
      self->padding += decoder_io_skip_zeros (&self->io);
      self->unit_start = self->io.position;
    }

  while (self->header_size < MAGIC_SIZE)
    {
      gsize n = self->header_size;

      if (!gather_header (self, n + 1))
        return TRUE;
      if (self->header[n] != magic[n])
        return fail_no_stream (self, error);
      if (n == 0 && !check_padding (self, error))
        return FALSE;
    }

  return !gather_header (self, LZMA_STREAM_HEADER_SIZE) || begin_stream (self, error);
}

static void
free_options (lzma_filter *filters)
{
  for (guint i = 0; i < LZMA_FILTERS_MAX && filters[i].id != LZMA_VLI_UNKNOWN; i++)
    free (filters[i].options);
  filters[0].id = LZMA_VLI_UNKNOWN;
}

/* Other filters hold a few bytes. */
static guint64
window_size (DlpXzDecoder *self)
{
  for (guint i = 0; self->filters[i].id != LZMA_VLI_UNKNOWN; i++)
    if (self->filters[i].id == LZMA_FILTER_LZMA2)
      return ((const lzma_options_lzma *) self->filters[i].options)->dict_size;
  return 0;
}

static void
enter_chunk (DlpXzDecoder *self)
{
  enter (self, UNIT_CHUNK_HEADER);
  self->chunk_size = 0;
}

static gboolean
begin_block (DlpXzDecoder *self, GError **error)
{
  lzma_ret code;

  self->block.version = 1;
  self->block.check = self->flags.check;
  self->block.filters = self->filters;
  code = lzma_block_header_decode (&self->block, NULL, self->header);
  if (code != LZMA_OK)
    {
      self->filters[0].id = LZMA_VLI_UNKNOWN;
      return fail_library (self, code, "the header of a block", error);
    }
  if (!decoder_window_check (window_size (self), self->window_log_max, "xz block", self->unit_start,
                             error))
    return FALSE;

  self->stream.allocator = &self->allocator;
  code = lzma_block_decoder (&self->stream, &self->block);
  if (code != LZMA_OK)
    return fail_library (self, code, "a block", error);

  if (self->chunk == NULL)
    self->chunk = decoder_memory_alloc (&self->memory, CHUNK_HEADER_SIZE_MAX + CHUNK_SIZE_MAX +
                                                           CHUNK_OUTPUT_MAX + CHUNK_HELD_MAX);
  if (self->chunk == NULL)
    return fail_library (self, LZMA_MEM_ERROR, "a block", error);
  self->output = self->chunk + CHUNK_HEADER_SIZE_MAX + CHUNK_SIZE_MAX;
  self->is_ended = FALSE;
  enter_chunk (self);
  return TRUE;
}

static gboolean
read_block_header (DlpXzDecoder *self, GError **error)
{
  if (!gather_header (self, 1))
    return TRUE;
  if (self->header[0] == 0)
    {
      xz_index_begin (&self->index);
      self->unit = UNIT_INDEX;
      return TRUE;
    }

  self->block.header_size = lzma_block_header_size_decode (self->header[0]);
  return !gather_header (self, self->block.header_size) || begin_block (self, error);
}

static void
end_block (DlpXzDecoder *self)
{
  self->digest = xz_index_digest (self->digest, lzma_block_unpadded_size (&self->block),
                                  self->block.uncompressed_size);
  free_options (self->filters);
  enter (self, UNIT_BLOCK_HEADER);
  note_border (self);
}

/* Gives the library bytes of the block; what it writes is to be given out. */
static lzma_ret
feed (DlpXzDecoder *self, const guint8 *data, gsize size, gsize *used)
{
  lzma_stream *stream = &self->stream;
  lzma_ret code;

  stream->next_in = data;
  stream->avail_in = size;
  stream->next_out = self->output;
  stream->avail_out = CHUNK_OUTPUT_MAX + CHUNK_HELD_MAX;
  code = lzma_code (stream, LZMA_RUN);
  *used = size - stream->avail_in;
  self->begin = 0;
  self->end = CHUNK_OUTPUT_MAX + CHUNK_HELD_MAX - stream->avail_out;
  self->is_ended = code == LZMA_STREAM_END;
  return code == LZMA_STREAM_END || code == LZMA_BUF_ERROR ? LZMA_OK : code;
}

static gboolean
decode_chunk (DlpXzDecoder *self, GError **error)
{
  gsize used;
  lzma_ret code = feed (self, self->chunk, self->chunk_size, &used);

  if (code != LZMA_OK || used < self->chunk_size)
    return fail_library (self, code == LZMA_OK ? LZMA_DATA_ERROR : code, "a chunk of a block",
                         error);
  self->unit = UNIT_OUTPUT;
  return TRUE;
}

static gboolean
gather_chunk (DlpXzDecoder *self, gsize wanted)
{
  return decoder_io_gather (&self->io, self->chunk, &self->chunk_size, wanted);
}

/* Of a control byte of 0 there is no more, of 1 and 2 the size of bytes that are stored, of 0x80
 * and above sizes of compressed ones, and from 0xc0 on properties. */
static gboolean
read_chunk_header (DlpXzDecoder *self, GError **error)
{
  guint8 control;
  gsize size;

  if (!gather_chunk (self, 1))
    return TRUE;
  control = self->chunk[0];
  self->is_last = control == 0;
  if (self->is_last)
    return decode_chunk (self, error);
  if (control > 2 && control < 0x80)
    return fail_damaged (self, error, "a chunk of a block is of a kind that LZMA2 does not have");

  size = control < 0x80 ? 3 : control < 0xc0 ? 5 : 6;
  if (!gather_chunk (self, size))
    return TRUE;
  self->chunk_wanted = size + 1 +
                       (control < 0x80 ? (gsize) self->chunk[1] << 8 | self->chunk[2] :
                                         (gsize) self->chunk[3] << 8 | self->chunk[4]);
  self->unit = UNIT_CHUNK;
  return TRUE;
}

static gboolean
read_chunk (DlpXzDecoder *self, GError **error)
{
  return !gather_chunk (self, self->chunk_wanted) || decode_chunk (self, error);
}

static gboolean
give_out (DlpXzDecoder *self)
{
  gsize n = MIN (self->end - self->begin, decoder_io_out_left (&self->io));

  if (n > 0)
    memcpy (decoder_io_out (&self->io), self->output + self->begin, n);
  decoder_io_write (&self->io, n);
  self->begin += n;
  if (self->begin < self->end)
    return TRUE;

  if (self->is_ended)
    end_block (self);
  else if (self->is_last)
    enter (self, UNIT_CHECK);
  else
    enter_chunk (self);
  return TRUE;
}

/* And the padding before it. */
static gboolean
read_check (DlpXzDecoder *self, GError **error)
{
  gsize used;
  lzma_ret code = feed (self, decoder_io_in (&self->io), decoder_io_in_left (&self->io), &used);

  decoder_io_use (&self->io, used);
  if (code != LZMA_OK)
    return fail_library (self, code, "the check of a block", error);
  if (self->is_ended)
    end_block (self);
  return TRUE;
}

static gboolean
read_index (DlpXzDecoder *self, GError **error)
{
  const char *fault;

  decoder_io_use (&self->io, xz_index_read (&self->index, decoder_io_in (&self->io),
                                            decoder_io_in_left (&self->io), &fault));
  if (fault == NULL && self->index.part == XZ_INDEX_END && self->index.digest != self->digest)
    fault = "the index does not match the blocks before it";
  if (fault != NULL)
    return fail_damaged (self, error, "%s", fault);

  if (self->index.part == XZ_INDEX_END)
    enter (self, UNIT_FOOTER);
  return TRUE;
}

static gboolean
read_footer (DlpXzDecoder *self, GError **error)
{
  lzma_stream_flags footer;
  lzma_ret code;

  if (!gather_header (self, LZMA_STREAM_HEADER_SIZE))
    return TRUE;

  code = lzma_stream_footer_decode (&footer, self->header);
  self->flags.backward_size = self->index.size;
  if (code == LZMA_OK)
    code = lzma_stream_flags_compare (&self->flags, &footer);
  if (code != LZMA_OK)
    return fail_library (self, code, "the footer of a stream", error);

  self->streams++;
  self->digest = 0;
  enter (self, UNIT_STREAM_HEADER);
  note_border (self);
  return TRUE;
}

static gboolean
read_unit (gpointer decoder, GError **error)
{
  DlpXzDecoder *self = decoder;

  switch (self->unit)
    {
    case UNIT_STREAM_HEADER:
      return read_stream_header (self, error);

    case UNIT_BLOCK_HEADER:
      return read_block_header (self, error);

    case UNIT_CHUNK_HEADER:
      return read_chunk_header (self, error);

    case UNIT_CHUNK:
      return read_chunk (self, error);

    case UNIT_OUTPUT:
      return give_out (self);

    case UNIT_CHECK:
      return read_check (self, error);

    case UNIT_INDEX:
      return read_index (self, error);

    case UNIT_FOOTER:
      return read_footer (self, error);

    default:
      g_assert_not_reached ();
    }
}

static gboolean
dlp_xz_decoder_decode (DlpDecoder *decoder,
                       const guint8 *in,
                       gsize in_size,
                       gsize *in_used,
                       guint8 *out,
                       gsize out_size,
                       gsize *out_written,
                       GError **error)
{
  DlpXzDecoder *self = DLP_XZ_DECODER (decoder);

  decoder_io_begin (&self->io, in, in_size, out, out_size);
  return decoder_io_run (&self->io, &self->unit, read_unit, self, in_used, out_written, error);
}

static gboolean
dlp_xz_decoder_finish (DlpDecoder *decoder, GError **error)
{
  DlpXzDecoder *self = DLP_XZ_DECODER (decoder);

  if (self->unit == UNIT_STREAM_HEADER && self->header_size == 0 && self->streams > 0)
    return check_padding (self, error);

  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
               "xz stream cut at byte %" G_GUINT64_FORMAT
               " (in what begins at byte %" G_GUINT64_FORMAT ", %" G_GUINT64_FORMAT
               " streams complete before it)",
               self->io.position, self->unit_start, self->streams);
  return FALSE;
}

static const char *
dlp_xz_decoder_get_warning (DlpDecoder *decoder)
{
  DlpXzDecoder *self = DLP_XZ_DECODER (decoder);

  if (self->unchecked_streams == 0)
    return NULL;

  g_free (self->warning);
  self->warning = g_strdup_printf ("no checksum in input: %" G_GUINT64_FORMAT
                                   " xz streams have none that is known, damage in them can go "
                                   "unseen",
                                   self->unchecked_streams);
  return self->warning;
}

static void
dlp_xz_decoder_limit_memory (DlpDecoder *decoder, gsize bytes, const char *folder)
{
  decoder_memory_set_limit (&DLP_XZ_DECODER (decoder)->memory, bytes, folder);
}

static void
dlp_xz_decoder_rest (DlpDecoder *decoder)
{
  decoder_memory_rest (&DLP_XZ_DECODER (decoder)->memory);
}

static gboolean
dlp_xz_decoder_get_border (DlpDecoder *decoder, DlpDecoderBorder *border)
{
  *border = DLP_XZ_DECODER (decoder)->border;
  return border->raw > 0;
}

static void
dlp_xz_decoder_go_to_border (DlpDecoder *decoder, const DlpDecoderBorder *border)
{
  DlpXzDecoder *self = DLP_XZ_DECODER (decoder);
  guint64 word = border->counts[1];

  self->border = *border;
  self->io.position = border->raw;
  self->io.decoded = border->decoded;
  self->digest = border->counts[0];
  self->flags = (lzma_stream_flags){ .check = (lzma_check) (word & (IN_STREAM - 1)) };
  self->streams = unpack_streams (word);
  self->unchecked_streams = word >> UNCHECKED_SHIFT;
  enter (self, (word & IN_STREAM) != 0 ? UNIT_BLOCK_HEADER : UNIT_STREAM_HEADER);
}

/* Those that were written by several threads say in their headers how long they are. */
static gssize
measure_block (lzma_check check, const guint8 *in, gsize size, guint64 *digest)
{
  lzma_filter filters[LZMA_FILTERS_MAX + 1];
  lzma_block block = { .version = 1, .check = check, .filters = filters };
  guint64 length;

  if (size == 0)
    return 0;
  if (in[0] == 0)
    return -1;
  block.header_size = lzma_block_header_size_decode (in[0]);
  if (size < block.header_size)
    return 0;
  if (lzma_block_header_decode (&block, NULL, in) != LZMA_OK)
    return -1;
  free_options (filters);
  if (block.compressed_size == LZMA_VLI_UNKNOWN || block.uncompressed_size == LZMA_VLI_UNKNOWN)
    return -1;

  length = lzma_block_total_size (&block);
  if (length == 0 || length > size)
    return length == 0 ? -1 : 0;
  *digest = xz_index_digest (*digest, lzma_block_unpadded_size (&block), block.uncompressed_size);
  return (gssize) length;
}

/* Up to the end of a stream's blocks: behind them come the index, and other streams. */
static gssize
dlp_xz_decoder_measure (DlpDecoder *decoder, DlpDecoderBorder *border, const guint8 *in, gsize size)
{
  guint64 word = border->counts[1], digest = border->counts[0];
  guint64 unchecked = word >> UNCHECKED_SHIFT;
  lzma_stream_flags flags = { .check = (lzma_check) (word & (IN_STREAM - 1)) };
  gsize header = 0;
  gssize length;

  if ((word & IN_STREAM) == 0)
    {
      header = LZMA_STREAM_HEADER_SIZE;
      if (size < header)
        return 0;
      if (lzma_stream_header_decode (&flags, in) != LZMA_OK)
        return -1;
      unchecked += is_unchecked (&flags);
      digest = 0;
    }

  length = measure_block (flags.check, in + header, size - header, &digest);
  if (length <= 0)
    return length;
  border->raw += header + (guint64) length;
  border->counts[0] = digest;
  border->counts[1] =
      pack_counts (IN_STREAM | (guint64) flags.check, unpack_streams (word), unchecked);
  return (gssize) header + length;
}

static void
dlp_xz_decoder_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  DlpXzDecoder *self = DLP_XZ_DECODER (object);

  switch (id)
    {
    case PROP_WINDOW_LOG_MAX:
      self->window_log_max = g_value_get_uint (value);
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_xz_decoder_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  DlpXzDecoder *self = DLP_XZ_DECODER (object);

  switch (id)
    {
    case PROP_WINDOW_LOG_MAX:
      g_value_set_uint (value, self->window_log_max);
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_xz_decoder_finalize (GObject *object)
{
  DlpXzDecoder *self = DLP_XZ_DECODER (object);

  free_options (self->filters);
  lzma_end (&self->stream);
  decoder_memory_free (&self->memory, self->chunk);
  decoder_memory_clear (&self->memory);
  g_free (self->warning);

  G_OBJECT_CLASS (dlp_xz_decoder_parent_class)->finalize (object);
}

static void
dlp_xz_decoder_class_init (DlpXzDecoderClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  DlpDecoderClass *decoder_class = DLP_DECODER_CLASS (klass);

  object_class->set_property = dlp_xz_decoder_set_property;
  object_class->get_property = dlp_xz_decoder_get_property;
  object_class->finalize = dlp_xz_decoder_finalize;
  decoder_class->decode = dlp_xz_decoder_decode;
  decoder_class->finish = dlp_xz_decoder_finish;
  decoder_class->get_warning = dlp_xz_decoder_get_warning;
  decoder_class->limit_memory = dlp_xz_decoder_limit_memory;
  decoder_class->rest = dlp_xz_decoder_rest;
  decoder_class->get_border = dlp_xz_decoder_get_border;
  decoder_class->go_to_border = dlp_xz_decoder_go_to_border;
  decoder_class->measure = dlp_xz_decoder_measure;

  /**
   * DlpXzDecoder:window-log-max:
   *
   * The largest window (in the words of xz, dictionary) that a block may ask for, as a power of
   * two.
   */
  properties[PROP_WINDOW_LOG_MAX] = decoder_window_new_pspec ();
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static gpointer
alloc (gpointer memory, gsize n, gsize size)
{
  return decoder_memory_alloc (memory, n * size);
}

static void
dlp_xz_decoder_init (DlpXzDecoder *self)
{
  decoder_memory_init (&self->memory);
  self->allocator = (lzma_allocator){ alloc, decoder_memory_free, &self->memory };
  self->stream = (lzma_stream) LZMA_STREAM_INIT;
  self->filters[0].id = LZMA_VLI_UNKNOWN;
  self->window_log_max = DECODER_WINDOW_LOG_DEFAULT;
}
