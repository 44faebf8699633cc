/* SPDX-License-Identifier: MIT */

#include "dlp-lz4-decoder.h"

#include <lz4.h>
#include <string.h>
#include <xxhash.h>

#include <dlpipe/dlp-error.h>

#include "decoder-io.h"
#include "decoder-memory.h"
#include "dlp-lz4-frame.h"

/* The library decodes blocks; frames are read here, so that what comes out before a damage is whole
 * blocks, however the input is cut, and so that the memory is ours: the library's own reader of
 * frames can be given none by its stable interface. */

/* What the next bytes are. */
typedef enum
{
  UNIT_FRAME_HEADER,
  UNIT_SKIPPABLE,
  UNIT_BLOCK_HEADER,
  UNIT_BLOCK,
  UNIT_OUTPUT, /* none: of a block that was decoded there is more to give out */
  UNIT_CHECKSUM,
} Unit;

struct _DlpLz4Decoder
{
  DlpDecoder parent_instance;

  DecoderIo io;
  DecoderMemory memory;

  guint unit;         /* a Unit */
  guint64 unit_start; /* where the unit in hand begins; of a block, its header */
  guint64 left;       /* of a skippable frame */
  guint8 header[LZ4_FRAME_HEADER_SIZE_MAX];
  gsize header_size;

  Lz4FrameHeader frame;
  guint64 frame_start;
  guint64 frame_decoded; /* bytes of the frame decoded */
  XXH32_state_t *checksum;

  gboolean is_stored;
  gsize block_size; /* with its checksum */

  guint32 buffer_size; /* the largest block that the two buffers have room for */
  guint8 *packed;      /* a block that did not come in one piece, NULL until there is one */
  gsize packed_size;
  guint8 *window;   /* LZ4_HISTORY_SIZE bytes, of which the end is in use, and a block */
  gsize history;    /* so many bytes before the block */
  gsize begin, end; /* of the block, what is to be given out */

  guint64 frames; /* those begun, without skippable ones */
  guint64 unchecked_frames;
  DlpDecoderBorder border; /* the end of the last frame */
  char *warning;
};

G_DEFINE_FINAL_TYPE (DlpLz4Decoder, dlp_lz4_decoder, DLP_TYPE_DECODER)

gboolean
dlp_lz4_decoder_match (const guint8 *head, gsize size)
{
  static const guint8 magic[LZ4_FRAME_MAGIC_SIZE] = { 0x04, 0x22, 0x4d, 0x18 };
  guint32 first, skipped;

  /* Two bytes of it are enough where the file has no more: it is cut, and not text. */
  if (size >= 2 && memcmp (head, magic, MIN (size, sizeof magic)) == 0)
    return TRUE;
  if (size < sizeof magic)
    return FALSE;

  first = lz4_frame_read_le32 (head);
  if (!lz4_frame_is_skippable (first) || size < LZ4_SKIPPABLE_HEADER_SIZE)
    return first == LZ4_FRAME_MAGIC_LEGACY;

  /* zstd has the same skippable frames. As many bytes as are always there tell whose this is, where
   * it has at most the four that programs write into the first one; longer ones are zstd's. */
  skipped = lz4_frame_read_le32 (head + LZ4_FRAME_MAGIC_SIZE);
  return skipped <= 4 && size >= LZ4_SKIPPABLE_HEADER_SIZE + skipped + sizeof magic &&
         memcmp (head + LZ4_SKIPPABLE_HEADER_SIZE + skipped, magic, sizeof magic) == 0;
}

static void
enter (DlpLz4Decoder *self, Unit unit)
{
  self->unit = unit;
  self->unit_start = self->io.position;
  self->header_size = 0;
}

static gboolean G_GNUC_PRINTF (3, 4)
    fail_damaged (DlpLz4Decoder *self, GError **error, const char *format, ...)
{
  g_autofree char *what = NULL;
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);

  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
               "lz4 data damaged at byte %" G_GUINT64_FORMAT " (frame from byte %" G_GUINT64_FORMAT
               "): %s",
               self->unit_start, self->frame_start, what);
  return FALSE;
}

