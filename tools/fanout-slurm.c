/* SPDX-License-Identifier: MIT */

/* dlpipe-fanout --launcher=slurm: deals the files, and leaves the rest to jobs of Slurm. */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <linux/magic.h>

#include <dlpipe/dlp-output-file.h>

#include "fanout-slurm.h"

/* Of a Slurm that is not asked. */
#define DEFAULT_ARRAY_SIZE 1001

/* ---- programs of Slurm ---- */

/* What it printed is in *@output where it went well, else in the error. */
static bool
call (char **argv, char **output, GError **error)
{
  g_autofree char *errors = NULL;
  g_autofree char *program = g_find_program_in_path (argv[0]);
  g_autofree char *line = NULL;
  g_autoptr (GError) local = NULL;
  int status;

  if (program == NULL)
    {
      g_set_error (
          error, G_SPAWN_ERROR, G_SPAWN_ERROR_NOENT,
          "%s is not in the PATH (%s): --launcher=slurm is called where jobs are submitted "
          "to Slurm; without Slurm see --launcher=env",
          argv[0], g_getenv ("PATH"));
      return false;
    }
  if (!g_spawn_sync (NULL, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, output, &errors, &status,
                     error))
    return false;
  if (g_spawn_check_wait_status (status, &local))
    return true;
  line = g_strjoinv (" ", argv);
  g_strdelimit (g_strchomp (errors), "\n", ' ');
  g_set_error (error, G_SPAWN_ERROR, G_SPAWN_ERROR_FAILED, "%s: %s", line,
               *errors != '\0' ? errors : local->message);
  g_clear_pointer (output, g_free);
  return false;
}

/* "MaxArraySize            = 1001" */
static bool
ask_array_size (FanoutSlurm *self, GError **error)
{
  char *argv[] = { (char *) "scontrol", (char *) "show", (char *) "config", NULL };
  g_autofree char *text = NULL;
  const char *at;

  self->array_size = DEFAULT_ARRAY_SIZE;
  if (self->options->slurm_write_only || self->options->allocation)
    return true;
  if (!call (argv, &text, error))
    return false;
  at = strstr (text, "MaxArraySize");
  at = at != NULL ? strchr (at, '=') : NULL;
  if (at != NULL)
    self->array_size = (guint) MIN (g_ascii_strtoull (at + 1, NULL, 10), G_MAXINT);
  if (self->array_size > 1)
    return true;
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
               "this Slurm has no arrays of jobs (MaxArraySize = %u): use "
               "--slurm-shape=allocation",
               self->array_size);
  return false;
}

/* Those that were submitted before and are not over. Where the queue cannot be asked nothing is
 * known, and the locks of the ranks see to it that no task is run twice. */
static bool
check_queue (FanoutSlurm *self, GError **error)
{
  g_autofree char *path = g_build_filename (self->job, FANOUT_SLURM_JOBS, NULL);
  g_autofree char *ids = NULL;
  g_autofree char *queue = NULL;
  char *argv[] = {
    (char *) "squeue", (char *) "--noheader", (char *) "--format=%A", (char *) "--jobs", NULL, NULL
  };

  if (self->options->slurm_write_only || !g_file_get_contents (path, &ids, NULL, NULL))
    return true;
  argv[4] = g_strdelimit (g_strchomp (ids), "\n", ',');
  if (!call (argv, &queue, NULL) || *g_strstrip (queue) == '\0')
    return true;
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
               "%s: the job is still in the queue of Slurm (%s): follow it by “dlpipe-fanout "
               "--follow %s”, or end it by scancel first",
               self->job, ids, self->job);
  return false;
}

