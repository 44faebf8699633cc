/* SPDX-License-Identifier: MIT */

#include "fixture-codecs.h"

#include <gio/gio.h>
#include <zstd.h>

#include <dlpipe/dlp-decoder.h>

#include "dlp-gzip-decoder.h"
#include "dlp-zstd-decoder.h"
#ifdef HAVE_XZ
#include <lzma.h>

#include "dlp-xz-decoder.h"
#endif
#ifdef HAVE_LZ4
#include <lz4frame.h>

#include "dlp-lz4-decoder.h"
#endif
#ifdef HAVE_BZIP2
#include <bzlib.h>

#include "dlp-bzip2-decoder.h"
#endif

static void
compress_gzip (GByteArray *out, const char *data, gsize size)
{
  g_autoptr (GZlibCompressor) compressor =
      g_zlib_compressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP, -1);
  g_autoptr (GOutputStream) memory = g_memory_output_stream_new_resizable ();
  g_autoptr (GOutputStream) stream =
      g_converter_output_stream_new (memory, G_CONVERTER (compressor));
  GMemoryOutputStream *bytes = G_MEMORY_OUTPUT_STREAM (memory);
  GError *error = NULL;

  g_output_stream_write_all (stream, data, size, NULL, NULL, &error);
  g_assert_no_error (error);
  g_output_stream_close (stream, NULL, &error);
  g_assert_no_error (error);
  g_byte_array_append (out, g_memory_output_stream_get_data (bytes),
                       (guint) g_memory_output_stream_get_data_size (bytes));
}

static void
compress_zstd (GByteArray *out, const char *data, gsize size)
{
  gsize bound = ZSTD_compressBound (size);
  g_autofree guint8 *buffer = g_malloc (bound);
  gsize n = ZSTD_compress (buffer, bound, data, size, 1);

  g_assert_false (ZSTD_isError (n));
  g_byte_array_append (out, buffer, (guint) n);
}

#ifdef HAVE_XZ
static void
compress_xz (GByteArray *out, const char *data, gsize size)
{
  gsize bound = lzma_stream_buffer_bound (size), n = 0;
  g_autofree guint8 *buffer = g_malloc (bound);

  g_assert_cmpint (lzma_easy_buffer_encode (0, LZMA_CHECK_CRC64, NULL, (const guint8 *) data, size,
                                            buffer, &n, bound),
                   ==, LZMA_OK);
  g_byte_array_append (out, buffer, (guint) n);
}
#endif

#ifdef HAVE_LZ4
static void
compress_lz4 (GByteArray *out, const char *data, gsize size)
{
  LZ4F_preferences_t preferences = {
    .frameInfo = { .contentChecksumFlag = LZ4F_contentChecksumEnabled },
  };
  gsize bound = LZ4F_compressFrameBound (size, &preferences), n;
  g_autofree guint8 *buffer = g_malloc (bound);

  n = LZ4F_compressFrame (buffer, bound, data, size, &preferences);
  g_assert_false (LZ4F_isError (n));
  g_byte_array_append (out, buffer, (guint) n);
}
#endif

#ifdef HAVE_BZIP2
static void
compress_bzip2 (GByteArray *out, const char *data, gsize size)
{
  guint n = (guint) (size + size / 100 + 600);
  g_autofree char *buffer = g_malloc (n);

  g_assert_cmpint (BZ2_bzBuffToBuffCompress (buffer, &n, (char *) data, (guint) size, 1, 0, 0), ==,
                   BZ_OK);
  g_byte_array_append (out, (const guint8 *) buffer, n);
}
#endif

void
fixture_codecs_register (void)
{
  dlp_codec_register ("gzip", dlp_gzip_decoder_match, DLP_TYPE_GZIP_DECODER);
  dlp_codec_register ("zstd", dlp_zstd_decoder_match, DLP_TYPE_ZSTD_DECODER);
#ifdef HAVE_XZ
  dlp_codec_register ("xz", dlp_xz_decoder_match, DLP_TYPE_XZ_DECODER);
#endif
#ifdef HAVE_LZ4
  dlp_codec_register ("lz4", dlp_lz4_decoder_match, DLP_TYPE_LZ4_DECODER);
#endif
#ifdef HAVE_BZIP2
  dlp_codec_register ("bzip2", dlp_bzip2_decoder_match, DLP_TYPE_BZIP2_DECODER);
#endif
}

FixtureCompress
fixture_codecs_find (const char *name)
{
  static const struct
  {
    const char *suffix;
    FixtureCompress compress;
  } codecs[] = {
    { ".gz", compress_gzip },   { ".zst", compress_zstd },
#ifdef HAVE_XZ
    { ".xz", compress_xz },
#endif
#ifdef HAVE_LZ4
    { ".lz4", compress_lz4 },
#endif
#ifdef HAVE_BZIP2
    { ".bz2", compress_bzip2 },
#endif
  };

  for (guint i = 0; i < G_N_ELEMENTS (codecs); i++)
    if (g_str_has_suffix (name, codecs[i].suffix))
      return codecs[i].compress;
  return NULL;
}
