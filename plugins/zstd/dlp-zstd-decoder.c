/* SPDX-License-Identifier: MIT */

#include "dlp-zstd-decoder.h"

#include <string.h>
/* For ZSTD_createDCtx_advanced(), which the shared library exports too. */
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>
#include <zstd_errors.h>

#include <dlpipe/dlp-error.h>

#include "decoder-memory.h"
#include "decoder-window.h"
#include "dlp-zstd-frame.h"

/* What the next bytes are. The library is given one of these units a call, never the end of one and
 * the beginning of the next: a call that fails does not say what it wrote before, and its short cut
 * for whole frames would make the bytes that are kept before a damage depend on how the input is
 * cut. */
typedef enum
{
  UNIT_FRAME_HEADER,
  UNIT_SKIPPABLE,
  UNIT_BLOCK_HEADER,
  UNIT_BLOCK,
  UNIT_CHECKSUM,
} Unit;

struct _DlpZstdDecoder
{
  DlpDecoder parent_instance;

  ZSTD_DCtx *context; /* NULL until the first byte is decoded */
  DecoderMemory memory;
  guint window_log_max;

  Unit unit;
  guint64
      left; /* of the unit, where its size is known: UNIT_SKIPPABLE, UNIT_BLOCK, UNIT_CHECKSUM */
  guint64 position;   /* compressed bytes consumed */
  guint64 unit_start; /* where the unit in hand begins */
  gsize last_return;  /* of ZSTD_decompressStream(): above 0 inside of a frame */
  gboolean flush;     /* the output was filled: the library may hold more */

  guint8 header[ZSTD_FRAME_HEADER_SIZE_MAX]; /* of the frame or block in hand */
  gsize header_size;
  ZstdFrameHeader frame;
  ZstdBlockHeader block;
  guint64 frame_start;
  guint64 frame_decoded; /* bytes of the frame given out */

  guint64 decoded; /* bytes given out, of all frames */
  guint64 frames;  /* those begun, without skippable ones */
  guint64 unchecked_frames;
  DlpDecoderBorder border; /* the end of the last frame */
  char *warning;
};

enum
{
  PROP_0,
  PROP_WINDOW_LOG_MAX,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

G_DEFINE_FINAL_TYPE (DlpZstdDecoder, dlp_zstd_decoder, DLP_TYPE_DECODER)

/* lz4 has the same skippable frames. As many bytes as are always there tell whose this is, where it
 * has at most the four that programs write into the first one. */
static gboolean
is_lz4 (const guint8 *head, gsize size)
{
  static const guint8 magic[ZSTD_FRAME_MAGIC_SIZE] = { 0x04, 0x22, 0x4d, 0x18 };
  guint32 skipped;

  if (size < ZSTD_SKIPPABLE_HEADER_SIZE)
    return FALSE;
  skipped = zstd_frame_read_le32 (head + ZSTD_FRAME_MAGIC_SIZE);
  return skipped <= 4 && size >= ZSTD_SKIPPABLE_HEADER_SIZE + skipped + sizeof magic &&
         memcmp (head + ZSTD_SKIPPABLE_HEADER_SIZE + skipped, magic, sizeof magic) == 0;
}

gboolean
dlp_zstd_decoder_match (const guint8 *head, gsize size)
{
  static const guint8 magic[ZSTD_FRAME_MAGIC_SIZE] = { 0x28, 0xb5, 0x2f, 0xfd };

  /* Two bytes of it are enough where the file has no more: it is cut, and not text. */
  if (size >= 2 && memcmp (head, magic, MIN (size, sizeof magic)) == 0)
    return TRUE;

  return size >= sizeof magic && zstd_frame_is_skippable (zstd_frame_read_le32 (head)) &&
         !is_lz4 (head, size);
}

static void
enter (DlpZstdDecoder *self, Unit unit, guint64 size)
{
  self->unit = unit;
  self->unit_start = self->position;
  self->left = size;
  self->header_size = 0;
}

static gboolean G_GNUC_PRINTF (3, 4)
    fail_damaged (DlpZstdDecoder *self, GError **error, const char *format, ...)
{
  g_autofree char *what = NULL;
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);

  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
               "zstd data damaged at byte %" G_GUINT64_FORMAT " (frame from byte %" G_GUINT64_FORMAT
               "): %s",
               self->unit_start, self->frame_start, what);
  return FALSE;
}

