/* SPDX-License-Identifier: MIT */

#include "dlp-warc-reader.h"

#include <string.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-utf8.h>

#include "reader-fields.h"
#include "text-start.h"
#include "warc-body.h"
#include "warc-charset.h"
#include "warc-digest.h"
#include "warc-fields.h"
#include "warc-frame.h"
#include "warc-header.h"

/* What a worker keeps for the next record, where there is memory for it. */
#define MAX_SCRATCH_BYTES (1024 * 1024)
#define SCRATCH_BYTES 4096
#define BODY_FIELD 0

typedef enum
{
  BODY_PAYLOAD,
  BODY_BLOCK,
} Body;

typedef enum
{
  CHARSET_UTF_8,
  CHARSET_HEADER,
  CHARSET_REPLACE,
  CHARSET_BYTES,
} Charset;

static GType dlp_warc_body_get_type (void);
static GType dlp_warc_charset_get_type (void);

G_DEFINE_ENUM_TYPE (DlpWarcBody,
                    dlp_warc_body,
                    G_DEFINE_ENUM_VALUE (BODY_PAYLOAD, "payload"),
                    G_DEFINE_ENUM_VALUE (BODY_BLOCK, "block"))

G_DEFINE_ENUM_TYPE (DlpWarcCharset,
                    dlp_warc_charset,
                    G_DEFINE_ENUM_VALUE (CHARSET_UTF_8, "utf-8"),
                    G_DEFINE_ENUM_VALUE (CHARSET_HEADER, "header"),
                    G_DEFINE_ENUM_VALUE (CHARSET_REPLACE, "replace"),
                    G_DEFINE_ENUM_VALUE (CHARSET_BYTES, "bytes"))

struct _DlpWarcReader
{
  DlpReader parent_instance;

  char **types;
  char **content_types;
  Body body;
  Charset charset;
  char *field;
  char **fields;
  gboolean verify_digest;

  GPtrArray *wanted_types;         /* of char * */
  GPtrArray *wanted_content_types; /* of char *; none: all */
  GPtrArray *further;              /* of WarcField: of the values from 1 on */
  guint64 max_record_bytes;
};

typedef struct
{
  GByteArray *rooms[2];
  GString *text;
} Worker;

/* A chunk that is being parsed. */
typedef struct
{
  DlpWarcReader *self;
  DlpReaderChunk *chunk;
  Worker *worker;
  const guint8 *bytes;
  gsize size;
} Parse;

/* A record of it. */
typedef struct
{
  Parse *parse;
  gsize at; /* in the chunk */
  const guint8 *data;
  gsize size;
  WarcFrame frame;
  WarcHeaders headers;
  HttpMessage http;
  const guint8 *body;
  gsize body_size;
} Record;

static const char *const counters[] = { "truncated", "segments",    "lacking-line-ends",
                                        "replaced",  "passed-over", "unknown-digests",
                                        NULL };

enum
{
  COUNTER_TRUNCATED,
  COUNTER_SEGMENTS,
  COUNTER_LACKING_LINE_ENDS,
  COUNTER_REPLACED,
  COUNTER_PASSED_OVER,
  COUNTER_UNKNOWN_DIGESTS,
};

enum
{
  PROP_0,
  PROP_TYPES,
  PROP_CONTENT_TYPES,
  PROP_BODY,
  PROP_CHARSET,
  PROP_FIELD,
  PROP_FIELDS,
  PROP_VERIFY_DIGEST,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

static const char *const default_types[] = { "response", "conversion", NULL };

G_DEFINE_FINAL_TYPE (DlpWarcReader, dlp_warc_reader, DLP_TYPE_READER)

/* ---- the schema ---- */

static gboolean
check_types (DlpWarcReader *self, GError **error)
{
  static const char *const known[] = { "warcinfo",   "response",     "resource",
                                       "request",    "metadata",     "revisit",
                                       "conversion", "continuation", NULL };

  for (guint i = 0; i < self->wanted_types->len; i++)
    if (!g_strv_contains (known, self->wanted_types->pdata[i]))
      {
        g_autofree char *list = g_strjoinv (", ", (char **) known);

        g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                     "types: \"%s\", but there are %s", (const char *) self->wanted_types->pdata[i],
                     list);
        return FALSE;
      }
  if (self->wanted_types->len > 0)
    return TRUE;
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
               "types: none, but it lists the types of records that are wanted, such as response");
  return FALSE;
}

