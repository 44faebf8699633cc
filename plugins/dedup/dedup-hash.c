/* SPDX-License-Identifier: MIT */

#include "dedup-hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Ids and numbers are hashed as they are in memory. */
G_STATIC_ASSERT (G_BYTE_ORDER == G_LITTLE_ENDIAN);

static DedupKey
hash_bytes (gconstpointer data, gsize size)
{
  XXH128_hash_t hash = XXH3_128bits (data, size);

  return dedup_key (hash.high64, hash.low64);
}

static DedupKey
hash_list (const DlpRecordBatch *batch, guint field, guint row, gsize width)
{
  gsize n;
  gconstpointer values = dlp_record_batch_get_list (batch, field, row, &n);

  return hash_bytes (values, n * width);
}

static DedupKey
hash_string (const DlpRecordBatch *batch, guint field, guint row)
{
  gsize size;
  gconstpointer data = dlp_record_batch_get_value (batch, field, row, &size);

  return hash_bytes (data, size);
}

static DedupKey
hash_double (double value)
{
  return hash_bytes (&value, sizeof value);
}

static DedupKey
hash_uint64 (guint64 value)
{
  return hash_bytes (&value, sizeof value);
}

static DedupKey
hash_boolean (gboolean value)
{
  guint8 byte = value ? 1 : 0;

  return hash_bytes (&byte, sizeof byte);
}

DedupKey
dedup_hash (const DlpRecordBatch *batch, guint field, DlpFieldType type, guint row)
{
  static const DedupKey none = { 0, 0 };

  if (dlp_record_batch_is_null (batch, field, row))
    return none;
  switch (type)
    {
    case DLP_FIELD_STRING:
    case DLP_FIELD_BINARY:
      return hash_string (batch, field, row);
    case DLP_FIELD_LIST_UINT16:
      return hash_list (batch, field, row, sizeof (guint16));
    case DLP_FIELD_LIST_UINT32:
    case DLP_FIELD_LIST_INT32:
    case DLP_FIELD_LIST_FLOAT:
      return hash_list (batch, field, row, sizeof (guint32));
    case DLP_FIELD_LIST_INT64:
    case DLP_FIELD_LIST_DOUBLE:
      return hash_list (batch, field, row, sizeof (guint64));
    case DLP_FIELD_BOOLEAN:
      return hash_boolean (dlp_record_batch_get_boolean (batch, field, row));
    case DLP_FIELD_INT64:
      return hash_uint64 ((guint64) dlp_record_batch_get_int64 (batch, field, row));
    case DLP_FIELD_UINT64:
      return hash_uint64 (dlp_record_batch_get_uint64 (batch, field, row));
    case DLP_FIELD_DOUBLE:
      return hash_double (dlp_record_batch_get_double (batch, field, row));
    }
  g_assert_not_reached ();
}
