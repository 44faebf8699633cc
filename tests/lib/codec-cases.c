/* SPDX-License-Identifier: MIT */

#include "codec-cases.h"

#include <string.h>

#include <dlpipe/dlp-error.h>

static const gsize read_sizes[] = { 1, 7, 4096, 65536 };
static const gsize out_sizes[] = { 1, 3, 65536 };

void
codec_check_case (const char *name,
                  guint window_log_max,
                  const char *data,
                  gssize size,
                  const char *message,
                  const char *warning)
{
  g_autoptr (CodecResult) first = codec_run_case (name, window_log_max, 0, 65536);

  codec_assert_result (first, data, size, message);
  g_assert_cmpstr (first->warning, ==, warning);
  if (message != NULL)
    g_assert_error (first->error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED);

  for (guint i = 0; i < G_N_ELEMENTS (read_sizes); i++)
    for (guint j = 0; j < G_N_ELEMENTS (out_sizes); j++)
      {
        g_autoptr (CodecResult) result =
            codec_run_case (name, window_log_max, read_sizes[i], out_sizes[j]);

        codec_assert_equal (result, first);
      }
}

static DlpDecoder *
new_decoder (GType type)
{
  return g_object_new (type, NULL);
}

void
codec_check_stream (GType type,
                    gconstpointer bytes,
                    gsize size,
                    const char *data,
                    const char *message,
                    const char *warning)
{
  g_autoptr (CodecResult) whole = codec_run (new_decoder (type), bytes, size, size, 4096);
  g_autoptr (CodecResult) pieces = codec_run (new_decoder (type), bytes, size, 1, 1);

  codec_assert_equal (pieces, whole);
  codec_assert_result (whole, data, -1, message);
  g_assert_cmpstr (whole->warning, ==, warning);
}

void
codec_check_flip (GType type,
                  GRand *rand,
                  const GByteArray *text,
                  const GByteArray *stream,
                  gboolean is_checked)
{
  g_autoptr (GByteArray) damaged = g_byte_array_new ();
  g_autoptr (CodecResult) whole = NULL;
  guint bit = (guint) g_rand_int_range (rand, 0, (gint32) stream->len * 8);

  g_byte_array_append (damaged, stream->data, stream->len);
  damaged->data[bit / 8] ^= (guint8) (1u << bit % 8);

  whole = codec_run (new_decoder (type), damaged->data, damaged->len, damaged->len, 65536);
  if (whole->error != NULL)
    g_assert_error (whole->error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED);
  else if (is_checked)
    g_assert_cmpmem (whole->data->data, whole->data->len, text->data, text->len);

  /* The bytes before the damage, and where it is said to be, do not depend on how the input is cut.
   */
  for (guint i = 0; i < 3; i++)
    {
      gsize in_chunk = (gsize) g_rand_int_range (rand, 1, i == 0 ? 4 : 700);
      gsize out_chunk = (gsize) g_rand_int_range (rand, 1, i == 1 ? 4 : 2000);
      g_autoptr (CodecResult) pieces =
          codec_run (new_decoder (type), damaged->data, damaged->len, in_chunk, out_chunk);

      codec_assert_equal (pieces, whole);
    }
}

GByteArray *
codec_make_text (GRand *rand, gsize size)
{
  GByteArray *text = g_byte_array_new ();

  while (text->len < size)
    {
      guint8 piece[300];
      gsize n = (gsize) g_rand_int_range (rand, 1, sizeof piece);
      int kind = g_rand_int_range (rand, 0, 3);

      for (gsize i = 0; i < n; i++)
        piece[i] = kind == 0 ? 'r' : kind == 1 ? (guint8) g_rand_int (rand) : "abcd efgh"[i % 9];
      for (int i = kind == 1 ? 1 : g_rand_int_range (rand, 1, 8); i > 0; i--)
        g_byte_array_append (text, piece, (guint) n);
    }

  g_byte_array_set_size (text, (guint) size);
  return text;
}

GByteArray *
codec_make_stream (const CodecKind *kind,
                   GRand *rand,
                   const GByteArray *text,
                   gboolean is_checked,
                   GArray *ends)
{
  GByteArray *stream = g_byte_array_new ();
  gsize position = 0;

  while (position < text->len)
    {
      gsize n = (gsize) g_rand_int_range (rand, 0, 1 + (gint32) (text->len / 2));

      n = g_rand_int_range (rand, 0, 6) == 0 ? 0 : MIN (n, text->len - position);
      kind->append (stream, rand, text->data + position, n, is_checked);
      position += n;
      if (ends != NULL)
        g_array_append_val (ends, stream->len);
    }

  return stream;
}

static gboolean
is_end (GArray *ends, guint length)
{
  for (guint i = 0; i < ends->len; i++)
    if (g_array_index (ends, guint, i) == length)
      return TRUE;

  return FALSE;
}

/* Cut anywhere, a stream gives what is before the cut and an error, or, cut between two pieces, no
 * error. */
