/* SPDX-License-Identifier: MIT */

#include "dlp-record-block.h"

#include <string.h>

#include <dlpipe/dlp-error.h>

#define NULL_VALUE G_MAXUINT64
/* As in a column. */
#define MAX_VALUE ((guint64) G_MAXINT32)

static gsize
element_size (DlpFieldType type)
{
  if (type == DLP_FIELD_LIST_INT64 || type == DLP_FIELD_LIST_DOUBLE)
    return 8;
  return type == DLP_FIELD_LIST_UINT16 ? 2 : 4;
}

/* Points to the bytes of a value; numbers are put into @number. NULL: null. */
static gconstpointer
get_value (const DlpRecordBatch *batch,
           guint field,
           guint row,
           DlpFieldType type,
           guint64 *number,
           gsize *size)
{
  gconstpointer data;
  double real;

  *size = sizeof *number;
  if (dlp_record_batch_is_null (batch, field, row))
    return NULL;
  switch (type)
    {
    case DLP_FIELD_STRING:
    case DLP_FIELD_BINARY:
      return dlp_record_batch_get_value (batch, field, row, size);
    case DLP_FIELD_LIST_UINT16:
    case DLP_FIELD_LIST_UINT32:
    case DLP_FIELD_LIST_INT32:
    case DLP_FIELD_LIST_INT64:
    case DLP_FIELD_LIST_FLOAT:
    case DLP_FIELD_LIST_DOUBLE:
      data = dlp_record_batch_get_list (batch, field, row, size);
      *size *= element_size (type);
      return data;
    case DLP_FIELD_BOOLEAN:
      *number = dlp_record_batch_get_boolean (batch, field, row);
      break;
    case DLP_FIELD_INT64:
      *number = (guint64) dlp_record_batch_get_int64 (batch, field, row);
      break;
    case DLP_FIELD_UINT64:
      *number = dlp_record_batch_get_uint64 (batch, field, row);
      break;
    case DLP_FIELD_DOUBLE:
      real = dlp_record_batch_get_double (batch, field, row);
      memcpy (number, &real, sizeof real);
      break;
    }
  return number;
}

gsize
dlp_record_block_get_size (DlpSchema *schema, const DlpRecordBatch *batch, guint row)
{
  gsize total = sizeof (DlpCoordinate);
  guint64 number;
  gsize size;

  for (guint i = 0; i < dlp_schema_get_n_fields (schema); i++)
    {
      gconstpointer data =
          get_value (batch, i, row, dlp_schema_get_field_type (schema, i), &number, &size);

      total += sizeof (guint64) + (data != NULL ? size : 0);
    }
  return total;
}

void
dlp_record_block_write (DlpSchema *schema, const DlpRecordBatch *batch, guint row, guint8 *to)
{
  memcpy (to, dlp_record_batch_get_coordinate (batch, row), sizeof (DlpCoordinate));
  to += sizeof (DlpCoordinate);
  for (guint i = 0; i < dlp_schema_get_n_fields (schema); i++)
    {
      guint64 number;
      gsize size;
      gconstpointer data =
          get_value (batch, i, row, dlp_schema_get_field_type (schema, i), &number, &size);
      guint64 length = data != NULL ? size : NULL_VALUE;

      memcpy (to, &length, sizeof length);
      to += sizeof length;
      if (data != NULL)
        {
          memcpy (to, data, size);
          to += size;
        }
    }
}

static void
append_value (DlpRecordBatchBuilder *builder,
              guint field,
              DlpFieldType type,
              const guint8 *data,
              gsize size)
{
  guint64 number = 0;
  double real;

  switch (type)
    {
    case DLP_FIELD_STRING:
    case DLP_FIELD_BINARY:
      dlp_record_batch_builder_append_value (builder, field, data, size);
      return;
    case DLP_FIELD_LIST_UINT16:
    case DLP_FIELD_LIST_UINT32:
    case DLP_FIELD_LIST_INT32:
    case DLP_FIELD_LIST_INT64:
    case DLP_FIELD_LIST_FLOAT:
    case DLP_FIELD_LIST_DOUBLE:
      memcpy (dlp_record_batch_builder_reserve (builder, field, size / element_size (type)), data,
              size);
      dlp_record_batch_builder_commit (builder, field, size / element_size (type));
      return;
    case DLP_FIELD_BOOLEAN:
    case DLP_FIELD_INT64:
    case DLP_FIELD_UINT64:
    case DLP_FIELD_DOUBLE:
      memcpy (&number, data, sizeof number);
      break;
    }
  memcpy (&real, &number, sizeof real);
  if (type == DLP_FIELD_BOOLEAN)
    dlp_record_batch_builder_append_boolean (builder, field, number != 0);
  else if (type == DLP_FIELD_INT64)
    dlp_record_batch_builder_append_int64 (builder, field, (gint64) number);
  else if (type == DLP_FIELD_UINT64)
    dlp_record_batch_builder_append_uint64 (builder, field, number);
  else
    dlp_record_batch_builder_append_double (builder, field, real);
}

