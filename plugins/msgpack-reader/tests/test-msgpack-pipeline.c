/* SPDX-License-Identifier: MIT */

#include <dlp-harness.h>

#include "resume-files.h"

static void
write_maps (guint file, GString *bytes)
{
  for (guint i = 0; i < 25; i++)
    {
      g_string_append_len (bytes, "\x82\xa4text\xa1x\xa1v\x92\xcc", 12);
      g_string_append_c (bytes, (char) (file * 40 + i));
      g_string_append_len (bytes, i % 9 == 8 ? "\xc0" : "\x01", 1);
    }
}

static void
test_resume (void)
{
  for (guint interleave = 1; interleave < 4; interleave += 2)
    {
      g_autofree char *reader =
          g_strdup_printf ("msgpack-reader fields=v:i32[] interleave=%u", interleave);

      resume_files_check (".msgpack", write_maps, reader, 6);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  g_test_add_func ("/msgpack-pipeline/resume", test_resume);
  return g_test_run ();
}
