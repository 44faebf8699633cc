/* SPDX-License-Identifier: MIT */

#include "dlp-input-list-private.h"

#include <string.h>

void
dlp_input_entry_free (DlpInputEntry *self)
{
  if (self == NULL)
    return;

  g_free (self->identity);
  g_free (self->uri);
  g_free (self);
}

static void
append_escaped (GString *out, const char *text)
{
  if (text == NULL)
    {
      g_string_append (out, "\\-");
      return;
    }

  for (; *text != '\0'; text++)
    switch (*text)
      {
      case '\\':
        g_string_append (out, "\\\\");
        break;
      case '\t':
        g_string_append (out, "\\t");
        break;
      case '\n':
        g_string_append (out, "\\n");
        break;
      default:
        g_string_append_c (out, *text);
      }
}

void
dlp_input_entry_append (const DlpInputEntry *entry, GString *out)
{
  g_string_append_printf (out, "%u\t%u\t%u\t%" G_GINT64_FORMAT "\t", entry->stage, entry->source,
                          entry->file, entry->size);
  append_escaped (out, entry->identity);
  g_string_append_c (out, '\t');
  append_escaped (out, entry->uri);
  g_string_append_c (out, '\n');
}

/* Takes the bytes up to the next tab, or to the end, from *@text. */
static gboolean
take_column (const char **text, const char *end, const char **column, gsize *size)
{
  const char *tab;

  if (*text == NULL)
    return FALSE;

  tab = memchr (*text, '\t', (gsize) (end - *text));
  *column = *text;
  *size = (gsize) ((tab != NULL ? tab : end) - *text);
  *text = tab != NULL ? tab + 1 : NULL;
  return TRUE;
}

static gboolean
take_number (const char **text, const char *end, guint64 max, guint64 *value)
{
  const char *column;
  gsize size;

  if (!take_column (text, end, &column, &size) || size == 0 || size > 19)
    return FALSE;

  *value = 0;
  for (gsize i = 0; i < size; i++)
    {
      if (!g_ascii_isdigit (column[i]))
        return FALSE;
      *value = *value * 10 + (guint64) (column[i] - '0');
    }

  return *value <= max;
}

static gboolean
take_size (const char **text, const char *end, gint64 *value)
{
  guint64 number;

  if (*text != NULL && end - *text >= 3 && memcmp (*text, "-1\t", 3) == 0)
    {
      *text += 3;
      *value = -1;
      return TRUE;
    }

  if (!take_number (text, end, G_MAXINT64, &number))
    return FALSE;
  *value = (gint64) number;
  return TRUE;
}

static gboolean
unescape (const char *text, gsize size, char **value)
{
  g_autoptr (GString) out = g_string_sized_new (size);

  for (gsize i = 0; i < size; i++)
    {
      char c = text[i];

      if (c == '\0')
        return FALSE;
      if (c == '\\')
        {
          if (++i == size)
            return FALSE;
          if (text[i] == '-' && size == 2)
            {
              *value = NULL;
              return TRUE;
            }
          if (text[i] != '\\' && text[i] != 't' && text[i] != 'n')
            return FALSE;
          c = text[i] == 't' ? '\t' : text[i] == 'n' ? '\n' : '\\';
        }
      g_string_append_c (out, c);
    }

  *value = g_string_free (g_steal_pointer (&out), FALSE);
  return TRUE;
}

static gboolean
take_text (const char **text, const char *end, char **value)
{
  const char *column;
  gsize size;

  return take_column (text, end, &column, &size) && unescape (column, size, value);
}

gboolean
dlp_input_entry_parse_key (const char *line, gsize size, guint32 key[3])
{
  const char *text = line;

  for (guint i = 0; i < 3; i++)
    {
      guint64 value;

      if (!take_number (&text, line + size, G_MAXUINT32, &value))
        return FALSE;
      key[i] = (guint32) value;
    }

  return TRUE;
}

DlpInputEntry *
dlp_input_entry_parse (const char *line, gsize size)
{
  g_autoptr (DlpInputEntry) entry = g_new0 (DlpInputEntry, 1);
  const char *text = line;
  const char *end = line + size;
  guint64 number[3];

  for (guint i = 0; i < 3; i++)
    if (!take_number (&text, end, G_MAXUINT32, &number[i]))
      return NULL;

  entry->stage = (guint32) number[0];
  entry->source = (guint32) number[1];
  entry->file = (guint32) number[2];
  if (!take_size (&text, end, &entry->size) || !take_text (&text, end, &entry->identity) ||
      !take_text (&text, end, &entry->uri) || text != NULL || entry->uri == NULL)
    return NULL;

  return g_steal_pointer (&entry);
}
