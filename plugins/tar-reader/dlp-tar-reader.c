/* SPDX-License-Identifier: MIT */

#include "dlp-tar-reader.h"

#include <string.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-file.h>

#include "tar-cut.h"
#include "tar-fields.h"
#include "tar-sample.h"
#include "text-start.h"

/* What a worker keeps for the next record, where there is memory for it. */
#define MAX_SCRATCH_BYTES (1024 * 1024)

struct _DlpTarReader
{
  DlpReader parent_instance;

  char **fields;

  TarFields *wanted;
  guint64 max_record_bytes;
};

/* A chunk that is being parsed. */
typedef struct
{
  DlpTarReader *self;
  DlpReaderChunk *chunk;
  TarSample *sample;
  TarMember member;
  const guint8 *bytes;
  gsize size;
  gsize start;      /* of the sample */
  gsize end;        /* of its last member, with what fills its block */
  gboolean is_over; /* zeros were the last that was met */
} Parse;

static const char *const counters[] = { "passed-over", "no-end-blocks", "lone-surrogates",
                                        "duplicate-keys", NULL };

enum
{
  COUNTER_PASSED_OVER,
  COUNTER_NO_END_BLOCKS,
  COUNTER_LONE_SURROGATES,
  COUNTER_DUPLICATE_KEYS,
};

