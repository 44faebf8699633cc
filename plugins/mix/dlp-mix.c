/* SPDX-License-Identifier: MIT */

#include "dlp-mix.h"

#include <dlpipe/dlp-fan-in.h>
#include <dlpipe/dlp-fanout.h>
#include <dlpipe/dlp-pad-template.h>
#include <dlpipe/dlp-upstream.h>

#include <string.h>

#include <dlpipe/dlp-random.h>

#include "dlp-mix-state.h"
#include "dlp-mix-weights.h"

/* Records in one step at most: what is generated again after a restore. */
#define STEP_RECORDS 256

typedef struct
{
  DlpPad *pad;
  double weight;    /* in this period */
  gboolean used;    /* in this period or a later one */
  guint epochs;     /* with repeat-until-all: of its source, as it was set */
  gboolean ended;   /* no more will come */
  gboolean wrapped; /* what comes next was given before */
} DlpMixInput;

struct _DlpMix
{
  DlpElement parent_instance;

  char *weights;
  char **weights_at;
  DlpMixExhausted exhausted;
  gboolean per_task;
  DlpMixUnit unit;

  /* From negotiate() on. */
  DlpMixInput *inputs;
  guint n_inputs;
  GPtrArray *periods; /* of MixPeriod */
  int tokens_field;   /* -1: there is none */
  MixState *state;

  guint n_weighted; /* inputs of a weight above 0 */
  guint n_live;     /* of them, those that have not ended */
  guint n_fresh;    /* inputs that are wanted, now or later, and have not wrapped */
  double total;     /* of the live weights, summed from the first to the last */
  DlpRandom random;
};

enum
{
  PROP_0,
  PROP_WEIGHTS,
  PROP_WEIGHTS_AT,
  PROP_EXHAUSTED,
  PROP_UNIT,
  PROP_PER_TASK,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

G_DEFINE_ENUM_TYPE (DlpMixExhausted,
                    dlp_mix_exhausted,
                    G_DEFINE_ENUM_VALUE (DLP_MIX_RENORMALIZE, "renormalize"),
                    G_DEFINE_ENUM_VALUE (DLP_MIX_STOP, "stop"),
                    G_DEFINE_ENUM_VALUE (DLP_MIX_REPEAT, "repeat"),
                    G_DEFINE_ENUM_VALUE (DLP_MIX_REPEAT_UNTIL_ALL, "repeat-until-all"))
G_DEFINE_ENUM_TYPE (DlpMixUnit,
                    dlp_mix_unit,
                    G_DEFINE_ENUM_VALUE (DLP_MIX_RECORDS, "records"),
                    G_DEFINE_ENUM_VALUE (DLP_MIX_TOKENS, "tokens"))
G_DEFINE_FINAL_TYPE (DlpMix, dlp_mix, DLP_TYPE_ELEMENT)

static DlpPad *
dlp_mix_request_pad (DlpElement *element,
                     DlpPadDirection direction,
                     const char *name,
                     GError **error)
{
  DlpElementClass *parent = DLP_ELEMENT_CLASS (dlp_mix_parent_class);

  return direction == DLP_PAD_INPUT ? dlp_element_add_numbered_input (element, name) :
                                      parent->request_pad (element, direction, name, error);
}

/* ---- settings ---- */

static const MixPeriod *
get_period (const DlpMix *self, guint64 n)
{
  return g_ptr_array_index (self->periods, n);
}

static gboolean
find_tokens (DlpMix *self, DlpSchema *schema, GError **error)
{
  int field = dlp_schema_find (schema, "tokens");
  gboolean by_tokens = self->unit == DLP_MIX_TOKENS;
  gboolean later = self->periods->len > 1 && !get_period (self, 1)->in_records;
  DlpFieldType type = DLP_FIELD_STRING;
  g_autofree char *text = NULL;

  if (field >= 0)
    type = dlp_schema_get_field_type (schema, (guint) field);
  if (type != DLP_FIELD_LIST_UINT16 && type != DLP_FIELD_LIST_UINT32 &&
      type != DLP_FIELD_LIST_INT32)
    field = -1;
  self->tokens_field = field;
  if (field >= 0 || (!by_tokens && !later))
    return TRUE;
  text = dlp_schema_to_string (schema);
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_TYPE,
               "%s needs a field “tokens” with lists of tokens; its input is %s: put tokenizers "
               "before it%s",
               by_tokens ? "unit=tokens" : "weights-at", text,
               by_tokens ? "" : ", or write “N records:”");
  return FALSE;
}

