/* SPDX-License-Identifier: MIT */

/* From a graph to a job whose tasks can be run: the plan is made, or found. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <dlpipe/dlp-sink.h>

#include "dlp-durable-private.h"
#include "dlp-fanout-private.h"
#include "dlp-fanout-task-private.h"
#include "dlp-work-pool-private.h"

/* Below that a second process costs more than it gains. */
#define SMALL_INPUT ((guint64) 256 << 20)
#define CPUS_A_WORKER 4
#define MIB ((guint64) 1 << 20)
#define RANK_POLL_US (200 * 1000)
/* What it waits for is said after a while, and again now and then. */
#define FIRST_WORD_US (5 * G_USEC_PER_SEC)
#define NEXT_WORD_US (60 * G_USEC_PER_SEC)

/* ---- the parts of a fan-out ---- */

void
dlp_fanout_task_free (gpointer data)
{
  DlpFanoutTask *self = data;

  g_clear_error (&self->error);
  g_clear_pointer (&self->verdicts, g_ptr_array_unref);
  g_clear_pointer (&self->outcome, g_variant_unref);
  g_free (self);
}

void
dlp_fanout_place_free (gpointer data)
{
  DlpFanoutPlace *self = data;

  dlp_fanout_process_clear (&self->process, self->task < 0);
  g_free (self->device);
  g_free (self->killed);
  g_free (self);
}

bool
dlp_fanout_is_own (const DlpFanout *self, guint task)
{
  return task % self->settings.world_size == self->settings.rank;
}

/* ---- orders ---- */

/* Remainders go to the first workers: together they have what there is. */
static guint64
share_out (guint64 whole, guint n, guint i)
{
  return whole / n + (i < whole % n);
}

static guint
get_threads (DlpFanout *self, guint place)
{
  guint all = self->settings.threads != 0 ? self->settings.threads : dlp_cpu_budget ();

  return (guint) MAX (share_out (all, MAX (self->places->len, 1), place), 1);
}

static guint64
get_memory (DlpFanout *self, guint threads)
{
  guint64 n = MAX (self->places->len, 1);

  if (self->settings.memory != 0)
    return MAX (self->settings.memory / n, MIB);
  return MAX (MIN (64 * MIB + 48 * MIB * threads, dlp_memory_limit () / 4 / n), MIB);
}

GVariant *
dlp_fanout_make_order (DlpFanout *self, guint task, guint place, guint flags)
{
  guint generation = dlp_fanout_plan_get_generation (self->plan, task);
  g_autofree char *plan = dlp_fanout_job_get_plan_path (self->job, generation);
  g_autofree char *state = dlp_fanout_job_get_task_path (self->job, task, "state");
  g_autofree char *log = dlp_fanout_job_get_task_path (self->job, task, "log");
  guint threads = get_threads (self, place);
  GVariantDict dict;

  if (self->settings.strict)
    flags |= DLP_FANOUT_STRICT;
  if (self->settings.overwrite)
    flags |= DLP_FANOUT_OVERWRITE;
  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "do", "s", "run");
  g_variant_dict_insert (&dict, "task", "t", (guint64) task);
  g_variant_dict_insert (&dict, "tasks", "t", (guint64) dlp_fanout_plan_get_end (self->plan, task));
  dlp_fanout_add_text (&dict, "graph", self->graph);
  dlp_fanout_add_text (&dict, "plan", plan);
  dlp_fanout_add_text (&dict, "state", state);
  dlp_fanout_add_text (&dict, "log", log);
  g_variant_dict_insert (&dict, "seed", "t", self->seed);
  g_variant_dict_insert (&dict, "threads", "t", (guint64) threads);
  g_variant_dict_insert (&dict, "memory", "t", get_memory (self, threads));
  g_variant_dict_insert (&dict, "checkpoint-interval", "t",
                         (guint64) self->settings.checkpoint_interval);
  g_variant_dict_insert (&dict, "stall-timeout", "t", (guint64) self->settings.stall_timeout);
  g_variant_dict_insert (&dict, "flags", "t", (guint64) flags);
  return g_variant_dict_end (&dict);
}

/* ---- the job's folder ---- */

static void
find_folders (DlpFanout *self)
{
  GListModel *elements = G_LIST_MODEL (self->pattern);

  for (guint i = 0; i < g_list_model_get_n_items (elements); i++)
    {
      g_autoptr (DlpElement) element = g_list_model_get_item (elements, i);
      char *folder = dlp_fanout_get_folder (element);

      if (folder != NULL)
        g_ptr_array_add (self->folders, folder);
    }
}

