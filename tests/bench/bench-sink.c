/* SPDX-License-Identifier: MIT */

#include "bench-sink.h"

#include "bench-source.h"

struct _DlpBenchSink
{
  DlpSink parent_instance;
};

G_DEFINE_FINAL_TYPE (DlpBenchSink, dlp_bench_sink, DLP_TYPE_SINK)

static GPtrArray *kept;
static guint64 bytes_left;

static gboolean
dlp_bench_sink_consume (DlpSink *sink,
                        DlpRecordBatch *batch,
                        guint row,
                        guint n,
                        GCancellable *cancellable,
                        GError **error)
{
  gsize bytes = dlp_record_batch_get_bytes (batch);

  if (bytes <= bytes_left)
    {
      g_ptr_array_add (kept, dlp_record_batch_slice (batch, row, n));
      bytes_left -= bytes;
    }
  return TRUE;
}

static void
dlp_bench_sink_class_init (DlpBenchSinkClass *klass)
{
  DLP_SINK_CLASS (klass)->consume = dlp_bench_sink_consume;
}

static void
dlp_bench_sink_init (DlpBenchSink *self)
{
}

GPtrArray *
bench_read_batches (const char *path, guint64 max_bytes)
{
  g_autofree char *graph =
      g_strdup_printf ("file-source location=%s ! jsonl-reader ! bench-sink digest=false", path);

  kept = g_ptr_array_new_with_free_func ((GDestroyNotify) dlp_record_batch_unref);
  bytes_left = max_bytes;
  bench_run_graph (graph);
  return g_steal_pointer (&kept);
}
