/* SPDX-License-Identifier: MIT */

/* A job as its folder shows it: needs neither a scheduler nor the processes that run it. */

#include <string.h>

#include <dlpipe/dlp-checkpoint.h>
#include <dlpipe/dlp-json.h>

#include "fanout.h"

/* Of another host it is not seen whether a process lives, only when its status was written. */
#define ALIVE_SECONDS 120

typedef struct
{
  const char *status;
  guint64 planned; /* bytes as stored */
  guint64 files;
  GVariant *source; /* (nullable): what is recorded of it, else what its state says */
} Task;

struct _FanoutFolder
{
  char *path;
  GVariant *job;
  Task *tasks;
  guint64 n_tasks;
  double fraction; /* the most that was seen */
};

GVariant *
fanout_load_json (const char *folder, const char *name, GError **error)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autofree char *text = NULL;
  g_autoptr (GVariant) value = NULL;
  gsize size;

  if (!g_file_get_contents (path, &text, &size, error))
    return NULL;
  value = dlp_json_parse (text, size, error);
  if (value != NULL && g_variant_is_of_type (value, G_VARIANT_TYPE_VARDICT))
    return g_steal_pointer (&value);
  g_clear_error (error);
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT, "%s: this is no JSON object", path);
  return NULL;
}

/* ---- the plan ---- */

/* TASK TAB SIZE TAB ...; other lines say nothing of a file. */
static void
take_line (FanoutFolder *self, const char *line)
{
  char *end;
  guint64 task = g_ascii_strtoull (line, &end, 10);
  gint64 size;

  if (end == line || *end != '\t' || task >= self->n_tasks)
    return;
  size = g_ascii_strtoll (end + 1, NULL, 10);
  self->tasks[task].files++;
  self->tasks[task].planned += (guint64) MAX (size, 0);
}

/* Only what a task weighs is taken from it, so that a plan that cannot be read is no fault here. */
static void
read_plan (FanoutFolder *self)
{
  g_autofree char *path = g_build_filename (self->path, "plan", NULL);
  g_autofree char *text = NULL;
  char *line;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return;
  line = text;
  while (line != NULL)
    {
      char *end = strchr (line, '\n');

      if (end != NULL)
        *end++ = '\0';
      take_line (self, line);
      line = end;
    }
}

FanoutFolder *
fanout_folder_open (const char *path, GError **error)
{
  g_autoptr (GVariant) job = fanout_load_json (path, "job.json", error);
  FanoutFolder *self;

  if (job == NULL)
    {
      g_prefix_error (error, "there is no job: ");
      return NULL;
    }
  self = g_new0 (FanoutFolder, 1);
  self->path = g_canonicalize_filename (path, NULL);
  self->n_tasks = launch_get_number (job, "tasks");
  self->tasks = g_new0 (Task, self->n_tasks);
  self->job = g_steal_pointer (&job);
  read_plan (self);
  return self;
}

void
fanout_folder_free (FanoutFolder *self)
{
  for (guint64 i = 0; i < self->n_tasks; i++)
    g_clear_pointer (&self->tasks[i].source, g_variant_unref);
  g_variant_unref (self->job);
  g_free (self->tasks);
  g_free (self->path);
  g_free (self);
}

const char *
fanout_folder_get_path (const FanoutFolder *self)
{
  return self->path;
}

GVariant *
fanout_folder_get_job (const FanoutFolder *self)
{
  return self->job;
}

/* ---- tasks ---- */

/* Whether its state's lock is held, as far as this host can tell. */
static bool
is_running (const char *state)
{
  g_autoptr (GVariant) described = dlp_checkpoint_describe_folder (state, NULL);
  gboolean running = FALSE;

  if (described == NULL || g_variant_lookup (described, "running", "b", &running))
    return running;
  return launch_get_double (described, "status-age", G_MAXDOUBLE) < ALIVE_SECONDS;
}

static const char *
find_recorded (GVariant *outcome)
{
  const char *status = "";

  if (outcome != NULL)
    g_variant_lookup (outcome, "status", "&s", &status);
  return strcmp (status, "done") == 0 ? "done" : strcmp (status, "failed") == 0 ? "failed" : NULL;
}

/* That it is done counts, whatever else is there. */
static GVariant *
load_outcome (const char *folder)
{
  GVariant *outcome = fanout_load_json (folder, "done.json", NULL);

  return outcome != NULL ? outcome : fanout_load_json (folder, "failed.json", NULL);
}

/* What is recorded of it, else what its state says. */
static void
look_at_task (FanoutFolder *self, guint64 number)
{
  Task *task = &self->tasks[number];
  g_autofree char *name = g_strdup_printf ("%05" G_GUINT64_FORMAT, number);
  g_autofree char *folder = g_build_filename (self->path, "tasks", name, NULL);
  g_autofree char *state = g_build_filename (folder, "state", NULL);
  g_autoptr (GVariant) outcome = load_outcome (folder);
  const char *recorded = find_recorded (outcome);
  bool running = g_strcmp0 (recorded, "done") != 0 && is_running (state);

  g_clear_pointer (&task->source, g_variant_unref);
  if (!running && recorded != NULL)
    {
      task->status = recorded;
      task->source = g_steal_pointer (&outcome);
      return;
    }
  task->source = fanout_load_json (state, "status.json", NULL);
  task->status = running ? "running" : task->source != NULL ? "stopped" : "waiting";
}

static double
get_fraction (const Task *task)
{
  if (strcmp (task->status, "done") == 0)
    return 1;
  return task->source != NULL ? CLAMP (launch_get_double (task->source, "fraction", 0), 0, 1) : 0;
}

