/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-error.h>

#include "dlp-record-batch-private.h"
#include "dlp-utf8-private.h"

#include <string.h>

/* Sums of two such numbers, and their products with a width, do not overflow. */
#define MAX_INDEX (G_GINT64_CONSTANT (1) << 48)

/* A field being imported. */
typedef struct
{
  const char *name;
  const struct ArrowArray *array;
  DlpColumns *columns;
  DlpColumn *column;
  gsize first; /* row 0 in the array's buffers */
  gsize n;
} Field;

static gboolean G_GNUC_PRINTF (3, 4)
    refuse (GError **error, const char *name, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  if (name != NULL)
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED, "Arrow import: field '%s': %s",
                 name, text);
  else
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED, "Arrow import: %s", text);
  return FALSE;
}

static gboolean
type_from_format (const struct ArrowSchema *in, DlpFieldType *type)
{
  for (DlpFieldType i = 0; i <= DLP_FIELD_LAST; i++)
    {
      const char *item = dlp_field_type_get_item_format (i);

      *type = i;
      if (g_strcmp0 (in->format, dlp_field_type_get_format (i)) != 0)
        continue;
      if (item == NULL && in->n_children == 0)
        return TRUE;
      if (item != NULL && in->n_children == 1 && in->children != NULL && in->children[0] != NULL &&
          in->children[0]->dictionary == NULL && g_strcmp0 (in->children[0]->format, item) == 0)
        return TRUE;
    }
  return FALSE;
}

static gboolean
import_schema_field (const struct ArrowSchema *in, DlpFieldType *type, GError **error)
{
  const char *item = "";

  if (in == NULL || in->release == NULL || in->format == NULL || in->name == NULL ||
      !g_utf8_validate (in->name, -1, NULL))
    {
      g_set_error (
          error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_TYPE,
          "Arrow schema: a field is absent, released, or without a format or a UTF-8 name");
      return FALSE;
    }
  if (in->dictionary == NULL && type_from_format (in, type))
    return TRUE;

  if (in->n_children == 1 && in->children != NULL && in->children[0] != NULL &&
      in->children[0]->format != NULL)
    item = in->children[0]->format;
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_TYPE,
               "Arrow schema: field '%s' has the format '%s'%s%s%s; allowed are u, z, b, l, L, g, "
               "and +l of S, I, i, l, f or g",
               in->name, in->format, *item != 0 ? " of " : "", item,
               in->dictionary != NULL ? " with a dictionary" : "");
  return FALSE;
}

static DlpSchema *
import_schema (const struct ArrowSchema *in, DlpSchemaKind kind, GError **error)
{
  gsize n;
  g_autofree const char **names = NULL;
  g_autofree DlpFieldType *types = NULL;
  g_autofree gboolean *optional = NULL;
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  if (in->release == NULL || g_strcmp0 (in->format, "+s") != 0 || in->dictionary != NULL ||
      in->n_children < 0 || in->n_children > G_MAXUINT16 ||
      (in->n_children > 0 && in->children == NULL))
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_TYPE,
                   "Arrow schema: format '%s' with %" G_GINT64_FORMAT
                   " children; a struct, '+s', of 0 to %d fields was expected",
                   in->format != NULL ? in->format : "", in->n_children, G_MAXUINT16);
      return NULL;
    }

  n = (gsize) in->n_children;
  names = g_new (const char *, n);
  types = g_new (DlpFieldType, n);
  optional = g_new (gboolean, n);
  for (gsize i = 0; i < n; i++)
    {
      if (!import_schema_field (in->children[i], &types[i], error))
        return NULL;
      names[i] = in->children[i]->name;
      optional[i] = (in->children[i]->flags & ARROW_FLAG_NULLABLE) != 0;
      if (!g_hash_table_add (seen, (gpointer) names[i]))
        {
          g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_TYPE,
                       "Arrow schema: there are two fields '%s'", names[i]);
          return NULL;
        }
    }
  return dlp_schema_new (kind, (guint) n, names, types, optional);
}

