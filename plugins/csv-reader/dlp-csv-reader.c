/* SPDX-License-Identifier: MIT */

#include "dlp-csv-reader.h"

#include <string.h>

#include <dlpipe/dlp-error.h>

#include "csv-cell.h"
#include "csv-plan.h"
#include "text-start.h"

#define TEXT_FIELD 0 /* where there is a text */
/* Behind the header, as csv_find_separator() reads. */
#define PADDING 16

struct _DlpCsvReader
{
  DlpReader parent_instance;

  char *delimiter; /* (nullable): by the file's name */
  char *quote;
  gboolean header;
  char **columns;
  char *field;
  char **fields;

  guint8 delimiter_byte; /* 0: by the file's name */
  guint8 quote_byte;
  gboolean has_text;
  GPtrArray *further; /* of ReaderField: of the values behind that of the text */
  GPtrArray *names;   /* of char *: of the columns of all values */
  CsvWish *wishes;    /* by value */
  guint n_values;
  CsvPlan *plan; /* (nullable): where no file says it */

  /* Of this attempt; written by workers, atomic. */
  char *seen; /* by value: whether any file had its column */
  gboolean is_continued;
};

typedef struct
{
  GByteArray *header; /* (nullable): of which the plan is */
  CsvDialect dialect;
  CsvPlan *plan;
  ReaderList list;
  CsvCell cells[];
} Worker;

/* A chunk that is being parsed. */
typedef struct
{
  DlpCsvReader *self;
  DlpReaderChunk *chunk;
  Worker *worker;
  const CsvPlan *plan;
  CsvDialect dialect;
  const guint8 *bytes;
  const guint8 *end;
  guint lines; /* passed since the last record */
} Parse;

enum
{
  PROP_0,
  PROP_DELIMITER,
  PROP_QUOTE,
  PROP_HEADER,
  PROP_COLUMNS,
  PROP_FIELD,
  PROP_FIELDS,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

G_DEFINE_FINAL_TYPE (DlpCsvReader, dlp_csv_reader, DLP_TYPE_READER)

/* The first value that is no text. */
static guint
get_first (DlpCsvReader *self)
{
  return self->has_text ? TEXT_FIELD + 1 : 0;
}

static const ReaderField *
get_further (DlpCsvReader *self, guint value)
{
  return g_ptr_array_index (self->further, value - get_first (self));
}

/* ---- the dialect ---- */

static gboolean
read_delimiter (DlpCsvReader *self, GError **error)
{
  const char *text = self->delimiter;

  self->delimiter_byte = 0;
  if (text == NULL || *text == '\0' || strcmp (text, "auto") == 0)
    return TRUE;
  self->delimiter_byte = strcmp (text, "tab") == 0 || strcmp (text, "\\t") == 0 ? '\t' :
                         strlen (text) == 1                                     ? (guint8) *text :
                                                                                  0;
  if (self->delimiter_byte != 0 && strchr ("+-.\n\r\\", self->delimiter_byte) == NULL &&
      !g_ascii_isalnum (self->delimiter_byte) && self->delimiter_byte < 0x80)
    return TRUE;
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
               "delimiter: \"%s\", but it is one character such as , ; or |, or tab, or auto",
               text);
  return FALSE;
}

static gboolean
read_quote (DlpCsvReader *self, GError **error)
{
  const char *text = self->quote != NULL ? self->quote : "";

  self->quote_byte = (guint8) *text;
  if (strlen (text) <= 1 && !g_ascii_isalnum (*text) && *text != '\n' && *text != '\r' &&
      self->quote_byte < 0x80 &&
      (*text == '\0' || (self->quote_byte != self->delimiter_byte &&
                         (self->delimiter_byte != 0 || strchr (",\t", *text) == NULL))))
    return TRUE;
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
               "quote: \"%s\", but it is one character other than the delimiter, or empty for none",
               text);
  return FALSE;
}

static gboolean
has_ending (const char *uri, gsize length, const char *ending)
{
  gsize n = strlen (ending);

  return length > n && g_ascii_strncasecmp (uri + length - n, ending, n) == 0;
}

