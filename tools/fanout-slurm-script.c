/* SPDX-License-Identifier: MIT */

/* The scripts of a job of Slurm. They are for people too: to be read, changed and submitted again.
 */

#include <string.h>

#include "fanout-slurm.h"

/* Between the signal and the time limit, which Slurm looks at only about twice a minute. */
#define LEAD "90"

/* ---- lines for sbatch ---- */

/* Of a name of a file: "%" begins a pattern. */
static char *
escape_pattern (const char *path)
{
  g_auto (GStrv) parts = g_strsplit (path, "%", -1);

  return g_strjoinv ("%%", parts);
}

static void
append_option (GString *text, const char *option, const char *value)
{
  bool plain = value[strspn (value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                    "/._-+=%@:,[]")] == '\0';

  g_string_append_printf (text, plain ? "#SBATCH --%s=%s\n" : "#SBATCH --%s=\"%s\"\n", option,
                          value);
}

static void
append_header (const FanoutSlurm *self, GString *text, const char *end, const char *log)
{
  g_autofree char *cwd = g_get_current_dir ();
  g_autofree char *name = g_strconcat (self->name, end, NULL);
  g_autofree char *folder = escape_pattern (self->job);
  g_autofree char *output = g_build_filename (folder, "slurm", log, NULL);

  append_option (text, "job-name", name);
  append_option (text, "chdir", cwd);
  append_option (text, "output", output);
  g_string_append (text, "#SBATCH --open-mode=append\n#SBATCH --requeue\n");
}

/* Those that say where and for whom a job runs, not what it takes. */
static bool
is_for_all (const char *option)
{
  static const char *const names[] = { "--partition",   "-p",       "--account",    "-A",
                                       "--qos",         "-q",       "--clusters",   "-M",
                                       "--time",        "-t",       "--constraint", "-C",
                                       "--comment",     "--wckey",  "--mail-type",  "--mail-user",
                                       "--reservation", "--export", "--nice",       "--uid",
                                       "--gid" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      gsize n = strlen (names[i]);

      if (strncmp (option, names[i], n) == 0 &&
          (option[1] != '-' || strchr ("= ", option[n]) != NULL))
        return true;
    }
  return false;
}

static void
append_passed_on (const FanoutSlurm *self, GString *text, bool ranks)
{
  for (char **option = self->options->sbatch; option != NULL && *option != NULL; option++)
    if (ranks || is_for_all (*option))
      g_string_append_printf (text, "#SBATCH %s\n", *option);
}

/* ---- lines for the shell ---- */

static void
append_argument (GString *text, const char *name, const char *value)
{
  g_autofree char *argument = value != NULL ? g_strconcat (name, "=", value, NULL) : NULL;
  g_autofree char *quoted = argument != NULL ? g_shell_quote (argument) : NULL;

  if (quoted == NULL)
    return;
  g_string_append_printf (text, " \\\n    %s",
                          strpbrk (value, " \t\n'\"\\$`*?[]{}()<>|&;#~!") == NULL ? argument :
                                                                                    quoted);
}

static void
append_variable (GString *text, const char *name, const char *value)
{
  g_autofree char *quoted = g_shell_quote (value);

  g_string_append_printf (text, "%s=%s\n", name, quoted);
}

/* What a shell with another environment would not have. Credentials are not among it: they come
 * with the environment of who submits. */
static void
append_environment (GString *text)
{
  static const char *const names[] = { "DLPIPE_PLUGIN_PATH", "DLPIPE_VOCAB_PATH",
                                       "DLPIPE_FANOUT_WORKER" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_getenv (names[i]) != NULL)
      {
        g_string_append (text, "export ");
        append_variable (text, names[i], g_getenv (names[i]));
      }
}

static void
append_variables (const FanoutSlurm *self, GString *text)
{
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);

  append_variable (text, "program", program != NULL ? program : "dlpipe-fanout");
  append_variable (text, "job", self->job);
  append_environment (text);
  g_string_append (text,
                   "\n"
                   "if ! [ -s \"$job/job.json\" ]; then\n"
                   "  echo \"dlpipe-fanout: error: $job is not there on $(hostname): the folder of "
                   "the job has to be on\" \\\n"
                   "    \"a file system that all nodes see\" >&2\n"
                   "  exit 2\n"
                   "fi\n");
}

