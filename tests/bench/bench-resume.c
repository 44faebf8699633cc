/* SPDX-License-Identifier: MIT */

/* How long a run that was killed near its end takes to its first new record: within a plain file, a
 * compressed one of one frame and of many, and with a shuffle buffer of 1,000,000 records over 500
 * files. Files of DLPIPE_BENCH_BYTES decoded bytes, one at a time. The killed and the continued run
 * are processes of their own, this program once more. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include <dlpipe/dlpipe.h>

#include "bench.h"
#include "corpus.h"

#define DEFAULT_BYTES (G_GUINT64_CONSTANT (512) << 20)
#define FRAME_BYTES (G_GUINT64_CONSTANT (16) << 20)
#define N_FILES 500
#define FILE_RECORDS 4400
#define BUFFER 1000000
/* Of all records those that are out when the run is killed. */
#define SHARE 0.98

static double
now (void)
{
  return (double) g_get_monotonic_time () / 1e6;
}

/* ---- the run that is killed, and the one that goes on ---- */

static gpointer
run_pipeline (gpointer pipeline)
{
  g_autoptr (GError) error = NULL;

  if (!dlp_pipeline_run (pipeline, NULL, &error))
    g_error ("%s", error->message);
  return NULL;
}

static DlpPipeline *
start (const char *graph, const char *state)
{
  g_autoptr (GError) error = NULL;
  DlpPipeline *pipeline = dlp_pipeline_new_from_string (graph, &error);

  g_assert_no_error (error);
  g_object_set (pipeline, "state-dir", state, "checkpoint-interval", (gint64) (2 * G_USEC_PER_SEC),
                NULL);
  dlp_pipeline_prepare (pipeline, NULL, &error);
  g_assert_no_error (error);
  g_thread_unref (g_thread_new ("run", run_pipeline, pipeline));
  /* A pull before it runs has nothing to wait for. */
  while (dlp_pipeline_get_status (pipeline) == DLP_PIPELINE_READY)
    g_usleep (100);
  return pipeline;
}

/* The highest number of a checkpoint. */
static guint64
get_generation (const char *state)
{
  g_autoptr (GDir) dir = g_dir_open (state, 0, NULL);
  const char *name;
  guint64 newest = 0;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_prefix (name, "checkpoint-"))
      newest = MAX (newest, g_ascii_strtoull (name + strlen ("checkpoint-"), NULL, 10));
  return newest;
}

static DlpAppSink *
find_sink (DlpPipeline *pipeline)
{
  return DLP_APP_SINK (dlp_pipeline_get_element (pipeline, "out"));
}

/* Takes @wanted records, goes on slowly until two checkpoints were written, and is gone. */
static int
run_until_killed (const char *graph, const char *state, guint64 wanted)
{
  DlpPipeline *pipeline = start (graph, state);
  DlpAppSink *sink = find_sink (pipeline);
  guint64 taken = 0, generation;

  while (taken < wanted)
    {
      g_autoptr (DlpRecordBatch) batch = dlp_app_sink_pull (sink, 0, NULL, NULL);

      g_assert_nonnull (batch);
      taken += dlp_record_batch_get_length (batch);
    }
  generation = get_generation (state);
  while (get_generation (state) < generation + 2)
    {
      g_autoptr (DlpRecordBatch) batch = dlp_app_sink_pull (sink, 1, NULL, NULL);

      g_assert_nonnull (batch);
      g_usleep (200000);
    }
  raise (SIGKILL);
  return 1;
}

/* Prints the seconds to the first record, and its position. */
static int
run_to_first (const char *graph, const char *state)
{
  double began = now ();
  DlpPipeline *pipeline = start (graph, state);
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpRecordBatch) batch = dlp_app_sink_pull (find_sink (pipeline), 1, NULL, &error);

  g_assert_no_error (error);
  printf ("%.3f %" G_GUINT64_FORMAT "\n", now () - began, dlp_record_batch_get_position (batch));
  fflush (stdout);
  _exit (0);
}

/* Prints the seconds that it takes to decode so many bytes. */
static int
run_decode (const char *path, guint64 bytes)
{
  g_autoptr (DlpFile) file = dlp_file_new (path, -1, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpByteStream) stream = dlp_byte_stream_open (file, 0, 0, 0, NULL, &error);
  const gsize size = 1024 * 1024;
  g_autofree guint8 *buffer = g_malloc (size);
  double began = now ();
  gssize n = 1;

  g_assert_no_error (error);
  for (guint64 done = 0; done < bytes && n > 0; done += (guint64) n)
    n = dlp_byte_stream_read (stream, buffer, size, NULL, &error);
  g_assert_no_error (error);
  printf ("%.3f\n", now () - began);
  return 0;
}

