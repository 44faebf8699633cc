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

/* (nullable): where a line is also written to a file, from the next start() on: for runs in
 * processes that die. */
void dlp_check_sink_set_folder (const char *folder);
/* What is in the files of that folder are the lines. */
void dlp_check_sink_read_folder (void);

G_END_DECLS
