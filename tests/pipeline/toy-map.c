/* SPDX-License-Identifier: MIT */

#include "toys.h"

typedef struct
{
  guint64 seen; /* the state */
} ToyMapPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (ToyMap, toy_map, DLP_TYPE_ELEMENT)

static gboolean
toy_map_negotiate (DlpElement *element, GError **error)
{
  for (guint i = 0; i < dlp_element_get_n_outputs (element); i++)
    dlp_pad_set_schema (dlp_element_get_output (element, i),
                        dlp_pad_get_schema (dlp_element_get_input (element, 0)));
  return TRUE;
}

static DlpStep
toy_map_step (DlpElement *element, GCancellable *cancellable, GError **error)
{
  ToyMapPrivate *priv = toy_map_get_instance_private (TOY_MAP (element));
  DlpPad *in = dlp_element_get_input (element, 0);
  guint row;
  DlpRecordBatch *batch = dlp_pad_peek (in, &row);
  guint n;

  if (batch == NULL)
    return dlp_pad_is_over (in) ? DLP_STEP_END : dlp_element_want_input (element, 0);

  g_assert_cmpuint (priv->seen, ==, dlp_pad_get_position (in));
  n = MIN (dlp_record_batch_get_length (batch) - row, toy_step_length (priv->seen));
  for (guint i = 0; i < n; i++)
    TOY_MAP_GET_CLASS (element)->apply (TOY_MAP (element), batch, row + i);
  priv->seen += n;
  dlp_pad_consume (in, n);
  return DLP_STEP_MORE;
}

static DlpState *
toy_map_save (DlpElement *element)
{
  ToyMapPrivate *priv = toy_map_get_instance_private (TOY_MAP (element));

  return dlp_state_new (&priv->seen, sizeof priv->seen);
}

static GVariant *
toy_map_describe (DlpElement *element, const DlpState *state)
{
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "seen", "t", *(const guint64 *) dlp_state_get_data (state));
  return g_variant_dict_end (&dict);
}

static gboolean
toy_map_load (DlpElement *element, GVariant *described, guint version, GError **error)
{
  static const char *const keys[] = { "seen", NULL };
  ToyMapPrivate *priv = toy_map_get_instance_private (TOY_MAP (element));

  return dlp_state_check_keys (described, keys, error) &&
         dlp_state_get_uint64 (described, "seen", G_MAXUINT64, &priv->seen, error);
}

static void
toy_map_class_init (ToyMapClass *klass)
{
  DlpElementClass *element_class = DLP_ELEMENT_CLASS (klass);

  element_class->negotiate = toy_map_negotiate;
  element_class->step = toy_map_step;
  element_class->save = toy_map_save;
  element_class->describe = toy_map_describe;
  element_class->load = toy_map_load;
}

static void
toy_map_init (ToyMap *self)
{
  dlp_element_add_pad (DLP_ELEMENT (self), "in", DLP_PAD_INPUT);
  dlp_element_add_pad (DLP_ELEMENT (self), "out", DLP_PAD_OUTPUT);
}

/* ---- toy-filter ---- */

typedef struct
{
  ToyMap parent_instance;

  guint64 drop_from;
  guint64 drop_to;
} ToyFilter;

typedef ToyMapClass ToyFilterClass;

G_DEFINE_TYPE (ToyFilter, toy_filter, TOY_TYPE_MAP)

static void
toy_filter_apply (ToyMap *map, DlpRecordBatch *batch, guint row)
{
  ToyFilter *self = (ToyFilter *) map;
  guint64 number = dlp_record_batch_get_coordinate (batch, row)->row;
  gboolean drop = self->drop_to > 0 ? number >= self->drop_from && number < self->drop_to :
                                      toy_hash (batch, row, "filter") % 3 == 0;

  if (!drop)
    dlp_pad_push_rows (dlp_element_get_output (DLP_ELEMENT (map), 0), batch, row, 1);
}

static void
toy_filter_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  ToyFilter *self = (ToyFilter *) object;

  *(id == 1 ? &self->drop_from : &self->drop_to) = g_value_get_uint64 (value);
}

static void
toy_filter_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  ToyFilter *self = (ToyFilter *) object;

  g_value_set_uint64 (value, id == 1 ? self->drop_from : self->drop_to);
}

static void
toy_filter_class_init (ToyFilterClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->set_property = toy_filter_set_property;
  object_class->get_property = toy_filter_get_property;
  klass->apply = toy_filter_apply;
  g_object_class_install_property (
      object_class, 1,
      g_param_spec_uint64 ("drop-from", NULL, NULL, 0, G_MAXUINT64, 0, DLP_PARAM_READWRITE));
  g_object_class_install_property (
      object_class, 2,
      g_param_spec_uint64 ("drop-to", NULL, NULL, 0, G_MAXUINT64, 0, DLP_PARAM_READWRITE));
}

static void
toy_filter_init (ToyFilter *self)
{
}

/* ---- toy-expand ---- */

typedef ToyMap ToyExpand;
typedef ToyMapClass ToyExpandClass;

G_DEFINE_TYPE (ToyExpand, toy_expand, TOY_TYPE_MAP)

static void
toy_expand_apply (ToyMap *map, DlpRecordBatch *batch, guint row)
{
  for (guint64 n = toy_hash (batch, row, "expand") % 4; n > 0; n--)
    dlp_pad_append_rows (dlp_element_get_output (DLP_ELEMENT (map), 0), batch, row, 1);
}

static void
toy_expand_class_init (ToyExpandClass *klass)
{
  klass->apply = toy_expand_apply;
}

static void
toy_expand_init (ToyExpand *self)
{
}

/* ---- toy-split ---- */

typedef struct
{
  ToyMap parent_instance;

  guint ratio;
} ToySplit;

typedef ToyMapClass ToySplitClass;

G_DEFINE_TYPE (ToySplit, toy_split, TOY_TYPE_MAP)

static void
toy_split_apply (ToyMap *map, DlpRecordBatch *batch, guint row)
{
  guint pad = toy_hash (batch, row, "split") % ((ToySplit *) map)->ratio == 0;

  dlp_pad_append_rows (dlp_element_get_output (DLP_ELEMENT (map), pad), batch, row, 1);
}

static void
toy_split_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  ((ToySplit *) object)->ratio = g_value_get_uint (value);
}

static void
toy_split_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  g_value_set_uint (value, ((ToySplit *) object)->ratio);
}

static void
toy_split_class_init (ToySplitClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->set_property = toy_split_set_property;
  object_class->get_property = toy_split_get_property;
  klass->apply = toy_split_apply;
  g_object_class_install_property (
      object_class, 1,
      g_param_spec_uint ("ratio", NULL, NULL, 1, G_MAXUINT, 300, DLP_PARAM_READWRITE));
}

static void
toy_split_init (ToySplit *self)
{
  self->ratio = 300;
  dlp_element_add_pad (DLP_ELEMENT (self), "rare", DLP_PAD_OUTPUT);
}
