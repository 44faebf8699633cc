/* SPDX-License-Identifier: MIT */

#include "dlp-record-store.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* The scratch file is written anew when it holds more dead bytes than living ones, and at least so
 * many. */
#define MIN_DEAD (64 * 1024 * 1024)

struct _DlpRecordStore
{
  DlpElement *element;
  DlpSchema *schema;
  gsize max_bytes;
  gsize held; /* in memory */

  int fd; /* -1: nothing was ever spilled */
  guint64 end;
  guint64 live; /* bytes of the file that are still wanted */

  GByteArray *scratch;
};

/* A block is the coordinate, then each field in turn: a u64 with its size in bytes, or NULL_VALUE,
 * and its bytes. */
#define NULL_VALUE G_MAXUINT64

DlpRecordStore *
dlp_record_store_new (DlpElement *element, DlpSchema *schema, gsize max_bytes)
{
  DlpRecordStore *self = g_new0 (DlpRecordStore, 1);

  self->element = element;
  self->schema = dlp_schema_ref (schema);
  self->max_bytes = max_bytes;
  self->fd = -1;
  self->scratch = g_byte_array_new ();
  return self;
}

void
dlp_record_store_set_limit (DlpRecordStore *self, gsize max_bytes)
{
  self->max_bytes = max_bytes;
}

void
dlp_record_store_free (DlpRecordStore *self)
{
  if (self->fd >= 0)
    close (self->fd);
  g_byte_array_unref (self->scratch);
  dlp_schema_unref (self->schema);
  g_free (self);
}

/* ---- a record as a block ---- */

static gsize
element_size (DlpFieldType type)
{
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

static gsize
get_block_size (DlpRecordStore *self, const DlpRecordBatch *batch, guint row)
{
  gsize total = sizeof (DlpCoordinate);
  guint64 number;
  gsize size;

  for (guint i = 0; i < dlp_schema_get_n_fields (self->schema); i++)
    {
      gconstpointer data =
          get_value (batch, i, row, dlp_schema_get_field_type (self->schema, i), &number, &size);

      total += sizeof (guint64) + (data != NULL ? size : 0);
    }
  return total;
}

static void
write_block (DlpRecordStore *self, const DlpRecordBatch *batch, guint row, guint8 *to)
{
  memcpy (to, dlp_record_batch_get_coordinate (batch, row), sizeof (DlpCoordinate));
  to += sizeof (DlpCoordinate);
  for (guint i = 0; i < dlp_schema_get_n_fields (self->schema); i++)
    {
      guint64 number;
      gsize size;
      gconstpointer data =
          get_value (batch, i, row, dlp_schema_get_field_type (self->schema, i), &number, &size);
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

static void
read_block (DlpRecordStore *self, const guint8 *from, DlpPad *pad)
{
  DlpRecordBatchBuilder *builder = dlp_pad_get_builder (pad);
  DlpCoordinate coordinate;

  memcpy (&coordinate, from, sizeof coordinate);
  from += sizeof coordinate;
  for (guint i = 0; i < dlp_schema_get_n_fields (self->schema); i++)
    {
      guint64 length;

      memcpy (&length, from, sizeof length);
      from += sizeof length;
      if (length == NULL_VALUE)
        {
          dlp_record_batch_builder_append_null (builder, i);
          continue;
        }
      append_value (builder, i, dlp_schema_get_field_type (self->schema, i), from, length);
      from += length;
    }
  dlp_pad_end_record (pad, &coordinate);
}

/* ---- the scratch file ---- */

static gboolean
fail (DlpRecordStore *self, const char *what, int code, gsize size, GError **error)
{
  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (code),
               "%s: cannot %s %zu bytes of the scratch file: %s; a smaller buffer or a larger "
               "--memory needs none",
               dlp_element_get_name (self->element), what, size, g_strerror (code));
  return FALSE;
}

static gboolean
write_at (DlpRecordStore *self,
          int fd,
          const guint8 *data,
          gsize size,
          guint64 offset,
          GError **error)
{
  while (size > 0)
    {
      gssize n = pwrite (fd, data, size, (off_t) offset);

      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        return fail (self, "write", n < 0 ? errno : ENOSPC, size, error);
      data += n;
      size -= (gsize) n;
      offset += (gsize) n;
    }
  return TRUE;
}

static gboolean
read_at (DlpRecordStore *self, guint64 offset, gsize size, GError **error)
{
  gsize got = 0;

  g_byte_array_set_size (self->scratch, size);
  while (got < size)
    {
      gssize n = pread (self->fd, self->scratch->data + got, size - got, (off_t) (offset + got));

      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        return fail (self, "read", n < 0 ? errno : EIO, size - got, error);
      got += (gsize) n;
    }
  return TRUE;
}

static gboolean
spill (DlpRecordStore *self, DlpStoredRecord *record, GError **error)
{
  if (self->fd < 0)
    self->fd = dlp_element_open_scratch (self->element, error);
  if (self->fd < 0 ||
      !write_at (self, self->fd, self->scratch->data, record->size, self->end, error))
    return FALSE;
  record->data = NULL;
  record->offset = self->end;
  self->end += record->size;
  self->live += record->size;
  return TRUE;
}

gboolean
dlp_record_store_compact (DlpRecordStore *self, DlpStoredRecord *records, gsize n, GError **error)
{
  guint64 end = 0;
  int fd;

  if (self->fd < 0 || self->end - self->live < MAX (self->live, MIN_DEAD))
    return TRUE;

  fd = dlp_element_open_scratch (self->element, error);
  if (fd < 0)
    return FALSE;
  for (gsize i = 0; i < n; i++)
    {
      if (records[i].data != NULL || records[i].size == 0)
        continue;
      if (!read_at (self, records[i].offset, records[i].size, error) ||
          !write_at (self, fd, self->scratch->data, records[i].size, end, error))
        {
          close (fd);
          return FALSE;
        }
      records[i].offset = end;
      end += records[i].size;
    }
  close (self->fd);
  self->fd = fd;
  self->end = self->live = end;
  return TRUE;
}

/* ---- */

gboolean
dlp_record_store_add (DlpRecordStore *self,
                      const DlpRecordBatch *batch,
                      guint row,
                      DlpStoredRecord *record,
                      GError **error)
{
  record->size = get_block_size (self, batch, row);
  record->offset = 0;
  if (self->held + record->size > self->max_bytes)
    {
      g_byte_array_set_size (self->scratch, record->size);
      write_block (self, batch, row, self->scratch->data);
      return spill (self, record, error);
    }
  record->data = g_malloc (record->size);
  self->held += record->size;
  write_block (self, batch, row, record->data);
  return TRUE;
}

gboolean
dlp_record_store_emit (DlpRecordStore *self, DlpStoredRecord *record, DlpPad *pad, GError **error)
{
  if (record->data == NULL && !read_at (self, record->offset, record->size, error))
    return FALSE;
  read_block (self, record->data != NULL ? record->data : self->scratch->data, pad);
  dlp_record_store_drop (self, record);
  return TRUE;
}

void
dlp_record_store_drop (DlpRecordStore *self, DlpStoredRecord *record)
{
  if (record->data != NULL)
    self->held -= record->size;
  else
    self->live -= record->size;
  g_clear_pointer (&record->data, g_free);
  record->size = 0;
}
