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

/* Configurations of one test point. */
#define GROUP 50
/* Seconds that one may take, on a machine with other things to do. */
#define PATIENCE 120

static GPtrArray *configs; /* of OrderConfig */

/* What came out of a run. */
typedef struct
{
  GString *lines; /* a batch each, as the model's */
  guint64 batches;
  guint64 records;
  GError *error;
} Outcome;

static void
outcome_clear (Outcome *self)
{
  g_string_free (self->lines, TRUE);
  g_clear_error (&self->error);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Outcome, outcome_clear)

static void
add_batch (Outcome *self, DlpRecordBatch *batch)
{
  guint n = dlp_record_batch_get_length (batch);

  g_string_append_printf (self->lines, "%" G_GINT64_FORMAT ":", dlp_record_batch_get_index (batch));
  for (guint i = 0; i < n; i++)
    {
      const DlpCoordinate *at = dlp_record_batch_get_coordinate (batch, i);

      g_string_append_printf (self->lines, " %u,%u,%u,%" G_GUINT64_FORMAT ",%u", at->stage,
                              at->source, at->file, (guint64) at->row, at->epoch);
    }
  g_string_append_c (self->lines, '\n');
  self->batches++;
  self->records += n;
}

/* None of these changes what comes out. */
static void
set_up (DlpPipeline *pipeline, guint number)
{
  static const guint links[] = { 0, 1, 3 };
  static const guint records[] = { 0, 1, 2, 5 };

  g_object_set (pipeline, "runner", (DlpRunnerKind) (number % 3), "batch-records",
                records[number / 3 % G_N_ELEMENTS (records)], "random-yields", number % 5 == 0,
                NULL);
  if (links[number / 2 % G_N_ELEMENTS (links)] > 0)
    g_object_set (pipeline, "link-batches", links[number / 2 % G_N_ELEMENTS (links)], NULL);
}

static gpointer
run (gpointer pipeline)
{
  dlp_pipeline_run (pipeline, NULL, NULL);
  return NULL;
}

static void
pull_all (Outcome *self, DlpAppSink *sink)
{
  DlpRecordBatch *batch;

  while ((batch = dlp_app_sink_pull (sink, 0, NULL, &self->error)) != NULL)
    {
      add_batch (self, batch);
      dlp_record_batch_unref (batch);
    }
}

static void
run_graph (Outcome *self, const OrderConfig *config, const char *graph, guint number)
{
  g_autoptr (DlpPipeline) pipeline = dlp_pipeline_new_from_string (graph, &self->error);
  GThread *thread;

  self->lines = g_string_new (NULL);
  if (pipeline == NULL)
    return;
  set_up (pipeline, number);
  g_object_set (pipeline, "seed", order_config_get_seed (config), NULL);
  if (!dlp_pipeline_prepare (pipeline, NULL, &self->error))
    return;
  thread = g_thread_new ("run", run, pipeline);
  pull_all (self, DLP_APP_SINK (dlp_pipeline_get_element (pipeline, "k")));
  g_thread_join (thread);
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
      const Outcome *got)
{
  g_autofree char *expected = ask_model (config, folder);

  g_printerr ("configuration %u: %s\ngraph: %s\n", number, config->json, graph);
  if (config->error != NULL || got->error != NULL)
    g_printerr ("the model: %s\ngot: %s\n", config->error != NULL ? config->error : "no error",
                got->error != NULL ? got->error->message : "no error");
  if (expected != NULL)
    show_difference (expected, got->lines->str);
  g_error ("%" G_GUINT64_FORMAT " batches of %" G_GUINT64_FORMAT " records, and %" G_GUINT64_FORMAT
           " of %" G_GUINT64_FORMAT " were expected",
           got->batches, got->records, config->batches, config->records);
}

static gboolean
is_expected (const OrderConfig *config, const Outcome *got)
{
  g_autofree char *sum =
      g_compute_checksum_for_string (G_CHECKSUM_SHA256, got->lines->str, (gssize) got->lines->len);
  g_autofree char *error = NULL;

  if (config->error == NULL)
    return got->error == NULL && got->batches == config->batches &&
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
check (const OrderConfig *config, guint number)
{
  char *folder = app_make_folder ();
  gboolean behind = order_config_has_one_rule (config) && number % 4 != 0;
  g_autofree char *graph = order_config_make_graph (config, folder, behind);
  g_auto (Outcome) got = { NULL };

  current = number;
  alarm (PATIENCE);
  order_config_write_files (config, folder);
  run_graph (&got, config, graph, number);
  if (!is_expected (config, &got))
    fail (config, folder, graph, number, &got);
  alarm (0);
  app_remove_folder (folder);
}

/* ---- all of them ---- */

static void
test_group (gconstpointer data)
{
  guint begin = GPOINTER_TO_UINT (data);
  guint end = MIN (begin + GROUP, configs->len);

  for (guint i = begin; i < end; i++)
    check (g_ptr_array_index (configs, i), i);
}

/* What is in the way of a pipeline is said in warnings, which here are no failures. */
static GLogWriterOutput
write_log (GLogLevelFlags level, const GLogField *fields, gsize n_fields, gpointer data)
{
  if (level & (G_LOG_LEVEL_WARNING | G_LOG_LEVEL_MESSAGE | G_LOG_LEVEL_INFO | G_LOG_LEVEL_DEBUG))
    return G_LOG_WRITER_HANDLED;
  return g_log_writer_default (level, fields, n_fields, data);
}

static void
read_configs (void)
{
  const char *given = g_getenv ("DLPIPE_CONFORMANCE_FILE");
  g_autofree char *path =
      given != NULL ? g_strdup (given) :
                      g_test_build_filename (G_TEST_DIST, "conformance", "configs.jsonl", NULL);
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

int
main (int argc, char **argv)
{
  int code;

  g_test_init (&argc, &argv, NULL);
  g_log_set_writer_func (write_log, NULL, NULL);
  signal (SIGALRM, on_alarm);
  read_configs ();
  for (guint i = 0; i < configs->len; i += GROUP)
    {
      g_autofree char *path =
          g_strdup_printf ("/conformance/%u-%u", i, MIN (i + GROUP, configs->len) - 1);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_group);
    }
  code = g_test_run ();
  g_ptr_array_unref (configs);
  return code;
}
