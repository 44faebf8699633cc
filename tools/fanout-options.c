/* SPDX-License-Identifier: MIT */

#include <stdio.h>
#include <string.h>

#include "fanout.h"

static const char summary[] =
    "Runs a graph as many tasks by several processes, such as\n"
    "\n"
    "  dlpipe-fanout --workers 4 \"file-source location=data/*.jsonl.zst ! jsonl-reader \\\n"
    "      ! tokenizer model=gpt2 ! megatron-sink location=out/corpus\"\n"
    "\n"
    "which makes out/corpus/part-00000-of-00016.bin and so on. How many workers there are never\n"
    "changes what comes out. The same command again goes on where it was killed or stopped.\n"
    "\n"
    "  dlpipe-fanout status out/corpus.fanout\n"
    "\n"
    "shows how far a job is, and --follow instead of status its bar until it ends.";

static const char description[] =
    "Sizes take units (512M, 2G), times too (0.5s, 10m). --set counts as written in the graph.\n"
    "\n"
    "A signal stops all tasks, each with a checkpoint; another one, a second or more later, "
    "aborts.\n"
    "\n"
    "Exit codes: 0 finished; 1 tasks have failed; 2 found before the first record; 3 the state is\n"
    "damaged or something fixed was changed; 4 finished with kept damage; 5 another attempt has\n"
    "taken over; 75 stopped, the same command goes on; 128+N aborted by signal N.";

typedef struct
{
  char **graph;
  char *progress;
  char *launcher;
  char *slurm_shape;
  gboolean help;
} Texts;

static void
add_run_group (GOptionContext *context, FanoutOptions *self, Texts *texts)
{
  GOptionEntry entries[] = {
    { "file", 0, 0, G_OPTION_ARG_FILENAME, &self->file, "Read the graph from a file (- for stdin)",
      "FILE" },
    { "workers", 'w', 0, G_OPTION_ARG_FILENAME, &self->workers,
      "Processes that run tasks (one for each device, or for four CPUs)", "N" },
    { "tasks", 0, 0, G_OPTION_ARG_FILENAME, &self->tasks,
      "Tasks that the files are dealt to (one for each 16 GiB)", "N" },
    { "retries", 0, 0, G_OPTION_ARG_FILENAME, &self->retries,
      "How often a task whose worker died is begun again from its checkpoint (2)", "N" },
    { "set", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &self->set,
      "Set a property of an element; may be given several times", "NAME.PROP=VALUE" },
    { "seed", 0, 0, G_OPTION_ARG_FILENAME, &self->seed, "Seed of all random draws (0)", "N" },
    { "strict", 0, 0, G_OPTION_ARG_NONE, &self->strict, "Fail at the first bad record", NULL },
    { "threads", 0, 0, G_OPTION_ARG_FILENAME, &self->threads,
      "Threads of all workers together (as many as there are CPUs to use)", "N" },
    { "memory", 0, 0, G_OPTION_ARG_FILENAME, &self->memory,
      "Memory of all workers together for queues, buffers and caches", "SIZE" },
    { "devices", 0, 0, G_OPTION_ARG_FILENAME, &self->devices,
      "Devices that are dealt to the workers in turn, such as 0,1,2", "LIST" },
    { "device-env", 0, 0, G_OPTION_ARG_FILENAME, &self->device_env,
      "Environment variable that tells a worker its device (CUDA_VISIBLE_DEVICES)", "NAME" },
    { "plugin-path", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &self->plugin_paths,
      "Look for plugins here too; may be given several times", "DIR" },
    { "grace", 0, 0, G_OPTION_ARG_FILENAME, &self->grace,
      "How long all tasks together may take to stop (20s)", "TIME" },
    { "stall-timeout", 0, 0, G_OPTION_ARG_FILENAME, &self->stall_timeout,
      "How long nothing may move in a task before it is begun again; 0: for ever (60s)", "TIME" },
    { "answer-timeout", 0, 0, G_OPTION_ARG_FILENAME, &self->answer_timeout,
      "How long a worker may say nothing before it is killed; 0: for ever (60s)", "TIME" },
    { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &texts->graph, NULL,
      "GRAPH | status DIR | finish DIR" },
    { NULL, 0, 0, 0, NULL, NULL, NULL }
  };

  g_option_context_add_main_entries (context, entries, NULL);
}

