/* SPDX-License-Identifier: MIT */

#include "dlp-text-reader.h"

#include <string.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-utf8.h>

#include "text-border.h"
#include "text-start.h"

/* What a worker keeps for the next record, where there is memory for it. */
#define MAX_SCRATCH_BYTES (1024 * 1024)

typedef enum
{
  UNIT_FILE,
  UNIT_LINE,
  UNIT_PARAGRAPH,
} Unit;

typedef enum
{
  INVALID_BAD,
  INVALID_REPLACE,
} Invalid;

static GType dlp_text_unit_get_type (void);
static GType dlp_text_invalid_get_type (void);

G_DEFINE_ENUM_TYPE (DlpTextUnit,
                    dlp_text_unit,
                    G_DEFINE_ENUM_VALUE (UNIT_FILE, "file"),
                    G_DEFINE_ENUM_VALUE (UNIT_LINE, "line"),
                    G_DEFINE_ENUM_VALUE (UNIT_PARAGRAPH, "paragraph"))

G_DEFINE_ENUM_TYPE (DlpTextInvalid,
                    dlp_text_invalid,
                    G_DEFINE_ENUM_VALUE (INVALID_BAD, "bad"),
                    G_DEFINE_ENUM_VALUE (INVALID_REPLACE, "replace"))

struct _DlpTextReader
{
  DlpReader parent_instance;

  Unit unit;
  char *field;
  gboolean keep_blank_lines;
  Invalid invalid_utf8;
};

/* A chunk that is being parsed. */
typedef struct
{
  DlpTextReader *self;
  DlpReaderChunk *chunk;
  GString *room;
  const guint8 *bytes;
  gsize size;
  gsize valid; /* UTF-8 up to here, from the last fault on */
} Parse;

/* What is to become a record, in the chunk. */
typedef struct
{
  gsize at;
  gsize end;  /* of the text */
  gsize next; /* what is behind it begins there */
  guint lines;
} Span;

static const char *const counters[] = { "replaced", NULL };

enum
{
  COUNTER_REPLACED,
};

enum
{
  PROP_0,
  PROP_UNIT,
  PROP_FIELD,
  PROP_KEEP_BLANK_LINES,
  PROP_INVALID_UTF8,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

G_DEFINE_FINAL_TYPE (DlpTextReader, dlp_text_reader, DLP_TYPE_READER)

static DlpSchema *
dlp_text_reader_get_schema (DlpReader *reader, GError **error)
{
  DlpTextReader *self = DLP_TEXT_READER (reader);
  const char *name = self->field;
  DlpFieldType type = DLP_FIELD_STRING;
  gboolean optional = FALSE;

  if (name == NULL || *name == '\0')
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                   "field: empty; it is the name that the text gets, such as text");
      return NULL;
    }
  if (self->keep_blank_lines && self->unit != UNIT_LINE)
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                   "keep-blank-lines=true: only with unit=line is a blank line a record");
      return NULL;
    }
  return dlp_schema_new (DLP_SCHEMA_RECORDS, 1, &name, &type, &optional);
}

static gsize
dlp_text_reader_find_border (DlpReader *reader,
                             const char *uri,
                             guint64 *state,
                             const guint8 *data,
                             gsize size,
                             gboolean first)
{
  switch (DLP_TEXT_READER (reader)->unit)
    {
    case UNIT_LINE:
      return text_find_line (data, size, first);
    case UNIT_PARAGRAPH:
      return text_find_paragraph (state, data, size, first);
    default:
      return 0;
    }
}

static gpointer
dlp_text_reader_worker_new (DlpReader *reader)
{
  return g_string_new (NULL);
}

static void
dlp_text_reader_worker_free (DlpReader *reader, gpointer worker)
{
  g_string_free (worker, TRUE);
}

/* ---- parsing, on a worker ---- */

static guint
count_newlines (const guint8 *data, gsize size)
{
  guint n = 0;

  for (const guint8 *p = data; (p = memchr (p, '\n', size - (gsize) (p - data))) != NULL; p++)
    n++;
  return n;
}

/* The lines behind the one with the fault are passed over, so that its number is that of the fault.
 */
static void
reject (Parse *parse, const Span *span, gsize fault)
{
  guint behind = count_newlines (parse->bytes + fault, span->end - fault);

  dlp_reader_chunk_reject (
      parse->chunk, span->lines - behind, "utf-8", fault, parse->bytes + span->at,
      span->end - span->at,
      g_strdup_printf ("byte 0x%02x is not UTF-8 there (invalid-utf8=replace would make it U+FFFD)",
                       parse->bytes[fault]));
  dlp_reader_chunk_pass_lines (parse->chunk, behind);
}

