/* SPDX-License-Identifier: MIT */

#include "dlp-jsonl-reader.h"

#include <string.h>

#include "json-keys.h"
#include "json-lines.h"
#include "json-record.h"
#include "jsonl-fields.h"

/* What a worker keeps for the next line, where there is memory for it. */
#define MAX_SCRATCH_BYTES (1024 * 1024)
#define TEXT_FIELD 0 /* where there is a text */
/* Keys of a record that a message lists. */
#define MAX_KEYS 12
/* So many records are enough to say that a field is in none of them. */
#define ENOUGH_RECORDS 10000

struct _DlpJsonlReader
{
  DlpReader parent_instance;

  char *field;
  char **fields;
  gboolean allow_non_finite;

  JsonPlan *plan;
  gboolean has_text;
  GPtrArray *further; /* of JsonlField: of the values behind that of the text */
  guint n_values;

  /* Of this attempt; written by workers, atomic. */
  guint64 n_parsed;
  char *seen;          /* by value: whether any record had it */
  char **example_keys; /* (nullable): of a record that lacked one */

  gboolean is_continued;
  gboolean judged_fields;
};

typedef struct
{
  JsonScratch *scratch;
  gsize max_scratch;
  JsonCounts counts;
  ReaderList list;
  guint64 n_noted; /* records whose fields were looked at, of this chunk */
  JsonValue values[];
} Worker;

enum
{
  COUNTER_LONE_SURROGATES,
  COUNTER_DUPLICATE_KEYS,
};

static const char *const counters[] = { "lone-surrogates", "duplicate-keys", NULL };

enum
{
  PROP_0,
  PROP_FIELD,
  PROP_FIELDS,
  PROP_ALLOW_NON_FINITE,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

G_DEFINE_FINAL_TYPE (DlpJsonlReader, dlp_jsonl_reader, DLP_TYPE_READER)

/* ---- the schema ---- */

/* The first value that is no text. */
static guint
get_first (DlpJsonlReader *self)
{
  return self->has_text ? TEXT_FIELD + 1 : 0;
}

static const JsonlField *
get_further (DlpJsonlReader *self, guint value)
{
  return g_ptr_array_index (self->further, value - get_first (self));
}

static JsonPlan *
make_plan (DlpJsonlReader *self, GError **error)
{
  g_autoptr (GPtrArray) paths = g_ptr_array_new ();
  g_autoptr (GError) local_error = NULL;
  JsonFlags flags = JSON_FLAGS_NONE;
  JsonPlan *plan;

  if (self->has_text)
    g_ptr_array_add (paths, self->field);
  for (guint i = get_first (self); i < self->n_values; i++)
    g_ptr_array_add (paths, get_further (self, i)->path);
  if (dlp_element_get_strict (DLP_ELEMENT (self)))
    flags |= JSON_FLAGS_STRICT;
  if (self->allow_non_finite)
    flags |= JSON_FLAGS_ALLOW_NON_FINITE;

  plan = json_plan_new ((const char *const *) paths->pdata, paths->len, flags, &local_error);
  if (plan == NULL)
    g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE, "field: %s", local_error->message);
  return plan;
}

static DlpSchema *
make_schema (DlpJsonlReader *self)
{
  guint n = self->n_values;
  g_autofree const char **names = g_new (const char *, n);
  g_autofree DlpFieldType *types = g_new (DlpFieldType, n);
  g_autofree gboolean *optional = g_new (gboolean, n);

  if (self->has_text)
    {
      names[TEXT_FIELD] = "text";
      types[TEXT_FIELD] = DLP_FIELD_STRING;
      optional[TEXT_FIELD] = FALSE;
    }
  for (guint i = get_first (self); i < n; i++)
    {
      const JsonlField *field = get_further (self, i);

      names[i] = field->name;
      types[i] = field->type;
      optional[i] = field->optional;
    }
  return dlp_schema_new (DLP_SCHEMA_RECORDS, n, names, types, optional);
}

