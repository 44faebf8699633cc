/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-element.h>

G_BEGIN_DECLS

#define DLP_TYPE_BATCH (dlp_batch_get_type ())
G_DECLARE_FINAL_TYPE (DlpBatch, dlp_batch, DLP, BATCH, DlpElement)

typedef enum
{
  DLP_BATCH_CUT_AUTO,
  DLP_BATCH_CUT_TRUE,
  DLP_BATCH_CUT_FALSE,
} DlpBatchCut;

#define DLP_TYPE_BATCH_CUT (dlp_batch_cut_get_type ())
GType dlp_batch_cut_get_type (void);

G_END_DECLS
