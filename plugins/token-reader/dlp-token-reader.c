/* SPDX-License-Identifier: MIT */

#include "dlp-token-reader.h"

#include <string.h>

#include <dlpipe/dlp-error.h>

#include "token-rows.h"

/* Of a bad record, shown to who looks at it. */
#define MAX_SHOWN (64 * 1024)

typedef enum
{
  TAIL_KEEP,
  TAIL_DROP,
} Tail;

static GType dlp_token_format_get_type (void);
static GType dlp_token_dtype_get_type (void);
static GType dlp_token_unit_get_type (void);
static GType dlp_token_separator_at_get_type (void);
static GType dlp_token_tail_get_type (void);

G_DEFINE_ENUM_TYPE (DlpTokenFormat,
                    dlp_token_format,
                    G_DEFINE_ENUM_VALUE (TOKEN_FORMAT_AUTO, "auto"),
                    G_DEFINE_ENUM_VALUE (TOKEN_FORMAT_MEGATRON, "megatron"),
                    G_DEFINE_ENUM_VALUE (TOKEN_FORMAT_NPY, "npy"),
                    G_DEFINE_ENUM_VALUE (TOKEN_FORMAT_LLMC, "llmc"),
                    G_DEFINE_ENUM_VALUE (TOKEN_FORMAT_FLAT, "flat"))

G_DEFINE_ENUM_TYPE (DlpTokenDtype,
                    dlp_token_dtype,
                    G_DEFINE_ENUM_VALUE (TOKEN_AUTO, "auto"),
                    G_DEFINE_ENUM_VALUE (TOKEN_U8, "u8"),
                    G_DEFINE_ENUM_VALUE (TOKEN_I8, "i8"),
                    G_DEFINE_ENUM_VALUE (TOKEN_U16, "u16"),
                    G_DEFINE_ENUM_VALUE (TOKEN_I16, "i16"),
                    G_DEFINE_ENUM_VALUE (TOKEN_U32, "u32"),
                    G_DEFINE_ENUM_VALUE (TOKEN_I32, "i32"),
                    G_DEFINE_ENUM_VALUE (TOKEN_U64, "u64"),
                    G_DEFINE_ENUM_VALUE (TOKEN_I64, "i64"))

G_DEFINE_ENUM_TYPE (DlpTokenUnit,
                    dlp_token_unit,
                    G_DEFINE_ENUM_VALUE (TOKEN_UNIT_SEQUENCE, "sequence"),
                    G_DEFINE_ENUM_VALUE (TOKEN_UNIT_DOCUMENT, "document"))

G_DEFINE_ENUM_TYPE (DlpTokenSeparatorAt,
                    dlp_token_separator_at,
                    G_DEFINE_ENUM_VALUE (TOKEN_SEPARATOR_AUTO, "auto"),
                    G_DEFINE_ENUM_VALUE (TOKEN_SEPARATOR_END, "end"),
                    G_DEFINE_ENUM_VALUE (TOKEN_SEPARATOR_START, "start"))

G_DEFINE_ENUM_TYPE (DlpTokenTail,
                    dlp_token_tail,
                    G_DEFINE_ENUM_VALUE (TAIL_KEEP, "keep"),
                    G_DEFINE_ENUM_VALUE (TAIL_DROP, "drop"))

struct _DlpTokenReader
{
  DlpReader parent_instance;

  char *field;
  TokenSettings settings;
};