static DlpSchema *
dlp_jsonl_reader_get_schema (DlpReader *reader, GError **error)
{
  DlpJsonlReader *self = DLP_JSONL_READER (reader);

  g_clear_pointer (&self->plan, json_plan_unref);
  g_clear_pointer (&self->further, g_ptr_array_unref);
  self->further = reader_fields_parse ((const char *const *) self->fields, self->field, "JSON",
                                       READER_FIELDS_LISTS, error);
  if (self->further == NULL)
    return NULL;
  self->has_text = reader_fields_has_text (self->field);
  self->n_values = get_first (self) + self->further->len;
  if (self->n_values == 0)
    {
      reader_fields_refuse_none (error);
      return NULL;
    }
  self->plan = make_plan (self, error);
  if (self->plan == NULL)
    return NULL;

  g_free (self->seen);
  self->seen = g_malloc0 (self->n_values);
  return make_schema (self);
}

/* ---- parsing, on a worker ---- */

static gpointer
dlp_jsonl_reader_worker_new (DlpReader *reader)
{
  DlpJsonlReader *self = DLP_JSONL_READER (reader);
  Worker *worker = g_malloc0 (sizeof (Worker) + self->n_values * sizeof (JsonValue));

  worker->scratch = json_scratch_new ();
  reader_list_init (&worker->list);
  worker->max_scratch =
      MIN (dlp_element_get_memory_share (DLP_ELEMENT (reader)) / 32, MAX_SCRATCH_BYTES);
  return worker;
}

static void
dlp_jsonl_reader_worker_free (DlpReader *reader, gpointer data)
{
  Worker *worker = data;

  json_scratch_free (worker->scratch);
  reader_list_clear (&worker->list);
  g_free (worker);
}

/* A line of a chunk. */
typedef struct
{
  const guint8 *data;
  gsize size;
  gsize offset; /* in the chunk */
  guint lines;  /* passed since the last record */
  gboolean is_first;
  gboolean is_unterminated;
} Line;

static void
reject (DlpReaderChunk *chunk, const Line *line, const char *kind, gsize offset, char *message)
{
  dlp_reader_chunk_reject (chunk, line->lines, kind, line->offset + offset, line->data, line->size,
                           message);
}

/* FALSE: the file is not what it should be, and ends here. */
static gboolean
reject_json (DlpReaderChunk *chunk, const Line *line, const JsonError *error)
{
  gboolean is_other = error->kind == JSON_ERROR_UTF_16 || error->kind == JSON_ERROR_COMPRESSED ||
                      error->kind == JSON_ERROR_ARRAY_LINE;

  if (is_other && line->is_first)
    {
      dlp_reader_chunk_damage (chunk, line->offset + error->offset, g_strdup (error->message));
      return FALSE;
    }

  if (line->is_unterminated)
    reject (
        chunk, line, "unterminated", error->offset,
        g_strdup_printf ("the last line, which does not end with a newline: %s", error->message));
  else
    reject (chunk, line, json_error_kind_get_name (error->kind), error->offset,
            g_strdup (error->message));
  return TRUE;
}

/* As it has to be written. */
static void
append_suggestion (GString *text, const char *key)
{
  g_string_append (text, "; did you mean \"");
  for (const char *p = key; *p != '\0'; p++)
    {
      if (strchr (".,:\\", *p) != NULL)
        g_string_append_c (text, '\\');
      g_string_append_c (text, *p);
    }
  g_string_append (text, "\"?");
}

/* (transfer full): “"id", "text"; did you mean "text"?” of a field that is not among them. */
static char *
describe_keys (const char *field, char **keys)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *first = g_strndup (field, strcspn (field, "."));
  guint n = g_strv_length (keys);
  gboolean has_first = g_strv_contains ((const char *const *) keys, first);
  const char *near = g_strv_contains ((const char *const *) keys, field) ? field :
                     has_first                                           ? NULL :
                                 dlp_suggest (first, (const char *const *) keys);

  for (guint i = 0; i < MIN (n, MAX_KEYS); i++)
    g_string_append_printf (text, "%s\"%s\"", i > 0 ? ", " : "", keys[i]);
  if (n == 0)
    g_string_append (text, "no keys");
  else if (n > MAX_KEYS)
    g_string_append (text, ", ...");
  if (near != NULL)
    append_suggestion (text, near);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* (transfer full): of a record without the field. */
