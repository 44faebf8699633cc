/* SPDX-License-Identifier: MIT */
#pragma once

#include "csv-row.h"
#include "reader-list.h"

G_BEGIN_DECLS

/* Appends a cell to a string field; @name: of the column. FALSE: see @fault. */
gboolean csv_cell_append_text (const CsvDialect *dialect,
                               const CsvCell *cell,
                               const char *name,
                               DlpRecordBatchBuilder *builder,
                               guint index,
                               ReaderFault *fault);
/* The same to a field of another type: blanks around it do not count, and nothing is null. */
gboolean csv_cell_append_value (const CsvCell *cell,
                                const char *name,
                                const ReaderField *field,
                                ReaderList *list,
                                DlpRecordBatchBuilder *builder,
                                guint index,
                                ReaderFault *fault);

G_END_DECLS