/* CR LF is one end of a line. */
static void
append_lines (GString *to, const guint8 *text, gsize size)
{
  while (size > 0)
    {
      const guint8 *newline = memchr (text, '\n', size);
      gsize n = newline != NULL ? (gsize) (newline - text) : size;
      gsize kept = n;

      while (newline != NULL && kept > 0 && text[kept - 1] == '\r')
        kept--;
      g_string_append_len (to, (const char *) text, (gssize) kept);
      if (newline == NULL)
        return;
      g_string_append_c (to, '\n');
      text += n + 1;
      size -= n + 1;
    }
}

/* Into the room, from where it is taken instead: what has to be changed. */
static void
change (Parse *parse, const Span *span, gboolean is_valid)
{
  const guint8 *text = parse->bytes + span->at;
  gsize size = span->end - span->at;
  gsize replaced;

  g_string_truncate (parse->room, 0);
  if (is_valid)
    {
      append_lines (parse->room, text, size);
      return;
    }
  if (parse->self->unit == UNIT_PARAGRAPH)
    {
      g_autoptr (GString) lines = g_string_new (NULL);

      append_lines (lines, text, size);
      replaced = dlp_utf8_append_repaired (parse->room, (const guint8 *) lines->str, lines->len);
    }
  else
    replaced = dlp_utf8_append_repaired (parse->room, text, size);
  dlp_reader_chunk_count (parse->chunk, COUNTER_REPLACED, replaced);
}

/* FALSE: the fault is at *fault. */
static gboolean
check (Parse *parse, const Span *span, gsize *fault)
{
  if (span->end <= parse->valid)
    return TRUE;
  *fault = span->at + dlp_utf8_measure_valid (parse->bytes + span->at, span->end - span->at);
  parse->valid =
      span->next + dlp_utf8_measure_valid (parse->bytes + span->next, parse->size - span->next);
  return *fault == span->end;
}

static void
take (Parse *parse, const Span *span)
{
  const guint8 *text = parse->bytes + span->at;
  gsize size = span->end - span->at;
  gsize fault = 0;
  gboolean is_valid = check (parse, span, &fault);

  if (!is_valid && parse->self->invalid_utf8 == INVALID_BAD)
    {
      reject (parse, span, fault);
      return;
    }
  if (!is_valid ||
      (parse->self->unit == UNIT_PARAGRAPH && size > 0 && memchr (text, '\r', size) != NULL))
    {
      change (parse, span, is_valid);
      text = (const guint8 *) parse->room->str;
      size = parse->room->len;
    }
  dlp_record_batch_builder_append_value (dlp_reader_chunk_get_builder (parse->chunk), 0, text,
                                         size);
  dlp_reader_chunk_end_record (parse->chunk, span->lines);
}

/* Where the text of the line at @at ends; *next: the one behind it. */
static gsize
find_line_end (const Parse *parse, gsize at, gsize *next)
{
  const guint8 *newline =
      at < parse->size ? memchr (parse->bytes + at, '\n', parse->size - at) : NULL;
  gsize end = newline != NULL ? (gsize) (newline - parse->bytes) : parse->size;

  *next = newline != NULL ? end + 1 : end;
  while (end > at && parse->bytes[end - 1] == '\r')
    end--;
  return end;
}

static void
take_lines (Parse *parse)
{
  Span span = { .lines = 0 };

  for (span.at = 0; span.at < parse->size; span.at = span.next)
    {
      span.end = find_line_end (parse, span.at, &span.next);
      span.at += text_start_measure_bom (parse->bytes + span.at, span.end - span.at);
      span.lines++;
      if (!parse->self->keep_blank_lines &&
          text_is_blank (parse->bytes + span.at, span.end - span.at))
        continue;
      take (parse, &span);
      span.lines = 0;
    }
  dlp_reader_chunk_pass_lines (parse->chunk, span.lines);
}

static void
take_paragraphs (Parse *parse)
{
  Span span = { .lines = 0 };
  gboolean has_text = FALSE;

  for (gsize at = 0; at < parse->size; at = span.next)
    {
      gsize end = find_line_end (parse, at, &span.next);

      if (!has_text)
        at += text_start_measure_bom (parse->bytes + at, end - at);
      if (!text_is_blank (parse->bytes + at, end - at))
        {
          if (!has_text)
            span.at = at;
          span.end = end;
          has_text = TRUE;
        }
      else if (has_text)
        {
          take (parse, &span);
          span.lines = 0;
          has_text = FALSE;
        }
      span.lines++;
    }
  if (has_text)
    take (parse, &span);
  else
    dlp_reader_chunk_pass_lines (parse->chunk, span.lines);
}

static void
take_file (Parse *parse)
{
  Span span = {
    .at = text_start_measure_bom (parse->bytes, parse->size),
    .end = parse->size,
    .next = parse->size,
  };

  span.lines = count_newlines (parse->bytes, parse->size) + 1;
  take (parse, &span);
}