static bool
open_job (DlpFanout *self, GError **error)
{
  g_autofree char *path = g_strdup (self->settings.state_dir);

  find_folders (self);
  if (path == NULL && self->folders->len > 0)
    path = g_strconcat (self->folders->pdata[0], ".fanout", NULL);
  if (path == NULL && self->settings.world_size > 1)
    {
      g_set_error (
          error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
          "several ranks share the folder of the job, and without a sink that writes files "
          "there is none: name one (--state DIR)");
      return false;
    }
  self->job = dlp_fanout_job_open (path, error);
  return self->job != NULL;
}

static void
say_that_it_waits (DlpFanout *self, gint64 waited)
{
  g_autofree char *path = dlp_fanout_job_get_path (self->job, "job.json");

  g_log_structured (G_LOG_DOMAIN, G_LOG_LEVEL_WARNING, "DLP_FILE", path, "MESSAGE",
                    "rank %u has been waiting for the plan of rank 0 for %" G_GINT64_FORMAT
                    " s: %s is not there yet",
                    self->settings.rank, waited / G_USEC_PER_SEC, path);
}

static bool
is_plan_overdue (DlpFanout *self, gint64 waited, GError **error)
{
  g_autofree char *path = NULL;

  if (self->settings.plan_timeout == 0 || waited < self->settings.plan_timeout)
    return false;
  path = dlp_fanout_job_get_path (self->job, "job.json");
  g_set_error (error, DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STALLED,
               "rank %u has waited for the plan of rank 0 for %.3g s (plan-timeout), and %s is not "
               "there; start rank 0 with the same folder, or set a longer time (0: for ever)",
               self->settings.rank, (double) waited / G_USEC_PER_SEC, path);
  return true;
}

/* Other ranks wait for the first one to have dealt the files. */
static GVariant *
wait_for_plan (DlpFanout *self, GCancellable *cancellable, GError **error)
{
  gint64 began = g_get_monotonic_time ();
  gint64 next_word = FIRST_WORD_US;

  do
    {
      GError *local = NULL;
      GVariant *job = dlp_fanout_job_load (self->job, &local);
      gint64 waited = g_get_monotonic_time () - began;

      if (job != NULL)
        return job;
      if (local != NULL)
        {
          g_propagate_error (error, local);
          return NULL;
        }
      if (is_plan_overdue (self, waited, error))
        return NULL;
      if (waited >= next_word)
        {
          say_that_it_waits (self, waited);
          next_word = waited + NEXT_WORD_US;
        }
    }
  while (dlp_fanout_pause (self, cancellable, RANK_POLL_US, "rank 0 had dealt the files", error));
  return NULL;
}

/* ---- a job that is there ---- */

static bool
check_seed (DlpFanout *self, GVariant *job, GError **error)
{
  guint64 recorded = dlp_fanout_get_count (job, "seed");

  if (recorded == self->seed)
    return true;
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED,
               "the seed was %" G_GUINT64_FORMAT
               " when the job was begun, and is %" G_GUINT64_FORMAT
               "; go on with what was recorded, or begin anew with --restart",
               recorded, self->seed);
  return false;
}

static bool
check_tasks (DlpFanout *self, const DlpFanoutPlan *plan, GError **error)
{
  guint first = g_array_index (plan->ends, guint, 0);

  if (self->settings.tasks == 0 || self->settings.tasks == first)
    return true;
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED,
               "the files were dealt to %u tasks, not %u; any number of workers can run them, but "
               "other tasks are another job: begin it anew with --restart",
               first, self->settings.tasks);
  return false;
}

static bool
has_stale (const DlpFanoutPlan *plan)
{
  for (guint i = 0; i < plan->sources->len; i++)
    {
      const DlpFanoutSource *source = g_ptr_array_index (plan->sources, i);

      for (guint k = 0; k < source->files->len; k++)
        if (source->stale[k])
          return true;
    }
  return false;
}

static bool
compare_graph (DlpFanout *self, GError **error)
{
  g_autofree char *text = dlp_fanout_job_load_graph (self->job, error);
  g_autoptr (DlpPipeline) recorded = NULL;

  if (text == NULL)
    return false;
  if (strcmp (text, self->graph) == 0)
    return true;
  recorded = dlp_pipeline_new_from_string (text, error);
  return recorded != NULL && dlp_fanout_compare_graphs (recorded, self->pattern, error);
}