static gboolean
repeats (DlpMix *self)
{
  return self->exhausted == DLP_MIX_REPEAT || self->exhausted == DLP_MIX_REPEAT_UNTIL_ALL;
}

/* Whether records of an input come out of their files' order. */
static gboolean
is_shuffled (DlpPad *input)
{
  for (DlpPad *peer = dlp_pad_get_peer (input); peer != NULL;)
    {
      DlpElement *element = dlp_pad_get_element (peer);

      if (DLP_ELEMENT_GET_CLASS (element)->flags & DLP_ELEMENT_REORDERS)
        return TRUE;
      peer = dlp_element_get_n_inputs (element) > 0 ?
                 dlp_pad_get_peer (dlp_element_get_input (element, 0)) :
                 NULL;
    }
  return FALSE;
}

static gboolean
repeat_input (DlpMix *self, guint i, GError **error)
{
  DlpMixInput *input = &self->inputs[i];
  const char *message = NULL;

  if (!mix_periods_use (self->periods, 0, i))
    return TRUE;
  if (!dlp_element_repeat_input (DLP_ELEMENT (self), i, &input->epochs, error))
    {
      g_prefix_error (error, "exhausted=%s cannot begin input “%s” again: ",
                      self->exhausted == DLP_MIX_REPEAT ? "repeat" : "repeat-until-all",
                      dlp_pad_get_name (input->pad));
      return FALSE;
    }
  if (self->exhausted == DLP_MIX_REPEAT)
    return TRUE;
  if (input->epochs == 0)
    message = "goes on for ever by itself";
  else if (is_shuffled (input->pad))
    message = "is shuffled over its end; put the shuffle behind the mix";
  if (message == NULL)
    return TRUE;
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
               "exhausted=repeat-until-all: the end of input “%s” cannot be seen: it %s",
               dlp_pad_get_name (input->pad), message);
  return FALSE;
}

static void
clear_settings (DlpMix *self)
{
  g_clear_pointer (&self->inputs, g_free);
  g_clear_pointer (&self->periods, g_ptr_array_unref);
  g_clear_pointer (&self->state, g_free);
}

static gboolean
dlp_mix_negotiate (DlpElement *element, GError **error)
{
  DlpMix *self = DLP_MIX (element);
  DlpSchema *schema;

  clear_settings (self);
  self->n_inputs = dlp_element_get_n_inputs (element);
  if (self->n_inputs == 0)
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_LINK, "has no input");
      return FALSE;
    }
  self->inputs = g_new0 (DlpMixInput, self->n_inputs);
  self->state = g_malloc0 (mix_state_get_size (self->n_inputs));
  for (guint i = 0; i < self->n_inputs; i++)
    self->inputs[i].pad = dlp_element_get_input (element, i);
  schema = dlp_pad_get_schema (self->inputs[0].pad);
  self->periods =
      mix_periods_new (self->weights, (const char *const *) self->weights_at, element, error);
  if (self->periods == NULL || !dlp_element_check_inputs_alike (element, error) ||
      !find_tokens (self, schema, error))
    return FALSE;
  for (guint i = 0; repeats (self) && i < self->n_inputs; i++)
    if (!repeat_input (self, i, error))
      return FALSE;
  dlp_pad_set_schema (dlp_element_get_output (element, 0), schema);
  return TRUE;
}

/* ---- weights ---- */

static void
sum_live (DlpMix *self)
{
  self->n_live = 0;
  self->total = 0.0;
  for (guint i = 0; i < self->n_inputs; i++)
    if (self->inputs[i].weight > 0.0 && !self->inputs[i].ended)
      {
        self->n_live++;
        self->total += self->inputs[i].weight;
      }
}

/* An input that has no weight any more is closed. */
static void
begin_period (DlpMix *self)
{
  const MixPeriod *period = get_period (self, self->state->period);

  self->n_weighted = self->n_fresh = 0;
  for (guint i = 0; i < self->n_inputs; i++)
    {
      DlpMixInput *input = &self->inputs[i];

      input->used = mix_periods_use (self->periods, (guint) self->state->period, i);
      input->weight = period->weights[i];
      self->n_weighted += input->weight > 0.0;
      self->n_fresh += input->used && !input->ended && !input->wrapped;
      if (!input->used)
        dlp_pad_close (input->pad);
    }
  sum_live (self);
}

static gboolean
has_next_period (const DlpMix *self)
{
  return self->state->period + 1 < self->periods->len;
}

static void
next_period (DlpMix *self)
{
  self->state->period++;
  for (guint i = 0; i < self->n_inputs; i++)
    self->state->counts[i].before = self->state->counts[i].tokens;
  begin_period (self);
}