static void
dlp_text_reader_parse (DlpReader *reader, gpointer worker, DlpReaderChunk *chunk)
{
  DlpTextReader *self = DLP_TEXT_READER (reader);
  Parse parse = { .self = self, .chunk = chunk, .room = worker };
  const char *fault = NULL;

  parse.bytes = dlp_reader_chunk_get_data (chunk, &parse.size);
  if (dlp_reader_chunk_get_offset (chunk) == 0)
    fault = text_start_find_fault (parse.bytes, parse.size);
  if (fault != NULL)
    {
      dlp_reader_chunk_damage (chunk, 0, g_strdup (fault));
      return;
    }

  parse.valid = dlp_utf8_measure_valid (parse.bytes, parse.size);
  if (self->unit == UNIT_LINE)
    take_lines (&parse);
  else if (self->unit == UNIT_PARAGRAPH)
    take_paragraphs (&parse);
  else
    take_file (&parse);

  if (parse.room->allocated_len > MAX_SCRATCH_BYTES)
    {
      g_free (parse.room->str);
      parse.room->allocated_len = 64;
      parse.room->str = g_malloc0 (parse.room->allocated_len);
      parse.room->len = 0;
    }
}

/* ---- object ---- */

static void
dlp_text_reader_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  DlpTextReader *self = DLP_TEXT_READER (object);

  switch (id)
    {
    case PROP_UNIT:
      g_value_set_enum (value, self->unit);
      break;
    case PROP_FIELD:
      g_value_set_string (value, self->field);
      break;
    case PROP_KEEP_BLANK_LINES:
      g_value_set_boolean (value, self->keep_blank_lines);
      break;
    case PROP_INVALID_UTF8:
      g_value_set_enum (value, self->invalid_utf8);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_text_reader_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  DlpTextReader *self = DLP_TEXT_READER (object);

  switch (id)
    {
    case PROP_UNIT:
      self->unit = g_value_get_enum (value);
      break;
    case PROP_FIELD:
      g_free (self->field);
      self->field = g_value_dup_string (value);
      break;
    case PROP_KEEP_BLANK_LINES:
      self->keep_blank_lines = g_value_get_boolean (value);
      break;
    case PROP_INVALID_UTF8:
      self->invalid_utf8 = g_value_get_enum (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_text_reader_finalize (GObject *object)
{
  g_free (DLP_TEXT_READER (object)->field);

  G_OBJECT_CLASS (dlp_text_reader_parent_class)->finalize (object);
}

static void
dlp_text_reader_class_init (DlpTextReaderClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  DlpReaderClass *reader_class = DLP_READER_CLASS (klass);

  object_class->get_property = dlp_text_reader_get_property;
  object_class->set_property = dlp_text_reader_set_property;
  object_class->finalize = dlp_text_reader_finalize;
  reader_class->get_schema = dlp_text_reader_get_schema;
  reader_class->find_border = dlp_text_reader_find_border;
  reader_class->worker_new = dlp_text_reader_worker_new;
  reader_class->worker_free = dlp_text_reader_worker_free;
  reader_class->parse = dlp_text_reader_parse;
  dlp_reader_class_set_counters (reader_class, counters);
  dlp_reader_class_add_file_name (DLP_READER_CLASS (klass), ".txt");
  dlp_reader_class_add_file_name (DLP_READER_CLASS (klass), ".md");
  dlp_element_class_set_description (
      DLP_ELEMENT_CLASS (klass), "Reads plain text: a file, a line or a paragraph a record",
      "file-source location=books/*.txt ! text-reader unit=paragraph ! null-sink");

  properties[PROP_UNIT] =
      g_param_spec_enum ("unit", NULL,
                         "What is a record: a file, a line, or a paragraph, that is lines up to a "
                         "blank one",
                         dlp_text_unit_get_type (), UNIT_FILE, DLP_PARAM_READWRITE);
  properties[PROP_FIELD] = g_param_spec_string ("field", NULL, "The name that the text gets",
                                                "text", DLP_PARAM_READWRITE);
  properties[PROP_KEEP_BLANK_LINES] =
      g_param_spec_boolean ("keep-blank-lines", NULL, "With unit=line: blank lines are records too",
                            FALSE, DLP_PARAM_READWRITE);
  properties[PROP_INVALID_UTF8] = g_param_spec_enum (
      "invalid-utf8", NULL, "What is not UTF-8 makes a bad record, or is replaced by U+FFFD",
      dlp_text_invalid_get_type (), INVALID_BAD, DLP_PARAM_READWRITE);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
dlp_text_reader_init (DlpTextReader *self)
{
  self->field = g_strdup ("text");
}
