/* SPDX-License-Identifier: MIT */

/* dlpipe-fanout finish: what is to be done once all ranks of a job have ended, however they did.
 * What became of each task is taken from its own record, never from what a scheduler says. */

#include <string.h>

#include <dlpipe/dlp-output-file.h>

#include "fanout.h"

/* A rank behind all that have tasks: it runs none, and writes the manifests of the whole where all
 * tasks are done. */
static DlpFanout *
make_last_rank (const FanoutOptions *options, FanoutFolder *folder, GError **error)
{
  GVariant *job = fanout_folder_get_job (folder);
  const char *path = fanout_folder_get_path (folder);
  guint64 n = launch_get_number (job, "tasks");
  g_autofree char *rank = g_strdup_printf ("%" G_GUINT64_FORMAT, n);
  g_autofree char *world_size = g_strdup_printf ("%" G_GUINT64_FORMAT, n + 1);
  g_autofree char *graph = g_build_filename (path, "graph", NULL);
  g_autofree char *state = g_strdup (path);
  g_autofree char *seed = g_strdup_printf ("%" G_GUINT64_FORMAT, launch_get_number (job, "seed"));
  FanoutOptions own = *options;

  own.launcher = FANOUT_LAUNCHER_LOCAL;
  own.file = graph;
  own.state = state;
  own.seed = seed;
  /* Of one that was submitted with them: it is dealt by now. */
  own.update = own.accept_changed = own.retry_failed = false;
  own.rank = rank;
  own.world_size = world_size;
  return fanout_make (&own, error);
}

/* The verdict, for who follows the job. */
static bool
write_end (FanoutFolder *folder, GVariant *report, int code, GError **error)
{
  g_autofree char *path =
      g_build_filename (fanout_folder_get_path (folder), FANOUT_SLURM_END, NULL);
  g_autofree char *own = g_path_get_dirname (path);

  return !g_file_test (own, G_FILE_TEST_IS_DIR) || fanout_write_summary (path, report, code, error);
}

static int
finish (const FanoutOptions *options, FanoutFolder *folder, GError **error)
{
  g_autoptr (DlpFanout) fanout = make_last_rank (options, folder, error);
  g_autoptr (GError) failure = NULL;
  g_autoptr (GVariant) report = NULL;
  bool prepared;
  int code;

  if (fanout == NULL)
    return LAUNCH_EXIT_USAGE;
  prepared = dlp_fanout_prepare (fanout, NULL, &failure);
  if (prepared)
    dlp_fanout_run (fanout, NULL, &failure);
  report = fanout_folder_look (folder);
  code = failure != NULL ? fanout_exit_for (failure, prepared, 0, report) :
                           fanout_exit_for_records (report);
  if (failure == NULL && code == LAUNCH_EXIT_STOPPED)
    failure = g_error_new (DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STOPPED,
                           "tasks are left whose ranks have ended");
  fanout_say_end (report, failure, true);
  if (!write_end (folder, report, code, error) ||
      (options->summary != NULL && !fanout_write_summary (options->summary, report, code, error)))
    return code != LAUNCH_EXIT_FINISHED ? code : LAUNCH_EXIT_FAILED;
  return code;
}

int
fanout_finish (const FanoutOptions *options, GError **error)
{
  FanoutFolder *folder = fanout_folder_open (options->folder, error);
  int code = LAUNCH_EXIT_USAGE;

  if (folder == NULL)
    return code;
  code = finish (options, folder, error);
  fanout_folder_free (folder);
  return code;
}
