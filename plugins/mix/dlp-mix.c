/* SPDX-License-Identifier: MIT */

#include "dlp-mix.h"

#include <dlpipe/dlp-pad-template.h>

#include <math.h>
#include <string.h>

#include <dlpipe/dlp-random.h>

/* Records in one step at most: what is generated again after a restore. */
#define STEP_RECORDS 256

typedef struct
{
  DlpPad *pad;
  double weight;
  gboolean live;
} DlpMixInput;

struct _DlpMix
{
  DlpElement parent_instance;

  char *weights;
  DlpMixExhausted exhausted;

  DlpMixInput *inputs;
  guint n_inputs;
  guint n_weighted; /* inputs of a weight above 0 */
  guint n_live;     /* of them, those that have not ended */
  double total;     /* of the live weights, summed from the first to the last */
  DlpRandom random;
  guint64 draws; /* the state */
};

enum
{
  PROP_0,
  PROP_WEIGHTS,
  PROP_EXHAUSTED,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

G_DEFINE_ENUM_TYPE (DlpMixExhausted,
                    dlp_mix_exhausted,
                    G_DEFINE_ENUM_VALUE (DLP_MIX_RENORMALIZE, "renormalize"),
                    G_DEFINE_ENUM_VALUE (DLP_MIX_STOP, "stop"))
G_DEFINE_FINAL_TYPE (DlpMix, dlp_mix, DLP_TYPE_ELEMENT)

/* Input pads are made as they are linked: those that the text does not name are in-0, in-1, ... */
static DlpPad *
dlp_mix_request_pad (DlpElement *element,
                     DlpPadDirection direction,
                     const char *name,
                     GError **error)
{
  g_autofree char *made_up = NULL;
  DlpPad *pad;

  if (direction == DLP_PAD_OUTPUT)
    return DLP_ELEMENT_CLASS (dlp_mix_parent_class)->request_pad (element, direction, name, error);
  for (guint n = 0; name == NULL; n++)
    {
      g_free (made_up);
      made_up = g_strdup_printf ("in-%u", n);
      if (dlp_element_find_pad (element, made_up) == NULL)
        name = made_up;
    }
  pad = dlp_element_find_pad (element, name);
  return pad != NULL ? pad : dlp_element_add_pad (element, name, DLP_PAD_INPUT);
}

/* ---- weights ---- */

static gboolean
parse_weight (const char *text, double *weight, GError **error)
{
  char *end;
  double value = g_ascii_strtod (text, &end);

  if (end == text || *end != '\0' || !isfinite (value) || value < 0.0)
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                   "weights: “%s” is not a number of at least 0", text);
      return FALSE;
    }
  *weight = value;
  return TRUE;
}

static DlpMixInput *
find_input (DlpMix *self, const char *name, GError **error)
{
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint i = 0; i < self->n_inputs; i++)
    {
      if (strcmp (dlp_pad_get_name (self->inputs[i].pad), name) == 0)
        return &self->inputs[i];
      g_string_append_printf (names, "%s%s", i > 0 ? ", " : "",
                              dlp_pad_get_name (self->inputs[i].pad));
    }
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
               "weights: no input is named “%s”; there are: %s", name, names->str);
  return NULL;
}

static gboolean
set_named_weights (DlpMix *self, char **parts, GError **error)
{
  guint n = g_strv_length (parts);

  for (guint i = 0; i < self->n_inputs; i++)
    self->inputs[i].weight = -1.0;
  for (guint i = 0; i < n; i++)
    {
      char *colon = strrchr (parts[i], ':');
      DlpMixInput *input;

      if (colon == NULL)
        {
          g_set_error (
              error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
              "weights: “%s” has no name while others have one; write NAME:WEIGHT for each input",
              parts[i]);
          return FALSE;
        }
      *colon = '\0';
      input = find_input (self, g_strstrip (parts[i]), error);
      if (input == NULL || !parse_weight (g_strstrip (colon + 1), &input->weight, error))
        return FALSE;
    }
  for (guint i = 0; i < self->n_inputs; i++)
    if (self->inputs[i].weight < 0.0)
      {
        g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE, "weights: input “%s” has none",
                     dlp_pad_get_name (self->inputs[i].pad));
        return FALSE;
      }
  return TRUE;
}