/* By what a compressed file was called before. */
static gboolean
is_tsv (const char *uri)
{
  static const char *const compressed[] = { ".gz", ".zst", ".xz", ".bz2", ".lz4" };
  gsize length = strstr (uri, "://") != NULL ? strcspn (uri, "?#") : strlen (uri);

  for (guint i = 0; i < G_N_ELEMENTS (compressed); i++)
    if (has_ending (uri, length, compressed[i]))
      {
        length -= strlen (compressed[i]);
        break;
      }
  return has_ending (uri, length, ".tsv") || has_ending (uri, length, ".tab");
}

static CsvDialect
get_dialect (DlpCsvReader *self, const char *uri)
{
  CsvDialect dialect = { .delimiter = self->delimiter_byte, .quote = self->quote_byte };

  if (dialect.delimiter == 0)
    dialect.delimiter = is_tsv (uri) ? '\t' : ',';
  return dialect;
}

/* ---- the schema ---- */

static DlpSchema *
make_schema (DlpCsvReader *self)
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
      const ReaderField *field = get_further (self, i);

      names[i] = field->has_name ? field->name : self->wishes[i].name;
      types[i] = field->type;
      optional[i] = field->optional && field->has_type;
    }
  return dlp_schema_new (DLP_SCHEMA_RECORDS, n, names, types, optional);
}

static void
make_wishes (DlpCsvReader *self)
{
  self->n_values = get_first (self) + self->further->len;
  g_clear_pointer (&self->names, g_ptr_array_unref);
  self->names = g_ptr_array_new_with_free_func (g_free);
  g_free (self->wishes);
  self->wishes = g_new0 (CsvWish, self->n_values);
  g_free (self->seen);
  self->seen = g_malloc0 (self->n_values);

  if (self->has_text)
    self->wishes[TEXT_FIELD].name = self->field;
  for (guint i = get_first (self); i < self->n_values; i++)
    {
      const ReaderField *field = get_further (self, i);
      char *name = reader_field_unescape (field->path);

      g_ptr_array_add (self->names, name);
      self->wishes[i].name = name;
      self->wishes[i].may_be_absent = field->has_type && field->optional;
    }
}

/* FALSE: the names that were given do not have what is wanted. */
static gboolean
make_plan (DlpCsvReader *self, GError **error)
{
  g_autoptr (GPtrArray) names = NULL;

  g_clear_pointer (&self->plan, csv_plan_free);
  if (self->columns == NULL || self->columns[0] == NULL)
    return TRUE;
  if (self->header)
    {
      g_set_error (
          error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
          "columns: names are given, but header=true takes those of the file; header=false "
          "says that its first row is a record");
      return FALSE;
    }
  names = reader_fields_split_names ((const char *const *) self->columns);
  g_ptr_array_add (names, NULL);
  self->plan = csv_plan_new ((const char *const *) names->pdata, names->len - 1, "there are",
                             self->wishes, self->n_values);
  if (self->plan->fault == NULL)
    return TRUE;
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE, "columns: %s", self->plan->fault);
  return FALSE;
}

static DlpSchema *
dlp_csv_reader_get_schema (DlpReader *reader, GError **error)
{
  DlpCsvReader *self = DLP_CSV_READER (reader);

  if (!read_delimiter (self, error) || !read_quote (self, error))
    return NULL;
  g_clear_pointer (&self->further, g_ptr_array_unref);
  self->further = reader_fields_parse ((const char *const *) self->fields, self->field, "CSV",
                                       READER_FIELDS_LISTS, error);
  if (self->further == NULL)
    return NULL;
  self->has_text = reader_fields_has_text (self->field);
  if (!self->has_text && self->further->len == 0)
    {
      reader_fields_refuse_none (error);
      return NULL;
    }
  make_wishes (self);
  if (!make_plan (self, error))
    return NULL;
  dlp_reader_set_has_header (reader, self->plan == NULL);
  return make_schema (self);
}

static gsize
dlp_csv_reader_find_border (DlpReader *reader,
                            const char *uri,
                            guint64 *state,
                            const guint8 *data,
                            gsize size,
                            gboolean first)
{
  CsvDialect dialect = get_dialect (DLP_CSV_READER (reader), uri);

  return csv_find_border (&dialect, state, data, size, first);
}

/* ---- parsing, on a worker ---- */

static gpointer
dlp_csv_reader_worker_new (DlpReader *reader)
{
  Worker *worker =
      g_malloc0 (sizeof (Worker) + DLP_CSV_READER (reader)->n_values * sizeof (CsvCell));

  reader_list_init (&worker->list);
  return worker;
}

