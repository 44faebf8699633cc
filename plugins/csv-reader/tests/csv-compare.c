/* SPDX-License-Identifier: MIT */

#include "csv-compare.h"

#include <string.h>

#define PADDING 64

typedef struct
{
  const CsvDialect *dialect;
  const guint8 *data;
  gsize size;
  gsize piece;
} Input;

static gsize
find_in_pieces (const Input *input, gsize from, gsize to, gsize piece, gboolean first)
{
  guint64 state = 0;
  gsize border = 0;

  for (gsize at = from; at < to; at += MIN (piece, to - at))
    {
      gsize end =
          csv_find_border (input->dialect, &state, input->data + at, MIN (piece, to - at), first);

      if (end > 0)
        border = at + end - from;
      if (end > 0 && first)
        break;
    }
  return border;
}

/* As plainly as can be: whether the LF at @at is within quotes, from the start of the row on. */
static gsize
find_plainly (const CsvDialect *dialect, const guint8 *row, gsize size)
{
  gboolean in_quotes = FALSE, at_field = TRUE, was_quote = FALSE;

  for (gsize i = 0; i < size; i++)
    {
      gboolean is_quote = dialect->quote != 0 && row[i] == dialect->quote;

      if (i == 3 && memcmp (row, "\xef\xbb\xbf", 3) == 0)
        at_field = TRUE;
      if (in_quotes)
        {
          in_quotes = !is_quote;
          was_quote = is_quote;
          at_field = FALSE;
          continue;
        }
      if (row[i] == '\n')
        return i + 1;
      in_quotes = is_quote && (at_field || was_quote);
      was_quote = FALSE;
      at_field = row[i] == dialect->delimiter;
    }
  return 0;
}

static void
check_row (const Input *input, gsize at, gsize *next)
{
  gint fields[] = { 0, -1, 1 };
  CsvWanted wanted = { fields, G_N_ELEMENTS (fields) };
  const guint8 *p = input->data + at;
  const guint8 *end = input->data + input->size;
  gsize mark = end - p >= 3 && memcmp (p, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  gsize plain = find_plainly (input->dialect, p, input->size - at);
  CsvCell cells[2] = { { NULL } };
  CsvRow row;

  csv_read_row (input->dialect, p + mark, end, &wanted, cells, &row);
  *next = (gsize) (row.next - input->data);
  g_assert_cmpuint (plain != 0 ? at + plain : input->size, ==, *next);
  g_assert_cmpuint (find_in_pieces (input, at, input->size, input->size - at, TRUE), ==, plain);
  g_assert_cmpuint (find_in_pieces (input, at, input->size, input->piece, TRUE), ==, plain);
  g_assert_cmpuint (csv_count_newlines (p, *next - at), ==, row.newlines + (plain != 0));
  for (guint i = 0; i < G_N_ELEMENTS (cells); i++)
    if (cells[i].data != NULL)
      {
        g_autofree guint8 *text = g_malloc (cells[i].size + 1);

        g_assert_true (cells[i].data >= p && cells[i].data + cells[i].size <= row.end);
        g_assert_cmpuint (csv_unescape (input->dialect, &cells[i], text), <=, cells[i].size);
      }
}

/* Borders found from there on are those of the rows from there on. */
static void
check_last (const Input *input, gsize from, gsize last)
{
  gsize size = input->size - from;

  g_assert_cmpuint (find_in_pieces (input, from, input->size, size, FALSE), ==, last - from);
  g_assert_cmpuint (find_in_pieces (input, from, input->size, input->piece, FALSE), ==,
                    last - from);
}

void
csv_compare (const CsvDialect *dialect, const guint8 *data, gsize size, gsize piece)
{
  g_autofree guint8 *copy = g_malloc0 (size + PADDING);
  Input input = { dialect, copy, size, MAX (piece, 1) };
  g_autoptr (GArray) starts = g_array_new (FALSE, FALSE, sizeof (gsize));
  gsize last = 0;

  if (size > 0)
    memcpy (copy, data, size);
  for (gsize at = 0; at < size;)
    {
      gsize next = csv_measure_blank (copy + at, copy + size);
      gboolean is_whole;

      g_array_append_val (starts, at);
      if (next > 0)
        next += at;
      else
        check_row (&input, at, &next);
      is_whole = copy[next - 1] == '\n' &&
                 (next < size || find_plainly (dialect, copy + at, size - at) != 0);
      if (is_whole)
        last = next;
      at = next;
    }
  for (guint i = 0; i < MIN (starts->len, 5); i++)
    check_last (&input, g_array_index (starts, gsize, i),
                MAX (last, g_array_index (starts, gsize, i)));
}
