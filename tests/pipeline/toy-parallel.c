/* SPDX-License-Identifier: MIT */

#include <unistd.h>

#include "toys.h"

/* ---- toy-parallel ---- */

typedef DlpTransform ToyParallel;
typedef DlpTransformClass ToyParallelClass;

G_DEFINE_TYPE (ToyParallel, toy_parallel, DLP_TYPE_TRANSFORM)

static gboolean
toy_parallel_process (DlpTransform *self,
                      gpointer worker,
                      DlpRecordBatch *batch,
                      guint64 first,
                      DlpTransformOutput *output,
                      GError **error)
{
  guint length = dlp_record_batch_get_length (batch);

  if (first % 7 == 0)
    usleep (30);
  dlp_transform_output_count (output, 0, length);
  for (guint row = 0; row < length; row++)
    for (guint64 n = toy_hash (batch, row, "parallel") % 4; n > 0; n--)
      dlp_transform_output_push (output, 0, dlp_record_batch_slice (batch, row, 1));
  return TRUE;
}

static void
toy_parallel_class_init (ToyParallelClass *klass)
{
  static const char *const counters[] = { "seen", NULL };

  klass->counters = counters;
  klass->process = toy_parallel_process;
}

static void
toy_parallel_init (ToyParallel *self)
{
}
