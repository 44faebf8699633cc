/* SPDX-License-Identifier: MIT */

#include "dlp-stages-element.h"

#include <pthread.h>

#include <dlpipe/dlp-fan-in.h>
#include <dlpipe/dlp-fanout.h>
#include <dlpipe/dlp-pad-template.h>
#include <dlpipe/dlp-upstream.h>

#include "stage-advances.h"
#include "stage-limits.h"
#include "stage-state.h"

struct _DlpStagesElement
{
  DlpElement parent_instance;

  char *records;
  char *tokens;
  char *batches;
  char *field;
  gboolean per_task;

  /* From negotiate() on. */
  StagePlan *plans;
  int tokens_field; /* -1: tokens are not counted */

  /* Held for a whole step: so that whoever asks to advance sees all that was passed on. */
  pthread_mutex_t lock;
  StageState *state;      /* lock, but in save(); NULL: before negotiate() */
  StageAdvances advances; /* lock */
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

static void dlp_stages_element_init_iface (DlpStagesInterface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (DlpStagesElement,
                               dlp_stages_element,
                               DLP_TYPE_ELEMENT,
                               G_IMPLEMENT_INTERFACE (DLP_TYPE_STAGES,
                                                      dlp_stages_element_init_iface))

static DlpPad *
dlp_stages_element_request_pad (DlpElement *element,
                                DlpPadDirection direction,
                                const char *name,
                                GError **error)
{
  DlpElementClass *parent = DLP_ELEMENT_CLASS (dlp_stages_element_parent_class);

  return direction == DLP_PAD_INPUT ? dlp_element_add_numbered_input (element, name) :
                                      parent->request_pad (element, direction, name, error);
}

/* ---- what ends a stage ---- */

static gboolean
parse_limits (DlpStagesElement *self, GError **error)
{
  DlpElement *element = DLP_ELEMENT (self);
  guint n = dlp_element_get_n_inputs (element);
  g_autofree guint64 *records = g_new (guint64, n);
  g_autofree guint64 *tokens = g_new (guint64, n);
  g_autofree guint64 *batches = g_new (guint64, n);

  if (!stage_limits_parse (element, "records", self->records, records, error) ||
      !stage_limits_parse (element, "tokens", self->tokens, tokens, error) ||
      !stage_limits_parse (element, "batches", self->batches, batches, error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    {
      self->plans[i].records = records[i];
      self->plans[i].tokens = tokens[i];
      self->plans[i].batches = batches[i];
    }
  return TRUE;
}

static gboolean
has_limit (DlpStagesElement *self, gsize offset)
{
  for (guint i = 0; i < self->state->n_stages; i++)
    if (G_STRUCT_MEMBER (guint64, &self->plans[i], offset) > 0)
      return TRUE;
  return FALSE;
}

static gboolean
find_tokens (DlpStagesElement *self, DlpSchema *schema, GError **error)
{
  g_autofree char *text = NULL;
  DlpFieldType type;

  self->tokens_field = dlp_schema_find (schema, self->field);
  type = self->tokens_field >= 0 ? dlp_schema_get_field_type (schema, self->tokens_field) :
                                   DLP_FIELD_STRING;
  if (type == DLP_FIELD_LIST_UINT16 || type == DLP_FIELD_LIST_UINT32 ||
      type == DLP_FIELD_LIST_INT32)
    return TRUE;
  self->tokens_field = -1;
  if (!has_limit (self, G_STRUCT_OFFSET (StagePlan, tokens)))
    return TRUE;
  text = dlp_schema_to_string (schema);
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_TYPE,
               "tokens=%s needs a field “%s” with lists of tokens; its inputs are %s: put it "
               "behind the tokenizers",
               self->tokens, self->field, text);
  return FALSE;
}

/* A rank has batches of all ranks' stages: the limits are counted before they are dealt. */
static gboolean
check_not_dealt (DlpStagesElement *self, GError **error)
{
  g_autoptr (GPtrArray) dealers = dlp_element_list_upstream (DLP_ELEMENT (self), "world-size");

  for (guint i = 0; i < dealers->len; i++)
    {
      guint world_size;

      g_object_get (dealers->pdata[i], "world-size", &world_size, NULL);
      if (world_size == 1)
        continue;
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                   "the batches of %s are dealt to %u ranks before the stages; set rank and "
                   "world-size on a batch behind the stages",
                   dlp_element_get_name (dealers->pdata[i]), world_size);
      return FALSE;
    }
  return TRUE;
}

/* Whether epochs come to @batcher in another order than they leave here. */
static gboolean
is_reordered (DlpStagesElement *self, DlpBatcher *batcher)
{
  DlpElement *element = DLP_ELEMENT (batcher);

  while (element != DLP_ELEMENT (self))
    {
      if (DLP_ELEMENT_GET_CLASS (element)->flags & DLP_ELEMENT_REORDERS)
        return TRUE;
      element = dlp_pad_get_element (dlp_pad_get_peer (dlp_element_get_input (element, 0)));
    }
  return FALSE;
}

static gboolean
check_rule (DlpStagesElement *self, DlpBatcher *batcher, const DlpBatchRule *rule, GError **error)
{
  if (!rule->cut_at_epoch || !has_limit (self, G_STRUCT_OFFSET (StagePlan, batches)) ||
      !is_reordered (self, batcher))
    return TRUE;
  g_set_error (
      error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
      "batches=%s cannot be counted: %s ends batches where an epoch does, and a shuffle in "
      "between mingles epochs; set its cut-at-epoch=false, or records= here",
      self->batches, dlp_element_get_name (DLP_ELEMENT (batcher)));
  return FALSE;
}

/* Where batches end is known here by the rule of the element that makes them. */
static gboolean
find_rules (DlpStagesElement *self, DlpSchema *schema, GError **error)
{
  DlpBatcher *batcher = dlp_element_find_batcher (DLP_ELEMENT (self));

  self->state->whole = dlp_schema_get_kind (schema) == DLP_SCHEMA_BATCHES;
  if (self->state->whole)
    return check_not_dealt (self, error);
  if (batcher == NULL && has_limit (self, G_STRUCT_OFFSET (StagePlan, batches)))
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_LINK,
                   "batches=%s needs an element “batch” behind it, and in between only elements "
                   "that give one record for each, such as fields, or a shuffle; put others before "
                   "its inputs or behind the batch, or set records=",
                   self->batches);
      return FALSE;
    }
  for (guint i = 0; batcher != NULL && i < self->state->n_stages; i++)
    if (!dlp_batcher_get_rule (batcher, i, &self->plans[i].rule, error) ||
        !check_rule (self, batcher, &self->plans[i].rule, error))
      return FALSE;
  return TRUE;
}

