/* SPDX-License-Identifier: MIT */

#include "dlp-tokenizer-element.h"

#include <dlpipe/dlp-pad-template.h>

#include <string.h>

#include <dlpipe/dlp-tokenizer.h>

#define NO_EOD G_MAXUINT32
#define CACHE_BYTES (32 * 1024 * 1024)

enum
{
  COUNT_DOCUMENTS,
  COUNT_EMPTY,
  COUNT_TOKENS,
  COUNT_SPECIALS,
  COUNT_DROPPED,
  COUNT_UNMATCHED,
};

static const char *const counter_names[] = {
  "documents",         "empty-documents", "tokens", "special-token-texts",
  "dropped-documents", "unmatched-bytes", NULL
};

struct _DlpTokenizerElement
{
  DlpTransform parent_instance;

  char *model;
  char *pattern;
  char *field;
  char *output_field;
  char *eod_token;
  DlpEod eod;
  DlpSpecialTokens special_tokens;
  DlpBos bos;
  DlpPostProcessor post_processor;
  guint byte_offset;
  gboolean keep_text;
  guint64 cache_bytes;

  DlpTokenizer *tokenizer;
  guint32 eod_id;
  guint32 bos_id;
  guint32 vocab_size; /* the eod included */
  gboolean wide;      /* ids of 4 bytes */
  guint text_field;   /* of the input */
  guint n_kept;
  guint *kept; /* fields of the input that the output has too, in its order */
};

enum
{
  PROP_0,
  PROP_MODEL,
  PROP_PATTERN,
  PROP_FIELD,
  PROP_OUTPUT_FIELD,
  PROP_EOD,
  PROP_EOD_TOKEN,
  PROP_SPECIAL_TOKENS,
  PROP_BOS,
  PROP_POST_PROCESSOR,
  PROP_BYTE_OFFSET,
  PROP_KEEP_TEXT,
  PROP_CACHE_BYTES,
  PROP_VOCAB_SIZE,
  PROP_MODEL_NAME,
  PROP_MODEL_FINGERPRINT,
  PROP_MODEL_FILE,
  PROP_MODEL_PATTERN,
  PROP_MODEL_SUMMARY,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

G_DEFINE_ENUM_TYPE (DlpEod,
                    dlp_eod,
                    G_DEFINE_ENUM_VALUE (DLP_EOD_APPEND, "append"),
                    G_DEFINE_ENUM_VALUE (DLP_EOD_PREPEND, "prepend"),
                    G_DEFINE_ENUM_VALUE (DLP_EOD_NONE, "none"))
G_DEFINE_ENUM_TYPE (DlpSpecialTokens,
                    dlp_special_tokens,
                    G_DEFINE_ENUM_VALUE (DLP_SPECIAL_TOKENS_TEXT, "text"),
                    G_DEFINE_ENUM_VALUE (DLP_SPECIAL_TOKENS_ALLOW, "allow"),
                    G_DEFINE_ENUM_VALUE (DLP_SPECIAL_TOKENS_SKIP_RECORD, "skip-record"),
                    G_DEFINE_ENUM_VALUE (DLP_SPECIAL_TOKENS_ERROR, "error"))
G_DEFINE_ENUM_TYPE (DlpBos,
                    dlp_bos,
                    G_DEFINE_ENUM_VALUE (DLP_BOS_NONE, "none"),
                    G_DEFINE_ENUM_VALUE (DLP_BOS_ADD, "add"))
G_DEFINE_ENUM_TYPE (DlpPostProcessor,
                    dlp_post_processor,
                    G_DEFINE_ENUM_VALUE (DLP_POST_PROCESSOR_NONE, "none"),
                    G_DEFINE_ENUM_VALUE (DLP_POST_PROCESSOR_FILE, "file"))
G_DEFINE_FINAL_TYPE (DlpTokenizerElement, dlp_tokenizer_element, DLP_TYPE_TRANSFORM)

/* ---- build ---- */

/* Of a rank file nothing more is known than its tokens: the end-of-document token may lie behind
 * them, as that of most trainers does. The ids of a known model are all known. */
static guint64
get_eod_limit (DlpTokenizerElement *self)
{
  return dlp_tokenizer_get_n_specials (self->tokenizer) > 0 ?
             dlp_tokenizer_get_vocab_size (self->tokenizer) :
             G_MAXINT32;
}

static gboolean
parse_eod_id (DlpTokenizerElement *self, gboolean *found, GError **error)
{
  guint64 id;

  *found = g_ascii_string_to_unsigned (self->eod_token, 10, 0, G_MAXUINT64, &id, NULL);
  if (!*found)
    return TRUE;
  if (id >= get_eod_limit (self))
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                   "eod-token=%s: ids of %s are below %" G_GUINT64_FORMAT, self->eod_token,
                   dlp_tokenizer_get_name (self->tokenizer), get_eod_limit (self));
      return FALSE;
    }
  self->eod_id = (guint32) id;
  return TRUE;
}

