/* SPDX-License-Identifier: MIT */

#include "dlp-split.h"

#include <stdbool.h>
#include <string.h>

#include <dlpipe/dlp-pad-template.h>

#include "check-records.h"
#include "split-hash.h"
#include "split-ratios.h"

#define DEFAULT_RATIOS "train:0.99,valid:0.01"
#define KEY_PREFIX "records-"

typedef enum
{
  DLP_SPLIT_BY_TEXT,
  DLP_SPLIT_BY_FIELD,
  DLP_SPLIT_BY_COORDINATE,
} DlpSplitBy;

#define DLP_TYPE_SPLIT_BY (dlp_split_by_get_type ())
static GType dlp_split_by_get_type (void);

typedef struct
{
  guint64 records[SPLIT_MAX_SIDES]; /* of each side, delivered or not */
  guint64 discarded;                /* of those whose side is not linked */
} DlpSplitState;

struct _DlpSplit
{
  DlpElement parent_instance;

  DlpSplitBy by;
  char *field;
  char *ratios_text;
  guint64 salt;

  SplitRatios *ratios;
  DlpPad *pads[SPLIT_MAX_SIDES]; /* (transfer none); NULL: not linked */
  guint hashed;                  /* the field */
  DlpFieldType type;             /* of it */

  DlpSplitState state;
};

enum
{
  PROP_0,
  PROP_BY,
  PROP_FIELD,
  PROP_RATIOS,
  PROP_SALT,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

G_DEFINE_ENUM_TYPE (DlpSplitBy,
                    dlp_split_by,
                    G_DEFINE_ENUM_VALUE (DLP_SPLIT_BY_TEXT, "text"),
                    G_DEFINE_ENUM_VALUE (DLP_SPLIT_BY_FIELD, "field"),
                    G_DEFINE_ENUM_VALUE (DLP_SPLIT_BY_COORDINATE, "coordinate"))
G_DEFINE_FINAL_TYPE (DlpSplit, dlp_split, DLP_TYPE_ELEMENT)

/* ---- build ---- */

static bool
fail_side (const SplitRatios *ratios, const char *name, GError **error)
{
  const char *const *names = (const char *const *) ratios->names;
  const char *near = dlp_suggest (name, names);
  g_autofree char *all = g_strjoinv (", ", (char **) ratios->names);

  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_LINK,
               "split has no side “%s”%s%s%s; ratios names: %s", name,
               near != NULL ? ", did you mean “" : "", near != NULL ? near : "",
               near != NULL ? "”?" : "", all);
  return false;
}

static const char *
find_free_side (DlpElement *element, const SplitRatios *ratios, GError **error)
{
  for (guint i = 0; i < ratios->n_sides; i++)
    if (dlp_element_find_pad (element, ratios->names[i]) == NULL)
      return ratios->names[i];
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_LINK,
               "each of the %u sides of split is linked already; name one more in ratios",
               ratios->n_sides);
  return NULL;
}

/* The output pads are the sides; one without a name is the first side that is not linked yet. */
static DlpPad *
dlp_split_request_pad (DlpElement *element,
                       DlpPadDirection direction,
                       const char *name,
                       GError **error)
{
  g_autoptr (SplitRatios) ratios = NULL;
  DlpPad *pad;

  if (direction == DLP_PAD_INPUT)
    return DLP_ELEMENT_CLASS (dlp_split_parent_class)
        ->request_pad (element, direction, name, error);
  ratios = split_ratios_parse (DLP_SPLIT (element)->ratios_text, error);
  if (ratios == NULL)
    return NULL;
  if (name == NULL)
    name = find_free_side (element, ratios, error);
  else if (split_ratios_find (ratios, name) < 0 && !fail_side (ratios, name, error))
    return NULL;
  if (name == NULL)
    return NULL;
  pad = dlp_element_find_pad (element, name);
  return pad != NULL ? pad : dlp_element_add_pad (element, name, DLP_PAD_OUTPUT);
}

static bool
find_hashed (DlpSplit *self, DlpSchema *schema, GError **error)
{
  bool by_text = self->by == DLP_SPLIT_BY_TEXT;
  const char *name = self->field != NULL && *self->field != '\0' ? self->field : NULL;
  g_autofree char *text = NULL;
  int field;

  if (self->by == DLP_SPLIT_BY_FIELD && name == NULL)
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE, "by=field needs field=NAME");
      return false;
    }
  name = name != NULL ? name : "text";
  field = dlp_schema_find (schema, name);
  if (field >= 0 && (!by_text || dlp_schema_get_field_type (schema, field) == DLP_FIELD_STRING))
    {
      self->hashed = (guint) field;
      self->type = dlp_schema_get_field_type (schema, field);
      return true;
    }
  text = dlp_schema_to_string (schema);
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_TYPE,
               "by=%s needs a %sfield “%s”; its input is %s; set field=NAME or by=coordinate",
               by_text ? "text" : "field", by_text ? "string " : "", name, text);
  return false;
}

