/* SPDX-License-Identifier: MIT */

#include "decoder-io.h"

#include <string.h>

void
decoder_io_begin (DecoderIo *self, const guint8 *in, gsize in_size, guint8 *out, gsize out_size)
{
  self->in = in;
  self->in_size = in_size;
  self->out = out;
  self->out_size = out_size;
  self->used = 0;
  self->written = 0;
}

gsize
decoder_io_in_left (const DecoderIo *self)
{
  return self->in_size - self->used;
}

gsize
decoder_io_out_left (const DecoderIo *self)
{
  return self->out_size - self->written;
}

const guint8 *
decoder_io_in (const DecoderIo *self)
{
  return self->in + self->used;
}

guint8 *
decoder_io_out (const DecoderIo *self)
{
  return self->out + self->written;
}

void
decoder_io_use (DecoderIo *self, gsize size)
{
  self->used += size;
  self->position += size;
}

void
decoder_io_write (DecoderIo *self, gsize size)
{
  self->written += size;
  self->decoded += size;
}

gboolean
decoder_io_gather (DecoderIo *self, guint8 *data, gsize *size, gsize wanted)
{
  gsize n = MIN (wanted - MIN (wanted, *size), decoder_io_in_left (self));

  if (n > 0)
    memcpy (data + *size, decoder_io_in (self), n);
  *size += n;
  decoder_io_use (self, n);

  return *size >= wanted;
}

gsize
decoder_io_skip_zeros (DecoderIo *self)
{
  const guint8 *in = decoder_io_in (self);
  gsize left = decoder_io_in_left (self), n = 0;

  while (n < left && in[n] == 0)
    n++;
  decoder_io_use (self, n);

  return n;
}

gboolean
decoder_io_run (DecoderIo *self,
                const guint *unit,
                DecoderReadUnit read_unit,
                gpointer decoder,
                gsize *in_used,
                gsize *out_written,
                GError **error)
{
  gboolean ok;
  gsize moved;
  guint before;

  do
    {
      moved = self->used + self->written;
      before = *unit;
      ok = read_unit (decoder, error);
    }
  while (ok && (self->used + self->written > moved || *unit != before));

  *in_used = self->used;
  *out_written = self->written;
  return ok;
}
