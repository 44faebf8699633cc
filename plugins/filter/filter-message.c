/* SPDX-License-Identifier: MIT */

#include "filter-private.h"

#include "value-message.h"

bool
filter_fail (const char *text,
             gsize start,
             gsize end,
             int code,
             GError **error,
             const char *format,
             ...)
{
  g_autofree char *message = NULL;
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  return value_fail ("where", text, start, end, code, error, message);
}