static gboolean
find_eod (DlpTokenizerElement *self, GError **error)
{
  gboolean is_number;

  self->eod_id = NO_EOD;
  if (self->eod == DLP_EOD_NONE)
    return TRUE;
  if (self->eod_token == NULL || self->eod_token[0] == '\0')
    {
      g_autoptr (GError) local = NULL;
      guint n;

      if (dlp_tokenizer_get_eod (self->tokenizer, &self->eod_id, &local))
        return TRUE;
      n = dlp_tokenizer_get_n_specials (self->tokenizer);
      g_set_error (
          error, local->domain, local->code,
          "eod: %s; eod-token=%s names it (ordinary ids are below %u%s), eod=none adds none",
          local->message, n > 0 ? "TEXT or ID" : "ID",
          dlp_tokenizer_get_vocab_size (self->tokenizer), n > 0 ? "" : ", it may lie behind them");
      return FALSE;
    }
  if (!parse_eod_id (self, &is_number, error))
    return FALSE;
  if (is_number || dlp_tokenizer_lookup_special (self->tokenizer, self->eod_token, &self->eod_id))
    return TRUE;

  g_autoptr (GString) names = g_string_new (NULL);
  for (guint i = 0; i < dlp_tokenizer_get_n_specials (self->tokenizer); i++)
    {
      guint32 id;
      const char *name = dlp_tokenizer_get_special (self->tokenizer, i, &id);

      g_string_append_printf (names, "%s%s (%u)", i > 0 ? ", " : "", name, id);
    }
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
               "eod-token=%s is no special token of %s; there are: %s", self->eod_token,
               dlp_tokenizer_get_name (self->tokenizer), names->str);
  return FALSE;
}

static gboolean
find_text (DlpTokenizerElement *self, DlpSchema *schema, GError **error)
{
  int field = dlp_schema_find (schema, self->field);
  g_autofree char *text = NULL;

  if (dlp_schema_get_kind (schema) == DLP_SCHEMA_RECORDS && field >= 0 &&
      dlp_schema_get_field_type (schema, field) == DLP_FIELD_STRING)
    {
      self->text_field = field;
      return TRUE;
    }
  text = dlp_schema_to_string (schema);
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_TYPE,
               "needs records with a string field “%s”; its input is %s%s", self->field, text,
               dlp_schema_get_kind (schema) == DLP_SCHEMA_FILES ?
                   "; put a reader before it, such as jsonl-reader" :
                   "");
  return FALSE;
}

/* The fields of the input, but the text (unless it is kept), then the tokens. */
static DlpSchema *
make_schema (DlpTokenizerElement *self, DlpSchema *in, GError **error)
{
  guint n = dlp_schema_get_n_fields (in);
  g_autofree const char **names = g_new (const char *, n + 1);
  g_autofree DlpFieldType *types = g_new (DlpFieldType, n + 1);
  g_autofree gboolean *optional = g_new (gboolean, n + 1);

  if (dlp_schema_find (in, self->output_field) >= 0)
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_TYPE,
                   "its input has a field “%s” already; set output-field", self->output_field);
      return NULL;
    }
  g_free (self->kept);
  self->kept = g_new (guint, n);
  self->n_kept = 0;
  for (guint i = 0; i < n; i++)
    {
      if (i == self->text_field && !self->keep_text)
        continue;
      names[self->n_kept] = dlp_schema_get_field_name (in, i);
      types[self->n_kept] = dlp_schema_get_field_type (in, i);
      optional[self->n_kept] = dlp_schema_get_field_optional (in, i);
      self->kept[self->n_kept++] = i;
    }
  names[self->n_kept] = self->output_field;
  types[self->n_kept] = self->wide ? DLP_FIELD_LIST_UINT32 : DLP_FIELD_LIST_UINT16;
  optional[self->n_kept] = FALSE;
  return dlp_schema_new (DLP_SCHEMA_RECORDS, self->n_kept + 1, names, types, optional);
}

static gboolean
find_bos (DlpTokenizerElement *self, GError **error)
{
  if (self->bos == DLP_BOS_NONE)
    return TRUE;
  if (self->post_processor == DLP_POST_PROCESSOR_FILE)
    {
      g_set_error_literal (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                           "bos=add and post-processor=file: both may add a token before a "
                           "document; choose one of them");
      return FALSE;
    }
  return dlp_tokenizer_get_bos (self->tokenizer, &self->bos_id, error);
}

