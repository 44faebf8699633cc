/* SPDX-License-Identifier: MIT */

#include <stdlib.h>
#include <string.h>

#include "csv-compare.h"

static guint
scaled (guint n)
{
  const char *scale = g_getenv ("DLPIPE_TEST_SCALE");

  return scale != NULL ? (guint) (n * g_ascii_strtod (scale, NULL)) + 1 : n;
}

/* Of few kinds of bytes, most of them with a meaning; @rare: how seldom those are. */
static void
fill (GString *text, guint n, gint rare)
{
  static const char *const pieces[] = { "\"",
                                        "\"",
                                        "\n",
                                        ",",
                                        "\r\n",
                                        "\"\"",
                                        ",\"",
                                        "\",",
                                        "\"\n",
                                        "\xef\xbb\xbf",
                                        "\n\xef\xbb\xbf\"",
                                        "\xef",
                                        "\n\n",
                                        "\0" };

  for (guint i = 0; i < n; i++)
    if (g_test_rand_int_range (0, rare) == 0)
      g_string_append (text, pieces[g_test_rand_int_range (0, G_N_ELEMENTS (pieces))]);
    else
      g_string_append_c (text, (char) ('a' + i % 26));
}

static void
test_random (void)
{
  static const gint rarities[] = { 1, 2, 5, 20, 60 };

  for (guint i = 0; i < scaled (6000); i++)
    {
      CsvDialect dialect = { ',', i % 7 == 6 ? 0 : '"' };
      g_autoptr (GString) text = g_string_new (NULL);

      fill (text, (guint) g_test_rand_int_range (0, 400), rarities[i % G_N_ELEMENTS (rarities)]);
      csv_compare (&dialect, (const guint8 *) text->str, text->len,
                   (gsize) g_test_rand_int_range (1, 200));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/csv-scan/random", test_random);
  return g_test_run ();
}
