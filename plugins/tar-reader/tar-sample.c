/* SPDX-License-Identifier: MIT */

#include "tar-sample.h"

#include <string.h>

#include <dlpipe/dlp-utf8.h>

#include "jsonl-fields.h"
#include "text-start.h"

/* A member that is wanted. */
typedef struct
{
  gboolean is_there;
  const guint8 *data;
  gsize size;
  char *name;           /* (nullable) */
  JsonScratch *scratch; /* (nullable): where there are paths */
  JsonValue *values;
} Part;

struct _TarSample
{
  const TarFields *fields;
  gboolean is_open;
  GString *key;
  GString *last;
  GHashTable *seen; /* of char *: extensions, in lower case */
  Part *parts;      /* as the members of the fields */
  ReaderFault fault;
};

TarSample *
tar_sample_new (const TarFields *fields)
{
  TarSample *self = g_new0 (TarSample, 1);

  self->fields = fields;
  self->key = g_string_new (NULL);
  self->last = g_string_new (NULL);
  self->seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->parts = g_new0 (Part, fields->members->len);
  for (guint i = 0; i < fields->members->len; i++)
    {
      const TarWanted *wanted = fields->members->pdata[i];

      if (wanted->plan == NULL)
        continue;
      self->parts[i].scratch = json_scratch_new ();
      self->parts[i].values = g_new0 (JsonValue, wanted->paths->len);
    }
  return self;
}

void
tar_sample_free (TarSample *self)
{
  tar_sample_drop (self);
  for (guint i = 0; i < self->fields->members->len; i++)
    {
      g_clear_pointer (&self->parts[i].scratch, json_scratch_free);
      g_free (self->parts[i].values);
    }
  g_free (self->parts);
  g_hash_table_unref (self->seen);
  g_string_free (self->key, TRUE);
  g_string_free (self->last, TRUE);
  g_free (self);
}

void
tar_sample_trim (TarSample *self, gsize max_bytes)
{
  for (guint i = 0; i < self->fields->members->len; i++)
    if (self->parts[i].scratch != NULL)
      json_scratch_trim (self->parts[i].scratch, max_bytes);
}

/* ---- its members ---- */

gboolean
tar_sample_is_open (const TarSample *self)
{
  return self->is_open;
}

gboolean
tar_sample_has (const TarSample *self, const TarMember *member, gsize key_size)
{
  return self->is_open && self->key->len == key_size &&
         memcmp (self->key->str, member->name->str, key_size) == 0;
}

void
tar_sample_begin (TarSample *self, const TarMember *member, gsize key_size)
{
  self->is_open = TRUE;
  g_string_truncate (self->key, 0);
  g_string_append_len (self->key, member->name->str, (gssize) key_size);
}

const char *
tar_sample_get_last (const TarSample *self, gsize *size)
{
  *size = self->last->len;
  return self->last->str;
}

static char *
show_name (const GString *name)
{
  return reader_value_show ((const guint8 *) name->str, name->len);
}

/* The first one counts. */
static void
set_fault (TarSample *self, const char *kind, const guint8 *at, char *message)
{
  if (self->fault.kind != NULL)
    {
      g_free (message);
      return;
    }
  self->fault.kind = kind;
  self->fault.at = at;
  self->fault.message = message;
}

static void
add_wanted (Part *part, const TarMember *member, const guint8 *data)
{
  part->is_there = TRUE;
  part->data = data;
  part->size = (gsize) member->size;
  g_free (part->name);
  part->name = g_utf8_make_valid (member->name->str, (gssize) member->name->len);
}

void
tar_sample_add (TarSample *self, const TarMember *member, const guint8 *data)
{
  char *extension = g_ascii_strdown (member->name->str + self->key->len + 1, -1);
  gint wanted = tar_fields_find_member (self->fields, extension);
  g_autofree char *shown = NULL;

  g_string_assign (self->last, "");
  g_string_append_len (self->last, member->name->str, (gssize) member->name->len);
  if (!g_hash_table_add (self->seen, extension))
    {
      shown = show_name (member->name);
      set_fault (self, "duplicate", data,
                 g_strdup_printf ("two members of one sample have the extension of %s", shown));
    }
  else if (wanted >= 0 && data != NULL)
    {
      add_wanted (&self->parts[wanted], member, data);
      if (!member->is_sparse)
        return;
      shown = show_name (member->name);
      set_fault (self, "sparse", data,
                 g_strdup_printf ("%s is stored as a sparse file, which is not read", shown));
    }
}

gboolean
tar_sample_is_complete (const TarSample *self)
{
  for (guint i = 0; i < self->fields->members->len; i++)
    if (!self->parts[i].is_there)
      return FALSE;
  return self->is_open && self->fault.kind == NULL;
}

void
tar_sample_drop (TarSample *self)
{
  self->is_open = FALSE;
  g_hash_table_remove_all (self->seen);
  for (guint i = 0; i < self->fields->members->len; i++)
    {
      self->parts[i].is_there = FALSE;
      g_clear_pointer (&self->parts[i].name, g_free);
    }
  g_clear_pointer (&self->fault.message, g_free);
  self->fault.kind = NULL;
}

/* ---- its record ---- */

/* (transfer full): the extensions that there are, in order. */
static char *
list_extensions (const TarSample *self)
{
  g_autoptr (GList) keys = g_list_sort (g_hash_table_get_keys (self->seen), (GCompareFunc) strcmp);
  g_autoptr (GString) list = g_string_new (NULL);

  for (GList *key = keys; key != NULL && list->len < 200; key = key->next)
    g_string_append_printf (list, "%s%s", list->len > 0 ? ", " : "", (const char *) key->data);
  return g_utf8_make_valid (list->str, (gssize) list->len);
}