static bool
find_key (DlpSplit *self, DlpSchema *schema, GError **error)
{
  if (!check_records (schema, error))
    return false;
  if (self->by != DLP_SPLIT_BY_COORDINATE)
    return find_hashed (self, schema, error);
  if (self->field == NULL || *self->field == '\0')
    return true;
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
               "by=coordinate looks at no field; take field=%s out, or set by=field", self->field);
  return false;
}

static bool
find_pads (DlpSplit *self, DlpSchema *schema, GError **error)
{
  DlpElement *element = DLP_ELEMENT (self);

  memset (self->pads, 0, sizeof self->pads);
  for (guint i = 0; i < dlp_element_get_n_outputs (element); i++)
    {
      DlpPad *pad = dlp_element_get_output (element, i);
      int side = split_ratios_find (self->ratios, dlp_pad_get_name (pad));

      if (side < 0)
        return fail_side (self->ratios, dlp_pad_get_name (pad), error);
      self->pads[side] = pad;
      dlp_pad_set_schema (pad, schema);
    }
  return true;
}

static gboolean
dlp_split_negotiate (DlpElement *element, GError **error)
{
  DlpSplit *self = DLP_SPLIT (element);
  DlpSchema *schema = dlp_pad_get_schema (dlp_element_get_input (element, 0));

  g_clear_pointer (&self->ratios, split_ratios_free);
  self->ratios = split_ratios_parse (self->ratios_text, error);
  return self->ratios != NULL && find_key (self, schema, error) && find_pads (self, schema, error);
}

/* ---- run ---- */

static guint
get_side (DlpSplit *self, const DlpRecordBatch *batch, guint row)
{
  guint64 hash =
      self->by == DLP_SPLIT_BY_COORDINATE ?
          split_hash_coordinate (dlp_record_batch_get_coordinate (batch, row), self->salt) :
          split_hash_field (batch, self->hashed, self->type, row, self->salt);

  return split_ratios_get_side (self->ratios, hash);
}

/* A record batch that goes to one side as a whole is passed on; else its records are copied, so
 * that a side of few is dense. */
static void
deliver (DlpSplit *self, guint side, DlpRecordBatch *batch, guint row, guint n)
{
  DlpPad *pad = self->pads[side];

  self->state.records[side] += n;
  if (pad == NULL)
    self->state.discarded += n;
  else if (n == dlp_record_batch_get_length (batch))
    dlp_pad_push_rows (pad, batch, row, n);
  else
    dlp_pad_append_rows (pad, batch, row, n);
}

static DlpStep
dlp_split_step (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpSplit *self = DLP_SPLIT (element);
  DlpPad *in = dlp_element_get_input (element, 0);
  DlpRecordBatch *batch;
  guint first, begin, end, side;

  batch = dlp_pad_peek (in, &first);
  if (batch == NULL)
    return dlp_pad_is_over (in) ? DLP_STEP_END : dlp_element_want_input (element, 0);

  end = dlp_record_batch_get_length (batch);
  begin = first;
  side = get_side (self, batch, begin);
  for (guint row = begin + 1; row < end; row++)
    {
      guint next = get_side (self, batch, row);

      if (next == side)
        continue;
      deliver (self, side, batch, begin, row - begin);
      begin = row;
      side = next;
    }
  deliver (self, side, batch, begin, end - begin);
  dlp_pad_consume (in, end - first);
  return DLP_STEP_MORE;
}

/* ---- state ---- */

static DlpState *
dlp_split_save (DlpElement *element)
{
  return dlp_state_new (&DLP_SPLIT (element)->state, sizeof (DlpSplitState));
}

/* (transfer full) */
static char *
get_key (const SplitRatios *ratios, guint side)
{
  return g_strconcat (KEY_PREFIX, ratios->names[side], NULL);
}

static GVariant *
dlp_split_describe (DlpElement *element, const DlpState *state)
{
  const SplitRatios *ratios = DLP_SPLIT (element)->ratios;
  const DlpSplitState *data = dlp_state_get_data (state);
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  for (guint i = 0; i < ratios->n_sides; i++)
    {
      g_autofree char *key = get_key (ratios, i);

      g_variant_dict_insert (&dict, key, "t", data->records[i]);
    }
  g_variant_dict_insert (&dict, "discarded", "t", data->discarded);
  return g_variant_dict_end (&dict);
}