static DlpTokenizer *
load_tokenizer (DlpTokenizerElement *self, GError **error)
{
  if (self->byte_offset == 0)
    return dlp_tokenizer_new (self->model, self->pattern, error);
  if (strcmp (self->model, "bytes") == 0)
    return dlp_tokenizer_new_bytes (self->byte_offset);
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
               "byte-offset=%u is for model=bytes, not for model=%s", self->byte_offset,
               self->model);
  return NULL;
}

static gboolean
dlp_tokenizer_element_negotiate (DlpElement *element, GError **error)
{
  DlpTokenizerElement *self = DLP_TOKENIZER_ELEMENT (element);
  DlpSchema *in = dlp_pad_get_schema (dlp_element_get_input (element, 0));
  g_autoptr (DlpSchema) out = NULL;
  g_autoptr (GError) local = NULL;

  if (!find_text (self, in, error))
    return FALSE;
  g_clear_object (&self->tokenizer);
  self->tokenizer = load_tokenizer (self, &local);
  if (self->tokenizer == NULL || !find_eod (self, &local) || !find_bos (self, &local))
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE, "%s", local->message);
      return FALSE;
    }
  self->vocab_size = dlp_tokenizer_get_vocab_size (self->tokenizer);
  if (self->eod_id != NO_EOD)
    self->vocab_size = MAX (self->vocab_size, self->eod_id + 1);
  self->wide = self->vocab_size > 65536;
  out = make_schema (self, in, error);
  if (out == NULL)
    return FALSE;
  dlp_pad_set_schema (dlp_element_get_output (element, 0), out);
  dlp_pad_set_schema (dlp_element_get_output (element, 1), in);
  return TRUE;
}

/* ---- work ---- */

static gpointer
dlp_tokenizer_element_worker_new (DlpTransform *transform)
{
  DlpTokenizerElement *self = DLP_TOKENIZER_ELEMENT (transform);

  return dlp_tokenizer_context_new (
      self->tokenizer,
      self->cache_bytes > 0 ? self->cache_bytes : dlp_transform_get_worker_memory (transform));
}

static void
dlp_tokenizer_element_worker_free (DlpTransform *transform, gpointer worker)
{
  dlp_tokenizer_context_free (worker);
}

static void
copy_field (const DlpRecordBatch *batch,
            guint from,
            guint row,
            DlpRecordBatchBuilder *builder,
            guint to,
            DlpFieldType type)
{
  gconstpointer data;
  gsize n;

  if (dlp_record_batch_is_null (batch, from, row))
    {
      dlp_record_batch_builder_append_null (builder, to);
      return;
    }
  switch (type)
    {
    case DLP_FIELD_STRING:
    case DLP_FIELD_BINARY:
      data = dlp_record_batch_get_value (batch, from, row, &n);
      dlp_record_batch_builder_append_value (builder, to, data, n);
      break;
    case DLP_FIELD_LIST_UINT16:
    case DLP_FIELD_LIST_UINT32:
      data = dlp_record_batch_get_list (batch, from, row, &n);
      dlp_record_batch_builder_append_list (builder, to, data, n);
      break;
    case DLP_FIELD_BOOLEAN:
      dlp_record_batch_builder_append_boolean (builder, to,
                                               dlp_record_batch_get_boolean (batch, from, row));
      break;
    case DLP_FIELD_INT64:
      dlp_record_batch_builder_append_int64 (builder, to,
                                             dlp_record_batch_get_int64 (batch, from, row));
      break;
    case DLP_FIELD_UINT64:
      dlp_record_batch_builder_append_uint64 (builder, to,
                                              dlp_record_batch_get_uint64 (batch, from, row));
      break;
    case DLP_FIELD_DOUBLE:
      dlp_record_batch_builder_append_double (builder, to,
                                              dlp_record_batch_get_double (batch, from, row));
      break;
    }
}

/* How many ids a record may have: a column holds no more, what is in it before the record batch is
 * pushed included. */
static gsize
get_max_ids (DlpTokenizerElement *self)
{
  return (DLP_COLUMN_MAX_BYTES - 2 * DLP_RECORD_BATCH_MAX_BYTES) / (self->wide ? 4 : 2);
}

