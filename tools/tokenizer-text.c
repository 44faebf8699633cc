/* SPDX-License-Identifier: MIT */

#include "tokenizer.h"

#include <errno.h>
#include <stdio.h>

static void
append_character (GString *out, gunichar c)
{
  switch (c)
    {
    case '"':
    case '\\':
      g_string_append_c (out, '\\');
      g_string_append_c (out, (char) c);
      break;

    case '\n':
      g_string_append (out, "\\n");
      break;

    case '\r':
      g_string_append (out, "\\r");
      break;

    case '\t':
      g_string_append (out, "\\t");
      break;

    default:
      if (g_unichar_isprint (c))
        g_string_append_unichar (out, c);
      else if (c < 0x80)
        g_string_append_printf (out, "\\x%02x", c);
      else
        g_string_append_printf (out, "\\u{%x}", c);
    }
}

void
tokenizer_append_quoted (GString *out, gconstpointer bytes, gsize len)
{
  const char *p = bytes, *end = p + len;

  g_string_append_c (out, '"');
  while (p < end)
    {
      gunichar c = g_utf8_get_char_validated (p, end - p);

      if (c == (gunichar) -1 || c == (gunichar) -2)
        {
          g_string_append_printf (out, "\\x%02x", (guint8) *p++);
          continue;
        }
      append_character (out, c);
      /* A nul is one byte too. */
      p += g_utf8_skip[(guint8) *p];
    }
  g_string_append_c (out, '"');
}

void
tokenizer_append_uint (GString *out, guint64 value)
{
  char digits[20];
  guint n = 0;

  do
    digits[n++] = (char) ('0' + value % 10);
  while ((value /= 10) > 0);
  while (n > 0)
    g_string_append_c (out, digits[--n]);
}

gboolean
tokenizer_write (const char *text, gsize len, GError **error)
{
  int code;

  if (fwrite (text, 1, len, stdout) == len)
    return TRUE;
  code = errno;
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "standard output: cannot write: %s",
               g_strerror (code));
  return FALSE;
}
