/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-batcher.h>

G_DEFINE_INTERFACE (DlpBatcher, dlp_batcher, DLP_TYPE_ELEMENT)

static void
dlp_batcher_default_init (DlpBatcherInterface *iface)
{
}

gboolean
dlp_batcher_get_rule (DlpBatcher *self, guint stage, DlpBatchRule *rule, GError **error)
{
  g_return_val_if_fail (DLP_IS_BATCHER (self), FALSE);

  /* An element that was built against an older header does not know all of it. */
  *rule = (DlpBatchRule){ 0 };
  return DLP_BATCHER_GET_IFACE (self)->get_rule (self, stage, rule, error);
}

DlpBatcher *
dlp_element_find_batcher (DlpElement *self)
{
  const DlpElementFlags any = DLP_ELEMENT_ONE_TO_ONE | DLP_ELEMENT_KEEPS_ALL;
  DlpElement *element = self;

  while (dlp_element_get_n_outputs (element) == 1)
    {
      DlpPad *peer = dlp_pad_get_peer (dlp_element_get_output (element, 0));

      if (peer == NULL)
        return NULL;
      element = dlp_pad_get_element (peer);
      if (dlp_element_get_n_inputs (element) != 1)
        return NULL;
      if (DLP_IS_BATCHER (element))
        return DLP_BATCHER (element);
      if (!(DLP_ELEMENT_GET_CLASS (element)->flags & any))
        return NULL;
    }
  return NULL;
}
