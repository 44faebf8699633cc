/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-element.h>

G_BEGIN_DECLS

GType dlp_shuffle_checkpoint_get_type (void);

typedef enum
{
  DLP_SHUFFLE_CHECKPOINT_POSITIONS,
  DLP_SHUFFLE_CHECKPOINT_RECORDS,
} DlpShuffleCheckpoint;

#define DLP_TYPE_SHUFFLE (dlp_shuffle_get_type ())
G_DECLARE_FINAL_TYPE (DlpShuffle, dlp_shuffle, DLP, SHUFFLE, DlpElement)

G_END_DECLS
