/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-arrow.h>

#include "dlp-buffer-private.h"
#include "dlp-schema-private.h"

G_BEGIN_DECLS

/* So that no column is too large, the coordinates included. */
#define DLP_COLUMNS_MAX_RECORDS (DLP_COLUMN_MAX_BYTES / sizeof (DlpCoordinate))

/* Where the values of a field begin; a view of DlpColumns' memory, whatever owns it. Row 0 is at
 * each pointer's first element (bit 0 of bitmaps). Never NULL but for validity and for offsets of
 * types without. */
typedef struct
{
  const guint8 *data;
  const gint32 *offsets;  /* length + 1, in bytes or list values */
  const guint8 *validity; /* NULL if no value is null */
  DlpFieldType type;
  guint width;
} DlpColumn;

/* The memory of a record batch, shared by its slices. Immutable once it is visible to others. */
typedef struct _DlpColumns DlpColumns;
struct _DlpColumns
{
  gint ref_count;
  guint length;
  DlpSchema *schema;
  const DlpCoordinate *coordinates;
  DlpBuffer *buffers; /* owned: all of a built batch, copies made by an import */
  guint n_buffers;
  guint max_buffers;
  struct ArrowArray imported; /* release is NULL if the batch was built here */
  DlpColumns *base;           /* NULL, or whose memory it is, all of which it holds */
  DlpColumn columns[];
};

/* Columns of length 0, with room for n_buffers buffers. */
DlpColumns *dlp_columns_new (DlpSchema *schema, guint n_buffers);
DlpColumns *dlp_columns_ref (DlpColumns *self);
void dlp_columns_unref (DlpColumns *self);
/* (transfer full): field i of schema is fields[i] of self; the memory stays self's. */
DlpColumns *dlp_columns_select (DlpColumns *self, DlpSchema *schema, const guint *fields);
/* Takes the buffer's memory over, after it was sealed. NULL if there is none. */
const guint8 *dlp_columns_take_buffer (DlpColumns *self, DlpBuffer *buffer, gsize used);

/* Copies n bits; dst is cleared or set bit by bit, what is around it stays. */
void dlp_bits_copy (guint8 *dst, gsize dst_bit, const guint8 *src, gsize src_bit, gsize n);
void dlp_bits_set (guint8 *bits, gsize bit, gsize n);
gsize dlp_bits_count (const guint8 *bits, gsize bit, gsize n);

static inline gboolean
dlp_bits_get (const guint8 *bits, gsize i)
{
  return (bits[i >> 3] >> (i & 7)) & 1;
}

static inline void
dlp_bits_put (guint8 *bits, gsize i, gboolean value)
{
  guint8 mask = 1u << (i & 7);

  bits[i >> 3] = value ? bits[i >> 3] | mask : bits[i >> 3] & ~mask;
}

static inline gsize
dlp_bits_size (gsize n)
{
  return (n + 7) / 8;
}

static inline gboolean
dlp_column_is_null (const DlpColumn *self, gsize i)
{
  return self->validity != NULL && !dlp_bits_get (self->validity, i);
}

/* A value of a type with offsets; *n in bytes or list values. */
static inline const guint8 *
dlp_column_get_value (const DlpColumn *self, gsize i, gsize *n)
{
  gint32 begin = self->offsets[i];

  *n = (gsize) (self->offsets[i + 1] - begin);
  return self->data + (gsize) begin * self->width;
}

G_END_DECLS
