/* SPDX-License-Identifier: MIT */

#include "dlp-limit.h"

#include <dlpipe/dlp-fanout.h>
#include <dlpipe/dlp-pad-template.h>

typedef struct
{
  guint64 records;
  guint64 tokens;
  guint64 batches;
} DlpLimitState;

struct _DlpLimit
{
  DlpElement parent_instance;

  guint64 max_records; /* 0: no limit */
  guint64 max_tokens;  /* 0: no limit */
  guint64 max_batches; /* 0: no limit */
  char *field;
  gboolean per_task;
  int tokens_field; /* -1: tokens are not counted */

  DlpLimitState state; /* what was delivered */
};

enum
{
  PROP_0,
  PROP_RECORDS,
  PROP_TOKENS,
  PROP_BATCHES,
  PROP_FIELD,
  PROP_PER_TASK,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

G_DEFINE_FINAL_TYPE (DlpLimit, dlp_limit, DLP_TYPE_ELEMENT)

static gboolean
check_limits (DlpLimit *self, DlpSchema *schema, GError **error)
{
  gboolean batches = dlp_schema_get_kind (schema) == DLP_SCHEMA_BATCHES;
  gboolean others = self->max_records > 0 || self->max_tokens > 0;
  const char *message = NULL;

  if (batches && (self->max_batches == 0 || others))
    message =
        "its input has batches: set batches=N, at least 1, and nothing else; or put it before "
        "the element that makes batches";
  else if (!batches && self->max_batches > 0)
    message = "batches=N counts batches, and its input has none: put it behind a batch";
  else if (!batches && !others)
    message = "set records=N or tokens=N, at least 1";
  if (message == NULL)
    return TRUE;
  g_set_error_literal (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE, message);
  return FALSE;
}

static gboolean
dlp_limit_negotiate (DlpElement *element, GError **error)
{
  DlpLimit *self = DLP_LIMIT (element);
  DlpSchema *schema = dlp_pad_get_schema (dlp_element_get_input (element, 0));
  DlpFieldType type = DLP_FIELD_STRING;

  if (!check_limits (self, schema, error))
    return FALSE;
  self->tokens_field = dlp_schema_find (schema, self->field);
  if (self->tokens_field >= 0)
    type = dlp_schema_get_field_type (schema, self->tokens_field);
  if (type != DLP_FIELD_LIST_UINT16 && type != DLP_FIELD_LIST_UINT32 &&
      type != DLP_FIELD_LIST_INT32)
    self->tokens_field = -1;
  if (self->max_tokens > 0 && self->tokens_field < 0)
    {
      g_autofree char *text = dlp_schema_to_string (schema);

      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_TYPE,
                   "tokens=%" G_GUINT64_FORMAT
                   " needs a field “%s” with lists of tokens; its input is %s: put it behind "
                   "a tokenizer",
                   self->max_tokens, self->field, text);
      return FALSE;
    }
  dlp_pad_set_schema (dlp_element_get_output (element, 0), schema);
  return TRUE;
}

/* How many of the rows may still be delivered, and their tokens. Less than all: the limit is
 * reached. */
static guint
count_rows (DlpLimit *self, DlpRecordBatch *batch, guint row, guint n, guint64 *tokens)
{
  guint64 sum = 0;
  guint k = n;

  if (self->max_records > 0)
    k = (guint) MIN (k, self->max_records - self->state.records);
  if (self->tokens_field >= 0)
    for (guint i = 0; i < k; i++)
      {
        gsize length;

        dlp_record_batch_get_list (batch, self->tokens_field, row + i, &length);
        if (self->max_tokens > 0 && length > self->max_tokens - self->state.tokens - sum)
          k = i;
        else
          sum += length;
      }
  *tokens = sum;
  return k;
}

