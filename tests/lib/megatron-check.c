/* SPDX-License-Identifier: MIT */

#include "megatron-check.h"

#include <dlpipe/dlpipe.h>
#include <glib/gstdio.h>

static void
assert_same (const char *folder, const char *name, const char *expected)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autofree char *wanted =
      g_build_filename (g_getenv ("DLPIPE_TEST_DATA"), "formats", expected, NULL);
  g_autofree char *a = NULL;
  g_autofree char *b = NULL;
  gsize a_size, b_size;

  g_assert_true (g_file_get_contents (path, &a, &a_size, NULL));
  g_assert_true (g_file_get_contents (wanted, &b, &b_size, NULL));
  g_assert_cmpmem (a, a_size, b, b_size);
  g_assert_cmpint (g_remove (path), ==, 0);
}

void
megatron_check_written (const char *reader, const char *expected)
{
  g_autofree char *folder = g_dir_make_tmp ("dlpipe-tokens-XXXXXX", NULL);
  g_autofree char *graph =
      g_strdup_printf ("%s ! megatron-sink location=%s/o vocab-size=%s", reader, folder,
                       g_str_has_prefix (expected, "meg16") ? "50257" : "70000");
  g_autofree char *index = g_strconcat (expected, ".idx", NULL);
  g_autofree char *ids = g_strconcat (expected, ".bin", NULL);
  g_autofree char *manifest = g_build_filename (folder, "o.manifest.json", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_string (graph, &error);

  g_assert_no_error (error);
  g_assert_true (dlp_pipeline_run (pipeline, NULL, &error));
  g_assert_no_error (error);
  assert_same (folder, "o.bin", ids);
  assert_same (folder, "o.idx", index);
  g_remove (manifest);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}
