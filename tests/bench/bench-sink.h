/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-sink.h>

G_BEGIN_DECLS

/* `bench-sink`: keeps what comes, to be emitted by a bench-source. */
#define DLP_TYPE_BENCH_SINK (dlp_bench_sink_get_type ())
G_DECLARE_FINAL_TYPE (DlpBenchSink, dlp_bench_sink, DLP, BENCH_SINK, DlpSink)

/* (transfer full): the records of a file of JSON lines, up to @max_bytes. */
GPtrArray *bench_read_batches (const char *path, guint64 max_bytes);

G_END_DECLS