static bool
check_parts_are_there (DlpFanout *self, GError **error)
{
  for (guint i = 0; i < self->folders->len; i++)
    if (dlp_fanout_has_removed_parts (self->folders->pdata[i]))
      {
        g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED,
                     "%s: the parts of the job were removed after they had been merged, so what is "
                     "new cannot be merged with them; run it as a job with another location, or "
                     "make all anew with --restart",
                     (const char *) self->folders->pdata[i]);
        return false;
      }
  return true;
}

/* Of the generation before: it is made anew. */
static bool
discard_merged (DlpFanout *self, const char *id, guint generation, GError **error)
{
  GListModel *elements = G_LIST_MODEL (self->pattern);

  for (guint i = 0; i < g_list_model_get_n_items (elements); i++)
    {
      g_autoptr (DlpElement) element = g_list_model_get_item (elements, i);
      g_autofree char *folder = dlp_fanout_get_folder (element);

      if (folder != NULL && !dlp_fanout_discard_merged (element, id, generation, error))
        return false;
    }
  return true;
}

/* What is there of the job stays; job.json is written last. */
static bool
update_plan (DlpFanout *self,
             DlpFanoutPlan *plan,
             const DlpFanoutPlan *now,
             GVariant *job,
             GError **error)
{
  guint generation = dlp_fanout_plan_get_n_generations (plan) - 1;
  const char *id = "";
  bool grown;

  g_variant_lookup (job, "id", "&s", &id);
  if (!dlp_fanout_plan_update (plan, now, self->settings.accept_changed, &grown, error))
    return false;
  return (!grown || (check_parts_are_there (self, error) &&
                     dlp_fanout_check_graph (self->pattern, plan->n_tasks, error) &&
                     discard_merged (self, id, generation, error))) &&
         dlp_fanout_job_save (self->job, NULL, id, self->seed, plan, error);
}

static bool
compare_plan (DlpFanout *self,
              DlpFanoutPlan *plan,
              const DlpFanoutPlan *now,
              GVariant *job,
              GError **error)
{
  if (self->settings.update)
    return update_plan (self, plan, now, job, error);
  if (dlp_fanout_plan_get_n_generations (plan) > 1 || has_stale (plan))
    return dlp_fanout_plan_compare_sources (plan, now, error) &&
           dlp_fanout_plan_compare_grown (plan, now, error);
  return dlp_fanout_plan_compare (plan, now, error);
}

static bool
take_up (DlpFanout *self, GVariant *job, GError **error)
{
  g_autoptr (DlpFanoutPlan) now = NULL;
  g_autoptr (DlpFanoutPlan) plan = dlp_fanout_job_load_plan (self->job, job, error);

  if (plan == NULL || !check_tasks (self, plan, error))
    return false;
  now = dlp_fanout_plan_new (self->pattern, 0, error);
  if (now == NULL || !compare_plan (self, plan, now, job, error))
    return false;
  self->plan = g_steal_pointer (&plan);
  return true;
}

/* With the pipeline that would run it a task is discarded as by --restart of a run: by its state it
 * is known whose the outputs are. Before that nothing says any more that it is done: whoever goes
 * on with what is left of a job that was discarded in part makes its output anew. */
static bool
discard_tasks (DlpFanout *self, GCancellable *cancellable, GError **error)
{
  for (guint i = 0; i < self->plan->n_tasks; i++)
    {
      g_autoptr (GVariant) order = NULL;
      g_autoptr (DlpPipeline) pipeline = NULL;
      g_autofree char *state = dlp_fanout_job_get_task_path (self->job, i, "state");

      if (!g_file_test (state, G_FILE_TEST_IS_DIR))
        continue;
      if (!dlp_fanout_job_forget_task (self->job, i, error))
        return false;
      order = g_variant_ref_sink (dlp_fanout_make_order (self, i, 0, DLP_FANOUT_RESTART));
      pipeline = dlp_fanout_make_task (order, error);
      if (pipeline == NULL || !dlp_pipeline_prepare (pipeline, cancellable, error))
        {
          g_prefix_error (error, "task %u is to be discarded: ", i);
          return false;
        }
    }
  return true;
}

