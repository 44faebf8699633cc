/* SPDX-License-Identifier: MIT */

#include "dlp-columnar-reader.h"

#include <string.h>

#include <dlpipe/dlp-error.h>

#include "arrow-plan.h"
#include "arrow-values.h"
#include "reader-fields.h"

/* Of a bad record, shown to who looks at it. */
#define MAX_SHOWN (64 * 1024)
/* Pieces of files that are decoded on the pool, for each worker. */
#define WANTED_FOR_WORKER (16 * 1024 * 1024)

typedef struct
{
  char *field;
  char **fields;
  guint64 max_decoded_bytes;

  GPtrArray *further; /* of ReaderField: of the wishes behind that of the text, if there is one */
  ArrowWish *wishes;
  guint n_wishes;
  guint64 max_record_bytes;

  /* Of this attempt; written by those who open files, atomic. */
  char *seen; /* by wish: whether any file had its column */
  gboolean is_continued;
} DlpColumnarReaderPrivate;

/* An open file. */
typedef struct
{
  ArrowTable *table;
  ArrowPlan *plan; /* NULL: it has no byte */
} Opened;

/* A run of its rows. */
typedef struct
{
  ArrowPlan *plan;
  ArrowTablePiece *rows;
} Piece;

/* A chunk that is being parsed. */
typedef struct
{
  DlpReaderChunk *chunk;
  const ArrowPlan *plan;
  guint64 max_record_bytes;
  ReaderList *list;
  gsize n_rows; /* so far */
  gboolean is_damaged;
} Parse;

enum
{
  PROP_0,
  PROP_FIELD,
  PROP_FIELDS,
  PROP_MAX_DECODED_BYTES,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (DlpColumnarReader, dlp_columnar_reader, DLP_TYPE_READER)

static DlpColumnarReaderPrivate *
get_private (gpointer self)
{
  return dlp_columnar_reader_get_instance_private (DLP_COLUMNAR_READER (self));
}

/* ---- the schema ---- */

static void
free_wishes (DlpColumnarReaderPrivate *priv)
{
  for (guint i = 0; i < priv->n_wishes; i++)
    {
      g_free (priv->wishes[i].path);
      g_free (priv->wishes[i].name);
    }
  g_clear_pointer (&priv->wishes, g_free);
  priv->n_wishes = 0;
}

static ArrowWish
make_wish (const char *path)
{
  return (ArrowWish){
    .path = g_strdup (path),
    .name = reader_field_unescape (path),
    .type = DLP_FIELD_STRING,
  };
}

static void
make_wishes (DlpColumnarReaderPrivate *priv)
{
  guint n = 0;

  free_wishes (priv);
  priv->wishes = g_new0 (ArrowWish, 1 + priv->further->len);
  if (reader_fields_has_text (priv->field))
    {
      priv->wishes[n] = make_wish (priv->field);
      priv->wishes[n++].is_text = TRUE;
    }
  for (guint i = 0; i < priv->further->len; i++, n++)
    {
      const ReaderField *field = g_ptr_array_index (priv->further, i);

      priv->wishes[n] = make_wish (field->path);
      priv->wishes[n].type = field->type;
      priv->wishes[n].has_type = field->has_type;
      priv->wishes[n].optional = field->optional;
      priv->wishes[n].field = field;
    }
  priv->n_wishes = n;
  g_free (priv->seen);
  priv->seen = g_malloc0 (n);
}

static DlpSchema *
make_schema (const DlpColumnarReaderPrivate *priv)
{
  guint n = priv->n_wishes;
  g_autofree const char **names = g_new (const char *, n);
  g_autofree DlpFieldType *types = g_new (DlpFieldType, n);
  g_autofree gboolean *optional = g_new (gboolean, n);

  for (guint i = 0; i < n; i++)
    {
      const ArrowWish *wish = &priv->wishes[i];

      names[i] = wish->is_text ? "text" : wish->field->has_name ? wish->field->name : wish->name;
      types[i] = wish->type;
      optional[i] = wish->optional;
    }
  return dlp_schema_new (DLP_SCHEMA_RECORDS, n, names, types, optional);
}

static DlpSchema *
dlp_columnar_reader_get_schema (DlpReader *reader, GError **error)
{
  DlpColumnarReaderPrivate *priv = get_private (reader);

  g_clear_pointer (&priv->further, g_ptr_array_unref);
  priv->further = reader_fields_parse ((const char *const *) priv->fields, priv->field, "a table",
                                       READER_FIELDS_BINARY | READER_FIELDS_LISTS, error);
  if (priv->further == NULL)
    return NULL;
  make_wishes (priv);
  if (priv->n_wishes == 0)
    {
      reader_fields_refuse_none (error);
      return NULL;
    }
  g_object_get (reader, "max-record-bytes", &priv->max_record_bytes, NULL);
  return make_schema (priv);
}

/* ---- files, on the reader's threads ---- */

static void
close_opened (Opened *opened)
{
  g_clear_pointer (&opened->plan, arrow_plan_unref);
  arrow_table_free (opened->table);
  g_free (opened);
}

static char *
show_name (DlpFile *file)
{
  g_autofree char *redacted = dlp_uri_redact (dlp_file_get_uri (file));

  return dlp_uri_escape_for_display (redacted);
}

/* Of the fields that the table has now. */
static ArrowPlan *
make_plan (DlpColumnarReaderPrivate *priv, ArrowTable *table, DlpFile *file, GError **error)
{
  g_autofree char *why = NULL;
  struct ArrowSchema schema;
  ArrowPlan *plan;

  if (!arrow_table_get_schema (table, &schema, error))
    return NULL;
  plan = arrow_plan_new (priv->wishes, priv->n_wishes, &schema, &why);
  schema.release (&schema);
  if (plan == NULL)
    {
      g_autofree char *name = show_name (file);

      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE, "%s: %s", name, why);
    }
  return plan;
}

