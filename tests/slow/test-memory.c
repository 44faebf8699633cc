/* SPDX-License-Identifier: MIT */

/* The memory of whole runs: their peak of resident pages, as the system counts it. */

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <glib/gstdio.h>

#include "corpus.h"
#include "launch.h"

#define MIB (G_GUINT64_CONSTANT (1024) * 1024)
#define MAIN_JOB " ! jsonl-reader ! shuffle ! tokenizer model=gpt2 ! megatron-sink location="
/* The bounds are for two workers, however many CPUs there are. */
#define TWO_WORKERS "--workers=2"

static Corpus *corpus;
static char *folder;

static guint64
scale (guint64 n)
{
  const char *text = g_getenv ("DLPIPE_TEST_SCALE");
  double factor = text != NULL ? g_ascii_strtod (text, NULL) : 1;

  return MAX ((guint64) ((double) n * factor), 1);
}

/* ---- a folder for each test, with room for gigabytes ---- */

static void
make_folder (void)
{
  const char *base = g_getenv ("DLPIPE_TEST_DIR");

  folder = g_build_filename (base != NULL ? base : "/var/tmp", "dlpipe-slow-XXXXXX", NULL);
  g_assert_nonnull (g_mkdtemp (folder));
}

static void
empty_folder (const char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *file = g_build_filename (path, name, NULL);

      if (g_file_test (file, G_FILE_TEST_IS_DIR))
        empty_folder (file);
      g_remove (file);
    }
}

static void
remove_folder (void)
{
  empty_folder (folder);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
  g_clear_pointer (&folder, g_free);
}

static char *
path_of (const char *name)
{
  return g_build_filename (folder, name, NULL);
}

/* ---- */

/* Runs the graph in @graph_file, and removes what it read and wrote before anything is asserted. */
static void
check_peak (const char *graph, const char *workers, guint64 n_records, gsize limit)
{
  g_autofree char *graph_file = path_of ("graph");
  g_autofree char *log = path_of ("log");
  const char *args[] = { "--progress=none", workers, "--file", graph_file, NULL };
  g_auto (Launch) launch = { 0 };

  g_assert_true (g_file_set_contents (graph_file, graph, -1, NULL));
  launch_run (&launch, log, args);
  remove_folder ();

  g_test_message ("peak %.1f MiB, limit %.1f MiB, %.1f s, %.1f s of CPU time",
                  (double) launch.peak / MIB, (double) limit / MIB, launch.wall, launch.cpu);
  if (launch.status != 0)
    g_test_message ("%s", launch.said);
  g_assert_cmpint (launch.status, ==, 0);
  g_assert_cmpuint (launch_get_records (&launch), ==, n_records);
  g_assert_cmpuint (launch.peak, <, limit);
}

static char *
main_job (const char *input)
{
  return g_strdup_printf ("file-source location=%s/%s" MAIN_JOB "%s/out", folder, input, folder);
}

static void
test_large_file (void)
{
  g_autofree char *input = NULL;
  g_autofree char *graph = NULL;
  guint64 n;

  make_folder ();
  input = path_of ("large.jsonl.zst");
  graph = main_job ("large.jsonl.zst");
  n = corpus_write_documents (corpus, input, scale (4096 * MIB), 1);
  check_peak (graph, TWO_WORKERS, n, 256 * MIB);
}

static void
test_tiny_documents (void)
{
  g_autofree char *input = NULL;
  g_autofree char *graph = NULL;
  guint64 n;

  make_folder ();
  input = path_of ("tiny.jsonl.zst");
  graph = main_job ("tiny.jsonl.zst");
  n = corpus_write_tiny (corpus, input, scale (10 * 1000 * 1000), 2);
  check_peak (graph, TWO_WORKERS, n, 256 * MIB);
}

static void
test_many_sources (void)
{
  const guint n_sources = 500;
  g_autoptr (GString) graph = g_string_new (NULL);
  guint64 n = 0;

  make_folder ();
  g_string_append_printf (
      graph, "mix name=m ! tokenizer model=gpt2 ! megatron-sink location=%s/out\n", folder);
  for (guint i = 0; i < n_sources; i++)
    {
      g_autofree char *input =
          g_strdup_printf ("%s/%03u.jsonl.%s", folder, i, i % 2 == 0 ? "zst" : "gz");

      n += corpus_write_documents (corpus, input, scale (2 * MIB), 100 + i);
      g_string_append_printf (graph, "file-source location=%s ! jsonl-reader ! m.\n", input);
    }
  check_peak (graph->str, TWO_WORKERS, n, 256 * MIB);
}