static void
free_buffers (DlpLz4Decoder *self)
{
  decoder_memory_free (&self->memory, self->packed);
  decoder_memory_free (&self->memory, self->window);
  self->packed = self->window = NULL;
}

static gboolean
fail_memory (DlpLz4Decoder *self, GError **error)
{
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED,
               "not enough memory for the lz4 frame at byte %" G_GUINT64_FORMAT
               ", of blocks of %u KiB",
               self->frame_start, self->frame.block_size_max / 1024);
  return FALSE;
}

static gboolean
begin_frame (DlpLz4Decoder *self, GError **error)
{
  g_autofree char *fault = lz4_frame_parse_header (self->header, &self->frame);

  if (fault != NULL)
    return fail_damaged (self, error, "%s", fault);

  if (self->buffer_size < self->frame.block_size_max)
    {
      free_buffers (self);
      self->buffer_size = self->frame.block_size_max;
    }
  if (self->window == NULL)
    self->window = decoder_memory_alloc (&self->memory, LZ4_HISTORY_SIZE + self->buffer_size);
  if (self->window == NULL)
    return fail_memory (self, error);

  self->frames++;
  self->unchecked_frames += !self->frame.has_checksum && !self->frame.has_block_checksum;
  self->frame_decoded = 0;
  self->history = 0;
  XXH32_reset (self->checksum, 0);
  enter (self, UNIT_BLOCK_HEADER);
  return TRUE;
}

static gboolean
fail_unknown_frame (DlpLz4Decoder *self, guint32 magic, GError **error)
{
  const guint8 *head = self->header;

  if (magic == LZ4_FRAME_MAGIC_LEGACY)
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
                 "an lz4 frame of the legacy format (lz4 -l) at byte %" G_GUINT64_FORMAT
                 ": it has no end and no checksum, and is not read; decompress it by lz4 -d",
                 self->unit_start);
  else
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
                 "not an lz4 frame at byte %" G_GUINT64_FORMAT
                 " (it begins with %02x %02x %02x %02x), behind %" G_GUINT64_FORMAT " frames",
                 self->unit_start, head[0], head[1], head[2], head[3], self->frames);
  return FALSE;
}

static gboolean
gather_header (DlpLz4Decoder *self, gsize wanted)
{
  return decoder_io_gather (&self->io, self->header, &self->header_size, wanted);
}

static gboolean
read_frame_header (DlpLz4Decoder *self, GError **error)
{
  guint32 magic;

  self->frame_start = self->unit_start;
  if (!gather_header (self, LZ4_FRAME_MAGIC_SIZE))
    return TRUE;

  magic = lz4_frame_read_le32 (self->header);
  if (lz4_frame_is_skippable (magic))
    {
      if (!gather_header (self, LZ4_SKIPPABLE_HEADER_SIZE))
        return TRUE;
      self->left = lz4_frame_read_le32 (self->header + LZ4_FRAME_MAGIC_SIZE);
      enter (self, UNIT_SKIPPABLE);
      return TRUE;
    }

  if (magic != LZ4_FRAME_MAGIC)
    return fail_unknown_frame (self, magic, error);
  if (!gather_header (self, LZ4_FRAME_PREFIX_SIZE) ||
      !gather_header (self, lz4_frame_header_size (self->header)))
    return TRUE;
  return begin_frame (self, error);
}

/* No frame needs anything of those before it. */
static void
end_frame (DlpLz4Decoder *self)
{
  enter (self, UNIT_FRAME_HEADER);
  self->border = (DlpDecoderBorder){ self->io.position,
                                     self->io.decoded,
                                     { self->frames, self->unchecked_frames } };
}

static gboolean
skip_frame (DlpLz4Decoder *self)
{
  gsize n = MIN (self->left, decoder_io_in_left (&self->io));

  self->left -= n;
  decoder_io_use (&self->io, n);
  if (self->left == 0)
    end_frame (self);
  return TRUE;
}

static gboolean
fail_content_size (DlpLz4Decoder *self, guint64 size, GError **error)
{
  return fail_damaged (self, error,
                       "the frame holds %" G_GUINT64_FORMAT
                       " bytes, its header promised %" G_GUINT64_FORMAT,
                       size, self->frame.content_size);
}

