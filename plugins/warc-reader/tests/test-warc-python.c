/* SPDX-License-Identifier: MIT */

/* Random archives, and what warcio reads from them: random/, by make-random.py. */

#include "dlp-warc-reader.h"
#include "reader-cases.h"

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  reader_cases_init (DLP_TYPE_WARC_READER, "warc-python", ".warc");
  reader_cases_add_expected (16, "fields=url,type,http-status,header:X-Test,warc:WARC-Date");
  return g_test_run ();
}