static gboolean
select_columns (Opened *opened, guint64 row, GCancellable *cancellable, GError **error)
{
  const ArrowPlan *plan = opened->plan;
  g_autofree ArrowTablePath *paths = g_new (ArrowTablePath, plan->n_columns);
  guint n = 0;

  for (guint i = 0; i < plan->n_columns; i++)
    if (!plan->columns[i].is_absent)
      paths[n++] = (ArrowTablePath){ plan->columns[i].steps, plan->columns[i].n_steps };
  return arrow_table_select (opened->table, paths, n, row, cancellable, error);
}

static void
note_columns (DlpColumnarReaderPrivate *priv, const ArrowPlan *plan)
{
  for (guint i = 0; i < plan->n_columns; i++)
    if (!plan->columns[i].is_absent)
      __atomic_store_n (&priv->seen[i], TRUE, __ATOMIC_RELAXED);
}

/* Columns are found among all that there are, and again among those that are read. */
static gboolean
prepare (DlpColumnarReaderPrivate *priv,
         Opened *opened,
         DlpFile *file,
         guint64 row,
         GCancellable *cancellable,
         GError **error)
{
  if (arrow_table_is_empty (opened->table))
    return TRUE;
  opened->plan = make_plan (priv, opened->table, file, error);
  if (opened->plan == NULL || !select_columns (opened, row, cancellable, error))
    return FALSE;
  note_columns (priv, opened->plan);
  arrow_plan_unref (opened->plan);
  opened->plan = make_plan (priv, opened->table, file, error);
  return opened->plan != NULL;
}

static gpointer
dlp_columnar_reader_open_file (DlpReader *reader,
                               DlpFile *file,
                               guint64 row,
                               GCancellable *cancellable,
                               GError **error)
{
  DlpColumnarReaderPrivate *priv = get_private (reader);
  ArrowTable *table = arrow_table_open (DLP_COLUMNAR_READER_GET_CLASS (reader)->format, file,
                                        priv->max_decoded_bytes, cancellable, error);
  Opened *opened;

  if (table == NULL)
    return NULL;
  opened = g_new0 (Opened, 1);
  opened->table = table;
  if (prepare (priv, opened, file, row, cancellable, error))
    return opened;
  close_opened (opened);
  return NULL;
}

static void
dlp_columnar_reader_close_file (DlpReader *reader, gpointer opened)
{
  close_opened (opened);
}

static void
free_piece (gpointer data)
{
  Piece *piece = data;

  arrow_table_piece_free (piece->rows);
  arrow_plan_unref (piece->plan);
  g_free (piece);
}

static gboolean
dlp_columnar_reader_read_piece (DlpReader *reader,
                                gpointer data,
                                gsize max_bytes,
                                DlpReaderPiece *piece,
                                GCancellable *cancellable,
                                GError **error)
{
  Opened *opened = data;
  Piece *rows;

  if (!arrow_table_read (opened->table, max_bytes, piece, cancellable, error))
    return FALSE;
  if (piece->n_rows == 0)
    return TRUE;
  rows = g_new (Piece, 1);
  *rows = (Piece){ arrow_plan_ref (opened->plan), piece->data };
  piece->data = rows;
  piece->free_func = free_piece;
  return TRUE;
}

/* ---- parsing, on a worker ---- */

static gpointer
dlp_columnar_reader_worker_new (DlpReader *reader)
{
  ReaderList *list = g_new (ReaderList, 1);

  reader_list_init (list);
  return list;
}

static void
dlp_columnar_reader_worker_free (DlpReader *reader, gpointer worker)
{
  reader_list_clear (worker);
  g_free (worker);
}

