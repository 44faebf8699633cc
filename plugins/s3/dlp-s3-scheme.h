/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-file.h>

G_BEGIN_DECLS

#define DLP_TYPE_S3_SCHEME (dlp_s3_scheme_get_type ())
G_DECLARE_FINAL_TYPE (DlpS3Scheme, dlp_s3_scheme, DLP, S3_SCHEME, DlpScheme)

G_END_DECLS