/* The id of the job, of "ID" or "ID;CLUSTER". */
static char *
submit (char **argv, GError **error)
{
  g_autoptr (GPtrArray) whole = g_ptr_array_new ();
  char *output = NULL;

  g_ptr_array_add (whole, argv[0]);
  g_ptr_array_add (whole, (char *) "--parsable");
  for (guint i = 1; argv[i] != NULL; i++)
    g_ptr_array_add (whole, argv[i]);
  g_ptr_array_add (whole, NULL);
  if (!call ((char **) whole->pdata, &output, error))
    return NULL;
  output[strspn (output, "0123456789")] = '\0';
  if (*output != '\0')
    return output;
  g_set_error (error, G_SPAWN_ERROR, G_SPAWN_ERROR_FAILED,
               "sbatch said nothing of the id of the job");
  g_free (output);
  return NULL;
}

/* Of some of them nothing comes. */
static void
take_back (GPtrArray *ids)
{
  g_autoptr (GPtrArray) argv = g_ptr_array_new ();
  g_autofree char *output = NULL;

  if (ids->len == 0)
    return;
  g_ptr_array_add (argv, (char *) "scancel");
  for (guint i = 0; i < ids->len; i++)
    g_ptr_array_add (argv, ids->pdata[i]);
  g_ptr_array_add (argv, NULL);
  if (!call ((char **) argv->pdata, &output, NULL))
    launch_warn ("the ranks that were submitted could not be cancelled; see squeue");
}

/* ---- what is submitted ---- */

/* Below @end, as "0-3,7": the ranks that have something to do, counted from @first. */
static char *
list_indices (const FanoutSlurm *self, guint first, guint end, guint *n)
{
  GString *text = g_string_new (NULL);

  *n = 0;
  for (guint i = 0; i < self->ranks->len; i++)
    {
      guint from = g_array_index (self->ranks, guint, i);
      guint to = from;

      if (from < first || from >= end)
        continue;
      while (i + 1 < self->ranks->len && g_array_index (self->ranks, guint, i + 1) == to + 1 &&
             to + 1 < end)
        {
          to++;
          i++;
        }
      *n += to - from + 1;
      g_string_append_printf (text, "%s%u", text->len > 0 ? "," : "", from - first);
      if (to > from)
        g_string_append_printf (text, "-%u", to - first);
    }
  return g_string_free (text, FALSE);
}

static void
add_call (FanoutSlurm *self, char *option, char *argument)
{
  char **argv = g_new0 (char *, 5);
  guint n = 0;

  argv[n++] = g_strdup ("sbatch");
  if (option != NULL)
    argv[n++] = option;
  argv[n++] = g_strdup (self->ranks_path);
  if (argument != NULL)
    argv[n++] = argument;
  g_ptr_array_add (self->calls, argv);
}

/* An array has no index of array_size or above. */
static void
make_calls (FanoutSlurm *self)
{
  if (self->options->allocation)
    add_call (self, NULL, NULL);
  for (guint first = 0; first < self->world_size && !self->options->allocation;
       first += self->array_size)
    {
      guint n;
      g_autofree char *indices =
          list_indices (self, first, MIN (first + self->array_size, self->world_size), &n);

      if (n > 0)
        add_call (self, g_strconcat ("--array=", indices, NULL), g_strdup_printf ("%u", first));
    }
}

static char **
make_last_call (const FanoutSlurm *self, GPtrArray *ids)
{
  g_autofree char *joined = NULL;
  char **argv = g_new0 (char *, 4);

  g_ptr_array_add (ids, NULL);
  joined = g_strjoinv (":", (char **) ids->pdata);
  g_ptr_array_remove_index (ids, ids->len - 1);
  argv[0] = g_strdup ("sbatch");
  argv[1] = g_strconcat ("--dependency=afterany:", joined, NULL);
  argv[2] = g_strdup (self->finish_path);
  return argv;
}

/* ---- files ---- */

static bool
write_script (const char *path, char *script, GError **error)
{
  g_autofree char *text = script;

  return g_file_set_contents_full (path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0755, error);
}

static bool
write_scripts (FanoutSlurm *self, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (self->ranks_path);

  if (g_mkdir_with_parents (folder, 0777) != 0)
    {
      g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno), "%s: cannot be made: %s",
                   folder, g_strerror (errno));
      return false;
    }
  return write_script (self->ranks_path, fanout_slurm_make_ranks_script (self), error) &&
         write_script (self->finish_path, fanout_slurm_make_finish_script (self), error);
}

