/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-reader.h>

G_BEGIN_DECLS

#define DLP_TYPE_TAR_READER (dlp_tar_reader_get_type ())
G_DECLARE_FINAL_TYPE (DlpTarReader, dlp_tar_reader, DLP, TAR_READER, DlpReader)

G_END_DECLS
