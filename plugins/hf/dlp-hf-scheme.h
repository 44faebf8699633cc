/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-file.h>

G_BEGIN_DECLS

#define DLP_TYPE_HF_SCHEME (dlp_hf_scheme_get_type ())
G_DECLARE_FINAL_TYPE (DlpHfScheme, dlp_hf_scheme, DLP, HF_SCHEME, DlpScheme)

G_END_DECLS
