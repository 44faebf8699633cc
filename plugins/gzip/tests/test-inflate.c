/* SPDX-License-Identifier: MIT */

/* The decoder of deflate against zlib, on streams that zlib made, the same with damage, and on bits
 * by chance behind a beginning that means something. */

#include <string.h>
#include <zlib.h>

#include "codec-cases.h"
#include "dlp-gzip-crc.h"
#include "inflate-compare.h"

static const gsize in_chunks[] = { 1, 7, 64, 1000, 65536 };

/* @window_bits: as zlib has it: below 0 raw, above 15 gzip. */
static GByteArray *
deflate_random (GRand *rand, const GByteArray *text, int window_bits)
{
  static const int strategies[] = {
    Z_DEFAULT_STRATEGY, Z_DEFAULT_STRATEGY, Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED
  };
  static const int flushes[] = { Z_NO_FLUSH, Z_BLOCK, Z_SYNC_FLUSH, Z_FULL_FLUSH, Z_PARTIAL_FLUSH };
  GByteArray *stream = g_byte_array_new ();
  z_stream z = { NULL };
  gsize position = 0;
  int code;

  g_byte_array_set_size (stream, text->len * 2 + 20000);
  g_assert_cmpint (deflateInit2 (&z, g_rand_int_range (rand, 0, 10), Z_DEFLATED, window_bits,
                                 g_rand_int_range (rand, 1, 10),
                                 strategies[g_rand_int_range (rand, 0, 6)]),
                   ==, Z_OK);
  z.next_out = stream->data;
  z.avail_out = stream->len;
  do
    {
      gsize n = (gsize) g_rand_int_range (rand, 1, 20000);

      n = MIN (n, text->len - position);
      z.next_in = text->data + position;
      z.avail_in = (uInt) n;
      position += n;
      code =
          deflate (&z, position == text->len ? Z_FINISH : flushes[g_rand_int_range (rand, 0, 5)]);
    }
  while (code == Z_OK);
  g_assert_cmpint (code, ==, Z_STREAM_END);
  g_byte_array_set_size (stream, (guint) z.total_out);
  deflateEnd (&z);
  return stream;
}

/* Of few letters, many, or all bytes, so that codes of all lengths come. */
static GByteArray *
make_text (GRand *rand, gsize size)
{
  GByteArray *text = g_byte_array_new ();
  guint kind = (guint) g_rand_int_range (rand, 0, 4);
  gsize run;

  if (kind == 0)
    return (g_byte_array_unref (text), codec_make_text (rand, size));

  g_byte_array_set_size (text, (guint) size);
  for (gsize i = 0; i < size; i += run)
    {
      run = (gsize) g_rand_int_range (rand, 1, kind == 1 ? 400 : 30);
      run = MIN (run, size - i);
      if (i > run && g_rand_int_range (rand, 0, 3) == 0)
        memcpy (text->data + i, text->data + g_rand_int_range (rand, 0, (gint32) (i - run)), run);
      else
        for (gsize k = 0; k < run; k++)
          /* Skewed, so that some codes are long. */
          text->data[i + k] = (guint8) (255 * g_rand_double (rand) * g_rand_double (rand) *
                                        (kind == 2 ? g_rand_double (rand) * 0.3 : 1.0));
    }
  return text;
}

/* The messages that came. */
static GHashTable *messages;

static void
compare (GRand *rand, const GByteArray *stream, gboolean is_gzip)
{
  const char *message;
  gsize in_chunk = in_chunks[g_rand_int_range (rand, 0, G_N_ELEMENTS (in_chunks))];

  if (is_gzip)
    {
      inflate_compare_gzip (stream->data, stream->len, in_chunk,
                            (gsize) g_rand_int_range (rand, 1, 70000));
      return;
    }
  message = inflate_compare (stream->data, stream->len, in_chunk);
  if (message != NULL)
    g_hash_table_add (messages, (gpointer) message);
}

static void
test_whole (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  guint n = codec_scaled (300);

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GByteArray) text =
          make_text (rand, (gsize) g_rand_int_range (rand, 0, i % 20 == 0 ? 500000 : 30000));
      g_autoptr (GByteArray) raw = deflate_random (rand, text, -g_rand_int_range (rand, 9, 16));
      g_autoptr (GByteArray) gzip = deflate_random (rand, text, 16 + MAX_WBITS);

      g_byte_array_append (raw, (const guint8 *) "behind", 6);
      for (guint k = 0; k < G_N_ELEMENTS (in_chunks); k++)
        inflate_compare (raw->data, raw->len, in_chunks[k]);
      compare (rand, gzip, TRUE);
    }
}

static void
damage (GRand *rand, GByteArray *stream)
{
  guint n = (guint) g_rand_int_range (rand, 1, 4);

  /* Headers are at the start, and are where most kinds of faults are. */
  for (guint i = 0; i < n; i++)
    {
      gint32 end = g_rand_boolean (rand) ? (gint32) MIN (stream->len, 100) : (gint32) stream->len;
      guint8 *byte = stream->data + g_rand_int_range (rand, 0, end);

      if (g_rand_boolean (rand))
        *byte ^= (guint8) (1u << g_rand_int_range (rand, 0, 8));
      else
        *byte = (guint8) g_rand_int (rand);
    }
  if (g_rand_int_range (rand, 0, 4) == 0)
    g_byte_array_set_size (stream, (guint) g_rand_int_range (rand, 1, (gint32) stream->len + 1));
}

