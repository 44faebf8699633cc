/* SPDX-License-Identifier: MIT */

/* Random archives, and what webdataset reads from them: random/, by make-random.py. */

#include "dlp-tar-reader.h"
#include "reader-cases.h"

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  reader_cases_init (DLP_TYPE_TAR_READER, "tar-python", ".tar");
  reader_cases_add_expected (18, "");
  return g_test_run ();
}
