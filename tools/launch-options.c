/* SPDX-License-Identifier: MIT */

#include <stdio.h>
#include <string.h>

#include <dlpipe/dlp-value.h>

#include "launch.h"

#define DEFAULT_GRACE "20s"
#define DEFAULT_DRY_RUN "1%"

static const char summary[] =
    "Runs a graph of elements, such as\n"
    "\n"
    "  dlpipe-launch \"file-source location=data/*.jsonl.zst ! jsonl-reader field=text \\\n"
    "      ! shuffle size=10000 ! tokenizer model=gpt2 ! megatron-sink location=out/corpus\"\n"
    "\n"
    "The same command again goes on where the run was killed or stopped.";

static const char description[] =
    "Sizes take units (512M, 2G), times too (0.5s, 10m). --set counts as written in the graph.\n"
    "\n"
    "A signal ends the run as --on-interrupt says; another one, a second or more later, aborts "
    "it.\n"
    "Records are those that reached the sinks: the copies that a tee makes count once, as on its\n"
    "fullest output. Bad records are those that readers reject; what others reject is in --stats.\n"
    "\n"
    "Exit codes: 0 finished; 1 a fault while running; 2 found before the first record; 3 the "
    "state\n"
    "is damaged or something fixed was changed; 4 finished with kept damage; 5 another attempt "
    "has\n"
    "taken over; 75 stopped or stalled, the same command goes on; 128+N aborted by signal N.";

/* Texts that GOption fills in before they are read as what they stand for. */
typedef struct
{
  char **graph;
  char *progress;
  char *dry_run;
  char *grace;
  char *on_interrupt;
  gboolean help;
} Texts;

/* GOption would take what follows an option without "=" as its value. */
static void
complete_dry_run (int argc, char **argv)
{
  static char with_default[] = "--dry-run=" DEFAULT_DRY_RUN;

  for (int i = 1; i < argc && strcmp (argv[i], "--") != 0; i++)
    if (strcmp (argv[i], "--dry-run") == 0)
      argv[i] = with_default;
}

static void
add_run_group (GOptionContext *context, LaunchOptions *self, Texts *texts)
{
  GOptionEntry entries[] = {
    { "file", 0, 0, G_OPTION_ARG_FILENAME, &self->file, "Read the graph from a file (- for stdin)",
      "FILE" },
    { "set", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &self->set,
      "Set a property of an element; may be given several times", "NAME.PROP=VALUE" },
    { "seed", 0, 0, G_OPTION_ARG_FILENAME, &self->seed, "Seed of all random draws (0)", "N" },
    { "strict", 0, 0, G_OPTION_ARG_NONE, &self->strict, "Fail at the first bad record", NULL },
    { "workers", 0, 0, G_OPTION_ARG_FILENAME, &self->workers,
      "Threads for stateless work (as many as there are CPUs to use)", "N" },
    { "memory", 0, 0, G_OPTION_ARG_FILENAME, &self->memory,
      "Memory for queues, buffers and caches (64M + 48M a worker, at most a quarter)", "SIZE" },
    { "sequential", 0, 0, G_OPTION_ARG_NONE, &self->sequential, "Use a single thread", NULL },
    { "plugin-path", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &self->plugin_paths,
      "Look for plugins here too; may be given several times", "DIR" },
    { "on-interrupt", 0, 0, G_OPTION_ARG_FILENAME, &texts->on_interrupt,
      "What a signal does: stop, to be continued, or finish with what was read (stop)",
      "stop|finish" },
    { "grace", 0, 0, G_OPTION_ARG_FILENAME, &texts->grace,
      "How long ending after a signal or a fault may take (" DEFAULT_GRACE ")", "TIME" },
    { "stall-action", 0, 0, G_OPTION_ARG_FILENAME, &self->stall_action,
      "What to do where nothing moves any more: report which element hangs, or fail (report)",
      "report|fail" },
    { "stall-timeout", 0, 0, G_OPTION_ARG_FILENAME, &self->stall_timeout,
      "How long nothing may move; 0: for ever (60s)", "TIME" },
    { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &texts->graph, NULL, "[GRAPH]" },
    { NULL, 0, 0, 0, NULL, NULL, NULL }
  };

  g_option_context_add_main_entries (context, entries, NULL);
}