static void
add_job_group (GOptionContext *context, FanoutOptions *self, Texts *texts)
{
  GOptionEntry entries[] = {
    { "state", 0, 0, G_OPTION_ARG_FILENAME, &self->state, "Folder of the job (LOCATION.fanout)",
      "DIR" },
    { "checkpoint-every", 0, 0, G_OPTION_ARG_FILENAME, &self->checkpoint_every,
      "Time between checkpoints of a task (10s, and at most 1 % of the time)", "TIME" },
    { "restart", 0, 0, G_OPTION_ARG_NONE, &self->restart,
      "Discard the job's states and outputs first", NULL },
    { "overwrite", 0, 0, G_OPTION_ARG_NONE, &self->overwrite,
      "Replace the output of another run too, as its manifest lists it", NULL },
    { "launcher", 0, 0, G_OPTION_ARG_FILENAME, &texts->launcher,
      "Who starts the fan-outs of several machines: none but this one, whoever set the "
      "environment, or Slurm, to which they are submitted (local)",
      "local|env|slurm" },
    { "rank", 0, 0, G_OPTION_ARG_FILENAME, &self->rank,
      "Of several fan-outs that share the job's folder, this one's number, from 0", "N" },
    { "world-size", 0, 0, G_OPTION_ARG_FILENAME, &self->world_size,
      "How many fan-outs share the job's folder (1)", "N" },
    { "plan-timeout", 0, 0, G_OPTION_ARG_FILENAME, &self->plan_timeout,
      "How long other ranks wait for the plan of rank 0; 0: for ever (10m)", "TIME" },
    { NULL, 0, 0, 0, NULL, NULL, NULL }
  };
  GOptionGroup *group =
      g_option_group_new ("job", "The job:", "Show options of the job", texts, NULL);

  g_option_group_add_entries (group, entries);
  g_option_context_add_group (context, group);
}

static void
add_slurm_group (GOptionContext *context, FanoutOptions *self, Texts *texts)
{
  GOptionEntry entries[] = {
    { "slurm-shape", 0, 0, G_OPTION_ARG_FILENAME, &texts->slurm_shape,
      "How the ranks are submitted: a job of an array each, or by srun in one allocation (array)",
      "array|allocation" },
    { "sbatch", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &self->sbatch,
      "An option for sbatch, such as --sbatch=--partition=long; may be given several times",
      "OPTION" },
    { "slurm-write-only", 0, 0, G_OPTION_ARG_NONE, &self->slurm_write_only,
      "Deal the files and write the scripts, and say what would be submitted", NULL },
    { NULL, 0, 0, 0, NULL, NULL, NULL }
  };
  GOptionGroup *group = g_option_group_new (
      "slurm", "With --launcher=slurm:", "Show options of --launcher=slurm", texts, NULL);

  g_option_group_add_entries (group, entries);
  g_option_context_add_group (context, group);
}

static void
add_end_group (GOptionContext *context, FanoutOptions *self)
{
  GOptionEntry entries[] = {
    { "merge", 0, 0, G_OPTION_ARG_NONE, &self->merge,
      "Make one output of the parts when all tasks are done (LOCATION/all)", NULL },
    { "remove-parts", 0, 0, G_OPTION_ARG_NONE, &self->remove_parts,
      "Remove the parts once they are merged", NULL },
    { "update", 0, 0, G_OPTION_ARG_NONE, &self->update,
      "Add tasks for files that are new since the job was planned", NULL },
    { "accept-changed", 0, 0, G_OPTION_ARG_NONE, &self->accept_changed,
      "With --update: files may be gone or have changed; what was made of them stays", NULL },
    { "retry-failed", 0, 0, G_OPTION_ARG_NONE, &self->retry_failed,
      "Run the failed tasks of a job that has ended again", NULL },
    { NULL, 0, 0, 0, NULL, NULL, NULL }
  };
  GOptionGroup *group =
      g_option_group_new ("end", "Ended jobs:", "Show options of ended jobs", NULL, NULL);

  g_option_group_add_entries (group, entries);
  g_option_context_add_group (context, group);
}

static void
add_report_group (GOptionContext *context, FanoutOptions *self, Texts *texts)
{
  GOptionEntry entries[] = {
    { "progress", 0, 0, G_OPTION_ARG_FILENAME, &texts->progress,
      "How progress is shown on stderr (auto)", "auto|bar|full|plain|json|none" },
    { "follow", 0, 0, G_OPTION_ARG_NONE, &self->follow,
      "Show the progress of the job in DIR, or of one that is submitted, until it ends", NULL },
    { "summary", 0, 0, G_OPTION_ARG_FILENAME, &self->summary,
      "Write all of it as JSON (- for stdout)", "FILE" },
    { "json", 0, 0, G_OPTION_ARG_NONE, &self->json, "status: print JSON", NULL },
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
parse_progress (FanoutOptions *self, const char *text, GError **error)
{
  static const char *const names[] = { "auto", "bar", "full", "plain", "json", "none" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_str_equal (text, names[i]))
      {
        self->progress = (FanoutProgressKind) i;
        return true;
      }
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
               "--progress=%s: allowed are auto, bar, full, plain, json, none", text);
  return false;
}

static bool
parse_launcher (FanoutOptions *self, const char *text, GError **error)
{
  static const char *const names[] = { "local", "env", "slurm" };
  guint i = 0;

  while (i < G_N_ELEMENTS (names) && !g_str_equal (text, names[i]))
    i++;
  if (i == G_N_ELEMENTS (names))
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                 "--launcher=%s: allowed are local, env, slurm", text);
  else if (i == FANOUT_LAUNCHER_ENV && (self->rank != NULL || self->world_size != NULL))
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
                 "--launcher=env and --rank or --world-size exclude each other");
  else if (i == FANOUT_LAUNCHER_SLURM && self->rank != NULL)
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
                 "--launcher=slurm and --rank exclude each other: all ranks are submitted");
  else if (i != FANOUT_LAUNCHER_SLURM && (self->sbatch != NULL || self->slurm_write_only))
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
                 "--sbatch and --slurm-write-only are for --launcher=slurm");
  else
    {
      self->launcher = (FanoutLauncher) i;
      return true;
    }
  return false;
}

