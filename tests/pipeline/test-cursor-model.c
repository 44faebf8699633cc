/* SPDX-License-Identifier: MIT */

/* The rule of cursors on the real runtime: graphs of toys are stopped, aborted and killed, go on
 * from their state, and in the end every sink holds what an undisturbed run gives it. The graphs
 * are those of the reference model and random ones. The plugins shuffle, mix, limit and tee are the
 * real ones. */

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dlp-harness.h>
#include <glib/gstdio.h>

#include "toys.h"

#define MAX_SINKS 8
#define MAX_ATTEMPTS 25

typedef struct
{
  char *graph; /* "@": the folder */
  guint n_sinks;
  guint n_logs;
} Case;

/* ---- graphs ---- */

static const struct
{
  const char *name;
  const char *graph;
  guint n_sinks;
} graphs[] = {
  { "chain",
    "check-source name=s records=90 ! toy-filter ! toy-expand ! toy-shuffle ! toy-pack ! %k", 1 },
  { "reader-and-rejects",
    "check-source name=s records=9 ! toy-reader name=r ! toy-parallel ! %k  r.rejected ! %k", 2 },
  { "mixed",
    "check-source records=40 ! m.  check-source records=25 variant=1 ! toy-filter ! m. "
    "check-source records=0 variant=2 ! m.  mix name=m ! shuffle size=6 ! %k",
    1 },
  { "two-shuffles", "check-source records=80 ! shuffle size=6 ! toy-filter ! toy-shuffle ! %k", 1 },
  { "dropping",
    "check-source records=800 ! toy-filter drop-from=40 drop-to=700 ! shuffle size=6 ! %k", 1 },
  { "tee",
    "check-source records=120 ! shuffle size=6 ! tee name=t ! toy-pack ! %k  "
    "t. ! limit records=25 ! %k  t. ! toy-hoard ! %k",
    3 },
  { "rare-split",
    "check-source records=700 ! toy-expand ! toy-split name=x ! toy-shuffle ! %k  x.rare ! %k", 2 },
  { "dedup",
    "check-source records=150 ! toy-dedup location=@/log0 ! tee name=t ! toy-pack ! %k  t. ! %k",
    2 },
  /* In place of the diamond, which is refused: branches that end apart. */
  { "branches",
    "check-source records=60 ! tee name=t ! toy-filter ! %k  t. ! toy-expand ! toy-parallel ! %k  "
    "t. ! limit records=7 ! %k",
    3 },
};

static void
append_sink (GString *text, Case *self)
{
  static const char *const names[MAX_SINKS] = { "k", "j", "i", "h", "g", "f", "e", "d" };

  g_assert_cmpuint (self->n_sinks, <, MAX_SINKS);
  g_string_append_printf (text, "toy-sink name=%s location=@/%s ", names[self->n_sinks],
                          names[self->n_sinks]);
  self->n_sinks++;
}

static Case *
case_new (const char *graph)
{
  Case *self = g_new0 (Case, 1);
  GString *text = g_string_new (NULL);

  for (const char *p = graph; *p != '\0'; p++)
    if (*p == '%')
      {
        append_sink (text, self);
        p++;
      }
    else
      g_string_append_c (text, *p);
  self->n_logs = strstr (graph, "log0") != NULL;
  self->graph = g_string_free (text, FALSE);
  return self;
}

static void
case_free (Case *self)
{
  g_free (self->graph);
  g_free (self);
}

/* A reader's rejects behind the last record that a limit took are not determined: no reader before
 * one. */