static gboolean
fail_library (DlpZstdDecoder *self, gsize code, GError **error)
{
  if (ZSTD_getErrorCode (code) != ZSTD_error_memory_allocation)
    return fail_damaged (self, error, "%s", ZSTD_getErrorName (code));

  g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED,
               "not enough memory for the zstd frame at byte %" G_GUINT64_FORMAT
               ": its window is %" G_GUINT64_FORMAT " MiB",
               self->frame_start, decoder_window_to_mib (self->frame.window_size));
  return FALSE;
}

/* Gives the library bytes of one unit; @in_used and @out_written count up. */
static gboolean
feed (DlpZstdDecoder *self,
      const guint8 *in,
      gsize in_size,
      gsize *in_used,
      guint8 *out,
      gsize out_size,
      gsize *out_written,
      GError **error)
{
  ZSTD_inBuffer input = { in, in_size, 0 };
  ZSTD_outBuffer output = { out, out_size, 0 };

  self->last_return = ZSTD_decompressStream (self->context, &output, &input);
  if (ZSTD_isError (self->last_return))
    return fail_library (self, self->last_return, error);

  *in_used += input.pos;
  *out_written += output.pos;
  self->frame_decoded += output.pos;
  self->decoded += output.pos;
  self->flush = out_size > 0 && output.pos == out_size && self->last_return > 0;

  return TRUE;
}

/* The same for a header, which is gathered first and writes nothing. */
static gboolean
feed_header (DlpZstdDecoder *self, gsize size, GError **error)
{
  guint8 nothing;
  gsize used = 0, written = 0;

  if (!feed (self, self->header, size, &used, &nothing, 0, &written, error))
    return FALSE;
  if (used != size)
    return fail_damaged (self, error, "a header of %" G_GSIZE_FORMAT " bytes was not accepted",
                         size);

  return TRUE;
}

static gboolean
begin_frame (DlpZstdDecoder *self, GError **error)
{
  gsize size = self->header_size;

  zstd_frame_parse_header (self->header, &self->frame);
  self->frame_decoded = 0;
  self->frames++;
  self->unchecked_frames += !self->frame.has_checksum;

  if (self->frame.dictionary != 0)
    return fail_damaged (self, error, "it needs the dictionary %u, and there is no way to give one",
                         self->frame.dictionary);
  if (!decoder_window_check (self->frame.window_size, self->window_log_max, "zstd frame",
                             self->frame_start, error) ||
      !feed_header (self, size, error))
    return FALSE;

  enter (self, UNIT_BLOCK_HEADER, 0);
  return TRUE;
}

static gboolean
fail_unknown_frame (DlpZstdDecoder *self, GError **error)
{
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
               "not a zstd frame at byte %" G_GUINT64_FORMAT
               " (it begins with %02x %02x %02x %02x), behind %" G_GUINT64_FORMAT " frames",
               self->unit_start, self->header[0], self->header[1], self->header[2], self->header[3],
               self->frames);
  return FALSE;
}

/* Takes bytes until the header in hand has @wanted. */
static gboolean
gather (DlpZstdDecoder *self, gsize wanted, const guint8 *in, gsize in_size, gsize *in_used)
{
  gsize n = MIN (wanted - MIN (wanted, self->header_size), in_size - *in_used);

  memcpy (self->header + self->header_size, in + *in_used, n);
  self->header_size += n;
  self->position += n;
  *in_used += n;

  return self->header_size >= wanted;
}

static gboolean
read_frame_header (DlpZstdDecoder *self,
                   const guint8 *in,
                   gsize in_size,
                   gsize *in_used,
                   GError **error)
{
  guint32 magic;

  self->frame_start = self->unit_start;

  if (!gather (self, ZSTD_FRAME_MAGIC_SIZE, in, in_size, in_used))
    return TRUE;

  magic = zstd_frame_read_le32 (self->header);
  if (zstd_frame_is_skippable (magic))
    {
      guint32 size;

      if (!gather (self, ZSTD_SKIPPABLE_HEADER_SIZE, in, in_size, in_used))
        return TRUE;
      size = zstd_frame_read_le32 (self->header + ZSTD_FRAME_MAGIC_SIZE);
      enter (self, size > 0 ? UNIT_SKIPPABLE : UNIT_FRAME_HEADER, size);
      return TRUE;
    }

  if (magic != ZSTD_FRAME_MAGIC)
    return fail_unknown_frame (self, error);

  if (!gather (self, ZSTD_FRAME_PREFIX_SIZE, in, in_size, in_used) ||
      !gather (self, zstd_frame_header_size (self->header), in, in_size, in_used))
    return TRUE;

  return begin_frame (self, error);
}