/* Before each draw. Where all inputs of a period have ended, its end does not come by itself;
 * unless the mix ends with the first. */
static gboolean
change_weights (DlpMix *self)
{
  gboolean changed = FALSE;

  while (has_next_period (self))
    {
      const MixPeriod *next = get_period (self, self->state->period + 1);
      guint64 position = next->in_records ? self->state->records : self->state->tokens;

      if (position < next->at && (self->n_live > 0 || self->exhausted == DLP_MIX_STOP))
        break;
      next_period (self);
      changed = TRUE;
    }
  return changed;
}

/* ---- streaming ---- */

static gboolean
dlp_mix_start (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpMix *self = DLP_MIX (element);

  self->random = dlp_random_init (dlp_element_get_seed (element), dlp_element_get_stage (element),
                                  "mix", dlp_element_get_ordinal (element));
  begin_period (self);
  return TRUE;
}

static void
leave (DlpMix *self, DlpMixInput *input)
{
  input->ended = TRUE;
  self->n_fresh -= !input->wrapped;
  sum_live (self);
}

static void
note_epoch (DlpMix *self, DlpMixInput *input, const DlpCoordinate *at)
{
  if (input->wrapped || input->epochs == 0 || at->epoch < input->epochs)
    return;
  input->wrapped = TRUE;
  self->n_fresh--;
}

/* Whether an input has given all is asked of those too that have no weight for a time: what was
 * seen of them before is no state. */
static gboolean
is_looked_at (DlpMix *self, const DlpMixInput *input)
{
  return !input->ended &&
         (input->weight > 0.0 || (input->used && self->exhausted == DLP_MIX_REPEAT_UNTIL_ALL));
}

/* Before each draw it is known of every live input whether it has another record. FALSE: that of
 * @input is to be waited for. */
static gboolean
look (DlpMix *self, DlpMixInput *input)
{
  DlpRecordBatch *batch;
  guint row;

  if (!is_looked_at (self, input))
    return TRUE;
  batch = dlp_pad_peek (input->pad, &row);
  if (batch != NULL)
    {
      note_epoch (self, input, dlp_record_batch_get_coordinate (batch, row));
      return TRUE;
    }
  if (!dlp_pad_is_over (input->pad))
    return FALSE;
  leave (self, input);
  return TRUE;
}

/* NULL: all inputs are known. */
static DlpMixInput *
look_at_all (DlpMix *self)
{
  for (guint i = 0; i < self->n_inputs; i++)
    if (!look (self, &self->inputs[i]))
      return &self->inputs[i];
  return NULL;
}

static gboolean
is_live (const DlpMixInput *input)
{
  return !input->ended && input->weight > 0.0;
}

static DlpMixInput *
draw (DlpMix *self)
{
  double target = dlp_random_draw_double (self->random, self->state->draws++) * self->total;
  DlpMixInput *chosen = NULL;

  for (guint i = 0; i < self->n_inputs; i++)
    {
      if (!is_live (&self->inputs[i]))
        continue;
      chosen = &self->inputs[i];
      target -= chosen->weight;
      if (target < 0.0)
        break;
    }
  return chosen;
}

/* The one that is furthest behind its share of the tokens; of several the first. */
static DlpMixInput *
find_behind (DlpMix *self)
{
  DlpMixInput *chosen = NULL;
  double least = 0.0;

  for (guint i = 0; i < self->n_inputs; i++)
    {
      const MixCount *count = &self->state->counts[i];
      double got;

      if (!is_live (&self->inputs[i]))
        continue;
      got = (double) (count->tokens - count->before) / self->inputs[i].weight;
      if (chosen != NULL && got >= least)
        continue;
      chosen = &self->inputs[i];
      least = got;
    }
  return chosen;
}

static DlpMixInput *
choose (DlpMix *self)
{
  if (self->n_inputs == 1)
    return &self->inputs[0];
  return self->unit == DLP_MIX_TOKENS ? find_behind (self) : draw (self);
}

static gboolean
is_over (DlpMix *self)
{
  switch (self->exhausted)
    {
    case DLP_MIX_STOP:
      return self->n_live < self->n_weighted;
    case DLP_MIX_REPEAT_UNTIL_ALL:
      return self->n_fresh == 0 || self->n_live == 0;
    case DLP_MIX_RENORMALIZE:
    case DLP_MIX_REPEAT:
      break;
    }
  return self->n_live == 0;
}

static DlpStep
end (DlpMix *self)
{
  for (guint i = 0; i < self->n_inputs; i++)
    dlp_pad_close (self->inputs[i].pad);
  return DLP_STEP_END;
}