static DlpSchema *
make_schema (DlpWarcReader *self)
{
  guint n = 1 + self->further->len;
  g_autofree const char **names = g_new (const char *, n);
  g_autofree DlpFieldType *types = g_new (DlpFieldType, n);
  g_autofree gboolean *optional = g_new (gboolean, n);

  names[BODY_FIELD] = self->field;
  types[BODY_FIELD] = self->charset == CHARSET_BYTES ? DLP_FIELD_BINARY : DLP_FIELD_STRING;
  optional[BODY_FIELD] = FALSE;
  for (guint i = BODY_FIELD + 1; i < n; i++)
    {
      const WarcField *field = self->further->pdata[i - 1];

      names[i] = field->name;
      types[i] = warc_field_get_type (field);
      optional[i] = TRUE;
    }
  return dlp_schema_new (DLP_SCHEMA_RECORDS, n, names, types, optional);
}

static DlpSchema *
dlp_warc_reader_get_schema (DlpReader *reader, GError **error)
{
  DlpWarcReader *self = DLP_WARC_READER (reader);

  if (self->field == NULL || *self->field == '\0')
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                   "field: empty; it is the name that the body gets, such as text");
      return NULL;
    }
  g_clear_pointer (&self->wanted_types, g_ptr_array_unref);
  g_clear_pointer (&self->wanted_content_types, g_ptr_array_unref);
  g_clear_pointer (&self->further, g_ptr_array_unref);
  self->wanted_types = reader_fields_split_names (
      self->types != NULL ? (const char *const *) self->types : default_types);
  self->wanted_content_types =
      reader_fields_split_names ((const char *const *) self->content_types);
  self->further = warc_fields_parse ((const char *const *) self->fields, self->field, error);
  if (self->further == NULL || !check_types (self, error))
    return NULL;
  g_object_get (self, "max-record-bytes", &self->max_record_bytes, NULL);
  return make_schema (self);
}

/* ---- borders ---- */

static gsize
dlp_warc_reader_cut (DlpReader *reader, const guint8 *data, gsize size)
{
  DlpWarcReader *self = DLP_WARC_READER (reader);
  gsize at = 0;
  WarcFrame frame;

  while (warc_frame (data + at, size - at, FALSE, self->max_record_bytes, &frame))
    at += frame.next;
  return at;
}

static gsize
dlp_warc_reader_skip (DlpReader *reader,
                      guint64 *state,
                      const guint8 *data,
                      gsize size,
                      gboolean *ended)
{
  return warc_frame_skip (state, data, size, ended);
}

/* ---- workers ---- */

static gpointer
dlp_warc_reader_worker_new (DlpReader *reader)
{
  Worker *worker = g_new (Worker, 1);

  worker->rooms[0] = g_byte_array_sized_new (SCRATCH_BYTES);
  worker->rooms[1] = g_byte_array_sized_new (SCRATCH_BYTES);
  worker->text = g_string_new (NULL);
  return worker;
}

static void
dlp_warc_reader_worker_free (DlpReader *reader, gpointer data)
{
  Worker *worker = data;

  g_byte_array_unref (worker->rooms[0]);
  g_byte_array_unref (worker->rooms[1]);
  g_string_free (worker->text, TRUE);
  g_free (worker);
}

