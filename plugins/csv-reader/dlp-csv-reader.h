/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-reader.h>

G_BEGIN_DECLS

#define DLP_TYPE_CSV_READER (dlp_csv_reader_get_type ())
G_DECLARE_FINAL_TYPE (DlpCsvReader, dlp_csv_reader, DLP, CSV_READER, DlpReader)

G_END_DECLS