enum
{
  PROP_0,
  PROP_FORMAT,
  PROP_DTYPE,
  PROP_UNIT,
  PROP_SEPARATOR,
  PROP_SEPARATOR_AT,
  PROP_LENGTH,
  PROP_TAIL,
  PROP_FIELD,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

G_DEFINE_FINAL_TYPE (DlpTokenReader, dlp_token_reader, DLP_TYPE_READER)

/* ---- the schema ---- */

static gboolean
fail (GError **error, const char *why)
{
  g_set_error_literal (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE, why);
  return FALSE;
}

static gboolean
check_settings (DlpTokenReader *self, GError **error)
{
  const TokenSettings *settings = &self->settings;

  if (self->field == NULL || *self->field == '\0')
    return fail (error, "field: empty; it is the name that the ids get, such as tokens");
  if (settings->separator >= 0 && settings->length > 0)
    return fail (error,
                 "separator and length: documents end either with an id or after so many; set one");
  if (settings->drop_tail && settings->length == 0)
    return fail (error, "tail=drop: without length no record is shorter than the others");
  if (settings->separator_at != TOKEN_SEPARATOR_AUTO && settings->separator < 0)
    return fail (error, "separator-at: no separator is set");
  if (settings->format == TOKEN_FORMAT_FLAT && settings->dtype == TOKEN_AUTO)
    return fail (error, "format=flat: these files do not say what their ids are; dtype=u16 "
                        "(nanoGPT) or dtype=u32 has to");
  return TRUE;
}

static DlpSchema *
dlp_token_reader_get_schema (DlpReader *reader, GError **error)
{
  DlpTokenReader *self = DLP_TOKEN_READER (reader);
  DlpFieldType type = token_dtype_get_field_type (self->settings.dtype);
  const char *name = self->field;

  if (!check_settings (self, error))
    return NULL;
  self->settings.field_width = type == DLP_FIELD_LIST_UINT16 ? sizeof (guint16) : sizeof (guint32);
  g_object_get (self, "max-record-bytes", &self->settings.max_record_bytes, NULL);
  return dlp_schema_new (DLP_SCHEMA_RECORDS, 1, &name, &type, NULL);
}

/* ---- files, on the reader's threads ---- */

static gpointer
dlp_token_reader_open_file (DlpReader *reader,
                            DlpFile *file,
                            guint64 row,
                            GCancellable *cancellable,
                            GError **error)
{
  return token_rows_open (&DLP_TOKEN_READER (reader)->settings, file, row, cancellable, error);
}

static gboolean
dlp_token_reader_read_piece (DlpReader *reader,
                             gpointer opened,
                             gsize max_bytes,
                             DlpReaderPiece *piece,
                             GCancellable *cancellable,
                             GError **error)
{
  return token_rows_read (opened, max_bytes, piece, cancellable, error);
}

static void
dlp_token_reader_close_file (DlpReader *reader, gpointer opened)
{
  token_rows_free (opened);
}

/* ---- parsing, on a worker ---- */

static void
reject (DlpTokenReader *self,
        DlpReaderChunk *chunk,
        TokenDtype dtype,
        gconstpointer ids,
        gsize n,
        gsize bad)
{
  g_autoptr (GString) shown = g_string_new ("[");
  g_autofree char *id = token_dtype_show (dtype, ids, bad);
  char *message = g_strdup_printf ("id %s, number %" G_GSIZE_FORMAT
                                   " of the record, does not fit; allowed are 0 to 4294967295",
                                   id, bad);

  for (gsize i = 0; i < n && shown->len < MAX_SHOWN; i++)
    {
      g_autofree char *text = token_dtype_show (dtype, ids, i);

      g_string_append_printf (shown, "%s%s", i > 0 ? "," : "", text);
    }
  g_string_append_c (shown, ']');
  g_string_truncate (shown, MIN (shown->len, MAX_SHOWN));
  dlp_reader_chunk_reject (chunk, 0, "range", 0, (const guint8 *) shown->str, shown->len, message);
}

static void
reject_too_long (DlpTokenReader *self, DlpReaderChunk *chunk, guint64 n)
{
  dlp_reader_chunk_reject (
      chunk, 0, "too-long", 0, NULL, 0,
      g_strdup_printf ("a record of at least %" G_GUINT64_FORMAT
                       " ids, above the max-record-bytes=%" G_GUINT64_FORMAT
                       " allowed; length=N or separator=ID would divide a file without an index",
                       n, self->settings.max_record_bytes));
}

static void
take_row (DlpTokenReader *self, DlpReaderChunk *chunk, TokenDtype dtype, gconstpointer ids, gsize n)
{
  DlpRecordBatchBuilder *builder = dlp_reader_chunk_get_builder (chunk);
  DlpFieldType type = token_dtype_get_field_type (self->settings.dtype);
  gpointer to = dlp_record_batch_builder_reserve (builder, 0, n);
  gsize good = token_dtype_convert (dtype, ids, n, type, to);

  dlp_record_batch_builder_commit (builder, 0, n);
  if (good < n)
    reject (self, chunk, dtype, ids, n, good);
  else
    dlp_reader_chunk_end_record (chunk, 0);
}

static void
dlp_token_reader_parse (DlpReader *reader, gpointer worker, DlpReaderChunk *chunk)
{
  DlpTokenReader *self = DLP_TOKEN_READER (reader);
  TokenPiece *piece = dlp_reader_chunk_get_piece (chunk);
  const guint8 *ids = piece->ids->data;

  for (guint i = 0; i < piece->rows->len; i++)
    {
      const TokenRow *row = &g_array_index (piece->rows, TokenRow, i);

      if (row->is_too_long)
        {
          reject_too_long (self, chunk, row->n);
          continue;
        }
      take_row (self, chunk, piece->dtype, ids, (gsize) row->n);
      /* Where all rows are empty there is no array. */
      if (row->n > 0)
        ids += row->n * token_dtype_get_width (piece->dtype);
    }
}

/* ---- object ---- */

static void
dlp_token_reader_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  DlpTokenReader *self = DLP_TOKEN_READER (object);
  const TokenSettings *settings = &self->settings;