static ArrowRowResult
append_fields (const ArrowPlan *plan, ArrowRow *row)
{
  ArrowRowResult result = ARROW_ROW_GOOD;

  for (guint i = 0; i < plan->n_columns && result == ARROW_ROW_GOOD; i++)
    result = arrow_column_append (&plan->columns[i], row, i);
  return result;
}

static void
take_row (Parse *parse, const struct ArrowArray *batch, gint64 at)
{
  ArrowRow row = {
    .batch = batch,
    .row = at,
    .builder = dlp_reader_chunk_get_builder (parse->chunk),
    .list = parse->list,
    .max_bytes = parse->max_record_bytes,
  };

  switch (append_fields (parse->plan, &row))
    {
    case ARROW_ROW_GOOD:
      dlp_reader_chunk_end_record (parse->chunk, 0);
      break;
    case ARROW_ROW_BAD:
      {
        g_autoptr (GString) shown = arrow_plan_show_row (parse->plan, batch, at, MAX_SHOWN);

        dlp_reader_chunk_reject (parse->chunk, 0, row.kind, 0, (const guint8 *) shown->str,
                                 shown->len, row.message);
        break;
      }
    case ARROW_ROW_DAMAGED:
      dlp_reader_chunk_damage (parse->chunk, parse->n_rows, row.message);
      parse->is_damaged = TRUE;
      break;
    }
  parse->n_rows++;
}

static void
dlp_columnar_reader_parse (DlpReader *reader, gpointer worker, DlpReaderChunk *chunk)
{
  Piece *piece = dlp_reader_chunk_get_piece (chunk);
  Parse parse = {
    .chunk = chunk,
    .plan = piece->plan,
    .max_record_bytes = get_private (reader)->max_record_bytes,
    .list = worker,
  };

  while (!parse.is_damaged)
    {
      ArrowTableRows rows;
      char *message;

      if (!arrow_table_piece_next (piece->rows, &rows, &message))
        {
          dlp_reader_chunk_damage (chunk, parse.n_rows, message);
          return;
        }
      if (rows.batch.release == NULL)
        return;
      for (gint64 row = rows.start; row < rows.end && !parse.is_damaged; row++)
        take_row (&parse, &rows.batch, row);
      rows.batch.release (&rows.batch);
    }
}

/* ---- the element ---- */

static gsize
dlp_columnar_reader_want_memory (DlpElement *element, guint n_workers)
{
  DlpElementClass *parent = DLP_ELEMENT_CLASS (dlp_columnar_reader_parent_class);

  return parent->want_memory (element, n_workers) + n_workers * (gsize) WANTED_FOR_WORKER;
}

/* A column that no file has is mostly a slip; an attempt that goes on cannot know. */
static DlpStep
dlp_columnar_reader_step (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpColumnarReaderPrivate *priv = get_private (element);
  DlpElementClass *parent = DLP_ELEMENT_CLASS (dlp_columnar_reader_parent_class);
  DlpStep step = parent->step (element, cancellable, error);

  if (step == DLP_STEP_END && !priv->is_continued)
    for (guint i = 0; i < priv->n_wishes; i++)
      if (!__atomic_load_n (&priv->seen[i], __ATOMIC_RELAXED) && priv->wishes[i].has_type)
        {
          g_autofree char *message =
              g_strdup_printf ("fields=%s: no file has this column", priv->wishes[i].path);

          dlp_element_warn (element, NULL, -1, message);
        }
  return step;
}

static gboolean
dlp_columnar_reader_load (DlpElement *element, GVariant *described, guint version, GError **error)
{
  get_private (element)->is_continued = TRUE;
  return DLP_ELEMENT_CLASS (dlp_columnar_reader_parent_class)
      ->load (element, described, version, error);
}

