/* SPDX-License-Identifier: MIT */

/* What is wrong with the value of a property, and where in it. */

#include "value-message.h"

#include <string.h>

#include <dlpipe/dlp-error.h>

/* Characters of the value that are shown. */
#define SHOWN_BEFORE 60
#define SHOWN 90

static void
append_character (GString *out, const char *p)
{
  gunichar ch = g_utf8_get_char (p);

  g_string_append_unichar (out, g_unichar_isprint (ch) || ch == ' ' ? ch : 0xfffd);
}

/* Names of fields come from elsewhere. */
static void
append_text (GString *out, const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);

  for (const char *p = valid; *p != '\0'; p = g_utf8_next_char (p))
    append_character (out, p);
}

/* How many places of a terminal a character takes. */
static guint
get_width (const char *p)
{
  gunichar ch = g_utf8_get_char (p);

  return g_unichar_iszerowidth (ch) ? 0 : g_unichar_iswide (ch) ? 2 : 1;
}

static void
append_carets (GString *out, const char *from, const char *start, const char *end, guint indent)
{
  guint n = 0;

  for (const char *p = from; p < start; p = g_utf8_next_char (p))
    indent += get_width (p);
  for (guint i = 0; i < indent; i++)
    g_string_append_c (out, ' ');
  g_string_append_c (out, '^');
  for (const char *p = start; p < end; p = g_utf8_next_char (p))
    n += get_width (p);
  for (guint i = 1; i < n; i++)
    g_string_append_c (out, '~');
}

/* The value, cut to what is around the place, and a line with carets. */
static void
append_place (GString *out, const char *text, const char *start, const char *end)
{
  const char *from = start;
  const char *to;
  guint n = 0;

  for (; from > text && n < SHOWN_BEFORE; n++)
    from = g_utf8_prev_char (from);
  for (to = start; *to != '\0' && n < SHOWN; n++)
    to = g_utf8_next_char (to);

  g_string_append_c (out, '\n');
  g_string_append (out, from > text ? "..." : "");
  for (const char *p = from; p < to; p = g_utf8_next_char (p))
    append_character (out, p);
  g_string_append (out, *to != '\0' ? "...\n" : "\n");
  append_carets (out, from, start, MIN (end, to), from > text ? 3 : 0);
}

gboolean
value_fail (const char *property,
            const char *text,
            gsize start,
            gsize end,
            int code,
            GError **error,
            const char *message)
{
  g_autoptr (GString) out = g_string_new (NULL);

  g_string_append_printf (out, "%s, column %ld: ", property,
                          g_utf8_strlen (text, (gssize) start) + 1);
  append_text (out, message);
  append_place (out, text, text + start, text + end);
  g_set_error_literal (error, DLP_GRAPH_ERROR, code, out->str);
  return FALSE;
}