/* It may have another graph than this one. First goes what says that the whole is there. */
static bool
discard_recorded (DlpFanout *self, GVariant *job, GCancellable *cancellable, GError **error)
{
  g_autofree char *graph = g_steal_pointer (&self->graph);
  const char *id = "";
  bool ok;

  g_variant_lookup (job, "id", "&s", &id);
  self->graph = dlp_fanout_job_load_graph (self->job, error);
  self->plan = self->graph != NULL ? dlp_fanout_job_load_plan (self->job, job, error) : NULL;
  ok = self->plan != NULL &&
       dlp_fanout_discard_whole (self->graph, id, dlp_fanout_plan_get_n_generations (self->plan),
                                 error) &&
       discard_tasks (self, cancellable, error) && dlp_fanout_job_clear (self->job, error);
  g_clear_pointer (&self->plan, dlp_fanout_plan_free);
  g_free (self->graph);
  self->graph = g_steal_pointer (&graph);
  return ok;
}

static bool
discard_job (DlpFanout *self, GCancellable *cancellable, GError **error)
{
  GError *local = NULL;
  g_autoptr (GVariant) job = dlp_fanout_job_load (self->job, &local);

  if (job != NULL)
    return discard_recorded (self, job, cancellable, error);
  if (local == NULL)
    return true;
  g_propagate_error (error, local);
  return false;
}

/* ---- a new one ---- */

static bool
is_of_generation (const DlpFanoutPlan *plan, const char *name)
{
  for (guint i = 0; i < plan->ends->len; i++)
    {
      g_autofree char *wanted = g_strdup_printf ("-of-%05u", g_array_index (plan->ends, guint, i));

      if (g_str_has_prefix (name, wanted))
        return true;
    }
  return false;
}

/* Parts of another number of tasks would lie beside those of this job, and be taken for some. */
static bool
check_folder (DlpFanout *self, const char *path, GError **error)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      if (!g_str_has_prefix (name, "part-") || strstr (name, "-of-") == NULL ||
          is_of_generation (self->plan, strstr (name, "-of-")))
        continue;
      g_set_error (
          error, DLP_STATE_ERROR, DLP_STATE_ERROR_FOREIGN_OUTPUT,
          "%s has parts of another job (%s is one of them), beside which those of this one "
          "cannot be; choose another location, or remove them",
          path, name);
      return false;
    }
  return true;
}

static bool
make_folders (DlpFanout *self, GError **error)
{
  for (guint i = 0; i < self->folders->len; i++)
    if (!check_folder (self, self->folders->pdata[i], error) ||
        !dlp_durable_make_folder (self->folders->pdata[i], error))
      return false;
  return true;
}

/* What was left by a job that was discarded in the middle says nothing. */
static bool
begin_job (DlpFanout *self, GError **error)
{
  self->plan = dlp_fanout_plan_new (self->pattern, self->settings.tasks, error);
  return self->plan != NULL && dlp_fanout_check_graph (self->pattern, self->plan->n_tasks, error) &&
         make_folders (self, error) &&
         dlp_fanout_job_save (self->job, self->graph, NULL, self->seed, self->plan, error);
}

/* ---- tasks and workers ---- */

/* Takes @outcome over. What has failed is told of as if it had failed now, and not run. */
static void
hold_out (DlpFanoutTask *task, GVariant *outcome)
{
  const char *error = "";

  g_variant_lookup (outcome, "error", "&s", &error);
  task->status = DLP_TASK_FAILED;
  task->recorded = true;
  task->outcome = outcome;
  task->error =
      g_error_new (DLP_PIPELINE_ERROR, DLP_PIPELINE_ERROR_STATE,
                   "it has failed before and is held out until --retry-failed: %s", error);
}

void
dlp_fanout_load_outcome (DlpFanout *self, DlpFanoutTask *task)
{
  GVariant *outcome =
      task->outcome == NULL ? dlp_fanout_job_load_task (self->job, task->number) : NULL;
  const char *status = "";

  if (outcome == NULL)
    return;
  g_variant_lookup (outcome, "status", "&s", &status);
  if (strcmp (status, dlp_fanout_name_status (DLP_TASK_FAILED)) == 0 && self->settings.update &&
      !self->settings.retry_failed)
    {
      hold_out (task, outcome);
      return;
    }
  if (strcmp (status, dlp_fanout_name_status (DLP_TASK_DONE)) != 0)
    {
      task->failed_before = strcmp (status, dlp_fanout_name_status (DLP_TASK_FAILED)) == 0;
      g_variant_unref (outcome);
      return;
    }
  task->status = DLP_TASK_DONE;
  task->recorded = true;
  task->outcome = outcome;
  task->fraction = 1;
  task->records = dlp_fanout_get_count (outcome, "records");
  task->tokens = dlp_fanout_get_count (outcome, "tokens");
  task->bytes = dlp_fanout_get_count (outcome, "bytes");
  task->files_done = task->n_files;
}

