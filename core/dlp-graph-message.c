/* SPDX-License-Identifier: MIT */
#include "dlp-graph-parser-private.h"

#include <string.h>

#define MAX_COLUMNS 100
#define MIN_COLUMNS_BEFORE 40
#define CUT "..."
#define CUT_COLUMNS 3
#define REPLACEMENT "\xef\xbf\xbd"

/* Zero-width characters take no column; this bounds the bytes that a piece of a line can have. */
#define MAX_BYTES_PER_COLUMN 8

typedef struct
{
  gunichar ch; /* 0 if it is not shown as itself */
  guint bytes;
  guint columns;
} Glyph;

/* What a terminal must not get: control characters, and marks that reverse the direction. */
static gboolean
is_unsafe (gunichar ch)
{
  switch (g_unichar_type (ch))
    {
    case G_UNICODE_CONTROL:
    case G_UNICODE_FORMAT:
    case G_UNICODE_SURROGATE:
    case G_UNICODE_UNASSIGNED:
    case G_UNICODE_LINE_SEPARATOR:
    case G_UNICODE_PARAGRAPH_SEPARATOR:
      return TRUE;
    default:
      return FALSE;
    }
}

static Glyph
get_glyph (const char *p, const char *end)
{
  gunichar ch = g_utf8_get_char_validated (p, end - p);
  Glyph glyph = { 0, 1, 1 };

  if (ch == (gunichar) -1 || ch == (gunichar) -2)
    return glyph;
  glyph.bytes = g_utf8_skip[(guchar) *p];
  if (ch < 0x20 && g_ascii_isspace (ch))
    glyph.ch = ' ';
  else if (!is_unsafe (ch))
    {
      glyph.ch = ch;
      glyph.columns = g_unichar_iszerowidth (ch) ? 0 : g_unichar_iswide (ch) ? 2 : 1;
    }
  return glyph;
}

static Glyph
get_glyph_before (const char *begin, const char *p)
{
  for (guint n = 1; n <= 4 && n <= (gsize) (p - begin); n++)
    {
      Glyph glyph;

      if (((guchar) p[-(int) n] & 0xc0) == 0x80)
        continue;
      glyph = get_glyph (p - n, p);
      if (glyph.bytes == n)
        return glyph;
      break;
    }
  return (Glyph){ 0, 1, 1 };
}

static void
append_glyph (GString *out, Glyph glyph)
{
  if (glyph.ch != 0)
    g_string_append_unichar (out, glyph.ch);
  else
    g_string_append (out, REPLACEMENT);
}

static void
append_sanitized (GString *out, const char *text)
{
  const char *end = text + strlen (text);

  for (const char *p = text; p < end;)
    {
      Glyph glyph = get_glyph (p, end);

      append_glyph (out, glyph);
      p += glyph.bytes;
    }
}

static const char *
walk_forward (const char *p, const char *end, guint columns, guint *walked)
{
  const char *begin = p;

  *walked = 0;
  while (p < end && (gsize) (p - begin) < (gsize) columns * MAX_BYTES_PER_COLUMN)
    {
      Glyph glyph = get_glyph (p, end);

      if (*walked + glyph.columns > columns)
        break;
      *walked += glyph.columns;
      p += glyph.bytes;
    }
  return p;
}

static const char *
walk_backward (const char *begin, const char *p, guint columns, guint *walked)
{
  const char *last = p;

  *walked = 0;
  while (p > begin && (gsize) (last - p) < (gsize) columns * MAX_BYTES_PER_COLUMN)
    {
      Glyph glyph = get_glyph_before (begin, p);

      if (*walked + glyph.columns > columns)
        break;
      *walked += glyph.columns;
      p -= glyph.bytes;
    }
  return p;
}

