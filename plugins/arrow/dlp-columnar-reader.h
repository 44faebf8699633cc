/* SPDX-License-Identifier: MIT */
#pragma once

#include <dlpipe/dlp-reader.h>

#include "arrow-table.h"

G_BEGIN_DECLS

#define DLP_TYPE_COLUMNAR_READER (dlp_columnar_reader_get_type ())
#define DLP_TYPE_PARQUET_READER (dlp_parquet_reader_get_type ())
#define DLP_TYPE_ARROW_READER (dlp_arrow_reader_get_type ())

/* What the readers of both kinds of file have in common, which is all but how one is opened. */
G_DECLARE_DERIVABLE_TYPE (DlpColumnarReader, dlp_columnar_reader, DLP, COLUMNAR_READER, DlpReader)

struct _DlpColumnarReaderClass
{
  DlpReaderClass parent_class;

  ArrowTableFormat format;
};

G_DECLARE_FINAL_TYPE (DlpParquetReader, dlp_parquet_reader, DLP, PARQUET_READER, DlpColumnarReader)
G_DECLARE_FINAL_TYPE (DlpArrowReader, dlp_arrow_reader, DLP, ARROW_READER, DlpColumnarReader)

G_END_DECLS
