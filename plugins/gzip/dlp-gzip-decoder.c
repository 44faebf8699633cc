/* SPDX-License-Identifier: MIT */

#include "dlp-gzip-decoder.h"

#include <string.h>

#include <dlpipe/dlp-error.h>

#include "decoder-io.h"
#include "dlp-gzip-crc.h"
#include "dlp-inflate.h"

#define MAGIC_SIZE 2
/* What is there of a header whatever its flags say. */
#define FIXED_HEADER_SIZE 10
#define METHOD_DEFLATE 8
/* With less memory the smaller of two buffers is used. */
#define LARGE_MEMORY (512 * 1024)
#define FLAG_HEADER_CRC 0x02
#define FLAG_EXTRA 0x04
#define FLAG_NAME 0x08
#define FLAG_COMMENT 0x10
#define FLAGS_RESERVED 0xe0

/* What of a member the next bytes are (RFC 1952). */
typedef enum
{
  PART_NONE, /* between members */
  PART_MAGIC,
  PART_FLAGS,
  PART_TIME,
  PART_SYSTEM,
  PART_EXTRA_SIZE,
  PART_EXTRA,
  PART_NAME,
  PART_COMMENT,
  PART_HEADER_CRC,
  PART_DATA,
  PART_CRC,
  PART_LENGTH,
} Part;

struct _DlpGzipDecoder
{
  DlpDecoder parent_instance;

  DecoderIo io;
  Inflate *inflate; /* NULL until there is a member */
  guint space;      /* what it is made with */

  guint part;      /* a Part */
  guint8 field[4]; /* the number in hand */
  gsize field_size;
  guint8 flags;
  guint extra;             /* bytes of it to come */
  guint32 crc;             /* of the header, then of the data */
  gboolean is_failed;      /* when all was given out, with the message of the data */
  guint64 member_start;    /* where the member in hand begins */
  guint64 members;         /* those complete */
  guint64 padding;         /* zero bytes between and behind members */
  DlpDecoderBorder border; /* the end of the last member */
  char *warning;
};

G_DEFINE_FINAL_TYPE (DlpGzipDecoder, dlp_gzip_decoder, DLP_TYPE_DECODER)

gboolean
dlp_gzip_decoder_match (const guint8 *head, gsize size)
{
  static const guint8 magic[MAGIC_SIZE] = { 0x1f, 0x8b };

  return size >= MAGIC_SIZE && memcmp (head, magic, MAGIC_SIZE) == 0;
}

static gboolean
fail (DlpGzipDecoder *self, const char *what, GError **error)
{
  guint64 in_member = self->io.position - self->member_start;

  if (self->members > 0 && in_member <= MAGIC_SIZE)
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
                 "not gzip at byte %" G_GUINT64_FORMAT ", behind %" G_GUINT64_FORMAT
                 " complete members: trailing junk",
                 self->member_start, self->members);
  else
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
                 "gzip data damaged at byte %" G_GUINT64_FORMAT
                 " (member from byte %" G_GUINT64_FORMAT "): %s",
                 self->io.position, self->member_start, what);
  return FALSE;
}

static gboolean
fail_check (DlpGzipDecoder *self, const char *what, GError **error)
{
  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
               "gzip %s does not match the data, at byte %" G_GUINT64_FORMAT
               " (member from byte %" G_GUINT64_FORMAT ")",
               what, self->io.position, self->member_start);
  return FALSE;
}

static void
enter (DlpGzipDecoder *self, Part part)
{
  self->part = part;
  self->field_size = 0;
}

/* ---- the header ---- */

/* Between members: zero bytes are padding, all else must be the next member. */
static void
begin_member (DlpGzipDecoder *self)
{
  if (self->members > 0)
    self->padding += decoder_io_skip_zeros (&self->io);
  if (decoder_io_in_left (&self->io) == 0)
    return;

  if (self->inflate == NULL)
    self->inflate = inflate_new (self->space);
  inflate_begin (self->inflate);
  self->member_start = self->io.position;
  self->crc = 0;
  enter (self, PART_MAGIC);
}