/* Prints the seconds that it takes to read so many records. */
static int
run_read (const char *graph, guint64 wanted)
{
  double began = now ();
  DlpPipeline *pipeline = start (graph, NULL);
  DlpAppSink *sink = find_sink (pipeline);
  guint64 taken = 0;

  while (taken < wanted)
    {
      g_autoptr (DlpRecordBatch) batch = dlp_app_sink_pull (sink, 0, NULL, NULL);

      g_assert_nonnull (batch);
      taken += dlp_record_batch_get_length (batch);
    }
  printf ("%.3f\n", now () - began);
  fflush (stdout);
  _exit (0);
}

static int
run_phase (char **args)
{
  if (g_str_equal (args[0], "kill"))
    return run_until_killed (args[1], args[2], g_ascii_strtoull (args[3], NULL, 10));
  if (g_str_equal (args[0], "first"))
    return run_to_first (args[1], args[2]);
  if (g_str_equal (args[0], "decode"))
    return run_decode (args[1], g_ascii_strtoull (args[2], NULL, 10));
  return run_read (args[1], g_ascii_strtoull (args[2], NULL, 10));
}

/* ---- measuring ---- */

static char *program;
static gboolean passed = TRUE;

/* Runs this program; @said: (nullable): what it logs. */
static int
spawn (char **out, char **said, const char *phase, const char *a, const char *b, const char *c)
{
  const char *args[] = { program, phase, a, b, c, NULL };
  g_autoptr (GError) error = NULL;
  int status;

  g_spawn_sync (NULL, (char **) args, NULL, G_SPAWN_DEFAULT, NULL, NULL, out, said, &status,
                &error);
  g_assert_no_error (error);
  return status;
}

static double
measure (const char *phase, const char *a, const char *b, const char *c)
{
  g_autofree char *out = NULL;

  g_assert_cmpint (spawn (&out, NULL, phase, a, b, c), ==, 0);
  return g_ascii_strtod (out, NULL);
}

static void
judge (const char *name, double seconds, double bar, const char *what)
{
  gboolean ok = seconds <= bar;

  passed &= ok;
  printf ("%s: %s, %.2f s to the first record, at most %.2f%s\n", name, ok ? "PASS" : "FAIL",
          seconds, bar, what);
  fflush (stdout);
}

/* Kills and continues; returns the seconds. @said: (out) (nullable): what the second one logs. */
static double
kill_and_continue (const char *graph, const char *folder, guint64 records, char **said)
{
  g_autofree char *state = g_build_filename (folder, "state", NULL);
  g_autofree char *wanted = g_strdup_printf ("%" G_GUINT64_FORMAT, records);
  g_autofree char *out = NULL, *heard = NULL;
  guint64 position;
  char *end;
  double seconds;
  int status = spawn (NULL, NULL, "kill", graph, state, wanted);

  g_assert_true (WIFSIGNALED (status) && WTERMSIG (status) == SIGKILL);
  g_assert_cmpint (spawn (&out, &heard, "first", graph, state, NULL), ==, 0);
  seconds = g_ascii_strtod (out, &end);
  position = g_ascii_strtoull (end, NULL, 10);
  g_assert_cmpuint (position, >=, records);
  bench_remove_folder (state);
  if (said != NULL)
    *said = g_steal_pointer (&heard);
  return seconds;
}

/* ---- one file ---- */

/* Of frames or members that were written one by one. */
static guint64
write_frames (Corpus *corpus, const char *path, const char *part, guint64 bytes)
{
  int fd = open (path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  guint64 records = 0;

  g_assert_cmpint (fd, >=, 0);
  for (guint64 i = 0; i < MAX (bytes / FRAME_BYTES, 4); i++)
    {
      g_autofree char *data = NULL;
      gsize size;

      records += corpus_write_documents (corpus, part, FRAME_BYTES, i + 1);
      g_assert_true (g_file_get_contents (part, &data, &size, NULL));
      g_assert_cmpint (write (fd, data, size), ==, (gssize) size);
    }
  close (fd);
  g_remove (part);
  return records;
}

static double
measure_file (const char *folder, const char *path, guint64 records)
{
  g_autofree char *graph =
      g_strdup_printf ("file-source location=\"%s\" ! jsonl-reader ! app-sink name=out", path);

  return kill_and_continue (graph, folder, (guint64) ((double) records * SHARE), NULL);
}

static void
bench_file (Corpus *corpus, const char *folder, const char *name, guint64 bytes)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  guint64 records = corpus_write_documents (corpus, path, bytes, 1);
  double seconds = measure_file (folder, path, records);

  if (g_str_has_suffix (name, ".zst"))
    {
      g_autofree char *decoded =
          g_strdup_printf ("%" G_GUINT64_FORMAT, (guint64) ((double) bytes * SHARE));
      double decode = measure ("decode", path, decoded, NULL);
      g_autofree char *what = g_strdup_printf (" (to decode it up to there: %.2f s)", decode);

      judge (name, seconds, 1.25 * decode + 1, what);
    }
  else
    judge (name, seconds, 1, "");
  g_remove (path);
}

