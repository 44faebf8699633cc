/* SPDX-License-Identifier: MIT */

/* In a pipeline with a state folder, stopped and continued: the same records and rejects. */

#include <dlp-harness.h>

#include "megatron-check.h"

typedef struct
{
  const char *name;
  const char *files;
  const char *reader;
} Way;

static const Way ways[] = {
  { "groups", "resume-groups.parquet", "parquet-reader interleave=1" },
  { "parquet", "resume-*.parquet", "parquet-reader interleave=2" },
  { "small-pieces", "resume-*.parquet", "parquet-reader chunk-bytes=4" },
  { "arrow", "resume-*.arrow", "arrow-reader interleave=2" },
};

static void
test_resume (gconstpointer data)
{
  const Way *way = data;
  g_autofree char *files = g_test_build_filename (G_TEST_DIST, "data", way->files, NULL);
  g_autofree char *graph =
      g_strdup_printf ("file-source location=%s epochs=2 ! %s name=r fields=id:int64 "
                       "max-bad-ratio=1 ! check-sink name=k   r.rejected ! check-sink name=j",
                       files, way->reader);

  dlp_harness_check_resume (graph, 1);
  for (guint n = 0; n < dlp_harness_scale (4); n++)
    dlp_harness_check_resume (graph, 0);
}

/* Tokens that are there already need no tokenizer. */
static void
test_tokens (void)
{
  static const char *const kinds[] = { "parquet", "arrow" };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autofree char *name = g_strconcat ("documents.", kinds[i], NULL);
      g_autofree char *path = g_test_build_filename (G_TEST_DIST, "data", name, NULL);
      g_autofree char *reader = g_strdup_printf (
          "file-source location=%s ! %s-reader field='' fields=tokens=input_ids:i32[]", path,
          kinds[i]);
      g_autofree char *batches = g_strconcat (reader, " ! batch size=2 ! check-sink name=k", NULL);

      megatron_check_written (reader, "meg16");
      megatron_check_written (reader, "meg32");
      dlp_harness_check_resume (batches, 1);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    {
      g_autofree char *path = g_strconcat ("/arrow-pipeline/", ways[i].name, NULL);

      g_test_add_data_func (path, &ways[i], test_resume);
    }
  g_test_add_func ("/arrow-pipeline/tokens", test_tokens);
  return g_test_run ();
}
