/* SPDX-License-Identifier: MIT */
#pragma once

#include "csv-scan.h"

G_BEGIN_DECLS

typedef struct
{
  const guint8 *data; /* within the quotes */
  gsize size;
  gboolean is_escaped; /* there are doubled quotes in it */
} CsvCell;

typedef enum
{
  CSV_FAULT_NONE,
  CSV_FAULT_UNCLOSED,     /* quotes that the data end in */
  CSV_FAULT_BEHIND_QUOTE, /* text behind a closing quote */
} CsvFault;

typedef struct
{
  const guint8 *end;  /* of the row, without its line end */
  const guint8 *next; /* the one behind it */
  guint n_columns;
  guint newlines; /* within quotes */
  CsvFault fault; /* the first one */
  const guint8 *fault_at;
} CsvRow;

/* Which cells of a row are wanted. */
typedef struct
{
  const gint *fields; /* by column: the number of the cell, or -1 */
  guint n_columns;
} CsvWanted;

/* Reads the row at @p; of @cells those that are there are filled. 16 bytes behind @end may be read.
 */
void csv_read_row (const CsvDialect *dialect,
                   const guint8 *p,
                   const guint8 *end,
                   const CsvWanted *wanted,
                   CsvCell *cells,
                   CsvRow *row);
/* (transfer full) (element-type GString): all cells of the row. */
GPtrArray *
csv_read_names (const CsvDialect *dialect, const guint8 *p, const guint8 *end, CsvRow *row);

/* Writes a cell with its doubled quotes made one, for which cell->size bytes are enough; returns
 * how many it took. */
gsize csv_unescape (const CsvDialect *dialect, const CsvCell *cell, guint8 *to);

/* How many bytes a blank line takes at @p, which is one with nothing but CR; 0: it is none. */
gsize csv_measure_blank (const guint8 *p, const guint8 *end);

G_END_DECLS
