/* SPDX-License-Identifier: MIT */
#include "bench-documents.h"
#include "dlpipe/dlp-tokenizer.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* usage: bench-threads MODEL DOCUMENTS PASSES N threads|copies
 *
 * Encodes all documents PASSES times, one in N of them on each of N threads that share a tokenizer,
 * or in each of N processes with a tokenizer of its own; each with its own context. All begin a
 * pass at the same time. Prints a line: for each pass MB/s by the clock (of the slowest) and MB/s
 * of CPU time times N, then the number of ids of one pass. tests/peers/bench_tokenizers.py runs
 * both kinds in turn. */

#define MAX_WORKERS 64
#define MAX_PASSES 100

/* In memory that forked processes share. */
typedef struct
{
  pthread_barrier_t barrier;
  guint n_passes;
  guint n_workers;
  guint64 n_ids[MAX_WORKERS];
  double wall[MAX_PASSES][MAX_WORKERS];
  double cpu[MAX_PASSES][MAX_WORKERS];
} Common;

typedef struct
{
  Common *common;
  DlpTokenizer *tokenizer;
  GArray *documents;
  guint index;
} Worker;

static guint64
encode_share (Worker *self, DlpTokenizerContext *context, guint32 *ids, gsize room)
{
  guint64 total = 0;

  for (guint i = self->index; i < self->documents->len; i += self->common->n_workers)
    {
      const Document *document = &g_array_index (self->documents, Document, i);
      gssize n =
          dlp_tokenizer_encode (self->tokenizer, context, document->text, document->len, ids, room);

      g_assert_cmpint (n, >=, 0);
      total += n;
    }
  return total;
}

static void *
work (void *data)
{
  Worker *self = data;
  Common *common = self->common;
  g_autoptr (DlpTokenizerContext) context = dlp_tokenizer_context_new (self->tokenizer, 0);
  gsize room = 2 * find_longest (self->documents) + 64;
  g_autofree guint32 *ids = g_new (guint32, room);

  memset (ids, 1, room * sizeof *ids);
  for (guint pass = 0; pass < common->n_passes; pass++)
    {
      double wall, cpu;

      pthread_barrier_wait (&common->barrier);
      wall = get_seconds (CLOCK_MONOTONIC);
      cpu = get_seconds (CLOCK_THREAD_CPUTIME_ID);
      common->n_ids[self->index] = encode_share (self, context, ids, room);
      common->wall[pass][self->index] = get_seconds (CLOCK_MONOTONIC) - wall;
      common->cpu[pass][self->index] = get_seconds (CLOCK_THREAD_CPUTIME_ID) - cpu;
    }
  return NULL;
}

static DlpTokenizer *
load (const char *model)
{
  g_autoptr (GError) error = NULL;
  DlpTokenizer *tokenizer = dlp_tokenizer_new (model, NULL, &error);

  if (tokenizer == NULL)
    g_error ("%s", error->message);
  return tokenizer;
}

static void
run_threads (Common *common, GArray *documents, const char *model)
{
  g_autoptr (DlpTokenizer) tokenizer = load (model);
  pthread_t threads[MAX_WORKERS];
  Worker workers[MAX_WORKERS];

  for (guint i = 0; i < common->n_workers; i++)
    {
      workers[i] = (Worker){ common, tokenizer, documents, i };
      if (pthread_create (&threads[i], NULL, work, &workers[i]) != 0)
        g_error ("cannot make a thread");
    }
  for (guint i = 0; i < common->n_workers; i++)
    pthread_join (threads[i], NULL);
}

static void
run_copies (Common *common, GArray *documents, const char *model)
{
  for (guint i = 0; i < common->n_workers; i++)
    {
      pid_t pid = fork ();

      if (pid < 0)
        g_error ("cannot fork: %s", g_strerror (errno));
      if (pid == 0)
        {
          Worker worker = { common, load (model), documents, i };

          work (&worker);
          _exit (EXIT_SUCCESS);
        }
    }
  for (guint i = 0; i < common->n_workers; i++)
    {
      int status;

      if (wait (&status) < 0 || status != 0)
        g_error ("a copy failed");
    }
}

static void
print_rates (const Common *common, double size)
{
  guint64 n_ids = 0;

  for (guint pass = 0; pass < common->n_passes; pass++)
    {
      double slowest = 0, cpu = 0;

      for (guint i = 0; i < common->n_workers; i++)
        {
          slowest = MAX (slowest, common->wall[pass][i]);
          cpu += common->cpu[pass][i];
        }
      g_print ("%.1f %.1f ", size / 1e6 / slowest, size / 1e6 / cpu * common->n_workers);
    }
  for (guint i = 0; i < common->n_workers; i++)
    n_ids += common->n_ids[i];
  g_print ("%" G_GUINT64_FORMAT "\n", n_ids);
}

static Common *
make_common (guint n_passes, guint n_workers)
{
  Common *common =
      mmap (NULL, sizeof *common, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pthread_barrierattr_t attributes;

  g_assert_true (common != MAP_FAILED);
  common->n_passes = n_passes;
  common->n_workers = n_workers;
  pthread_barrierattr_init (&attributes);
  pthread_barrierattr_setpshared (&attributes, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init (&common->barrier, &attributes, n_workers);
  pthread_barrierattr_destroy (&attributes);
  return common;
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) documents = NULL;
  g_autofree char *data = NULL;
  double total = 0;
  Common *common;
  gsize size;

  if (argc < 6)
    {
      g_printerr ("usage: bench-threads MODEL DOCUMENTS PASSES N threads|copies\n");
      return 77;
    }
  if (!g_file_get_contents (argv[2], &data, &size, &error))
    g_error ("%s", error->message);
  documents = find_documents (data, size);
  for (guint i = 0; i < documents->len; i++)
    total += g_array_index (documents, Document, i).len;
  common =
      make_common (CLAMP (atoi (argv[3]), 1, MAX_PASSES), CLAMP (atoi (argv[4]), 1, MAX_WORKERS));
  if (strcmp (argv[5], "threads") == 0)
    run_threads (common, documents, argv[1]);
  else
    run_copies (common, documents, argv[1]);
  print_rates (common, total);
  munmap (common, sizeof *common);
  return EXIT_SUCCESS;
}