static void
append_element (GString *text, Case *self, GRand *rand, guint *n_named, bool may_read)
{
  switch (g_rand_int_range (rand, 0, may_read ? 10 : 9))
    {
    case 0:
      g_string_append (text, "toy-filter ! ");
      break;
    case 1:
      g_string_append_printf (text, "toy-filter drop-from=%d drop-to=400 ! ",
                              g_rand_int_range (rand, 1, 60));
      break;
    case 2:
      g_string_append (text, "toy-expand ! ");
      break;
    case 3:
      g_string_append (text, "toy-pack ! ");
      break;
    case 4:
      g_string_append (text, "toy-shuffle ! ");
      break;
    case 5:
    case 6:
      g_string_append_printf (text, "shuffle size=%d ! ", g_rand_int_range (rand, 1, 40));
      break;
    case 7:
      g_string_append (text, "toy-parallel ! ");
      break;
    case 8:
      g_string_append_printf (text, "toy-dedup location=@/log%u ! ", self->n_logs++);
      break;
    default:
      g_string_append_printf (text, "toy-reader name=r%u ! ", *n_named);
      break;
    }
}

static void
append_chain (GString *text, Case *self, GRand *rand, guint longest)
{
  guint unused = 0;

  for (gint n = g_rand_int_range (rand, 0, (gint) longest + 1); n > 0; n--)
    append_element (text, self, rand, &unused, false);
}

static void
append_sources (GString *text, Case *self, GRand *rand)
{
  gint n = g_rand_int_range (rand, 1, 4);

  for (gint i = 0; i < n; i++)
    {
      g_string_append_printf (
          text, "check-source records=%d variant=%d ! ",
          g_rand_int_range (rand, 0, 4) == 0 ? 0 : g_rand_int_range (rand, 1, 200), i);
      if (n > 1)
        {
          append_chain (text, self, rand, 1);
          g_string_append (text, "m.  ");
        }
    }
  if (n > 1)
    g_string_append_printf (text, "mix name=m exhausted=%s ! ",
                            g_rand_boolean (rand) ? "renormalize" : "stop");
}

static void
append_branch (GString *text, Case *self, GRand *rand, bool may_limit)
{
  append_chain (text, self, rand, 2);
  if (may_limit && g_rand_int_range (rand, 0, 3) == 0)
    g_string_append_printf (text, "limit records=%d ! ", g_rand_int_range (rand, 1, 60));
  if (g_rand_int_range (rand, 0, 8) == 0)
    g_string_append (text, "toy-hoard ! ");
  append_sink (text, self);
}

static Case *
case_new_random (guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  Case *self = g_new0 (Case, 1);
  GString *text = g_string_new (NULL);
  gint form = g_rand_int_range (rand, 0, 4);

  append_sources (text, self, rand);
  append_chain (text, self, rand, 3);
  switch (form)
    {
    case 0:
      append_branch (text, self, rand, true);
      break;
    case 1:
      g_string_append (text, "toy-split name=x ratio=9 ! ");
      append_branch (text, self, rand, true);
      g_string_append (text, " x.rare ! ");
      append_branch (text, self, rand, true);
      break;
    case 2:
      g_string_append (text, "toy-reader name=r ! ");
      append_branch (text, self, rand, false);
      g_string_append (text, " r.rejected ! ");
      append_branch (text, self, rand, true);
      break;
    default:
      g_string_append (text, "tee name=t ! ");
      append_branch (text, self, rand, true);
      for (gint n = g_rand_int_range (rand, 1, 3); n > 0; n--)
        {
          g_string_append (text, " t. ! ");
          append_branch (text, self, rand, true);
        }
    }
  self->graph = g_string_free (text, FALSE);
  return self;
}

/* ---- folders ---- */

static char *
make_folder (void)
{
  char *folder = g_build_filename (g_file_test ("/dev/shm", G_FILE_TEST_IS_DIR) ? "/dev/shm" :
                                                                                  g_get_tmp_dir (),
                                   "dlpipe-cursor-XXXXXX", NULL);

  g_assert_nonnull (g_mkdtemp (folder));
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

/* (element-type utf8): of the sinks and logs. */
static GPtrArray *
list_files (Case *self, const char *folder)
{
  static const char names[] = "kjihgfed";
  GPtrArray *files = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < self->n_sinks; i++)
    g_ptr_array_add (files, g_strdup_printf ("%s/%c", folder, names[i]));
  for (guint i = 0; i < self->n_logs; i++)
    g_ptr_array_add (files, g_strdup_printf ("%s/log%u", folder, i));
  return files;
}

