/* SPDX-License-Identifier: MIT */

#include <string.h>
#include <sys/resource.h>
#include <zstd.h>

#include <dlpipe/dlp-error.h>

#include "codec-cases.h"
#include "sanitized.h"
#include "dlp-zstd-decoder.h"

static DlpDecoder *
new_decoder (void)
{
  return g_object_new (DLP_TYPE_ZSTD_DECODER, NULL);
}

typedef struct
{
  int level;
  gboolean checksum, content_size;
  int window_log; /* 0: the level's */
  gsize flush_each;
} FrameOptions;

static void
append_frame (GByteArray *stream, const guint8 *data, gsize size, const FrameOptions *options)
{
  ZSTD_CCtx *context = ZSTD_createCCtx ();
  guint start = stream->len;
  ZSTD_outBuffer out;
  gsize position = 0, left;

  ZSTD_CCtx_setParameter (context, ZSTD_c_compressionLevel, options->level);
  ZSTD_CCtx_setParameter (context, ZSTD_c_checksumFlag, options->checksum);
  ZSTD_CCtx_setParameter (context, ZSTD_c_windowLog, options->window_log);
  if (options->content_size)
    ZSTD_CCtx_setPledgedSrcSize (context, size);

  g_byte_array_set_size (stream, start + (guint) ZSTD_compressBound (size) + (guint) size + 1024);
  out = (ZSTD_outBuffer){ stream->data + start, stream->len - start, 0 };

  do
    {
      gsize n =
          options->flush_each > 0 ? MIN (options->flush_each, size - position) : size - position;
      ZSTD_inBuffer in = { data + position, n, 0 };
      ZSTD_EndDirective end = position + n == size ? ZSTD_e_end : ZSTD_e_flush;

      left = ZSTD_compressStream2 (context, &out, &in, end);
      g_assert_false (ZSTD_isError (left));
      g_assert_cmpuint (left, ==, 0);
      position += n;
    }
  while (position < size);

  g_byte_array_set_size (stream, start + (guint) out.pos);
  ZSTD_freeCCtx (context);
}

static void
append_text_frame (GByteArray *stream, const char *text, gboolean checksum)
{
  FrameOptions options = { .level = 3, .checksum = checksum };

  append_frame (stream, (const guint8 *) text, strlen (text), &options);
}

static void
append_skippable (GByteArray *stream, guint8 variant, gsize size)
{
  guint8 header[8] = { (guint8) (0x50 + variant), 0x2a, 0x4d, 0x18 };

  for (guint i = 0; i < 4; i++)
    header[4 + i] = (guint8) (size >> (8 * i));
  g_byte_array_append (stream, header, sizeof header);
  for (gsize i = 0; i < size; i++)
    g_byte_array_append (stream, (const guint8 *) "s", 1);
}

static GByteArray *
make_frames (GRand *rand, GByteArray *text, gboolean checksum, GArray *ends)
{
  GByteArray *stream = g_byte_array_new ();
  gsize position = 0;

  while (position < text->len)
    {
      gsize n = (gsize) g_rand_int_range (rand, 0, 1 + (gint32) (text->len / 2));
      FrameOptions options = { .level = g_rand_int_range (rand, -3, 12),
                               .checksum = checksum,
                               .content_size = g_rand_boolean (rand),
                               .window_log = g_rand_boolean (rand) ? 10 : 0,
                               .flush_each = (gsize) (g_rand_boolean (rand) ? 0 : 400) };

      if (g_rand_int_range (rand, 0, 4) == 0)
        {
          guint8 variant = (guint8) g_rand_int_range (rand, 0, 16);
          gsize size = (gsize) g_rand_int_range (rand, 0, 20);

          append_skippable (stream, variant, size);
          g_array_append_val (ends, stream->len);
        }

      n = MIN (n, text->len - position);
      append_frame (stream, text->data + position, n, &options);
      position += n;
      g_array_append_val (ends, stream->len);
    }

  return stream;
}