/* The verdict of those before is not that of these. */
static bool
forget_end (FanoutSlurm *self, GError **error)
{
  g_autofree char *path = g_build_filename (self->job, FANOUT_SLURM_END, NULL);

  if (remove (path) == 0 || errno == ENOENT)
    return true;
  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno), "%s: cannot be removed: %s", path,
               g_strerror (errno));
  return false;
}

static bool
write_ids (FanoutSlurm *self, GPtrArray *ids, GError **error)
{
  g_autofree char *path = g_build_filename (self->job, FANOUT_SLURM_JOBS, NULL);
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < ids->len; i++)
    g_string_append_printf (text, "%s\n", (const char *) ids->pdata[i]);
  return g_file_set_contents (path, text->str, -1, error);
}

/* ---- the job ---- */

/* @what: which folder it is. */
static bool
check_name (const char *path, const char *what, GError **error)
{
  if (path[strcspn (path, "\"\\\n\r")] == '\0')
    return true;
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
               "%s: a script of Slurm cannot name a folder with a quotation mark, a backslash or a "
               "line break, and this is %s",
               path, what);
  return false;
}

/* What is in memory no other machine ever sees. */
static bool
check_folder (const char *path, GError **error)
{
  g_autofree char *cwd = g_get_current_dir ();
  struct statfs st;

  if (!check_name (path, "the one of the job (--state DIR names another one)", error) ||
      !check_name (cwd, "where the job is submitted", error))
    return false;
  if (statfs (path, &st) != 0 || (st.f_type != TMPFS_MAGIC && st.f_type != RAMFS_MAGIC))
    return true;
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
               "%s: the folder of the job is in the memory of this machine, where no other node "
               "sees it; it has to be on a file system that all nodes share",
               path);
  return false;
}

/* Ranks run whatever is not done, so they cannot hold out what has failed. */
static bool
check_failed (FanoutSlurm *self, GVariant *report, GError **error)
{
  guint64 n = launch_get_number (report, "tasks-failed");

  if (n == 0 || !self->options->update || self->options->retry_failed)
    return true;
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
               "%" G_GUINT64_FORMAT " of the tasks before have failed, and ranks of Slurm run them "
               "again: say so by --retry-failed, or do the update without --launcher=slurm",
               n);
  return false;
}

/* Ranks none of whose tasks is left are not submitted. */
static bool
find_ranks (FanoutSlurm *self, GVariant *report, GError **error)
{
  g_autoptr (GVariant) tasks =
      g_variant_lookup_value (report, "task-list", G_VARIANT_TYPE ("aa{sv}"));
  gsize n_tasks = g_variant_n_children (tasks);
  guint64 wanted = n_tasks;
  g_autofree bool *needed = NULL;

  if (self->options->world_size != NULL &&
      !g_ascii_string_to_unsigned (self->options->world_size, 10, 1, G_MAXINT, &wanted, error))
    {
      g_prefix_error (error, "--world-size: ");
      return false;
    }
  self->world_size = (guint) MIN (wanted, n_tasks);
  if (wanted > n_tasks)
    launch_say ("%u ranks, as there are no more tasks", self->world_size);
  needed = g_new0 (bool, self->world_size);
  for (gsize i = 0; i < n_tasks; i++)
    {
      g_autoptr (GVariant) task = g_variant_get_child_value (tasks, i);
      const char *status = "";

      g_variant_lookup (task, "status", "&s", &status);
      if (strcmp (status, "done") != 0)
        needed[launch_get_number (task, "task") % self->world_size] = true;
    }
  for (guint i = 0; i < self->world_size; i++)
    if (needed[i])
      g_array_append_val (self->ranks, i);
  return true;
}

