/* SPDX-License-Identifier: MIT */

#include "warc-header.h"

#include <string.h>

#include <dlpipe/dlp-utf8.h>

static gboolean
is_blank (guint8 c)
{
  return c == ' ' || c == '\t' || c == '\r';
}

gsize
warc_header_measure (const guint8 *data, gsize size)
{
  for (gsize at = 0; at < size;)
    {
      const guint8 *newline = memchr (data + at, '\n', size - at);
      gsize end;

      if (newline == NULL)
        return 0;
      end = (gsize) (newline - data);
      if (end == at || (end == at + 1 && data[at] == '\r'))
        return end + 1;
      at = end + 1;
    }
  return 0;
}

static void
trim (const guint8 **from, const guint8 **to)
{
  while (*from < *to && is_blank (**from))
    ++*from;
  while (*from < *to && is_blank ((*to)[-1]))
    --*to;
}

/* Blanks before the colon are no part of the name. */
static gboolean
is_name (const guint8 *line, const guint8 *colon, const char *name, gsize name_size)
{
  while (colon > line && (colon[-1] == ' ' || colon[-1] == '\t'))
    colon--;
  return (gsize) (colon - line) == name_size &&
         g_ascii_strncasecmp ((const char *) line, name, name_size) == 0;
}

const guint8 *
warc_header_find (const guint8 *header, gsize size, const char *name, gsize *value_size)
{
  gsize name_size = strlen (name);
  const guint8 *end = header + size;

  for (const guint8 *line = header; line < end;)
    {
      const guint8 *newline = memchr (line, '\n', (gsize) (end - line));
      const guint8 *stop = newline != NULL ? newline : end;
      const guint8 *colon = memchr (line, ':', (gsize) (stop - line));

      if (colon != NULL && is_name (line, colon, name, name_size))
        {
          colon++;
          trim (&colon, &stop);
          *value_size = (gsize) (stop - colon);
          return colon;
        }
      line = newline != NULL ? newline + 1 : end;
    }
  *value_size = 0;
  return NULL;
}

gboolean
warc_header_has (const guint8 *header, gsize size, const char *name, const char *value)
{
  gsize n;
  const guint8 *found = warc_header_find (header, size, name, &n);

  return found != NULL && n == strlen (value) &&
         g_ascii_strncasecmp ((const char *) found, value, n) == 0;
}

char *
warc_header_dup (const guint8 *value, gsize size, gsize *length)
{
  GString *text;

  *length = size;
  if (dlp_utf8_measure_valid (value, size) == size)
    return g_strndup ((const char *) value, size);
  text = g_string_sized_new (size * 2);
  for (gsize i = 0; i < size; i++)
    g_string_append_unichar (text, value[i]);
  *length = text->len;
  return g_string_free (text, FALSE);
}