static void
test_match (void)
{
  g_assert_true (dlp_zstd_decoder_match ((const guint8 *) "\x28\xb5\x2f\xfd\x04", 5));
  g_assert_true (dlp_zstd_decoder_match ((const guint8 *) "\x28\xb5\x2f\xfd", 4));
  g_assert_true (dlp_zstd_decoder_match ((const guint8 *) "\x28\xb5\x2f", 3));
  g_assert_true (dlp_zstd_decoder_match ((const guint8 *) "\x5f\x2a\x4d\x18", 4));
  g_assert_true (
      dlp_zstd_decoder_match ((const guint8 *) "\x50\x2a\x4d\x18\4\0\0\0wxyz\x28\xb5\x2f\xfd", 16));
  g_assert_true (dlp_zstd_decoder_match (
      (const guint8 *) "\x50\x2a\x4d\x18\5\0\0\0wxyz.\x04\x22\x4d\x18", 17));
  g_assert_false (
      dlp_zstd_decoder_match ((const guint8 *) "\x50\x2a\x4d\x18\4\0\0\0wxyz\x04\x22\x4d\x18", 16));
  g_assert_false (dlp_zstd_decoder_match ((const guint8 *) "(", 1));
  g_assert_false (dlp_zstd_decoder_match ((const guint8 *) "P*M", 3));
  g_assert_false (dlp_zstd_decoder_match ((const guint8 *) "\x28\xb5\x2f\xfc\x04", 5));
  g_assert_false (dlp_zstd_decoder_match ((const guint8 *) "\x60\x2a\x4d\x18", 4));
}

static void
test_cases (void)
{
  codec_check_case ("z01-two-frames.jsonl.zst", 0, CODEC_ONE CODEC_TWO CODEC_THREE, -1, NULL, NULL);
  codec_check_case ("z02-skippable.jsonl.zst", 0, CODEC_ONE CODEC_TWO CODEC_THREE, -1, NULL, NULL);
  codec_check_case ("z04-truncated-frame.jsonl.zst", 0, "", 0,
                    "z04-truncated-frame.jsonl.zst: zstd stream cut at byte 8660 (frame from "
                    "byte 0)",
                    NULL);
  codec_check_case ("z06-trailing-zeros.jsonl.zst", 0, CODEC_ONE CODEC_TWO, -1,
                    "not a zstd frame at byte 40 (it begins with 00 00 00 00)", NULL);
  codec_check_case ("z09-no-checksum.jsonl.zst", 0, CODEC_ONE CODEC_TWO, -1, NULL,
                    "no checksum in input: 1 of 1 zstd frames have none, damage in them can go "
                    "unseen");
}

static void
test_case_zero_bytes (void)
{
  codec_check_case ("z10-zero-bytes.jsonl.zst", 0, "", 0, NULL,
                    "an empty file, though its name says zstd");
}

static void
test_case_window (void)
{
  codec_check_case ("z08-window-2GiB.jsonl.zst", 0, "", 0,
                    "z08-window-2GiB.jsonl.zst: the zstd frame at byte 0 needs a window of "
                    "2048 MiB; the limit is 128 MiB (window-log-max=27); window-log-max=31 "
                    "allows it",
                    NULL);
  codec_check_case ("z08-window-2GiB.jsonl.zst", 30, "", 0, "(window-log-max=30)", NULL);
}

static long
max_rss_kib (void)
{
  struct rusage usage;

  g_assert_cmpint (getrusage (RUSAGE_SELF, &usage), ==, 0);
  return usage.ru_maxrss;
}

/* The header of 40 bytes of data asks for 2 GiB. */
static void
test_case_window_allowed (void)
{
  g_autoptr (CodecResult) result = NULL;
  long before = max_rss_kib ();

  result = codec_run_case ("z08-window-2GiB.jsonl.zst", 31, 0, 65536);
  codec_assert_result (result, CODEC_ONE CODEC_TWO, -1, NULL);

  if (!SANITIZED)
    g_assert_cmpint (max_rss_kib () - before, <, 8 * 1024);
}