static void
count_parts (DlpFanout *self)
{
  for (guint i = 0; i < self->plan->sources->len; i++)
    {
      const DlpFanoutSource *source = g_ptr_array_index (self->plan->sources, i);

      for (guint k = 0; k < source->files->len; k++)
        {
          DlpFanoutTask *task = g_ptr_array_index (self->tasks, source->task_of[k]);

          task->n_files++;
          task->planned += (guint64) MAX (dlp_file_get_size (source->files->pdata[k]), 0);
        }
    }
}

static void
make_tasks (DlpFanout *self)
{
  for (guint i = 0; i < self->plan->n_tasks; i++)
    {
      DlpFanoutTask *task = g_new0 (DlpFanoutTask, 1);

      task->number = i;
      task->verdicts = g_ptr_array_new_with_free_func (g_free);
      g_ptr_array_add (self->tasks, task);
    }
  count_parts (self);
  for (guint i = 0; i < self->tasks->len; i++)
    {
      DlpFanoutTask *task = g_ptr_array_index (self->tasks, i);

      dlp_fanout_load_outcome (self, task);
      if (!dlp_fanout_is_own (self, i))
        continue;
      self->own_tasks++;
      self->done_before += task->status == DLP_TASK_DONE;
      self->own_files += task->n_files;
      self->own_bytes += task->planned;
    }
}

static guint
count_workers (DlpFanout *self)
{
  guint devices = self->settings.devices != NULL ? g_strv_length (self->settings.devices) : 0;
  guint wanted = self->settings.workers;

  if (wanted == 0 && devices == 0 && self->own_bytes < SMALL_INPUT)
    wanted = 1;
  else if (wanted == 0)
    wanted = devices != 0 ? devices : (dlp_cpu_budget () + CPUS_A_WORKER - 1) / CPUS_A_WORKER;
  return MAX (MIN (wanted, self->own_tasks), 1);
}

static bool
make_devices (DlpFanout *self, GError **error)
{
  for (char **device = self->settings.devices; device != NULL && *device != NULL; device++)
    {
      g_autofree char *name = g_build_filename ("devices", *device, NULL);
      g_autofree char *path = dlp_fanout_job_get_path (self->job, name);

      if (!dlp_durable_make_folder (path, error))
        return false;
    }
  return true;
}

/* A device is told by the environment, which this process cannot have another of. */
static bool
make_places (DlpFanout *self, GError **error)
{
  guint n = count_workers (self);
  guint n_devices = self->settings.devices != NULL ? g_strv_length (self->settings.devices) : 0;
  bool in_process = n == 1 && n_devices == 0;

  for (guint i = 0; i < n; i++)
    {
      DlpFanoutPlace *place = g_new0 (DlpFanoutPlace, 1);

      place->number = i;
      place->task = -1;
      place->in_process = in_process;
      place->device = n_devices > 0 ? g_strdup (self->settings.devices[i % n_devices]) : NULL;
      g_ptr_array_add (self->places, place);
    }
  return make_devices (self, error);
}

static bool
open_worker_log (DlpFanout *self, GError **error)
{
  g_autofree char *path = dlp_fanout_job_get_path (self->job, "workers.log");

  self->program = dlp_fanout_find_worker ();
  self->worker_log = open (path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (self->worker_log >= 0)
    return true;
  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno), "%s: cannot open: %s", path,
               g_strerror (errno));
  return false;
}

/* ---- all of it ---- */

static bool
check_pattern (DlpFanout *self, GError **error)
{
  g_object_get (self->pattern, "seed", &self->seed, NULL);
  return dlp_fanout_check_graph (self->pattern, 1, error) && dlp_fanout_check_merge (self, error);
}

/* As it is once it is built: with the reader that was chosen by all files, which a task that has
 * none of them could not choose. */
static bool
build_pattern (DlpFanout *self, GCancellable *cancellable, GError **error)
{
  if (!dlp_pipeline_check (self->pattern, cancellable, error))
    return false;
  self->graph = dlp_pipeline_to_string (self->pattern);
  return true;
}

/* Where a node was thought to be lost, the attempt of this rank that it runs may still live. Which
 * one does the work does not matter. */