enum
{
  PROP_0,
  PROP_FIELDS,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

G_DEFINE_FINAL_TYPE (DlpTarReader, dlp_tar_reader, DLP_TYPE_READER)

static DlpSchema *
dlp_tar_reader_get_schema (DlpReader *reader, GError **error)
{
  static const char *const default_fields[] = { "text=txt", NULL };
  DlpTarReader *self = DLP_TAR_READER (reader);

  g_clear_pointer (&self->wanted, tar_fields_free);
  self->wanted = tar_fields_new (
      self->fields != NULL ? (const char *const *) self->fields : default_fields, error);
  if (self->wanted == NULL)
    return NULL;
  g_object_get (self, "max-record-bytes", &self->max_record_bytes, NULL);
  return tar_fields_make_schema (self->wanted);
}

static gsize
dlp_tar_reader_cut (DlpReader *reader, const guint8 *data, gsize size)
{
  return tar_cut (data, size);
}

static gsize
dlp_tar_reader_skip (DlpReader *reader,
                     guint64 *state,
                     const guint8 *data,
                     gsize size,
                     gboolean *ended)
{
  return tar_skip (state, data, size, ended);
}

static gpointer
dlp_tar_reader_worker_new (DlpReader *reader)
{
  return tar_sample_new (DLP_TAR_READER (reader)->wanted);
}

static void
dlp_tar_reader_worker_free (DlpReader *reader, gpointer worker)
{
  tar_sample_free (worker);
}

/* ---- samples ---- */

/* @at: (nullable): where the fault is. */
static void
reject (Parse *parse, const char *kind, const guint8 *at, char *message)
{
  gsize offset = at != NULL ? (gsize) (at - parse->bytes) : parse->start;

  dlp_reader_chunk_reject (parse->chunk, 0, kind, offset, parse->bytes + parse->start,
                           parse->end - parse->start, message);
}

static void
count_json (Parse *parse, const JsonCounts *counts)
{
  if (counts->lone_surrogates > 0)
    dlp_reader_chunk_count (parse->chunk, COUNTER_LONE_SURROGATES, counts->lone_surrogates);
  if (counts->duplicate_keys > 0)
    dlp_reader_chunk_count (parse->chunk, COUNTER_DUPLICATE_KEYS, counts->duplicate_keys);
}

static void
end_sample (Parse *parse)
{
  gsize size = parse->end - parse->start;
  JsonCounts counts = { 0 };
  ReaderFault fault;

  if (!tar_sample_is_open (parse->sample))
    return;
  if (size > parse->self->max_record_bytes)
    {
      tar_sample_drop (parse->sample);
      reject (parse, "too-long", NULL,
              g_strdup_printf ("a record of %" G_GSIZE_FORMAT
                               " bytes, above the max-record-bytes=%" G_GUINT64_FORMAT " allowed",
                               size, parse->self->max_record_bytes));
    }
  else if (tar_sample_append (parse->sample, dlp_reader_chunk_get_builder (parse->chunk), &counts,
                              &fault))
    {
      count_json (parse, &counts);
      dlp_reader_chunk_end_record (parse->chunk, 0);
    }
  else
    reject (parse, fault.kind, fault.at, fault.message);
  tar_sample_trim (parse->sample, MAX_SCRATCH_BYTES);
}

/* ---- damage ---- */

/* (transfer full): @what, and the member that it is in or behind. */
static char *
describe_damage (Parse *parse, const char *what, const char *where)
{
  g_autofree char *shown = NULL;
  const char *last;
  gsize size;

  if (!tar_sample_is_open (parse->sample))
    return g_strdup (what);
  last = tar_sample_get_last (parse->sample, &size);
  shown = reader_value_show ((const guint8 *) last, size);
  return g_strdup_printf ("%s %s the member %s", what, where, shown);
}

/* A sample that has all that is wanted is kept; of another nobody knows what is missing. */
static void
end_damaged (Parse *parse, gsize at, char *message)
{
  if (tar_sample_is_complete (parse->sample))
    end_sample (parse);
  tar_sample_drop (parse->sample);
  dlp_reader_chunk_damage (parse->chunk, at, message);
}

static void
take_fault (Parse *parse, gsize at)
{
  g_autofree char *fault = parse->member.fault;
  const char *other = at == 0 && dlp_reader_chunk_get_offset (parse->chunk) == 0 ?
                          text_start_find_fault (parse->bytes, parse->size) :
                          NULL;

  end_damaged (parse, at + parse->member.fault_at,
               other != NULL ? g_strdup (other) : describe_damage (parse, fault, "behind"));
}

static gboolean
is_all_zero (const guint8 *data, gsize size)
{
  while (size > 0 && data[size - 1] == 0)
    size--;
  return size == 0;
}

/* Less than a header is left. */
static void
take_rest (Parse *parse, gsize at)
{
  if (is_all_zero (parse->bytes + at, parse->size - at))
    parse->is_over = TRUE;
  else
    end_damaged (parse, at,
                 describe_damage (parse, "the archive is cut: it ends within a header", "behind"));
}

/* ---- members ---- */

static void
take_cut_member (Parse *parse, gsize at)
{
  gsize there = parse->size - at - parse->member.data;
  g_autofree char *what = g_strdup_printf ("the archive is cut: it ends behind %" G_GSIZE_FORMAT
                                           " of %" G_GUINT64_FORMAT " bytes",
                                           there, parse->member.size);

  tar_sample_add (parse->sample, &parse->member, NULL);
  parse->end = parse->size;
  end_damaged (parse, parse->size, describe_damage (parse, what, "of"));
}

/* FALSE: the archive is cut in it. */
static gboolean
take_member (Parse *parse, gsize at)
{
  const TarMember *member = &parse->member;
  gsize key_size;
  gboolean is_whole = member->size <= parse->size - at - member->data;

  parse->is_over = FALSE;
  if (!tar_member_has_key (member, &key_size))
    {
      dlp_reader_chunk_count (parse->chunk, COUNTER_PASSED_OVER, 1);
      if (!is_whole)
        end_damaged (
            parse, parse->size,
            describe_damage (parse, "the archive is cut: it ends within a member", "behind"));
      return is_whole;
    }
  if (!tar_sample_has (parse->sample, member, key_size))
    {
      end_sample (parse);
      tar_sample_begin (parse->sample, member, key_size);
      parse->start = at;
    }
  if (!is_whole)
    {
      take_cut_member (parse, at);
      return FALSE;
    }
  tar_sample_add (parse->sample, member, parse->bytes + at + member->data);
  parse->end = MIN (at + (gsize) member->next, parse->size);
  return TRUE;
}

static void
warn_of_end (Parse *parse)
{
  const char *uri = dlp_reader_chunk_get_uri (parse->chunk);
  g_autofree char *shown = dlp_uri_escape_for_display (uri);
  g_autofree char *message =
      g_strdup_printf ("%s: the archive has no block of zeros at its end; it may be cut", shown);

  dlp_reader_chunk_count (parse->chunk, COUNTER_NO_END_BLOCKS, 1);
  dlp_element_warn (DLP_ELEMENT (parse->self), uri, -1, message);
}

/* FALSE: nothing behind it counts. */
static gboolean
take (Parse *parse, gsize *at)
{
  switch (tar_member_read (&parse->member, parse->bytes + *at, parse->size - *at))
    {
    case TAR_MORE:
      take_rest (parse, *at);
      return FALSE;
    case TAR_FAULT:
      take_fault (parse, *at);
      return FALSE;
    case TAR_ZERO:
      end_sample (parse);
      parse->is_over = TRUE;
      *at += TAR_BLOCK_BYTES;
      return TRUE;
    default:
      if (!take_member (parse, *at))
        return FALSE;
      *at = (gsize) MIN (*at + parse->member.next, parse->size);
      return TRUE;
    }
}

static void
dlp_tar_reader_parse (DlpReader *reader, gpointer worker, DlpReaderChunk *chunk)
{
  g_autoptr (GString) name = g_string_new (NULL);
  Parse parse = { .self = DLP_TAR_READER (reader), .chunk = chunk, .sample = worker };
  gsize at = 0;

  parse.member.name = name;
  parse.bytes = dlp_reader_chunk_get_data (chunk, &parse.size);
  while (at < parse.size)
    if (!take (&parse, &at))
      break;
  end_sample (&parse);
  if (at == parse.size && !parse.is_over && dlp_reader_chunk_is_last (chunk))
    warn_of_end (&parse);
}

/* ---- object ---- */

static void
dlp_tar_reader_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  if (id == PROP_FIELDS)
    g_value_set_boxed (value, DLP_TAR_READER (object)->fields);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
dlp_tar_reader_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  DlpTarReader *self = DLP_TAR_READER (object);