static gboolean
is_end (GArray *ends, guint length)
{
  for (guint i = 0; i < ends->len; i++)
    if (g_array_index (ends, guint, i) == length)
      return TRUE;

  return FALSE;
}

static void
check_truncation (guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (GByteArray) text = codec_make_text (rand, 5000);
  g_autoptr (GArray) ends = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr (GByteArray) stream = make_frames (rand, text, seed % 2 == 0, ends);

  for (guint length = 1; length <= stream->len; length++)
    {
      g_autofree char *message =
          g_strdup_printf ("zstd stream cut at byte %u (frame from byte ", length);
      g_autoptr (CodecResult) whole =
          codec_run (new_decoder (), stream->data, length, length, 65536);
      g_autoptr (CodecResult) pieces = codec_run (new_decoder (), stream->data, length, 7, 3);

      g_assert_cmpuint (whole->data->len, <=, text->len);
      codec_assert_equal (pieces, whole);
      codec_assert_result (whole, (const char *) text->data, whole->data->len,
                           is_end (ends, length) ? NULL : message);
    }
}

static void
test_truncation (void)
{
  for (guint32 seed = 0; seed < 4; seed++)
    check_truncation (seed);
}

static void
check_bit_flips (gboolean checksum)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (2);
  guint rounds = codec_scaled (60);

  for (guint i = 0; i < rounds; i++)
    {
      g_autoptr (GByteArray) text =
          codec_make_text (rand, (gsize) g_rand_int_range (rand, 1, 4000));
      g_autoptr (GArray) ends = g_array_new (FALSE, FALSE, sizeof (guint));
      g_autoptr (GByteArray) stream = make_frames (rand, text, checksum, ends);

      for (guint j = 0; j < 25; j++)
        codec_check_flip (DLP_TYPE_ZSTD_DECODER, rand, text, stream, checksum);
    }
}

static void
test_bit_flips (void)
{
  check_bit_flips (TRUE);
}

static void
test_bit_flips_without_checksum (void)
{
  check_bit_flips (FALSE);
}

/* Those without an error are of a frame without a checksum, which is warned of. */
static void
check_stream (const char *bytes, gsize size, const char *data, const char *message)
{
  g_autoptr (CodecResult) whole =
      codec_run (new_decoder (), (const guint8 *) bytes, size, size, 4096);
  g_autoptr (CodecResult) pieces = codec_run (new_decoder (), (const guint8 *) bytes, size, 1, 1);

  codec_assert_equal (pieces, whole);
  codec_assert_result (whole, data, -1, message);
}

static void
test_hand_made (void)
{
  /* A frame with a content size of 4, and a last raw block. */
  check_stream ("\x28\xb5\x2f\xfd\x20\x04\x21\x00\x00"
                "abcd",
                13, "abcd", NULL);
  check_stream ("\x28\xb5\x2f\xfd\x20\x05\x21\x00\x00"
                "abcd",
                13, "", "the frame holds 4 bytes, its header promised 5");
  check_stream ("\x28\xb5\x2f\xfd\x20\x03\x21\x00\x00"
                "abcd",
                13, "", "zstd data damaged at byte 6 (frame from byte 0): ");
  check_stream ("\x28\xb5\x2f\xfd\x20\x04\x01\x00\x00", 9, "", "its header promised 4");
  /* Two bytes, and a last block that is empty and says it is compressed. */
  check_stream ("\x28\xb5\x2f\xfd\x20\x04\x12\x00\x00"
                "a\x05\x00\x00",
                13, "aa", "the frame holds 2 bytes, its header promised 4");
  /* Four times one byte. */
  check_stream ("\x28\xb5\x2f\xfd\x20\x04\x23\x00\x00"
                "a",
                10, "aaaa", NULL);
  check_stream ("\x28\xb5\x2f\xfd\x20\x00\x01\x00\x00", 9, "", NULL);
  check_stream ("\x28\xb5\x2f\xfd\x20\x04\x27\x00\x00"
                "abcd",
                13, "", "a block of an unknown type");
  check_stream ("\x28\xb5\x2f\xfd\x00\x00\x83\x3e\x00"
                "a",
                10, "", "a block of 2000 bytes, at most 1024 can be");
}

