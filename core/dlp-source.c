/* SPDX-License-Identifier: MIT */

#include <dlpipe/dlp-source.h>

#include <stdbool.h>

#include <dlpipe/dlp-pad-template.h>

#include "dlp-element-private.h"

G_DEFINE_ABSTRACT_TYPE (DlpSource, dlp_source, DLP_TYPE_ELEMENT)

static DlpStep
dlp_source_step (DlpElement *element, GCancellable *cancellable, GError **error)
{
  DlpSource *self = DLP_SOURCE (element);
  bool finishing = dlp_element_is_finishing (element);
  DlpElement *before = dlp_element_set_reads_for (element);
  g_autoptr (GError) local_error = NULL;
  DlpStep step = DLP_SOURCE_GET_CLASS (self)->produce (self, dlp_element_get_output (element, 0),
                                                       cancellable, &local_error);

  dlp_element_set_reads_for (before);
  if (finishing && step != DLP_STEP_END)
    {
      /* Also where it failed: had it ended a step before, nobody would know. */
      dlp_element_note_cut_short (element);
      return DLP_STEP_END;
    }
  if (local_error != NULL)
    g_propagate_error (error, g_steal_pointer (&local_error));
  return step;
}

static void
dlp_source_class_init (DlpSourceClass *klass)
{
  DlpElementClass *element_class = DLP_ELEMENT_CLASS (klass);

  element_class->step = dlp_source_step;
  dlp_element_class_add_pad_template (element_class, "out", DLP_PAD_OUTPUT, DLP_PAD_ALWAYS,
                                      DLP_CARRIES_ALL, NULL);
}

static void
dlp_source_init (DlpSource *self)
{
  dlp_element_add_pad (DLP_ELEMENT (self), "out", DLP_PAD_OUTPUT);
}

guint
dlp_source_get_epochs (DlpSource *self)
{
  DlpSourceClass *klass;

  g_return_val_if_fail (DLP_IS_SOURCE (self), 1);

  klass = DLP_SOURCE_GET_CLASS (self);
  return klass->get_epochs != NULL ? klass->get_epochs (self) : 1;
}