static GVariant *
describe_task (const FanoutFolder *self, guint64 number)
{
  const Task *task = &self->tasks[number];
  const char *error;
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "task", "t", number);
  g_variant_dict_insert (&dict, "status", "s", task->status);
  g_variant_dict_insert (&dict, "files", "t", task->files);
  if (task->source == NULL)
    return g_variant_dict_end (&dict);
  g_variant_dict_insert (&dict, "records", "t", launch_get_number (task->source, "records"));
  g_variant_dict_insert (&dict, "tokens", "t", launch_get_number (task->source, "tokens"));
  g_variant_dict_insert (&dict, "bytes", "t", launch_get_number (task->source, "bytes"));
  g_variant_dict_insert (&dict, "fraction", "d", get_fraction (task));
  if (strcmp (task->status, "failed") == 0 &&
      g_variant_lookup (task->source, "error", "&s", &error))
    g_variant_dict_insert (&dict, "error", "s", error);
  return g_variant_dict_end (&dict);
}

/* ---- all of them ---- */

typedef struct
{
  guint64 done, failed, running, waiting;
  guint64 files_done, files_failed, files_damaged, files_left;
  guint64 files, planned, records, tokens, bytes, bad;
  double fraction; /* times what all weigh */
} Sums;

static void
count_files (Sums *sums, const Task *task)
{
  guint64 damaged;

  if (strcmp (task->status, "failed") == 0)
    sums->files_failed += task->files;
  else if (strcmp (task->status, "done") != 0)
    sums->files_left += task->files;
  else
    {
      damaged = MIN (launch_get_number (task->source, "damaged"), task->files);
      sums->files_damaged += damaged;
      sums->files_done += task->files - damaged;
      sums->bad += launch_get_number (task->source, "bad-records");
    }
}

static void
count_task (Sums *sums, const Task *task)
{
  sums->done += strcmp (task->status, "done") == 0;
  sums->failed += strcmp (task->status, "failed") == 0;
  sums->running += strcmp (task->status, "running") == 0;
  sums->files += task->files;
  sums->planned += task->planned;
  sums->fraction += get_fraction (task) * (double) task->planned;
  count_files (sums, task);
  if (task->source == NULL)
    return;
  sums->records += launch_get_number (task->source, "records");
  sums->tokens += launch_get_number (task->source, "tokens");
  sums->bytes += launch_get_number (task->source, "bytes");
}

/* Where no size is known all tasks weigh the same. */
static double
weigh (const FanoutFolder *self, const Sums *sums)
{
  double sum = 0;

  if (sums->done == self->n_tasks)
    return 1;
  if (sums->planned > 0)
    return sums->fraction / (double) sums->planned;
  for (guint64 i = 0; i < self->n_tasks; i++)
    sum += get_fraction (&self->tasks[i]);
  return sum / (double) MAX (self->n_tasks, 1);
}

static void
insert_sums (FanoutFolder *self, GVariantDict *dict, const Sums *sums)
{
  const struct
  {
    const char *key;
    guint64 value;
  } numbers[] = { { "tasks", self->n_tasks },
                  { "tasks-of-job", self->n_tasks },
                  { "tasks-done", sums->done },
                  { "tasks-failed", sums->failed },
                  { "tasks-running", sums->running },
                  { "tasks-waiting", self->n_tasks - sums->done - sums->failed - sums->running },
                  { "files-total", sums->files },
                  { "files-done", sums->files_done },
                  { "files-failed", sums->files_failed },
                  { "files-damaged", sums->files_damaged },
                  { "files-left", sums->files_left },
                  { "bytes-total", sums->planned },
                  { "records", sums->records },
                  { "tokens", sums->tokens },
                  { "bytes", sums->bytes },
                  { "bad-records", sums->bad } };

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    g_variant_dict_insert (dict, numbers[i].key, "t", numbers[i].value);
  self->fraction = MAX (self->fraction, MIN (weigh (self, sums), 1));
  g_variant_dict_insert (dict, "fraction", "d", self->fraction);
}

GVariant *
fanout_folder_look (FanoutFolder *self)
{
  g_autofree char *path = g_utf8_make_valid (self->path, -1);
  GVariantBuilder tasks;
  GVariantDict dict;
  Sums sums = { 0 };
  const char *id = "";

  g_variant_builder_init (&tasks, G_VARIANT_TYPE ("aa{sv}"));
  for (guint64 i = 0; i < self->n_tasks; i++)
    {
      if (g_strcmp0 (self->tasks[i].status, "done") != 0)
        look_at_task (self, i);
      count_task (&sums, &self->tasks[i]);
      g_variant_builder_add_value (&tasks, describe_task (self, i));
    }
  g_variant_lookup (self->job, "id", "&s", &id);
  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "job-id", "s", id);
  g_variant_dict_insert (&dict, "state-dir", "s", path);
  g_variant_dict_insert (&dict, "seed", "t", launch_get_number (self->job, "seed"));
  insert_sums (self, &dict, &sums);
  g_variant_dict_insert_value (&dict, "task-list", g_variant_builder_end (&tasks));
  return g_variant_ref_sink (g_variant_dict_end (&dict));
}

bool
fanout_is_settled (GVariant *report)
{
  return launch_get_number (report, "tasks-done") + launch_get_number (report, "tasks-failed") ==
         launch_get_number (report, "tasks");
}

int
fanout_exit_for_records (GVariant *report)
{
  if (launch_get_number (report, "tasks-failed") > 0)
    return LAUNCH_EXIT_FAILED;
  if (!fanout_is_settled (report))
    return LAUNCH_EXIT_STOPPED;
  return launch_get_number (report, "files-damaged") > 0 ? LAUNCH_EXIT_DAMAGED :
                                                           LAUNCH_EXIT_FINISHED;
}
