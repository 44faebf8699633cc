/* SPDX-License-Identifier: MIT */

#include "dlp-record-batch-private.h"

#include <string.h>

/* Whatever was exported together is one block of memory, which lives until each of its structs was
 * released: a consumer may move children away and release them later, on other threads. */
typedef struct
{
  gint ref_count;
  gpointer owner;
  GDestroyNotify owner_unref;
} Block;

typedef struct
{
  struct ArrowSchema schema;
  struct ArrowSchema item;
  struct ArrowSchema *children[1];
} SchemaField;

typedef struct
{
  struct ArrowArray array;
  struct ArrowArray item;
  struct ArrowArray *children[1];
  const void *buffers[3];
  const void *item_buffers[2];
} ArrayField;

static gpointer
block_new (gsize field_size, guint n_fields, gpointer owner, GDestroyNotify owner_unref)
{
  gsize size = sizeof (Block) + n_fields * (field_size + sizeof (gpointer)) + sizeof (gpointer);
  Block *self = g_malloc0 (size);

  self->owner = owner;
  self->owner_unref = owner_unref;
  return self;
}

static Block *
block_ref (Block *self)
{
  g_atomic_int_inc (&self->ref_count);
  return self;
}

static void
block_unref (Block *self)
{
  if (!g_atomic_int_dec_and_test (&self->ref_count))
    return;

  self->owner_unref (self->owner);
  g_free (self);
}

static void
schema_release (struct ArrowSchema *schema)
{
  for (int64_t i = 0; i < schema->n_children; i++)
    if (schema->children[i]->release != NULL)
      schema->children[i]->release (schema->children[i]);
  schema->release = NULL;
  block_unref (schema->private_data);
}

static void
array_release (struct ArrowArray *array)
{
  for (int64_t i = 0; i < array->n_children; i++)
    if (array->children[i]->release != NULL)
      array->children[i]->release (array->children[i]);
  array->release = NULL;
  block_unref (array->private_data);
}

static void
export_schema_field (Block *block, SchemaField *out, const DlpField *field)
{
  const char *item_format = dlp_field_type_get_item_format (field->type);

  out->schema = (struct ArrowSchema){
    .format = dlp_field_type_get_format (field->type),
    .name = field->name,
    .flags = field->optional ? ARROW_FLAG_NULLABLE : 0,
    .release = schema_release,
    .private_data = block_ref (block),
  };
  if (item_format == NULL)
    return;

  out->item = (struct ArrowSchema){
    .format = item_format,
    .name = "item",
    .release = schema_release,
    .private_data = block_ref (block),
  };
  out->children[0] = &out->item;
  out->schema.children = out->children;
  out->schema.n_children = 1;
}

void
dlp_schema_export (const DlpSchema *self, struct ArrowSchema *out)
{
  Block *block;
  SchemaField *fields;
  struct ArrowSchema **children;

  g_return_if_fail (self != NULL && out != NULL);

  block = block_new (sizeof (SchemaField), self->n_fields, dlp_schema_ref ((DlpSchema *) self),
                     (GDestroyNotify) dlp_schema_unref);
  fields = (SchemaField *) (block + 1);
  children = (struct ArrowSchema **) (fields + self->n_fields);
  for (guint i = 0; i < self->n_fields; i++)
    {
      export_schema_field (block, &fields[i], &self->fields[i]);
      children[i] = &fields[i].schema;
    }
  *out = (struct ArrowSchema){
    .format = "+s",
    .name = "",
    .n_children = self->n_fields,
    .children = children,
    .release = schema_release,
    .private_data = block_ref (block),
  };
}

static void
export_list_items (Block *block, ArrayField *out, const DlpColumn *column, gsize end)
{
  out->item = (struct ArrowArray){
    .length = column->offsets[end],
    .n_buffers = 2,
    .buffers = out->item_buffers,
    .release = array_release,
    .private_data = block_ref (block),
  };
  out->item_buffers[1] = column->data;
  out->children[0] = &out->item;
  out->array.children = out->children;
  out->array.n_children = 1;
}

static void
export_array_field (Block *block,
                    ArrayField *out,
                    const DlpColumn *column,
                    gsize offset,
                    gsize length)
{
  out->array = (struct ArrowArray){
    .length = (int64_t) length,
    .offset = (int64_t) offset,
    .null_count = column->validity == NULL ?
                      0 :
                      (int64_t) (length - dlp_bits_count (column->validity, offset, length)),
    .n_buffers = 2,
    .buffers = out->buffers,
    .release = array_release,
    .private_data = block_ref (block),
  };
  out->buffers[0] = column->validity;
  if (column->offsets == NULL)
    {
      out->buffers[1] = column->data;
      return;
    }
  out->buffers[1] = column->offsets;
  if (dlp_field_type_is_list (column->type))
    {
      export_list_items (block, out, column, offset + length);
      return;
    }
  out->buffers[2] = column->data;
  out->array.n_buffers = 3;
}

void
dlp_record_batch_export (DlpRecordBatch *self, struct ArrowArray *out)
{
  guint n_fields;
  Block *block;
  ArrayField *fields;
  struct ArrowArray **children;
  const void **buffers;

  g_return_if_fail (self != NULL && out != NULL);

  n_fields = self->columns->schema->n_fields;
  block = block_new (sizeof (ArrayField), n_fields, dlp_record_batch_ref (self),
                     (GDestroyNotify) dlp_record_batch_unref);
  fields = (ArrayField *) (block + 1);
  children = (struct ArrowArray **) (fields + n_fields);
  /* The validity of the struct itself: block_new() left a NULL at the end. */
  buffers = (const void **) (children + n_fields);
  for (guint i = 0; i < n_fields; i++)
    {
      export_array_field (block, &fields[i], &self->columns->columns[i], self->offset,
                          self->length);
      children[i] = &fields[i].array;
    }
  *out = (struct ArrowArray){
    .length = self->length,
    .n_buffers = 1,
    .buffers = buffers,
    .n_children = n_fields,
    .children = children,
    .release = array_release,
    .private_data = block_ref (block),
  };
}