/* What the ranks are given; what belongs to the job, such as its seed, is checked by them. */
static void
append_run (const FanoutSlurm *self, GString *text)
{
  const FanoutOptions *options = self->options;
  const struct
  {
    const char *name, *value;
  } settings[] = { { "--seed", options->seed },
                   { "--workers", options->workers },
                   { "--retries", options->retries },
                   { "--memory", options->memory },
                   { "--checkpoint-every", options->checkpoint_every },
                   { "--stall-timeout", options->stall_timeout },
                   { "--answer-timeout", options->answer_timeout },
                   { "--plan-timeout", options->plan_timeout },
                   { "--grace", options->grace },
                   { "--devices", options->devices },
                   { "--device-env", options->device_env },
                   { "--threads", options->threads } };

  g_string_append (text, "\"$program\" --state=\"$job\" --file=\"$job/graph\" --progress=plain");
  for (guint i = 0; i < G_N_ELEMENTS (settings); i++)
    append_argument (text, settings[i].name, settings[i].value);
  if (options->threads == NULL)
    g_string_append (text, " \\\n    --threads=\"$threads\"");
  if (options->strict)
    g_string_append (text, " \\\n    --strict");
  if (options->overwrite)
    g_string_append (text, " \\\n    --overwrite");
}

/* The shell waits for its child by wait, which a signal interrupts: its trap would else run only
 * when the child has ended. */
static const char run_again[] =
    "\n"
    "# The time limit is near: USR1. It is cancelled, put back, or has to make room: TERM. A "
    "checkpoint\n"
    "# is made, for which there is as long as Slurm waits.\n"
    "stopped= child=\n"
    "stop () {\n"
    "  stopped=1\n"
    "  [ -z \"$child\" ] || kill \"-$1\" \"$child\"\n"
    "}\n"
    "trap 'stop USR1' USR1\n"
    "trap 'stop TERM' TERM\n"
    "\n"
    "# Once more where it was killed: it goes on from its checkpoint.\n"
    "for attempt in 1 2 3; do\n"
    "  run &\n"
    "  child=$!\n"
    "  while wait \"$child\"; [ -n \"$(jobs -pr)\" ]; do :; done\n"
    "  wait \"$child\"\n"
    "  code=$?\n"
    "  child=\n"
    "  [ -z \"$stopped\" ] && [ \"$code\" -gt 128 ] || break\n"
    "  echo \"attempt $attempt of 3 was killed (exit code $code)\" >&2\n"
    "done\n"
    "\n"
    "# 75: it was stopped, with a checkpoint. Above 128: not in time, and the checkpoint before "
    "counts.\n"
    "# Where it is still to run (the time limit, the grace of a preemption) it puts itself back; "
    "what is\n"
    "# cancelled, or was put back by Slurm, is not running for Slurm any more.\n"
    "if [ \"$code\" -eq 75 ] || { [ -n \"$stopped\" ] && [ \"$code\" -gt 128 ]; }; then\n"
    "  state=$(squeue --noheader --format=%T --jobs=\"$id\")\n"
    "  echo \"stopped (exit code $code), and in the queue as: $state\" >&2\n"
    "  [ \"$state\" != RUNNING ] || scontrol requeue \"$id\"\n"
    "fi\n"
    "exit \"$code\"\n";

/* ---- the scripts ---- */

static void
append_calls (const FanoutSlurm *self, GString *text)
{
  g_string_append (text, "#\n# Submitted by\n#\n");
  for (guint i = 0; i < self->calls->len; i++)
    {
      g_autofree char *call = g_strjoinv (" ", self->calls->pdata[i]);

      g_string_append_printf (text, "#   %s\n", call);
    }
  g_string_append_printf (text,
                          "#   sbatch --dependency=afterany:JOB... %s\n"
                          "#\n",
                          self->finish_path);
}

/* Of the first call: without a command line the script is that one. */
static void
append_array (const FanoutSlurm *self, GString *text)
{
  g_string_append (text, "#SBATCH --ntasks=1\n");
  if (self->calls->len > 0)
    g_string_append_printf (text, "#SBATCH %s\n",
                            ((char **) g_ptr_array_index (self->calls, 0))[1]);
}

