/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-element.h>

G_BEGIN_DECLS

#define DLP_TYPE_MIX (dlp_mix_get_type ())
G_DECLARE_FINAL_TYPE (DlpMix, dlp_mix, DLP, MIX, DlpElement)

typedef enum
{
  DLP_MIX_RENORMALIZE,
  DLP_MIX_STOP,
} DlpMixExhausted;

#define DLP_TYPE_MIX_EXHAUSTED (dlp_mix_exhausted_get_type ())
GType dlp_mix_exhausted_get_type (void);

G_END_DECLS
