/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-source.h>

G_BEGIN_DECLS

#define DLP_TYPE_FILE_SOURCE (dlp_file_source_get_type ())
G_DECLARE_FINAL_TYPE (DlpFileSource, dlp_file_source, DLP, FILE_SOURCE, DlpSource)

G_END_DECLS
