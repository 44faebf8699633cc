/* SPDX-License-Identifier: MIT */

/* The coordinates and the borders of the batches that come out are those of the model, for each of
 * many random configurations: of configs.jsonl, or of DLPIPE_CONFORMANCE_FILE. */

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "../pipeline/app-rig.h"
#include "order-config.h"
#include "order-run.h"

/* Configurations of one test point. */
#define GROUP 50
/* Of so many, one is saved somewhere and continued. */
#define CONTINUED 8
/* Seconds that one may take, on a machine with other things to do. */
#define PATIENCE 120
/* The rest of the command is for run_rank(). */
#define RANK_OPTION "--one-rank"

static GPtrArray *configs; /* of OrderConfig */
static char *configs_path;
static char *program;

static void
read_configs (const char *path)
{
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  g_autoptr (GError) error = NULL;

  g_file_get_contents (path, &text, NULL, &error);
  g_assert_no_error (error);
  lines = g_strsplit (text, "\n", -1);
  configs = g_ptr_array_new_with_free_func ((GDestroyNotify) order_config_free);
  for (guint i = 0; lines[i] != NULL && lines[i][0] != '\0'; i++)
    g_ptr_array_add (configs, order_config_new (lines[i]));
  g_assert_cmpuint (configs->len, >=, 1);
}

static DlpPipeline *
make_pipeline (const OrderConfig *config, const char *graph, guint number, GError **error)
{
  DlpPipeline *pipeline = dlp_pipeline_new_from_string (graph, error);

  if (pipeline == NULL)
    return NULL;
  order_run_set_up (pipeline, number);
  g_object_set (pipeline, "seed", order_config_get_seed (config), NULL);
  return pipeline;
}

/* ---- what differs ---- */

/* (transfer full) (nullable): all that the model says, by its own program. */
static char *
ask_model (const OrderConfig *config, const char *folder)
{
  g_autofree char *model = g_test_build_filename (G_TEST_DIST, "conformance", "say-lines.py", NULL);
  g_autofree char *file = g_build_filename (folder, "config.json", NULL);
  const char *argv[] = { "python3", model, file, NULL };
  char *out = NULL;

  g_file_set_contents (file, config->json, -1, NULL);
  g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out, NULL, NULL,
                NULL);
  return out;
}

static void
show_difference (const char *expected, const char *got)
{
  g_auto (GStrv) want = g_strsplit (expected, "\n", -1);
  g_auto (GStrv) have = g_strsplit (got, "\n", -1);
  guint i = 0;

  while (want[i] != NULL && have[i] != NULL && strcmp (want[i], have[i]) == 0)
    i++;
  g_printerr ("batch %u of the rank\n  the model: %s\n  got:       %s\n", i,
              want[i] != NULL ? want[i] : "", have[i] != NULL ? have[i] : "");
}

G_NORETURN static void
fail (const OrderConfig *config,
      const char *folder,
      const char *graph,
      guint number,
      const OrderOutcome *got)
{
  g_autofree char *expected = ask_model (config, folder);
  g_autofree char *lines = order_outcome_join (got);

  g_printerr ("configuration %u: %s\ngraph: %s\n", number, config->json, graph);
  if (config->error != NULL || got->error != NULL)
    g_printerr ("the model: %s\ngot: %s\n", config->error != NULL ? config->error : "no error",
                got->error != NULL ? got->error->message : "no error");
  if (expected != NULL)
    show_difference (expected, lines);
  g_error ("%u batches of %" G_GUINT64_FORMAT " records, and %" G_GUINT64_FORMAT
           " of %" G_GUINT64_FORMAT " were expected",
           got->lines->len, got->records, config->batches, config->records);
}

static gboolean
is_expected (const OrderConfig *config, const OrderOutcome *got)
{
  g_autofree char *lines = order_outcome_join (got);
  g_autofree char *sum = g_compute_checksum_for_string (G_CHECKSUM_SHA256, lines, -1);
  g_autofree char *error = NULL;

  if (config->error == NULL)
    return got->error == NULL && got->lines->len == config->batches &&
           got->records == config->records && strcmp (sum, config->sha256) == 0;
  error = g_strdelimit (g_strdup (config->error), "_", '-');
  return got->error != NULL && strstr (got->error->message, error) != NULL;
}

