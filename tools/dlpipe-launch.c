/* SPDX-License-Identifier: MIT */

#include <locale.h>
#include <malloc.h>
#include <sys/resource.h>

#include "launch.h"

/* Of the C library; by default there are eight for each CPU, and each keeps what was given back. */
#define MAX_ARENAS 4
/* From here on memory goes back to the system when it is freed. */
#define MIN_MAPPED (128 * 1024)

static void
set_limits (void)
{
  struct rlimit files;

  /* A mix of 500 sources has a thousand files open. */
  if (getrlimit (RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max)
    {
      files.rlim_cur = files.rlim_max;
      setrlimit (RLIMIT_NOFILE, &files);
    }
  mallopt (M_ARENA_MAX, MAX_ARENAS);
  mallopt (M_MMAP_THRESHOLD, MIN_MAPPED);
}

static int
launch (const LaunchOptions *options)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPipeline) pipeline = NULL;

  if (!launch_check_outputs (options, &error) ||
      (pipeline = launch_make_pipeline (options, &error)) == NULL)
    {
      launch_report_error (error, false);
      return launch_exit_for_prepare (error);
    }
  if (options->check)
    return launch_check (pipeline, options);
  if (options->dry_run > 0)
    return launch_dry_run (pipeline, options);
  return launch_run (pipeline, options);
}

int
main (int argc, char **argv)
{
  LaunchOptions options = { 0 };
  g_autoptr (GError) error = NULL;
  int code;

  setlocale (LC_CTYPE, "");
  set_limits ();
  if (!launch_options_parse (&options, &argc, &argv, &error))
    {
      launch_error (error->message);
      launch_options_clear (&options);
      return LAUNCH_EXIT_USAGE;
    }
  if (options.done)
    {
      launch_options_clear (&options);
      return LAUNCH_EXIT_FINISHED;
    }
  if (!options.check && options.dry_run == 0)
    launch_block_signals ();
  launch_log_init (options.quiet, options.verbose);
  code = launch (&options);
  launch_options_clear (&options);
  return code;
}