static gboolean
dlp_stages_element_negotiate (DlpElement *element, GError **error)
{
  DlpStagesElement *self = DLP_STAGES_ELEMENT (element);
  guint n = dlp_element_get_n_inputs (element);
  DlpSchema *schema;

  if (n == 0)
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_LINK, "has no input");
      return FALSE;
    }
  pthread_mutex_lock (&self->lock);
  g_free (self->plans);
  g_free (self->state);
  self->plans = g_new0 (StagePlan, n);
  self->state = stage_state_new (n);
  pthread_mutex_unlock (&self->lock);

  schema = dlp_pad_get_schema (dlp_element_get_input (element, 0));
  if (!parse_limits (self, error) || !dlp_element_check_inputs_alike (element, error) ||
      !find_tokens (self, schema, error) || !find_rules (self, schema, error))
    return FALSE;
  dlp_pad_set_schema (dlp_element_get_output (element, 0), schema);
  return TRUE;
}

/* ---- to advance ---- */

static gboolean
is_over (DlpStagesElement *self)
{
  return self->state->stage == self->state->n_stages;
}

static guint64
get_leave_at (DlpStagesElement *self)
{
  return stage_advances_find (&self->advances, self->state->start, self->state->stage == 0);
}

static gboolean
advance (DlpStagesElement *self, guint64 *at, GError **error)
{
  const char *name = dlp_element_get_name (DLP_ELEMENT (self));
  guint64 passed;

  if (self->state == NULL || is_over (self))
    {
      g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE, "%s: cannot advance %s",
                   name,
                   self->state == NULL ? "before the pipeline is prepared" :
                                         "behind the last stage, which is over");
      return FALSE;
    }
  passed = MAX (self->advances.passed, stage_state_count_places (self->state));
  if (*at < passed)
    {
      g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE,
                   "%s: cannot advance at %" G_GUINT64_FORMAT ": %" G_GUINT64_FORMAT
                   " were passed on already",
                   name, *at, passed);
      return FALSE;
    }
  if (*at == STAGE_NEVER)
    *at = passed;
  stage_advances_add (&self->advances, *at);
  return TRUE;
}

static gboolean
dlp_stages_element_advance (DlpStages *stages, guint64 *at, GError **error)
{
  DlpStagesElement *self = DLP_STAGES_ELEMENT (stages);
  gboolean ok;

  pthread_mutex_lock (&self->lock);
  ok = advance (self, at, error);
  pthread_mutex_unlock (&self->lock);
  /* It may wait for a record. */
  if (ok)
    dlp_element_wake (DLP_ELEMENT (self));
  return ok;
}