static char *
describe_missing (const char *field, const Line *line)
{
  g_auto (GStrv) keys = json_list_keys (line->data, line->size, MAX_KEYS + 1);
  g_autofree char *there = describe_keys (field, keys);

  return g_strdup_printf ("no field \"%s\"; the record has %s", field, there);
}

static void
reject_text (DlpJsonlReader *self, DlpReaderChunk *chunk, const Line *line, const JsonValue *text)
{
  const char *kind = text->kind == JSON_VALUE_MISSING ? "missing" :
                     text->kind == JSON_VALUE_NULL    ? "null" :
                                                        "type";
  gsize offset = text->data != NULL ? (gsize) (text->data - line->data) : 0;

  if (text->kind == JSON_VALUE_MISSING)
    reject (chunk, line, kind, 0, describe_missing (self->field, line));
  else
    reject (chunk, line, kind, offset,
            g_strdup_printf ("the field \"%s\" is of kind %s, expected a string", self->field,
                             json_value_kind_get_name (text->kind)));
}

static void
reject_further (DlpReaderChunk *chunk,
                const Line *line,
                const JsonlField *field,
                const JsonlFault *fault)
{
  g_autofree char *missing = NULL;

  if (fault->kind != NULL)
    {
      reject (chunk, line, fault->kind, fault->offset, fault->message);
      return;
    }
  missing = describe_missing (field->path, line);
  reject (chunk, line, "missing", 0,
          g_strdup_printf ("%s (fields=%s:%s? would take it)", missing, field->path,
                           reader_field_get_type_name (field)));
}

/* FALSE: the record was rejected. */
static gboolean
append_values (DlpJsonlReader *self, Worker *worker, DlpReaderChunk *chunk, const Line *line)
{
  DlpRecordBatchBuilder *builder = dlp_reader_chunk_get_builder (chunk);
  const JsonValue *text = &worker->values[TEXT_FIELD];

  if (self->has_text)
    dlp_record_batch_builder_append_value (builder, TEXT_FIELD, text->data, text->len);
  for (guint i = get_first (self); i < self->n_values; i++)
    {
      const JsonlField *field = get_further (self, i);
      const JsonValue *value = &worker->values[i];
      JsonlFault fault = { NULL };

      if (value->kind <= JSON_VALUE_NULL && field->optional)
        dlp_record_batch_builder_append_null (builder, i);
      else if (value->kind > JSON_VALUE_NULL && field->type == DLP_FIELD_STRING)
        dlp_record_batch_builder_append_value (builder, i, value->data, value->len);
      else if (value->kind == JSON_VALUE_MISSING ||
               !jsonl_field_append (field, &worker->list, builder, i, value, line->data, &fault))
        {
          reject_further (chunk, line, field, &fault);
          return FALSE;
        }
    }
  return TRUE;
}

static void
count (DlpReaderChunk *chunk, JsonCounts *counts)
{
  if (counts->lone_surrogates > 0)
    dlp_reader_chunk_count (chunk, COUNTER_LONE_SURROGATES, counts->lone_surrogates);
  if (counts->duplicate_keys > 0)
    dlp_reader_chunk_count (chunk, COUNTER_DUPLICATE_KEYS, counts->duplicate_keys);
  *counts = (JsonCounts){ 0 };
}

/* For a warning only, so it may depend on which record a worker met first. */
static void
keep_example (DlpJsonlReader *self, const Line *line)
{
  char **keys;
  char **none = NULL;

  if (__atomic_load_n (&self->example_keys, __ATOMIC_ACQUIRE) != NULL)
    return;
  keys = json_list_keys (line->data, line->size, MAX_KEYS + 1);
  if (!__atomic_compare_exchange_n (&self->example_keys, &none, keys, FALSE, __ATOMIC_RELEASE,
                                    __ATOMIC_RELAXED))
    g_strfreev (keys);
}

static void
note_fields (DlpJsonlReader *self, Worker *worker, const Line *line)
{
  worker->n_noted++;
  for (guint i = get_first (self); i < self->n_values; i++)
    if (worker->values[i].kind == JSON_VALUE_MISSING)
      keep_example (self, line);
    else if (!__atomic_load_n (&self->seen[i], __ATOMIC_RELAXED))
      __atomic_store_n (&self->seen[i], TRUE, __ATOMIC_RELAXED);
}