/* No frame needs anything of those before it. */
static void
note_border (DlpZstdDecoder *self)
{
  self->border =
      (DlpDecoderBorder){ self->position, self->decoded, { self->frames, self->unchecked_frames } };
}

static gboolean
end_frame (DlpZstdDecoder *self, GError **error)
{
  if (self->last_return > 0)
    return fail_damaged (self, error, "the frame should end here, and does not");

  enter (self, UNIT_FRAME_HEADER, 0);
  note_border (self);
  return TRUE;
}

static gboolean
end_block (DlpZstdDecoder *self, GError **error)
{
  if (!self->block.is_last)
    {
      enter (self, UNIT_BLOCK_HEADER, 0);
      return TRUE;
    }

  if (self->frame.content_size != ZSTD_CONTENT_SIZE_UNKNOWN &&
      self->frame.content_size != self->frame_decoded)
    return fail_damaged (self, error,
                         "the frame holds %" G_GUINT64_FORMAT
                         " bytes, its header promised %" G_GUINT64_FORMAT,
                         self->frame_decoded, self->frame.content_size);

  if (!self->frame.has_checksum)
    return end_frame (self, error);

  enter (self, UNIT_CHECKSUM, ZSTD_CHECKSUM_SIZE);
  return TRUE;
}

/* A block that is stored as it is comes out in pieces, so that what the library would find at its
 * end must be found before it begins. */
static gboolean
check_block (DlpZstdDecoder *self, GError **error)
{
  const ZstdBlockHeader *block = &self->block;
  guint64 size_max = MIN (self->frame.window_size, ZSTD_BLOCKSIZE_MAX);
  guint64 end = self->frame_decoded + block->size;

  if (block->type == ZSTD_BLOCK_RESERVED)
    return fail_damaged (self, error, "a block of an unknown type");
  if (block->size > size_max)
    return fail_damaged (self, error, "a block of %u bytes, at most %" G_GUINT64_FORMAT " can be",
                         block->size, size_max);
  if (block->type == ZSTD_BLOCK_COMPRESSED || self->frame.content_size == ZSTD_CONTENT_SIZE_UNKNOWN)
    return TRUE;
  if (block->is_last ? end != self->frame.content_size : end > self->frame.content_size)
    return fail_damaged (self, error,
                         "the frame holds %" G_GUINT64_FORMAT
                         " bytes, its header promised %" G_GUINT64_FORMAT,
                         end, self->frame.content_size);

  return TRUE;
}

static gboolean
read_block_header (DlpZstdDecoder *self,
                   const guint8 *in,
                   gsize in_size,
                   gsize *in_used,
                   GError **error)
{
  if (!gather (self, ZSTD_BLOCK_HEADER_SIZE, in, in_size, in_used))
    return TRUE;

  zstd_frame_parse_block_header (self->header, &self->block);
  if (!check_block (self, error) || !feed_header (self, ZSTD_BLOCK_HEADER_SIZE, error))
    return FALSE;

  /* Damage in the block is said to be where its header is: that is where to look. */
  if (self->block.stored_size == 0)
    return end_block (self, error);

  self->unit = UNIT_BLOCK;
  self->left = self->block.stored_size;
  return TRUE;
}

static gsize
take_left (DlpZstdDecoder *self, gsize size)
{
  gsize n = MIN (self->left, size);

  self->left -= n;
  self->position += n;
  return n;
}

/* A block or a checksum: the library's. */
static gboolean
read_body (DlpZstdDecoder *self,
           const guint8 *in,
           gsize in_size,
           gsize *in_used,
           guint8 *out,
           gsize out_size,
           gsize *out_written,
           GError **error)
{
  gsize used = 0;

  if (self->left > 0)
    {
      if (!feed (self, in + *in_used, MIN (self->left, in_size - *in_used), &used,
                 out + *out_written, out_size - *out_written, out_written, error))
        return FALSE;
      *in_used += take_left (self, used);
    }

  if (self->left > 0 || self->flush)
    return TRUE;

  return self->unit == UNIT_CHECKSUM ? end_frame (self, error) : end_block (self, error);
}

