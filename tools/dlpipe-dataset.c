/* SPDX-License-Identifier: MIT */

/* Looks into what a sink wrote. */

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dataset.h"
#include "log-lines.h"
#include "std-streams.h"

#define MAX_SAMPLE 1000000

static const struct
{
  const char *name;
  int (*run) (const DatasetLocation *location, const DatasetOptions *options, GError **error);
} commands[] = {
  { "info", dataset_info },
  { "head", dataset_show },
  { "sample", dataset_show },
  { "verify", dataset_verify },
};

static const char description[] =
    "Commands:\n"
    "  info     what is in the output: documents, tokens, dtype, tokenizer\n"
    "  head     the first documents, decoded\n"
    "  sample   some documents drawn at random, decoded\n"
    "  verify   reads everything: hashes, ids, index against data; names each fault\n"
    "\n"
    "LOCATION is what the sink was given (out/corpus), or one of its files. The tokenizer is the\n"
    "one that the manifest names: a known model, or the rank file that was used, if its "
    "fingerprint\n"
    "is the right one.\n"
    "\n"
    "Exit status: 0 all is well, 1 faults were found, 2 wrong usage, or nothing is there.\n";

static void
options_clear (DatasetOptions *self)
{
  g_free (self->command);
  g_free (self->location);
  g_free (self->model);
  g_free (self->pattern);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (DatasetOptions, options_clear)

static gboolean
check_options (DatasetOptions *options, char **rest, GError **error)
{
  if (rest == NULL || g_strv_length (rest) != 2)
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
                 "a command (info, head, sample, verify) and a LOCATION are wanted");
  else if (options->n < -1 || (strcmp (rest[0], "sample") == 0 && options->n > MAX_SAMPLE))
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                 "-n %" G_GINT64_FORMAT "; allowed are 0 to %d", options->n, MAX_SAMPLE);
  else if (options->seed < 0)
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                 "--seed %" G_GINT64_FORMAT "; allowed are 0 to 2^63 - 1", options->seed);
  else
    {
      options->command = g_strdup (rest[0]);
      options->location = g_strdup (rest[1]);
      return TRUE;
    }
  return FALSE;
}

static gboolean
parse_options (DatasetOptions *options, int argc, char **argv, GError **error)
{
  g_autoptr (GOptionContext) context = g_option_context_new ("COMMAND LOCATION");
  g_auto (GStrv) rest = NULL;
  gboolean version = FALSE;
  const GOptionEntry entries[] = {
    { "number", 'n', 0, G_OPTION_ARG_INT64, &options->n, "Documents shown by head and sample (5)",
      "N" },
    { "seed", 0, 0, G_OPTION_ARG_INT64, &options->seed, "Seed of sample (0)", "S" },
    { "bytes", 0, 0, G_OPTION_ARG_INT64, &options->bytes,
      "Bytes shown of each document (1000); 0: all", "N" },
    { "tokenizer", 0, 0, G_OPTION_ARG_FILENAME, &options->model,
      "A model or a rank file, instead of the one that the manifest names", "MODEL" },
    { "model", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_FILENAME, &options->model, NULL, NULL },
    { "pattern", 0, 0, G_OPTION_ARG_STRING, &options->pattern,
      "Pattern of a rank file that is not known", "PATTERN" },
    { "ids", 0, 0, G_OPTION_ARG_NONE, &options->ids, "Show ids, do not decode", NULL },
    { "json", 0, 0, G_OPTION_ARG_NONE, &options->json, "info and verify: as JSON", NULL },
    { "version", 0, 0, G_OPTION_ARG_NONE, &version, "Print the version", NULL },
    { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &rest, NULL, NULL },
    { NULL, 0, 0, 0, NULL, NULL, NULL },
  };

  g_option_context_set_summary (context, "Looks into the output of a dlpipe sink.");
  g_option_context_set_description (context, description);
  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, error))
    return FALSE;
  if (version)
    {
      g_print ("dlpipe-dataset %s\n", DLP_VERSION);
      exit (std_streams_flush (NULL) ? DATASET_EXIT_OK : DATASET_EXIT_FAULTS);
    }
  return check_options (options, rest, error);
}

static int
run (const DatasetOptions *options, GError **error)
{
  g_auto (DatasetLocation) location = { 0 };

  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    {
      if (strcmp (commands[i].name, options->command) != 0)
        continue;
      if (!dataset_location_find (&location, options->location, error))
        return DATASET_EXIT_USAGE;
      return commands[i].run (&location, options, error);
    }

  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
               "unknown command “%s”; known are info, head, sample, verify", options->command);
  return DATASET_EXIT_USAGE;
}

int
main (int argc, char **argv)
{
  g_auto (DatasetOptions) options = { .n = -1, .bytes = -1 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) failure = NULL;
  int status = DATASET_EXIT_USAGE;

  std_streams_secure ();
  log_lines_init ("dlpipe-dataset");
  setlocale (LC_ALL, "");
  if (parse_options (&options, argc, argv, &error))
    status = run (&options, &error);
  if (error != NULL)
    g_printerr ("dlpipe-dataset: %s\n", error->message);
  if (!std_streams_flush (&failure))
    {
      g_printerr ("dlpipe-dataset: %s\n", failure->message);
      status = status == DATASET_EXIT_OK ? DATASET_EXIT_FAULTS : status;
    }
  return status;
}
