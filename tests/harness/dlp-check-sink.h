/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-pipeline.h>
#include <dlpipe/dlp-sink.h>

G_BEGIN_DECLS

/* `check-sink`: keeps each record as a line of text in a store of the process that outlives the
 * pipeline, as a file would: a restored sink cuts it back to where its state was. With stop-after=N
 * it stops the pipeline behind the N-th record of the attempt. */
#define DLP_TYPE_CHECK_SINK (dlp_check_sink_get_type ())
G_DECLARE_FINAL_TYPE (DlpCheckSink, dlp_check_sink, DLP, CHECK_SINK, DlpSink)

/* (transfer none): the lines of the sink of that name. */
GPtrArray *dlp_check_sink_get_lines (const char *name);
void dlp_check_sink_clear (void);
/* What stop-after stops. */
void dlp_check_sink_set_pipeline (DlpPipeline *pipeline);
/* (transfer full): a record as text: its coordinate and every value. */
char *dlp_check_record_to_text (const DlpRecordBatch *batch, guint row);

G_END_DECLS
