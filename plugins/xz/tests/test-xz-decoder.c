/* SPDX-License-Identifier: MIT */

#include <lzma.h>
#include <string.h>
#include <sys/resource.h>

#include "codec-cases.h"
#include "dlp-xz-decoder.h"
#include "sanitized.h"

static const lzma_check checks[] = { LZMA_CHECK_CRC32, LZMA_CHECK_CRC64, LZMA_CHECK_SHA256 };

static void
set_filters (GRand *rand, lzma_options_lzma *lzma, lzma_options_delta *delta, lzma_filter *filters)
{
  static const lzma_vli machines[] = { LZMA_FILTER_X86, LZMA_FILTER_POWERPC, LZMA_FILTER_ARM,
                                       LZMA_FILTER_SPARC };
  guint n = 0;

  lzma_lzma_preset (lzma, (guint32) g_rand_int_range (rand, 0, 2));
  *delta = (lzma_options_delta){ .type = LZMA_DELTA_TYPE_BYTE, .dist = 3 };
  if (g_rand_int_range (rand, 0, 4) == 0)
    filters[n++] = (lzma_filter){ LZMA_FILTER_DELTA, delta };
  if (g_rand_int_range (rand, 0, 4) == 0)
    filters[n++] = (lzma_filter){ machines[g_rand_int_range (rand, 0, 4)], NULL };
  filters[n++] = (lzma_filter){ LZMA_FILTER_LZMA2, lzma };
  filters[n] = (lzma_filter){ LZMA_VLI_UNKNOWN, NULL };
}

/* A stream of blocks, between which there are no borders of its own but those that resuming uses;
 * LZMA_FULL_FLUSH begins a new one. */
static void
append_blocks (GByteArray *stream,
               const guint8 *data,
               gsize size,
               const lzma_filter *filters,
               lzma_check check,
               gsize block_size)
{
  lzma_stream lzma = LZMA_STREAM_INIT;
  guint start = stream->len;
  gsize position = 0;

  g_byte_array_set_size (stream, start + (guint) lzma_stream_buffer_bound (size) +
                                     (guint) (size / block_size + 1) * 300);
  lzma.next_out = stream->data + start;
  lzma.avail_out = stream->len - start;
  g_assert_cmpint (lzma_stream_encoder (&lzma, filters, check), ==, LZMA_OK);
  do
    {
      gsize n = MIN (block_size, size - position);

      lzma.next_in = data + position;
      lzma.avail_in = n;
      position += n;
      g_assert_cmpint (lzma_code (&lzma, position == size ? LZMA_FINISH : LZMA_FULL_FLUSH), ==,
                       LZMA_STREAM_END);
    }
  while (position < size);
  g_byte_array_set_size (stream, start + (guint) lzma.total_out);
  lzma_end (&lzma);
}

static void
append (GByteArray *stream, GRand *rand, const guint8 *data, gsize size, gboolean is_checked)
{
  lzma_filter filters[LZMA_FILTERS_MAX + 1];
  lzma_options_lzma lzma;
  lzma_options_delta delta;

  set_filters (rand, &lzma, &delta, filters);
  append_blocks (stream, data, size, filters,
                 is_checked ? checks[g_rand_int_range (rand, 0, 3)] : LZMA_CHECK_NONE,
                 (gsize) (size < 100000 ? g_rand_int_range (rand, 1, 3000) : 1 << 24));
}

static void
append_text (GByteArray *stream, const char *text, gsize block_size)
{
  lzma_options_lzma lzma;
  lzma_filter filters[] = { { LZMA_FILTER_LZMA2, &lzma }, { LZMA_VLI_UNKNOWN, NULL } };

  lzma_lzma_preset (&lzma, 0);
  append_blocks (stream, (const guint8 *) text, strlen (text), filters, LZMA_CHECK_CRC32,
                 block_size);
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
    { "\xfd"
      "7zXZ\0\0",
      7, TRUE },
    { "\xfd"
      "7zXZ",
      5, TRUE },
    { "\xfd"
      "7",
      2, TRUE },
    { "\xfd", 1, FALSE },
    { "\xfd"
      "7zXY\0\0",
      7, FALSE },
    /* .lzma, and what is none. */
    { "\x5d\0\0\x80\0\xff\xff\xff\xff\xff\xff\xff\xff", 13, TRUE },
    { "\x5d\0\0\x01\0\x10\0\0\0\0\0\0\0", 13, TRUE },
    { "\x5d\0\0\x81\0\x10\0\0\0\0\0\0\0", 13, FALSE },
    { "\x5d\0\0\x80\0\xff\xff\xff\xff\xff\xff\xff\x7f", 13, FALSE },
    { "\x5d\0\0\x80\0\xff\xff\xff\xff\xff\xff\xff", 12, FALSE },
    { "]0123456789012345", 16, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (heads); i++)
    g_assert_cmpint (dlp_xz_decoder_match ((const guint8 *) heads[i].head, heads[i].size), ==,
                     heads[i].matches);
}

