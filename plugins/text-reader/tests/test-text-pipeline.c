/* SPDX-License-Identifier: MIT */

#include <dlp-harness.h>

#include "resume-files.h"

static void
write_text (guint file, GString *text)
{
  for (guint i = 0; i < 25; i++)
    g_string_append_printf (text, "line %u of %u%s\n%s", i, file, i % 9 == 8 ? "\xff" : "",
                            i % 4 == 3 ? "\r\n" : "");
}

static void
test_resume (gconstpointer data)
{
  for (guint interleave = 1; interleave < 4; interleave += 2)
    {
      g_autofree char *reader =
          g_strdup_printf ("text-reader %s interleave=%u", (const char *) data, interleave);

      resume_files_check (".txt", write_text, reader, 6);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  g_test_add_data_func ("/text-pipeline/line", "unit=line", test_resume);
  g_test_add_data_func ("/text-pipeline/paragraph", "unit=paragraph", test_resume);
  g_test_add_data_func ("/text-pipeline/file", "unit=file invalid-utf8=replace", test_resume);
  return g_test_run ();
}
