/* SPDX-License-Identifier: MIT */

#include <string.h>

#include <dlpipe/dlp-element-memory.h>

#include "dlp-element-private.h"

typedef struct
{
  const char *description;
  const char *example;
} DlpElementDescription;

enum
{
  PROP_0,
  PROP_NAME,
  PROP_FACTORY,
  PROP_RECORDS_IN,
  PROP_RECORDS_OUT,
  PROP_BYTES,
  PROP_INPUT_LEVEL,
  PROP_STATUS,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (DlpElement, dlp_element, G_TYPE_OBJECT)

/* The first argument is the name. */
/* clang-format off */
static G_DEFINE_QUARK (dlp-element-description, description)
    /* clang-format on */

    DlpElementPrivate *dlp_element_get_private (DlpElement *self)
{
  return dlp_element_get_instance_private (self);
}

static DlpPad *
dlp_element_default_request_pad (DlpElement *self,
                                 DlpPadDirection direction,
                                 const char *name,
                                 GError **error)
{
  DlpElementPrivate *priv = dlp_element_get_private (self);
  GPtrArray *pads = direction == DLP_PAD_INPUT ? priv->inputs : priv->outputs;

  for (guint i = 0; i < pads->len; i++)
    {
      DlpPad *pad = g_ptr_array_index (pads, i);

      if (name != NULL ? strcmp (pad->name, name) == 0 : !pad->optional && !dlp_pad_is_linked (pad))
        return pad;
    }
  return NULL;
}

static DlpState *
dlp_element_default_save (DlpElement *self)
{
  return NULL;
}

static GVariant *
dlp_element_default_describe (DlpElement *self, const DlpState *state)
{
  return g_variant_new ("a{sv}", NULL);
}

static gboolean
dlp_element_default_load (DlpElement *self, GVariant *described, guint version, GError **error)
{
  static const char *const none[] = { NULL };

  return dlp_state_check_keys (described, none, error);
}

static guint64
get_progress_value (DlpElement *self, guint k)
{
  guint64 values[4];

  dlp_element_get_progress_values (self, values);
  return values[k];
}

static void
dlp_element_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  DlpElement *self = DLP_ELEMENT (object);
  DlpElementPrivate *priv = dlp_element_get_private (self);