/* Of all ranks: a step that would exceed is not delivered. */
static DlpStep
pass_batch (DlpLimit *self, DlpPad *in, DlpPad *out, DlpRecordBatch *batch)
{
  const DlpBatchInfo *info = dlp_record_batch_get_batch_info (batch);
  guint n = dlp_record_batch_get_length (batch);

  if (info->n_batches <= self->max_batches - self->state.batches)
    {
      self->state.batches += info->n_batches;
      self->state.records += info->records;
      self->state.tokens += info->tokens;
      dlp_pad_push_rows (out, batch, 0, n);
      dlp_pad_consume (in, n);
      if (self->state.batches < self->max_batches)
        return DLP_STEP_MORE;
    }
  dlp_pad_close (in);
  return DLP_STEP_END;
}

static DlpStep
dlp_limit_step (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpLimit *self = DLP_LIMIT (element);
  DlpPad *in = dlp_element_get_input (element, 0);
  DlpPad *out = dlp_element_get_output (element, 0);
  DlpRecordBatch *batch;
  guint64 tokens;
  guint row, n, k;

  batch = dlp_pad_peek (in, &row);
  if (batch == NULL)
    return dlp_pad_is_over (in) ? DLP_STEP_END : dlp_element_want_input (element, 0);

  if (self->max_batches > 0)
    return pass_batch (self, in, out, batch);
  n = dlp_record_batch_get_length (batch) - row;
  k = count_rows (self, batch, row, n, &tokens);
  dlp_pad_push_rows (out, batch, row, k);
  self->state.records += k;
  self->state.tokens += tokens;
  dlp_pad_consume (in, k);
  if (k == n && (self->max_records == 0 || self->state.records < self->max_records))
    return DLP_STEP_MORE;
  dlp_pad_close (in);
  return DLP_STEP_END;
}

static DlpState *
dlp_limit_save (DlpElement *element)
{
  return dlp_state_new (&DLP_LIMIT (element)->state, sizeof (DlpLimitState));
}

static GVariant *
dlp_limit_describe (DlpElement *element, const DlpState *state)
{
  const DlpLimitState *data = dlp_state_get_data (state);
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "records", "t", data->records);
  g_variant_dict_insert (&dict, "tokens", "t", data->tokens);
  g_variant_dict_insert (&dict, "batches", "t", data->batches);
  return g_variant_dict_end (&dict);
}

static gboolean
check_emitted (DlpLimit *self, GError **error)
{
  gboolean batches = self->max_batches > 0;

  return dlp_pad_check_emitted (dlp_element_get_output (DLP_ELEMENT (self), 0),
                                batches ? "batches" : "records",
                                batches ? self->state.batches : self->state.records, error);
}

static gboolean
dlp_limit_load (DlpElement *element, GVariant *described, guint version, GError **error)
{
  static const char *const keys[] = { "records", "tokens", "batches", NULL };
  DlpLimit *self = DLP_LIMIT (element);

  return dlp_state_check_keys (described, keys, error) &&
         dlp_state_get_uint64 (described, "records",
                               self->max_records > 0 ? self->max_records : G_MAXUINT64,
                               &self->state.records, error) &&
         dlp_state_get_uint64 (described, "tokens",
                               self->max_tokens > 0 ? self->max_tokens : G_MAXUINT64,
                               &self->state.tokens, error) &&
         (version < 2 ||
          dlp_state_get_uint64 (described, "batches", self->max_batches > 0 ? self->max_batches : 0,
                                &self->state.batches, error)) &&
         check_emitted (self, error);
}

static gboolean
dlp_limit_check_tasks (DlpElement *element, guint n_tasks, GError **error)
{
  return DLP_LIMIT (element)->per_task ||
         dlp_fanout_refuse_element (element, "counts what it lets through", n_tasks, error);
}