void
dlp_record_block_emit (DlpSchema *schema, const guint8 *from, DlpPad *pad)
{
  DlpRecordBatchBuilder *builder = dlp_pad_get_builder (pad);
  DlpCoordinate coordinate;

  memcpy (&coordinate, from, sizeof coordinate);
  from += sizeof coordinate;
  for (guint i = 0; i < dlp_schema_get_n_fields (schema); i++)
    {
      guint64 length;

      memcpy (&length, from, sizeof length);
      from += sizeof length;
      if (length == NULL_VALUE)
        {
          dlp_record_batch_builder_append_null (builder, i);
          continue;
        }
      append_value (builder, i, dlp_schema_get_field_type (schema, i), from, length);
      from += length;
    }
  dlp_pad_end_record (pad, &coordinate);
}

/* ---- of a file ---- */

static gboolean G_GNUC_PRINTF (3, 4)
    fail (GError **error, const char *field, const char *format, ...)
{
  g_autofree char *what = NULL;
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT, "field “%s”: %s", field, what);
  return FALSE;
}

static gboolean
check_length (const char *name, DlpFieldType type, guint64 length, GError **error)
{
  switch (type)
    {
    case DLP_FIELD_STRING:
    case DLP_FIELD_BINARY:
      break;
    case DLP_FIELD_LIST_UINT16:
    case DLP_FIELD_LIST_UINT32:
    case DLP_FIELD_LIST_INT32:
    case DLP_FIELD_LIST_INT64:
    case DLP_FIELD_LIST_FLOAT:
    case DLP_FIELD_LIST_DOUBLE:
      if (length % element_size (type) != 0)
        return fail (error, name, "a list of %" G_GUINT64_FORMAT " bytes, not a multiple of %zu",
                     length, element_size (type));
      break;
    case DLP_FIELD_BOOLEAN:
    case DLP_FIELD_INT64:
    case DLP_FIELD_UINT64:
    case DLP_FIELD_DOUBLE:
      if (length != sizeof (guint64))
        return fail (error, name, "a number of %" G_GUINT64_FORMAT " bytes, not 8", length);
      break;
    }
  if (length > MAX_VALUE)
    return fail (error, name,
                 "a value of %" G_GUINT64_FORMAT " bytes, at most %" G_GUINT64_FORMAT " can be",
                 length, MAX_VALUE);
  return TRUE;
}

static gboolean
check_field (DlpSchema *schema, guint field, const guint8 *data, gsize *left, GError **error)
{
  const char *name = dlp_schema_get_field_name (schema, field);
  guint64 length;

  if (*left < sizeof length)
    return fail (error, name, "ends %zu bytes behind its beginning", *left);
  memcpy (&length, data, sizeof length);
  *left -= sizeof length;
  if (length == NULL_VALUE)
    return dlp_schema_get_field_optional (schema, field) ||
           fail (error, name, "null, in a field that is not optional");
  if (!check_length (name, dlp_schema_get_field_type (schema, field), length, error))
    return FALSE;
  if (length > *left)
    return fail (error, name, "a value of %" G_GUINT64_FORMAT " bytes, of which %zu are there",
                 length, *left);
  *left -= (gsize) length;
  return TRUE;
}

gboolean
dlp_record_block_check (DlpSchema *schema, const guint8 *data, gsize size, GError **error)
{
  gsize left = size - MIN (size, sizeof (DlpCoordinate));

  if (size < sizeof (DlpCoordinate))
    {
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                   "%zu bytes, its coordinate alone takes %zu", size, sizeof (DlpCoordinate));
      return FALSE;
    }
  for (guint i = 0; i < dlp_schema_get_n_fields (schema); i++)
    if (!check_field (schema, i, data + size - left, &left, error))
      return FALSE;
  if (left == 0)
    return TRUE;
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT, "%zu bytes behind its last field",
               left);
  return FALSE;
}

gsize
dlp_record_block_get_max_size (DlpSchema *schema)
{
  return sizeof (DlpCoordinate) +
         dlp_schema_get_n_fields (schema) * (sizeof (guint64) + (gsize) MAX_VALUE);
}
