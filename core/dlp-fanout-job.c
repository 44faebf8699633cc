/* SPDX-License-Identifier: MIT */

#include "dlp-fanout-job-private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include <dlpipe/dlp-error.h>
#include <dlpipe/dlp-json.h>
#include <dlpipe/dlp-output-file.h>

#include "dlp-durable-private.h"
#include "dlp-fanout-plan-file-private.h"

#define JOB_FILE "job.json"
#define GRAPH_FILE "graph"
#define PLAN_FILE "plan"
#define DONE_FILE "done.json"
#define FAILED_FILE "failed.json"
#define FORMAT_KEY "dlpipe-job"
#define FORMER_KEY "former-tasks"
#define STALE_KEY "accepted"
#define FORMAT 1

/* ---- the folder ---- */

/* What a state folder is known by. */
static bool
check_is_no_state (DlpFanoutJob *self, GError **error)
{
  g_autoptr (GPtrArray) names = dlp_durable_list (self->folder, self->path, error);

  if (names == NULL)
    return false;
  for (guint i = 0; i < names->len; i++)
    if (g_str_has_prefix (names->pdata[i], "checkpoint-"))
      {
        g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_FOREIGN_OUTPUT,
                     "%s: this is the state folder of a pipeline (%s is in it), not that of a job; "
                     "choose another one",
                     self->path, (const char *) names->pdata[i]);
        return false;
      }
  return true;
}

DlpFanoutJob *
dlp_fanout_job_open (const char *path, GError **error)
{
  g_autoptr (DlpFanoutJob) self = g_new0 (DlpFanoutJob, 1);

  self->folder = self->rank_folder = -1;
  self->temporary = path == NULL;
  self->path = path != NULL ? g_canonicalize_filename (path, NULL) :
                              g_dir_make_tmp ("dlpipe-fanout-XXXXXX", error);
  if (self->path == NULL || !dlp_durable_make_folder (self->path, error))
    return NULL;
  self->folder = dlp_durable_open_folder (self->path, error);
  if (self->folder < 0 || !check_is_no_state (self, error))
    return NULL;
  return g_steal_pointer (&self);
}

static void
remove_tree (const char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *child = g_build_filename (path, name, NULL);

      /* What a link leads to is somebody else's. */
      if (unlink (child) != 0 && !g_file_test (child, G_FILE_TEST_IS_SYMLINK))
        remove_tree (child);
    }
  rmdir (path);
}

void
dlp_fanout_job_free (DlpFanoutJob *self)
{
  dlp_fanout_job_unlock (self);
  if (self->folder >= 0)
    close (self->folder);
  if (self->rank_folder >= 0)
    close (self->rank_folder);
  if (self->temporary && self->path != NULL)
    remove_tree (self->path);
  g_free (self->path);
  g_free (self);
}

/* The lock of a rank is in a folder of its own; that is open only while the lock is. */
static int
open_rank (DlpFanoutJob *self, int rank, char **path, GError **error)
{
  g_autofree char *name = g_strdup_printf ("ranks/%05d", rank);

  *path = dlp_fanout_job_get_path (self, name);
  return dlp_durable_make_folder (*path, error) ? dlp_durable_open_folder (*path, error) : -1;
}

bool
dlp_fanout_job_lock (DlpFanoutJob *self, int rank, GError **error)
{
  g_autofree char *path = NULL;
  int folder = self->folder;

  dlp_fanout_job_unlock (self);
  if (rank >= 0)
    {
      folder = open_rank (self, rank, &path, error);
      if (folder < 0)
        return false;
      if (self->rank_folder >= 0)
        close (self->rank_folder);
      self->rank_folder = folder;
    }
  self->lock = dlp_state_lock_take (folder, path != NULL ? path : self->path, error);
  return self->lock != NULL;
}

void
dlp_fanout_job_unlock (DlpFanoutJob *self)
{
  g_clear_pointer (&self->lock, dlp_state_lock_release);
}

char *
dlp_fanout_job_get_path (const DlpFanoutJob *self, const char *name)
{
  return g_build_filename (self->path, name, NULL);
}

char *
dlp_fanout_job_get_task_path (const DlpFanoutJob *self, guint task, const char *name)
{
  g_autofree char *number = g_strdup_printf ("%05u", task);

  return g_build_filename (self->path, "tasks", number, name, NULL);
}