static gboolean
gather_field (DlpGzipDecoder *self, gsize size)
{
  return decoder_io_gather (&self->io, self->field, &self->field_size, size);
}

/* Bytes of the header count for its CRC, where it has one. */
static gboolean
gather_header_field (DlpGzipDecoder *self, gsize size)
{
  if (!gather_field (self, size))
    return FALSE;
  self->crc = gzip_crc (self->crc, self->field, size);
  return TRUE;
}

static gboolean
has (const DlpGzipDecoder *self, guint8 flag)
{
  return (self->flags & flag) != 0;
}

/* The next part of the header that there is, behind @part. */
static void
enter_next (DlpGzipDecoder *self, Part part)
{
  if (part < PART_EXTRA_SIZE && has (self, FLAG_EXTRA))
    enter (self, PART_EXTRA_SIZE);
  else if (part < PART_NAME && has (self, FLAG_NAME))
    enter (self, PART_NAME);
  else if (part < PART_COMMENT && has (self, FLAG_COMMENT))
    enter (self, PART_COMMENT);
  else if (part < PART_HEADER_CRC && has (self, FLAG_HEADER_CRC))
    enter (self, PART_HEADER_CRC);
  else
    {
      self->crc = 0;
      enter (self, PART_DATA);
    }
}

static gboolean
read_flags (DlpGzipDecoder *self, GError **error)
{
  if (!gather_header_field (self, 2))
    return TRUE;
  if (self->field[0] != METHOD_DEFLATE)
    return fail (self, "unknown compression method", error);
  if ((self->field[1] & FLAGS_RESERVED) != 0)
    return fail (self, "unknown header flags set", error);
  self->flags = self->field[1];
  enter (self, PART_TIME);
  return TRUE;
}

static void
read_extra (DlpGzipDecoder *self)
{
  gsize n = MIN (self->extra, decoder_io_in_left (&self->io));

  self->crc = gzip_crc (self->crc, decoder_io_in (&self->io), n);
  decoder_io_use (&self->io, n);
  self->extra -= (guint) n;
  if (self->extra == 0)
    enter_next (self, PART_EXTRA);
}

/* A name or a comment, up to a zero byte. */
static void
read_string (DlpGzipDecoder *self)
{
  const guint8 *in = decoder_io_in (&self->io);
  gsize left = decoder_io_in_left (&self->io);
  const guint8 *end = left > 0 ? memchr (in, 0, left) : NULL;
  gsize n = end != NULL ? (gsize) (end - in) + 1 : left;

  self->crc = gzip_crc (self->crc, in, n);
  decoder_io_use (&self->io, n);
  if (end != NULL)
    enter_next (self, self->part);
}

static guint32
field_value (const DlpGzipDecoder *self)
{
  return (guint32) self->field[0] | (guint32) self->field[1] << 8 | (guint32) self->field[2] << 16 |
         (guint32) self->field[3] << 24;
}

static gboolean
read_header (DlpGzipDecoder *self, GError **error)
{
  switch (self->part)
    {
    case PART_MAGIC:
      if (!gather_header_field (self, MAGIC_SIZE))
        return TRUE;
      if (!dlp_gzip_decoder_match (self->field, MAGIC_SIZE))
        return fail (self, "incorrect header check", error);
      enter (self, PART_FLAGS);
      return TRUE;

    case PART_FLAGS:
      return read_flags (self, error);

    case PART_TIME:
      if (gather_header_field (self, 4))
        enter (self, PART_SYSTEM);
      return TRUE;

    case PART_SYSTEM:
      if (gather_header_field (self, 2))
        enter_next (self, PART_SYSTEM);
      return TRUE;

    case PART_EXTRA_SIZE:
      if (!gather_header_field (self, 2))
        return TRUE;
      self->extra = field_value (self) & 0xffff;
      enter (self, PART_EXTRA);
      return TRUE;

    case PART_EXTRA:
      read_extra (self);
      return TRUE;

    case PART_NAME:
    case PART_COMMENT:
      read_string (self);
      return TRUE;

    case PART_HEADER_CRC:
      if (!gather_field (self, 2))
        return TRUE;
      if ((field_value (self) & 0xffff) != (self->crc & 0xffff))
        return fail (self, "header crc mismatch", error);
      enter_next (self, PART_HEADER_CRC);
      return TRUE;

    default:
      g_assert_not_reached ();
    }
}

