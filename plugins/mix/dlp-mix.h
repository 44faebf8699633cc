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
  DLP_MIX_REPEAT,
  DLP_MIX_REPEAT_UNTIL_ALL,
} DlpMixExhausted;

#define DLP_TYPE_MIX_EXHAUSTED (dlp_mix_exhausted_get_type ())
GType dlp_mix_exhausted_get_type (void);

typedef enum
{
  DLP_MIX_RECORDS,
  DLP_MIX_TOKENS,
} DlpMixUnit;

#define DLP_TYPE_MIX_UNIT (dlp_mix_unit_get_type ())
GType dlp_mix_unit_get_type (void);

G_END_DECLS