static void
dlp_columnar_reader_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  DlpColumnarReaderPrivate *priv = get_private (object);

  switch (id)
    {
    case PROP_FIELD:
      g_value_set_string (value, priv->field);
      break;
    case PROP_FIELDS:
      g_value_set_boxed (value, priv->fields);
      break;
    case PROP_MAX_DECODED_BYTES:
      g_value_set_uint64 (value, priv->max_decoded_bytes);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_columnar_reader_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  DlpColumnarReaderPrivate *priv = get_private (object);

  switch (id)
    {
    case PROP_FIELD:
      g_free (priv->field);
      priv->field = g_value_dup_string (value);
      break;
    case PROP_FIELDS:
      g_strfreev (priv->fields);
      priv->fields = g_value_dup_boxed (value);
      break;
    case PROP_MAX_DECODED_BYTES:
      priv->max_decoded_bytes = g_value_get_uint64 (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_columnar_reader_finalize (GObject *object)
{
  DlpColumnarReaderPrivate *priv = get_private (object);

  free_wishes (priv);
  g_clear_pointer (&priv->further, g_ptr_array_unref);
  g_free (priv->seen);
  g_free (priv->field);
  g_strfreev (priv->fields);

  G_OBJECT_CLASS (dlp_columnar_reader_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass *object_class)
{
  properties[PROP_FIELD] = reader_field_new_pspec ("The column", "a dot goes down into a struct");
  properties[PROP_FIELDS] =
      reader_fields_new_pspec ("Further columns", READER_FIELDS_BINARY | READER_FIELDS_LISTS);
  properties[PROP_MAX_DECODED_BYTES] = g_param_spec_uint64 (
      "max-decoded-bytes", NULL,
      "Memory that decoding may take at once, of a file: where a row, a page or a record batch "
      "needs more, the file is damaged",
      1024 * 1024, G_GUINT64_CONSTANT (1) << 40, G_GUINT64_CONSTANT (1) << 30,
      DLP_PARAM_READWRITE | DLP_PARAM_BYTES);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
dlp_columnar_reader_class_init (DlpColumnarReaderClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  DlpElementClass *element_class = DLP_ELEMENT_CLASS (klass);
  DlpReaderClass *reader_class = DLP_READER_CLASS (klass);

  object_class->get_property = dlp_columnar_reader_get_property;
  object_class->set_property = dlp_columnar_reader_set_property;
  object_class->finalize = dlp_columnar_reader_finalize;
  element_class->want_memory = dlp_columnar_reader_want_memory;
  element_class->step = dlp_columnar_reader_step;
  element_class->load = dlp_columnar_reader_load;
  reader_class->get_schema = dlp_columnar_reader_get_schema;
  reader_class->open_file = dlp_columnar_reader_open_file;
  reader_class->read_piece = dlp_columnar_reader_read_piece;
  reader_class->close_file = dlp_columnar_reader_close_file;
  reader_class->worker_new = dlp_columnar_reader_worker_new;
  reader_class->worker_free = dlp_columnar_reader_worker_free;
  reader_class->parse = dlp_columnar_reader_parse;
  install_properties (object_class);
}

static void
dlp_columnar_reader_init (DlpColumnarReader *self)
{
  DlpColumnarReaderPrivate *priv = get_private (self);

  priv->field = g_strdup ("text");
  priv->max_decoded_bytes = G_GUINT64_CONSTANT (1) << 30;
}

/* ---- the two of them ---- */

struct _DlpParquetReader
{
  DlpColumnarReader parent_instance;
};

G_DEFINE_FINAL_TYPE (DlpParquetReader, dlp_parquet_reader, DLP_TYPE_COLUMNAR_READER)

static void
dlp_parquet_reader_class_init (DlpParquetReaderClass *klass)
{
  DLP_COLUMNAR_READER_CLASS (klass)->format = ARROW_TABLE_PARQUET;
  dlp_reader_class_add_file_name (DLP_READER_CLASS (klass), ".parquet");
  dlp_reader_class_add_magic (DLP_READER_CLASS (klass), 0, (const guint8 *) "PAR1", 4);
  dlp_element_class_set_description (
      DLP_ELEMENT_CLASS (klass),
      "Reads Parquet files: the text of one column of each row, and others on request",
      "file-source location=data/*.parquet ! parquet-reader field=text fields=lang ! null-sink");
}

static void
dlp_parquet_reader_init (DlpParquetReader *self)
{
}

struct _DlpArrowReader
{
  DlpColumnarReader parent_instance;
};

G_DEFINE_FINAL_TYPE (DlpArrowReader, dlp_arrow_reader, DLP_TYPE_COLUMNAR_READER)

static void
dlp_arrow_reader_class_init (DlpArrowReaderClass *klass)
{
  DLP_COLUMNAR_READER_CLASS (klass)->format = ARROW_TABLE_IPC;
  dlp_reader_class_add_file_name (DLP_READER_CLASS (klass), ".arrow");
  dlp_reader_class_add_file_name (DLP_READER_CLASS (klass), ".feather");
  dlp_reader_class_add_file_name (DLP_READER_CLASS (klass), ".ipc");
  dlp_reader_class_add_magic (DLP_READER_CLASS (klass), 0, (const guint8 *) "ARROW1", 6);
  dlp_reader_class_add_magic (DLP_READER_CLASS (klass), 0, (const guint8 *) "\xff\xff\xff\xff", 4);
  dlp_element_class_set_description (
      DLP_ELEMENT_CLASS (klass),
      "Reads Arrow IPC files and streams (Feather): the text of one column of each row, and others "
      "on request",
      "file-source location=data/*.arrow ! arrow-reader field=text fields=lang ! null-sink");
}

static void
dlp_arrow_reader_init (DlpArrowReader *self)
{
}
