/* SPDX-License-Identifier: MIT */

#include "dlp-msgpack-reader.h"

#include <string.h>

#include <dlpipe/dlp-error.h>

#include "msgpack-field.h"

#define TEXT_FIELD 0 /* where there is a text */
/* Keys of a record that a message lists. */
#define MAX_KEYS 12

struct _DlpMsgpackReader
{
  DlpReader parent_instance;

  char *field;
  char **fields;

  gboolean has_text;
  gboolean is_strict;
  GPtrArray *further; /* of ReaderField: of the values behind that of the text */
  MsgpackPlan *plan;
  guint n_values;
  guint64 max_record_bytes;
};

typedef struct
{
  MsgpackRecord record;
  ReaderList list;
} Worker;

/* A chunk that is being parsed. */
typedef struct
{
  DlpMsgpackReader *self;
  Worker *worker;
  DlpReaderChunk *chunk;
  const guint8 *bytes;
  const guint8 *end;
} Parse;

enum
{
  COUNTER_DUPLICATE_KEYS,
};

static const char *const counters[] = { "duplicate-keys", NULL };

enum
{
  PROP_0,
  PROP_FIELD,
  PROP_FIELDS,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

G_DEFINE_FINAL_TYPE (DlpMsgpackReader, dlp_msgpack_reader, DLP_TYPE_READER)

/* ---- the schema ---- */

/* The first value that is no text. */
static guint
get_first (DlpMsgpackReader *self)
{
  return self->has_text ? TEXT_FIELD + 1 : 0;
}

static const ReaderField *
get_further (DlpMsgpackReader *self, guint value)
{
  return g_ptr_array_index (self->further, value - get_first (self));
}

static gboolean
make_plan (DlpMsgpackReader *self, GError **error)
{
  g_autoptr (GPtrArray) paths = g_ptr_array_new ();
  g_autofree char *why = NULL;

  if (self->has_text)
    g_ptr_array_add (paths, self->field);
  for (guint i = get_first (self); i < self->n_values; i++)
    g_ptr_array_add (paths, get_further (self, i)->path);
  g_clear_pointer (&self->plan, msgpack_plan_free);
  self->plan = msgpack_plan_new (paths, &why);
  if (self->plan == NULL)
    g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE, "field: %s", why);
  return self->plan != NULL;
}

static DlpSchema *
make_schema (DlpMsgpackReader *self)
{
  g_autofree const char **names = g_new (const char *, self->n_values);
  g_autofree DlpFieldType *types = g_new (DlpFieldType, self->n_values);
  g_autofree gboolean *optional = g_new (gboolean, self->n_values);

  if (self->has_text)
    {
      names[TEXT_FIELD] = "text";
      types[TEXT_FIELD] = DLP_FIELD_STRING;
      optional[TEXT_FIELD] = FALSE;
    }
  for (guint i = get_first (self); i < self->n_values; i++)
    {
      names[i] = get_further (self, i)->name;
      types[i] = get_further (self, i)->type;
      optional[i] = get_further (self, i)->optional;
    }
  return dlp_schema_new (DLP_SCHEMA_RECORDS, self->n_values, names, types, optional);
}

static DlpSchema *
dlp_msgpack_reader_get_schema (DlpReader *reader, GError **error)
{
  DlpMsgpackReader *self = DLP_MSGPACK_READER (reader);

  g_clear_pointer (&self->further, g_ptr_array_unref);
  self->further =
      reader_fields_parse ((const char *const *) self->fields, self->field, "MessagePack",
                           READER_FIELDS_BINARY | READER_FIELDS_LISTS, error);
  if (self->further == NULL)
    return NULL;
  self->has_text = reader_fields_has_text (self->field);
  self->is_strict = dlp_element_get_strict (DLP_ELEMENT (reader));
  self->n_values = get_first (self) + self->further->len;
  if (self->n_values == 0)
    {
      reader_fields_refuse_none (error);
      return NULL;
    }
  g_object_get (self, "max-record-bytes", &self->max_record_bytes, NULL);
  return make_plan (self, error) ? make_schema (self) : NULL;
}

/* ---- where records end ---- */

/* What begins nothing is left to parse(), with all that is behind it. */
static gsize
dlp_msgpack_reader_cut (DlpReader *reader, const guint8 *data, gsize size)
{
  const guint8 *end = data + size;
  const guint8 *p = data;

  while (p < end)
    {
      const guint8 *next = p;
      MsgpackResult result = msgpack_skip (&next, end);

      if (result == MSGPACK_INVALID)
        return size;
      if (result == MSGPACK_SHORT)
        break;
      p = next;
    }
  return (gsize) (p - data);
}