  switch (id)
    {
    case PROP_NAME:
      g_value_set_string (value, priv->name);
      break;
    case PROP_FACTORY:
      g_value_set_string (value, dlp_element_get_factory (self));
      break;
    case PROP_RECORDS_IN:
      g_value_set_uint64 (value, get_progress_value (self, 0));
      break;
    case PROP_RECORDS_OUT:
      g_value_set_uint64 (value, get_progress_value (self, 1));
      break;
    case PROP_BYTES:
      g_value_set_uint64 (value, get_progress_value (self, 2));
      break;
    case PROP_INPUT_LEVEL:
      g_value_set_uint (value, (guint) get_progress_value (self, 3));
      break;
    case PROP_STATUS:
      pthread_mutex_lock (&priv->status_lock);
      g_value_set_string (value, priv->status);
      pthread_mutex_unlock (&priv->status_lock);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
dlp_element_finalize (GObject *object)
{
  DlpElementPrivate *priv = dlp_element_get_private (DLP_ELEMENT (object));

  dlp_element_drop_mark (priv);
  for (guint i = 0; i < DLP_LARGE_MARKS_ALIVE; i++)
    g_clear_pointer (&priv->large[i], dlp_mark_unref);
  g_clear_pointer (&priv->final_state, dlp_state_unref);
  g_clear_error (&priv->broken);
  g_clear_pointer (&priv->snapshot_state, dlp_state_unref);
  g_clear_pointer (&priv->snapshot_base, dlp_state_unref);
  dlp_cursor_clear (&priv->snapshot_cursor);
  g_ptr_array_unref (priv->inputs);
  g_ptr_array_unref (priv->outputs);
  g_clear_pointer (&priv->schemes, g_ptr_array_unref);
  dlp_waker_destroy (&priv->waker);
  pthread_mutex_destroy (&priv->snapshot_lock);
  pthread_mutex_destroy (&priv->status_lock);
  g_free (priv->status);
  g_free (priv->shown_status);
  g_free (priv->name);
  g_free (priv->factory);

  G_OBJECT_CLASS (dlp_element_parent_class)->finalize (object);
}

static void
dlp_element_class_init (DlpElementClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  const GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  object_class->finalize = dlp_element_finalize;
  object_class->get_property = dlp_element_get_property;
  klass->state_version = klass->state_oldest_version = 1;
  klass->request_pad = dlp_element_default_request_pad;
  klass->save = dlp_element_default_save;
  klass->describe = dlp_element_default_describe;
  klass->load = dlp_element_default_load;

  properties[PROP_NAME] =
      g_param_spec_string ("name", NULL, "Name within its pipeline", NULL, flags);
  properties[PROP_FACTORY] = g_param_spec_string ("factory", NULL, "Name of its kind", NULL, flags);
  properties[PROP_RECORDS_IN] = g_param_spec_uint64 (
      "records-in", NULL, "Records consumed, over all attempts", 0, G_MAXUINT64, 0, flags);
  properties[PROP_RECORDS_OUT] = g_param_spec_uint64 (
      "records-out", NULL, "Records emitted, over all attempts", 0, G_MAXUINT64, 0, flags);
  properties[PROP_BYTES] = g_param_spec_uint64 ("bytes", NULL, "Bytes emitted in this attempt", 0,
                                                G_MAXUINT64, 0, flags);
  properties[PROP_INPUT_LEVEL] = g_param_spec_uint (
      "input-level", NULL, "Record batches queued before it", 0, G_MAXUINT, 0, flags);
  properties[PROP_STATUS] = g_param_spec_string (
      "status", NULL, "What it waits for, where it declared a wait", NULL, flags);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
dlp_element_init (DlpElement *self)
{
  DlpElementPrivate *priv = dlp_element_get_private (self);

  priv->inputs = g_ptr_array_new_with_free_func (g_object_unref);
  priv->outputs = g_ptr_array_new_with_free_func (g_object_unref);
  dlp_waker_init (&priv->waker);
  pthread_mutex_init (&priv->snapshot_lock, NULL);
  pthread_mutex_init (&priv->status_lock, NULL);
}

static DlpPad *
add_pad (DlpElement *self, const char *name, DlpPadDirection direction, bool optional)
{
  DlpElementPrivate *priv = dlp_element_get_private (self);
  DlpPad *pad = dlp_pad_new (self, name, direction, optional);

  g_ptr_array_add (direction == DLP_PAD_INPUT ? priv->inputs : priv->outputs, pad);
  return pad;
}

DlpPad *
dlp_element_add_pad (DlpElement *self, const char *name, DlpPadDirection direction)
{
  return add_pad (self, name, direction, false);
}

DlpPad *
dlp_element_add_optional_pad (DlpElement *self, const char *name, DlpPadDirection direction)
{
  return add_pad (self, name, direction, true);
}

static void
set_no_pad_error (GError **error, DlpElement *self, DlpPadDirection direction)
{
  DlpElementPrivate *priv = dlp_element_get_private (self);
  const char *name = dlp_element_get_name (self);
  const char *why;

  if (direction == DLP_PAD_INPUT)
    why = priv->inputs->len == 0 ? "takes no input: it begins a chain" :
                                   "has no free input pad: an input takes one link; a mix joins "
                                   "several";
  else
    why = priv->outputs->len == 0 ? "has no output: it ends a chain" :
                                    "has no free output pad: an output feeds one link; a tee "
                                    "copies it to several";
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_LINK, "%s %s", name, why);
}

DlpPad *
dlp_element_request_pad (DlpElement *self,
                         DlpPadDirection direction,
                         const char *name,
                         GError **error)
{
  g_autoptr (GError) local = NULL;
  DlpPad *pad = DLP_ELEMENT_GET_CLASS (self)->request_pad (self, direction, name, &local);
  const char *what = direction == DLP_PAD_INPUT ? "input" : "output";

  if (pad == NULL && local == NULL && name != NULL)
    g_set_error (&local, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_LINK, "%s has no %s pad “%s”",
                 dlp_element_get_name (self), what, name);
  else if (pad == NULL && local == NULL)
    set_no_pad_error (&local, self, direction);
  else if (pad != NULL && dlp_pad_is_linked (pad))
    g_set_error (&local, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_LINK,
                 "%s pad “%s” of %s is linked already", what, pad->name,
                 dlp_element_get_name (self));
  if (local != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&local));
      return NULL;
    }
  return pad;
}