/* What one large record took is not kept. */
static void
shrink (Worker *worker)
{
  for (guint i = 0; i < G_N_ELEMENTS (worker->rooms); i++)
    if (worker->rooms[i]->len > MAX_SCRATCH_BYTES)
      {
        g_byte_array_unref (worker->rooms[i]);
        worker->rooms[i] = g_byte_array_sized_new (SCRATCH_BYTES);
      }
  if (worker->text->allocated_len > MAX_SCRATCH_BYTES)
    {
      g_string_free (worker->text, TRUE);
      worker->text = g_string_new (NULL);
    }
}

/* ---- a bad record ---- */

static void
reject (const Record *record, const char *kind, gsize offset, char *message)
{
  gsize start = record->at + record->frame.start;

  dlp_reader_chunk_reject (record->parse->chunk, 0, kind, offset, record->parse->bytes + start,
                           record->frame.next - record->frame.start, message);
}

static void
reject_length (const Record *record)
{
  Parse *parse = record->parse;
  const WarcFrame *frame = &record->frame;
  guint64 there = frame->next - frame->block;
  gsize start = record->at + frame->start;

  if (record->at + frame->next == parse->size && frame->length > there &&
      dlp_reader_chunk_is_last (parse->chunk))
    reject (record, "unterminated", start,
            g_strdup_printf ("Content-Length %" G_GUINT64_FORMAT
                             ", but the file ends %" G_GUINT64_FORMAT " bytes before that",
                             frame->length, frame->length - there));
  else
    reject (record, "content-length", start,
            g_strdup_printf ("Content-Length %" G_GUINT64_FORMAT ", but no record begins behind so "
                             "many bytes; up to the next one there are %" G_GUINT64_FORMAT,
                             frame->length, there));
}

static char *
describe_bad_length (const Record *record)
{
  gsize n;
  const guint8 *value =
      warc_header_find (record->data + record->frame.start,
                        record->frame.block - record->frame.start, "Content-Length", &n);
  g_autofree char *shown = g_utf8_make_valid ((const char *) value, (gssize) MIN (n, 40));

  return g_strdup_printf ("Content-Length \"%s\", but it is one number from 0 to 2^64 - 1", shown);
}

static void
reject_frame (const Record *record)
{
  gsize start = record->at + record->frame.start;

  switch (record->frame.fault)
    {
    case WARC_FAULT_NO_RECORD:
      reject (record, "warc", start,
              g_strdup_printf ("no record, which would begin with WARC/1., but %" G_GSIZE_FORMAT
                               " bytes of something else",
                               record->frame.next - record->frame.start));
      break;
    case WARC_FAULT_HEADER:
      reject (record, "warc", start, g_strdup ("a header without the blank line at its end"));
      break;
    case WARC_FAULT_NO_LENGTH:
      reject (record, "content-length", start, g_strdup ("a header without Content-Length"));
      break;
    case WARC_FAULT_BAD_LENGTH:
      reject (record, "content-length", start, describe_bad_length (record));
      break;
    default:
      reject_length (record);
    }
}

/* ---- what is wanted ---- */

/* A name may end with a star, which stands for any end. */
static gboolean
is_among (GPtrArray *names, const guint8 *text, gsize size)
{
  for (guint i = 0; i < names->len; i++)
    {
      const char *name = names->pdata[i];
      gsize n = strlen (name);
      gboolean has_star = n > 0 && name[n - 1] == '*';

      n -= has_star;
      if ((has_star ? size >= n : size == n) &&
          g_ascii_strncasecmp ((const char *) text, name, n) == 0)
        return TRUE;
    }
  return FALSE;
}

static const guint8 *
find_field (const Record *record, const char *name, gsize *size)
{
  return warc_header_find (record->headers.header, record->headers.header_size, name, size);
}

static gboolean
has_wanted_type (const Record *record)
{
  gsize size;
  const guint8 *type = find_field (record, "WARC-Type", &size);

  return type != NULL && is_among (record->parse->self->wanted_types, type, size);
}