static gboolean
set_weights (DlpMix *self, GError **error)
{
  g_auto (GStrv) parts = NULL;
  guint n;

  for (guint i = 0; i < self->n_inputs; i++)
    self->inputs[i].weight = 1.0;
  if (self->weights == NULL || self->weights[0] == '\0')
    return TRUE;

  parts = g_strsplit (self->weights, ",", -1);
  n = g_strv_length (parts);
  if (strchr (self->weights, ':') != NULL)
    return set_named_weights (self, parts, error);
  if (n != self->n_inputs)
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                   "weights=%s has %u weights for %u inputs", self->weights, n, self->n_inputs);
      return FALSE;
    }
  for (guint i = 0; i < n; i++)
    if (!parse_weight (g_strstrip (parts[i]), &self->inputs[i].weight, error))
      return FALSE;
  return TRUE;
}

static gboolean
check_schemas (DlpMix *self, GError **error)
{
  DlpSchema *first = dlp_pad_get_schema (self->inputs[0].pad);

  for (guint i = 1; i < self->n_inputs; i++)
    {
      DlpSchema *schema = dlp_pad_get_schema (self->inputs[i].pad);

      if (!dlp_schema_equal (first, schema))
        {
          g_autofree char *a = dlp_schema_to_string (first);
          g_autofree char *b = dlp_schema_to_string (schema);

          g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_TYPE,
                       "its inputs must be alike: “%s” is %s, “%s” is %s",
                       dlp_pad_get_name (self->inputs[0].pad), a,
                       dlp_pad_get_name (self->inputs[i].pad), b);
          return FALSE;
        }
    }
  return TRUE;
}

static gboolean
dlp_mix_negotiate (DlpElement *element, GError **error)
{
  DlpMix *self = DLP_MIX (element);
  gboolean any = FALSE;

  self->n_inputs = dlp_element_get_n_inputs (element);
  if (self->n_inputs == 0)
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_LINK, "has no input");
      return FALSE;
    }
  g_free (self->inputs);
  self->inputs = g_new0 (DlpMixInput, self->n_inputs);
  for (guint i = 0; i < self->n_inputs; i++)
    self->inputs[i].pad = dlp_element_get_input (element, i);
  if (!set_weights (self, error) || !check_schemas (self, error))
    return FALSE;
  for (guint i = 0; i < self->n_inputs; i++)
    any |= self->inputs[i].weight > 0.0;
  if (!any)
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE, "weights=%s: every weight is 0",
                   self->weights);
      return FALSE;
    }
  dlp_pad_set_schema (dlp_element_get_output (element, 0),
                      dlp_pad_get_schema (self->inputs[0].pad));
  return TRUE;
}

/* ---- streaming ---- */

static gboolean
dlp_mix_start (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpMix *self = DLP_MIX (element);

  self->random = dlp_random_init (dlp_element_get_seed (element), dlp_element_get_stage (element),
                                  "mix", dlp_element_get_ordinal (element));
  self->n_live = 0;
  self->total = 0.0;
  for (guint i = 0; i < self->n_inputs; i++)
    {
      DlpMixInput *input = &self->inputs[i];

      input->live = input->weight > 0.0;
      if (!input->live)
        {
          dlp_pad_close (input->pad);
          continue;
        }
      self->n_live++;
      self->total += input->weight;
    }
  self->n_weighted = self->n_live;
  return TRUE;
}

static void
leave (DlpMix *self, DlpMixInput *input)
{
  input->live = FALSE;
  self->n_live--;
  self->total = 0.0;
  for (guint i = 0; i < self->n_inputs; i++)
    if (self->inputs[i].live)
      self->total += self->inputs[i].weight;
}

/* Before each draw it is known of every live input whether it has another record. FALSE: that of
 * @input is to be waited for. */