static DlpTokenizerFlags
get_flags (DlpTokenizerElement *self)
{
  DlpTokenizerFlags flags = DLP_TOKENIZER_FLAGS_NONE;

  if (self->special_tokens == DLP_SPECIAL_TOKENS_ALLOW)
    flags |= DLP_TOKENIZER_FLAGS_SPECIALS;
  if (self->post_processor == DLP_POST_PROCESSOR_FILE)
    flags |= DLP_TOKENIZER_FLAGS_POST_PROCESSOR;
  return flags;
}

static inline void
put_ids (DlpTokenizerElement *self, gpointer ids, gsize at, const guint32 *values, guint n)
{
  for (guint i = 0; i < n; i++)
    if (self->wide)
      ((guint32 *) ids)[at + i] = values[i];
    else
      ((guint16 *) ids)[at + i] = (guint16) values[i];
}

/* Below 0: see dlp_tokenizer_encode(). */
static gssize
encode (DlpTokenizerElement *self,
        DlpTokenizerContext *context,
        const char *text,
        gsize size,
        gpointer ids,
        gsize capacity)
{
  DlpTokenizerFlags flags = get_flags (self);
  guint32 before[2], behind[1];
  guint n_before = 0, n_behind = 0;
  gsize width = self->wide ? sizeof (guint32) : sizeof (guint16);
  gpointer body;
  gssize n;

  if (self->eod == DLP_EOD_PREPEND)
    before[n_before++] = self->eod_id;
  if (self->bos == DLP_BOS_ADD)
    before[n_before++] = self->bos_id;
  if (self->eod == DLP_EOD_APPEND)
    behind[n_behind++] = self->eod_id;
  if (capacity < n_before + n_behind)
    return -1;

  body = (guint8 *) ids + n_before * width;
  capacity -= n_before + n_behind;
  n = self->wide ?
          dlp_tokenizer_encode_full (self->tokenizer, context, text, size, flags, body, capacity) :
          dlp_tokenizer_encode16_full (self->tokenizer, context, text, size, flags, body, capacity);
  if (n < 0)
    return n;
  put_ids (self, ids, 0, before, n_before);
  put_ids (self, ids, n_before + n, behind, n_behind);
  return n_before + n + n_behind;
}

static gboolean
may_refuse (DlpTokenizerElement *self)
{
  return self->special_tokens == DLP_SPECIAL_TOKENS_SKIP_RECORD ||
         self->special_tokens == DLP_SPECIAL_TOKENS_ERROR;
}

static guint
count_specials (DlpTokenizerElement *self, const char *text, gsize size, DlpTransformOutput *output)
{
  guint hits = dlp_tokenizer_count_specials (self->tokenizer, text, size);

  if (G_UNLIKELY (hits > 0))
    dlp_transform_output_count (output, COUNT_SPECIALS, hits);
  return hits;
}

/* (transfer full): "sample/a.jsonl: row 17", or by numbers where no file is known. */
static char *
describe_place (DlpTokenizerElement *self, const DlpRecordBatch *batch, guint row)
{
  const DlpCoordinate *at = dlp_record_batch_get_coordinate (batch, row);
  g_autofree char *file = dlp_element_dup_input_name (DLP_ELEMENT (self), at);

  return file != NULL ? g_strdup_printf ("%s: row %" G_GUINT64_FORMAT, file, at->row) :
                        g_strdup_printf ("source %u, file %u, row %" G_GUINT64_FORMAT, at->source,
                                         at->file, at->row);
}

/* The special token whose text comes first in a document. */
static const char *
find_special (DlpTokenizerElement *self, const char *text, gsize size)
{
  const char *found = NULL;
  const char *first = NULL;

  for (guint i = 0; i < dlp_tokenizer_get_n_specials (self->tokenizer); i++)
    {
      const char *content = dlp_tokenizer_get_special (self->tokenizer, i, NULL);
      const char *at = memmem (text, size, content, strlen (content));

      if (at != NULL && (first == NULL || at < first))
        {
          first = at;
          found = content;
        }
    }
  return found;
}

static gboolean
fail_special (DlpTokenizerElement *self,
              const DlpRecordBatch *batch,
              guint row,
              const char *text,
              gsize size,
              guint hits,
              GError **error)
{
  g_autofree char *place = describe_place (self, batch, row);
  const char *content = find_special (self, text, size);

  g_set_error (
      error, DLP_DATA_ERROR, DLP_DATA_ERROR_BAD_RECORD,
      "%s: %s: the document has the text of a special token, %s (%u in all); "
      "special-tokens=text takes it as ordinary text, skip-record leaves such documents out",
      dlp_element_get_name (DLP_ELEMENT (self)), place, content != NULL ? content : "?", hits);
  return FALSE;
}