/* The part [left, right) of the line that is shown: all of it if it fits, else what is around. */
static void
clip_line (const char *begin,
           const char *end,
           const char *place,
           const char **left,
           const char **right)
{
  guint before, after;

  *left = walk_backward (begin, place, MAX_COLUMNS, &before);
  *right = walk_forward (place, end, MAX_COLUMNS, &after);
  if (*left == begin && *right == end && before + after <= MAX_COLUMNS)
    return;

  before = MAX (MIN_COLUMNS_BEFORE, MAX_COLUMNS - 2 * CUT_COLUMNS - MIN (after, MAX_COLUMNS - 6));
  *left = walk_backward (begin, place, before, &before);
  *right = walk_forward (place, end, MAX_COLUMNS - 2 * CUT_COLUMNS - before, &after);
}

static void
append_line (GString *out, const char *begin, const char *end, const char *left, const char *right)
{
  g_string_append (out, left > begin ? "\n  " CUT : "\n  ");
  for (const char *p = left; p < right;)
    {
      Glyph glyph = get_glyph (p, right);

      append_glyph (out, glyph);
      p += glyph.bytes;
    }
  if (right < end)
    g_string_append (out, CUT);
}

static void
append_carets (GString *out, guint indent, guint columns)
{
  g_string_append (out, "\n  ");
  for (guint i = 0; i < indent; i++)
    g_string_append_c (out, ' ');
  g_string_append_c (out, '^');
  for (guint i = 1; i < columns; i++)
    g_string_append_c (out, '~');
}

static void
append_place (GString *out, const char *text, gsize length, gsize start, gsize end)
{
  const char *place = text + start;
  const char *line_begin = place, *line_end, *left, *right;
  guint before, marked;

  while (line_begin > text && line_begin[-1] != '\n')
    line_begin--;
  line_end = memchr (place, '\n', length - start);
  if (line_end == NULL)
    line_end = text + length;
  while (line_end > place && g_ascii_isspace (line_end[-1]))
    line_end--;

  clip_line (line_begin, line_end, place, &left, &right);
  append_line (out, line_begin, line_end, left, right);

  walk_forward (left, place, G_MAXUINT16, &before);
  walk_forward (place, MIN (text + end, right), G_MAXUINT16, &marked);
  append_carets (out, before + (left > line_begin ? CUT_COLUMNS : 0), marked);
}

static void
get_line_and_column (const char *text, gsize place, gsize *line, gsize *column)
{
  const char *end = text + place;

  *line = *column = 1;
  for (const char *p = text; p < end;)
    {
      Glyph glyph = get_glyph (p, end);

      if (*p == '\n')
        {
          *line += 1;
          *column = 0;
        }
      *column += 1;
      p += glyph.bytes;
    }
}

char *
dlp_graph_describe_place (const char *text, gsize place)
{
  gsize line, column;

  get_line_and_column (text, place, &line, &column);
  return g_strdup_printf ("line %" G_GSIZE_FORMAT ", column %" G_GSIZE_FORMAT, line, column);
}

char *
dlp_graph_format_error (const char *text,
                        gsize start,
                        gsize end,
                        const char *message,
                        const char *hint)
{
  GString *out = g_string_new (NULL);

  g_return_val_if_fail (message != NULL, NULL);

  if (text != NULL && start != DLP_GRAPH_NO_PLACE)
    {
      gsize length = strlen (text);
      g_autofree char *place = NULL;

      start = MIN (start, length);
      end = CLAMP (end, start, length);
      place = dlp_graph_describe_place (text, start);
      g_string_append_printf (out, "%s: ", place);
      append_sanitized (out, message);
      append_place (out, text, length, start, end);
    }
  else
    append_sanitized (out, message);

  if (hint != NULL)
    {
      g_string_append (out, "\n  ");
      append_sanitized (out, hint);
    }
  return g_string_free (out, FALSE);
}

void
dlp_graph_set_error (GError **error,
                     DlpGraphError code,
                     const char *text,
                     gsize start,
                     gsize end,
                     const char *hint,
                     const char *format,
                     ...)
{
  g_autofree char *message = NULL;
  g_autofree char *rendered = NULL;
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);

  rendered = dlp_graph_format_error (text, start, end, message, hint);
  g_set_error_literal (error, DLP_GRAPH_ERROR, code, rendered);
}
