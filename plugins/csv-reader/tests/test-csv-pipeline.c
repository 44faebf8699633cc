/* SPDX-License-Identifier: MIT */

#include <dlp-harness.h>

#include "resume-files.h"

static void
write_table (guint file, GString *text)
{
  g_string_append (text, file % 2 == 0 ? "id,body\n" : "\"body\",id,\"more\nyet\"\r\n");
  for (guint i = 0; i < 25; i++)
    if (i % 9 == 8)
      g_string_append (text, "\"one\"\n");
    else if (file % 2 == 0)
      g_string_append_printf (text, "%u,\"row %u\n\nof \"\"%u\"\"\"\n", i, i, file);
    else
      g_string_append_printf (text, "row %u of %u,%u,\r\n", i, file, i);
}

static void
test_resume (gconstpointer data)
{
  g_autofree char *reader =
      g_strdup_printf ("csv-reader field=body fields=id:int64 %s", (const char *) data);

  resume_files_check (".csv", write_table, reader, 8);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  g_test_add_data_func ("/csv-pipeline/1", "interleave=1", test_resume);
  g_test_add_data_func ("/csv-pipeline/3", "interleave=3", test_resume);
  g_test_add_data_func ("/csv-pipeline/small-chunks", "chunk-bytes=40", test_resume);
  return g_test_run ();
}
