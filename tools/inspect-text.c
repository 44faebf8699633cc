/* SPDX-License-Identifier: MIT */

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <dlpipe/dlp-file.h>

#include "inspect.h"

#define MIN_COLUMNS 60
#define USUAL_COLUMNS 80
#define MAX_COLUMNS 100

static bool
is_terminal (void)
{
  const char *term = g_getenv ("TERM");
  const char *no_color = g_getenv ("NO_COLOR");

  return isatty (STDOUT_FILENO) && g_strcmp0 (term, "dumb") != 0 &&
         (no_color == NULL || *no_color == '\0');
}

const char *
inspect_bold (void)
{
  return is_terminal () ? "\033[1m" : "";
}

const char *
inspect_plain (void)
{
  return is_terminal () ? "\033[0m" : "";
}

guint
inspect_get_columns (void)
{
  struct winsize size;

  if (ioctl (STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return USUAL_COLUMNS;
  return CLAMP (size.ws_col, MIN_COLUMNS, MAX_COLUMNS);
}

const char *
inspect_get (GVariant *dict, const char *key)
{
  const char *text;

  return g_variant_lookup (dict, key, "&s", &text) ? text : "";
}

char *
inspect_join (GVariant *dict, const char *key, const char *separator)
{
  g_autofree const char **strings = NULL;

  if (!g_variant_lookup (dict, key, "^a&s", &strings))
    return g_strdup ("");
  return g_strjoinv (separator, (char **) strings);
}

char *
inspect_escape (const char *text)
{
  g_autofree char *line = g_strdelimit (g_strdup (text), "\r\n\t", ' ');

  return dlp_uri_escape_for_display (line);
}

void
inspect_print_wrapped (const char *text, guint column)
{
  const guint columns = inspect_get_columns ();
  g_autofree char *shown = inspect_escape (text);
  g_auto (GStrv) words = g_strsplit (shown, " ", -1);
  guint at = column;

  for (guint i = 0; words[i] != NULL; i++)
    {
      guint width = (guint) g_utf8_strlen (words[i], -1);

      if (i > 0 && at + 1 + width > columns)
        {
          printf ("\n%*s", (int) column, "");
          at = column;
        }
      else if (i > 0)
        {
          putchar (' ');
          at++;
        }
      fputs (words[i], stdout);
      at += width;
    }
  putchar ('\n');
}

static void
append_hex (GString *text, guint8 byte, guint8 mask)
{
  static const char digits[] = "0123456789abcdef";

  g_string_append_c (text, (mask >> 4) == 0xf ? digits[byte >> 4] : '?');
  g_string_append_c (text, (mask & 0xf) == 0xf ? digits[byte & 0xf] : '?');
}

char **
inspect_format_magics (GVariant *codec)
{
  g_autoptr (GVariant) magics = g_variant_lookup_value (codec, "magic", G_VARIANT_TYPE ("a(ayay)"));
  GPtrArray *texts = g_ptr_array_new ();
  gsize n = magics != NULL ? g_variant_n_children (magics) : 0;

  for (gsize i = 0; i < n; i++)
    {
      g_autoptr (GVariant) pair = g_variant_get_child_value (magics, i);
      g_autoptr (GVariant) magic = g_variant_get_child_value (pair, 0);
      g_autoptr (GVariant) mask = g_variant_get_child_value (pair, 1);
      GString *text = g_string_new (NULL);
      gsize size, n_mask;
      const guint8 *bytes = g_variant_get_fixed_array (magic, &size, 1);
      const guint8 *bits = g_variant_get_fixed_array (mask, &n_mask, 1);

      for (gsize k = 0; k < MIN (size, n_mask); k++)
        {
          if (k > 0)
            g_string_append_c (text, ' ');
          append_hex (text, bytes[k], bits[k]);
        }
      g_ptr_array_add (texts, g_string_free (text, FALSE));
    }
  g_ptr_array_add (texts, NULL);
  return (char **) g_ptr_array_free (texts, FALSE);
}
