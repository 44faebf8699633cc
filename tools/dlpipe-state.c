/* SPDX-License-Identifier: MIT */

/* Shows, compares, verifies, watches and changes what a run has saved. */

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"
#include "log-lines.h"
#include "std-streams.h"

static const struct
{
  const char *name;
  guint n_places;
  int (*run) (const StateOptions *options, GError **error);
} commands[] = {
  { "show", 1, state_show }, { "diff", 2, state_diff },   { "verify", 1, state_verify },
  { "list", 1, state_list }, { "watch", 1, state_watch }, { "skip", 1, state_skip },
};

static const char description[] =
    "Commands:\n"
    "  show DIR     what is saved: the graph, where each element is, what a resume\n"
    "               does again\n"
    "  diff A B     what differs between two states; the digests, by which two runs\n"
    "               are compared\n"
    "  verify DIR   checksums, versions, the input files, whether the graph fits\n"
    "  list DIR     the checkpoints of a state folder; or the runs below a folder\n"
    "  watch DIR    the progress of a run, of whatever process, until it ends\n"
    "  skip DIR     --batches A..B: a run that goes on from there reads these training\n"
    "               batches, and gives none of them out (around a loss spike); --clear:\n"
    "               takes that back\n"
    "\n"
    "DIR is a state folder (out/corpus.dlpipe), the output that it belongs to\n"
    "(out/corpus), or one checkpoint: a file of a state folder, or what a program has\n"
    "saved. The plugins of the graph are not needed. Nothing is written, no lock is\n"
    "taken, but by skip: it replaces the checkpoints of a folder that no run holds, or\n"
    "writes the file anew.\n"
    "\n"
    "Exit status: 0 all is well, or equal; 1 faults were found, the results differ, or\n"
    "skip was refused; 2 wrong usage, or there is nothing to be read.\n";

static void
options_clear (StateOptions *self)
{
  g_free (self->command);
  g_free (self->batches);
  g_free (self->element);
  g_strfreev (self->places);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (StateOptions, options_clear)

static char *
list_commands (void)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    g_string_append_printf (text, "%s%s", i > 0 ? ", " : "", commands[i].name);
  return g_string_free (text, FALSE);
}

static gboolean
check_options (StateOptions *options, char **rest, GError **error)
{
  g_autofree char *known = list_commands ();

  if (rest == NULL || rest[0] == NULL)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
                   "a command (%s) and a state are wanted", known);
      return FALSE;
    }
  if (options->interval < 10 || options->interval > 3600 * 1000)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   "--interval %" G_GINT64_FORMAT "; allowed are 10 to 3600000 ms",
                   options->interval);
      return FALSE;
    }
  options->command = g_strdup (rest[0]);
  options->places = g_strdupv (rest + 1);
  return TRUE;
}

static gboolean
parse_options (StateOptions *options, int argc, char **argv, GError **error)
{
  g_autoptr (GOptionContext) context = g_option_context_new ("COMMAND DIR");
  g_auto (GStrv) rest = NULL;
  gboolean version = FALSE;
  const GOptionEntry entries[] = {
    { "json", 0, 0, G_OPTION_ARG_NONE, &options->json, "Print JSON", NULL },
    { "all", 'a', 0, G_OPTION_ARG_NONE, &options->all,
      "show: also properties, warnings and input files; diff: also what always differs", NULL },
    { "once", 0, 0, G_OPTION_ARG_NONE, &options->once, "watch: one line, and leave", NULL },
    { "interval", 0, 0, G_OPTION_ARG_INT64, &options->interval,
      "watch: milliseconds between two looks (500)", "MS" },
    { "batches", 0, 0, G_OPTION_ARG_STRING, &options->batches,
      "skip: indices of the first and the last batch", "A..B" },
    { "clear", 0, 0, G_OPTION_ARG_NONE, &options->clear,
      "skip: give out again what was to be skipped", NULL },
    { "element", 0, 0, G_OPTION_ARG_STRING, &options->element,
      "skip: the element that makes them (the only one)", "NAME" },
    { "version", 0, 0, G_OPTION_ARG_NONE, &version, "Print the version", NULL },
    { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &rest, NULL, NULL },
    { NULL, 0, 0, 0, NULL, NULL, NULL },
  };

  g_option_context_set_summary (context, "Shows, compares and changes the state of dlpipe runs.");
  g_option_context_set_description (context, description);
  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, error))
    return FALSE;
  if (version)
    {
      g_print ("dlpipe-state %s\n", DLP_VERSION);
      exit (std_streams_flush (NULL) ? STATE_EXIT_OK : STATE_EXIT_FAULTS);
    }
  return check_options (options, rest, error);
}

static int
run (const StateOptions *options, GError **error)
{
  g_autofree char *known = list_commands ();

  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    {
      if (strcmp (commands[i].name, options->command) != 0)
        continue;
      if (g_strv_length (options->places) == commands[i].n_places)
        return commands[i].run (options, error);
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "%s takes %u state%s, not %u",
                   commands[i].name, commands[i].n_places, commands[i].n_places > 1 ? "s" : "",
                   g_strv_length (options->places));
      return STATE_EXIT_USAGE;
    }
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "unknown command “%s”; known are %s",
               options->command, known);
  return STATE_EXIT_USAGE;
}

int
main (int argc, char **argv)
{
  g_auto (StateOptions) options = { .interval = 500 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) failure = NULL;
  int status = STATE_EXIT_USAGE;

  std_streams_secure ();
  log_lines_init ("dlpipe-state");
  setlocale (LC_ALL, "");
  if (parse_options (&options, argc, argv, &error))
    status = run (&options, &error);
  if (error != NULL)
    g_printerr ("dlpipe-state: %s\n", error->message);
  if (!std_streams_flush (&failure))
    {
      g_printerr ("dlpipe-state: %s\n", failure->message);
      status = status == STATE_EXIT_OK ? STATE_EXIT_FAULTS : status;
    }
  return status;
}