DlpSchema *
dlp_schema_import (struct ArrowSchema *in, DlpSchemaKind kind, GError **error)
{
  DlpSchema *self;

  g_return_val_if_fail (in != NULL, NULL);

  self = import_schema (in, kind, error);
  if (in->release != NULL)
    in->release (in);
  return self;
}

static gboolean
check_shape (const struct ArrowArray *array,
             const char *name,
             gint64 n_buffers,
             gint64 n_children,
             GError **error)
{
  if (array == NULL || array->release == NULL)
    return refuse (error, name, "the array is absent or was released");
  if (array->dictionary != NULL)
    return refuse (error, name, "dictionaries are not supported");
  if (array->n_buffers != n_buffers || array->buffers == NULL)
    return refuse (error, name, "%" G_GINT64_FORMAT " buffers, expected %" G_GINT64_FORMAT,
                   array->buffers == NULL ? 0 : array->n_buffers, n_buffers);
  if (array->n_children != n_children)
    return refuse (error, name, "%" G_GINT64_FORMAT " children, expected %" G_GINT64_FORMAT,
                   array->n_children, n_children);
  if (n_children > 0 && array->children == NULL)
    return refuse (error, name, "no array of its %" G_GINT64_FORMAT " children", n_children);
  if (array->length < 0 || array->length > MAX_INDEX || array->offset < 0 ||
      array->offset > MAX_INDEX)
    return refuse (error, name,
                   "length %" G_GINT64_FORMAT " at offset %" G_GINT64_FORMAT
                   ", each must be 0 to %" G_GINT64_FORMAT,
                   array->length, array->offset, MAX_INDEX);
  if (array->null_count > 0 && array->buffers[0] == NULL)
    return refuse (error, name, "%" G_GINT64_FORMAT " nulls without a validity bitmap",
                   array->null_count);
  return TRUE;
}

static guint8 *
copy_buffer (Field *self, gconstpointer data, gsize size)
{
  DlpBuffer buffer = { 0 };

  dlp_buffer_ensure (&buffer, 0, MAX (size, 1));
  if (data != NULL)
    memcpy (buffer.data, data, size);
  return (guint8 *) dlp_columns_take_buffer (self->columns, &buffer, size);
}

static inline gboolean
is_aligned (gconstpointer data, gsize width)
{
  return (gsize) data % width == 0;
}

/* Bits from row 0 on: a view where it begins in a byte's first bit. */
static const guint8 *
import_bits (Field *self, const guint8 *bits)
{
  guint8 *copy;

  if (self->first % 8 == 0)
    return bits + self->first / 8;

  copy = copy_buffer (self, NULL, dlp_bits_size (self->n));
  dlp_bits_copy (copy, 0, bits, self->first, self->n);
  if (self->n % 8 != 0)
    copy[self->n / 8] &= 0xff >> (8 - self->n % 8);
  return copy;
}

static gboolean
import_validity (Field *self, gboolean optional, GError **error)
{
  const guint8 *bits = self->array->buffers[0];
  gsize n_valid;

  if (bits == NULL || self->array->null_count == 0)
    return TRUE;
  n_valid = dlp_bits_count (bits, self->first, self->n);
  if (n_valid == self->n)
    return TRUE;
  if (!optional)
    return refuse (error, self->name,
                   "%" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT
                   " values are null, but it is not optional",
                   self->n - n_valid, self->n);
  self->column->validity = import_bits (self, bits);
  return TRUE;
}

static gboolean
import_fixed (Field *self, GError **error)
{
  const guint8 *data = self->array->buffers[1];

  if (data == NULL)
    return refuse (error, self->name, "no data for %" G_GSIZE_FORMAT " values", self->n);

  if (self->column->type == DLP_FIELD_BOOLEAN)
    {
      self->column->data = import_bits (self, data);
      return TRUE;
    }
  data += self->first * self->column->width;
  self->column->data = is_aligned (data, self->column->width) ?
                           data :
                           copy_buffer (self, data, self->n * self->column->width);
  return TRUE;
}

