/* SPDX-License-Identifier: MIT */

#include "json-compare.h"
#include "json-lines.h"

/*
 * One input is a file of lines. Every level must say of each line what the reference says, and the
 * lines must be counted right.
 */

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  static const char *const paths[] = { "text", "meta.lang", "a", "a.b" };
  static JsonComparer *comparer = NULL;
  gsize rows = 0;

  if (comparer == NULL)
    comparer = json_comparer_new (paths, G_N_ELEMENTS (paths));

  for (const guint8 *p = data, *end = data + size; p < end;)
    {
      const guint8 *newline = json_find_newline (p, end - p);
      gsize len = (newline != NULL ? newline : end) - p;

      rows += !json_line_is_blank (p, len);
      json_comparer_check (comparer, p, len);
      p += len + 1;
      if (newline == NULL)
        break;
    }

  g_assert_cmpuint (json_count_lines (data, size), ==, rows);
  return 0;
}
