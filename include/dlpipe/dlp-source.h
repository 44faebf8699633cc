/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-element.h"

G_BEGIN_DECLS

#define DLP_TYPE_SOURCE (dlp_source_get_type ())
/**
 * DlpSource:
 *
 * Base of elements without inputs: has one output pad `out`, and ends by itself when the pipeline
 * is asked to finish: with the next step, which tells whether it had come to its end.
 *
 * Since: 0.1
 */
DLP_AVAILABLE_IN_0_1
G_DECLARE_DERIVABLE_TYPE (DlpSource, dlp_source, DLP, SOURCE, DlpElement)

/**
 * DlpSourceClass:
 * @parent_class: the parent class
 * @produce: emits the next record or few
 *
 * The class of sources, with room for eight further virtual functions.
 *
 * Since: 0.1
 */
struct _DlpSourceClass
{
  DlpElementClass parent_class;

  /**
   * DlpSourceClass::produce:
   * @self: a source
   * @out: the output pad
   * @cancellable: (nullable): a cancellable
   * @error: return location for an error
   *
   * Emits the next record or few on the output pad; as the step() of #DlpElement.
   *
   * Threads: the element's.
   *
   * Returns: what the step came to
   *
   * Since: 0.1
   */
  DlpStep (*produce) (DlpSource *self, DlpPad *out, GCancellable *cancellable, GError **error);

  /*< private >*/
  gpointer reserved[8];
};

G_END_DECLS