static void
check_damaged (gboolean is_gzip)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (2);
  guint n = codec_scaled (400);

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GByteArray) text = make_text (rand, (gsize) g_rand_int_range (rand, 0, 8000));
      g_autoptr (GByteArray) stream =
          deflate_random (rand, text, is_gzip ? MAX_WBITS + 16 : -MAX_WBITS);

      for (guint k = 0; k < 40; k++)
        {
          g_autoptr (GByteArray) damaged = g_byte_array_new ();

          g_byte_array_append (damaged, stream->data, stream->len);
          damage (rand, damaged);
          compare (rand, damaged, is_gzip);
        }
    }
}

static void
test_damaged (void)
{
  check_damaged (FALSE);
}

static void
test_damaged_gzip (void)
{
  check_damaged (TRUE);
}

/* Of deflate there are no others. */
static void
assert_all_messages (void)
{
  static const char *const all[] = { "invalid block type",
                                     "invalid stored block lengths",
                                     "too many length or distance symbols",
                                     "invalid code lengths set",
                                     "invalid bit length repeat",
                                     "invalid code -- missing end-of-block",
                                     "invalid literal/lengths set",
                                     "invalid distances set",
                                     "invalid literal/length code",
                                     "invalid distance code",
                                     "invalid distance too far back" };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    if (!g_hash_table_contains (messages, all[i]))
      g_error ("no stream had the fault \"%s\"", all[i]);
}

/* A block of each type, and then chance: headers of codes that are too many, too few, too long. */
static void
test_chance (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  guint n = codec_scaled (40000);

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GByteArray) stream = g_byte_array_new ();
      guint zeros = (guint) g_rand_int_range (rand, 0, 12);

      g_byte_array_set_size (stream, (guint) g_rand_int_range (rand, 1, 400));
      for (guint k = 0; k < stream->len; k++)
        stream->data[k] = (guint8) g_rand_int (rand);
      stream->data[0] = (guint8) ((stream->data[0] & ~6u) | (i % 4) << 1);
      /* Few codes for the lengths of codes make it more likely that a header is one. */
      for (guint k = 2; k < MIN (zeros, stream->len); k++)
        stream->data[k] &= (guint8) g_rand_int (rand) & (guint8) g_rand_int (rand);
      compare (rand, stream, FALSE);
    }
  if (codec_scaled (10) == 10)
    assert_all_messages ();
}

/* Of names, comments, extra fields and a checksum of the header. */
static void
test_headers (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (4);
  guint n = codec_scaled (3000);

  for (guint i = 0; i < n; i++)
    {
      guint8 fixed[10] = {
        0x1f, 0x8b, 8, (guint8) g_rand_int_range (rand, 0, 32), 1, 2, 3, 4, 5, 6
      };
      g_autoptr (GByteArray) stream = g_byte_array_new ();
      guint8 flags = fixed[3];
      guint16 crc;

      g_byte_array_append (stream, fixed, sizeof fixed);
      if ((flags & 4) != 0)
        g_byte_array_append (stream,
                             (const guint8 *) "\7\0"
                                              "\0extra\0",
                             9);
      if ((flags & 8) != 0)
        g_byte_array_append (stream, (const guint8 *) "name", g_rand_boolean (rand) ? 5 : 4);
      if ((flags & 16) != 0)
        g_byte_array_append (stream, (const guint8 *) "comment", 8);
      crc = (guint16) crc32 (0, stream->data, stream->len);
      crc = GUINT16_TO_LE ((guint16) (crc + (g_rand_boolean (rand) ? 1 : 0)));
      if ((flags & 2) != 0)
        g_byte_array_append (stream, (const guint8 *) &crc, 2);
      /* An empty stored block. */
      g_byte_array_append (stream, (const guint8 *) "\1\0\0\xff\xff\0\0\0\0\0\0\0\0", 13);
      if (g_rand_int_range (rand, 0, 3) == 0)
        damage (rand, stream);
      compare (rand, stream, TRUE);
    }
}

/* Of all lengths and alignments, in two pieces. */
static void
test_crc (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  guint8 data[1000];

  for (guint i = 0; i < sizeof data; i++)
    data[i] = (guint8) g_rand_int (rand);
  for (guint n = 0; n < 600; n++)
    for (guint start = 0; start < 20; start++)
      {
        guint cut = (guint) g_rand_int_range (rand, 0, (gint32) n + 1);
        guint32 crc = gzip_crc (gzip_crc (0, data + start, cut), data + start + cut, n - cut);

        g_assert_cmpuint (crc, ==, crc32 (0, data + start, n));
      }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  messages = g_hash_table_new (g_str_hash, g_str_equal);
  g_test_add_func ("/gzip/inflate/whole", test_whole);
  g_test_add_func ("/gzip/inflate/damaged", test_damaged);
  g_test_add_func ("/gzip/inflate/damaged-gzip", test_damaged_gzip);
  g_test_add_func ("/gzip/inflate/chance", test_chance);
  g_test_add_func ("/gzip/inflate/headers", test_headers);
  g_test_add_func ("/gzip/inflate/crc", test_crc);
  return g_test_run ();
}