bool
dlp_fanout_job_make_task (const DlpFanoutJob *self, guint task, GError **error)
{
  g_autofree char *path = dlp_fanout_job_get_task_path (self, task, NULL);

  return dlp_durable_make_folder (path, error);
}

/* ---- what is recorded ---- */

/* Each generation has a file of its own, with all tasks up to it: states of tasks name it. */
static char *
name_plan (guint generation)
{
  return generation > 0 ? g_strdup_printf (PLAN_FILE "-%u", generation) : g_strdup (PLAN_FILE);
}

static char *
hash_text (const char *text, gsize size)
{
  return g_strdup_printf ("%016" G_GINT64_MODIFIER "x", (guint64) XXH3_64bits (text, size));
}

static GVariant *
load_json (const char *path, GError **error)
{
  g_autofree char *text = NULL;
  g_autoptr (GVariant) value = NULL;
  gsize size;

  if (!g_file_get_contents (path, &text, &size, error))
    return NULL;
  value = dlp_json_parse (text, size, error);
  if (value == NULL || !g_variant_is_of_type (value, G_VARIANT_TYPE_VARDICT))
    {
      g_clear_error (error);
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                   "%s: this is no JSON object; --restart begins the job anew", path);
      return NULL;
    }
  return g_steal_pointer (&value);
}

/* The types of JSON: numbers without a sign are int64 where they fit. */
static guint64
get_number (GVariant *dict, const char *key)
{
  g_autoptr (GVariant) value = g_variant_lookup_value (dict, key, NULL);

  if (value != NULL && g_variant_is_of_type (value, G_VARIANT_TYPE_INT64))
    return (guint64) MAX (g_variant_get_int64 (value), 0);
  return value != NULL && g_variant_is_of_type (value, G_VARIANT_TYPE_UINT64) ?
             g_variant_get_uint64 (value) :
             0;
}

GVariant *
dlp_fanout_job_load (const DlpFanoutJob *self, GError **error)
{
  g_autofree char *path = dlp_fanout_job_get_path (self, JOB_FILE);
  g_autoptr (GError) local = NULL;
  g_autoptr (GVariant) job = load_json (path, &local);
  guint64 format;

  if (job == NULL)
    {
      if (!g_error_matches (local, G_FILE_ERROR, G_FILE_ERROR_NOENT))
        g_propagate_error (error, g_steal_pointer (&local));
      return NULL;
    }
  format = get_number (job, FORMAT_KEY);
  if (format == FORMAT)
    return g_steal_pointer (&job);
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_VERSION,
               "%s: a job of format %" G_GUINT64_FORMAT ", this version knows %d", path, format,
               FORMAT);
  return NULL;
}

char *
dlp_fanout_job_get_plan_path (const DlpFanoutJob *self, guint generation)
{
  g_autofree char *name = name_plan (generation);

  return dlp_fanout_job_get_path (self, name);
}

/* How many tasks there were with each generation but the last; a job that has not grown has none
 * recorded. */
static bool
load_ends (DlpFanoutPlan *plan, GVariant *job)
{
  g_autoptr (GVariant) list = g_variant_lookup_value (job, FORMER_KEY, G_VARIANT_TYPE ("av"));
  gint64 before = 0;

  g_array_set_size (plan->ends, 0);
  for (gsize i = 0; list != NULL && i < g_variant_n_children (list); i++)
    {
      g_autoptr (GVariant) boxed = g_variant_get_child_value (list, i);
      g_autoptr (GVariant) number = g_variant_get_variant (boxed);
      gint64 end =
          g_variant_is_of_type (number, G_VARIANT_TYPE_INT64) ? g_variant_get_int64 (number) : -1;
      guint value = (guint) end;

      if (end <= before || end >= plan->n_tasks)
        return false;
      before = end;
      g_array_append_val (plan->ends, value);
    }
  g_array_append_val (plan->ends, plan->n_tasks);
  return true;
}

/* "SOURCE/FILE", by their numbers. */
static bool
mark_stale (DlpFanoutPlan *plan, const char *text)
{
  guint source, file;

  if (sscanf (text, "%u/%u", &source, &file) != 2 || source >= plan->sources->len)
    return false;
  if (file >= ((DlpFanoutSource *) plan->sources->pdata[source])->files->len)
    return false;
  ((DlpFanoutSource *) plan->sources->pdata[source])->stale[file] = 1;
  return true;
}