  switch (id)
    {
    case PROP_FORMAT:
      g_value_set_enum (value, settings->format);
      break;
    case PROP_DTYPE:
      g_value_set_enum (value, settings->dtype);
      break;
    case PROP_UNIT:
      g_value_set_enum (value, settings->unit);
      break;
    case PROP_SEPARATOR:
      g_value_set_int64 (value, settings->separator);
      break;
    case PROP_SEPARATOR_AT:
      g_value_set_enum (value, settings->separator_at);
      break;
    case PROP_LENGTH:
      g_value_set_uint64 (value, settings->length);
      break;
    case PROP_TAIL:
      g_value_set_enum (value, settings->drop_tail ? TAIL_DROP : TAIL_KEEP);
      break;
    case PROP_FIELD:
      g_value_set_string (value, self->field);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_token_reader_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  DlpTokenReader *self = DLP_TOKEN_READER (object);
  TokenSettings *settings = &self->settings;

  switch (id)
    {
    case PROP_FORMAT:
      settings->format = g_value_get_enum (value);
      break;
    case PROP_DTYPE:
      settings->dtype = g_value_get_enum (value);
      break;
    case PROP_UNIT:
      settings->unit = g_value_get_enum (value);
      break;
    case PROP_SEPARATOR:
      settings->separator = g_value_get_int64 (value);
      break;
    case PROP_SEPARATOR_AT:
      settings->separator_at = g_value_get_enum (value);
      break;
    case PROP_LENGTH:
      settings->length = g_value_get_uint64 (value);
      break;
    case PROP_TAIL:
      settings->drop_tail = g_value_get_enum (value) == TAIL_DROP;
      break;
    case PROP_FIELD:
      g_free (self->field);
      self->field = g_value_dup_string (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_token_reader_finalize (GObject *object)
{
  g_free (DLP_TOKEN_READER (object)->field);

  G_OBJECT_CLASS (dlp_token_reader_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass *object_class)
{
  properties[PROP_FORMAT] = g_param_spec_enum (
      "format", NULL,
      "What the files are: Megatron's pairs of .bin and .idx, NumPy's .npy, llm.c's, or ids alone; "
      "auto: by their beginning, and by an .idx beside a .bin",
      dlp_token_format_get_type (), TOKEN_FORMAT_AUTO, DLP_PARAM_READWRITE);
  properties[PROP_DTYPE] = g_param_spec_enum (
      "dtype", NULL,
      "How ids lie in the files, little-endian; auto: as each file says; files without a header "
      "need it. With u8 and u16 records have list<uint16>, else list<uint32>",
      dlp_token_dtype_get_type (), TOKEN_AUTO, DLP_PARAM_READWRITE);
  properties[PROP_UNIT] = g_param_spec_enum (
      "unit", NULL, "What of a Megatron dataset is a record: a sequence, or a document of several",
      dlp_token_unit_get_type (), TOKEN_UNIT_SEQUENCE, DLP_PARAM_READWRITE);
  properties[PROP_SEPARATOR] =
      g_param_spec_int64 ("separator", NULL,
                          "The id that divides a file without an index into documents, of which it "
                          "is part; -1: none",
                          -1, G_MAXUINT32, -1, DLP_PARAM_READWRITE);
  properties[PROP_SEPARATOR_AT] = g_param_spec_enum (
      "separator-at", NULL,
      "Whether a separator ends a document or starts one; auto: it starts those of llm.c, and ends "
      "others",
      dlp_token_separator_at_get_type (), TOKEN_SEPARATOR_AUTO, DLP_PARAM_READWRITE);
  properties[PROP_LENGTH] = g_param_spec_uint64 (
      "length", NULL, "Ids of a record, of a file without an index; 0: the file is one record", 0,
      G_MAXINT32 / 8, 0, DLP_PARAM_READWRITE);
  properties[PROP_TAIL] = g_param_spec_enum (
      "tail", NULL,
      "What is left at the end of a file, with less than length ids: kept as a shorter record, or "
      "dropped",
      dlp_token_tail_get_type (), TAIL_KEEP, DLP_PARAM_READWRITE);
  properties[PROP_FIELD] = g_param_spec_string ("field", NULL, "The name that the ids get",
                                                "tokens", DLP_PARAM_READWRITE);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
dlp_token_reader_class_init (DlpTokenReaderClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  DlpReaderClass *reader_class = DLP_READER_CLASS (klass);

  object_class->get_property = dlp_token_reader_get_property;
  object_class->set_property = dlp_token_reader_set_property;
  object_class->finalize = dlp_token_reader_finalize;
  reader_class->get_schema = dlp_token_reader_get_schema;
  reader_class->open_file = dlp_token_reader_open_file;
  reader_class->read_piece = dlp_token_reader_read_piece;
  reader_class->close_file = dlp_token_reader_close_file;
  reader_class->parse = dlp_token_reader_parse;
  dlp_element_class_set_description (
      DLP_ELEMENT_CLASS (klass),
      "Reads token ids: datasets of Megatron, NumPy's arrays, files of llm.c and of ids alone",
      "file-source location=corpus/*.bin ! token-reader ! batch size=8 ! null-sink");
  install_properties (object_class);
}

static void
dlp_token_reader_init (DlpTokenReader *self)
{
  self->field = g_strdup ("tokens");
  self->settings.separator = -1;
}
