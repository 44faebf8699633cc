/* SPDX-License-Identifier: MIT */

#include "log-lines.h"

#include <string.h>

char *
log_lines_get_field (const GLogField *fields, gsize n, const char *key)
{
  for (gsize i = 0; i < n; i++)
    if (strcmp (fields[i].key, key) == 0)
      {
        const char *text = fields[i].value;
        gssize length = fields[i].length;
        char *copy = length < 0 ? g_strdup (text) : g_strndup (text, (gsize) length);

        if (*copy != '\0')
          return copy;
        g_free (copy);
        return NULL;
      }
  return NULL;
}

static GLogWriterOutput
write_line (GLogLevelFlags level, const GLogField *fields, gsize n, gpointer program)
{
  g_autofree char *message = log_lines_get_field (fields, n, "MESSAGE");
  const char *kind = "";

  if (message == NULL)
    return G_LOG_WRITER_UNHANDLED;
  if (level & (G_LOG_LEVEL_INFO | G_LOG_LEVEL_DEBUG))
    return g_log_writer_default (level, fields, n, NULL);
  if (level & (G_LOG_LEVEL_ERROR | G_LOG_LEVEL_CRITICAL))
    kind = "internal error: ";
  else if (level & G_LOG_LEVEL_WARNING)
    kind = "warning: ";
  g_printerr ("%s: %s%s\n", (const char *) program, kind, message);
  return G_LOG_WRITER_HANDLED;
}

void
log_lines_init (const char *program)
{
  g_log_set_writer_func (write_line, (gpointer) program, NULL);
}