static gboolean
import_offsets (Field *self, GError **error)
{
  const guint8 *data = self->array->buffers[1];
  const gint32 *offsets;
  gboolean ascending;

  if (data == NULL)
    return refuse (error, self->name, "no offsets for %" G_GSIZE_FORMAT " values", self->n);

  data += self->first * sizeof (gint32);
  if (!is_aligned (data, sizeof (gint32)))
    data = copy_buffer (self, data, (self->n + 1) * sizeof (gint32));
  offsets = (const gint32 *) data;

  ascending = offsets[0] >= 0;
  for (gsize i = 0; i < self->n; i++)
    ascending &= offsets[i] <= offsets[i + 1];
  if (!ascending)
    {
      gsize i = 0;

      while (offsets[0] >= 0 && offsets[i] <= offsets[i + 1])
        i++;
      return refuse (error, self->name,
                     "row %" G_GSIZE_FORMAT " has the offsets %d to %d, which must ascend from 0",
                     i, offsets[i], offsets[i + 1]);
    }
  self->column->offsets = offsets;
  return TRUE;
}

/* All values at once: no sequence may cross the border of two. */
static gboolean
range_is_utf8 (const DlpColumn *column, gsize n)
{
  const gint32 *offsets = column->offsets;

  if (!dlp_utf8_is_valid (column->data + offsets[0], (gsize) (offsets[n] - offsets[0])))
    return FALSE;
  for (gsize i = 0; i < n; i++)
    if (offsets[i] < offsets[n] && (column->data[offsets[i]] & 0xc0) == 0x80)
      return FALSE;
  return TRUE;
}

static gboolean
check_utf8 (Field *self, GError **error)
{
  if (self->column->validity == NULL && range_is_utf8 (self->column, self->n))
    return TRUE;

  for (gsize i = 0; i < self->n; i++)
    {
      gsize size;
      const guint8 *value = dlp_column_get_value (self->column, i, &size);

      if (!dlp_column_is_null (self->column, i) && !dlp_utf8_is_valid (value, size))
        return refuse (error, self->name, "row %" G_GSIZE_FORMAT " is not valid UTF-8", i);
    }
  return TRUE;
}

static gboolean
import_values (Field *self, GError **error)
{
  if (!import_offsets (self, error))
    return FALSE;
  if (self->array->buffers[2] != NULL)
    self->column->data = self->array->buffers[2];
  else if (self->column->offsets[self->n] > 0)
    return refuse (error, self->name, "no data for %d bytes", self->column->offsets[self->n]);
  return self->column->type != DLP_FIELD_STRING || check_utf8 (self, error);
}

/* The items from offsets[0] on, with offsets that begin at 0. */
static void
copy_items (Field *self, const guint8 *data)
{
  DlpColumn *column = self->column;
  gsize begin = (gsize) column->offsets[0];
  gsize size = ((gsize) column->offsets[self->n] - begin) * column->width;
  gint32 *offsets = (gint32 *) copy_buffer (self, column->offsets, (self->n + 1) * sizeof (gint32));

  for (gsize i = 0; i <= self->n; i++)
    offsets[i] -= (gint32) begin;
  column->offsets = offsets;
  column->data = copy_buffer (self, data + begin * column->width, size);
}

static gboolean
import_list (Field *self, GError **error)
{
  const struct ArrowArray *items = self->array->children[0];
  DlpColumn *column = self->column;
  const guint8 *data;
  gsize begin;
  gsize end;

  if (!import_offsets (self, error) || !check_shape (items, self->name, 2, 0, error))
    return FALSE;

  begin = (gsize) column->offsets[0];
  end = (gsize) column->offsets[self->n];
  data = items->buffers[1];
  if (end > (gsize) items->length || (end > 0 && data == NULL))
    return refuse (error, self->name,
                   "items to %" G_GSIZE_FORMAT ", but there are %" G_GINT64_FORMAT, end,
                   data == NULL ? 0 : items->length);
  if ((end - begin) * column->width > DLP_COLUMN_MAX_BYTES)
    return refuse (error, self->name, "%" G_GSIZE_FORMAT " bytes of items, at most %d are allowed",
                   (end - begin) * column->width, DLP_COLUMN_MAX_BYTES);
  if (items->buffers[0] != NULL && items->null_count != 0 &&
      dlp_bits_count (items->buffers[0], (gsize) items->offset + begin, end - begin) < end - begin)
    return refuse (error, self->name, "there are nulls among the items of a list");

  if (end == 0)
    return TRUE;
  data += (gsize) items->offset * column->width;
  if (is_aligned (data, column->width))
    column->data = data;
  else
    copy_items (self, data);
  return TRUE;
}

