/* SPDX-License-Identifier: MIT */

#include <string.h>
#include <zlib.h>

#include <dlpipe/dlp-error.h>

#include "codec-cases.h"
#include "dlp-gzip-decoder.h"

static DlpDecoder *
new_decoder (void)
{
  return g_object_new (DLP_TYPE_GZIP_DECODER, NULL);
}

static void
append_member (GByteArray *stream, const guint8 *data, gsize size, int level)
{
  z_stream z = { NULL };
  guint start = stream->len;

  g_assert_cmpint (deflateInit2 (&z, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), ==, Z_OK);
  g_byte_array_set_size (stream, start + (guint) deflateBound (&z, size));
  z.next_in = (Bytef *) data;
  z.avail_in = (uInt) size;
  z.next_out = stream->data + start;
  z.avail_out = stream->len - start;
  g_assert_cmpint (deflate (&z, Z_FINISH), ==, Z_STREAM_END);
  g_byte_array_set_size (stream, start + (guint) z.total_out);
  deflateEnd (&z);
}

/* Text with some structure, so that there are matches, literals and several kinds of block. */
static GByteArray *
make_text (guint32 seed, gsize size)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  GByteArray *text = g_byte_array_new ();

  while (text->len < size)
    {
      g_autofree char *line =
          g_strdup_printf ("{\"text\":\"line %d %s %c\"}\n", g_rand_int_range (rand, 0, 1000),
                           g_rand_boolean (rand) ? "of the same words again" : "x",
                           g_rand_int_range (rand, 'a', 'z'));

      g_byte_array_append (text, (const guint8 *) line, (guint) strlen (line));
    }

  g_byte_array_set_size (text, (guint) size);
  return text;
}

/* Several members of random sizes and levels, empty ones among them. @ends: of members, compressed.
 */
static GByteArray *
make_members (GRand *rand, GByteArray *text, GArray *ends)
{
  GByteArray *stream = g_byte_array_new ();
  gsize position = 0;

  while (position < text->len)
    {
      gsize n = (gsize) g_rand_int_range (rand, 0, 1 + (gint32) (text->len / 3));

      n = MIN (n, text->len - position);
      if (g_rand_int_range (rand, 0, 6) == 0)
        n = 0;
      append_member (stream, text->data + position, n, g_rand_int_range (rand, 0, 10));
      position += n;
      g_array_append_val (ends, stream->len);
    }

  return stream;
}

static void
test_match (void)
{
  g_assert_true (dlp_gzip_decoder_match ((const guint8 *) "\x1f\x8b\x08", 3));
  g_assert_true (dlp_gzip_decoder_match ((const guint8 *) "\x1f\x8b", 2));
  g_assert_false (dlp_gzip_decoder_match ((const guint8 *) "\x1f", 1));
  g_assert_false (dlp_gzip_decoder_match ((const guint8 *) "\x1f\x8c\x08", 3));
  g_assert_false (dlp_gzip_decoder_match ((const guint8 *) "{\"", 2));
}

static void
test_cases (void)
{
  codec_check_case ("g01-two-members.jsonl.gz", 0, CODEC_ONE CODEC_TWO CODEC_THREE, -1, NULL, NULL);
  codec_check_case ("g03-trailing-zeros.jsonl.gz", 0, CODEC_ONE CODEC_TWO CODEC_THREE, -1, NULL,
                    "512 zero bytes between or behind the gzip members were ignored");
  codec_check_case ("g06-bad-crc.jsonl.gz", 0, CODEC_ONE, -1,
                    "g06-bad-crc.jsonl.gz: gzip CRC-32 does not match the data", NULL);
  codec_check_case ("g07-empty-member.jsonl.gz", 0, CODEC_ONE, -1, NULL, NULL);
  codec_check_case ("g09-gz-named-plain.jsonl", 0, CODEC_ONE, -1, NULL, NULL);
  codec_check_case ("g10-double-gz.jsonl.gz", 0, "", 0,
                    "the bytes decoded from gzip are gzip: compressed twice?", NULL);
}

