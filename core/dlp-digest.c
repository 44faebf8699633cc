/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-digest.h>

#include "dlp-record-batch-private.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static gpointer
dlp_digest_copy (gpointer self)
{
  return g_memdup2 (self, sizeof (DlpDigest));
}

G_DEFINE_BOXED_TYPE (DlpDigest, dlp_digest, dlp_digest_copy, g_free)

/* What is hashed is the memory of values as it is, and it is the same on every machine. */
G_STATIC_ASSERT (G_BYTE_ORDER == G_LITTLE_ENDIAN);
G_STATIC_ASSERT (sizeof (DlpCoordinate) == 32);

#define FIELDS_ON_STACK 16

typedef struct
{
  guint64 schema;
  DlpCoordinate coordinate;
  guint64 values[FIELDS_ON_STACK][2];
} Record;

G_STATIC_ASSERT (G_STRUCT_OFFSET (Record, values) == 40);

static inline void
add128 (guint64 sum[2], guint64 low, guint64 high)
{
  sum[0] += low;
  sum[1] += high + (sum[0] < low);
}

static inline void
encode_value (const DlpColumn *column, gsize i, guint64 *out)
{
  gsize n;
  const guint8 *bytes;
  XXH128_hash_t hash;

  if (G_UNLIKELY (dlp_column_is_null (column, i)))
    {
      out[0] = out[1] = G_MAXUINT64;
    }
  else if (column->offsets != NULL)
    {
      bytes = dlp_column_get_value (column, i, &n);
      hash = XXH3_128bits (bytes, n * column->width);
      out[0] = hash.low64;
      out[1] = hash.high64;
    }
  else
    {
      out[0] = column->type == DLP_FIELD_BOOLEAN ? (guint64) dlp_bits_get (column->data, i) :
                                                   ((const guint64 *) column->data)[i];
      out[1] = 0;
    }
}

static inline void
add_record (DlpDigest *self, const Record *record, gsize size, guint64 position)
{
  XXH128_hash_t hash = XXH3_128bits (record, size);
  guint64 placed[3] = { position, hash.low64, hash.high64 };

  add128 (self->unordered, hash.low64, hash.high64);
  hash = XXH3_128bits (placed, sizeof placed);
  add128 (self->ordered, hash.low64, hash.high64);
}

void
dlp_digest_add (DlpDigest *self, const DlpRecordBatch *batch, guint row, guint n, guint64 position)
{
  Record on_stack;
  g_autofree Record *allocated = NULL;
  Record *record = &on_stack;
  guint64 *values;
  guint n_fields;
  gsize size;

  g_return_if_fail (self != NULL && batch != NULL);
  g_return_if_fail (row <= batch->length && n <= batch->length - row);

  n_fields = batch->columns->schema->n_fields;
  size = G_STRUCT_OFFSET (Record, values) + n_fields * sizeof record->values[0];
  if (n_fields > FIELDS_ON_STACK)
    record = allocated = g_malloc (size);

  values = (guint64 *) ((guint8 *) record + G_STRUCT_OFFSET (Record, values));
  record->schema = batch->columns->schema->hash;
  for (guint i = 0; i < n; i++)
    {
      record->coordinate = *dlp_record_batch_coordinate (batch, row + i);
      for (guint field = 0; field < n_fields; field++)
        encode_value (dlp_record_batch_column (batch, field), (gsize) batch->offset + row + i,
                      values + 2 * field);
      add_record (self, record, size, position + i);
    }
}

void
dlp_digest_combine (DlpDigest *self, const DlpDigest *other)
{
  g_return_if_fail (self != NULL && other != NULL);

  add128 (self->ordered, other->ordered[0], other->ordered[1]);
  add128 (self->unordered, other->unordered[0], other->unordered[1]);
}

char *
dlp_digest_to_string (const DlpDigest *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return g_strdup_printf ("%016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER
                          "x-%016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER "x",
                          self->ordered[1], self->ordered[0], self->unordered[1],
                          self->unordered[0]);
}

DlpDigest *
dlp_digest_new (void)
{
  return g_new0 (DlpDigest, 1);
}
