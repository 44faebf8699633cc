/* SPDX-License-Identifier: MIT */

#include "inflate-compare.h"

#include <string.h>
#include <zlib.h>

#include "dlp-gzip-decoder.h"
#include "dlp-inflate.h"

#define OUTPUT_MAX (4 * 1024 * 1024)

typedef struct
{
  GByteArray *output;
  gsize used;
  gboolean is_end;
  const char *message; /* NULL: none */
} Outcome;

static void
outcome_clear (Outcome *self)
{
  g_byte_array_unref (self->output);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Outcome, outcome_clear)

/* One member, or one raw stream, by zlib. */
static void
run_zlib (const guint8 *data, gsize size, int window_bits, Outcome *outcome)
{
  z_stream z = { NULL };
  guint8 piece[4096];
  int code;

  g_assert_cmpint (inflateInit2 (&z, window_bits), ==, Z_OK);
  z.next_in = (Bytef *) data;
  z.avail_in = (uInt) size;
  do
    {
      z.next_out = piece;
      z.avail_out = sizeof piece;
      code = inflate (&z, Z_NO_FLUSH);
      g_byte_array_append (outcome->output, piece, (guint) (sizeof piece - z.avail_out));
    }
  while (code == Z_OK && outcome->output->len < OUTPUT_MAX && (z.avail_in > 0 || z.avail_out == 0));

  g_assert_true (code == Z_OK || code == Z_BUF_ERROR || code == Z_STREAM_END ||
                 code == Z_DATA_ERROR);
  outcome->used = size - z.avail_in;
  outcome->is_end = code == Z_STREAM_END;
  outcome->message = code == Z_DATA_ERROR ? z.msg : NULL;
  inflateEnd (&z);
}

static void
run_ours (const guint8 *data, gsize size, gsize in_chunk, Outcome *outcome)
{
  guint space = in_chunk % 2 == 0 ? INFLATE_SPACE_SIZE : INFLATE_SPACE_SIZE_SMALL;
  g_autofree Inflate *inflate = inflate_new (space);
  InflateResult result;
  gsize used;
  guint moved;

  inflate_begin (inflate);
  do
    {
      gsize n = MIN (in_chunk, size - outcome->used);
      /* Of exactly its length, so that AddressSanitizer sees an overrun. */
      g_autofree guint8 *in = g_malloc (MAX (n, 1));

      memcpy (in, data + outcome->used, n);
      result = inflate_run (inflate, in, n, &used);
      g_assert_cmpuint (used, <=, n);
      outcome->used += used;
      moved = inflate->end - inflate->begin;
      g_byte_array_append (outcome->output, inflate->data + inflate->begin, moved);
      inflate->begin = inflate->end;
      if (inflate_is_short_of_room (inflate))
        inflate_make_room (inflate);
    }
  while (result == INFLATE_MORE && outcome->output->len < OUTPUT_MAX && (used > 0 || moved > 0));

  outcome->is_end = result == INFLATE_END;
  outcome->message = result == INFLATE_FAILED ? inflate->message : NULL;
}

const char *
inflate_compare (const guint8 *data, gsize size, gsize in_chunk)
{
  g_auto (Outcome) theirs = { g_byte_array_new () }, ours = { g_byte_array_new () };

  run_zlib (data, size, -MAX_WBITS, &theirs);
  run_ours (data, size, in_chunk, &ours);
  if (theirs.output->len >= OUTPUT_MAX && ours.output->len >= OUTPUT_MAX)
    return NULL;
  g_assert_cmpmem (ours.output->data, ours.output->len, theirs.output->data, theirs.output->len);
  g_assert_cmpstr (ours.message, ==, theirs.message);
  g_assert_cmpint (ours.is_end, ==, theirs.is_end);
  g_assert_cmpuint (ours.used, ==, theirs.used);
  return theirs.message;
}

/* What the decoder makes of zlib's verdict on the first member. */
static char *
make_message (const Outcome *theirs)
{
  if (strcmp (theirs->message, "incorrect data check") == 0)
    return g_strdup_printf ("gzip CRC-32 does not match the data, at byte %zu (member from byte 0)",
                            theirs->used);
  if (strcmp (theirs->message, "incorrect length check") == 0)
    return g_strdup_printf ("gzip length does not match the data, at byte %zu (member from byte 0)",
                            theirs->used);
  return g_strdup_printf ("gzip data damaged at byte %zu (member from byte 0): %s", theirs->used,
                          theirs->message);
}

void
inflate_compare_gzip (const guint8 *data, gsize size, gsize in_chunk, gsize out_chunk)
{
  g_auto (Outcome) theirs = { g_byte_array_new () };
  g_autoptr (GByteArray) ours = g_byte_array_new ();
  g_autoptr (DlpDecoder) decoder = g_object_new (DLP_TYPE_GZIP_DECODER, NULL);
  DlpDecoderClass *klass = DLP_DECODER_GET_CLASS (decoder);
  g_autofree guint8 *out = g_malloc (out_chunk);
  g_autofree char *message = NULL;
  g_autoptr (GError) error = NULL;
  DlpDecoderBorder border = { 0 };
  gsize position = 0, used, written;

  run_zlib (data, size, MAX_WBITS + 16, &theirs);
  do
    {
      gsize n = MIN (in_chunk, size - position);

      klass->decode (decoder, data + position, n, &used, out, out_chunk, &written, &error);
      position += used;
      g_byte_array_append (ours, out, (guint) written);
    }
  while (error == NULL && !klass->get_border (decoder, &border) && ours->len < OUTPUT_MAX &&
         (used > 0 || written > 0));

  if (theirs.output->len >= OUTPUT_MAX)
    return;
  if (theirs.is_end)
    {
      g_assert_cmpuint (border.raw, ==, theirs.used);
      g_assert_cmpuint (border.decoded, ==, theirs.output->len);
      g_byte_array_set_size (ours, (guint) MIN (ours->len, border.decoded));
    }
  else
    {
      message = theirs.message != NULL ? make_message (&theirs) : NULL;
      g_assert_cmpstr (error != NULL ? error->message : NULL, ==, message);
      g_assert_cmpuint (border.raw, ==, 0);
    }
  g_assert_cmpmem (ours->data, ours->len, theirs.output->data, theirs.output->len);
}
