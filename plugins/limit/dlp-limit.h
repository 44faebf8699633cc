/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-element.h>

G_BEGIN_DECLS

#define DLP_TYPE_LIMIT (dlp_limit_get_type ())
G_DECLARE_FINAL_TYPE (DlpLimit, dlp_limit, DLP, LIMIT, DlpElement)

G_END_DECLS
