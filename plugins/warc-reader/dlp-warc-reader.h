/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-reader.h>

G_BEGIN_DECLS

#define DLP_TYPE_WARC_READER (dlp_warc_reader_get_type ())
G_DECLARE_FINAL_TYPE (DlpWarcReader, dlp_warc_reader, DLP, WARC_READER, DlpReader)

G_END_DECLS