static void
test_case_truncated (void)
{
  g_autoptr (GString) expected = g_string_new (NULL);

  for (guint i = 0; expected->len < 23202; i++)
    g_string_append_printf (expected, "{\"text\":\"line %u\"}\n", i);

  codec_check_case ("g05-truncated.jsonl.gz", 0, expected->str, 23202,
                    "g05-truncated.jsonl.gz: gzip stream cut at byte 2876 (member from byte 0",
                    NULL);
}

/* Cut anywhere, a stream gives what is before the cut and an error, or, cut between members, no
 * error. */
static void
test_truncation (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  g_autoptr (GByteArray) text = make_text (1, 3000);
  g_autoptr (GArray) ends = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr (GByteArray) stream = make_members (rand, text, ends);
  guint next_end = 0;

  for (guint length = 1; length <= stream->len; length++)
    {
      g_autofree char *message =
          g_strdup_printf ("gzip stream cut at byte %u (member from byte ", length);
      g_autoptr (CodecResult) whole =
          codec_run (new_decoder (), stream->data, length, length, 4096);
      g_autoptr (CodecResult) pieces = codec_run (new_decoder (), stream->data, length, 7, 3);

      g_assert_cmpuint (whole->data->len, <=, text->len);
      codec_assert_equal (pieces, whole);

      if (length == g_array_index (ends, guint, next_end))
        {
          next_end++;
          message = (g_free (message), NULL);
        }
      codec_assert_result (whole, (const char *) text->data, whole->data->len, message);
    }

  g_assert_cmpuint (next_end, ==, ends->len);
}

static void
test_bit_flips (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (2);
  guint rounds = codec_scaled (60);

  for (guint i = 0; i < rounds; i++)
    {
      g_autoptr (GByteArray) text = make_text (i, (gsize) g_rand_int_range (rand, 1, 4000));
      g_autoptr (GArray) ends = g_array_new (FALSE, FALSE, sizeof (guint));
      g_autoptr (GByteArray) stream = make_members (rand, text, ends);

      for (guint j = 0; j < 25; j++)
        codec_check_flip (DLP_TYPE_GZIP_DECODER, rand, text, stream, TRUE);
    }
}

static void
check_tail (const char *tail, gsize tail_size, const char *message, const char *warning)
{
  g_autoptr (GByteArray) stream = g_byte_array_new ();

  append_member (stream, (const guint8 *) CODEC_ONE, strlen (CODEC_ONE), 6);
  g_byte_array_append (stream, (const guint8 *) tail, (guint) tail_size);
  codec_check_stream (DLP_TYPE_GZIP_DECODER, stream->data, stream->len, CODEC_ONE, message,
                      warning);
}

static void
test_tail (void)
{
  check_tail ("", 0, NULL, NULL);
  check_tail ("\0", 1, NULL, "1 zero bytes between or behind the gzip members were ignored");
  check_tail ("junk", 4, "not gzip at byte 35, behind 1 complete members: trailing junk", NULL);
  check_tail ("\0\0junk", 6, "not gzip at byte 37, behind 1 complete members: trailing junk",
              "2 zero bytes between or behind the gzip members were ignored");
  check_tail ("\x1f", 1, "gzip stream cut at byte 36 (member from byte 35, 1 complete", NULL);
  check_tail ("\x1f\x8b\x09\0", 4, "unknown compression method", NULL);
}

static void
test_member_behind_padding (void)
{
  g_autoptr (GByteArray) stream = g_byte_array_new ();
  g_autoptr (CodecResult) result = NULL;

  append_member (stream, (const guint8 *) CODEC_ONE, strlen (CODEC_ONE), 6);
  g_byte_array_append (stream, (const guint8 *) "\0\0\0", 3);
  append_member (stream, (const guint8 *) CODEC_TWO, strlen (CODEC_TWO), 6);

  result = codec_run (new_decoder (), stream->data, stream->len, 5, 4);
  codec_assert_result (result, CODEC_ONE CODEC_TWO, -1, NULL);
  g_assert_cmpstr (result->warning, ==,
                   "3 zero bytes between or behind the gzip members were ignored");
}

static void
test_length_is_checked (void)
{
  g_autoptr (GByteArray) stream = g_byte_array_new ();
  g_autoptr (CodecResult) result = NULL;

  append_member (stream, (const guint8 *) CODEC_ONE, strlen (CODEC_ONE), 6);
  stream->data[stream->len - 4]++;

  result = codec_run (new_decoder (), stream->data, stream->len, 5, 4);
  codec_assert_result (result, CODEC_ONE, -1, "gzip length does not match the data, at byte 35");
}

