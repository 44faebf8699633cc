/* SPDX-License-Identifier: MIT */

/* Random graphs with fan-in and fan-out, threads that give way at random in each push and pop,
 * somebody who asks and meddles all the time, and an end in the middle: complete, stopped, aborted,
 * cancelled, finished early, or by an error. For ThreadSanitizer; what came is the beginning of
 * what had to come. DLPIPE_TEST_SEEDS: how many; DLPIPE_TEST_CASE=N runs one again. */

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <dlp-harness.h>
#include <glib/gstdio.h>

#include "stress-fault.h"
#include "toys.h"

#define SEEDS 20
#define N_SINKS 3

typedef enum
{
  END_NONE,
  END_STOP,
  END_ABORT,
  END_CANCEL,
  END_FINISH,
  END_ERROR,
  N_ENDS
} End;

typedef struct
{
  guint32 seed;
  GRand *rand;
  char *folder;
  char *graph; /* "@": the folder, "#": records before the fault */
  End end;
  gint64 after; /* us */
  DlpPipeline *pipeline;
  GCancellable *cancellable;
  bool over; /* atomic */
  bool has_state;
} Case;

static gint
draw (Case *self, gint from, gint to)
{
  return g_rand_int_range (self->rand, from, to);
}

/* ---- graphs ---- */

static void
append_any (Case *self, GString *text)
{
  static const char *const elements[] = { "toy-filter ! ",     "toy-expand ! ",  "toy-parallel ! ",
                                          "shuffle size=9 ! ", "toy-shuffle ! ", "toy-pack ! " };

  for (gint n = draw (self, 0, 3); n > 0; n--)
    g_string_append (text, elements[draw (self, 0, G_N_ELEMENTS (elements))]);
}

static char *
make_graph (Case *self)
{
  GString *text = g_string_new (NULL);
  gint n = draw (self, 1, 5);

  for (gint i = 0; i < n; i++)
    {
      g_string_append_printf (text, "check-source records=%d variant=%d ! ", draw (self, 0, 400),
                              i);
      append_any (self, text);
      g_string_append (text, "m.  ");
    }
  g_string_append (text, "mix name=m ! ");
  append_any (self, text);
  g_string_append (text, "stress-fault name=x after=# ! tee name=t ! ");
  append_any (self, text);
  g_string_append (text, "toy-sink name=k0 location=@/k0  t. ! ");
  append_any (self, text);
  if (draw (self, 0, 2) == 0)
    g_string_append_printf (text, "limit records=%d ! ", draw (self, 1, 200));
  g_string_append (text, "toy-sink name=k1 location=@/k1  x.rejected ! ");
  append_any (self, text);
  g_string_append (text, "toy-sink name=k2 location=@/k2");
  return g_string_free (text, FALSE);
}

static char *
fill_in (Case *self, const char *folder, gint fault)
{
  g_autoptr (GString) text = g_string_new (self->graph);
  g_autofree char *number = g_strdup_printf ("%d", fault);

  g_string_replace (text, "@", folder, 0);
  g_string_replace (text, "#", number, 0);
  return g_strdup (text->str);
}

/* ---- folders ---- */

static char *
make_folder (Case *self, const char *name)
{
  char *folder = g_build_filename (self->folder, name, NULL);

  g_assert_cmpint (g_mkdir (folder, 0700), ==, 0);
  return folder;
}

static void
remove_folder (const char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *file = g_build_filename (path, name, NULL);

      if (g_file_test (file, G_FILE_TEST_IS_DIR))
        remove_folder (file);
      else
        g_unlink (file);
    }
  g_rmdir (path);
}

static char *
read_sink (const char *folder, guint sink)
{
  g_autofree char *path = g_strdup_printf ("%s/k%u", folder, sink);
  char *text = NULL;

  return g_file_get_contents (path, &text, NULL, NULL) ? text : g_strdup ("");
}

/* ---- runs ---- */