static gboolean
end_blocks (DlpLz4Decoder *self, GError **error)
{
  if (self->frame.content_size != LZ4_CONTENT_SIZE_UNKNOWN &&
      self->frame.content_size != self->frame_decoded)
    return fail_content_size (self, self->frame_decoded, error);

  if (self->frame.has_checksum)
    enter (self, UNIT_CHECKSUM);
  else
    end_frame (self);
  return TRUE;
}

static gboolean
read_block_header (DlpLz4Decoder *self, GError **error)
{
  guint32 value, size;

  if (!gather_header (self, LZ4_BLOCK_HEADER_SIZE))
    return TRUE;
  value = lz4_frame_read_le32 (self->header);
  if (value == 0)
    return end_blocks (self, error);

  size = value & ~LZ4_BLOCK_STORED;
  if (size > self->frame.block_size_max)
    return fail_damaged (self, error, "a block of %u bytes, at most %u can be", size,
                         self->frame.block_size_max);

  /* Damage in the block is said to be where its header is: that is where to look. */
  self->unit = UNIT_BLOCK;
  self->is_stored = (value & LZ4_BLOCK_STORED) != 0;
  self->block_size = size + (self->frame.has_block_checksum ? LZ4_CHECKSUM_SIZE : 0);
  self->packed_size = 0;
  return TRUE;
}

/* To behind the history. -1: it does not hold. */
static int
unpack_block (DlpLz4Decoder *self, const guint8 *block, gsize size)
{
  guint8 *to = self->window + LZ4_HISTORY_SIZE;

  if (self->is_stored)
    {
      memcpy (to, block, size);
      return (int) size;
    }
  return LZ4_decompress_safe_usingDict ((const char *) block, (char *) to, (int) size,
                                        (int) self->frame.block_size_max,
                                        (const char *) to - self->history, (int) self->history);
}

static gboolean
decode_block (DlpLz4Decoder *self, const guint8 *block, GError **error)
{
  gsize size = self->block_size - (self->frame.has_block_checksum ? LZ4_CHECKSUM_SIZE : 0);
  guint64 end;
  int n;

  if (self->frame.has_block_checksum &&
      XXH32 (block, size, 0) != lz4_frame_read_le32 (block + size))
    return fail_damaged (self, error, "a block does not match its checksum");

  n = unpack_block (self, block, size);
  if (n < 0)
    return fail_damaged (self, error, "a block does not decode");
  end = self->frame_decoded + (guint64) n;
  if (end > self->frame.content_size)
    return fail_content_size (self, end, error);

  if (self->frame.has_checksum)
    XXH32_update (self->checksum, self->window + LZ4_HISTORY_SIZE, (gsize) n);
  self->frame_decoded = end;
  self->begin = 0;
  self->end = (gsize) n;
  self->unit = UNIT_OUTPUT;
  return TRUE;
}

/* Where the whole of it is in the input, it is decoded there. */
static gboolean
read_block (DlpLz4Decoder *self, GError **error)
{
  if (self->packed_size == 0 && decoder_io_in_left (&self->io) >= self->block_size)
    {
      const guint8 *block = decoder_io_in (&self->io);

      decoder_io_use (&self->io, self->block_size);
      return decode_block (self, block, error);
    }

  if (self->packed == NULL)
    self->packed = decoder_memory_alloc (&self->memory, self->buffer_size + LZ4_CHECKSUM_SIZE);
  if (self->packed == NULL)
    return fail_memory (self, error);
  if (!decoder_io_gather (&self->io, self->packed, &self->packed_size, self->block_size))
    return TRUE;
  return decode_block (self, self->packed, error);
}

/* The next block may refer to the end of this one, and to what was before it. */
static void
keep_history (DlpLz4Decoder *self)
{
  guint8 *block = self->window + LZ4_HISTORY_SIZE;

  if (!self->frame.is_linked)
    return;
  self->history = MIN (self->history + self->end, LZ4_HISTORY_SIZE);
  memmove (block - self->history, block + self->end - self->history, self->history);
}

