/* SPDX-License-Identifier: MIT */

#include "split-hash.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Of the same ids the same, whatever their width. */
static guint64
hash_narrow (const guint16 *values, gsize n, guint64 salt)
{
  guint32 wide[256];
  XXH3_state_t state;

  XXH3_INITSTATE (&state);
  XXH3_64bits_reset_withSeed (&state, salt);
  while (n > 0)
    {
      gsize k = MIN (n, G_N_ELEMENTS (wide));

      for (gsize i = 0; i < k; i++)
        wide[i] = GUINT32_TO_LE (values[i]);
      XXH3_64bits_update (&state, wide, k * sizeof wide[0]);
      values += k;
      n -= k;
    }
  return XXH3_64bits_digest (&state);
}

static guint64
hash_number (guint64 bits, guint64 salt)
{
  bits = GUINT64_TO_LE (bits);
  return XXH3_64bits_withSeed (&bits, sizeof bits, salt);
}

static guint64
hash_null (guint64 salt)
{
  guint8 marker[16];

  memset (marker, 0xff, sizeof marker);
  return XXH3_64bits_withSeed (marker, sizeof marker, salt);
}

static guint64
hash_double (double v, guint64 salt)
{
  guint64 bits;

  memcpy (&bits, &v, sizeof bits);
  return hash_number (bits, salt);
}

guint64
split_hash_field (const DlpRecordBatch *batch,
                  guint field,
                  DlpFieldType type,
                  guint row,
                  guint64 salt)
{
  gconstpointer data;
  guint8 byte;
  gsize n;

  if (dlp_record_batch_is_null (batch, field, row))
    return hash_null (salt);
  switch (type)
    {
    case DLP_FIELD_STRING:
    case DLP_FIELD_BINARY:
      data = dlp_record_batch_get_value (batch, field, row, &n);
      return XXH3_64bits_withSeed (data, n, salt);
    case DLP_FIELD_LIST_UINT16:
      data = dlp_record_batch_get_list (batch, field, row, &n);
      return hash_narrow (data, n, salt);
    case DLP_FIELD_LIST_UINT32:
    case DLP_FIELD_LIST_INT32:
    case DLP_FIELD_LIST_FLOAT:
      data = dlp_record_batch_get_list (batch, field, row, &n);
      return XXH3_64bits_withSeed (data, n * sizeof (guint32), salt);
    case DLP_FIELD_LIST_INT64:
    case DLP_FIELD_LIST_DOUBLE:
      data = dlp_record_batch_get_list (batch, field, row, &n);
      return XXH3_64bits_withSeed (data, n * sizeof (guint64), salt);
    case DLP_FIELD_BOOLEAN:
      byte = dlp_record_batch_get_boolean (batch, field, row) ? 1 : 0;
      return XXH3_64bits_withSeed (&byte, 1, salt);
    case DLP_FIELD_INT64:
      return hash_number ((guint64) dlp_record_batch_get_int64 (batch, field, row), salt);
    case DLP_FIELD_UINT64:
      return hash_number (dlp_record_batch_get_uint64 (batch, field, row), salt);
    case DLP_FIELD_DOUBLE:
      return hash_double (dlp_record_batch_get_double (batch, field, row), salt);
    }
  g_assert_not_reached ();
}

/* Neither the epoch nor the piece: all of one record, each time it comes, is on one side. */
guint64
split_hash_coordinate (const DlpCoordinate *at, guint64 salt)
{
  guint32 words[5] = { GUINT32_TO_LE (at->stage), GUINT32_TO_LE (at->source),
                       GUINT32_TO_LE (at->file), GUINT32_TO_LE ((guint32) at->row),
                       GUINT32_TO_LE ((guint32) (at->row >> 32)) };

  return XXH3_64bits_withSeed (words, sizeof words, salt);
}
