/* SPDX-License-Identifier: MIT */

#include "csv-row.h"

#include <string.h>

static void
set_fault (CsvRow *row, CsvFault fault, const guint8 *at)
{
  if (row->fault != CSV_FAULT_NONE)
    return;
  row->fault = fault;
  row->fault_at = at;
}

static gboolean
is_end (const guint8 *p, const guint8 *end)
{
  return p == end || *p == '\n';
}

static gboolean
has_only_cr (const guint8 *p, const guint8 *end)
{
  while (p < end && *p == '\r')
    p++;
  return p == end;
}

/* Behind the closing quote. Returns the delimiter or line end. */
static const guint8 *
pass_behind_quote (const CsvDialect *dialect, const guint8 *p, const guint8 *end, CsvRow *row)
{
  const guint8 *stop;

  if (is_end (p, end) || *p == dialect->delimiter)
    return p;
  stop = csv_find_separator (p, end, dialect->delimiter);
  if (!is_end (stop, end) || !has_only_cr (p, stop))
    set_fault (row, CSV_FAULT_BEHIND_QUOTE, p);
  return stop;
}

static const guint8 *
read_quoted (const CsvDialect *dialect,
             const guint8 *p,
             const guint8 *end,
             CsvCell *cell,
             CsvRow *row)
{
  const guint8 *start = p + 1;
  const guint8 *close = start;

  cell->data = start;
  cell->is_escaped = FALSE;
  for (;; close += 2)
    {
      close = close < end ? memchr (close, dialect->quote, (gsize) (end - close)) : NULL;
      if (close == NULL || close + 1 >= end || close[1] != dialect->quote)
        break;
      cell->is_escaped = TRUE;
    }
  if (close == NULL)
    set_fault (row, CSV_FAULT_UNCLOSED, p);
  cell->size = (gsize) ((close != NULL ? close : end) - start);
  row->newlines += csv_count_newlines (start, cell->size);
  return close != NULL ? pass_behind_quote (dialect, close + 1, end, row) : end;
}

static const guint8 *
read_plain (const CsvDialect *dialect, const guint8 *p, const guint8 *end, CsvCell *cell)
{
  const guint8 *stop = csv_find_separator (p, end, dialect->delimiter);
  const guint8 *last = stop;

  if (is_end (stop, end))
    while (last > p && last[-1] == '\r')
      last--;
  cell->data = p;
  cell->size = (gsize) (last - p);
  cell->is_escaped = FALSE;
  return stop;
}

static const guint8 *
read_cell (const CsvDialect *dialect,
           const guint8 *p,
           const guint8 *end,
           CsvCell *cell,
           CsvRow *row)
{
  if (dialect->quote != 0 && p < end && *p == dialect->quote)
    return read_quoted (dialect, p, end, cell, row);
  return read_plain (dialect, p, end, cell);
}

static void
finish_row (CsvRow *row, const guint8 *start, const guint8 *p, const guint8 *end)
{
  row->next = p < end ? p + 1 : end;
  /* At the end of the file it may be within quotes that are open. */
  while (row->next > p && p > start && p[-1] == '\r')
    p--;
  row->end = p;
}

void
csv_read_row (const CsvDialect *dialect,
              const guint8 *p,
              const guint8 *end,
              const CsvWanted *wanted,
              CsvCell *cells,
              CsvRow *row)
{
  const guint8 *start = p;

  *row = (CsvRow){ .n_columns = 0 };
  for (;; p++)
    {
      gint field = row->n_columns < wanted->n_columns ? wanted->fields[row->n_columns] : -1;
      CsvCell other;

      p = read_cell (dialect, p, end, field >= 0 ? &cells[field] : &other, row);
      row->n_columns++;
      if (is_end (p, end))
        break;
    }
  finish_row (row, start, p, end);
}

GPtrArray *
csv_read_names (const CsvDialect *dialect, const guint8 *p, const guint8 *end, CsvRow *row)
{
  GPtrArray *names = g_ptr_array_new ();
  const guint8 *start = p;

  *row = (CsvRow){ .n_columns = 0 };
  for (;; p++)
    {
      CsvCell cell;
      GString *name;

      p = read_cell (dialect, p, end, &cell, row);
      name = g_string_sized_new (cell.size);
      g_string_set_size (name, cell.size);
      g_string_set_size (name, csv_unescape (dialect, &cell, (guint8 *) name->str));
      g_ptr_array_add (names, name);
      row->n_columns++;
      if (is_end (p, end))
        break;
    }
  finish_row (row, start, p, end);
  return names;
}

gsize
csv_unescape (const CsvDialect *dialect, const CsvCell *cell, guint8 *to)
{
  const guint8 *p = cell->data;
  const guint8 *end = p + cell->size;
  guint8 *out = to;

  while (p < end)
    {
      const guint8 *quote = cell->is_escaped ? memchr (p, dialect->quote, (gsize) (end - p)) : NULL;
      gsize n = (gsize) ((quote != NULL ? quote + 1 : end) - p);

      memcpy (out, p, n);
      out += n;
      p += n + (quote != NULL);
    }
  return (gsize) (out - to);
}

gsize
csv_measure_blank (const guint8 *p, const guint8 *end)
{
  const guint8 *start = p;

  while (p < end && *p == '\r')
    p++;
  if (p == end)
    return (gsize) (p - start);
  return *p == '\n' ? (gsize) (p + 1 - start) : 0;
}
