/* SPDX-License-Identifier: MIT */

/* A cell as a value of a field, or what is wrong with it. */

#include "csv-cell.h"

#include <string.h>

#include <dlpipe/dlp-utf8.h>

gboolean
csv_cell_append_text (const CsvDialect *dialect,
                      const CsvCell *cell,
                      const char *name,
                      DlpRecordBatchBuilder *builder,
                      guint index,
                      ReaderFault *fault)
{
  gsize valid = dlp_utf8_measure_valid (cell->data, cell->size);
  const guint8 *nul = cell->size > 0 ? memchr (cell->data, '\0', cell->size) : NULL;

  if (valid < cell->size)
    {
      fault->kind = "utf-8";
      fault->at = cell->data + valid;
      fault->message =
          g_strdup_printf ("the column \"%s\": byte 0x%02x is not UTF-8 there", name, *fault->at);
      return FALSE;
    }
  if (nul != NULL)
    {
      fault->kind = "nul";
      fault->at = nul;
      fault->message = g_strdup_printf ("the column \"%s\" has a NUL byte", name);
      return FALSE;
    }

  if (cell->is_escaped)
    {
      guint8 *to = dlp_record_batch_builder_reserve (builder, index, cell->size);

      dlp_record_batch_builder_commit (builder, index, csv_unescape (dialect, cell, to));
    }
  else
    dlp_record_batch_builder_append_value (builder, index, cell->data, cell->size);
  return TRUE;
}

static gboolean
is_blank (const CsvCell *cell)
{
  gsize n = 0;

  while (n < cell->size && (cell->data[n] == ' ' || cell->data[n] == '\t'))
    n++;
  return n == cell->size;
}

gboolean
csv_cell_append_value (const CsvCell *cell,
                       const char *name,
                       const ReaderField *field,
                       ReaderList *list,
                       DlpRecordBatchBuilder *builder,
                       guint index,
                       ReaderFault *fault)
{
  if (reader_field_is_list (field) && !is_blank (cell))
    return reader_list_append_json (list, field, FALSE, "the column", name, cell->data, cell->size,
                                    builder, index, fault);
  return reader_value_append (field, "the column", name, cell->data, cell->size, builder, index,
                              fault);
}