void
dlp_element_set_name (DlpElement *self, const char *name)
{
  DlpElementPrivate *priv = dlp_element_get_private (self);

  g_free (priv->name);
  priv->name = g_strdup (name);
}

void
dlp_element_set_factory (DlpElement *self, const char *factory)
{
  DlpElementPrivate *priv = dlp_element_get_private (self);

  g_free (priv->factory);
  priv->factory = g_strdup (factory);
}

void
dlp_element_set_context (DlpElement *self, DlpContext *context)
{
  dlp_element_get_private (self)->context = context;
}

DlpContext *
dlp_element_get_context (DlpElement *self)
{
  return dlp_element_get_private (self)->context;
}

const char *
dlp_element_get_name (DlpElement *self)
{
  DlpElementPrivate *priv = dlp_element_get_private (self);

  return priv->name != NULL ? priv->name : dlp_element_get_factory (self);
}

const char *
dlp_element_get_factory (DlpElement *self)
{
  DlpElementPrivate *priv = dlp_element_get_private (self);

  return priv->factory != NULL ? priv->factory : G_OBJECT_TYPE_NAME (self);
}

guint
dlp_element_get_n_inputs (DlpElement *self)
{
  return dlp_element_get_private (self)->inputs->len;
}

guint
dlp_element_get_n_outputs (DlpElement *self)
{
  return dlp_element_get_private (self)->outputs->len;
}

DlpPad *
dlp_element_get_input (DlpElement *self, guint input)
{
  return g_ptr_array_index (dlp_element_get_private (self)->inputs, input);
}

DlpPad *
dlp_element_get_output (DlpElement *self, guint output)
{
  return g_ptr_array_index (dlp_element_get_private (self)->outputs, output);
}

DlpPad *
dlp_element_find_pad (DlpElement *self, const char *name)
{
  DlpElementPrivate *priv = dlp_element_get_private (self);
  GPtrArray *lists[] = { priv->inputs, priv->outputs };

  for (guint k = 0; k < G_N_ELEMENTS (lists); k++)
    for (guint i = 0; i < lists[k]->len; i++)
      {
        DlpPad *pad = g_ptr_array_index (lists[k], i);

        if (strcmp (pad->name, name) == 0)
          return pad;
      }
  return NULL;
}

guint64
dlp_element_get_seed (DlpElement *self)
{
  return dlp_element_get_context (self)->seed;
}

guint
dlp_element_get_stage (DlpElement *self)
{
  return dlp_element_get_private (self)->stage;
}

guint
dlp_element_get_ordinal (DlpElement *self)
{
  return dlp_element_get_private (self)->ordinal;
}

gboolean
dlp_element_get_strict (DlpElement *self)
{
  return dlp_element_get_context (self)->strict;
}

guint64
dlp_element_get_memory_budget (DlpElement *self)
{
  return dlp_element_get_context (self)->memory;
}

gsize
dlp_element_get_memory_share (DlpElement *self)
{
  DlpElementPrivate *priv = dlp_element_get_private (self);

  return priv->memory_share != 0 ? priv->memory_share : priv->context->memory_share;
}