static gboolean
give_out (DlpLz4Decoder *self)
{
  gsize n = MIN (self->end - self->begin, decoder_io_out_left (&self->io));

  if (n > 0)
    memcpy (decoder_io_out (&self->io), self->window + LZ4_HISTORY_SIZE + self->begin, n);
  decoder_io_write (&self->io, n);
  self->begin += n;
  if (self->begin < self->end)
    return TRUE;

  keep_history (self);
  enter (self, UNIT_BLOCK_HEADER);
  return TRUE;
}

static gboolean
read_checksum (DlpLz4Decoder *self, GError **error)
{
  if (!gather_header (self, LZ4_CHECKSUM_SIZE))
    return TRUE;
  if (lz4_frame_read_le32 (self->header) != XXH32_digest (self->checksum))
    return fail_damaged (self, error, "the frame's content does not match its checksum");
  end_frame (self);
  return TRUE;
}

static gboolean
read_unit (gpointer decoder, GError **error)
{
  DlpLz4Decoder *self = decoder;

  switch (self->unit)
    {
    case UNIT_FRAME_HEADER:
      return read_frame_header (self, error);

    case UNIT_SKIPPABLE:
      return skip_frame (self);

    case UNIT_BLOCK_HEADER:
      return read_block_header (self, error);

    case UNIT_BLOCK:
      return read_block (self, error);

    case UNIT_OUTPUT:
      return give_out (self);

    case UNIT_CHECKSUM:
      return read_checksum (self, error);

    default:
      g_assert_not_reached ();
    }
}

static gboolean
dlp_lz4_decoder_decode (DlpDecoder *decoder,
                        const guint8 *in,
                        gsize in_size,
                        gsize *in_used,
                        guint8 *out,
                        gsize out_size,
                        gsize *out_written,
                        GError **error)
{
  DlpLz4Decoder *self = DLP_LZ4_DECODER (decoder);

  decoder_io_begin (&self->io, in, in_size, out, out_size);
  return decoder_io_run (&self->io, &self->unit, read_unit, self, in_used, out_written, error);
}

static gboolean
dlp_lz4_decoder_finish (DlpDecoder *decoder, GError **error)
{
  DlpLz4Decoder *self = DLP_LZ4_DECODER (decoder);

  if (self->unit == UNIT_FRAME_HEADER && self->header_size == 0 && self->io.position > 0)
    return TRUE;

  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
               "lz4 stream cut at byte %" G_GUINT64_FORMAT " (frame from byte %" G_GUINT64_FORMAT
               ")",
               self->io.position, self->frame_start);
  return FALSE;
}

static const char *
dlp_lz4_decoder_get_warning (DlpDecoder *decoder)
{
  DlpLz4Decoder *self = DLP_LZ4_DECODER (decoder);

  if (self->unchecked_frames == 0)
    return NULL;

  g_free (self->warning);
  self->warning =
      g_strdup_printf ("no checksum in input: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                       " lz4 frames have none, damage in them can go unseen",
                       self->unchecked_frames, self->frames);
  return self->warning;
}

static void
dlp_lz4_decoder_limit_memory (DlpDecoder *decoder, gsize bytes, const char *folder)
{
  decoder_memory_set_limit (&DLP_LZ4_DECODER (decoder)->memory, bytes, folder);
}

static void
dlp_lz4_decoder_rest (DlpDecoder *decoder)
{
  decoder_memory_rest (&DLP_LZ4_DECODER (decoder)->memory);
}

static gboolean
dlp_lz4_decoder_get_border (DlpDecoder *decoder, DlpDecoderBorder *border)
{
  *border = DLP_LZ4_DECODER (decoder)->border;
  return border->raw > 0;
}

static void
dlp_lz4_decoder_go_to_border (DlpDecoder *decoder, const DlpDecoderBorder *border)
{
  DlpLz4Decoder *self = DLP_LZ4_DECODER (decoder);

  self->border = *border;
  self->io.position = self->unit_start = self->frame_start = border->raw;
  self->io.decoded = border->decoded;
  self->frames = border->counts[0];
  self->unchecked_frames = border->counts[1];
}