/* One that hangs is named too. */
static guint current;

static void
on_alarm (int signal)
{
  char text[64];
  int n = snprintf (text, sizeof text, "configuration %u hangs\n", current);

  if (write (STDERR_FILENO, text, (gsize) n) == n)
    abort ();
  _exit (1);
}

static void
check (const OrderConfig *config, const char *folder, const char *graph, guint number)
{
  g_auto (OrderOutcome) got;
  g_autoptr (DlpPipeline) pipeline = NULL;

  order_outcome_init (&got);
  pipeline = make_pipeline (config, graph, number, &got.error);
  if (pipeline != NULL)
    order_run (&got, pipeline, G_MAXUINT);
  if (!is_expected (config, &got))
    fail (config, folder, graph, number, &got);
}

/* ---- continued ---- */

static void
set_ranks (DlpPipeline *pipeline, guint rank, guint world_size)
{
  g_object_set (dlp_pipeline_get_element (pipeline, "b"), "world-size", world_size, "rank", rank,
                NULL);
}

/* Some of the batches of all ranks: those of one rank from a global batch on. */
typedef struct
{
  guint first;
  guint rank;
  guint world_size;
  guint n;
} Share;

static void
check_share (const OrderConfig *config,
             const char *graph,
             const GPtrArray *all,
             const Share *share,
             const OrderOutcome *got)
{
  guint n = MIN (share->n, got->lines->len);
  guint i = 0;

  while (i < n &&
         strcmp (g_ptr_array_index (got->lines, i),
                 g_ptr_array_index (all, share->first + i * share->world_size + share->rank)) == 0)
    i++;
  if (got->error == NULL && i == share->n && i == got->lines->len)
    return;
  g_printerr ("configuration %u: %s\ngraph: %s\nrank %u of %u from batch %u\n", current,
              config->json, graph, share->rank, share->world_size, share->first);
  if (got->error != NULL)
    g_printerr ("%s\n", got->error->message);
  if (i < n)
    g_printerr (
        "batch %u of the rank\n  expected: %s\n  got:      %s\n", i,
        (char *) g_ptr_array_index (all, share->first + i * share->world_size + share->rank),
        (char *) g_ptr_array_index (got->lines, i));
  g_error ("%u batches, and %u were expected", got->lines->len, share->n);
}

/* All batches, as one rank gets them. */
static void
list_all (OrderOutcome *all, const OrderConfig *config, const char *graph, guint number)
{
  g_autoptr (DlpPipeline) pipeline = make_pipeline (config, graph, number + 1, &all->error);

  g_assert_no_error (all->error);
  set_ranks (pipeline, 0, 1);
  order_run (all, pipeline, G_MAXUINT);
  g_assert_no_error (all->error);
}

/* (transfer full): the state behind @n batches of a rank. */
static GBytes *
save_behind (const OrderConfig *config,
             const char *graph,
             guint number,
             const GPtrArray *all,
             const Share *share)
{
  g_auto (OrderOutcome) got;
  g_autoptr (DlpPipeline) pipeline = NULL;
  GBytes *state;

  order_outcome_init (&got);
  pipeline = make_pipeline (config, graph, number, &got.error);
  g_assert_no_error (got.error);
  set_ranks (pipeline, share->rank, share->world_size);
  state = order_run (&got, pipeline, share->n);
  check_share (config, graph, all, share, &got);
  return state;
}

static void
go_on (const OrderConfig *config,
       const char *graph,
       guint number,
       GBytes *state,
       const GPtrArray *all,
       const Share *share)
{
  g_auto (OrderOutcome) got;
  g_autoptr (DlpPipeline) pipeline = NULL;

  order_outcome_init (&got);
  pipeline = dlp_pipeline_new_from_state_bytes (state, &got.error);
  g_assert_no_error (got.error);
  order_run_set_up (pipeline, number);
  set_ranks (pipeline, share->rank, share->world_size);
  order_run (&got, pipeline, G_MAXUINT);
  check_share (config, graph, all, share, &got);
}

