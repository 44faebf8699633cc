/* SPDX-License-Identifier: MIT */

#include "dlp-gzip-decoder.h"

#include <string.h>
#include <zlib.h>

#include <dlpipe/dlp-error.h>

/* zlib's own: the largest window, and a gzip header in front. */
#define GZIP_WINDOW_BITS (MAX_WBITS + 16)
#define MAGIC_SIZE 2

struct _DlpGzipDecoder
{
  DlpDecoder parent_instance;

  z_stream stream;
  gboolean has_stream;
  gboolean in_member;

  guint64 position;        /* compressed bytes consumed */
  guint64 decoded;         /* bytes given out */
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
begin_member (DlpGzipDecoder *self, GError **error)
{
  int code;

  if (self->has_stream)
    code = inflateReset (&self->stream);
  else
    code = inflateInit2 (&self->stream, GZIP_WINDOW_BITS);

  if (code != Z_OK)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "cannot begin to decode gzip: %s",
                   zError (code));
      return FALSE;
    }

  self->has_stream = TRUE;
  self->in_member = TRUE;
  self->member_start = self->position;
  return TRUE;
}

/* Between members: zero bytes are padding, all else must be the next member. */
static gsize
skip_padding (DlpGzipDecoder *self, const guint8 *in, gsize size)
{
  gsize n = 0;

  if (self->members > 0)
    while (n < size && in[n] == 0)
      n++;

  self->padding += n;
  self->position += n;
  return n;
}

static void
set_data_error (DlpGzipDecoder *self, int code, GError **error)
{
  const char *detail = self->stream.msg != NULL ? self->stream.msg : zError (code);
  guint64 in_member = self->position - self->member_start;

  if (code == Z_MEM_ERROR)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "not enough memory to decode gzip");
  else if (self->members > 0 && in_member <= MAGIC_SIZE)
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
                 "not gzip at byte %" G_GUINT64_FORMAT ", behind %" G_GUINT64_FORMAT
                 " complete members: trailing junk",
                 self->member_start, self->members);
  else if (strstr (detail, "data check") != NULL)
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
                 "gzip CRC-32 does not match the data, at byte %" G_GUINT64_FORMAT
                 " (member from byte %" G_GUINT64_FORMAT ")",
                 self->position, self->member_start);
  else if (strstr (detail, "length check") != NULL)
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
                 "gzip length does not match the data, at byte %" G_GUINT64_FORMAT
                 " (member from byte %" G_GUINT64_FORMAT ")",
                 self->position, self->member_start);
  else
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
                 "gzip data damaged at byte %" G_GUINT64_FORMAT
                 " (member from byte %" G_GUINT64_FORMAT "): %s",
                 self->position, self->member_start, detail);
}

/* zlib counts in uInt. */
static uInt
clamp_size (gsize size)
{
  return (uInt) MIN (size, G_MAXINT);
}

static gboolean
inflate_some (DlpGzipDecoder *self,
              const guint8 *in,
              gsize in_size,
              gsize *in_used,
              guint8 *out,
              gsize out_size,
              gsize *out_written,
              GError **error)
{
  uInt in_given = clamp_size (in_size), out_given = clamp_size (out_size);
  int code;

  self->stream.next_in = (Bytef *) in;
  self->stream.avail_in = in_given;
  self->stream.next_out = out;
  self->stream.avail_out = out_given;

  code = inflate (&self->stream, Z_NO_FLUSH);

  *in_used = in_given - self->stream.avail_in;
  *out_written = out_given - self->stream.avail_out;
  self->position += *in_used;
  self->decoded += *out_written;

  if (code == Z_STREAM_END)
    {
      self->in_member = FALSE;
      self->members++;
      self->border =
          (DlpDecoderBorder){ self->position, self->decoded, { self->members, self->padding } };
    }
  else if (code != Z_OK && code != Z_BUF_ERROR)
    {
      set_data_error (self, code, error);
      return FALSE;
    }

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

  *in_used = 0;
  *out_written = 0;

  for (;;)
    {
      gsize used = 0, written = 0;
      gboolean ok;

      if (!self->in_member)
        {
          *in_used += skip_padding (self, in + *in_used, in_size - *in_used);
          if (*in_used == in_size)
            return TRUE;
          if (!begin_member (self, error))
            return FALSE;
        }

      ok = inflate_some (self, in + *in_used, in_size - *in_used, &used, out + *out_written,
                         out_size - *out_written, &written, error);
      *in_used += used;
      *out_written += written;

      if (!ok)
        return FALSE;
      if (*out_written == out_size || (used == 0 && written == 0))
        return TRUE;
    }
}

static gboolean
dlp_gzip_decoder_finish (DlpDecoder *decoder, GError **error)
{
  DlpGzipDecoder *self = DLP_GZIP_DECODER (decoder);

  if (!self->in_member && self->members > 0)
    return TRUE;

  g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED,
               "gzip stream cut at byte %" G_GUINT64_FORMAT " (member from byte %" G_GUINT64_FORMAT
               ", %" G_GUINT64_FORMAT " complete before it)",
               self->position, self->member_start, self->members);
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
  self->position = self->member_start = border->raw;
  self->decoded = border->decoded;
  self->members = border->counts[0];
  self->padding = border->counts[1];
}

static void
dlp_gzip_decoder_finalize (GObject *object)
{
  DlpGzipDecoder *self = DLP_GZIP_DECODER (object);

  if (self->has_stream)
    inflateEnd (&self->stream);
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
  decoder_class->get_border = dlp_gzip_decoder_get_border;
  decoder_class->go_to_border = dlp_gzip_decoder_go_to_border;
}

static void
dlp_gzip_decoder_init (DlpGzipDecoder *self)
{
}