/* FALSE: the record is not to be delivered; or an error. */
static gboolean
check_specials (DlpTokenizerElement *self,
                const DlpRecordBatch *batch,
                guint row,
                const char *text,
                gsize size,
                DlpTransformOutput *output,
                GError **error)
{
  guint hits = count_specials (self, text, size, output);

  if (G_LIKELY (hits == 0))
    return TRUE;
  if (self->special_tokens == DLP_SPECIAL_TOKENS_SKIP_RECORD)
    {
      dlp_transform_output_count (output, COUNT_DROPPED, 1);
      dlp_transform_output_push (output, 1,
                                 dlp_record_batch_slice ((DlpRecordBatch *) batch, row, 1));
      return FALSE;
    }
  return fail_special (self, batch, row, text, size, hits, error);
}

static gboolean
fail_record (DlpTokenizerElement *self,
             DlpRecordBatch *batch,
             guint row,
             gsize size,
             gssize code,
             GError **error)
{
  g_autofree char *place = describe_place (self, batch, row);

  if (code == -1)
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_RANGE,
                 "%s: %s: a text of %zu bytes has more than the %zu tokens that fit; set a smaller "
                 "max-record-bytes on the reader",
                 dlp_element_get_name (DLP_ELEMENT (self)), place, size, get_max_ids (self));
  else
    g_set_error (error, DLP_DATA_ERROR, DLP_DATA_ERROR_BAD_RECORD,
                 "%s: %s: the pattern exceeds the limits of its engine on a text of %zu bytes",
                 dlp_element_get_name (DLP_ELEMENT (self)), place, size);
  return FALSE;
}

static gboolean
encode_record (DlpTokenizerElement *self,
               DlpTokenizerContext *context,
               DlpRecordBatch *batch,
               guint row,
               const char *text,
               gsize size,
               DlpTransformOutput *output,
               GError **error)
{
  DlpRecordBatchBuilder *builder = dlp_transform_output_get_builder (output, 0);
  const DlpCoordinate *coordinate = dlp_record_batch_get_coordinate (batch, row);
  gsize capacity = MIN (size + 2, get_max_ids (self));
  gssize n = 0;
  gpointer ids;

  /* Wanted when the text is encoded. */
  __builtin_prefetch (coordinate);

  for (guint i = 0; i < self->n_kept; i++)
    copy_field (batch, self->kept[i], row, builder, i,
                dlp_schema_get_field_type (dlp_record_batch_builder_get_schema (builder), i));

  /* An empty document has no tokens, and no EOD. A normalizer may make a text longer. */
  ids = dlp_record_batch_builder_reserve (builder, self->n_kept, capacity);
  if (size > 0)
    n = encode (self, context, text, size, ids, capacity);
  else
    dlp_transform_output_count (output, COUNT_EMPTY, 1);
  while (n == -1 && capacity < get_max_ids (self))
    {
      capacity = MIN (capacity * 4, get_max_ids (self));
      ids = dlp_record_batch_builder_reserve (builder, self->n_kept, capacity);
      n = encode (self, context, text, size, ids, capacity);
    }
  dlp_record_batch_builder_commit (builder, self->n_kept, MAX (n, 0));
  if (n < 0)
    {
      dlp_record_batch_builder_drop_record (builder);
      return fail_record (self, batch, row, size, n, error);
    }
  dlp_transform_output_end_record (output, 0, coordinate);
  dlp_transform_output_count (output, COUNT_TOKENS, n);
  return TRUE;
}

static gboolean
dlp_tokenizer_element_process (DlpTransform *transform,
                               gpointer worker,
                               DlpRecordBatch *batch,
                               guint64 first,
                               DlpTransformOutput *output,
                               GError **error)
{
  DlpTokenizerElement *self = DLP_TOKENIZER_ELEMENT (transform);
  guint n = dlp_record_batch_get_length (batch);
  guint64 unmatched = dlp_tokenizer_context_get_dropped (worker);

  for (guint row = 0; row < n; row++)
    {
      g_autoptr (GError) local = NULL;
      gsize size;
      const char *text =
          (const char *) dlp_record_batch_get_value (batch, self->text_field, row, &size);

      if (may_refuse (self) && !check_specials (self, batch, row, text, size, output, &local))
        {
          if (local == NULL)
            continue;
          g_propagate_error (error, g_steal_pointer (&local));
          return FALSE;
        }
      if (!encode_record (self, worker, batch, row, text, size, output, error))
        return FALSE;
      /* Where it refuses nothing, the text is looked at once more while it is in the processor's
       * cache. */
      if (!may_refuse (self))
        count_specials (self, text, size, output);
    }
  dlp_transform_output_count (output, COUNT_DOCUMENTS, n);
  dlp_transform_output_count (output, COUNT_UNMATCHED,
                              dlp_tokenizer_context_get_dropped (worker) - unmatched);
  return TRUE;
}