static bool
parse_shape (FanoutOptions *self, const char *text, GError **error)
{
  self->allocation = text != NULL && g_str_equal (text, "allocation");
  if (text != NULL && !self->allocation && !g_str_equal (text, "array"))
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                 "--slurm-shape=%s: allowed are array, allocation", text);
  else if (text != NULL && self->launcher != FANOUT_LAUNCHER_SLURM)
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
                 "--slurm-shape is for --launcher=slurm");
  else
    return true;
  return false;
}

/* What is done with a job that there is, by its folder. */
static FanoutCommand
choose_command (FanoutOptions *self, char **rest)
{
  if (self->follow && self->launcher != FANOUT_LAUNCHER_SLURM)
    return FANOUT_FOLLOW;
  if (rest != NULL && g_str_equal (rest[0], "status"))
    return FANOUT_STATUS;
  return rest != NULL && g_str_equal (rest[0], "finish") ? FANOUT_FINISH : FANOUT_RUN;
}

static bool
take_folder (FanoutOptions *self, char **rest, GError **error)
{
  static const char *const names[] = { "", "status", "--follow", "finish" };

  if (self->command != FANOUT_FOLLOW)
    rest++;
  if (rest == NULL || rest[0] == NULL || rest[1] != NULL)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
                   "%s takes the folder of one job, such as out/corpus.fanout",
                   names[self->command]);
      return false;
    }
  self->folder = g_strdup (rest[0]);
  return true;
}

static bool
take_arguments (FanoutOptions *self, char **rest, GError **error)
{
  self->command = choose_command (self, rest);
  if (self->command != FANOUT_RUN)
    return take_folder (self, rest, error);
  if (rest != NULL)
    self->graph = g_strjoinv (" ", rest);
  if (self->graph != NULL && self->file != NULL)
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
                 "a graph on the command line, and --file exclude each other");
  else if (self->graph == NULL && self->file == NULL)
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
                 "there is no graph; give one, or --file FILE (see --help)");
  else
    return true;
  return false;
}

static bool
interpret (FanoutOptions *self, Texts *texts, GError **error)
{
  return parse_progress (self, texts->progress != NULL ? texts->progress : "auto", error) &&
         parse_launcher (self, texts->launcher != NULL ? texts->launcher : "local", error) &&
         parse_shape (self, texts->slurm_shape, error) &&
         take_arguments (self, texts->graph, error);
}

bool
fanout_options_parse (FanoutOptions *self, int *argc, char ***argv, GError **error)
{
  g_autoptr (GOptionContext) context = g_option_context_new ("- run a graph as many tasks");
  Texts texts = { NULL };
  bool ok;

  g_option_context_set_help_enabled (context, FALSE);
  g_option_context_set_summary (context, summary);
  g_option_context_set_description (context, description);
  add_run_group (context, self, &texts);
  add_job_group (context, self, &texts);
  add_slurm_group (context, self, &texts);
  add_end_group (context, self);
  add_report_group (context, self, &texts);
  ok = g_option_context_parse (context, argc, argv, error);
  self->done = ok && (texts.help || self->show_version);
  if (ok && texts.help)
    {
      g_autofree char *help = g_option_context_get_help (context, FALSE, NULL);

      printf ("%s\n", help);
    }
  else if (self->done)
    printf ("dlpipe-fanout %s\n", DLP_VERSION);
  ok = ok && (self->done || interpret (self, &texts, error));

  g_strfreev (texts.graph);
  g_free (texts.progress);
  g_free (texts.launcher);
  g_free (texts.slurm_shape);
  return ok;
}

void
fanout_options_clear (FanoutOptions *self)
{
  char *texts[] = { self->graph,
                    self->file,
                    self->folder,
                    self->state,
                    self->workers,
                    self->tasks,
                    self->retries,
                    self->threads,
                    self->memory,
                    self->seed,
                    self->checkpoint_every,
                    self->stall_timeout,
                    self->plan_timeout,
                    self->answer_timeout,
                    self->grace,
                    self->devices,
                    self->device_env,
                    self->rank,
                    self->world_size,
                    self->summary };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    g_free (texts[i]);
  g_strfreev (self->set);
  g_strfreev (self->sbatch);
  g_strfreev (self->plugin_paths);
  *self = (FanoutOptions){ 0 };
}
