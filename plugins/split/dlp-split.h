/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-element.h>

G_BEGIN_DECLS

#define DLP_TYPE_SPLIT (dlp_split_get_type ())
G_DECLARE_FINAL_TYPE (DlpSplit, dlp_split, DLP, SPLIT, DlpElement)

G_END_DECLS