static bool
describe_job (FanoutSlurm *self, GVariant *report, GError **error)
{
  const char *job = "";
  g_autofree char *base = NULL;
  char *end;

  g_variant_lookup (report, "state-dir", "&s", &job);
  if (launch_get_flag (report, "state-dir-temporary"))
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
                   "the ranks share the folder of the job, and without a sink that writes files "
                   "there is none: name one (--state DIR)");
      return false;
    }
  self->job = g_strdup (job);
  self->ranks_path = g_build_filename (job, "slurm", "ranks.sbatch", NULL);
  self->finish_path = g_build_filename (job, "slurm", "finish.sbatch", NULL);
  base = g_path_get_basename (job);
  end = strrchr (base, '.');
  if (end != NULL && strcmp (end, ".fanout") == 0)
    *end = '\0';
  self->name = g_strconcat ("dlpipe-", base, NULL);
  return check_folder (job, error) && check_failed (self, report, error) &&
         find_ranks (self, report, error);
}

static void
say_write_only (FanoutSlurm *self)
{
  launch_say ("nothing is submitted, as --slurm-write-only is given; this would submit it:");
  for (guint i = 0; i < self->calls->len; i++)
    {
      g_autofree char *line = g_strjoinv (" ", self->calls->pdata[i]);

      printf ("%s\n", line);
    }
  printf ("sbatch --dependency=afterany:JOB%s %s\n", self->calls->len > 1 ? "[:JOB...]" : "",
          self->finish_path);
}

static bool
submit_all (FanoutSlurm *self, GError **error)
{
  g_autoptr (GPtrArray) ids = g_ptr_array_new_with_free_func (g_free);
  g_auto (GStrv) last = NULL;
  bool ok = forget_end (self, error);

  for (guint i = 0; i <= self->calls->len && ok; i++)
    {
      char **argv =
          i < self->calls->len ? self->calls->pdata[i] : (last = make_last_call (self, ids));
      char *id = submit (argv, error);

      if (id != NULL)
        g_ptr_array_add (ids, id);
      ok = id != NULL && write_ids (self, ids, error);
    }
  if (!ok)
    {
      take_back (ids);
      return false;
    }
  launch_say ("submitted to Slurm: %u ranks as job %s%s, and job %s, which decides when they have "
              "ended",
              self->options->allocation ? self->world_size : self->ranks->len,
              (const char *) ids->pdata[0], ids->len > 2 ? " and others" : "",
              (const char *) ids->pdata[ids->len - 1]);
  if (!self->options->follow)
    launch_say ("“dlpipe-fanout --follow %s” shows how far they are", self->job);
  return true;
}

static void
slurm_clear (FanoutSlurm *self)
{
  g_free (self->job);
  g_free (self->ranks_path);
  g_free (self->finish_path);
  g_free (self->name);
  g_array_unref (self->ranks);
  g_ptr_array_unref (self->calls);
}

static bool
launch (FanoutSlurm *self, DlpFanout *fanout, GError **error)
{
  g_autoptr (GVariant) report = NULL;

  if (!ask_array_size (self, error) || !dlp_fanout_prepare (fanout, NULL, error))
    return false;
  report = dlp_fanout_get_report (fanout);
  if (!describe_job (self, report, error) || !check_queue (self, error))
    return false;
  make_calls (self);
  if (!write_scripts (self, error))
    return false;
  fanout_say_job (report);
  if (self->options->slurm_write_only)
    say_write_only (self);
  return self->options->slurm_write_only || self->ranks->len == 0 || submit_all (self, error);
}

FanoutSlurmResult
fanout_slurm_submit (DlpFanout *fanout, const FanoutOptions *options, char **job, GError **error)
{
  FanoutSlurm self = { .options = options };
  FanoutSlurmResult result = FANOUT_SLURM_FAILED;

  self.ranks = g_array_new (FALSE, FALSE, sizeof (guint));
  self.calls = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  if (fanout_slurm_check_options (options, error) && launch (&self, fanout, error))
    result = options->slurm_write_only ? FANOUT_SLURM_WRITTEN :
             self.ranks->len == 0      ? FANOUT_SLURM_NOTHING_LEFT :
                                         FANOUT_SLURM_SUBMITTED;
  *job = g_strdup (self.job);
  slurm_clear (&self);
  return result;
}
