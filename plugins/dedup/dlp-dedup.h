/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-element.h>

G_BEGIN_DECLS

#define DLP_TYPE_DEDUP (dlp_dedup_get_type ())
G_DECLARE_FINAL_TYPE (DlpDedup, dlp_dedup, DLP, DEDUP, DlpElement)

G_END_DECLS