  if (id != PROP_FIELDS)
    {
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      return;
    }
  g_strfreev (self->fields);
  self->fields = g_value_dup_boxed (value);
}

static void
dlp_tar_reader_finalize (GObject *object)
{
  DlpTarReader *self = DLP_TAR_READER (object);

  g_clear_pointer (&self->wanted, tar_fields_free);
  g_strfreev (self->fields);

  G_OBJECT_CLASS (dlp_tar_reader_parent_class)->finalize (object);
}

static void
dlp_tar_reader_class_init (DlpTarReaderClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  DlpReaderClass *reader_class = DLP_READER_CLASS (klass);

  object_class->get_property = dlp_tar_reader_get_property;
  object_class->set_property = dlp_tar_reader_set_property;
  object_class->finalize = dlp_tar_reader_finalize;
  reader_class->get_schema = dlp_tar_reader_get_schema;
  reader_class->cut = dlp_tar_reader_cut;
  reader_class->skip = dlp_tar_reader_skip;
  reader_class->worker_new = dlp_tar_reader_worker_new;
  reader_class->worker_free = dlp_tar_reader_worker_free;
  reader_class->parse = dlp_tar_reader_parse;
  dlp_reader_class_set_counters (reader_class, counters);
  dlp_reader_class_add_file_name (DLP_READER_CLASS (klass), ".tar");
  dlp_reader_class_add_file_name (DLP_READER_CLASS (klass), ".tgz");
  dlp_reader_class_add_magic (DLP_READER_CLASS (klass), 257, (const guint8 *) "ustar", 5);
  dlp_element_class_set_description (
      DLP_ELEMENT_CLASS (klass),
      "Reads tar archives of samples, as webdataset writes them: the files of one key a record",
      "file-source location=shards/*.tar ! tar-reader fields='text=txt,meta=json.title' "
      "! null-sink");

  properties[PROP_FIELDS] = g_param_spec_boxed (
      "fields", NULL,
      "What is taken of a sample (text=txt,image=jpg:binary,n=json.meta.n:int64?,key): "
      "NAME=EXTENSION "
      "or NAME=EXTENSION.PATH within JSON, with a type behind a colon: string, binary, int64, "
      "uint64, double, boolean, with ? also null; key: of the sample; default: text=txt",
      G_TYPE_STRV, DLP_PARAM_READWRITE);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
dlp_tar_reader_init (DlpTarReader *self)
{
}
