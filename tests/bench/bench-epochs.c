/* SPDX-License-Identifier: MIT */

/* The time from batch to batch across the borders of epochs, as a trainer sees it: it works on each
 * batch for a while, then takes the next. Prints the 99th percentile over the median. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <glib/gstdio.h>

#include <dlpipe/dlpipe.h>

#define N_ROWS 2048
#define ROW_BYTES 1000
#define BATCH 16
#define N_BORDERS 100
/* How long a trainer works on a batch, in microseconds. */
#define WORK 500
#define BAR 2.0

static gint64
now_ns (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return now.tv_sec * G_GINT64_CONSTANT (1000000000) + now.tv_nsec;
}

static char *
make_file (void)
{
  char *path = g_build_filename (g_get_tmp_dir (), "dlpipe-epochs-XXXXXX.jsonl", NULL);
  g_autoptr (GString) text = g_string_new (NULL);

  g_close (g_mkstemp (path), NULL);
  for (guint i = 0; i < N_ROWS; i++)
    {
      g_string_append_printf (text, "{\"text\": \"row %u", i);
      for (guint k = 0; k < ROW_BYTES / 10; k++)
        g_string_append_printf (text, " word%05u", (i * 31 + k * 7) % 100000);
      g_string_append (text, "\"}\n");
    }
  g_assert_true (g_file_set_contents (path, text->str, (gssize) text->len, NULL));
  return path;
}

static int
compare (const void *a, const void *b)
{
  gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;

  return (x > y) - (x < y);
}

/* A trainer's CPU waits while the other one works. */
static void
work (gint64 until)
{
  const struct timespec end = { until / 1000000000, until % 1000000000 };

  clock_nanosleep (CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL);
}

static gboolean
measure (const char *path, const char *middle, gint64 work_ns, double bar)
{
  g_autofree char *graph =
      g_strdup_printf ("file-source location=%s epochs=forever ! jsonl-reader ! %s batch size=%d ! "
                       "app-sink name=out max-batches=16",
                       path, middle, BATCH);
  const guint n = N_ROWS / BATCH * (N_BORDERS + 1);
  g_autofree gint64 *times = g_new (gint64, n);
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_string (graph, &error);
  DlpAppSink *out;
  gint64 last;
  double ratio;

  g_assert_no_error (error);
  out = DLP_APP_SINK (dlp_pipeline_get_element (pipeline, "out"));
  dlp_pipeline_run_async (pipeline, NULL, NULL, NULL);
  dlp_record_batch_unref (dlp_app_sink_pull (out, 0, NULL, NULL));
  last = now_ns ();
  for (guint i = 0; i < n; i++)
    {
      gint64 now;

      if (work_ns > 0)
        work (last + work_ns);
      dlp_record_batch_unref (dlp_app_sink_pull (out, 0, NULL, NULL));
      now = now_ns ();
      times[i] = now - last;
      last = now;
    }
  qsort (times, n, sizeof *times, compare);
  ratio = (double) times[n * 99 / 100] / (double) times[n / 2];
  printf (
      "epochs: %s%s%d records a batch, %g us of work: median %.1f us, p99 %.1f us, p99.9 %.1f us, "
      "max %.1f us; p99 over median %.2f%s\n",
      middle, middle[0] != '\0' ? " " : "", BATCH, (double) work_ns / 1e3,
      (double) times[n / 2] / 1e3, (double) times[n * 99 / 100] / 1e3,
      (double) times[n * 999 / 1000] / 1e3, (double) times[n - 1] / 1e3, ratio,
      bar > 0.0 ? (ratio < bar ? ", PASS" : ", FAIL") : "");
  fflush (stdout);
  return bar <= 0.0 || ratio < bar;
}

int
main (int argc, char **argv)
{
  g_autofree char *path = make_file ();
  gboolean ok;

  ok = measure (path, "", WORK * 1000, BAR);
  ok = measure (path, "tokenizer model=gpt2 !", 2 * WORK * 1000, BAR) && ok;
  measure (path, "", 0, 0.0);
  measure (path, "tokenizer model=gpt2 !", 0, 0.0);
  g_remove (path);
  return ok ? 0 : 1;
}