/* ---- one attempt ---- */

typedef enum
{
  END_NOT,
  END_STOP,
  END_ABORT,
  END_KILL,
} EndHow;

typedef struct
{
  const char *folder;
  const char *graph;
  EndHow how;
  bool at_time;
  guint64 after; /* records of the sink, or us */
  char sink;
  DlpHarnessSettings settings;
  gint64 interval;
} Attempt;

static DlpPipeline *
make_pipeline (const Attempt *self)
{
  static const char *const ends[] = { "", "stop", "abort", "kill" };
  g_auto (GStrv) parts = g_strsplit (self->graph, "@", -1);
  g_autofree char *text = g_strjoinv (self->folder, parts);
  g_autofree char *state = g_build_filename (self->folder, "state", NULL);
  g_autoptr (GError) error = NULL;
  DlpPipeline *pipeline = dlp_pipeline_new_from_string (text, &error);

  g_assert_no_error (error);
  g_object_set (pipeline, "state-dir", state, "runner", self->settings.runner, "workers",
                self->settings.workers, "batch-records", self->settings.batch_records,
                "link-batches", self->settings.link_batches, "random-yields",
                self->settings.random_yields, "checkpoint-interval", self->interval, NULL);
  toys_set_pipeline (pipeline);
  if (self->how != END_NOT && !self->at_time)
    {
      const char name[] = { self->sink, '\0' };
      g_autofree char *after = g_strdup_printf ("%" G_GUINT64_FORMAT, self->after);

      dlp_pipeline_set_property_text (pipeline, name, "end-after", after, &error);
      g_assert_no_error (error);
      dlp_pipeline_set_property_text (pipeline, name, "end-how", ends[self->how], &error);
      g_assert_no_error (error);
    }
  return pipeline;
}

typedef struct
{
  const Attempt *attempt;
  DlpPipeline *pipeline;
} Ender;

static gpointer
end_at_time (gpointer data)
{
  Ender *self = data;

  usleep ((useconds_t) self->attempt->after);
  if (self->attempt->how == END_STOP)
    dlp_pipeline_stop (self->pipeline);
  else if (self->attempt->how == END_ABORT)
    dlp_pipeline_abort (self->pipeline);
  else
    kill (getpid (), SIGKILL);
  return NULL;
}

/* TRUE: complete. */
static bool
run_attempt (const Attempt *self)
{
  g_autoptr (DlpPipeline) pipeline = make_pipeline (self);
  g_autoptr (GError) error = NULL;
  static Ender ender; /* outlives the attempt: a thread that is to kill is not waited for */
  bool timed = self->how != END_NOT && self->at_time;
  int code = self->how == END_STOP ? DLP_PIPELINE_ERROR_STOPPED : DLP_PIPELINE_ERROR_ABORTED;
  pthread_t thread;
  bool ok;

  ender = (Ender){ self, pipeline };
  if (timed)
    g_assert_cmpint (pthread_create (&thread, NULL, end_at_time, &ender), ==, 0);
  ok = dlp_pipeline_run (pipeline, NULL, &error);
  if (timed && self->how != END_KILL)
    pthread_join (thread, NULL);
  if (ok)
    return true;
  if (self->how == END_NOT || self->how == END_KILL ||
      !g_error_matches (error, DLP_PIPELINE_ERROR, code))
    g_error ("%s\n%s", error->message, self->graph);
  return false;
}

static bool
run_in_child (const Attempt *self)
{
  pid_t pid = fork ();
  int status;

  g_assert_cmpint (pid, >=, 0);
  if (pid == 0)
    _exit (run_attempt (self) ? 0 : 98);
  while (waitpid (pid, &status, 0) < 0)
    g_assert_cmpint (errno, ==, EINTR);
  if (WIFSIGNALED (status) && WTERMSIG (status) == SIGKILL)
    return false;
  g_assert_true (WIFEXITED (status));
  g_assert_cmpint (WEXITSTATUS (status), ==, 0);
  return true;
}

/* ---- one case ---- */