static gboolean
has_wanted_content_type (const Record *record)
{
  GPtrArray *wanted = record->parse->self->wanted_content_types;
  gsize size;
  const guint8 *type;
  const guint8 *end;

  if (wanted->len == 0)
    return TRUE;
  type = warc_headers_get_content_type (&record->headers, &size);
  if (type == NULL)
    return FALSE;
  end = memchr (type, ';', size);
  if (end != NULL)
    size = (gsize) (end - type);
  while (size > 0 && g_ascii_isspace (type[size - 1]))
    size--;
  return is_among (wanted, type, size);
}

/* ---- the body ---- */

static gboolean
is_http (const Record *record)
{
  static const char media[] = "application/http";
  gsize size;
  const guint8 *type = find_field (record, "Content-Type", &size);

  return type != NULL && size >= strlen (media) &&
         g_ascii_strncasecmp ((const char *) type, media, strlen (media)) == 0;
}

/* Also where the block is wanted, for the fields. */
static gboolean
read_http (Record *record)
{
  if (!is_http (record))
    return TRUE;
  if (http_message_read (&record->http, record->body, record->body_size))
    {
      record->headers.http = &record->http;
      return TRUE;
    }
  if (record->parse->self->body == BODY_BLOCK)
    return TRUE;
  reject (record, "http", record->at + record->frame.block,
          g_strdup ("Content-Type application/http, but the block is no HTTP message"));
  return FALSE;
}

static gboolean
take_payload (Record *record)
{
  DlpWarcReader *self = record->parse->self;
  WarcBodyFault fault = { NULL };
  gsize size;
  gboolean is_cut = find_field (record, "WARC-Truncated", &size) != NULL;

  if (self->body == BODY_BLOCK || record->headers.http == NULL ||
      http_message_decode (&record->http, is_cut, (gsize) self->max_record_bytes,
                           record->parse->worker->rooms, &record->body, &record->body_size, &fault))
    return TRUE;
  reject (record, fault.kind, record->at + record->frame.block + record->http.header_size,
          fault.message);
  return FALSE;
}

/* Of a body that was decoded there is no place in the file but its start. */
static gsize
get_place (const Record *record, gsize fault)
{
  const Parse *parse = record->parse;

  if (record->body >= parse->bytes && record->body < parse->bytes + parse->size)
    return (gsize) (record->body - parse->bytes) + fault;
  return record->at + record->frame.block;
}

static void
append_body (Record *record, const guint8 *text, gsize size)
{
  dlp_record_batch_builder_append_value (dlp_reader_chunk_get_builder (record->parse->chunk),
                                         BODY_FIELD, text, size);
}

static gboolean
append_utf_8 (Record *record, const guint8 *text, gsize size)
{
  gsize valid = dlp_utf8_measure_valid (text, size);
  GString *room = record->parse->worker->text;

  if (valid == size)
    {
      append_body (record, text, size);
      return TRUE;
    }
  if (record->parse->self->charset == CHARSET_REPLACE)
    {
      g_string_truncate (room, 0);
      dlp_reader_chunk_count (record->parse->chunk, COUNTER_REPLACED,
                              dlp_utf8_append_repaired (room, text, size));
      append_body (record, (const guint8 *) room->str, room->len);
      return TRUE;
    }
  reject (record, "utf-8", get_place (record, (gsize) (text - record->body) + valid),
          g_strdup_printf ("byte 0x%02x is not UTF-8, at byte %" G_GSIZE_FORMAT
                           " of the body (charset=header reads other encodings)",
                           text[valid], (gsize) (text - record->body) + valid));
  return FALSE;
}

static gboolean
append_converted (Record *record, const char *encoding, const guint8 *text, gsize size)
{
  GString *room = record->parse->worker->text;
  gboolean may_replace = record->parse->self->charset == CHARSET_REPLACE;
  guint64 replaced = 0;
  gsize fault;

  g_string_truncate (room, 0);
  if (warc_charset_convert (room, encoding, text, size, may_replace ? &replaced : NULL, &fault))
    {
      if (replaced > 0)
        dlp_reader_chunk_count (record->parse->chunk, COUNTER_REPLACED, replaced);
      append_body (record, (const guint8 *) room->str, room->len);
      return TRUE;
    }
  reject (record, "charset", get_place (record, (gsize) (text - record->body) + fault),
          g_strdup_printf ("it says that it is %s, and is not at byte %" G_GSIZE_FORMAT
                           " of the body",
                           encoding, (gsize) (text - record->body) + fault));
  return FALSE;
}

