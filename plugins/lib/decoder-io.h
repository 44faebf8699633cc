/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The input and the output of one call of a decoder, and how far it came in all. */
typedef struct
{
  const guint8 *in;
  gsize in_size;
  guint8 *out;
  gsize out_size;
  gsize used, written; /* of these */

  guint64 position; /* bytes of the file that were consumed, in all calls */
  guint64 decoded;  /* bytes that were given out, in all calls */
} DecoderIo;

void
decoder_io_begin (DecoderIo *self, const guint8 *in, gsize in_size, guint8 *out, gsize out_size);
/* What is left of the input and of the output. */
gsize decoder_io_in_left (const DecoderIo *self);
gsize decoder_io_out_left (const DecoderIo *self);
const guint8 *decoder_io_in (const DecoderIo *self);
guint8 *decoder_io_out (const DecoderIo *self);
/* So many bytes were consumed, or written. */
void decoder_io_use (DecoderIo *self, gsize size);
void decoder_io_write (DecoderIo *self, gsize size);
/* Takes bytes until @data, of which @size are there, has @wanted. Returns whether it has. */
gboolean decoder_io_gather (DecoderIo *self, guint8 *data, gsize *size, gsize wanted);
/* Reads the next unit, or some of it; or begins one, which *unit of decoder_io_run() shows. */
typedef gboolean (*DecoderReadUnit) (gpointer decoder, GError **error);
/* decode() of a decoder, behind decoder_io_begin(): unit after unit, until nothing moves. */
gboolean decoder_io_run (DecoderIo *self,
                         const guint *unit,
                         DecoderReadUnit read_unit,
                         gpointer decoder,
                         gsize *in_used,
                         gsize *out_written,
                         GError **error);
/* Takes zero bytes, and says how many. */
gsize decoder_io_skip_zeros (DecoderIo *self);

G_END_DECLS
