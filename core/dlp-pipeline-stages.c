/* SPDX-License-Identifier: MIT */

/* The numbers by which elements draw: to which stage each belongs, and its ordinal in there. See
 * docs/internals/stages.md. */

#include <dlpipe/dlp-stages.h>

#include "dlp-pipeline-private.h"

/* A stage: an input of an element that delivers its inputs one after another. */
typedef struct
{
  DlpPipeline *pipeline;
  GHashTable *owners; /* element to the input pad of the stages that it feeds */
} Pass;

static bool
claim (Pass *self, DlpPad *input, guint stage, DlpElement *element, GError **error)
{
  DlpPad *owner = g_hash_table_lookup (self->owners, element);

  if (DLP_IS_STAGES (element))
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_LINK,
                   "its input “%s” comes from %s, which has stages too: stages cannot be nested; "
                   "link the inputs of %s to %s, in their order",
                   input->name, dlp_element_get_name (element), dlp_element_get_name (element),
                   dlp_element_get_name (input->element));
      dlp_pipeline_place_error (self->pipeline, input->element, error);
      return false;
    }
  if (owner != NULL)
    {
      g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_LINK,
                   "it feeds two stages, “%s” of %s and “%s” of %s, and can draw as one only; "
                   "read the input twice, with an element of its own for each",
                   owner->name, dlp_element_get_name (owner->element), input->name,
                   dlp_element_get_name (input->element));
      dlp_pipeline_place_error (self->pipeline, element, error);
      return false;
    }
  dlp_element_get_private (element)->stage = stage;
  g_hash_table_insert (self->owners, element, input);
  return true;
}

static void
add_producers (GPtrArray *stack, DlpElement *element)
{
  for (guint i = 0; i < dlp_element_get_n_inputs (element); i++)
    {
      DlpPad *peer = dlp_pad_get_peer (dlp_element_get_input (element, i));

      if (peer != NULL)
        g_ptr_array_add (stack, peer->element);
    }
}

static bool
claim_upstream (Pass *self, DlpPad *input, guint stage, GError **error)
{
  g_autoptr (GPtrArray) stack = g_ptr_array_new ();
  DlpPad *peer = dlp_pad_get_peer (input);

  if (peer != NULL)
    g_ptr_array_add (stack, peer->element);
  while (stack->len > 0)
    {
      DlpElement *element = g_ptr_array_remove_index_fast (stack, stack->len - 1);

      if (!claim (self, input, stage, element, error))
        return false;
      add_producers (stack, element);
    }
  return true;
}

static void
count (GHashTable *counts, DlpElement *element)
{
  DlpElementPrivate *priv = dlp_element_get_private (element);
  const char *kind =
      dlp_element_get_n_inputs (element) == 0 ? "(source)" : dlp_element_get_factory (element);
  char *key = g_strdup_printf ("%u/%s", priv->stage, kind);

  priv->ordinal = GPOINTER_TO_UINT (g_hash_table_lookup (counts, key));
  g_hash_table_insert (counts, key, GUINT_TO_POINTER (priv->ordinal + 1));
}

/* In each stage in the order of the graph. What is in no stage draws as stage 0, behind all that
 * is: so that the first stage draws what it would draw alone. */
static void
count_ordinals (Pass *self)
{
  g_autoptr (GHashTable) counts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GPtrArray *elements = self->pipeline->elements;

  for (guint k = 0; k < 2; k++)
    for (guint i = 0; i < elements->len; i++)
      {
        DlpElement *element = g_ptr_array_index (elements, i);

        if (g_hash_table_contains (self->owners, element) == (k == 0))
          count (counts, element);
      }
}

bool
dlp_pipeline_count_stages (DlpPipeline *self, GError **error)
{
  g_autoptr (GHashTable) owners = g_hash_table_new (NULL, NULL);
  Pass pass = { self, owners };

  for (guint i = 0; i < self->elements->len; i++)
    {
      DlpElement *element = g_ptr_array_index (self->elements, i);

      if (!DLP_IS_STAGES (element))
        continue;
      for (guint k = 0; k < dlp_element_get_n_inputs (element); k++)
        if (!claim_upstream (&pass, dlp_element_get_input (element, k), k, error))
          return false;
    }
  count_ordinals (&pass);
  return true;
}
