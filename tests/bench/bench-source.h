/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-pipeline.h>
#include <dlpipe/dlp-source.h>

G_BEGIN_DECLS

/* `bench-source`: emits record batches that are in memory already. */
#define DLP_TYPE_BENCH_SOURCE (dlp_bench_source_get_type ())
G_DECLARE_FINAL_TYPE (DlpBenchSource, dlp_bench_source, DLP, BENCH_SOURCE, DlpSource)

/* For all sources made later: the first @records of each of @batches (transfer none), emitted
 * @rounds times. */
void dlp_bench_source_set_batches (GPtrArray *batches, guint rounds, guint records);

/* (transfer full): of a graph, with one worker. */
DlpPipeline *bench_new_pipeline (const char *graph);
/* Runs a graph with one worker to its end. */
void bench_run_graph (const char *graph);

G_END_DECLS