static void
add_state_group (GOptionContext *context, LaunchOptions *self)
{
  GOptionEntry entries[] = {
    { "state", 0, 0, G_OPTION_ARG_FILENAME, &self->state,
      "Folder of the checkpoints (LOCATION.dlpipe); without GRAPH: go on with the graph in it",
      "DIR" },
    { "no-state", 0, 0, G_OPTION_ARG_NONE, &self->no_state, "Write no checkpoints", NULL },
    { "checkpoint-every", 0, 0, G_OPTION_ARG_FILENAME, &self->checkpoint_every,
      "Time between checkpoints (10s, and at most 1 % of the time)", "TIME" },
    { "restart", 0, 0, G_OPTION_ARG_NONE, &self->restart,
      "Discard this run's state and output first", NULL },
    { "overwrite", 0, 0, G_OPTION_ARG_NONE, &self->overwrite,
      "Replace the output of another run too, as its manifest lists it", NULL },
    { "quarantine", 0, 0, G_OPTION_ARG_FILENAME, &self->quarantine,
      "Write bad records here (quarantine.jsonl in the state folder)", "FILE" },
    { NULL, 0, 0, 0, NULL, NULL, NULL }
  };
  GOptionGroup *group = g_option_group_new (
      "state", "State and output:", "Show options of state and output", NULL, NULL);

  g_option_group_add_entries (group, entries);
  g_option_context_add_group (context, group);
}

static void
add_report_group (GOptionContext *context, LaunchOptions *self, Texts *texts)
{
  GOptionEntry entries[] = {
    { "progress", 0, 0, G_OPTION_ARG_FILENAME, &texts->progress,
      "How progress is shown on stderr (auto)", "auto|bar|plain|json|none" },
    { "stats", 0, 0, G_OPTION_ARG_NONE, &self->stats,
      "Print a table of the elements and what the slowest waits for at the end", NULL },
    { "summary", 0, 0, G_OPTION_ARG_FILENAME, &self->summary,
      "Write all of it as JSON (- for stdout)", "FILE" },
    { "dot", 0, 0, G_OPTION_ARG_FILENAME, &self->dot, "Write the graph for Graphviz (- for stdout)",
      "FILE" },
    { "check", 0, 0, G_OPTION_ARG_NONE, &self->check,
      "Build the graph, see whether its state and output are as a run needs them, print its "
      "settings "
      "and its worst-case memory, and leave",
      NULL },
    { "dry-run", 0, 0, G_OPTION_ARG_FILENAME, &texts->dry_run,
      "Read a sample of the files, of large ones the beginning, write nothing, and say what to "
      "expect (" DEFAULT_DRY_RUN ")",
      "SHARE" },
    { "verbose", 'v', 0, G_OPTION_ARG_NONE, &self->verbose, "Print messages for developers too",
      NULL },
    { "quiet", 'q', 0, G_OPTION_ARG_NONE, &self->quiet, "Print errors only", NULL },
    { "help", 'h', 0, G_OPTION_ARG_NONE, &texts->help, "Print this and leave", NULL },
    { "version", 0, 0, G_OPTION_ARG_NONE, &self->show_version, "Print the version and leave",
      NULL },
    { NULL, 0, 0, 0, NULL, NULL, NULL }
  };
  GOptionGroup *group =
      g_option_group_new ("report", "What is said:", "Show options of what is said", texts, NULL);

  g_option_group_add_entries (group, entries);
  g_option_context_add_group (context, group);
}

static bool
parse_progress (LaunchOptions *self, const char *text, GError **error)
{
  static const char *const names[] = { "auto", "bar", "plain", "json", "none" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_str_equal (text, names[i]))
      {
        self->progress = (LaunchProgressKind) i;
        return true;
      }
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
               "--progress=%s: allowed are auto, bar, plain, json, none", text);
  return false;
}

static bool
parse_on_interrupt (LaunchOptions *self, const char *text, GError **error)
{
  self->finish_on_interrupt = g_str_equal (text, "finish");
  if (self->finish_on_interrupt || g_str_equal (text, "stop"))
    return true;
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
               "--on-interrupt=%s: allowed are stop, finish", text);
  return false;
}