/* ---- the end ---- */

static guint64
get_count (GVariant *counts, guint counter)
{
  guint64 n = 0;

  g_variant_lookup (counts, counter_names[counter], "t", &n);
  return n;
}

/* What was done to documents in silence is said once. */
static void
warn_of_counts (DlpElement *element)
{
  DlpTokenizerElement *self = DLP_TOKENIZER_ELEMENT (element);
  DlpElementClass *klass = DLP_ELEMENT_GET_CLASS (element);
  g_autoptr (DlpState) state = klass->save (element);
  g_autoptr (GVariant) counts = g_variant_ref_sink (klass->describe (element, state));
  guint64 specials = get_count (counts, COUNT_SPECIALS);
  guint64 dropped = get_count (counts, COUNT_DROPPED);
  guint64 unmatched = get_count (counts, COUNT_UNMATCHED);
  g_autofree char *message = NULL;
  g_autofree char *of_pattern = NULL;

  if (self->special_tokens == DLP_SPECIAL_TOKENS_SKIP_RECORD && dropped > 0)
    message = g_strdup_printf ("%" G_GUINT64_FORMAT
                               " documents were left out: they had the text of special tokens "
                               "(special-tokens=skip-record)",
                               dropped);
  else if (self->special_tokens == DLP_SPECIAL_TOKENS_TEXT && specials > 0)
    message = g_strdup_printf ("documents had the text of special tokens %" G_GUINT64_FORMAT
                               " times; it was taken as ordinary text (special-tokens=text)",
                               specials);
  if (message != NULL)
    dlp_element_warn (element, NULL, -1, message);

  if (unmatched == 0)
    return;
  of_pattern = g_strdup_printf ("%" G_GUINT64_FORMAT
                                " bytes of text were left out: the pattern matches them nowhere",
                                unmatched);
  dlp_element_warn (element, NULL, -1, of_pattern);
}

static DlpStep
dlp_tokenizer_element_step (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpStep step =
      DLP_ELEMENT_CLASS (dlp_tokenizer_element_parent_class)->step (element, cancellable, error);

  if (step == DLP_STEP_END)
    warn_of_counts (element);
  return step;
}

/* ---- properties ---- */

static void
set_text (char **to, const GValue *value)
{
  g_free (*to);
  *to = g_value_dup_string (value);
}

