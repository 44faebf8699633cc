/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-sink.h>

G_BEGIN_DECLS

/**
 * DlpNullSink:
 *
 * Keeps nothing but the counts and the digest that every sink has.
 */
#define DLP_TYPE_NULL_SINK (dlp_null_sink_get_type ())
G_DECLARE_FINAL_TYPE (DlpNullSink, dlp_null_sink, DLP, NULL_SINK, DlpSink)

G_END_DECLS