static void
test_cases (void)
{
  g_autoptr (GString) lines = g_string_new (NULL);

  for (guint i = 0; i < 300; i++)
    g_string_append_printf (lines, "{\"text\":\"line %u\"}\n", i);

  codec_check_case ("x01-two-streams.jsonl.xz", 0, CODEC_ONE CODEC_TWO CODEC_THREE, -1, NULL, NULL);
  codec_check_case ("x02-padding-of-6.jsonl.xz", 0, CODEC_ONE, -1,
                    "x02-padding-of-6.jsonl.xz: xz data damaged at byte 78 (1 streams complete "
                    "before it): 6 zero bytes behind a stream; by the format they are a multiple "
                    "of four",
                    NULL);
  codec_check_case ("x03-bad-check.jsonl.xz", 0, "{\"texu\":\"one\"}\n", -1,
                    "x03-bad-check.jsonl.xz: xz data damaged at byte 43 (0 streams complete before "
                    "it): the check of a block does not hold",
                    NULL);
  codec_check_case ("x04-empty.jsonl.xz", 0, "", 0, NULL, NULL);
  codec_check_case ("x05-truncated.jsonl.xz", 0, CODEC_ONE, -1,
                    "x05-truncated.jsonl.xz: xz stream cut at byte 100 (in what begins at byte 96, "
                    "1 streams complete before it)",
                    NULL);
  codec_check_case ("x07-no-check.jsonl.xz", 0, CODEC_ONE, -1, NULL,
                    "no checksum in input: 1 xz streams have none that is known, damage in them "
                    "can go unseen");
  codec_check_case ("x08-legacy.jsonl.lzma", 0, "", 0,
                    "x08-legacy.jsonl.lzma: a file of the legacy format .lzma", NULL);
  codec_check_case ("x09-double.jsonl.xz", 0, "", 0,
                    "the bytes decoded from xz are xz: compressed twice?", NULL);
  codec_check_case ("x10-blocks.jsonl.xz", 0, lines->str, -1, NULL, NULL);
}

static long
max_rss_kib (void)
{
  struct rusage usage;

  g_assert_cmpint (getrusage (RUSAGE_SELF, &usage), ==, 0);
  return usage.ru_maxrss;
}

/* 72 bytes ask for 1 GiB. */
static void
test_case_window (void)
{
  g_autoptr (CodecResult) result = NULL;
  long before = max_rss_kib ();

  result = codec_run_case ("x06-window-1GiB.jsonl.xz", 30, 0, 65536);
  codec_assert_result (result, CODEC_ONE, -1, NULL);
  if (!SANITIZED)
    g_assert_cmpint (max_rss_kib () - before, <, 8 * 1024);

  codec_check_case ("x06-window-1GiB.jsonl.xz", 0, "", 0,
                    "x06-window-1GiB.jsonl.xz: the xz block at byte 12 needs a window of 1024 MiB; "
                    "the limit is 128 MiB (window-log-max=27); window-log-max=30 allows it",
                    NULL);
  codec_check_case ("x06-window-1GiB.jsonl.xz", 29, "", 0, "(window-log-max=29)", NULL);
}

static void
check_tail (gconstpointer tail, gsize size, const char *message)
{
  g_autoptr (GByteArray) stream = g_byte_array_new ();

  append_text (stream, CODEC_ONE, 1000);
  g_assert_cmpuint (stream->len, ==, 68);
  g_byte_array_append (stream, tail, (guint) size);
  codec_check_stream (DLP_TYPE_XZ_DECODER, stream->data, stream->len, CODEC_ONE, message, NULL);
}

static void
test_tail (void)
{
  check_tail ("", 0, NULL);
  check_tail ("\0\0\0\0\0\0\0\0", 8, NULL);
  check_tail ("\0", 1, "xz data damaged at byte 69 (1 streams complete before it): 1 zero bytes");
  check_tail ("junk", 4, "not xz at byte 68, behind 1 complete streams: trailing junk");
  check_tail ("\0\0\0\0junk", 8, "not xz at byte 72, behind 1 complete streams: trailing junk");
  check_tail ("\0\0\xfd"
              "7zXZ",
              7, "at byte 70 (1 streams complete before it): 2 zero bytes");
  check_tail ("\xfd"
              "7z",
              3, "xz stream cut at byte 71 (in what begins at byte 68, 1 streams");
}