/* FALSE: nothing of the file behind it counts. */
static gboolean
parse_line (DlpJsonlReader *self, Worker *worker, DlpReaderChunk *chunk, const Line *line)
{
  JsonError error;

  if (!json_parse_record (self->plan, worker->scratch, line->data, line->size, worker->values,
                          &worker->counts, &error))
    return reject_json (chunk, line, &error);

  if (G_UNLIKELY (worker->counts.lone_surrogates | worker->counts.duplicate_keys))
    count (chunk, &worker->counts);
  if (self->has_text && G_UNLIKELY (worker->values[TEXT_FIELD].kind != JSON_VALUE_STRING))
    {
      reject_text (self, chunk, line, &worker->values[TEXT_FIELD]);
      return TRUE;
    }
  if (!append_values (self, worker, chunk, line))
    return TRUE;
  if (self->further->len > 0)
    note_fields (self, worker, line);
  dlp_reader_chunk_end_record (chunk, line->lines);
  return TRUE;
}

static void
dlp_jsonl_reader_parse (DlpReader *reader, gpointer data, DlpReaderChunk *chunk)
{
  DlpJsonlReader *self = DLP_JSONL_READER (reader);
  Worker *worker = data;
  gboolean at_start = dlp_reader_chunk_get_offset (chunk) == 0;
  gsize size, next;
  const guint8 *bytes = dlp_reader_chunk_get_data (chunk, &size);
  guint lines = 0;

  for (gsize at = 0; at < size; at = next)
    {
      const guint8 *end = json_find_newline (bytes + at, size - at);
      Line line = {
        .data = bytes + at,
        .size = end != NULL ? (gsize) (end - bytes) - at : size - at,
        .offset = at,
        .lines = ++lines,
        .is_first = at_start && at == 0,
        .is_unterminated = end == NULL,
      };

      next = end != NULL ? at + line.size + 1 : size;
      if (json_line_is_blank (line.data, line.size))
        continue;
      if (!parse_line (self, worker, chunk, &line))
        break;
      lines = 0;
    }

  __atomic_fetch_add (&self->n_parsed, worker->n_noted, __ATOMIC_RELEASE);
  worker->n_noted = 0;
  dlp_reader_chunk_pass_lines (chunk, lines);
  json_scratch_trim (worker->scratch, worker->max_scratch);
}

/* ---- fields that no record has ---- */

/* How many more than enough were parsed by now is a matter of time, and not said. */
static void
warn_of_field (DlpJsonlReader *self, const char *field, guint64 n)
{
  char **keys = __atomic_load_n (&self->example_keys, __ATOMIC_ACQUIRE);
  g_autofree char *there = keys != NULL ? describe_keys (field, keys) : NULL;
  g_autofree char *message =
      g_strdup_printf ("fields=%s: in none of the %s%" G_GUINT64_FORMAT " records%s%s", field,
                       n < ENOUGH_RECORDS ? "" : "first ", MIN (n, ENOUGH_RECORDS),
                       there != NULL ? "; there are " : "", there != NULL ? there : "");

  dlp_element_warn (DLP_ELEMENT (self), NULL, -1, message);
}

/* Once, as soon as enough was read, or at the end. An attempt that goes on with little left says
 * nothing: the records before it may have had the field. */
static void
judge_fields (DlpJsonlReader *self, gboolean is_end)
{
  guint64 n = __atomic_load_n (&self->n_parsed, __ATOMIC_ACQUIRE);

  if (self->judged_fields || n == 0 || (n < ENOUGH_RECORDS && (!is_end || self->is_continued)))
    return;
  self->judged_fields = TRUE;
  for (guint i = get_first (self); i < self->n_values; i++)
    if (!__atomic_load_n (&self->seen[i], __ATOMIC_RELAXED))
      warn_of_field (self, get_further (self, i)->path, n);
}

