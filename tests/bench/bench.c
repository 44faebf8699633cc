/* SPDX-License-Identifier: MIT */

#include "bench.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <glib/gstdio.h>

#include "corpus.h"

#define N_PAIRS 11
#define FILE_BYTES (100 * 1000 * 1000)

static double
measure (BenchFunc func, gpointer data)
{
  struct timespec start, end;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &start);
  func (data);
  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &end);
  return (double) (end.tv_sec - start.tv_sec) + (double) (end.tv_nsec - start.tv_nsec) * 1e-9;
}

static int
compare_doubles (const void *a, const void *b)
{
  double x = *(const double *) a;
  double y = *(const double *) b;

  return (x > y) - (x < y);
}

/* Sorts them. */
static double
median (double *values)
{
  qsort (values, N_PAIRS, sizeof *values, compare_doubles);
  return values[N_PAIRS / 2];
}

/* For a profiler: DLPIPE_BENCH_ONLY=ours or reference. */
static gboolean
run_one (const Bench *bench)
{
  const char *only = g_getenv ("DLPIPE_BENCH_ONLY");

  for (guint i = 0; only != NULL && i < N_PAIRS; i++)
    printf ("%s: %.4f s\n", bench->name,
            measure (g_str_equal (only, "ours") ? bench->ours : bench->reference, bench->data));
  return only != NULL;
}

gboolean
bench_run (const Bench *bench)
{
  double ours[N_PAIRS], reference[N_PAIRS], ratios[N_PAIRS];
  double ratio;

  /* As dlpipe-launch: and so neither of the two finds large pieces of memory left by the other. */
  mallopt (M_MMAP_THRESHOLD, 128 * 1024);
  if (run_one (bench))
    return TRUE;

  measure (bench->ours, bench->data);
  measure (bench->reference, bench->data);
  for (guint i = 0; i < N_PAIRS; i++)
    {
      if (i % 2 == 0)
        ours[i] = measure (bench->ours, bench->data);
      reference[i] = measure (bench->reference, bench->data);
      if (i % 2 != 0)
        ours[i] = measure (bench->ours, bench->data);
      ratios[i] = ours[i] / reference[i];
    }

  ratio = median (ratios);
  printf ("%s: %.3g %s/s of CPU time, reference %.3g %s/s\n", bench->name,
          bench->amount / median (ours), bench->unit, bench->amount / median (reference),
          bench->unit);
  printf ("%s: %s, ratio %.3f (%.3f to %.3f), at most %.3f\n", bench->name,
          ratio <= bench->bar ? "PASS" : "FAIL", ratio, ratios[0], ratios[N_PAIRS - 1], bench->bar);
  fflush (stdout);
  return ratio <= bench->bar;
}

char *
bench_make_file (void)
{
  g_autoptr (Corpus) corpus = NULL;
  char *path;

  if (g_getenv ("DLPIPE_BENCH_FILE") != NULL)
    return g_strdup (g_getenv ("DLPIPE_BENCH_FILE"));

  path = g_build_filename (g_get_tmp_dir (), "dlpipe-bench-XXXXXX.jsonl", NULL);
  g_close (g_mkstemp (path), NULL);
  corpus = corpus_new (g_getenv ("DLPIPE_TEST_DATA"));
  corpus_write_documents (corpus, path, FILE_BYTES, 1);
  return path;
}

void
bench_remove_file (const char *path)
{
  if (g_getenv ("DLPIPE_BENCH_FILE") == NULL)
    g_remove (path);
}

void
bench_remove_folder (const char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *file = g_build_filename (path, name, NULL);

      if (g_file_test (file, G_FILE_TEST_IS_DIR))
        bench_remove_folder (file);
      else
        g_remove (file);
    }
  g_rmdir (path);
}