static bool
load_stale (DlpFanoutPlan *plan, GVariant *job)
{
  g_autoptr (GVariant) list = g_variant_lookup_value (job, STALE_KEY, G_VARIANT_TYPE ("av"));

  for (gsize i = 0; list != NULL && i < g_variant_n_children (list); i++)
    {
      g_autoptr (GVariant) boxed = g_variant_get_child_value (list, i);
      g_autoptr (GVariant) text = g_variant_get_variant (boxed);

      if (!g_variant_is_of_type (text, G_VARIANT_TYPE_STRING) ||
          !mark_stale (plan, g_variant_get_string (text, NULL)))
        return false;
    }
  return true;
}

static guint
count_former (GVariant *job)
{
  g_autoptr (GVariant) list = g_variant_lookup_value (job, FORMER_KEY, G_VARIANT_TYPE ("av"));

  return list != NULL ? (guint) g_variant_n_children (list) : 0;
}

DlpFanoutPlan *
dlp_fanout_job_load_plan (const DlpFanoutJob *self, GVariant *job, GError **error)
{
  g_autofree char *path = dlp_fanout_job_get_plan_path (self, count_former (job));
  g_autoptr (DlpFanoutPlan) plan = NULL;
  g_autofree char *text = NULL;
  g_autofree char *hash = NULL;
  const char *wanted = "";
  gsize size;

  if (!g_file_get_contents (path, &text, &size, error))
    return NULL;
  hash = hash_text (text, size);
  g_variant_lookup (job, "plan-xxh3", "&s", &wanted);
  if (strcmp (hash, wanted) != 0)
    {
      g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
                   "%s: it has the hash %s, and the one that was written had %s; --restart begins "
                   "the job anew",
                   path, hash, wanted);
      return NULL;
    }
  plan = dlp_fanout_plan_parse (path, text, size, error);
  if (plan == NULL || (load_ends (plan, job) && load_stale (plan, job)))
    return g_steal_pointer (&plan);
  g_set_error (error, DLP_STATE_ERROR, DLP_STATE_ERROR_CORRUPT,
               "%s/" JOB_FILE ": its members “" FORMER_KEY "” or “" STALE_KEY
               "” do not go with the plan; --restart begins the job anew",
               self->path);
  return NULL;
}

char *
dlp_fanout_job_load_graph (const DlpFanoutJob *self, GError **error)
{
  g_autofree char *path = dlp_fanout_job_get_path (self, GRAPH_FILE);
  char *text = NULL;

  return g_file_get_contents (path, &text, NULL, error) ? text : NULL;
}

static bool
write_file (const DlpFanoutJob *self,
            const char *name,
            const char *text,
            gsize size,
            GError **error)
{
  return dlp_durable_replace (self->folder, self->path, name, text, size, DLP_DURABLE_FULL, NULL,
                              error);
}

/* (floating) */
static GVariant *
list_former (const DlpFanoutPlan *plan)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("av"));
  for (guint i = 0; i + 1 < plan->ends->len; i++)
    g_variant_builder_add (&builder, "v",
                           g_variant_new_uint64 (g_array_index (plan->ends, guint, i)));
  return g_variant_builder_end (&builder);
}

/* (floating) (nullable) */
static GVariant *
list_stale (const DlpFanoutPlan *plan)
{
  GVariantBuilder builder;
  guint n = 0;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("av"));
  for (guint i = 0; i < plan->sources->len; i++)
    {
      const DlpFanoutSource *source = g_ptr_array_index (plan->sources, i);

      for (guint k = 0; k < source->files->len; k++)
        if (source->stale[k])
          {
            g_variant_builder_add (&builder, "v",
                                   g_variant_new_take_string (g_strdup_printf ("%u/%u", i, k)));
            n++;
          }
    }
  if (n > 0)
    return g_variant_builder_end (&builder);
  g_variant_builder_clear (&builder);
  return NULL;
}

static void
add_generations (GVariantDict *dict, const DlpFanoutPlan *plan)
{
  GVariant *stale = list_stale (plan);

  if (plan->ends->len > 1)
    g_variant_dict_insert_value (dict, FORMER_KEY, list_former (plan));
  if (stale != NULL)
    g_variant_dict_insert_value (dict, STALE_KEY, stale);
}