static gboolean
import_field (Field *self, const struct ArrowArray *root, gboolean optional, GError **error)
{
  const struct ArrowArray *array = self->array;
  gboolean is_list = dlp_field_type_is_list (self->column->type);
  gboolean has_offsets = self->column->offsets != NULL;

  if (!check_shape (array, self->name, has_offsets && !is_list ? 3 : 2, is_list ? 1 : 0, error))
    return FALSE;
  if (array->length < root->offset + root->length)
    return refuse (error, self->name,
                   "%" G_GINT64_FORMAT " rows, but the struct has %" G_GINT64_FORMAT
                   " from %" G_GINT64_FORMAT " on",
                   array->length, root->length, root->offset);
  if (self->n == 0)
    return TRUE;

  self->first = (gsize) array->offset + (gsize) root->offset;
  if (!import_validity (self, optional, error))
    return FALSE;
  if (!has_offsets)
    return import_fixed (self, error);
  return is_list ? import_list (self, error) : import_values (self, error);
}

static gboolean
check_root (const struct ArrowArray *in, const DlpSchema *schema, GError **error)
{
  if (!check_shape (in, NULL, 1, schema->n_fields, error))
    return FALSE;
  if ((gsize) in->length > DLP_COLUMNS_MAX_RECORDS)
    return refuse (error, NULL,
                   "%" G_GINT64_FORMAT " rows, at most %" G_GSIZE_FORMAT " are allowed", in->length,
                   DLP_COLUMNS_MAX_RECORDS);
  if (in->buffers[0] != NULL && in->null_count != 0 &&
      dlp_bits_count (in->buffers[0], (gsize) in->offset, (gsize) in->length) < (gsize) in->length)
    return refuse (error, NULL, "whole rows are null");
  return TRUE;
}

static void
import_coordinates (DlpColumns *columns, const DlpCoordinate *coordinates)
{
  gsize size = columns->length * sizeof *coordinates;
  DlpBuffer buffer = { 0 };

  if (columns->length == 0)
    return;

  dlp_buffer_ensure (&buffer, 0, size);
  if (coordinates != NULL)
    memcpy (buffer.data, coordinates, size);
  else
    for (guint i = 0; i < columns->length; i++)
      ((DlpCoordinate *) buffer.data)[i] = (DlpCoordinate){ .row = i };
  columns->coordinates = (const DlpCoordinate *) dlp_columns_take_buffer (columns, &buffer, size);
}

/* Columns that are views of what in holds, which is not owned yet. */
static DlpColumns *
import_columns (DlpSchema *schema, const struct ArrowArray *in, GError **error)
{
  DlpColumns *columns;

  if (!check_root (in, schema, error))
    return NULL;

  /* Of a field at most the validity, the items and twice the offsets are copied. */
  columns = dlp_columns_new (schema, 4 * schema->n_fields + 1);
  columns->length = (guint) in->length;
  for (guint i = 0; i < schema->n_fields; i++)
    {
      Field field = { .name = schema->fields[i].name,
                      .array = in->children[i],
                      .columns = columns,
                      .column = &columns->columns[i],
                      .n = columns->length };

      if (!import_field (&field, in, schema->fields[i].optional, error))
        {
          dlp_columns_unref (columns);
          return NULL;
        }
    }
  return columns;
}

DlpRecordBatch *
dlp_record_batch_import (DlpSchema *schema,
                         struct ArrowArray *in,
                         const DlpCoordinate *coordinates,
                         GError **error)
{
  DlpColumns *columns;

  g_return_val_if_fail (schema != NULL && in != NULL, NULL);

  columns = import_columns (schema, in, error);
  if (columns == NULL)
    {
      if (in->release != NULL)
        in->release (in);
      return NULL;
    }
  import_coordinates (columns, coordinates);
  columns->imported = *in;
  in->release = NULL;
  return dlp_record_batch_new_take (columns);
}