static void
set_missing (TarSample *self, const TarField *field)
{
  const TarWanted *wanted = self->fields->members->pdata[field->member];
  g_autofree char *key = show_name (self->key);
  g_autofree char *list = list_extensions (self);

  set_fault (
      self, "missing", NULL,
      g_strdup_printf ("the sample %s has no member .%s; it has %s (members of a sample must "
                       "stand next to each other; fields=%s:%s? would take it)",
                       key, wanted->extension, list, field->field.path,
                       dlp_field_type_to_string (field->field.type)));
}

static void
append_text (TarSample *self,
             const char *name,
             const guint8 *data,
             gsize size,
             DlpRecordBatchBuilder *builder,
             guint index)
{
  gsize mark = text_start_measure_bom (data, size);
  gsize valid = mark + dlp_utf8_measure_valid (data + mark, size - mark);

  if (valid == size)
    dlp_record_batch_builder_append_value (builder, index, data + mark, size - mark);
  else
    set_fault (
        self, "utf-8", data + valid,
        g_strdup_printf ("the member \"%s\": byte 0x%02x is not UTF-8 there", name, data[valid]));
}

static void
append_key (TarSample *self, DlpRecordBatchBuilder *builder, guint index)
{
  const guint8 *key = (const guint8 *) self->key->str;

  if (dlp_utf8_measure_valid (key, self->key->len) == self->key->len)
    dlp_record_batch_builder_append_value (builder, index, key, self->key->len);
  else
    set_fault (self, "utf-8", NULL, g_strdup ("the key of the sample is not UTF-8"));
}

/* A copy, since the end of a number is where something else follows. */
static void
append_scalar (TarSample *self,
               const TarField *field,
               const Part *part,
               DlpRecordBatchBuilder *builder,
               guint index)
{
  gsize size = part->size;
  g_autofree char *text = NULL;
  ReaderFault fault = { NULL };

  while (size > 0 && g_ascii_isspace (part->data[size - 1]))
    size--;
  text = g_malloc (size + 1);
  memcpy (text, part->data, size);
  text[size] = '\0';
  if (!reader_value_append (&field->field, "the member", part->name, (const guint8 *) text, size,
                            builder, index, &fault))
    set_fault (self, fault.kind, part->data, fault.message);
}

static void
append_member (TarSample *self, const TarField *field, DlpRecordBatchBuilder *builder, guint index)
{
  const Part *part = &self->parts[field->member];

  if (field->field.type == DLP_FIELD_BINARY)
    dlp_record_batch_builder_append_value (builder, index, part->data, part->size);
  else if (field->field.type == DLP_FIELD_STRING)
    append_text (self, part->name, part->data, part->size, builder, index);
  else
    append_scalar (self, field, part, builder, index);
}

/* As jsonl-reader takes them. */
static void
append_value (TarSample *self, const TarField *field, DlpRecordBatchBuilder *builder, guint index)
{
  const Part *part = &self->parts[field->member];
  const JsonValue *value = &part->values[field->value];
  JsonlFault fault = { NULL };

  if (value->kind <= JSON_VALUE_NULL && field->field.optional)
    dlp_record_batch_builder_append_null (builder, index);
  else if (value->kind > JSON_VALUE_NULL && field->field.type == DLP_FIELD_STRING)
    dlp_record_batch_builder_append_value (builder, index, value->data, value->len);
  else if (value->kind == JSON_VALUE_MISSING)
    set_fault (self, "missing", part->data,
               g_strdup_printf ("the member \"%s\" has no field %s (fields=%s:%s? would take it)",
                                part->name, field->field.path, field->field.path,
                                dlp_field_type_to_string (field->field.type)));
  else if (!jsonl_field_append (&field->field, NULL, builder, index, value, part->data, &fault))
    set_fault (self, fault.kind, part->data + fault.offset, fault.message);
}

static void
parse_json (TarSample *self, guint index, JsonCounts *counts)
{
  const TarWanted *wanted = self->fields->members->pdata[index];
  Part *part = &self->parts[index];
  JsonError error;

  if (wanted->plan == NULL || !part->is_there ||
      json_parse_record (wanted->plan, part->scratch, part->data, part->size, part->values, counts,
                         &error))
    return;
  set_fault (self, json_error_kind_get_name (error.kind), part->data + error.offset,
             g_strdup_printf ("the member \"%s\": %s", part->name, error.message));
}

static void
append_field (TarSample *self, guint index, DlpRecordBatchBuilder *builder)
{
  const TarField *field = self->fields->fields->pdata[index];

  if (field->member < 0)
    append_key (self, builder, index);
  else if (!self->parts[field->member].is_there && field->field.optional)
    dlp_record_batch_builder_append_null (builder, index);
  else if (!self->parts[field->member].is_there)
    set_missing (self, field);
  else if (field->value >= 0)
    append_value (self, field, builder, index);
  else
    append_member (self, field, builder, index);
}

gboolean
tar_sample_append (TarSample *self,
                   DlpRecordBatchBuilder *builder,
                   JsonCounts *counts,
                   ReaderFault *fault)
{
  gboolean is_good;

  for (guint i = 0; i < self->fields->members->len && self->fault.kind == NULL; i++)
    parse_json (self, i, counts);
  for (guint i = 0; i < self->fields->fields->len && self->fault.kind == NULL; i++)
    append_field (self, i, builder);
  is_good = self->fault.kind == NULL;
  *fault = self->fault;
  self->fault = (ReaderFault){ NULL };
  tar_sample_drop (self);
  return is_good;
}