static DlpStep
dlp_jsonl_reader_step (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpStep step =
      DLP_ELEMENT_CLASS (dlp_jsonl_reader_parent_class)->step (element, cancellable, error);

  judge_fields (DLP_JSONL_READER (element), step == DLP_STEP_END);
  return step;
}

static gboolean
dlp_jsonl_reader_load (DlpElement *element, GVariant *described, guint version, GError **error)
{
  DLP_JSONL_READER (element)->is_continued = TRUE;
  return DLP_ELEMENT_CLASS (dlp_jsonl_reader_parent_class)
      ->load (element, described, version, error);
}

/* ---- object ---- */

static void
dlp_jsonl_reader_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  DlpJsonlReader *self = DLP_JSONL_READER (object);

  switch (id)
    {
    case PROP_FIELD:
      g_value_set_string (value, self->field);
      break;
    case PROP_FIELDS:
      g_value_set_boxed (value, self->fields);
      break;
    case PROP_ALLOW_NON_FINITE:
      g_value_set_boolean (value, self->allow_non_finite);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_jsonl_reader_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  DlpJsonlReader *self = DLP_JSONL_READER (object);

  switch (id)
    {
    case PROP_FIELD:
      g_free (self->field);
      self->field = g_value_dup_string (value);
      break;
    case PROP_FIELDS:
      g_strfreev (self->fields);
      self->fields = g_value_dup_boxed (value);
      break;
    case PROP_ALLOW_NON_FINITE:
      self->allow_non_finite = g_value_get_boolean (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_jsonl_reader_finalize (GObject *object)
{
  DlpJsonlReader *self = DLP_JSONL_READER (object);

  g_clear_pointer (&self->plan, json_plan_unref);
  g_clear_pointer (&self->further, g_ptr_array_unref);
  g_free (self->field);
  g_strfreev (self->fields);
  g_strfreev (self->example_keys);
  g_free (self->seen);

  G_OBJECT_CLASS (dlp_jsonl_reader_parent_class)->finalize (object);
}

static void
dlp_jsonl_reader_class_init (DlpJsonlReaderClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  DlpReaderClass *reader_class = DLP_READER_CLASS (klass);

  object_class->get_property = dlp_jsonl_reader_get_property;
  object_class->set_property = dlp_jsonl_reader_set_property;
  object_class->finalize = dlp_jsonl_reader_finalize;
  reader_class->get_schema = dlp_jsonl_reader_get_schema;
  reader_class->worker_new = dlp_jsonl_reader_worker_new;
  reader_class->worker_free = dlp_jsonl_reader_worker_free;
  reader_class->parse = dlp_jsonl_reader_parse;
  DLP_ELEMENT_CLASS (klass)->step = dlp_jsonl_reader_step;
  DLP_ELEMENT_CLASS (klass)->load = dlp_jsonl_reader_load;
  dlp_reader_class_set_counters (reader_class, counters);
  dlp_reader_class_add_file_name (DLP_READER_CLASS (klass), ".jsonl");
  dlp_reader_class_add_file_name (DLP_READER_CLASS (klass), ".ndjson");
  dlp_reader_class_add_file_name (DLP_READER_CLASS (klass), ".json");
  dlp_reader_class_add_magic (DLP_READER_CLASS (klass), 0, (const guint8 *) "{", 1);
  dlp_element_class_set_description (
      DLP_ELEMENT_CLASS (klass),
      "Reads JSON lines: the text of one field of each object, and "
      "other fields on request",
      "file-source location=data/*.jsonl.zst ! jsonl-reader field=text ! null-sink");

  properties[PROP_FIELD] = reader_field_new_pspec (
      "The string", "a dot goes down into an object (data.doc.text), \\. is a dot in a key");
  properties[PROP_FIELDS] = reader_fields_new_pspec ("Further fields", READER_FIELDS_LISTS);
  properties[PROP_ALLOW_NON_FINITE] = g_param_spec_boolean (
      "allow-non-finite", NULL, "Accept NaN, Infinity and -Infinity, which are not JSON", FALSE,
      DLP_PARAM_READWRITE);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
dlp_jsonl_reader_init (DlpJsonlReader *self)
{
  self->field = g_strdup ("text");
}