static GPtrArray *
read_files (Case *self, const char *folder)
{
  g_autoptr (GPtrArray) files = list_files (self, folder);
  GPtrArray *contents = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < self->n_sinks; i++)
    {
      char *text = NULL;

      g_assert_true (g_file_get_contents (g_ptr_array_index (files, i), &text, NULL, NULL));
      g_ptr_array_add (contents, text);
    }
  return contents;
}

static guint
count_lines (const char *text)
{
  guint n = 0;

  for (; *text != '\0'; text++)
    n += *text == '\n';
  return n;
}

static void
compare (Case *self, GPtrArray *expected, const char *folder, const char *what)
{
  g_autoptr (GPtrArray) got = read_files (self, folder);

  for (guint i = 0; i < self->n_sinks; i++)
    {
      const char *a = g_ptr_array_index (expected, i);
      const char *b = g_ptr_array_index (got, i);
      gsize at = 0;

      if (strcmp (a, b) == 0)
        continue;
      while (a[at] == b[at])
        at++;
      g_error ("%s: sink %c: %u lines, expected %u; differs at byte %zu:\n%.80s\n%.80s\n%s", what,
               "kjihgfed"[i], count_lines (b), count_lines (a), at, a + at, b + at, self->graph);
    }
}

/* Drawn in the parent, so that the same seed gives the same attempts. */
static void
draw_attempt (Attempt *attempt, Case *self, GPtrArray *expected, gint64 duration, guint n)
{
  static const DlpRunnerKind runners[] = { DLP_RUNNER_THREADS, DLP_RUNNER_POOL,
                                           DLP_RUNNER_SEQUENTIAL };
  static const guint batches[] = { 0, 1, 2, 3, 7 };
  static const guint links[] = { 1, 2, 16 };
  guint sink = (guint) g_test_rand_int_range (0, (gint) self->n_sinks);
  guint lines = count_lines (g_ptr_array_index (expected, sink));

  attempt->settings.runner = runners[g_test_rand_int_range (0, 3)];
  attempt->settings.workers = (guint) g_test_rand_int_range (1, 4);
  attempt->settings.batch_records = batches[g_test_rand_int_range (0, 5)];
  attempt->settings.link_batches = links[g_test_rand_int_range (0, 3)];
  attempt->settings.random_yields = g_test_rand_bit ();
  attempt->interval = g_test_rand_int_range (1, 3000);
  attempt->how =
      n < MAX_ATTEMPTS ? (EndHow) g_test_rand_int_range (END_STOP, END_KILL + 1) : END_NOT;
  attempt->sink = "kjihgfed"[sink];
  attempt->at_time = g_test_rand_int_range (0, 3) == 0;
  attempt->after = attempt->at_time ?
                       (guint64) g_test_rand_int_range (0, (gint32) MAX (duration * 3 / 2, 2)) :
                       (guint64) g_test_rand_int_range (1, (gint32) lines + 3);
}

static void
crash (Case *self, const char *folder)
{
  g_autoptr (GPtrArray) files = list_files (self, folder);

  for (guint i = 0; i < files->len; i++)
    toys_crash (g_ptr_array_index (files, i));
}

static void
check_case (Case *self, const char *what)
{
  g_autofree char *folder = make_folder ();
  g_autofree char *quiet = g_build_filename (folder, "quiet", NULL);
  g_autofree char *rough = g_build_filename (folder, "rough", NULL);
  g_autoptr (GPtrArray) expected = NULL;
  Attempt attempt = { .folder = quiet, .graph = self->graph, .settings = { .link_batches = 16 } };
  gint64 begin = g_get_monotonic_time ();
  gint64 duration;
  bool complete = false;

  g_assert_cmpint (g_mkdir (quiet, 0700), ==, 0);
  g_assert_cmpint (g_mkdir (rough, 0700), ==, 0);
  g_assert_true (run_attempt (&attempt));
  duration = MIN (g_get_monotonic_time () - begin, G_USEC_PER_SEC / 5);
  expected = read_files (self, quiet);

  attempt.folder = rough;
  for (guint n = 0; !complete; n++)
    {
      draw_attempt (&attempt, self, expected, duration, n);
      complete = attempt.how == END_KILL ? run_in_child (&attempt) : run_attempt (&attempt);
      if (!complete && attempt.how != END_STOP)
        crash (self, rough);
    }
  compare (self, expected, rough, what);

  /* Once more changes nothing. */
  attempt.how = END_NOT;
  g_assert_true (run_attempt (&attempt));
  compare (self, expected, rough, what);
  remove_folder (folder);
}