/* ---- the data, and what follows ---- */

static gboolean
give_out (DlpGzipDecoder *self, GError **error)
{
  Inflate *inflate = self->inflate;
  gsize n = MIN (inflate->end - inflate->begin, decoder_io_out_left (&self->io));

  if (n > 0)
    memcpy (decoder_io_out (&self->io), inflate->data + inflate->begin, n);
  decoder_io_write (&self->io, n);
  inflate->begin += (guint) n;
  if (inflate->begin < inflate->end)
    return TRUE;

  if (self->is_failed)
    return fail (self, inflate->message, error);
  if (inflate->mode == INFLATE_DONE)
    enter (self, PART_CRC);
  return TRUE;
}

/* What was decoded before a damage comes out first. */
static gboolean
read_data (DlpGzipDecoder *self, GError **error)
{
  Inflate *inflate = self->inflate;
  gsize used;
  guint end;

  if (inflate->begin == inflate->end && !self->is_failed && inflate->mode != INFLATE_DONE)
    {
      if (inflate_is_short_of_room (inflate))
        inflate_make_room (inflate);
      end = inflate->end;
      self->is_failed = inflate_run (inflate, decoder_io_in (&self->io),
                                     decoder_io_in_left (&self->io), &used) == INFLATE_FAILED;
      decoder_io_use (&self->io, used);
      self->crc = gzip_crc (self->crc, inflate->data + end, inflate->end - end);
    }
  return give_out (self, error);
}

static gboolean
read_trailer (DlpGzipDecoder *self, GError **error)
{
  if (!gather_field (self, 4))
    return TRUE;
  if (self->part == PART_CRC)
    {
      if (field_value (self) != self->crc)
        return fail_check (self, "CRC-32", error);
      enter (self, PART_LENGTH);
      return TRUE;
    }

  if (field_value (self) != (guint32) self->inflate->produced)
    return fail_check (self, "length", error);
  self->members++;
  self->border =
      (DlpDecoderBorder){ self->io.position, self->io.decoded, { self->members, self->padding } };
  enter (self, PART_NONE);
  return TRUE;
}

static gboolean
read_part (gpointer decoder, GError **error)
{
  DlpGzipDecoder *self = decoder;

  if (self->part == PART_DATA)
    return read_data (self, error);
  if (self->part > PART_DATA)
    return read_trailer (self, error);
  if (self->part > PART_NONE)
    return read_header (self, error);

  begin_member (self);
  return TRUE;
}

static gboolean
dlp_gzip_decoder_decode (DlpDecoder *decoder,
                         const guint8 *in,
                         gsize in_size,
                         gsize *in_used,
                         guint8 *out,
                         gsize out_size,
                         gsize *out_written,
                         GError **error)
{
  DlpGzipDecoder *self = DLP_GZIP_DECODER (decoder);

  decoder_io_begin (&self->io, in, in_size, out, out_size);
  return decoder_io_run (&self->io, &self->part, read_part, self, in_used, out_written, error);
}

static gboolean
dlp_gzip_decoder_finish (DlpDecoder *decoder, GError **error)
{
  DlpGzipDecoder *self = DLP_GZIP_DECODER (decoder);

  if (self->part == PART_NONE && self->members > 0)
    return TRUE;

  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
               "gzip stream cut at byte %" G_GUINT64_FORMAT " (member from byte %" G_GUINT64_FORMAT
               ", %" G_GUINT64_FORMAT " complete before it)",
               self->io.position, self->member_start, self->members);
  return FALSE;
}

