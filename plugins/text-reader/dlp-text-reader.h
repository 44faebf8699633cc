/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-reader.h>

G_BEGIN_DECLS

#define DLP_TYPE_TEXT_READER (dlp_text_reader_get_type ())
G_DECLARE_FINAL_TYPE (DlpTextReader, dlp_text_reader, DLP, TEXT_READER, DlpReader)

G_END_DECLS