/* Saved somewhere, and continued by another number of ranks: what comes is what was left. */
static void
check_continued (const OrderConfig *config, const char *graph, guint number, GRand *rand)
{
  g_auto (OrderOutcome) all;
  g_autoptr (GBytes) state = NULL;
  Share before = { 0 }, after = { 0 };

  order_outcome_init (&all);
  list_all (&all, config, graph, number);
  before.world_size = order_config_get_world_size (config);
  if (all.lines->len < before.world_size)
    return;
  before.rank = (guint) g_rand_int_range (rand, 0, (gint32) before.world_size);
  before.n = (guint) g_rand_int_range (rand, 0, (gint32) (all.lines->len / before.world_size));
  state = save_behind (config, graph, number, all.lines, &before);

  after.first = before.n * before.world_size;
  after.world_size = (guint) g_rand_int_range (rand, 1, 9);
  after.rank = (guint) g_rand_int_range (rand, 0, (gint32) after.world_size);
  after.n = (all.lines->len - after.first) / after.world_size;
  go_on (config, graph, number + 2, state, all.lines, &after);
}

static char *
make_graph (const OrderConfig *config, const char *folder, guint number)
{
  return order_config_make_graph (config, folder,
                                  order_config_has_one_rule (config) && number % 4 != 0);
}

/* ---- each rank in a process of its own ---- */

static GSubprocess *
start_rank (guint number, guint rank, const char *folder)
{
  g_autofree char *number_text = g_strdup_printf ("%u", number);
  g_autofree char *rank_text = g_strdup_printf ("%u", rank);
  const char *argv[] = { program, RANK_OPTION, configs_path, number_text, rank_text, folder, NULL };
  g_autoptr (GError) error = NULL;
  GSubprocess *process = g_subprocess_newv (
      argv, G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE, &error);

  g_assert_no_error (error);
  return process;
}

/* In the process of the rank: its batches on the standard output, an error on the other one. */
static int
run_rank (char **argv)
{
  guint number = (guint) atoi (argv[3]);
  guint rank = (guint) atoi (argv[4]);
  const OrderConfig *config;
  g_autofree char *graph = NULL;
  g_autofree char *lines = NULL;
  g_autoptr (DlpPipeline) pipeline = NULL;
  g_auto (OrderOutcome) got;

  read_configs (argv[2]);
  config = g_ptr_array_index (configs, number);
  graph = make_graph (config, argv[5], number);
  order_outcome_init (&got);
  pipeline = make_pipeline (config, graph, number + rank, &got.error);
  if (pipeline != NULL)
    {
      set_ranks (pipeline, rank, order_config_get_world_size (config));
      order_run (&got, pipeline, G_MAXUINT);
    }
  lines = order_outcome_join (&got);
  fputs (lines, stdout);
  if (got.error != NULL)
    fputs (got.error->message, stderr);
  return 0;
}

