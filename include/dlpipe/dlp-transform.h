/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-element.h"

G_BEGIN_DECLS

/* What process() makes of one record batch: record batches for each output pad, and counters. */
typedef struct _DlpTransformOutput DlpTransformOutput;

#define DLP_TRANSFORM_MAX_COUNTERS 16

/**
 * DlpTransform:
 *
 * Base of stateless elements with one input `in` and one output `out` (a subclass may add further
 * output pads): record batches are worked on in parallel, on the pipeline's pool, and leave in
 * order, within a bounded window. The state is the counters that the class names: sums of what
 * process() added, of the batches that have left.
 */
#define DLP_TYPE_TRANSFORM (dlp_transform_get_type ())
DLP_API
G_DECLARE_DERIVABLE_TYPE (DlpTransform, dlp_transform, DLP, TRANSFORM, DlpElement)

struct _DlpTransformClass
{
  DlpElementClass parent_class;

  /* NULL-terminated names of its counters, which are the keys of its state. */
  const char *const *counters;

  /* (nullable): made once a worker, before its first process(), on that worker's thread. */
  gpointer (*worker_new) (DlpTransform *self);
  void (*worker_free) (DlpTransform *self, gpointer worker);
  /* On a worker: @batch has at least one record. @first: the position of its first record on the
   * input. */
  gboolean (*process) (DlpTransform *self,
                       gpointer worker,
                       DlpRecordBatch *batch,
                       guint64 first,
                       DlpTransformOutput *output,
                       GError **error);
  /* What the context of one worker could make use of, such as for a cache. */
  gsize worker_memory;

  gpointer reserved[7];
};

/* In worker_new() and process(): what the context of one worker may hold. At most its class's
 * worker_memory, less where the memory budget is short. */
DLP_API gsize dlp_transform_get_worker_memory (DlpTransform *self);

/* The builder for output pad @pad (0: `out`); end each record with
 * dlp_transform_output_end_record(). */
DLP_API DlpRecordBatchBuilder *
dlp_transform_output_get_builder (DlpTransformOutput *self, guint pad);
DLP_API void dlp_transform_output_end_record (DlpTransformOutput *self,
                                              guint pad,
                                              const DlpCoordinate *coordinate);
/* Pushes a whole batch (transfer full), such as the input itself. */
DLP_API void dlp_transform_output_push (DlpTransformOutput *self, guint pad, DlpRecordBatch *batch);
DLP_API void dlp_transform_output_count (DlpTransformOutput *self, guint counter, guint64 n);

G_END_DECLS
