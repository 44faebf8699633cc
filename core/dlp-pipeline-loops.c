/* SPDX-License-Identifier: MIT */

/* Two ways between two elements, whatever the direction of their links: such as two sources that
 * each feed the same two mixes. One mix waits for the first source, which waits for the other mix
 * to take what it has for it, which waits for the second source, which waits for the first mix. */

#include "dlp-pipeline-private.h"

/* Sets of elements that are joined, as a tree with the element that stands for each. */
static DlpElement *
find_set (GHashTable *sets, DlpElement *element)
{
  DlpElement *above;

  while ((above = g_hash_table_lookup (sets, element)) != NULL)
    {
      DlpElement *next = g_hash_table_lookup (sets, above);

      if (next != NULL)
        g_hash_table_insert (sets, element, next);
      element = above;
    }
  return element;
}

/* False: they were joined before. */
static bool
join (GHashTable *sets, DlpElement *a, DlpElement *b)
{
  a = find_set (sets, a);
  b = find_set (sets, b);
  if (a == b)
    return false;
  g_hash_table_insert (sets, a, b);
  return true;
}

static void
reach (GHashTable *from, GPtrArray *reached, DlpPad *pad, DlpPad *without)
{
  DlpPad *peer = dlp_pad_get_peer (pad);

  if (peer == NULL || pad == without || peer == without ||
      g_hash_table_contains (from, peer->element))
    return;
  g_hash_table_insert (from, peer->element, pad->element);
  g_ptr_array_add (reached, peer->element);
}

/* (transfer full): the names on the other way from one end of the link to the other one. */
static char *
name_way (DlpPad *output)
{
  DlpElement *end = output->element;
  g_autoptr (GHashTable) from = g_hash_table_new (NULL, NULL);
  g_autoptr (GPtrArray) reached = g_ptr_array_new ();
  GString *way = g_string_new (dlp_element_get_name (end));

  g_ptr_array_add (reached, output->peer->element);
  g_hash_table_insert (from, output->peer->element, NULL);
  /* It grows while it is read. */
  for (guint i = 0; i < reached->len && !g_hash_table_contains (from, end); i++)
    {
      DlpElement *element = g_ptr_array_index (reached, i);

      for (guint k = 0; k < dlp_element_get_n_inputs (element); k++)
        reach (from, reached, dlp_element_get_input (element, k), output);
      for (guint k = 0; k < dlp_element_get_n_outputs (element); k++)
        reach (from, reached, dlp_element_get_output (element, k), output);
    }
  while ((end = g_hash_table_lookup (from, end)) != NULL)
    g_string_append_printf (way, " - %s", dlp_element_get_name (end));
  return g_string_free (way, FALSE);
}

bool
dlp_pipeline_check_loops (DlpPipeline *self, GError **error)
{
  g_autoptr (GHashTable) sets = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < self->elements->len; i++)
    {
      DlpElement *element = g_ptr_array_index (self->elements, i);

      for (guint k = 0; k < dlp_element_get_n_outputs (element); k++)
        {
          DlpPad *output = dlp_element_get_output (element, k);
          DlpPad *input = dlp_pad_get_peer (output);
          g_autofree char *way = NULL;

          if (input == NULL || join (sets, element, input->element))
            continue;
          way = name_way (output);
          g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_LINK,
                       "its input “%s” comes from %s, and there is another way between them: %s; "
                       "each on it can wait for the next one for ever, since links are bounded: "
                       "join the inputs before they are dealt to several outputs, read an input "
                       "twice, or write to separate outputs",
                       input->name, dlp_element_get_name (element), way);
          dlp_pipeline_place_error (self, input->element, error);
          return false;
        }
    }
  return true;
}