static void
count_rows (DlpMix *self, DlpMixInput *input, DlpRecordBatch *batch, guint row, guint n)
{
  MixCount *count = &self->state->counts[input - self->inputs];
  guint64 tokens = 0;

  for (guint i = 0; i < n && self->tokens_field >= 0; i++)
    {
      gsize length;

      dlp_record_batch_get_list (batch, (guint) self->tokens_field, row + i, &length);
      tokens += length;
    }
  count->records += n;
  count->tokens += tokens;
  /* Behind a shuffle the last of them need not be of the last epoch. */
  for (guint i = 0; i < n; i++)
    count->epochs =
        MAX (count->epochs, (guint64) dlp_record_batch_get_coordinate (batch, row + i)->epoch + 1);
  self->state->records += n;
  self->state->tokens += tokens;
}

/* A single input needs no copy. */
static DlpStep
pass_on (DlpMix *self, DlpPad *out)
{
  DlpMixInput *input = &self->inputs[0];
  guint row, n;
  DlpRecordBatch *batch = dlp_pad_peek (input->pad, &row);

  n = dlp_record_batch_get_length (batch) - row;
  if (self->exhausted == DLP_MIX_REPEAT_UNTIL_ALL)
    n = 1;
  count_rows (self, input, batch, row, n);
  dlp_pad_push_rows (out, batch, row, n);
  dlp_pad_consume (input->pad, n);
  return DLP_STEP_MORE;
}

static void
take (DlpMix *self, DlpPad *out, DlpMixInput *input)
{
  guint row;
  DlpRecordBatch *batch = dlp_pad_peek (input->pad, &row);

  count_rows (self, input, batch, row, 1);
  dlp_pad_append_rows (out, batch, row, 1);
  dlp_pad_consume (input->pad, 1);
}

static DlpStep
dlp_mix_step (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpMix *self = DLP_MIX (element);
  DlpPad *out = dlp_element_get_output (element, 0);
  DlpMixInput *missing = look_at_all (self);

  for (guint n = 0; n < STEP_RECORDS && missing == NULL; n++)
    {
      DlpMixInput *input;

      if (change_weights (self))
        {
          missing = look_at_all (self);
          continue;
        }
      if (is_over (self))
        return end (self);
      if (self->n_inputs == 1)
        return pass_on (self, out);

      input = choose (self);
      take (self, out, input);
      /* Of the others nothing has changed. */
      missing = look (self, input) ? NULL : input;
    }
  if (missing != NULL)
    return dlp_element_want_input (element, (guint) (missing - self->inputs));
  return DLP_STEP_MORE;
}

/* ---- state ---- */

static DlpState *
dlp_mix_save (DlpElement *element)
{
  DlpMix *self = DLP_MIX (element);

  return self->state != NULL ? dlp_state_new (self->state, mix_state_get_size (self->n_inputs)) :
                               NULL;
}

static GVariant *
dlp_mix_describe (DlpElement *element, const DlpState *state)
{
  return mix_state_describe (dlp_state_get_data (state), element);
}

static gboolean
dlp_mix_load (DlpElement *element, GVariant *described, guint version, GError **error)
{
  DlpMix *self = DLP_MIX (element);
  DlpPad *out = dlp_element_get_output (element, 0);
  gboolean draws = self->n_inputs > 1 && self->unit == DLP_MIX_RECORDS;

  /* Version 1 had no other count. */
  return mix_state_load (self->state, described, version, element, self->periods->len, error) &&
         (!draws || dlp_pad_check_emitted (out, "draws", self->state->draws, error)) &&
         (version < 2 || dlp_pad_check_emitted (out, "records", self->state->records, error));
}

static GVariant *
dlp_mix_report (DlpElement *element, GVariant *described)
{
  DlpMix *self = DLP_MIX (element);
  g_autofree MixState *state = g_malloc0 (mix_state_get_size (self->n_inputs));

  if (!mix_state_load (state, described, DLP_ELEMENT_GET_CLASS (self)->state_version, element,
                       self->periods->len, NULL))
    return g_variant_ref (described);
  return mix_state_report (state, element, get_period (self, state->period)->weights,
                           self->unit == DLP_MIX_TOKENS);
}

static gboolean
dlp_mix_check_tasks (DlpElement *element, guint n_tasks, GError **error)
{
  DlpMix *self = DLP_MIX (element);

  return self->exhausted != DLP_MIX_STOP || self->per_task ||
         dlp_fanout_refuse_element (element, "ends all its inputs where one ends (exhausted=stop)",
                                    n_tasks, error);
}