static guint
dlp_stages_element_get_stage (DlpStages *stages)
{
  DlpStagesElement *self = DLP_STAGES_ELEMENT (stages);
  guint stage;

  pthread_mutex_lock (&self->lock);
  stage = self->state != NULL ? self->state->stage : 0;
  pthread_mutex_unlock (&self->lock);
  return stage;
}

static void
dlp_stages_element_init_iface (DlpStagesInterface *iface)
{
  iface->advance = dlp_stages_element_advance;
  iface->get_stage = dlp_stages_element_get_stage;
}

/* ---- streaming ---- */

static DlpStep
leave (DlpStagesElement *self)
{
  dlp_pad_close (dlp_element_get_input (DLP_ELEMENT (self), self->state->stage));
  stage_state_leave (self->state, &self->plans[self->state->stage]);
  return is_over (self) ? DLP_STEP_END : DLP_STEP_MORE;
}

static DlpStep
pass_on (DlpStagesElement *self, DlpPad *in, guint64 leave_at)
{
  guint row, n;
  DlpRecordBatch *batch = dlp_pad_peek (in, &row);
  gboolean over;

  n = dlp_record_batch_get_length (batch) - row;
  n = stage_state_take (self->state, &self->plans[self->state->stage], self->tokens_field, leave_at,
                        batch, row, n, &over);
  if (n > 0)
    {
      dlp_pad_push_rows (dlp_element_get_output (DLP_ELEMENT (self), 0), batch, row, n);
      dlp_pad_consume (in, n);
    }
  return over ? leave (self) : DLP_STEP_MORE;
}

static DlpStep
take_step (DlpStagesElement *self)
{
  DlpElement *element = DLP_ELEMENT (self);
  StageState *state = self->state;
  guint64 leave_at;
  DlpPad *in;
  guint row;

  if (is_over (self))
    return DLP_STEP_END;
  leave_at = get_leave_at (self);
  if (stage_state_is_over (state, &self->plans[state->stage], leave_at))
    return leave (self);

  in = dlp_element_get_input (element, state->stage);
  if (dlp_pad_peek (in, &row) != NULL)
    return pass_on (self, in, leave_at);
  return dlp_pad_is_over (in) ? leave (self) : dlp_element_want_input (element, state->stage);
}

static DlpStep
dlp_stages_element_step (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpStagesElement *self = DLP_STAGES_ELEMENT (element);
  DlpStep step;

  pthread_mutex_lock (&self->lock);
  step = take_step (self);
  pthread_mutex_unlock (&self->lock);
  return step;
}

/* ---- state ---- */

static DlpState *
dlp_stages_element_save (DlpElement *element)
{
  StageState *state = DLP_STAGES_ELEMENT (element)->state;

  return dlp_state_new (state, stage_state_get_size (state->n_stages));
}

/* The advances are those that are known now: what was asked for behind the mark is done again too.
 */
static GVariant *
dlp_stages_element_describe (DlpElement *element, const DlpState *data)
{
  DlpStagesElement *self = DLP_STAGES_ELEMENT (element);
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  stage_state_describe (dlp_state_get_data (data), &dict);
  pthread_mutex_lock (&self->lock);
  stage_advances_describe (&self->advances, stage_state_count_places (self->state), &dict);
  pthread_mutex_unlock (&self->lock);
  return g_variant_dict_end (&dict);
}

static GVariant *
dlp_stages_element_report (DlpElement *element, GVariant *described)
{
  return stage_state_report (described, element);
}

static gboolean
dlp_stages_element_load (DlpElement *element, GVariant *described, guint version, GError **error)
{
  static const char *const keys[] = { "stage",   "open",     "epoch",  "records", "tokens",
                                      "batches", "advances", "passed", NULL };
  DlpStagesElement *self = DLP_STAGES_ELEMENT (element);
  guint64 places;
  gboolean ok;

  /* Somebody may ask for the stage meanwhile. */
  pthread_mutex_lock (&self->lock);
  ok = dlp_state_check_keys (described, keys, error) &&
       stage_state_load (self->state, self->plans, described, error);
  places = stage_state_count_places (self->state);
  ok = ok && stage_advances_load (&self->advances, described, places, error);
  pthread_mutex_unlock (&self->lock);
  return ok && dlp_pad_check_emitted (dlp_element_get_output (element, 0),
                                      self->state->whole ? "batches" : "records", places, error);
}