/* @id: (nullable): of a job that is there */
static bool
write_job (const DlpFanoutJob *self,
           const DlpFanoutPlan *plan,
           const char *id,
           const char *plan_hash,
           guint64 seed,
           GError **error)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autofree char *planned = g_date_time_format_iso8601 (now);
  g_autofree char *random = g_strdelimit (g_uuid_string_random (), "-", '0');
  g_autoptr (GVariant) job = NULL;
  g_autofree char *text = NULL;
  GVariantDict dict;

  /* As the identity of a run, which a manifest has: hexadecimal. */
  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, FORMAT_KEY, "t", (guint64) FORMAT);
  g_variant_dict_insert (&dict, "id", "s", id != NULL ? id : random);
  g_variant_dict_insert (&dict, "planned", "s", planned);
  g_variant_dict_insert (&dict, "tasks", "t", (guint64) plan->n_tasks);
  g_variant_dict_insert (&dict, "files", "t", (guint64) plan->files);
  g_variant_dict_insert (&dict, "bytes", "t", plan->bytes);
  g_variant_dict_insert (&dict, "seed", "t", seed);
  g_variant_dict_insert (&dict, "plan-xxh3", "s", plan_hash);
  add_generations (&dict, plan);
  job = g_variant_ref_sink (g_variant_dict_end (&dict));
  text = dlp_json_print (job, TRUE);
  return write_file (self, JOB_FILE, text, strlen (text), error);
}

bool
dlp_fanout_job_save (const DlpFanoutJob *self,
                     const char *graph,
                     const char *id,
                     guint64 seed,
                     const DlpFanoutPlan *plan,
                     GError **error)
{
  g_autofree char *name = name_plan (plan->ends->len - 1);
  g_autoptr (GString) text = dlp_fanout_plan_print (plan);
  g_autofree char *hash = hash_text (text->str, text->len);

  dlp_fanout_plan_forget_places ();
  return (graph == NULL || write_file (self, GRAPH_FILE, graph, strlen (graph), error)) &&
         write_file (self, name, text->str, text->len, error) &&
         write_job (self, plan, id, hash, seed, error);
}

/* ---- tasks ---- */

GVariant *
dlp_fanout_job_load_task (const DlpFanoutJob *self, guint task)
{
  g_autofree char *done = dlp_fanout_job_get_task_path (self, task, DONE_FILE);
  g_autofree char *failed = dlp_fanout_job_get_task_path (self, task, FAILED_FILE);
  GVariant *outcome = load_json (done, NULL);

  return outcome != NULL ? outcome : load_json (failed, NULL);
}

/* Each has a name of its own, and that a task is done counts whatever else there is: without locks
 * an attempt that was overtaken may record its failure behind that. */
bool
dlp_fanout_job_save_task (const DlpFanoutJob *self,
                          guint task,
                          bool done,
                          GVariant *outcome,
                          GError **error)
{
  g_autofree char *path = dlp_fanout_job_get_task_path (self, task, done ? DONE_FILE : FAILED_FILE);
  g_autofree char *text = dlp_json_print (outcome, TRUE);

  return dlp_write_file_durably (path, text, strlen (text), error);
}

static bool
remove_plans (const DlpFanoutJob *self, GError **error)
{
  for (guint i = 0;; i++)
    {
      g_autofree char *name = name_plan (i);
      g_autofree char *path = dlp_fanout_job_get_path (self, name);

      if (i > 0 && !g_file_test (path, G_FILE_TEST_EXISTS))
        return true;
      if (!dlp_durable_remove (self->folder, self->path, name, error))
        return false;
    }
}

bool
dlp_fanout_job_forget_task (const DlpFanoutJob *self, guint task, GError **error)
{
  g_autofree char *path = dlp_fanout_job_get_task_path (self, task, NULL);
  int folder = dlp_durable_open_folder (path, error);
  bool ok;

  if (folder < 0)
    return false;
  ok = dlp_durable_remove (folder, path, DONE_FILE, error) &&
       dlp_durable_remove (folder, path, FAILED_FILE, error) &&
       dlp_durable_sync_folder (folder, path, error);
  close (folder);
  return ok;
}

bool
dlp_fanout_job_clear (const DlpFanoutJob *self, GError **error)
{
  g_autofree char *tasks = dlp_fanout_job_get_path (self, "tasks");

  if (!dlp_durable_remove (self->folder, self->path, JOB_FILE, error) ||
      !dlp_durable_sync_folder (self->folder, self->path, error) || !remove_plans (self, error) ||
      !dlp_durable_remove (self->folder, self->path, GRAPH_FILE, error))
    return false;
  remove_tree (tasks);
  return dlp_durable_sync_folder (self->folder, self->path, error);
}