static gboolean
append_declared (Record *record)
{
  gboolean may_replace = record->parse->self->charset == CHARSET_REPLACE;
  g_autofree char *unknown = NULL;
  gsize type_size, mark;
  const guint8 *type = warc_headers_get_content_type (&record->headers, &type_size);
  const char *encoding = warc_charset_find (record->body, record->body_size, (const char *) type,
                                            type_size, &mark, &unknown);
  const guint8 *text = record->body + mark;
  gsize size = record->body_size - mark;

  if (unknown != NULL && !may_replace)
    {
      reject (record, "charset", get_place (record, 0),
              g_strdup_printf ("it says that its encoding is \"%s\", which is none of the Web's",
                               unknown));
      return FALSE;
    }
  if (encoding == NULL || strcmp (encoding, "UTF-8") == 0)
    return append_utf_8 (record, text, size);
  return append_converted (record, encoding, text, size);
}

static gboolean
append_text (Record *record)
{
  gsize mark;

  switch (record->parse->self->charset)
    {
    case CHARSET_BYTES:
      append_body (record, record->body, record->body_size);
      return TRUE;
    case CHARSET_UTF_8:
      mark = text_start_measure_bom (record->body, record->body_size);
      return append_utf_8 (record, record->body + mark, record->body_size - mark);
    default:
      return append_declared (record);
    }
}

/* ---- records ---- */

static gboolean
check_digest (const Record *record)
{
  gsize size;
  const char *digest = (const char *) find_field (record, "WARC-Block-Digest", &size);

  if (!record->parse->self->verify_digest || digest == NULL)
    return TRUE;
  switch (warc_digest_check (digest, size, record->body, record->body_size))
    {
    case WARC_DIGEST_RIGHT:
      return TRUE;
    case WARC_DIGEST_UNKNOWN:
      dlp_reader_chunk_count (record->parse->chunk, COUNTER_UNKNOWN_DIGESTS, 1);
      return TRUE;
    default:
      reject (record, "digest", record->at + record->frame.block,
              g_strdup_printf ("the block has not the digest %.*s of its header",
                               (int) MIN (size, 140), digest));
      return FALSE;
    }
}

static void
note_record (const Record *record)
{
  gsize size;

  if (record->frame.lacks_line_ends)
    dlp_reader_chunk_count (record->parse->chunk, COUNTER_LACKING_LINE_ENDS, 1);
  if (find_field (record, "WARC-Segment-Number", &size) != NULL)
    dlp_reader_chunk_count (record->parse->chunk, COUNTER_SEGMENTS, 1);
}

static void
take_wanted (Record *record)
{
  Parse *parse = record->parse;
  gsize size;

  if (find_field (record, "WARC-Truncated", &size) != NULL)
    dlp_reader_chunk_count (parse->chunk, COUNTER_TRUNCATED, 1);
  if (!check_digest (record) || !take_payload (record) || !append_text (record))
    return;
  for (guint i = 0; i < parse->self->further->len; i++)
    warc_field_append (parse->self->further->pdata[i], &record->headers,
                       dlp_reader_chunk_get_builder (parse->chunk), i + 1);
  dlp_reader_chunk_end_record (parse->chunk, 0);
}

static void
reject_too_long (const Record *record)
{
  reject (record, "too-long", record->at + record->frame.start,
          g_strdup_printf ("a record of %" G_GSIZE_FORMAT
                           " bytes, above the max-record-bytes=%" G_GUINT64_FORMAT " allowed",
                           record->frame.next - record->frame.start,
                           record->parse->self->max_record_bytes));
}

