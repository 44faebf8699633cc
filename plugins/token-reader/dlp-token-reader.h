/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-reader.h>

G_BEGIN_DECLS

#define DLP_TYPE_TOKEN_READER (dlp_token_reader_get_type ())
G_DECLARE_FINAL_TYPE (DlpTokenReader, dlp_token_reader, DLP, TOKEN_READER, DlpReader)

G_END_DECLS
