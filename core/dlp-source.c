/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-source.h>

G_DEFINE_ABSTRACT_TYPE (DlpSource, dlp_source, DLP_TYPE_ELEMENT)

static DlpStep
dlp_source_step (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpSource *self = DLP_SOURCE (element);

  if (dlp_element_is_finishing (element))
    return DLP_STEP_END;
  return DLP_SOURCE_GET_CLASS (self)->produce (self, dlp_element_get_output (element, 0),
                                               cancellable, error);
}

static void
dlp_source_class_init (DlpSourceClass *klass)
{
  DLP_ELEMENT_CLASS (klass)->step = dlp_source_step;
}

static void
dlp_source_init (DlpSource *self)
{
  dlp_element_add_pad (DLP_ELEMENT (self), "out", DLP_PAD_OUTPUT);
}
