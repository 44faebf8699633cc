/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-file.h>

G_BEGIN_DECLS

#define DLP_TYPE_HTTP_SCHEME (dlp_http_scheme_get_type ())
G_DECLARE_FINAL_TYPE (DlpHttpScheme, dlp_http_scheme, DLP, HTTP_SCHEME, DlpScheme)

G_END_DECLS
