/* SPDX-License-Identifier: MIT */

#include <dlp-harness.h>

#include "resume-files.h"

static void
write_archive (guint file, GString *bytes)
{
  for (guint i = 0; i < 25; i++)
    g_string_append_printf (bytes,
                            "WARC/1.%u\r\nWARC-Type: %s\r\nWARC-Record-ID: <urn:%u>\r\n"
                            "Content-Length: %u\r\n\r\n%04u%s\r\n\r\n",
                            file % 2, i % 5 == 4 ? "metadata" : "response", i, i % 9 == 8 ? 3 : 4,
                            i, i % 9 == 7 ? "too much" : "");
}

static void
test_resume (gconstpointer data)
{
  g_autofree char *reader = g_strdup_printf ("warc-reader fields=id %s", (const char *) data);

  resume_files_check (".warc", write_archive, reader, 8);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  g_test_add_data_func ("/warc-pipeline/1", "interleave=1", test_resume);
  g_test_add_data_func ("/warc-pipeline/3", "interleave=3", test_resume);
  g_test_add_data_func ("/warc-pipeline/small-chunks", "chunk-bytes=40", test_resume);
  return g_test_run ();
}