static void
dlp_tokenizer_element_set_property (GObject *object,
                                    guint id,
                                    const GValue *value,
                                    GParamSpec *pspec)
{
  DlpTokenizerElement *self = DLP_TOKENIZER_ELEMENT (object);

  switch (id)
    {
    case PROP_MODEL:
      set_text (&self->model, value);
      break;
    case PROP_PATTERN:
      set_text (&self->pattern, value);
      break;
    case PROP_FIELD:
      set_text (&self->field, value);
      break;
    case PROP_OUTPUT_FIELD:
      set_text (&self->output_field, value);
      break;
    case PROP_EOD:
      self->eod = g_value_get_enum (value);
      break;
    case PROP_EOD_TOKEN:
      set_text (&self->eod_token, value);
      break;
    case PROP_SPECIAL_TOKENS:
      self->special_tokens = g_value_get_enum (value);
      break;
    case PROP_BOS:
      self->bos = g_value_get_enum (value);
      break;
    case PROP_POST_PROCESSOR:
      self->post_processor = g_value_get_enum (value);
      break;
    case PROP_BYTE_OFFSET:
      self->byte_offset = g_value_get_uint (value);
      break;
    case PROP_KEEP_TEXT:
      self->keep_text = g_value_get_boolean (value);
      break;
    case PROP_CACHE_BYTES:
      self->cache_bytes = g_value_get_uint64 (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
append_token (GString *text, DlpTokenizer *tokenizer, const char *what, guint32 id)
{
  gsize len;
  const guint8 *token = dlp_tokenizer_get_token (tokenizer, id, &len);

  g_string_append_printf (text, ", %s %u", what, id);
  if (token != NULL && g_utf8_validate_len ((const char *) token, len, NULL))
    g_string_append_printf (text, " %.*s", (int) len, (const char *) token);
}

/* (transfer full) (nullable): what was chosen, once the tokenizer is there. */
static char *
summarize (DlpTokenizerElement *self)
{
  GString *text;

  if (self->tokenizer == NULL)
    return NULL;
  text = g_string_new (dlp_tokenizer_get_name (self->tokenizer));
  g_string_append_printf (text, " (%u ids of %u bytes", self->vocab_size, self->wide ? 4 : 2);
  if (self->bos == DLP_BOS_ADD)
    append_token (text, self->tokenizer, "BOS", self->bos_id);
  if (self->eod == DLP_EOD_NONE)
    g_string_append (text, ", no EOD)");
  else
    {
      append_token (text, self->tokenizer, "EOD", self->eod_id);
      g_string_append_c (text, ')');
    }
  return g_string_free (text, FALSE);
}

static void
dlp_tokenizer_element_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  DlpTokenizerElement *self = DLP_TOKENIZER_ELEMENT (object);

  switch (id)
    {
    case PROP_MODEL:
      g_value_set_string (value, self->model);
      break;
    case PROP_PATTERN:
      g_value_set_string (value, self->pattern);
      break;
    case PROP_FIELD:
      g_value_set_string (value, self->field);
      break;
    case PROP_OUTPUT_FIELD:
      g_value_set_string (value, self->output_field);
      break;
    case PROP_EOD:
      g_value_set_enum (value, self->eod);
      break;
    case PROP_EOD_TOKEN:
      g_value_set_string (value, self->eod_token);
      break;
    case PROP_SPECIAL_TOKENS:
      g_value_set_enum (value, self->special_tokens);
      break;
    case PROP_BOS:
      g_value_set_enum (value, self->bos);
      break;
    case PROP_POST_PROCESSOR:
      g_value_set_enum (value, self->post_processor);
      break;
    case PROP_BYTE_OFFSET:
      g_value_set_uint (value, self->byte_offset);
      break;
    case PROP_KEEP_TEXT:
      g_value_set_boolean (value, self->keep_text);
      break;
    case PROP_CACHE_BYTES:
      g_value_set_uint64 (value, self->cache_bytes);
      break;
    case PROP_VOCAB_SIZE:
      g_value_set_uint64 (value, self->tokenizer != NULL ? self->vocab_size : 0);
      break;
    case PROP_MODEL_NAME:
      g_value_set_string (
          value, self->tokenizer != NULL ? dlp_tokenizer_get_name (self->tokenizer) : NULL);
      break;
    case PROP_MODEL_FINGERPRINT:
      g_value_set_string (
          value, self->tokenizer != NULL ? dlp_tokenizer_get_fingerprint (self->tokenizer) : NULL);
      break;
    case PROP_MODEL_FILE:
      g_value_set_string (
          value, self->tokenizer != NULL ? dlp_tokenizer_get_file (self->tokenizer) : NULL);
      break;
    case PROP_MODEL_PATTERN:
      g_value_set_string (value, self->pattern);
      break;
    case PROP_MODEL_SUMMARY:
      g_value_take_string (value, summarize (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_tokenizer_element_finalize (GObject *object)
{
  DlpTokenizerElement *self = DLP_TOKENIZER_ELEMENT (object);

  g_clear_object (&self->tokenizer);
  g_free (self->model);
  g_free (self->pattern);
  g_free (self->field);
  g_free (self->output_field);
  g_free (self->eod_token);
  g_free (self->kept);
  G_OBJECT_CLASS (dlp_tokenizer_element_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass *object_class)
{
  const GParamFlags rw = DLP_PARAM_READWRITE;
  const GParamFlags r = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  properties[PROP_MODEL] = g_param_spec_string (
      "model", NULL,
      "Tokenizer: gpt2, cl100k_base, o200k_base, bytes, hf:OWNER/NAME of the local cache, or the "
      "path "
      "of a tokenizer.json, tekken.json, SentencePiece model or rank file, or of its folder",
      "gpt2", rw);
  properties[PROP_PATTERN] =
      g_param_spec_string ("pattern", NULL,
                           "How text is cut before merging: the name of a known pattern or a "
                           "regular expression; needed for a "
                           "rank file that is not known",
                           NULL, rw);
  properties[PROP_FIELD] = g_param_spec_string ("field", NULL, "Field with the text", "text", rw);
  properties[PROP_OUTPUT_FIELD] =
      g_param_spec_string ("output-field", NULL, "Field for the tokens", "tokens", rw);
  properties[PROP_EOD] = g_param_spec_enum ("eod", NULL, "Where the end-of-document token goes",
                                            DLP_TYPE_EOD, DLP_EOD_APPEND, rw);
  properties[PROP_EOD_TOKEN] = g_param_spec_string (
      "eod-token", NULL,
      "The end-of-document token, by text or id; none: the one the model is known to have", NULL,
      rw);
  properties[PROP_SPECIAL_TOKENS] =
      g_param_spec_enum ("special-tokens", NULL,
                         "The text of a special token in a document: ordinary text; its id; leave "
                         "the document out; or an error",
                         DLP_TYPE_SPECIAL_TOKENS, DLP_SPECIAL_TOKENS_TEXT, rw);
  properties[PROP_BOS] = g_param_spec_enum (
      "bos", NULL, "Whether the token that begins a document, by the model, is put before each",
      DLP_TYPE_BOS, DLP_BOS_NONE, rw);
  properties[PROP_POST_PROCESSOR] =
      g_param_spec_enum ("post-processor", NULL,
                         "The tokens that the file of the model wants around a text: none of them, "
                         "or as the file says",
                         DLP_TYPE_POST_PROCESSOR, DLP_POST_PROCESSOR_NONE, rw);
  properties[PROP_BYTE_OFFSET] = g_param_spec_uint (
      "byte-offset", NULL, "Ids before those of the bytes, for model=bytes (ByT5: 3, BLT: 4)", 0,
      1 << 20, 0, rw);
  properties[PROP_KEEP_TEXT] = g_param_spec_boolean (
      "keep-text", NULL, "Keep the field with the text beside the tokens", FALSE, rw);
  properties[PROP_CACHE_BYTES] = g_param_spec_uint64 (
      "cache-bytes", NULL, "Cache of each worker; 0: 32M, less where memory is short", 0,
      G_MAXUINT32, 0, rw | DLP_PARAM_BYTES | DLP_PARAM_FREE);
  properties[PROP_VOCAB_SIZE] =
      g_param_spec_uint64 ("vocab-size", NULL, "Largest id + 1", 0, G_MAXUINT64, 0, r);
  properties[PROP_MODEL_NAME] =
      g_param_spec_string ("model-name", NULL, "Name of the tokenizer", NULL, r);
  properties[PROP_MODEL_FINGERPRINT] = g_param_spec_string (
      "model-fingerprint", NULL, "SHA-256 over vocabulary, pattern and special tokens", NULL, r);
  properties[PROP_MODEL_FILE] = g_param_spec_string (
      "model-file", NULL, "Path of the rank file, where it is no known model", NULL, r);
  properties[PROP_MODEL_PATTERN] =
      g_param_spec_string ("model-pattern", NULL, "The pattern that was given", NULL, r);
  properties[PROP_MODEL_SUMMARY] = g_param_spec_string (
      "model-summary", NULL, "What was chosen: the model, its ids and their width, BOS, EOD", NULL,
      r);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
dlp_tokenizer_element_class_init (DlpTokenizerElementClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  DlpElementClass *element_class = DLP_ELEMENT_CLASS (klass);
  DlpTransformClass *transform_class = DLP_TRANSFORM_CLASS (klass);

  object_class->set_property = dlp_tokenizer_element_set_property;
  object_class->get_property = dlp_tokenizer_element_get_property;
  object_class->finalize = dlp_tokenizer_element_finalize;
  element_class->negotiate = dlp_tokenizer_element_negotiate;
  element_class->step = dlp_tokenizer_element_step;
  transform_class->counters = counter_names;
  transform_class->worker_memory = CACHE_BYTES;
  transform_class->worker_new = dlp_tokenizer_element_worker_new;
  transform_class->worker_free = dlp_tokenizer_element_worker_free;
  transform_class->process = dlp_tokenizer_element_process;
  dlp_element_class_add_pad_template (element_class, "in", DLP_PAD_INPUT, DLP_PAD_ALWAYS,
                                      DLP_CARRIES_RECORDS, "Has the text in field");
  dlp_element_class_add_pad_template (element_class, "out", DLP_PAD_OUTPUT, DLP_PAD_ALWAYS,
                                      DLP_CARRIES_RECORDS, "Has the token ids in output-field");
  dlp_element_class_add_pad_template (element_class, "rejected", DLP_PAD_OUTPUT, DLP_PAD_OPTIONAL,
                                      DLP_CARRIES_RECORDS, "Documents that were left out");
  dlp_element_class_set_description (element_class, "Text to token ids",
                                     "... ! tokenizer model=gpt2 ! megatron-sink ...");
  install_properties (object_class);
}

static void
dlp_tokenizer_element_init (DlpTokenizerElement *self)
{
  self->model = g_strdup ("gpt2");
  self->field = g_strdup ("text");
  self->output_field = g_strdup ("tokens");
  self->eod_id = NO_EOD;
  dlp_element_add_optional_pad (DLP_ELEMENT (self), "rejected", DLP_PAD_OUTPUT);
}