static void
test_headers_refused (void)
{
  check_stream ("\x28\xb5\x2f\xfd\x21\x07\x04", 7, "", "it needs the dictionary 7");
  check_stream ("\x28\xb5\x2f\xfd\x28\x04\x21\x00\x00", 9, "", "zstd data damaged at byte 0");
  check_stream ("\x28\xb5\x2f\xfd\x00\xb0", 6, "",
                "needs a window of 4096 MiB; the limit is 128 MiB (window-log-max=27); no zstd "
                "decoder allows more than 31");
  check_stream ("\x28\xb5\x2f\xfd\x00\x89", 6, "",
                "needs a window of 144 MiB; the limit is 128 MiB");
  check_stream ("\x28\xb5\x2f\xfd\xe0\xff\xff\xff\xff\xff\xff\xff\x7f", 13, "",
                "no zstd decoder allows more than 31");
}

static void
test_skippable_only (void)
{
  g_autoptr (GByteArray) stream = g_byte_array_new ();

  append_skippable (stream, 3, 0);
  append_skippable (stream, 15, 70000);
  append_skippable (stream, 0, 1);
  check_stream ((const char *) stream->data, stream->len, "", NULL);
  check_stream ((const char *) stream->data, stream->len - 1, "", "zstd stream cut at byte 70024");
}

static void
test_warning_counts (void)
{
  g_autoptr (GByteArray) stream = g_byte_array_new ();
  g_autoptr (CodecResult) result = NULL;

  append_text_frame (stream, CODEC_ONE, TRUE);
  append_text_frame (stream, CODEC_TWO, FALSE);
  append_text_frame (stream, CODEC_THREE, TRUE);

  result = codec_run (new_decoder (), stream->data, stream->len, 5, 5);
  codec_assert_result (result, CODEC_ONE CODEC_TWO CODEC_THREE, -1, NULL);
  g_assert_nonnull (strstr (result->warning, "1 of 3 zstd frames"));
}

static void
test_checksum (void)
{
  g_autoptr (GByteArray) stream = g_byte_array_new ();

  append_text_frame (stream, CODEC_ONE, TRUE);
  append_text_frame (stream, CODEC_TWO, TRUE);
  stream->data[stream->len - 2]++;
  check_stream ((const char *) stream->data, stream->len, CODEC_ONE CODEC_TWO,
                "doesn't match checksum");
}

/* 300 frames, 5 MB decoded, in each of several read sizes: the offsets pass 2^16 and 2^20. */
static void
test_many_frames (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  g_autoptr (GByteArray) text = codec_make_text (rand, 5000000), stream = g_byte_array_new ();

  for (guint i = 0; i < 300; i++)
    {
      FrameOptions options = { .level = 1, .checksum = TRUE, .content_size = i % 2 == 0 };
      gsize start = (gsize) text->len * i / 300, end = (gsize) text->len * (i + 1) / 300;

      append_frame (stream, text->data + start, end - start, &options);
    }

  for (gsize in_chunk = 1000; in_chunk < 10000000; in_chunk *= 9)
    {
      g_autoptr (CodecResult) result =
          codec_run (new_decoder (), stream->data, stream->len, in_chunk, 50000);

      codec_assert_result (result, (const char *) text->data, text->len, NULL);
    }
}

