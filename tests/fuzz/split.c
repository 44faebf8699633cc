/* SPDX-License-Identifier: MIT */

#include <string.h>

#include <dlpipe/dlp-error.h>

#include "split-ratios.h"

/* Ratios that are taken give every hash a side, and the sides rise with the hash. */

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autofree char *text = g_strndup ((const char *) data, size);
  g_autoptr (GError) error = NULL;
  g_autoptr (SplitRatios) ratios = split_ratios_parse (text, &error);
  guint last = 0;

  if (ratios == NULL)
    {
      g_assert_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE);
      return 0;
    }
  g_assert_cmpuint (ratios->n_sides, >, 0);
  for (guint i = 0; i < ratios->n_sides; i++)
    {
      g_assert_cmpint (split_ratios_find (ratios, ratios->names[i]), ==, i);
      g_assert_cmpuint (ratios->ends[i], >, i > 0 ? ratios->ends[i - 1] : 0);
    }
  for (guint i = 0; i <= 64; i++)
    {
      guint side = split_ratios_get_side (ratios, i < 64 ? i * (G_MAXUINT64 / 64) : G_MAXUINT64);

      g_assert_cmpuint (side, >=, last);
      last = side;
    }
  g_assert_cmpuint (last, ==, ratios->n_sides - 1);
  return 0;
}