gsize
dlp_element_reserve_memory (DlpElement *self, gsize least, gsize wanted)
{
  DlpElementPrivate *priv = dlp_element_get_private (self);
  DlpContext *context = priv->context;
  guint64 reserved = __atomic_load_n (&context->reserved, __ATOMIC_RELAXED);
  guint64 others, granted;

  do
    {
      others = reserved - priv->reserved;
      granted = MIN (wanted, context->reservable - MIN (context->reservable, others));
      if (granted < least)
        return 0;
    }
  while (!__atomic_compare_exchange_n (&context->reserved, &reserved, others + granted, FALSE,
                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  priv->reserved = (gsize) granted;
  return priv->reserved;
}

gboolean
dlp_element_is_finishing (DlpElement *self)
{
  DlpContext *context = dlp_element_get_context (self);

  /* What an element held before a restore comes from its inputs again: they go on as long. */
  return dlp_flag_get (context->finishing) &&
         __atomic_load_n (&context->n_holding, __ATOMIC_ACQUIRE) == 0;
}

void
dlp_element_note_cut_short (DlpElement *self)
{
  dlp_flag_set (dlp_element_get_context (self)->cut_short);
}

gboolean
dlp_element_is_replaying (DlpElement *self)
{
  DlpElementPrivate *priv = dlp_element_get_private (self);

  for (guint i = 0; i < priv->outputs->len; i++)
    {
      DlpPad *pad = g_ptr_array_index (priv->outputs, i);

      if (dlp_stat_get (&pad->emitted) < MAX (dlp_stat_get (&pad->wanted), pad->seen))
        return TRUE;
    }
  return FALSE;
}

DlpStep
dlp_element_want_input (DlpElement *self, guint input)
{
  __atomic_store_n (&dlp_element_get_private (self)->wanted_input, input, __ATOMIC_RELAXED);
  return DLP_STEP_WANT_INPUT;
}

DlpStep
dlp_element_want_input_or_work (DlpElement *self, guint input)
{
  __atomic_store_n (&dlp_element_get_private (self)->wanted_input, input, __ATOMIC_RELAXED);
  return DLP_STEP_WANT_INPUT_OR_WORK;
}

void
dlp_element_wake (DlpElement *self)
{
  dlp_waker_notify (&dlp_element_get_private (self)->waker);
}

void
dlp_element_class_set_description (DlpElementClass *klass,
                                   const char *description,
                                   const char *example)
{
  DlpElementDescription *about = g_new0 (DlpElementDescription, 1);

  about->description = g_intern_string (description);
  about->example = g_intern_string (example);
  g_type_set_qdata (G_TYPE_FROM_CLASS (klass), description_quark (), about);
}

static const DlpElementDescription *
get_description (DlpElementClass *klass)
{
  return g_type_get_qdata (G_TYPE_FROM_CLASS (klass), description_quark ());
}

const char *
dlp_element_class_get_description (DlpElementClass *klass)
{
  const DlpElementDescription *about = get_description (klass);

  return about != NULL ? about->description : NULL;
}

const char *
dlp_element_class_get_example (DlpElementClass *klass)
{
  const DlpElementDescription *about = get_description (klass);

  return about != NULL ? about->example : NULL;
}

void
dlp_element_class_set_flags (DlpElementClass *klass, DlpElementFlags flags)
{
  klass->flags = flags;
}

GVariant *
dlp_element_describe_state (DlpElement *self, const DlpState *state, GError **error)
{
  GVariant *described = DLP_ELEMENT_GET_CLASS (self)->describe (self, state);

  /* Nothing is what another language gives that raised something. */
  if (described == NULL)
    {
      g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_INTERNAL,
                   "%s: its describe() gave nothing for its state", dlp_element_get_name (self));
      return NULL;
    }
  /* Floating from C, not so from other languages. */
  described = g_variant_take_ref (described);
  if (g_variant_is_of_type (described, G_VARIANT_TYPE_VARDICT))
    return described;
  g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_INTERNAL,
               "%s: its describe() gave a value of type %s, not a{sv}", dlp_element_get_name (self),
               g_variant_get_type_string (described));
  g_variant_unref (described);
  return NULL;
}

bool
dlp_element_failed (DlpElement *self, const char *function, GError **error)
{
  if (error != NULL && *error == NULL)
    g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_INTERNAL,
                 "%s: its %s() failed without an error", dlp_element_get_name (self), function);
  dlp_element_name_error (self, error);
  return false;
}

char *
dlp_element_name_message (DlpElement *self, const char *message)
{
  g_autofree char *prefix = g_strconcat (dlp_element_get_name (self), ": ", NULL);

  return g_strconcat (g_str_has_prefix (message, prefix) ? "" : prefix, message, NULL);
}

void
dlp_element_name_error (DlpElement *self, GError **error)
{
  char *message;

  if (error == NULL || *error == NULL)
    return;
  message = dlp_element_name_message (self, (*error)->message);
  g_free ((*error)->message);
  (*error)->message = message;
}
