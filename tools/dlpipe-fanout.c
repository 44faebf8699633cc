/* SPDX-License-Identifier: MIT */

#include <locale.h>

#include <dlpipe/dlp-plugin.h>

#include "fanout.h"
#include "process-limits.h"
#include "settings.h"
#include "std-streams.h"

/* Workers look where this process does. */
static void
add_plugin_paths (char **paths)
{
  const char *before = g_getenv ("DLPIPE_PLUGIN_PATH");
  g_autofree char *joined = NULL;
  g_autofree char *all = NULL;

  if (paths == NULL)
    return;
  joined = g_strjoinv (":", paths);
  all = before != NULL ? g_strconcat (joined, ":", before, NULL) : g_strdup (joined);
  g_setenv ("DLPIPE_PLUGIN_PATH", all, TRUE);
}

static bool
set_elements (DlpFanout *fanout, char **settings, GError **error)
{
  for (; settings != NULL && *settings != NULL; settings++)
    {
      g_autofree char *element = NULL;
      g_autofree char *property = NULL;
      const char *value;

      if (!settings_split (*settings, &element, &property, &value, error))
        return false;
      if (dlp_fanout_set_property_text (fanout, element, property, value, error))
        continue;
      g_prefix_error (error, "--set %s: ", *settings);
      return false;
    }
  return true;
}

static bool
set_rank (DlpFanout *fanout, const FanoutOptions *options, GError **error)
{
  guint rank, world_size;

  if (options->launcher != FANOUT_LAUNCHER_ENV)
    return true;
  if (!fanout_environment_find (&rank, &world_size, error))
    return false;
  g_object_set (fanout, "rank", rank, "world-size", world_size, NULL);
  return true;
}

static void
set_devices (DlpFanout *fanout, const char *text)
{
  g_auto (GStrv) devices = text != NULL ? g_strsplit (text, ",", -1) : NULL;

  if (devices != NULL)
    g_object_set (fanout, "devices", devices, NULL);
}

DlpFanout *
fanout_make (const FanoutOptions *options, GError **error)
{
  /* What is submitted is dealt by one alone. */
  const char *world_size = options->launcher != FANOUT_LAUNCHER_SLURM ? options->world_size : NULL;
  const Setting settings[] = { { "workers", "--workers", options->workers },
                               { "tasks", "--tasks", options->tasks },
                               { "retries", "--retries", options->retries },
                               { "threads", "--threads", options->threads },
                               { "memory", "--memory", options->memory },
                               { "seed", "--seed", options->seed },
                               { "state-dir", "--state", options->state },
                               { "checkpoint-interval", "--checkpoint-every",
                                 options->checkpoint_every },
                               { "stall-timeout", "--stall-timeout", options->stall_timeout },
                               { "answer-timeout", "--answer-timeout", options->answer_timeout },
                               { "plan-timeout", "--plan-timeout", options->plan_timeout },
                               { "grace", "--grace", options->grace },
                               { "device-env", "--device-env", options->device_env },
                               { "rank", "--rank", options->rank },
                               { "world-size", "--world-size", world_size } };
  g_autofree char *graph = settings_read_graph (options->graph, options->file, error);
  g_autoptr (DlpFanout) fanout = NULL;

  if (graph == NULL)
    return NULL;
  fanout = dlp_fanout_new_from_string (graph, error);
  if (fanout == NULL)
    return NULL;
  /* Who has a rank is started by others, and may be started again while the one before lives. */
  g_object_set (fanout, "strict", options->strict, "restart", options->restart, "overwrite",
                options->overwrite, "merge", options->merge, "remove-parts", options->remove_parts,
                "update", options->update, "accept-changed", options->accept_changed,
                "retry-failed", options->retry_failed, "wait-for-lock",
                options->rank != NULL || options->launcher == FANOUT_LAUNCHER_ENV, NULL);
  set_devices (fanout, options->devices);
  if (!settings_apply (G_OBJECT (fanout), settings, G_N_ELEMENTS (settings), error) ||
      !set_rank (fanout, options, error) || !set_elements (fanout, options->set, error))
    return NULL;
  return g_steal_pointer (&fanout);
}

/* Takes @fanout over. */
static int
submit (DlpFanout *fanout, FanoutOptions *options, GError **error)
{
  FanoutSlurmResult result = fanout_slurm_submit (fanout, options, &options->folder, error);

  /* With it goes the lock of the job. */
  g_object_unref (fanout);
  if (result == FANOUT_SLURM_FAILED)
    return fanout_exit_for (*error, false, 0, NULL);
  if (result == FANOUT_SLURM_NOTHING_LEFT)
    return fanout_finish (options, error);
  if (result != FANOUT_SLURM_SUBMITTED || !options->follow)
    return LAUNCH_EXIT_FINISHED;
  launch_block_signals ();
  return fanout_follow (options, error);
}

static int
run (FanoutOptions *options, GError **error)
{
  DlpFanout *fanout = fanout_make (options, error);
  int code;

  if (fanout == NULL)
    return LAUNCH_EXIT_USAGE;
  if (options->launcher == FANOUT_LAUNCHER_SLURM)
    return submit (fanout, options, error);
  code = fanout_run (fanout, options);
  g_object_unref (fanout);
  return code;
}

static int
obey (FanoutOptions *options, GError **error)
{
  switch (options->command)
    {
    case FANOUT_STATUS:
      return fanout_show_status (options, error);
    case FANOUT_FOLLOW:
      return fanout_follow (options, error);
    case FANOUT_FINISH:
      return fanout_finish (options, error);
    case FANOUT_RUN:
      break;
    }
  return run (options, error);
}

static int
fan_out (FanoutOptions *options)
{
  g_autoptr (GError) error = NULL;
  int code;

  add_plugin_paths (options->plugin_paths);
  code = obey (options, &error);
  if (error != NULL)
    launch_error (error->message);
  return code;
}

/* What was printed and did not arrive is a fault. */
static int
finish (int code)
{
  g_autoptr (GError) error = NULL;

  if (std_streams_flush (&error))
    return code;
  launch_error (error->message);
  return code == LAUNCH_EXIT_FINISHED ? LAUNCH_EXIT_FAILED : code;
}

/* Others end by them at once: nothing is lost that the next call does not make again. */
static bool
is_to_hear_signals (const FanoutOptions *options)
{
  return options->command == FANOUT_FOLLOW ||
         (options->command == FANOUT_RUN && options->launcher != FANOUT_LAUNCHER_SLURM);
}

int
main (int argc, char **argv)
{
  FanoutOptions options = { 0 };
  g_autoptr (GError) error = NULL;
  int code = LAUNCH_EXIT_FINISHED;

  std_streams_secure ();
  setlocale (LC_CTYPE, "");
  process_limits_set ();
  if (!fanout_options_parse (&options, &argc, &argv, &error))
    {
      launch_error (error->message);
      code = LAUNCH_EXIT_USAGE;
    }
  else if (!options.done)
    {
      if (is_to_hear_signals (&options))
        launch_block_signals ();
      launch_log_init (options.quiet, options.verbose);
      code = fan_out (&options);
    }
  fanout_options_clear (&options);
  return finish (code);
}