static void
test_long_line (void)
{
  guint64 bytes = scale (200 * 1000 * 1000);
  g_autofree char *input = NULL;
  g_autofree char *graph = NULL;

  make_folder ();
  input = path_of ("long.jsonl");
  graph = g_strdup_printf ("file-source location=%s ! jsonl-reader ! null-sink", input);
  corpus_write_line (corpus, input, bytes, 3);
  check_peak (graph, TWO_WORKERS, 1, 3 * bytes + 64 * MIB);
}

/* ---- text that no cache has seen ---- */

typedef struct
{
  const char *path;
  guint64 bytes;
  guint64 n; /* documents that were written */
} Writer;

static gpointer
write_scripts (gpointer data)
{
  Writer *self = data;

  self->n = corpus_write_scripts (corpus, self->path, self->bytes, 5);
  return NULL;
}

/* The peak of a run that reads so much of it from a pipe. */
static gsize
tokenize_scripts (const char *model, guint64 bytes)
{
  g_autofree char *pipe = NULL;
  g_autofree char *log = NULL;
  g_autofree char *graph = NULL;
  Writer writer = { .bytes = bytes };
  g_auto (Launch) launch = { 0 };
  GThread *thread;

  make_folder ();
  writer.path = pipe = path_of ("pipe");
  log = path_of ("log");
  graph = g_strdup_printf (
      "file-source location=%s ! jsonl-reader ! tokenizer model=%s ! null-sink", pipe, model);
  g_assert_cmpint (mkfifo (pipe, 0600), ==, 0);
  thread = g_thread_new ("write", write_scripts, &writer);
  launch_run (&launch, log,
              (const char *[]){ "--progress=none", "--no-state", TWO_WORKERS, graph, NULL });
  g_thread_join (thread);
  remove_folder ();
  g_test_message ("%s, %.0f MB: peak %.1f MiB, %.1f s, %.1f s of CPU time", model,
                  (double) bytes / 1e6, (double) launch.peak / MIB, launch.wall, launch.cpu);
  if (launch.status != 0)
    g_test_message ("%s", launch.said);
  g_assert_cmpint (launch.status, ==, 0);
  g_assert_cmpuint (launch_get_records (&launch), ==, writer.n);
  return launch.peak;
}

/* However much comes: no more than what the caches may hold, 32 MiB a worker, above what a little
 * takes. */
static void
test_scripts (void)
{
  static const char *const models[] = { "o200k_base", "gpt2" };

  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    {
      gsize little = tokenize_scripts (models[i], 8 * MIB);
      gsize some = tokenize_scripts (models[i], scale (512 * MIB));
      gsize much = tokenize_scripts (
          models[i], scale (i == 0 ? G_GUINT64_CONSTANT (10000000000) : 2048 * MIB));

      g_assert_cmpuint (some, <, little + 2 * 32 * MIB);
      g_assert_cmpuint (much, <, some + 8 * MIB);
    }
}

/* The limit that most systems set. */
static void
limit_files (void)
{
  struct rlimit files;

  g_assert_cmpint (getrlimit (RLIMIT_NOFILE, &files), ==, 0);
  files.rlim_cur = MIN (files.rlim_cur, 1024);
  g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &files), ==, 0);
}

int
main (int argc, char **argv)
{
  int status;

  g_test_init (&argc, &argv, NULL);
  limit_files ();
  corpus = corpus_new (g_getenv ("DLPIPE_TEST_DATA"));

  g_test_add_func ("/memory/long-line", test_long_line);
  g_test_add_func ("/memory/many-sources", test_many_sources);
  g_test_add_func ("/memory/tiny-documents", test_tiny_documents);
  g_test_add_func ("/memory/large-file", test_large_file);
  g_test_add_func ("/memory/scripts", test_scripts);

  status = g_test_run ();
  corpus_free (corpus);
  return status;
}