static void
bench_frames (Corpus *corpus,
              const char *folder,
              const char *name,
              const char *part_name,
              guint64 bytes)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autofree char *part = g_build_filename (folder, part_name, NULL);
  guint64 records = write_frames (corpus, path, part, bytes);

  judge (name, measure_file (folder, path, records), 1, "");
  g_remove (path);
}

/* ---- a shuffle buffer ---- */

static void
write_small_files (const char *folder)
{
  static const char letters[] = "etaoin shrdlu cmfwyp";
  guint64 x = 88172645463325252u;

  for (guint i = 0; i < N_FILES; i++)
    {
      g_autofree char *name = g_strdup_printf ("%03u.jsonl", i);
      g_autofree char *path = g_build_filename (folder, name, NULL);
      g_autoptr (GString) text = g_string_new (NULL);

      for (guint k = 0; k < FILE_RECORDS; k++)
        {
          g_string_append (text, "{\"text\": \"");
          for (guint n = 200 + k % 200; n > 0; n--)
            {
              x ^= x << 13;
              x ^= x >> 7;
              x ^= x << 17;
              g_string_append_c (text, letters[x % (sizeof letters - 1)]);
            }
          g_string_append (text, "\"}\n");
        }
      g_assert_true (g_file_set_contents (path, text->str, (gssize) text->len, NULL));
    }
}

static guint64
find_number (const char *text, const char *before)
{
  const char *at = strstr (text, before);

  return at != NULL ? g_ascii_strtoull (at + strlen (before), NULL, 10) : 0;
}

static void
bench_shuffle (const char *folder)
{
  g_autofree char *inputs = g_build_filename (folder, "in", NULL);
  g_autofree char *reader = g_strdup_printf (
      "file-source location=\"%s/*.jsonl\" shuffle=true ! jsonl-reader interleave=8", inputs);
  g_autofree char *plain = g_strdup_printf ("%s ! app-sink name=out", reader);
  g_autofree char *records = g_strdup_printf (
      "%s ! shuffle size=%u checkpoint=records ! app-sink name=out", reader, BUFFER);
  g_autofree char *positions =
      g_strdup_printf ("%s ! shuffle size=%u ! app-sink name=out", reader, BUFFER);
  guint64 wanted = (guint64) (N_FILES * FILE_RECORDS * SHARE) - BUFFER;
  g_autofree char *said = NULL, *replayed = NULL, *what = NULL;
  double seconds, read;

  g_assert_cmpint (g_mkdir (inputs, 0700), ==, 0);
  write_small_files (inputs);
  seconds = kill_and_continue (records, folder, wanted, NULL);
  judge ("shuffle checkpoint=records", seconds, 2, " (500 files)");

  seconds = kill_and_continue (positions, folder, wanted, &said);
  replayed = g_strdup_printf ("%" G_GUINT64_FORMAT, find_number (said, "replaying "));
  g_assert_cmpstr (replayed, !=, "0");
  read = measure ("read", plain, replayed, NULL);
  what =
      g_strdup_printf (" (%s records replayed, as it said; to read them: %.2f s)", replayed, read);
  judge ("shuffle checkpoint=positions", seconds, 1.25 * read + 1, what);
  bench_remove_folder (inputs);
}

/* For a look at one of them: DLPIPE_BENCH_ONLY=shuffle, say. */
static gboolean
is_wanted (const char *what)
{
  const char *only = g_getenv ("DLPIPE_BENCH_ONLY");

  return only == NULL || g_str_equal (only, what);
}

int
main (int argc, char **argv)
{
  const char *asked = g_getenv ("DLPIPE_BENCH_BYTES");
  guint64 bytes = asked != NULL ? g_ascii_strtoull (asked, NULL, 10) : DEFAULT_BYTES;
  g_autoptr (Corpus) corpus = NULL;
  g_autofree char *folder = NULL;

  if (argc > 1)
    return run_phase (argv + 1);

  program = argv[0];
  corpus = corpus_new (g_getenv ("DLPIPE_TEST_DATA"));
  folder = g_dir_make_tmp ("dlpipe-bench-XXXXXX", NULL);
  g_assert_nonnull (folder);
  printf ("files of %.2f GiB decoded\n", (double) bytes / (1 << 30));
  if (is_wanted ("plain"))
    bench_file (corpus, folder, "plain.jsonl", bytes);
  if (is_wanted ("one-frame"))
    bench_file (corpus, folder, "one-frame.jsonl.zst", bytes);
  if (is_wanted ("frames"))
    bench_frames (corpus, folder, "frames.jsonl.zst", "part.zst", bytes);
  if (is_wanted ("members"))
    bench_frames (corpus, folder, "members.jsonl.gz", "part.gz", bytes);
  if (is_wanted ("shuffle"))
    bench_shuffle (folder);
  bench_remove_folder (folder);
  return passed ? 0 : 1;
}