static void
dlp_limit_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  DlpLimit *self = DLP_LIMIT (object);

  switch (id)
    {
    case PROP_RECORDS:
      self->max_records = g_value_get_uint64 (value);
      break;
    case PROP_TOKENS:
      self->max_tokens = g_value_get_uint64 (value);
      break;
    case PROP_BATCHES:
      self->max_batches = g_value_get_uint64 (value);
      break;
    case PROP_FIELD:
      g_free (self->field);
      self->field = g_value_dup_string (value);
      break;
    case PROP_PER_TASK:
      self->per_task = g_value_get_boolean (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_limit_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  DlpLimit *self = DLP_LIMIT (object);

  switch (id)
    {
    case PROP_RECORDS:
      g_value_set_uint64 (value, self->max_records);
      break;
    case PROP_TOKENS:
      g_value_set_uint64 (value, self->max_tokens);
      break;
    case PROP_BATCHES:
      g_value_set_uint64 (value, self->max_batches);
      break;
    case PROP_FIELD:
      g_value_set_string (value, self->field);
      break;
    case PROP_PER_TASK:
      g_value_set_boolean (value, self->per_task);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_limit_finalize (GObject *object)
{
  g_free (DLP_LIMIT (object)->field);
  G_OBJECT_CLASS (dlp_limit_parent_class)->finalize (object);
}

static void
dlp_limit_class_init (DlpLimitClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  DlpElementClass *element_class = DLP_ELEMENT_CLASS (klass);

  object_class->set_property = dlp_limit_set_property;
  object_class->get_property = dlp_limit_get_property;
  object_class->finalize = dlp_limit_finalize;
  element_class->state_version = 2;
  element_class->negotiate = dlp_limit_negotiate;
  element_class->step = dlp_limit_step;
  element_class->save = dlp_limit_save;
  element_class->describe = dlp_limit_describe;
  element_class->load = dlp_limit_load;
  element_class->check_tasks = dlp_limit_check_tasks;
  dlp_element_class_add_pad_template (element_class, "in", DLP_PAD_INPUT, DLP_PAD_ALWAYS,
                                      DLP_CARRIES_ALL, NULL);
  dlp_element_class_add_pad_template (element_class, "out", DLP_PAD_OUTPUT, DLP_PAD_ALWAYS,
                                      DLP_CARRIES_ALL, NULL);
  element_class->flags = DLP_ELEMENT_FIRST_ONES;
  dlp_element_class_set_description (element_class,
                                     "Ends a stream after so many records, tokens or batches",
                                     "... ! limit records=1k ! null-sink");

  properties[PROP_RECORDS] =
      g_param_spec_uint64 ("records", NULL, "Records to deliver at most; 0: no limit", 0,
                           G_MAXUINT64, 0, DLP_PARAM_READWRITE | DLP_PARAM_RECORDS);
  properties[PROP_TOKENS] = g_param_spec_uint64 ("tokens", NULL,
                                                 "Tokens to deliver at most, in whole records: one "
                                                 "that would exceed is not delivered; 0: no limit",
                                                 0, G_MAXUINT64, 0, DLP_PARAM_READWRITE);
  properties[PROP_BATCHES] = g_param_spec_uint64 (
      "batches", NULL, "Batches to deliver at most, of all ranks, in whole steps; 0: no limit", 0,
      G_MAXINT64, 0, DLP_PARAM_READWRITE);
  properties[PROP_FIELD] = g_param_spec_string (
      "field", NULL, "Field with the tokens that are counted", "tokens", DLP_PARAM_READWRITE);
  properties[PROP_PER_TASK] = g_param_spec_boolean (
      "per-task", NULL, "In a fan-out: the limit is that of each task", FALSE, DLP_PARAM_READWRITE);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
dlp_limit_init (DlpLimit *self)
{
  self->field = g_strdup ("tokens");
  self->tokens_field = -1;
  dlp_element_add_pad (DLP_ELEMENT (self), "in", DLP_PAD_INPUT);
  dlp_element_add_pad (DLP_ELEMENT (self), "out", DLP_PAD_OUTPUT);
}
