/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-reader.h>

G_BEGIN_DECLS

#define DLP_TYPE_JSONL_READER (dlp_jsonl_reader_get_type ())
G_DECLARE_FINAL_TYPE (DlpJsonlReader, dlp_jsonl_reader, DLP, JSONL_READER, DlpReader)

G_END_DECLS
