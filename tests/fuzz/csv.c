/* SPDX-License-Identifier: MIT */

#include "csv-compare.h"

/*
 * One input is CSV, behind two bytes: the first says which dialect, the second into pieces of which
 * size it is cut.
 */

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  static const CsvDialect dialects[] = { { ',', '"' }, { '\t', '"' }, { ';', '\'' }, { '\t', 0 } };

  if (size < 2)
    return 0;
  csv_compare (&dialects[data[0] % G_N_ELEMENTS (dialects)], data + 2, size - 2, data[1]);
  return 0;
}