static void
take_record (Record *record)
{
  const WarcFrame *frame = &record->frame;

  if (frame->next - frame->start > record->parse->self->max_record_bytes)
    {
      reject_too_long (record);
      return;
    }
  if (frame->fault != WARC_FAULT_NONE)
    {
      reject_frame (record);
      return;
    }
  record->headers.header = record->data + frame->start;
  record->headers.header_size = frame->block - frame->start;
  record->body = record->data + frame->block;
  record->body_size = frame->block_end - frame->block;
  note_record (record);
  if (!has_wanted_type (record))
    {
      dlp_reader_chunk_count (record->parse->chunk, COUNTER_PASSED_OVER, 1);
      return;
    }
  if (!read_http (record))
    return;
  if (has_wanted_content_type (record))
    take_wanted (record);
  else
    dlp_reader_chunk_count (record->parse->chunk, COUNTER_PASSED_OVER, 1);
}

static void
dlp_warc_reader_parse (DlpReader *reader, gpointer worker, DlpReaderChunk *chunk)
{
  DlpWarcReader *self = DLP_WARC_READER (reader);
  Parse parse = { .self = self, .chunk = chunk, .worker = worker };
  const char *fault = NULL;

  parse.bytes = dlp_reader_chunk_get_data (chunk, &parse.size);
  if (dlp_reader_chunk_get_offset (chunk) == 0)
    fault = text_start_find_fault (parse.bytes, parse.size);
  if (fault != NULL)
    {
      dlp_reader_chunk_damage (chunk, 0, g_strdup (fault));
      return;
    }

  for (gsize at = 0; at < parse.size;)
    {
      Record record = { .parse = &parse, .at = at, .data = parse.bytes + at };

      record.size = parse.size - at;
      warc_frame (record.data, record.size, TRUE, self->max_record_bytes, &record.frame);
      if (record.frame.start < record.frame.next)
        take_record (&record);
      at += record.frame.next;
      shrink (worker);
    }
}

/* ---- object ---- */