static DlpPipeline *
make_pipeline (Case *self, const char *folder, gint fault)
{
  static const DlpRunnerKind runners[] = { DLP_RUNNER_THREADS, DLP_RUNNER_POOL,
                                           DLP_RUNNER_SEQUENTIAL };
  static const guint batches[] = { 0, 1, 2, 7 };
  static const guint links[] = { 1, 2, 16 };
  g_autofree char *text = fill_in (self, folder, fault);
  g_autofree char *state = g_build_filename (folder, "state", NULL);
  g_autoptr (GError) error = NULL;
  DlpPipeline *pipeline = dlp_pipeline_new_from_string (text, &error);

  g_assert_no_error (error);
  g_object_set (pipeline, "runner", runners[draw (self, 0, 3)], "workers",
                (guint) draw (self, 1, 4), "batch-records", batches[draw (self, 0, 4)],
                "link-batches", links[draw (self, 0, 3)], "random-yields", TRUE,
                "checkpoint-interval", (gint64) draw (self, 1, 3000), NULL);
  if (self->has_state)
    g_object_set (pipeline, "state-dir", state, NULL);
  toys_set_pipeline (pipeline);
  return pipeline;
}

/* Whatever a program may do from another thread. */
static gpointer
meddle (gpointer data)
{
  Case *self = data;

  for (guint i = 0; !__atomic_load_n (&self->over, __ATOMIC_ACQUIRE); i++)
    {
      g_autoptr (GVariant) report = NULL;

      switch (i % 4)
        {
        case 0:
          report = dlp_pipeline_get_report (self->pipeline);
          break;
        case 1:
          dlp_pipeline_checkpoint (self->pipeline);
          break;
        case 2:
          dlp_pipeline_pause (self->pipeline);
          break;
        default:
          dlp_pipeline_resume (self->pipeline);
        }
      g_usleep (200);
    }
  dlp_pipeline_resume (self->pipeline);
  return NULL;
}

static gpointer
end_it (gpointer data)
{
  Case *self = data;

  g_usleep ((gulong) self->after);
  switch (self->end)
    {
    case END_STOP:
      dlp_pipeline_stop (self->pipeline);
      break;
    case END_ABORT:
      dlp_pipeline_abort (self->pipeline);
      break;
    case END_CANCEL:
      g_cancellable_cancel (self->cancellable);
      break;
    case END_FINISH:
      dlp_pipeline_finish (self->pipeline);
      break;
    case END_NONE:
    case END_ERROR:
    case N_ENDS:
      break;
    }
  return NULL;
}

/* A run may end before its end is asked for. */
static void
check_error (Case *self, const GError *error)
{
  static const struct
  {
    End end;
    int code;
  } ends[] = { { END_STOP, DLP_PIPELINE_ERROR_STOPPED },
               { END_ABORT, DLP_PIPELINE_ERROR_ABORTED } };
  bool ok = error == NULL;

  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    ok |= self->end == ends[i].end && g_error_matches (error, DLP_PIPELINE_ERROR, ends[i].code);
  ok |= self->end == END_CANCEL && g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  ok |= self->end == END_ERROR && g_error_matches (error, DLP_DATA_ERROR, DLP_DATA_ERROR_DAMAGED);
  if (!ok)
    g_error ("case %u, end %d: %s\n%s", self->seed, self->end, error->message, self->graph);
}

/* TRUE: it was complete. */
static bool
run_disturbed (Case *self, const char *folder)
{
  g_autoptr (GError) error = NULL;
  GThread *meddler, *ender;
  bool ok;

  self->pipeline = make_pipeline (self, folder, self->end == END_ERROR ? draw (self, 1, 300) : 0);
  self->cancellable = g_cancellable_new ();
  self->over = false;
  meddler = g_thread_new ("meddle", meddle, self);
  ender = g_thread_new ("end", end_it, self);
  ok = dlp_pipeline_run (self->pipeline, self->cancellable, &error);
  check_error (self, error);
  __atomic_store_n (&self->over, true, __ATOMIC_RELEASE);
  g_thread_join (ender);
  g_thread_join (meddler);
  g_clear_object (&self->pipeline);
  g_clear_object (&self->cancellable);
  return ok;
}

static void
run_quietly (Case *self, const char *folder)
{
  g_autoptr (DlpPipeline) pipeline = make_pipeline (self, folder, 0);
  g_autoptr (GError) error = NULL;

  dlp_pipeline_run (pipeline, NULL, &error);
  if (error != NULL)
    g_error ("case %u: %s\n%s", self->seed, error->message, self->graph);
}