static gboolean
dlp_split_load (DlpElement *element, GVariant *described, guint version, GError **error)
{
  DlpSplit *self = DLP_SPLIT (element);
  g_autoptr (GPtrArray) keys = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < self->ratios->n_sides; i++)
    g_ptr_array_add (keys, get_key (self->ratios, i));
  g_ptr_array_add (keys, g_strdup ("discarded"));
  g_ptr_array_add (keys, NULL);
  if (!dlp_state_check_keys (described, (const char *const *) keys->pdata, error))
    return FALSE;
  for (guint i = 0; i < self->ratios->n_sides; i++)
    if (!dlp_state_get_uint64 (described, g_ptr_array_index (keys, i), G_MAXUINT64,
                               &self->state.records[i], error))
      return FALSE;
  return dlp_state_get_uint64 (described, "discarded", G_MAXUINT64, &self->state.discarded, error);
}

/* ---- properties ---- */

static void
dlp_split_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  DlpSplit *self = DLP_SPLIT (object);

  switch (id)
    {
    case PROP_BY:
      self->by = g_value_get_enum (value);
      break;
    case PROP_FIELD:
      g_free (self->field);
      self->field = g_value_dup_string (value);
      break;
    case PROP_RATIOS:
      g_free (self->ratios_text);
      self->ratios_text = g_value_dup_string (value);
      break;
    case PROP_SALT:
      self->salt = g_value_get_uint64 (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_split_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  DlpSplit *self = DLP_SPLIT (object);

  switch (id)
    {
    case PROP_BY:
      g_value_set_enum (value, self->by);
      break;
    case PROP_FIELD:
      g_value_set_string (value, self->field);
      break;
    case PROP_RATIOS:
      g_value_set_string (value, self->ratios_text);
      break;
    case PROP_SALT:
      g_value_set_uint64 (value, self->salt);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_split_finalize (GObject *object)
{
  DlpSplit *self = DLP_SPLIT (object);

  g_clear_pointer (&self->ratios, split_ratios_free);
  g_free (self->field);
  g_free (self->ratios_text);
  G_OBJECT_CLASS (dlp_split_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass *object_class)
{
  properties[PROP_BY] = g_param_spec_enum (
      "by", NULL, "What decides the side: the text, another field, or where a record came from",
      DLP_TYPE_SPLIT_BY, DLP_SPLIT_BY_TEXT, DLP_PARAM_READWRITE);
  properties[PROP_FIELD] =
      g_param_spec_string ("field", NULL, "The field that decides; by=text without one: “text”",
                           NULL, DLP_PARAM_READWRITE);
  properties[PROP_RATIOS] =
      g_param_spec_string ("ratios", NULL, "The sides, which are the output pads: NAME:SHARE,...",
                           DEFAULT_RATIOS, DLP_PARAM_READWRITE);
  properties[PROP_SALT] =
      g_param_spec_uint64 ("salt", NULL, "Another number deals records otherwise", 0, G_MAXUINT64,
                           0, DLP_PARAM_READWRITE);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
dlp_split_class_init (DlpSplitClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  DlpElementClass *element_class = DLP_ELEMENT_CLASS (klass);

  object_class->set_property = dlp_split_set_property;
  object_class->get_property = dlp_split_get_property;
  object_class->finalize = dlp_split_finalize;
  element_class->flags = DLP_ELEMENT_STATELESS;
  element_class->request_pad = dlp_split_request_pad;
  element_class->negotiate = dlp_split_negotiate;
  element_class->step = dlp_split_step;
  element_class->save = dlp_split_save;
  element_class->describe = dlp_split_describe;
  element_class->load = dlp_split_load;
  dlp_element_class_add_pad_template (element_class, "in", DLP_PAD_INPUT, DLP_PAD_ALWAYS,
                                      DLP_CARRIES_RECORDS, NULL);
  dlp_element_class_add_pad_template (element_class, "SIDE", DLP_PAD_OUTPUT, DLP_PAD_ON_REQUEST,
                                      DLP_CARRIES_RECORDS,
                                      "By the name of a side in ratios, or the next of them");
  dlp_element_class_set_description (
      element_class, "Deals records to sides, such as train and validation, by a stable hash",
      "... ! split name=s ratios=train:0.99,valid:0.01  s.train ! null-sink  s.valid ! null-sink");
  install_properties (object_class);
}

static void
dlp_split_init (DlpSplit *self)
{
  self->ratios_text = g_strdup (DEFAULT_RATIOS);
  dlp_element_add_pad (DLP_ELEMENT (self), "in", DLP_PAD_INPUT);
}
