/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-transform.h>

G_BEGIN_DECLS

#define DLP_TYPE_FILTER (dlp_filter_get_type ())
G_DECLARE_FINAL_TYPE (DlpFilter, dlp_filter, DLP, FILTER, DlpTransform)

G_END_DECLS