/* 32 MiB of zeros from 32 KiB: what the decoder holds comes out without any input. */
static void
test_expansion (void)
{
  gsize size = 32 * 1024 * 1024, decoded = 0, in_used, written;
  g_autofree guint8 *zeros = g_malloc0 (size);
  g_autofree guint8 *out = g_malloc (1000);
  g_autoptr (GByteArray) stream = g_byte_array_new ();
  g_autoptr (DlpDecoder) decoder = new_decoder ();
  g_autoptr (GError) error = NULL;
  const guint8 *in;
  gsize left;

  append_member (stream, zeros, size, 9);
  g_assert_cmpuint (stream->len, <, 40000);

  for (in = stream->data, left = stream->len; decoded < size; in += in_used, left -= in_used)
    {
      g_assert_true (DLP_DECODER_GET_CLASS (decoder)->decode (decoder, in, left, &in_used, out,
                                                              1000, &written, &error));
      g_assert_cmpuint (written, >, 0);
      decoded += written;
    }

  g_assert_cmpuint (decoded, ==, size);
  g_assert_true (DLP_DECODER_GET_CLASS (decoder)->finish (decoder, &error));
}

static void
test_offset (void)
{
  g_autofree char *path = codec_case_path ("g01-two-members.jsonl.gz");
  const char *all = CODEC_ONE CODEC_TWO CODEC_THREE;

  for (guint offset = 0; offset <= strlen (all); offset++)
    {
      g_autoptr (CodecResult) result = codec_run_path (path, offset, 0, 7, 5);

      codec_assert_result (result, all + offset, -1, NULL);
    }
}

static void
test_offset_behind_the_end (void)
{
  g_autofree char *path = codec_case_path ("g01-two-members.jsonl.gz");
  g_autoptr (CodecResult) result = codec_run_path (path, 48, 0, 0, 100);

  codec_assert_result (result, "", 0, "it ends after 47 decoded bytes, and was read up to 48");
  g_assert_error (result->error, DLP_DATA_ERROR, DLP_DATA_ERROR_CHANGED);
}

/* With padding between and behind members, and where the last one is cut too. */
static void
test_borders (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (9);

  for (guint i = 0; i < codec_scaled (20); i++)
    {
      g_autoptr (GByteArray) text = make_text (i, 3000);
      g_autoptr (GArray) ends = g_array_new (FALSE, FALSE, sizeof (guint));
      g_autoptr (GByteArray) stream = make_members (rand, text, ends);

      g_byte_array_append (stream, (const guint8 *) "\0\0\0", i % 4);
      append_member (stream, (const guint8 *) CODEC_ONE, strlen (CODEC_ONE), 1);
      g_byte_array_append (stream, (const guint8 *) "\0\0\0", i % 4);
      g_assert_cmpuint (codec_check_borders (DLP_TYPE_GZIP_DECODER, stream->data,
                                             stream->len - (i % 3 == 0 ? 6 : 0)),
                        >=, ends->len);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  dlp_codec_register ("gzip", dlp_gzip_decoder_match, DLP_TYPE_GZIP_DECODER);

  g_test_add_func ("/gzip/match", test_match);
  g_test_add_func ("/gzip/cases", test_cases);
  g_test_add_func ("/gzip/case-truncated", test_case_truncated);
  g_test_add_func ("/gzip/truncation", test_truncation);
  g_test_add_func ("/gzip/bit-flips", test_bit_flips);
  g_test_add_func ("/gzip/tail", test_tail);
  g_test_add_func ("/gzip/member-behind-padding", test_member_behind_padding);
  g_test_add_func ("/gzip/length-is-checked", test_length_is_checked);
  g_test_add_func ("/gzip/expansion", test_expansion);
  g_test_add_func ("/gzip/offset", test_offset);
  g_test_add_func ("/gzip/borders", test_borders);
  g_test_add_func ("/gzip/offset-behind-the-end", test_offset_behind_the_end);

  return g_test_run ();
}