static gboolean
dlp_stages_element_check_tasks (DlpElement *element, guint n_tasks, GError **error)
{
  DlpStagesElement *self = DLP_STAGES_ELEMENT (element);
  gboolean limits = self->records != NULL || self->tokens != NULL || self->batches != NULL;

  return !limits || self->per_task ||
         dlp_fanout_refuse_element (element, "counts what each stage lets through", n_tasks, error);
}

/* ---- object ---- */

static char **
find_text (DlpStagesElement *self, guint id)
{
  switch (id)
    {
    case PROP_RECORDS:
      return &self->records;
    case PROP_TOKENS:
      return &self->tokens;
    case PROP_BATCHES:
      return &self->batches;
    case PROP_FIELD:
      return &self->field;
    default:
      return NULL;
    }
}

static void
dlp_stages_element_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  char **text = find_text (DLP_STAGES_ELEMENT (object), id);

  if (id == PROP_PER_TASK)
    DLP_STAGES_ELEMENT (object)->per_task = g_value_get_boolean (value);
  else if (text == NULL)
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  else
    {
      g_free (*text);
      *text = g_value_dup_string (value);
    }
}

static void
dlp_stages_element_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  char **text = find_text (DLP_STAGES_ELEMENT (object), id);

  if (id == PROP_PER_TASK)
    g_value_set_boolean (value, DLP_STAGES_ELEMENT (object)->per_task);
  else if (text == NULL)
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  else
    g_value_set_string (value, *text);
}

static void
dlp_stages_element_finalize (GObject *object)
{
  DlpStagesElement *self = DLP_STAGES_ELEMENT (object);

  g_free (self->records);
  g_free (self->tokens);
  g_free (self->batches);
  g_free (self->field);
  g_free (self->plans);
  g_free (self->state);
  stage_advances_clear (&self->advances);
  pthread_mutex_destroy (&self->lock);
  G_OBJECT_CLASS (dlp_stages_element_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass *klass)
{
  properties[PROP_RECORDS] = g_param_spec_string (
      "records", NULL,
      "Records of each stage at most, by pad name (web:10k,code:5k) or in the order of the links "
      "(10k,0); 0: no limit",
      NULL, DLP_PARAM_READWRITE);
  properties[PROP_TOKENS] = g_param_spec_string (
      "tokens", NULL,
      "Tokens of each stage at most, in whole records: one that would exceed is not delivered",
      NULL, DLP_PARAM_READWRITE);
  properties[PROP_BATCHES] = g_param_spec_string (
      "batches", NULL,
      "Batches of each stage at most, over all ranks; they come in, or a batch is behind it", NULL,
      DLP_PARAM_READWRITE);
  properties[PROP_FIELD] = g_param_spec_string (
      "field", NULL, "Field with the tokens that are counted", "tokens", DLP_PARAM_READWRITE);
  properties[PROP_PER_TASK] =
      g_param_spec_boolean ("per-task", NULL, "In a fan-out: the limits are those of each task",
                            FALSE, DLP_PARAM_READWRITE);
  g_object_class_install_properties (klass, N_PROPS, properties);
}

static void
dlp_stages_element_class_init (DlpStagesElementClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  DlpElementClass *element_class = DLP_ELEMENT_CLASS (klass);

  object_class->set_property = dlp_stages_element_set_property;
  object_class->get_property = dlp_stages_element_get_property;
  object_class->finalize = dlp_stages_element_finalize;
  element_class->request_pad = dlp_stages_element_request_pad;
  element_class->negotiate = dlp_stages_element_negotiate;
  element_class->step = dlp_stages_element_step;
  element_class->save = dlp_stages_element_save;
  element_class->describe = dlp_stages_element_describe;
  element_class->load = dlp_stages_element_load;
  element_class->report = dlp_stages_element_report;
  element_class->check_tasks = dlp_stages_element_check_tasks;
  dlp_element_class_add_pad_template (element_class, "in-N", DLP_PAD_INPUT, DLP_PAD_ON_REQUEST,
                                      DLP_CARRIES_ALL, "By any name; all carry the same");
  dlp_element_class_add_pad_template (element_class, "out", DLP_PAD_OUTPUT, DLP_PAD_ALWAYS,
                                      DLP_CARRIES_ALL, NULL);
  dlp_element_class_set_description (
      element_class, "Inputs one after another: the stages of a curriculum",
      "... ! s.warmup  ... ! s.main  stages name=s records=warmup:100k ! ...");
  install_properties (object_class);
}

static void
dlp_stages_element_init (DlpStagesElement *self)
{
  self->field = g_strdup ("tokens");
  self->tokens_field = -1;
  stage_advances_init (&self->advances);
  pthread_mutex_init (&self->lock, NULL);
  dlp_element_add_pad (DLP_ELEMENT (self), "out", DLP_PAD_OUTPUT);
}
