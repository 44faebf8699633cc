/* SPDX-License-Identifier: MIT */

#include "dlp-schema-private.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

G_DEFINE_BOXED_TYPE (DlpSchema, dlp_schema, dlp_schema_ref, dlp_schema_unref)

static const struct
{
  const char *name;
  const char *format;
  const char *item_format;
} types[] = {
  [DLP_FIELD_STRING] = { "string", "u", NULL },
  [DLP_FIELD_BINARY] = { "binary", "z", NULL },
  [DLP_FIELD_BOOLEAN] = { "boolean", "b", NULL },
  [DLP_FIELD_INT64] = { "int64", "l", NULL },
  [DLP_FIELD_UINT64] = { "uint64", "L", NULL },
  [DLP_FIELD_DOUBLE] = { "double", "g", NULL },
  [DLP_FIELD_LIST_UINT16] = { "list<uint16>", "+l", "S" },
  [DLP_FIELD_LIST_UINT32] = { "list<uint32>", "+l", "I" },
  [DLP_FIELD_LIST_INT32] = { "list<int32>", "+l", "i" },
  [DLP_FIELD_LIST_INT64] = { "list<int64>", "+l", "l" },
  [DLP_FIELD_LIST_FLOAT] = { "list<float>", "+l", "f" },
  [DLP_FIELD_LIST_DOUBLE] = { "list<double>", "+l", "g" },
};

const char *
dlp_field_type_to_string (DlpFieldType type)
{
  g_return_val_if_fail ((gsize) type < G_N_ELEMENTS (types), NULL);

  return types[type].name;
}

const char *
dlp_field_type_get_format (DlpFieldType type)
{
  return types[type].format;
}

const char *
dlp_field_type_get_item_format (DlpFieldType type)
{
  return types[type].item_format;
}

/* The bytes hashed are part of the digest's definition: docs/internals/digest.md. */
static guint64
hash_fields (const DlpSchema *self)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();

  for (guint i = 0; i < self->n_fields; i++)
    {
      const DlpField *field = &self->fields[i];
      const char *item = types[field->type].item_format;
      g_autofree char *format = g_strconcat (types[field->type].format, item, NULL);

      g_byte_array_append (bytes, (const guint8 *) field->name, strlen (field->name) + 1);
      g_byte_array_append (bytes, (const guint8 *) format, strlen (format) + 1);
    }
  return XXH3_64bits (bytes->data, bytes->len);
}

static gboolean
check_fields (guint n_fields, const char *const *names, const DlpFieldType *field_types)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < n_fields; i++)
    if (names[i] == NULL || !g_hash_table_add (seen, (gpointer) names[i]) ||
        (gsize) field_types[i] >= G_N_ELEMENTS (types))
      return FALSE;
  return TRUE;
}

DlpSchema *
dlp_schema_new (DlpSchemaKind kind,
                guint n_fields,
                const char *const *names,
                const DlpFieldType *field_types,
                const gboolean *optional)
{
  DlpSchema *self;

  g_return_val_if_fail (kind <= DLP_SCHEMA_BATCHES, NULL);
  g_return_val_if_fail (n_fields == 0 || (names != NULL && field_types != NULL), NULL);
  g_return_val_if_fail (check_fields (n_fields, names, field_types), NULL);

  self = g_malloc0 (sizeof *self + n_fields * sizeof self->fields[0]);
  self->ref_count = 1;
  self->kind = kind;
  self->n_fields = n_fields;
  for (guint i = 0; i < n_fields; i++)
    {
      self->fields[i].name = g_strdup (names[i]);
      self->fields[i].type = field_types[i];
      self->fields[i].optional = optional != NULL && optional[i];
    }
  self->hash = hash_fields (self);
  return self;
}

DlpSchema *
dlp_schema_files (void)
{
  static const char *const names[] = { "uri", "size", "identity" };
  static const DlpFieldType field_types[] = { DLP_FIELD_STRING, DLP_FIELD_INT64, DLP_FIELD_STRING };
  static gsize files;

  if (g_once_init_enter (&files))
    g_once_init_leave (&files, (gsize) dlp_schema_new (DLP_SCHEMA_FILES, G_N_ELEMENTS (names),
                                                       names, field_types, NULL));
  return dlp_schema_ref ((DlpSchema *) files);
}

DlpSchema *
dlp_schema_ref (DlpSchema *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_int_inc (&self->ref_count);
  return self;
}

void
dlp_schema_unref (DlpSchema *self)
{
  g_return_if_fail (self != NULL);

  if (!g_atomic_int_dec_and_test (&self->ref_count))
    return;

  for (guint i = 0; i < self->n_fields; i++)
    g_free (self->fields[i].name);
  g_free (self);
}

DlpSchemaKind
dlp_schema_get_kind (const DlpSchema *self)
{
  g_return_val_if_fail (self != NULL, DLP_SCHEMA_RECORDS);

  return self->kind;
}

guint
dlp_schema_get_n_fields (const DlpSchema *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->n_fields;
}

const char *
dlp_schema_get_field_name (const DlpSchema *self, guint field)
{
  g_return_val_if_fail (self != NULL && field < self->n_fields, NULL);

  return self->fields[field].name;
}

DlpFieldType
dlp_schema_get_field_type (const DlpSchema *self, guint field)
{
  g_return_val_if_fail (self != NULL && field < self->n_fields, DLP_FIELD_STRING);

  return self->fields[field].type;
}

gboolean
dlp_schema_get_field_optional (const DlpSchema *self, guint field)
{
  g_return_val_if_fail (self != NULL && field < self->n_fields, FALSE);

  return self->fields[field].optional;
}

int
dlp_schema_find (const DlpSchema *self, const char *name)
{
  g_return_val_if_fail (self != NULL && name != NULL, -1);

  for (guint i = 0; i < self->n_fields; i++)
    if (strcmp (self->fields[i].name, name) == 0)
      return i;
  return -1;
}

gboolean
dlp_schema_equal (const DlpSchema *a, const DlpSchema *b)
{
  g_return_val_if_fail (a != NULL && b != NULL, FALSE);

  if (a == b)
    return TRUE;
  if (a->kind != b->kind || a->n_fields != b->n_fields || a->hash != b->hash)
    return FALSE;
  for (guint i = 0; i < a->n_fields; i++)
    if (a->fields[i].type != b->fields[i].type || a->fields[i].optional != b->fields[i].optional ||
        strcmp (a->fields[i].name, b->fields[i].name) != 0)
      return FALSE;
  return TRUE;
}

char *
dlp_schema_to_string (const DlpSchema *self)
{
  static const char *const kinds[] = { "records", "files", "batches" };
  GString *text;

  g_return_val_if_fail (self != NULL, NULL);

  text = g_string_new (kinds[self->kind]);
  g_string_append (text, " {");
  for (guint i = 0; i < self->n_fields; i++)
    g_string_append_printf (text, "%s%s: %s%s", i > 0 ? ", " : "", self->fields[i].name,
                            types[self->fields[i].type].name, self->fields[i].optional ? "?" : "");
  g_string_append_c (text, '}');
  return g_string_free (text, FALSE);
}