static void
dlp_mix_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  DlpMix *self = DLP_MIX (object);

  switch (id)
    {
    case PROP_WEIGHTS:
      g_free (self->weights);
      self->weights = g_value_dup_string (value);
      break;
    case PROP_WEIGHTS_AT:
      g_strfreev (self->weights_at);
      self->weights_at = g_value_dup_boxed (value);
      break;
    case PROP_UNIT:
      self->unit = g_value_get_enum (value);
      break;
    case PROP_EXHAUSTED:
      self->exhausted = g_value_get_enum (value);
      break;
    case PROP_PER_TASK:
      self->per_task = g_value_get_boolean (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_mix_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  DlpMix *self = DLP_MIX (object);

  switch (id)
    {
    case PROP_WEIGHTS:
      g_value_set_string (value, self->weights);
      break;
    case PROP_WEIGHTS_AT:
      g_value_set_boxed (value, self->weights_at);
      break;
    case PROP_UNIT:
      g_value_set_enum (value, self->unit);
      break;
    case PROP_EXHAUSTED:
      g_value_set_enum (value, self->exhausted);
      break;
    case PROP_PER_TASK:
      g_value_set_boolean (value, self->per_task);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_mix_finalize (GObject *object)
{
  DlpMix *self = DLP_MIX (object);

  clear_settings (self);
  g_free (self->weights);
  g_strfreev (self->weights_at);
  G_OBJECT_CLASS (dlp_mix_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass *object_class)
{
  properties[PROP_WEIGHTS] =
      g_param_spec_string ("weights", NULL,
                           "Weights of the inputs, by pad name (web:0.7,code:0.3) or in the order "
                           "of the links (0.7,0.3); none: all alike",
                           NULL, DLP_PARAM_READWRITE);
  properties[PROP_WEIGHTS_AT] = g_param_spec_boxed (
      "weights-at", NULL,
      "Other weights from a position on, in tokens (10M:web:0.5,code:0.5) or in records (5k "
      "records:0.5,0.5); may be given several times",
      G_TYPE_STRV, DLP_PARAM_READWRITE);
  properties[PROP_EXHAUSTED] = g_param_spec_enum (
      "exhausted", NULL,
      "When an input ends: go on with the others by their weights; end; begin it again; begin it "
      "again until all have ended",
      DLP_TYPE_MIX_EXHAUSTED, DLP_MIX_RENORMALIZE, DLP_PARAM_READWRITE);
  properties[PROP_UNIT] = g_param_spec_enum (
      "unit", NULL,
      "What weights speak of: records, each drawn; tokens: whoever is furthest behind is next",
      DLP_TYPE_MIX_UNIT, DLP_MIX_RECORDS, DLP_PARAM_READWRITE);
  properties[PROP_PER_TASK] = g_param_spec_boolean (
      "per-task", NULL, "In a fan-out: exhausted=stop ends each task by itself", FALSE,
      DLP_PARAM_READWRITE);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
dlp_mix_class_init (DlpMixClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  DlpElementClass *element_class = DLP_ELEMENT_CLASS (klass);

  object_class->set_property = dlp_mix_set_property;
  object_class->get_property = dlp_mix_get_property;
  object_class->finalize = dlp_mix_finalize;
  element_class->state_version = 2;
  element_class->request_pad = dlp_mix_request_pad;
  element_class->negotiate = dlp_mix_negotiate;
  element_class->start = dlp_mix_start;
  element_class->step = dlp_mix_step;
  element_class->save = dlp_mix_save;
  element_class->describe = dlp_mix_describe;
  element_class->load = dlp_mix_load;
  element_class->report = dlp_mix_report;
  element_class->check_tasks = dlp_mix_check_tasks;
  dlp_element_class_add_pad_template (element_class, "in-N", DLP_PAD_INPUT, DLP_PAD_ON_REQUEST,
                                      DLP_CARRIES_RECORDS | DLP_CARRIES_FILES,
                                      "By any name; all carry the same");
  dlp_element_class_add_pad_template (element_class, "out", DLP_PAD_OUTPUT, DLP_PAD_ALWAYS,
                                      DLP_CARRIES_RECORDS | DLP_CARRIES_FILES, NULL);
  dlp_element_class_set_description (
      element_class, "Weighted mix of several inputs",
      "... ! mix.web  ... ! mix.code  mix name=mix weights=web:0.7,code:0.3 ! ...");

  install_properties (object_class);
}

static void
dlp_mix_init (DlpMix *self)
{
  dlp_element_add_pad (DLP_ELEMENT (self), "out", DLP_PAD_OUTPUT);
}
