/* SPDX-License-Identifier: MIT */
#pragma once

#include "dlp-json-tree.h"

/* The texts of cases/worst.json: @parts in the order that a generator of numbers gives, as far as
 * @size bytes go. cases/make-worst.py makes the same. */
static inline GString *
make_worst_text (DlpJsonNode parts, gsize size)
{
  GString *text = g_string_sized_new (size + 1);
  guint n = dlp_json_get_n_children (parts);
  g_autofree DlpJsonNode *nodes = g_new (DlpJsonNode, n);
  guint64 state = 1;

  for (guint i = 0; i < n; i++)
    nodes[i] = i == 0 ? dlp_json_get_first (parts) : dlp_json_get_next (nodes[i - 1]);
  for (;;)
    {
      const char *part;
      gsize len;

      state = state * 6364136223846793005u + 1442695040888963407u;
      part = dlp_json_get_string (nodes[(state >> 33) % n], &len);
      if (text->len + len > size)
        return text;
      g_string_append_len (text, part, len);
    }
}