static gsize
dlp_msgpack_reader_skip (DlpReader *reader,
                         guint64 *state,
                         const guint8 *data,
                         gsize size,
                         gboolean *ended)
{
  return msgpack_skip_on (state, data, size, ended);
}

/* ---- parsing, on a worker ---- */

static gpointer
dlp_msgpack_reader_worker_new (DlpReader *reader)
{
  Worker *worker = g_new (Worker, 1);

  msgpack_record_init (&worker->record, DLP_MSGPACK_READER (reader)->plan);
  reader_list_init (&worker->list);
  return worker;
}

static void
dlp_msgpack_reader_worker_free (DlpReader *reader, gpointer data)
{
  Worker *worker = data;

  msgpack_record_clear (&worker->record);
  reader_list_clear (&worker->list);
  g_free (worker);
}

static void
reject (Parse *parse,
        const guint8 *start,
        const guint8 *end,
        const char *kind,
        const guint8 *at,
        char *message)
{
  dlp_reader_chunk_reject (parse->chunk, 0, kind, (gsize) (at - parse->bytes), start,
                           (gsize) (end - start), message);
}

/* (transfer full): of a record without the field. */
static char *
describe_missing (const ReaderField *field,
                  const char *path,
                  const guint8 *start,
                  const guint8 *end)
{
  g_auto (GStrv) keys = msgpack_list_keys (start, end, MAX_KEYS);
  g_autofree char *there =
      reader_fields_list_names ((const char *const *) keys, g_strv_length (keys), path);
  g_autofree char *hint = field != NULL ? g_strdup_printf (" (fields=%s:%s? would take it)", path,
                                                           reader_field_get_type_name (field)) :
                                          g_strdup ("");

  return g_strdup_printf ("no field \"%s\"; the record has %s%s", path,
                          *there != '\0' ? there : "no keys", hint);
}

static gboolean
append_value (Parse *parse, guint i, const guint8 *end, ReaderFault *fault)
{
  DlpMsgpackReader *self = parse->self;
  DlpRecordBatchBuilder *builder = dlp_reader_chunk_get_builder (parse->chunk);
  const MsgpackValue *value = &parse->worker->record.values[i];

  if (i < get_first (self))
    return msgpack_field_append_text (self->field, builder, i, value, fault);
  return msgpack_field_append (get_further (self, i), &parse->worker->list, builder, i, value, end,
                               fault);
}

static void
append_values (Parse *parse, const guint8 *start, const guint8 *end)
{
  DlpMsgpackReader *self = parse->self;
  ReaderFault fault = { NULL };

  for (guint i = 0; i < self->n_values; i++)
    if (!append_value (parse, i, end, &fault))
      {
        const ReaderField *field = i < get_first (self) ? NULL : get_further (self, i);

        if (fault.message == NULL)
          {
            fault.at = start;
            fault.message =
                describe_missing (field, field != NULL ? field->path : self->field, start, end);
          }
        reject (parse, start, end, fault.kind, fault.at, fault.message);
        return;
      }
  dlp_reader_chunk_end_record (parse->chunk, 0);
}

/* A map as a whole. */
static void
take_map (Parse *parse, const guint8 *start, const guint8 *end)
{
  MsgpackRecord *record = &parse->worker->record;
  gsize size = (gsize) (end - start);

  if (size > parse->self->max_record_bytes)
    {
      reject (parse, start, end, "too-long", start,
              g_strdup_printf (
                  "a record of %zu bytes, above the max-record-bytes=%" G_GUINT64_FORMAT " allowed",
                  size, parse->self->max_record_bytes));
      return;
    }
  msgpack_record_read (record, parse->self->plan, start, end);
  if (record->duplicates > 0)
    dlp_reader_chunk_count (parse->chunk, COUNTER_DUPLICATE_KEYS, record->duplicates);
  if (record->duplicates > 0 && parse->self->is_strict)
    reject (parse, start, end, "duplicate-key", start,
            g_strdup ("a key that is wanted comes more than once"));
  else
    append_values (parse, start, end);
}