static void
dlp_csv_reader_worker_free (DlpReader *reader, gpointer data)
{
  Worker *worker = data;

  g_clear_pointer (&worker->header, g_byte_array_unref);
  g_clear_pointer (&worker->plan, csv_plan_free);
  reader_list_clear (&worker->list);
  g_free (worker);
}

/* Files mostly have the same header, and chunks of one file always. */
static const CsvPlan *
find_plan (DlpCsvReader *self, Worker *worker, const CsvDialect *dialect, DlpReaderChunk *chunk)
{
  static const guint8 padding[PADDING];
  gsize size;
  const guint8 *header = dlp_reader_chunk_get_header (chunk, &size);

  if (self->plan != NULL)
    return self->plan;
  if (worker->header != NULL && worker->header->len == size + PADDING &&
      memcmp (worker->header->data, header, size) == 0 &&
      worker->dialect.delimiter == dialect->delimiter)
    return worker->plan;

  g_clear_pointer (&worker->header, g_byte_array_unref);
  g_clear_pointer (&worker->plan, csv_plan_free);
  worker->header = g_byte_array_sized_new ((guint) size + PADDING);
  g_byte_array_append (worker->header, header, (guint) size);
  g_byte_array_append (worker->header, padding, PADDING);
  worker->dialect = *dialect;
  worker->plan = csv_plan_new_from_header (dialect, worker->header->data, size, self->header,
                                           self->wishes, self->n_values);
  return worker->plan;
}

static void
note_columns (DlpCsvReader *self, const CsvPlan *plan)
{
  for (guint i = get_first (self); i < self->n_values && plan->n_columns > 0; i++)
    if (!plan->absent[i])
      __atomic_store_n (&self->seen[i], TRUE, __ATOMIC_RELAXED);
}

/* The line is that of the fault. */
static void
reject (Parse *parse,
        const guint8 *start,
        const CsvRow *row,
        const char *kind,
        const guint8 *at,
        char *message)
{
  guint before = csv_count_newlines (start, (gsize) (at - start));
  gsize size = (gsize) (row->end - start);

  dlp_reader_chunk_reject (parse->chunk, parse->lines + 1 + before, kind,
                           (gsize) (at - parse->bytes), start, size, message);
  dlp_reader_chunk_pass_lines (parse->chunk, row->newlines - MIN (before, row->newlines));
}

static gboolean
check_row (Parse *parse, const guint8 *start, const CsvRow *row)
{
  switch (row->fault)
    {
    case CSV_FAULT_UNCLOSED:
      reject (parse, start, row, "unclosed-quote", row->fault_at,
              g_strdup ("a quote that is never closed, up to the end of the file"));
      return FALSE;
    case CSV_FAULT_BEHIND_QUOTE:
      reject (
          parse, start, row, "quote", row->fault_at,
          g_strdup_printf ("text behind a closing quote; a quote within quotes is doubled (%c%c)",
                           parse->dialect.quote, parse->dialect.quote));
      return FALSE;
    default:
      break;
    }
  if (row->n_columns == parse->plan->n_columns)
    return TRUE;
  reject (parse, start, row, "columns", start,
          g_strdup_printf ("a row of %u column%s, where there are %u", row->n_columns,
                           row->n_columns == 1 ? "" : "s", parse->plan->n_columns));
  return FALSE;
}

static gboolean
append_cell (Parse *parse, guint i, ReaderFault *fault)
{
  DlpCsvReader *self = parse->self;
  DlpRecordBatchBuilder *builder = dlp_reader_chunk_get_builder (parse->chunk);
  const char *name = self->wishes[i].name;
  gint same = parse->plan->same[i];
  const CsvCell *cell = &parse->worker->cells[same >= 0 ? (guint) same : i];

  if (parse->plan->absent[i])
    {
      dlp_record_batch_builder_append_null (builder, i);
      return TRUE;
    }
  if (i < get_first (self) || get_further (self, i)->type == DLP_FIELD_STRING)
    return csv_cell_append_text (&parse->dialect, cell, name, builder, i, fault);
  return csv_cell_append_value (cell, name, get_further (self, i), &parse->worker->list, builder, i,
                                fault);
}