/* 64 MiB of zeros: what the decoder holds comes out without any input. */
static void
test_expansion (void)
{
  gsize size = 64 * 1024 * 1024, decoded = 0, in_used, written;
  g_autofree guint8 *zeros = g_malloc0 (size), *out = g_malloc (1000);
  FrameOptions options = { .level = 1, .checksum = TRUE };
  g_autoptr (GByteArray) stream = g_byte_array_new ();
  g_autoptr (DlpDecoder) decoder = new_decoder ();
  g_autoptr (GError) error = NULL;
  const guint8 *in;
  gsize left;

  append_frame (stream, zeros, size, &options);
  for (in = stream->data, left = stream->len; decoded < size; in += in_used, left -= in_used)
    {
      g_assert_true (DLP_DECODER_GET_CLASS (decoder)->decode (decoder, in, left, &in_used, out,
                                                              1000, &written, &error));
      g_assert_true (in_used > 0 || written > 0);
      decoded += written;
    }
  g_assert_cmpuint (decoded, ==, size);
}

static void
test_offset (void)
{
  g_autofree char *path = codec_case_path ("z02-skippable.jsonl.zst");
  const char *all = CODEC_ONE CODEC_TWO CODEC_THREE;

  for (guint offset = 0; offset <= strlen (all); offset++)
    {
      g_autoptr (CodecResult) result = codec_run_path (path, offset, 0, 7, 5);

      codec_assert_result (result, all + offset, -1, NULL);
    }
}

/* Whatever is between frames, and where the last one is cut too. A skippable frame of nothing but
 * its header is passed over together with what follows. */
static void
test_borders (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (9);

  for (guint i = 0; i < codec_scaled (20); i++)
    {
      g_autoptr (GByteArray) text = codec_make_text (rand, 3000);
      g_autoptr (GArray) ends = g_array_new (FALSE, FALSE, sizeof (guint));
      g_autoptr (GByteArray) stream = make_frames (rand, text, i % 2 == 0, ends);
      gsize cut = i % 3 == 0 ? 0 : g_rand_int_range (rand, 1, 40);
      guint n_ends = 0;

      for (guint k = 0, before = 0; k < ends->len; before = g_array_index (ends, guint, k++))
        n_ends += g_array_index (ends, guint, k) - before > 8;
      append_text_frame (stream, CODEC_ONE, FALSE);
      g_assert_cmpuint (
          codec_check_borders (DLP_TYPE_ZSTD_DECODER, stream->data, stream->len - MIN (cut, 5)), >=,
          n_ends);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  dlp_codec_register ("zstd", dlp_zstd_decoder_match, DLP_TYPE_ZSTD_DECODER);

  g_test_add_func ("/zstd/match", test_match);
  g_test_add_func ("/zstd/case-window-allowed", test_case_window_allowed);
  g_test_add_func ("/zstd/cases", test_cases);
  g_test_add_func ("/zstd/case-zero-bytes", test_case_zero_bytes);
  g_test_add_func ("/zstd/case-window", test_case_window);
  g_test_add_func ("/zstd/truncation", test_truncation);
  g_test_add_func ("/zstd/bit-flips", test_bit_flips);
  g_test_add_func ("/zstd/bit-flips-without-checksum", test_bit_flips_without_checksum);
  g_test_add_func ("/zstd/hand-made", test_hand_made);
  g_test_add_func ("/zstd/headers-refused", test_headers_refused);
  g_test_add_func ("/zstd/skippable-only", test_skippable_only);
  g_test_add_func ("/zstd/warning-counts", test_warning_counts);
  g_test_add_func ("/zstd/checksum", test_checksum);
  g_test_add_func ("/zstd/many-frames", test_many_frames);
  g_test_add_func ("/zstd/expansion", test_expansion);
  g_test_add_func ("/zstd/offset", test_offset);
  g_test_add_func ("/zstd/borders", test_borders);

  return g_test_run ();
}
