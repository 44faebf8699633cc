/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-sink.h>

G_BEGIN_DECLS

/**
 * DlpJsonlSink:
 *
 * Writes records as lines of JSON, to a file or the standard output.
 */
#define DLP_TYPE_JSONL_SINK (dlp_jsonl_sink_get_type ())
G_DECLARE_FINAL_TYPE (DlpJsonlSink, dlp_jsonl_sink, DLP, JSONL_SINK, DlpSink)

G_END_DECLS
