/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-sink.h>

G_BEGIN_DECLS

/**
 * DlpQuarantineSink:
 *
 * Writes rejected records as lines of JSON, and counts them by file and by kind. Its file can be
 * read while the run goes on.
 */
#define DLP_TYPE_QUARANTINE_SINK (dlp_quarantine_sink_get_type ())
G_DECLARE_FINAL_TYPE (DlpQuarantineSink, dlp_quarantine_sink, DLP, QUARANTINE_SINK, DlpSink)

G_END_DECLS
