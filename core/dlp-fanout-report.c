/* SPDX-License-Identifier: MIT */

/* Everything known of a job, of any thread, at any time. */

#include "dlp-fanout-private.h"

typedef struct
{
  guint64 done, failed, left, damaged;
  guint64 bad, retries;
} Counts;

static void
count_task (Counts *counts, const DlpFanoutTask *task)
{
  guint64 damaged = task->outcome != NULL ? dlp_fanout_get_count (task->outcome, "damaged") : 0;

  if (task->status == DLP_TASK_DONE)
    counts->done += task->n_files - MIN (damaged, task->n_files);
  else if (task->status == DLP_TASK_FAILED)
    counts->failed += task->n_files;
  else
    counts->left += task->n_files;
  counts->retries += task->failures;
  if (task->status != DLP_TASK_DONE)
    return;
  counts->damaged += MIN (damaged, task->n_files);
  counts->bad += dlp_fanout_get_count (task->outcome, "bad-records");
}

static GVariant *
describe_task (const DlpFanoutTask *task)
{
  g_autoptr (GVariant) outcome =
      task->outcome != NULL ? g_variant_ref (task->outcome) : dlp_fanout_make_outcome (task, NULL);
  GVariantDict dict;

  g_variant_dict_init (&dict, outcome);
  g_variant_dict_insert (&dict, "fraction", "d", task->fraction);
  return g_variant_dict_end (&dict);
}

static void
describe_tasks (DlpFanout *self, GVariantDict *dict)
{
  GVariantBuilder builder;
  Counts counts = { 0 };

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("aa{sv}"));
  for (guint i = 0; i < self->tasks->len; i++)
    {
      const DlpFanoutTask *task = g_ptr_array_index (self->tasks, i);

      if (!dlp_fanout_is_own (self, i))
        continue;
      count_task (&counts, task);
      g_variant_builder_add_value (&builder, describe_task (task));
    }
  g_variant_dict_insert_value (dict, "task-list", g_variant_builder_end (&builder));
  g_variant_dict_insert (dict, "files-done", "t", counts.done);
  g_variant_dict_insert (dict, "files-failed", "t", counts.failed);
  g_variant_dict_insert (dict, "files-damaged", "t", counts.damaged);
  g_variant_dict_insert (dict, "files-left", "t", counts.left);
  g_variant_dict_insert (dict, "bad-records", "t", counts.bad);
  g_variant_dict_insert (dict, "retries", "t", counts.retries);
}

static void
describe_workers (DlpFanout *self, GVariantDict *dict)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("aa{sv}"));
  for (guint i = 0; i < self->places->len; i++)
    {
      const DlpFanoutPlace *place = g_ptr_array_index (self->places, i);
      GVariantDict worker;

      g_variant_dict_init (&worker, NULL);
      g_variant_dict_insert (&worker, "number", "u", place->number);
      g_variant_dict_insert (&worker, "pid", "i", (int) place->process.pid);
      g_variant_dict_insert (&worker, "task", "i", place->task);
      g_variant_dict_insert (&worker, "restarts", "u", place->restarts);
      if (place->device != NULL)
        g_variant_dict_insert (&worker, "device", "s", place->device);
      g_variant_builder_add_value (&builder, g_variant_dict_end (&worker));
    }
  g_variant_dict_insert_value (dict, "worker-list", g_variant_builder_end (&builder));
}

static void
describe_prepared (DlpFanout *self, GVariantDict *dict)
{
  g_autofree char *path = g_utf8_make_valid (self->job->path, -1);
  const DlpFanoutPlace *first = g_ptr_array_index (self->places, 0);
  DlpFanoutSums sums;

  dlp_fanout_sum_up (self, &sums);
  g_variant_dict_insert (dict, "job-id", "s", self->job_id);
  g_variant_dict_insert (dict, "state-dir", "s", path);
  g_variant_dict_insert (dict, "state-dir-temporary", "b", (gboolean) self->job->temporary);
  g_variant_dict_insert (dict, "seed", "t", self->seed);
  g_variant_dict_insert (dict, "rank", "u", self->settings.rank);
  g_variant_dict_insert (dict, "world-size", "u", self->settings.world_size);
  g_variant_dict_insert (dict, "tasks-of-job", "t", (guint64) self->plan->n_tasks);
  g_variant_dict_insert (dict, "tasks", "t", (guint64) self->own_tasks);
  g_variant_dict_insert (dict, "workers", "t", (guint64) self->places->len);
  g_variant_dict_insert (dict, "in-process", "b", (gboolean) first->in_process);
  g_variant_dict_insert (dict, "files-total", "t", (guint64) self->own_files);
  g_variant_dict_insert (dict, "bytes-total", "t", self->own_bytes);
  g_variant_dict_insert (dict, "fraction", "d", sums.fraction);
  g_variant_dict_insert (dict, "records", "t", sums.records);
  g_variant_dict_insert (dict, "tokens", "t", sums.tokens);
  g_variant_dict_insert (dict, "bytes", "t", sums.bytes);
  g_variant_dict_insert (dict, "files-read", "t", sums.files);
  g_variant_dict_insert (dict, "tasks-done", "t", (guint64) sums.done);
  g_variant_dict_insert (dict, "tasks-done-before", "t", (guint64) self->done_before);
  g_variant_dict_insert (dict, "tasks-failed", "t", (guint64) sums.failed);
  g_variant_dict_insert (dict, "tasks-running", "t", (guint64) sums.running);
  if (self->merged->len > 0)
    dlp_fanout_add_strings (dict, "merged", self->merged);
  describe_tasks (self, dict);
  describe_workers (self, dict);
  g_variant_dict_insert_value (dict, "digests-unordered", dlp_fanout_sum_digests (self));
}

GVariant *
dlp_fanout_get_report (DlpFanout *self)
{
  g_autoptr (GEnumClass) statuses = g_type_class_ref (DLP_TYPE_PIPELINE_STATUS);
  GVariantDict dict;
  double elapsed = 0;

  g_return_val_if_fail (DLP_IS_FANOUT (self), NULL);

  g_object_get (self, "elapsed", &elapsed, NULL);
  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "status", "s",
                         g_enum_get_value (statuses, dlp_fanout_get_status (self))->value_nick);
  g_variant_dict_insert (&dict, "elapsed", "d", elapsed);
  if (__atomic_load_n (&self->prepared, __ATOMIC_ACQUIRE))
    {
      pthread_mutex_lock (&self->lock);
      describe_prepared (self, &dict);
      pthread_mutex_unlock (&self->lock);
    }
  return g_variant_ref_sink (g_variant_dict_end (&dict));
}