static const char *
dlp_gzip_decoder_get_warning (DlpDecoder *decoder)
{
  DlpGzipDecoder *self = DLP_GZIP_DECODER (decoder);

  if (self->padding == 0)
    return NULL;

  g_free (self->warning);
  self->warning = g_strdup_printf ("%" G_GUINT64_FORMAT " zero bytes between or behind the gzip "
                                   "members were ignored",
                                   self->padding);
  return self->warning;
}

static void
dlp_gzip_decoder_limit_memory (DlpDecoder *decoder, gsize bytes, const char *folder)
{
  if (bytes < LARGE_MEMORY)
    DLP_GZIP_DECODER (decoder)->space = INFLATE_SPACE_SIZE_SMALL;
}

static gboolean
dlp_gzip_decoder_get_border (DlpDecoder *decoder, DlpDecoderBorder *border)
{
  *border = DLP_GZIP_DECODER (decoder)->border;
  return border->raw > 0;
}

static void
dlp_gzip_decoder_go_to_border (DlpDecoder *decoder, const DlpDecoderBorder *border)
{
  DlpGzipDecoder *self = DLP_GZIP_DECODER (decoder);

  self->border = *border;
  self->io.position = self->member_start = border->raw;
  self->io.decoded = border->decoded;
  self->members = border->counts[0];
  self->padding = border->counts[1];
}

static guint
read_le16 (const guint8 *data)
{
  return data[0] | (guint) data[1] << 8;
}

/* Of BGZF (SAM specification, 4.1) alone, whose members say in a field of their headers how long
 * they are; others have to be decoded to know it. */
static gssize
dlp_gzip_decoder_measure (DlpDecoder *decoder,
                          DlpDecoderBorder *border,
                          const guint8 *in,
                          gsize size)
{
  gsize at = FIXED_HEADER_SIZE + 2, end;

  if (size < at)
    return 0;
  if (!dlp_gzip_decoder_match (in, size) || in[2] != METHOD_DEFLATE || in[3] != FLAG_EXTRA)
    return -1;
  end = at + read_le16 (in + FIXED_HEADER_SIZE);
  if (size < end)
    return 0;

  for (; end - at >= 4; at += 4 + read_le16 (in + at + 2))
    {
      gsize length;

      if (end - at - 4 < read_le16 (in + at + 2))
        return -1;
      if (in[at] != 'B' || in[at + 1] != 'C' || read_le16 (in + at + 2) != 2)
        continue;
      length = (gsize) read_le16 (in + at + 4) + 1;
      if (length < end)
        return -1;
      if (size < length)
        return 0;
      border->raw += length;
      border->counts[0]++;
      return (gssize) length;
    }
  return -1;
}

static void
dlp_gzip_decoder_finalize (GObject *object)
{
  DlpGzipDecoder *self = DLP_GZIP_DECODER (object);

  g_free (self->inflate);
  g_free (self->warning);

  G_OBJECT_CLASS (dlp_gzip_decoder_parent_class)->finalize (object);
}

static void
dlp_gzip_decoder_class_init (DlpGzipDecoderClass *klass)
{
  DlpDecoderClass *decoder_class = DLP_DECODER_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = dlp_gzip_decoder_finalize;
  decoder_class->decode = dlp_gzip_decoder_decode;
  decoder_class->finish = dlp_gzip_decoder_finish;
  decoder_class->get_warning = dlp_gzip_decoder_get_warning;
  decoder_class->limit_memory = dlp_gzip_decoder_limit_memory;
  decoder_class->get_border = dlp_gzip_decoder_get_border;
  decoder_class->go_to_border = dlp_gzip_decoder_go_to_border;
  decoder_class->measure = dlp_gzip_decoder_measure;
}

static void
dlp_gzip_decoder_init (DlpGzipDecoder *self)
{
  self->space = INFLATE_SPACE_SIZE;
}
