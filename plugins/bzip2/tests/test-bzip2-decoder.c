/* SPDX-License-Identifier: MIT */

#include <bzlib.h>
#include <string.h>

#include "codec-cases.h"
#include "dlp-bzip2-decoder.h"

static void
append (GByteArray *stream, GRand *rand, const guint8 *data, gsize size, gboolean is_checked)
{
  guint start = stream->len, n = (guint) (size + size / 50 + 1000);

  g_byte_array_set_size (stream, start + n);
  g_assert_cmpint (
      BZ2_bzBuffToBuffCompress ((char *) stream->data + start, &n, (char *) data, (guint) size,
                                rand != NULL ? g_rand_int_range (rand, 1, 10) : 9, 0, 0),
      ==, BZ_OK);
  g_byte_array_set_size (stream, start + n);
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
    { "BZh91AY&SY...", 13, TRUE },
    { "BZh1\x17\x72\x45\x38\x50\x90", 10, TRUE },
    { "BZh91AY", 7, TRUE },
    { "BZh9", 4, TRUE },
    { "BZh", 3, FALSE },
    { "BZh0", 4, FALSE },
    { "BZh9 is a header", 16, FALSE },
    { "BZh9\n", 5, FALSE },
    { "BZh91AY&SZ", 10, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (heads); i++)
    g_assert_cmpint (dlp_bzip2_decoder_match ((const guint8 *) heads[i].head, heads[i].size), ==,
                     heads[i].matches);
}

static void
test_cases (void)
{
  codec_check_case ("b01-two-streams.jsonl.bz2", 0, CODEC_ONE CODEC_TWO CODEC_THREE, -1, NULL,
                    NULL);
  codec_check_case ("b02-trailing-zeros.jsonl.bz2", 0, CODEC_ONE CODEC_TWO CODEC_THREE, -1, NULL,
                    "512 zero bytes between or behind the bzip2 streams were ignored");
  codec_check_case (
      "b03-bad-crc.jsonl.bz2", 0, "", 0,
      "b03-bad-crc.jsonl.bz2: bzip2 data damaged at byte 4 (stream from byte 0): ", NULL);
  codec_check_case ("b04-empty-stream.jsonl.bz2", 0, "", 0, NULL, NULL);
  codec_check_case ("b05-truncated.jsonl.bz2", 0, CODEC_ONE, -1,
                    "b05-truncated.jsonl.bz2: bzip2 stream cut at byte 100 (stream from byte 54, 1 "
                    "complete before it)",
                    NULL);
  codec_check_case ("b06-double.jsonl.bz2", 0, "", 0,
                    "the bytes decoded from bzip2 are bzip2: compressed twice?", NULL);
}

static void
check_tail (gconstpointer tail, gsize size, const char *message, const char *warning)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  g_autoptr (GByteArray) stream = g_byte_array_new ();

  append (stream, rand, (const guint8 *) CODEC_ONE, strlen (CODEC_ONE), TRUE);
  g_assert_cmpuint (stream->len, ==, 54);
  g_byte_array_append (stream, tail, (guint) size);
  codec_check_stream (DLP_TYPE_BZIP2_DECODER, stream->data, stream->len, CODEC_ONE, message,
                      warning);
}

static void
test_tail (void)
{
  const char *two = "2 zero bytes between or behind the bzip2 streams were ignored";

  check_tail ("", 0, NULL, NULL);
  check_tail ("\0\0", 2, NULL, two);
  check_tail ("junk", 4, "not bzip2 at byte 54, behind 1 complete streams: trailing junk", NULL);
  check_tail ("BZh0", 4, "not bzip2 at byte 54, behind 1 complete streams: trailing junk", NULL);
  check_tail ("\0\0junk", 6, "not bzip2 at byte 56, behind 1 complete", two);
  check_tail ("BZ", 2, "bzip2 stream cut at byte 56 (stream from byte 54, 1 complete", NULL);
  check_tail ("BZh9junkjunk", 12, "bzip2 data damaged at byte 58 (stream from byte 54): ", NULL);
}

static void
test_no_stream (void)
{
  codec_check_stream (DLP_TYPE_BZIP2_DECODER, "junk", 4, "", "not bzip2 at byte 0", NULL);
  codec_check_stream (DLP_TYPE_BZIP2_DECODER, "\0\0", 2, "", "not bzip2 at byte 0", NULL);
}

int
main (int argc, char **argv)
{
  CodecKind kind;

  g_test_init (&argc, &argv, NULL);
  dlp_codec_register ("bzip2", dlp_bzip2_decoder_match, DLP_TYPE_BZIP2_DECODER);
  kind = (CodecKind){ "bzip2", DLP_TYPE_BZIP2_DECODER, append, 20 };

  g_test_add_func ("/bzip2/match", test_match);
  g_test_add_func ("/bzip2/cases", test_cases);
  g_test_add_func ("/bzip2/tail", test_tail);
  g_test_add_func ("/bzip2/no-stream", test_no_stream);
  codec_add_tests (&kind);

  return g_test_run ();
}