static gssize
measure_skippable (const guint8 *in, gsize size)
{
  gsize length;

  if (size < LZ4_SKIPPABLE_HEADER_SIZE)
    return 0;
  length = LZ4_SKIPPABLE_HEADER_SIZE + (gsize) lz4_frame_read_le32 (in + LZ4_FRAME_MAGIC_SIZE);
  return length <= size ? (gssize) length : 0;
}

/* Of all its blocks with the mark behind them, from the first one's header on. */
static gssize
measure_blocks (const guint8 *in, gsize size, const Lz4FrameHeader *frame)
{
  gsize checksum = frame->has_block_checksum ? LZ4_CHECKSUM_SIZE : 0;
  gsize length = 0;

  while (size - length >= LZ4_BLOCK_HEADER_SIZE)
    {
      guint32 value = lz4_frame_read_le32 (in + length);
      gsize stored = value & ~LZ4_BLOCK_STORED;

      length += LZ4_BLOCK_HEADER_SIZE;
      if (value == 0)
        return (gssize) length;
      if (stored > frame->block_size_max)
        return -1;
      if (size - length < stored + checksum)
        return 0;
      length += stored + checksum;
    }
  return 0;
}

static gssize
measure_frame (const guint8 *in, gsize size, Lz4FrameHeader *frame)
{
  g_autofree char *fault = NULL;
  gsize length, checksum;
  gssize blocks;

  if (size < LZ4_FRAME_PREFIX_SIZE)
    return 0;
  length = lz4_frame_header_size (in);
  if (size < length)
    return 0;
  fault = lz4_frame_parse_header (in, frame);
  if (fault != NULL)
    return -1;

  blocks = measure_blocks (in + length, size - length, frame);
  if (blocks <= 0)
    return blocks;
  length += (gsize) blocks;
  checksum = frame->has_checksum ? LZ4_CHECKSUM_SIZE : 0;
  return length + checksum <= size ? (gssize) (length + checksum) : 0;
}

static gssize
dlp_lz4_decoder_measure (DlpDecoder *decoder,
                         DlpDecoderBorder *border,
                         const guint8 *in,
                         gsize size)
{
  Lz4FrameHeader frame;
  guint32 magic;
  gssize length;

  if (size < LZ4_FRAME_MAGIC_SIZE)
    return 0;
  magic = lz4_frame_read_le32 (in);
  if (magic != LZ4_FRAME_MAGIC && !lz4_frame_is_skippable (magic))
    return -1;

  length =
      magic == LZ4_FRAME_MAGIC ? measure_frame (in, size, &frame) : measure_skippable (in, size);
  if (length <= 0)
    return length;
  border->raw += (guint64) length;
  if (magic == LZ4_FRAME_MAGIC)
    {
      border->counts[0]++;
      border->counts[1] += !frame.has_checksum && !frame.has_block_checksum;
    }
  return length;
}

static void
dlp_lz4_decoder_finalize (GObject *object)
{
  DlpLz4Decoder *self = DLP_LZ4_DECODER (object);

  free_buffers (self);
  XXH32_freeState (self->checksum);
  decoder_memory_clear (&self->memory);
  g_free (self->warning);

  G_OBJECT_CLASS (dlp_lz4_decoder_parent_class)->finalize (object);
}

static void
dlp_lz4_decoder_class_init (DlpLz4DecoderClass *klass)
{
  DlpDecoderClass *decoder_class = DLP_DECODER_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = dlp_lz4_decoder_finalize;
  decoder_class->decode = dlp_lz4_decoder_decode;
  decoder_class->finish = dlp_lz4_decoder_finish;
  decoder_class->get_warning = dlp_lz4_decoder_get_warning;
  decoder_class->limit_memory = dlp_lz4_decoder_limit_memory;
  decoder_class->rest = dlp_lz4_decoder_rest;
  decoder_class->get_border = dlp_lz4_decoder_get_border;
  decoder_class->go_to_border = dlp_lz4_decoder_go_to_border;
  decoder_class->measure = dlp_lz4_decoder_measure;
}

static void
dlp_lz4_decoder_init (DlpLz4Decoder *self)
{
  decoder_memory_init (&self->memory);
  self->checksum = XXH32_createState ();
  if (self->checksum == NULL)
    g_error ("not enough memory for an lz4 decoder");
}
