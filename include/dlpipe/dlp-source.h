/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-element.h"

G_BEGIN_DECLS

/**
 * DlpSource:
 *
 * Base of elements without inputs: has one output pad `out`, and ends by itself when the pipeline
 * is asked to finish: with the next step, which tells whether it had come to its end.
 */
#define DLP_TYPE_SOURCE (dlp_source_get_type ())
DLP_API
G_DECLARE_DERIVABLE_TYPE (DlpSource, dlp_source, DLP, SOURCE, DlpElement)

struct _DlpSourceClass
{
  DlpElementClass parent_class;

  /* Emits the next record or few on the output pad; as DlpElementClass.step. */
  DlpStep (*produce) (DlpSource *self, DlpPad *out, GCancellable *cancellable, GError **error);

  gpointer reserved[8];
};

G_END_DECLS
