/* SPDX-License-Identifier: MIT */

#include <dlp-harness.h>

#include "resume-files.h"
#include "tar-make.h"

static void
write_archive (guint file, GString *bytes)
{
  for (guint i = 0; i < 25; i++)
    {
      g_autofree char *members = g_strdup_printf ("x/%u.txt:text%u x/%u.%s:{\"n\":%u}", i, file, i,
                                                  i % 9 == 8 ? "txt" : "json", i);
      g_autoptr (GString) made = tar_make (members);

      g_string_append_len (bytes, made->str, (gssize) made->len);
    }
  tar_make_end (bytes);
}

static void
test_resume (gconstpointer data)
{
  g_autofree char *reader =
      g_strdup_printf ("tar-reader fields=key,text=txt,n=json.n:int64? %s", (const char *) data);

  resume_files_check (".tar", write_archive, reader, 8);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  g_test_add_data_func ("/tar-pipeline/1", "interleave=1", test_resume);
  g_test_add_data_func ("/tar-pipeline/3", "interleave=3", test_resume);
  g_test_add_data_func ("/tar-pipeline/small-chunks", "chunk-bytes=40", test_resume);
  return g_test_run ();
}