static gboolean
read_unit (DlpZstdDecoder *self,
           const guint8 *in,
           gsize in_size,
           gsize *in_used,
           guint8 *out,
           gsize out_size,
           gsize *out_written,
           GError **error)
{
  switch (self->unit)
    {
    case UNIT_FRAME_HEADER:
      return read_frame_header (self, in, in_size, in_used, error);

    case UNIT_SKIPPABLE:
      *in_used += take_left (self, in_size - *in_used);
      if (self->left > 0)
        return TRUE;
      enter (self, UNIT_FRAME_HEADER, 0);
      note_border (self);
      return TRUE;

    case UNIT_BLOCK_HEADER:
      return read_block_header (self, in, in_size, in_used, error);

    case UNIT_BLOCK:
    case UNIT_CHECKSUM:
      return read_body (self, in, in_size, in_used, out, out_size, out_written, error);

    default:
      g_assert_not_reached ();
    }
}

static gboolean
is_waiting_for_input (DlpZstdDecoder *self)
{
  return self->unit != UNIT_BLOCK || self->left > 0;
}

static void
create_context (DlpZstdDecoder *self)
{
  ZSTD_customMem memory = { decoder_memory_alloc, decoder_memory_free, &self->memory };

  self->context = ZSTD_createDCtx_advanced (memory);
  if (self->context == NULL)
    g_error ("not enough memory for a zstd decoder");
  ZSTD_DCtx_setParameter (self->context, ZSTD_d_windowLogMax, (int) self->window_log_max);
}

static gboolean
dlp_zstd_decoder_decode (DlpDecoder *decoder,
                         const guint8 *in,
                         gsize in_size,
                         gsize *in_used,
                         guint8 *out,
                         gsize out_size,
                         gsize *out_written,
                         GError **error)
{
  DlpZstdDecoder *self = DLP_ZSTD_DECODER (decoder);
  gsize none = 0;

  *in_used = 0;
  *out_written = 0;

  if (G_UNLIKELY (self->context == NULL))
    create_context (self);
  if (self->flush && !feed (self, NULL, 0, &none, out, out_size, out_written, error))
    return FALSE;

  while (*out_written < out_size)
    {
      if (*in_used == in_size && is_waiting_for_input (self))
        break;
      if (!read_unit (self, in, in_size, in_used, out, out_size, out_written, error))
        return FALSE;
    }

  return TRUE;
}

static gboolean
dlp_zstd_decoder_finish (DlpDecoder *decoder, GError **error)
{
  DlpZstdDecoder *self = DLP_ZSTD_DECODER (decoder);

  /* The library has no error for a cut frame, only a last return value above 0. */
  if (self->unit == UNIT_FRAME_HEADER && self->header_size == 0 && self->last_return == 0)
    return TRUE;

  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
               "zstd stream cut at byte %" G_GUINT64_FORMAT " (frame from byte %" G_GUINT64_FORMAT
               ")",
               self->position, self->frame_start);
  return FALSE;
}

static const char *
dlp_zstd_decoder_get_warning (DlpDecoder *decoder)
{
  DlpZstdDecoder *self = DLP_ZSTD_DECODER (decoder);

  if (self->unchecked_frames == 0)
    return NULL;

  g_free (self->warning);
  self->warning =
      g_strdup_printf ("no checksum in input: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                       " zstd frames have none, damage in them can go unseen",
                       self->unchecked_frames, self->frames);
  return self->warning;
}

static void
dlp_zstd_decoder_limit_memory (DlpDecoder *decoder, gsize bytes, const char *folder)
{
  decoder_memory_set_limit (&DLP_ZSTD_DECODER (decoder)->memory, bytes, folder);
}

static void
dlp_zstd_decoder_rest (DlpDecoder *decoder)
{
  decoder_memory_rest (&DLP_ZSTD_DECODER (decoder)->memory);
}

static gboolean
dlp_zstd_decoder_get_border (DlpDecoder *decoder, DlpDecoderBorder *border)
{
  *border = DLP_ZSTD_DECODER (decoder)->border;
  return border->raw > 0;
}

static void
dlp_zstd_decoder_go_to_border (DlpDecoder *decoder, const DlpDecoderBorder *border)
{
  DlpZstdDecoder *self = DLP_ZSTD_DECODER (decoder);

  self->border = *border;
  self->position = self->unit_start = self->frame_start = border->raw;
  self->decoded = border->decoded;
  self->frames = border->counts[0];
  self->unchecked_frames = border->counts[1];
}

static gssize
measure_skippable (const guint8 *in, gsize size)
{
  gsize length;

  if (size < ZSTD_SKIPPABLE_HEADER_SIZE)
    return 0;
  length = ZSTD_SKIPPABLE_HEADER_SIZE + (gsize) zstd_frame_read_le32 (in + ZSTD_FRAME_MAGIC_SIZE);
  return length <= size ? (gssize) length : 0;
}