static void
test_graph (gconstpointer data)
{
  guint index = GPOINTER_TO_UINT (data);

  for (guint n = dlp_harness_scale (4); n > 0; n--)
    {
      Case *self = case_new (graphs[index].graph);

      g_assert_cmpuint (self->n_sinks, ==, graphs[index].n_sinks);
      check_case (self, graphs[index].name);
      case_free (self);
    }
}

static void
test_random (void)
{
  const char *only = g_getenv ("DLPIPE_TEST_CASE");
  guint n = dlp_harness_scale (64);

  for (guint i = 0; i < n; i++)
    {
      guint32 seed =
          only != NULL ? (guint32) g_ascii_strtoull (only, NULL, 10) : (guint32) g_test_rand_int ();
      g_autofree char *what = g_strdup_printf ("random graph DLPIPE_TEST_CASE=%u", seed);
      Case *self = case_new_random (seed);

      check_case (self, what);
      case_free (self);
    }
}

/* ---- marks ---- */

static guint64
get_steps (GVariant *report, const char *name)
{
  g_autoptr (GVariant) elements =
      g_variant_lookup_value (report, "elements", G_VARIANT_TYPE ("aa{sv}"));
  guint64 steps = G_MAXUINT64;

  for (gsize i = 0; i < g_variant_n_children (elements); i++)
    {
      g_autoptr (GVariant) element = g_variant_get_child_value (elements, i);
      const char *is;

      if (g_variant_lookup (element, "name", "&s", &is) && strcmp (is, name) == 0)
        g_variant_lookup (element, "steps", "t", &steps);
    }
  return steps;
}

/* A branch that drops for long does not hold the checkpoint back: empty record batches carry its
 * marks on. A step of the source makes three records, about. */
static void
test_empty_batches (void)
{
  Case *self = case_new ("check-source name=s records=9000 ! tee name=t ! %k  "
                         "t. ! toy-filter drop-from=10 drop-to=8990 ! toy-pack ! %k");
  g_autofree char *folder = make_folder ();
  Attempt attempt = { .folder = folder,
                      .graph = self->graph,
                      .how = END_STOP,
                      .after = 8000,
                      .sink = 'k',
                      .settings = { .link_batches = 2, .batch_records = 8 },
                      .interval = 500 };
  g_autoptr (DlpPipeline) pipeline = NULL;
  g_autoptr (GVariant) report = NULL;

  g_assert_false (run_attempt (&attempt));
  attempt.how = END_NOT;
  pipeline = make_pipeline (&attempt);
  g_assert_true (dlp_pipeline_run (pipeline, NULL, NULL));
  report = dlp_pipeline_get_report (pipeline);
  g_assert_cmpuint (get_steps (report, "s"), >, 100);
  g_assert_cmpuint (get_steps (report, "s"), <, 2000); /* of 3,000 */
  remove_folder (folder);
  case_free (self);
}

/* ---- inputs that are ended early ---- */