static void
check_truncation (const CodecKind *kind, guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (GByteArray) text = codec_make_text (rand, 4000);
  g_autoptr (GArray) ends = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr (GByteArray) stream = codec_make_stream (kind, rand, text, seed % 2 == 0, ends);

  for (guint length = 1; length <= stream->len; length++)
    {
      g_autofree char *message = g_strdup_printf ("%s stream cut at byte %u (", kind->name, length);
      g_autoptr (CodecResult) whole =
          codec_run (new_decoder (kind->type), stream->data, length, length, 65536);
      g_autoptr (CodecResult) pieces =
          codec_run (new_decoder (kind->type), stream->data, length, 7, 3);

      g_assert_cmpuint (whole->data->len, <=, text->len);
      codec_assert_equal (pieces, whole);
      codec_assert_result (whole, (const char *) text->data, whole->data->len,
                           is_end (ends, length) ? NULL : message);
      if (length == stream->len)
        g_assert_cmpuint (whole->data->len, ==, text->len);
    }
}

static void
test_truncation (gconstpointer kind)
{
  for (guint32 seed = 0; seed < 4; seed++)
    check_truncation (kind, seed);
}

static void
check_bit_flips (const CodecKind *kind, gboolean is_checked)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (2);
  guint rounds = codec_scaled (kind->flip_rounds > 0 ? kind->flip_rounds : 60);

  for (guint i = 0; i < rounds; i++)
    {
      g_autoptr (GByteArray) text =
          codec_make_text (rand, (gsize) g_rand_int_range (rand, 1, 4000));
      g_autoptr (GByteArray) stream = codec_make_stream (kind, rand, text, is_checked, NULL);

      for (guint j = 0; j < 25; j++)
        codec_check_flip (kind->type, rand, text, stream, is_checked);
    }
}

static void
test_bit_flips (gconstpointer kind)
{
  check_bit_flips (kind, TRUE);
}

static void
test_bit_flips_unchecked (gconstpointer kind)
{
  check_bit_flips (kind, FALSE);
}

/* Where the last piece is cut too. */
static void
test_borders (gconstpointer data)
{
  const CodecKind *kind = data;
  g_autoptr (GRand) rand = g_rand_new_with_seed (9);

  for (guint i = 0; i < codec_scaled (20); i++)
    {
      g_autoptr (GByteArray) text = codec_make_text (rand, 3000);
      g_autoptr (GArray) ends = g_array_new (FALSE, FALSE, sizeof (guint));
      g_autoptr (GByteArray) stream = codec_make_stream (kind, rand, text, i % 2 == 0, ends);
      gsize cut = i % 3 == 0 ? 0 : (gsize) g_rand_int_range (rand, 1, 14);

      kind->append (stream, rand, (const guint8 *) CODEC_ONE, strlen (CODEC_ONE), FALSE);
      g_assert_cmpuint (codec_check_borders (kind->type, stream->data, stream->len - cut), >=,
                        ends->len);
    }
}

/* 64 MiB of zeros: what the decoder holds comes out without any input. */
static void
test_expansion (gconstpointer data)
{
  const CodecKind *kind = data;
  gsize size = 64 * 1024 * 1024, decoded = 0, in_used, written;
  g_autofree guint8 *zeros = g_malloc0 (size), *out = g_malloc (1000);
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  g_autoptr (GByteArray) stream = g_byte_array_new ();
  g_autoptr (DlpDecoder) decoder = new_decoder (kind->type);
  g_autoptr (GError) error = NULL;
  gsize position = 0;

  kind->append (stream, rand, zeros, size, TRUE);
  while (decoded < size)
    {
      g_assert_true (DLP_DECODER_GET_CLASS (decoder)->decode (decoder, stream->data + position,
                                                              stream->len - position, &in_used, out,
                                                              1000, &written, &error));
      g_assert_true (in_used > 0 || written > 0);
      decoded += written;
      position += in_used;
    }
  g_assert_cmpuint (decoded, ==, size);
}

/* 300 pieces, 5 MB decoded, in each of several read sizes: the offsets pass 2^16 and 2^20. */
static void
test_many (gconstpointer data)
{
  const CodecKind *kind = data;
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  g_autoptr (GByteArray) text = codec_make_text (rand, 5000000), stream = g_byte_array_new ();

  for (guint i = 0; i < 300; i++)
    {
      gsize start = (gsize) text->len * i / 300, end = (gsize) text->len * (i + 1) / 300;

      kind->append (stream, rand, text->data + start, end - start, TRUE);
    }

  for (gsize in_chunk = 1000; in_chunk < 10000000; in_chunk *= 9)
    {
      g_autoptr (CodecResult) result =
          codec_run (new_decoder (kind->type), stream->data, stream->len, in_chunk, 50000);

      codec_assert_result (result, (const char *) text->data, text->len, NULL);
    }
}

void
codec_add_tests (const CodecKind *kind)
{
  static const struct
  {
    const char *name;
    GTestDataFunc test;
  } tests[] = {
    { "truncation", test_truncation },
    { "bit-flips", test_bit_flips },
    { "bit-flips-unchecked", test_bit_flips_unchecked },
    { "borders", test_borders },
    { "expansion", test_expansion },
    { "many", test_many },
  };

  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    {
      g_autofree char *path = g_strdup_printf ("/%s/%s", kind->name, tests[i].name);

      g_test_add_data_func (path, kind, tests[i].test);
    }
}
