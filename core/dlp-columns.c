/* SPDX-License-Identifier: MIT */

#include "dlp-columns-private.h"

#include <string.h>

/* What the pointers of a column without values point to: one offset of 0, no data. */
static const guint8 nothing[DLP_BUFFER_ALIGNMENT] __attribute__ ((aligned (DLP_BUFFER_ALIGNMENT)));

DlpColumns *
dlp_columns_new (DlpSchema *schema, guint n_buffers)
{
  gsize size = sizeof (DlpColumns) + schema->n_fields * sizeof (DlpColumn);
  DlpColumns *self = g_malloc0 (size + n_buffers * sizeof (DlpBuffer));

  self->ref_count = 1;
  self->schema = dlp_schema_ref (schema);
  self->coordinates = (const DlpCoordinate *) nothing;
  self->max_buffers = n_buffers;
  self->buffers = (DlpBuffer *) ((guint8 *) self + size);
  for (guint i = 0; i < schema->n_fields; i++)
    {
      DlpColumn *column = &self->columns[i];

      column->type = schema->fields[i].type;
      column->width = dlp_field_type_width (column->type);
      column->data = nothing;
      if (dlp_field_type_has_offsets (column->type))
        column->offsets = (const gint32 *) nothing;
    }
  return self;
}

DlpColumns *
dlp_columns_ref (DlpColumns *self)
{
  g_atomic_int_inc (&self->ref_count);
  return self;
}

void
dlp_columns_unref (DlpColumns *self)
{
  if (!g_atomic_int_dec_and_test (&self->ref_count))
    return;

  if (self->imported.release != NULL)
    self->imported.release (&self->imported);
  for (guint i = 0; i < self->n_buffers; i++)
    dlp_buffer_clear (&self->buffers[i]);
  if (self->base != NULL)
    dlp_columns_unref (self->base);
  dlp_schema_unref (self->schema);
  g_free (self);
}

DlpColumns *
dlp_columns_select (DlpColumns *self, DlpSchema *schema, const guint *fields)
{
  DlpColumns *selected = dlp_columns_new (schema, 0);

  selected->length = self->length;
  selected->coordinates = self->coordinates;
  for (guint i = 0; i < schema->n_fields; i++)
    selected->columns[i] = self->columns[fields[i]];
  /* Of the one that owns the memory: there are no chains. */
  selected->base = dlp_columns_ref (self->base != NULL ? self->base : self);
  return selected;
}

const guint8 *
dlp_columns_take_buffer (DlpColumns *self, DlpBuffer *buffer, gsize used)
{
  guint8 *data;

  if (buffer->data == NULL)
    return NULL;

  g_assert (self->n_buffers < self->max_buffers);
  dlp_buffer_seal (buffer, used);
  data = buffer->data;
  self->buffers[self->n_buffers++] = *buffer;
  *buffer = (DlpBuffer){ 0 };
  return data;
}

/* Up to 8 bits from any place, without reading a byte that holds none of them. */
static inline guint8
bits_load (const guint8 *bits, gsize bit, guint n)
{
  const guint8 *p = bits + (bit >> 3);
  guint shift = bit & 7;
  guint value = p[0] >> shift;

  if (shift + n > 8)
    value |= (guint) p[1] << (8 - shift);
  return value & (0xff >> (8 - n));
}

void
dlp_bits_copy (guint8 *dst, gsize dst_bit, const guint8 *src, gsize src_bit, gsize n)
{
  while (n > 0)
    {
      guint at = dst_bit & 7;
      guint chunk = MIN (n, 8 - at);
      guint8 mask = (0xff >> (8 - chunk)) << at;
      guint8 *p = dst + (dst_bit >> 3);

      *p = (*p & ~mask) | (bits_load (src, src_bit, chunk) << at);
      dst_bit += chunk;
      src_bit += chunk;
      n -= chunk;
    }
}

void
dlp_bits_set (guint8 *bits, gsize bit, gsize n)
{
  for (; n > 0 && (bit & 7) != 0; bit++, n--)
    bits[bit >> 3] |= 1u << (bit & 7);
  memset (bits + (bit >> 3), 0xff, n / 8);
  if (n % 8 != 0)
    bits[(bit + n) >> 3] |= 0xff >> (8 - n % 8);
}

gsize
dlp_bits_count (const guint8 *bits, gsize bit, gsize n)
{
  gsize count = 0;

  for (; n > 0; bit += 8)
    {
      guint chunk = MIN (n, 8);

      count += __builtin_popcount (bits_load (bits, bit, chunk));
      n -= chunk;
    }
  return count;
}