/* (transfer full): the sum of what it printed, as make-configs.py makes it. */
static char *
check_rank (GSubprocess *process, const GPtrArray *all, guint rank, guint world_size)
{
  g_autofree char *out = NULL;
  g_autofree char *message = NULL;
  g_autoptr (GString) expected = g_string_new (NULL);
  g_autoptr (GError) error = NULL;

  g_subprocess_communicate_utf8 (process, NULL, NULL, &out, &message, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (message, ==, "");
  g_assert_true (g_subprocess_get_successful (process));
  for (guint step = 0; step < all->len / world_size; step++)
    g_string_append_printf (expected, "%s\n",
                            (char *) g_ptr_array_index (all, step * world_size + rank));
  g_assert_cmpstr (out, ==, expected->str);
  return g_compute_checksum_for_string (G_CHECKSUM_SHA256, out, -1);
}

static void
check_processes (guint number)
{
  const OrderConfig *config = g_ptr_array_index (configs, number);
  guint world_size = order_config_get_world_size (config);
  g_autoptr (GPtrArray) processes = g_ptr_array_new_with_free_func (g_object_unref);
  char *folder = app_make_folder ();
  g_autofree char *graph = make_graph (config, folder, number);
  g_auto (OrderOutcome) all;
  gboolean known = FALSE;

  current = number;
  alarm (PATIENCE);
  order_config_write_files (config, folder);
  for (guint rank = 0; rank < world_size; rank++)
    g_ptr_array_add (processes, start_rank (number, rank, folder));
  order_outcome_init (&all);
  list_all (&all, config, graph, number);
  for (guint rank = 0; rank < world_size; rank++)
    {
      g_autofree char *sum =
          check_rank (g_ptr_array_index (processes, rank), all.lines, rank, world_size);

      known |= strcmp (sum, config->sha256) == 0;
    }
  /* Of one of the ranks the model has said it. */
  g_assert_true (known);
  alarm (0);
  app_remove_folder (folder);
}

static void
test_processes (void)
{
  guint n = 0;

  for (guint i = 0; i < configs->len && n < dlp_harness_scale (8); i += 7)
    {
      const OrderConfig *config = g_ptr_array_index (configs, i);

      if (config->error != NULL || config->batches < 2 || order_config_get_world_size (config) < 2)
        continue;
      check_processes (i);
      n++;
    }
  g_assert_cmpuint (n, >, 0);
}

/* ---- all of them ---- */

static void
test_one (guint number, GRand *rand)
{
  const OrderConfig *config = g_ptr_array_index (configs, number);
  char *folder = app_make_folder ();
  g_autofree char *graph = make_graph (config, folder, number);

  current = number;
  alarm (PATIENCE);
  order_config_write_files (config, folder);
  check (config, folder, graph, number);
  if (number % CONTINUED == 0 && config->error == NULL)
    check_continued (config, graph, number, rand);
  alarm (0);
  app_remove_folder (folder);
}

static void
test_group (gconstpointer data)
{
  guint begin = GPOINTER_TO_UINT (data);
  guint end = MIN (begin + GROUP, configs->len);
  g_autoptr (GRand) rand = g_rand_new_with_seed (begin + (guint) g_test_rand_int ());

  for (guint i = begin; i < end; i++)
    test_one (i, rand);
}

/* What is in the way of a pipeline is said in warnings, which here are no failures. */
static GLogWriterOutput
write_log (GLogLevelFlags level, const GLogField *fields, gsize n_fields, gpointer data)
{
  if (level & (G_LOG_LEVEL_WARNING | G_LOG_LEVEL_MESSAGE | G_LOG_LEVEL_INFO | G_LOG_LEVEL_DEBUG))
    return G_LOG_WRITER_HANDLED;
  return g_log_writer_default (level, fields, n_fields, data);
}

int
main (int argc, char **argv)
{
  const char *given = g_getenv ("DLPIPE_CONFORMANCE_FILE");
  int code;

  g_log_set_writer_func (write_log, NULL, NULL);
  if (argc == 6 && strcmp (argv[1], RANK_OPTION) == 0)
    {
      code = run_rank (argv);
      fflush (NULL);
      /* GLib's idle threads are just leaving, and what they hold is no leak. */
      _exit (code);
    }
  program = argv[0];
  g_test_init (&argc, &argv, NULL);
  signal (SIGALRM, on_alarm);
  configs_path = given != NULL ?
                     g_strdup (given) :
                     g_test_build_filename (G_TEST_DIST, "conformance", "configs.jsonl", NULL);
  read_configs (configs_path);
  for (guint i = 0; i < configs->len; i += GROUP)
    {
      g_autofree char *path =
          g_strdup_printf ("/conformance/%u-%u", i, MIN (i + GROUP, configs->len) - 1);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_group);
    }
  g_test_add_func ("/conformance/processes", test_processes);
  code = g_test_run ();
  g_ptr_array_unref (configs);
  g_free (configs_path);
  return code;
}
