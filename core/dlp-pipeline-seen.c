/* SPDX-License-Identifier: MIT */

/* Where steps of another world size begin. See docs/internals/cursor.md. */

#include "dlp-pipeline-private.h"

/* The place on a link of training batches up to which all sinks behind it had them. Elements in
 * between may go on before it: a mark is older than what was consumed. They give one batch for
 * each, so the places on both sides differ by what they did at the mark. */
static guint64
find_seen (DlpElement *element, DlpPad *input)
{
  guint64 position = input->cursor.position;
  guint64 least = G_MAXUINT64;

  if (input->closed)
    return 0;
  for (guint i = 0; i < dlp_element_get_n_outputs (element); i++)
    {
      DlpPad *output = dlp_element_get_output (element, i);

      if (output->optional || output->peer == NULL || output->peer->closed)
        continue;
      if (!output->whole || dlp_element_get_n_inputs (element) > 1)
        return position;
      least = MIN (least, position + (output->seen - output->emitted));
    }
  return least != G_MAXUINT64 ? least : position;
}

void
dlp_pipeline_find_seen (DlpPipeline *self)
{
  /* Consumers first. */
  for (guint i = self->order->len; i-- > 0;)
    {
      DlpElement *element = g_ptr_array_index (self->order, i);

      for (guint k = 0; k < dlp_element_get_n_inputs (element); k++)
        {
          DlpPad *input = dlp_element_get_input (element, k);

          if (input->whole)
            input->peer->seen = find_seen (element, input);
        }
    }
}
