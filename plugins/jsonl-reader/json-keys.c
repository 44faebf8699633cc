/* SPDX-License-Identifier: MIT */

#include "json-keys.h"

#define MAX_BYTES (64 * 1024)

/* Behind the string that begins at @p, a quote; @end: it does not end before. */
static const guint8 *
skip_string (const guint8 *p, const guint8 *end)
{
  for (p++; p < end && *p != '"'; p++)
    if (*p == '\\')
      p++;
  return p < end ? p + 1 : end;
}

char **
json_list_keys (const guint8 *line, gsize len, guint max)
{
  const guint8 *end = line + MIN (len, MAX_BYTES);
  g_autoptr (GPtrArray) keys = g_ptr_array_new ();
  gboolean is_key = FALSE;
  guint depth = 0;

  for (const guint8 *p = line; p < end && keys->len < max;)
    {
      const guint8 *begin = p;

      switch (*p)
        {
        case '"':
          p = skip_string (p, end);
          if (depth == 1 && is_key && p < end)
            g_ptr_array_add (keys, g_utf8_make_valid ((const char *) begin + 1, p - begin - 2));
          is_key = FALSE;
          continue;
        case '{':
        case '[':
          is_key = ++depth == 1;
          break;
        case '}':
        case ']':
          depth--;
          break;
        case ',':
          is_key = depth == 1;
          break;
        default:
          break;
        }
      p++;
    }

  g_ptr_array_add (keys, NULL);
  return (char **) g_ptr_array_free (g_steal_pointer (&keys), FALSE);
}
