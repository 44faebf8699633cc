/* SPDX-License-Identifier: MIT */

#include "dlp-tee.h"

#include <dlpipe/dlp-pad-template.h>

struct _DlpTee
{
  DlpElement parent_instance;
};

G_DEFINE_FINAL_TYPE (DlpTee, dlp_tee, DLP_TYPE_ELEMENT)

/* Output pads are made as they are linked: those that the text does not name are out-0, out-1, ...
 */
static DlpPad *
dlp_tee_request_pad (DlpElement *element,
                     DlpPadDirection direction,
                     const char *name,
                     GError **error)
{
  g_autofree char *made_up = NULL;
  DlpPad *pad;

  if (direction == DLP_PAD_INPUT)
    return DLP_ELEMENT_CLASS (dlp_tee_parent_class)->request_pad (element, direction, name, error);
  for (guint n = 0; name == NULL; n++)
    {
      g_free (made_up);
      made_up = g_strdup_printf ("out-%u", n);
      if (dlp_element_find_pad (element, made_up) == NULL)
        name = made_up;
    }
  pad = dlp_element_find_pad (element, name);
  return pad != NULL ? pad : dlp_element_add_pad (element, name, DLP_PAD_OUTPUT);
}

static gboolean
dlp_tee_negotiate (DlpElement *element, GError **error)
{
  DlpSchema *schema = dlp_pad_get_schema (dlp_element_get_input (element, 0));

  for (guint i = 0; i < dlp_element_get_n_outputs (element); i++)
    dlp_pad_set_schema (dlp_element_get_output (element, i), schema);
  return TRUE;
}

static DlpStep
dlp_tee_step (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpPad *in = dlp_element_get_input (element, 0);
  DlpRecordBatch *batch;
  guint row, n;

  batch = dlp_pad_peek (in, &row);
  if (batch == NULL)
    return dlp_pad_is_over (in) ? DLP_STEP_END : dlp_element_want_input (element, 0);

  n = dlp_record_batch_get_length (batch) - row;
  for (guint i = 0; i < dlp_element_get_n_outputs (element); i++)
    dlp_pad_push_rows (dlp_element_get_output (element, i), batch, row, n);
  dlp_pad_consume (in, n);
  return DLP_STEP_MORE;
}

static void
dlp_tee_class_init (DlpTeeClass *klass)
{
  DlpElementClass *element_class = DLP_ELEMENT_CLASS (klass);

  element_class->flags = DLP_ELEMENT_ONE_TO_ONE;
  element_class->request_pad = dlp_tee_request_pad;
  element_class->negotiate = dlp_tee_negotiate;
  element_class->step = dlp_tee_step;
  dlp_element_class_add_pad_template (element_class, "in", DLP_PAD_INPUT, DLP_PAD_ALWAYS,
                                      DLP_CARRIES_ALL, NULL);
  dlp_element_class_add_pad_template (element_class, "out-N", DLP_PAD_OUTPUT, DLP_PAD_ON_REQUEST,
                                      DLP_CARRIES_ALL, "By any name");
  dlp_element_class_set_description (
      element_class, "Gives each record to several outputs",
      "... ! tee name=t ! null-sink  t. ! jsonl-sink location=out.jsonl");
}

static void
dlp_tee_init (DlpTee *self)
{
  dlp_element_add_pad (DLP_ELEMENT (self), "in", DLP_PAD_INPUT);
}