/* What a run that was told to finish gives is complete, and the beginning of the whole. */
static void
test_finish (void)
{
  Case *self = case_new ("check-source name=s records=3000 ! toy-parallel ! toy-filter ! %k");
  g_autofree char *folder = make_folder ();
  Attempt attempt = { .folder = folder, .graph = self->graph, .settings = { .link_batches = 2 } };
  g_autoptr (GPtrArray) expected = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_true (run_attempt (&attempt));
  expected = read_files (self, folder);
  for (guint n = dlp_harness_scale (10); n > 0; n--)
    {
      g_autoptr (DlpPipeline) pipeline = NULL;
      g_autoptr (GPtrArray) got = NULL;
      g_autofree char *after = g_strdup_printf ("%d", g_test_rand_int_range (1, 1000));

      remove_folder (folder);
      g_assert_cmpint (g_mkdir (folder, 0700), ==, 0);
      attempt.settings.batch_records = (guint) g_test_rand_int_range (1, 20);
      pipeline = make_pipeline (&attempt);
      g_assert_true (dlp_pipeline_set_property_text (pipeline, "k", "end-after", after, NULL));
      g_assert_true (dlp_pipeline_set_property_text (pipeline, "k", "end-how", "finish", NULL));
      dlp_pipeline_run (pipeline, NULL, &error);
      g_assert_no_error (error);
      got = read_files (self, folder);
      g_assert_true (
          g_str_has_prefix (g_ptr_array_index (expected, 0), g_ptr_array_index (got, 0)));
      g_assert_cmpuint (count_lines (g_ptr_array_index (got, 0)), >=, (guint) atoi (after));
      g_assert_cmpuint (count_lines (g_ptr_array_index (got, 0)), <,
                        count_lines (g_ptr_array_index (expected, 0)));
      /* It is over. */
      g_assert_true (run_attempt (&attempt));
    }
  remove_folder (folder);
  case_free (self);
}

static gpointer
finish_then_stop (gpointer data)
{
  DlpPipeline *pipeline = data;

  usleep ((useconds_t) g_random_int_range (0, 4000));
  dlp_pipeline_finish (pipeline);
  usleep ((useconds_t) g_random_int_range (0, 2000));
  dlp_pipeline_stop (pipeline);
  return NULL;
}

/* A stop that comes while the inputs are being ended leaves nothing of that end behind. */
static void
test_stop_while_finishing (void)
{
  Case *self = case_new ("check-source name=s records=2000 ! shuffle size=300 ! tee name=t ! "
                         "toy-pack ! %k  t. ! toy-parallel ! shuffle size=50 ! %k");
  g_autofree char *folder = make_folder ();
  g_autofree char *quiet = g_build_filename (folder, "quiet", NULL);
  g_autofree char *rough = g_build_filename (folder, "rough", NULL);
  Attempt attempt = { .folder = quiet,
                      .graph = self->graph,
                      .settings = { .link_batches = 2, .batch_records = 5 },
                      .interval = 300 };
  g_autoptr (GPtrArray) expected = NULL;

  g_assert_cmpint (g_mkdir (quiet, 0700), ==, 0);
  g_assert_true (run_attempt (&attempt));
  expected = read_files (self, quiet);
  attempt.folder = rough;
  for (guint n = dlp_harness_scale (12); n > 0; n--)
    {
      bool finished = false;

      g_assert_cmpint (g_mkdir (rough, 0700), ==, 0);
      for (guint i = 0; i < 5 && !finished; i++)
        {
          g_autoptr (DlpPipeline) pipeline = make_pipeline (&attempt);
          g_autoptr (GError) error = NULL;
          GThread *thread = g_thread_new ("finish", finish_then_stop, pipeline);

          finished = dlp_pipeline_run (pipeline, NULL, &error);
          if (!finished)
            g_assert_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED);
          g_thread_join (thread);
        }
      if (!finished)
        {
          g_assert_true (run_attempt (&attempt));
          compare (self, expected, rough, "stopped while finishing");
        }
      remove_folder (rough);
    }
  remove_folder (folder);
  case_free (self);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  dlp_harness_init ();
  toys_register ();
  for (guint i = 0; i < G_N_ELEMENTS (graphs); i++)
    {
      g_autofree char *path = g_strconcat ("/cursor-model/", graphs[i].name, NULL);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_graph);
    }
  g_test_add_func ("/cursor-model/random", test_random);
  g_test_add_func ("/cursor-model/empty-batches", test_empty_batches);
  g_test_add_func ("/cursor-model/finish", test_finish);
  g_test_add_func ("/cursor-model/stop-while-finishing", test_stop_while_finishing);
  return g_test_run ();
}
