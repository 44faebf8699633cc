/* SPDX-License-Identifier: MIT */

/* Elements that another one takes the place of when the graph is built. */

#include "dlp-auto-reader-private.h"

static void
move_pad (DlpPad *from, DlpPad *to)
{
  DlpQueue *link = from->link;

  if (link == NULL)
    return;
  to->link = link;
  to->peer = from->peer;
  to->peer->peer = to;
  if (to->direction == DLP_PAD_INPUT)
    link->consumer = &dlp_element_get_private (to->element)->waker;
  else
    link->producer = &dlp_element_get_private (to->element)->waker;
  from->link = NULL;
  from->peer = NULL;
}

static void
move_pads (DlpElement *from, DlpElement *to)
{
  for (guint i = 0; i < dlp_element_get_n_inputs (from); i++)
    move_pad (dlp_element_get_input (from, i),
              dlp_element_find_pad (to, dlp_pad_get_name (dlp_element_get_input (from, i))));
  for (guint i = 0; i < dlp_element_get_n_outputs (from); i++)
    move_pad (dlp_element_get_output (from, i),
              dlp_element_find_pad (to, dlp_pad_get_name (dlp_element_get_output (from, i))));
}

/* ---- whoever shows the list of elements ---- */

typedef struct
{
  GWeakRef pipeline; /* nobody waits for it */
  guint position;
} Change;

static gboolean
tell_change (gpointer data)
{
  Change *self = data;
  g_autoptr (GListModel) list = g_weak_ref_get (&self->pipeline);

  if (list != NULL)
    g_list_model_items_changed (list, self->position, 1, 1);
  return G_SOURCE_REMOVE;
}

static void
change_free (gpointer data)
{
  Change *self = data;

  g_weak_ref_clear (&self->pipeline);
  g_free (self);
}

/* In the main context, as all signals. */
static void
queue_change (DlpPipeline *self, guint position)
{
  GSource *source = g_idle_source_new ();
  Change *change = g_new0 (Change, 1);

  g_weak_ref_init (&change->pipeline, self);
  change->position = position;
  g_source_set_callback (source, tell_change, change, change_free);
  g_source_attach (source, self->main_context);
  g_source_unref (source);
}

/* ---- the place ---- */

static void
replace (DlpPipeline *self, DlpElement *before, DlpElement *chosen)
{
  g_autoptr (GPtrArray) elements = g_ptr_array_new_with_free_func (g_object_unref);
  guint position = 0;

  for (guint i = 0; i < self->elements->len; i++)
    {
      DlpElement *element = g_ptr_array_index (self->elements, i);

      if (element == before)
        position = i;
      g_ptr_array_add (elements, g_object_ref (element == before ? chosen : element));
    }
  dlp_pipeline_replace_elements (self, elements);
  queue_change (self, position);
}

bool
dlp_pipeline_choose_reader (DlpPipeline *self, guint index, GError **error)
{
  DlpElement *before = g_ptr_array_index (self->order, index);
  DlpElementPrivate *old = dlp_element_get_private (before);
  g_autoptr (DlpElement) chosen = dlp_auto_reader_make_chosen (DLP_AUTO_READER (before), error);
  DlpElementPrivate *priv;

  if (chosen == NULL)
    return false;
  priv = dlp_element_get_private (chosen);
  dlp_element_set_context (chosen, self->run);
  priv->stage = old->stage;
  priv->ordinal = old->ordinal;
  move_pads (before, chosen);
  self->order->pdata[index] = chosen;
  replace (self, before, chosen);
  return true;
}
