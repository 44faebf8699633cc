/* SPDX-License-Identifier: MIT */

/* Text to token ids: what is chosen, and checked, before the first record. */

#include "dlp-tokenizer-element-private.h"

#include <dlpipe/dlp-pad-template.h>

#include <string.h>

#define NO_EOD DLP_TOKENIZER_NO_EOD
#define CACHE_BYTES (32 * 1024 * 1024)

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
  PROP_MAX_TOKENS,
  PROP_OVERFLOW,
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
G_DEFINE_ENUM_TYPE (DlpOverflow,
                    dlp_overflow,
                    G_DEFINE_ENUM_VALUE (DLP_OVERFLOW_SPLIT, "split"),
                    G_DEFINE_ENUM_VALUE (DLP_OVERFLOW_CUT, "cut"))
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

/* Whose text a part of a document has cannot be said, and what the file puts behind a text is not
 * known to be that. */
static gboolean
check_max_tokens (DlpTokenizerElement *self, GError **error)
{
  guint around = (self->eod != DLP_EOD_NONE) + (self->bos == DLP_BOS_ADD);
  const char *conflict = NULL;

  if (self->max_tokens == 0)
    return TRUE;
  if (self->max_tokens <= around)
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                   "max-tokens=%" G_GUINT64_FORMAT ": %u of them are put around each document; "
                   "allowed are %u or more, or 0 for no limit",
                   self->max_tokens, around, around + 1);
      return FALSE;
    }
  if (self->overflow == DLP_OVERFLOW_SPLIT && self->keep_text)
    conflict = "overflow=split and keep-text=true: a part of a document has no text of its own";
  if (self->overflow == DLP_OVERFLOW_CUT && self->post_processor == DLP_POST_PROCESSOR_FILE)
    conflict =
        "overflow=cut and post-processor=file: what the file puts behind a document would be "
        "cut off";
  if (conflict == NULL)
    return TRUE;
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
               "max-tokens=%" G_GUINT64_FORMAT ", %s; choose one of them", self->max_tokens,
               conflict);
  return FALSE;
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
  if (self->tokenizer == NULL || !find_eod (self, &local) || !find_bos (self, &local) ||
      !check_max_tokens (self, &local))
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

static DlpStep
dlp_tokenizer_element_step (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpTokenizerElement *self = DLP_TOKENIZER_ELEMENT (element);
  DlpStep step =
      DLP_ELEMENT_CLASS (dlp_tokenizer_element_parent_class)->step (element, cancellable, error);

  dlp_tokenizer_element_look_at_sources (self);
  if (step == DLP_STEP_END)
    dlp_tokenizer_element_warn_at_end (self);
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
    case PROP_MAX_TOKENS:
      self->max_tokens = g_value_get_uint64 (value);
      break;
    case PROP_OVERFLOW:
      self->overflow = g_value_get_enum (value);
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
    case PROP_MAX_TOKENS:
      g_value_set_uint64 (value, self->max_tokens);
      break;
    case PROP_OVERFLOW:
      g_value_set_enum (value, self->overflow);
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
  g_clear_pointer (&self->warned, g_hash_table_unref);
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
  properties[PROP_MAX_TOKENS] = g_param_spec_uint64 (
      "max-tokens", NULL,
      "The most tokens of a document, with those that are put around it; 0: no limit", 0,
      G_MAXUINT32, 0, rw);
  properties[PROP_OVERFLOW] =
      g_param_spec_enum ("overflow", NULL,
                         "A document with more than max-tokens: several records, one after the "
                         "other; or cut off",
                         DLP_TYPE_OVERFLOW, DLP_OVERFLOW_SPLIT, rw);
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
  element_class->report = dlp_tokenizer_element_report;
  /* 2: split-documents, cut-documents, cut-tokens, by-source. */
  element_class->state_version = 2;
  element_class->state_oldest_version = 1;
  transform_class->counters = dlp_tokenizer_counters;
  transform_class->source_counters = dlp_tokenizer_source_counters;
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