static bool
lock_job (DlpFanout *self, int rank, GCancellable *cancellable, GError **error)
{
  for (bool said = false;; said = true)
    {
      GError *local = NULL;

      if (dlp_fanout_job_lock (self->job, rank, &local))
        return true;
      if (!self->settings.wait_for_lock ||
          !g_error_matches (local, DLP_STATE_ERROR, DLP_STATE_ERROR_LOCKED))
        {
          g_propagate_error (error, local);
          return false;
        }
      if (!said)
        g_message ("%s; its end is waited for", local->message);
      g_error_free (local);
      if (!dlp_fanout_pause (self, cancellable, RANK_POLL_US, "the run before had ended", error))
        return false;
    }
}

/* The first rank deals, and the others find what it has dealt. */
static bool
find_or_make_plan (DlpFanout *self, GCancellable *cancellable, GError **error)
{
  bool first = self->settings.rank == 0;
  bool shared = self->settings.world_size > 1;
  g_autoptr (GVariant) job = NULL;
  GError *local = NULL;

  if (!lock_job (self, first ? -1 : (int) self->settings.rank, cancellable, error))
    return false;
  if (first && self->settings.restart && !discard_job (self, cancellable, error))
    return false;
  job = first ? dlp_fanout_job_load (self->job, &local) : wait_for_plan (self, cancellable, &local);
  if (local != NULL)
    {
      g_propagate_error (error, local);
      return false;
    }
  if (job != NULL && !check_seed (self, job, error))
    return false;
  if (!build_pattern (self, cancellable, error) ||
      !(job != NULL ? compare_graph (self, error) && take_up (self, job, error) &&
                          make_folders (self, error) :
                      begin_job (self, error)))
    return false;
  return !first || !shared || lock_job (self, 0, cancellable, error);
}

static bool
learn_id (DlpFanout *self, GError **error)
{
  g_autoptr (GVariant) job = dlp_fanout_job_load (self->job, error);
  const char *id = "";

  if (job == NULL)
    return false;
  g_variant_lookup (job, "id", "&s", &id);
  self->job_id = g_strdup (id);
  return true;
}

static bool
check_rank (DlpFanout *self, GError **error)
{
  if (self->settings.rank >= self->settings.world_size)
    g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                 "rank %u of %u: ranks are counted from 0", self->settings.rank,
                 self->settings.world_size);
  else if (self->settings.world_size > 1 && self->settings.restart)
    g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                 "--restart cannot discard a job while other ranks look for it; discard it by one "
                 "fan-out alone (rank 0 of 1)");
  else if (self->settings.world_size > 1 && self->settings.update)
    g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                 "--update cannot add to a plan while other ranks look for it; add to it by one "
                 "fan-out alone (rank 0 of 1), whose tasks others can share then");
  else if (self->settings.accept_changed && !self->settings.update)
    g_set_error (error, DLP_GRAPH_ERROR, DLP_GRAPH_ERROR_VALUE,
                 "--accept-changed is for --update, which is missing");
  else
    return true;
  return false;
}

/* Others may ask for a setting of it meanwhile. */
static void
drop_pattern (DlpFanout *self)
{
  g_autoptr (DlpPipeline) pattern = NULL;

  pthread_mutex_lock (&self->lock);
  pattern = g_steal_pointer (&self->pattern);
  pthread_mutex_unlock (&self->lock);
}

/* Failed tasks and nothing else. */
static bool
check_retry (DlpFanout *self, GError **error)
{
  guint n = 0;

  for (guint i = 0; i < self->tasks->len && self->settings.retry_failed; i++)
    {
      DlpFanoutTask *task = g_ptr_array_index (self->tasks, i);

      n += dlp_fanout_is_own (self, i) && task->status != DLP_TASK_DONE && !task->failed_before;
    }
  if (n == 0 || self->settings.update)
    return true;
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CHANGED,
               "--retry-failed runs what has failed of a job that has ended, and %u of %u tasks "
               "have not come to an end yet; the same command without it goes on with them",
               n, self->own_tasks);
  return false;
}

bool
dlp_fanout_make_ready (DlpFanout *self, GCancellable *cancellable, GError **error)
{
  if (!check_rank (self, error) || !check_pattern (self, error) || !open_job (self, error) ||
      !find_or_make_plan (self, cancellable, error) || !learn_id (self, error))
    return false;
  make_tasks (self);
  if (!check_retry (self, error))
    return false;
  if (!make_places (self, error) || !open_worker_log (self, error))
    return false;
  drop_pattern (self);
  return true;
}