char *
fanout_slurm_make_ranks_script (const FanoutSlurm *self)
{
  GString *text = g_string_new ("#!/bin/bash\n");

  g_string_append_printf (
      text,
      "# Written by dlpipe-fanout " DLP_VERSION ": the ranks of the job %s.\n"
      "# Each does its share of the tasks; one that is begun again goes on where it was.\n",
      self->job);
  append_calls (self, text);
  append_header (self, text, "", self->options->allocation ? "%j.log" : "%A_%a.log");
  g_string_append (text, "#SBATCH --signal=B:USR1@" LEAD "\n");
  if (self->options->allocation)
    g_string_append_printf (text, "#SBATCH --ntasks=%u\n", self->world_size);
  else
    append_array (self, text);
  append_passed_on (self, text, true);
  g_string_append_c (text, '\n');
  append_variables (self, text);
  if (self->options->allocation)
    g_string_append (text, "\nid=$SLURM_JOB_ID\n"
                           "threads=${SLURM_CPUS_PER_TASK:-1}\n"
                           "\n"
                           "run () {\n"
                           "  exec srun --kill-on-bad-exit=0 --wait=0 "
                           "--cpus-per-task=\"$threads\" \\\n    ");
  else
    g_string_append_printf (text,
                            "\nid=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID\n"
                            "# The first argument is the rank of the first job of the array.\n"
                            "rank=$((${1:-0} + SLURM_ARRAY_TASK_ID))\n"
                            "threads=${SLURM_CPUS_PER_TASK:-$SLURM_CPUS_ON_NODE}\n"
                            "\n"
                            "run () {\n"
                            "  exec ");
  append_run (self, text);
  if (self->options->allocation)
    g_string_append (text, " \\\n    --launcher=env\n}\n");
  else
    g_string_append_printf (text, " \\\n    --rank=\"$rank\" --world-size=%u\n}\n",
                            self->world_size);
  g_string_append (text, run_again);
  return g_string_free (text, FALSE);
}

char *
fanout_slurm_make_finish_script (const FanoutSlurm *self)
{
  GString *text = g_string_new ("#!/bin/bash\n");
  g_autofree char *summary = self->options->summary != NULL ?
                                 g_canonicalize_filename (self->options->summary, NULL) :
                                 NULL;

  g_string_append_printf (
      text,
      "# Written by dlpipe-fanout " DLP_VERSION
      ": the end of the job %s, once all ranks have ended.\n"
      "# It decides by what the tasks have recorded; its exit code is that of the job.\n",
      self->job);
  append_header (self, text, "-finish", "finish.log");
  g_string_append (text, "#SBATCH --ntasks=1\n");
  append_passed_on (self, text, false);
  g_string_append_c (text, '\n');
  append_variables (self, text);
  g_string_append (text, "\nexec \"$program\"");
  if (self->options->merge)
    g_string_append (text, " --merge");
  if (self->options->remove_parts)
    g_string_append (text, " --remove-parts");
  append_argument (text, "--summary", summary);
  g_string_append (text, " finish \"$job\"\n");
  return g_string_free (text, FALSE);
}

/* ---- what is passed on ---- */

bool
fanout_slurm_check_options (const FanoutOptions *options, GError **error)
{
  static const char *const own[] = {
    "--array",  "-a", "--parsable",  "--wrap",   "--ntasks", "-n",
    "--output", "-o", "--test-only", "--signal", "--chdir",  "-D"
  };

  for (char **option = options->sbatch; option != NULL && *option != NULL; option++)
    {
      g_autofree char *name = g_strndup (*option, strcspn (*option, "= "));

      if (name[0] != '-' || strchr (*option, '\n') != NULL)
        {
          g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                       "--sbatch=%s: expected an option of sbatch, such as "
                       "--sbatch=--partition=long",
                       *option);
          return false;
        }
      for (guint i = 0; i < G_N_ELEMENTS (own); i++)
        if (strcmp (name, own[i]) == 0 ||
            (own[i][1] != '-' && g_str_has_prefix (name, own[i]) && name[1] != '-'))
          {
            g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                         "--sbatch=%s: %s is set by dlpipe-fanout itself (--world-size says how "
                         "many ranks there are)",
                         *option, own[i]);
            return false;
          }
    }
  return true;
}
