/* SPDX-License-Identifier: MIT */

#include "dlp-batch-scope.h"

/* All elements that lead to @element, itself first. */
static GPtrArray *
list_before (DlpElement *element)
{
  GPtrArray *list = g_ptr_array_new ();

  g_ptr_array_add (list, element);
  /* It grows while it is read. */
  for (guint i = 0; i < list->len; i++)
    for (guint k = 0; k < dlp_element_get_n_inputs (list->pdata[i]); k++)
      {
        DlpPad *peer = dlp_pad_get_peer (dlp_element_get_input (list->pdata[i], k));

        if (peer != NULL && !g_ptr_array_find (list, dlp_pad_get_element (peer), NULL))
          g_ptr_array_add (list, dlp_pad_get_element (peer));
      }
  return list;
}

static gboolean
is_source (DlpElement *element)
{
  return dlp_element_get_n_inputs (element) == 0;
}

/* The stages of the sources before @element are not in their order any more, but in its own. */
static void
note_reorder (BatchScope *self, DlpElement *element)
{
  g_autoptr (GPtrArray) before = list_before (element);
  g_autofree gboolean *has = g_new0 (gboolean, self->n_stages);
  guint n = 0;

  for (guint i = 0; i < before->len; i++)
    if (is_source (before->pdata[i]))
      has[dlp_element_get_stage (before->pdata[i])] = TRUE;
  for (guint stage = 0; stage < self->n_stages; stage++)
    {
      self->is_shuffled[stage] |= has[stage];
      n += has[stage];
    }
  self->mingled |= n > 1;
}

BatchScope *
batch_scope_new (DlpElement *element)
{
  BatchScope *self = g_new0 (BatchScope, 1);
  g_autoptr (GPtrArray) before = list_before (element);

  self->n_stages = 1;
  for (guint i = 0; i < before->len; i++)
    self->n_stages = MAX (self->n_stages, dlp_element_get_stage (before->pdata[i]) + 1);
  self->n_sources = g_new0 (guint, self->n_stages);
  self->is_shuffled = g_new0 (gboolean, self->n_stages);
  for (guint i = 0; i < before->len; i++)
    {
      if (is_source (before->pdata[i]))
        self->n_sources[dlp_element_get_stage (before->pdata[i])]++;
      if (DLP_ELEMENT_GET_CLASS (before->pdata[i])->flags & DLP_ELEMENT_REORDERS)
        note_reorder (self, before->pdata[i]);
    }
  return self;
}

void
batch_scope_free (BatchScope *self)
{
  g_free (self->n_sources);
  g_free (self->is_shuffled);
  g_free (self);
}