/* Of all its blocks, from the first one's header on. */
static gssize
measure_blocks (const guint8 *in, gsize size)
{
  ZstdBlockHeader block = { 0 };
  gsize length = 0;

  while (!block.is_last)
    {
      if (size - length < ZSTD_BLOCK_HEADER_SIZE)
        return 0;
      zstd_frame_parse_block_header (in + length, &block);
      if (block.type == ZSTD_BLOCK_RESERVED)
        return -1;
      length += ZSTD_BLOCK_HEADER_SIZE;
      if (size - length < block.stored_size)
        return 0;
      length += block.stored_size;
    }
  return (gssize) length;
}

static gssize
measure_frame (const guint8 *in, gsize size, ZstdFrameHeader *frame)
{
  gsize length, checksum;
  gssize blocks;

  if (size < ZSTD_FRAME_PREFIX_SIZE)
    return 0;
  length = zstd_frame_header_size (in);
  if (size < length)
    return 0;
  zstd_frame_parse_header (in, frame);

  blocks = measure_blocks (in + length, size - length);
  if (blocks <= 0)
    return blocks;
  length += (gsize) blocks;
  checksum = frame->has_checksum ? ZSTD_CHECKSUM_SIZE : 0;
  return length + checksum <= size ? (gssize) (length + checksum) : 0;
}

static gssize
dlp_zstd_decoder_measure (DlpDecoder *decoder,
                          DlpDecoderBorder *border,
                          const guint8 *in,
                          gsize size)
{
  ZstdFrameHeader frame;
  guint32 magic;
  gssize length;

  if (size < ZSTD_FRAME_MAGIC_SIZE)
    return 0;
  magic = zstd_frame_read_le32 (in);
  if (magic != ZSTD_FRAME_MAGIC && !zstd_frame_is_skippable (magic))
    return -1;

  length =
      magic == ZSTD_FRAME_MAGIC ? measure_frame (in, size, &frame) : measure_skippable (in, size);
  if (length <= 0)
    return length;
  border->raw += (guint64) length;
  if (magic == ZSTD_FRAME_MAGIC)
    {
      border->counts[0]++;
      border->counts[1] += !frame.has_checksum;
    }
  return length;
}

static void
dlp_zstd_decoder_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  DlpZstdDecoder *self = DLP_ZSTD_DECODER (object);

  switch (id)
    {
    case PROP_WINDOW_LOG_MAX:
      self->window_log_max = g_value_get_uint (value);
      if (self->context != NULL)
        ZSTD_DCtx_setParameter (self->context, ZSTD_d_windowLogMax, (int) self->window_log_max);
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_zstd_decoder_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  DlpZstdDecoder *self = DLP_ZSTD_DECODER (object);

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
dlp_zstd_decoder_finalize (GObject *object)
{
  DlpZstdDecoder *self = DLP_ZSTD_DECODER (object);

  ZSTD_freeDCtx (self->context);
  decoder_memory_clear (&self->memory);
  g_free (self->warning);

  G_OBJECT_CLASS (dlp_zstd_decoder_parent_class)->finalize (object);
}

static void
dlp_zstd_decoder_class_init (DlpZstdDecoderClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  DlpDecoderClass *decoder_class = DLP_DECODER_CLASS (klass);

  object_class->set_property = dlp_zstd_decoder_set_property;
  object_class->get_property = dlp_zstd_decoder_get_property;
  object_class->finalize = dlp_zstd_decoder_finalize;
  decoder_class->decode = dlp_zstd_decoder_decode;
  decoder_class->finish = dlp_zstd_decoder_finish;
  decoder_class->get_warning = dlp_zstd_decoder_get_warning;
  decoder_class->limit_memory = dlp_zstd_decoder_limit_memory;
  decoder_class->rest = dlp_zstd_decoder_rest;
  decoder_class->get_border = dlp_zstd_decoder_get_border;
  decoder_class->go_to_border = dlp_zstd_decoder_go_to_border;
  decoder_class->measure = dlp_zstd_decoder_measure;

  /**
   * DlpZstdDecoder:window-log-max:
   *
   * The largest window that a frame may ask for, as a power of two.
   */
  properties[PROP_WINDOW_LOG_MAX] = decoder_window_new_pspec ();
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
dlp_zstd_decoder_init (DlpZstdDecoder *self)
{
  decoder_memory_init (&self->memory);
  self->window_log_max = DECODER_WINDOW_LOG_DEFAULT;
}