static bool
parse_grace (LaunchOptions *self, const char *text, GError **error)
{
  g_autoptr (GParamSpec) pspec = g_param_spec_ref_sink (g_param_spec_int64 (
      "grace", NULL, NULL, 0, G_MAXINT64, 0, G_PARAM_READWRITE | DLP_PARAM_DURATION));
  g_auto (GValue) value = G_VALUE_INIT;

  if (!dlp_value_parse (pspec, text, &value, error))
    return g_prefix_error (error, "--grace: "), false;
  self->grace = g_value_get_int64 (&value);
  return true;
}

static bool
parse_dry_run (LaunchOptions *self, const char *text, GError **error)
{
  g_autoptr (GParamSpec) pspec = g_param_spec_ref_sink (
      g_param_spec_double ("dry-run", NULL, NULL, 1e-9, 1.0, 0.01, G_PARAM_READWRITE));
  g_auto (GValue) value = G_VALUE_INIT;

  if (text == NULL)
    return true;
  if (!dlp_value_parse (pspec, text, &value, error))
    return g_prefix_error (error, "--dry-run: "), false;
  self->dry_run = g_value_get_double (&value);
  return true;
}

static bool
check_together (LaunchOptions *self, GError **error)
{
  const char *what = NULL;

  if (self->graph != NULL && self->file != NULL)
    what = "a graph on the command line, and --file";
  else if (self->state != NULL && self->no_state)
    what = "--state and --no-state";
  else if (self->check && self->dry_run > 0)
    what = "--check and --dry-run";
  else if (self->dry_run > 0 && self->stats)
    what = "--dry-run and --stats";
  else if (self->dry_run > 0 && self->summary != NULL)
    what = "--dry-run and --summary";
  if (what != NULL)
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "%s exclude each other", what);
  else if (self->graph == NULL && self->file == NULL && self->state == NULL && !self->show_version)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
                   "there is no graph; give one, or --file FILE, or --state DIR to go on with the "
                   "graph stored there (see --help)");
      return false;
    }
  return what == NULL;
}

static bool
interpret (LaunchOptions *self, Texts *texts, GError **error)
{
  if (texts->graph != NULL)
    self->graph = g_strjoinv (" ", texts->graph);
  return parse_progress (self, texts->progress != NULL ? texts->progress : "auto", error) &&
         parse_on_interrupt (self, texts->on_interrupt != NULL ? texts->on_interrupt : "stop",
                             error) &&
         parse_grace (self, texts->grace != NULL ? texts->grace : DEFAULT_GRACE, error) &&
         parse_dry_run (self, texts->dry_run, error) && check_together (self, error);
}

bool
launch_options_parse (LaunchOptions *self, int *argc, char ***argv, GError **error)
{
  g_autoptr (GOptionContext) context = g_option_context_new ("- run a graph of elements");
  Texts texts = { NULL };
  bool ok;

  g_option_context_set_help_enabled (context, FALSE);
  g_option_context_set_summary (context, summary);
  g_option_context_set_description (context, description);
  add_run_group (context, self, &texts);
  add_state_group (context, self);
  add_report_group (context, self, &texts);
  complete_dry_run (*argc, *argv);
  ok = g_option_context_parse (context, argc, argv, error);
  if (ok && texts.help)
    {
      g_autofree char *help = g_option_context_get_help (context, FALSE, NULL);

      printf ("%s\n", help);
      self->done = TRUE;
    }
  else if (ok && self->show_version)
    {
      printf ("dlpipe-launch %s\n", DLP_VERSION);
      self->done = TRUE;
    }
  ok = ok && (self->done || interpret (self, &texts, error));

  g_strfreev (texts.graph);
  g_free (texts.progress);
  g_free (texts.dry_run);
  g_free (texts.grace);
  g_free (texts.on_interrupt);
  return ok;
}

void
launch_options_clear (LaunchOptions *self)
{
  g_free (self->graph);
  g_free (self->file);
  g_free (self->state);
  g_free (self->checkpoint_every);
  g_free (self->stall_action);
  g_free (self->stall_timeout);
  g_free (self->summary);
  g_free (self->dot);
  g_strfreev (self->set);
  g_free (self->seed);
  g_free (self->memory);
  g_free (self->workers);
  g_strfreev (self->plugin_paths);
  g_free (self->quarantine);
  *self = (LaunchOptions){ 0 };
}
