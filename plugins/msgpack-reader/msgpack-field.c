/* SPDX-License-Identifier: MIT */

/* A value of a record as a value of a field, or what is wrong with it. */

#include "msgpack-field.h"

#include <string.h>

#include <dlpipe/dlp-utf8.h>

static gboolean
is_bytes (const MsgpackValue *value)
{
  return value->head.kind == MSGPACK_STRING || value->head.kind == MSGPACK_BINARY;
}

/* (transfer full): what a value is, in a message. */
static char *
show (const MsgpackValue *value)
{
  GString *text = g_string_new (NULL);

  if (value->head.kind == MSGPACK_NUMBER)
    reader_number_show (text, &value->head.number);
  else if (value->head.kind == MSGPACK_BOOLEAN)
    g_string_append (text, value->head.is_true ? "true" : "false");
  else if (value->head.kind == MSGPACK_STRING)
    {
      g_autofree char *shown = reader_value_show (value->data, (gsize) value->head.length);

      g_string_append_printf (text, "the string %s", shown);
    }
  else
    g_string_append (text, msgpack_kind_get_name (value->head.kind));
  return g_string_free (text, FALSE);
}

/* @range: (nullable): the one that the value is out of. */
static gboolean
fail (const ReaderField *field, const MsgpackValue *value, const char *range, ReaderFault *fault)
{
  const char *expected = range != NULL ? range : reader_field_get_wanted (field);
  const char *type = reader_field_get_type_name (field);
  g_autofree char *shown = show (value);

  fault->at = value->start;
  fault->kind = value->head.kind == MSGPACK_NIL ? "null" : range != NULL ? "range" : "type";
  if (value->head.kind == MSGPACK_NIL)
    fault->message =
        g_strdup_printf ("the field \"%s\" is nil, expected %s (fields=%s:%s? would take it)",
                         field->path, expected, field->path, type);
  else
    fault->message = g_strdup_printf ("the field \"%s\" is %s, expected %s, as it is %s",
                                      field->path, shown, expected, type);
  return FALSE;
}

static gboolean
append_bytes (const char *name,
              gboolean is_text,
              DlpRecordBatchBuilder *builder,
              guint index,
              const MsgpackValue *value,
              ReaderFault *fault)
{
  gsize size = (gsize) value->head.length;
  gsize valid = is_text ? dlp_utf8_measure_valid (value->data, size) : size;

  if (valid < size)
    {
      fault->kind = "utf-8";
      fault->at = value->data + valid;
      fault->message =
          g_strdup_printf ("the field \"%s\": byte %zu of the text, 0x%02x, is not UTF-8", name,
                           valid, value->data[valid]);
      return FALSE;
    }
  dlp_record_batch_builder_append_value (builder, index, value->data, size);
  return TRUE;
}

gboolean
msgpack_field_append_text (const char *name,
                           DlpRecordBatchBuilder *builder,
                           guint index,
                           const MsgpackValue *value,
                           ReaderFault *fault)
{
  if (is_bytes (value))
    return append_bytes (name, TRUE, builder, index, value, fault);
  fault->at = value->start;
  fault->kind = value->head.kind == MSGPACK_NONE ? "missing" :
                value->head.kind == MSGPACK_NIL  ? "null" :
                                                   "type";
  if (value->head.kind != MSGPACK_NONE)
    fault->message = g_strdup_printf ("the field \"%s\" is %s, expected a string", name,
                                      msgpack_kind_get_name (value->head.kind));
  return FALSE;
}

/* A number or a boolean as its text. */
static gboolean
append_as_text (const ReaderField *field,
                DlpRecordBatchBuilder *builder,
                guint index,
                const MsgpackValue *value,
                ReaderFault *fault)
{
  g_autofree char *text = NULL;

  if (value->head.kind != MSGPACK_NUMBER && value->head.kind != MSGPACK_BOOLEAN)
    return fail (field, value, NULL, fault);
  text = show (value);
  dlp_record_batch_builder_append_value (builder, index, text, strlen (text));
  return TRUE;
}

static gboolean
append_number (const ReaderField *field,
               DlpRecordBatchBuilder *builder,
               guint index,
               const MsgpackValue *value,
               ReaderFault *fault)
{
  ReaderNumber number = value->head.number;
  NumberResult result;

  if (value->head.kind != MSGPACK_NUMBER)
    return fail (field, value, NULL, fault);
  result = reader_number_fit (&number, field->range);
  if (result != NUMBER_OK)
    return fail (field, value,
                 result == NUMBER_RANGE ? reader_range_get_limits (field->range) : NULL, fault);
  reader_number_append (&number, field, builder, index);
  return TRUE;
}

static gboolean
refuse_item (const ReaderField *field,
             const ReaderList *list,
             const MsgpackValue *item,
             NumberResult result,
             ReaderFault *fault)
{
  g_autofree char *shown = item->head.kind != MSGPACK_NIL ? show (item) : NULL;

  fault->at = item->start;
  reader_list_refuse (list, "the field", field->path, shown, result, fault);
  return FALSE;
}

static gboolean
append_list (const ReaderField *field,
             ReaderList *list,
             DlpRecordBatchBuilder *builder,
             guint index,
             const MsgpackValue *value,
             const guint8 *end,
             ReaderFault *fault)
{
  const guint8 *p = value->data;
  guint64 n = value->head.n;

  if (value->head.kind != MSGPACK_ARRAY)
    return fail (field, value, NULL, fault);
  reader_list_begin (list, field);
  while (list->n < n && !reader_list_is_full (list))
    {
      MsgpackValue item = { .start = p };
      NumberResult result = NUMBER_FRACTION;

      msgpack_read_head (p, end, &item.head);
      item.data = p + item.head.size;
      if (item.head.kind == MSGPACK_NUMBER)
        result = reader_list_add (list, &item.head.number);
      if (result != NUMBER_OK)
        return refuse_item (field, list, &item, result, fault);
      p += item.head.size;
    }
  reader_list_count (list, n - list->n);
  fault->at = value->start;
  return reader_list_end (list, "the field", field->path, builder, index, fault);
}

static gboolean
append_boolean (const ReaderField *field,
                DlpRecordBatchBuilder *builder,
                guint index,
                const MsgpackValue *value,
                ReaderFault *fault)
{
  if (value->head.kind != MSGPACK_BOOLEAN)
    return fail (field, value, NULL, fault);
  dlp_record_batch_builder_append_boolean (builder, index, value->head.is_true);
  return TRUE;
}

gboolean
msgpack_field_append (const ReaderField *field,
                      ReaderList *list,
                      DlpRecordBatchBuilder *builder,
                      guint index,
                      const MsgpackValue *value,
                      const guint8 *end,
                      ReaderFault *fault)
{
  if (value->head.kind <= MSGPACK_NIL && field->optional)
    {
      dlp_record_batch_builder_append_null (builder, index);
      return TRUE;
    }
  if (value->head.kind == MSGPACK_NONE)
    {
      fault->kind = "missing";
      return FALSE;
    }
  if (reader_field_is_list (field))
    return append_list (field, list, builder, index, value, end, fault);
  if (field->type == DLP_FIELD_BOOLEAN)
    return append_boolean (field, builder, index, value, fault);
  if (field->range != READER_RANGE_NONE)
    return append_number (field, builder, index, value, fault);
  if (is_bytes (value))
    return append_bytes (field->path, field->type == DLP_FIELD_STRING, builder, index, value,
                         fault);
  return field->type == DLP_FIELD_BINARY ? fail (field, value, NULL, fault) :
                                           append_as_text (field, builder, index, value, fault);
}