static void
dlp_warc_reader_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  DlpWarcReader *self = DLP_WARC_READER (object);

  switch (id)
    {
    case PROP_TYPES:
      g_value_set_boxed (value, self->types);
      break;
    case PROP_CONTENT_TYPES:
      g_value_set_boxed (value, self->content_types);
      break;
    case PROP_BODY:
      g_value_set_enum (value, self->body);
      break;
    case PROP_CHARSET:
      g_value_set_enum (value, self->charset);
      break;
    case PROP_FIELD:
      g_value_set_string (value, self->field);
      break;
    case PROP_FIELDS:
      g_value_set_boxed (value, self->fields);
      break;
    case PROP_VERIFY_DIGEST:
      g_value_set_boolean (value, self->verify_digest);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
set_strings (char ***to, const GValue *value)
{
  g_strfreev (*to);
  *to = g_value_dup_boxed (value);
}

static void
dlp_warc_reader_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  DlpWarcReader *self = DLP_WARC_READER (object);

  switch (id)
    {
    case PROP_TYPES:
      set_strings (&self->types, value);
      break;
    case PROP_CONTENT_TYPES:
      set_strings (&self->content_types, value);
      break;
    case PROP_BODY:
      self->body = g_value_get_enum (value);
      break;
    case PROP_CHARSET:
      self->charset = g_value_get_enum (value);
      break;
    case PROP_FIELD:
      g_free (self->field);
      self->field = g_value_dup_string (value);
      break;
    case PROP_FIELDS:
      set_strings (&self->fields, value);
      break;
    case PROP_VERIFY_DIGEST:
      self->verify_digest = g_value_get_boolean (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_warc_reader_finalize (GObject *object)
{
  DlpWarcReader *self = DLP_WARC_READER (object);

  g_clear_pointer (&self->wanted_types, g_ptr_array_unref);
  g_clear_pointer (&self->wanted_content_types, g_ptr_array_unref);
  g_clear_pointer (&self->further, g_ptr_array_unref);
  g_strfreev (self->types);
  g_strfreev (self->content_types);
  g_strfreev (self->fields);
  g_free (self->field);

  G_OBJECT_CLASS (dlp_warc_reader_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass *object_class)
{
  properties[PROP_TYPES] = g_param_spec_boxed (
      "types", NULL,
      "Types of records that are wanted (response,conversion): warcinfo, response, resource, "
      "request, metadata, revisit, conversion, continuation; default: response,conversion",
      G_TYPE_STRV, DLP_PARAM_READWRITE);
  properties[PROP_CONTENT_TYPES] = g_param_spec_boxed (
      "content-types", NULL,
      "Media types of bodies that are wanted (text/html,text/*), without parameters; default: all",
      G_TYPE_STRV, DLP_PARAM_READWRITE);
  properties[PROP_BODY] = g_param_spec_enum (
      "body", NULL,
      "What of a record is taken: the payload, which of HTTP is the decoded body, or the whole "
      "block, with the HTTP header",
      dlp_warc_body_get_type (), BODY_PAYLOAD, DLP_PARAM_READWRITE);
  properties[PROP_CHARSET] = g_param_spec_enum (
      "charset", NULL,
      "How a body becomes text: utf-8: what is not UTF-8 makes a bad record; header: by what it "
      "says that it is; replace: the same, what does not fit is U+FFFD; bytes: as it is, binary",
      dlp_warc_charset_get_type (), CHARSET_UTF_8, DLP_PARAM_READWRITE);
  properties[PROP_FIELD] = g_param_spec_string ("field", NULL, "The name that the body gets",
                                                "text", DLP_PARAM_READWRITE);
  properties[PROP_FIELDS] = g_param_spec_boxed (
      "fields", NULL,
      "Further fields (url,date,http-status,header:Server): url, date, type, id, content-type, "
      "http-status, header:NAME of the HTTP header, warc:NAME of the record's",
      G_TYPE_STRV, DLP_PARAM_READWRITE);
  properties[PROP_VERIFY_DIGEST] =
      g_param_spec_boolean ("verify-digest", NULL,
                            "A block that has not the WARC-Block-Digest of its header makes a bad "
                            "record",
                            FALSE, DLP_PARAM_READWRITE);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
dlp_warc_reader_class_init (DlpWarcReaderClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  DlpReaderClass *reader_class = DLP_READER_CLASS (klass);

  object_class->get_property = dlp_warc_reader_get_property;
  object_class->set_property = dlp_warc_reader_set_property;
  object_class->finalize = dlp_warc_reader_finalize;
  reader_class->get_schema = dlp_warc_reader_get_schema;
  reader_class->cut = dlp_warc_reader_cut;
  reader_class->skip = dlp_warc_reader_skip;
  reader_class->worker_new = dlp_warc_reader_worker_new;
  reader_class->worker_free = dlp_warc_reader_worker_free;
  reader_class->parse = dlp_warc_reader_parse;
  dlp_reader_class_set_counters (reader_class, counters);
  dlp_reader_class_add_file_name (DLP_READER_CLASS (klass), ".warc");
  dlp_reader_class_add_file_name (DLP_READER_CLASS (klass), ".wet");
  dlp_reader_class_add_file_name (DLP_READER_CLASS (klass), ".wat");
  dlp_reader_class_add_magic (DLP_READER_CLASS (klass), 0, (const guint8 *) "WARC/1.", 7);
  dlp_element_class_set_description (
      DLP_ELEMENT_CLASS (klass), "Reads web archives (WARC, WET): the body of a record each",
      "file-source location=crawl/*.warc.gz ! warc-reader charset=header fields=url ! null-sink");
  install_properties (object_class);
}

static void
dlp_warc_reader_init (DlpWarcReader *self)
{
  self->field = g_strdup ("text");
}
