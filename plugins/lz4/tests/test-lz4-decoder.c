/* SPDX-License-Identifier: MIT */

#include <lz4frame.h>
#include <string.h>

#include "codec-cases.h"
#include "dlp-lz4-decoder.h"

/* In pieces, so that there are several blocks. */
static void
append_frame (GByteArray *stream,
              const guint8 *data,
              gsize size,
              const LZ4F_preferences_t *preferences,
              gsize piece)
{
  guint start = stream->len;
  gsize n_pieces = size / piece + 1, n = 0, room;
  LZ4F_cctx *context;
  guint8 *to;

  room =
      LZ4F_HEADER_SIZE_MAX + (n_pieces + 1) * LZ4F_compressBound (MIN (size, piece), preferences);
  g_byte_array_set_size (stream, start + (guint) room);
  to = stream->data + start;

  g_assert_false (LZ4F_isError (LZ4F_createCompressionContext (&context, LZ4F_VERSION)));
  n = LZ4F_compressBegin (context, to, room, preferences);
  g_assert_false (LZ4F_isError (n));
  for (gsize i = 0; i < size; i += piece)
    {
      gsize more =
          LZ4F_compressUpdate (context, to + n, room - n, data + i, MIN (piece, size - i), NULL);

      g_assert_false (LZ4F_isError (more));
      n += more;
    }
  room = LZ4F_compressEnd (context, to + n, room - n, NULL);
  g_assert_false (LZ4F_isError (room));
  LZ4F_freeCompressionContext (context);
  g_byte_array_set_size (stream, start + (guint) (n + room));
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

static void
append (GByteArray *stream, GRand *rand, const guint8 *data, gsize size, gboolean is_checked)
{
  static const LZ4F_blockSizeID_t sizes[] = { LZ4F_max64KB, LZ4F_max256KB, LZ4F_max1MB,
                                              LZ4F_max4MB };
  gboolean of_blocks = is_checked && g_rand_boolean (rand);
  LZ4F_preferences_t preferences = {
    .frameInfo = {
      .blockSizeID = sizes[g_rand_int_range (rand, 0, 4)],
      .blockMode = g_rand_boolean (rand) ? LZ4F_blockLinked : LZ4F_blockIndependent,
      /* Of blocks alone would leave flips of their sizes to the content's size. */
      .contentChecksumFlag = is_checked ? LZ4F_contentChecksumEnabled : LZ4F_noContentChecksum,
      .contentSize = g_rand_boolean (rand) ? size : 0,
      .blockChecksumFlag = of_blocks ? LZ4F_blockChecksumEnabled : LZ4F_noBlockChecksum,
    },
    .compressionLevel = g_rand_int_range (rand, -3, 12),
    .autoFlush = g_rand_boolean (rand),
  };

  append_frame (stream, data, size, &preferences,
                preferences.autoFlush && size < 100000 ? 300 : 1 << 20);
}

static void
append_text (GByteArray *stream, const char *text, gboolean checksum, gboolean block_checksum)
{
  LZ4F_preferences_t preferences = {
    .frameInfo = { .contentChecksumFlag =
                       checksum ? LZ4F_contentChecksumEnabled : LZ4F_noContentChecksum,
                   .blockChecksumFlag =
                       block_checksum ? LZ4F_blockChecksumEnabled : LZ4F_noBlockChecksum },
  };

  append_frame (stream, (const guint8 *) text, strlen (text), &preferences, 65536);
}

static void
test_match (void)
{
  static const struct
  {
    const char *head;
    gsize size;
    gboolean matches;
  } heads[] = {
    { "\x04\x22\x4d\x18\x64", 5, TRUE },
    { "\x04\x22", 2, TRUE },
    { "\x04", 1, FALSE },
    { "\x04\x22\x4d\x19\x64", 5, FALSE },
    { "\x02\x21\x4c\x18", 4, TRUE },
    { "\x02\x21\x4c", 3, FALSE },
    { "\x50\x2a\x4d\x18\4\0\0\0wxyz\x04\x22\x4d\x18", 16, TRUE },
    { "\x5f\x2a\x4d\x18\0\0\0\0\x04\x22\x4d\x18", 12, TRUE },
    /* zstd's. */
    { "\x50\x2a\x4d\x18\4\0\0\0wxyz\x28\xb5\x2f\xfd", 16, FALSE },
    { "\x50\x2a\x4d\x18\5\0\0\0wxyz.\x04\x22\x4d\x18", 17, FALSE },
    { "\x50\x2a\x4d\x18\0\0\0\0", 8, FALSE },
    { "\x50\x2a\x4d\x18", 4, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (heads); i++)
    g_assert_cmpint (dlp_lz4_decoder_match ((const guint8 *) heads[i].head, heads[i].size), ==,
                     heads[i].matches);
}

static void
test_cases (void)
{
  codec_check_case ("l01-two-frames.jsonl.lz4", 0, CODEC_ONE CODEC_TWO CODEC_THREE, -1, NULL, NULL);
  codec_check_case ("l02-skippable.jsonl.lz4", 0, CODEC_ONE CODEC_TWO, -1, NULL, NULL);
  codec_check_case ("l03-trailing-zeros.jsonl.lz4", 0, CODEC_ONE CODEC_TWO, -1,
                    "l03-trailing-zeros.jsonl.lz4: not an lz4 frame at byte 68 (it begins with 00 "
                    "00 00 00), behind 2 frames",
                    NULL);
  codec_check_case ("l04-truncated.jsonl.lz4", 0, CODEC_ONE, -1,
                    "l04-truncated.jsonl.lz4: lz4 stream cut at byte 55 (frame from byte 34)",
                    NULL);
  codec_check_case ("l05-bad-checksum.jsonl.lz4", 0, CODEC_ONE, -1,
                    "lz4 data damaged at byte 30 (frame from byte 0): the frame's content does not "
                    "match its checksum",
                    NULL);
  codec_check_case ("l06-legacy.jsonl.lz4", 0, "", 0,
                    "an lz4 frame of the legacy format (lz4 -l) at byte 0: ", NULL);
  codec_check_case ("l07-no-checksum.jsonl.lz4", 0, CODEC_ONE, -1, NULL,
                    "no checksum in input: 1 of 1 lz4 frames have none, damage in them can go "
                    "unseen");
  codec_check_case ("l08-empty-frame.jsonl.lz4", 0, "", 0, NULL, NULL);
  codec_check_case ("l09-double.jsonl.lz4", 0, "", 0,
                    "the bytes decoded from lz4 are lz4: compressed twice?", NULL);
}

static void
check (const char *bytes, gsize size, const char *data, const char *message)
{
  codec_check_stream (DLP_TYPE_LZ4_DECODER, bytes, size, data, message, NULL);
}

/* The checksums of headers are those that the library writes and wants. */
static void
test_hand_made (void)
{
  check ("\x04\x22\x4d\x18\x64\x40\xa7\0\0\0\0\x05\x5d\xcc\x02", 15, "", NULL);
  check ("\x04\x22\x4d\x18\x64\x40\xa8\0\0\0\0\x05\x5d\xcc\x02", 15, "",
         "lz4 data damaged at byte 0 (frame from byte 0): the frame's header does not match its "
         "checksum");
  /* A stored block of four bytes, one of none, one that is too long. */
  check ("\x04\x22\x4d\x18\x64\x40\xa7\x04\0\0\x80"
         "abcd\0\0\0\0\x05\x37\x64\xa3",
         23, "abcd", NULL);
  check ("\x04\x22\x4d\x18\x64\x40\xa7\0\0\0\x80\0\0\0\0\x05\x5d\xcc\x02", 19, "", NULL);
  check ("\x04\x22\x4d\x18\x64\x40\xa7\x01\0\x01\x80", 11, "",
         "at byte 7 (frame from byte 0): a block of 65537 bytes, at most 65536 can be");
  /* It refers to what is before the first byte. */
  check ("\x04\x22\x4d\x18\x64\x40\xa7\x04\0\0\0\x10\x61\x09\0", 15, "",
         "at byte 7 (frame from byte 0): a block does not decode");
}

/* @flags and @block_size with a right checksum. */
static void
check_header (guint8 flags, guint8 block_size, const char *message)
{
  guint8 bytes[LZ4F_HEADER_SIZE_MAX] = { 0x04, 0x22, 0x4d, 0x18, flags, block_size, 1, 0, 0, 0 };
  gsize size = 6 + ((flags & 8) != 0 ? 8u : 0u) + ((flags & 1) != 0 ? 4u : 0u);

  /* One of 256 is right. */
  for (guint i = 0; i < 256; i++)
    {
      g_autoptr (CodecResult) result = NULL;

      bytes[size] = (guint8) i;
      result = codec_run (g_object_new (DLP_TYPE_LZ4_DECODER, NULL), bytes, size + 1, 3, 3);
      g_assert_nonnull (result->error);
      if (strstr (result->error->message, "does not match its checksum") != NULL)
        continue;
      codec_assert_result (result, "", 0, message);
      return;
    }
  g_assert_not_reached ();
}

static void
test_headers_refused (void)
{
  check_header (0x65, 0x40, "it needs the dictionary 1, and there is no way to give one");
  check_header (0x24, 0x40, "a frame of version 0, known is 1");
  check_header (0x66, 0x40, "the frame's header has flags 66 and a block size of 40");
  check_header (0x64, 0x30, "flags 64 and a block size of 30");
  check_header (0x64, 0xc0, "flags 64 and a block size of c0");
  check_header (0x64, 0x41, "flags 64 and a block size of 41");
  check_header (0x64, 0x70, "lz4 stream cut at byte 7 (frame from byte 0)");
}

static void
check_promise (gsize promised, const char *data, const char *message)
{
  g_autoptr (GByteArray) stream = g_byte_array_new ();
  LZ4F_preferences_t preferences = { .frameInfo = { .contentSize = strlen (CODEC_ONE),
                                                    .contentChecksumFlag = 1 } };

  append_frame (stream, (const guint8 *) CODEC_ONE, strlen (CODEC_ONE), &preferences, 65536);
  stream->data[6] = (guint8) promised;
  for (guint i = 0; i < 256; i++)
    {
      g_autoptr (CodecResult) result = NULL;

      stream->data[14] = (guint8) i;
      result =
          codec_run (g_object_new (DLP_TYPE_LZ4_DECODER, NULL), stream->data, stream->len, 7, 7);
      if (result->error != NULL &&
          strstr (result->error->message, "header does not match its checksum") != NULL)
        continue;
      codec_assert_result (result, data, -1, message);
      return;
    }
  g_assert_not_reached ();
}

static void
test_content_size (void)
{
  check_promise (strlen (CODEC_ONE), CODEC_ONE, NULL);
  check_promise (strlen (CODEC_ONE) - 1, "", "the frame holds 15 bytes, its header promised 14");
  check_promise (strlen (CODEC_ONE) + 1, CODEC_ONE,
                 "the frame holds 15 bytes, its header promised 16");
}

static void
test_checksums (void)
{
  g_autoptr (GByteArray) stream = g_byte_array_new ();

  append_text (stream, CODEC_ONE, TRUE, TRUE);
  append_text (stream, CODEC_TWO, FALSE, TRUE);
  codec_check_stream (DLP_TYPE_LZ4_DECODER, stream->data, stream->len, CODEC_ONE CODEC_TWO, NULL,
                      NULL);
  /* Behind the last block there is only the end. */
  stream->data[stream->len - 5]++;
  codec_check_stream (DLP_TYPE_LZ4_DECODER, stream->data, stream->len, CODEC_ONE,
                      "a block does not match its checksum", NULL);
  stream->data[stream->len - 5]--;
  append_text (stream, CODEC_THREE, FALSE, FALSE);
  codec_check_stream (DLP_TYPE_LZ4_DECODER, stream->data, stream->len,
                      CODEC_ONE CODEC_TWO CODEC_THREE, NULL,
                      "no checksum in input: 1 of 3 lz4 frames have none, damage in them can go "
                      "unseen");
}

static void
test_skippable (void)
{
  g_autoptr (GByteArray) stream = g_byte_array_new ();

  append_skippable (stream, 3, 0);
  append_skippable (stream, 15, 70000);
  append_skippable (stream, 0, 1);
  codec_check_stream (DLP_TYPE_LZ4_DECODER, stream->data, stream->len, "", NULL, NULL);
  codec_check_stream (DLP_TYPE_LZ4_DECODER, stream->data, stream->len - 1, "",
                      "lz4 stream cut at byte 70024", NULL);
  append_text (stream, CODEC_ONE, TRUE, FALSE);
  append_skippable (stream, 9, 100);
  append_text (stream, CODEC_TWO, TRUE, FALSE);
  codec_check_stream (DLP_TYPE_LZ4_DECODER, stream->data, stream->len, CODEC_ONE CODEC_TWO, NULL,
                      NULL);
}

/* Blocks that refer far back, across each other, and buffers that grow from frame to frame. */
static void
test_linked (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  g_autoptr (GByteArray) once = codec_make_text (rand, 60000), text = g_byte_array_new ();
  g_autoptr (GByteArray) stream = g_byte_array_new ();

  for (guint i = 0; i < 4; i++)
    {
      LZ4F_preferences_t preferences = {
        .frameInfo = { .blockSizeID = (LZ4F_blockSizeID_t) (i == 3 ? 4 : i + 4),
                       .contentChecksumFlag = 1 },
        .compressionLevel = 9,
        .autoFlush = 1,
      };

      guint start = text->len;

      for (guint j = 0; j < 10; j++)
        g_byte_array_append (text, once->data, once->len);
      append_frame (stream, text->data + start, text->len - start, &preferences, 1000);
    }
  g_assert_cmpuint (stream->len, <, text->len / 4);

  for (gsize in_chunk = 100; in_chunk < 10000000; in_chunk *= 30)
    {
      g_autoptr (CodecResult) result = codec_run (g_object_new (DLP_TYPE_LZ4_DECODER, NULL),
                                                  stream->data, stream->len, in_chunk, 10007);

      codec_assert_result (result, (const char *) text->data, text->len, NULL);
    }
}

int
main (int argc, char **argv)
{
  CodecKind kind;

  g_test_init (&argc, &argv, NULL);
  dlp_codec_register ("lz4", dlp_lz4_decoder_match, DLP_TYPE_LZ4_DECODER);
  kind = (CodecKind){ "lz4", DLP_TYPE_LZ4_DECODER, append };

  g_test_add_func ("/lz4/match", test_match);
  g_test_add_func ("/lz4/cases", test_cases);
  g_test_add_func ("/lz4/hand-made", test_hand_made);
  g_test_add_func ("/lz4/headers-refused", test_headers_refused);
  g_test_add_func ("/lz4/content-size", test_content_size);
  g_test_add_func ("/lz4/checksums", test_checksums);
  g_test_add_func ("/lz4/skippable", test_skippable);
  g_test_add_func ("/lz4/linked", test_linked);
  codec_add_tests (&kind);

  return g_test_run ();
}