static gboolean
look (DlpMix *self, DlpMixInput *input)
{
  guint row;

  if (!input->live || dlp_pad_peek (input->pad, &row) != NULL)
    return TRUE;
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

static DlpMixInput *
draw (DlpMix *self)
{
  double target = dlp_random_draw_double (self->random, self->draws++) * self->total;
  DlpMixInput *chosen = NULL;

  for (guint i = 0; i < self->n_inputs; i++)
    {
      if (!self->inputs[i].live)
        continue;
      chosen = &self->inputs[i];
      target -= chosen->weight;
      if (target < 0.0)
        break;
    }
  return chosen;
}

static gboolean
is_over (DlpMix *self)
{
  return self->n_live == 0 || (self->exhausted == DLP_MIX_STOP && self->n_live < self->n_weighted);
}

static DlpStep
end (DlpMix *self)
{
  for (guint i = 0; i < self->n_inputs; i++)
    dlp_pad_close (self->inputs[i].pad);
  return DLP_STEP_END;
}

/* A single input needs no draw, and no copy. */
static DlpStep
pass_on (DlpMix *self, DlpPad *out)
{
  DlpPad *in = self->inputs[0].pad;
  guint row, n;
  DlpRecordBatch *batch = dlp_pad_peek (in, &row);

  n = dlp_record_batch_get_length (batch) - row;
  dlp_pad_push_rows (out, batch, row, n);
  dlp_pad_consume (in, n);
  return DLP_STEP_MORE;
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
      DlpRecordBatch *batch;
      guint row;

      if (is_over (self))
        return end (self);
      if (self->n_inputs == 1)
        return pass_on (self, out);

      input = draw (self);
      batch = dlp_pad_peek (input->pad, &row);
      dlp_pad_append_rows (out, batch, row, 1);
      dlp_pad_consume (input->pad, 1);
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
  return dlp_state_new (&DLP_MIX (element)->draws, sizeof (guint64));
}

static GVariant *
dlp_mix_describe (DlpElement *element, const DlpState *state)
{
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "draws", "t", *(const guint64 *) dlp_state_get_data (state));
  return g_variant_dict_end (&dict);
}

static gboolean
dlp_mix_load (DlpElement *element, GVariant *described, guint version, GError **error)
{
  static const char *const keys[] = { "draws", NULL };

  return dlp_state_check_keys (described, keys, error) &&
         dlp_state_get_uint64 (described, "draws", G_MAXUINT64, &DLP_MIX (element)->draws, error);
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
    case PROP_EXHAUSTED:
      self->exhausted = g_value_get_enum (value);
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
    case PROP_EXHAUSTED:
      g_value_set_enum (value, self->exhausted);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_mix_finalize (GObject *object)
{
  DlpMix *self = DLP_MIX (object);

  g_free (self->weights);
  g_free (self->inputs);
  G_OBJECT_CLASS (dlp_mix_parent_class)->finalize (object);
}

static void
dlp_mix_class_init (DlpMixClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  DlpElementClass *element_class = DLP_ELEMENT_CLASS (klass);

  object_class->set_property = dlp_mix_set_property;
  object_class->get_property = dlp_mix_get_property;
  object_class->finalize = dlp_mix_finalize;
  element_class->request_pad = dlp_mix_request_pad;
  element_class->negotiate = dlp_mix_negotiate;
  element_class->start = dlp_mix_start;
  element_class->step = dlp_mix_step;
  element_class->save = dlp_mix_save;
  element_class->describe = dlp_mix_describe;
  element_class->load = dlp_mix_load;
  dlp_element_class_add_pad_template (element_class, "in-N", DLP_PAD_INPUT, DLP_PAD_ON_REQUEST,
                                      DLP_CARRIES_RECORDS | DLP_CARRIES_FILES,
                                      "By any name; all carry the same");
  dlp_element_class_add_pad_template (element_class, "out", DLP_PAD_OUTPUT, DLP_PAD_ALWAYS,
                                      DLP_CARRIES_RECORDS | DLP_CARRIES_FILES, NULL);
  dlp_element_class_set_description (
      element_class, "Weighted mix of several inputs",
      "... ! mix.web  ... ! mix.code  mix name=mix weights=web:0.7,code:0.3 ! ...");

  properties[PROP_WEIGHTS] =
      g_param_spec_string ("weights", NULL,
                           "Weights of the inputs, by pad name (web:0.7,code:0.3) or in the order "
                           "of the links (0.7,0.3); none: all alike",
                           NULL, DLP_PARAM_READWRITE);
  properties[PROP_EXHAUSTED] = g_param_spec_enum (
      "exhausted", NULL, "When an input ends: go on with the others by their weights, or end",
      DLP_TYPE_MIX_EXHAUSTED, DLP_MIX_RENORMALIZE, DLP_PARAM_READWRITE);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
dlp_mix_init (DlpMix *self)
{
  dlp_element_add_pad (DLP_ELEMENT (self), "out", DLP_PAD_OUTPUT);
}