static void
take_row (Parse *parse, const guint8 *start, const CsvRow *row)
{
  ReaderFault fault = { NULL };

  if (!check_row (parse, start, row))
    return;
  for (guint i = 0; i < parse->self->n_values; i++)
    if (!append_cell (parse, i, &fault))
      {
        reject (parse, start, row, fault.kind, fault.at, fault.message);
        return;
      }
  dlp_reader_chunk_end_record (parse->chunk, parse->lines + 1 + row->newlines);
}

static void
take_rows (Parse *parse, const guint8 *p)
{
  const CsvWanted wanted = { .fields = parse->plan->fields, .n_columns = parse->plan->n_columns };
  CsvRow row;

  for (; p < parse->end; p = row.next)
    {
      gsize blank = csv_measure_blank (p, parse->end);

      if (blank > 0)
        {
          row.next = p + blank;
          parse->lines++;
          continue;
        }
      p += text_start_measure_bom (p, (gsize) (parse->end - p));
      csv_read_row (&parse->dialect, p, parse->end, &wanted, parse->worker->cells, &row);
      take_row (parse, p, &row);
      parse->lines = 0;
    }
  dlp_reader_chunk_pass_lines (parse->chunk, parse->lines);
}

static void
dlp_csv_reader_parse (DlpReader *reader, gpointer worker, DlpReaderChunk *chunk)
{
  DlpCsvReader *self = DLP_CSV_READER (reader);
  gboolean at_start = dlp_reader_chunk_get_offset (chunk) == 0;
  gsize size, passed = 0;
  Parse parse = {
    .self = self,
    .chunk = chunk,
    .worker = worker,
    .dialect = get_dialect (self, dlp_reader_chunk_get_uri (chunk)),
    .bytes = dlp_reader_chunk_get_data (chunk, &size),
  };
  const char *fault = at_start ? text_start_find_fault (parse.bytes, size) : NULL;

  if (fault != NULL)
    {
      dlp_reader_chunk_damage (chunk, 0, g_strdup (fault));
      return;
    }
  parse.end = parse.bytes + size;
  parse.plan = find_plan (self, worker, &parse.dialect, chunk);
  if (parse.plan->fault != NULL)
    {
      dlp_reader_chunk_damage (chunk, at_start ? parse.plan->fault_offset : 0,
                               g_strdup (parse.plan->fault));
      return;
    }

  note_columns (self, parse.plan);
  if (at_start && self->header)
    {
      dlp_reader_chunk_get_header (chunk, &passed);
      parse.lines = csv_count_newlines (parse.bytes, passed);
    }
  take_rows (&parse, parse.bytes + passed);
}

/* ---- columns that no file has ---- */

static DlpStep
dlp_csv_reader_step (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpCsvReader *self = DLP_CSV_READER (element);
  DlpStep step =
      DLP_ELEMENT_CLASS (dlp_csv_reader_parent_class)->step (element, cancellable, error);

  /* An attempt that goes on says nothing: the files before it may have had the column. */
  if (step != DLP_STEP_END || self->is_continued)
    return step;
  for (guint i = get_first (self); i < self->n_values; i++)
    if (self->wishes[i].may_be_absent && !__atomic_load_n (&self->seen[i], __ATOMIC_RELAXED))
      {
        g_autofree char *message =
            g_strdup_printf ("fields=%s: no file has this column", self->wishes[i].name);

        dlp_element_warn (element, NULL, -1, message);
      }
  return step;
}

static gboolean
dlp_csv_reader_load (DlpElement *element, GVariant *described, guint version, GError **error)
{
  DLP_CSV_READER (element)->is_continued = TRUE;
  return DLP_ELEMENT_CLASS (dlp_csv_reader_parent_class)->load (element, described, version, error);
}

/* ---- object ---- */

