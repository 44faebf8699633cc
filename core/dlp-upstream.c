/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-reader.h>
#include <dlpipe/dlp-source.h>
#include <dlpipe/dlp-upstream.h>

#include "dlp-element-private.h"

static gboolean
has_property (DlpElement *self, const char *property)
{
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (self), property);

  return pspec != NULL && (pspec->flags & G_PARAM_READABLE);
}

static void
add_producers (DlpElement *self, GPtrArray *list)
{
  guint n = dlp_element_get_n_inputs (self);

  for (guint i = 0; i < n; i++)
    {
      DlpPad *peer = dlp_pad_get_peer (dlp_element_get_input (self, i));

      if (peer != NULL && !g_ptr_array_find (list, peer->element, NULL))
        g_ptr_array_add (list, peer->element);
    }
}

GPtrArray *
dlp_element_list_upstream (DlpElement *self, const char *property)
{
  GPtrArray *found = g_ptr_array_new ();
  g_autoptr (GPtrArray) seen = g_ptr_array_new ();

  g_return_val_if_fail (DLP_IS_ELEMENT (self) && property != NULL, found);

  add_producers (self, seen);
  /* It grows while it is read. */
  for (guint i = 0; i < seen->len; i++)
    {
      if (has_property (seen->pdata[i], property))
        g_ptr_array_add (found, seen->pdata[i]);
      else
        add_producers (seen->pdata[i], seen);
    }

  return found;
}

GPtrArray *
dlp_element_list_sources (DlpElement *self)
{
  GPtrArray *found = g_ptr_array_new ();
  g_autoptr (GPtrArray) seen = g_ptr_array_new ();

  add_producers (self, seen);
  /* It grows while it is read. */
  for (guint i = 0; i < seen->len; i++)
    {
      if (DLP_IS_SOURCE (seen->pdata[i]))
        g_ptr_array_add (found, seen->pdata[i]);
      add_producers (seen->pdata[i], seen);
    }
  return found;
}

DlpElement *
dlp_element_find_repeated (DlpElement *self)
{
  g_autoptr (GPtrArray) seen = g_ptr_array_new ();

  add_producers (self, seen);
  /* It grows while it is read. */
  for (guint i = 0; i < seen->len; i++)
    {
      if (DLP_IS_SOURCE (seen->pdata[i]) && dlp_source_get_epochs (seen->pdata[i]) != 1)
        return seen->pdata[i];
      add_producers (seen->pdata[i], seen);
    }
  return NULL;
}

/* Whether each input that goes on for ever comes out for ever, an epoch behind the other. */
static bool
keeps_epochs (DlpElement *self)
{
  const DlpElementFlags lasting =
      DLP_ELEMENT_STATELESS | DLP_ELEMENT_ONE_TO_ONE | DLP_ELEMENT_KEEPS_ALL;
  DlpElementFlags flags = DLP_ELEMENT_GET_CLASS (self)->flags;

  if (flags & DLP_ELEMENT_REORDERS)
    return false;
  return DLP_IS_READER (self) || (flags & lasting) || dlp_element_get_n_inputs (self) > 1;
}

DlpElement *
dlp_element_find_endless (DlpElement *self, const DlpCoordinate *of)
{
  g_autoptr (GPtrArray) seen = g_ptr_array_new ();

  add_producers (self, seen);
  /* It grows while it is read. */
  for (guint i = 0; i < seen->len; i++)
    {
      DlpElement *element = seen->pdata[i];
      bool endless = DLP_IS_SOURCE (element) && dlp_source_get_epochs (DLP_SOURCE (element)) == 0;

      if (endless && (of == NULL || (dlp_element_get_stage (element) == of->stage &&
                                     dlp_element_get_ordinal (element) == of->source)))
        return element;
      if (keeps_epochs (element) && (of != NULL || dlp_element_get_n_inputs (element) == 1))
        add_producers (element, seen);
    }
  return NULL;
}

/* Whether it gives for ever what comes for ever, and to nobody else. */
static gboolean
passes_repeats (DlpElement *self, GError **error)
{
  const DlpElementFlags lasting =
      DLP_ELEMENT_STATELESS | DLP_ELEMENT_ONE_TO_ONE | DLP_ELEMENT_KEEPS_ALL;
  const char *name = dlp_element_get_name (self);
  guint n_outputs = 0;

  for (guint i = 0; i < dlp_element_get_n_outputs (self); i++)
    n_outputs += !dlp_element_get_output (self, i)->optional;
  if (n_outputs == 1 && dlp_element_get_n_inputs (self) == 1 &&
      (DLP_IS_READER (self) || (DLP_ELEMENT_GET_CLASS (self)->flags & lasting)))
    return TRUE;
  if (n_outputs > 1)
    g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                 "%s before it feeds others too, which would never end; read the input twice",
                 name);
  else if (dlp_element_get_n_inputs (self) > 1)
    g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                 "%s before it has several inputs; which of them would begin again?", name);
  else
    g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                 "%s before it may end by itself; put it behind, or set epochs of the source",
                 name);
  return FALSE;
}