/* ---- cases ---- */

static void
compare (Case *self, const char *quiet, const char *rough, bool complete)
{
  for (guint i = 0; i < N_SINKS; i++)
    {
      g_autofree char *expected = read_sink (quiet, i);
      g_autofree char *got = read_sink (rough, i);

      if (complete ? strcmp (expected, got) != 0 : !g_str_has_prefix (expected, got))
        g_error ("case %u, end %d: sink k%u has another output\n%s\nin %s", self->seed, self->end,
                 i, self->graph, self->folder);
    }
}

static void
check_case (guint32 seed)
{
  Case self = { seed, g_rand_new_with_seed (seed) };
  g_autofree char *quiet = NULL;
  g_autofree char *rough = NULL;
  bool complete;

  self.folder = g_dir_make_tmp ("dlpipe-stress-XXXXXX", NULL);
  g_assert_nonnull (self.folder);
  quiet = make_folder (&self, "quiet");
  rough = make_folder (&self, "rough");
  self.graph = make_graph (&self);
  self.end = (End) draw (&self, 0, N_ENDS);
  self.after = draw (&self, 0, 30000);
  self.has_state = draw (&self, 0, 3) > 0;

  run_quietly (&self, quiet);
  complete = run_disturbed (&self, rough);
  /* What was ended early has other inputs, and so another order. */
  if (self.end != END_FINISH)
    compare (&self, quiet, rough, complete);

  remove_folder (self.folder);
  g_rand_free (self.rand);
  g_free (self.folder);
  g_free (self.graph);
}

static void
test_seeds (void)
{
  const char *seeds = g_getenv ("DLPIPE_TEST_SEEDS");
  const char *only = g_getenv ("DLPIPE_TEST_CASE");
  guint n = seeds != NULL ? (guint) strtoul (seeds, NULL, 10) : dlp_check_scale (SEEDS);

  for (guint i = 0; i < n; i++)
    check_case (only != NULL ? (guint32) strtoul (only, NULL, 10) :
                               (guint32) g_test_rand_int_range (0, 1000000000));
  g_test_message ("%u seeds", n);
}

/* A run that failed goes on: what was rejected behind the fault is not lost, whatever was seen of
 * it before the fault was. */
static void
test_rejects_after_an_error (void)
{
  for (guint i = 0; i < dlp_check_scale (10); i++)
    {
      Case self = { i, g_rand_new_with_seed ((guint32) g_test_rand_int ()) };
      g_autofree char *quiet = NULL;
      g_autofree char *rough = NULL;

      self.folder = g_dir_make_tmp ("dlpipe-stress-XXXXXX", NULL);
      g_assert_nonnull (self.folder);
      quiet = make_folder (&self, "quiet");
      rough = make_folder (&self, "rough");
      self.graph = g_strdup ("check-source records=600 ! stress-fault name=x after=# ! "
                             "toy-parallel ! toy-sink name=k0 location=@/k0  x.rejected ! "
                             "toy-sink name=k1 location=@/k1");
      self.end = END_ERROR;
      self.has_state = true;
      run_quietly (&self, quiet);
      g_assert_false (run_disturbed (&self, rough));
      run_quietly (&self, rough);
      compare (&self, quiet, rough, true);
      remove_folder (self.folder);
      g_rand_free (self.rand);
      g_free (self.folder);
      g_free (self.graph);
    }
}

int
main (int argc, char **argv)
{
  int code;

  g_test_init (&argc, &argv, NULL);
  if (g_file_test ("/dev/shm", G_FILE_TEST_IS_DIR))
    g_setenv ("TMPDIR", "/dev/shm", FALSE);
  dlp_harness_init ();
  toys_register ();
  dlp_registry_add_element ("stress-fault", stress_fault_get_type (), NULL);
  g_test_add_func ("/stress/seeds", test_seeds);
  g_test_add_func ("/stress/rejects-after-an-error", test_rejects_after_an_error);
  code = g_test_run ();
  toys_set_pipeline (NULL);
  return code;
}
