/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-sink.h>

G_BEGIN_DECLS

typedef enum
{
  DLP_MEGATRON_DTYPE_AUTO,
  DLP_MEGATRON_DTYPE_UINT16,
  DLP_MEGATRON_DTYPE_INT32,
} DlpMegatronDtype;

#define DLP_TYPE_MEGATRON_DTYPE (dlp_megatron_dtype_get_type ())
GType dlp_megatron_dtype_get_type (void);

/**
 * DlpMegatronSink:
 *
 * Writes token lists as the .bin and .idx of Megatron-LM: a record is a document, a document that
 * has tokens a sequence.
 */
#define DLP_TYPE_MEGATRON_SINK (dlp_megatron_sink_get_type ())
G_DECLARE_FINAL_TYPE (DlpMegatronSink, dlp_megatron_sink, DLP, MEGATRON_SINK, DlpSink)

G_END_DECLS
