/* SPDX-License-Identifier: MIT */

#include "text-border.h"

#include <string.h>

/* The state within a paragraph, or before one. */
#define LINE_HAS_TEXT 1
#define RECORD_HAS_TEXT 2

gboolean
text_is_blank (const guint8 *line, gsize size)
{
  for (gsize i = 0; i < size; i++)
    if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r')
      return FALSE;
  return TRUE;
}

gsize
text_find_line (const guint8 *data, gsize size, gboolean first)
{
  const guint8 *end = first ? memchr (data, '\n', size) : memrchr (data, '\n', size);

  return end != NULL ? (gsize) (end + 1 - data) : 0;
}

/* It ends behind the blank line that follows it. */
gsize
text_find_paragraph (guint64 *state, const guint8 *data, gsize size, gboolean first)
{
  gsize border = 0;

  for (gsize at = 0; at < size;)
    {
      const guint8 *newline = memchr (data + at, '\n', size - at);
      gsize end = newline != NULL ? (gsize) (newline - data) : size;

      if ((*state & LINE_HAS_TEXT) == 0 && !text_is_blank (data + at, end - at))
        *state |= LINE_HAS_TEXT | RECORD_HAS_TEXT;
      if (newline == NULL)
        break;
      at = end + 1;
      if ((*state & LINE_HAS_TEXT) == 0 && (!first || (*state & RECORD_HAS_TEXT) != 0))
        {
          border = at;
          *state = 0;
          if (first)
            break;
        }
      *state &= ~(guint64) LINE_HAS_TEXT;
    }
  return border;
}
