/* SPDX-License-Identifier: MIT */

#include <glib.h>
#include <string.h>

#include "text-border.h"
#include "text-start.h"

/*
 * One input is a text, in front of which a byte says into pieces of which size it is cut. Borders
 * of lines and paragraphs must be the same in pieces as in one, and each first one found where the
 * search for the last one says that there are some.
 */

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

typedef gsize (*Find) (guint64 *state, const guint8 *data, gsize size, gboolean first);

static gsize
find_line (guint64 *state, const guint8 *data, gsize size, gboolean first)
{
  return text_find_line (data, size, first);
}

static gsize
find_in_pieces (Find find, const guint8 *data, gsize size, gsize piece, gboolean first)
{
  guint64 state = 0;
  gsize border = 0;

  for (gsize at = 0; at < size; at += MIN (piece, size - at))
    {
      gsize end = find (&state, data + at, MIN (piece, size - at), first);

      if (end > 0)
        border = at + end;
      if (end > 0 && first)
        break;
    }
  return border;
}

static void
check (Find find, const guint8 *data, gsize size, gsize piece)
{
  gsize last = find_in_pieces (find, data, size, MAX (size, 1), FALSE);
  gsize at = 0;

  g_assert_cmpuint (last, <=, size);
  g_assert_cmpuint (find_in_pieces (find, data, size, piece, FALSE), ==, last);
  for (gsize n = 1; n > 0; at += n)
    {
      n = find_in_pieces (find, data + at, size - at, MAX (size - at, 1), TRUE);
      g_assert_cmpuint (find_in_pieces (find, data + at, size - at, piece, TRUE), ==, n);
    }
  g_assert_cmpuint (at, <=, last);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  gsize piece;

  if (size == 0)
    return 0;
  piece = MAX (data[0], 1);
  data++;
  size--;
  check (find_line, data, size, piece);
  check (text_find_paragraph, data, size, piece);
  text_start_find_fault (data, size);
  g_assert_cmpuint (text_start_measure_bom (data, size), <=, size);
  return 0;
}
