/* SPDX-License-Identifier: MIT */

/* Random tables, and what Python's csv module reads from them: random/, by make-random.py. */

#include "dlp-csv-reader.h"
#include "reader-cases.h"

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  reader_cases_init (DLP_TYPE_CSV_READER, "csv-python", ".csv");
  reader_cases_add_expected (28, "field=c0 fields=c1,c2,c3");
  return g_test_run ();
}