static void
dlp_csv_reader_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  DlpCsvReader *self = DLP_CSV_READER (object);

  switch (id)
    {
    case PROP_DELIMITER:
      g_value_set_string (value, self->delimiter);
      break;
    case PROP_QUOTE:
      g_value_set_string (value, self->quote);
      break;
    case PROP_HEADER:
      g_value_set_boolean (value, self->header);
      break;
    case PROP_COLUMNS:
      g_value_set_boxed (value, self->columns);
      break;
    case PROP_FIELD:
      g_value_set_string (value, self->field);
      break;
    case PROP_FIELDS:
      g_value_set_boxed (value, self->fields);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
set_string (char **to, const GValue *value)
{
  g_free (*to);
  *to = g_value_dup_string (value);
}

static void
set_strings (char ***to, const GValue *value)
{
  g_strfreev (*to);
  *to = g_value_dup_boxed (value);
}

static void
dlp_csv_reader_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  DlpCsvReader *self = DLP_CSV_READER (object);

  switch (id)
    {
    case PROP_DELIMITER:
      set_string (&self->delimiter, value);
      break;
    case PROP_QUOTE:
      set_string (&self->quote, value);
      break;
    case PROP_HEADER:
      self->header = g_value_get_boolean (value);
      break;
    case PROP_COLUMNS:
      set_strings (&self->columns, value);
      break;
    case PROP_FIELD:
      set_string (&self->field, value);
      break;
    case PROP_FIELDS:
      set_strings (&self->fields, value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_csv_reader_finalize (GObject *object)
{
  DlpCsvReader *self = DLP_CSV_READER (object);

  g_clear_pointer (&self->plan, csv_plan_free);
  g_clear_pointer (&self->further, g_ptr_array_unref);
  g_clear_pointer (&self->names, g_ptr_array_unref);
  g_free (self->wishes);
  g_free (self->seen);
  g_free (self->delimiter);
  g_free (self->quote);
  g_free (self->field);
  g_strfreev (self->columns);
  g_strfreev (self->fields);

  G_OBJECT_CLASS (dlp_csv_reader_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass *object_class)
{
  properties[PROP_DELIMITER] = g_param_spec_string (
      "delimiter", NULL,
      "What is between columns: one character, or tab; auto: a tab in files called *.tsv or *.tab, "
      "compressed or not, else a comma",
      "auto", DLP_PARAM_READWRITE);
  properties[PROP_QUOTE] =
      g_param_spec_string ("quote", NULL, "What stands around a field, doubled within; empty: none",
                           "\"", DLP_PARAM_READWRITE);
  properties[PROP_HEADER] = g_param_spec_boolean (
      "header", NULL, "The first row of each file has the names of its columns", TRUE,
      DLP_PARAM_READWRITE);
  properties[PROP_COLUMNS] = g_param_spec_boxed (
      "columns", NULL,
      "With header=false: the names of the columns (id,body,lang); without them they are column-1, "
      "column-2, ...",
      G_TYPE_STRV, DLP_PARAM_READWRITE);
  properties[PROP_FIELD] = reader_field_new_pspec ("The column", NULL);
  properties[PROP_FIELDS] = reader_fields_new_pspec ("Further columns", READER_FIELDS_LISTS);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
dlp_csv_reader_class_init (DlpCsvReaderClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  DlpReaderClass *reader_class = DLP_READER_CLASS (klass);

  object_class->get_property = dlp_csv_reader_get_property;
  object_class->set_property = dlp_csv_reader_set_property;
  object_class->finalize = dlp_csv_reader_finalize;
  reader_class->get_schema = dlp_csv_reader_get_schema;
  reader_class->find_border = dlp_csv_reader_find_border;
  reader_class->worker_new = dlp_csv_reader_worker_new;
  reader_class->worker_free = dlp_csv_reader_worker_free;
  reader_class->parse = dlp_csv_reader_parse;
  DLP_ELEMENT_CLASS (klass)->step = dlp_csv_reader_step;
  DLP_ELEMENT_CLASS (klass)->load = dlp_csv_reader_load;
  dlp_reader_class_add_file_name (DLP_READER_CLASS (klass), ".csv");
  dlp_reader_class_add_file_name (DLP_READER_CLASS (klass), ".tsv");
  dlp_element_class_set_description (
      DLP_ELEMENT_CLASS (klass),
      "Reads tables as CSV or TSV: the text of one column of each row, and others on request",
      "file-source location=tables/*.csv ! csv-reader field=body fields=lang ! null-sink");
  install_properties (object_class);
}

static void
dlp_csv_reader_init (DlpCsvReader *self)
{
  self->delimiter = g_strdup ("auto");
  self->quote = g_strdup ("\"");
  self->header = TRUE;
  self->field = g_strdup ("text");
}
