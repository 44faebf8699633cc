/* SPDX-License-Identifier: MIT */

#include "fanout.h"

/* False: the variable is not set. A value that is no number is an error, not a missing one: the
 * process would do another one's work. */
static bool
read_variable (const char *name, guint64 *value, GError **error)
{
  const char *text = g_getenv (name);
  g_autoptr (GError) local = NULL;

  if (text == NULL || *text == '\0' || (error != NULL && *error != NULL))
    return false;
  if (g_ascii_string_to_unsigned (text, 10, 0, G_MAXINT, value, &local))
    return true;
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "%s=%s in the environment: %s",
               name, text, local->message);
  return false;
}

/* An array of jobs, and the ranks that srun starts in each of them: one or both. */
static bool
find_slurm (guint64 *rank, guint64 *world_size, GError **error)
{
  guint64 id = 0, min = 0, count = 1, step = 1, process = 0, processes = 1;
  bool array = read_variable ("SLURM_ARRAY_TASK_ID", &id, error);
  bool ranks = read_variable ("SLURM_PROCID", &process, error) &&
               read_variable ("SLURM_NTASKS", &processes, error);

  if (array)
    {
      read_variable ("SLURM_ARRAY_TASK_MIN", &min, error);
      read_variable ("SLURM_ARRAY_TASK_STEP", &step, error);
      if (!read_variable ("SLURM_ARRAY_TASK_COUNT", &count, error) && *error == NULL)
        g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                     "SLURM_ARRAY_TASK_ID is in the environment, SLURM_ARRAY_TASK_COUNT is not");
    }
  if (!array && !ranks)
    return false;
  *rank = (id - MIN (min, id)) / MAX (step, 1) * processes + process;
  *world_size = count * processes;
  return true;
}

static bool
find_pair (const char *rank_name,
           const char *size_name,
           guint64 *rank,
           guint64 *world_size,
           GError **error)
{
  if (!read_variable (rank_name, rank, error))
    return false;
  if (!read_variable (size_name, world_size, error) && *error == NULL)
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                 "%s is in the environment, %s, which says of how many, is not", rank_name,
                 size_name);
  return true;
}

bool
fanout_environment_find (guint *rank, guint *world_size, GError **error)
{
  guint64 own = 0, all = 1;
  GError *local = NULL;

  if (!find_slurm (&own, &all, &local) && local == NULL &&
      !find_pair ("JOB_COMPLETION_INDEX", "JOB_COMPLETIONS", &own, &all, &local) && local == NULL &&
      !find_pair ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", &own, &all, &local) &&
      local == NULL && !find_pair ("RANK", "WORLD_SIZE", &own, &all, &local) && local == NULL)
    g_set_error (
        &local, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
        "--launcher=env: nothing in the environment says which rank this is; looked for are "
        "SLURM_ARRAY_TASK_ID, SLURM_PROCID, JOB_COMPLETION_INDEX, OMPI_COMM_WORLD_RANK and "
        "RANK");
  if (local == NULL && own >= all)
    g_set_error (&local, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                 "the environment says that this is rank %" G_GUINT64_FORMAT
                 " of %" G_GUINT64_FORMAT "; ranks are counted from 0",
                 own, all);
  *rank = (guint) own;
  *world_size = (guint) all;
  if (local == NULL)
    return true;
  g_propagate_error (error, local);
  return false;
}