/* FALSE: the file is not what it should be. */
static gboolean
take_record (Parse *parse, const guint8 *start, const guint8 *end, gboolean is_first)
{
  MsgpackHead head;
  char *message;

  msgpack_read_head (start, end, &head);
  if (head.kind == MSGPACK_MAP)
    {
      take_map (parse, start, end);
      return TRUE;
    }
  message = g_strdup_printf ("%s, where a record, which is a map, was expected",
                             msgpack_kind_get_name (head.kind));
  if (is_first)
    dlp_reader_chunk_damage (parse->chunk, 0, message);
  else
    reject (parse, start, end, "not-a-map", start, message);
  return !is_first;
}

/* Nothing says where the next record would begin. */
static void
end_at (Parse *parse, const guint8 *start, const guint8 *at, MsgpackResult result)
{
  if (result == MSGPACK_INVALID)
    dlp_reader_chunk_damage (
        parse->chunk, (gsize) (at - parse->bytes),
        g_strdup ("byte 0xc1, which begins nothing in MessagePack; where the next record is "
                  "cannot be told"));
  else
    dlp_reader_chunk_damage (parse->chunk, (gsize) (start - parse->bytes),
                             g_strdup ("a record that the end of the file cuts off"));
}

static void
dlp_msgpack_reader_parse (DlpReader *reader, gpointer worker, DlpReaderChunk *chunk)
{
  gboolean at_start = dlp_reader_chunk_get_offset (chunk) == 0;
  gsize size;
  Parse parse = {
    .self = DLP_MSGPACK_READER (reader),
    .worker = worker,
    .chunk = chunk,
    .bytes = dlp_reader_chunk_get_data (chunk, &size),
  };
  const guint8 *p = parse.bytes;

  parse.end = parse.bytes + size;
  while (p < parse.end)
    {
      const guint8 *next = p;
      MsgpackResult result = msgpack_skip (&next, parse.end);

      if (result != MSGPACK_READ)
        {
          end_at (&parse, p, next, result);
          return;
        }
      if (!take_record (&parse, p, next, at_start && p == parse.bytes))
        return;
      p = next;
    }
}

/* ---- object ---- */

static void
dlp_msgpack_reader_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  DlpMsgpackReader *self = DLP_MSGPACK_READER (object);

  if (id == PROP_FIELD)
    g_value_set_string (value, self->field);
  else if (id == PROP_FIELDS)
    g_value_set_boxed (value, self->fields);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
dlp_msgpack_reader_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  DlpMsgpackReader *self = DLP_MSGPACK_READER (object);

  if (id == PROP_FIELD)
    {
      g_free (self->field);
      self->field = g_value_dup_string (value);
    }
  else if (id == PROP_FIELDS)
    {
      g_strfreev (self->fields);
      self->fields = g_value_dup_boxed (value);
    }
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
dlp_msgpack_reader_finalize (GObject *object)
{
  DlpMsgpackReader *self = DLP_MSGPACK_READER (object);

  g_clear_pointer (&self->plan, msgpack_plan_free);
  g_clear_pointer (&self->further, g_ptr_array_unref);
  g_free (self->field);
  g_strfreev (self->fields);

  G_OBJECT_CLASS (dlp_msgpack_reader_parent_class)->finalize (object);
}

static void
dlp_msgpack_reader_class_init (DlpMsgpackReaderClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  DlpReaderClass *reader_class = DLP_READER_CLASS (klass);

  object_class->get_property = dlp_msgpack_reader_get_property;
  object_class->set_property = dlp_msgpack_reader_set_property;
  object_class->finalize = dlp_msgpack_reader_finalize;
  reader_class->get_schema = dlp_msgpack_reader_get_schema;
  reader_class->cut = dlp_msgpack_reader_cut;
  reader_class->skip = dlp_msgpack_reader_skip;
  reader_class->worker_new = dlp_msgpack_reader_worker_new;
  reader_class->worker_free = dlp_msgpack_reader_worker_free;
  reader_class->parse = dlp_msgpack_reader_parse;
  dlp_reader_class_set_counters (reader_class, counters);
  dlp_element_class_set_description (
      DLP_ELEMENT_CLASS (klass),
      "Reads MessagePack: maps one behind the other, the text of one key of each, and others on "
      "request",
      "file-source location=data/*.msgpack ! msgpack-reader field='' fields=tokens=input_ids:i32[] "
      "! null-sink");

  properties[PROP_FIELD] = reader_field_new_pspec ("The string", "a dot goes down into a map");
  properties[PROP_FIELDS] =
      reader_fields_new_pspec ("Further fields", READER_FIELDS_BINARY | READER_FIELDS_LISTS);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
dlp_msgpack_reader_init (DlpMsgpackReader *self)
{
  self->field = g_strdup ("text");
}