static gboolean
repeat_source (DlpElement *element, guint *epochs, GError **error)
{
  DlpSourceClass *klass = DLP_IS_SOURCE (element) ? DLP_SOURCE_GET_CLASS (element) : NULL;
  guint before = klass != NULL ? dlp_source_get_epochs (DLP_SOURCE (element)) : 1;

  if (epochs != NULL)
    *epochs = before;
  if (before == 0)
    return TRUE;
  if (klass != NULL && klass->repeat != NULL)
    return klass->repeat (DLP_SOURCE (element), error) ||
           dlp_element_failed (element, "repeat", error);
  g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE, "%s cannot begin again",
               dlp_element_get_name (element));
  return FALSE;
}

gboolean
dlp_element_repeat_input (DlpElement *self, guint input, guint *epochs, GError **error)
{
  DlpPad *pad = dlp_element_get_input (self, input);

  while (dlp_element_get_n_inputs (pad->peer->element) > 0)
    {
      if (!passes_repeats (pad->peer->element, error))
        return FALSE;
      pad = dlp_element_get_input (pad->peer->element, 0);
    }
  return repeat_source (pad->peer->element, epochs, error);
}

void
dlp_upstream_model_clear (DlpUpstreamModel *self)
{
  g_clear_pointer (&self->name, g_free);
  g_clear_pointer (&self->fingerprint, g_free);
  g_clear_pointer (&self->file, g_free);
  g_clear_pointer (&self->pattern, g_free);
  self->vocab_size = 0;
}

static gpointer
dlp_upstream_model_copy (gpointer from)
{
  DlpUpstreamModel *copy = g_memdup2 (from, sizeof *copy);

  copy->name = g_strdup (copy->name);
  copy->fingerprint = g_strdup (copy->fingerprint);
  copy->file = g_strdup (copy->file);
  copy->pattern = g_strdup (copy->pattern);
  return copy;
}

static void
dlp_upstream_model_free (gpointer self)
{
  dlp_upstream_model_clear (self);
  g_free (self);
}

G_DEFINE_BOXED_TYPE (DlpUpstreamModel,
                     dlp_upstream_model,
                     dlp_upstream_model_copy,
                     dlp_upstream_model_free)

static void
add_string (GVariantBuilder *builder, const char *key, const char *value)
{
  if (value != NULL)
    g_variant_builder_add (builder, "{sv}", key, g_variant_new_string (value));
}

void
dlp_upstream_model_describe (const DlpUpstreamModel *self, GVariantBuilder *builder)
{
  if (self->vocab_size > 0)
    g_variant_builder_add (builder, "{sv}", "vocab-size", g_variant_new_uint64 (self->vocab_size));
  add_string (builder, "tokenizer", self->name);
  add_string (builder, "tokenizer-fingerprint", self->fingerprint);
  add_string (builder, "tokenizer-file", self->file);
  add_string (builder, "tokenizer-pattern", self->pattern);
}

static char *
get_string (DlpElement *self, const char *property)
{
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (self), property);
  char *text = NULL;

  if (pspec != NULL && pspec->value_type == G_TYPE_STRING && (pspec->flags & G_PARAM_READABLE))
    g_object_get (self, property, &text, NULL);
  return text;
}

static void
get_model (DlpElement *self, DlpUpstreamModel *model)
{
  g_auto (GValue) size = G_VALUE_INIT;

  /* Whatever unsigned type the element gave it. */
  g_value_init (&size, G_TYPE_UINT64);
  g_object_get_property (G_OBJECT (self), "vocab-size", &size);
  model->vocab_size = g_value_get_uint64 (&size);
  model->name = get_string (self, "model-name");
  model->fingerprint = get_string (self, "model-fingerprint");
  model->file = get_string (self, "model-file");
  model->pattern = get_string (self, "model-pattern");
}

gboolean
dlp_element_find_upstream_model (DlpElement *self, DlpUpstreamModel *model, GError **error)
{
  g_autoptr (GPtrArray) found = dlp_element_list_upstream (self, "vocab-size");

  dlp_upstream_model_clear (model);
  for (guint i = 0; i < found->len; i++)
    {
      g_auto (DlpUpstreamModel) other = { NULL };

      if (i == 0)
        {
          get_model (found->pdata[i], model);
          continue;
        }
      get_model (found->pdata[i], &other);
      if (other.vocab_size == model->vocab_size &&
          g_strcmp0 (other.fingerprint, model->fingerprint) == 0)
        continue;

      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                   "the tokenizers before it differ: %s has model %s of %" G_GUINT64_FORMAT
                   " ids, %s has model %s of %" G_GUINT64_FORMAT "; one dataset takes one model",
                   dlp_element_get_name (found->pdata[0]), model->name != NULL ? model->name : "?",
                   model->vocab_size, dlp_element_get_name (found->pdata[i]),
                   other.name != NULL ? other.name : "?", other.vocab_size);
      return FALSE;
    }
  return TRUE;
}
