/* SPDX-License-Identifier: MIT */

#include "field-list.h"

#include <stdbool.h>
#include <string.h>

#include <dlpipe/dlp-error.h>

/* (transfer full): the name from *@text on, up to one of @ends or the end of the text, where *@text
 * is then. */
static char *
take_name (const char **text, const char *ends)
{
  g_autoptr (GString) name = g_string_new (NULL);
  gsize kept = 0; /* blanks behind it are not part of the name */
  const char *p = *text;

  while (*p == ' ')
    p++;
  for (; *p != '\0' && strchr (ends, *p) == NULL; p++)
    {
      gboolean escaped = *p == '\\' && p[1] != '\0';

      if (escaped)
        p++;
      g_string_append_c (name, *p);
      if (escaped || *p != ' ')
        kept = name->len;
    }
  *text = p;
  return g_strndup (name->str, kept);
}

static bool
parse_entry (GPtrArray *list, const char **p, bool pairs)
{
  char *name = take_name (p, pairs ? ",:" : ",");

  g_ptr_array_add (list, name);
  if (*name == '\0')
    return false;
  if (!pairs)
    return true;
  if (**p != ':')
    return false;
  *p += 1;
  name = take_name (p, ",:");
  g_ptr_array_add (list, name);
  return *name != '\0' && **p != ':';
}

static GPtrArray *
parse (const char *property, const char *text, bool pairs, GError **error)
{
  g_autoptr (GPtrArray) list = g_ptr_array_new_with_free_func (g_free);
  const char *p = text;

  for (guint n = 1;; n++)
    {
      if (!parse_entry (list, &p, pairs))
        {
          g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                       "%s=%s: entry %u is not %s; a comma, colon or backslash in a name has a "
                       "backslash before it",
                       property, text, n, pairs ? "old:new" : "the name of a field");
          return NULL;
        }
      if (*p == '\0')
        return g_steal_pointer (&list);
      p++;
    }
}

GPtrArray *
dlp_field_list_parse (const char *property, const char *text, GError **error)
{
  return parse (property, text, false, error);
}

GPtrArray *
dlp_field_list_parse_pairs (const char *property, const char *text, GError **error)
{
  return parse (property, text, true, error);
}
