/* SPDX-License-Identifier: MIT */

#include <locale.h>
#include <unistd.h>

#include "launch.h"
#include "process-limits.h"
#include "std-streams.h"

/* Open files that any run needs: its state, an output, and what GLib opens, which ends the program
 * where it cannot. */
#define MIN_FILES 24

static bool
has_files (void)
{
  int fds[MIN_FILES];
  guint n = 0;
  bool ok;

  while (n < MIN_FILES && (fds[n] = dup (STDERR_FILENO)) >= 0)
    n++;
  ok = n == MIN_FILES;
  if (!ok)
    {
      g_autofree char *message =
          g_strdup_printf ("only %u files more may be open at once, and %d are needed at least; "
                           "raise the limit (ulimit -n)",
                           n, MIN_FILES);

      launch_error (message);
    }
  while (n > 0)
    close (fds[--n]);
  return ok;
}

static int
launch (const LaunchOptions *options)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DlpPipeline) pipeline = NULL;

  if (!launch_check_outputs (options, &error) ||
      (pipeline = launch_make_pipeline (options, &error)) == NULL ||
      (!options->check && !launch_check_alone (pipeline, &error)) ||
      !launch_check_overwrite (pipeline, options, &error))
    {
      launch_report_error (error, false);
      return launch_exit_for_prepare (error, false);
    }
  if (options->check)
    return launch_check (pipeline, options);
  if (options->dry_run > 0)
    return launch_dry_run (pipeline, options);
  return launch_run (pipeline, options);
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

int
main (int argc, char **argv)
{
  LaunchOptions options = { 0 };
  g_autoptr (GError) error = NULL;
  int code;

  std_streams_secure ();
  setlocale (LC_CTYPE, "");
  process_limits_set ();
  if (!has_files ())
    return LAUNCH_EXIT_USAGE;
  if (!launch_options_parse (&options, &argc, &argv, &error))
    {
      launch_error (error->message);
      launch_options_clear (&options);
      return LAUNCH_EXIT_USAGE;
    }
  if (options.done)
    {
      launch_options_clear (&options);
      return finish (LAUNCH_EXIT_FINISHED);
    }
  if (!options.check && options.dry_run == 0)
    launch_block_signals ();
  launch_log_init (options.quiet, options.verbose);
  code = launch (&options);
  launch_options_clear (&options);
  return finish (code);
}