static void
test_no_stream (void)
{
  codec_check_stream (DLP_TYPE_XZ_DECODER, "junk", 4, "", "not xz at byte 0", NULL);
  codec_check_stream (DLP_TYPE_XZ_DECODER, "\0\0\0\0", 4, "", "not xz at byte 0", NULL);
  codec_check_stream (DLP_TYPE_XZ_DECODER,
                      "\xfd"
                      "7zXZ\0\0\x01\x69\x22\xde\x37",
                      12, "",
                      "xz data damaged at byte 0 (0 streams complete before it): the header of a "
                      "stream does not hold",
                      NULL);
}

/* The last bytes: index and footer, with right CRCs. */
static void
check_index (const guint8 *index, guint size, const char *message)
{
  g_autoptr (GByteArray) stream = g_byte_array_new ();
  lzma_stream_flags footer = { .check = LZMA_CHECK_CRC32, .backward_size = size + 4 };
  guint32 crc = GUINT32_TO_LE (lzma_crc32 (index, size, 0));
  guint8 bytes[LZMA_STREAM_HEADER_SIZE];

  append_text (stream, CODEC_ONE, 5);
  /* Of three records, and a footer. */
  g_byte_array_set_size (stream, stream->len - 12 - LZMA_STREAM_HEADER_SIZE);
  g_byte_array_append (stream, index, size);
  g_byte_array_append (stream, (const guint8 *) &crc, sizeof crc);
  g_assert_cmpint (lzma_stream_footer_encode (&footer, bytes), ==, LZMA_OK);
  g_byte_array_append (stream, bytes, sizeof bytes);
  codec_check_stream (DLP_TYPE_XZ_DECODER, stream->data, stream->len, CODEC_ONE, message, NULL);
}

static void
test_index (void)
{
  static const guint8 right[] = { 0, 3, 25, 5, 25, 5, 25, 5 }, two[] = { 0, 2, 25, 5, 25, 5, 0, 0 };
  static const guint8 other[] = { 0, 3, 25, 5, 25, 6, 25, 4 };
  static const guint8 padding[] = { 0, 2, 25, 5, 25, 5, 0, 1 };
  static const guint8 longer[] = { 0, 0x83, 0, 25, 5, 25, 5, 25, 5, 0, 0, 0 };
  static const guint8 large[] = { 0,    0xff, 0xff, 0xff, 0xff, 0xff,
                                  0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
  static const guint8 many[] = { 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0, 0 };

  check_index (right, sizeof right, NULL);
  check_index (other, sizeof other, "the index does not match the blocks before it");
  check_index (two, sizeof two, "the index does not match the blocks before it");
  check_index (padding, sizeof padding, "the padding of the index is not zero");
  check_index (longer, sizeof longer, "an integer of the index is longer than it need be");
  check_index (large, sizeof large, "an integer of the index has more than nine bytes");
  check_index (many, sizeof many, "the index has more records than there can be");
}

/* Where a run goes on: behind each block, and each stream. */
static void
test_block_borders (void)
{
  g_autoptr (GByteArray) stream = g_byte_array_new ();

  for (guint i = 0; i < 3; i++)
    {
      append_text (stream, CODEC_ONE, 5);
      g_byte_array_append (stream, (const guint8 *) "\0\0\0\0", 4);
    }
  g_assert_cmpuint (codec_check_borders (DLP_TYPE_XZ_DECODER, stream->data, stream->len), ==, 12);
  g_assert_cmpuint (codec_check_borders (DLP_TYPE_XZ_DECODER, stream->data, stream->len - 3), ==,
                    12);
  g_assert_cmpuint (codec_check_borders (DLP_TYPE_XZ_DECODER, stream->data, stream->len - 28), ==,
                    11);
  g_assert_cmpuint (codec_check_borders (DLP_TYPE_XZ_DECODER, stream->data, stream->len - 30), ==,
                    10);
}

int
main (int argc, char **argv)
{
  CodecKind kind;

  g_test_init (&argc, &argv, NULL);
  dlp_codec_register ("xz", dlp_xz_decoder_match, DLP_TYPE_XZ_DECODER);
  kind = (CodecKind){ "xz", DLP_TYPE_XZ_DECODER, append, 20 };

  g_test_add_func ("/xz/match", test_match);
  g_test_add_func ("/xz/case-window", test_case_window);
  g_test_add_func ("/xz/cases", test_cases);
  g_test_add_func ("/xz/tail", test_tail);
  g_test_add_func ("/xz/no-stream", test_no_stream);
  g_test_add_func ("/xz/index", test_index);
  g_test_add_func ("/xz/block-borders", test_block_borders);
  codec_add_tests (&kind);

  return g_test_run ();
}
